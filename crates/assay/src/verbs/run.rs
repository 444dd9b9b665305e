//! `assay run`: plan, run, check, compare, explain.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use evidence::CompareOptions;
use lab::{Finished, Interrupt, LabError, Opening, Session};
use record::compare::{Comparison, Contrast, Matrix};
use record::host_check::HostGrade;
use record::plan::{Extension, Plan};
use record::{Format, layout};
use report::Show;
use serde::Serialize;

use crate::build_stamp;
use crate::calibrations;
use crate::certificates;
use crate::cli::RunArguments;
use crate::exit::{Failure, Outcome, Status};
use crate::frozen;
use crate::looks;
use crate::output::Output;
use crate::preflight;
use crate::progress::Display;
use crate::read_side::ReadSide;
use crate::signals;
use crate::verbs::compare::{failure, write_page};
use crate::verbs::plan::{expand, expand_with, overrides};

/// How often a label of our own making may be lost to another invocation of the same second.
const MOST_LABELS_LOST: usize = 100;

pub(crate) fn run(arguments: &RunArguments, output: &Output) -> Outcome {
    let (plan, opening) = planned(arguments)?;
    for note in &plan.notes {
        output.remark(&format!("note: {note}"));
    }
    let standing = preflight::standing(&plan, &arguments.out)?;
    if standing.grade != HostGrade::Qualified {
        output.remark(&format!("host {}; see `assay host check`", standing.headline()));
    }
    let calibration = calibrations::standing(&plan, opening, output)?;
    let program = build_stamp::program()?;
    let interrupt = Interrupt::default();
    signals::route(&interrupt, || {
        let _ =
            writeln!(std::io::stderr(), "stopping after the current run; once more stops at once");
    })?;
    let mut session = Session {
        plan: &plan,
        out: arguments.out.clone(),
        label: arguments.label.clone().unwrap_or_else(|| fresh_label(&plan, &arguments.out)),
        opening,
        assay: program.clone(),
        build: build_stamp::build(&program),
        options: options(arguments),
        standing: Some(standing),
        certificates: certificates::standing(&plan, output),
        calibration,
        digester: &ReadSide,
        interrupt: &interrupt,
    };
    let mut display = Display::new(output);
    let mut made = lab::execute(&session, &mut display);
    // Another invocation of the same second was quicker to take the label that was free.
    for _ in 0..MOST_LABELS_LOST {
        if arguments.label.is_some() || !matches!(made, Err(LabError::LabelExists { .. })) {
            break;
        }
        session.label = fresh_label(&plan, &arguments.out);
        made = lab::execute(&session, &mut display);
    }
    display.finish();
    let finished = made.map_err(lab_failure)?;
    if plan.quick {
        return quick_end(&finished, arguments, output);
    }
    // Before the first figure is shown: what this look may spend decides how wide intervals are.
    let looks = looks::begin(&finished, &plan)?;
    let mut comparison =
        evidence::compare(&finished.dir, &CompareOptions::default()).map_err(failure)?;
    comparison.tables.looks = looks::end(&finished, looks, &comparison)?;
    let matrix = write_matrix(&finished)?;
    frozen::archive(&finished.dir, &matrix, &session.build)?;
    write_page(&finished.dir, comparison.clone(), &finished.dir.join(layout::MATRIX_HTML))?;
    let table = report::comparison_table(&comparison, Show::Primary);
    output.result(arguments.json.json.as_ref(), &matrix, || table)?;
    output.remark(&format!("kept in {}", finished.dir.display()));
    Ok(status(&finished, &matrix, &comparison))
}

/// The plan to carry out, and what becomes of the label. A label that exists knows what it was
/// made from: the blocks that were added to it are its own, and `--only` beside `--extend` chooses
/// among its cells.
fn planned(arguments: &RunArguments) -> Result<(Plan, Opening), Failure> {
    let bench = &arguments.bench;
    let label = match (&arguments.label, arguments.extend, arguments.resume) {
        (Some(label), Some(_), _) | (Some(label), None, true) => label,
        _ => return Ok((expand(bench)?, Opening::New)),
    };
    let kept = lab::kept_plan(&arguments.out, label).map_err(lab_failure)?;
    let mut overrides = overrides(bench);
    let Some(kept) = kept else {
        return match arguments.extend {
            Some(_) => Err(lab_failure(LabError::NothingToExtend {
                label: label.clone(),
                out: arguments.out.clone(),
            })),
            None => Ok((expand(bench)?, Opening::Resume)),
        };
    };
    let added: u32 = kept.extensions.iter().map(|extension| extension.blocks).sum();
    let own_blocks = kept.blocks.saturating_sub(added);
    if let Some(blocks) = arguments.extend {
        overrides.extensions.clone_from(&kept.extensions);
        overrides.extensions.push(Extension {
            at_utc: clock::utc_now(),
            blocks,
            only: bench.only.clone(),
        });
        overrides.only.clone_from(&kept.only);
        overrides.blocks = Some(own_blocks);
        return Ok((expand_with(bench, &overrides)?, Opening::Extend));
    }
    if !kept.extensions.is_empty() {
        overrides.extensions.clone_from(&kept.extensions);
        overrides.only = overrides.only.or_else(|| kept.only.clone());
        overrides.blocks = overrides.blocks.or(Some(own_blocks));
    }
    Ok((expand_with(bench, &overrides)?, Opening::Resume))
}

