//! GC logs: unified ones (`-Xlog:gc*`, JDK 9 and later) and those of JDK 8.
//!
//! What is read: pauses one by one, the heap after each collection, concurrent phases apart from
//! pauses, safepoints, CPU of the collector, and what went wrong (evacuation failures, full
//! collections, allocation stalls). Decorations may be any set in any order, or none: lines are
//! known by their message. Lines that are not understood are counted and passed over, for a log
//! may hold anything beside collections, class histograms for example.
//!
//! Memory is bounded: a line by 64 KiB, rows by [`MAX_ROWS`], names by [`MAX_NAMES`]. What is
//! beyond a bound still counts in every sum and is counted as dropped from the rows. Durations
//! and sizes are the log's own, exact to its last digit.

mod amount;
mod decorations;
mod jdk8;
mod unified;

use std::io::{self, BufRead};

use crate::text_lines::Lines;

/// Rows kept of pauses, and as many of the heap.
pub const MAX_ROWS: usize = 1 << 20;
/// Different names kept of pauses, of phases and of safepoints; the rest go under
/// [`OTHER_NAME`].
pub const MAX_NAMES: usize = 64;
/// The name of what is beyond [`MAX_NAMES`].
pub const OTHER_NAME: &str = "(other)";

/// A GC log, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcLog {
    /// Which of the two formats.
    pub style: Style,
    /// The collector, as named by the log or told by its lines.
    pub collector: Option<Collector>,
    /// The version of the JVM where the log names it.
    pub jdk: Option<String>,
    /// What `at_ns` counts from.
    pub clock: Clock,
    /// From the first stamp to the last, ns.
    pub span_ns: Option<u64>,
    /// The pauses in the order of the log.
    pub pauses: Vec<Pause>,
    /// Pauses by kind in the order of their first; the sums hold every pause.
    pub pause_kinds: Vec<Named>,
    /// The heap before and after each collection.
    pub heap: Vec<HeapChange>,
    /// Concurrent phases by name. A cycle that contains other phases is in
    /// [`Self::concurrent_cycles`].
    pub concurrent: Vec<Named>,
    /// Concurrent cycles by name; their time is that of their phases and pauses, no other.
    pub concurrent_cycles: Vec<Named>,
    /// Safepoints by operation: the whole time that application threads stood.
    pub safepoints: Vec<Named>,
    /// Of the time at safepoints, the time until all threads stood, ns.
    pub reaching_safepoint_ns: u64,
    /// Longest time until all threads stood, ns.
    pub reaching_safepoint_max_ns: u64,
    /// CPU of the collector's threads in pauses, user and system, ns. The log rounds each pause
    /// to 10 ms.
    pub cpu_ns: u64,
    /// Pauses with a line of CPU.
    pub cpu_pauses: u64,
    /// Collections that could not evacuate or promote.
    pub evacuation_failures: u64,
    /// Concurrent collections that gave up for a pause: degenerated cycles, concurrent mode
    /// failures.
    pub degenerated: u64,
    /// Allocations that had to wait for the collector.
    pub allocation_stalls: u64,
    /// Their sum, ns.
    pub allocation_stall_ns: u64,
    /// Collections that took the old generation, or the whole heap, in.
    pub old_collections: u64,
    /// How much of it was understood.
    pub quality: Quality,
}

/// Which format a log has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Style {
    /// `-Xlog:gc*`.
    #[default]
    Unified,
    /// `-XX:+PrintGCDetails`.
    Jdk8,
}

/// A collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the collectors' own")]
pub enum Collector {
    Serial,
    Parallel,
    Cms,
    G1,
    Z,
    GenerationalZ,
    Shenandoah,
    GenerationalShenandoah,
    Epsilon,
}

impl Collector {
    /// The collector's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Serial => "Serial",
            Self::Parallel => "Parallel",
            Self::Cms => "CMS",
            Self::G1 => "G1",
            Self::Z => "ZGC",
            Self::GenerationalZ => "ZGC, generational",
            Self::Shenandoah => "Shenandoah",
            Self::GenerationalShenandoah => "Shenandoah, generational",
            Self::Epsilon => "Epsilon",
        }
    }
}

/// What the stamps of a log count from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clock {
    /// The log has no stamps.
    #[default]
    None,
    /// The JVM's start.
    Uptime,
    /// The first stamp of the log, which has dates only; ns since 1970.
    FirstDate(u64),
}

/// A pause: the application stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// Its stamp, ns: the end in a unified log, the start in one of JDK 8.
    pub at_ns: Option<u64>,
    /// How long, ns.
    pub duration_ns: u64,
    /// Index into [`GcLog::pause_kinds`].
    pub kind: u16,
}

