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
    let overrides = bench::Overrides {
        only: arguments.only.clone(),
        blocks: arguments.blocks,
        set: arguments.set.clone(),
        quick: arguments.quick,
    };
    bench::plan(&arguments.bench, &overrides)
        .map_err(|diagnostics| Failure::wrong(diagnostics.render()))
}
