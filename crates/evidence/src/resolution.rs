//! Whether a plan can see an effect, before it is carried out (D3): from the spread of a pilot's
//! log-ratios the pairs that an effect needs, and the smallest effect that the planned pairs see.
//!
//! A pilot of few pairs underestimates its spread half of the time, so everything is computed with
//! the upper 80 % bound of the standard deviation. Pairs are bought with time, and noise is halved
//! by four times as many: where more than [`MOST_PAIRS`] would be needed the answer is "not on this
//! host", and the remedy is a quieter machine, not more pairs.

use std::path::Path;

use record::Format;
use record::compare::Contrast;
use record::plan::Plan;
use record::resolution::{PlanCost, Resolution, ResolutionRow};
use stats::power::{
    ALPHA, FEWEST_PAIRS, POWER, minimum_detectable_with, needed_pairs, sd_upper_80,
};
use stats::sample::{normal_quantile, percent};

use crate::compare::{CompareOptions, compare};
use crate::error::EvidenceError;

/// More pairs than this are out of reach (D17): the machine is at fault, not their number.
pub const MOST_PAIRS: u32 = 40;

/// What is asked of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    /// The effect that shall be seen, as a share above 0: 0.02 for 2 %.
    pub effect: f64,
    /// Price of an hour of the machines.
    pub price_per_h: Option<f64>,
}

/// Judges a plan by the pilot in `pilot_dir`, a label directory whose contrasts of primary metrics
/// give the spread. A null gives it as well as any other level; a positive control is left out
/// where there is another.
///
/// # Errors
/// As [`crate::compare()`].
pub fn resolution(
    pilot_dir: &Path,
    plan: &Plan,
    wanted: &Wanted,
) -> Result<Resolution, EvidenceError> {
    let pilot = compare(pilot_dir, &CompareOptions::default())?;
    let primary: Vec<&Contrast> =
        pilot.contrasts.iter().filter(|contrast| contrast.primary).collect();
    let rows_of = |wanted_kind: &dyn Fn(&Contrast) -> bool| -> Vec<ResolutionRow> {
        let kept = primary.iter().filter(|contrast| wanted_kind(contrast));
        kept.filter_map(|contrast| row(contrast, plan.blocks, wanted.effect)).collect()
    };
    let mut rows = rows_of(&|contrast| contrast.positive.is_none());
    if rows.is_empty() {
        rows = rows_of(&|_| true);
    }
    let pairs_needed = rows.iter().map(|row| row.pairs_needed).max();
    let word = match pairs_needed {
        None => "unknown",
        Some(needed) if needed > MOST_PAIRS => "not_here",
        Some(needed) if needed > plan.blocks => "more_pairs",
        Some(_) => "enough",
    };
    let price = wanted.price_per_h;
    Ok(Resolution {
        format: Format::v1("assay.resolution"),
        bench: plan.bench.clone(),
        pilot: pilot.label.clone(),
        hosts: pilot.tables.hosts.clone(),
        effect_percent: wanted.effect * 100.0,
        alpha: ALPHA,
        power: POWER,
        word: word.to_owned(),
        notes: notes(&rows, &primary, plan),
        rows,
        pairs_needed,
        pairs_most: MOST_PAIRS,
        planned: cost(plan, plan.blocks, price),
        // An even number of blocks, so that each order leads equally often.
        needed: pairs_needed
            .map(|needed| needed.next_multiple_of(2))
            .filter(|needed| *needed > plan.blocks)
            .map(|needed| cost(plan, needed, price)),
        price_per_h: price,
        sd_wanted_percent: sd_for(MOST_PAIRS, wanted.effect).map(|sd| sd * 100.0),
    })
}