/// What is known of all of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// The name: `Pause Young`, `Concurrent Mark`, `G1CollectForAllocation`.
    pub name: String,
    /// How many.
    pub count: u64,
    /// Their sum, ns.
    pub sum_ns: u64,
    /// The longest, ns.
    pub max_ns: u64,
}

/// The heap around one collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapChange {
    /// Its stamp, ns.
    pub at_ns: Option<u64>,
    /// The collection's number in the log.
    pub gc: Option<u64>,
    /// In use before, bytes.
    pub before_bytes: u64,
    /// In use after, bytes. After a concurrent collection this holds what was allocated
    /// meanwhile: it is no floor as after a pause.
    pub after_bytes: u64,
    /// Size of the heap, bytes.
    pub committed_bytes: Option<u64>,
    /// Whether the application ran meanwhile.
    pub concurrent: bool,
    /// Whether the old generation, or the whole heap, was collected.
    pub old: bool,
}

/// How much of a log was understood.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quality {
    /// Lines of the file.
    pub lines: u64,
    /// Lines that say nothing that is read here.
    pub passed_over: u64,
    /// Of these, lines of class histograms.
    pub histogram_lines: u64,
    /// Lines longer than 64 KiB; the rest of each was not read.
    pub cut_lines: u64,
    /// Whether the file ends in the middle of a line: it was cut, or is being written.
    pub unfinished: bool,
    /// Events of a JDK 8 log that never ended.
    pub broken_events: u64,
    /// Rows beyond [`MAX_ROWS`], in the sums and not among the rows.
    pub dropped_rows: u64,
}

/// Why a file is no GC log.
#[derive(Debug, thiserror::Error)]
pub enum GcLogError {
    /// It could not be read.
    #[error("line {line}: {source}")]
    Io {
        /// The line after which reading failed, from 1.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing in it is of a GC log.
    #[error(
        "expected a GC log, found {lines} lines without one about a collection; the first: \
         `{first}`. A log is written with `-Xlog:gc*:file=gc.log` (JDK 8: `-Xloggc:gc.log \
         -XX:+PrintGCDetails -XX:+PrintGCDateStamps`)"
    )]
    NotAGcLog {
        /// Lines read.
        lines: u64,
        /// The start of the first line that is not empty.
        first: String,
    },
}

impl GcLog {
    /// Pauses in all, their sum and the longest, ns.
    #[must_use]
    pub fn pauses_in_all(&self) -> (u64, u64, u64) {
        self.pause_kinds.iter().fold((0, 0, 0), |(count, sum, max), kind| {
            (count + kind.count, sum.saturating_add(kind.sum_ns), max.max(kind.max_ns))
        })
    }

    /// Full collections: the whole heap in one pause.
    #[must_use]
    pub fn full_collections(&self) -> u64 {
        self.pause_kinds.iter().find(|kind| kind.name == "Pause Full").map_or(0, |kind| kind.count)
    }

    /// Reads a log to its end.
    ///
    /// # Errors
    /// When the input fails or holds nothing of a GC log. Damage within one is no error: see
    /// [`Quality`].
    pub fn read(input: impl BufRead) -> Result<Self, GcLogError> {
        let mut lines = Lines::new(input);
        let mut reader = Reader::default();
        let mut first = String::new();
        loop {
            let count = lines.count;
            let line = match lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(source) => return Err(GcLogError::Io { line: count, source }),
            };
            let line = String::from_utf8_lossy(line);
            if first.is_empty() {
                first = line.trim().chars().take(80).collect();
            }
            reader.line(&line);
            reader.log.quality.unfinished = !lines.ended;
        }
        let understood = reader.understood;
        let mut log = reader.finish();
        log.quality.lines = lines.count;
        log.quality.cut_lines = lines.cut;
        if understood { Ok(log) } else { Err(GcLogError::NotAGcLog { lines: lines.count, first }) }
    }
}

/// A stamp of a line.
#[derive(Debug, Clone, Copy, Default)]
struct Stamp {
    uptime_ns: Option<u64>,
    epoch_ns: Option<u64>,
}

