//! The noise doctor (D16): which difference between the machine under the two runs of a pair goes
//! along with the pair's residual. Association, not cause.

use std::path::Path;

use record::Format;
use record::compare::Contrast;
use record::digest::Digest;
use record::doctor::{Cause, Doctor, DoctorRow};
use stats::attribution::{ALPHA, FEWEST_PAIRS, attribute};
use stats::sample::{mean, sd};

use crate::compare::pairing::cell_of;
use crate::compare::runs::Runs;
use crate::compare::{CompareOptions, compare_runs};
use crate::error::EvidenceError;

/// Name of a difference and the figure of one run; the difference is level less baseline.
type Sign = (&'static str, fn(&Digest) -> Option<f64>);

/// What is looked at.
const SIGNS: [Sign; 11] = [
    ("steal", |run| run.host.steal_share),
    ("foreign CPU", |run| run.host.foreign_all_share.or(run.host.foreign_share)),
    ("clock", |run| run.host.frequency_min_hz.map(|hz| hz as f64)),
    ("clock below its peak", |run| run.host.frequency_below_peak_share),
    ("fixed loop", fixed_loop),
    ("temperature", |run| run.host.temperature_max_millicelsius.map(|t| t as f64)),
    ("throttled by a quota", |run| run.host.throttled_ns.map(|ns| ns as f64)),
    ("throttled by heat", |run| run.host.thermal_throttles.map(|count| count as f64)),
    ("interrupts", interrupts_per_s),
    ("sockets in TIME_WAIT", |run| run.host.time_wait.map(|count| count as f64)),
    ("load average", |run| run.host.load_1m),
];

/// The sentinel around the run, mean of before and after, ns; of the slowest type of cores.
fn fixed_loop(run: &Digest) -> Option<f64> {
    let states = [run.host_states.before.as_ref()?, run.host_states.after.as_ref()?];
    let slowest = states.map(|state| state.spins.iter().map(|spin| spin.median_ns).max());
    Some((slowest[0]? as f64 + slowest[1]? as f64) / 2.0)
}

fn interrupts_per_s(run: &Digest) -> Option<f64> {
    let window_ns = run.load.as_ref().map(|load| load.window_ns).filter(|ns| *ns > 0)?;
    Some(run.host.interrupts? as f64 * 1e9 / window_ns as f64)
}

/// Looks at every contrast of a primary metric. The seed is the plan's, so that the answer is the
/// same wherever the label lies.
///
/// # Errors
/// As [`crate::compare()`].
pub fn doctor(dir: &Path) -> Result<Doctor, EvidenceError> {
    let runs = Runs::read(dir)?;
    let comparison = compare_runs(&runs, &CompareOptions::default())?;
    let (measured, _) = runs.measured();
    let seed = runs.plan.as_ref().map_or(1, |plan| plan.seed);
    let rows = comparison.contrasts.iter().filter(|contrast| contrast.primary);
    let rows = rows.map(|contrast| row(contrast, &measured, seed));
    Ok(Doctor {
        format: Format::v1("assay.doctor"),
        label: comparison.label.clone(),
        hosts: comparison.tables.hosts.clone(),
        seed,
        alpha: ALPHA,
        contrasts: rows.collect(),
    })
}

fn row(contrast: &Contrast, measured: &[(&str, &Digest)], seed: u64) -> DoctorRow {
    let run_of = |block: u32, level: &str| {
        measured.iter().map(|(_, digest)| *digest).find(|digest| {
            let is_level =
                |of: &record::plan::LevelOf| of.factor == contrast.factor && of.level == level;
            digest.block == block
                && digest.levels.iter().any(is_level)
                && cell_of(digest, &contrast.factor) == contrast.cell
        })
    };
    let pairs: Vec<(f64, &Digest, &Digest)> = contrast
        .log_ratios
        .iter()
        .filter_map(|(block, ratio)| {
            let (baseline, level) = (&contrast.baseline, &contrast.level);
            Some((*ratio, run_of(*block, baseline)?, run_of(*block, level)?))
        })
        .collect();
    let ratios: Vec<f64> = pairs.iter().map(|(ratio, _, _)| *ratio).collect();
    let middle = mean(&ratios).unwrap_or_default();
    let residuals: Vec<f64> = ratios.iter().map(|ratio| ratio - middle).collect();
    let mut names = Vec::new();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut untold = Vec::new();
    for (name, of) in SIGNS {
        let deltas = pairs.iter().map(|(_, baseline, level)| Some(of(level)? - of(baseline)?));
        let deltas: Option<Vec<f64>> = deltas.collect();
        match deltas.filter(|deltas| deltas.iter().any(|delta| Some(delta) != deltas.first())) {
            Some(deltas) => {
                names.push(name);
                columns.push(deltas);
            }
            None => untold.push(name.to_owned()),
        }
    }
    let shares = attribute(&residuals, &columns, seed);
    let causes: Vec<Cause> = shares
        .iter()
        .flatten()
        .map(|share| Cause {
            name: names[share.cause].to_owned(),
            explained_share: share.explained,
            rises: share.sign > 0.0,
            p: share.p,
            explains: share.explains,
        })
        .collect();
    let word = match &shares {
        _ if pairs.len() < FEWEST_PAIRS => "too_few",
        Some(shares) if shares.iter().any(|share| share.explains) => "named",
        _ => "nothing",
    };
    DoctorRow {
        contrast: format!(
            "{}: {} / {} in {}",
            contrast.factor, contrast.level, contrast.baseline, contrast.cell
        ),
        metric: contrast.metric.clone(),
        pairs: pairs.len() as u32,
        sd_percent: sd(&ratios).map(|sd| sd * 100.0),
        word: word.to_owned(),
        causes,
        untold,
    }
}

#[cfg(test)]
mod tests {
    use record::layout;
    use record::plan::{Compare, Gates};
    use stats::random::Random;

    use super::*;
    use crate::samples::{self, SampleRun, level, plan};

    /// A label of `pairs` pairs of a null. `plant` sets steal (as a share) and throughput of a run
    /// from a standard normal draw.
    fn label(pairs: u32, plant: impl Fn(f64) -> (f64, f64)) -> Doctor {
        let label = tempfile::tempdir().expect("a folder");
        let mut random = Random::seeded(3);
        for block in 1..=pairs {
            let cells = if block % 2 == 1 { ["base", "null"] } else { ["null", "base"] };
            for (order, name) in (1..).zip(cells) {
                let twin = (name == "null").then_some("base");
                let of = level(name, u32::from(name == "null"), twin);
                let mut run = SampleRun::sound(block, order, &of);
                run.meta.identity_sha256 = "one and the same".to_owned();
                let dir = label.path().join(layout::RUNS).join(&run.meta.run);
                run.write(&dir);
                let mut digest = crate::digest(&dir, &Gates::default(), &Compare::default())
                    .expect("a sample run has a digest");
                let (steal, throughput) = plant(random.normal());
                digest.host.steal_share = Some(steal);
                // Others that vary and drive nothing.
                digest.host.temperature_max_millicelsius =
                    Some(50_000 + (random.normal() * 900.0) as i64);
                digest.host.interrupts = Some((90_000.0 + random.normal() * 4_000.0) as u64);
                digest.host.foreign_all_share = Some(random.unit() / 20.0);
                if let Some(metric) = digest.metrics.get_mut("throughput") {
                    metric.value = Some(throughput * (1.0 + 0.003 * random.normal()));
                }
                samples::write_digest(&dir, &digest);
            }
        }
        layout::write_json(&label.path().join(layout::PLAN), &plan(&["base", "null"], pairs))
            .expect("a plan is written");
        doctor(label.path()).expect("a label")
    }

    #[test]
    fn steal_that_drives_the_pairs_is_ranked_first() {
        let driven = |draw: f64| {
            let steal = 0.01 * draw.abs();
            (steal, 800.0 * (1.0 - 3.0 * steal))
        };
        let row = &label(16, driven).contrasts[0];
        assert_eq!((row.word.as_str(), row.pairs), ("named", 16));
        let first = &row.causes[0];
        assert_eq!((first.name.as_str(), first.rises, first.explains), ("steal", false, true));
        assert!(first.explained_share > 0.6, "{row:?}");
        assert!(row.untold.contains(&"clock".to_owned()), "what nobody recorded is named");
    }

    #[test]
    fn scatter_of_its_own_is_explained_by_nothing() {
        let row = &label(16, |draw| (0.01 * draw.abs(), 800.0)).contrasts[0];
        assert_eq!(row.word, "nothing", "{row:?}");
        assert!(!row.causes.is_empty() && row.causes.iter().all(|cause| !cause.explains));
    }

    #[test]
    fn too_few_pairs_say_so() {
        let row = &label(7, |draw| (0.01 * draw.abs(), 800.0)).contrasts[0];
        assert_eq!((row.word.as_str(), row.pairs, row.causes.len()), ("too_few", 7, 0));
    }
}
