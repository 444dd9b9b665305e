//! Windows that do not hold still (A-134, D10), against a mock that breaks, drifts or stays cold.
//! They last 14 seconds and more, since fewer whole seconds are no test.

use record::digest::Digest;
use record::{Effect, State};

use crate::gates::{faulty, sound};
use crate::support::{Bench, Lab, meta, reason, tripped};

/// Eight users against 50 ms: some 160 requests a second, whose median a busy machine moves little.
fn bench() -> Bench {
    Bench::mock()
        .target("mock.latency", "\"50ms\"")
        .load("users", "8")
        .load("warmup", "\"500ms\"")
        .load("measure", "\"14s\"")
        .gates("shift", "\"10%\"")
}

fn flagged(faults: &[&str], gate: &str) -> Digest {
    let lab = Lab::new();
    lab.run(&bench().gates("shift", "\"1000%\""), "flagged", faults).expect(0);
    let digest = lab.only_digest("flagged");
    assert_eq!((digest.validity.state, tripped(&digest)), (State::Valid, vec![]));
    assert_eq!(reason(&digest, gate).effect, Effect::Flag);
    digest
}

#[test]
fn a_mock_that_slows_midway_voids_the_run_with_the_second() {
    let lab = Lab::new();
    let digest = sound(&lab, &bench());
    let steady = digest.checks.iter().find(|check| check.gate == "shift").expect("a check");
    assert_eq!((steady.passed, steady.bound), (Some(true), Some(0.1)));

    let digest = faulty(&lab, &bench(), &["target.mock.slow_after=8s:1.3x"]);
    assert_eq!(tripped(&digest), ["shift"], "{:#?}", digest.validity);
    for gate in ["shift_flag", "halves"] {
        assert_eq!(reason(&digest, gate).effect, Effect::Flag);
    }
    let shift = reason(&digest, "shift");
    assert!(shift.value > Some(0.15), "{shift:?}");
    // The mock counts from its start, which lies before it was ready.
    let instants = meta(&lab.only_run("faulty")).instants_ns;
    let broke =
        (instants["target_ready"] + 8_000_000_000 - instants["window_start"]) / 1_000_000_000;
    let second = shift.second.expect("the second at which it broke");
    assert!(second.abs_diff(broke) <= 2, "{second} is not {broke}");
    assert!(shift.detail.contains(&format!("at second {second} of the window")), "{shift:?}");
}

#[test]
fn a_mock_that_drifts_is_flagged_with_its_slope() {
    let digest = flagged(&["target.mock.drift=+100%/min"], "trend");
    let trend = reason(&digest, "trend");
    assert!(trend.detail.contains("drifts by "), "{trend:?}");
    // 100 % a minute are 23 % in 14 s of the latency at the start.
    assert!(trend.value > Some(0.1), "{trend:?}");
}

#[test]
fn a_mock_that_stays_cold_in_its_window_is_flagged() {
    let digest = flagged(&["target.mock.cold=5s:1.5x", "load.measure=20s"], "warm_up");
    let warm_up = reason(&digest, "warm_up");
    assert!(warm_up.detail.contains("the warm-up was too short"), "{warm_up:?}");
    assert!(warm_up.remedy.as_ref().is_some_and(|remedy| remedy.contains("load.warmup")));
}

/// M-024: a tenth of the requests pays 300 ms more.
#[test]
fn a_hidden_mode_is_named_with_share_and_size() {
    let lab = Lab::new();
    let bench = Bench::mock().load("users", "8").load("measure", "\"3s\"");
    sound(&lab, &bench);
    lab.run(&bench, "hidden", &["target.mock.spike=10%:300ms"]).expect(0);
    let digest = lab.only_digest("hidden");
    let mode = reason(&digest, "hidden_mode");
    assert_eq!(mode.effect, Effect::Flag);
    assert!(mode.value > Some(0.03) && mode.value < Some(0.3), "{mode:?}");
    assert!(mode.detail.contains(" of requests take about 3"), "{mode:?}");
}
