//! Small pieces of text that every page is made of.

use record::units::{HumanBytes, HumanDuration};
use record::{Reason, State};

/// What stands where a figure is not known.
pub(crate) const UNKNOWN: &str = "unknown";
/// What stands where a figure cannot be: too few samples, not applicable.
pub(crate) const NONE: &str = "-";

/// Nanoseconds for people.
pub(crate) fn duration(ns: Option<u64>) -> String {
    ns.map_or_else(|| NONE.to_owned(), |ns| HumanDuration(ns as f64).to_string())
}

/// Fractional nanoseconds for people.
pub(crate) fn duration_f(ns: Option<f64>) -> String {
    ns.map_or_else(|| NONE.to_owned(), |ns| HumanDuration(ns).to_string())
}

/// Bytes for people, in binary units.
pub(crate) fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| UNKNOWN.to_owned(), |bytes| HumanBytes(bytes as f64).to_string())
}

/// Any displayable value, or `unknown`.
pub(crate) fn or_unknown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| value.to_string())
}

/// A whole number with thousands apart: `24,000`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with four significant digits, thousands apart.
pub(crate) fn number(value: f64) -> String {
    let magnitude = value.abs();
    if (1_000.0..1e15).contains(&magnitude) {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(magnitude.round() as u64));
    }
    match magnitude {
        m if m >= 100.0 => format!("{value:.1}"),
        m if m >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A share as a percentage: `0.1 %`.
pub(crate) fn share(share: f64) -> String {
    let text = format!("{:.3}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A percentage with its sign: `+4.9 %`.
pub(crate) fn signed_percent(percent: f64) -> String {
    format!("{percent:+.2} %")
}

/// An interval in percent, its unit left to the head of the column.
pub(crate) fn interval_of(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(|| NONE.to_owned(), |[low, high]| format!("[{low:+.2}, {high:+.2}]"))
}

/// A value in the unit that it carries: durations, shares, rates and counts.
pub(crate) fn in_unit(value: Option<f64>, unit: &str) -> String {
    let Some(value) = value else {
        return NONE.to_owned();
    };
    match unit {
        "ns" => HumanDuration(value).to_string(),
        "bytes" => HumanBytes(value).to_string(),
        "share" => share(value),
        "/s" => format!("{}/s", number(value)),
        _ if value.fract() == 0.0 && value >= 0.0 => count(value as u64),
        _ => number(value),
    }
}

/// The word of a state.
pub(crate) fn state(state: State) -> &'static str {
    match state {
        State::Valid => "valid",
        State::AtLeast => "at_least",
        State::Censored => "censored",
        State::Void => "void",
    }
}

/// One line for each reason, with its remedy. A condition that touches two families of figures
/// has two reasons and one line.
pub(crate) fn reasons(reasons: &[Reason]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for reason in reasons {
        let line = match &reason.remedy {
            Some(remedy) => format!("{}: {} (try: {remedy})", reason.gate, reason.detail),
            None => format!("{}: {}", reason.gate, reason.detail),
        };
        // Only neighbours can be the same: reasons keep the order of the table of gates.
        let known = lines.last().is_some_and(|last| {
            let said = |line: &str| line.split(" (try: ").next().map(str::to_owned);
            said(last) == said(&line)
        });
        if !known {
            lines.push(line);
        }
    }
    lines
}

/// Text that cannot leave its Markdown cell or line.
pub(crate) fn cell(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .replace('|', "\\|")
        .replace('`', "'")
}

/// Text cut to `most` characters, with an ellipsis where something is missing.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// A sentence that starts with a capital letter.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Columns side by side without trailing blanks. `align` holds `l` or `r` for each column; its
/// last letter holds for all that follow.
pub(crate) fn columns(rows: &[Vec<String>], align: &str) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; width];
    for row in rows {
        for (column, value) in row.iter().enumerate() {
            widths[column] = widths[column].max(value.chars().count());
        }
    }
    let last = align.chars().last().unwrap_or('l');
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, value) in row.iter().enumerate() {
            let blanks = " ".repeat(widths[column] - value.chars().count());
            line.push_str(if column > 0 { "  " } else { "" });
            match align.chars().nth(column).unwrap_or(last) {
                'r' => line.push_str(&format!("{blanks}{value}")),
                _ => line.push_str(&format!("{value}{blanks}")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Widest table of a terminal, columns.
pub(crate) const WIDTH: usize = 100;
/// Columns of a name in a stacked row, its indent included.
const NAME_WIDTH: usize = 20;

/// Columns side by side under a header, the first row; where that is wider than a terminal, every
/// row as a block of its own with the header's names before its values.
pub(crate) fn fitted(lines: &[Vec<String>], align: &str) -> String {
    let wide = columns(lines, align);
    if lines.len() < 2 || wide.lines().all(|line| line.chars().count() <= WIDTH) {
        return wide;
    }
    let block = |line: &Vec<String>| -> String {
        let room = WIDTH - NAME_WIDTH;
        let pairs = lines[0].iter().zip(line);
        pairs
            .map(|(name, value)| {
                let name = cut(name, NAME_WIDTH - 3);
                format!("  {name:<0$}{1}\n", NAME_WIDTH - 2, cut(value, room))
            })
            .collect()
    };
    lines[1..].iter().map(block).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(number(12_345.6), "12,346");
        assert_eq!(number(-12_345.6), "-12,346");
        assert_eq!(number(1.5), "1.500");
        assert_eq!(share(0.001), "0.1 %");
        assert_eq!(share(0.0), "0 %");
        assert_eq!(in_unit(Some(2e10), "ns"), "20.0 s");
        assert_eq!(in_unit(None, "ns"), "-");
    }

    #[test]
    fn foreign_text_stays_in_its_cell() {
        assert_eq!(cell("a|b\n`c`"), "a\\|b 'c'");
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
