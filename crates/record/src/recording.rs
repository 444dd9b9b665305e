//! The digest of one recording: flight recording, GC log, collapsed stacks, class histogram.
//!
//! Names of fields are a contract: programs read `assay digest FILE --json`. Class names are as
//! the constant pool has them, with dots; arrays stay `[B`. A panel that the recording could
//! not feed is not there and stands in `absent` with the reason; a panel that is there and
//! empty says that nothing happened.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Format;

/// The digest of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordingDigest {
    /// `assay.recording`.
    pub format: Format,
    /// What was read.
    pub source: Source,
    /// How much of it can be believed.
    pub quality: Quality,
    /// What it says.
    pub panels: Panels,
    /// Panels that it could not feed.
    pub absent: Vec<Absent>,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// `jfr`, `gc_log`, `collapsed`, `class_histogram` or `thread_dump`.
    pub kind: String,
    /// Bytes of all files.
    pub bytes: u64,
    /// Chunks that were read; 0 for text.
    #[serde(default)]
    pub chunks: u64,
    /// The JDK's version as the JVM wrote it.
    #[serde(default)]
    pub jdk: Option<String>,
    /// Recorded span, from the first chunk's start to the last one's end.
    #[serde(default)]
    pub span_ns: u64,
    /// Start, nanoseconds since the epoch.
    #[serde(default)]
    pub start_ns: Option<u64>,
    /// The part that was looked at, nanoseconds since the epoch; absent when all of it.
    #[serde(default)]
    pub window_ns: Option<[u64; 2]>,
    /// Prefixes of what counts as own code.
    #[serde(default)]
    pub packages: Vec<String>,
}

/// How much can be believed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Bytes are missing: the file ends within a chunk, or a chunk was not readable.
    pub truncated: bool,
    /// Made of what a killed JVM left: finished up to its last flush only.
    pub recovered: bool,
    /// Stacks, methods, classes and threads that events name and no pool defines.
    pub unresolved_ids: u64,
    /// Events that were wanted and could not be decoded.
    pub skipped_events: u64,
    /// The first allocation sample of some thread weighs far more than its others: it carries
    /// what the thread had allocated before the recording began.
    pub first_sample_heavy: bool,
    /// Bytes of such first samples; shares without them are higher for all other sites.
    #[serde(default)]
    pub first_sample_bytes: u64,
    /// Threads with such a first sample.
    #[serde(default)]
    pub first_sample_threads: u64,
    /// Bytes that the recorder itself says it lost.
    #[serde(default)]
    pub lost_bytes: u64,
    /// CPU-time samples that the recorder itself says it lost.
    #[serde(default)]
    pub lost_samples: u64,
    /// Text lines that no pattern fits.
    #[serde(default)]
    pub unknown_lines: u64,
    /// What was wrong, a sentence each, in order of the file.
    #[serde(default)]
    pub faults: Vec<String>,
}

/// A panel that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absent {
    /// Name of the field in [`Panels`].
    pub panel: String,
    /// Why.
    pub reason: String,
}

/// All panels, in the order of the page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Panels {
    /// JVM, collector, heap, spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// Bytes by allocated type (the leaf).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation_by_type: Option<Allocation>,
    /// Bytes by site: the deepest frame of own code, else the deepest frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation_by_site: Option<Allocation>,
    /// Execution samples by leaf method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_methods: Option<Methods>,
    /// CPU-time samples by leaf method, weighted by their period; never added to the above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_time_methods: Option<Methods>,
    /// Execution samples by package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packages: Option<Packages>,
    /// Execution samples by thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<Threads>,
    /// Heap in use after each collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_after_gc: Option<HeapAfterGc>,
    /// Stop-the-world pauses of the collector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gc_pauses: Option<GcPauses>,
    /// Stops of all threads, whatever for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safepoints: Option<Safepoints>,
    /// Monitors and parking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locks: Option<Locks>,
    /// Exceptions and errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exceptions: Option<Exceptions>,
    /// Files and sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io: Option<Io>,
    /// Compilation and class loading: was the run warm?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
    /// Objects that were still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_objects: Option<OldObjects>,
    /// Classes of a class histogram.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Classes>,
    /// Threads of a thread dump.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_dump: Option<ThreadDump>,
    /// Events by type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<BTreeMap<String, u64>>,
}

