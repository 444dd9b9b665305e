//! Figure: the effect of each contrast with its interval, over the margin and over the noise that
//! the null arm showed; the controls in rows of their own.

use record::compare::Contrast;
use record::page::Page;

use super::axis::signed_labels;
use super::markup::Markup;
use super::plot::{Drawing, Figure, Mark, WIDTH, label, legend, line, mark, rect, x_axis};
use super::scale::Scale;
use super::select::{contrast_name, control, nature, primary_contrasts};
use super::table::Table;
use crate::text::interval_of;
use crate::text::{NONE, signed_percent};

/// Most rows of one drawing.
const MOST_ROWS: usize = 60;
/// Most drawings.
const MOST_DRAWINGS: usize = 12;
/// Height of a row, px.
const ROW: f64 = 30.0;
/// Left and right edge of the plot and left edge of the words, px.
const COLUMNS: [f64; 3] = [230.0, 690.0, 706.0];
/// Top of the first row, px.
const TOP: f64 = 44.0;

/// Draws the effects, one drawing for each factor and metric.
pub(crate) fn figure(markup: &mut Markup, page: &Page) {
    let contrasts = primary_contrasts(page);
    let mut drawings: Vec<((&str, &str), Vec<&Contrast>)> = Vec::new();
    for contrast in &contrasts {
        let key = (contrast.factor.as_str(), contrast.metric.as_str());
        let open = drawings
            .iter_mut()
            .rev()
            .find(|(known, _)| *known == key)
            .filter(|(_, rows)| rows.len() < MOST_ROWS);
        match open {
            Some((_, rows)) => rows.push(contrast),
            None => drawings.push((key, vec![contrast])),
        }
    }
    let mut caption = "One row for each contrast of a primary metric: the change of the level \
                       against its baseline in percent of the baseline, with its 95 % interval. \
                       The plain area is the margin, the smallest change that matters; the \
                       hatched area is the 95 % interval of the null control, the noise of a \
                       thing compared with itself. Controls have rows of their own."
        .to_owned();
    if drawings.len() > MOST_DRAWINGS {
        caption.push_str(&format!(
            " {MOST_DRAWINGS} of {} drawings are shown; the others are in matrix.json.",
            drawings.len()
        ));
    }
    let figure = Figure { id: "effects", heading: "Effects", caption: &caption };
    figure.write(markup, |markup| {
        if drawings.is_empty() {
            markup.element("p", &[], "There is no contrast: nothing was compared.");
        }
        for (place, ((factor, metric), rows)) in drawings.iter().take(MOST_DRAWINGS).enumerate() {
            let title = format!("Effect of {factor} on {metric}");
            let said: Vec<String> = rows.iter().take(12).map(|row| sentence(row)).collect();
            let drawing = Drawing {
                id: format!("effects-{place}"),
                width: WIDTH,
                height: TOP + rows.len() as f64 * ROW + 44.0,
                title: &title,
                description: &said.join("; "),
            };
            let (_, better) = nature(page, metric);
            drawing.write(markup, |markup| draw(markup, &title, better, rows));
        }
        table(&contrasts).fold(markup);
    });
}

/// A contrast in a few words, for those who do not see the drawing.
fn sentence(contrast: &Contrast) -> String {
    let effect = contrast.effect_percent.map_or_else(|| NONE.to_owned(), signed_percent);
    format!(
        "{}: {effect} {}, {}",
        contrast_name(contrast),
        interval_of(contrast.interval_percent),
        contrast.verdict
    )
}

