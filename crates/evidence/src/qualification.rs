//! Host qualification (K-085): the spread of a null against a bound, and what the planned matrix
//! sees with it, before anyone spends an hour.

use std::path::Path;

use record::Format;
use record::plan::Plan;
use record::qualification::Qualification;

use crate::compare::{CompareOptions, compare};
use crate::error::EvidenceError;
use crate::resolution::{Wanted, resolution};

/// Judges the null in `dir` of `cell` against `bound`, a share, for the bench `plan`. `wanted` is
/// the effect that the bench is about.
///
/// # Errors
/// As [`crate::compare()`].
pub fn qualification(
    dir: &Path,
    plan: &Plan,
    cell: &str,
    bound: f64,
    wanted: &Wanted,
) -> Result<Qualification, EvidenceError> {
    let comparison = compare(dir, &CompareOptions::default())?;
    let null = comparison.contrasts.iter().find(|contrast| contrast.primary && contrast.null);
    let sd = null.and_then(|null| null.sd_log_ratio).filter(|_| null.is_some_and(|n| n.pairs >= 2));
    let word = match sd {
        Some(sd) if sd <= bound => "holds",
        Some(_) => "fails",
        None => "untold",
    };
    Ok(Qualification {
        format: Format::v1("assay.qualification"),
        bench: plan.bench.clone(),
        cell: cell.to_owned(),
        label: comparison.label.clone(),
        standing: comparison.tables.standings.first().cloned(),
        metric: null.map(|null| null.metric.clone()).unwrap_or_default(),
        pairs_asked: null.map_or(0, |null| null.pairs + null.left_out.len() as u32),
        pairs: null.map_or(0, |null| null.pairs),
        mean_percent: null.and_then(|null| null.mean_log_ratio).map(|mean| mean * 100.0),
        sd_percent: sd.map(|sd| sd * 100.0),
        bound_percent: bound * 100.0,
        word: word.to_owned(),
        resolution: resolution(dir, plan, wanted)?,
    })
}

/// The cell of a pilot whose contrasts of primary metrics scatter most: the baseline's.
///
/// # Errors
/// As [`crate::compare()`].
pub fn noisiest_cell(pilot: &Path) -> Result<Option<String>, EvidenceError> {
    let pilot = compare(pilot, &CompareOptions::default())?;
    let spread = pilot.contrasts.iter().filter(|contrast| contrast.primary);
    let spread = spread.filter_map(|contrast| Some((contrast.sd_log_ratio?, contrast)));
    let noisiest = spread.max_by(|a, b| a.0.total_cmp(&b.0));
    Ok(noisiest.map(|(_, contrast)| contrast.cell.replacen('*', &contrast.baseline, 1)))
}

#[cfg(test)]
mod tests {
    use record::layout;
    use record::plan::{Compare, Gates};

    use super::*;
    use crate::samples::{self, SampleRun, level, plan};

    /// A null of four pairs of which every second is `apart` (log scale) from the others.
    fn judged(apart: f64, bound: f64) -> Qualification {
        let label = tempfile::tempdir().expect("a folder");
        for block in 1..=4 {
            for (order, name) in [(1, "base"), (2, "null")] {
                let of = level(name, order - 1, (name == "null").then_some("base"));
                let mut run = SampleRun::sound(block, order, &of);
                run.meta.identity_sha256 = "one and the same".to_owned();
                let dir = label.path().join(layout::RUNS).join(&run.meta.run);
                run.write(&dir);
                let mut digest = crate::digest(&dir, &Gates::default(), &Compare::default())
                    .expect("a sample run has a digest");
                let log = if name == "null" && block % 2 == 0 { apart } else { 0.0 };
                if let Some(metric) = digest.metrics.get_mut("throughput") {
                    metric.value = metric.value.map(|value| value * f64::exp(log));
                }
                samples::write_digest(&dir, &digest);
            }
        }
        let wanted = Wanted { effect: 0.01, price_per_h: None };
        let plan = plan(&["base", "other"], 12);
        assert_eq!(noisiest_cell(label.path()).expect("a label").as_deref(), Some("base"));
        qualification(label.path(), &plan, "base", bound, &wanted).expect("a label")
    }

    /// K-085: two of three machines failed with a spread of 4 %; the quiet one had 0.7 %.
    #[test]
    fn a_noisy_null_fails_and_a_quiet_one_holds() {
        let noisy = judged(0.07, 0.01);
        assert_eq!((noisy.word.as_str(), noisy.pairs), ("fails", 4));
        // Two at 0 and two at 7 %: a sample sd of 7 % / sqrt(3).
        assert!((noisy.sd_percent.expect("four pairs") - 4.0415).abs() < 0.001, "{noisy:?}");
        assert_eq!(noisy.resolution.word, "not_here", "1 % is out of reach");
        let quiet = judged(0.001, 0.01);
        assert_eq!(quiet.word, "holds");
        assert_eq!(quiet.resolution.word, "enough");
        assert_eq!(judged(0.07, 0.05).word, "holds", "the bound is the user's");
    }
}
