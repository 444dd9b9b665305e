//! Short ways to write a finding.

use record::host_check::{Finding, FindingVerdict};

/// A finding on which no grade hangs while it is unknown.
pub(crate) fn finding(
    name: &str,
    verdict: FindingVerdict,
    read: impl Into<String>,
    effect: impl Into<String>,
) -> Finding {
    Finding {
        name: name.to_owned(),
        read: read.into(),
        verdict,
        decides: false,
        effect: effect.into(),
        command: None,
    }
}

/// What the machine does not tell.
pub(crate) fn unknown(name: &str, effect: impl Into<String>) -> Finding {
    finding(name, FindingVerdict::Unknown, "unknown", effect)
}

/// What a probe would tell, without the probe.
pub(crate) fn not_probed(name: &str, effect: impl Into<String>) -> Finding {
    finding(name, FindingVerdict::Unknown, "not probed", effect)
}

/// Adds what mends or shows it, and the grade's dependence on it.
pub(crate) trait With {
    /// The command, shown only where something is amiss.
    fn command(self, command: impl Into<String>) -> Self;
    /// An unknown answer limits the grade.
    fn deciding(self) -> Self;
}

impl With for Finding {
    fn command(mut self, command: impl Into<String>) -> Self {
        if matches!(self.verdict, FindingVerdict::Caution | FindingVerdict::Unfit) {
            self.command = Some(command.into());
        }
        self
    }

    fn deciding(mut self) -> Self {
        self.decides = true;
        self
    }
}

/// `text` with an `s` unless the number is one.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A share as a percentage with at most two decimals.
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_for_what_is_amiss() {
        let fine = finding("smt", FindingVerdict::Good, "off", "").command("x");
        assert_eq!(fine.command, None);
        let amiss = finding("smt", FindingVerdict::Caution, "on", "").command("x");
        assert_eq!(amiss.command.as_deref(), Some("x"));
    }

    #[test]
    fn words() {
        assert_eq!((plural(1, "core"), plural(2, "core")), ("1 core".into(), "2 cores".into()));
        assert_eq!(
            (percent(0.005), percent(0.0), percent(0.12345)),
            ("0.5 %".into(), "0 %".into(), "12.35 %".into())
        );
    }
}
