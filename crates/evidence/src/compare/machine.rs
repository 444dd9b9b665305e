//! The machine over a whole matrix: its grades, and whether it kept its speed.

use std::collections::BTreeMap;

use record::digest::Digest;
use record::host_check::HostStanding;
use record::plan::Gates;

use crate::gates::percent;

/// Most runs that a note names.
const NAMED_MAX: usize = 8;

/// The grades that runs carry, the worst first, each once; nothing for runs of older versions.
pub(crate) fn standings(measured: &[(&str, &Digest)]) -> Vec<HostStanding> {
    let mut known: Vec<HostStanding> = Vec::new();
    for standing in measured.iter().filter_map(|(_, digest)| digest.standing.as_ref()) {
        if !known.contains(standing) {
            known.push(standing.clone());
        }
    }
    known.sort_by_key(|standing| std::cmp::Reverse(standing.grade));
    known
}

/// The runs before which a fixed loop took another time than it did in the middle of the matrix, by
/// name: a machine that is throttled from the tenth run on looks steady inside each.
pub(crate) fn changed_speed(measured: &[(&str, &Digest)]) -> Option<String> {
    let mut by_cores: BTreeMap<&str, Vec<(&str, u64, f64)>> = BTreeMap::new();
    for (name, digest) in measured {
        let bound = digest.checks.iter().find(|check| check.gate == "speed");
        let bound = bound.and_then(|check| check.bound).unwrap_or(Gates::default().speed_share);
        for spin in digest.host_states.before.iter().flat_map(|state| &state.spins) {
            if spin.median_ns > 0 {
                by_cores.entry(&spin.cores).or_default().push((name, spin.median_ns, bound));
            }
        }
    }
    let mut named: Vec<String> = Vec::new();
    for (cores, runs) in by_cores {
        let mut times: Vec<u64> = runs.iter().map(|(_, ns, _)| *ns).collect();
        times.sort_unstable();
        let middle = times[times.len() / 2] as f64;
        for (name, ns, bound) in runs {
            let change = ns as f64 / middle - 1.0;
            if change.abs() > bound {
                let sign = if change > 0.0 { "+" } else { "-" };
                named.push(format!("{name} {sign}{} on cores {cores}", percent(change.abs())));
            }
        }
    }
    if named.is_empty() {
        return None;
    }
    let more = named.len().saturating_sub(NAMED_MAX);
    named.truncate(NAMED_MAX);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    Some(format!(
        "the machine changed its speed: a fixed loop before the run took another time than in the \
         middle of the matrix: {}{more}",
        named.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use record::host_check::HostGrade;
    use record::host_state::{HostState, Spin};

    use super::super::fixture::{Label, null, slow, spread, throughput};
    use super::*;

    fn eight() -> Label {
        let mut label = Label::default();
        label.pairs(&slow(), &spread(8, -0.05, 0.004));
        label.pairs(&null(), &spread(8, 0.0, 0.003));
        label
    }

    fn spin(digest: &mut Digest, median_ns: u64) {
        let spins = vec![Spin { cores: "0-3".to_owned(), median_ns }];
        digest.host_states.before = Some(HostState { spins, ..HostState::default() });
    }

    #[test]
    fn runs_on_a_machine_that_changed_its_speed_are_named() {
        let mut label = eight();
        label.edit(|_| true, |digest| spin(digest, 3_000_000));
        assert!(!label.compared().notes.iter().any(|note| note.contains("changed its speed")));
        label.edit(|digest| digest.block == 8 && digest.cell == "slow", |d| spin(d, 3_300_000));
        let note = label.compared().notes.into_iter().find(|note| note.contains("speed"));
        insta::assert_snapshot!(note.expect("a note"), @"the machine changed its speed: a fixed loop before the run took another time than in the middle of the matrix: 08-01-slow +10 % on cores 0-3");
    }

    /// turbo is one mode for a whole data set; what was made in another is left out by name.
    #[test]
    fn pairs_of_another_turbo_mode_are_left_out() {
        let mut label = eight();
        let turbo = |digest: &mut Digest, on: bool| {
            digest.host_states.before = Some(HostState { turbo: Some(on), ..HostState::default() });
        };
        label.edit(|_| true, |digest| turbo(digest, true));
        assert_eq!(throughput(&label.compared(), "slow").pairs, 8);
        label.edit(|digest| digest.block > 6, |digest| turbo(digest, false));
        let comparison = label.compared();
        let contrast = throughput(&comparison, "slow");
        assert_eq!(contrast.pairs, 6);
        let reasons: Vec<&str> = contrast.left_out.iter().map(|left| &*left.reason).collect();
        assert!(!reasons.is_empty());
        assert!(
            reasons.iter().all(|reason| reason.starts_with("environment: `host.turbo` is off")),
            "{reasons:?}"
        );
        // One arm alone in another mode.
        let mut half = eight();
        half.edit(|_| true, |digest| turbo(digest, true));
        half.edit(|d| d.block == 3 && d.cell == "slow", |d| turbo(d, false));
        assert_eq!(throughput(&half.compared(), "slow").pairs, 7);
    }

    /// K-126: the grade travels with the table.
    #[test]
    fn the_worst_grade_comes_first() {
        let mut label = eight();
        assert_eq!(label.compared().tables.standings, []);
        let standing = |grade| HostStanding { grade, probes: false, reasons: Vec::new() };
        label.edit(|_| true, |digest| digest.standing = Some(standing(HostGrade::Qualified)));
        label.edit(|d| d.block == 2, |d| d.standing = Some(standing(HostGrade::Directional)));
        let grades = label.compared().tables.standings.into_iter().map(|one| one.grade);
        assert_eq!(grades.collect::<Vec<_>>(), [HostGrade::Directional, HostGrade::Qualified]);
    }
}
