//! The page of a certificate: each property in one line, then the figures behind them.

use record::certificate::{Accuracy, Certificate, Finding, Step, Trial};

use crate::grid::wrapped;
use crate::text::{NONE, WIDTH, columns, count, duration, number};

/// Renders a certificate for the terminal, at most 100 columns.
#[must_use]
pub fn certificate_text(certificate: &Certificate) -> String {
    let of = &certificate.of;
    let mut text = wrapped(&format!(
        "certificate of {} ({}) on {}, kernel {}, {} over {}",
        of.generator, of.generator_version, of.host, of.kernel, of.protocol, of.transport
    ));
    if let Some(program) = &of.generator_program {
        text.push_str(&wrapped(&format!("started as {program}")));
    }
    if !certificate.against.is_empty() {
        text.push_str(&wrapped(&format!("against {}", certificate.against.join(", "))));
    }
    text.push('\n');
    text.push_str(&findings(&certificate.findings));
    for accuracy in &certificate.accuracy {
        text.push_str(&format!("\n{}\n", self::accuracy(accuracy)));
    }
    if !certificate.resolution.is_empty() {
        text.push_str(&format!(
            "\nmedian of a constant latency\n{}",
            trials(&certificate.resolution)
        ));
    }
    for (title, steps) in
        [("arrivals per second", &certificate.rates), ("users", &certificate.users)]
    {
        if !steps.is_empty() {
            text.push_str(&format!("\n{title}\n{}", ladder(steps)));
        }
    }
    text.push_str(&format!("\nmade {}, sha256 {}\n", certificate.made_utc, certificate.sha256));
    text
}

/// The word of a finding; colour only repeats it.
fn word(finding: &Finding) -> &'static str {
    match finding.holds {
        Some(true) => "holds",
        Some(false) => "FAILS",
        None if finding.unknown => "unknown",
        None => "told",
    }
}

fn findings(findings: &[Finding]) -> String {
    let lines: Vec<Vec<String>> = findings
        .iter()
        .map(|one| vec![word(one).to_owned(), one.name.clone(), one.detail.clone()])
        .collect();
    last_wrapped(lines, "lll")
}

/// As [`columns`], where the last column, which is prose, goes on beneath itself.
fn last_wrapped(rows: Vec<Vec<String>>, align: &str) -> String {
    let last = rows.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + 2
    };
    let room = WIDTH.saturating_sub((0..last).map(widest).sum());
    let mut lines = Vec::new();
    for mut row in rows {
        let prose = if row.len() > last { row.pop().unwrap_or_default() } else { String::new() };
        let mut parts = vec![String::new()];
        for word in prose.split(' ') {
            let part = parts.last().map_or(0, |part| part.chars().count());
            if part > 0 && part + 1 + word.chars().count() > room {
                parts.push(word.to_owned());
            } else if let Some(part) = parts.last_mut() {
                part.push_str(if part.is_empty() { "" } else { " " });
                part.push_str(word);
            }
        }
        let rest = vec![String::new(); last];
        for (index, part) in parts.into_iter().enumerate() {
            let mut line = if index == 0 { row.clone() } else { rest.clone() };
            line.push(part);
            lines.push(line);
        }
    }
    columns(&lines, align)
}

fn signed(share: Option<f64>) -> String {
    share.map_or_else(|| NONE.to_owned(), |share| format!("{:+.2} %", share * 100.0))
}

fn accuracy(accuracy: &Accuracy) -> String {
    let mut lines = vec![vec![
        format!("{} loop, {}", accuracy.model, accuracy.asked),
        "true".to_owned(),
        "said".to_owned(),
        "error".to_owned(),
    ]];
    for one in &accuracy.quantiles {
        lines.push(vec![
            one.name.clone(),
            duration(one.true_ns),
            duration(one.said_ns),
            signed(one.error_share),
        ]);
    }
    columns(&lines, "lrrr").trim_end().to_owned()
}

fn trials(trials: &[Trial]) -> String {
    let mut lines = vec![["asked", "true", "said", "error"].map(str::to_owned).to_vec()];
    for one in trials {
        lines.push(vec![
            duration(Some(one.asked_ns)),
            duration(one.true_ns),
            duration(one.said_ns),
            signed(one.error_share),
        ]);
    }
    columns(&lines, "rrrr")
}

fn ladder(steps: &[Step]) -> String {
    let head =
        ["asked", "served/s", "lag p99", "true p50", "said p50", "generator", "mock", "doubts"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    let share = |share: Option<f64>| {
        share.map_or_else(|| NONE.to_owned(), |share| format!("{:.0} %", share * 100.0))
    };
    for step in steps {
        lines.push(vec![
            count(step.asked as u64),
            step.served_per_s.map_or_else(|| NONE.to_owned(), number),
            duration(step.lag_p99_ns),
            duration(step.true_ns),
            duration(step.said_ns),
            share(step.generator_share),
            share(step.mock_share),
            step.doubts.join(", "),
        ]);
    }
    last_wrapped(lines, "rrrrrrrl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_goes_on_beneath_itself() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let long = "word ".repeat(30);
        let text = last_wrapped(vec![row(["holds", long.trim_end()]), row(["x", "short"])], "ll");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[1].starts_with("       word"), "{text}");
        assert_eq!(lines[2], "x      short");
        assert_eq!(text.matches("word").count(), 30);
    }
}
