//! Figure: every run as a bar over wall time, one line for each block, with its gaps.

use record::State;
use record::compare::MatrixRun;
use record::page::Page;
use record::units::HumanDuration;

use super::axis::AxisUnit;
use super::markup::Markup;
use super::plot::{Drawing, Figure, WIDTH, label, legend, line, rect, told_rect, width_of, x_axis};
use super::scale::Scale;
use super::select::run_name;
use super::table::Table;
use crate::text::{NONE, duration, state};

/// Most lines.
const MOST_LINES: usize = 400;
/// Blocks from which on lines are thin and not all are named.
const MANY: usize = 60;
/// Left and right edge of the plot, px.
const X: [f64; 2] = [206.0, 940.0];
/// A pause longer than this many median runs is cut out and said in words.
const LONG_PAUSE: f64 = 2.0;
/// Width that a pause which was cut out still takes, in median runs.
const CUT_PAUSE: f64 = 0.5;

/// One run with its place in its line.
struct Bar<'a> {
    run: &'a MatrixRun,
    /// Start and end since the start of the line, pauses cut out, ns.
    from_ns: f64,
    to_ns: f64,
    /// Pause before it, as it was, ns; `None` for the first of its line.
    gap_ns: Option<f64>,
    /// Whether that pause was cut out.
    cut: bool,
}

/// One block.
struct Line<'a> {
    block: u32,
    bars: Vec<Bar<'a>>,
}

/// Draws the timeline.
pub(crate) fn figure(markup: &mut Markup, page: &Page) {
    let lines = lines(page);
    let shown = &lines[..lines.len().min(MOST_LINES)];
    let spanless = page.matrix.runs.iter().filter(|run| run.span_ns.is_none()).count();
    let cut = shown.iter().flat_map(|line| &line.bars).any(|bar| bar.cut);
    let mut caption = "One line for each block, one bar for each run from the bring-up of its \
                       target to its end, in the order in which they ran; the numbers are those \
                       of the cells below. Warm-ups are low and empty, void runs are hatched. \
                       What is blank is the gap between runs."
        .to_owned();
    if cut {
        caption.push_str(
            " A gap of more than twice a run is cut out, marked by two strokes, and said in the \
             table.",
        );
    }
    if spanless > 0 {
        caption.push_str(&format!(" {spanless} runs did not come to an end and have no bar."));
    }
    if lines.len() > MOST_LINES {
        caption.push_str(&format!(" {MOST_LINES} of {} blocks are drawn.", lines.len()));
    }
    let figure = Figure { id: "timeline", heading: "When the runs ran", caption: &caption };
    figure.write(markup, |markup| {
        if shown.is_empty() {
            markup.element("p", &[], "No run is complete.");
            return;
        }
        let row = if shown.len() > MANY { 6.0 } else { 18.0 };
        let title = "Runs over time, by block";
        let bars = shown.iter().map(|line| line.bars.len()).sum::<usize>();
        let description = format!(
            "{bars} runs in {} blocks. The table holds start, length and gap.",
            shown.len()
        );
        let drawing = Drawing {
            id: "timeline-0".to_owned(),
            width: WIDTH,
            height: 30.0 + shown.len() as f64 * row + 44.0,
            title,
            description: &description,
        };
        drawing.write(markup, |markup| draw(markup, page, shown, row));
        cells(markup, page);
        table(shown).fold(markup);
    });
}

/// The runs with a span by block, in the order in which they ran.
fn lines(page: &Page) -> Vec<Line<'_>> {
    let mut runs: Vec<(&MatrixRun, [u64; 2])> =
        page.matrix.runs.iter().filter_map(|run| Some((run, run.span_ns?))).collect();
    // The monotonic clock begins anew at a boot; the stamps in UTC do not.
    runs.sort_by(|(a, _), (b, _)| {
        (a.block, &a.started_utc, a.order, &a.path).cmp(&(
            b.block,
            &b.started_utc,
            b.order,
            &b.path,
        ))
    });
    let mut lengths: Vec<f64> =
        runs.iter().map(|(_, [from, to])| to.abs_diff(*from) as f64).collect();
    lengths.sort_by(f64::total_cmp);
    let usual = lengths.get(lengths.len() / 2).copied().unwrap_or(1.0).max(1.0);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut previous_end: Option<u64> = None;
    for (run, [from, to]) in runs {
        // After a boot the clock is behind where it was: then the gap is not known.
        let gap_ns = previous_end.and_then(|end| from.checked_sub(end)).map(|gap| gap as f64);
        let is_new = lines.last().is_none_or(|line| line.block != run.block);
        if is_new {
            lines.push(Line { block: run.block, bars: Vec::new() });
        }
        let line = lines.last_mut().expect("a line was just made");
        let start = line.bars.last().map_or(0.0, |bar| bar.to_ns);
        // The gap before the first run of a line is no part of the line.
        let cut = !is_new && gap_ns.is_none_or(|gap| gap > LONG_PAUSE * usual);
        let room = match gap_ns {
            _ if is_new => 0.0,
            Some(gap) if !cut => gap,
            _ => CUT_PAUSE * usual,
        };
        let from_ns = start + room;
        line.bars.push(Bar {
            run,
            from_ns,
            to_ns: from_ns + to.saturating_sub(from) as f64,
            gap_ns,
            cut,
        });
        previous_end = Some(to);
    }
    lines
}

