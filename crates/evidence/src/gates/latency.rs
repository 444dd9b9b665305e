//! What the latencies of a window can carry: enough of them for the highest percentile, and one
//! mode rather than two.

use hdrhistogram::Histogram;
use record::load::LoadRecord;
use record::plan::Gates;
use record::units::HumanDuration;
use stats::histogram::MINIMUM_SAMPLES;

use super::{Judgement, percent};

/// The histogram of the latencies of successes in each step.
const SUCCEEDED: &str = "latency.succeeded";

/// The gates on the latencies.
pub(super) fn judge(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    percentile(judgement, load, bounds);
    hidden_mode(judgement, load, bounds);
}

/// Successes from which percentile `p`, 0 to 1, is printed: the table's number where it has one,
/// else by the formula behind it (D8).
#[must_use]
pub(super) fn samples_for(p: f64) -> u64 {
    let listed = MINIMUM_SAMPLES.iter().find(|(known, _)| (known - p).abs() < 1e-9);
    listed
        .map(|(_, samples)| *samples)
        .or_else(|| stats::order::samples_needed(p))
        .unwrap_or(u64::MAX)
}

fn percentile(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let (count, needed) = (load.latency_ns.count, samples_for(bounds.percentile));
    judgement.add("percentile", bounds, Some(count as f64), Some(count >= needed), || {
        format!(
            "p{} needs {needed} successes, the window has {count}",
            percent(bounds.percentile).trim_end_matches(" %")
        )
    });
}

/// A narrow upper mode by name, share and size (M-024).
fn hidden_mode(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let Some(latency) = latencies(load) else {
        judgement.add("hidden_mode", bounds, None, None, String::new);
        return;
    };
    let mode = stats::modes::upper_mode(&latency);
    let share = mode.map_or(0.0, |mode| mode.share);
    let held = mode.is_none() || share < bounds.mode_share;
    judgement.add("hidden_mode", bounds, Some(share), Some(held), || {
        let ns =
            |of: fn(&stats::modes::Mode) -> u64| HumanDuration(mode.map_or(0, |m| of(&m)) as f64);
        format!(
            "{} of requests take about {} more than the others: {} to {}",
            percent(share),
            ns(|mode| mode.extra_ns),
            ns(|mode| mode.from_ns),
            ns(|mode| mode.to_ns)
        )
    });
}

/// All latencies of successes; `None` where the record keeps none, or they cannot be read.
fn latencies(load: &LoadRecord) -> Option<Histogram<u64>> {
    let mut all = stats::histogram::new();
    for step in &load.steps {
        let one = stats::histogram::decode(step.histograms.get(SUCCEEDED)?).ok()?;
        all.add(&one).ok()?;
    }
    (!all.is_empty()).then_some(all)
}
