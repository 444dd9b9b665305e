//! From arms to rows: each metric that both arms have, with the pairs that are usable in it.
//! Each metric has its own pairs: a run whose latencies are void still has a throughput.

use std::collections::{BTreeMap, BTreeSet};

use record::State;
use record::compare::{LeftOut, PairValues};
use record::digest::{Digest, Metric};
use stats::sample::log_ratio;

use super::environment::same_identity;
use super::identity::unknown_identity;
use super::pairing::{Arms, Pair};
use super::terms::{Terms, is_contrasted};

/// One metric of one contrast before its verdict.
pub(crate) struct Row<'a> {
    pub(crate) arms: &'a Arms<'a>,
    pub(crate) metric: String,
    pub(crate) primary: bool,
    /// Whether the primary metric was chosen after the run.
    pub(crate) primary_after: bool,
    pub(crate) unit: String,
    pub(crate) higher_is_better: bool,
    /// Whether both arms of every pair are the same thing.
    pub(crate) null: bool,
    /// Both values of every pair that is usable here.
    pub(crate) pairs: Vec<PairValues>,
    /// Their log-ratios by block; a pair with one zero has none.
    pub(crate) log_ratios: Vec<(u32, f64)>,
    pub(crate) left_out: Vec<LeftOut>,
    /// Whether an arm does not say which build it was.
    pub(crate) undecidable: bool,
}

impl Row<'_> {
    /// The log-ratios alone.
    pub(crate) fn ratios(&self) -> Vec<f64> {
        self.log_ratios.iter().map(|(_, d)| *d).collect()
    }

    /// The log-ratios of the pairs whose order is known: whether the baseline ran first, and the
    /// log-ratio.
    pub(crate) fn leads(&self) -> Vec<(bool, f64)> {
        let first_of: BTreeMap<u32, bool> =
            self.pairs.iter().filter_map(|pair| Some((pair.block, pair.baseline_first?))).collect();
        let lead = |(block, d): &(u32, f64)| Some((*first_of.get(block)?, *d));
        self.log_ratios.iter().filter_map(lead).collect()
    }
}

/// The rows of one contrast, its primary metric first.
pub(crate) fn rows_of<'a>(
    arms: &'a Arms<'a>,
    terms: &Terms<'_>,
    notes: &mut Vec<String>,
) -> Vec<Row<'a>> {
    let (primary, primary_after) = primary_of_arms(arms, terms, notes);
    let mut names: BTreeSet<&String> = arms
        .pairs
        .iter()
        .flat_map(|pair| {
            let in_both = |name: &&String| pair.level.1.metrics.contains_key(*name);
            pair.baseline.1.metrics.keys().filter(in_both)
        })
        .filter(|name| is_contrasted(name))
        .collect();
    names.insert(&primary);
    let null = !arms.pairs.is_empty()
        && arms
            .pairs
            .iter()
            .all(|pair| same_identity(&pair.baseline.1.identity, &pair.level.1.identity));
    let undecidable = say_undecidable(arms, notes);
    let mut names: Vec<&String> = names.into_iter().collect();
    names.sort_by_key(|name| (**name != primary, place(name)));
    names
        .into_iter()
        .filter_map(|name| {
            let mut row = row_of(arms, name);
            row.primary = *name == primary;
            row.primary_after = row.primary && primary_after;
            (row.null, row.undecidable) = (null, undecidable);
            (row.primary || !row.pairs.is_empty()).then_some(row)
        })
        .collect()
}

/// Metrics in the order in which people look at them.
fn place(name: &str) -> (usize, String) {
    const ORDER: [&str; 10] = [
        "throughput",
        "time",
        "p50",
        "p90",
        "p95",
        "p99",
        "p999",
        "failures",
        "target.cpu_per_request",
        "generator.cpu_per_request",
    ];
    let known = ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
    (known, name.to_owned())
}

