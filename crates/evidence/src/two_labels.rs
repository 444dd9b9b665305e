//! Two labels side by side: one option of one arm differs between them, and the other arm, which
//! nothing touched, tells how far the two sessions drifted apart. The effects in both are paired
//! within their own label; their difference carries the errors of both.
//!
//! Figures of two labels are only subtracted when both were made on one host, in one boot, by one
//! build of assay, under the same gates and over the same windows. Everything else is refused by
//! name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use record::compare::{Contrast, Estimate};
use record::digest::Digest;
use record::plan::Extent;
use record::two_labels::{Half, SessionDrift, TwoLabels, TwoLabelsRow};
use record::units::HumanDuration;
use record::{Format, State};
use stats::prediction::{Measured, propagated};
use stats::sample::{median, percent, t_interval};

use crate::compare::environment::{place, same_identity};
use crate::compare::runs::Runs;
use crate::compare::{CompareOptions, compare_runs};
use crate::error::EvidenceError;
use crate::tables::arms::{arm_of, arm_runs, name_of};
use crate::tables::variance::of_groups;

/// The halves may be compared in this row.
pub const COMPARABLE: &str = "comparable";
/// They may not; the reason stands beside it.
pub const NOT_COMPARABLE: &str = "not_comparable";
/// Nothing changed in either arm: what the difference shows is noise and drift alone.
pub const CONTROL: &str = "control";
/// The kind of a figure that comes from two tables.
const COMPOSED: &str = "composed";

/// One label with everything that is needed of it.
struct Side<'a> {
    name: &'static str,
    label: &'a str,
    measured: Vec<(&'a str, &'a Digest)>,
    contrasts: Vec<Contrast>,
}

/// Puts the labels in `a` and `b` side by side.
///
/// # Errors
/// As [`crate::compare()`] for each; [`EvidenceError::NotComparable`] when hosts, boots, builds,
/// gates or windows differ, each named with both values.
pub fn two_labels(a: &Path, b: &Path) -> Result<TwoLabels, EvidenceError> {
    let (runs_a, runs_b) = (Runs::read(a)?, Runs::read(b)?);
    let (a, b) = (side("A", &runs_a)?, side("B", &runs_b)?);
    refuse_unequal(&a, &b)?;
    let mut notes = only_in_one(&a, &b);
    notes.extend(only_in_one(&b, &a));
    let rows = rows(&a, &b);
    let untouched = untouched_cells(&a, &b);
    Ok(TwoLabels {
        format: Format::v1("assay.two_labels"),
        a: half(&a),
        b: half(&b),
        drifts: drifts(&untouched, &rows),
        variances: untouched
            .iter()
            .flat_map(|cell| {
                let groups = vec![digests(&cell.a), digests(&cell.b)];
                ["throughput", "p50"].map(|metric| of_groups(cell.cell, metric, &groups, "session"))
            })
            .flatten()
            .collect(),
        rows,
        notes,
    })
}

fn side<'a>(name: &'static str, runs: &'a Runs) -> Result<Side<'a>, EvidenceError> {
    let contrasts = compare_runs(runs, &CompareOptions::default())?.contrasts;
    Ok(Side { name, label: &runs.label, measured: runs.measured().0, contrasts })
}

/// Whether something is left unsaid: no row at all, or a row of a primary metric whose halves are
/// not comparable.
#[must_use]
pub fn is_doubtful(tables: &TwoLabels) -> bool {
    tables.rows.is_empty()
        || tables.rows.iter().any(|row| row.primary && row.word == NOT_COMPARABLE)
}

