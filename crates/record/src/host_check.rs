//! `assay host check --json` and the grade that travels with every result: what a machine can be
//! trusted with before anything is measured on it.

use serde::{Deserialize, Serialize};

use crate::Format;

/// What a machine is good for. The order is from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostGrade {
    /// Nothing that was looked at stands in the way of an absolute figure.
    Qualified,
    /// Ratios of pairs may stand; absolute figures are shape only.
    Directional,
    /// Something would spoil the result itself.
    Unfit,
}

impl HostGrade {
    /// The word in tables and files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Qualified => "qualified",
            Self::Directional => "directional",
            Self::Unfit => "unfit",
        }
    }
}

/// What one finding says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingVerdict {
    /// In order.
    Good,
    /// A fact that no grade hangs on.
    Told,
    /// The machine does not tell, or it was not asked. Never taken for good: where the grade hangs
    /// on it, it is at most directional.
    Unknown,
    /// Limits what absolute figures are worth: at most directional.
    Caution,
    /// Would spoil the result: unfit.
    Unfit,
}

impl FindingVerdict {
    /// The word in tables and files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Told => "told",
            Self::Unknown => "unknown",
            Self::Caution => "caution",
            Self::Unfit => "unfit",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its name, lower case with underscores; stable between versions.
    pub name: String,
    /// What was read or measured, with its unit.
    pub read: String,
    /// What it says.
    pub verdict: FindingVerdict,
    /// Whether an unknown answer limits the grade.
    #[serde(default)]
    pub decides: bool,
    /// What it does to a measurement, in words.
    pub effect: String,
    /// The exact command that mends it; it is shown and never run. Absent where nothing is to be
    /// mended or no command can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Finding {
    /// The grade that a machine can have at most with this finding.
    #[must_use]
    pub fn limit(&self) -> HostGrade {
        match self.verdict {
            FindingVerdict::Good | FindingVerdict::Told => HostGrade::Qualified,
            FindingVerdict::Unknown if !self.decides => HostGrade::Qualified,
            FindingVerdict::Unknown | FindingVerdict::Caution => HostGrade::Directional,
            FindingVerdict::Unfit => HostGrade::Unfit,
        }
    }
}

/// A checked machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCheck {
    /// `assay.host`.
    pub format: Format,
    /// Host name.
    pub host: String,
    /// The bench that it was held against, where one was named.
    #[serde(default)]
    pub bench: Option<String>,
    /// Whether the probes were made; without them the grade rests on facts alone.
    pub probes: bool,
    /// The grade: the worst limit of all findings.
    pub grade: HostGrade,
    /// The names of the findings that limit it, worst first.
    pub limited_by: Vec<String>,
    /// The findings in a fixed order.
    pub findings: Vec<Finding>,
    /// What the check took, ns.
    pub elapsed_ns: u64,
}

impl HostCheck {
    /// A check from its findings.
    #[must_use]
    pub fn of(host: String, bench: Option<String>, probes: bool, findings: Vec<Finding>) -> Self {
        let grade = findings.iter().map(Finding::limit).max().unwrap_or(HostGrade::Directional);
        let mut limiting: Vec<&Finding> =
            findings.iter().filter(|finding| finding.limit() > HostGrade::Qualified).collect();
        limiting.sort_by_key(|finding| std::cmp::Reverse(finding.limit()));
        let limited_by = limiting.into_iter().map(|finding| finding.name.clone()).collect();
        let format = Format::v1("assay.host");
        Self { format, host, bench, probes, grade, limited_by, findings, elapsed_ns: 0 }
    }

    /// The finding of a name.
    #[must_use]
    pub fn finding(&self, name: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.name == name)
    }

    /// What travels with a result: the grade and why.
    #[must_use]
    pub fn standing(&self) -> HostStanding {
        let reasons = self.limited_by.iter().filter_map(|name| self.finding(name));
        let reasons = reasons.map(|found| format!("{} {}", label(&found.name), found.read));
        HostStanding { grade: self.grade, probes: self.probes, reasons: reasons.collect() }
    }
}

/// The name of a finding as people read it.
#[must_use]
pub fn label(name: &str) -> String {
    name.replace('_', " ")
}

/// The grade of the machine that a run was made on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStanding {
    /// The grade.
    pub grade: HostGrade,
    /// Whether probes were made, or facts alone were read.
    pub probes: bool,
    /// What limits it, worst first; empty when it is qualified.
    pub reasons: Vec<String>,
}

impl HostStanding {
    /// `directional: governor powersave; SMT on`, with at most three reasons.
    #[must_use]
    pub fn headline(&self) -> String {
        const MOST: usize = 3;
        let mut text = self.grade.word().to_owned();
        for (index, reason) in self.reasons.iter().take(MOST).enumerate() {
            text.push_str(if index == 0 { ": " } else { "; " });
            text.push_str(reason);
        }
        if self.reasons.len() > MOST {
            text.push_str(&format!("; {} more", self.reasons.len() - MOST));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(name: &str, verdict: FindingVerdict, decides: bool) -> Finding {
        let read = "on".to_owned();
        Finding {
            name: name.to_owned(),
            read,
            verdict,
            decides,
            effect: String::new(),
            command: None,
        }
    }

    fn check(findings: &[(&str, FindingVerdict, bool)]) -> HostCheck {
        let findings = findings.iter().map(|&(name, word, decides)| finding(name, word, decides));
        HostCheck::of("h".to_owned(), None, true, findings.collect())
    }

    #[test]
    fn the_worst_finding_is_the_grade() {
        use FindingVerdict::{Caution, Good, Told, Unfit, Unknown};
        assert_eq!(check(&[("a", Good, true), ("b", Told, true)]).grade, HostGrade::Qualified);
        let unasked = check(&[("a", Good, true), ("b", Unknown, false)]);
        assert_eq!(unasked.grade, HostGrade::Qualified);
        let dark = check(&[("a", Good, true), ("b", Unknown, true)]);
        assert_eq!(dark.grade, HostGrade::Directional, "unknown is never assumed good");
        let bad = check(&[("a", Caution, true), ("some_thing", Unfit, false)]);
        assert_eq!(
            (bad.grade, &*bad.limited_by),
            (HostGrade::Unfit, &["some_thing", "a"].map(str::to_owned)[..])
        );
        assert_eq!(bad.standing().headline(), "unfit: some thing on; a on");
    }

    #[test]
    fn a_machine_of_which_nothing_is_known_is_not_qualified() {
        assert_eq!(check(&[]).grade, HostGrade::Directional);
    }

    #[test]
    fn a_headline_has_an_end() {
        use FindingVerdict::Caution;
        let many: Vec<_> = ["a", "b", "c", "d", "e"].map(|name| (name, Caution, true)).to_vec();
        assert_eq!(check(&many).standing().headline(), "directional: a on; b on; c on; 2 more");
    }
}
