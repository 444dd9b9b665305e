//! Sleep parity of the two arms of a contrast on a mock (K-108, K-195): what the mock really slept
//! for each request may differ between the arms, since an overshoot of a timer grows with the load.
//! The raw effect and the one without that difference stand side by side; when they differ, words
//! say which way the bias runs, and the headline is the one less favourable to the level.

use record::compare::{Contrast, SleepParity};
use record::digest::Digest;
use record::plan::Model;
use stats::sample::median;

use crate::compare::pairing::cell_of;

/// Bias below this share of the baseline's sleep is none: what a timer's own noise makes.
const NEGLIGIBLE: f64 = 0.001;

/// The parity of every contrast of throughput or median latency whose arms were both served by a mock
/// that slept.
pub(super) fn parities(measured: &[(&str, &Digest)], contrasts: &[Contrast]) -> Vec<SleepParity> {
    contrasts.iter().filter_map(|contrast| parity(measured, contrast)).collect()
}

/// One arm of a pair: its figure, and the mean time that the mock slept for a request, ns.
struct Arm {
    value: f64,
    slept_ns: f64,
    users: Option<u32>,
}

fn arm(digest: &Digest, metric: &str) -> Option<Arm> {
    let slept = &digest.mock.as_ref()?.sleep.slept_ns;
    let slept_ns = slept.mean.filter(|_| slept.count > 0)?;
    let users = match digest.identity.effective.load.model {
        Model::Users(users) => Some(users),
        Model::Rate(_) => None,
    };
    Some(Arm { value: digest.metrics.get(metric)?.value?, slept_ns, users })
}

fn parity(measured: &[(&str, &Digest)], contrast: &Contrast) -> Option<SleepParity> {
    let is_throughput = contrast.metric == "throughput";
    let is_latency = contrast.metric == "p50";
    if !is_throughput && !is_latency {
        return None;
    }
    let run = |block: u32, level: &str| {
        measured.iter().map(|(_, digest)| *digest).find(|digest| {
            let own = digest.levels.iter().find(|own| own.factor == contrast.factor);
            digest.block == block
                && own.is_some_and(|own| own.level == level)
                && cell_of(digest, &contrast.factor) == contrast.cell
        })
    };
    let (mut raw, mut corrected, mut bias) = (Vec::new(), Vec::new(), Vec::new());
    let (mut level_slept, mut baseline_slept) = (Vec::new(), Vec::new());
    for pair in &contrast.pair_values {
        let baseline = arm(run(pair.block, &contrast.baseline)?, &contrast.metric)?;
        let level = arm(run(pair.block, &contrast.level)?, &contrast.metric)?;
        let more_ns = level.slept_ns - baseline.slept_ns;
        raw.push(level.value / baseline.value);
        corrected.push(without(&level, more_ns, is_throughput)? / baseline.value);
        bias.push(more_ns);
        level_slept.push(level.slept_ns);
        baseline_slept.push(baseline.slept_ns);
    }
    let raw_percent = 100.0 * (median(&raw)? - 1.0);
    let corrected_percent = 100.0 * (median(&corrected)? - 1.0);
    let bias_ns = median(&bias)?;
    let baseline_ns = median(&baseline_slept)?;
    // Less favourable to the level: the smaller where more is better, else the larger.
    let raw_is_worse = (raw_percent <= corrected_percent) == contrast.higher_is_better;
    let (words, headline) = if bias_ns.abs() <= NEGLIGIBLE * baseline_ns {
        ("the mock slept alike for both".to_owned(), raw_percent)
    } else {
        let favours = if bias_ns > 0.0 { &contrast.baseline } else { &contrast.level };
        let (worse, headline) =
            if raw_is_worse { ("raw", raw_percent) } else { ("corrected", corrected_percent) };
        let slow = if bias_ns > 0.0 { &contrast.level } else { &contrast.baseline };
        (
            format!(
                "the mock slept longer for `{slow}`: the raw figure favours `{favours}`; headline: \
                 {worse}, the less favourable to `{}`",
                contrast.level
            ),
            headline,
        )
    };
    Some(SleepParity {
        factor: contrast.factor.clone(),
        baseline: contrast.baseline.clone(),
        level: contrast.level.clone(),
        cell: contrast.cell.clone(),
        metric: contrast.metric.clone(),
        pairs: u32::try_from(raw.len()).unwrap_or(u32::MAX),
        raw_percent,
        corrected_percent,
        headline_percent: headline,
        level_slept_ns: median(&level_slept)?,
        baseline_slept_ns: baseline_ns,
        words,
    })
}

/// The level's figure if the mock had slept as long as for the baseline. In a closed loop a user's
/// loop takes users over throughput, of which the sleep is a part; latencies hold it as it is.
fn without(level: &Arm, more_ns: f64, is_throughput: bool) -> Option<f64> {
    if !is_throughput {
        return Some(level.value - more_ns);
    }
    let users = f64::from(level.users?);
    let loop_ns = users * 1e9 / level.value - more_ns;
    (loop_ns > 0.0).then(|| users * 1e9 / loop_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm_of(value: f64) -> Arm {
        Arm { value, slept_ns: 0.0, users: Some(8) }
    }

    #[test]
    fn a_loop_without_the_longer_sleep_is_shorter_by_it() {
        // 8 users, 10 ms a loop: 800/s. Without 2 ms of sleep more: 8 ms, 1000/s.
        let corrected = without(&arm_of(800.0), 2_000_000.0, true).expect("a rate");
        assert!((corrected - 1_000.0).abs() < 1e-6, "{corrected}");
        assert_eq!(without(&arm_of(10e6), 2e6, false), Some(8e6));
        // A correction that would leave no loop is none.
        assert_eq!(without(&arm_of(800.0), 2e7, true), None);
    }
}
