//! What chunks add up to, by name. Sums are of integers, so the order of chunks is of no account.

use std::collections::{BTreeMap, BTreeSet};

use crate::jfr::names::{FastMap, Names};

use super::events::{STACKED_KINDS, Stacked};
use super::stacks::Kept;

/// Something counted, added up, and its largest part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) count: u64,
    pub(super) sum: u64,
    pub(super) max: u64,
    /// A second sum: bytes of an input or output.
    pub(super) bytes: u64,
    /// Sum of the squares of the parts, each rounded up to [`SQUARE_UNIT`]; its bound on noise.
    pub(super) squares: u64,
}

/// Parts are squared in units of this, so that a million samples of a GiB fit an integer. Sums of
/// integers do not depend on the order of chunks, as those of floats would.
pub(super) const SQUARE_UNIT: u64 = 1_024;

impl Tally {
    #[inline]
    pub(super) fn one(&mut self, amount: u64, bytes: u64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(amount);
        self.max = self.max.max(amount);
        self.bytes = self.bytes.saturating_add(bytes);
        let units = amount.div_ceil(SQUARE_UNIT);
        self.squares = self.squares.saturating_add(units.saturating_mul(units));
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.squares = self.squares.saturating_add(other.squares);
    }
}

/// Tallies by number of name.
pub(super) type Table = FastMap<u32, Tally>;

/// What is known of the stacks of one kind of event.
#[derive(Debug, Default)]
pub(super) struct ByStack {
    pub(super) all: Tally,
    pub(super) truncated: u64,
    pub(super) without_stack: u64,
    /// By the deepest own frame with its line, else the leaf.
    pub(super) sites: Table,
    /// By class or thread.
    pub(super) others: Table,
    /// By leaf method.
    pub(super) leaves: Table,
    /// By any method, once per event; running threads only, unless whole stacks are read.
    pub(super) inclusive: Table,
    /// By the deepest own method; running threads only.
    pub(super) own: Table,
    /// By package of the first frames, once per event; running threads only.
    pub(super) packages: Table,
    /// By package of the leaf.
    pub(super) leaf_packages: Table,
    /// Events of virtual threads.
    pub(super) of_virtual: u64,
    /// Events within class loading, linking or a compiler.
    pub(super) warm_up: u64,
    /// Of the site that was asked for: all, by other, and by chain of callers.
    pub(super) asked: Tally,
    pub(super) asked_others: Table,
    pub(super) callers: Table,
    /// Whole stacks, when they were asked for.
    pub(super) stacks: Kept,
}

impl ByStack {
    fn absorb(&mut self, other: Self, numbers: &[u32]) {
        self.all.add(&other.all);
        self.asked.add(&other.asked);
        self.truncated += other.truncated;
        self.without_stack += other.without_stack;
        self.of_virtual += other.of_virtual;
        self.warm_up += other.warm_up;
        absorb(&mut self.sites, other.sites, numbers);
        absorb(&mut self.others, other.others, numbers);
        absorb(&mut self.leaves, other.leaves, numbers);
        absorb(&mut self.inclusive, other.inclusive, numbers);
        absorb(&mut self.own, other.own, numbers);
        absorb(&mut self.packages, other.packages, numbers);
        absorb(&mut self.leaf_packages, other.leaf_packages, numbers);
        absorb(&mut self.asked_others, other.asked_others, numbers);
        absorb(&mut self.callers, other.callers, numbers);
        self.stacks.absorb(other.stacks, numbers);
    }
}

fn absorb(into: &mut Table, from: Table, numbers: &[u32]) {
    for (number, tally) in from {
        into.entry(numbers[number as usize]).or_default().add(&tally);
    }
}

/// Workers take chunks in any order: of two values the greater wins, whichever came first.
pub(super) fn keep_greater<K: Ord>(into: &mut BTreeMap<K, String>, key: K, value: String) {
    let mine = into.entry(key).or_default();
    if value > *mine {
        *mine = value;
    }
}

/// The first allocation sample of a thread, and what came after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstSample {
    pub(super) at_ns: u64,
    pub(super) bytes: u64,
    pub(super) count: u64,
    pub(super) sum: u64,
}

impl FirstSample {
    pub(super) fn add(&mut self, other: &Self) {
        if other.at_ns < self.at_ns {
            (self.at_ns, self.bytes) = (other.at_ns, other.bytes);
        }
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
    }
}

/// One collection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Collection {
    pub(super) at_ns: u64,
    pub(super) gc_id: u64,
    pub(super) name: String,
    pub(super) cause: String,
    pub(super) sum_ns: u64,
    pub(super) longest_ns: u64,
}

/// A counter of the JVM at its first and last reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counter {
    first: Option<(u64, u64)>,
    last: Option<(u64, u64)>,
}

impl Counter {
    pub(super) fn read(&mut self, at_ns: u64, value: u64) {
        let reading = (at_ns, value);
        self.first = Some(self.first.map_or(reading, |first| first.min(reading)));
        self.last = Some(self.last.map_or(reading, |last| last.max(reading)));
    }

    fn add(&mut self, other: &Self) {
        for (at_ns, value) in [other.first, other.last].into_iter().flatten() {
            self.read(at_ns, value);
        }
    }

    /// How far it went; `None` before two readings.
    pub(super) fn rise(&self) -> Option<u64> {
        let (first, last) = (self.first?, self.last?);
        (last.0 > first.0).then(|| last.1.saturating_sub(first.1))
    }
}

