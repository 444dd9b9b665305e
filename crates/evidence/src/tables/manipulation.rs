//! The manipulation check: before anything else is read, a quantity that the factor must have
//! moved is compared between the arms. A misspelt option gives two equal arms and a clean "no
//! difference"; here it gives a table that is withheld.

use std::collections::BTreeMap;

use record::compare::{Contrast, ManipulationResult};
use record::digest::Digest;
use record::plan::Manipulation;
use stats::sample::median;

use super::arms::{Arm, arm_runs, arms_of, is_control, registered};
use super::figures::figures;

/// The arms do not differ in what the factor was meant to change: its contrasts are withheld.
pub(crate) const MANIPULATION_FAILED: &str = "manipulation_failed";

/// Checks every registered manipulation and withholds the contrasts of the arms that do not
/// differ. A quantity that no run recorded is a failed check: absent evidence proves nothing.
pub(crate) fn check(
    measured: &[(&str, &Digest)],
    contrasts: &mut [Contrast],
) -> Vec<ManipulationResult> {
    let Some(compare) = registered(measured).filter(|compare| !compare.manipulation.is_empty())
    else {
        return Vec::new();
    };
    let mut results = Vec::new();
    for arm in arms_of(contrasts) {
        if is_control(measured, &arm) {
            continue;
        }
        let of_factor =
            |one: &&Manipulation| one.factor.as_ref().is_none_or(|factor| *factor == arm.factor);
        for manipulation in compare.manipulation.iter().filter(of_factor) {
            results.push(result(measured, &arm, manipulation));
        }
    }
    for contrast in contrasts {
        let failed = results.iter().any(|result| !result.differs && concerns(result, contrast));
        if failed {
            withhold(contrast);
        }
    }
    results
}

fn result(
    measured: &[(&str, &Digest)],
    arm: &Arm,
    manipulation: &Manipulation,
) -> ManipulationResult {
    let value = |level: &str| {
        let values: Vec<f64> = arm_runs(measured, arm, level)
            .iter()
            .filter_map(|(_, digest)| figures(digest).get(&manipulation.metric)?.usable())
            .collect();
        median(&values)
    };
    let (baseline, level) = (value(&arm.baseline), value(&arm.level));
    let differs = baseline
        .zip(level)
        .is_some_and(|(baseline, level)| differ_by(baseline, level, manipulation.least));
    ManipulationResult {
        factor: arm.factor.clone(),
        baseline: arm.baseline.clone(),
        level: arm.level.clone(),
        cell: arm.cell.clone(),
        metric: manipulation.metric.clone(),
        baseline_value: baseline,
        level_value: level,
        least: manipulation.least,
        differs,
    }
}

/// Whether two values differ by a share of the smaller one at least, either way, so that it does
/// not matter which arm is the baseline. Nothing against something is a difference.
fn differ_by(a: f64, b: f64, least: f64) -> bool {
    let (low, high) = (a.min(b), a.max(b));
    high > low && high >= low * (1.0 + least)
}

fn concerns(result: &ManipulationResult, contrast: &Contrast) -> bool {
    result.factor == contrast.factor
        && result.baseline == contrast.baseline
        && result.level == contrast.level
        && result.cell == contrast.cell
}

/// Leaves of a contrast what names it and what was left out: a figure that is not there cannot be
/// quoted.
fn withhold(contrast: &mut Contrast) {
    let known = std::mem::take(contrast);
    let mut flags = known.flags;
    flags.push(MANIPULATION_FAILED.to_owned());
    *contrast = Contrast {
        factor: known.factor,
        baseline: known.baseline,
        level: known.level,
        cell: known.cell,
        metric: known.metric,
        unit: known.unit,
        higher_is_better: known.higher_is_better,
        primary: known.primary,
        pairs: known.pairs,
        null: known.null,
        positive: known.positive,
        sets: known.sets,
        left_out: known.left_out,
        verdict: "void".to_owned(),
        flags,
        ..Contrast::default()
    };
}

/// By what name a reader finds the checks that failed: one line for each.
pub(crate) fn notes(results: &[ManipulationResult]) -> Vec<String> {
    let mut lines: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for result in results.iter().filter(|result| !result.differs) {
        let shown = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), plain);
        let line = format!(
            "withheld: `{}` of `{}` is {} and of `{}` {}, less than {} % apart: the factor did not \
             do what it was meant to",
            result.metric,
            result.baseline,
            shown(result.baseline_value),
            result.level,
            shown(result.level_value),
            plain(result.least * 100.0),
        );
        lines.entry(line).or_default().push(&result.cell);
    }
    lines.into_iter().map(|(line, cells)| format!("{line} (in {})", cells.join(", "))).collect()
}

/// A number as short as it can be said to four digits.
fn plain(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
