//! Figure: every run as a dot by cell and block, with the median of its cell and its interval.

use record::State;
use record::compare::{CellRow, MatrixRun};
use record::page::Page;

use super::axis::AxisUnit;
use super::markup::Markup;
use super::plot::{Drawing, Figure, Mark, WIDTH, label, legend, line, mark, rect, x_axis};
use super::scale::Scale;
use super::select::{gates, groups, measured, nature, primaries, run_name, state_of};
use super::table::Table;
use crate::text::{NONE, in_unit, state};

/// Most cells in one drawing.
const MOST_CELLS: usize = 24;
/// Most drawings.
const MOST_DRAWINGS: usize = 12;
/// Most dots over all drawings.
const MOST_DOTS: usize = 6_000;

/// Blocks from which on rows are taller and marks smaller.
const MANY: u32 = 40;

/// Left edge of the plot, its right edge, the place of runs without one, and of the words, px.
const COLUMNS: [f64; 4] = [216.0, 716.0, 740.0, 764.0];

/// Draws the runs of the primary metrics.
pub(crate) fn figure(markup: &mut Markup, page: &Page) {
    let runs = measured(page);
    let drawings: Vec<(&str, super::select::Group<'_>)> = primaries(page)
        .into_iter()
        .flat_map(|metric| groups(page, MOST_CELLS).into_iter().map(move |group| (metric, group)))
        .collect();
    let mut caption = "One mark for each measured run, block 1 at the top of its row and later \
                       blocks below; warm-ups are not shown. The line is the median of the valid \
                       runs, the shaded area its interval by order statistics. A void run has a \
                       cross; beside the plot when it has no figure or one far outside."
        .to_owned();
    if drawings.len() > MOST_DRAWINGS {
        caption.push_str(&format!(
            " {} of {} drawings are shown; the others are in matrix.json.",
            MOST_DRAWINGS,
            drawings.len()
        ));
    }
    if runs.len() * primaries(page).len() > MOST_DOTS {
        caption.push_str(&format!(" The first {MOST_DOTS} marks are drawn."));
    }
    let figure = Figure { id: "runs", heading: "Every run", caption: &caption };
    figure.write(markup, |markup| {
        if drawings.is_empty() {
            markup.element("p", &[], "No measured run is complete.");
        }
        let mut dots_left = MOST_DOTS;
        for (place, (metric, group)) in drawings.iter().take(MOST_DRAWINGS).enumerate() {
            let view = View::new(page, metric, &group.cells, &runs);
            let title = format!("Runs by cell: {}", group.name(metric));
            let (points, void) = (view.points(), view.voids());
            let description = format!(
                "{} runs of {} cells in {metric}, {void} of them void. The table holds the figures.",
                points,
                group.cells.len()
            );
            let drawing = Drawing {
                id: format!("runs-{place}"),
                width: WIDTH,
                height: view.bottom() + 44.0,
                title: &title,
                description: &description,
            };
            drawing.write(markup, |markup| view.draw(markup, &title, &mut dots_left));
        }
        table(&runs).fold(markup);
    });
}

/// One drawing.
struct View<'a> {
    metric: &'a str,
    unit: &'a str,
    better: &'static str,
    rows: Vec<Row<'a>>,
    scale: Scale,
    blocks: u32,
}

/// One cell.
struct Row<'a> {
    cell: &'a str,
    summary: Option<&'a CellRow>,
    runs: Vec<&'a MatrixRun>,
    top: f64,
    bottom: f64,
}

impl<'a> View<'a> {
    fn new(page: &'a Page, metric: &'a str, cells: &[&'a str], runs: &[&'a MatrixRun]) -> Self {
        let blocks = runs.iter().map(|run| run.block).max().unwrap_or(1);
        let height = match blocks {
            many @ MANY.. => (f64::from(many) * 1.2).clamp(76.0, 160.0),
            few => (f64::from(few) * 4.0).clamp(22.0, 76.0),
        };
        let mut top = 44.0;
        let mut rows = Vec::new();
        for cell in cells {
            let summary = page.matrix.tables.cells.iter();
            rows.push(Row {
                cell,
                summary: summary.clone().find(|row| row.cell == *cell && row.metric == metric),
                runs: runs.iter().copied().filter(|run| run.cell == *cell).collect(),
                top,
                bottom: top + height,
            });
            top += height + 10.0;
        }
        let (unit, better) = nature(page, metric);
        let valid = rows.iter().flat_map(|row| &row.runs).filter_map(|run| {
            let usable = state_of(run, metric) != State::Void;
            run.metrics.get(metric)?.value.filter(|_| usable)
        });
        let bounds = rows.iter().filter_map(|row| row.summary?.interval).flatten();
        let values: Vec<f64> = valid.chain(bounds).collect();
        let scale = Scale::linear(values, [COLUMNS[0], COLUMNS[1]]);
        Self { metric, unit, better, rows, scale, blocks }
    }

    fn bottom(&self) -> f64 {
        self.rows.last().map_or(44.0, |row| row.bottom + 4.0)
    }

    fn points(&self) -> usize {
        self.rows.iter().map(|row| row.runs.len()).sum()
    }

