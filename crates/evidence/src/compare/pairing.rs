//! Who meets whom: for each level of a factor, in each combination of the others, the runs of
//! level and baseline by block.

use std::collections::{BTreeMap, BTreeSet};

use record::compare::LeftOut;
use record::digest::Digest;
use record::plan::LevelOf;
use record::{Effect, Scope, State};

use super::environment;
use super::runs::Runs;
use super::terms::Terms;

/// One contrast before its metrics: the arms and the pairs that may count.
#[derive(Debug)]
pub(crate) struct Arms<'a> {
    pub(crate) factor: String,
    pub(crate) baseline: String,
    pub(crate) level: String,
    /// Whether the level is a control of its baseline.
    pub(crate) control: bool,
    /// Share by which it is slowed, for a positive control.
    pub(crate) positive: Option<f64>,
    /// `*+1k`.
    pub(crate) cell: String,
    /// Levels of the other factors.
    pub(crate) others: Vec<(String, String)>,
    /// One of the runs, for what they all share.
    pub(crate) sample: &'a Digest,
    /// Pairs whose runs may count, by block.
    pub(crate) pairs: Vec<Pair<'a>>,
    /// Runs that cannot count in any metric.
    pub(crate) left_out: Vec<LeftOut>,
}

impl Arms<'_> {
    /// Level of the factor `scenario`, when that is varied: rows of a table.
    pub(crate) fn scenario(&self) -> Option<&str> {
        self.other("scenario")
    }

    /// Level of another factor in this combination.
    pub(crate) fn other(&self, factor: &str) -> Option<&str> {
        self.others.iter().find(|(name, _)| name == factor).map(|(_, level)| level.as_str())
    }
}

/// Two runs of one block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) block: u32,
    pub(crate) baseline: (&'a str, &'a Digest),
    pub(crate) level: (&'a str, &'a Digest),
}

impl Pair<'_> {
    /// Whether the baseline's run came first: by the clock of their common boot, else by their
    /// places in the block. A repeated run has the place of the attempt that it repeats, and
    /// another time.
    pub(crate) fn baseline_first(&self) -> Option<bool> {
        let began = |digest: &Digest| digest.instants_ns.get("window_start").copied();
        let by_clock = began(self.baseline.1).zip(began(self.level.1));
        let by_place = (u64::from(self.baseline.1.order), u64::from(self.level.1.order));
        [by_clock, Some(by_place)].into_iter().flatten().find(|(a, b)| a != b).map(|(a, b)| a < b)
    }

    /// From the end of the run before each of the two to its own end, together, ns.
    pub(crate) fn duration_ns(&self) -> Option<u64> {
        let of = |digest: &Digest| {
            let instants = || digest.instants_ns.values();
            let span = instants().max()? - instants().min()?;
            Some(span.saturating_add(digest.since_previous_run_ns.unwrap_or(0)))
        };
        of(self.baseline.1)?.checked_add(of(self.level.1)?).filter(|ns| *ns > 0)
    }
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

/// Runs that carry no level of a factor that the others vary: nobody can tell what they were.
pub(crate) fn without_level(measured: &[(&str, &Digest)], factors: &[String]) -> Vec<LeftOut> {
    let lacks = |digest: &Digest, factor: &String| {
        !digest.levels.iter().any(|level| level.factor == *factor)
    };
    let leave = |(run, digest): &(&str, &Digest)| {
        let factor = factors.iter().find(|factor| lacks(digest, factor))?;
        Some(LeftOut {
            run: (*run).to_owned(),
            reason: format!("no tag: it carries no level of `{factor}`"),
        })
    };
    measured.iter().filter_map(leave).collect()
}

/// The contrasts of one factor: levels in written order, within each the cells in the order in
/// which the plan wrote them.
pub(crate) fn arms_of<'a>(
    measured: &[(&'a str, &'a Digest)],
    runs: &Runs,
    factor: &str,
    terms: &Terms<'_>,
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
        // Within a control of another factor, null or slowed, its twin has measured everything.
        if other().any(|level| level.twin.is_some()) {
            continue;
        }
        let order: Vec<u32> = other().map(|level| level.index).collect();
        by_cell.entry((order, others(digest, factor))).or_default().push((name, digest, own));
    }
    let baseline = baseline_of(factor, &levels, terms);
    let mut arms = Vec::new();
    for level in levels.values() {
        let Some(baseline) = twin_or_baseline(level, baseline) else {
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
            let asked = Asked { runs, factor, allow: &terms.registered.allow };
            let (pairs, left_out) = pair(&base_runs, &level_runs, &asked);
            arms.push(Arms {
                factor: factor.to_owned(),
                baseline: baseline.clone(),
                level: level.level.clone(),
                control: level.twin.is_some(),
                positive: level.positive,
                cell: cell_of(sample, factor),
                others: others(sample, factor),
                sample,
                pairs,
                left_out,
            });
        }
    }
    arms
}

/// The baseline of a factor: asked for, registered, else the level with index 0. `None` where
/// none of them was run.
fn baseline_of<'l>(
    factor: &str,
    levels: &BTreeMap<u32, &'l LevelOf>,
    terms: &Terms<'_>,
) -> Option<&'l str> {
    let named = |name: &str| {
        levels.values().find(|level| level.level == name && level.twin.is_none()).copied()
    };
    let chosen = terms.baseline(factor).into_iter().flatten().find_map(named);
    chosen.or_else(|| levels.get(&0).copied()).map(|level| level.level.as_str())
}

/// The baseline of each factor, where it was run.
pub(crate) fn baselines(
    measured: &[(&str, &Digest)],
    factors: &[String],
    terms: &Terms<'_>,
) -> BTreeMap<String, String> {
    let of = |factor: &String| {
        let own = measured.iter().flat_map(|(_, digest)| &digest.levels);
        let levels: BTreeMap<u32, &LevelOf> =
            own.filter(|level| level.factor == *factor).map(|level| (level.index, level)).collect();
        Some((factor.clone(), baseline_of(factor, &levels, terms)?.to_owned()))
    };
    factors.iter().filter_map(of).collect()
}

/// A control meets its twin, every other level the baseline; that meets nobody.
fn twin_or_baseline(level: &LevelOf, baseline: Option<&str>) -> Option<String> {
    match &level.twin {
        Some(twin) => Some(twin.clone()),
        None => baseline.filter(|baseline| *baseline != level.level).map(str::to_owned),
    }
}

/// What a pairing is about.
struct Asked<'a> {
    runs: &'a Runs,
    factor: &'a str,
    allow: &'a [String],
}

/// Pairs the runs of two arms by block.
fn pair<'a>(
    baseline: &BTreeMap<u32, (&'a str, &'a Digest)>,
    level: &BTreeMap<u32, (&'a str, &'a Digest)>,
    asked: &Asked<'_>,
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
                leave(alone.0, orphan(block, asked.runs));
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
        let candidate = Pair { block, baseline: first, level: second };
        let differs = environment::disagreement(first.1, second.1, asked.factor, asked.allow)
            .or_else(|| environment::drift(pairs.first()?, &candidate, asked.allow));
        match differs {
            Some(differs) => {
                for run in [first.0, second.0] {
                    leave(run, format!("environment: {differs}"));
                }
            }
            None => pairs.push(candidate),
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
