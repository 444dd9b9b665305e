//! Unit costs of foreign generators by two sizes (K-053): where a factor sets how much one run does
//! and nothing else, the CPU of the whole tree at both sizes tells what the program costs once from
//! what each request costs. Block by block, so that a drift of the machine cancels.

use record::compare::{Contrast, Estimate, UnitCosts};
use record::digest::Digest;
use stats::sample::median;
use stats::unit_cost::{UnitCost, two_sizes};
use stats::wilcoxon::{hodges_lehmann, interval};

use super::arms::{arm_of, arm_runs};

/// What a factor of sizes sets, whatever the load's name.
const SIZE: &str = "load.measure";
/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// One row for each pair of sizes, cell by cell.
pub(super) fn unit_costs(measured: &[(&str, &Digest)], contrasts: &[Contrast]) -> Vec<UnitCosts> {
    let of_sizes = |one: &&Contrast| {
        one.primary && !one.null && !one.sets.is_empty() && one.sets.iter().all(|set| set == SIZE)
    };
    contrasts.iter().filter(of_sizes).filter_map(|contrast| row(measured, contrast)).collect()
}

/// Requests and CPU of a foreign generator's tree, ns; assay's own has no start-up in its window.
fn point(digest: &Digest) -> Option<(f64, f64)> {
    let run = digest.foreign.as_ref()?;
    let cpu_ns = run.cpu_user_ns.saturating_add(run.cpu_sys_ns);
    Some((run.own.requests as f64, cpu_ns as f64))
}

fn row(measured: &[(&str, &Digest)], contrast: &Contrast) -> Option<UnitCosts> {
    let arm = arm_of(contrast);
    let [baseline, level] =
        [&arm.baseline, &arm.level].map(|level| arm_runs(measured, &arm, level));
    let (mut costs, mut small, mut large): (Vec<UnitCost>, Vec<f64>, Vec<f64>) = Default::default();
    for pair in &contrast.pair_values {
        let of = |runs: &[(&str, &Digest)]| {
            point(runs.iter().find(|(_, digest)| digest.block == pair.block)?.1)
        };
        let (one, other) = (of(&baseline)?, of(&level)?);
        costs.push(two_sizes(one, other)?);
        small.push(one.0.min(other.0));
        large.push(one.0.max(other.0));
    }
    let all = |of: fn(&UnitCost) -> f64| costs.iter().map(of).collect::<Vec<f64>>();
    let estimate = |values: &[f64]| {
        Some(Estimate { value: hodges_lehmann(values)?, interval: interval(values, CONFIDENCE) })
    };
    let overstated: Vec<f64> = costs.iter().filter_map(|cost| cost.overstated_share).collect();
    Some(UnitCosts {
        factor: contrast.factor.clone(),
        baseline: contrast.baseline.clone(),
        level: contrast.level.clone(),
        cell: contrast.cell.clone(),
        pairs: u32::try_from(costs.len()).unwrap_or(u32::MAX),
        small_requests: median(&small)?,
        large_requests: median(&large)?,
        start_up_ns: estimate(&all(|cost| cost.start_up))?,
        marginal_ns: estimate(&all(|cost| cost.marginal))?,
        overstated_percent: median(&overstated).map(|share| 100.0 * share),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::foreign_of_sizes;

    /// A child that burns 300 ms before its first request and 2 ms for each.
    #[test]
    fn start_up_and_marginal_cost_are_told_apart() {
        let comparison = foreign_of_sizes(7, "load.measure", |requests, block| {
            300_000_000 + 2_000_000 * requests + 10_000 * u64::from(block)
        });
        let [row] = &comparison.tables.unit_costs[..] else { panic!("one row") };
        assert_eq!((row.pairs, row.small_requests, row.large_requests), (7, 100.0, 400.0));
        assert!((row.start_up_ns.value - 300_040_000.0).abs() < 1.0, "{row:?}");
        assert!((row.marginal_ns.value - 2_000_000.0).abs() < 0.01, "{row:?}");
        assert!(row.start_up_ns.interval.is_some_and(|[low, high]| low < high), "{row:?}");
        // 5 ms each in the small run.
        assert!((row.overstated_percent.expect("a share") - 150.0).abs() < 0.1, "{row:?}");
    }

    #[test]
    fn a_factor_that_sets_something_else_has_no_unit_costs() {
        let comparison = foreign_of_sizes(7, "load.users", |requests, _| requests);
        assert!(comparison.tables.unit_costs.is_empty());
    }
}
