//! What a foreign load generator says of itself, whatever its output looked like: `foreign.json`.
//!
//! Its figures stand beside the truth and never replace it: what was served is counted by the mock.
//! How the tool measures is kept with the figures, so that a difference can be explained by named
//! causes long after the tool is gone.

use serde::{Deserialize, Serialize};

use crate::Format;

/// A figure of latency as it was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// The value, ns.
    pub value_ns: u64,
    /// The step in which the tool prints or keeps it, ns: the true value lies within one step.
    pub resolution_ns: u64,
}

/// A quantile of the tool's latencies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// Share of the requests that were at most this slow, 0 to 1.
    pub share: f64,
    /// The latency.
    pub figure: Figure,
}

/// One invocation as the tool itself reports it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForeignRecord {
    /// Requests that it says were answered, failures included.
    pub requests: u64,
    /// Of those, failed by its own rule; requests without an answer where it tells them.
    pub failures: u64,
    /// Its rate of requests, per second.
    pub rate_per_s: Option<f64>,
    /// How long it says that it measured, ns.
    pub duration_ns: Option<u64>,
    /// Shortest latency.
    pub min: Option<Figure>,
    /// Mean latency.
    pub mean: Option<Figure>,
    /// Longest latency.
    pub max: Option<Figure>,
    /// Quantiles by rising share.
    pub quantiles: Vec<Quantile>,
    /// Arrivals of an open loop that it gave up.
    pub dropped: Option<u64>,
    /// Version as its output says it.
    pub version: Option<String>,
    /// What a reader should know: rounded counts, capped samples.
    pub remarks: Vec<String>,
}

impl ForeignRecord {
    /// The quantile of a share, 0 to 1, when the tool gave it.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Figure> {
        self.quantiles
            .iter()
            .find(|known| (known.share - share).abs() < 1e-9)
            .map(|known| known.figure)
    }
}

/// How a tool measures: the causes by which its figures may differ from the truth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Habits {
    /// One line: from when to when a latency of the tool runs.
    pub clock: String,
    /// Its latencies leave out the time to connect.
    pub omits_connect: bool,
    /// Its latencies start when a request was due; else what waits behind a stall is not in them.
    pub corrects_omission: bool,
    /// Behind a latency of at least twice the time between the requests of a user it adds samples
    /// that were never sent, as many as would have fitted.
    pub adds_samples: bool,
    /// Failed requests are left out of its latencies.
    pub omits_failures: bool,
    /// Requests in flight at its end are in none of its figures.
    pub drops_in_flight: bool,
    /// Failures without an answer are among its requests.
    pub counts_unanswered: bool,
    /// Connections that it opens before its load, to see whether anybody answers; their ports may be
    /// used again by the load.
    pub probe_connections: u64,
}

/// The warm-up: an invocation of its own, whose requests are in no figure of the window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForeignWarmup {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Requests as the tool counted them; absent when its output could not be read.
    pub requests: Option<u64>,
    /// Requests that the mock saw before the window; absent without a mock.
    pub witnessed: Option<u64>,
}

/// A run by a foreign generator: `foreign.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForeignRun {
    /// `assay.foreign`.
    pub format: Format,
    /// Name of the generator in the bench.
    pub generator: String,
    /// `wrk`, `k6`, ...; `command` for one that is read by patterns.
    pub adapter: String,
    /// Program and arguments of the measured invocation.
    pub command: Vec<String>,
    /// What it says of the window.
    pub own: ForeignRecord,
    /// How it measures.
    pub habits: Habits,
    /// Requests by which its count and the mock's may differ: those in flight at its end.
    pub tolerance_requests: u64,
    /// The warm-up, when there was one.
    #[serde(default)]
    pub warmup: Option<ForeignWarmup>,
    /// From its start to its end, ns: start-up and report included.
    pub elapsed_ns: u64,
    /// CPU of its whole tree, start-up included, by the kernel's account, ns.
    pub cpu_user_ns: u64,
    /// The same in the kernel, ns.
    pub cpu_sys_ns: u64,
    /// Largest resident set of a process of the tree, bytes.
    pub peak_rss_bytes: u64,
}

/// One figure of a foreign generator beside the truth, in the digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnFigure {
    /// `requests`, `rate`, `p99`, ...
    pub figure: String,
    /// Unit of both: `requests`, `/s`, `ns`, `share`.
    pub unit: String,
    /// What the tool says; `None` when it does not.
    pub own: Option<f64>,
    /// What the mock saw; `None` without a mock.
    pub truth: Option<f64>,
    /// Named causes of the difference; empty where there is none, `unexplained` where no cause
    /// that is known of this tool can have made it.
    pub causes: Vec<String>,
}

/// The cause of a difference for which there is none.
pub const UNEXPLAINED: &str = "unexplained";
