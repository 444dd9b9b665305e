//! What `matrix.html` shows: the matrix, and what no digest keeps, read again from `load.json`.
//!
//! Records are read one at a time and dropped: whatever the number of runs, at most one record
//! and one merged histogram are in memory. What a page cannot hold is bounded here, and what a
//! bound left out is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hdrhistogram::Histogram;
use record::compare::{Comparison, LeftOut, Matrix};
use record::digest::Digest;
use record::load::{LoadRecord, Second, Step};
use record::meta::{Build, HostFacts};
use record::page::{
    Distribution, DistributionPoint, PERCENTILES, Page, PageCell, RunSeries, SecondFigures,
    SeriesMark,
};
use record::units::HumanBytes;
use record::{Effect, State, layout};
use serde::Deserialize;
use stats::histogram::{self, MINIMUM_SAMPLES};

use crate::compare::runs::Runs;
use crate::error::EvidenceError;

/// Most cells whose distribution is read.
pub const MOST_DISTRIBUTIONS: usize = 96;
/// Most runs whose seconds are shown.
pub const MOST_SERIES: usize = 48;
/// Most seconds that are decoded over all series, save that one run is always shown whole: a
/// histogram takes some ten microseconds, so this is a second of work.
pub const MOST_SECONDS: u64 = 20_000;
/// Histogram of the latency of successes in a load record.
const LATENCY: &str = "latency.succeeded";

/// Collects the page of a label directory around a comparison of its runs. Nothing is written.
///
/// # Errors
/// As [`crate::compare()`]; a load record that cannot be read is no error but a note.
pub fn page(dir: &Path, comparison: Comparison) -> Result<Page, EvidenceError> {
    let runs = Runs::read(dir)?;
    let left_out = comparison.left_out.clone();
    let matrix = crate::matrix::of_comparison(&runs, comparison);
    Ok(Collector::new(dir, &runs).page(matrix, left_out))
}

/// The part of a load record that a distribution needs; the seconds are skipped unread.
#[derive(Deserialize)]
struct StepsOnly {
    steps: Vec<Step>,
}

/// Reads the runs of one label, cell by cell.
struct Collector<'a> {
    dir: &'a Path,
    runs: &'a Runs,
    /// The runs that count, in the order of their names.
    measured: Vec<(&'a str, &'a Digest)>,
    notes: Vec<String>,
}

impl<'a> Collector<'a> {
    fn new(dir: &'a Path, runs: &'a Runs) -> Self {
        Self { dir, runs, measured: runs.measured().0, notes: Vec::new() }
    }

    fn page(mut self, matrix: Matrix, left_out: Vec<LeftOut>) -> Page {
        let cells = self.cells();
        let shown = self.runs_with_series();
        let mut series = Vec::new();
        let mut distributions = Vec::new();
        for (place, cell) in cells.iter().enumerate() {
            let wanted = place < MOST_DISTRIBUTIONS;
            distributions.extend(self.cell(&cell.name, wanted, &shown, &mut series));
        }
        series.sort_by(|a: &RunSeries, b| {
            (a.block, a.order, &a.run).cmp(&(b.block, b.order, &b.run))
        });
        let distinct = |lines: Vec<String>| {
            let mut seen = BTreeSet::new();
            lines.into_iter().filter(|line| seen.insert(line.clone())).collect::<Vec<_>>()
        };
        let digests = || self.runs.digests().map(|(_, digest)| digest);
        Page {
            builds: distinct(digests().map(|digest| build(&digest.identity.assay)).collect()),
            machines: distinct(digests().map(|digest| machine(&digest.identity.host)).collect()),
            distributions_left: cells.len().saturating_sub(MOST_DISTRIBUTIONS) as u32,
            series_left: (self.measured.len() - shown.len()) as u32,
            matrix,
            left_out,
            cells,
            distributions,
            series,
            notes: self.notes,
        }
    }

