//! One pass over the events of a chunk.
//!
//! Each event begins with its size, so whatever is of no interest is passed over unread. A size
//! of zero or beyond the chunk ends the chunk: every step goes forward.

use super::chunk::{Chunk, Condition, HEADER_BYTES};
use super::damage::{Damage, Read};
use super::input::{Input, Slice};
use super::layout::{Kept, Layout, Values};
use super::metadata::{Metadata, Unit};
use super::names::FastMap;
use super::pools::{Pools, TraceLayout};
use super::source::{Part, Window};

/// Type of the metadata event.
const METADATA: u64 = 0;
/// Type of the checkpoint event.
const CHECKPOINT: u64 = 1;
/// Type ids below this are found by index.
const DIRECT_TYPES: usize = 1 << 14;

/// An event that is looked into, and the fields that are kept.
#[derive(Debug)]
pub(crate) struct Wanted<K: 'static> {
    pub(crate) event: &'static str,
    pub(crate) kind: K,
    pub(crate) fields: &'static [&'static str],
}

/// How events of one type are read in one chunk.
#[derive(Debug)]
pub(crate) struct Plan<K> {
    pub(crate) kind: K,
    layout: Layout,
    start_ns: u64,
    start_ticks: u64,
    ticks_per_s: u64,
}

impl<K> Plan<K> {
    /// What is known of the field in a slot.
    pub(crate) fn kept(&self, slot: usize) -> Kept {
        self.layout.kept[slot]
    }

    /// True when this JDK's event has the field.
    pub(crate) fn has(&self, slot: usize) -> bool {
        self.layout.kept[slot].present
    }

    /// The number of a field; 0 when the event has none.
    #[inline]
    pub(crate) fn number(&self, values: &Values, slot: usize) -> u64 {
        if self.layout.kept[slot].present { values.numbers[slot] } else { 0 }
    }

    /// The value of a float field; 0 when the event has none.
    pub(crate) fn float(&self, values: &Values, slot: usize) -> f64 {
        let kept = self.layout.kept[slot];
        match (kept.present, kept.float) {
            (true, true) => f64::from(f32::from_bits(values.numbers[slot] as u32)),
            (true, false) => f64::from_bits(values.numbers[slot]),
            _ => 0.0,
        }
    }

    /// A span or instant in nanoseconds, whatever unit the file has; instants since the epoch.
    #[inline]
    pub(crate) fn ns(&self, values: &Values, slot: usize) -> u64 {
        let kept = self.layout.kept[slot];
        if !kept.present {
            return 0;
        }
        let value = values.numbers[slot];
        match kept.unit {
            Unit::Plain => value,
            Unit::SpanNs(factor) | Unit::InstantNs(factor) => value.saturating_mul(factor),
            Unit::SpanTicks => self.span_ns(value),
            Unit::InstantTicks if value >= self.start_ticks => {
                self.start_ns.saturating_add(self.span_ns(value - self.start_ticks))
            }
            Unit::InstantTicks => {
                self.start_ns.saturating_sub(self.span_ns(self.start_ticks - value))
            }
        }
    }

