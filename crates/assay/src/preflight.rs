//! What is looked at before a plan is carried out.

use std::path::Path;

use host::{Demand, Roots};
use record::host_check::{FindingVerdict, HostStanding};
use record::plan::Plan;

use crate::exit::Failure;
use crate::verbs::run::lab_failure;

/// The grade of the machine by facts alone, which travels with every result. What would fail for
/// want of descriptors is refused with the arithmetic; nothing else refuses, since a pair on a poor
/// machine may still show its null.
///
/// # Errors
/// Refused: the program of a generator is not there, or a cell has more users than the hard limit on
/// open files allows.
pub(crate) fn standing(plan: &Plan, out: &Path) -> Result<HostStanding, Failure> {
    lab::require_programs(plan).map_err(lab_failure)?;
    let demand = Demand::of(plan);
    let check = host::facts(&Roots::live(), Some(&demand), Some(out));
    if let Some(nofile) = check.finding("nofile").filter(|f| f.verdict == FindingVerdict::Unfit) {
        let command = nofile.command.as_deref().unwrap_or_default();
        return Err(Failure::refused(format!(
            "too few descriptors: {}\nlimit on open files: {}\nhint: {command}",
            nofile.effect, nofile.read
        )));
    }
    Ok(check.standing())
}
