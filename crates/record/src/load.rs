//! The load record: what a generator says of one run. `load.json`, `assay load --json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::arrival::{Arrival, Stage};
use crate::certificate::CertificateStub;
use crate::pause::Pause;
use crate::{Format, LagSummary, Summary, Validity};

/// The load record. Counters of the window obey `due = sent + unsent` and
/// `sent = succeeded + failed + unfinished`; each is incremented at its own event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// `assay.load`.
    pub format: Format,
    /// `closed` or `open`.
    pub model: String,
    /// One line: when the clock of a latency starts and stops.
    pub clock: String,
    /// Requests that belong to the window: due in it (closed: started in it).
    pub due: u64,
    /// Of those, sent.
    pub sent: u64,
    /// Due but never sent: censored.
    pub unsent: u64,
    /// Answered as expected.
    pub succeeded: u64,
    /// Failed, by any kind.
    pub failed: u64,
    /// Sent and still in flight at the end of the cool-down: censored.
    pub unfinished: u64,
    /// Complete answers to requests of the window by status code, succeeded or not; empty where a foreign
    /// generator does not tell.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub statuses: BTreeMap<u16, u64>,
    /// Failures by kind: `status`, `timeout`, `refused`, `reset`, `body`, `protocol`.
    pub failures: BTreeMap<String, u64>,
    /// The first bodies or errors that failed, bounded.
    #[serde(default)]
    pub failure_samples: Vec<FailureSample>,
    /// Warm-up and cool-down included.
    pub whole_life: WholeLife,
    /// Length of the measured window as it was, ns.
    pub window_ns: u64,
    /// Length of the window that was asked for, ns; absent for a count.
    #[serde(default)]
    pub window_asked_ns: Option<u64>,
    /// Requests that were asked for when the window is a count.
    #[serde(default)]
    pub window_asked_count: Option<u64>,
    /// Start of the window on the system-wide monotonic clock, ns.
    #[serde(default)]
    pub window_start_ns: u64,
    /// Planned arrival rate; absent in a closed loop.
    #[serde(default)]
    pub planned_per_s: Option<f64>,
    /// Open loop: the law of the gaps that was asked for.
    #[serde(default, skip_serializing_if = "Arrival::is_constant")]
    pub arrival: Arrival,
    /// Open loop: the stages of its rate, whose mean is the planned one; empty where it is constant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Users of a closed loop.
    #[serde(default)]
    pub users: Option<u32>,
    /// Closed loop: what a user does between two requests.
    #[serde(default, skip_serializing_if = "Pause::is_none")]
    pub pause: Pause,
    /// Time of the window for which users paused, all of them together, ns.
    #[serde(default)]
    pub paused_ns: u64,
    /// Successes per second over the window.
    pub rate_per_s: f64,
    /// Successes: from due to the last byte (closed: from when its user began it, reconnecting
    /// included).
    pub latency_ns: Summary,
    /// Successes: from the first byte sent to the last byte received.
    pub service_ns: Summary,
    /// Successes whose answer said what the target spent on it (`Server-Timing`, the mock's
    /// `Mock-Time-Ns`): what of the wait, connecting included, nobody accounts for.
    #[serde(default)]
    pub unowned_ns: Summary,
    /// Failures that got an answer: from due to the last byte.
    #[serde(default)]
    pub failed_latency_ns: Summary,
    /// Send lag: sent minus due.
    pub lag_ns: LagSummary,
    /// How connections were used: `per-user`, or `new` for each request.
    #[serde(default = "per_user")]
    pub connection_mode: String,
    /// Connections over the whole life.
    pub connections: Connections,
    /// The generator's own cost, over the window.
    pub generator: Generator,
    /// The certificate that the generator worked under: what it can tell apart on this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateStub>,
    /// States and reasons.
    pub validity: Validity,
    /// One entry per step of the scenario.
    pub steps: Vec<Step>,
    /// One entry per generator thread; sums equal the totals.
    #[serde(default)]
    pub workers: Vec<Worker>,
    /// One entry per second of the window, by the second in which a request was due.
    #[serde(default)]
    pub series: Vec<Second>,
    /// Most requests due but waiting for a connection at one instant (open loop).
    #[serde(default)]
    pub queued_peak: u64,
    /// Most requests in flight at one instant, by the sum of each thread's own peak.
    #[serde(default)]
    pub in_flight_peak: u64,
}

