//! The generator's own band: several targets that differ in everything else reach nearly the same
//! throughput, while the generator of each is busy. Two saturated generators look identical
//! (K-106), so that such contrasts compare the generator with itself.
//!
//! No run shows this; it is judged over the cells of a matrix and annotates contrasts.

use std::collections::BTreeMap;

use record::compare::Contrast;
use record::digest::Digest;
use record::plan::Model;
use stats::sample::median;

use super::pairing::cell_of;
use crate::gates::percent;

/// The flag on a contrast, and the gate whose bound is the width of the band.
pub(crate) const GENERATOR_CLUSTER: &str = "generator_cluster";
/// The gate whose value is the generator's use of its cores, and whose bound is a busy one.
const BUSY: &str = "generator_cpu_flag";
/// Fewest targets in a band: two may be equal.
const FEWEST_TARGETS: usize = 3;

/// One level of the factor in one combination of the others.
struct Place {
    level: String,
    throughput: f64,
    busy_share: f64,
}

/// Levels in one band.
struct Cluster {
    factor: String,
    /// The combination of the other factors: `*+1k`.
    cell: String,
    /// By throughput, lowest first.
    places: Vec<Place>,
    bound: f64,
}

/// Flags the contrasts of throughput and latency within a band of generator-bound targets, and
/// says so once for each band. Open loops have their throughput from the plan and are left alone.
pub(crate) fn mark(
    measured: &[(&str, &Digest)],
    factors: &[String],
    contrasts: &mut [Contrast],
    notes: &mut Vec<String>,
) {
    for cluster in factors.iter().flat_map(|factor| clusters(measured, factor)) {
        let holds = |level: &str| cluster.places.iter().any(|place| place.level == level);
        for contrast in contrasts.iter_mut().filter(|contrast| {
            contrast.factor == cluster.factor
                && contrast.cell == cluster.cell
                && holds(&contrast.baseline)
                && holds(&contrast.level)
        }) {
            contrast.flags.push(GENERATOR_CLUSTER.to_owned());
        }
        notes.push(said(&cluster));
    }
}

/// The bands of one factor.
fn clusters(measured: &[(&str, &Digest)], factor: &str) -> Vec<Cluster> {
    let mut by_cell: BTreeMap<String, BTreeMap<String, Vec<&Digest>>> = BTreeMap::new();
    for (_, digest) in measured {
        let own = digest.levels.iter().find(|level| level.factor == factor);
        // A control repeats a target that is there already.
        let Some(own) = own.filter(|own| own.twin.is_none()) else { continue };
        if matches!(digest.identity.effective.load.model, Model::Users(_)) {
            let levels = by_cell.entry(cell_of(digest, factor)).or_default();
            levels.entry(own.level.clone()).or_default().push(digest);
        }
    }
    let bands = by_cell.into_iter().filter_map(|(cell, levels)| {
        let bounds = levels.values().flatten().next()?;
        let (busy, bound) = (bound_of(bounds, BUSY)?, bound_of(bounds, GENERATOR_CLUSTER)?);
        let places: Vec<Place> = levels
            .into_iter()
            .filter_map(|(level, runs)| place(level, &runs))
            .filter(|place| place.busy_share > busy)
            .collect();
        let places = widest_band(places, bound)?;
        Some(Cluster { factor: factor.to_owned(), cell, places, bound })
    });
    bands.collect()
}

fn bound_of(digest: &Digest, gate: &str) -> Option<f64> {
    digest.checks.iter().find(|check| check.gate == gate)?.bound
}

/// Medians over the runs of a level. A throughput that is only a lower bound counts here: that
/// the generator was the limit is what is looked for.
fn place(level: String, runs: &[&Digest]) -> Option<Place> {
    let of = |value: fn(&Digest) -> Option<f64>| {
        median(&runs.iter().filter_map(|digest| value(digest)).collect::<Vec<f64>>())
    };
    let throughput = of(|digest| digest.metrics.get("throughput")?.value)?;
    let busy_share = of(|digest| digest.checks.iter().find(|check| check.gate == BUSY)?.value)?;
    (throughput > 0.0).then_some(Place { level, throughput, busy_share })
}

