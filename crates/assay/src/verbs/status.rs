//! `assay status`: finished, running, hung or died, by pid and start time.

use std::time::SystemTime;

use evidence::status::{ProcFs, status};

use crate::cli::StatusArguments;
use crate::exit::{Outcome, Status};
use crate::output::Output;
use crate::verbs::compare::failure;

pub(crate) fn run(arguments: &StatusArguments, output: &Output) -> Outcome {
    let report = status(&arguments.dir, &ProcFs, SystemTime::now()).map_err(failure)?;
    output.result(arguments.json.json.as_ref(), &report, || report::status_text(&report))?;
    Ok(Status::Done)
}
