//! What a plan will take: time, bring-ups and disk.

use std::collections::HashSet;

use record::plan::{Cell, Estimate, Extent, PlannedRun};

/// Bound on one run when its length is not known, ns.
const UNKNOWN_RUN_NS: u64 = 3_600_000_000_000;
/// Added to twice the planned run, ns.
const SPARE_NS: u64 = 60_000_000_000;
/// Disk of a run apart from its samples: digests, records, histograms, logs.
const DISK_PER_RUN_BYTES: u64 = 64 * 1024;
/// Samples of the observers and the per-second series.
const DISK_PER_SECOND_BYTES: u64 = 2 * 1024;

/// Warm-up, window and cool-down, ns; `None` when one is a count.
fn load_ns(cell: &Cell) -> Option<u64> {
    let load = &cell.effective.load;
    let known = |extent: Extent| match extent {
        Extent::Ns(ns) => Some(ns),
        Extent::Count(0) => Some(0),
        Extent::Count(_) => None,
    };
    // The cool-down is a bound on the drain, so this is the longest that a run takes.
    Some(known(load.warmup)?.saturating_add(known(load.measure)?).saturating_add(load.cooldown_ns))
}

/// Estimates a plan. `cells` are looked up by index: `cell_of` gives the cell of each run.
///
/// Time: for every run its warm-up, window and cool-down, for every instance its bring-up, and
/// the gaps between runs. Disk: 64 KiB for every run and 2 KiB for every second of a window that
/// is known; what targets write themselves is not in it.
pub(crate) fn estimate<'c>(
    runs: &[PlannedRun],
    cell_of: impl Fn(&PlannedRun) -> &'c Cell,
    gap_ns: u64,
    timeout_ns: Option<u64>,
) -> Estimate {
    let mut load: Option<u128> = Some(0);
    let mut bring_up: u128 = 0;
    let mut disk: u128 = 0;
    let mut longest: Option<u64> = Some(0);
    let mut instances = HashSet::new();
    for run in runs {
        let cell = cell_of(run);
        let bring_up_ns = cell.effective.target.bring_up_ns;
        if instances.insert(run.instance) {
            bring_up += u128::from(bring_up_ns);
        }
        let ns = load_ns(cell);
        load = load.zip(ns).map(|(sum, ns)| sum + u128::from(ns));
        let run_ns = ns.map(|ns| ns.saturating_add(bring_up_ns));
        longest = longest.zip(run_ns).map(|(longest, ns)| longest.max(ns));
        let seconds = match cell.effective.load.measure {
            Extent::Ns(ns) => ns.div_ceil(1_000_000_000),
            Extent::Count(_) => 0,
        };
        disk += u128::from(DISK_PER_RUN_BYTES)
            + u128::from(seconds) * u128::from(DISK_PER_SECOND_BYTES);
    }
    let gaps = u128::from(gap_ns) * (runs.len().saturating_sub(1) as u128);
    let clamp = |ns: u128| u64::try_from(ns).unwrap_or(u64::MAX);
    Estimate {
        time_ns: load.map(|load| clamp(load + bring_up + gaps)),
        bring_up_ns: clamp(bring_up),
        disk_bytes: clamp(disk),
        run_timeout_ns: timeout_ns.unwrap_or_else(|| {
            longest.map_or(UNKNOWN_RUN_NS, |ns| ns.saturating_mul(2).saturating_add(SPARE_NS))
        }),
    }
}
