//! One chunk: its events added up by id, then the ids resolved to names.
//!
//! Pools follow the events that refer to them, so nothing is resolved before the chunk's end;
//! until then a stack is a number. Each distinct stack is decoded once.

use crate::jfr::damage::Read;
use crate::jfr::input::Text;
use crate::jfr::layout::Values;
use crate::jfr::names::FastMap;
use crate::jfr::pools::Pools;
use crate::jfr::scan::{Plan, Scanned, scan};
use crate::jfr::source::Window;
use crate::jfr::{Chunk, Condition, Part};

use super::Question;
use super::events::{
    AMOUNT, Kind, OTHER, STACKED_KINDS, START, Stacked, THREAD_OR_BYTES, TRACE, WANTED,
};
use super::sites::Sites;
use super::totals::{Collection, FirstSample, Tally, Totals, keep_greater};

/// What a chunk's events add up to before names are known.
#[derive(Debug, Default)]
struct Raw {
    stacked: [FastMap<(u64, u64), Tally>; STACKED_KINDS],
    first: Vec<(u64, FirstSample)>,
    first_at: FastMap<u64, usize>,
    last_thread: Option<(u64, usize)>,
    /// Start, collection, type and id of `when`, bytes in use.
    heap: Vec<(u64, u64, u64, u64, u64)>,
    collections: Vec<RawCollection>,
    /// Start, duration, name.
    pauses: Vec<(u64, u64, Word)>,
    collectors: Vec<(Word, Word)>,
    operations: FastMap<(u64, u64), Tally>,
    /// Stack, object, root.
    old_objects: Vec<(u64, u64, u64)>,
    settings: Vec<(u64, Text, Text)>,
    flags: Vec<(Text, u64)>,
    jvm: Vec<(Text, Text)>,
}

#[derive(Debug)]
struct RawCollection {
    at_ns: u64,
    gc_id: u64,
    name: Word,
    cause: Word,
    sum_ns: u64,
    longest_ns: u64,
}

/// A word as an event has it: an id of the pool of a type, or the text itself.
#[derive(Debug, Clone)]
enum Word {
    Pooled(u64, u64),
    Plain(Option<Text>),
}

impl Word {
    fn of(plan: &Plan<Kind>, values: &Values, slot: usize) -> Self {
        let kept = plan.kept(slot);
        if kept.pooled {
            Self::Pooled(kept.of, values.numbers[slot])
        } else {
            Self::Plain(values.text(slot).cloned())
        }
    }

    fn resolve(&self, pools: &Pools) -> String {
        match self {
            Self::Pooled(of, id) => pools.word(*of, *id).unwrap_or_default().to_owned(),
            Self::Plain(text) => text.as_ref().map(|text| plain(text, pools)).unwrap_or_default(),
        }
    }
}

fn plain(text: &Text, pools: &Pools) -> String {
    match text {
        Text::Null => String::new(),
        Text::Inline(text) => text.clone(),
        Text::Pool(id) => pools.text(*id).unwrap_or_default().to_owned(),
    }
}

/// Adds a chunk to the totals.
pub(super) fn add_chunk(part: &Part, chunk: &Chunk, question: &Question, totals: &mut Totals) {
    let fault = |totals: &mut Totals, offset: u64, what: &str| {
        let sentence = format!("{}: the chunk at offset {} {what}", part.name(), chunk.offset);
        totals.faults.push((chunk.part, offset, sentence));
    };
    match chunk.condition {
        Condition::Locked => {
            fault(totals, chunk.offset, "was being written when it was copied, and is skipped");
            totals.truncated = true;
            return;
        }
        Condition::NeverFlushed => {
            fault(totals, chunk.offset, "was never flushed: its header has no size or no metadata");
            totals.truncated = true;
        }
        Condition::Truncated => {
            let what = format!(
                "is {} bytes long by its header, and {} of them are there",
                chunk.header.size_bytes, chunk.readable_bytes
            );
            fault(totals, chunk.offset, &what);
            totals.truncated = true;
        }
        Condition::Unfinished => {
            let what = "was left unfinished by its JVM: events after its last flush are lost";
            fault(totals, chunk.offset, what);
        }
        Condition::Whole => {}
    }
    let mut raw = Raw::default();
    let window = question.window_ns;
    let scanned = scan(part, chunk, WANTED, |plan, values| {
        raw.event(plan, values, window, totals);
    });
    if scanned.undescribed {
        fault(totals, chunk.offset, "has no readable metadata event: nothing in it can be decoded");
        totals.truncated = true;
        return;
    }
    totals.chunks += 1;
    if let Some((offset, damage)) = scanned.ended {
        let what = format!("breaks off at offset {offset}: {damage}");
        fault(totals, offset, &what);
        totals.truncated = true;
        totals.pool_beyond_chunk |=
            scanned.ended_in_checkpoint && chunk.condition == Condition::Whole;
    }
    if scanned.broken_checkpoints > 0 {
        let what =
            format!("has {} broken checkpoints: names are missing", scanned.broken_checkpoints);
        fault(totals, chunk.offset, &what);
        totals.truncated = true;
    }
    totals.skipped_events += scanned.skipped_events;
    for (name, count) in &scanned.events {
        *totals.events.entry(name.clone()).or_default() += count;
    }
    raw.resolve(part, chunk, &scanned, question, totals);
}

