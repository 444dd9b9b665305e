//! From rows to contrasts: the verdict of each by D4, with the controls that stand beside it,
//! the correction over the metrics of one contrast, and what the order of the runs did.

use std::collections::BTreeSet;

use record::compare::{Contrast, Estimate, Resolve};
use record::digest::Digest;
use stats::multiple::holm;
use stats::order_effect::{carry_over, order_effect, residual_sd};
use stats::power::{FEWEST_PAIRS, pairs_to_resolve_mean};
use stats::sample::{mean, median, percent, sd};
use stats::verdict::{Question, Verdict, Word, judge, positive_seen};
use stats::wilcoxon::interval;

use super::identity::beside_the_factor;
use super::pairing::Arms;
use super::rows::{Row, rows_of};
use super::terms::{MARGIN_AFTER_DATA, PRIMARY_AFTER_DATA, Terms};

/// The pairs do not divide evenly over the two orders, so that drift loads one arm.
const ODD_PAIRS: &str = "odd_pairs";
/// One arm always ran first: a drift of the machine is taken for an effect.
const ONE_ORDER: &str = "one_order";
/// An arm does not say which build it was.
const UNDECIDABLE: &str = "undecidable";
/// A declared control is not the same thing as its twin.
const CONTROL_DIFFERS: &str = "control_differs";
/// The effect lies inside what this row's own null arm shows for a thing against itself.
const UNRESOLVED: &str = "unresolved";
/// The spread of the pairs is so large that more of them would not help within reason.
const NOT_QUIET: &str = "not_quiet";
/// The interval excludes no effect, and no longer once the other metrics are counted.
const NOT_AFTER_HOLM: &str = "not_after_holm";
/// More looks at the data were taken than registered.
const EXTRA_LOOKS: &str = "extra_looks";

/// Most pairs that anyone should add; beyond, the machine is at fault (D17).
const MOST_PAIRS: u32 = 40;

