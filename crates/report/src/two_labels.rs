//! The tables of `assay compare --tables A B`.

use record::compare::{Estimate, Variance};
use record::two_labels::{Half, SessionDrift, TwoLabels, TwoLabelsRow};

use crate::compare::Show;
use crate::tables::variance_lines;
use crate::text::{NONE, fitted, in_unit, signed_percent};

/// Renders two labels side by side for the terminal: where each was made, effects and their
/// difference, the drift of the arms that nothing touched, then every doubt.
#[must_use]
pub fn two_labels_text(tables: &TwoLabels, show: Show) -> String {
    let mut text = halves(tables);
    let shown = |row: &&TwoLabelsRow| show == Show::All || row.primary;
    let mut groups: Vec<((&str, &str), Vec<&TwoLabelsRow>)> = Vec::new();
    for row in tables.rows.iter().filter(shown) {
        let key = (row.factor.as_str(), row.metric.as_str());
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    for ((factor, metric), rows) in &groups {
        let primary = if rows[0].primary { "primary" } else { "exploratory" };
        text.push_str(&format!(
            "\n{factor}: {metric} ({primary}), % of the baseline; composed from two tables\n"
        ));
        text.push_str(&effects(rows));
    }
    let metrics: Vec<&str> = groups.iter().map(|((_, metric), _)| *metric).collect();
    let drifts: Vec<&SessionDrift> =
        tables.drifts.iter().filter(|drift| metrics.contains(&drift.metric.as_str())).collect();
    text.push_str(&drift_table(&drifts));
    let variances: Vec<&Variance> =
        tables.variances.iter().filter(|one| metrics.contains(&one.metric.as_str())).collect();
    let lines = variance_lines(&variances);
    if !lines.is_empty() {
        text.push_str("\nspread of the untouched arms by level\n");
        text.extend(lines.iter().map(|line| format!("  {line}\n")));
    }
    let doubts = doubts(tables, show);
    if !doubts.is_empty() {
        text.push('\n');
        text.extend(doubts.iter().map(|line| format!("- {line}\n")));
    }
    text
}

fn halves(tables: &TwoLabels) -> String {
    let (a, b) = (&tables.a, &tables.b);
    let boot = a.boot_id.as_deref().unwrap_or("unknown");
    let mut text = format!(
        "labels {} (A) and {} (B)\nhost {}, boot {boot}, assay {} ({})\n\n",
        a.label, b.label, a.host, a.assay.version, a.assay.commit
    );
    let line = |name: &str, half: &Half| {
        vec![
            name.to_owned(),
            half.label.clone(),
            format!("{} runs", half.runs),
            format!("from {}", half.started_utc),
            format!("window {}", half.windows.join(", ")),
        ]
    };
    text.push_str(&fitted(&[line("A", a), line("B", b)], "l"));
    text
}

fn effects(rows: &[&TwoLabelsRow]) -> String {
    let with_cell = rows.iter().any(|row| row.cell != "*");
    let mut header = vec!["level / baseline", "in A", "in B", "B against A, % of A", "n"];
    if with_cell {
        header.insert(0, "cell");
    }
    let mut lines: Vec<Vec<String>> = vec![header.into_iter().map(str::to_owned).collect()];
    for row in rows {
        let marked = |level: &String| {
            let mark = if row.changed.contains(level) { "*" } else { "" };
            format!("{level}{mark}")
        };
        let mut line = vec![
            format!("{} / {}", marked(&row.level), marked(&row.baseline)),
            estimate(row.effect_a_percent),
            estimate(row.effect_b_percent),
            if row.word == "not_comparable" {
                "not comparable".to_owned()
            } else {
                estimate(row.difference_percent)
            },
            format!("{}, {}", row.pairs[0], row.pairs[1]),
        ];
        if with_cell {
            line.insert(0, row.cell.clone());
        }
        lines.push(line);
    }
    let mut text = fitted(&lines, if with_cell { "llrrrr" } else { "lrrrr" });
    if rows.iter().any(|row| !row.changed.is_empty()) {
        text.push_str("* not the same thing in both labels\n");
    }
    text
}

/// `+5.00 % [+4.20, +5.80]`.
pub(crate) fn estimate(estimate: Option<Estimate>) -> String {
    let Some(estimate) = estimate else {
        return NONE.to_owned();
    };
    let interval = estimate
        .interval
        .map_or_else(String::new, |[low, high]| format!(" [{low:+.2}, {high:+.2}]"));
    format!("{}{interval}", signed_percent(estimate.value))
}

fn drift_table(drifts: &[&SessionDrift]) -> String {
    if drifts.is_empty() {
        return "\nsession drift unknown: no arm is the same thing in both labels\n".to_owned();
    }
    let header = ["untouched cell", "metric", "in A", "in B", "change, % of A", "n"];
    let mut lines: Vec<Vec<String>> = vec![header.iter().map(|name| (*name).to_owned()).collect()];
    lines.extend(drifts.iter().map(|drift| {
        vec![
            drift.cell.clone(),
            drift.metric.clone(),
            in_unit(Some(drift.a), &drift.unit),
            in_unit(Some(drift.b), &drift.unit),
            estimate(Some(drift.change_percent)),
            format!("{}, {}", drift.runs[0], drift.runs[1]),
        ]
    }));
    format!("\nsession drift\n{}", fitted(&lines, "llrrrr"))
}

fn doubts(tables: &TwoLabels, show: Show) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for row in tables.rows.iter().filter(|row| show == Show::All || row.primary) {
        if let Some(reason) = &row.reason {
            lines.push(format!("halves not comparable ({} in {}): {reason}", row.level, row.cell));
        }
    }
    lines.extend(tables.notes.iter().cloned());
    lines
}