fn per_user() -> String {
    "per-user".to_owned()
}

impl LoadRecord {
    /// Whether a foreign generator made the load: counts are then the mock's, latencies the tool's
    /// own, and there is no series.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.generator.cpu_span_ns.is_some()
    }
}

/// A bounded sample of one failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailureSample {
    /// Failure kind.
    pub kind: String,
    /// Status code, when one was read.
    pub status: Option<u16>,
    /// What was expected and what came, in a sentence.
    pub detail: String,
    /// Start of the body, lossy UTF-8, at most 512 bytes.
    pub body: String,
}

/// Counters over the whole life of the generator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeLife {
    /// Requests written in full.
    pub sent: u64,
    /// Complete answers read, of any status.
    pub answered: u64,
}

/// Connections opened by the generator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Connections established.
    pub opened: u64,
    /// Distinct local ports seen.
    pub distinct_ports: u64,
    /// Addresses that they may come from; 0 where the kernel chooses.
    #[serde(default)]
    pub sources: u64,
    /// Most connections open at once.
    #[serde(default)]
    pub peak: u64,
    /// The bound that held: the cap asked for or the one printed.
    #[serde(default)]
    pub bound: u64,
    /// Attempts to connect that failed.
    #[serde(default)]
    pub failed: u64,
    /// Connections opened inside the measured window.
    #[serde(default)]
    pub opened_in_window: u64,
}

/// The generator's own account, by `getrusage`, over the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// User CPU, ns.
    pub cpu_user_ns: u64,
    /// System CPU, ns.
    pub cpu_sys_ns: u64,
    /// Cores it was given.
    pub cores: u32,
    /// Largest resident set of its life, bytes.
    pub peak_rss_bytes: u64,
    /// For a foreign generator: the time that its CPU was counted over, its whole life, ns. Else
    /// the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_span_ns: Option<u64>,
    /// Name and version.
    #[serde(default)]
    pub version: String,
}

/// One step of a scenario: its own counters and histograms, split by outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The step's name; the scenario's for a single request.
    pub name: String,
    /// Requests sent in the window.
    pub sent: u64,
    /// Successes.
    pub succeeded: u64,
    /// Failures.
    pub failed: u64,
    /// SHA-256 of the request bytes sent in the warm-up; absent when none was sent.
    #[serde(default)]
    pub warmup_request_sha256: Option<String>,
    /// SHA-256 of the request bytes sent in the window.
    #[serde(default)]
    pub request_sha256: Option<String>,
    /// Histograms by name: `latency.succeeded`, `latency.failed`, `service.succeeded`, `lag`,
    /// `unowned`;
    /// HdrHistogram V2 (deflate) in base64, values in ns.
    pub histograms: BTreeMap<String, String>,
}

/// One generator thread's counters over the window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// Requests due.
    pub due: u64,
    /// Requests sent.
    pub sent: u64,
    /// Successes.
    pub succeeded: u64,
    /// Failures.
    pub failed: u64,
    /// In flight at the end.
    pub unfinished: u64,
    /// CPU core it was pinned to.
    pub core: Option<u32>,
}

/// One second of the window. Requests are filed under the second in which they were due.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Seconds since the window opened.
    pub second: u64,
    /// Sent.
    pub sent: u64,
    /// Succeeded.
    pub succeeded: u64,
    /// Failed.
    pub failed: u64,
    /// Latency of successes, HdrHistogram V2 in base64.
    pub latency: String,
}
