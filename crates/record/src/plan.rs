//! `plan.json`: a bench expanded to cells, orders, instances and effective values.
//!
//! The plan is the contract between the bench file and everything after it: the lab carries it
//! out without looking at the bench again, and the read side finds in it what was meant to be
//! run. Placeholders that are only known at run time stay in the text: `${target.port}`,
//! `${run.dir}` and `${run.scratch}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Format;
use crate::arrival::{Arrival, Stage};
pub use crate::generator::{Generator, GeneratorKind};
use crate::meta::FileHash;
use crate::mock::MockConfig;
use crate::pause::Pause;
use crate::sources::SourceRange;

/// The expanded plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// `assay.plan`.
    pub format: Format,
    /// The bench's name: its file name without `.toml`.
    pub bench: String,
    /// Path of the bench file as given.
    pub path: String,
    /// The bench file and every file that it refers to.
    pub files: Vec<FileHash>,
    /// Seed of every random choice.
    pub seed: u64,
    /// True for `--quick`.
    pub quick: bool,
    /// Varied factors, as written.
    pub factors: Vec<Factor>,
    /// Factors with one fixed level.
    pub fixed: BTreeMap<String, String>,
    /// The cells, in written order.
    pub cells: Vec<Cell>,
    /// Cells that `[[where]]` or `only` skipped.
    pub skipped: Vec<Skipped>,
    /// Varied factors, outermost first, as they took effect.
    pub nest: Vec<String>,
    /// Order policy in effect.
    pub order: String,
    /// Order policy by factor, where one has its own.
    #[serde(default)]
    pub orders: BTreeMap<String, String>,
    /// Blocks.
    pub blocks: u32,
    /// Gap between runs, ns.
    pub gap_ns: u64,
    /// All runs in the order of execution, warm-up runs included.
    pub runs: Vec<PlannedRun>,
    /// Cores by role.
    pub cpus: Cpus,
    /// Bounds of the gates.
    pub gates: Gates,
    /// Sampling interval of the observers, ns.
    pub observe_interval_ns: u64,
    /// What is compared.
    pub compare: Compare,
    /// Time and disk.
    pub estimate: Estimate,
    /// Things a reader should know: no null, odd blocks, distance of pairs, ...
    pub notes: Vec<String>,
    /// `--only` as given: what the matrix is restricted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Blocks that were added later, in the order in which they were; `blocks` and `runs` hold
    /// them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
    /// What must stand before anything is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require: Option<Require>,
    /// A rehearsal of the warm-up: the bench once for each of several lengths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<Rehearsal>,
}

/// Blocks that were added to a label after its plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extension {
    /// When, UTC.
    pub at_utc: String,
    /// How many.
    pub blocks: u32,
    /// The cells that they hold, as `--only`; all when absent.
    #[serde(default)]
    pub only: Option<String>,
}

/// What is rehearsed: a row factor that the command line added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rehearsal {
    /// The factor, `warmup`.
    pub factor: String,
    /// The key that its levels set, `load.warmup`.
    pub key: String,
    /// Its levels as given, with what each sets, in the order of the lengths.
    pub levels: Vec<(String, Extent)>,
}

/// A varied factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Name.
    pub name: String,
    /// Levels as written, baseline first.
    pub levels: Vec<Level>,
    /// Whether its levels are compared; `scenario` and `load` are rows.
    pub contrasted: bool,
}

/// A level of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Name.
    pub name: String,
    /// For a control (`null`, `null-x`, or a level that repeats another): the level it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<String>,
    /// For a positive control: the share by which its twin is slowed, 0.05 for 5 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive: Option<f64>,
}

/// A level as a run carries it, with what the comparison needs when only the digest is left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelOf {
    /// The factor.
    pub factor: String,
    /// The level.
    pub level: String,
    /// Its index among the factor's levels; 0 is the baseline.
    pub index: u32,
    /// The level it repeats, for a control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<String>,
    /// For a positive control: the share by which its twin is slowed, 0.05 for 5 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive: Option<f64>,
    /// Whether the factor is compared.
    pub contrasted: bool,
}

