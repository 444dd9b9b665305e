//! `assay host`: what this machine can be trusted with.

use std::path::Path;

use host::{Asked, Demand, Roots, check};
use record::host_check::HostGrade;

use crate::cli::{HostArguments, HostCheckArguments, HostQuestion};
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;

pub(crate) fn run(arguments: &HostArguments, output: &Output) -> Outcome {
    match &arguments.question {
        HostQuestion::Check(arguments) => grade(arguments, output),
    }
}

/// Grades a machine. An unfit one refuses, so that a script does not go on to measure on it.
fn grade(arguments: &HostCheckArguments, output: &Output) -> Outcome {
    let plan = arguments.bench.as_deref().map(planned).transpose()?;
    let demand = plan.as_ref().map(Demand::of);
    let roots = match &arguments.root {
        None => Roots::live(),
        Some(folder) => copied(folder)?,
    };
    let is_live = arguments.root.is_none();
    let checked = check(&Asked {
        roots: &roots,
        demand: demand.as_ref(),
        out: is_live.then_some(&arguments.out),
        probes: is_live && !arguments.no_probes,
    });
    output.result(arguments.json.json.as_ref(), &checked, || report::host_check_text(&checked))?;
    Ok(if checked.grade == HostGrade::Unfit { Status::Refused } else { Status::Done })
}

fn planned(bench: &Path) -> Result<record::plan::Plan, Failure> {
    bench::plan(bench, &bench::Overrides::default())
        .map_err(|diagnostics| Failure::wrong(diagnostics.render()))
}

/// The roots of a copied machine. A folder without a `proc/stat` is none.
fn copied(folder: &Path) -> Result<Roots, Failure> {
    let roots = Roots::under(folder);
    if roots.proc.join("stat").is_file() {
        return Ok(roots);
    }
    Err(Failure::wrong(format!(
        "`{}` holds no copied machine: expected `proc/stat` and more of `proc` and `sys` in it",
        folder.display()
    )))
}
