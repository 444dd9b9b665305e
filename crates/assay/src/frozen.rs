//! Archives the table of a label as it was derived, with the build and the hashes of the digests
//! behind it: `frozen/<n>/`; and holds later comparisons against it.

use std::fs;
use std::io;
use std::path::Path;

use evidence::CompareOptions;
use record::compare::{Comparison, Matrix};
use record::frozen::FrozenInputs;
use record::layout;
use record::meta::Build;

use crate::build_stamp;
use crate::exit::Failure;
use crate::output::Output;
use crate::verbs::compare::failure;

/// Archives a matrix, unless the newest archive was derived from the same digests by the same
/// build. An archive is never written to again; `inputs.json` is last and makes it complete.
pub(crate) fn archive(label: &Path, matrix: &Matrix, assay: &Build) -> Result<(), Failure> {
    let inputs =
        evidence::frozen::inputs(label, assay.clone(), clock::utc_now()).map_err(failure)?;
    let known = evidence::frozen::latest(label)
        .and_then(|(_, dir)| layout::read_json::<FrozenInputs>(&dir.join(layout::INPUTS)).ok());
    if known.is_some_and(|known| known.digests == inputs.digests && known.assay == inputs.assay) {
        return Ok(());
    }
    let folder = label.join(layout::FROZEN);
    let dir = folder.join(evidence::frozen::next(label).to_string());
    let written = fs::create_dir_all(&folder)
        .and_then(|()| fs::create_dir(&dir))
        .and_then(|()| write(&dir, matrix, &inputs));
    written.map_err(|error| Failure::failed(format!("cannot write `{}`: {error}", dir.display())))
}

/// Holds a comparison against the frozen table of its label, when there is one and no option
/// asked for another question than the table answered. That it is the same, or that the archive
/// is damaged, is a remark: digests alone give the same comparison. A difference is a result.
pub(crate) fn hold_against(
    label: &Path,
    options: &CompareOptions,
    comparison: &mut Comparison,
    output: &Output,
) {
    // A factor leaves rows out; metrics and groups are only hidden, and later.
    let rows = CompareOptions { factor: None, metrics: Vec::new(), group: None, ..options.clone() };
    if rows != CompareOptions::default() {
        return;
    }
    let whole = options.factor.is_none();
    match evidence::frozen::check(label, comparison, whole, &build_stamp::stamp()) {
        Ok(None) => {}
        Ok(Some(check)) if check.differences.is_empty() => {
            output.remark(&format!("equals the frozen table of {} in {}", check.by, check.frozen));
        }
        Ok(check) => comparison.tables.frozen = check,
        Err(error) => output.remark(&format!("no look at the frozen table: {error}")),
    }
}

fn write(dir: &Path, matrix: &Matrix, inputs: &FrozenInputs) -> io::Result<()> {
    layout::write_json(&dir.join(layout::MATRIX_JSON), matrix)?;
    layout::write_atomic(&dir.join(layout::MATRIX_MD), report::matrix_md(matrix).as_bytes())?;
    layout::write_json(&dir.join(layout::INPUTS), inputs)
}
