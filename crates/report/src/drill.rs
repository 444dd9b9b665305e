//! `assay drill`: the answer to one question, for the terminal.

use record::recording::Drill;

use crate::text::{self, bytes, cell, count, cut, duration, share};

/// Longest name in an answer on the terminal.
const ANSWER_CHARS: usize = 180;

/// Renders the answer to a question, under 100 lines.
#[must_use]
pub fn drill_text(drill: &Drill) -> String {
    let amount = |value: u64| match drill.unit.as_str() {
        "bytes" => bytes(Some(value)),
        "ns" => duration(Some(value)),
        _ => count(value),
    };
    let unit = match drill.unit.as_str() {
        "bytes" | "ns" => "",
        other => other,
    };
    let site = drill.site.as_ref().map_or_else(String::new, |site| format!(" through `{site}`"));
    let mut text = format!("{}{site}: {} {unit}", drill.subject, amount(drill.total));
    text = format!("{}{}\n", text.trim_end(), if drill.truncated { " (partial)" } else { "" });
    for note in &drill.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    for table in &drill.tables {
        text.push_str(&format!("\n{}\n", table.title));
        let rows: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| {
                let share = share(row.amount as f64 / drill.total.max(1) as f64);
                let share = if drill.subject == "floor" { String::new() } else { share };
                let name = row.name.strip_prefix('.').unwrap_or(&row.name);
                vec![amount(row.amount), share, count(row.count), cell(&cut(name, ANSWER_CHARS))]
            })
            .collect();
        text.push_str(&text::columns(&rows, "rrrl"));
        if table.rest_rows > 0 {
            text.push_str(&format!("and {} more\n", count(table.rest_rows)));
        }
    }
    text
}