fn row(contrast: &Contrast, planned: u32, effect: f64) -> Option<ResolutionRow> {
    let sd = contrast.sd_log_ratio?;
    let upper = sd_upper_80(sd, contrast.pairs as usize)?;
    Some(ResolutionRow {
        contrast: format!(
            "{}: {} / {} in {}",
            contrast.factor, contrast.level, contrast.baseline, contrast.cell
        ),
        metric: contrast.metric.clone(),
        pairs: contrast.pairs,
        sd_percent: sd * 100.0,
        sd_upper_percent: upper * 100.0,
        pairs_needed: needed_pairs(upper, effect, ALPHA, POWER)?,
        detectable_percent: minimum_detectable_with(upper, planned, ALPHA).map(percent),
    })
}

/// The standard deviation of log-ratios with which `pairs` pairs just see an effect: D3 solved for
/// it.
fn sd_for(pairs: u32, effect: f64) -> Option<f64> {
    let (z_alpha, z_power) = (normal_quantile(1.0 - ALPHA / 2.0), normal_quantile(POWER));
    let spare = f64::from(pairs) - z_alpha.powi(2) / 2.0;
    (effect > 0.0 && spare > 0.0).then(|| effect.ln_1p() * spare.sqrt() / (z_alpha + z_power))
}

