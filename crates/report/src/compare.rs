//! The table of `assay compare`: one row for each contrast of the primary metric, then every
//! doubt in a line of its own with what to try.

use std::collections::{BTreeMap, BTreeSet};

use record::compare::{Comparison, Contrast, LeftOut};

use crate::tables;
use crate::text::{NONE, columns, cut, in_unit, signed_percent};

/// Widest table, columns.
const WIDTH: usize = 100;
/// Columns of a name in a stacked row, its indent included.
const NAME_WIDTH: usize = 18;
/// Runs of one reason that are named before the rest is counted.
const MOST_NAMED: usize = 4;

/// Which metrics a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Show {
    /// The primary metric of each contrast.
    #[default]
    Primary,
    /// Every metric that both arms have.
    All,
}

/// Renders a comparison for the terminal, its tables at most 100 columns wide: level against
/// baseline, both absolute values, ratio, effect with its 95 % interval, pairs and verdict; then
/// flags, what was left out and the notes, one line each.
#[must_use]
pub fn comparison_table(comparison: &Comparison, show: Show) -> String {
    let mut text = format!("label {}\n", comparison.label);
    text.push_str(&tables::before_text(&comparison.tables));
    text.push_str(&contrast_tables(&comparison.contrasts, show));
    let doubts = doubts(&comparison.contrasts, show, &comparison.left_out, &comparison.notes);
    if !doubts.is_empty() {
        text.push('\n');
        for doubt in doubts {
            text.push_str(&format!("- {doubt}\n"));
        }
    }
    text.push_str(&tables::after_text(&comparison.tables, &comparison.contrasts, show));
    text
}

/// One table for each factor and metric, since units differ between metrics.
fn contrast_tables(contrasts: &[Contrast], show: Show) -> String {
    let mut text = String::new();
    let shown = |contrast: &&Contrast| show == Show::All || contrast.primary;
    let mut tables: Vec<((&str, &str), Vec<&Contrast>)> = Vec::new();
    for contrast in contrasts.iter().filter(shown) {
        let key = (contrast.factor.as_str(), contrast.metric.as_str());
        match tables.iter_mut().find(|(known, _)| *known == key) {
            Some((_, rows)) => rows.push(contrast),
            None => tables.push((key, vec![contrast])),
        }
    }
    for ((factor, metric), rows) in tables {
        let primary = if rows.iter().any(|row| row.primary) { "primary" } else { "exploratory" };
        let better = margin_line(rows[0]);
        text.push_str(&format!("\n{factor}: {metric} ({primary}{better})\n"));
        text.push_str(&table(&rows));
    }
    text
}

fn margin_line(contrast: &Contrast) -> String {
    contrast.margin_percent.map(|margin| format!(", margin {margin} %")).unwrap_or_default()
}

/// The table of rows of one metric; where it would be too wide, a block of lines for each row.
fn table(rows: &[&Contrast]) -> String {
    let cells: BTreeSet<&str> = rows.iter().map(|row| row.cell.as_str()).collect();
    let with_cell = cells.len() > 1 || !cells.contains("*");
    let mut header: Vec<&str> = Vec::new();
    if with_cell {
        header.push("cell");
    }
    header.extend(["level", "baseline", "level at", "baseline at", "ratio", "effect"]);
    header.extend(["95 % interval", "n", "verdict"]);
    let mut lines: Vec<Vec<String>> = vec![header.into_iter().map(str::to_owned).collect()];
    for row in rows {
        let mut line = Vec::new();
        if with_cell {
            line.push(row.cell.clone());
        }
        line.extend([
            row.level.clone(),
            row.baseline.clone(),
            in_unit(row.level_value, &row.unit),
            in_unit(row.baseline_value, &row.unit),
            row.ratio.map_or_else(|| NONE.to_owned(), |ratio| format!("{ratio:.4}")),
            row.effect_percent.map_or_else(|| NONE.to_owned(), signed_percent),
            interval(row),
            row.pairs.to_string(),
            verdict(row),
        ]);
        lines.push(line);
    }
    let align = if with_cell { "lllrrrrrrl" } else { "llrrrrrrl" };
    let wide = columns(&lines, align);
    if wide.lines().all(|line| line.chars().count() <= WIDTH) {
        return wide;
    }
    stacked(&lines)
}

/// Every row as a block of its own: for names that leave no room for a table.
fn stacked(lines: &[Vec<String>]) -> String {
    let mut text = String::new();
    for line in &lines[1..] {
        for (name, value) in lines[0].iter().zip(line) {
            let room = WIDTH - NAME_WIDTH;
            text.push_str(&format!("  {name:<0$}{1}\n", NAME_WIDTH - 2, cut(value, room)));
        }
        text.push('\n');
    }
    text
}

