//! The comparison: pairs of runs within blocks, one contrast for each level of a factor in each
//! combination of the others, each metric with its own pairs.
//!
//! A pair is two runs of one block that differ in one factor only; time and order play no part.
//! A run that is void, incomplete or without its partner is named and left out, and so is a pair
//! whose environments differ. The analysis is on the logarithm of level / baseline, one figure
//! for each pair; [`stats::verdict`] turns them into a word.

mod environment;
pub(crate) mod pairing;
pub(crate) mod runs;
mod verdicts;

use std::collections::BTreeSet;
use std::path::Path;

use record::Format;
use record::compare::{Comparison, Contrast};

use crate::error::{EvidenceError, nearest};
use runs::Runs;

/// What to compare.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompareOptions {
    /// Only this factor; all contrasted ones when absent.
    pub factor: Option<String>,
}

/// Compares the runs of a label directory; a single run directory yields no contrast and says
/// why. Contrasts come in the order of the factors, their levels and cells, the primary metric
/// first within each.
///
/// # Errors
/// [`EvidenceError::QuickRefused`] for quick runs, [`EvidenceError::NoRuns`] where there are
/// none, [`EvidenceError::UnknownFactor`] with the nearest factor.
pub fn compare(dir: &Path, options: &CompareOptions) -> Result<Comparison, EvidenceError> {
    compare_runs(&Runs::read(dir)?, options)
}

/// Compares runs that are read already.
pub(crate) fn compare_runs(
    runs: &Runs,
    options: &CompareOptions,
) -> Result<Comparison, EvidenceError> {
    let (measured, left_out) = runs.measured();
    let mut notes = runs.notes.clone();
    let factors = pairing::contrasted_factors(&measured);
    if let Some(factor) = &options.factor {
        if !factors.contains(factor) {
            return Err(EvidenceError::UnknownFactor {
                factor: factor.clone(),
                nearest: nearest(factor, &factors),
                known: factors,
            });
        }
    }
    let wanted: BTreeSet<&String> = match &options.factor {
        Some(factor) => BTreeSet::from([factor]),
        None => factors.iter().collect(),
    };
    let mut contrasts: Vec<Contrast> = Vec::new();
    for factor in factors.iter().filter(|factor| wanted.contains(factor)) {
        let arms = pairing::arms_of(&measured, runs, factor);
        contrasts.extend(verdicts::contrasts(&arms, &mut notes));
    }
    if measured.len() == 1 {
        notes.push("unpaired: one run is no comparison".to_owned());
    } else if contrasts.is_empty() {
        notes.push(if measured.is_empty() {
            "no complete run: nothing to compare".to_owned()
        } else {
            "no contrast: no factor has two levels that are compared".to_owned()
        });
    }
    let mut seen = BTreeSet::new();
    notes.retain(|note| seen.insert(note.clone()));
    Ok(Comparison {
        format: Format::v1("assay.comparison"),
        label: runs.label.clone(),
        contrasts,
        notes,
        left_out,
    })
}
