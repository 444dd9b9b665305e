//! A machine that slows down all along: what alternating the lead is for.

use std::path::Path;

use super::{CompareOptions, compare};
use crate::samples::{self, SampleRun, level};

/// Two arms that do the same, on a machine that loses 1 % of its speed from run to run; `leads`
/// tells which arm goes first in each block. The estimate of their difference, percent.
fn estimate(leads: &[&str]) -> f64 {
    let label = tempfile::tempdir().unwrap();
    let arms = [level("base", 0, None), level("same", 1, None)];
    let mut speed = 100_000.0;
    for (block, lead) in (1_u32..).zip(leads) {
        let mut order: Vec<_> = arms.iter().collect();
        if *lead == "same" {
            order.reverse();
        }
        for (place, arm) in (1_u32..).zip(order) {
            complete(label.path(), SampleRun::sound(block, place, arm), speed);
            speed *= 0.99;
        }
    }
    let comparison = compare(label.path(), &CompareOptions::default()).unwrap();
    let contrast = comparison
        .contrasts
        .iter()
        .find(|contrast| contrast.level == "same" && contrast.metric == "throughput")
        .unwrap();
    assert_eq!(contrast.pairs as usize, leads.len());
    contrast.effect_percent.unwrap()
}

fn complete(label: &Path, mut run: SampleRun, speed: f64) {
    let mut load = samples::load();
    load.workers.clear();
    let succeeded = speed.round() as u64;
    (load.due, load.sent, load.succeeded) = (succeeded, succeeded, succeeded);
    run.load = Some(load);
    run.complete(label);
}

#[test]
fn alternating_leads_cancel_a_drift_and_a_fixed_order_does_not() {
    let alternating = estimate(&["base", "same", "same", "base", "base", "same", "same", "base"]);
    assert!(alternating.abs() < 0.01, "{alternating} %");
    let fixed = estimate(&["base"; 8]);
    assert!((fixed + 1.0).abs() < 0.01, "one run's drift is taken for an effect: {fixed} %");
}