/// Refuses labels that were made in two places, by two tools or over two windows.
fn refuse_unequal(a: &Side<'_>, b: &Side<'_>) -> Result<(), EvidenceError> {
    let mut differing = Vec::new();
    let (left, right) = (places(a), places(b));
    let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for key in keys {
        let shown = |facts: &BTreeMap<String, BTreeSet<String>>| {
            facts.get(key).map_or_else(|| "unset".to_owned(), joined)
        };
        // Cells may have gates of their own; a label made in two places has no place.
        let several = |facts: &BTreeMap<String, BTreeSet<String>>| {
            !key.starts_with("gates.") && facts.get(key).is_some_and(|values| values.len() > 1)
        };
        if left.get(key) != right.get(key) || several(&left) {
            differing.push(format!("`{key}` is {} in A and {} in B", shown(&left), shown(&right)));
        }
    }
    differing.extend(unequal_windows(&windows(a), &windows(b)));
    if differing.is_empty() {
        return Ok(());
    }
    Err(EvidenceError::NotComparable { a: a.label.to_owned(), b: b.label.to_owned(), differing })
}

/// Host, boot, tool and gates of all runs: every value that a key has.
fn places(side: &Side<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, digest) in &side.measured {
        for (key, value) in place(digest) {
            all.entry(key).or_default().insert(value);
        }
    }
    all
}

/// Cells whose windows differ, those of the same two windows in one text.
fn unequal_windows(
    a: &BTreeMap<&str, BTreeSet<String>>,
    b: &BTreeMap<&str, BTreeSet<String>>,
) -> Vec<String> {
    let mut cells: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (cell, window) in a {
        if let Some(other) = b.get(cell).filter(|other| *other != window) {
            let both = format!("{} in A and {} in B", joined(window), joined(other));
            cells.entry(both).or_default().push(cell);
        }
    }
    let text = |(both, cells): (String, Vec<&str>)| {
        format!("the measured window of `{}` is {both}", cells.join("`, `"))
    };
    cells.into_iter().map(text).collect()
}

/// The windows that were asked for, by cell.
fn windows<'a>(side: &Side<'a>) -> BTreeMap<&'a str, BTreeSet<String>> {
    let mut all: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (_, digest) in &side.measured {
        all.entry(&digest.cell).or_default().insert(window(digest));
    }
    all
}

fn window(digest: &Digest) -> String {
    match digest.identity.effective.load.measure {
        Extent::Ns(ns) => HumanDuration(ns as f64).to_string(),
        Extent::Count(count) => format!("{count} requests"),
    }
}

