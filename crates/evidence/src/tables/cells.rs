//! Tables of N: one row for each cell and figure, the median over the runs whose figure is valid,
//! with its interval by order statistics and that interval's true coverage (D5). Ratios are
//! computed from the medians. What contaminates a cell is told by its worst run.

use std::collections::{BTreeMap, BTreeSet};

use record::compare::{CellRow, Contamination};
use record::digest::Digest;
use record::{Effect, Reason};
use stats::order::median_interval;
use stats::sample::median;

use super::figures::{DERIVED, DERIVED_FIGURES, Derived, Figure, figures, is_peak, ratio};

/// Fewest valid runs of a cell that counts: one run has no spread and is no headline.
const FEWEST_RUNS: usize = 2;
/// Half of the range of a cell's throughput or time, as a share of its median, above which the
/// same configuration on the same hardware did not reproduce.
const SPREAD_SHARE: f64 = 0.05;
/// Ratio of the largest to the smallest peak of identical runs from which on they are taken for
/// different behaviour and not for noise.
const UNSTABLE_RATIO: f64 = 1.5;
/// The same as a difference: a small process may double its memory by chance.
const UNSTABLE_BYTES: f64 = (64 << 20) as f64;
/// The same for counted peaks: threads, descriptors, requests in flight or queued.
const UNSTABLE_COUNT: f64 = 16.0;
/// Share of stolen time above which a run is contaminated (D17).
const STEAL_SHARE: f64 = 0.005;

/// Fewer than two valid runs: shown, and kept out of everything.
pub(crate) const FEW_RUNS: &str = "few_runs";
/// Identical runs differ widely in a peak: a race or a queue's depth, not a spread around a
/// centre, so that there is nothing to average.
pub(crate) const UNSTABLE: &str = "unstable";
/// The runs of a cell did not reproduce.
pub(crate) const SPREAD: &str = "spread";

/// Metrics in the order in which people look at them; all others follow by name.
const ORDER: [&str; 12] = [
    "throughput",
    "time",
    "p50",
    "p90",
    "p95",
    "p99",
    "p999",
    "failures",
    "target.cpu_per_request",
    "throughput_per_core",
    "target.rss_peak",
    "generator.cpu_per_request",
];

/// The runs of one cell.
#[derive(Debug)]
pub(crate) struct CellRuns<'a> {
    pub(crate) cell: &'a str,
    pub(crate) runs: Vec<(&'a str, &'a Digest)>,
}

/// The place of a cell among those that the plan wrote, and its name.
type Place<'a> = (Vec<u32>, &'a str);

/// Runs by cell, in the order in which the plan wrote the cells.
pub(crate) fn by_cell<'a>(measured: &[(&'a str, &'a Digest)]) -> Vec<CellRuns<'a>> {
    let mut cells: BTreeMap<Place<'a>, Vec<(&'a str, &'a Digest)>> = BTreeMap::new();
    for (name, digest) in measured {
        let place = digest.levels.iter().map(|level| level.index).collect();
        cells.entry((place, &digest.cell)).or_default().push((name, digest));
    }
    cells.into_iter().map(|((_, cell), runs)| CellRuns { cell, runs }).collect()
}

/// All rows, and what contaminates the cells.
pub(crate) fn tables(measured: &[(&str, &Digest)]) -> (Vec<CellRow>, Vec<Contamination>) {
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for cell in by_cell(measured) {
        let contaminations = contaminations(&cell);
        let facts: Vec<String> = contaminations.iter().map(|one| one.fact.clone()).collect();
        rows.extend(cell_rows(&cell).into_iter().map(|mut row| {
            row.flags.extend(facts.iter().cloned());
            row
        }));
        all.extend(contaminations);
    }
    (rows, all)
}

fn cell_rows(cell: &CellRuns<'_>) -> Vec<CellRow> {
    let runs: Vec<(u32, BTreeMap<String, Figure>)> =
        cell.runs.iter().map(|(_, digest)| (digest.block, figures(digest))).collect();
    let mut names: Vec<&String> = runs
        .iter()
        .flat_map(|(_, figures)| figures.keys())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    names.sort_by_key(|name| {
        (ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len()), (*name).clone())
    });
    let mut rows: Vec<CellRow> = names.into_iter().map(|name| row(cell, name, &runs)).collect();
    // From the medians, in the order of the list, so that one may be made of another.
    for derived in &DERIVED_FIGURES {
        let known =
            |name: &str| rows.iter().find(|row| row.metric == name).and_then(|row| row.median);
        let value = ratio(derived, known);
        if let Some(row) = rows.iter_mut().find(|row| row.metric == derived.name) {
            recompute(row, derived, value);
        }
    }
    rows
}

/// Puts the ratio of two medians in place of the median of ratios, which has no interval by
/// order statistics.
fn recompute(row: &mut CellRow, derived: &Derived, value: Option<f64>) {
    if row.median.is_none() {
        return;
    }
    row.median = value;
    row.interval = None;
    row.coverage = None;
    row.kind = DERIVED.to_owned();
    row.formula = Some(format!("{} / {}", derived.numerator, derived.denominator));
    row.half_range_share = half_range(&row.values, value);
}

