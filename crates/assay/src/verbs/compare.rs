//! `assay compare`: contrasts from kept digests.

use std::path::Path;

use evidence::{CompareOptions, EvidenceError};
use record::compare::Comparison;
use record::layout;
use report::Show;

use crate::cli::{CompareArguments, JsonTarget};
use crate::exit::{Failure, Outcome, Status};
use crate::frozen;
use crate::output::{Output, write_json};
use crate::verbs::two_labels;

pub(crate) fn run(arguments: &CompareArguments, output: &Output) -> Outcome {
    if let Some([a, b]) = arguments.tables.as_deref() {
        return two_labels::run(a, b, arguments, output);
    }
    let dir = arguments.dir.as_deref().expect("required unless there are two");
    let stdout = Some(&JsonTarget::Stdout);
    if arguments.json.json.as_ref() == stdout && arguments.csv.as_ref() == stdout {
        let taken = "`--json -` and `--csv -` both take standard output: give one of them a file";
        return Err(Failure::wrong(taken));
    }
    let options = options(arguments);
    let mut comparison = evidence::compare(dir, &options).map_err(failure)?;
    // What is only hidden is still the question that the frozen table answered.
    let asked = CompareOptions { metrics: Vec::new(), group: None, ..options.clone() };
    frozen::hold_against(dir, &asked, &mut comparison, output);
    // Hiding a row hides no doubt: the exit status is that of the whole.
    let doubtful = evidence::is_doubtful(&comparison);
    evidence::select(&mut comparison, &options).map_err(failure)?;
    if let Some(path) = &arguments.html {
        write_page(dir, comparison.clone(), path)?;
    }
    if let Some(target) = &arguments.csv {
        write_csv(&comparison, target, output)?;
    }
    match (&arguments.json.json, &arguments.csv) {
        (None, Some(JsonTarget::Stdout)) => {}
        (Some(JsonTarget::File(path)), Some(JsonTarget::Stdout)) => write_json(path, &comparison)?,
        (json, _) => output.result(json.as_ref(), &comparison, || text(arguments, &comparison))?,
    }
    Ok(if doubtful { Status::Doubtful } else { Status::Done })
}

fn options(arguments: &CompareArguments) -> CompareOptions {
    CompareOptions {
        factor: arguments.factor.clone(),
        baseline: arguments.baseline.clone(),
        metrics: arguments.metric.clone(),
        margin: arguments.margin,
        primary: arguments.primary.clone(),
        group: arguments.group.clone(),
        over: arguments.over.clone(),
    }
}

fn text(arguments: &CompareArguments, comparison: &Comparison) -> String {
    if arguments.md {
        return report::comparison_md(comparison);
    }
    let show = match (arguments.all, arguments.metric.is_empty()) {
        (true, _) => Show::All,
        (false, false) => Show::Metrics,
        (false, true) => Show::Primary,
    };
    report::comparison_table(comparison, show)
}

fn write_csv(comparison: &Comparison, target: &JsonTarget, output: &Output) -> Result<(), Failure> {
    let text = report::contrasts_csv(comparison);
    match target {
        JsonTarget::Stdout => output.plain(&text),
        JsonTarget::File(path) => layout::write_atomic(path, text.as_bytes()).map_err(|error| {
            Failure::failed(format!("cannot write `{}`: {error}", path.display()))
        }),
    }
}

/// Writes the page to look at, as `assay run` does beside the other tables of a label.
pub(crate) fn write_page(dir: &Path, comparison: Comparison, path: &Path) -> Result<(), Failure> {
    let page = evidence::page(dir, comparison).map_err(failure)?;
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