fn joined(values: &BTreeSet<String>) -> String {
    values.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn half(side: &Side<'_>) -> Half {
    let first =
        side.measured.iter().map(|(_, digest)| *digest).min_by_key(|digest| &digest.started_utc);
    let windows: BTreeSet<String> =
        side.measured.iter().map(|(_, digest)| window(digest)).collect();
    Half {
        label: side.label.to_owned(),
        host: first.map(|digest| digest.identity.host.name.clone()).unwrap_or_default(),
        boot_id: first.and_then(|digest| digest.identity.host.boot_id.clone()),
        assay: first.map(|digest| digest.identity.assay.clone()).unwrap_or_default(),
        windows: windows.into_iter().collect(),
        runs: side.measured.len() as u32,
        started_utc: first.map(|digest| digest.started_utc.clone()).unwrap_or_default(),
    }
}

fn same_contrast(a: &Contrast, b: &Contrast) -> bool {
    arm_of(a) == arm_of(b) && a.metric == b.metric
}

/// Contrasts of primary metrics that the other label does not have.
fn only_in_one(side: &Side<'_>, other: &Side<'_>) -> Vec<String> {
    let missing = |contrast: &&Contrast| {
        contrast.primary && !other.contrasts.iter().any(|one| same_contrast(one, contrast))
    };
    let only = side.contrasts.iter().filter(missing);
    only.map(|contrast| format!("only in {}: {}", side.name, name_of(&arm_of(contrast)))).collect()
}

fn rows(a: &Side<'_>, b: &Side<'_>) -> Vec<TwoLabelsRow> {
    let pairs = a.contrasts.iter().filter_map(|first| {
        Some((first, b.contrasts.iter().find(|second| same_contrast(first, second))?))
    });
    pairs.map(|(first, second)| row(a, b, first, second)).collect()
}

fn row(a: &Side<'_>, b: &Side<'_>, first: &Contrast, second: &Contrast) -> TwoLabelsRow {
    let arm = arm_of(first);
    let (mut changed, mut untouched) = (Vec::new(), Vec::new());
    for level in [&arm.baseline, &arm.level] {
        if is_same(&arm_runs(&a.measured, &arm, level), &arm_runs(&b.measured, &arm, level)) {
            untouched.push(level.clone());
        } else {
            changed.push(level.clone());
        }
    }
    let drift = untouched.first().and_then(|level| {
        log_drift(
            &values(&arm_runs(&a.measured, &arm, level), &first.metric),
            &values(&arm_runs(&b.measured, &arm, level), &first.metric),
        )
    });
    let (ratios_a, ratios_b) = (ratios(first), ratios(second));
    let difference =
        Measured::of(&ratios_a).zip(Measured::of(&ratios_b)).map(|(a, b)| propagated(a, b));
    let bound = difference.and_then(drift_bound);
    let reason = unusable(first, second)
        .or_else(|| beyond(&changed, untouched.first(), drift, difference, bound));
    let word = match (&reason, changed.is_empty()) {
        (_, true) => CONTROL,
        (None, false) => COMPARABLE,
        (Some(_), false) => NOT_COMPARABLE,
    };
    let shown = if word == NOT_COMPARABLE { None } else { difference };
    TwoLabelsRow {
        factor: arm.factor,
        baseline: arm.baseline,
        level: arm.level,
        cell: arm.cell,
        metric: first.metric.clone(),
        primary: first.primary,
        changed,
        pairs: [ratios_a.len() as u32, ratios_b.len() as u32],
        effect_a_percent: effect(&ratios_a),
        effect_b_percent: effect(&ratios_b),
        difference_percent: shown.map(in_percent),
        untouched: untouched.into_iter().next(),
        drift_percent: drift.map(in_percent),
        drift_bound_percent: bound.map(percent),
        word: word.to_owned(),
        reason: reason.filter(|_| word == NOT_COMPARABLE),
        kind: COMPOSED.to_owned(),
    }
}

/// Whether an arm is the same thing in both labels.
fn is_same(a: &[(&str, &Digest)], b: &[(&str, &Digest)]) -> bool {
    let Some((_, reference)) = a.first() else {
        return false;
    };
    let same = |(_, digest): &(&str, &Digest)| same_identity(&reference.identity, &digest.identity);
    !b.is_empty() && a.iter().all(same) && b.iter().all(same)
}

fn ratios(contrast: &Contrast) -> Vec<f64> {
    contrast.log_ratios.iter().map(|(_, ratio)| *ratio).collect()
}

fn effect(ratios: &[f64]) -> Option<Estimate> {
    let value = stats::sample::mean(ratios)?;
    Some(in_percent(Estimate { value, interval: t_interval(ratios, 0.95) }))
}

fn in_percent(log: Estimate) -> Estimate {
    Estimate { value: percent(log.value), interval: log.interval.map(|ends| ends.map(percent)) }
}

/// Valid values of a metric.
fn values(runs: &[(&str, &Digest)], metric: &str) -> Vec<f64> {
    runs.iter()
        .filter_map(|(_, digest)| digest.metrics.get(metric))
        .filter(|metric| metric.state == State::Valid)
        .filter_map(|metric| metric.value)
        .collect()
}

/// Change from A to B of what nothing touched, on the log scale. `None` without a positive value
/// on both sides.
fn log_drift(a: &[f64], b: &[f64]) -> Option<Estimate> {
    let logs = |values: &[f64]| -> Option<Vec<f64>> {
        values.iter().map(|value| (*value > 0.0).then(|| value.ln())).collect()
    };
    Some(propagated(Measured::of(&logs(a)?)?, Measured::of(&logs(b)?)?))
}

/// The most that an untouched arm may drift: half of the difference. Where the difference is
/// smaller than what these pairs can resolve, half of that: nobody reads more out of them.
fn drift_bound(difference: Estimate) -> Option<f64> {
    let [low, high] = difference.interval?;
    Some(difference.value.abs().max((high - low) / 2.0) / 2.0)
}

/// Why a contrast of one label cannot be used.
fn unusable(a: &Contrast, b: &Contrast) -> Option<String> {
    let void = |side: &str, contrast: &Contrast| {
        let flags = contrast.flags.join(", ");
        (contrast.verdict == "void").then(|| format!("void in {side}: {flags}"))
    };
    void("A", a).or_else(|| void("B", b))
}

/// Why the drift forbids the comparison.
fn beyond(
    changed: &[String],
    untouched: Option<&String>,
    drift: Option<Estimate>,
    difference: Option<Estimate>,
    bound: Option<f64>,
) -> Option<String> {
    let Some(untouched) = untouched else {
        return Some(format!(
            "both arms changed (`{}`): no untouched arm tells the drift between the sessions",
            changed.join("`, `")
        ));
    };
    let (Some(drift), Some(difference), Some(bound)) = (drift, difference, bound) else {
        return Some("too few valid pairs on one side: two on each are needed".to_owned());
    };
    (drift.value.abs() > bound).then(|| {
        format!(
            "`{untouched}`, which nothing touched, changed by {:+.2} % of A between the sessions; \
             the difference of {:+.2} % of A allows {:.2} %",
            percent(drift.value),
            percent(difference.value),
            percent(bound)
        )
    })
}

/// A cell that is the same thing in both labels.
struct Untouched<'a> {
    cell: &'a str,
    a: Vec<(&'a str, &'a Digest)>,
    b: Vec<(&'a str, &'a Digest)>,
}

