//! Figure: throughput and latency second by second, one small drawing for each run, with the
//! gates that tripped and the second at which something broke.

use record::Effect;
use record::page::{Page, RunSeries, SecondFigures, SeriesMark};

use super::axis::{AxisUnit, time_labels};
use super::markup::{Markup, path};
use super::plot::{Drawing, Figure, label, line, x_axis, y_axis};
use super::scale::Scale;
use super::table::Table;
use crate::text::{NONE, count, duration};

/// Size of a small drawing, px.
const SIZE: [f64; 2] = [240.0, 150.0];
/// Left and right edge of both plots, px.
const X: [f64; 2] = [54.0, 230.0];
/// Top and bottom of the plot of throughput, px.
const THROUGHPUT: [f64; 2] = [32.0, 68.0];
/// Top and bottom of the plot of latency, px.
const LATENCY: [f64; 2] = [82.0, 132.0];
/// Columns of pixels of a line; more seconds are thinned to the smallest and largest of each.
const COLUMNS: usize = 176;

/// What a line shows of a second.
type Value = fn(&SecondFigures) -> Option<f64>;

/// The scales that all runs of one cell share.
struct Scales {
    seconds: Scale,
    throughput: Scale,
    latency: Scale,
}

/// Draws the series, those of one cell on one scale.
pub(crate) fn figure(markup: &mut Markup, page: &Page) {
    let with_series = || page.series.iter().filter(|run| !run.seconds.is_empty());
    let shown = with_series().count();
    let mut caption = "Over the seconds of the window: successes per second above; below the \
                       median (full line) and the 99th percentile (dashed line above it) of the \
                       latency of each second on a logarithmic scale. Drawings of one cell share \
                       their scales. An upright dashed line with a name marks the second at which \
                       a check broke. A line has a gap where a second has too few requests for \
                       the percentile."
        .to_owned();
    if page.series_left > 0 {
        caption.push_str(&format!(
            " {} of {} runs are shown, those with a tripped gate first, then by block; the seconds \
             of the other {} are in their load.json.",
            page.series.len(),
            page.series.len() + page.series_left as usize,
            page.series_left
        ));
    }
    let without = page.series.len() - shown;
    if without > 0 {
        caption.push_str(&format!(" {without} runs have no whole second and no drawing."));
    }
    if with_series().any(|run| run.seconds.len() > COLUMNS) {
        caption.push_str(&format!(
            " Series of more than {COLUMNS} seconds are thinned: each column of pixels spans the \
             smallest and the largest of its seconds."
        ));
    }
    let figure = Figure { id: "series", heading: "Second by second", caption: &caption };
    figure.write(markup, |markup| {
        if shown == 0 {
            markup.element("p", &[], "No run has a series of whole seconds.");
            return;
        }
        markup.open("div", &[("class", &"multiples")]);
        let mut place = 0;
        for cell in &page.cells {
            let runs: Vec<&RunSeries> = with_series().filter(|run| run.cell == cell.name).collect();
            let scales = scales(&runs);
            for run in runs {
                let title = format!("{}, block {}", run.cell, run.block);
                let drawing = Drawing {
                    id: format!("series-{place}"),
                    width: SIZE[0],
                    height: SIZE[1],
                    title: &format!("Run {} second by second", run.run),
                    description: &sentence(run),
                };
                drawing.write(markup, |markup| draw(markup, &title, run, &scales));
                place += 1;
            }
        }
        markup.close();
        table(page).fold(markup);
    });
}

fn scales(runs: &[&RunSeries]) -> Scales {
    let seconds = || runs.iter().flat_map(|run| &run.seconds);
    let longest = runs.iter().map(|run| run.seconds.len()).max().unwrap_or(1);
    let most = seconds().map(|second| second.succeeded).max().unwrap_or(1) as f64;
    let latencies = seconds().flat_map(|second| [second.p50_ns, second.p99_ns]).flatten();
    Scales {
        seconds: Scale::exactly(0.0, longest as f64, X),
        throughput: Scale::exactly(0.0, (most * 1.1).max(1.0), [THROUGHPUT[1], THROUGHPUT[0]]),
        latency: Scale::log(latencies.map(|ns| ns as f64), [LATENCY[1], LATENCY[0]]),
    }
}

