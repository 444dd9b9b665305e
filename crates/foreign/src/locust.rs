//! Locust: users as green threads of one Python process, by a generated file or the user's. Its
//! latencies are kept as a table of rounded values.

use std::collections::BTreeMap;

use record::foreign::{Figure, ForeignRecord, Quantile};
use serde::Deserialize;

use crate::adapter::{Abilities, Adapter, checked};
use crate::ask::{Argv, literal};
use crate::error::ReadError;
use crate::figure;
use crate::job::{Invocation, Job, Output};

const NAME: &str = "locust";

pub(crate) const ADAPTER: Adapter = Adapter {
    name: NAME,
    abilities: Abilities {
        users: true,
        rate: false,
        keep_alive: true,
        close: true,
        duration: true,
        count: false,
        whole_seconds: true,
        methods: &[],
        script: true,
        quantiles: "any, of rounded values",
        resolution: "1 ms below 100 ms, 10 ms below 1 s, 100 ms above",
    },
    clock: "from before connecting to the last byte read",
    omits_connect: false,
    corrects_omission: false,
    adds_samples: false,
    omits_failures: false,
    drops_in_flight: true,
    counts_unanswered: true,
    probe_connections: 0,
    version: &["locust", "--version"],
    good_codes: &[],
    ask: Some(ask),
    read,
};

fn ask(job: &Job<'_>) -> Invocation {
    let mut files = Vec::new();
    let script = job.script.map_or_else(
        || {
            let path = job.file("locustfile.py");
            files.push((path.clone(), script(job)));
            path.display().to_string()
        },
        str::to_owned,
    );
    let argv = Argv::new(NAME)
        .with("-f", script)
        .flag("--headless")
        .with("-u", job.users())
        .with("-r", job.users())
        .with("-t", format!("{}s", job.seconds()))
        .with("-s", job.timeout_s())
        .with("--host", format!("http://{}", job.address))
        .flag("--json")
        .flag("--only-summary")
        .flag("--skip-log")
        // Failed requests are judged by the figures.
        .with("--exit-code-on-error", 0)
        .finish(job, &[]);
    let env = vec![("ASSAY_URL".to_owned(), job.url())];
    Invocation { argv, env, files, output: None }
}

fn script(job: &Job<'_>) -> String {
    let scenario = job.scenario;
    let mut headers: Vec<String> = scenario
        .headers
        .iter()
        .map(|(name, value)| format!("{}: {}", literal(name), literal(value)))
        .collect();
    if job.closes() {
        headers.push("\"Connection\": \"close\"".to_owned());
    }
    format!(
        "from locust import FastHttpUser, constant, task\n\
         \n\
         class Main(FastHttpUser):\n\
         \x20   wait_time = constant(0)\n\
         \x20   network_timeout = {timeout}\n\
         \x20   connection_timeout = {timeout}\n\
         \x20   max_redirects = 0\n\
         \n\
         \x20   @task\n\
         \x20   def one(self):\n\
         \x20       self.client.request({method}, {path}, data={body}, headers={{{headers}}}, \
         allow_redirects=False)\n",
        timeout = job.timeout_s(),
        method = literal(&scenario.method),
        path = literal(&scenario.path),
        body = scenario.body.as_deref().map_or("None".to_owned(), literal),
        headers = headers.join(", "),
    )
}

#[derive(Deserialize)]
struct Entry {
    num_requests: u64,
    num_failures: u64,
    #[serde(default)]
    num_none_requests: u64,
    total_response_time: f64,
    min_response_time: Option<f64>,
    max_response_time: f64,
    response_times: BTreeMap<String, u64>,
    start_time: f64,
    last_request_timestamp: Option<f64>,
}

fn read(output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    let text = output.stdout.trim();
    if text.is_empty() {
        return Err(ReadError::Empty { adapter: NAME });
    }
    let entries: Vec<Entry> = serde_json::from_str(text)
        .map_err(|error| ReadError::Json { adapter: NAME, why: error.to_string() })?;
    let mut record = ForeignRecord::default();
    let mut times: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut total_ms, mut timed) = (0.0, 0_u64);
    let (mut start, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut min, mut max) = (f64::INFINITY, 0.0_f64);
    for entry in &entries {
        record.requests = record.requests.saturating_add(entry.num_requests);
        record.failures = record.failures.saturating_add(entry.num_failures);
        timed = timed.saturating_add(entry.num_requests.saturating_sub(entry.num_none_requests));
        total_ms += entry.total_response_time;
        start = start.min(entry.start_time);
        last = last.max(entry.last_request_timestamp.unwrap_or(f64::NEG_INFINITY));
        min = min.min(entry.min_response_time.unwrap_or(f64::INFINITY));
        max = max.max(entry.max_response_time);
        for (ms, count) in &entry.response_times {
            let whole = ms.split_once('.').map_or(ms.as_str(), |(whole, _)| whole);
            let ms = figure::count(whole).ok_or_else(|| ReadError::NoFigure {
                adapter: NAME,
                what: "response time".to_owned(),
                text: ms.chars().take(60).collect(),
            })?;
            let known = times.entry(ms).or_default();
            *known = known.saturating_add(*count);
        }
    }
    let seconds = last - start;
    if seconds.is_finite() && seconds > 0.0 {
        record.duration_ns = figure::of(seconds * 1e9, 1.0).map(|figure| figure.value_ns);
        record.rate_per_s = Some(record.requests as f64 / seconds);
    }
    let ms = |value: f64| figure::of(value * 1e6, 1.0);
    record.min = ms(min);
    record.max = ms(max);
    record.mean = (timed > 0).then(|| total_ms / timed as f64).and_then(ms);
    record.quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999]
        .into_iter()
        .filter_map(|share| Some(Quantile { share, figure: at(&times, share)? }))
        .collect();
    checked(NAME, record)
}

/// The quantile of a table of rounded milliseconds, by nearest rank, with the step of its value.
fn at(times: &BTreeMap<u64, u64>, share: f64) -> Option<Figure> {
    let all = times.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let rank = (share * all as f64).ceil().max(1.0) as u64;
    let mut passed = 0_u64;
    for (ms, count) in times {
        passed = passed.saturating_add(*count);
        if passed >= rank {
            let step_ms = match ms {
                0..100 => 1.0,
                100..1_000 => 10.0,
                _ => 100.0,
            };
            return figure::of(*ms as f64 * 1e6, step_ms * 1e6);
        }
    }
    None
}
