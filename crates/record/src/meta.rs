//! `meta.json`: identity and environment of everything that took part in a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Format;
use crate::host_check::HostStanding;
use crate::host_state::HostStates;
use crate::plan::{Effective, LevelOf, RunKind};

/// The metadata of a run. Written when the run starts, so that `status` can find the pids, and
/// again before the digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// `assay.meta`.
    pub format: Format,
    /// Label of the matrix.
    pub label: String,
    /// Name of the run directory, with `.2` for a second attempt.
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
    /// 1, or more for a repetition after an interruption.
    pub attempt: u32,
    /// Number of the target instance that served it.
    pub instance: u32,
    /// True for `--quick`: no measurement.
    pub quick: bool,
    /// The tool.
    pub assay: Build,
    /// Options of the command line that made the matrix, as they took effect.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// Wall clock at the start, UTC, RFC 3339.
    pub started_utc: String,
    /// The same instant, nanoseconds since the epoch, read together with `run_start`: what ties
    /// the instants of this file to recordings, whose clock is the wall's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_ns: Option<u64>,
    /// Since the end of the previous run of the matrix, ns; absent for the first.
    pub since_previous_run_ns: Option<u64>,
    /// Cell of the previous run of the matrix.
    #[serde(default)]
    pub previous_cell: Option<String>,
    /// Seed of every random choice of the plan.
    #[serde(default)]
    pub seed: u64,
    /// Bytes by which the target's environment was padded.
    #[serde(default)]
    pub layout_bytes: u32,
    /// What was run, secrets redacted.
    pub effective: Effective,
    /// SHA-256 of the effective run; equal on both arms of a null contrast.
    pub identity_sha256: String,
    /// SHA-256 over the scenario as it took effect and the files it refers to.
    pub scenario_sha256: String,
    /// SHA-256 of the bench file and every file that it refers to.
    pub files: Vec<FileHash>,
    /// Processes by role: `parent`, `target` or `mock`, `generator`, `observer`.
    pub processes: BTreeMap<String, ProcessIdentity>,
    /// The host.
    pub host: HostFacts,
    /// The grade of the machine when the matrix began, by facts alone; absent in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<HostStanding>,
    /// What of the machine may change, right before the load and right after it.
    #[serde(default)]
    pub host_states: HostStates,
    /// Who listens for the target at the edges of the load; empty where that cannot be told.
    #[serde(default)]
    pub listeners: Listeners,
    /// Instants on the system-wide monotonic clock, ns: `run_start`, `target_ready`, `load_start`,
    /// `window_start`, `window_end`, `load_end`, `digest_start`.
    #[serde(default)]
    pub instants_ns: BTreeMap<String, u64>,
    /// How it went; absent while it runs.
    #[serde(default)]
    pub outcome: Option<Outcome>,
    /// The parent's own CPU over this run, ns.
    #[serde(default)]
    pub parent_cpu_ns: Option<u64>,
    /// Wall time of the run, ns.
    #[serde(default)]
    pub elapsed_ns: Option<u64>,
}

/// A build of assay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// Version.
    pub version: String,
    /// Commit, with `+dirty` when the tree had changes; `unknown` outside a checkout.
    pub commit: String,
    /// SHA-256 of the binary.
    pub sha256: String,
}

/// A file and its content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHash {
    /// Path as the bench refers to it.
    pub path: String,
    /// SHA-256, lower-case hex.
    pub sha256: String,
    /// Size, bytes.
    pub bytes: u64,
}

/// A process, identified by pid and start time so that a recycled pid is recognised.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot, field 22 of `/proc/PID/stat`.
    pub start_ticks: u64,
    /// Command line, redacted.
    pub command: Vec<String>,
    /// The executable, when it could be read.
    #[serde(default)]
    pub executable: Option<String>,
    /// SHA-256 of the executable, when it could be read.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Version as it reports itself, first line.
    #[serde(default)]
    pub version: Option<String>,
    /// Cores it may run on.
    #[serde(default)]
    pub cpus: Option<String>,
}

/// The processes of the target that listen on its port, at both ends of the load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Listeners {
    /// Before the generator starts.
    pub start: Vec<Listener>,
    /// After it has ended.
    pub end: Vec<Listener>,
}

/// A process that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Listener {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot, so that a recycled pid is recognised.
    pub start_ticks: u64,
}

/// What matters of a host. `None` is unknown, never zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Host name.
    pub name: String,
    /// Kernel release.
    pub kernel: String,
    /// Architecture.
    pub arch: String,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// Logical cores online.
    pub cores: u32,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Frequency governor.
    pub governor: Option<String>,
    /// Whether SMT is active.
    pub smt: Option<bool>,
    /// Boot id.
    pub boot_id: Option<String>,
    /// Kernel clock source.
    pub clocksource: Option<String>,
    /// Resource limits by name, `soft/hard`.
    pub limits: BTreeMap<String, String>,
    /// Kernel settings that matter to load.
    pub sysctls: BTreeMap<String, String>,
    /// Derived: ephemeral ports over the TIME_WAIT of 60 s, connections per second.
    #[serde(default)]
    pub sustainable_connections_per_s: Option<f64>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The word.
    pub state: OutcomeState,
    /// A sentence, empty when finished.
    #[serde(default)]
    pub detail: String,
}

/// The ways a run can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeState {
    /// The load ran to its end.
    Finished,
    /// The target never became ready.
    TargetNotReady,
    /// The target exited during the run.
    TargetDied,
    /// The target reports another version than the bench pins.
    WrongVersion,
    /// The run's time ran out.
    TimedOut,
    /// The generator failed.
    GeneratorFailed,
    /// Interrupted by a signal.
    Interrupted,
}