/// One full assignment of levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Varied levels joined by `+`; `only` without any.
    pub name: String,
    /// The levels in the order of the factors.
    pub levels: Vec<LevelOf>,
    /// What is run.
    pub effective: Effective,
    /// Where each effective value came from: dotted path to `default`, `bench.toml:12`,
    /// `level target=nginx`, `--set`, ...
    pub origins: BTreeMap<String, String>,
    /// SHA-256 of the effective run (names of tables left out): equal runs are a null.
    pub identity_sha256: String,
    /// SHA-256 of the effective scenario and the files it refers to.
    pub scenario_sha256: String,
    /// Bounds of the gates for this cell: `[[where]]` may set them; `Plan::gates` is the
    /// bench's own.
    #[serde(default)]
    pub gates: Gates,
}

/// A cell that is not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Cell name.
    pub cell: String,
    /// Why.
    pub why: String,
}

/// Everything one run needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effective {
    /// The system under test.
    pub target: Target,
    /// Transport name; `p0` is plaintext.
    pub transport: String,
    /// What loads the target.
    pub generator: Generator,
    /// The request.
    pub scenario: Scenario,
    /// How work arrives.
    pub load: Load,
    /// Variables in effect.
    #[serde(default)]
    pub vars: BTreeMap<String, serde_json::Value>,
    /// Cores by role for this cell: a level may patch them; `Plan::cpus` is the bench's own.
    #[serde(default)]
    pub cpus: Cpus,
    /// Sampling interval of the observers for this cell, ns; a level may patch it.
    #[serde(default)]
    pub observe_interval_ns: u64,
}

/// The system under test and how it is brought up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Name of its table.
    pub name: String,
    /// What it is.
    pub kind: TargetKind,
    /// `host:port`; port 0 is a free one, known as `${target.port}`. A mock reports its own.
    #[serde(default)]
    pub address: Option<String>,
    /// Environment added to the parent's.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Working directory, absolute.
    #[serde(default)]
    pub cwd: Option<String>,
    /// How it is stopped.
    pub stop: Stop,
    /// When it counts as ready.
    pub ready: Ready,
    /// How long an instance lives.
    pub fresh: Fresh,
    /// Estimate of its bring-up, ns.
    pub bring_up_ns: u64,
    /// How its version is asked for, and the pin.
    #[serde(default)]
    pub version: Option<VersionPin>,
    /// For a positive control of a process: the share by which it is slowed, 0.05 for 5 %. Its
    /// tree is stopped for `p / (1 + p)` of the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_share: Option<f64>,
}

/// What a target is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A process: its arguments, program first.
    Command(Vec<String>),
    /// assay's own mock.
    Mock(Box<MockConfig>),
    /// Something that runs already; never started, never patched.
    Url(String),
}

/// How a process is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Signal name without `SIG`.
    pub signal: String,
    /// Time before the whole tree is killed, ns.
    pub grace_ns: u64,
}

/// When a target counts as ready. Without `get` and `line`, when its port accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Port to connect to instead of the address's.
    #[serde(default)]
    pub port: Option<u16>,
    /// Path that must answer 2xx or 3xx.
    #[serde(default)]
    pub get: Option<String>,
    /// Text that a line of its output must contain.
    #[serde(default)]
    pub line: Option<String>,
    /// Bound on the wait, ns.
    pub within_ns: u64,
}

/// How long an instance of a target lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fresh {
    /// One per run.
    Run,
    /// One per level of the innermost factor that changes the effective target.
    Change,
    /// All stay up for the whole matrix.
    Matrix,
}

/// A version as the target's program reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionPin {
    /// Command that prints the version.
    pub command: Vec<String>,
    /// Text that its output must contain; a run does not start otherwise.
    #[serde(default)]
    pub is: Option<String>,
}

