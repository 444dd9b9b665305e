//! vegeta: a constant rate; the JSON of `vegeta report -type=json` is read. It is not started.

use std::collections::BTreeMap;

use record::foreign::{ForeignRecord, Quantile};
use serde::Deserialize;

use crate::adapter::{Abilities, Adapter, checked};
use crate::error::ReadError;
use crate::figure;
use crate::job::Output;

const NAME: &str = "vegeta";

pub(crate) const ADAPTER: Adapter = Adapter {
    name: NAME,
    abilities: Abilities {
        users: false,
        rate: true,
        keep_alive: true,
        close: true,
        duration: true,
        count: false,
        whole_seconds: false,
        methods: &[],
        script: false,
        quantiles: "p50, p90, p95, p99",
        resolution: "1 ns",
    },
    clock: "from when a worker sent it to the last byte read, connecting included",
    omits_connect: false,
    corrects_omission: false,
    adds_samples: false,
    omits_failures: false,
    drops_in_flight: false,
    counts_unanswered: true,
    probe_connections: 0,
    version: &["vegeta", "-version"],
    good_codes: &[],
    ask: None,
    read,
};

#[derive(Deserialize)]
struct Report {
    latencies: Latencies,
    duration: f64,
    requests: u64,
    rate: f64,
    #[serde(default)]
    status_codes: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Latencies {
    mean: f64,
    max: f64,
    #[serde(default)]
    min: Option<f64>,
    #[serde(flatten)]
    others: BTreeMap<String, f64>,
}

fn read(output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    let text = output.stdout.trim();
    if text.is_empty() {
        return Err(ReadError::Empty { adapter: NAME });
    }
    let report: Report = serde_json::from_str(text)
        .map_err(|error| ReadError::Json { adapter: NAME, why: error.to_string() })?;
    let ns = |value: f64| figure::of(value, 1.0);
    let good = |code: &str| code.parse::<u16>().is_ok_and(|code| (200..400).contains(&code));
    let succeeded: u64 = report
        .status_codes
        .iter()
        .filter(|(code, _)| good(code))
        .fold(0, |sum, (_, count)| sum.saturating_add(*count));
    let quantiles = report.latencies.others.iter().filter_map(|(name, value)| {
        let percent = figure::number(name.strip_suffix("th")?)?;
        Some(Quantile { share: figure::share_of(percent), figure: ns(*value)? })
    });
    checked(
        NAME,
        ForeignRecord {
            requests: report.requests,
            failures: report.requests.saturating_sub(succeeded),
            rate_per_s: Some(report.rate),
            duration_ns: ns(report.duration).map(|figure| figure.value_ns),
            min: report.latencies.min.and_then(ns),
            mean: ns(report.latencies.mean),
            max: ns(report.latencies.max),
            quantiles: quantiles.collect(),
            ..ForeignRecord::default()
        },
    )
}
