//! Figure: latency by percentile of each cell, from the merged histograms of its valid runs.

use record::page::{Distribution, DistributionPoint, PERCENTILES, Page, percentile_name};

use super::axis::time_labels;
use super::markup::{Markup, path};
use super::plot::{Drawing, Figure, Mark, WIDTH, label, line, mark, x_axis, y_axis};
use super::scale::Scale;
use super::select::groups;
use super::table::Table;
use crate::text::{count, duration};

/// Most cells in one drawing: more lines are no longer told apart.
const MOST_CELLS: usize = 6;
/// Most drawings.
const MOST_DRAWINGS: usize = 16;
/// Left and right edge of the plot, left edge of the words, px.
const COLUMNS: [f64; 3] = [76.0, 640.0, 664.0];
/// Top and bottom of the plot, px.
const PLOT: [f64; 2] = [34.0, 290.0];
/// Length of the dashes after the last percentile with enough samples, px.
const CUT: f64 = 30.0;
/// Marks of the lines, in their order.
const MARKS: [Mark; MOST_CELLS] = [
    Mark::Filled,
    Mark::Square,
    Mark::Triangle,
    Mark::Hollow,
    Mark::Estimate,
    Mark::HollowEstimate,
];

/// Draws the distributions, those of one scale together.
pub(crate) fn figure(markup: &mut Markup, page: &Page) {
    let of = |cell: &str| page.distributions.iter().find(|known| known.cell == cell);
    let drawings: Vec<(String, Vec<&Distribution>)> = groups(page, MOST_CELLS)
        .iter()
        .map(|group| {
            (group.name("latency"), group.cells.iter().filter_map(|cell| of(cell)).collect())
        })
        .filter(|(_, cells): &(String, Vec<&Distribution>)| !cells.is_empty())
        .collect();
    let mut caption = "Latency of successful requests. The histograms of the valid runs of a cell \
                       are merged and the percentile read from the merged one; percentiles are \
                       never averaged. The thin upright line spans the single runs. A line ends \
                       where the samples do, and says so. Both axes are logarithmic: the \
                       horizontal one in the share of requests that are slower."
        .to_owned();
    if drawings.len() > MOST_DRAWINGS {
        let total = drawings.len();
        caption.push_str(&format!(" {MOST_DRAWINGS} of {total} drawings are shown."));
    }
    if page.distributions_left > 0 {
        caption.push_str(&format!(
            " {} of {} cells are read; the others are left out.",
            page.distributions.len(),
            page.distributions.len() + page.distributions_left as usize
        ));
    }
    let figure = Figure { id: "percentiles", heading: "Latency by percentile", caption: &caption };
    figure.write(markup, |markup| {
        if drawings.is_empty() {
            markup.element("p", &[], "No valid run has a latency.");
        }
        for (place, (title, cells)) in drawings.iter().take(MOST_DRAWINGS).enumerate() {
            let said: Vec<String> = cells.iter().map(|cell| sentence(cell)).collect();
            let drawing = Drawing {
                id: format!("percentiles-{place}"),
                width: WIDTH,
                height: PLOT[1] + 44.0,
                title: &format!("Percentiles of {title}"),
                description: &said.join("; "),
            };
            drawing.write(markup, |markup| draw(markup, title, cells));
        }
        table(&page.distributions).fold(markup);
    });
}

/// Where a percentile lies on the axis: the decades of the share that is slower.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile).log10()
}

fn sentence(cell: &Distribution) -> String {
    let points: Vec<String> = cell
        .points
        .iter()
        .filter_map(|point| Some((point, point.value_ns?)))
        .map(|(point, ns)| format!("{} {}", percentile_name(point.percentile), duration(Some(ns))))
        .collect();
    let figures = if points.is_empty() { "no percentile".to_owned() } else { points.join(", ") };
    format!("{}: {figures}", cell.cell)
}

fn draw(markup: &mut Markup, title: &str, cells: &[&Distribution]) {
    let x = Scale::exactly(nines(0.4), nines(0.99995), [COLUMNS[0], COLUMNS[1]]);
    let values = cells.iter().flat_map(|cell| &cell.points).flat_map(|point| {
        let range = point.runs_ns.unwrap_or_default().map(|ns| ns as f64);
        range.into_iter().chain(point.value_ns.map(|ns| ns as f64))
    });
    let y = Scale::log(values, [PLOT[1], PLOT[0]]);
    label(markup, (8.0, 14.0), 600.0, "strong", title);
    let ticks = y.ticks(8);
    y_axis(markup, &y, &ticks, &time_labels(&ticks), [COLUMNS[0], COLUMNS[1]]);
    let places: Vec<f64> = PERCENTILES.iter().map(|p| nines(*p)).collect();
    let names: Vec<String> = PERCENTILES.iter().map(|p| percentile_name(*p)).collect();
    x_axis(markup, &x, &places, &names, PLOT);
    let centre = (COLUMNS[0] + COLUMNS[1]) / 2.0;
    label(markup, (centre, PLOT[1] + 34.0), 400.0, "small-text middle", "percentile of requests");
    let mut ends = Vec::new();
    for (place, cell) in cells.iter().enumerate() {
        let end = curve(markup, (&x, &y), cell, place, cells.len());
        ends.push(end.unwrap_or((COLUMNS[0], PLOT[1])));
    }
    let mut rows: Vec<f64> = ends.iter().map(|(_, y)| *y).collect();
    spread(&mut rows, 30.0, [PLOT[0] + 4.0, PLOT[1] - 16.0]);
    for ((place, cell), ((end_x, end_y), row)) in
        cells.iter().enumerate().zip(ends.iter().zip(rows))
    {
        let past = if cell.lacking().is_empty() { 6.0 } else { CUT + 6.0 };
        let from = (end_x + past).min(COLUMNS[1]);
        line(markup, "leader", (from, *end_y), (COLUMNS[2] - 4.0, row));
        words(markup, cell, place, row);
    }
}