/// The most places whose throughputs lie within `bound` of the lowest of them.
fn widest_band(mut places: Vec<Place>, bound: f64) -> Option<Vec<Place>> {
    places.sort_by(|a, b| a.throughput.total_cmp(&b.throughput));
    let within = |start: usize| {
        let most = places[start].throughput * (1.0 + bound);
        places[start..].iter().take_while(|place| place.throughput <= most).count()
    };
    let start = (0..places.len()).rev().max_by_key(|start| within(*start))?;
    let count = within(start);
    (count >= FEWEST_TARGETS).then(|| places.drain(start..start + count).collect())
}

fn said(cluster: &Cluster) -> String {
    let places = &cluster.places;
    let names: Vec<&str> = places.iter().map(|place| place.level.as_str()).collect();
    let rates = places.iter().map(|place| place.throughput);
    let (low, high) = (rates.clone().fold(f64::MAX, f64::min), rates.fold(0.0, f64::max));
    let least_busy = places.iter().map(|place| place.busy_share).fold(f64::MAX, f64::min);
    format!(
        "{GENERATOR_CLUSTER}: {} in {} lie between {low:.0}/s and {high:.0}/s, within {} of each \
         other, with generators that use {} of their cores at least: this may be the generator's \
         limit (try: more cores with `cpus.generator`)",
        names.join(", "),
        cluster.cell,
        percent(cluster.bound),
        percent(least_busy)
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use record::plan::{LevelOf, Model};

    use super::*;
    use crate::samples::{SampleRun, level};
    use crate::{CompareOptions, compare};

    /// Three blocks of one target at this rate, with a generator that uses so much of its core.
    fn target(label: &Path, order: u32, level: &LevelOf, requests: u64, busy_percent: u64) {
        for block in 1..=3 {
            let mut run = SampleRun::sound(block, order, level);
            let load = run.load.as_mut().unwrap();
            load.workers.clear();
            (load.due, load.sent, load.succeeded) = (requests, requests, requests);
            load.generator.cpu_user_ns = load.window_ns / 100 * busy_percent;
            load.generator.cpu_sys_ns = 0;
            run.complete(label);
        }
    }

    fn flagged(targets: &[(&str, u64, u64)], open: bool) -> (Vec<String>, Vec<String>) {
        let label = tempfile::tempdir().unwrap();
        for (index, (name, requests, busy)) in (0_u32..).zip(targets) {
            target(label.path(), index + 1, &level(name, index, None), *requests, *busy);
        }
        if open {
            for dir in std::fs::read_dir(label.path().join("runs")).unwrap().flatten() {
                let path = dir.path().join(record::layout::DIGEST_JSON);
                let mut digest: Digest = record::layout::read_json(&path).unwrap();
                digest.identity.effective.load.model = Model::Rate(800.0);
                record::layout::write_json(&path, &digest).unwrap();
            }
        }
        let comparison = compare(label.path(), &CompareOptions::default()).unwrap();
        let flags = comparison
            .contrasts
            .iter()
            .filter(|contrast| contrast.metric == "throughput")
            .filter(|contrast| contrast.flags.iter().any(|flag| flag == GENERATOR_CLUSTER))
            .map(|contrast| contrast.level.clone())
            .collect();
        let notes = comparison.notes.into_iter().filter(|note| note.contains(GENERATOR_CLUSTER));
        (flags, notes.collect())
    }

    #[test]
    fn targets_in_one_band_with_busy_generators_are_a_cluster() {
        let (flags, notes) = flagged(
            &[("a", 24_000, 79), ("b", 24_500, 85), ("c", 24_300, 78), ("d", 30_000, 90)],
            false,
        );
        assert_eq!(flags, ["b", "c"], "d is outside of the band");
        insta::assert_snapshot!(notes.join("\n"), @"generator_cluster: a, c, b in * lie between 800/s and 817/s, within 5 % of each other, with generators that use 78 % of their cores at least: this may be the generator's limit (try: more cores with `cpus.generator`)");
        // The same band with generators at ease is a coincidence, or the targets' own.
        let (flags, notes) =
            flagged(&[("a", 24_000, 50), ("b", 24_500, 60), ("c", 24_300, 65)], false);
        assert_eq!((flags.len(), notes.len()), (0, 0));
        // Two may be equal, and a wide band is none.
        let (flags, _) = flagged(&[("a", 24_000, 79), ("b", 24_500, 85), ("c", 29_000, 85)], false);
        assert_eq!(flags.len(), 0);
        // Under a constant rate equal throughput is the plan's.
        let (flags, _) = flagged(&[("a", 24_000, 79), ("b", 24_000, 79), ("c", 24_000, 79)], true);
        assert_eq!(flags.len(), 0);
    }
}