/// One request and what counts as success.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Name of its table.
    pub name: String,
    /// Method, upper case.
    pub method: String,
    /// Path with query; starts with `/`.
    pub path: String,
    /// Extra headers, in order.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Body.
    #[serde(default)]
    pub body: Option<String>,
    /// What an answer must be.
    pub expect: Expect,
}

/// What an answer must be to count as success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// Accepted status codes.
    pub status: Vec<u16>,
    /// Check of the body.
    #[serde(default)]
    pub body: Option<BodyCheck>,
    /// Exact size of the body, bytes.
    #[serde(default)]
    pub size_bytes: Option<u64>,
}

/// A check of the whole body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyCheck {
    /// Byte for byte.
    Equals(String),
    /// Contains this text; the first MiB is searched.
    Contains(String),
}

/// How work arrives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Name of its table.
    pub name: String,
    /// Closed or open.
    pub model: Model,
    /// Open loop: the law of the gaps between arrivals.
    #[serde(default, skip_serializing_if = "Arrival::is_constant")]
    pub arrival: Arrival,
    /// Open loop: the rate over the window in stages; the model has their mean. Empty where it is
    /// constant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Closed loop: what a user does between two requests.
    #[serde(default, skip_serializing_if = "Pause::is_none")]
    pub pause: Pause,
    /// Discarded at the start.
    pub warmup: Extent,
    /// The measured window.
    pub measure: Extent,
    /// Closed loop: the window as so many requests for each user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Iterations>,
    /// Bound on draining after the window; ends early when nothing is left, ns.
    pub cooldown_ns: u64,
    /// Connection mode; `per-user` is one for each user, reused.
    pub connections: String,
    /// Addresses that connections come from, in turn; the kernel's choice without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceRange>,
    /// Cap on connections of an open loop; a printed bound without it.
    #[serde(default)]
    pub max_connections: Option<u32>,
    /// After this a request in flight is a failure of kind `timeout`, ns.
    pub timeout_ns: u64,
}

/// Closed or open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// A closed loop of this many users, each waiting for its answer.
    Users(u32),
    /// An open loop at this constant rate per second, in total.
    Rate(f64),
}

/// A number of requests that is split evenly over users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iterations {
    /// As asked for.
    pub asked: u64,
    /// Requests of each user.
    pub each: u64,
    /// Users.
    pub users: u32,
}

impl Iterations {
    /// So many requests over `users`, rounded up to a multiple of them: every user does the same.
    #[must_use]
    pub fn split(asked: u64, users: u32) -> Self {
        Self { asked, each: asked.div_ceil(u64::from(users.max(1))), users }
    }

    /// Requests of all users: at least as many as asked for.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.each.saturating_mul(u64::from(self.users))
    }
}

/// A length in time or in requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// A duration, ns.
    Ns(u64),
    /// A count of requests.
    Count(u64),
}

/// `[require]`: what must stand before a matrix is made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Require {
    /// A calibration for this host, transport and arrival model.
    #[serde(default)]
    pub calibration: Option<RequireCalibration>,
}

/// How fresh a calibration must be, and how far below its knee the cells stay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequireCalibration {
    /// Oldest that counts, ns.
    pub age_ns: u64,
    /// Share of the knee above which a cell is flagged.
    pub knee_share: f64,
}

impl Default for RequireCalibration {
    fn default() -> Self {
        Self { age_ns: 86_400_000_000_000, knee_share: 0.5 }
    }
}

/// One planned run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Name of its directory: `<block>-<order>-<cell>`, `w` after the order for a warm-up.
    pub dir: String,
    /// Block, from 1.
    pub block: u32,
    /// Position in the block, from 1; a warm-up has the order of the run it precedes.
    pub order: u32,
    /// Cell name.
    pub cell: String,
    /// Measured or warm-up.
    pub kind: RunKind,
    /// Number of the target instance that serves it, from 1. An instance is brought up before
    /// its first run and stopped after its last.
    pub instance: u32,
    /// Bytes by which the target's environment is padded, to move its memory layout; 0 without
    /// `matrix.layout`.
    #[serde(default)]
    pub layout_bytes: u32,
}

