//! What the generator process is told: one window of load against one address, as JSON.

use serde::{Deserialize, Serialize};

use crate::certificate::CertificateStub;
use crate::plan::{Load, Scenario};

/// The generator's part of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// `assay.job`.
    pub format: crate::Format,
    /// `host:port` to connect to; resolved once, before anything is sent.
    pub address: String,
    /// The `Host` header; the address when absent.
    #[serde(default)]
    pub host: Option<String>,
    /// What is sent and what counts as success.
    pub scenario: Scenario,
    /// How work arrives.
    pub load: Load,
    /// The certificate that holds for this generator here; repeated in its record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateStub>,
    /// Threads; 0 is one for each core of the affinity mask.
    #[serde(default)]
    pub threads: u32,
    /// Whether progress events go to standard output, one JSON object a line.
    #[serde(default)]
    pub progress: bool,
}

/// A line that the generator writes to standard output while it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The warm-up has begun. Instants are of the system-wide monotonic clock, ns. The edges
    /// of the window are known in advance when they are durations.
    Started {
        /// Now.
        at_ns: u64,
        /// When the window will open, if known.
        window_start_ns: Option<u64>,
        /// When the window will close, if known.
        window_end_ns: Option<u64>,
    },
    /// The measured window opened.
    WindowOpen {
        /// When.
        at_ns: u64,
    },
    /// About once a second.
    Progress {
        /// Requests sent so far, warm-up included.
        sent: u64,
        /// Successes so far.
        succeeded: u64,
        /// Failures so far.
        failed: u64,
        /// Answers per second since the previous line.
        rate_per_s: f64,
    },
    /// The measured window closed.
    WindowClosed {
        /// When.
        at_ns: u64,
    },
}
