//! Two generators, or two settings of a client, against one target that both drive to its limit: what
//! a clock on the wall shows then is the target, twice (K-064). CPU and allocation still say something
//! of the arms.
//!
//! It holds where the arms share target, load and scenario: a factor that changes the target may well
//! be about its limit. A null shares everything and shows the noise there is.

use std::collections::BTreeMap;

use record::compare::Contrast;
use record::digest::Digest;
use stats::sample::median;

use super::pairing::cell_of;
use crate::digest::TARGET_ROLES;
use crate::gates::percent;

/// The flag on a contrast.
pub(crate) const TARGET_SATURATED: &str = "target_saturated";
/// Use of the cores it can use above which a target is at its limit.
const BUSY_SHARE: f64 = 0.90;

/// Why a level's target is at its limit: the median over its runs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    /// It uses so much of the cores that it can use.
    Cpu(f64),
    /// Half of the requests or more wait for one of so many workers, or for the section.
    Workers(Option<u32>),
}

/// Voids the wall-clock contrasts whose arms both saturate one target, and says so once for each.
pub(crate) fn mark(
    measured: &[(&str, &Digest)],
    contrasts: &mut [Contrast],
    notes: &mut Vec<String>,
) {
    let mut said = BTreeMap::new();
    for contrast in contrasts.iter_mut().filter(|contrast| !contrast.null) {
        if !is_wall_clock(&contrast.metric) {
            continue;
        }
        let runs = |level: &str| -> Vec<&Digest> {
            let own = |digest: &&Digest| {
                cell_of(digest, &contrast.factor) == contrast.cell
                    && digest.levels.iter().any(|l| l.factor == contrast.factor && l.level == level)
            };
            measured.iter().map(|(_, digest)| *digest).filter(own).collect()
        };
        let (baseline, level) = (runs(&contrast.baseline), runs(&contrast.level));
        if !baseline.iter().zip(&level).all(|(one, other)| shares_target(one, other)) {
            continue;
        }
        let (Some(one), Some(other)) = (limit(&baseline), limit(&level)) else { continue };
        contrast.verdict = "void".to_owned();
        contrast.flags.push(TARGET_SATURATED.to_owned());
        said.insert(
            (contrast.factor.clone(), contrast.level.clone(), contrast.cell.clone()),
            format!(
                "{TARGET_SATURATED}: {} and {} in {}: target saturated, wall-clock comparison void \
                 ({}; {}); try fewer users or a lower rate, or compare CPU",
                contrast.baseline,
                contrast.level,
                contrast.cell,
                words(one),
                words(other)
            ),
        );
    }
    notes.extend(said.into_values());
}

/// Whether a metric is read off a clock on the wall.
fn is_wall_clock(metric: &str) -> bool {
    let percentile =
        metric.strip_prefix('p').is_some_and(|p| p.starts_with(|c: char| c.is_ascii_digit()));
    percentile || matches!(metric, "throughput" | "time")
}

/// Whether two runs ask the same of the same target.
fn shares_target(one: &Digest, other: &Digest) -> bool {
    let (one, other) = (&one.identity.effective, &other.identity.effective);
    one.target.kind == other.target.kind
        && one.target.env == other.target.env
        && one.target.slow_share == other.target.slow_share
        && one.load.model == other.load.model
        && one.scenario == other.scenario
}

fn limit(runs: &[&Digest]) -> Option<Limit> {
    let busy: Vec<f64> = runs.iter().filter_map(|digest| busy_share(digest)).collect();
    if let Some(share) = median(&busy).filter(|share| *share >= BUSY_SHARE) {
        return Some(Limit::Cpu(share));
    }
    let waits = |digest: &&&Digest| {
        digest.mock.as_ref().is_some_and(|mock| mock.queued_ns.p50.is_some_and(|ns| ns > 0))
    };
    let mock = runs.first()?.mock.as_ref()?;
    (runs.iter().filter(waits).count() * 2 > runs.len())
        .then_some(Limit::Workers(mock.config.workers))
}

/// The target's use of the cores that it can use: those it was given, and no more than its threads.
fn busy_share(digest: &Digest) -> Option<f64> {
    let resources = TARGET_ROLES.iter().find_map(|role| digest.resources.get(*role))?;
    let cpus = &digest.identity.effective.cpus;
    let given = [&cpus.mock, &cpus.target].into_iter().map(Vec::len).find(|count| *count > 0);
    let cores = given.unwrap_or(digest.identity.host.cores as usize) as u64;
    // A mock works on one thread, whatever else it has.
    let threads = if digest.mock.is_some() { Some(1) } else { resources.threads_peak };
    let usable = threads.map_or(cores, |threads| cores.min(threads)).max(1);
    Some(resources.cores_busy? / usable as f64)
}

