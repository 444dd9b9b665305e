//! `digest.json`: a run's summary, the durable artefact. The comparison reads nothing else, so
//! every fact that it needs is here too.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::foreign::{ForeignRun, OwnFigure};
use crate::host_check::HostStanding;
use crate::host_state::HostStates;
use crate::load::{FailureSample, LoadRecord};
use crate::meta::{Build, HostFacts, Outcome, ProcessIdentity};
use crate::mock::MockRecord;
use crate::plan::{Compare, Effective, LevelOf, RunKind};
use crate::{Effect, Format, Scope, State, Validity};

/// The digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// `assay.digest`.
    pub format: Format,
    /// Label of the matrix.
    pub label: String,
    /// Name of the run directory.
    pub run: String,
    /// Block, from 1.
    pub block: u32,
    /// Position in the block, from 1.
    pub order: u32,
    /// Cell name.
    pub cell: String,
    /// The cell's levels.
    pub levels: Vec<LevelOf>,
    /// Measured or warm-up.
    pub kind: RunKind,
    /// 1, or more for a repetition.
    pub attempt: u32,
    /// True for `--quick`: this is no measurement.
    pub quick: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// What may be believed.
    pub validity: Validity,
    /// Identity, for the comparison of arms.
    pub identity: Identity,
    /// The load record without histograms and series; absent when the generator left none.
    #[serde(default)]
    pub load: Option<LoadRecord>,
    /// The mock record, when the target was a mock.
    #[serde(default)]
    pub mock: Option<MockRecord>,
    /// What a foreign generator said of itself; absent for assay's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignRun>,
    /// Its figures beside the truth, each difference with its causes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_figures: Vec<OwnFigure>,
    /// Use of resources over the measured window by role.
    #[serde(default)]
    pub resources: BTreeMap<String, RoleResources>,
    /// The host over the measured window.
    #[serde(default)]
    pub host: HostWindow,
    /// The grade of the machine when the matrix began; absent in digests of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<HostStanding>,
    /// What of the machine may change, right before the load and right after it.
    #[serde(default)]
    pub host_states: HostStates,
    /// Every check with value and bound, passed or not, in a fixed order.
    pub checks: Vec<Check>,
    /// Figures by name, for the comparison.
    pub metrics: BTreeMap<String, Metric>,
    /// Samples of what failed.
    #[serde(default)]
    pub failure_samples: Vec<FailureSample>,
    /// Primary metric of the bench, when it names one.
    #[serde(default)]
    pub primary: Option<String>,
    /// What the bench registered about the comparison; absent in digests of older versions.
    #[serde(default)]
    pub compare: Option<Compare>,
    /// Cell of the previous run of the matrix: what this run may carry over.
    #[serde(default)]
    pub previous_cell: Option<String>,
    /// Seed of the plan.
    #[serde(default)]
    pub seed: u64,
    /// Bytes by which the target's environment was padded.
    #[serde(default)]
    pub layout_bytes: u32,
    /// Throughput and median latency over up to 20 equal parts of the window, in order: the
    /// spread within a run. Empty without a series of at least two whole parts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub batches: BTreeMap<String, Vec<f64>>,
    /// Gap since the previous run, ns.
    #[serde(default)]
    pub since_previous_run_ns: Option<u64>,
    /// Instants on the monotonic clock, ns, as in `meta.json`.
    #[serde(default)]
    pub instants_ns: BTreeMap<String, u64>,
    /// Start, UTC.
    #[serde(default)]
    pub started_utc: String,
}

/// What an arm is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// SHA-256 of the effective run.
    pub effective_sha256: String,
    /// SHA-256 of the scenario's closure.
    pub scenario_sha256: String,
    /// What was run.
    pub effective: Effective,
    /// The tool.
    pub assay: Build,
    /// Processes by role.
    pub processes: BTreeMap<String, ProcessIdentity>,
    /// The host.
    pub host: HostFacts,
    /// Hash of the bench file.
    #[serde(default)]
    pub bench_sha256: String,
    /// Effective paths that each factor's level set: what its two arms may differ in.
    #[serde(default)]
    pub sets: BTreeMap<String, BTreeSet<String>>,
}

