//! `assay compare`: contrasts from kept digests.

use std::path::Path;

use evidence::{CompareOptions, EvidenceError};
use record::layout;
use report::Show;

use crate::cli::CompareArguments;
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;

pub(crate) fn run(arguments: &CompareArguments, output: &Output) -> Outcome {
    let options = CompareOptions { factor: arguments.factor.clone() };
    let comparison = evidence::compare(&arguments.dir, &options).map_err(failure)?;
    if let Some(path) = &arguments.html {
        write_page(&arguments.dir, &options, path)?;
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
        EvidenceError::QuickRefused { .. } => Failure::refused(error),
        error => Failure::wrong(error),
    }
}
