//! The top of the page: what was asked and where, the answer in words, and every doubt with what
//! to try.

use std::collections::BTreeMap;

use record::compare::{Contrast, MatrixRun};
use record::page::Page;
use record::{Effect, State};

use super::markup::Markup;
use super::select::{contrast_name, control, measured, primary_contrasts, run_name};
use super::table::Table;
use crate::compare::Show;
use crate::doubts::doubts;
use crate::text::{NONE, in_unit, interval_of, signed_percent};

/// Answers in words before the table takes over.
const MOST_ANSWERS: usize = 24;
/// Runs that one gate names.
const MOST_NAMED: usize = 6;

/// The facts of the label.
pub(crate) fn header(markup: &mut Markup, page: &Page) {
    let matrix = &page.matrix;
    markup.open("header", &[]);
    markup.element("h1", &[], &matrix.label);
    let runs = measured(page);
    let of = |wanted: &[State]| runs.iter().filter(|run| wanted.contains(&state_of(run))).count();
    let mut words = vec![
        format!("{} of {} planned runs complete", matrix.completed_runs, matrix.planned_runs),
        format!("{} valid", of(&[State::Valid])),
        format!("{} void", of(&[State::Void])),
    ];
    let bounded = of(&[State::AtLeast, State::Censored]);
    if bounded > 0 {
        words.push(format!("{bounded} only a bound"));
    }
    let of_kind = |kind: &str| matrix.runs.iter().filter(|run| run.kind == kind).count();
    for (kind, name) in [("warm_up", "warm-ups"), ("incomplete", "incomplete directories")] {
        if of_kind(kind) > 0 {
            words.push(format!("{} {name}", of_kind(kind)));
        }
    }
    let stamps =
        || matrix.runs.iter().map(|run| run.started_utc.as_str()).filter(|s| !s.is_empty());
    let time = match (stamps().min(), stamps().max()) {
        (Some(first), Some(last)) if first != last => {
            format!("first run {first}, last run {last}")
        }
        (Some(only), _) => only.to_owned(),
        _ => NONE.to_owned(),
    };
    let classes: Vec<String> = matrix.tables.hosts.iter().map(|host| host.id.clone()).collect();
    let mut machines = lines(&page.machines);
    if !classes.is_empty() {
        machines.push_str(&format!(" (class {})", classes.join(", ")));
    }
    let bench = if matrix.bench.is_empty() { NONE.to_owned() } else { matrix.bench.clone() };
    markup.open("dl", &[("class", &"facts")]);
    for (name, value) in [
        ("Bench", bench),
        ("Machine", machines),
        ("Tool", lines(&page.builds)),
        ("Started", time),
        ("Runs", words.join(", ")),
    ] {
        markup.open("div", &[]);
        markup.element("dt", &[], name).element("dd", &[], &value);
        markup.close();
    }
    markup.close().close();
}

fn lines(lines: &[String]) -> String {
    if lines.is_empty() { NONE.to_owned() } else { lines.join("; ") }
}

fn state_of(run: &MatrixRun) -> State {
    run.validity.as_ref().map_or(State::Void, |validity| validity.state)
}

/// The answers in words, then their figures.
pub(crate) fn answer(markup: &mut Markup, page: &Page) {
    let contrasts = primary_contrasts(page);
    markup.open("section", &[("aria-labelledby", &"answer")]);
    markup.element("h2", &[("id", &"answer"), ("tabindex", &"-1")], "Answer");
    if contrasts.is_empty() {
        markup.element("p", &[], "Nothing was compared: see the doubts.");
    } else {
        markup.open("ul", &[("class", &"answers")]);
        for contrast in contrasts.iter().take(MOST_ANSWERS) {
            markup.open("li", &[]);
            markup.element("strong", &[("class", &"verdict")], &contrast.verdict);
            markup.text(": ").text(&sentence(contrast)).close();
        }
        if contrasts.len() > MOST_ANSWERS {
            let rest = contrasts.len() - MOST_ANSWERS;
            markup.element("li", &[], &format!("and {rest} more in the table below."));
        }
        markup.close();
        table("the primary metrics", &contrasts).write(markup);
    }
    markup.close();
}

/// A contrast as a sentence after its word.
fn sentence(contrast: &Contrast) -> String {
    let mut text = format!("{} against {}", contrast.level, contrast.baseline);
    if contrast.cell != "*" {
        text.push_str(&format!(" in {}", contrast.cell));
    }
    if let Some(control) = control(contrast) {
        text.push_str(&format!(" ({control})"));
    }
    let effect = contrast.effect_percent.map(signed_percent);
    let effect = effect.unwrap_or_else(|| "no known change".to_owned());
    text.push_str(&format!(": {} {effect} of {}", contrast.metric, contrast.baseline));
    match contrast.interval_percent {
        Some([low, high]) => {
            text.push_str(&format!(" (95 % interval {low:+.2} % to {high:+.2} %)"));
        }
        None => text.push_str(" (no 95 % interval)"),
    }
    text.push_str(&format!(", {} pairs", contrast.pairs));
    if let Some(margin) = contrast.margin_percent {
        text.push_str(&format!("; margin {margin} %"));
    }
    match (contrast.null_interval_percent, contrast.null) {
        (Some([low, high]), false) => {
            text.push_str(&format!("; null control {low:+.2} % to {high:+.2} %"));
        }
        (None, false) if contrast.null_arm.is_none() => text.push_str("; no null control"),
        _ => {}
    }
    if contrast.verdict == "inconclusive"
        && let Some(needed) = contrast.needed_pairs
    {
        text.push_str(&format!("; about {needed} pairs would decide"));
    }
    if !contrast.flags.is_empty() {
        text.push_str(&format!("; see {} under Doubts", contrast.flags.join(", ")));
    }
    text.push('.');
    text
}