/// The run that was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// `complete`, `unfinished` (the JVM ended without closing it), `recovered` or `truncated`.
    pub outcome: String,
    /// JVM by its own name.
    pub jvm: Option<String>,
    /// Version of the JDK.
    pub jdk: Option<String>,
    /// Collector, such as `G1`, with the names of its two parts.
    pub collector: Option<String>,
    /// Largest heap, bytes.
    pub heap_max_bytes: Option<u64>,
    /// Heap at the start, bytes.
    pub heap_initial_bytes: Option<u64>,
    /// References take four bytes.
    pub compressed_references: Option<bool>,
    /// Collector and heap flags as they took effect, by name.
    pub flags: BTreeMap<String, String>,
    /// Hardware threads that the JVM saw.
    pub processors: Option<u64>,
    /// From the JVM's start to the recording's end.
    pub run_ns: Option<u64>,
    /// The recorded part of it.
    pub recorded_ns: u64,
    /// Why the collector's name may mislead on this JDK.
    pub collector_note: Option<String>,
    /// How the run ended by the record of its run directory, such as `finished` or `timed_out`;
    /// absent for a recording that lies in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The target's build by the record of its run directory: its version, else the SHA-256 of
    /// its executable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

/// Bytes allocated, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allocation {
    /// All bytes; rows and rest sum to it.
    pub total_bytes: u64,
    /// All samples.
    pub samples: u64,
    /// Which field of which event counts as bytes.
    pub rule: String,
    /// Largest first, then by name.
    pub rows: Vec<BytesRow>,
    /// Bytes of what is below the last row.
    pub rest_bytes: u64,
    /// Names below the last row.
    pub rest_rows: u64,
    /// Share of the last row: what is smaller is not listed, which is not the same as absent.
    pub cut_off_share: f64,
    /// What keeps these numbers from meaning what they seem to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why the rows are no ranking: two recordings of the same work disagree about them while
    /// their totals agree. The page then shows the total alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<String>,
}

/// One name with its bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BytesRow {
    /// Type or site; a site of own code ends in its line.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// Share of the total.
    pub share: f64,
    /// Samples.
    #[serde(default)]
    pub samples: u64,
}

/// Samples of running threads by method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Methods {
    /// All samples.
    pub samples: u64,
    /// The event, such as `jdk.ExecutionSample`.
    pub event: String,
    /// Samples that the CPU time of the process would have given at the recorded period.
    pub expected_samples: Option<u64>,
    /// The sampling period.
    pub period_ns: Option<u64>,
    /// Samples whose stack was cut at the depth of the recording.
    pub truncated_samples: u64,
    /// Samples without a stack.
    pub without_stack_samples: u64,
    /// Samples of virtual threads.
    pub virtual_samples: u64,
    /// By leaf method.
    pub rows: Vec<SamplesRow>,
    /// Samples below the last row.
    pub rest_samples: u64,
    /// By any frame of the stack, each method once per sample.
    pub inclusive: Vec<SamplesRow>,
    /// By the deepest frame of own code; empty when no package was named.
    pub own: Vec<SamplesRow>,
    /// Samples with a frame of own code.
    pub own_samples: Option<u64>,
    /// What keeps these numbers from meaning what they seem to.
    pub notes: Vec<String>,
}

/// One name with its samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SamplesRow {
    /// Method, package or thread.
    pub name: String,
    /// Samples.
    pub samples: u64,
    /// Share of all samples of the panel.
    #[serde(default)]
    pub share: f64,
    /// Sum of the samples' own periods, where they carry one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
}

/// Samples by package.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Packages {
    /// All samples.
    pub samples: u64,
    /// `inclusive`: each package once per sample, so shares sum to more than one; or
    /// `exclusive`: the leaf's package alone.
    pub mode: String,
    /// Frames from the leaf that are looked at.
    pub depth: u32,
    /// Samples whose stack was cut at the depth of the recording.
    pub truncated_samples: u64,
    /// Most samples first.
    pub rows: Vec<SamplesRow>,
    /// Packages below the last row.
    pub rest_rows: u64,
    /// Bands that were set, and where the share lies.
    pub bands: Vec<Band>,
}