impl Raw {
    #[inline]
    fn event(
        &mut self,
        plan: &Plan<Kind>,
        values: &Values,
        window: Option<[u64; 2]>,
        totals: &mut Totals,
    ) {
        let at_ns = plan.ns(values, START);
        let inside = window.is_none_or(|[from, to]| at_ns >= from && at_ns < to);
        match plan.kind {
            Kind::Stacked(kind) => {
                if inside {
                    self.stacked(kind, plan, values, at_ns);
                }
            }
            // What holds for the whole run is taken from outside the window too.
            kind => self.single(kind, inside, plan, values, at_ns, totals),
        }
    }

    #[inline]
    fn stacked(&mut self, kind: Stacked, plan: &Plan<Kind>, values: &Values, at_ns: u64) {
        let key = (plan.number(values, TRACE), plan.number(values, OTHER));
        let amount = plan.ns(values, AMOUNT);
        let more = plan.number(values, THREAD_OR_BYTES);
        let tally = self.stacked[kind as usize].entry(key).or_default();
        if kind == Stacked::AllocationSample {
            tally.one(amount, 0);
            self.first_sample(more, at_ns, amount);
        } else {
            tally.one(amount, more);
        }
    }

    #[inline]
    fn first_sample(&mut self, thread: u64, at_ns: u64, bytes: u64) {
        let index = match self.last_thread {
            Some((last, index)) if last == thread => index,
            _ => {
                let next = self.first.len();
                let index = *self.first_at.entry(thread).or_insert(next);
                if index == next {
                    let first = FirstSample { at_ns: u64::MAX, bytes: 0, count: 0, sum: 0 };
                    self.first.push((thread, first));
                }
                self.last_thread = Some((thread, index));
                index
            }
        };
        let first = &mut self.first[index].1;
        if at_ns < first.at_ns {
            (first.at_ns, first.bytes) = (at_ns, bytes);
        }
        first.count += 1;
        first.sum = first.sum.saturating_add(bytes);
    }

    fn single(
        &mut self,
        kind: Kind,
        inside: bool,
        plan: &Plan<Kind>,
        values: &Values,
        at_ns: u64,
        totals: &mut Totals,
    ) {
        let number = |slot| plan.number(values, slot);
        match kind {
            Kind::GcConfiguration => {
                self.collectors.push((Word::of(plan, values, 1), Word::of(plan, values, 2)))
            }
            Kind::HeapConfiguration => {
                totals.heap_max_bytes = totals.heap_max_bytes.max(Some(number(1)));
                totals.heap_initial_bytes = totals.heap_initial_bytes.max(Some(number(2)));
                if plan.has(3) {
                    let compressed = Some(number(3) != 0);
                    totals.compressed_references = totals.compressed_references.max(compressed);
                }
            }
            Kind::Jvm => {
                let text = |slot| values.text(slot).cloned().unwrap_or(Text::Null);
                self.jvm.push((text(1), text(2)));
                let start_ns = plan.ns(values, 3);
                if start_ns > 0 {
                    let known = totals.jvm_start_ns.unwrap_or(u64::MAX);
                    totals.jvm_start_ns = Some(known.min(start_ns));
                }
            }
            Kind::Processor => totals.processors = totals.processors.max(Some(number(1))),
            Kind::Setting => {
                if let (Some(name), Some(value)) = (values.text(2), values.text(3)) {
                    self.settings.push((number(1), name.clone(), value.clone()));
                }
            }
            Kind::Flag => {
                if let Some(name) = values.text(1) {
                    self.flags.push((name.clone(), number(2)));
                }
            }
            Kind::DataLoss => totals.lost_bytes = totals.lost_bytes.saturating_add(number(1)),
            _ if !inside => {}
            Kind::CpuTimeLost => {
                totals.lost_samples = totals.lost_samples.saturating_add(number(1));
            }
            Kind::GcCpu => {
                let cpu_ns = plan.ns(values, 1).saturating_add(plan.ns(values, 2));
                totals.gc_cpu.one(cpu_ns, 0);
            }
            Kind::HeapSummary => {
                let kept = plan.kept(2);
                self.heap.push((at_ns, number(1), kept.of, number(2), number(3)));
            }
            Kind::Collection => self.collections.push(RawCollection {
                at_ns,
                gc_id: number(1),
                name: Word::of(plan, values, 2),
                cause: Word::of(plan, values, 3),
                sum_ns: plan.ns(values, 4),
                longest_ns: plan.ns(values, 5),
            }),
            Kind::Pause => {
                let name = Word::of(plan, values, 2);
                self.pauses.push((at_ns, plan.ns(values, 1), name));
            }
            Kind::CpuLoad => {
                let load = plan.float(values, 1) + plan.float(values, 2);
                if load.is_finite() && (0.0..=1e3).contains(&load) {
                    totals.cpu_load.push((at_ns, (load * 1e6).round() as u64));
                }
            }
            Kind::SafepointBegin => totals.safepoints.one(plan.ns(values, 1), 0),
            Kind::VmOperation => {
                // Work beside running threads stops nobody.
                if !plan.has(3) || number(3) != 0 {
                    let operation = (plan.kept(2).of, number(2));
                    self.operations.entry(operation).or_default().one(plan.ns(values, 1), 0);
                }
            }
            Kind::ExceptionStatistics => totals.throwables.read(at_ns, number(1)),
            Kind::CompilerStatistics => {
                totals.compile_ns.read(at_ns, plan.ns(values, 1));
                totals.compiled.read(at_ns, number(2));
            }
            Kind::ClassLoadingStatistics => totals.classes_loaded.read(at_ns, number(1)),
            Kind::OldObject => self.old_objects.push((number(1), number(2), number(3))),
            Kind::Stacked(_) => {}
        }
    }