/// Measured or warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// Counts.
    Measured,
    /// Discarded by name.
    WarmUp,
}

/// Cores by role; an empty list is no restriction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpus {
    /// Of targets that are processes.
    #[serde(default)]
    pub target: Vec<u32>,
    /// Of the mock.
    #[serde(default)]
    pub mock: Vec<u32>,
    /// Of the generator.
    #[serde(default)]
    pub generator: Vec<u32>,
    /// Of the parent and its observer.
    #[serde(default)]
    pub parent: Vec<u32>,
}

/// Bounds of the gates; every threshold has a key in `[gates]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gates {
    /// `failures`: share of failed requests above which a run is void.
    pub failures_share: f64,
    /// `window`: shortest measured window, ns.
    pub window_ns: u64,
    /// `achieved`: smallest share of the planned rate.
    pub achieved_share: f64,
    /// `generator_cpu_flag`: share of the generator's cores above which it is flagged.
    pub generator_cpu_flag_share: f64,
    /// `generator_cpu`: share above which latency is void and throughput `at_least`.
    pub generator_cpu_share: f64,
    /// `samples`: fewest observer samples inside the window.
    pub observer_samples: u64,
    /// `requests`: fewest successes in the window.
    pub requests: u64,
    /// `truncated`: smallest share of the asked window.
    pub window_share: f64,
    /// `percentile`: the highest percentile that the window must have samples for, 0 to 1.
    pub percentile: f64,
    /// `lag_flag`: p99 of the send lag as a share of the p50 latency above which an open loop is
    /// flagged.
    pub lag_flag_share: f64,
    /// `lag`: the same, above which its latency is void.
    pub lag_share: f64,
    /// `lag_base`: a p50 latency below this counts as this, ns: 5 % of 4 ms are 200 us.
    pub lag_base_ns: u64,
    /// `little`: largest share of each loop that may lie outside the requests.
    pub little_share: f64,
    /// `connection_shape`: reconnects that no failure explains, per request.
    pub reconnects_share: f64,
    /// `steady_seconds`: fewest whole seconds of a window that is tested for steadiness.
    pub steady_seconds: u64,
    /// `trend`: largest drift over the window, as a share of its middle.
    pub trend_share: f64,
    /// `halves`: largest difference between the halves of the window.
    pub halves_share: f64,
    /// `shift_flag`: smallest change of level inside the window that is flagged.
    pub shift_flag_share: f64,
    /// `shift`: smallest change of level inside the window that voids the run.
    pub shift_share: f64,
    /// `warm_up`: largest difference between the first fifth of the window and the rest.
    pub warm_up_share: f64,
    /// `hidden_mode`: smallest share of requests that is a mode of its own.
    pub mode_share: f64,
    /// `mock_late`: largest lateness of the mock, p99 of slept over asked, as a share of asked.
    pub mock_late_share: f64,
    /// `steal`: largest stolen share of all cores.
    pub steal_share: f64,
    /// `foreign`: largest share of one core used by a process that took no part.
    pub foreign_share: f64,
    /// `frequency`: largest drop of the cores' frequency inside the window.
    pub frequency_share: f64,
    /// `clock_variance`: how far the mean frequency of the window may be below its own highest.
    pub clock_variance_share: f64,
    /// `speed`: largest change of the time that a fixed loop takes, before the load and after it.
    pub speed_share: f64,
    /// `start_temperature`: hottest start, degrees Celsius.
    pub start_temperature_celsius: u64,
    /// `load_average`: largest one-minute load average over the number of cores.
    pub load_average_share: f64,
    /// `gap`: shortest pause after a run that left sockets in TIME_WAIT, ns.
    pub gap_ns: u64,
    /// `generator_cluster`: width of the band of throughput in which three targets or more, each
    /// with a busy generator, are taken for measurements of the generator.
    pub cluster_share: f64,
}

