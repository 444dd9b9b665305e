//! Who meets whom: for each level of a factor, in each combination of the others, the runs of
//! level and baseline by block.

use std::collections::{BTreeMap, BTreeSet};

use record::compare::LeftOut;
use record::digest::Digest;
use record::plan::LevelOf;
use record::{Effect, Scope, State};

use super::environment;
use super::runs::Runs;

/// One contrast before its metrics: the arms and the pairs that may count.
#[derive(Debug)]
pub(crate) struct Arms<'a> {
    pub(crate) factor: String,
    pub(crate) baseline: String,
    pub(crate) level: String,
    /// Whether the level is a control of its baseline.
    pub(crate) control: bool,
    /// `*+1k`.
    pub(crate) cell: String,
    /// Level of the factor `scenario`, when that is varied: rows of a table.
    pub(crate) scenario: Option<String>,
    /// One of the runs, for what they all share.
    pub(crate) sample: &'a Digest,
    /// Pairs whose runs may count, by block.
    pub(crate) pairs: Vec<Pair<'a>>,
    /// Runs that cannot count in any metric.
    pub(crate) left_out: Vec<LeftOut>,
}

/// Two runs of one block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) block: u32,
    pub(crate) baseline: (&'a str, &'a Digest),
    pub(crate) level: (&'a str, &'a Digest),
}

/// Names of the contrasted factors in the order in which the cells carry them.
pub(crate) fn contrasted_factors(measured: &[(&str, &Digest)]) -> Vec<String> {
    let mut factors: Vec<String> = Vec::new();
    for level in measured.iter().flat_map(|(_, digest)| &digest.levels) {
        if level.contrasted && !factors.contains(&level.factor) {
            factors.push(level.factor.clone());
        }
    }
    factors
}

/// The other factors' levels of a run, as a key.
fn others(digest: &Digest, factor: &str) -> Vec<(String, String)> {
    digest
        .levels
        .iter()
        .filter(|level| level.factor != factor)
        .map(|level| (level.factor.clone(), level.level.clone()))
        .collect()
}

/// The cell's name with `*` for the factor.
pub(crate) fn cell_of(digest: &Digest, factor: &str) -> String {
    let names: Vec<&str> = digest
        .levels
        .iter()
        .map(|level| if level.factor == factor { "*" } else { level.level.as_str() })
        .collect();
    names.join("+")
}

/// The contrasts of one factor: levels in written order, within each the cells in the order in
/// which the plan wrote them.
pub(crate) fn arms_of<'a>(
    measured: &[(&'a str, &'a Digest)],
    runs: &Runs,
    factor: &str,
) -> Vec<Arms<'a>> {
    /// The other factors' indices, which order the cells as the plan does, and their levels.
    type Key = (Vec<u32>, Vec<(String, String)>);
    type Member<'a> = (&'a str, &'a Digest, &'a LevelOf);
    let mut by_cell: BTreeMap<Key, Vec<Member<'a>>> = BTreeMap::new();
    let mut levels: BTreeMap<u32, &LevelOf> = BTreeMap::new();
    for (name, digest) in measured {
        let Some(own) = digest.levels.iter().find(|level| level.factor == factor) else {
            continue;
        };
        levels.entry(own.index).or_insert(own);
        let other = || digest.levels.iter().filter(|level| level.factor != factor);
        // Within a control of another factor everything is measured already by its twin.
        if other().any(|level| level.twin.is_some()) {
            continue;
        }
        let order: Vec<u32> = other().map(|level| level.index).collect();
        by_cell.entry((order, others(digest, factor))).or_default().push((name, digest, own));
    }
    let mut arms = Vec::new();
    for level in levels.values() {
        let Some(baseline) = twin_or_baseline(level, &levels) else {
            continue;
        };
        for members in by_cell.values() {
            let of = |wanted: &str| -> BTreeMap<u32, (&'a str, &'a Digest)> {
                members
                    .iter()
                    .filter(|(_, _, own)| own.level == wanted)
                    .map(|(name, digest, _)| (digest.block, (*name, *digest)))
                    .collect()
            };
            let (base_runs, level_runs) = (of(&baseline), of(&level.level));
            if base_runs.is_empty() && level_runs.is_empty() {
                continue;
            }
            let (_, sample, _) = members[0];
            let (pairs, left_out) = pair(&base_runs, &level_runs, runs, factor);
            arms.push(Arms {
                factor: factor.to_owned(),
                baseline: baseline.clone(),
                level: level.level.clone(),
                control: level.twin.is_some(),
                cell: cell_of(sample, factor),
                scenario: sample
                    .levels
                    .iter()
                    .find(|level| level.factor == "scenario")
                    .map(|level| level.level.clone()),
                sample,
                pairs,
                left_out,
            });
        }
    }
    arms
}

