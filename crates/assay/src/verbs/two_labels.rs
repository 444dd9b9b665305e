//! `assay compare --tables A B`: two labels side by side.

use std::path::Path;

use report::Show;

use crate::cli::CompareArguments;
use crate::exit::{Outcome, Status};
use crate::output::Output;
use crate::verbs::compare::failure;

/// Labels that must not be compared at all are refused before anything is shown; a drift that
/// forbids a difference is a result, shown with the difference left out.
pub(crate) fn run(a: &Path, b: &Path, arguments: &CompareArguments, output: &Output) -> Outcome {
    let tables = evidence::two_labels(a, b).map_err(failure)?;
    let show = if arguments.all { Show::All } else { Show::Primary };
    output
        .result(arguments.json.json.as_ref(), &tables, || report::two_labels_text(&tables, show))?;
    let doubtful = evidence::two_labels::is_doubtful(&tables);
    Ok(if doubtful { Status::Doubtful } else { Status::Done })
}
