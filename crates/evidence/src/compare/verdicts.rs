//! From pairs to contrasts: one for each metric that both arms have, with its verdict and the
//! null arm that stands beside it.

use std::collections::{BTreeMap, BTreeSet};

use record::State;
use record::compare::{Contrast, LeftOut};
use record::digest::{Digest, Metric};
use stats::power::FEWEST_PAIRS;
use stats::sample::{log_ratio, mean, median, percent, sd};
use stats::verdict::{Verdict, Word, verdict};

use super::environment::{same_identity, unknown_identity};
use super::pairing::{Arms, Pair};
use crate::digest::{PERCENTILES, primary_of};

/// The pairs do not divide evenly over the two orders, so that drift loads one arm.
const ODD_PAIRS: &str = "odd_pairs";
/// An arm does not say which build it was.
const UNDECIDABLE: &str = "undecidable";
/// A declared control is not the same thing as its twin.
const CONTROL_DIFFERS: &str = "control_differs";

/// The smallest effect that matters, as a share: 5 % for latency percentiles, 2 % for
/// throughput, CPU, time and the rest (D4).
#[must_use]
fn margin(metric: &str) -> f64 {
    if PERCENTILES.iter().any(|(name, _, _)| *name == metric) { 0.05 } else { 0.02 }
}

/// One metric of one contrast before its verdict.
struct Row<'a> {
    arms: &'a Arms<'a>,
    metric: String,
    primary: bool,
    unit: String,
    higher_is_better: bool,
    null: bool,
    log_ratios: Vec<(u32, f64)>,
    baseline: Vec<f64>,
    level: Vec<f64>,
    left_out: Vec<LeftOut>,
    undecidable: bool,
}