    /// The cells that ran, in the order of the plan; without one, of their first runs.
    fn cells(&self) -> Vec<PageCell> {
        let mut rows: BTreeMap<&str, String> = BTreeMap::new();
        let mut order: Vec<&str> = Vec::new();
        for (_, digest) in &self.measured {
            if !rows.contains_key(digest.cell.as_str()) {
                let fixed = digest.levels.iter().filter(|level| !level.contrasted);
                let fixed: Vec<String> =
                    fixed.map(|level| format!("{}={}", level.factor, level.level)).collect();
                rows.insert(&digest.cell, fixed.join(", "));
                order.push(&digest.cell);
            }
        }
        if let Some(plan) = &self.runs.plan {
            let place = |cell: &&str| plan.cells.iter().position(|known| known.name == **cell);
            order.sort_by_key(|cell| place(cell).unwrap_or(plan.cells.len()));
        }
        let of = |cell: &str| PageCell { name: cell.to_owned(), rows: rows[cell].clone() };
        order.into_iter().map(of).collect()
    }

    /// The runs whose seconds are shown: those with a tripped gate first, then by block, under
    /// both bounds.
    fn runs_with_series(&self) -> BTreeSet<&'a str> {
        let mut candidates = self.measured.clone();
        candidates.sort_by_key(|(name, digest)| {
            (!digest.validity.is_doubtful(), digest.block, digest.order, *name)
        });
        let mut shown = BTreeSet::new();
        let mut seconds = 0;
        for (name, digest) in candidates {
            let window_ns = digest.load.as_ref().map_or(0, |load| load.window_ns);
            seconds += window_ns / 1_000_000_000;
            if shown.len() == MOST_SERIES || (seconds > MOST_SECONDS && !shown.is_empty()) {
                break;
            }
            shown.insert(name);
        }
        shown
    }

    /// Reads the records of one cell: merges the latency of its valid runs when it is wanted,
    /// and adds the series of those runs that are shown.
    fn cell(
        &mut self,
        cell: &str,
        wanted: bool,
        shown: &BTreeSet<&str>,
        series: &mut Vec<RunSeries>,
    ) -> Option<Distribution> {
        let mut merging = Merging::new(cell);
        let of_cell = |(_, digest): &&(&str, &Digest)| digest.cell == cell;
        let members: Vec<(&str, &Digest)> = self.measured.iter().filter(of_cell).copied().collect();
        for (name, digest) in members {
            let counts = wanted && digest.validity.latency == State::Valid;
            merging.left_out += u32::from(!counts);
            let path = self.path_of(name).join(layout::LOAD);
            let steps = if shown.contains(name) {
                layout::read_json::<LoadRecord>(&path).map(|load| {
                    let seconds = seconds_of(&load, name, &mut self.notes);
                    series.push(series_of(name, digest, seconds));
                    load.steps
                })
            } else if counts {
                layout::read_json::<StepsOnly>(&path).map(|load| load.steps)
            } else {
                continue;
            };
            match steps {
                Ok(steps) if counts => merging.add(name, &steps, &mut self.notes),
                Ok(_) => {}
                Err(error) => {
                    merging.left_out += u32::from(counts);
                    self.notes.push(format!("{name}: {}", unreadable(&error)));
                }
            }
        }
        wanted.then(|| merging.finish())
    }

    fn path_of(&self, name: &str) -> PathBuf {
        let runs = self.dir.join(layout::RUNS);
        if runs.is_dir() { runs.join(name) } else { self.dir.to_owned() }
    }
}

/// An error without the path, so that a copy elsewhere gives the same page.
fn unreadable(error: &layout::ReadError) -> String {
    match error {
        layout::ReadError::Io { source, .. } => format!("load.json cannot be read: {source}"),
        layout::ReadError::Json { source, .. } => format!("load.json is damaged: {source}"),
    }
}

/// The latency of a cell while its runs are merged.
struct Merging {
    cell: String,
    merged: Histogram<u64>,
    runs: u32,
    left_out: u32,
    ranges: [Option<[u64; 2]>; PERCENTILES.len()],
}

impl Merging {
    fn new(cell: &str) -> Self {
        Self {
            cell: cell.to_owned(),
            merged: histogram::new(),
            runs: 0,
            left_out: 0,
            ranges: [None; PERCENTILES.len()],
        }
    }

