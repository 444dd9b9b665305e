//! Figure: the pairs of each contrast split by who went first, to see an effect of the order.

use record::compare::{Contrast, Estimate};
use record::page::Page;

use super::axis::signed_labels;
use super::markup::Markup;
use super::plot::{Drawing, Figure, Mark, WIDTH, label, legend, line, mark, x_axis};
use super::scale::Scale;
use super::select::{First, Positions, contrast_name, primary_contrasts};
use super::table::Table;
use crate::text::{NONE, signed_percent};

/// Most contrasts that are drawn.
const MOST_CONTRASTS: usize = 30;
/// Height of a row, px: two lines of marks.
const ROW: f64 = 40.0;
/// Left and right edge of the plot and left edge of the words, px.
const COLUMNS: [f64; 3] = [230.0, 690.0, 706.0];
/// Top of the first row, px.
const TOP: f64 = 44.0;

/// The pairs of one contrast, as changes in percent.
struct Split<'a> {
    contrast: &'a Contrast,
    baseline_first: Vec<(u32, f64)>,
    level_first: Vec<(u32, f64)>,
    unknown: usize,
}

/// Draws the pairs by who went first.
pub(crate) fn figure(markup: &mut Markup, page: &Page) {
    let positions = Positions::of(page);
    let splits: Vec<Split<'_>> = primary_contrasts(page)
        .into_iter()
        .filter(|contrast| !contrast.log_ratios.is_empty())
        .map(|contrast| split(contrast, &positions))
        .collect();
    let mut caption = "Each mark is one pair of runs: the change of the level against its \
                       baseline, in the upper line when the baseline went first and in the lower \
                       line when the level did. The short line is the mean of its marks. Where \
                       the two lie apart, the order of the runs had an effect; alternating leads \
                       keep it out of the estimate."
        .to_owned();
    if splits.len() > MOST_CONTRASTS {
        caption.push_str(&format!(" {MOST_CONTRASTS} of {} contrasts are drawn.", splits.len()));
    }
    let unknown: usize = splits.iter().map(|split| split.unknown).sum();
    if unknown > 0 {
        caption.push_str(&format!(" The order of {unknown} pairs is not known."));
    }
    let figure = Figure { id: "order", heading: "Order of the pairs", caption: &caption };
    figure.write(markup, |markup| {
        if splits.is_empty() {
            markup.element("p", &[], "There is no pair.");
            return;
        }
        let shown = &splits[..splits.len().min(MOST_CONTRASTS)];
        let title = "Pairs by who went first";
        let said: Vec<String> = shown.iter().take(12).map(sentence).collect();
        let drawing = Drawing {
            id: "order-0".to_owned(),
            width: WIDTH,
            height: TOP + shown.len() as f64 * ROW + 44.0,
            title,
            description: &said.join("; "),
        };
        drawing.write(markup, |markup| draw(markup, title, shown));
        table(&splits).fold(markup);
    });
}

fn split<'a>(contrast: &'a Contrast, positions: &Positions<'_>) -> Split<'a> {
    let mut split =
        Split { contrast, baseline_first: Vec::new(), level_first: Vec::new(), unknown: 0 };
    for (block, log_ratio) in &contrast.log_ratios {
        let change = stats::sample::percent(*log_ratio);
        match positions.first(contrast, *block) {
            Some(First::Baseline) => split.baseline_first.push((*block, change)),
            Some(First::Level) => split.level_first.push((*block, change)),
            None => split.unknown += 1,
        }
    }
    split
}

/// Mean of changes through their logarithms, percent.
fn mean(changes: &[(u32, f64)]) -> Option<f64> {
    let logs: Vec<f64> = changes.iter().map(|(_, change)| (change / 100.0).ln_1p()).collect();
    stats::sample::mean(&logs).map(stats::sample::percent)
}

fn mean_words(changes: &[(u32, f64)]) -> String {
    mean(changes).map_or_else(|| NONE.to_owned(), signed_percent)
}

fn sentence(split: &Split<'_>) -> String {
    format!(
        "{}: mean {} over {} pairs with the baseline first, {} over {} with the level first",
        contrast_name(split.contrast),
        mean_words(&split.baseline_first),
        split.baseline_first.len(),
        mean_words(&split.level_first),
        split.level_first.len()
    )
}