/// What a series says in a sentence.
fn sentence(run: &RunSeries) -> String {
    let rates = run.seconds.iter().map(|second| second.succeeded);
    let (least, most) = (rates.clone().min().unwrap_or(0), rates.max().unwrap_or(0));
    let mut text = format!(
        "{} seconds, between {} and {} successes per second",
        run.seconds.len(),
        count(least),
        count(most)
    );
    for mark in &run.marks {
        text.push_str(&format!("; {}", mark_words(mark)));
    }
    text
}

fn mark_words(mark: &SeriesMark) -> String {
    match mark.second {
        Some(second) => format!("{} ({}) at second {second}", mark.gate, effect(mark.effect)),
        None => format!("{} ({})", mark.gate, effect(mark.effect)),
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Flag => "flag",
        Effect::AtLeast => "at least",
        Effect::Censor => "censored",
        Effect::Void => "void",
    }
}

fn draw(markup: &mut Markup, title: &str, run: &RunSeries, scales: &Scales) {
    label(markup, (4.0, 12.0), SIZE[0] - 8.0, "strong", title);
    let gates = gates(run);
    if !gates.is_empty() {
        label(markup, (4.0, 25.0), SIZE[0] - 8.0, "small-text", &gates);
    }
    let ticks = scales.throughput.ticks(3);
    let unit = AxisUnit::of("", 0.0);
    let labels = unit.labels(&ticks).into_iter().map(|label| format!("{label}/s"));
    y_axis(markup, &scales.throughput, &ticks, &labels.collect::<Vec<_>>(), X);
    let ticks = scales.latency.ticks(3);
    y_axis(markup, &scales.latency, &ticks, &time_labels(&ticks), X);
    let ticks: Vec<f64> =
        scales.seconds.ticks(5).into_iter().filter(|tick| tick.fract() == 0.0).collect();
    x_axis(markup, &scales.seconds, &ticks, &unit.labels(&ticks), [LATENCY[0], LATENCY[1]]);
    let rate: Value = |second| Some(second.succeeded as f64);
    let p99: Value = |second| second.p99_ns.map(|ns| ns as f64);
    let p50: Value = |second| second.p50_ns.map(|ns| ns as f64);
    let lines = [
        ("line rate", &scales.throughput, rate),
        ("line p99", &scales.latency, p99),
        ("line p50", &scales.latency, p50),
    ];
    for (class, scale, value) in lines {
        let thin = if run.seconds.len() > COLUMNS { " thin" } else { "" };
        let points = points(&run.seconds, &scales.seconds, scale, value);
        if points.iter().any(Option::is_some) {
            markup.empty("path", &[("class", &format!("{class}{thin}")), ("d", &path(&points))]);
        }
    }
    if run.seconds.iter().all(|second| second.p99_ns.is_none()) {
        let words = "too few a second for p99";
        label(markup, (X[0] + 4.0, LATENCY[0] + 12.0), X[1] - X[0], "tick soft", words);
    }
    breaks(markup, run, &scales.seconds);
}

/// The checks that broke at no known second: `void: failures, accounting`.
fn gates(run: &RunSeries) -> String {
    let mut texts: Vec<String> = Vec::new();
    for power in [Effect::Void, Effect::Censor, Effect::AtLeast, Effect::Flag] {
        let of = |mark: &&SeriesMark| mark.second.is_none() && mark.effect == power;
        let names: Vec<&str> = run.marks.iter().filter(of).map(|mark| &*mark.gate).collect();
        if !names.is_empty() {
            texts.push(format!("{}: {}", effect(power), names.join(", ")));
        }
    }
    texts.join("; ")
}

/// The seconds at which something broke, their names at the side where there is room.
fn breaks(markup: &mut Markup, run: &RunSeries, seconds: &Scale) {
    let mut lines = 0.0;
    for (mark, second) in run.marks.iter().filter_map(|mark| Some((mark, mark.second?))) {
        let x = seconds.position(second as f64 + 0.5);
        line(markup, "break", (x, THROUGHPUT[0] - 4.0), (x, LATENCY[1]));
        let y = THROUGHPUT[0] + 6.0 + lines;
        if x < (X[0] + X[1]) / 2.0 {
            label(markup, (x + 4.0, y), X[1] - x - 4.0, "tick halo", &mark.gate);
        } else {
            label(markup, (x - 4.0, y), x - X[0] - 4.0, "tick halo end", &mark.gate);
        }
        lines += 12.0;
    }
}