/// The state between lines.
#[derive(Debug, Default)]
struct Reader {
    log: GcLog,
    /// Whether any line was of a GC log.
    understood: bool,
    first_at_ns: Option<u64>,
    /// The operation of the safepoint that was entered, JDK 11 and before.
    safepoint: Option<String>,
    /// The collection that failed last: one may say so in two lines.
    failed: Option<Option<u64>>,
    generational: bool,
    old: jdk8::State,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let (decorations, message) = decorations::split(line);
        let used = if decorations.any {
            self.understood |= decorations.tags.is_some();
            let stamp = Stamp { uptime_ns: decorations.uptime_ns, epoch_ns: decorations.epoch_ns };
            let at_ns = self.at(stamp);
            self.unified(message, at_ns)
        } else {
            self.jdk8(line) || self.unified(line, None)
        };
        self.understood |= used;
        if !used {
            self.log.quality.passed_over += 1;
            self.log.quality.histogram_lines += u64::from(is_histogram_row(message));
        }
    }

    /// Time of a stamp by the log's clock, which the first stamp decides.
    fn at(&mut self, stamp: Stamp) -> Option<u64> {
        let at_ns = match (self.log.clock, stamp.uptime_ns, stamp.epoch_ns) {
            (Clock::None | Clock::Uptime, Some(uptime_ns), _) => {
                self.log.clock = Clock::Uptime;
                uptime_ns
            }
            (Clock::None, None, Some(epoch_ns)) => {
                self.log.clock = Clock::FirstDate(epoch_ns);
                0
            }
            (Clock::FirstDate(first_ns), _, Some(epoch_ns)) => epoch_ns.saturating_sub(first_ns),
            // A line without the clock of the others has no time.
            _ => return None,
        };
        let first_ns = *self.first_at_ns.get_or_insert(at_ns);
        let span_ns = at_ns.saturating_sub(first_ns);
        self.log.span_ns = Some(self.log.span_ns.unwrap_or(0).max(span_ns));
        Some(at_ns)
    }

    fn pause(&mut self, at_ns: Option<u64>, kind: &str, duration_ns: u64) {
        let kind = add(&mut self.log.pause_kinds, kind, duration_ns);
        if self.log.pauses.len() < MAX_ROWS {
            self.log.pauses.push(Pause { at_ns, duration_ns, kind });
        } else {
            self.log.quality.dropped_rows += 1;
        }
    }

    fn heap(&mut self, change: HeapChange) {
        if self.log.heap.len() < MAX_ROWS {
            self.log.heap.push(change);
        } else {
            self.log.quality.dropped_rows += 1;
        }
    }

    /// An evacuation failure; a collection that says so twice counts once.
    fn failure(&mut self, gc: Option<u64>) {
        if gc.is_none() || self.failed != Some(gc) {
            self.log.evacuation_failures += 1;
        }
        self.failed = Some(gc);
    }

    fn safepoint(&mut self, name: &str, reaching_ns: u64, total_ns: u64) {
        add(&mut self.log.safepoints, name, total_ns);
        let log = &mut self.log;
        log.reaching_safepoint_ns = log.reaching_safepoint_ns.saturating_add(reaching_ns);
        log.reaching_safepoint_max_ns = log.reaching_safepoint_max_ns.max(reaching_ns);
    }

    fn collector(&mut self, collector: Collector) {
        self.log.collector.get_or_insert(collector);
    }

    fn finish(mut self) -> GcLog {
        self.finish_jdk8();
        if self.generational {
            self.log.collector = match self.log.collector {
                Some(Collector::Z) => Some(Collector::GenerationalZ),
                Some(Collector::Shenandoah) => Some(Collector::GenerationalShenandoah),
                other => other,
            };
        }
        self.log
    }
}

/// Adds one to a name's sums and gives its index.
fn add(named: &mut Vec<Named>, name: &str, duration_ns: u64) -> u16 {
    let index = named.iter().position(|known| known.name == name).unwrap_or_else(|| {
        let name = if named.len() < MAX_NAMES { name } else { OTHER_NAME };
        named.iter().position(|known| known.name == name).unwrap_or_else(|| {
            named.push(Named { name: name.to_owned(), ..Named::default() });
            named.len() - 1
        })
    });
    let known = &mut named[index];
    known.count += 1;
    known.sum_ns = known.sum_ns.saturating_add(duration_ns);
    known.max_ns = known.max_ns.max(duration_ns);
    u16::try_from(index).expect("at most MAX_NAMES and one")
}

/// Whether a line is of a class histogram, which a log may hold (trap 42).
fn is_histogram_row(message: &str) -> bool {
    let row = unified::collection(message).1;
    if row.starts_with("Class Histogram (") || row.starts_with("-----") {
        return true;
    }
    let mut words = row.split_whitespace();
    match words.next() {
        Some("num") => words.next() == Some("#instances"),
        Some("Total") => {
            words.clone().count() == 2 && words.all(|word| word.parse::<u64>().is_ok())
        }
        Some(word) if word.ends_with(':') => {
            word[..word.len() - 1].parse::<u64>().is_ok()
                && words.next().is_some_and(|word| word.parse::<u64>().is_ok())
                && words.next().is_some_and(|word| word.parse::<u64>().is_ok())
        }
        _ => false,
    }
}

/// Whether the start of a file looks like a GC log's: a line of one among the first.
#[must_use]
pub fn looks_like(head: &[u8]) -> bool {
    let mut reader = Reader::default();
    String::from_utf8_lossy(head).lines().take(200).any(|line| {
        reader.line(line);
        reader.understood
    })
}

#[cfg(test)]
mod tests;
