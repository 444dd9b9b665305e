//! k6: virtual users or a constant arrival rate, by a generated script or the user's. Its figures
//! are read from the file of `--summary-export`.

use std::collections::BTreeMap;

use record::foreign::{ForeignRecord, Quantile};
use record::plan::{Extent, Model};
use serde::Deserialize;

use crate::adapter::{Abilities, Adapter, checked};
use crate::ask::{Argv, literal};
use crate::error::ReadError;
use crate::figure;
use crate::job::{Invocation, Job, Output};

const NAME: &str = "k6";
/// Virtual users of an open loop without `max_connections`.
const VUS_MOST: u32 = 1_000;

pub(crate) const ADAPTER: Adapter = Adapter {
    name: NAME,
    abilities: Abilities {
        users: true,
        rate: true,
        keep_alive: true,
        close: true,
        duration: true,
        count: true,
        whole_seconds: false,
        methods: &[],
        script: true,
        quantiles: "any, interpolated",
        resolution: "1 ns",
    },
    clock: "from the first byte written to the last byte read (`http_req_duration`); waiting for a \
            connection, connecting and being late are left out",
    omits_connect: true,
    corrects_omission: false,
    adds_samples: false,
    omits_failures: false,
    drops_in_flight: false,
    counts_unanswered: true,
    probe_connections: 0,
    version: &["k6", "version"],
    // 99: a threshold of the user's script did not hold. The figures are there.
    good_codes: &[99],
    ask: Some(ask),
    read,
};

fn ask(job: &Job<'_>) -> Invocation {
    let export = job.file("k6.json");
    let mut argv = Argv::new(NAME)
        .flag("run")
        .flag("--quiet")
        .flag("--no-color")
        .flag("--no-usage-report")
        .with(
            "--summary-trend-stats",
            "avg,min,p(50),p(75),p(90),p(95),p(99),p(99.9),p(99.99),max,count",
        )
        .with("--summary-export", export.display());
    let mut files = Vec::new();
    let script = match job.script {
        Some(script) => {
            // What a script of the user's does not say itself.
            argv = match (job.load.model, job.extent) {
                (Model::Users(users), Extent::Ns(ns)) => {
                    argv.with("--vus", users).with("--duration", format!("{}ms", ns / 1_000_000))
                }
                (Model::Users(users), Extent::Count(count)) => {
                    argv.with("--vus", users).with("--iterations", count)
                }
                (Model::Rate(_), _) => argv,
            };
            script.to_owned()
        }
        None => {
            let path = job.file("k6.js");
            let name = path.display().to_string();
            files.push((path, self::script(job)));
            name
        }
    };
    argv = argv.when(job.closes(), "--no-connection-reuse");
    let env = [
        ("ASSAY_URL", job.url()),
        ("ASSAY_ADDRESS", job.address.to_owned()),
        ("ASSAY_PHASE", job.phase.to_owned()),
    ];
    Invocation {
        argv: argv.finish(job, &[&script]),
        env: env.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        files,
        output: Some(export),
    }
}

fn script(job: &Job<'_>) -> String {
    let scenario = job.scenario;
    let duration = match job.extent {
        Extent::Ns(ns) => format!("{}ms", ns.div_ceil(1_000_000)),
        Extent::Count(_) => String::new(),
    };
    let how = match (job.load.model, job.extent) {
        (Model::Users(users), Extent::Ns(_)) => {
            format!("executor: 'constant-vus', vus: {users}, duration: '{duration}'")
        }
        (Model::Users(users), Extent::Count(count)) => format!(
            "executor: 'shared-iterations', vus: {}, iterations: {count}, maxDuration: '400h'",
            u64::from(users).min(count)
        ),
        (Model::Rate(rate), _) => {
            // The executor takes whole numbers: over 1000 s no rate loses more than a thousandth.
            let most = job.load.max_connections.unwrap_or(VUS_MOST);
            format!(
                "executor: 'constant-arrival-rate', rate: {:.0}, timeUnit: '1000s', \
                 duration: '{duration}', preAllocatedVUs: {most}, maxVUs: {most}",
                (rate * 1000.0).max(1.0)
            )
        }
    };
    let headers: Vec<String> = scenario
        .headers
        .iter()
        .map(|(name, value)| format!("{}: {}", literal(name), literal(value)))
        .collect();
    let body = scenario.body.as_deref().map_or("null".to_owned(), literal);
    let statuses: Vec<String> = scenario.expect.status.iter().map(u16::to_string).collect();
    format!(
        "import http from 'k6/http';\n\
         http.setResponseCallback(http.expectedStatuses({statuses}));\n\
         export const options = {{\n\
         \x20 discardResponseBodies: true,\n\
         \x20 scenarios: {{ main: {{ {how}, gracefulStop: '{timeout}s' }} }},\n\
         }};\n\
         const params = {{ headers: {{ {headers} }}, timeout: '{timeout}s', redirects: 0 }};\n\
         export default function () {{\n\
         \x20 http.request({method}, {url}, {body}, params);\n\
         }}\n",
        statuses = statuses.join(", "),
        timeout = job.timeout_s(),
        headers = headers.join(", "),
        method = literal(&scenario.method),
        url = literal(&job.url()),
    )
}

#[derive(Deserialize)]
struct Export {
    metrics: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
}

fn read(output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    let text = output.file.unwrap_or_default().trim();
    if text.is_empty() {
        return Err(ReadError::Missing {
            adapter: NAME,
            what: "summary: the file of `--summary-export` is missing or empty".to_owned(),
        });
    }
    let export: Export = serde_json::from_str(text)
        .map_err(|error| ReadError::Json { adapter: NAME, why: error.to_string() })?;
    let value = |metric: &str, key: &str| export.metrics.get(metric)?.get(key)?.as_f64();
    let whole =
        |value: f64| (value.is_finite() && (0.0..1e15).contains(&value)).then_some(value as u64);
    let missing =
        |what: &str| ReadError::Missing { adapter: NAME, what: format!("metric `{what}`") };
    let requests =
        value("http_reqs", "count").and_then(whole).ok_or_else(|| missing("http_reqs"))?;
    let duration =
        export.metrics.get("http_req_duration").ok_or_else(|| missing("http_req_duration"))?;
    let ms = |key: &str| figure::of(duration.get(key)?.as_f64()? * 1e6, 1.0);
    let quantiles = duration.keys().filter_map(|key| {
        let percent = figure::number(key.strip_prefix("p(")?.strip_suffix(')')?)?;
        Some(Quantile { share: figure::share_of(percent), figure: ms(key)? })
    });
    let rate = value("http_reqs", "rate");
    let dropped = value("dropped_iterations", "count").and_then(whole);
    let mut remarks = Vec::new();
    if let Some(dropped) = dropped.filter(|dropped| *dropped > 0) {
        remarks.push(format!("{dropped} arrivals were dropped: no virtual user was free"));
    }
    checked(
        NAME,
        ForeignRecord {
            requests,
            // A rate metric: what `passes` for it are the failed requests.
            failures: value("http_req_failed", "passes").and_then(whole).unwrap_or(0),
            rate_per_s: rate,
            duration_ns: rate
                .filter(|rate| *rate > 0.0)
                .and_then(|rate| figure::of(requests as f64 / rate * 1e9, 1.0))
                .map(|figure| figure.value_ns),
            min: ms("min"),
            mean: ms("avg"),
            max: ms("max"),
            quantiles: quantiles.collect(),
            dropped,
            remarks,
            ..ForeignRecord::default()
        },
    )
}
