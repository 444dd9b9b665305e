//! Rows of `resources.csv` and `host.csv`. Absent sensors are empty cells, never zero.

use serde::{Deserialize, Serialize};

/// Why a sample was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// By the interval.
    Sample,
    /// At the start of the measured window.
    WindowStart,
    /// At the end of the measured window.
    WindowEnd,
}

impl Edge {
    /// The word in the CSV.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::WindowStart => "window_start",
            Self::WindowEnd => "window_end",
        }
    }

    /// The edge of a word in the CSV.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Sample, Self::WindowStart, Self::WindowEnd].into_iter().find(|e| e.word() == word)
    }
}

/// Header of `resources.csv`.
pub const RESOURCES_HEADER: &str = "t_ns,edge,role,processes,cpu_user_ns,cpu_sys_ns,cpu_ns,\
rss_bytes,pss_bytes,threads,switches_voluntary,switches_involuntary,descriptors";

/// One sample of one role's process tree. Counters are cumulative over the tree, reaped
/// children included.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceRow {
    /// System-wide monotonic clock, ns.
    pub t_ns: u64,
    /// Why.
    pub edge: Edge,
    /// `target`, `generator`, `mock`, `parent`.
    pub role: String,
    /// Live processes in the tree.
    pub processes: u64,
    /// User CPU, ns, by the kernel's ticks.
    pub cpu_user_ns: Option<u64>,
    /// System CPU, ns, by the kernel's ticks.
    pub cpu_sys_ns: Option<u64>,
    /// Total CPU, ns, by the scheduler's nanoseconds where it has them, else user plus system.
    pub cpu_ns: Option<u64>,
    /// Resident set, bytes, summed.
    pub rss_bytes: Option<u64>,
    /// Proportional set, bytes, summed.
    pub pss_bytes: Option<u64>,
    /// Threads.
    pub threads: Option<u64>,
    /// Voluntary context switches.
    pub switches_voluntary: Option<u64>,
    /// Involuntary context switches.
    pub switches_involuntary: Option<u64>,
    /// Open descriptors.
    pub descriptors: Option<u64>,
}

/// Header of `host.csv`.
pub const HOST_HEADER: &str = "t_ns,edge,busy_ns,idle_ns,steal_ns,load_1m,frequency_hz,\
temperature_millicelsius,memory_available_bytes,frequency_share,interrupts,throttled_ns,\
thermal_throttles,time_wait,foreign_all_share,foreign_pid,foreign_share,foreign_name";

/// One sample of the host. Times are cumulative over all cores.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRow {
    /// System-wide monotonic clock, ns.
    pub t_ns: u64,
    /// Why.
    pub edge: Edge,
    /// Busy time of all cores, steal excluded, ns.
    pub busy_ns: Option<u64>,
    /// Idle and I/O wait of all cores, ns.
    pub idle_ns: Option<u64>,
    /// Stolen time of all cores, ns.
    pub steal_ns: Option<u64>,
    /// Load average over one minute.
    pub load_1m: Option<f64>,
    /// Mean frequency over cores, Hz; absent where the machine does not tell.
    pub frequency_hz: Option<u64>,
    /// Hottest sensor; absent where the machine has none.
    pub temperature_millicelsius: Option<i64>,
    /// Available memory, bytes.
    pub memory_available_bytes: Option<u64>,
    /// Mean over cores of frequency over the core's own highest, so that types of cores compare.
    pub frequency_share: Option<f64>,
    /// Interrupts of all cores since boot.
    pub interrupts: Option<u64>,
    /// Time for which the observer's control group was held back by a quota, ns.
    pub throttled_ns: Option<u64>,
    /// How often cores were slowed for their temperature since boot.
    pub thermal_throttles: Option<u64>,
    /// Sockets in TIME_WAIT.
    pub time_wait: Option<u64>,
    /// What all processes that take no part used since the previous sample, as a share of one core.
    pub foreign_all_share: Option<f64>,
    /// The busiest process that takes no part, since the previous sample.
    pub foreign_pid: Option<u32>,
    /// Its share of one core, 0 to cores.
    pub foreign_share: Option<f64>,
    /// Its name.
    pub foreign_name: Option<String>,
}