fn words(limit: Limit) -> String {
    match limit {
        Limit::Cpu(share) => format!("it uses {} of the cores it can use", percent(share)),
        Limit::Workers(Some(workers)) => {
            format!("half of the requests or more wait for one of {workers} workers")
        }
        Limit::Workers(None) => "half of the requests or more wait for its section".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::samples::{SampleRun, level};
    use crate::{CompareOptions, compare};

    /// Three blocks of one generator; `change` makes what is special of an arm.
    fn arm(label: &Path, index: u32, generator: &str, change: impl Fn(&mut SampleRun)) {
        for block in 1..=3 {
            let mut run = SampleRun::sound(block, index + 1, &level(generator, index, None));
            run.meta.effective.generator = record::plan::Generator::named(generator);
            change(&mut run);
            run.complete(label);
        }
    }

    fn queued(run: &mut SampleRun) {
        let mock = run.mock.as_mut().expect("the sample has one");
        mock.config.workers = Some(4);
        mock.queued_ns = crate::samples::summary(26_400, 5_000_000);
    }

    /// Metrics that are void for it, and what is said.
    fn seen(one: impl Fn(&mut SampleRun), other: impl Fn(&mut SampleRun)) -> (Vec<String>, String) {
        let label = tempfile::tempdir().expect("a folder");
        arm(label.path(), 0, "assay", one);
        arm(label.path(), 1, "wrk", other);
        let comparison = compare(label.path(), &CompareOptions::default()).expect("a comparison");
        let flagged = comparison
            .contrasts
            .iter()
            .filter(|contrast| contrast.flags.iter().any(|flag| flag == TARGET_SATURATED));
        let metrics = flagged.map(|contrast| {
            assert_eq!(contrast.verdict, "void", "{}", contrast.metric);
            contrast.metric.clone()
        });
        let metrics = metrics.collect();
        let notes = comparison.notes.into_iter().filter(|note| note.contains(TARGET_SATURATED));
        (metrics, notes.collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn two_arms_that_saturate_one_target_are_not_compared_by_the_clock() {
        let (metrics, said) = seen(queued, queued);
        assert!(metrics.contains(&"throughput".to_owned()), "{metrics:?}");
        assert!(metrics.iter().all(|metric| is_wall_clock(metric)), "{metrics:?}");
        insta::assert_snapshot!(said, @"target_saturated: assay and wrk in *: target saturated, wall-clock comparison void (half of the requests or more wait for one of 4 workers; half of the requests or more wait for one of 4 workers); try fewer users or a lower rate, or compare CPU");
        // One arm alone at the limit is a difference of the arms.
        assert_eq!(seen(queued, |_| {}), (Vec::new(), String::new()));
        assert_eq!(seen(|_| {}, |_| {}), (Vec::new(), String::new()));
    }

    #[test]
    fn a_factor_that_changes_the_target_may_be_about_its_limit() {
        let other = |run: &mut SampleRun| {
            queued(run);
            run.meta.effective.target.env.insert("POOL".to_owned(), "9".to_owned());
        };
        assert_eq!(seen(queued, other), (Vec::new(), String::new()));
    }

    #[test]
    fn a_busy_core_is_a_limit() {
        let busy = |run: &mut SampleRun| {
            run.resources = run.resources.as_ref().map(|text| text.replace(",target,", ",spare,"));
            let hot = text_of_a_busy_target();
            if let Some(text) = &mut run.resources {
                text.push_str(&hot);
            }
        };
        let (metrics, said) = seen(busy, busy);
        assert!(metrics.contains(&"throughput".to_owned()), "{metrics:?}");
        assert!(said.contains("it uses 96.667 % of the cores it can use"), "{said}");
    }

    /// Rows of a target that uses 29 s of CPU in a window of 30 s.
    fn text_of_a_busy_target() -> String {
        let lines = crate::samples::resources_csv();
        lines
            .lines()
            .filter(|line| line.contains(",target,"))
            .enumerate()
            .map(|(index, line)| {
                let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
                let cpu = index as u64 * 14_500_000_000;
                cells[4] = cpu.to_string();
                cells[5] = "0".to_owned();
                cells[6] = cpu.to_string();
                cells.join(",") + "\n"
            })
            .collect()
    }
}