/// An expected band of a package's share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// Prefix of the packages, or `own` for samples with any frame of own code.
    pub package: String,
    /// Lowest share expected.
    pub low_share: f64,
    /// Highest share expected.
    pub high_share: f64,
    /// The share.
    pub share: f64,
    /// `within`, `below` or `above`.
    pub verdict: String,
}

/// Samples by thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Threads {
    /// All samples.
    pub samples: u64,
    /// Most samples first; all virtual threads are one row.
    pub rows: Vec<SamplesRow>,
    /// Threads below the last row.
    pub rest_rows: u64,
}

/// The heap after each collection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeapAfterGc {
    /// Collector, which says what a value means: after a concurrent one the heap is no floor.
    pub collector: String,
    /// `churn`, `leak`, `live-mid-copy` or `undecidable`.
    pub shape: String,
    /// Why.
    pub reason: String,
    /// Lowest, bytes.
    pub min_bytes: u64,
    /// Last, bytes.
    pub last_bytes: u64,
    /// Highest, bytes.
    pub max_bytes: u64,
    /// Collections that looked at old space too.
    pub old_collections: u64,
    /// In order of time.
    pub rows: Vec<HeapRow>,
}

/// The heap after one collection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HeapRow {
    /// Instant, nanoseconds since the epoch; since the JVM's start in a log without dates.
    pub at_ns: u64,
    /// Bytes in use.
    pub used_bytes: u64,
    /// Number of the collection, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_id: Option<u64>,
    /// Old space was collected too.
    #[serde(default)]
    pub old: bool,
}

/// Pauses of the collector.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GcPauses {
    /// Pauses.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Pauses per second of the span.
    pub rate_per_s: f64,
    /// Share of the span.
    pub share: f64,
    /// Collections; a concurrent one has several pauses.
    pub collections: u64,
    /// Pauses by kind.
    pub by_kind: Vec<TimedRow>,
    /// Collections by cause.
    pub by_cause: BTreeMap<String, u64>,
    /// Pauses below each bound, the last without one.
    pub histogram: Vec<Bin>,
    /// Pauses in the first and the second half of the span.
    pub halves: [u64; 2],
    /// What the halves say.
    pub trend: String,
    /// CPU time of the collector's threads, ns, where the JVM accounts for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Its share of the CPU time of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// Where the pauses per second lie, when a band was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_band: Option<RateBand>,
}

/// An expected band of a rate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RateBand {
    /// Lowest rate expected, per second.
    pub low_per_s: f64,
    /// Highest rate expected, per second.
    pub high_per_s: f64,
    /// `within`, `below` or `above`.
    pub verdict: String,
}

/// One bin of a histogram.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// Durations below this; absent for the last.
    pub below_ns: Option<u64>,
    /// How many.
    pub count: u64,
}

/// Something counted and timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TimedRow {
    /// What.
    pub name: String,
    /// How often.
    pub count: u64,
    /// Sum of durations.
    pub sum_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Bytes moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Stops of all threads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Safepoints {
    /// Safepoints begun.
    pub count: u64,
    /// Time until all threads stood still, where recorded.
    pub to_safepoint_ns: u64,
    /// Longest of those.
    pub to_safepoint_max_ns: u64,
    /// Work done at a safepoint, by operation.
    pub operations: Vec<TimedRow>,
}

/// Monitors and parking.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Locks {
    /// Waits to enter a monitor, by class of the monitor.
    pub monitor_enter: Vec<TimedRow>,
    /// The same by site.
    pub monitor_enter_sites: Vec<TimedRow>,
    /// Waits on a monitor.
    pub monitor_wait: Vec<TimedRow>,
    /// Parking, by class parked on; a pool's idle threads park too.
    pub parking: Vec<TimedRow>,
    /// Virtual threads that held on to their carrier, by site.
    pub pinned: Vec<TimedRow>,
}

