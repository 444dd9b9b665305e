//! Rival explanations, registered with what each predicts: how far the measured effect is from
//! every prediction, in standard errors of its mean, and which one is nearest. The words are few
//! and fixed, so that a wide spread is never reported as a refutation.

use record::compare::{Contrast, HypothesisResult};
use record::digest::Digest;
use record::plan::Hypothesis;
use stats::prediction::from_prediction;
use stats::sample::{mean, percent};

use super::arms::{arm_of, is_control, name_of, registered};

/// The word without two pairs that differ: a spread of nothing is no certainty.
const UNDECIDED: &str = "undecided";

/// All results in the order of the contrasts, within one in the order in which the bench wrote
/// the hypotheses; and a note for each hypothesis that is about nothing here.
pub(crate) fn results(
    measured: &[(&str, &Digest)],
    contrasts: &[Contrast],
) -> (Vec<HypothesisResult>, Vec<String>) {
    let Some(compare) = registered(measured) else {
        return (Vec::new(), Vec::new());
    };
    let mut results = Vec::new();
    let mut used = vec![false; compare.hypotheses.len()];
    for contrast in contrasts.iter().filter(|one| !is_control(measured, &arm_of(one))) {
        let mut own: Vec<HypothesisResult> = Vec::new();
        for (index, hypothesis) in compare.hypotheses.iter().enumerate() {
            if is_about(hypothesis, contrast) {
                used[index] = true;
                own.push(result(hypothesis, contrast));
            }
        }
        mark_nearest(&mut own);
        results.extend(own);
    }
    let unused = compare.hypotheses.iter().zip(used).filter(|(_, used)| !used);
    let notes = unused
        .map(|(hypothesis, _)| {
            format!("hypothesis `{}` is about no contrast here", hypothesis.name)
        })
        .collect();
    (results, notes)
}

fn is_about(hypothesis: &Hypothesis, contrast: &Contrast) -> bool {
    let names = |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|name| name == own);
    names(&hypothesis.factor, &contrast.factor)
        && names(&hypothesis.level, &contrast.level)
        && hypothesis.metric.as_ref().map_or(contrast.primary, |name| *name == contrast.metric)
}

fn result(hypothesis: &Hypothesis, contrast: &Contrast) -> HypothesisResult {
    // A void contrast has figures and no meaning.
    let pairs: Vec<f64> = match contrast.verdict.as_str() {
        "void" => Vec::new(),
        _ => contrast.log_ratios.iter().map(|(_, ratio)| *ratio).collect(),
    };
    let found = from_prediction(&pairs, hypothesis.predicts.ln_1p());
    HypothesisResult {
        name: hypothesis.name.clone(),
        contrast: name_of(&arm_of(contrast)),
        metric: contrast.metric.clone(),
        predicted_percent: hypothesis.predicts * 100.0,
        measured_percent: mean(&pairs).map(percent),
        distance_sd: found.map(|found| found.distance_sd),
        nearest: false,
        word: found.map_or(UNDECIDED, |found| found.word.as_str()).to_owned(),
    }
}

/// Marks the nearest of one contrast; a single hypothesis has no rival to be nearer than.
fn mark_nearest(results: &mut [HypothesisResult]) {
    if results.len() < 2 {
        return;
    }
    let distance = |result: &HypothesisResult| result.distance_sd.unwrap_or(f64::INFINITY);
    let nearest = results.iter_mut().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    if let Some(nearest) = nearest.filter(|result| result.distance_sd.is_some()) {
        nearest.nearest = true;
    }
}