    #[inline]
    fn span_ns(&self, ticks: u64) -> u64 {
        if self.ticks_per_s == 1_000_000_000 || self.ticks_per_s == 0 {
            return ticks;
        }
        let ns = u128::from(ticks) * 1_000_000_000 / u128::from(self.ticks_per_s);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

/// What a pass over a chunk leaves.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) pools: Pools,
    pub(crate) traces: Option<TraceLayout>,
    /// Names of the chunk's types by id, for settings.
    pub(crate) type_names: FastMap<u64, String>,
    /// Events by name of type.
    pub(crate) events: FastMap<String, u64>,
    /// Events that were looked into and did not hold what their type says, or were too large.
    pub(crate) skipped_events: u64,
    /// Checkpoints whose pools could be read in part only.
    pub(crate) broken_checkpoints: u64,
    /// Where the events end before the chunk does: offset in the file.
    pub(crate) ended: Option<(u64, Damage)>,
    /// What they end with is a checkpoint.
    pub(crate) ended_in_checkpoint: bool,
    /// No metadata event was found: nothing could be decoded.
    pub(crate) undescribed: bool,
}

/// Reads a chunk: `visit` gets each wanted event.
pub(crate) fn scan<K: Copy>(
    part: &Part,
    chunk: &Chunk,
    wanted: &[Wanted<K>],
    mut visit: impl FnMut(&Plan<K>, &Values),
) -> Scanned {
    let mut scanned = Scanned::default();
    let end = chunk.offset + chunk.readable_bytes;
    let compressed = chunk.header.compressed;
    let mut window = Window::new(part, chunk.offset + HEADER_BYTES, end, compressed);
    let Some(metadata) = find_metadata(part, chunk) else {
        scanned.undescribed = true;
        return scanned;
    };
    let mut plans = Plans::new(&metadata, chunk, wanted);
    scanned.traces = TraceLayout::of(&metadata, compressed);
    let mut counts: FastMap<u64, u64> = FastMap::default();
    let mut direct = vec![0_u64; DIRECT_TYPES];
    let mut values = Values::default();
    while window.left() > 0 {
        let offset = window.offset();
        let (size, head, kind) = match event_head(&mut window) {
            Ok(head) => head,
            Err(damage) => {
                scanned.ended = Some((offset, damage));
                scanned.ended_in_checkpoint = kind_of_broken(&mut window) == Some(CHECKPOINT);
                break;
            }
        };
        if (kind as usize) < DIRECT_TYPES {
            direct[kind as usize] += 1;
        } else {
            *counts.entry(kind).or_default() += 1;
        }
        if kind == CHECKPOINT {
            // A nearer end keeps a broken one from reading into the next event.
            let read = window.skip(head).and_then(|()| {
                let far = window.set_end(offset + size);
                let read = scanned.pools.read(&mut window, &metadata);
                window.set_end(far);
                read
            });
            scanned.broken_checkpoints += u64::from(read.is_err());
        } else if kind != METADATA
            && let Some(plan) = plans.get(kind)
        {
            let read = usize::try_from(size)
                .map_err(|_| Damage::Bound)
                .and_then(|size| window.peek(size))
                .and_then(|bytes| {
                    let mut slice = Slice::new(&bytes[head as usize..], compressed);
                    plan.layout.read(&mut slice, &mut values)
                });
            match read {
                Ok(()) => visit(plan, &values),
                Err(_) => scanned.skipped_events += 1,
            }
        }
        if window.seek(offset + size).is_err() {
            break;
        }
    }
    for (id, count) in direct.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        *counts.entry(id as u64).or_default() += count;
    }
    for (id, count) in counts {
        let name = match (id, metadata.types.get(&id)) {
            (METADATA, _) => "jdk.Metadata".to_owned(),
            (CHECKPOINT, _) => "jdk.CheckPoint".to_owned(),
            (_, Some(of)) => of.name.clone(),
            (id, None) => format!("type {id}"),
        };
        *scanned.events.entry(name).or_default() += count;
    }
    scanned.type_names = metadata.types.into_iter().map(|(id, of)| (id, of.name)).collect();
    scanned
}

/// Size of an event, bytes of its size and type, and its type; leaves the window where it was.
#[inline]
fn event_head(window: &mut Window<'_>) -> Read<(u64, u64, u64)> {
    let left = window.left();
    let compressed = window.compressed();
    let bytes = window.peek_up_to(18)?;
    let mut slice = Slice::new(bytes, compressed);
    let size = slice.integer(4)?;
    let kind = slice.integer(8)?;
    let head = slice.at() as u64;
    if size < head {
        return Err(Damage::Bound);
    }
    if size > left {
        return padded_head(bytes, compressed).filter(|head| head.0 <= left).ok_or(Damage::End);
    }
    Ok((size, head, kind))
}