/// Exceptions and errors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exceptions {
    /// Thrown over the span, by the JVM's counter; those of the events may be fewer.
    pub thrown: Option<u64>,
    /// Events by class and site.
    pub rows: Vec<CountRow>,
    /// Events below the last row.
    pub rest: u64,
}

/// Something counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CountRow {
    /// What.
    pub name: String,
    /// How often.
    pub count: u64,
}

/// Files and sockets; only operations longer than the recorded threshold are events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Io {
    /// `file read`, `file write`, `socket read`, `socket write`.
    pub rows: Vec<TimedRow>,
    /// The same by site.
    pub sites: Vec<TimedRow>,
}

/// Compilation and class loading.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WarmUp {
    /// Time that compiler threads spent over the span.
    pub compilation_ns: Option<u64>,
    /// The same as a share of the CPU time of the process.
    pub compilation_share: Option<f64>,
    /// Methods compiled over the span.
    pub compilations: Option<u64>,
    /// Classes loaded over the span.
    pub classes_loaded: Option<u64>,
    /// Execution samples within class loading, linking or a compiler thread.
    pub samples: u64,
    /// Share of all execution samples.
    pub sample_share: f64,
    /// Set when warm-up leads the profile.
    pub warning: Option<String>,
}

/// Objects that were still there when their samples were taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OldObjects {
    /// Samples.
    pub samples: u64,
    /// Samples with a path to a root.
    pub with_root: u64,
    /// What the samples do not say; absent when all have a path to a root.
    pub banner: Option<String>,
    /// By class.
    pub by_class: Vec<CountRow>,
    /// By site of allocation.
    pub by_site: Vec<CountRow>,
    /// Distinct chains from the object to its root, by classes and fields alone.
    pub chains: Vec<CountRow>,
}

/// The answer to one question about a recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Drill {
    /// `allocations`, `cpu`, `locks`, `pauses`, `floor`, `survivors` or `threads`.
    pub subject: String,
    /// The pattern that was asked for.
    #[serde(default)]
    pub site: Option<String>,
    /// What amounts count: `bytes`, `samples`, `ns` or `objects`.
    pub unit: String,
    /// Amount of everything that the question covers.
    pub total: u64,
    /// Tables, the most telling first.
    pub tables: Vec<DrillTable>,
    /// What keeps these numbers from meaning what they seem to.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The recording was read in part.
    pub truncated: bool,
}

/// One table of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DrillTable {
    /// What its rows are.
    pub title: String,
    /// Largest first, or in order of time.
    pub rows: Vec<DrillRow>,
    /// Rows that are left out.
    pub rest_rows: u64,
}

/// One row of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DrillRow {
    /// What.
    pub name: String,
    /// How much, in the unit of the answer.
    pub amount: u64,
    /// How often.
    pub count: u64,
}

/// What is on the heap by class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Classes {
    /// Instances of all classes.
    pub instances: u64,
    /// Their shallow size.
    pub total_bytes: u64,
    /// Most bytes first.
    pub rows: Vec<ClassRow>,
    /// Classes below the last row.
    pub rest_rows: u64,
    /// Their bytes.
    pub rest_bytes: u64,
}

/// A class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassRow {
    /// As the constant pool has it, with dots; arrays stay `[B`.
    pub name: String,
    /// Module with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Instances.
    pub instances: u64,
    /// Their shallow size.
    pub bytes: u64,
}

/// The threads of a dump.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadDump {
    /// All threads.
    pub threads: u64,
    /// Of these, virtual ones.
    pub virtual_threads: u64,
    /// By state in Java; threads of the JVM have none.
    pub states: Vec<CountRow>,
    /// By the frame on top; threads without a stack are left out.
    pub tops: Vec<CountRow>,
    /// Frames on top below the last row.
    pub rest_rows: u64,
    /// Locks that threads wait for, most waiters first.
    pub contended: Vec<Contended>,
    /// Deadlocks: each a circle of threads and what each waits for.
    pub deadlocks: Vec<String>,
}

/// A lock that threads wait for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Contended {
    /// Its class.
    pub class: String,
    /// The thread that holds it, where the dump says.
    pub owner: Option<String>,
    /// Threads that wait.
    pub waiters: u64,
}