/// A control meets its twin, every other level the one with index 0.
fn twin_or_baseline(level: &LevelOf, levels: &BTreeMap<u32, &LevelOf>) -> Option<String> {
    match &level.twin {
        Some(twin) => Some(twin.clone()),
        None if level.index == 0 => None,
        None => levels.get(&0).map(|baseline| baseline.level.clone()),
    }
}

/// Pairs the runs of two arms by block.
fn pair<'a>(
    baseline: &BTreeMap<u32, (&'a str, &'a Digest)>,
    level: &BTreeMap<u32, (&'a str, &'a Digest)>,
    runs: &Runs,
    factor: &str,
) -> (Vec<Pair<'a>>, Vec<LeftOut>) {
    let mut left_out = Vec::new();
    let mut leave = |run: &str, reason: String| {
        left_out.push(LeftOut { run: run.to_owned(), reason });
    };
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    let blocks: BTreeSet<u32> = baseline.keys().chain(level.keys()).copied().collect();
    for block in blocks {
        let (first, second) = match (baseline.get(&block), level.get(&block)) {
            (Some(first), Some(second)) => (*first, *second),
            (Some(alone), None) | (None, Some(alone)) => {
                leave(alone.0, orphan(block, runs));
                continue;
            }
            (None, None) => continue,
        };
        match (void_reason(first.1), void_reason(second.1)) {
            (None, None) => {}
            (a, b) => {
                for (run, own, partner) in [(first.0, &a, second.0), (second.0, &b, first.0)] {
                    leave(
                        run,
                        match own {
                            Some(reason) => reason.clone(),
                            None => format!("orphan: its partner {partner} is void"),
                        },
                    );
                }
                continue;
            }
        }
        let differs = environment::disagreement(first.1, second.1, factor).or_else(|| {
            let reference = pairs.first()?.baseline.1;
            [first.1, second.1].iter().find_map(|run| environment::drift(reference, run))
        });
        match differs {
            Some(differs) => {
                for run in [first.0, second.0] {
                    leave(run, format!("environment: {differs}"));
                }
            }
            None => pairs.push(Pair { block, baseline: first, level: second }),
        }
    }
    (pairs, left_out)
}

/// Why a run has no partner in its block.
fn orphan(block: u32, runs: &Runs) -> String {
    let incomplete: Vec<&str> = runs
        .all
        .iter()
        .filter(|(name, digest)| digest.is_none() && block_of(name) == Some(block))
        .map(|(name, _)| name.as_str())
        .collect();
    if incomplete.is_empty() {
        format!("orphan: no partner in block {block}")
    } else {
        format!(
            "orphan: no partner in block {block}, where {} is incomplete",
            incomplete.join(", ")
        )
    }
}

/// The block that a directory name begins with.
fn block_of(name: &str) -> Option<u32> {
    name.split('-').next()?.parse().ok()
}

/// Why no figure of a run may be used; `None` when some may.
fn void_reason(digest: &Digest) -> Option<String> {
    let reasons: Vec<String> = digest
        .validity
        .reasons
        .iter()
        .filter(|reason| reason.effect == Effect::Void && reason.scope == Scope::Run)
        .map(|reason| format!("{}: {}", reason.gate, reason.detail))
        .collect();
    match (digest.validity.state, reasons.is_empty()) {
        (_, false) => Some(format!("void: {}", reasons.join("; "))),
        (State::Void, true) => Some("void".to_owned()),
        _ => None,
    }
}