/// An estimate in words: `+0.30 % [-0.20, +0.80]`.
fn estimate(estimate: Option<Estimate>) -> String {
    let Some(Estimate { value, interval }) = estimate else { return NONE.to_owned() };
    match interval {
        Some([low, high]) => format!("{} [{low:+.2}, {high:+.2}]", signed_percent(value)),
        None => signed_percent(value),
    }
}

fn draw(markup: &mut Markup, title: &str, splits: &[Split<'_>]) {
    let bottom = TOP + splits.len() as f64 * ROW;
    let all = splits.iter().flat_map(|split| split.baseline_first.iter().chain(&split.level_first));
    let scale =
        Scale::linear(all.map(|(_, change)| *change).chain([0.0]), [COLUMNS[0], COLUMNS[1]]);
    label(markup, (8.0, 14.0), 300.0, "strong", title);
    legend(
        markup,
        (320.0, 14.0),
        &[
            (&|m, at| mark(m, Mark::Hollow, at, "", ""), "baseline first"),
            (&|m, at| mark(m, Mark::Filled, at, "", ""), "level first"),
            (&|m, (x, y)| line(m, "median", (x, y - 7.0), (x, y + 7.0)), "mean"),
        ],
    );
    let ticks = scale.ticks(9);
    x_axis(markup, &scale, &ticks, &signed_labels(&ticks), [TOP - 8.0, bottom]);
    let zero = scale.position(0.0);
    line(markup, "zero", (zero, TOP - 8.0), (zero, bottom));
    let centre = (COLUMNS[0] + COLUMNS[1]) / 2.0;
    label(markup, (centre, bottom + 34.0), 460.0, "small-text middle", "change, % of the baseline");
    for (place, split) in splits.iter().enumerate() {
        let top = TOP + place as f64 * ROW;
        let middle = top + ROW / 2.0;
        line(markup, "rule", (COLUMNS[0], top + ROW), (COLUMNS[1], top + ROW));
        label(
            markup,
            (8.0, middle - 2.0),
            COLUMNS[0] - 16.0,
            "row",
            &contrast_name(split.contrast),
        );
        let metric = format!("{}, {}", split.contrast.factor, split.contrast.metric);
        label(markup, (8.0, middle + 12.0), COLUMNS[0] - 16.0, "small-text soft", &metric);
        for (changes, shape, y, who) in [
            (&split.baseline_first, Mark::Hollow, middle - 8.0, "baseline first"),
            (&split.level_first, Mark::Filled, middle + 8.0, "level first"),
        ] {
            for (block, change) in changes {
                let tooltip = format!("block {block}, {who}: {}", signed_percent(*change));
                mark(markup, shape, (scale.position(*change), y), "run", &tooltip);
            }
            if let Some(mean) = mean(changes) {
                let x = scale.position(mean);
                line(markup, "median", (x, y - 7.0), (x, y + 7.0));
            }
        }
        let words = format!("order {}", estimate(split.contrast.order_effect_percent));
        label(markup, (COLUMNS[2], middle - 2.0), WIDTH - COLUMNS[2], "small-text figures", &words);
        let words = format!("carry-over {}", estimate(split.contrast.carry_over_percent));
        label(
            markup,
            (COLUMNS[2], middle + 12.0),
            WIDTH - COLUMNS[2],
            "small-text figures",
            &words,
        );
    }
}

fn table(splits: &[Split<'_>]) -> Table {
    let mut table = Table::new(
        "pairs by who went first, percent of the baseline",
        &[
            "contrast",
            "metric",
            "#pairs, baseline first",
            "#mean",
            "#pairs, level first",
            "#mean",
            "#order effect",
            "#carry-over",
        ],
    );
    for split in splits {
        table.row(vec![
            contrast_name(split.contrast),
            split.contrast.metric.clone(),
            split.baseline_first.len().to_string(),
            mean_words(&split.baseline_first),
            split.level_first.len().to_string(),
            mean_words(&split.level_first),
            estimate(split.contrast.order_effect_percent),
            estimate(split.contrast.carry_over_percent),
        ]);
    }
    table
}
