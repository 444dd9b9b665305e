//! The text of `assay host check`: the grade, what limits it with its effect and what mends it, then
//! everything else in one line each.

use record::host_check::{Finding, FindingVerdict, HostCheck, HostGrade, label};

use crate::text::{WIDTH, columns, cut, duration};

/// Renders a check. Commands are never cut, so that they can be pasted.
#[must_use]
pub fn host_check_text(check: &HostCheck) -> String {
    let by = if check.probes { "facts and probes" } else { "facts alone, no probes" };
    let mut text = format!(
        "host {}: {}\n  by {by}, in {}{}\n",
        check.host,
        check.grade.word(),
        duration(Some(check.elapsed_ns)),
        check.bench.as_ref().map_or_else(String::new, |bench| format!("; for {bench}")),
    );
    let limits = |finding: &&Finding| finding.limit() > HostGrade::Qualified;
    let mut limiting: Vec<&Finding> = check.findings.iter().filter(limits).collect();
    limiting.sort_by_key(|finding| std::cmp::Reverse(finding.limit()));
    if !limiting.is_empty() {
        text.push_str("\nlimits the grade; commands are shown, never run\n");
    }
    for finding in limiting {
        let head = format!("{}: {}", label(&finding.name), finding.read);
        let verdict = finding.verdict.word();
        text.push_str(&block(&format!("  {verdict:<8} "), &head));
        text.push_str(&block("           ", &finding.effect));
        if let Some(command) = &finding.command {
            text.push_str(&format!("           $ {command}\n"));
        }
    }
    let rest: Vec<&Finding> =
        check.findings.iter().filter(|finding| finding.limit() == HostGrade::Qualified).collect();
    for (title, kept) in [
        ("in order", &[FindingVerdict::Good, FindingVerdict::Told][..]),
        ("unknown, and the grade does not hang on it", &[FindingVerdict::Unknown][..]),
    ] {
        let lines: Vec<Vec<String>> = rest
            .iter()
            .filter(|finding| kept.contains(&finding.verdict))
            .map(|finding| line(finding))
            .collect();
        if !lines.is_empty() {
            text.push_str(&format!("\n{title}\n{}", columns(&lines, "l")));
        }
    }
    text.push_str(&format!("\n{}\n", meaning(check.grade)));
    text
}

/// Verdict, name, what was read.
fn line(finding: &Finding) -> Vec<String> {
    const READ: usize = 73;
    vec![format!("  {}", finding.verdict.word()), label(&finding.name), cut(&finding.read, READ)]
}

fn meaning(grade: HostGrade) -> &'static str {
    match grade {
        HostGrade::Qualified => "qualified: absolute figures of this machine may be quoted",
        HostGrade::Directional => {
            "directional: ratios of pairs may stand, absolute figures are shape only"
        }
        HostGrade::Unfit => "unfit: something here would spoil the result itself",
    }
}

/// A text after a head, continued under its start.
fn block(head: &str, text: &str) -> String {
    let indent = head.chars().count();
    let mut lines = vec![head.to_owned()];
    let mut width = indent;
    let mut is_first = true;
    for word in text.split(' ') {
        let length = word.chars().count();
        if !is_first && width + 1 + length > WIDTH {
            lines.push(" ".repeat(indent));
            width = indent;
            is_first = true;
        }
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if !is_first {
            line.push(' ');
            width += 1;
        }
        line.push_str(word);
        width += length;
        is_first = false;
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(name: &str, verdict: FindingVerdict, read: &str) -> Finding {
        Finding {
            name: name.to_owned(),
            read: read.to_owned(),
            verdict,
            decides: name == "class",
            effect:
                "the clock follows the load: a light load is measured on a slow clock, and this \
                     sentence is longer than a line"
                    .to_owned(),
            command: (verdict == FindingVerdict::Caution)
                .then(|| "sudo cpupower frequency-set -g performance".to_owned()),
        }
    }

    #[test]
    fn a_check_on_one_page() {
        use FindingVerdict::{Caution, Good, Told, Unfit, Unknown};
        let mut check = HostCheck::of(
            "bench-3".to_owned(),
            Some("shop".to_owned()),
            true,
            vec![
                finding("class", Unknown, "virtual machine (no DMI)"),
                finding("governor", Caution, "powersave"),
                finding("nofile", Unfit, "64, may be raised to 64"),
                finding("clock_source", Good, "tsc"),
                finding("port_range", Told, "28232 ports / 60 s = 471 connections/s"),
                finding("temperature", Unknown, "unknown"),
            ],
        );
        check.elapsed_ns = 2_310_000_000;
        let text = host_check_text(&check);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        insta::assert_snapshot!(text, @"
        host bench-3: unfit
          by facts and probes, in 2.31 s; for shop

        limits the grade; commands are shown, never run
          unfit    nofile: 64, may be raised to 64
                   the clock follows the load: a light load is measured on a slow clock, and this sentence
                   is longer than a line
          unknown  class: virtual machine (no DMI)
                   the clock follows the load: a light load is measured on a slow clock, and this sentence
                   is longer than a line
          caution  governor: powersave
                   the clock follows the load: a light load is measured on a slow clock, and this sentence
                   is longer than a line
                   $ sudo cpupower frequency-set -g performance

        in order
          good  clock source  tsc
          told  port range    28232 ports / 60 s = 471 connections/s

        unknown, and the grade does not hang on it
          unknown  temperature  unknown

        unfit: something here would spoil the result itself
        ");
    }

    #[test]
    fn nothing_limits_a_qualified_machine() {
        let check = HostCheck::of(
            "h".to_owned(),
            None,
            false,
            vec![finding("clock_source", FindingVerdict::Good, "tsc")],
        );
        let text = host_check_text(&check);
        assert!(!text.contains("limits") && text.contains("qualified: absolute"), "{text}");
    }
}
