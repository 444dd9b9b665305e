//! `assay host`: what this machine can be trusted with.

use std::collections::BTreeMap;
use std::path::Path;

use evidence::Wanted;
use host::{Asked, Demand, Roots, check};
use record::host_check::HostGrade;

use crate::cli::{
    HostArguments, HostCheckArguments, HostDoctorArguments, HostQualifyArguments, HostQuestion,
};
use crate::exit::{Failure, Outcome, Status};
use crate::instrument;
use crate::output::Output;
use crate::verbs::compare::failure;

pub(crate) fn run(arguments: &HostArguments, output: &Output) -> Outcome {
    match &arguments.question {
        HostQuestion::Check(arguments) => grade(arguments, output),
        HostQuestion::Qualify(arguments) => qualify(arguments, output),
        HostQuestion::Doctor(arguments) => doctor(arguments, output),
    }
}

/// Grades a machine. An unfit one refuses, so that a script does not go on to measure on it.
fn grade(arguments: &HostCheckArguments, output: &Output) -> Outcome {
    let plan = arguments.bench.as_deref().map(|bench| planned(bench, &[])).transpose()?;
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

/// Runs a null and holds its spread against the bound.
fn qualify(arguments: &HostQualifyArguments, output: &Output) -> Outcome {
    let plan = planned(&arguments.bench, &arguments.set)?;
    let cell = match (&arguments.cell, &arguments.pilot) {
        (Some(cell), _) => Some(cell.clone()),
        (None, Some(pilot)) => evidence::noisiest_cell(pilot).map_err(failure)?,
        (None, None) => bench::shortest_cell(&plan).map(|cell| cell.name.clone()),
    };
    let cell = cell.ok_or_else(|| Failure::wrong("the pilot has no contrast that scatters"))?;
    let null = bench::qualification(&plan, &cell, arguments.pairs).ok_or_else(|| {
        let names: Vec<&str> = plan.cells.iter().map(|cell| cell.name.as_str()).collect();
        Failure::wrong(format!("no cell `{cell}` in `{}`; it has {}", plan.bench, names.join(", ")))
    })?;
    let interrupt = instrument::interruptible()?;
    let options = BTreeMap::from([("cell".to_owned(), cell.clone())]);
    let made = instrument::carry_out(&null, &arguments.out, options, &interrupt, output)?;
    output.remark(&format!("kept in {}", made.dir.display()));
    let wanted = Wanted { effect: arguments.effect, price_per_h: None };
    let mut found = evidence::qualification(&made.dir, &plan, &cell, arguments.bound, &wanted)
        .map_err(failure)?;
    found.pairs_asked = arguments.pairs;
    output.result(arguments.json.json.as_ref(), &found, || report::qualification_text(&found))?;
    Ok(match found.word.as_str() {
        "fails" => Status::Refused,
        "holds" if !made.interrupted => Status::Done,
        _ => Status::Doubtful,
    })
}

/// What goes along with the scatter of pairs.
fn doctor(arguments: &HostDoctorArguments, output: &Output) -> Outcome {
    let found = evidence::doctor(&arguments.dir).map_err(failure)?;
    output.result(arguments.json.json.as_ref(), &found, || report::doctor_text(&found))?;
    Ok(Status::Done)
}

fn planned(bench: &Path, set: &[String]) -> Result<record::plan::Plan, Failure> {
    bench::plan(bench, &bench::Overrides { set: set.to_vec(), ..bench::Overrides::default() })
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
