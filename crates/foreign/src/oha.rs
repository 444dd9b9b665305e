//! oha: a closed loop, or a constant rate with latencies corrected for being late.

use std::collections::BTreeMap;

use record::foreign::{ForeignRecord, Quantile};
use record::plan::{Extent, Model};
use serde::Deserialize;

use crate::adapter::{Abilities, Adapter, checked};
use crate::ask::Argv;
use crate::error::ReadError;
use crate::figure;
use crate::job::{Invocation, Job, Output};

const NAME: &str = "oha";
/// Connections of an open loop without `max_connections`.
const CONNECTIONS_MOST: u32 = 256;

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
        script: false,
        quantiles: "p10 to p99.99",
        resolution: "1 ns",
    },
    clock: "from when it was sent, for a rate from when it was due, to the last byte read, \
            connecting included",
    omits_connect: false,
    corrects_omission: true,
    adds_samples: false,
    omits_failures: true,
    drops_in_flight: true,
    counts_unanswered: false,
    probe_connections: 0,
    version: &["oha", "--version"],
    good_codes: &[],
    ask: Some(ask),
    read,
};

fn ask(job: &Job<'_>) -> Invocation {
    let mut argv = Argv::new(NAME).flag("--no-tui").with("--output-format", "json");
    argv = match job.load.model {
        Model::Users(users) => argv.with("-c", users),
        Model::Rate(rate) => argv
            .with("-q", format!("{:.0}", rate.max(1.0)))
            .flag("--latency-correction")
            .with("-c", job.load.max_connections.unwrap_or(CONNECTIONS_MOST)),
    };
    argv = match job.extent {
        Extent::Ns(ns) => argv.with("-z", format!("{}ms", ns.div_ceil(1_000_000))),
        Extent::Count(count) => argv.with("-n", count),
    };
    argv = argv
        .with("-t", format!("{}s", job.timeout_s()))
        .with("-m", &job.scenario.method)
        .when(job.closes(), "--disable-keepalive")
        .headers("-H", job.scenario);
    if let Some(body) = &job.scenario.body {
        argv = argv.with("-d", body);
    }
    Invocation { argv: argv.finish(job, &[&job.url()]), ..Invocation::default() }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    summary: Summary,
    #[serde(default)]
    latency_percentiles: BTreeMap<String, Option<f64>>,
    #[serde(default)]
    status_code_distribution: BTreeMap<String, u64>,
    #[serde(default)]
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    total: f64,
    slowest: Option<f64>,
    fastest: Option<f64>,
    average: Option<f64>,
    requests_per_sec: f64,
}

fn read(output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    let text = output.stdout.trim();
    if text.is_empty() {
        return Err(ReadError::Empty { adapter: NAME });
    }
    let report: Report = serde_json::from_str(text)
        .map_err(|error| ReadError::Json { adapter: NAME, why: error.to_string() })?;
    let s = |value: Option<f64>| figure::of(value? * 1e9, 1.0);
    let answered: u64 =
        report.status_code_distribution.values().fold(0, |sum, n| sum.saturating_add(*n));
    let failures = report
        .status_code_distribution
        .iter()
        .filter(|(code, _)| !code.parse::<u16>().is_ok_and(|code| (200..400).contains(&code)))
        .fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    let quantiles = report.latency_percentiles.iter().filter_map(|(name, value)| {
        let percent = figure::number(name.strip_prefix('p')?)?;
        Some(Quantile { share: figure::share_of(percent), figure: s(*value)? })
    });
    let remarks = report
        .error_distribution
        .iter()
        .take(8)
        .map(|(error, count)| format!("without an answer: {count} times {error}"))
        .collect();
    checked(
        NAME,
        ForeignRecord {
            requests: answered,
            failures,
            rate_per_s: Some(report.summary.requests_per_sec),
            duration_ns: s(Some(report.summary.total)).map(|figure| figure.value_ns),
            min: s(report.summary.fastest),
            mean: s(report.summary.average),
            max: s(report.summary.slowest),
            quantiles: quantiles.collect(),
            remarks,
            ..ForeignRecord::default()
        },
    )
}