/// Everything that panels are made of.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) names: Names,
    pub(super) stacked: [ByStack; STACKED_KINDS],
    pub(super) first_samples: BTreeMap<(u64, String), FirstSample>,
    /// Instant, number of the collection, bytes in use.
    pub(super) heap: Vec<(u64, u64, u64)>,
    pub(super) collections: Vec<Collection>,
    /// Start, duration, kind.
    pub(super) pauses: Vec<(u64, u64, String)>,
    pub(super) collectors: BTreeSet<(String, String)>,
    pub(super) heap_max_bytes: Option<u64>,
    pub(super) heap_initial_bytes: Option<u64>,
    pub(super) compressed_references: Option<bool>,
    pub(super) jvm: Option<String>,
    pub(super) jdk: Option<String>,
    pub(super) jvm_start_ns: Option<u64>,
    pub(super) processors: Option<u64>,
    /// Instant and load in millionths of all processors.
    pub(super) cpu_load: Vec<(u64, u64)>,
    /// CPU time of the collector's threads, ns.
    pub(super) gc_cpu: Tally,
    pub(super) safepoints: Tally,
    pub(super) operations: Table,
    pub(super) throwables: Counter,
    pub(super) compile_ns: Counter,
    pub(super) compiled: Counter,
    pub(super) classes_loaded: Counter,
    pub(super) old_objects: u64,
    pub(super) old_with_root: u64,
    pub(super) old_classes: Table,
    pub(super) old_sites: Table,
    pub(super) old_chains: Table,
    pub(super) lost_bytes: u64,
    pub(super) lost_samples: u64,
    /// By event and setting.
    pub(super) settings: BTreeMap<(String, String), String>,
    pub(super) flags: BTreeMap<String, String>,
    pub(super) events: BTreeMap<String, u64>,
    pub(super) unresolved_ids: u64,
    pub(super) skipped_events: u64,
    /// By offset of the chunk: part, offset, sentence.
    pub(super) faults: Vec<(usize, u64, String)>,
    /// Chunks that gave something.
    pub(super) chunks: u64,
    /// Bytes of some chunk were missing or unreadable.
    pub(super) truncated: bool,
    /// Some chunk is all there, and a constant pool in it reaches beyond its end.
    pub(super) pool_beyond_chunk: bool,
}

impl Totals {
    pub(super) fn of(&self, kind: Stacked) -> &ByStack {
        &self.stacked[kind as usize]
    }

    /// Takes in what another worker added up.
    pub(super) fn absorb(&mut self, other: Self) {
        let numbers: Vec<u32> = other.names.all().map(|name| self.names.number(name)).collect();
        for (mine, theirs) in self.stacked.iter_mut().zip(other.stacked) {
            mine.absorb(theirs, &numbers);
        }
        for (thread, first) in other.first_samples {
            self.first_samples.entry(thread).and_modify(|mine| mine.add(&first)).or_insert(first);
        }
        self.heap.extend(other.heap);
        self.collections.extend(other.collections);
        self.pauses.extend(other.pauses);
        self.collectors.extend(other.collectors);
        self.heap_max_bytes = self.heap_max_bytes.max(other.heap_max_bytes);
        self.heap_initial_bytes = self.heap_initial_bytes.max(other.heap_initial_bytes);
        self.compressed_references = self.compressed_references.max(other.compressed_references);
        self.jvm = self.jvm.take().max(other.jvm);
        self.jdk = self.jdk.take().max(other.jdk);
        self.jvm_start_ns = match (self.jvm_start_ns, other.jvm_start_ns) {
            (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self.processors = self.processors.max(other.processors);
        self.cpu_load.extend(other.cpu_load);
        self.gc_cpu.add(&other.gc_cpu);
        self.safepoints.add(&other.safepoints);
        absorb(&mut self.operations, other.operations, &numbers);
        self.throwables.add(&other.throwables);
        self.compile_ns.add(&other.compile_ns);
        self.compiled.add(&other.compiled);
        self.classes_loaded.add(&other.classes_loaded);
        self.old_objects += other.old_objects;
        self.old_with_root += other.old_with_root;
        absorb(&mut self.old_classes, other.old_classes, &numbers);
        absorb(&mut self.old_sites, other.old_sites, &numbers);
        absorb(&mut self.old_chains, other.old_chains, &numbers);
        self.lost_bytes += other.lost_bytes;
        self.lost_samples += other.lost_samples;
        for (key, value) in other.settings {
            keep_greater(&mut self.settings, key, value);
        }
        for (key, value) in other.flags {
            keep_greater(&mut self.flags, key, value);
        }
        for (name, count) in other.events {
            *self.events.entry(name).or_default() += count;
        }
        self.unresolved_ids += other.unresolved_ids;
        self.skipped_events += other.skipped_events;
        self.faults.extend(other.faults);
        self.chunks += other.chunks;
        self.truncated |= other.truncated;
        self.pool_beyond_chunk |= other.pool_beyond_chunk;
    }

    /// Brings what is kept in order of time into it.
    pub(super) fn settle(&mut self) {
        self.heap.sort_unstable();
        self.collections.sort_unstable();
        self.pauses.sort_unstable();
        self.cpu_load.sort_unstable();
        self.faults.sort_unstable();
    }

    /// Rows of a table: the largest by `key` first, then by name.
    pub(super) fn ranked(&self, table: &Table, key: impl Fn(&Tally) -> u64) -> Vec<(&str, Tally)> {
        let mut rows: Vec<_> =
            table.iter().map(|(number, tally)| (self.names.name(*number), *tally)).collect();
        rows.sort_unstable_by(|a, b| key(&b.1).cmp(&key(&a.1)).then_with(|| a.0.cmp(b.0)));
        rows
    }
}