fn draw(markup: &mut Markup, page: &Page, lines: &[Line<'_>], row: f64) {
    let top = 26.0;
    let bottom = top + lines.len() as f64 * row;
    let longest = lines.iter().filter_map(|line| line.bars.last()).map(|bar| bar.to_ns);
    let x = Scale::exactly(0.0, longest.fold(1.0, f64::max), X);
    label(markup, (8.0, 14.0), X[0] - 14.0, "small-text soft", "block: started (UTC)");
    legend(
        markup,
        (X[0], 14.0),
        &[
            (&|m, (x, y)| rect(m, "bar valid", (x - 9.0, y - 5.0), (x + 9.0, y + 6.0)), "measured"),
            (&|m, (x, y)| rect(m, "bar void", (x - 9.0, y - 5.0), (x + 9.0, y + 6.0)), "void"),
            (
                &|m, (x, y)| rect(m, "bar warm-up", (x - 9.0, y - 2.0), (x + 9.0, y + 3.0)),
                "warm-up",
            ),
        ],
    );
    let unit = AxisUnit::of("ns", x.domain()[1] / 2.0);
    let (ticks, labels) = unit.ticks(&x, 9);
    x_axis(markup, &x, &ticks, &labels, [top, bottom]);
    let words = format!("time since the start of the block, {}", unit.name);
    label(markup, ((X[0] + X[1]) / 2.0, bottom + 34.0), 500.0, "small-text middle", &words);
    for (place, of_block) in lines.iter().enumerate() {
        let y = top + place as f64 * row;
        if row > 10.0 || place % 5 == 0 {
            let started = of_block.bars.first().map_or("", |bar| bar.run.started_utc.as_str());
            let words = format!("{}: {}", of_block.block, short_stamp(started));
            label(markup, (8.0, y + row.min(13.0)), X[0] - 14.0, "small-text figures", &words);
        }
        for bar in &of_block.bars {
            self::bar(markup, page, bar, &x, (y, row));
        }
    }
}

fn bar(markup: &mut Markup, page: &Page, bar: &Bar<'_>, x: &Scale, (y, row): (f64, f64)) {
    let run = bar.run;
    let (from, to) = (x.position(bar.from_ns), x.position(bar.to_ns));
    let (inset, class) = match (run.kind.as_str(), state_of(run)) {
        ("warm_up", _) => (row * 0.3, "bar warm-up"),
        (_, Some(State::Void) | None) => (row * 0.1, "bar void"),
        _ => (row * 0.1, "bar valid"),
    };
    let tooltip = format!("{}: {}", run_name(run), length(bar));
    // A hair narrower, so that two runs without a gap are still two bars.
    let right = if to - from > 3.0 { to - 0.6 } else { to };
    told_rect(markup, class, (from, y + inset), (right, y + row - inset), &tooltip);
    let number = cell_number(page, &run.cell).map(|number| number.to_string()).unwrap_or_default();
    if class != "bar warm-up" && row > 10.0 && to - from > width_of(&number) + 2.0 {
        let at = ((from + to) / 2.0, y + row - inset - 3.5);
        let class = if class == "bar void" { "on-void middle" } else { "on-bar middle" };
        label(markup, at, 40.0, class, &number);
    }
    if bar.cut {
        for shift in [-7.0, -3.0] {
            line(
                markup,
                "zero",
                (from + shift - 2.0, y + row - 3.0),
                (from + shift + 2.0, y + 3.0),
            );
        }
    }
}

fn state_of(run: &MatrixRun) -> Option<State> {
    run.validity.as_ref().map(|validity| validity.state)
}

fn length(bar: &Bar<'_>) -> String {
    let ran = HumanDuration(bar.to_ns - bar.from_ns);
    match bar.gap_ns {
        Some(gap) => format!("{ran}, after a gap of {}", HumanDuration(gap)),
        None => ran.to_string(),
    }
}

/// The number of a cell, from 1.
fn cell_number(page: &Page, cell: &str) -> Option<usize> {
    page.cells.iter().position(|known| known.name == cell).map(|place| place + 1)
}

/// `2026-11-30 11:46:14` of an RFC 3339 stamp in UTC.
fn short_stamp(stamp: &str) -> String {
    stamp.trim_end_matches('Z').replacen('T', " ", 1)
}

/// Which number is which cell.
fn cells(markup: &mut Markup, page: &Page) {
    markup.open("ol", &[("class", &"cells"), ("aria-label", &"numbers of the cells")]);
    for cell in &page.cells {
        markup.element("li", &[], &cell.name);
    }
    markup.close();
}

fn table(lines: &[Line<'_>]) -> Table {
    let mut table = Table::new(
        "start, length and gap of every run",
        &["run", "#block", "#order", "kind", "state", "started (UTC)", "#length", "#gap before"],
    );
    for bar in lines.iter().flat_map(|line| &line.bars) {
        let run = bar.run;
        let gap = bar.gap_ns.map(|gap| gap as u64);
        table.row(vec![
            run_name(run).to_owned(),
            run.block.to_string(),
            run.order.to_string(),
            run.kind.replace('_', "-"),
            state_of(run).map_or(NONE, state).to_owned(),
            run.started_utc.clone(),
            HumanDuration(bar.to_ns - bar.from_ns).to_string(),
            duration(gap),
        ]);
    }
    table
}
