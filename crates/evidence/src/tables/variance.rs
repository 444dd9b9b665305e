//! Where the scatter comes from, by level of repetition (D6): parts of a run, runs, memory
//! layouts, sessions. Each level is reported by what it adds itself, so that more repetition can
//! be put where it helps.

use std::collections::{BTreeMap, BTreeSet};

use record::compare::{Contrast, Variance};
use record::digest::Digest;
use record::plan::TargetKind;
use stats::sample::percent;
use stats::variance::{Level, Nested, best_repetitions, between_within, levels};

use super::arms::{Arm, arm_of, arm_runs, name_of};
use super::cells::{CellRuns, by_cell};
use crate::matrix::span_of;

/// Effect, percent, below which the place of code in memory alone may be the cause: two builds
/// that differ in nothing but their layout differ by so much (T. Mytkowicz and others, "Producing
/// Wrong Data Without Doing Anything Obviously Wrong!", ASPLOS 2009).
const LAYOUT_NOISE_PERCENT: f64 = 3.0;
/// A small effect without varied layouts: perfectly repeatable, and perhaps no property of the
/// code.
pub(crate) const LAYOUT_NOISE: &str = "layout_noise";

/// Variances of every cell whose runs have parts, then of every contrast whose pairs have several
/// layouts.
pub(crate) fn variances(measured: &[(&str, &Digest)], contrasts: &[Contrast]) -> Vec<Variance> {
    let mut variances: Vec<Variance> = by_cell(measured).iter().flat_map(of_cell).collect();
    variances.extend(
        contrasts
            .iter()
            .filter(|one| one.primary)
            .filter_map(|contrast| of_contrast(measured, contrast)),
    );
    variances
}

/// Runs that may be used, by the groups of the level above them.
pub(crate) type Groups<'a> = Vec<Vec<&'a Digest>>;

fn of_cell(cell: &CellRuns<'_>) -> Vec<Variance> {
    let runs: Vec<&Digest> = cell.runs.iter().map(|(_, digest)| *digest).collect();
    let mut layouts: BTreeMap<u32, Vec<&Digest>> = BTreeMap::new();
    for digest in &runs {
        layouts.entry(digest.layout_bytes).or_default().push(digest);
    }
    // Each layout once is the same level as the run.
    let repeated = layouts.len() > 1 && layouts.values().any(|runs| runs.len() > 1);
    let groups: Groups<'_> = if repeated { layouts.into_values().collect() } else { vec![runs] };
    ["throughput", "p50"]
        .iter()
        .filter_map(|metric| of_groups(cell.cell, metric, &groups, "layout"))
        .collect()
}

/// The variance of one metric over groups of runs; a single group has no level of its own.
pub(crate) fn of_groups(
    of: &str,
    metric: &str,
    groups: &Groups<'_>,
    group_level: &str,
) -> Option<Variance> {
    let usable = |digest: &&&Digest| {
        let valid = digest.metrics.get(metric).is_some_and(|m| m.state == record::State::Valid);
        valid && digest.batches.contains_key(metric)
    };
    let parts = |digest: &&Digest| {
        let logs: Option<Vec<f64>> =
            digest.batches[metric].iter().map(|v| (*v > 0.0).then(|| v.ln())).collect();
        logs.map(|logs| Nested::values(&logs))
    };
    let kept: Vec<Vec<&Digest>> = groups
        .iter()
        .map(|runs| runs.iter().filter(usable).copied().collect::<Vec<_>>())
        .filter(|runs: &Vec<&Digest>| !runs.is_empty())
        .collect();
    let mut nested: Vec<Nested> = Vec::new();
    for runs in &kept {
        nested.push(Nested::Group(runs.iter().map(parts).collect::<Option<Vec<_>>>()?));
    }
    let (experiment, names) = match nested.len() {
        0 => return None,
        1 => (nested.remove(0), vec!["within_run", "run"]),
        _ => (Nested::Group(nested), vec!["within_run", "run", group_level]),
    };
    let found = levels(&experiment)?;
    let costs = costs(kept.iter().flatten().copied(), metric, names.len());
    let best = costs.and_then(|costs| best_repetitions(&found, &costs)).unwrap_or_default();
    Some(Variance {
        of: of.to_owned(),
        metric: metric.to_owned(),
        sd_percent: names.iter().zip(&found).map(|(name, level)| named(name, level)).collect(),
        repetitions: names.iter().zip(best).map(|(name, n)| ((*name).to_owned(), n)).collect(),
    })
}

