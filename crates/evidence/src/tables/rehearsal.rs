//! A rehearsed warm-up: the same ratio after several lengths of it. An arm that warms slower is
//! penalised by a short one; a ratio that moves with the length is no property of the arms.

use std::collections::BTreeMap;

use record::compare::{Contrast, Estimate, Rehearsal, RehearsalPoint};
use record::digest::Digest;
use record::plan::{Extent, LevelOf};
use stats::sample::percent;
use stats::trend::theil_sen;

use super::arms::{arm_of, arm_runs};

/// The row factor under which `--rehearse` varies the warm-up.
pub(crate) const FACTOR: &str = "warmup";

/// The ratio is the same, within what a thing shows against itself.
const STABLE: &str = "stable";
/// It moves with the length, in one direction.
const TREND: &str = "trend";
/// Neither can be said.
const UNDECIDED: &str = "undecided";

/// One contrast at one length.
struct At<'a> {
    contrast: &'a Contrast,
    level: &'a LevelOf,
    /// For the order: time, or a count of requests.
    length: u64,
}

/// One result for each contrast of a primary metric, over the lengths that were rehearsed.
pub(crate) fn rehearsals(measured: &[(&str, &Digest)], contrasts: &[Contrast]) -> Vec<Rehearsal> {
    let mut keys: Vec<String> = Vec::new();
    let mut by_key: BTreeMap<String, Vec<At<'_>>> = BTreeMap::new();
    for contrast in contrasts.iter().filter(|contrast| contrast.primary) {
        let Some((cell, level, length)) = place(measured, contrast) else {
            continue;
        };
        let key =
            format!("{}: {} / {} in {cell}", contrast.factor, contrast.level, contrast.baseline);
        if !keys.contains(&key) {
            keys.push(key.clone());
        }
        by_key.entry(key).or_default().push(At { contrast, level, length });
    }
    let noise = noise(by_key.values().flatten().map(|at| at.contrast));
    keys.into_iter()
        .filter_map(|key| {
            let mut points = by_key.remove(&key)?;
            let is_null = points.iter().any(|at| at.contrast.null);
            points.sort_by_key(|at| at.length);
            (points.len() > 1 && !is_null).then(|| rehearsal(key, &points, noise))
        })
        .collect()
}

/// The contrast's cell with `*` for the warm-up, the level of the warm-up, and its length.
fn place<'a>(
    measured: &[(&'a str, &'a Digest)],
    contrast: &Contrast,
) -> Option<(String, &'a LevelOf, u64)> {
    let arm = arm_of(contrast);
    let (_, digest) = *arm_runs(measured, &arm, &arm.level).first()?;
    let warmup = digest.levels.iter().find(|own| own.factor == FACTOR && !own.contrasted)?;
    let names: Vec<&str> = digest
        .levels
        .iter()
        .map(|own| match own.factor == FACTOR || own.factor == arm.factor {
            true => "*",
            false => own.level.as_str(),
        })
        .collect();
    let (Extent::Ns(length) | Extent::Count(length)) = digest.identity.effective.load.warmup;
    Some((names.join("+"), warmup, length))
}

/// What the null arms show: the end of their intervals that is farthest from nothing, percent.
fn noise<'a>(contrasts: impl Iterator<Item = &'a Contrast>) -> Option<f64> {
    contrasts
        .filter(|contrast| contrast.null)
        .filter_map(|contrast| {
            let ends = contrast.interval_percent.map(|[low, high]| low.abs().max(high.abs()));
            ends.or(contrast.effect_percent.map(f64::abs))
        })
        .max_by(f64::total_cmp)
}

fn rehearsal(name: String, points: &[At<'_>], noise_percent: Option<f64>) -> Rehearsal {
    let effects: Vec<f64> = points.iter().filter_map(|at| at.contrast.effect_percent).collect();
    let complete = effects.len() == points.len();
    let range_percent = complete.then(|| range(&effects));
    // One step for each length: 2 s, 5 s and 15 s are three rungs of a ladder, whatever lies
    // between them.
    let (steps, ratios): (Vec<f64>, Vec<f64>) = points
        .iter()
        .enumerate()
        .flat_map(|(step, at)| at.contrast.log_ratios.iter().map(move |(_, d)| (step as f64, *d)))
        .unzip();
    let step = theil_sen(&steps, &ratios, 0.95).map(|line| line.slope);
    let sample = points[0].contrast;
    let bound = noise_percent.or(sample.margin_percent);
    let moves =
        step.and_then(|step| step.interval).is_some_and(|[low, high]| low > 0.0 || high < 0.0);
    let within = range_percent.zip(bound).is_some_and(|(range, bound)| range <= bound);
    let word = match (within, moves && is_monotone(&effects)) {
        (true, _) => STABLE,
        (false, true) => TREND,
        (false, false) => UNDECIDED,
    };
    Rehearsal {
        contrast: name,
        metric: sample.metric.clone(),
        points: points.iter().map(point).collect(),
        range_percent,
        noise_percent,
        step_percent: step.map(in_percent),
        word: word.to_owned(),
    }
}

fn in_percent(estimate: Estimate) -> Estimate {
    Estimate {
        value: percent(estimate.value),
        interval: estimate.interval.map(|interval| interval.map(percent)),
    }
}

fn point(at: &At<'_>) -> RehearsalPoint {
    RehearsalPoint {
        warmup: at.level.level.clone(),
        pairs: at.contrast.pairs,
        ratio: at.contrast.ratio,
        effect_percent: at
            .contrast
            .effect_percent
            .map(|value| Estimate { value, interval: at.contrast.interval_percent }),
    }
}

fn range(values: &[f64]) -> f64 {
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    high - low
}

fn is_monotone(values: &[f64]) -> bool {
    values.is_sorted() || values.is_sorted_by(|a, b| a >= b)
}
