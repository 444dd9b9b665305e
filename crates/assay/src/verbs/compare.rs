//! `assay compare`: contrasts from kept digests.

use evidence::{CompareOptions, EvidenceError};
use report::Show;

use crate::cli::CompareArguments;
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;

pub(crate) fn run(arguments: &CompareArguments, output: &Output) -> Outcome {
    let options = CompareOptions { factor: arguments.factor.clone() };
    let comparison = evidence::compare(&arguments.dir, &options).map_err(failure)?;
    let show = if arguments.all { Show::All } else { Show::Primary };
    output.result(arguments.json.json.as_ref(), &comparison, || {
        report::comparison_table(&comparison, show)
    })?;
    Ok(if evidence::is_doubtful(&comparison) { Status::Doubtful } else { Status::Done })
}

/// The exit status of an error of the read side.
pub(crate) fn failure(error: EvidenceError) -> Failure {
    match error {
        EvidenceError::QuickRefused { .. } => Failure::refused(error),
        error => Failure::wrong(error),
    }
}
