//! From a foreign run to a load record: what was served by the mock's books, latencies by the
//! tool's own, marked as such.

use std::collections::BTreeMap;

use record::foreign::{Figure, ForeignRun};
use record::load::{Connections, Generator, LoadRecord, WholeLife};
use record::mock::MockRecord;
use record::plan::{Extent, Load, Model};
use record::{Format, LagSummary, Summary, Validity};
use stats::order::samples_needed;

use crate::adapter::Adapter;

/// Requests by which the tool's count and the mock's may differ: what was in flight when its time
/// was up. A count of requests leaves nothing open.
#[must_use]
pub fn tolerance_requests(adapter: &Adapter, load: &Load) -> u64 {
    match (adapter.drops_in_flight, load.measure, load.model) {
        (true, Extent::Ns(_), Model::Users(users)) => u64::from(users),
        (true, Extent::Ns(_), Model::Rate(_)) => load.max_connections.map_or(256, u64::from),
        _ => 0,
    }
}

/// The load record of a foreign run. `started_ns` is the instant of its start, `cores` the cores
/// that it had. Without a mock everything is the tool's own word.
#[must_use]
pub fn load_record(
    run: &ForeignRun,
    mock: Option<&MockRecord>,
    load: &Load,
    started_ns: u64,
    cores: u32,
) -> LoadRecord {
    let own = &run.own;
    let (succeeded, failures, witnessed, window_ns) = match mock {
        Some(mock) => {
            let mut failures = mock.failures.clone();
            // Whose peer left before its answer: in flight at the end, as the tool's habits are.
            failures.remove("abandoned");
            let total = mock.served.saturating_add(mock.failed);
            (mock.served, failures, total, mock.window_ns)
        }
        None => {
            let failures = BTreeMap::from([("status".to_owned(), own.failures)]);
            let failures = if own.failures > 0 { failures } else { BTreeMap::new() };
            let window_ns = own.duration_ns.unwrap_or(run.elapsed_ns);
            (own.requests.saturating_sub(own.failures), failures, own.requests, window_ns)
        }
    };
    let failed = failures.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let unsent = own.dropped.unwrap_or(0);
    let sent = succeeded.saturating_add(failed);
    let seconds = window_ns as f64 / 1e9;
    let ports = mock.map_or(0, |mock| mock.distinct_peer_ports);
    LoadRecord {
        format: Format::v1("assay.load"),
        model: if matches!(load.model, Model::Users(_)) { "closed" } else { "open" }.to_owned(),
        clock: format!("by {}: {}", run.adapter, run.habits.clock),
        due: sent.saturating_add(unsent),
        sent,
        unsent,
        succeeded,
        failed,
        unfinished: 0,
        failures,
        failure_samples: Vec::new(),
        whole_life: WholeLife { sent: witnessed, answered: sent },
        window_ns,
        window_asked_ns: match load.measure {
            Extent::Ns(ns) => Some(ns),
            Extent::Count(_) => None,
        },
        window_asked_count: match load.measure {
            Extent::Count(count) => Some(count),
            Extent::Ns(_) => None,
        },
        window_start_ns: started_ns,
        arrival: load.arrival,
        statuses: BTreeMap::new(),
        stages: Vec::new(),
        pause: load.pause,
        paused_ns: 0,
        planned_per_s: match load.model {
            Model::Rate(rate) => Some(rate),
            Model::Users(_) => None,
        },
        users: match load.model {
            Model::Users(users) => Some(users),
            Model::Rate(_) => None,
        },
        rate_per_s: if seconds > 0.0 { succeeded as f64 / seconds } else { 0.0 },
        latency_ns: latency(run),
        service_ns: Summary::default(),
        failed_latency_ns: Summary::default(),
        unowned_ns: Summary::default(),
        connection_mode: load.connections.clone(),
        lag_ns: LagSummary::default(),
        connections: Connections { opened: ports, distinct_ports: ports, ..Connections::default() },
        generator: Generator {
            cpu_user_ns: run.cpu_user_ns,
            cpu_sys_ns: run.cpu_sys_ns,
            cores,
            peak_rss_bytes: run.peak_rss_bytes,
            cpu_span_ns: Some(run.elapsed_ns),
            version: own.version.clone().unwrap_or_else(|| run.adapter.clone()),
        },
        validity: Validity::default(),
        certificate: None,
        steps: Vec::new(),
        workers: Vec::new(),
        series: Vec::new(),
        queued_peak: 0,
        in_flight_peak: 0,
    }
}

/// The tool's own latencies as a summary. A quantile without enough requests behind it is left
/// out, as everywhere.
fn latency(run: &ForeignRun) -> Summary {
    let own = &run.own;
    let ns = |figure: Option<Figure>| figure.map(|figure| figure.value_ns);
    let at = |share: f64| {
        let enough = samples_needed(share).is_some_and(|needed| own.requests >= needed);
        ns(own.quantile(share)).filter(|_| enough)
    };
    Summary {
        count: own.requests,
        min: ns(own.min),
        mean: own.mean.map(|figure| figure.value_ns as f64),
        p50: at(0.5),
        p90: at(0.9),
        p95: at(0.95),
        p99: at(0.99),
        p999: at(0.999),
        max: ns(own.max),
    }
}