    fn resolve(
        mut self,
        part: &Part,
        chunk: &Chunk,
        scanned: &Scanned,
        question: &Question,
        totals: &mut Totals,
    ) {
        let pools = &scanned.pools;
        let mut sites = Sites::new(scanned, question);
        let mut window = Window::new(
            part,
            chunk.offset,
            chunk.offset + chunk.readable_bytes,
            chunk.header.compressed,
        );
        for (kind, cells) in std::mem::take(&mut self.stacked).into_iter().enumerate() {
            // In the order of the file, so that the window moves forward.
            let mut cells: Vec<_> = cells
                .into_iter()
                .map(|((trace, other), tally)| {
                    let place = pools.traces.get(&trace).copied();
                    (place.map_or(0, |place| place.offset), trace, other, tally)
                })
                .collect();
            cells.sort_unstable_by_key(|(offset, trace, other, _)| (*offset, *trace, *other));
            for same in cells.chunk_by(|a, b| a.1 == b.1) {
                sites.add(kind, same, &mut window, totals);
            }
        }
        for (trace, object, root) in &self.old_objects {
            sites.old_object(*trace, *object, *root, &mut window, totals);
        }
        for (thread, first) in self.first {
            let key = pools.thread(thread).map_or((0, String::new()), |thread| {
                (
                    thread.java_id,
                    if thread.java_id == 0 { thread.name.clone() } else { String::new() },
                )
            });
            totals.first_samples.entry(key).and_modify(|mine| mine.add(&first)).or_insert(first);
        }
        for (at_ns, gc_id, of, when, used) in self.heap {
            // The heap before a collection is no floor.
            if pools.word(of, when) == Some("After GC") {
                totals.heap.push((at_ns, gc_id, used));
            }
        }
        for raw in self.collections {
            totals.collections.push(Collection {
                at_ns: raw.at_ns,
                gc_id: raw.gc_id,
                name: raw.name.resolve(pools),
                cause: raw.cause.resolve(pools),
                sum_ns: raw.sum_ns,
                longest_ns: raw.longest_ns,
            });
        }
        for (at_ns, duration_ns, name) in self.pauses {
            totals.pauses.push((at_ns, duration_ns, name.resolve(pools)));
        }
        for (young, old) in self.collectors {
            totals.collectors.insert((young.resolve(pools), old.resolve(pools)));
        }
        for ((of, operation), tally) in self.operations {
            let name = totals.names.number(pools.word(of, operation).unwrap_or("(unknown)"));
            totals.operations.entry(name).or_default().add(&tally);
        }
        for (event, name, value) in self.settings {
            let event = scanned.type_names.get(&event).cloned();
            if let Some(event) = event {
                let key = (event, plain(&name, pools));
                keep_greater(&mut totals.settings, key, plain(&value, pools));
            }
        }
        for (name, value) in self.flags {
            let name = plain(&name, pools);
            if super::run::is_shown_flag(&name) {
                keep_greater(&mut totals.flags, name, value.to_string());
            }
        }
        for (name, version) in self.jvm {
            let (name, version) = (plain(&name, pools), plain(&version, pools));
            totals.jvm = totals.jvm.take().max((!name.is_empty()).then_some(name));
            totals.jdk = totals.jdk.take().max(super::run::jdk_of(&version));
        }
        totals.unresolved_ids += sites.unresolved();
    }
}

/// The bytes of a stack trace.
pub(super) fn trace_bytes<'w>(
    window: &'w mut Window<'_>,
    place: crate::jfr::pools::TracePlace,
) -> Read<&'w [u8]> {
    window.seek(place.offset)?;
    window.peek(place.bytes as usize)
}
