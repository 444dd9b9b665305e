//! The comparison: pairs of runs within blocks, one contrast for each level of a factor in each
//! combination of the others, each metric with its own pairs.
//!
//! A pair is two runs of one block that differ in one factor only; time and order play no part.
//! A run that is void, incomplete or without its partner is named and left out, and so is a pair
//! whose environments differ. The analysis is on the logarithm of level / baseline, one figure
//! for each pair; [`stats::verdict`] turns them into a word.

pub(crate) mod cluster;
#[cfg(test)]
mod contrast_tests;
#[cfg(test)]
mod drift_tests;
pub(crate) mod environment;
#[cfg(test)]
mod exclusion_tests;
#[cfg(test)]
mod fixture;
mod geomean;
mod identity;
mod machine;
pub(crate) mod pairing;
#[cfg(test)]
mod property_tests;
mod rows;
pub(crate) mod runs;
mod saturated;
mod sentinel;
#[cfg(test)]
mod suite_tests;
mod terms;
#[cfg(test)]
mod terms_tests;
#[cfg(test)]
mod tests;
mod tier;
mod topology;
mod verdicts;

use std::collections::BTreeSet;
use std::path::Path;

use record::Format;
use record::compare::{Comparison, Contrast, HostClass, Tables};
use record::digest::Digest;
use record::plan::Gates;
use record::units::HumanDuration;

use crate::calibrated;
use crate::error::EvidenceError;
use crate::gates::{GATES, percent};
use crate::quotability::{Support, quotability};
use runs::Runs;
use terms::Terms;
pub use terms::{CompareOptions, select};

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
    let (measured, mut left_out) = runs.measured();
    let mut notes = runs.notes.clone();
    notes.extend(own_bounds(&measured));
    let warm_ups = runs.warm_ups();
    if !warm_ups.is_empty() {
        notes.push(format!("warm-up runs, discarded: {}", warm_ups.join(", ")));
    }
    let factors = pairing::contrasted_factors(&measured);
    let terms = Terms::new(options, &measured, &factors, &runs.looks)?;
    left_out.extend(pairing::without_level(&measured, &factors));
    let hosts = identity::host_classes(&measured);
    notes.extend(several_hosts(&hosts));
    notes.extend(machine::changed_speed(&measured));
    let wanted = |factor: &&String| options.factor.as_ref().is_none_or(|only| only == *factor);
    let mut contrasts: Vec<Contrast> = Vec::new();
    for factor in factors.iter().filter(wanted) {
        let arms = pairing::arms_of(&measured, runs, factor, &terms);
        contrasts.extend(verdicts::contrasts(&arms, &terms, &mut notes));
    }
    cluster::mark(&measured, &factors, &mut contrasts, &mut notes);
    saturated::mark(&measured, &mut contrasts, &mut notes);
    notes.extend(tier::note(&measured));
    notes.extend(topology::notes(&contrasts, &measured));
    notes.extend(terms.notes(&contrasts));
    if measured.len() == 1 {
        notes.push("unpaired: one run is no comparison".to_owned());
    } else if contrasts.is_empty() {
        notes.push(if measured.is_empty() {
            "no complete run: nothing to compare".to_owned()
        } else {
            "no contrast: no factor has two levels that are compared".to_owned()
        });
    }
    let standings = machine::standings(&measured);
    let mut tables = Tables { hosts, standings, looks: runs.looks.clone(), ..Tables::default() };
    crate::tables::fill(&mut tables, &measured, &mut contrasts, &mut notes);
    // Last, since a manipulation check may have withheld rows.
    let order = geomean::factor_order(&measured);
    tables.geomeans = geomean::geomeans(&contrasts, &order, &terms);
    let baselines = pairing::baselines(&measured, &factors, &terms);
    tables.drifts = sentinel::drifts(&measured, &baselines, &terms);
    tables.calibrated = runs
        .calibration
        .as_ref()
        .map(|calibration| calibrated::calibrated(calibration, runs.plan.as_ref(), &measured));
    let support = support(&tables, &measured);
    tables.quotability = quotability(&tables.standings, &contrasts, &measured, &support);
    let mut seen = BTreeSet::new();
    notes.retain(|note| seen.insert(note.clone()));
    Ok(Comparison {
        format: Format::v1("assay.comparison"),
        label: runs.label.clone(),
        contrasts,
        notes,
        left_out,
        tables,
    })
}