pub(crate) fn interval(contrast: &Contrast) -> String {
    contrast
        .interval_percent
        .map_or_else(|| NONE.to_owned(), |[low, high]| format!("[{low:+.2}, {high:+.2}]"))
}

/// The verdict; a null says so in the same cell, since its word means another thing there.
pub(crate) fn verdict(contrast: &Contrast) -> String {
    if contrast.null { format!("{} (null)", contrast.verdict) } else { contrast.verdict.clone() }
}

/// Every doubt in one line with its remedy: flags by contrast, then what was left out by
/// reason, then the notes.
pub(crate) fn doubts(
    contrasts: &[Contrast],
    show: Show,
    left_out: &[LeftOut],
    notes: &[String],
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut by_flag: BTreeMap<(usize, &str), Vec<String>> = BTreeMap::new();
    for contrast in contrasts.iter().filter(|c| show == Show::All || c.primary) {
        let name = if show == Show::All {
            format!("{} of {} in {}", contrast.metric, contrast.level, contrast.cell)
        } else {
            format!("{} in {}", contrast.level, contrast.cell)
        };
        for flag in &contrast.flags {
            by_flag.entry((flag_place(flag), flag)).or_default().push(name.clone());
        }
        lines.extend(more_pairs(contrast, &name));
    }
    for ((_, flag), names) in by_flag {
        lines.push(format!("{flag} ({}): {}", some(&names), explain(flag)));
    }
    let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
    let all = contrasts
        .iter()
        .filter(|contrast| show == Show::All || contrast.primary)
        .flat_map(|contrast| &contrast.left_out)
        .chain(left_out);
    for left in all {
        match by_reason.iter_mut().find(|(reason, _)| *reason == left.reason) {
            Some((_, runs)) if runs.contains(&left.run) => {}
            Some((_, runs)) => runs.push(left.run.clone()),
            None => by_reason.push((&left.reason, vec![left.run.clone()])),
        }
    }
    for (reason, runs) in by_reason {
        lines.push(format!("left out {}: {reason}", some(&runs)));
    }
    lines.extend(notes.iter().cloned());
    lines
}

/// What more pairs would show, for a contrast that could not decide.
fn more_pairs(contrast: &Contrast, name: &str) -> Option<String> {
    if contrast.verdict != "inconclusive" {
        return None;
    }
    let needed = contrast.needed_pairs?;
    let seen = contrast
        .minimum_detectable_percent
        .map(|percent| format!("; these {} could show {percent:.2} %", contrast.pairs))
        .unwrap_or_default();
    let margin = contrast.margin_percent.unwrap_or_default();
    Some(format!("inconclusive ({name}): an effect of {margin} % needs about {needed} pairs{seen}"))
}

pub(crate) fn some(names: &[String]) -> String {
    let mut text = names.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST_NAMED {
        text.push_str(&format!(" and {} more", names.len() - MOST_NAMED));
    }
    text
}

/// Flags in the order of their weight.
const FLAGS: [(&str, &str); 10] = [
    (
        "manipulation_failed",
        "the factor did not do what it was meant to: its table is withheld; check the option",
    ),
    (
        "null_differs",
        "a thing differs from itself here: this machine's noise is larger than the margin; quieten it",
    ),
    ("undecidable", "an arm does not say which build it was: run from a clean checkout"),
    ("control_differs", "this control is not the same thing as its twin: see both identities"),
    ("uncontrolled", "no null contrast of 6 pairs beside it: add `null` to the levels"),
    ("few_pairs", "under 6 pairs there is no 95 % interval: raise `matrix.blocks`"),
    (
        "heavy_tails",
        "interval of ranks and of the mean disagree: look for outliers among the pairs",
    ),
    ("odd_pairs", "an odd number of pairs lets drift load one arm: use an even number of blocks"),
    (
        "layout_noise",
        "so small an effect may be the place of code in memory: vary it with `matrix.layout`",
    ),
    ("real_but_small", "a difference is there, and smaller than the margin"),
];

fn flag_place(flag: &str) -> usize {
    FLAGS.iter().position(|(known, _)| *known == flag).unwrap_or(FLAGS.len())
}

fn explain(flag: &str) -> &'static str {
    FLAGS.iter().find(|(known, _)| *known == flag).map_or("see METHODOLOGY.md", |(_, text)| text)
}