/// A head whose size was padded to four bytes and is 2^28 or more: its fourth byte has eight bits
/// and looks as if a fifth followed (JDK-8297402).
#[cold]
fn padded_head(bytes: &[u8], compressed: bool) -> Option<(u64, u64, u64)> {
    let size = bytes.first_chunk::<4>().filter(|size| compressed && size[3] >= 0x80)?;
    let kept = [size[0] & 0x7F, size[1] & 0x7F, size[2] & 0x7F, size[3]];
    let size = kept.iter().rev().fold(0_u64, |value, byte| value << 7 | u64::from(*byte));
    let mut rest = Slice::new(&bytes[4..], compressed);
    let kind = rest.integer(8).ok()?;
    Some((size, 4 + rest.at() as u64, kind))
}

/// The type of an event whose size cannot be.
#[cold]
fn kind_of_broken(window: &mut Window<'_>) -> Option<u64> {
    let compressed = window.compressed();
    let mut slice = Slice::new(window.peek_up_to(18).ok()?, compressed);
    slice.integer(4).ok()?;
    slice.integer(8).ok()
}

/// The metadata of a chunk: where its header says, else wherever an event of its type is.
fn find_metadata(part: &Part, chunk: &Chunk) -> Option<Metadata> {
    let end = chunk.offset + chunk.readable_bytes;
    let compressed = chunk.header.compressed;
    let read_at = |offset: u64| -> Option<Metadata> {
        let mut window = Window::new(part, offset, end, compressed);
        let (size, head, kind) = event_head(&mut window).ok()?;
        if kind != METADATA {
            return None;
        }
        let mut within = Window::new(part, offset + head, offset + size, compressed);
        Metadata::read(&mut within).ok()
    };
    if chunk.header.metadata_offset >= HEADER_BYTES
        && let Some(offset) = chunk.offset.checked_add(chunk.header.metadata_offset)
        && offset < end
        && let Some(metadata) = read_at(offset)
    {
        return Some(metadata);
    }
    if chunk.condition == Condition::Whole {
        return None;
    }
    let mut window = Window::new(part, chunk.offset + HEADER_BYTES, end, compressed);
    let mut found = None;
    while window.left() > 0 {
        let offset = window.offset();
        let Ok((size, _, kind)) = event_head(&mut window) else { break };
        if kind == METADATA {
            found = read_at(offset).or(found);
        }
        if window.seek(offset + size).is_err() {
            break;
        }
    }
    found
}

/// Plans by id of type.
struct Plans<K> {
    direct: Vec<Option<Box<Plan<K>>>>,
    others: FastMap<u64, Plan<K>>,
}

impl<K: Copy> Plans<K> {
    fn new(metadata: &Metadata, chunk: &Chunk, wanted: &[Wanted<K>]) -> Self {
        let mut plans = Self { direct: Vec::new(), others: FastMap::default() };
        for (id, of) in &metadata.types {
            let Some(wanted) = wanted.iter().find(|wanted| wanted.event == of.name) else {
                continue;
            };
            let layout = Layout::of(metadata, *id, chunk.header.compressed, wanted.fields);
            let Some(layout) = layout else { continue };
            let plan = Plan {
                kind: wanted.kind,
                layout,
                start_ns: chunk.header.start_ns,
                start_ticks: chunk.header.start_ticks,
                ticks_per_s: chunk.header.ticks_per_s,
            };
            if (*id as usize) < DIRECT_TYPES {
                let id = *id as usize;
                if plans.direct.len() <= id {
                    plans.direct.resize_with(id + 1, || None);
                }
                plans.direct[id] = Some(Box::new(plan));
            } else {
                plans.others.insert(*id, plan);
            }
        }
        plans
    }

    #[inline]
    fn get(&mut self, id: u64) -> Option<&Plan<K>> {
        if id < DIRECT_TYPES as u64 {
            return self.direct.get(id as usize)?.as_deref();
        }
        self.others.get(&id)
    }
}