fn row(cell: &CellRuns<'_>, name: &str, runs: &[(u32, BTreeMap<String, Figure>)]) -> CellRow {
    let of_run = || runs.iter().filter_map(|(block, all)| Some((*block, all.get(name)?)));
    let values: Vec<(u32, f64)> =
        of_run().filter_map(|(block, figure)| Some((block, figure.usable()?))).collect();
    let sample = of_run().next().map(|(_, figure)| figure);
    let unit = sample.map(|figure| figure.unit.clone()).unwrap_or_default();
    let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let mut flags = Vec::new();
    let centre = if plain.len() < FEWEST_RUNS {
        flags.push(FEW_RUNS.to_owned());
        None
    } else if is_peak(name) && is_unstable(&plain, &unit) {
        flags.push(UNSTABLE.to_owned());
        None
    } else {
        median(&plain)
    };
    let half_range_share = half_range(&values, centre);
    if matches!(name, "throughput" | "time") && half_range_share.is_some_and(|s| s > SPREAD_SHARE) {
        flags.push(SPREAD.to_owned());
    }
    let interval = centre.and_then(|_| median_interval(&plain, 0.95));
    CellRow {
        cell: cell.cell.to_owned(),
        metric: name.to_owned(),
        unit,
        valid: values.len() as u32,
        runs: cell.runs.len() as u32,
        median: centre,
        interval: interval.map(|found| found.interval),
        coverage: interval.map(|found| found.coverage),
        half_range_share,
        kind: sample.map(|figure| figure.kind.clone()).unwrap_or_default(),
        formula: None,
        values,
        generator_busy_share: generator_busy(cell),
        flags,
    }
}

/// How busy the generator was at most, a share of its cores: two cells of one throughput say nothing
/// of their targets when it was the client that had no more (E-042, K-106).
fn generator_busy(cell: &CellRuns<'_>) -> Option<f64> {
    let checks = cell.runs.iter().flat_map(|(_, digest)| &digest.checks);
    let busy = checks.filter(|check| check.gate == "generator_cpu").filter_map(|check| check.value);
    busy.reduce(f64::max)
}

/// `(max - min) / 2` over the centre.
fn half_range(values: &[(u32, f64)], centre: Option<f64>) -> Option<f64> {
    let centre = centre.filter(|centre| *centre > 0.0)?;
    let (low, high) = range(values.iter().map(|(_, value)| *value))?;
    Some((high - low) / 2.0 / centre)
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// Whether peaks of identical runs differ so widely that they are two behaviours.
fn is_unstable(values: &[f64], unit: &str) -> bool {
    let Some((low, high)) = range(values.iter().copied()) else {
        return false;
    };
    let least = if unit == "bytes" { UNSTABLE_BYTES } else { UNSTABLE_COUNT };
    high - low >= least && high >= UNSTABLE_RATIO * low
}

/// What the runs of a cell suffered, each fact by its worst run. Every run counts, also a void
/// one: whoever repeats it wants to know.
fn contaminations(cell: &CellRuns<'_>) -> Vec<Contamination> {
    let mut found: Vec<Contamination> = Vec::new();
    let mut note =
        |fact: &str, value: Option<f64>, distance: f64, unit: &str, run: &str| match found
            .iter_mut()
            .find(|one| one.fact == fact)
        {
            Some(known) => {
                known.affected += 1;
                if distance > known.distance {
                    known.distance = distance;
                    known.worst = value;
                    run.clone_into(&mut known.run);
                }
            }
            None => found.push(Contamination {
                cell: cell.cell.to_owned(),
                fact: fact.to_owned(),
                worst: value,
                distance,
                unit: unit.to_owned(),
                run: run.to_owned(),
                affected: 1,
                runs: cell.runs.len() as u32,
            }),
        };
    for (run, digest) in &cell.runs {
        // A gate may flag the same fact, with a bound of its own.
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (fact, value, bound, unit) in own_facts(digest) {
            if let Some(value) = value.filter(|value| *value > bound) {
                seen.insert(fact);
                note(fact, Some(value), value - bound, unit, run);
            }
        }
        for reason in digest.validity.reasons.iter().filter(|reason| is_flag(reason)) {
            if seen.insert(&reason.gate) {
                let distance = reason.value.zip(reason.bound).map_or(0.0, |(v, b)| (v - b).abs());
                note(&reason.gate, reason.value, distance, &reason.unit, run);
            }
        }
    }
    found
}

fn is_flag(reason: &Reason) -> bool {
    reason.effect == Effect::Flag
}

/// Facts that no gate need flag: name, value, bound and unit.
fn own_facts(digest: &Digest) -> [(&'static str, Option<f64>, f64, &'static str); 2] {
    let timeouts = digest.load.as_ref().and_then(|load| load.failures.get("timeout"));
    [
        ("timeouts", timeouts.map(|count| *count as f64), 0.0, "requests"),
        ("steal", digest.host.steal_share, STEAL_SHARE, "share"),
    ]
}
