//! `matrix.md`: the table of a label.

use record::compare::{Contrast, Matrix, MatrixRun};

use crate::compare::{Show, doubts, interval, verdict};
use crate::tables;
use crate::text::{NONE, cell, duration, in_unit, signed_percent, state};

/// Most runs that are listed one by one; the rest stays in `matrix.json`.
const MOST_RUNS: usize = 400;

/// Renders a matrix as Markdown: contrasts of the primary metrics first, then the other
/// metrics, the doubts, and every run with its state.
#[must_use]
pub fn matrix_md(matrix: &Matrix) -> String {
    let mut text = format!("# Matrix {}\n\n", matrix.label);
    let bench = if matrix.bench.is_empty() { NONE } else { &matrix.bench };
    text.push_str(&format!(
        "Bench {bench}: {} of {} runs complete.",
        matrix.completed_runs, matrix.planned_runs
    ));
    if let Some(elapsed) = matrix.elapsed_ns {
        text.push_str(&format!(" Took {}", duration(Some(elapsed))));
        if let Some(cpu) = matrix.parent_cpu_ns.filter(|_| elapsed > 0) {
            let share = cpu as f64 / elapsed as f64;
            text.push_str(&format!(", of which the parent used {:.3} cores", share));
        }
        text.push('.');
    }
    text.push('\n');
    text.push_str(&tables::before_md(&matrix.tables));
    text.push_str("\n## Contrasts\n\n");
    text.push_str(&contrasts(&matrix.contrasts, true));
    let lines = doubts(&matrix.contrasts, Show::Primary, &[], &matrix.notes);
    if !lines.is_empty() {
        text.push_str("\n## Doubts and notes\n\n");
        for line in lines {
            text.push_str(&format!("- {}\n", line.replace('\n', " ")));
        }
    }
    if matrix.contrasts.iter().any(|contrast| !contrast.primary) {
        text.push_str("\n## Other metrics (exploratory)\n\n");
        text.push_str(&contrasts(&matrix.contrasts, false));
    }
    text.push_str(&tables::after_md(&matrix.tables, &matrix.contrasts));
    text.push_str("\n## Runs\n\n");
    text.push_str(&runs(&matrix.runs));
    if !matrix.skipped.is_empty() {
        text.push_str("\n## Cells that were not run\n\n");
        for skipped in &matrix.skipped {
            text.push_str(&format!("- {}: {}\n", skipped.cell, cell(&skipped.why)));
        }
    }
    text
}

fn contrasts(contrasts: &[Contrast], primary: bool) -> String {
    let rows: Vec<&Contrast> = contrasts.iter().filter(|c| c.primary == primary).collect();
    if rows.is_empty() {
        return "None.\n".to_owned();
    }
    let mut text = "| factor | cell | level / baseline | metric | baseline | level | ratio | \
                    effect | 95 % interval | n | verdict | flags |\n"
        .to_owned();
    text.push_str("|---|---|---|---|---:|---:|---:|---:|---|---:|---|---|\n");
    for row in rows {
        let values = [
            cell(&row.factor),
            cell(&row.cell),
            format!("{} / {}", row.level, row.baseline),
            row.metric.clone(),
            in_unit(row.baseline_value, &row.unit),
            in_unit(row.level_value, &row.unit),
            row.ratio.map_or_else(|| NONE.to_owned(), |ratio| format!("{ratio:.4}")),
            row.effect_percent.map_or_else(|| NONE.to_owned(), signed_percent),
            interval(row),
            row.pairs.to_string(),
            verdict(row),
            row.flags.join(", "),
        ];
        text.push_str(&format!("| {} |\n", values.join(" | ")));
    }
    text
}

fn runs(runs: &[MatrixRun]) -> String {
    let mut text = "| run | state | throughput | p50 | p99 | reasons |\n".to_owned();
    text.push_str("|---|---|---:|---:|---:|---|\n");
    for run in runs.iter().take(MOST_RUNS) {
        let (word, reasons) = match (&run.validity, run.kind.as_str()) {
            (None, _) => ("incomplete".to_owned(), "no digest.json".to_owned()),
            (Some(validity), kind) => {
                let mut gates: Vec<&str> =
                    validity.reasons.iter().map(|reason| reason.gate.as_str()).collect();
                gates.dedup();
                let word = match kind {
                    "warm_up" => format!("warm-up, {}", state(validity.state)),
                    _ => state(validity.state).to_owned(),
                };
                (word, gates.join(", "))
            }
        };
        let metric = |name: &str| match run.metrics.get(name) {
            Some(metric) if metric.state == record::State::Void => "void".to_owned(),
            Some(metric) => in_unit(metric.value, &metric.unit),
            None => NONE.to_owned(),
        };
        text.push_str(&format!(
            "| {} | {word} | {} | {} | {} | {reasons} |\n",
            cell(run.path.trim_start_matches("runs/")),
            metric("throughput"),
            metric("p50"),
            metric("p99"),
        ));
    }
    if runs.len() > MOST_RUNS {
        text.push_str(&format!("\nand {} more runs in `matrix.json`\n", runs.len() - MOST_RUNS));
    }
    text
}