/// The contrasts of one factor, its controls included.
pub(crate) fn contrasts(
    all: &[Arms<'_>],
    terms: &Terms<'_>,
    notes: &mut Vec<String>,
) -> Vec<Contrast> {
    let rows: Vec<Vec<Row<'_>>> = all.iter().map(|arms| rows_of(arms, terms, notes)).collect();
    let controls = Controls::of(rows.iter().flatten());
    rows.iter().flat_map(|rows| contrasts_of_arms(rows, &controls, terms)).collect()
}

/// The contrasts of one pair of arms, corrected for their number.
fn contrasts_of_arms(
    rows: &[Row<'_>],
    controls: &Controls<'_, '_>,
    terms: &Terms<'_>,
) -> Vec<Contrast> {
    let mut contrasts: Vec<Contrast> =
        rows.iter().map(|row| contrast(row, controls, terms)).collect();
    // A metric in which no pair differs cannot raise a false alarm, and is not counted.
    let tested = |contrast: &Contrast| match contrast.p_value {
        Some(p) if !contrast.primary && contrast.log_ratios.iter().any(|(_, d)| *d != 0.0) => p,
        _ => f64::NAN,
    };
    let p_values: Vec<f64> = contrasts.iter().map(tested).collect();
    for (contrast, corrected) in contrasts.iter_mut().zip(holm(&p_values)) {
        if corrected.is_nan() {
            continue;
        }
        contrast.holm_p_value = Some(corrected);
        let alpha = contrast.alpha.unwrap_or(terms.alpha);
        if contrast.significant && corrected > alpha {
            contrast.significant = false;
            if matches!(contrast.verdict.as_str(), "faster" | "slower") {
                contrast.verdict = Word::Inconclusive.as_str().to_owned();
                contrast.flags.push(NOT_AFTER_HOLM.to_owned());
            }
            // Equivalence stands on its own test; that it is real does not.
            contrast.flags.retain(|flag| flag != stats::verdict::REAL_BUT_SMALL);
        }
    }
    contrasts
}

/// The control rows of one factor.
struct Controls<'r, 'a> {
    nulls: Vec<&'r Row<'a>>,
    positives: Vec<&'r Row<'a>>,
}

impl<'r, 'a> Controls<'r, 'a> {
    fn of(rows: impl Iterator<Item = &'r Row<'a>>) -> Self
    where
        'a: 'r,
    {
        let (mut nulls, mut positives) = (Vec::new(), Vec::new());
        for row in rows {
            if row.null {
                nulls.push(row);
            } else if row.arms.positive.is_some() {
                positives.push(row);
            }
        }
        Self { nulls, positives }
    }

    /// The null contrast beside a row; a null stands beside itself: it is void when it shows a
    /// difference of a thing with itself.
    fn null_of(&self, row: &'r Row<'a>) -> Option<&'r Row<'a>> {
        if row.null { Some(row) } else { closest(&self.nulls, row) }
    }

    /// The null of the level itself, beside that of its baseline: how quiet one program is says
    /// nothing of another (K-076).
    fn level_null_of(&self, row: &Row<'_>) -> Option<&'r Row<'a>> {
        if row.null {
            return None;
        }
        let of_level: Vec<&'r Row<'a>> = self
            .nulls
            .iter()
            .filter(|null| null.arms.baseline == row.arms.level)
            .copied()
            .collect();
        closest(&of_level, row)
    }

    /// The positive control beside a row. Only the primary metric has one: a slowdown by
    /// sleeping or by a quota must move that and need not move every other. Controls are not
    /// judged by each other.
    fn positive_of(&self, row: &Row<'_>) -> Option<&'r Row<'a>> {
        if !row.primary || row.null || row.arms.positive.is_some() {
            return None;
        }
        closest(&self.positives, row).filter(|positive| positive.primary)
    }
}

/// The control of a row: that of its cell, else of its scenario, else of its factor. The one of
/// the same baseline comes first.
fn closest<'r, 'a>(controls: &[&'r Row<'a>], row: &Row<'_>) -> Option<&'r Row<'a>> {
    let closeness = |other: &Row<'_>| {
        (
            other.arms.cell != row.arms.cell,
            other.arms.scenario() != row.arms.scenario(),
            other.arms.baseline != row.arms.baseline,
        )
    };
    let same_metric = controls.iter().filter(|other| other.metric == row.metric);
    same_metric.min_by_key(|other| closeness(other)).copied()
}

fn contrast<'r, 'a>(row: &'r Row<'a>, controls: &Controls<'r, 'a>, terms: &Terms<'_>) -> Contrast {
    let own = row.ratios();
    let enough = |row: &&Row<'_>| row.log_ratios.len() >= FEWEST_PAIRS as usize;
    let null = controls.null_of(row).filter(enough);
    let null_ratios = null.map(Row::ratios);
    let level_null = controls.level_null_of(row).filter(enough);
    let level_null_ratios = level_null.map(Row::ratios);
    let positive = controls.positive_of(row).filter(enough);
    let positive_ratios = positive.map(Row::ratios);
    let share = terms.margin(&row.metric);
    let judged = judge(&Question {
        null: null_ratios.as_deref(),
        level_null: level_null_ratios.as_deref(),
        positive: positive_ratios.as_deref(),
        alpha: terms.alpha,
        ..Question::new(&own, share, row.higher_is_better)
    });
    let leads = row.leads();
    let in_percent = |[low, high]: [f64; 2]| [percent(low), percent(high)];
    let estimate = |estimate: Estimate| Estimate {
        value: percent(estimate.value),
        interval: estimate.interval.map(in_percent),
    };
    let null_interval =
        null_ratios.as_deref().and_then(|ratios| interval(ratios, 1.0 - stats::power::ALPHA));
    let values = |of: fn(&record::compare::PairValues) -> f64| -> Vec<f64> {
        row.pairs.iter().map(of).collect()
    };
    let mut contrast = Contrast {
        factor: row.arms.factor.clone(),
        baseline: row.arms.baseline.clone(),
        level: row.arms.level.clone(),
        cell: row.arms.cell.clone(),
        metric: row.metric.clone(),
        unit: row.unit.clone(),
        higher_is_better: row.higher_is_better,
        primary: row.primary,
        pairs: own.len() as u32,
        baseline_value: median(&values(|pair| pair.baseline)),
        level_value: median(&values(|pair| pair.level)),
        ratio: mean(&own).map(f64::exp),
        effect_percent: judged.effect.map(percent),
        interval_percent: judged.interval.map(in_percent),
        mean_log_ratio: mean(&own),
        sd_log_ratio: sd(&own),
        noise_sd_log_ratio: residual_sd(&leads),
        null: row.null,
        verdict: word(row, &judged).as_str().to_owned(),
        flags: Vec::new(),
        null_arm: if row.null { None } else { null_arms(null, level_null) },
        margin_percent: Some(share * 100.0),
        minimum_detectable_percent: judged.minimum_detectable.map(percent),
        needed_pairs: judged.needed_pairs,
        resolve: resolve(row, &own),
        t_interval_percent: judged.t_interval.map(in_percent),
        order_effect_percent: order_effect(&leads).map(estimate),
        carry_over_percent: carried_over(row).map(estimate),
        positive: row.arms.positive,
        positive_arm: positive_arm(row, positive),
        null_interval_percent: null_interval.map(in_percent),
        p_value: judged.p_value,
        holm_p_value: None,
        significant: judged.significant,
        matters: judged.matters,
        alpha: Some(terms.alpha),
        sets: sets(row.arms),
        differs: differs(row.arms),
        pair_values: row.pairs.clone(),
        log_ratios: row.log_ratios.clone(),
        left_out: row.left_out.clone(),
    };
    contrast.flags = flags(row, &judged, &contrast, &leads, terms);
    contrast
}

/// Where every pair fell to a gate there is nothing to be inconclusive about.
fn word(row: &Row<'_>, judged: &Verdict) -> Word {
    let fell = row.left_out.iter().any(|left| left.reason.starts_with("void"));
    if row.log_ratios.is_empty() && fell { Word::Void } else { judged.word }
}

/// What it would take to resolve the mean that was seen; nothing resolves a mean of 0.
fn resolve(row: &Row<'_>, own: &[f64]) -> Option<Resolve> {
    let (mean, sd) = (mean(own)?, sd(own)?);
    let pairs = pairs_to_resolve_mean(sd, mean)?;
    let durations: Vec<f64> =
        row.arms.pairs.iter().filter_map(|pair| pair.duration_ns()).map(|ns| ns as f64).collect();
    Some(Resolve {
        mean_percent: percent(mean),
        sd_percent: 100.0 * sd,
        pairs_one_se: u64::from(pairs.at_one_standard_error),
        pairs_95: u64::from(pairs.at_95_percent),
        pair_ns: stats::sample::mean(&durations).map(|ns| ns as u64),
    })
}

/// What the level's runs carry over from a run of the baseline just before them: their figures
/// after the baseline against those after anything else, each relative to the baseline's run of
/// the same block, which frees them from drift. With two cells this is the order effect once
/// more and no estimate of its own.
fn carried_over(row: &Row<'_>) -> Option<Estimate> {
    let mut same_as_order = true;
    let mut runs: Vec<(usize, f64)> = Vec::new();
    for pair in &row.arms.pairs {
        let (baseline, level) = (pair.baseline.1, pair.level.1);
        let Some(before) = &level.previous_cell else { continue };
        let Some((_, d)) = row.log_ratios.iter().find(|(block, _)| *block == pair.block) else {
            continue;
        };
        let after_baseline = *before == baseline.cell;
        // A run after its own kind carries over what it would leave to itself.
        same_as_order &= pair.baseline_first() == Some(after_baseline);
        runs.push((usize::from(after_baseline), *d));
    }
    if same_as_order { None } else { carry_over(&runs, 1) }
}

/// The positive control that stands beside a row, with what became of it; for the control
/// itself, its own.
fn positive_arm(row: &Row<'_>, beside: Option<&Row<'_>>) -> Option<String> {
    let own = (row.arms.positive.is_some() && row.primary).then_some(row);
    let control = own.or(beside)?;
    let ratios = control.ratios();
    let said = if ratios.len() < FEWEST_PAIRS as usize {
        "too few pairs"
    } else if positive_seen(&ratios, control.higher_is_better) {
        "seen"
    } else {
        "missed"
    };
    Some(format!("{} in {}: {said}", control.arms.level, control.arms.cell))
}

/// The nulls beside a row: its baseline's, and its level's where there is one.
fn null_arms(null: Option<&Row<'_>>, level_null: Option<&Row<'_>>) -> Option<String> {
    let mut names: Vec<String> = [null, level_null]
        .into_iter()
        .flatten()
        .map(|null| format!("{} in {}", null.arms.level, null.arms.cell))
        .collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The effective paths that the factor's two levels set.
fn sets(arms: &Arms<'_>) -> Vec<String> {
    let of = |digest: &Digest| digest.identity.sets.get(&arms.factor).cloned().unwrap_or_default();
    let pair = arms.pairs.first();
    let both: BTreeSet<String> =
        pair.map(|pair| &of(pair.baseline.1) | &of(pair.level.1)).unwrap_or_default();
    both.into_iter().collect()
}

fn differs(arms: &Arms<'_>) -> Vec<String> {
    let pair = arms.pairs.first();
    pair.map(|pair| beside_the_factor(pair.baseline.1, pair.level.1, &arms.factor))
        .unwrap_or_default()
}

fn flags(
    row: &Row<'_>,
    judged: &Verdict,
    contrast: &Contrast,
    leads: &[(bool, f64)],
    terms: &Terms<'_>,
) -> Vec<String> {
    let mut flags: Vec<String> = judged.flags.iter().map(|flag| (*flag).to_owned()).collect();
    let mut raise = |holds: bool, flag: &str| {
        if holds {
            flags.push(flag.to_owned());
        }
    };
    let undecided = contrast.verdict == Word::Inconclusive.as_str();
    let claims = undecided || matches!(contrast.verdict.as_str(), "faster" | "slower");
    let within_null = contrast
        .null_interval_percent
        .zip(contrast.effect_percent)
        .is_some_and(|([low, high], effect)| low <= effect && effect <= high);
    raise(claims && !row.null && within_null, UNRESOLVED);
    raise(undecided && judged.needed_pairs.is_some_and(|pairs| pairs > MOST_PAIRS), NOT_QUIET);
    raise(row.log_ratios.len() % 2 == 1, ODD_PAIRS);
    let one_order = leads.len() >= 2 && leads.iter().all(|(first, _)| *first == leads[0].0);
    raise(one_order, ONE_ORDER);
    raise(row.undecidable, UNDECIDABLE);
    let control = row.arms.control && row.arms.positive.is_none();
    raise(control && !row.null && !row.arms.pairs.is_empty(), CONTROL_DIFFERS);
    raise(terms.extra_looks(), EXTRA_LOOKS);
    raise(row.primary_after, PRIMARY_AFTER_DATA);
    raise(terms.margin_after(&row.metric), MARGIN_AFTER_DATA);
    flags
}
