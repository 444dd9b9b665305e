//! The spread within a run: the window in up to 20 equal parts of whole seconds, with throughput
//! and median latency of each (D9). Requests lie too close together to be independent samples;
//! parts of a window are further apart.

use std::collections::BTreeMap;

use record::load::LoadRecord;

use crate::series::recut;

/// Most parts (D9).
const MOST_BATCHES: u64 = 20;
/// Fewest parts with a spread.
const FEWEST_BATCHES: u64 = 2;

/// Figures of the parts in order, by metric: `throughput` per second, `p50` in ns. A metric that
/// is not known in every part is left out; without at least two parts of whole seconds there is
/// none.
pub(crate) fn batches(load: &LoadRecord) -> BTreeMap<String, Vec<f64>> {
    let seconds = load.window_ns / 1_000_000_000;
    let width_s = seconds.div_ceil(MOST_BATCHES).max(1);
    let parts = seconds / width_s;
    if parts < FEWEST_BATCHES || load.series.is_empty() {
        return BTreeMap::new();
    }
    // A damaged histogram is one gap too many for a spread.
    let cuts: Option<Vec<_>> =
        (0..parts).map(|part| recut(load, part * width_s, (part + 1) * width_s).ok()).collect();
    let cuts = cuts.unwrap_or_default();
    let throughput: Vec<f64> = cuts.iter().map(|cut| cut.rate_per_s).collect();
    let medians: Option<Vec<f64>> =
        cuts.iter().map(|cut| cut.summary().p50.map(|ns| ns as f64)).collect();
    [("throughput", Some(throughput)), ("p50", medians)]
        .into_iter()
        .filter_map(|(name, values)| Some((name.to_owned(), values.filter(|v| !v.is_empty())?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn load_of(seconds: u64) -> LoadRecord {
        let latencies = |second: u64| vec![1_000_000 + second * 1_000; 10 + second as usize % 2];
        LoadRecord {
            window_ns: seconds * 1_000_000_000 + 5,
            series: (0..seconds).map(|at| samples::second(at, &latencies(at))).collect(),
            ..samples::load()
        }
    }

    #[test]
    fn a_window_is_cut_into_at_most_twenty_equal_parts() {
        for (seconds, parts) in [(0, 0), (1, 0), (2, 2), (20, 20), (21, 10), (30, 15), (41, 13)] {
            let found = batches(&load_of(seconds));
            for metric in ["throughput", "p50"] {
                let cut = found.get(metric).map_or(0, Vec::len);
                assert_eq!(cut, parts, "{metric} of {seconds} s");
            }
        }
        let two = batches(&load_of(2));
        assert_eq!(two["throughput"], [10.0, 11.0]);
        assert!(two["p50"][0] < two["p50"][1]);
    }

    #[test]
    fn a_damaged_second_leaves_no_spread() {
        let mut load = load_of(4);
        load.series[2].latency = "?".to_owned();
        assert_eq!(batches(&load), BTreeMap::new());
    }
}