/// What stands behind a matrix beside its runs: the certificate that every generator worked under,
/// and the calibration of the label.
fn support(tables: &Tables, measured: &[(&str, &Digest)]) -> Support {
    let certificates: Option<Vec<_>> =
        measured.iter().map(|(_, digest)| digest.load.as_ref()?.certificate.as_ref()).collect();
    let certificate = certificates.filter(|all| !all.is_empty()).map(|all| {
        let failed = all.iter().any(|stub| !stub.holds);
        if failed { Err("a property of it failed".to_owned()) } else { Ok(()) }
    });
    let calibration = tables.calibrated.as_ref().map(|calibrated| {
        match (calibrated.above_knee.first(), calibrated.prices.iter().find(|one| !one.agrees)) {
            (Some(above), _) => Err(above.clone()),
            (None, Some(price)) => {
                Err(format!("its price of a connection is not that of {}", price.arms))
            }
            (None, None) => Ok(()),
        }
    });
    Support { certificate, calibration }
}

/// Whether something of a comparison is void, partial or incomplete: nothing could be compared,
/// a run is missing, a contrast of a primary metric is void or lost a pair, or the frozen table
/// of the label says something else. Exploratory metrics do not count: among ten at 5 % each,
/// two matrices in five raise a false alarm (D7).
#[must_use]
pub fn is_doubtful(comparison: &Comparison) -> bool {
    let missing = comparison.left_out.iter().any(|left| !runs::is_made_good(left));
    let broken = |contrast: &Contrast| {
        contrast.primary && (contrast.verdict == "void" || !contrast.left_out.is_empty())
    };
    let thawed = |check: &record::frozen::FrozenCheck| !check.differences.is_empty();
    comparison.tables.frozen.as_ref().is_some_and(thawed)
        || missing
        || comparison.contrasts.is_empty()
        || comparison.contrasts.iter().any(broken)
}

/// Runs of two machines are never one measurement.
fn several_hosts(hosts: &[HostClass]) -> Option<String> {
    let named = || hosts.iter().map(|host| host.id.as_str()).collect::<Vec<_>>().join(", ");
    (hosts.len() > 1).then(|| {
        format!(
            "machines of {} classes ({}): pairs that are not of the first pair's are left out",
            hosts.len(),
            named()
        )
    })
}

/// Which bounds of the gates are not the defaults, so that a table of short windows says so.
fn own_bounds(measured: &[(&str, &Digest)]) -> Option<String> {
    let defaults = Gates::default();
    let mut own: Vec<String> = Vec::new();
    for check in measured.iter().flat_map(|(_, digest)| &digest.checks) {
        let gate = GATES.iter().find(|gate| gate.name == check.gate);
        let default = gate.and_then(|gate| (gate.bound)(&defaults));
        if let (Some(bound), Some(default)) = (check.bound, default) {
            let (bound, default) = (in_unit(bound, &check.unit), in_unit(default, &check.unit));
            let said = format!("{} {bound} (default {default})", check.gate);
            if bound != default && !own.contains(&said) {
                own.push(said);
            }
        }
    }
    (!own.is_empty()).then(|| format!("gates set by the bench: {}", own.join(", ")))
}

fn in_unit(value: f64, unit: &str) -> String {
    match unit {
        "ns" => HumanDuration(value).to_string(),
        "share" => percent(value),
        unit => format!("{value} {unit}"),
    }
}
