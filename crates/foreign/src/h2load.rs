//! h2load in HTTP/1.1: a closed loop on kept connections. Quantiles come from its log of requests.

use record::foreign::{ForeignRecord, Quantile};

use crate::adapter::{Abilities, Adapter, checked};
use crate::ask::Argv;
use crate::error::ReadError;
use crate::figure;
use crate::job::{Invocation, Job, Output};

const NAME: &str = "h2load";

pub(crate) const ADAPTER: Adapter = Adapter {
    name: NAME,
    abilities: Abilities {
        users: true,
        rate: false,
        keep_alive: true,
        // With `Connection: close` version 1.52 never ends.
        close: false,
        duration: true,
        count: true,
        whole_seconds: true,
        methods: &["GET", "POST"],
        script: false,
        quantiles: "any, from its log of requests",
        resolution: "1 us",
    },
    clock: "from when the request was handed to the connection to its last byte read; connecting is \
            left out",
    omits_connect: true,
    corrects_omission: false,
    adds_samples: false,
    omits_failures: false,
    drops_in_flight: true,
    counts_unanswered: false,
    probe_connections: 0,
    version: &["h2load", "--version"],
    good_codes: &[],
    ask: Some(ask),
    read,
};

fn ask(job: &Job<'_>) -> Invocation {
    let log = job.file("h2load.tsv");
    let mut argv = Argv::new(NAME)
        .flag("--h1")
        .with("-m", 1)
        .with("-t", job.threads.clamp(1, job.users().max(1)))
        .with("-N", format!("{}s", job.timeout_s()))
        .flag(&format!("--log-file={}", log.display()));
    argv = match job.count() {
        Some(count) => argv.with("-c", u64::from(job.users()).min(count)).with("-n", count),
        None => argv.with("-c", job.users()).with("-D", job.seconds()),
    };
    let mut files = Vec::new();
    if let Some(body) = &job.scenario.body {
        let path = job.file("body");
        argv = argv.with("-d", path.display());
        files.push((path, body.clone()));
    }
    let argv = argv.headers("-H", job.scenario).finish(job, &[&job.url()]);
    Invocation { argv, files, output: Some(log), ..Invocation::default() }
}

fn read(output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    if output.stdout.trim().is_empty() {
        return Err(ReadError::Empty { adapter: NAME });
    }
    let missing = |what: &str| ReadError::Missing { adapter: NAME, what: what.to_owned() };
    let wrong = |what: &str, text: &str| ReadError::NoFigure {
        adapter: NAME,
        what: what.to_owned(),
        text: text.chars().take(60).collect(),
    };
    let mut record = ForeignRecord::default();
    let mut seen = false;
    for line in output.stdout.lines() {
        if let Some(rest) = line.strip_prefix("finished in ") {
            let mut parts = rest.split(',').map(str::trim);
            let time = parts.next().unwrap_or_default();
            let time = figure::time(time).ok_or_else(|| wrong("duration", time))?;
            record.duration_ns = Some(time.value_ns);
            record.rate_per_s =
                parts.next().and_then(|rate| figure::number(rate.strip_suffix("req/s")?));
        } else if let Some(rest) = line.strip_prefix("requests: ") {
            // `736 total, 740 started, 736 done, 736 succeeded, 0 failed, 0 errored, 0 timeout`
            let of = |name: &str| {
                let part = rest.split(',').map(str::trim).find_map(|part| part.strip_suffix(name));
                part.and_then(figure::count).ok_or_else(|| wrong(name.trim(), rest))
            };
            let (done, succeeded) = (of(" done")?, of(" succeeded")?);
            record.requests = done;
            record.failures = done.saturating_sub(succeeded);
            seen = true;
        } else if let Some(rest) = line.strip_prefix("time for request:") {
            let figures: Vec<_> = rest.split_whitespace().take(3).map(figure::time).collect();
            if let [min, max, mean] = figures[..] {
                (record.min, record.max, record.mean) = (min, max, mean);
            }
        } else if let Some(version) = line.strip_prefix("nghttp2/") {
            record.version = Some(version.to_owned());
        }
    }
    if !seen {
        return Err(missing("line `requests: N total`"));
    }
    if let Some(log) = output.file {
        quantiles(log, &mut record);
    }
    checked(NAME, record)
}

/// Quantiles of the log: start in us, status, duration in us, by tabs.
fn quantiles(log: &str, record: &mut ForeignRecord) {
    let mut histogram = stats::histogram::new();
    let mut damaged = 0_u64;
    for line in log.lines() {
        let mut words = line.split('\t');
        let us = words.nth(2).and_then(figure::count).filter(|_| words.next().is_none());
        match us.and_then(|us| us.checked_mul(1_000)) {
            Some(ns) => histogram.saturating_record(ns.clamp(1, stats::histogram::HIGHEST_NS)),
            None => damaged += 1,
        }
    }
    // What it does not keep in full is a part of the requests, and which part nobody knows.
    if damaged > 0 || histogram.len() < record.requests {
        record.remarks.push(format!(
            "its log has {} of {} requests; quantiles are of those",
            histogram.len(),
            record.requests
        ));
    }
    if histogram.is_empty() {
        return;
    }
    record.quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999]
        .into_iter()
        .filter_map(|share| {
            let value = histogram.value_at_quantile(share);
            Some(Quantile { share, figure: figure::of(value as f64, 1e3)? })
        })
        .collect();
}