/// The table of some contrasts.
pub(crate) fn table(what: &str, contrasts: &[&Contrast]) -> Table {
    let several = contrasts.iter().any(|contrast| contrast.factor != contrasts[0].factor);
    let mut table = Table::new(
        format!(
            "contrasts of {what}; effect, interval, margin and null control in percent of the baseline"
        ),
        &[
            "contrast",
            "metric",
            "verdict",
            "#effect",
            "#95 % interval",
            "#margin",
            "#null control",
            "signi\u{ad}ficant",
            "matters",
            "#pairs",
            "#baseline at",
            "#level at",
            "flags",
        ],
    );
    for row in contrasts {
        let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        let verdict = match control(row) {
            Some(control) => format!("{} ({control})", row.verdict),
            None => row.verdict.clone(),
        };
        table.row(vec![
            if several {
                format!("{}: {}", row.factor, contrast_name(row))
            } else {
                contrast_name(row)
            },
            row.metric.clone(),
            verdict,
            row.effect_percent.map_or_else(|| NONE.to_owned(), signed_percent),
            interval_of(row.interval_percent),
            row.margin_percent.map_or_else(|| NONE.to_owned(), |margin| format!("{margin} %")),
            row.null_interval_percent
                .map_or_else(|| NONE.to_owned(), |[low, high]| format!("[{low:+.2}, {high:+.2}]")),
            yes(row.significant),
            row.matters.map_or_else(|| NONE.to_owned(), yes),
            row.pairs.to_string(),
            in_unit(row.baseline_value, &row.unit),
            in_unit(row.level_value, &row.unit),
            row.flags.join(", "),
        ]);
    }
    table
}

/// Every doubt, and what the gates said of single runs.
pub(crate) fn all_doubts(markup: &mut Markup, page: &Page) {
    let matrix = &page.matrix;
    markup.open("section", &[("aria-labelledby", &"doubts")]);
    markup.element("h2", &[("id", &"doubts"), ("tabindex", &"-1")], "Doubts");
    let mut lines = Vec::new();
    for (several, what) in [(&page.machines, "machines"), (&page.builds, "builds of assay")] {
        if several.len() > 1 {
            lines.push(format!("the runs are of {} {what}: {}", several.len(), several.join("; ")));
        }
    }
    lines.extend(doubts(
        &matrix.contrasts,
        Show::Primary,
        &page.left_out,
        &matrix.tables,
        &matrix.notes,
    ));
    lines.extend(page.notes.iter().cloned());
    if let Some(check) = &matrix.tables.frozen {
        lines.extend(
            check
                .inputs
                .iter()
                .map(|input| format!("not what {} was derived from: {input}", check.frozen)),
        );
    }
    lines.extend(matrix.skipped.iter().map(|cell| format!("not run: {}: {}", cell.cell, cell.why)));
    if lines.is_empty() {
        markup.element("p", &[], "None was raised.");
    } else {
        markup.open("ul", &[]);
        for line in &lines {
            markup.element("li", &[], line);
        }
        markup.close();
    }
    for table in [gates(page), frozen(page)].iter().filter(|table| !table.is_empty()) {
        table.write(markup);
    }
    markup.close();
}

/// Figures that are not what the frozen table of the label says.
fn frozen(page: &Page) -> Table {
    let Some(check) = &page.matrix.tables.frozen else { return Table::new("", &[]) };
    let mut table = Table::new(
        format!("figures that differ from {}, which {} derived", check.frozen, check.by),
        &["figure", "#frozen", "#now"],
    );
    for difference in &check.differences {
        let (frozen, now) = (difference.frozen.clone(), difference.now.clone());
        table.row(vec![difference.what.clone(), frozen, now]);
    }
    table
}

/// Each gate that tripped and each flag that was raised: in which runs, and what to try.
fn gates(page: &Page) -> Table {
    let mut table = Table::new(
        "gates that tripped and flags that were raised, by run",
        &["gate", "does", "#runs", "which", "the first of them", "try"],
    );
    let mut by_gate: BTreeMap<(Effect, &str), Vec<(&MatrixRun, &record::Reason)>> = BTreeMap::new();
    for run in measured(page) {
        for reason in run.validity.iter().flat_map(|validity| &validity.reasons) {
            let runs = by_gate.entry((reason.effect, &reason.gate)).or_default();
            if runs.last().is_none_or(|(last, _)| last.path != run.path) {
                runs.push((run, reason));
            }
        }
    }
    // The strongest first.
    for ((effect, gate), runs) in by_gate.iter().rev() {
        let names: Vec<&str> = runs.iter().take(MOST_NAMED).map(|(run, _)| run_name(run)).collect();
        let mut which = names.join(", ");
        if runs.len() > MOST_NAMED {
            which.push_str(&format!(" and {} more", runs.len() - MOST_NAMED));
        }
        let (_, first) = runs[0];
        let word = match effect {
            Effect::Flag => "flags",
            Effect::AtLeast => "makes a lower bound",
            Effect::Censor => "makes percentiles bounds",
            Effect::Void => "voids",
        };
        table.row(vec![
            (*gate).to_owned(),
            word.to_owned(),
            runs.len().to_string(),
            which,
            first.detail.clone(),
            first.remedy.clone().unwrap_or_else(|| NONE.to_owned()),
        ]);
    }
    table
}