fn untouched_cells<'a>(a: &Side<'a>, b: &Side<'a>) -> Vec<Untouched<'a>> {
    let of = |side: &Side<'a>, cell: &str| -> Vec<(&'a str, &'a Digest)> {
        side.measured.iter().filter(|(_, digest)| digest.cell == cell).copied().collect()
    };
    let mut cells: Vec<&'a str> = Vec::new();
    for (_, digest) in &a.measured {
        if !cells.contains(&digest.cell.as_str()) {
            cells.push(&digest.cell);
        }
    }
    cells
        .into_iter()
        .map(|cell| Untouched { cell, a: of(a, cell), b: of(b, cell) })
        .filter(|cell| is_same(&cell.a, &cell.b))
        .collect()
}

fn digests<'a>(runs: &[(&'a str, &'a Digest)]) -> Vec<&'a Digest> {
    runs.iter().map(|(_, digest)| *digest).collect()
}

/// The change of every untouched cell in every metric that has a row.
fn drifts(untouched: &[Untouched<'_>], rows: &[TwoLabelsRow]) -> Vec<SessionDrift> {
    let mut metrics: Vec<&str> = Vec::new();
    for row in rows {
        if !metrics.contains(&row.metric.as_str()) {
            metrics.push(&row.metric);
        }
    }
    let mut drifts = Vec::new();
    for cell in untouched {
        for metric in &metrics {
            let (in_a, in_b) = (values(&cell.a, metric), values(&cell.b, metric));
            let (Some(a), Some(b), Some(change)) =
                (median(&in_a), median(&in_b), log_drift(&in_a, &in_b))
            else {
                continue;
            };
            let sample = cell.a.iter().find_map(|(_, digest)| digest.metrics.get(*metric));
            drifts.push(SessionDrift {
                cell: cell.cell.to_owned(),
                metric: (*metric).to_owned(),
                unit: sample.map(|metric| metric.unit.clone()).unwrap_or_default(),
                a,
                b,
                runs: [in_a.len() as u32, in_b.len() as u32],
                change_percent: in_percent(change),
            });
        }
    }
    drifts
}

#[cfg(test)]
mod tests;