/// Use of resources by one role over the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleResources {
    /// Samples inside the window, edges included.
    pub samples: u64,
    /// Window between the two edge samples, ns.
    pub window_ns: u64,
    /// User CPU, ns.
    pub cpu_user_ns: Option<u64>,
    /// System CPU, ns.
    pub cpu_sys_ns: Option<u64>,
    /// Total CPU, ns.
    pub cpu_ns: Option<u64>,
    /// Cores busy: total CPU over the window.
    pub cores_busy: Option<f64>,
    /// Largest resident set, bytes.
    pub rss_peak_bytes: Option<u64>,
    /// Largest proportional set, bytes.
    pub pss_peak_bytes: Option<u64>,
    /// Most threads.
    pub threads_peak: Option<u64>,
    /// Context switches, voluntary.
    pub switches_voluntary: Option<u64>,
    /// Context switches, involuntary.
    pub switches_involuntary: Option<u64>,
    /// Most open descriptors.
    pub descriptors_peak: Option<u64>,
}

/// The host over the measured window; `None` is unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostWindow {
    /// Samples inside the window.
    pub samples: u64,
    /// Share of all cores that was busy.
    pub busy_share: Option<f64>,
    /// Share of all cores that was stolen.
    pub steal_share: Option<f64>,
    /// Largest one-minute load average.
    pub load_1m: Option<f64>,
    /// Lowest mean frequency, Hz.
    pub frequency_min_hz: Option<u64>,
    /// How far it fell below the highest of the window, as a share of that.
    pub frequency_drop_share: Option<f64>,
    /// How far the mean over the window was below its own highest, as a share of that.
    #[serde(default)]
    pub frequency_below_peak_share: Option<f64>,
    /// Highest temperature.
    pub temperature_max_millicelsius: Option<i64>,
    /// Interrupts of all cores.
    #[serde(default)]
    pub interrupts: Option<u64>,
    /// Time for which a control group held back threads, ns.
    #[serde(default)]
    pub throttled_ns: Option<u64>,
    /// How often cores were slowed for their temperature.
    #[serde(default)]
    pub thermal_throttles: Option<u64>,
    /// Most sockets in TIME_WAIT.
    #[serde(default)]
    pub time_wait: Option<u64>,
    /// What all processes that took no part used, mean over the samples, as a share of one core.
    #[serde(default)]
    pub foreign_all_share: Option<f64>,
    /// The busiest process that took no part.
    pub foreign_pid: Option<u32>,
    /// Its largest share of one core.
    pub foreign_share: Option<f64>,
    /// Its name.
    pub foreign_name: Option<String>,
    /// When it began inside the window, ns after its start; absent when it was there from the
    /// first sample on, or nobody was busy.
    #[serde(default)]
    pub foreign_since_ns: Option<u64>,
}

/// One check of the table of gates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The gate's name.
    pub gate: String,
    /// Value seen; `None` when not measured.
    pub value: Option<f64>,
    /// Bound.
    pub bound: Option<f64>,
    /// Unit of both.
    pub unit: String,
    /// What it does when it does not hold.
    pub effect: Effect,
    /// What it touches.
    pub scope: Scope,
    /// Whether it held; `None` when it does not apply here.
    pub passed: Option<bool>,
}

/// A figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// The value; `None` when it could not be known.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// True when more is better.
    pub higher_is_better: bool,
    /// What may be believed of it.
    pub state: State,
    /// Observations behind it.
    #[serde(default)]
    pub samples: Option<u64>,
    /// `measured` or `derived`.
    #[serde(default)]
    pub kind: String,
}
