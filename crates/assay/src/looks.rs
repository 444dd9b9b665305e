//! Every look at the data of a label is put on record when it is taken: when a matrix ends or is
//! interrupted, and when more blocks were added. A look that is not written down cannot be paid
//! for.

use std::path::Path;

use lab::Finished;
use record::compare::{Comparison, Look};
use record::layout;
use record::plan::Plan;

use crate::exit::Failure;
use crate::verbs::compare::failure;

/// Records that the data are about to be looked at, before they are: the file then says how much
/// error this look may spend. Nothing is recorded while no block is complete.
pub(crate) fn begin(finished: &Finished, plan: &Plan) -> Result<Vec<Look>, Failure> {
    let before = evidence::read_looks(&finished.dir).map_err(failure)?;
    if finished.blocks == 0 {
        return Ok(before);
    }
    let registered = plan.compare.looks;
    let looks = evidence::with_look(&before, registered, clock::utc_now(), finished.blocks);
    write(&finished.dir, &looks)?;
    Ok(looks)
}

/// Adds what the look showed, the words of the primary metrics, and returns all looks.
pub(crate) fn end(
    finished: &Finished,
    mut looks: Vec<Look>,
    comparison: &Comparison,
) -> Result<Vec<Look>, Failure> {
    let Some(last) = looks.last_mut().filter(|last| last.blocks == finished.blocks) else {
        return Ok(looks);
    };
    last.verdicts = comparison
        .contrasts
        .iter()
        .filter(|contrast| contrast.primary)
        .map(|contrast| {
            let name = format!(
                "{}: {} / {} in {}",
                contrast.factor, contrast.level, contrast.baseline, contrast.cell
            );
            (name, contrast.verdict.clone())
        })
        .collect();
    write(&finished.dir, &looks)?;
    Ok(looks)
}

fn write(label_dir: &Path, looks: &[Look]) -> Result<(), Failure> {
    let path = label_dir.join(layout::LOOKS);
    layout::write_json(&path, &looks)
        .map_err(|error| Failure::failed(format!("cannot write `{}`: {error}", path.display())))
}
