//! One load as files for other programs: second by second as comma-separated values and as a log of
//! HdrHistogram, its figures as OpenMetrics text. A figure that failed a check is left out where a
//! program could take it for one; the state of its family is there instead.

use std::fmt::Write as _;

use record::load::{LoadRecord, Second};
use record::{State, Summary};

/// Columns of [`load_csv`]; times are in nanoseconds since the window opened.
const COLUMNS: &str = "second,sent,succeeded,failed,p50_ns,p90_ns,p99_ns,max_ns";

/// The seconds of the window, a line for each. A percentile without the samples that it needs is empty.
#[must_use]
pub fn load_csv(load: &LoadRecord) -> String {
    let mut text = format!("{COLUMNS}\n");
    for second in &load.series {
        let latency = summary(second);
        let cell = |ns: Option<u64>| ns.map_or_else(String::new, |ns| ns.to_string());
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{}",
            second.second,
            second.sent,
            second.succeeded,
            second.failed,
            cell(latency.p50),
            cell(latency.p90),
            cell(latency.p99),
            cell(latency.max)
        );
    }
    text
}

fn summary(second: &Second) -> Summary {
    stats::histogram::decode(&second.latency)
        .map(|histogram| stats::histogram::summarise(&histogram))
        .unwrap_or_default()
}

/// The latencies of successes second by second as a log of HdrHistogram, format version 1.3: the
/// histograms hold nanoseconds, the column of the largest value milliseconds, as its readers expect.
/// `start_unix_ns` is when the window opened.
#[must_use]
pub fn load_hdr(load: &LoadRecord, start_unix_ns: u64) -> String {
    let start_s = start_unix_ns as f64 / 1e9;
    let mut text = format!(
        "#[Latency of successes, {}]\n#[Histogram log format version 1.3]\n\
         #[StartTime: {start_s:.3} (seconds since epoch)]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        load.clock
    );
    for second in &load.series {
        let left_ns = load.window_ns.saturating_sub(second.second * 1_000_000_000);
        let length_s = left_ns.min(1_000_000_000) as f64 / 1e9;
        let max_ms = summary(second).max.unwrap_or(0) as f64 / 1e6;
        let _ =
            writeln!(text, "{}.000,{length_s:.3},{max_ms:.3},{}", second.second, second.latency);
    }
    text
}

/// The figures of the window as OpenMetrics text, times in seconds.
#[must_use]
pub fn load_openmetrics(load: &LoadRecord) -> String {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str| {
        let _ = writeln!(text, "# TYPE {name} {kind}\n# HELP {name} {help}");
    };
    family("assay_requests", "counter", "Requests due in the window, by what became of them.");
    for (outcome, count) in [
        ("succeeded", load.succeeded),
        ("failed", load.failed),
        ("unfinished", load.unfinished),
        ("unsent", load.unsent),
    ] {
        let _ = writeln!(text, "assay_requests_total{{outcome=\"{outcome}\"}} {count}");
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    let _ =
        writeln!(text, "# TYPE assay_window_seconds gauge\n# UNIT assay_window_seconds seconds");
    let _ = writeln!(text, "assay_window_seconds {}", seconds(load.window_ns));
    let _ = writeln!(
        text,
        "# TYPE assay_valid gauge\n# HELP assay_valid 1 where the figures of a family passed every \
         check."
    );
    let families = [("latency", load.validity.latency), ("throughput", load.validity.throughput)];
    for (name, state) in families {
        let valid = u8::from(state == State::Valid);
        let _ = writeln!(text, "assay_valid{{family=\"{name}\"}} {valid}");
    }
    if load.validity.throughput == State::Valid {
        let _ = writeln!(text, "# TYPE assay_throughput_per_second gauge");
        let _ = writeln!(text, "assay_throughput_per_second {}", load.rate_per_s);
    }
    if load.validity.latency == State::Valid {
        let latency = &load.latency_ns;
        let name = "assay_latency_seconds";
        let _ = writeln!(text, "# TYPE {name} summary\n# UNIT {name} seconds");
        for (quantile, ns) in [
            ("0.5", latency.p50),
            ("0.9", latency.p90),
            ("0.95", latency.p95),
            ("0.99", latency.p99),
            ("0.999", latency.p999),
        ] {
            if let Some(ns) = ns {
                let _ = writeln!(text, "{name}{{quantile=\"{quantile}\"}} {}", seconds(ns));
            }
        }
        let sum = latency.mean.unwrap_or(0.0) * latency.count as f64 / 1e9;
        let _ = writeln!(text, "{name}_sum {sum}\n{name}_count {}", latency.count);
    }
    text.push_str("# EOF\n");
    text
}