fn named(name: &str, level: &Level) -> (String, f64) {
    (name.to_owned(), percent(level.added.max(0.0).sqrt()))
}

/// Seconds that one more repetition costs at each level: a part of a window, what a run takes
/// beside its window, and for a group of runs as much again. `None` when runs recorded no times.
fn costs<'a>(
    runs: impl Iterator<Item = &'a Digest>,
    metric: &str,
    depth: usize,
) -> Option<Vec<f64>> {
    let (mut part_s, mut beside_s, mut n) = (0.0, 0.0, 0.0);
    for digest in runs {
        let window_s = digest.load.as_ref()?.window_ns as f64 / 1e9;
        let [start, end] = span_of(digest)?;
        let life_s =
            (end - start) as f64 / 1e9 + digest.since_previous_run_ns.unwrap_or(0) as f64 / 1e9;
        part_s += window_s / digest.batches.get(metric)?.len() as f64;
        beside_s += (life_s - window_s).max(0.0);
        n += 1.0;
    }
    let mut costs = vec![part_s / n];
    costs.resize(depth, beside_s / n);
    Some(costs)
}

/// Log-ratios of the pairs by the layout they had: what the layout adds, apart from what remains
/// within one.
fn of_contrast(measured: &[(&str, &Digest)], contrast: &Contrast) -> Option<Variance> {
    let layouts = layouts(measured, &arm_of(contrast));
    let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (block, ratio) in &contrast.log_ratios {
        groups.entry(*layouts.get(block)?).or_default().push(*ratio);
    }
    let groups: Vec<Vec<f64>> = groups.into_values().collect();
    let found = between_within(&groups)?;
    Some(Variance {
        of: name_of(&arm_of(contrast)),
        metric: contrast.metric.clone(),
        sd_percent: vec![
            ("within_layout".to_owned(), percent(found.within_sd)),
            ("layout".to_owned(), percent(found.between_sd)),
        ],
        repetitions: Vec::new(),
    })
}

/// Layout of the level's run by block.
fn layouts(measured: &[(&str, &Digest)], arm: &Arm) -> BTreeMap<u32, u32> {
    let runs = arm_runs(measured, arm, &arm.level);
    runs.iter().map(|(_, digest)| (digest.block, digest.layout_bytes)).collect()
}

/// Flags effects that are seen, small, and measured with one memory layout of programs that assay
/// started: another layout may undo them.
pub(crate) fn flag_layout_noise(measured: &[(&str, &Digest)], contrasts: &mut [Contrast]) {
    for contrast in contrasts.iter_mut().filter(|one| !one.null && one.positive.is_none()) {
        let small = contrast.effect_percent.is_some_and(|e| e.abs() <= LAYOUT_NOISE_PERCENT);
        let seen = contrast.interval_percent.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
        if !(small && seen) {
            continue;
        }
        let arm = arm_of(contrast);
        let runs = arm_runs(measured, &arm, &arm.level);
        let local = runs.iter().any(|(_, digest)| {
            !matches!(digest.identity.effective.target.kind, TargetKind::Url(_))
        });
        let layouts: BTreeSet<u32> = layouts(measured, &arm).into_values().collect();
        if local && layouts.len() == 1 {
            contrast.flags.push(LAYOUT_NOISE.to_owned());
        }
    }
}
