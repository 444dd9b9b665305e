//! The matrix of a label: every run directory, what counts, and all contrasts. `matrix.json`.

use std::collections::BTreeMap;
use std::path::Path;

use record::compare::{Comparison, Matrix, MatrixRun};
use record::digest::Digest;
use record::plan::RunKind;
use record::{Format, layout};

use crate::compare::{CompareOptions, compare_runs, runs::Runs};
use crate::error::EvidenceError;

/// Builds the matrix of a label directory from its digests and its plan. Nothing is written.
///
/// # Errors
/// As [`crate::compare()`].
pub fn matrix(dir: &Path) -> Result<Matrix, EvidenceError> {
    let runs = Runs::read(dir)?;
    let comparison = compare_runs(&runs, &CompareOptions::default())?;
    Ok(of_comparison(&runs, comparison))
}

/// The matrix of runs that are read and compared already.
pub(crate) fn of_comparison(runs: &Runs, comparison: Comparison) -> Matrix {
    let (measured, _) = runs.measured();
    let plan = runs.plan.as_ref();
    let planned = plan.map_or(measured.len(), |plan| {
        plan.runs.iter().filter(|run| run.kind == RunKind::Measured).count()
    });
    let mut notes = plan.map(|plan| plan.notes.clone()).unwrap_or_default();
    notes.extend(comparison.notes);
    if measured.len() < planned {
        notes.push(format!(
            "{} of {planned} planned runs are complete; `--resume` completes the rest",
            measured.len()
        ));
    }
    Matrix {
        format: Format::v1("assay.matrix"),
        label: runs.label.clone(),
        bench: plan.map(|plan| plan.bench.clone()).unwrap_or_default(),
        planned_runs: planned as u32,
        completed_runs: measured.len() as u32,
        runs: runs.all.iter().map(|(name, digest)| row(name, digest.as_ref())).collect(),
        contrasts: comparison.contrasts,
        tables: comparison.tables,
        skipped: plan.map(|plan| plan.skipped.clone()).unwrap_or_default(),
        notes,
        parent_cpu_ns: None,
        elapsed_ns: None,
    }
}

fn row(name: &str, digest: Option<&Digest>) -> MatrixRun {
    let path = format!("{}/{name}", layout::RUNS);
    let Some(digest) = digest else {
        // All that a directory without a digest says is its name.
        let mut parts = name.splitn(3, '-');
        let mut number = || {
            let part = parts.next().unwrap_or_default().trim_end_matches('w');
            part.parse().unwrap_or_default()
        };
        let (block, order) = (number(), number());
        let cell = parts.next().unwrap_or_default().to_owned();
        return MatrixRun {
            path,
            block,
            order,
            cell,
            levels: BTreeMap::new(),
            validity: None,
            kind: "incomplete".to_owned(),
            previous_cell: None,
            span_ns: None,
            started_utc: String::new(),
            metrics: BTreeMap::new(),
        };
    };
    let kind = match digest.kind {
        RunKind::Measured => "measured",
        RunKind::WarmUp => "warm_up",
    };
    MatrixRun {
        path,
        block: digest.block,
        order: digest.order,
        cell: digest.cell.clone(),
        levels: digest.levels.iter().map(|l| (l.factor.clone(), l.level.clone())).collect(),
        validity: Some(digest.validity.clone()),
        kind: kind.to_owned(),
        previous_cell: digest.previous_cell.clone(),
        span_ns: span_of(digest),
        started_utc: digest.started_utc.clone(),
        metrics: digest.metrics.clone(),
    }
}

/// From the start of a run to the last instant that it recorded. A target that serves several
/// runs was ready long before most of them, so that the earliest instant is not the start; older
/// runs did not record theirs, and the start of the load stands in.
pub(crate) fn span_of(digest: &Digest) -> Option<[u64; 2]> {
    let instants = &digest.instants_ns;
    let start =
        ["run_start", "load_start", "window_start"].iter().find_map(|name| instants.get(*name));
    let start = *start.or(instants.values().min())?;
    Some([start, instants.values().copied().max()?.max(start)])
}