    fn voids(&self) -> usize {
        let runs = self.rows.iter().flat_map(|row| &row.runs);
        runs.filter(|run| state_of(run, self.metric) == State::Void).count()
    }

    fn draw(&self, markup: &mut Markup, title: &str, dots_left: &mut usize) {
        label(markup, (8.0, 14.0), 300.0, "strong", title.trim_start_matches("Runs by cell: "));
        legend(
            markup,
            (320.0, 14.0),
            &[
                (&|m, at| mark(m, Mark::Filled, at, "", ""), "valid"),
                (&|m, at| mark(m, Mark::Bound, at, "", ""), "only a bound"),
                (&|m, at| mark(m, Mark::Void, at, "", ""), "void"),
                (
                    &|m, (x, y)| {
                        rect(m, "interval", (x - 8.0, y - 6.0), (x + 8.0, y + 6.0));
                        line(m, "median", (x, y - 6.0), (x, y + 6.0));
                    },
                    "median and interval",
                ),
            ],
        );
        let unit = AxisUnit::of(self.unit, self.scale.domain()[1]);
        let (ticks, labels) = unit.ticks(&self.scale, 7);
        x_axis(markup, &self.scale, &ticks, &labels, [36.0, self.bottom()]);
        let words = if unit.name.is_empty() {
            format!("{} ({})", self.metric, self.better)
        } else {
            format!("{}, {} ({})", self.metric, unit.name, self.better)
        };
        let centre = (COLUMNS[0] + COLUMNS[1]) / 2.0;
        label(markup, (centre, self.bottom() + 34.0), 480.0, "small-text middle", &words);
        for row in &self.rows {
            self.row(markup, row, dots_left);
        }
    }

    fn row(&self, markup: &mut Markup, row: &Row<'_>, dots_left: &mut usize) {
        let middle = (row.top + row.bottom) / 2.0;
        label(markup, (8.0, middle + 4.0), COLUMNS[0] - 16.0, "row", row.cell);
        line(markup, "rule", (COLUMNS[0], row.bottom + 5.0), (COLUMNS[1], row.bottom + 5.0));
        let summary = row.summary;
        if let Some([low, high]) = summary.and_then(|summary| summary.interval) {
            let (from, to) = (self.scale.position(low), self.scale.position(high));
            rect(markup, "interval", (from, row.top), (to, row.bottom));
        }
        for run in row.runs.iter().take(*dots_left) {
            self.dot(markup, row, run);
        }
        // Above the marks, which hide it where there are many.
        let median = summary.and_then(|summary| summary.median);
        if let Some(median) = median {
            let x = self.scale.position(median);
            line(markup, "median", (x, row.top - 3.0), (x, row.bottom + 3.0));
        }
        *dots_left -= row.runs.len().min(*dots_left);
        let valid =
            row.runs.iter().filter(|run| state_of(run, self.metric) == State::Valid).count();
        let counts = format!("{valid} of {} valid", row.runs.len());
        let width = WIDTH - COLUMNS[3];
        match median {
            Some(median) => {
                let text = format!("median {}", in_unit(Some(median), self.unit));
                label(markup, (COLUMNS[3], middle - 2.0), width, "small-text", &text);
                label(markup, (COLUMNS[3], middle + 12.0), width, "small-text soft", &counts);
            }
            None => label(markup, (COLUMNS[3], middle + 4.0), width, "small-text soft", &counts),
        }
    }

    fn dot(&self, markup: &mut Markup, row: &Row<'_>, run: &MatrixRun) {
        let share = (f64::from(run.block) - 0.5) / f64::from(self.blocks.max(1));
        let y = row.top + share.clamp(0.0, 1.0) * (row.bottom - row.top);
        let value = run.metrics.get(self.metric).and_then(|metric| metric.value);
        let known = state_of(run, self.metric);
        let inside = value.filter(|value| self.scale.holds(*value));
        let x = inside.map_or(COLUMNS[2], |value| self.scale.position(value));
        let shape = match known {
            State::Valid => Mark::Filled,
            State::AtLeast | State::Censored => Mark::Bound,
            State::Void => Mark::Void,
        };
        let tooltip = format!("{}: {}, {}", run_name(run), in_unit(value, self.unit), state(known));
        let class = if self.blocks >= MANY { "run tiny" } else { "run" };
        mark(markup, shape, (x, y), class, &tooltip);
    }
}

/// Every run with its figures and what is said against it.
fn table(runs: &[&MatrixRun]) -> Table {
    let mut table = Table::new(
        "every measured run",
        &[
            "run",
            "#block",
            "#order",
            "cell",
            "state",
            "#throughput",
            "#p50",
            "#p99",
            "gates and flags",
        ],
    );
    for run in runs {
        let figure = |metric: &str| match run.metrics.get(metric) {
            Some(_) if state_of(run, metric) == State::Void => "void".to_owned(),
            Some(known) => in_unit(known.value, &known.unit),
            None => NONE.to_owned(),
        };
        let word = run.validity.as_ref().map_or("incomplete", |validity| state(validity.state));
        table.row(vec![
            run_name(run).to_owned(),
            run.block.to_string(),
            run.order.to_string(),
            run.cell.clone(),
            word.to_owned(),
            figure("throughput"),
            figure("p50"),
            figure("p99"),
            gates(run),
        ]);
    }
    table
}