pub(crate) fn lab_failure(error: LabError) -> Failure {
    if error.is_refusal() { Failure::refused(error) } else { Failure::failed(error) }
}

/// A name `<bench>-<UTC>-<n>` with the first n that is free.
pub(crate) fn fresh_label(plan: &Plan, out: &Path) -> String {
    let base = format!("{}-{}", plan.bench, clock::utc_now_compact());
    let folder = if plan.quick { out.join(layout::QUICK) } else { out.to_owned() };
    (1..1000)
        .map(|n| format!("{base}-{n}"))
        .find(|label| !folder.join(label).exists())
        .unwrap_or(base)
}

/// The options of the command line, for every run's metadata.
fn options(arguments: &RunArguments) -> BTreeMap<String, String> {
    let bench = &arguments.bench;
    let mut options = BTreeMap::from([
        ("bench".to_owned(), bench.bench.display().to_string()),
        ("out".to_owned(), arguments.out.display().to_string()),
        ("quick".to_owned(), bench.quick.to_string()),
        ("resume".to_owned(), arguments.resume.to_string()),
    ]);
    let optional = [
        ("label", arguments.label.clone()),
        ("only", bench.only.clone()),
        ("blocks", bench.blocks.map(|blocks| blocks.to_string())),
        ("extend", arguments.extend.map(|blocks| blocks.to_string())),
        ("rehearse", bench.rehearse.clone()),
        ("set", (!bench.set.is_empty()).then(|| bench.set.join(" "))),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            options.insert(name.to_owned(), value);
        }
    }
    options
}

/// What a quick run says as JSON: nothing that could be taken for a figure.
#[derive(Debug, Serialize)]
struct Quick {
    /// `assay.quick`.
    format: Format,
    /// Always true: this is no measurement.
    quick: bool,
    planned_runs: usize,
    completed_runs: usize,
}

/// A quick run proves the plumbing and shows no table.
fn quick_end(finished: &Finished, arguments: &RunArguments, output: &Output) -> Outcome {
    let quick = Quick {
        format: Format::v1("assay.quick"),
        quick: true,
        planned_runs: finished.planned,
        completed_runs: finished.digested.len(),
    };
    output.result(arguments.json.json.as_ref(), &quick, || {
        format!(
            "quick: {} of {} runs went through; this is no measurement\n",
            quick.completed_runs, quick.planned_runs
        )
    })?;
    output.remark(&format!("kept in {}", finished.dir.display()));
    Ok(if finished.interrupted || finished.left > 0 { Status::Doubtful } else { Status::Done })
}

/// Derives the matrix from the kept digests and writes it beside them.
fn write_matrix(finished: &Finished) -> Result<Matrix, Failure> {
    let mut matrix = evidence::matrix(&finished.dir).map_err(failure)?;
    matrix.parent_cpu_ns = Some(finished.parent_cpu_ns);
    matrix.elapsed_ns = Some(finished.elapsed_ns);
    let written = |path: &Path, result: std::io::Result<()>| {
        result
            .map_err(|error| Failure::failed(format!("cannot write `{}`: {error}", path.display())))
    };
    let path = finished.dir.join(layout::MATRIX_JSON);
    written(&path, layout::write_json(&path, &matrix))?;
    let path = finished.dir.join(layout::MATRIX_MD);
    written(&path, layout::write_atomic(&path, report::matrix_md(&matrix).as_bytes()))?;
    Ok(matrix)
}

fn status(finished: &Finished, matrix: &Matrix, comparison: &Comparison) -> Status {
    let void = |contrast: &Contrast| contrast.primary && contrast.verdict == "void";
    let doubtful = finished.digested.iter().any(|(_, validity)| validity.is_doubtful());
    let kept_doubt = matrix.runs.iter().any(|run| {
        run.kind == "measured" && run.validity.as_ref().is_some_and(record::Validity::is_doubtful)
    });
    let void_contrast = comparison.contrasts.iter().any(void);
    if finished.interrupted || finished.left > 0 || doubtful || kept_doubt || void_contrast {
        Status::Doubtful
    } else {
        Status::Done
    }
}
