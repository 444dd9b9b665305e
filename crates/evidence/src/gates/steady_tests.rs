//! Windows that hold two states, drift, or begin cold; and windows that only look so.

use record::State;
use record::load::LoadRecord;
use record::plan::Gates;
use stats::random::Random;

use super::tests::reason;
use super::{Judgement, judge_load};
use crate::samples;

/// A closed loop of as many seconds, with a median latency and a throughput for each, in shares of
/// 10 ms and 800/s.
fn window(seconds: usize, of: impl Fn(usize) -> (f64, f64)) -> LoadRecord {
    let mut load = samples::load();
    load.workers.clear();
    load.window_ns = seconds as u64 * 1_000_000_000;
    load.window_asked_ns = Some(load.window_ns);
    load.users = None;
    load.in_flight_peak = 1_000;
    load.series = (0..seconds)
        .map(|second| {
            let (latency, rate) = of(second);
            samples::second(second as u64, &vec![(10e6 * latency) as u64; (800.0 * rate) as usize])
        })
        .collect();
    load
}

/// Latency only; the throughput of a closed loop follows.
fn latency(seconds: usize, of: impl Fn(usize) -> f64) -> LoadRecord {
    window(seconds, |second| (of(second), 1.0 / of(second)))
}

fn bounds() -> Gates {
    Gates { window_ns: 0, ..Gates::default() }
}

fn judge(load: &LoadRecord) -> Judgement {
    judge_load(load, &bounds())
}

fn gates(judgement: &Judgement) -> Vec<&str> {
    judgement.reasons.iter().map(|reason| reason.gate.as_str()).collect()
}

/// Noise of one standard deviation, the same for a seed.
fn noise(seconds: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::seeded(seed);
    (0..seconds).map(|_| random.normal()).collect()
}

#[test]
fn a_steady_window_holds() {
    for seconds in [10, 30, 120] {
        let noise = noise(seconds, 3);
        let judgement = judge(&latency(seconds, |second| 1.0 + 0.01 * noise[second]));
        assert_eq!(judgement.reasons, []);
        let checks = judgement.checks.iter().filter(|check| check.source_is_series());
        assert_eq!(checks.filter(|check| check.passed == Some(true)).count(), 6, "{seconds} s");
        // To the last digit the same in each second: no spread is no change.
        assert_eq!(judge(&latency(seconds, |_| 1.0)).reasons, []);
    }
}

trait OfSeries {
    fn source_is_series(&self) -> bool;
}

impl OfSeries for record::digest::Check {
    fn source_is_series(&self) -> bool {
        super::GATES.iter().any(|gate| gate.name == self.gate && gate.source == "load.json: series")
    }
}

/// the second at which it broke is named; a small step is a flag, a large one voids.
#[test]
fn a_window_that_breaks_is_flagged_or_void_by_the_size_of_the_step() {
    for (seconds, at) in [(12, 6), (30, 19), (60, 40)] {
        let noise = noise(seconds, 5);
        let stepped = |share: f64| {
            latency(seconds, |second| {
                (1.0 + 0.01 * noise[second]) * if second < at { 1.0 } else { 1.0 + share }
            })
        };
        let flagged = judge(&stepped(0.08));
        assert!(gates(&flagged).contains(&"shift_flag"), "{seconds} s: {:?}", gates(&flagged));
        assert_eq!(flagged.validity().state, State::Valid, "{seconds} s");
        let void = judge(&stepped(0.30));
        assert_eq!(void.validity().state, State::Void, "{seconds} s");
        let detail = &reason(&void, "shift").detail;
        assert!(detail.contains(&format!("at second {at} of the window")), "{detail}");
    }
    let judgement = judge(&latency(30, |second| if second < 19 { 1.0 } else { 1.3 }));
    insta::assert_snapshot!(reason(&judgement, "shift").detail, @"p50 changed from 10.0 ms to 13.0 ms at second 19 of the window: +30.0 %");
}

/// An open loop keeps its rate while latency breaks, and a server that sheds load its latency.
#[test]
fn either_series_can_break_alone() {
    let judgement = judge(&window(30, |second| (if second < 10 { 1.0 } else { 1.2 }, 1.0)));
    assert!(reason(&judgement, "shift").detail.starts_with("p50 changed"));
    let judgement = judge(&window(30, |second| (1.0, if second < 10 { 1.0 } else { 0.8 })));
    insta::assert_snapshot!(reason(&judgement, "shift").detail, @"throughput changed from 800/s to 640/s at second 10 of the window: -20.0 %");
}

#[test]
fn a_drift_over_the_window_is_flagged() {
    let noise = noise(30, 11);
    let drifting = |share: f64| {
        latency(30, |second| 1.0 + share * second as f64 / 30.0 + 0.002 * noise[second])
    };
    assert_eq!(judge(&drifting(0.01)).reasons, [], "real, and too small to matter");
    let judgement = judge(&drifting(0.06));
    assert_eq!(judgement.validity().state, State::Valid);
    insta::assert_snapshot!(reason(&judgement, "trend").detail, @"throughput drifts by -5.9 % over the 30 s of the window, around 776/s");
}

#[test]
fn halves_that_differ_are_flagged() {
    let noise = noise(30, 13);
    let judgement = judge(&latency(30, |second| {
        1.0 + 0.01 * noise[second] + if second < 15 { 0.0 } else { 0.07 }
    }));
    insta::assert_snapshot!(reason(&judgement, "halves").detail, @"throughput is -6.9 % in the second half of the window against the first");
    assert_eq!(judgement.validity().state, State::Valid);
}

#[test]
fn a_warm_up_that_reaches_into_the_window_is_flagged() {
    let noise = noise(30, 17);
    // It decays within a few seconds.
    let cold =
        latency(30, |second| 1.0 + 0.5 * (-(second as f64) / 4.0).exp() + 0.005 * noise[second]);
    insta::assert_snapshot!(reason(&judge(&cold), "warm_up").detail, @"p50 of the first 6 s is +25.7 % against the second half: the warm-up was too short");
    // A drift that goes on to the end is no warm-up.
    let drifting = latency(30, |second| 1.3 - 0.3 * second as f64 / 30.0 + 0.005 * noise[second]);
    assert!(!gates(&judge(&drifting)).contains(&"warm_up"));
}

/// One wild second, two of them, and a bump that passes are no new level.
#[test]
fn single_wild_seconds_break_nothing() {
    for wild in [vec![7], vec![3, 22], vec![28, 29]] {
        let judgement =
            judge(&latency(30, |second| if wild.contains(&second) { 3.0 } else { 1.0 }));
        assert_eq!(judgement.reasons, [], "{wild:?}");
    }
}

#[test]
fn a_short_window_is_not_tested_for_steadiness() {
    let broken = |second: usize| if second < 5 { 1.0 } else { 2.0 };
    let mut load = latency(9, broken);
    // The tenth second is not whole.
    load.window_ns = 9_900_000_000;
    load.window_asked_ns = Some(load.window_ns);
    let judgement = judge(&load);
    assert_eq!(judgement.reasons, []);
    let shown: Vec<(Option<f64>, Option<bool>)> = judgement
        .checks
        .iter()
        .filter(|check| check.source_is_series())
        .map(|check| (check.value, check.passed))
        .collect();
    assert_eq!(shown[0], (Some(9.0), None), "how many there were");
    assert_eq!(shown[1..], [(None, None); 5]);
    let enough = judge_load(&load, &Gates { steady_seconds: 9, ..bounds() });
    assert!(enough.checks.iter().any(|check| check.gate == "shift" && check.passed.is_some()));
}
