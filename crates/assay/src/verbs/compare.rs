//! `assay compare`: contrasts from kept digests.

use std::path::Path;

use evidence::{CompareOptions, EvidenceError};
use record::layout;
use report::Show;

use crate::cli::CompareArguments;
use crate::exit::{Failure, Outcome, Status};
use crate::frozen;
use crate::output::Output;
use crate::verbs::two_labels;

pub(crate) fn run(arguments: &CompareArguments, output: &Output) -> Outcome {
    if let Some([a, b]) = arguments.tables.as_deref() {
        return two_labels::run(a, b, arguments, output);
    }
    let dir = arguments.dir.as_deref().expect("required unless there are two");
    let options = CompareOptions { factor: arguments.factor.clone() };
    let mut comparison = evidence::compare(dir, &options).map_err(failure)?;
    frozen::hold_against(dir, &options, &mut comparison);
    if let Some(path) = &arguments.html {
        write_page(dir, &options, path)?;
    }
    let show = if arguments.all { Show::All } else { Show::Primary };
    output.result(arguments.json.json.as_ref(), &comparison, || {
        report::comparison_table(&comparison, show)
    })?;
    Ok(if evidence::is_doubtful(&comparison) { Status::Doubtful } else { Status::Done })
}

/// Writes the page to look at, as `assay run` does beside the other tables of a label.
pub(crate) fn write_page(dir: &Path, options: &CompareOptions, path: &Path) -> Result<(), Failure> {
    let page = evidence::page(dir, options).map_err(failure)?;
    layout::write_atomic(path, report::matrix_html(&page).as_bytes())
        .map_err(|error| Failure::failed(format!("cannot write `{}`: {error}", path.display())))
}

/// The exit status of an error of the read side.
pub(crate) fn failure(error: EvidenceError) -> Failure {
    match error {
        error if error.is_refusal() => Failure::refused(error),
        error => Failure::wrong(error),
    }
}
