//! `matrix.md`: the table of a label.

use record::compare::{Comparison, Contrast, LeftOut, Matrix, MatrixRun, Tables};

use crate::compare::{Show, arms, hosts};
use crate::contrasts::{details, geomeans, level, of_hosts, pair_tables, percent, ratio, verdict};
use crate::doubts::doubts;
use crate::grid::Grid;
use crate::tables as beside;
use crate::text::{NONE, cell, duration, in_unit, interval_of, state};

/// Most runs that are listed one by one; the rest stays in `matrix.json`.
const MOST_RUNS: usize = 400;

/// Renders a matrix as Markdown: contrasts of the primary metrics first, the doubts, geometric
/// means and pairs, the other metrics, and every run with its state.
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
    let page = Sections {
        contrasts: &matrix.contrasts,
        tables: &matrix.tables,
        left_out: &[],
        notes: &matrix.notes,
    };
    text.push_str(&page.render());
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

/// Renders a comparison as Markdown, in the sections of `matrix.md` without its runs.
#[must_use]
pub fn comparison_md(comparison: &Comparison) -> String {
    let page = Sections {
        contrasts: &comparison.contrasts,
        tables: &comparison.tables,
        left_out: &comparison.left_out,
        notes: &comparison.notes,
    };
    format!("# Comparison {}\n{}", comparison.label, page.render())
}

/// What a matrix and a comparison show alike.
struct Sections<'a> {
    contrasts: &'a [Contrast],
    tables: &'a Tables,
    left_out: &'a [LeftOut],
    notes: &'a [String],
}

impl Sections<'_> {
    /// Contrasts of the primary metrics first, the doubts, geometric means, then the other
    /// metrics, what stands behind the verdicts, and every pair.
    fn render(&self) -> String {
        let hosts_of = &self.tables.hosts;
        let primary: Vec<&Contrast> = self.contrasts.iter().filter(|c| c.primary).collect();
        let others: Vec<&Contrast> = self.contrasts.iter().filter(|c| !c.primary).collect();
        let all: Vec<&Contrast> = self.contrasts.iter().collect();
        let mut text = String::new();
        let heads: Vec<String> = hosts(self.tables).into_iter().chain(arms(&primary)).collect();
        if !heads.is_empty() {
            text.push('\n');
        }
        for line in &heads {
            text.push_str(&format!("- {}\n", cell(line)));
        }
        text.push_str(&beside::before_md(self.tables));
        text.push_str(&format!("\n## Contrasts{}\n\n", of_hosts(hosts_of)));
        text.push_str(ORIENTATION);
        text.push_str(&contrasts(&primary));
        let lines = doubts(self.contrasts, Show::Primary, self.left_out, self.tables, self.notes);
        if !lines.is_empty() {
            text.push_str("\n## Doubts and notes\n\n");
            for line in lines {
                text.push_str(&format!("- {}\n", line.replace('\n', " ")));
            }
        }
        text.push_str(&section("Geometric means", &geomeans(&self.tables.geomeans, hosts_of)));
        text.push_str(&section("Pairs", &pair_tables(&primary, hosts_of)));
        if !others.is_empty() {
            text.push_str(&format!(
                "\n## Other metrics (exploratory){}\n\n{ORIENTATION}",
                of_hosts(hosts_of)
            ));
            text.push_str(&contrasts(&others));
        }
        text.push_str(&section("Behind the verdicts", &details(&all, hosts_of, true)));
        text.push_str(&beside::after_md(self.tables, self.contrasts));
        text
    }
}

/// A section of tables; nothing without any.
fn section(title: &str, grids: &[Grid]) -> String {
    if grids.is_empty() {
        return String::new();
    }
    let tables: Vec<String> = grids.iter().map(|grid| format!("\n{}", grid.markdown(3))).collect();
    format!("\n## {title}\n{}", tables.concat())
}

/// Which way every ratio points.
const ORIENTATION: &str = "Ratio = level / baseline, above 1 means more of the metric; effects, \
                           intervals and margins in % of the baseline.\n\n";

fn contrasts(rows: &[&Contrast]) -> String {
    if rows.is_empty() {
        return "None.\n".to_owned();
    }
    let header = [
        "factor",
        "cell",
        "level / baseline",
        "metric",
        "baseline",
        "level",
        "ratio",
        "effect",
        "interval",
        "n",
        "significant",
        "matters",
        "verdict",
        "flags",
    ];
    let mut grid = Grid::new("", &header, "llllrrrrlrllll");
    let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let mut rows = rows.to_vec();
    // Stable, so that factors, metrics and cells keep their order within a kind.
    rows.sort_by_key(|row| (!row.null, row.positive.is_none()));
    for row in rows {
        grid.rows.push(vec![
            row.factor.clone(),
            row.cell.clone(),
            format!("{} / {}", level(row), row.baseline),
            row.metric.clone(),
            in_unit(row.baseline_value, &row.unit),
            in_unit(row.level_value, &row.unit),
            ratio(row.ratio),
            percent(row.effect_percent),
            interval_of(row.interval_percent),
            row.pairs.to_string(),
            word(row.significant),
            row.matters.map_or_else(|| NONE.to_owned(), word),
            verdict(row),
            row.flags.join(", "),
        ]);
    }
    grid.markdown_table()
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
