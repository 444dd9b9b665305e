//! Latencies that cannot carry their figures.

use std::collections::BTreeMap;

use record::State;
use record::load::LoadRecord;
use record::plan::Gates;
use stats::random::Random;

use super::judge_load;
use super::tests::{planted, reason};
use crate::samples;

#[test]
fn a_window_too_short_for_its_percentile_is_flagged() {
    let successes = |count: u64| {
        move |load: &mut LoadRecord| {
            load.workers.clear();
            (load.due, load.sent, load.succeeded) = (count, count, count);
            load.latency_ns = samples::summary(count, 10_000_000);
            load.users = None;
        }
    };
    assert_eq!(planted(samples::load(), successes(568)).reasons, []);
    let judgement = planted(samples::load(), successes(567));
    insta::assert_snapshot!(reason(&judgement, "percentile").detail, @"p99 needs 568 successes, the window has 567");
    assert_eq!(judgement.validity().state, State::Valid);
    // Another percentile has another need; one that no table lists has it by the formula.
    for (percentile, needed) in [(0.999, 5_800.0), (0.9999, 56_646.0)] {
        let bounds = Gates { percentile, ..Gates::default() };
        let judgement = judge_load(&samples::load(), &bounds);
        let check = judgement.checks.iter().find(|check| check.gate == "percentile").unwrap();
        assert_eq!(check.bound, Some(needed), "{percentile}");
    }
}

fn with_latencies(load: &mut LoadRecord, mut draw: impl FnMut(&mut Random) -> f64) {
    let mut random = Random::seeded(7);
    let mut histogram = stats::histogram::new();
    for _ in 0..load.succeeded {
        histogram.saturating_record(draw(&mut random) as u64);
    }
    let encoded = stats::histogram::encode(&histogram);
    load.steps[0].histograms = BTreeMap::from([("latency.succeeded".to_owned(), encoded)]);
}

/// M-024: 3.5 % of calls pay 225 ms.
#[test]
fn a_narrow_upper_mode_is_named_with_share_and_size() {
    let base = |random: &mut Random| 14e6 * (0.1 * random.normal()).exp();
    let judgement = planted(samples::load(), |load| with_latencies(load, base));
    assert_eq!(judgement.reasons, []);
    let judgement = planted(samples::load(), |load| {
        with_latencies(load, |random| {
            let extra = if random.unit() < 0.035 { 225e6 } else { 0.0 };
            base(random) + extra
        });
    });
    assert_eq!(judgement.reasons.len(), 1);
    insta::assert_snapshot!(reason(&judgement, "hidden_mode").detail, @"3.504 % of requests take about 225 ms more than the others: 237 ms to 242 ms");
    assert_eq!(judgement.validity().state, State::Valid);
}
