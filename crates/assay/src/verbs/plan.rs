//! `assay plan`: what a bench would do; starts nothing.

use std::path::Path;

use evidence::Wanted;
use record::plan::Plan;

use crate::cli::{BenchArguments, PlanArguments};
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;
use crate::verbs::compare::failure;

pub(crate) fn run(arguments: &PlanArguments, output: &Output) -> Outcome {
    let plan = expand(&arguments.bench)?;
    if let (Some(effect), Some(pilot)) = (arguments.resolve, &arguments.pilot) {
        let wanted = Wanted { effect, price_per_h: arguments.price };
        return resolve(&plan, pilot, &wanted, arguments, output);
    }
    let shown = record::redact::plan(&plan);
    output.result(arguments.json.json.as_ref(), &shown, || report::plan_text(&shown))?;
    Ok(Status::Done)
}

/// Whether the plan can see an effect, by a pilot. What it cannot see makes the status doubtful, so
/// that a script does not go on to carry it out.
fn resolve(
    plan: &Plan,
    pilot: &Path,
    wanted: &Wanted,
    arguments: &PlanArguments,
    output: &Output,
) -> Outcome {
    let resolution = evidence::resolution(pilot, plan, wanted).map_err(failure)?;
    output.result(arguments.json.json.as_ref(), &resolution, || {
        report::resolution_text(&resolution)
    })?;
    Ok(if resolution.word == "enough" { Status::Done } else { Status::Doubtful })
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