/// What so many blocks of a plan take, in proportion to the blocks that it has.
fn cost(plan: &Plan, pairs: u32, price_per_h: Option<f64>) -> PlanCost {
    let scaled = |amount: u64| {
        let scaled = u128::from(amount) * u128::from(pairs) / u128::from(plan.blocks.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    };
    let time_ns = plan.estimate.time_ns.map(scaled);
    PlanCost {
        pairs,
        time_ns,
        disk_bytes: scaled(plan.estimate.disk_bytes),
        price: time_ns.zip(price_per_h).map(|(ns, price)| ns as f64 / 3.6e12 * price),
    }
}

fn notes(rows: &[ResolutionRow], primary: &[&Contrast], plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    if rows.is_empty() {
        notes.push(
            "the pilot has no contrast with two valid pairs: run one with `null` and at least 6 \
             blocks"
                .to_owned(),
        );
    }
    let fewest = rows.iter().map(|row| row.pairs).min();
    if let Some(fewest) = fewest.filter(|fewest| *fewest < FEWEST_PAIRS) {
        notes.push(format!(
            "the pilot has {fewest} pairs: fewer than {FEWEST_PAIRS} say little about a spread"
        ));
    }
    if !rows.is_empty() && primary.iter().all(|contrast| !contrast.null) {
        notes.push(
            "the pilot has no null: a level that differs may scatter more or less than one that \
             does not"
                .to_owned(),
        );
    }
    let asked = plan.compare.primary.as_deref();
    if let Some(asked) = asked
        && let Some(row) = rows.iter().find(|row| row.metric != asked)
    {
        notes.push(format!(
            "the bench's primary metric is {asked}, the pilot's is {}: another spread",
            row.metric
        ));
    }
    if plan.estimate.time_ns.is_none() {
        notes.push("the time is unknown: a window is a count of requests".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use record::layout;
    use record::plan::{Compare, Gates};

    use super::*;
    use crate::samples::{self, SampleRun, level, plan};

    /// A pilot of `pairs` pairs of a null whose throughput scatters with a standard deviation of
    /// exactly `sd` on the log scale.
    fn pilot(pairs: u32, sd: f64) -> tempfile::TempDir {
        let label = tempfile::tempdir().expect("a temporary folder");
        // Half of the pairs at +1 and half at -1 have the sample sd sqrt(n / (n - 1)).
        let n = f64::from(pairs);
        let step = sd * ((n - 1.0) / n).sqrt();
        for block in 1..=pairs {
            for (order, name) in [(1, "base"), (2, "null")] {
                let twin = (name == "null").then_some("base");
                let of = level(name, order - 1, twin);
                let mut run = SampleRun::sound(block, order, &of);
                run.meta.identity_sha256 = "one and the same".to_owned();
                let dir = label.path().join(layout::RUNS).join(&run.meta.run);
                run.write(&dir);
                let mut digest = crate::digest(&dir, &Gates::default(), &Compare::default())
                    .expect("a sample run has a digest");
                let sign = if block % 2 == 0 { 1.0 } else { -1.0 };
                let log = if name == "null" { sign * step } else { 0.0 };
                if let Some(metric) = digest.metrics.get_mut("throughput") {
                    metric.value = metric.value.map(|value| value * f64::exp(log));
                }
                samples::write_digest(&dir, &digest);
            }
        }
        layout::write_json(&label.path().join(layout::PLAN), &plan(&["base", "null"], pairs))
            .expect("a plan is written");
        label
    }

    fn resolved(pairs: u32, sd: f64, effect: f64, blocks: u32) -> Resolution {
        let wanted = Wanted { effect, price_per_h: Some(1.16) };
        let plan = samples::plan(&["base", "other", "null"], blocks);
        resolution(pilot(pairs, sd).path(), &plan, &wanted).expect("a resolution")
    }

    /// E-002: a null with 4 % spread cannot show half a percent on this host, whatever one pays.
    #[test]
    fn a_noisy_host_is_told_so() {
        let found = resolved(8, 0.04, 0.005, 12);
        assert_eq!(found.word, "not_here");
        let row = &found.rows[0];
        assert!((row.sd_percent - 4.0).abs() < 0.01, "{}", row.sd_percent);
        // sd x sqrt(7 / chi2(0.2, 7)): 7 / 3.8223.
        assert!((row.sd_upper_percent - 5.41).abs() < 0.01, "{}", row.sd_upper_percent);
        // ((1.95996 + 0.84162) x 0.0541 / ln 1.005)^2 + 1.92.
        assert_eq!(found.pairs_needed, Some(927));
        assert_eq!(found.needed.map(|cost| cost.pairs), Some(928), "an even number of blocks");
        // ln 1.005 x sqrt(40 - 1.92) / 2.80158.
        let wanted = found.sd_wanted_percent.expect("an effect above 0");
        assert!((wanted - 1.0986).abs() < 0.001, "{wanted}");
    }

    #[test]
    fn a_quiet_host_gets_a_plan() {
        let found = resolved(10, 0.01, 0.02, 12);
        assert_eq!((found.word.as_str(), found.pairs_needed), ("enough", Some(6)));
        assert_eq!(found.needed, None);
        assert_eq!(found.planned.pairs, 12);
        // 77 s at 1.16 for an hour.
        let price = found.planned.price.expect("time and price are known");
        assert!((price - 77.0 / 3600.0 * 1.16).abs() < 1e-9);
        // (t(11, .975) + t(11, .8)) x 1.29 % / sqrt(12).
        let seen = found.rows[0].detectable_percent.expect("twelve pairs");
        assert!((seen - 1.16).abs() < 0.02, "{seen}");
        assert!(found.notes.is_empty(), "{:?}", found.notes);
    }

    #[test]
    fn a_plan_that_is_too_short_is_told_how_long() {
        // 15.31 for a spread of 2 % times 1.293.
        let found = resolved(10, 0.02, 0.02, 6);
        assert_eq!((found.word.as_str(), found.pairs_needed), ("more_pairs", Some(16)));
        let cost = found.needed.expect("more than planned");
        assert_eq!((cost.pairs, cost.time_ns), (16, Some(77_000_000_000 * 16 / 6)));
    }

    #[test]
    fn small_pilots_say_so() {
        let found = resolved(4, 0.01, 0.02, 12);
        assert!(found.notes.iter().any(|note| note.contains("4 pairs")), "{:?}", found.notes);
        let nothing = resolved(1, 0.01, 0.02, 12);
        assert_eq!((nothing.word.as_str(), nothing.pairs_needed), ("unknown", None));
        assert!(!nothing.notes.is_empty());
    }
}