/// The primary metric of a contrast, and whether it was chosen after the run; where p99 has too
/// few samples, p50 stands in, with a note.
fn primary_of_arms(arms: &Arms<'_>, terms: &Terms<'_>, notes: &mut Vec<String>) -> (String, bool) {
    let (primary, after) = terms.primary(arms.sample);
    let known = |name: &str| {
        arms.pairs.iter().any(|pair| {
            [pair.baseline.1, pair.level.1]
                .iter()
                .all(|digest| digest.metrics.get(name).is_some_and(|m| m.value.is_some()))
        })
    };
    if primary == "p99" && !known("p99") && known("p50") {
        notes.push(format!(
            "{} in {}: p99 has too few samples, p50 is primary instead",
            arms.level, arms.cell
        ));
        return ("p50".to_owned(), after);
    }
    (primary, after)
}

/// Notes which arms do not say what they were.
fn say_undecidable(arms: &Arms<'_>, notes: &mut Vec<String>) -> bool {
    let mut lacking: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for pair in &arms.pairs {
        for (level, digest) in [(&arms.baseline, pair.baseline.1), (&arms.level, pair.level.1)] {
            for lack in unknown_identity(&digest.identity) {
                lacking.entry(level).or_default().insert(lack);
            }
        }
    }
    for (level, lacks) in &lacking {
        let lacks: Vec<&str> = lacks.iter().copied().collect();
        notes.push(format!(
            "undecidable: `{level}` does not say which build it was; unknown: {}",
            lacks.join(", ")
        ));
    }
    !lacking.is_empty()
}

fn row_of<'a>(arms: &'a Arms<'a>, metric: &str) -> Row<'a> {
    let sample = arms.pairs.iter().find_map(|pair| pair.baseline.1.metrics.get(metric));
    let mut row = Row {
        arms,
        metric: metric.to_owned(),
        primary: false,
        primary_after: false,
        unit: sample.map(|metric| metric.unit.clone()).unwrap_or_default(),
        higher_is_better: sample.is_some_and(|metric| metric.higher_is_better),
        null: false,
        pairs: Vec::new(),
        log_ratios: Vec::new(),
        left_out: arms.left_out.clone(),
        undecidable: false,
    };
    for pair in &arms.pairs {
        match values(pair, metric) {
            Ok((baseline, level)) => {
                row.pairs.push(PairValues {
                    block: pair.block,
                    baseline,
                    level,
                    baseline_first: pair.baseline_first(),
                });
                match log_ratio(baseline, level) {
                    Some(ratio) => row.log_ratios.push((pair.block, ratio)),
                    None => {
                        for run in [pair.baseline.0, pair.level.0] {
                            row.left_out.push(LeftOut {
                                run: run.to_owned(),
                                reason: format!("`{metric}` is 0 in one arm: no ratio"),
                            });
                        }
                    }
                }
            }
            Err(left_out) => row.left_out.extend(left_out),
        }
    }
    row
}

/// Both values of a pair, or who is left out and why.
fn values(pair: &Pair<'_>, metric: &str) -> Result<(f64, f64), Vec<LeftOut>> {
    let judged = [pair.baseline, pair.level]
        .map(|(run, digest)| (run, usable(digest, digest.metrics.get(metric))));
    match &judged {
        [(_, Ok(baseline)), (_, Ok(level))] => Ok((*baseline, *level)),
        [first, second] => Err([(first, second), (second, first)]
            .into_iter()
            .map(|((run, own), (partner, _))| LeftOut {
                run: (*run).to_owned(),
                reason: match own {
                    Err(reason) => reason.clone(),
                    Ok(_) => format!("orphan: its partner {partner} is left out"),
                },
            })
            .collect()),
    }
}

/// The value of a metric when it may be used, else why not.
pub(crate) fn usable(digest: &Digest, metric: Option<&Metric>) -> Result<f64, String> {
    let metric = metric.ok_or_else(|| "not measured".to_owned())?;
    let because = |word: &str| {
        let gates: BTreeSet<&str> = digest
            .validity
            .reasons
            .iter()
            .filter(|reason| reason.effect != record::Effect::Flag)
            .map(|reason| reason.gate.as_str())
            .collect();
        let gates: Vec<&str> = gates.into_iter().collect();
        if gates.is_empty() { word.to_owned() } else { format!("{word}: {}", gates.join(", ")) }
    };
    match metric.state {
        State::Valid => metric.value.ok_or_else(|| "unknown".to_owned()),
        State::AtLeast => Err(because("only a lower bound")),
        State::Censored => Err(because("censored")),
        State::Void => Err(because("void")),
    }
}
