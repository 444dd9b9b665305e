//! The baseline as a sentinel: it is run in every block and nothing changes it, so what changes
//! over the blocks is the machine.
//!
//! Contrasts within a block are free of such a drift when all their cells were in the block. A
//! cell whose runs lie where the sentinel has none has no witness, and is named.

use std::collections::{BTreeMap, BTreeSet};

use record::compare::{Drift, Estimate};
use record::digest::Digest;
use stats::change_point::scan;
use stats::power::{ALPHA, FEWEST_PAIRS};
use stats::sample::percent;
use stats::trend::theil_sen;

use super::rows::usable;
use super::terms::Terms;

/// The drift of each cell in which every contrasted factor has its baseline, in its primary
/// metric, by name of the cell; a factor without a baseline among the runs has no sentinel.
pub(crate) fn drifts(
    measured: &[(&str, &Digest)],
    baselines: &BTreeMap<String, String>,
    terms: &Terms<'_>,
) -> Vec<Drift> {
    let is_sentinel = |digest: &Digest| {
        digest.levels.iter().filter(|level| level.contrasted).all(|level| {
            baselines.get(&level.factor).is_some_and(|baseline| *baseline == level.level)
        })
    };
    let mut cells: BTreeMap<&str, Vec<&Digest>> = BTreeMap::new();
    for (_, digest) in measured.iter().filter(|(_, digest)| is_sentinel(digest)) {
        cells.entry(&digest.cell).or_default().push(digest);
    }
    let rows = cells.into_iter();
    rows.filter_map(|(cell, runs)| drift(cell, &runs, measured, terms)).collect()
}

fn drift(
    cell: &str,
    runs: &[&Digest],
    measured: &[(&str, &Digest)],
    terms: &Terms<'_>,
) -> Option<Drift> {
    let (metric, _) = terms.primary(runs.first()?);
    // The primary metric of an open loop may have too few samples everywhere.
    let series: BTreeMap<u32, f64> = runs
        .iter()
        .filter_map(|digest| {
            Some((digest.block, usable(digest, digest.metrics.get(&metric)).ok()?))
        })
        .filter(|(_, value)| *value > 0.0 && value.is_finite())
        .map(|(block, value)| (block, value.ln()))
        .collect();
    if series.len() < FEWEST_PAIRS as usize {
        return None;
    }
    let blocks: Vec<u32> = series.keys().copied().collect();
    let xs: Vec<f64> = blocks.iter().map(|block| f64::from(*block)).collect();
    let ys: Vec<f64> = series.values().copied().collect();
    let line = theil_sen(&xs, &ys, 1.0 - ALPHA)?;
    let length = f64::from(blocks[blocks.len() - 1] - blocks[0]);
    let change = |slope: f64| percent(slope * length);
    let bound = terms.margin(&metric).ln_1p();
    let slope = line.slope;
    let real = slope.interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
    let step = scan(&ys).filter(|step| {
        // A ramp has a sharpest split too; a step is closer to the values than a line is.
        let far_from_step = |(index, y): (usize, &f64)| {
            (y - if index < step.index { step.before } else { step.after }).abs()
        };
        let far_from_line = |(x, y): (&f64, &f64)| (y - (line.intercept + slope.value * x)).abs();
        step.p_value < ALPHA
            && (step.after - step.before).abs() > bound
            && ys.iter().enumerate().map(far_from_step).sum::<f64>()
                < xs.iter().zip(&ys).map(far_from_line).sum::<f64>()
    });
    let drifted = (real && (slope.value * length).abs() > bound) || step.is_some();
    let since_block = step.map(|step| blocks[step.index]);
    let from = since_block.unwrap_or(blocks[0]);
    let without_witness = |digest: &Digest| {
        drifted && digest.block >= from && digest.cell != cell && !blocks.contains(&digest.block)
    };
    let affected: BTreeSet<&str> = measured
        .iter()
        .filter(|(_, digest)| without_witness(digest))
        .map(|(_, digest)| digest.cell.as_str())
        .collect();
    Some(Drift {
        cell: cell.to_owned(),
        metric,
        change_percent: Estimate {
            value: change(slope.value),
            interval: slope.interval.map(|interval| interval.map(change)),
        },
        drifted,
        since_block,
        affected: affected.into_iter().map(str::to_owned).collect(),
    })
}