/// One line with its marks; gives its last point.
fn curve(
    markup: &mut Markup,
    (x, y): (&Scale, &Scale),
    cell: &Distribution,
    place: usize,
    lines: usize,
) -> Option<(f64, f64)> {
    // Side by side, so that the spans of two cells do not hide each other.
    let aside = (place as f64 - (lines as f64 - 1.0) / 2.0) * 5.0;
    let at = |point: &DistributionPoint| {
        let value = point.value_ns? as f64;
        Some((x.position(nines(point.percentile)) + aside, y.position(value)))
    };
    let class = format!("series-{place}");
    for point in &cell.points {
        if let (Some((px, _)), Some([low, high])) = (at(point), point.runs_ns) {
            let (from, to) = (y.position(low as f64), y.position(high as f64));
            line(markup, &format!("span {class}"), (px, from), (px, to));
        }
    }
    let points: Vec<Option<(f64, f64)>> = cell.points.iter().map(at).collect();
    markup.empty("path", &[("class", &format!("line {class}")), ("d", &path(&points))]);
    for point in &cell.points {
        if let Some(place_of) = at(point) {
            let tooltip = format!(
                "{}: {} {}",
                cell.cell,
                percentile_name(point.percentile),
                duration(point.value_ns)
            );
            mark(markup, MARKS[place % MARKS.len()], place_of, &class, &tooltip);
        }
    }
    let last = points.iter().flatten().next_back().copied()?;
    if cell.points.iter().any(|point| point.value_ns.is_none()) {
        // Dashes that lead nowhere: the line goes on, nobody knows where.
        line(markup, "cut", last, ((last.0 + CUT).min(COLUMNS[1]), last.1));
    }
    Some(last)
}

/// Name of the cell beside the end of its line, with what is missing.
fn words(markup: &mut Markup, cell: &Distribution, place: usize, row: f64) {
    let width = WIDTH - COLUMNS[2] - 22.0;
    let class = format!("series-{place}");
    mark(markup, MARKS[place % MARKS.len()], (COLUMNS[2] + 6.0, row), &class, "");
    let left = COLUMNS[2] + 18.0;
    label(markup, (left, row + 1.0), width, "row", &cell.cell);
    let lacking = cell.lacking();
    let text = match lacking.first() {
        None => format!("n = {}, {} runs", count(cell.samples), cell.runs),
        Some(first) => format!("n = {}: too few for {first}", count(cell.samples)),
    };
    label(markup, (left, row + 13.0), width, "small-text soft", &text);
}

/// Moves positions apart by at least `gap` within bounds, keeping their order; where there is no
/// room for all, they share what there is.
fn spread(positions: &mut [f64], gap: f64, [top, bottom]: [f64; 2]) {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|a, b| positions[*a].total_cmp(&positions[*b]).then(a.cmp(b)));
    let gaps = positions.len().saturating_sub(1) as f64;
    let gap = if gaps > 0.0 { gap.min((bottom - top) / gaps) } else { gap };
    let mut free_from = top;
    for index in &order {
        positions[*index] = positions[*index].max(free_from);
        free_from = positions[*index] + gap;
    }
    let mut free_to = bottom;
    for index in order.iter().rev() {
        positions[*index] = positions[*index].min(free_to);
        free_to = positions[*index] - gap;
    }
}

fn table(cells: &[Distribution]) -> Table {
    let mut table = Table::new(
        "latency by percentile, from merged histograms",
        &["cell", "#runs", "#left out", "#requests", "#p50", "#p90", "#p99", "#p99.9", "#p99.99"],
    );
    for cell in cells {
        let mut row = vec![
            cell.cell.clone(),
            cell.runs.to_string(),
            cell.left_out.to_string(),
            count(cell.samples),
        ];
        row.extend(cell.points.iter().map(|point| match point.value_ns {
            Some(ns) => duration(Some(ns)),
            None => format!("too few: needs {}", count(point.needed)),
        }));
        row.resize(9, String::new());
        table.row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn labels_keep_their_order_their_distance_and_the_bounds(
            mut positions in prop::collection::vec(0.0_f64..300.0, 1..7),
        ) {
            let before = positions.clone();
            spread(&mut positions, 30.0, [30.0, 290.0]);
            prop_assert!(positions.iter().all(|y| (30.0 - 1e-9..=290.0 + 1e-9).contains(y)));
            for a in 0..positions.len() {
                for b in 0..positions.len() {
                    if before[a] < before[b] {
                        prop_assert!(positions[b] - positions[a] >= 30.0 - 1e-9, "{positions:?}");
                    }
                }
            }
        }
    }
}