/// The points of a line: each second at its middle, or where there are more seconds than columns
/// of pixels the smallest and the largest of each column. A second without a value is a gap.
fn points(
    seconds: &[SecondFigures],
    x: &Scale,
    y: &Scale,
    value: Value,
) -> Vec<Option<(f64, f64)>> {
    let middle = |second: usize| x.position(second as f64 + 0.5);
    if seconds.len() <= COLUMNS {
        let at = |(second, figures)| Some((middle(second), y.position(value(figures)?)));
        let mut points: Vec<Option<(f64, f64)>> = seconds.iter().enumerate().map(at).collect();
        if let [Some(only)] = points[..] {
            // A line needs two ends; a second is as long as its column.
            points = vec![Some((x.position(0.0), only.1)), Some((x.position(1.0), only.1))];
        }
        return points;
    }
    let length = seconds.len().div_ceil(COLUMNS);
    let mut points = Vec::new();
    for (column, part) in seconds.chunks(length).enumerate() {
        let at = middle(column * length + part.len() / 2);
        let values: Vec<f64> = part.iter().filter_map(value).collect();
        let Some(first) = values.first() else {
            points.push(None);
            continue;
        };
        let least = values.iter().copied().fold(*first, f64::min);
        let most = values.iter().copied().fold(*first, f64::max);
        points.push(Some((at, y.position(least))));
        points.push(Some((at, y.position(most))));
    }
    points
}

fn table(page: &Page) -> Table {
    let mut table = Table::new(
        "series of the runs that are shown",
        &[
            "run",
            "cell",
            "#seconds",
            "#least per second",
            "#most per second",
            "#failures",
            "#lowest p50",
            "#highest p50",
            "#highest p99",
            "checks that broke",
        ],
    );
    for run in &page.series {
        let rates = || run.seconds.iter().map(|second| second.succeeded);
        let p50 = || run.seconds.iter().filter_map(|second| second.p50_ns);
        let p99 = run.seconds.iter().filter_map(|second| second.p99_ns).max();
        let counted = |value: Option<u64>| value.map_or_else(|| NONE.to_owned(), count);
        let marks: Vec<String> = run.marks.iter().map(mark_words).collect();
        table.row(vec![
            run.run.clone(),
            run.cell.clone(),
            run.seconds.len().to_string(),
            counted(rates().min()),
            counted(rates().max()),
            count(run.seconds.iter().map(|second| second.failed).sum()),
            duration(p50().min()),
            duration(p50().max()),
            duration(p99),
            if marks.is_empty() { NONE.to_owned() } else { marks.join(", ") },
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(counts: &[u64]) -> Vec<SecondFigures> {
        let one = |succeeded: &u64| SecondFigures { succeeded: *succeeded, ..Default::default() };
        counts.iter().map(one).collect()
    }

    #[test]
    fn a_long_series_is_thinned_and_keeps_its_extremes() {
        let mut counts = vec![100; 10_000];
        counts[5_000] = 7;
        counts[7_777] = 900;
        let figures = seconds(&counts);
        let x = Scale::exactly(0.0, 10_000.0, [0.0, 1_000.0]);
        let y = Scale::exactly(0.0, 1_000.0, [0.0, 1_000.0]);
        let points = points(&figures, &x, &y, |second| Some(second.succeeded as f64));
        assert!(points.len() <= 2 * COLUMNS, "{}", points.len());
        let heights: Vec<f64> = points.iter().flatten().map(|(_, y)| *y).collect();
        assert!(heights.contains(&7.0) && heights.contains(&900.0));
    }

    #[test]
    fn a_second_without_a_percentile_is_a_gap() {
        let figures = seconds(&[1, 2, 3]);
        let scale = Scale::exactly(0.0, 3.0, [0.0, 3.0]);
        let points = points(&figures, &scale, &scale, |second| {
            (second.succeeded != 2).then_some(second.succeeded as f64)
        });
        assert_eq!(points, [Some((0.5, 1.0)), None, Some((2.5, 3.0))]);
    }
}