impl Default for Gates {
    fn default() -> Self {
        Self {
            failures_share: 0.001,
            window_ns: 20_000_000_000,
            achieved_share: 0.99,
            generator_cpu_flag_share: 0.70,
            generator_cpu_share: 0.80,
            observer_samples: 2,
            requests: 100,
            window_share: 0.99,
            percentile: 0.99,
            lag_flag_share: 0.05,
            lag_share: 1.0,
            lag_base_ns: 4_000_000,
            little_share: 0.05,
            reconnects_share: 0.05,
            steady_seconds: 10,
            trend_share: 0.025,
            halves_share: 0.05,
            shift_flag_share: 0.05,
            shift_share: 0.10,
            warm_up_share: 0.05,
            mode_share: 0.005,
            mock_late_share: 0.10,
            steal_share: 0.005,
            foreign_share: 0.10,
            frequency_share: 0.10,
            clock_variance_share: 0.15,
            speed_share: 0.05,
            start_temperature_celsius: 80,
            load_average_share: 2.0,
            gap_ns: 35_000_000_000,
            cluster_share: 0.05,
        }
    }
}

/// What is compared, and what was registered about it before the first run. Every digest repeats
/// it, so that kept digests alone give the same statements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compare {
    /// `throughput`, `p50` to `p999`, `failures`, `time`, `ROLE.cpu_per_request`; by the load's
    /// model when absent.
    pub primary: Option<String>,
    /// The factors that are contrasted; all but rows when empty.
    pub factors: Vec<String>,
    /// Baseline level by factor, where it is not the first.
    pub baseline: BTreeMap<String, String>,
    /// The factor whose levels are the rows of a geometric mean.
    pub over: Option<String>,
    /// Levels of `over` that stand beside the mean and never in it.
    pub guard: Vec<String>,
    /// Weight of a level of `over`, 1 where it is not named.
    pub weight: BTreeMap<String, f64>,
    /// Smallest effect that matters, as a share, by metric; `*` is for all others.
    pub margin: BTreeMap<String, f64>,
    /// Share by which a positive control is slowed.
    pub positive: Option<f64>,
    /// Keys in which the two runs of a pair may differ though no factor sets them.
    pub allow: Vec<String>,
    /// Looks at the data that were registered; 1 without.
    pub looks: Option<u32>,
    /// What must differ between the arms before any other figure is shown.
    pub manipulation: Vec<Manipulation>,
    /// What each rival explanation predicts.
    pub hypotheses: Vec<Hypothesis>,
}

/// A quantity that must differ between the arms of a contrast, or the factor did nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manipulation {
    /// The factor; the only contrasted one when absent.
    #[serde(default)]
    pub factor: Option<String>,
    /// A metric of the digests, `connections` for example.
    pub metric: String,
    /// Smallest share by which level and baseline must differ, either way: 0.5 for 50 %.
    pub least: f64,
}

/// What one explanation predicts for one contrast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// Its name, a few words.
    pub name: String,
    /// The factor; the only contrasted one when absent.
    #[serde(default)]
    pub factor: Option<String>,
    /// The level; the only one beside baseline and controls when absent.
    #[serde(default)]
    pub level: Option<String>,
    /// The metric; the primary one when absent.
    #[serde(default)]
    pub metric: Option<String>,
    /// Predicted change of level against baseline, as a share: 0.01 for +1 %.
    pub predicts: f64,
}

/// Estimated cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// Whole matrix, ns; `None` when a window is a count.
    pub time_ns: Option<u64>,
    /// Of that, bring-ups, ns.
    pub bring_up_ns: u64,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// Bound on one run, ns.
    pub run_timeout_ns: u64,
}