/// The contrasts of one factor, its nulls included.
pub(crate) fn contrasts(all: &[Arms<'_>], notes: &mut Vec<String>) -> Vec<Contrast> {
    let rows: Vec<Row<'_>> = all.iter().flat_map(|arms| rows_of(arms, notes)).collect();
    rows.iter().map(|row| contrast(row, &rows)).collect()
}

fn rows_of<'a>(arms: &'a Arms<'a>, notes: &mut Vec<String>) -> Vec<Row<'a>> {
    let primary = primary_of_arms(arms, notes);
    let mut names: BTreeSet<&String> = arms
        .pairs
        .iter()
        .flat_map(|pair| {
            let in_both = |name: &&String| pair.level.1.metrics.contains_key(*name);
            pair.baseline.1.metrics.keys().filter(in_both)
        })
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
            let row = row_of(arms, name, *name == primary, null, undecidable);
            (row.primary || !row.log_ratios.is_empty() || !row.baseline.is_empty()).then_some(row)
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

/// The primary metric of a contrast; where p99 has too few samples, p50 stands in, with a note.
fn primary_of_arms(arms: &Arms<'_>, notes: &mut Vec<String>) -> String {
    let primary = primary_of(arms.sample);
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
        return "p50".to_owned();
    }
    primary
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

fn row_of<'a>(
    arms: &'a Arms<'a>,
    metric: &str,
    primary: bool,
    null: bool,
    undecidable: bool,
) -> Row<'a> {
    let of = |digest: &Digest| digest.metrics.get(metric).cloned();
    let sample = arms.pairs.iter().find_map(|pair| of(pair.baseline.1));
    let mut row = Row {
        arms,
        metric: metric.to_owned(),
        primary,
        unit: sample.as_ref().map(|metric| metric.unit.clone()).unwrap_or_default(),
        higher_is_better: sample.is_some_and(|metric| metric.higher_is_better),
        null,
        log_ratios: Vec::new(),
        baseline: Vec::new(),
        level: Vec::new(),
        left_out: arms.left_out.clone(),
        undecidable,
    };
    for pair in &arms.pairs {
        match values(pair, &of) {
            Ok((baseline, level)) => {
                row.baseline.push(baseline);
                row.level.push(level);
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
fn values(
    pair: &Pair<'_>,
    of: &impl Fn(&Digest) -> Option<Metric>,
) -> Result<(f64, f64), Vec<LeftOut>> {
    let judged = [pair.baseline, pair.level].map(|(run, digest)| (run, usable(digest, of(digest))));
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
fn usable(digest: &Digest, metric: Option<Metric>) -> Result<f64, String> {
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

/// The null contrast beside a row: that of its cell, else of its scenario, else of its factor.
/// The twin of the same baseline comes first.
fn null_of<'r, 'a>(row: &Row<'_>, rows: &'r [Row<'a>]) -> Option<&'r Row<'a>> {
    let nulls = || {
        rows.iter().filter(|other| {
            other.null && other.metric == row.metric && other.arms.factor == row.arms.factor
        })
    };
    let closeness = |other: &Row<'_>| {
        (
            other.arms.cell != row.arms.cell,
            other.arms.scenario != row.arms.scenario,
            other.arms.baseline != row.arms.baseline,
        )
    };
    nulls().min_by_key(|other| closeness(other))
}

fn contrast(row: &Row<'_>, rows: &[Row<'_>]) -> Contrast {
    let ratios = |row: &Row<'_>| -> Vec<f64> { row.log_ratios.iter().map(|(_, d)| *d).collect() };
    let own = ratios(row);
    // A null stands beside itself: it is void when it shows a difference of a thing with itself.
    let null = if row.null { Some(row) } else { null_of(row, rows) };
    let null_ratios = null.map(ratios);
    let share = margin(&row.metric);
    let judged = verdict(&own, share, row.higher_is_better, null_ratios.as_deref());
    let pairs = own.len();
    Contrast {
        factor: row.arms.factor.clone(),
        baseline: row.arms.baseline.clone(),
        level: row.arms.level.clone(),
        cell: row.arms.cell.clone(),
        metric: row.metric.clone(),
        unit: row.unit.clone(),
        primary: row.primary,
        pairs: pairs as u32,
        baseline_value: median(&row.baseline),
        level_value: median(&row.level),
        ratio: mean(&own).map(f64::exp),
        effect_percent: judged.effect.map(percent),
        interval_percent: judged.interval.map(|[low, high]| [percent(low), percent(high)]),
        mean_log_ratio: mean(&own),
        sd_log_ratio: sd(&own),
        null: row.null,
        verdict: word(row, &judged).as_str().to_owned(),
        flags: flags(row, &judged),
        null_arm: null
            .filter(|null| !row.null && null.log_ratios.len() >= FEWEST_PAIRS as usize)
            .map(|null| format!("{} in {}", null.arms.level, null.arms.cell)),
        margin_percent: Some(share * 100.0),
        minimum_detectable_percent: judged.minimum_detectable.map(percent),
        needed_pairs: judged.needed_pairs,
        log_ratios: row.log_ratios.clone(),
        left_out: row.left_out.clone(),
        ..Contrast::default()
    }
}

/// Where every pair fell to a gate there is nothing to be inconclusive about.
fn word(row: &Row<'_>, judged: &Verdict) -> Word {
    let fell = row.left_out.iter().any(|left| left.reason.starts_with("void"));
    if row.log_ratios.is_empty() && fell { Word::Void } else { judged.word }
}

fn flags(row: &Row<'_>, judged: &Verdict) -> Vec<String> {
    let mut flags: Vec<String> = judged.flags.iter().map(|flag| (*flag).to_owned()).collect();
    let mut raise = |holds: bool, flag: &str| {
        if holds {
            flags.push(flag.to_owned());
        }
    };
    raise(row.log_ratios.len() % 2 == 1, ODD_PAIRS);
    raise(row.undecidable, UNDECIDABLE);
    raise(row.arms.control && !row.null && !row.arms.pairs.is_empty(), CONTROL_DIFFERS);
    flags
}