fn draw(markup: &mut Markup, title: &str, better: &str, rows: &[&Contrast]) {
    let bottom = TOP + rows.len() as f64 * ROW;
    let values = rows.iter().flat_map(|row| {
        let margin = row.margin_percent.unwrap_or(0.0);
        let pairs = [row.interval_percent, row.null_interval_percent].into_iter().flatten();
        pairs.flatten().chain(row.effect_percent).chain([0.0, margin, -margin]).collect::<Vec<_>>()
    });
    let scale = Scale::linear(values, [COLUMNS[0], COLUMNS[1]]);
    label(markup, (8.0, 14.0), 300.0, "strong", title);
    legend(
        markup,
        (320.0, 14.0),
        &[
            (
                &|m, (x, y)| {
                    line(m, "whisker", (x - 9.0, y), (x + 9.0, y));
                    mark(m, Mark::Estimate, (x, y), "", "");
                },
                "effect, 95 % interval",
            ),
            (&|m, at| mark(m, Mark::HollowEstimate, at, "", ""), "void"),
            (&|m, (x, y)| rect(m, "margin", (x - 8.0, y - 6.0), (x + 8.0, y + 6.0)), "margin"),
            (&|m, (x, y)| rect(m, "noise", (x - 8.0, y - 6.0), (x + 8.0, y + 6.0)), "null control"),
        ],
    );
    // The areas lie under the grid, so that a tick can be followed through them.
    for (place, row) in rows.iter().enumerate() {
        areas(markup, &scale, row, TOP + place as f64 * ROW);
    }
    let ticks = scale.ticks(9);
    x_axis(markup, &scale, &ticks, &signed_labels(&ticks), [TOP - 8.0, bottom]);
    let zero = scale.position(0.0);
    line(markup, "zero", (zero, TOP - 8.0), (zero, bottom));
    let centre = (COLUMNS[0] + COLUMNS[1]) / 2.0;
    let words = format!("change, % of the baseline ({better})");
    label(markup, (centre, bottom + 34.0), 460.0, "small-text middle", &words);
    for (place, row) in rows.iter().enumerate() {
        self::row(markup, &scale, row, TOP + place as f64 * ROW);
    }
}

/// Margin and noise of a row.
fn areas(markup: &mut Markup, scale: &Scale, row: &Contrast, top: f64) {
    if let Some(margin) = row.margin_percent {
        let (from, to) = (scale.position(-margin), scale.position(margin));
        rect(markup, "margin", (from, top + 2.0), (to, top + ROW - 2.0));
    }
    if let Some([low, high]) = row.null_interval_percent.filter(|_| !row.null) {
        let (from, to) = (scale.position(low), scale.position(high));
        rect(markup, "noise", (from, top + 6.0), (to, top + ROW - 6.0));
    }
}

fn row(markup: &mut Markup, scale: &Scale, row: &Contrast, top: f64) {
    let middle = top + ROW / 2.0;
    let room = COLUMNS[0] - 16.0;
    let name = contrast_name(row);
    match control(row) {
        Some(control) => {
            label(markup, (8.0, middle - 2.0), room, "row", &name);
            label(markup, (8.0, middle + 11.0), room, "small-text soft", &control);
        }
        None => label(markup, (8.0, middle + 4.0), room, "row", &name),
    }
    let void = row.verdict == "void";
    let class = if void { "whisker doubtful" } else { "whisker" };
    if let Some([low, high]) = row.interval_percent {
        let (from, to) = (scale.position(low), scale.position(high));
        line(markup, class, (from, middle), (to, middle));
        for end in [from, to] {
            line(markup, "whisker", (end, middle - 5.0), (end, middle + 5.0));
        }
    }
    if let Some(effect) = row.effect_percent {
        let shape = if void { Mark::HollowEstimate } else { Mark::Estimate };
        mark(markup, shape, (scale.position(effect), middle), "", &sentence(row));
    }
    let width = WIDTH - COLUMNS[2];
    let effect = row.effect_percent.map_or_else(|| "no effect known".to_owned(), signed_percent);
    let figures = format!("{effect} {}", interval_of(row.interval_percent));
    label(markup, (COLUMNS[2], middle - 2.0), width, "strong", &row.verdict);
    label(markup, (COLUMNS[2], middle + 12.0), width, "small-text figures", &figures);
}

fn table(contrasts: &[&Contrast]) -> Table {
    let mut table = Table::new(
        "effects of the primary metrics, percent of the baseline",
        &[
            "contrast",
            "factor",
            "metric",
            "kind",
            "#effect",
            "#95 % interval",
            "#margin",
            "#null control",
            "#pairs",
            "verdict",
        ],
    );
    for row in contrasts {
        let pair = |pair: Option<[f64; 2]>| {
            pair.map_or_else(|| NONE.to_owned(), |[low, high]| format!("[{low:+.2}, {high:+.2}]"))
        };
        table.row(vec![
            contrast_name(row),
            row.factor.clone(),
            row.metric.clone(),
            control(row).unwrap_or_else(|| "question".to_owned()),
            row.effect_percent.map_or_else(|| NONE.to_owned(), signed_percent),
            interval_of(row.interval_percent),
            row.margin_percent.map_or_else(|| NONE.to_owned(), |margin| format!("{margin} %")),
            pair(row.null_interval_percent),
            row.pairs.to_string(),
            row.verdict.clone(),
        ]);
    }
    table
}
