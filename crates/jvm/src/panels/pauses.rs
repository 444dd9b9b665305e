//! Pauses of the collector.

use std::collections::BTreeMap;

use record::recording::{Bin, GcPauses, TimedRow};

use super::totals::{Collection, Tally};

/// Bounds of the histogram, ns: from 100 us to 1 s.
const BOUNDS_NS: [u64; 9] = [
    100_000,
    300_000,
    1_000_000,
    3_000_000,
    10_000_000,
    30_000_000,
    100_000_000,
    300_000_000,
    1_000_000_000,
];
/// A half with more than this times the other's pauses, and enough of them, is a trend.
const TREND_FACTOR: f64 = 1.5;
/// Fewest pauses of the busier half for a trend.
const TREND_PAUSES: u64 = 10;

/// The panel of pauses (start ns, duration ns, kind) over a span of time (ns since the epoch).
#[must_use]
pub fn panel(
    pauses: &[(u64, u64, String)],
    span_ns: (u64, u64),
    collections: u64,
    by_cause: BTreeMap<String, u64>,
) -> GcPauses {
    let (from, to) = span_ns;
    let length = to.saturating_sub(from);
    let mut kinds: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut all = Tally::default();
    let mut bins = [0_u64; BOUNDS_NS.len() + 1];
    let mut halves = [0_u64; 2];
    for (at_ns, duration_ns, kind) in pauses {
        all.one(*duration_ns, 0);
        kinds.entry(kind).or_default().one(*duration_ns, 0);
        bins[BOUNDS_NS.partition_point(|bound| bound <= duration_ns)] += 1;
        halves[usize::from(at_ns.saturating_sub(from) >= length / 2)] += 1;
    }
    let mut by_kind: Vec<TimedRow> = kinds
        .into_iter()
        .map(|(name, tally)| TimedRow {
            name: name.to_owned(),
            count: tally.count,
            sum_ns: tally.sum,
            max_ns: tally.max,
            bytes: None,
        })
        .collect();
    by_kind.sort_by_key(|row| std::cmp::Reverse(row.sum_ns));
    let seconds = length as f64 / 1e9;
    GcPauses {
        count: all.count,
        sum_ns: all.sum,
        max_ns: all.max,
        rate_per_s: if seconds > 0.0 { all.count as f64 / seconds } else { 0.0 },
        share: if length > 0 { all.sum as f64 / length as f64 } else { 0.0 },
        collections,
        by_kind,
        by_cause,
        histogram: bins
            .iter()
            .enumerate()
            .map(|(index, count)| Bin { below_ns: BOUNDS_NS.get(index).copied(), count: *count })
            .collect(),
        halves,
        trend: trend(halves).to_owned(),
        ..GcPauses::default()
    }
}

/// Frequency follows allocation, not retention.
fn trend(halves: [u64; 2]) -> &'static str {
    let [first, second] = halves;
    if second >= TREND_PAUSES && second as f64 > TREND_FACTOR * first as f64 {
        "more frequent in the second half: allocation pressure, not retention"
    } else if first >= TREND_PAUSES && first as f64 > TREND_FACTOR * second as f64 {
        "less frequent in the second half: less allocation pressure"
    } else {
        "even"
    }
}

/// Pauses by the collections' own accounts, where single pauses are not recorded.
pub(super) fn of_collections(collections: &[Collection]) -> Vec<(u64, u64, String)> {
    collections
        .iter()
        .filter(|collection| collection.sum_ns > 0)
        .map(|collection| (collection.at_ns, collection.sum_ns, collection.name.clone()))
        .collect()
}