    /// Adds one run: all of it or, when a histogram is damaged, nothing.
    fn add(&mut self, name: &str, steps: &[Step], notes: &mut Vec<String>) {
        let mut own = histogram::new();
        for step in steps {
            let Some(text) = step.histograms.get(LATENCY) else { continue };
            let added = histogram::decode(text)
                .map_err(|error| error.to_string())
                .and_then(|part| own.add(&part).map_err(|error| error.to_string()));
            if let Err(error) = added {
                notes.push(format!("{name}: the histogram of `{}`: {error}", step.name));
                self.left_out += 1;
                return;
            }
        }
        // Both have the project's one shape, so that every value fits.
        if own.is_empty() || self.merged.add(&own).is_err() {
            self.left_out += 1;
            return;
        }
        self.runs += 1;
        for (range, p) in self.ranges.iter_mut().zip(PERCENTILES) {
            if let Some(value) = percentile(&own, p) {
                let [low, high] = range.unwrap_or([value, value]);
                *range = Some([low.min(value), high.max(value)]);
            }
        }
    }

    fn finish(self) -> Distribution {
        let point = |(p, runs_ns)| DistributionPoint {
            percentile: p,
            value_ns: percentile(&self.merged, p),
            needed: needed(p),
            runs_ns,
        };
        Distribution {
            cell: self.cell,
            runs: self.runs,
            left_out: self.left_out,
            samples: self.merged.len(),
            points: PERCENTILES.into_iter().zip(self.ranges).map(point).collect(),
        }
    }
}

/// Percentile `p` by nearest rank where there are the samples for it.
fn percentile(histogram: &Histogram<u64>, p: f64) -> Option<u64> {
    // A bucket's upper edge may exceed the largest value seen; no percentile may.
    (histogram.len() >= needed(p)).then(|| histogram.value_at_quantile(p).min(histogram.max()))
}

/// Samples that a percentile needs: the project's table, else the formula behind it (D8).
fn needed(p: f64) -> u64 {
    let known = MINIMUM_SAMPLES.iter().find(|(known, _)| *known == p).map(|(_, needed)| *needed);
    known.or_else(|| stats::order::samples_needed(p)).unwrap_or(u64::MAX)
}

/// The whole seconds of a window; one without an entry had no request due in it. The last part
/// of a window is shorter than a second and would give a wrong rate.
fn seconds_of(load: &LoadRecord, name: &str, notes: &mut Vec<String>) -> Vec<SecondFigures> {
    let whole = (load.window_ns / 1_000_000_000).min(MOST_SECONDS.max(1_000_000));
    if load.series.is_empty() {
        return Vec::new();
    }
    let mut seconds = vec![SecondFigures::default(); whole as usize];
    let mut damaged = 0_u32;
    for one in &load.series {
        let Some(place) = seconds.get_mut(one.second as usize) else { continue };
        *place = figures(one).unwrap_or_else(|| {
            damaged += 1;
            SecondFigures { succeeded: one.succeeded, failed: one.failed, ..Default::default() }
        });
    }
    if damaged > 0 {
        notes.push(format!("{name}: the histograms of {damaged} seconds are damaged"));
    }
    seconds
}

/// The figures of one second; `None` when its histogram is damaged.
fn figures(second: &Second) -> Option<SecondFigures> {
    let mut figures = SecondFigures {
        succeeded: second.succeeded,
        failed: second.failed,
        ..SecondFigures::default()
    };
    if !second.latency.is_empty() {
        let latency = histogram::decode(&second.latency).ok()?;
        figures.p50_ns = percentile(&latency, 0.50);
        figures.p99_ns = percentile(&latency, 0.99);
    }
    Some(figures)
}

fn series_of(name: &str, digest: &Digest, seconds: Vec<SecondFigures>) -> RunSeries {
    let mut marks: Vec<SeriesMark> = Vec::new();
    for reason in &digest.validity.reasons {
        // A flag without a second has nothing to mark in a series.
        let known =
            marks.iter().any(|mark| mark.gate == reason.gate && mark.second == reason.second);
        if !known && (reason.second.is_some() || reason.effect != Effect::Flag) {
            marks.push(SeriesMark {
                gate: reason.gate.clone(),
                effect: reason.effect,
                second: reason.second,
                detail: reason.detail.clone(),
            });
        }
    }
    RunSeries {
        run: name.to_owned(),
        block: digest.block,
        order: digest.order,
        cell: digest.cell.clone(),
        doubtful: digest.validity.is_doubtful(),
        seconds,
        marks,
    }
}

fn build(build: &Build) -> String {
    format!("assay {}, commit {}", build.version, build.commit)
}

