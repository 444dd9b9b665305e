//! The heap after each collection, and what its floor says.

use record::recording::{HeapAfterGc, HeapRow};

use super::totals::Collection;

/// Fewest collections that say anything.
const ROWS_MIN: usize = 8;
/// Parts of the series whose floors are looked at.
const PARTS: usize = 12;
/// A floor that moves less than this share of its median is flat.
const FLAT_SHARE: f64 = 0.20;
/// A floor that moves less than this is flat whatever its share, bytes.
const FLAT_BYTES: u64 = 1 << 20;
/// A floor that falls by more than this share of the highest at once fell off a cliff.
const CLIFF_SHARE: f64 = 0.35;

/// What a series looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The floor is flat: garbage is made and goes.
    Churn,
    /// The floor rises although old space is collected: something is kept.
    Leak,
    /// Something large was built, held and let go.
    LiveMidCopy,
    /// The series does not say.
    Undecidable,
}

impl Shape {
    /// The word of the digest.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Churn => "churn",
            Self::Leak => "leak",
            Self::LiveMidCopy => "live-mid-copy",
            Self::Undecidable => "undecidable",
        }
    }
}

/// Classifies the heap after each collection, in order of time.
///
/// The floor of a part of the series is its lowest value. Flat floors are churn however high
/// the teeth between them. A rise says retention only when old space was collected during it:
/// before that, garbage in old space looks the same as what is kept. A rise that ends in a fall
/// back to where it began is a structure that was live for a while.
#[must_use]
pub fn classify(rows: &[HeapRow]) -> (Shape, String) {
    if rows.len() < ROWS_MIN {
        let reason = format!("{} collections are too few; {ROWS_MIN} say something", rows.len());
        return (Shape::Undecidable, reason);
    }
    let parts = PARTS.min(rows.len() / 2);
    let floors: Vec<u64> = (0..parts)
        .map(|part| {
            let of = &rows[part * rows.len() / parts..(part + 1) * rows.len() / parts];
            of.iter().map(|row| row.used_bytes).min().expect("a part holds two rows")
        })
        .collect();
    let (low, high) = (
        *floors.iter().min().expect("there are parts"),
        *floors.iter().max().expect("there are parts"),
    );
    let median = {
        let mut sorted = floors.clone();
        sorted.sort_unstable();
        sorted[sorted.len() / 2]
    };
    let range = high - low;
    if range as f64 <= FLAT_SHARE * median as f64 || range <= FLAT_BYTES {
        return (Shape::Churn, "the floor is flat: what is allocated goes again".to_owned());
    }
    let first = floors[0];
    let last = floors[floors.len() - 1];
    let is_fall =
        |pair: &[u64]| pair[0].saturating_sub(pair[1]) as f64 >= CLIFF_SHARE * high as f64;
    let falls = floors.windows(2).filter(|pair| is_fall(pair)).count();
    let peak = floors.iter().position(|floor| *floor == high).unwrap_or(0);
    if falls == 1 && peak > 0 && (last as f64) < (1.0 - CLIFF_SHARE / 2.0) * high as f64 {
        return (
            Shape::LiveMidCopy,
            "the floor rose, stood and fell at once: a large structure was live for a while"
                .to_owned(),
        );
    }
    // A tooth may be longer than a part: what counts then is the lowest value still to come.
    let mut to_come = floors.clone();
    for part in (0..parts - 1).rev() {
        to_come[part] = to_come[part].min(to_come[part + 1]);
    }
    let rise_to_come = to_come[parts - 2] - to_come[0];
    if falls > 1
        && (rise_to_come as f64 <= FLAT_SHARE * median as f64 || rise_to_come <= FLAT_BYTES)
    {
        return (
            Shape::Churn,
            "the heap falls back to the same floor again and again: a footprint".to_owned(),
        );
    }
    let thirds = (parts / 3).max(1);
    let before = floors[..thirds].iter().max().copied().unwrap_or(0);
    let after = floors[parts - thirds..].iter().min().copied().unwrap_or(0);
    let rises = floors.windows(2).filter(|pair| pair[1] >= pair[0]).count();
    let rising = after > before && last > first && rises * 3 >= (parts - 1) * 2;
    if !rising {
        return (
            Shape::Undecidable,
            "the floor neither stays flat nor rises throughout".to_owned(),
        );
    }
    let since = rows.len() / 3;
    let old: Vec<u64> =
        rows[since..].iter().filter(|row| row.old).map(|row| row.used_bytes).collect();
    match old.as_slice() {
        [] => (
            Shape::Undecidable,
            "the floor rises, but old space was not collected meanwhile: garbage there looks \
             the same as what is kept"
                .to_owned(),
        ),
        [.., last_old] if *last_old > before => (
            Shape::Leak,
            "the floor rises, and collections of old space did not bring it down".to_owned(),
        ),
        _ => (
            Shape::Undecidable,
            "the floor rises between collections of old space and falls with them".to_owned(),
        ),
    }
}

/// True for a collection that looked at old space too, by the name of its collector.
fn is_old(name: &str) -> bool {
    matches!(
        name,
        "G1Full"
            | "G1Old"
            | "SerialOld"
            | "ParallelOld"
            | "PSMarkSweep"
            | "ConcurrentMarkSweep"
            | "Z"
            | "ZGC Major"
            | "Shenandoah"
    )
}

pub(super) fn panel(
    series: &[(u64, u64, u64)],
    collections: &[Collection],
    collector: Option<&str>,
) -> HeapAfterGc {
    let mut old: Vec<u64> = collections
        .iter()
        .filter(|collection| is_old(&collection.name))
        .map(|collection| collection.gc_id)
        .collect();
    old.sort_unstable();
    let rows: Vec<HeapRow> = series
        .iter()
        .map(|(at_ns, gc_id, used_bytes)| HeapRow {
            at_ns: *at_ns,
            used_bytes: *used_bytes,
            gc_id: Some(*gc_id),
            old: old.binary_search(gc_id).is_ok(),
        })
        .collect();
    let (shape, reason) = classify(&rows);
    let used = rows.iter().map(|row| row.used_bytes);
    HeapAfterGc {
        collector: collector.unwrap_or("unknown").to_owned(),
        shape: shape.word().to_owned(),
        reason,
        min_bytes: used.clone().min().unwrap_or(0),
        max_bytes: used.max().unwrap_or(0),
        last_bytes: rows.last().map_or(0, |row| row.used_bytes),
        old_collections: old.len() as u64,
        rows,
    }
}
