//! `assay plan`: what a bench would do; starts nothing.

use record::plan::Plan;

use crate::cli::{BenchArguments, PlanArguments};
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;

pub(crate) fn run(arguments: &PlanArguments, output: &Output) -> Outcome {
    let plan = expand(&arguments.bench)?;
    let shown = record::redact::plan(&plan);
    output.result(arguments.json.json.as_ref(), &shown, || report::plan_text(&shown))?;
    Ok(Status::Done)
}

/// Reads and expands a bench; all its errors at once.
pub(crate) fn expand(arguments: &BenchArguments) -> Result<Plan, Failure> {
    expand_with(arguments, &overrides(arguments))
}

/// What the command line changes about a bench.
pub(crate) fn overrides(arguments: &BenchArguments) -> bench::Overrides {
    bench::Overrides {
        only: arguments.only.clone(),
        blocks: arguments.blocks,
        set: arguments.set.clone(),
        rehearse: arguments.rehearse.clone(),
        extensions: Vec::new(),
        quick: arguments.quick,
    }
}

/// As [`expand`], with overrides that are not all of the command line.
pub(crate) fn expand_with(
    arguments: &BenchArguments,
    overrides: &bench::Overrides,
) -> Result<Plan, Failure> {
    bench::plan(&arguments.bench, overrides)
        .map_err(|diagnostics| Failure::wrong(diagnostics.render()))
}