/// A machine in one line; what is unknown is left out.
fn machine(host: &HostFacts) -> String {
    let mut parts = vec![host.cpu_model.clone().unwrap_or_else(|| "unknown CPU".to_owned())];
    parts.push(host.arch.clone());
    parts.push(format!("{} cores", host.cores));
    parts.extend(host.memory_bytes.map(|bytes| HumanBytes(bytes as f64).to_string()));
    parts.push(format!("Linux {}", host.kernel));
    format!("{}: {}", host.name, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, SampleRun, WINDOW_NS, level};
    use std::fs;

    /// A run whose requests took these latencies, each so often in each of 30 seconds.
    fn run(block: u32, name: &str, latencies_ns: &[u64]) -> SampleRun {
        let mut run = SampleRun::sound(block, 1, &level(name, 0, None));
        let load = run.load.as_mut().unwrap();
        let seconds = WINDOW_NS / 1_000_000_000;
        load.series = (0..seconds).map(|second| samples::second(second, latencies_ns)).collect();
        let mut whole = histogram::new();
        for _ in 0..seconds {
            latencies_ns.iter().for_each(|ns| whole.saturating_record(*ns));
        }
        load.latency_ns = histogram::summarise(&whole);
        load.steps[0].histograms.insert(LATENCY.to_owned(), histogram::encode(&whole));
        run
    }

    fn collected(dir: &Path) -> Page {
        page(dir, crate::compare(dir, &crate::CompareOptions::default()).unwrap()).unwrap()
    }

    #[test]
    fn histograms_are_merged_and_percentiles_never_averaged() {
        let label = tempfile::tempdir().unwrap();
        // 1 % of the requests of one run are slow: its p99 is the edge, that of both is not.
        let mut slow = vec![1_000_000; 97];
        slow.extend([50_000_000; 3]);
        run(1, "base", &[1_000_000; 100]).complete(label.path());
        run(2, "base", &slow).complete(label.path());
        let page = collected(label.path());
        let [cell] = &page.distributions[..] else { panic!("{:?}", page.distributions) };
        assert_eq!((cell.runs, cell.left_out, cell.samples), (2, 0, 6_000));
        let point = |p: f64| cell.points.iter().find(|point| point.percentile == p).unwrap();
        let close = |value: u64, to: u64| value.abs_diff(to) * 1_000 <= to;
        // 90 of 6,000 are slow, 1.5 %: the merged p99 is slow; a mean of 1 and 50 would be 25 ms.
        assert!(close(point(0.99).value_ns.unwrap(), 50_000_000), "{:?}", point(0.99));
        let [low, high] = point(0.99).runs_ns.unwrap();
        assert!(close(low, 1_000_000) && close(high, 50_000_000), "{low} {high}");
        assert!(close(point(0.5).value_ns.unwrap(), 1_000_000));
        // 6,000 are enough for p99.9, though 3,000 of a run are not; nothing is for p99.99.
        assert!(point(0.999).value_ns.is_some() && point(0.999).runs_ns.is_none());
        assert_eq!(point(0.9999).value_ns, None);
        assert!(point(0.9999).needed > 50_000, "{:?}", point(0.9999));
    }

    #[test]
    fn a_void_run_is_no_part_of_a_distribution() {
        let label = tempfile::tempdir().unwrap();
        run(1, "base", &[1_000_000; 100]).complete(label.path());
        let mut void = run(2, "base", &[90_000_000; 100]);
        let load = void.load.as_mut().unwrap();
        load.succeeded -= 12_000;
        load.failed = 12_000;
        void.complete(label.path());
        let page = collected(label.path());
        let cell = &page.distributions[0];
        assert_eq!((cell.runs, cell.left_out, cell.samples), (1, 1, 3_000));
        assert!(cell.points[2].value_ns.unwrap() < 2_000_000, "{:?}", cell.points);
        let void = page.series.iter().find(|run| run.block == 2).unwrap();
        assert!(void.doubtful && !void.seconds.is_empty());
        assert!(void.marks.iter().any(|mark| mark.gate == "failures"), "{:?}", void.marks);
        assert!(!page.series.iter().find(|run| run.block == 1).unwrap().doubtful);
    }

    #[test]
    fn the_second_at_which_a_window_broke_is_marked() {
        let label = tempfile::tempdir().unwrap();
        let mut broken = run(1, "base", &[1_000_000; 800]);
        let load = broken.load.as_mut().unwrap();
        for second in 18..30 {
            load.series[second] = samples::second(second as u64, &[2_000_000; 800]);
        }
        broken.complete(label.path());
        run(2, "base", &[1_000_000; 800]).complete(label.path());
        let page = collected(label.path());
        let seconds = |block: u32| -> Vec<u64> {
            let run = page.series.iter().find(|run| run.block == block).unwrap();
            run.marks.iter().filter_map(|mark| mark.second).collect()
        };
        assert!(!seconds(1).is_empty() && seconds(1).iter().all(|s| *s == 18), "{:?}", seconds(1));
        assert_eq!(seconds(2), [] as [u64; 0]);
    }

    #[test]
    fn seconds_are_whole_and_those_without_requests_are_zero() {
        let label = tempfile::tempdir().unwrap();
        let mut sound = run(1, "base", &[1_000_000; 800]);
        let load = sound.load.as_mut().unwrap();
        load.series.remove(7);
        load.series.push(samples::second(30, &[1_000_000; 10]));
        sound.complete(label.path());
        let page = collected(label.path());
        let seconds = &page.series[0].seconds;
        assert_eq!(seconds.len(), 30, "the rest after the last whole second is left out");
        assert_eq!(seconds[7], SecondFigures::default());
        assert_eq!(seconds[8].succeeded, 800);
        assert!(seconds[8].p50_ns.is_some() && seconds[8].p99_ns.is_some());
    }

    #[test]
    fn a_damaged_record_is_named_and_the_page_is_made() {
        let label = tempfile::tempdir().unwrap();
        run(1, "base", &[1_000_000; 100]).complete(label.path());
        let damaged = run(2, "base", &[1_000_000; 100]).complete(label.path());
        fs::write(damaged.join(layout::LOAD), "{\"steps\": [").unwrap();
        let gone = run(3, "base", &[1_000_000; 100]).complete(label.path());
        fs::remove_file(gone.join(layout::LOAD)).unwrap();
        let mut bad = run(4, "base", &[1_000_000; 100]);
        bad.load.as_mut().unwrap().steps[0].histograms.insert(LATENCY.to_owned(), "?".to_owned());
        bad.complete(label.path());
        let page = collected(label.path());
        assert_eq!((page.distributions[0].runs, page.distributions[0].left_out), (1, 3));
        let said = |run: &str, word: &str| {
            page.notes.iter().any(|note| note.starts_with(run) && note.contains(word))
        };
        assert!(said("02-01-base", "damaged"), "{:?}", page.notes);
        assert!(said("03-01-base", "cannot be read"), "{:?}", page.notes);
        assert!(said("04-01-base", "histogram"), "{:?}", page.notes);
        let path = label.path().display().to_string();
        assert!(page.notes.iter().all(|note| !note.contains(&path)), "{:?}", page.notes);
    }

    #[test]
    fn series_beyond_the_bound_are_counted_and_doubtful_runs_come_first() {
        let label = tempfile::tempdir().unwrap();
        let most = MOST_SERIES as u32;
        for block in 1..=most + 2 {
            let mut run = run(block, "base", &[1_000_000; 10]);
            if block == most + 2 {
                run.load.as_mut().unwrap().failed = 5_000;
            }
            run.complete(label.path());
        }
        let page = collected(label.path());
        assert_eq!((page.series.len(), page.series_left), (MOST_SERIES, 2));
        let blocks: Vec<u32> = page.series.iter().map(|run| run.block).collect();
        let expected: Vec<u32> = (1..most).chain([most + 2]).collect();
        assert_eq!(blocks, expected);
    }

    #[test]
    fn machines_and_builds_are_told_apart() {
        let label = tempfile::tempdir().unwrap();
        run(1, "base", &[1_000_000; 10]).complete(label.path());
        let mut other = run(2, "base", &[1_000_000; 10]);
        other.meta.host.name = "bench-2".to_owned();
        other.meta.assay.commit = "feedf00d+dirty".to_owned();
        other.complete(label.path());
        let page = collected(label.path());
        insta::assert_snapshot!(page.machines.join("\n"), @r"
        bench-1: Example CPU, x86_64, 4 cores, 8.00 GiB, Linux 6.12.0
        bench-2: Example CPU, x86_64, 4 cores, 8.00 GiB, Linux 6.12.0
        ");
        insta::assert_snapshot!(page.builds.join("\n"), @r"
        assay 0.1.0, commit 0123abcd
        assay 0.1.0, commit feedf00d+dirty
        ");
    }
}
