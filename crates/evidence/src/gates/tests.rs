//! Every gate of the table: the planted fault trips it, and the same record without the fault
//! is valid.

use std::collections::BTreeMap;

use record::load::LoadRecord;
use record::meta::{Outcome, OutcomeState};
use record::plan::{Gates, TargetKind};
use record::{Effect, Reason, Scope, State};

use super::{GATES, Judgement, judge_load, judge_run};
use crate::run_dir::{Evidence, RunDir};
use crate::samples::{self, SampleRun};

pub(super) fn reason<'j>(judgement: &'j Judgement, gate: &str) -> &'j Reason {
    judgement
        .reasons
        .iter()
        .find(|reason| reason.gate == gate)
        .unwrap_or_else(|| panic!("`{gate}` did not trip: {:?}", judgement.reasons))
}

/// Judges a record with a fault; the record without it must be valid.
pub(super) fn planted(sound: LoadRecord, fault: impl FnOnce(&mut LoadRecord)) -> Judgement {
    let before = judge_load(&sound, &Gates::default());
    assert_eq!(before.reasons, [], "the record without the fault is valid");
    assert!(!before.validity().is_doubtful());
    let mut faulty = sound;
    fault(&mut faulty);
    judge_load(&faulty, &Gates::default())
}

/// The same for a run directory.
pub(super) fn planted_run(fault: impl FnOnce(&mut RunDir)) -> Judgement {
    let dir = tempfile::tempdir().unwrap();
    SampleRun::sound(1, 1, &samples::level("base", 0, None)).write(dir.path());
    let mut run = RunDir::read(dir.path()).unwrap();
    let before = judge_run(&run, &Gates::default());
    assert_eq!(before.reasons, [], "the run without the fault is valid");
    fault(&mut run);
    judge_run(&run, &Gates::default())
}

#[test]
fn one_failure_in_many_is_flagged_and_voids_nothing() {
    let judgement = planted(samples::load(), |load| {
        load.succeeded -= 3;
        load.failed = 3;
        load.failures = BTreeMap::from([("status".to_owned(), 3)]);
        load.workers[0].succeeded -= 3;
        load.workers[0].failed = 3;
    });
    insta::assert_snapshot!(reason(&judgement, "failures_seen").detail, @"3 of 24000 requests failed (status 3)");
    assert_eq!(judgement.reasons.len(), 1);
    assert_eq!(judgement.validity().state, State::Valid);
}

#[test]
fn failures_above_the_allowance_void_the_run() {
    let fail = |count: u64| {
        move |load: &mut LoadRecord| {
            load.succeeded -= count;
            load.failed = count;
            load.failures =
                BTreeMap::from([("status".to_owned(), count - 1), ("timeout".to_owned(), 1)]);
            load.workers[0].succeeded -= count;
            load.workers[0].failed = count;
        }
    };
    // 24 of 24,000 is the allowance itself.
    assert_eq!(planted(samples::load(), fail(24)).validity().state, State::Valid);
    let judgement = planted(samples::load(), fail(25));
    insta::assert_snapshot!(reason(&judgement, "failures").detail, @"0.104 % of requests failed, more than 0.1 % (status 24, timeout 1)");
    assert_eq!(judgement.validity().state, State::Void);
}

#[test]
fn a_request_that_is_lost_breaks_the_accounting() {
    for (fault, said) in [
        ((|load: &mut LoadRecord| load.due += 1) as fn(&mut LoadRecord), "due = sent + unsent"),
        (|load| load.succeeded -= 2, "sent = succeeded + failed + unfinished: 24000 is not 23998"),
        (|load| load.workers[1].sent += 1, "sent = the sum over workers"),
        (
            |load| {
                load.failures.insert("reset".to_owned(), 1);
            },
            "failed = the sum of its kinds: 0 is not 1",
        ),
    ] {
        let judgement = planted(samples::load(), fault);
        let reason = reason(&judgement, "accounting");
        assert!(reason.detail.contains(said), "{}", reason.detail);
        assert!(reason.value > Some(0.0));
        assert_eq!(judgement.validity().state, State::Void);
    }
}

#[test]
fn huge_counters_do_not_overflow() {
    let judgement = planted(samples::load(), |load| {
        load.sent = u64::MAX;
        load.unsent = u64::MAX;
        load.failed = u64::MAX;
        load.generator.cpu_user_ns = u64::MAX;
        load.generator.cpu_sys_ns = u64::MAX;
    });
    assert_eq!(judgement.validity().state, State::Void);
}

#[test]
fn a_short_window_and_a_truncated_one_are_told_apart() {
    // Other windows for the same requests: their time balance is not what this is about.
    let mut sound = samples::load();
    sound.latency_ns.mean = None;
    let judgement = planted(sound.clone(), |load| {
        load.window_ns = 19_000_000_000;
        load.window_asked_ns = Some(19_000_000_000);
    });
    insta::assert_snapshot!(reason(&judgement, "window").detail, @"the window was 19.0 s, shorter than 20.0 s");
    assert_eq!(judgement.reasons.len(), 1);

    // K-086: a window of a count is told the count that it lacks: 300,000 in 18 s are 366,667 in 22 s.
    let judgement = planted(sound.clone(), |load| {
        load.window_ns = 18_000_000_000;
        load.window_asked_ns = None;
        load.window_asked_count = Some(300_000);
    });
    insta::assert_snapshot!(reason(&judgement, "window").detail, @"the window was 18.0 s, shorter than 20.0 s; at this rate 370000 requests make it long enough");

    let judgement = planted(sound.clone(), |load| load.window_ns = 29_000_000_000);
    insta::assert_snapshot!(reason(&judgement, "truncated").detail, @"TRUNCATED: 29.0 s of 30.0 s, under 99 %");
    assert_eq!(judgement.reasons.len(), 1);
    assert_eq!(judgement.validity().state, State::Void);

    let judgement = planted(sound, |load| {
        load.window_asked_ns = None;
        load.window_asked_count = Some(48_000);
    });
    insta::assert_snapshot!(reason(&judgement, "truncated").detail, @"TRUNCATED: 24000 of 48000 requests, under 99 %");
}

#[test]
fn too_few_successes_are_too_few_samples() {
    let judgement = planted(samples::load(), |load| {
        for count in [&mut load.due, &mut load.sent, &mut load.succeeded] {
            *count = 99;
        }
        load.workers.clear();
    });
    insta::assert_snapshot!(reason(&judgement, "requests").detail, @"too few samples: 99 requests succeeded, fewer than 100");
    assert_eq!(judgement.validity().state, State::Void);
}

#[test]
fn a_rate_that_was_not_kept_is_void() {
    let judgement = planted(samples::open_load(), |load| load.planned_per_s = Some(6_000.0));
    insta::assert_snapshot!(reason(&judgement, "achieved").detail, @"planned 6000/s, achieved 800/s: 13.333 %, under 99 %");
    assert_eq!(judgement.validity().state, State::Void);
    let closed = judge_load(&samples::load(), &Gates::default());
    let check = closed.checks.iter().find(|check| check.gate == "achieved").unwrap();
    assert_eq!((check.value, check.passed), (None, None), "a closed loop plans no rate");
}

#[test]
fn what_was_not_answered_censors_latency_only() {
    for (gate, fault) in [
        (
            "unsent",
            (|load: &mut LoadRecord| {
                load.due += 40;
                load.unsent = 40;
            }) as fn(&mut LoadRecord),
        ),
        ("unfinished", |load| {
            load.succeeded -= 40;
            load.unfinished = 40;
        }),
    ] {
        let judgement = planted(samples::open_load(), |load| {
            load.workers.clear();
            fault(load);
        });
        let reason = reason(&judgement, gate);
        assert_eq!((reason.effect, reason.scope), (Effect::Censor, Scope::Latency));
        let validity = judgement.validity();
        assert_eq!(validity.latency, State::Censored);
        assert_eq!(validity.throughput, State::Valid);
    }
}

#[test]
fn a_busy_generator_is_flagged_and_a_saturated_one_limits() {
    let busy = |percent: u64| {
        move |load: &mut LoadRecord| {
            load.generator.cpu_user_ns = load.window_ns / 100 * percent;
            load.generator.cpu_sys_ns = 0;
        }
    };
    // at the bound nothing, above it the flag; 79 % flags, 81 % limits.
    assert_eq!(planted(samples::load(), busy(70)).reasons, []);
    for (percent, gates) in [
        (71, vec!["generator_cpu_flag"]),
        (79, vec!["generator_cpu_flag"]),
        (80, vec!["generator_cpu_flag"]),
        (81, vec!["generator_cpu_flag", "generator_cpu", "generator_cpu"]),
    ] {
        let reasons = planted(samples::load(), busy(percent)).reasons;
        let tripped: Vec<&str> = reasons.iter().map(|reason| reason.gate.as_str()).collect();
        assert_eq!(tripped, gates, "{percent} %");
    }
    let flagged = planted(samples::load(), busy(75));
    assert_eq!(flagged.reasons.len(), 1);
    insta::assert_snapshot!(reason(&flagged, "generator_cpu_flag").detail, @"the generator used 75 % of its 1 core(s), above 70 %");
    assert_eq!(flagged.validity().state, State::Valid);
    let limited = planted(samples::load(), busy(81)).validity();
    assert_eq!((limited.latency, limited.throughput), (State::Void, State::AtLeast));
    let gates: Vec<&str> = limited.reasons.iter().map(|reason| reason.gate.as_str()).collect();
    assert_eq!(gates, ["generator_cpu_flag", "generator_cpu", "generator_cpu"]);
}

#[test]
fn the_ways_to_end_badly_void_the_run_by_name() {
    for (state, gate) in [
        (OutcomeState::TargetNotReady, "target_not_ready"),
        (OutcomeState::WrongVersion, "wrong_version"),
        (OutcomeState::TargetDied, "target_died"),
        (OutcomeState::GeneratorFailed, "generator_failed"),
        (OutcomeState::TimedOut, "timed_out"),
        (OutcomeState::Interrupted, "interrupted"),
    ] {
        let judgement = planted_run(|run| {
            run.meta.outcome = Some(Outcome { state, detail: "exit code 3".to_owned() });
        });
        assert_eq!(reason(&judgement, gate).detail, "exit code 3");
        assert_eq!(judgement.reasons.len(), 1, "{gate}");
        assert_eq!(judgement.validity().state, State::Void);
    }
    let judgement = planted_run(|run| run.meta.outcome = None);
    assert_eq!(reason(&judgement, "interrupted").detail, "the run left no outcome");
}

#[test]
fn absent_evidence_is_named_by_file() {
    let judgement = planted_run(|run| {
        run.mock = Evidence::Absent("`mock.json` is missing".to_owned());
        run.resources = Evidence::Absent("`resources.csv` has no rows".to_owned());
    });
    insta::assert_snapshot!(reason(&judgement, "absent_evidence").detail, @"`resources.csv` has no rows, `mock.json` is missing");
    assert_eq!(judgement.validity().state, State::Void);
    // A target that is no mock owes no mock record.
    let judgement = planted_run(|run| {
        run.mock = Evidence::Absent("`mock.json` is missing".to_owned());
        run.meta.effective.target.kind = TargetKind::Command(vec!["serve".to_owned()]);
    });
    assert_eq!(judgement.reasons, []);
    // A run whose target never came up owes no record of load.
    let judgement = planted_run(|run| {
        run.load = Evidence::Absent("`load.json` is missing".to_owned());
        run.meta.outcome =
            Some(Outcome { state: OutcomeState::TargetNotReady, detail: String::new() });
    });
    let gates: Vec<&str> = judgement.reasons.iter().map(|reason| reason.gate.as_str()).collect();
    assert_eq!(gates, ["target_not_ready"]);
}

#[test]
fn files_on_disk_that_are_missing_empty_or_damaged_are_named() {
    let dir = tempfile::tempdir().unwrap();
    SampleRun::sound(1, 1, &samples::level("base", 0, None)).write(dir.path());
    std::fs::write(dir.path().join("load.json"), "").unwrap();
    std::fs::write(dir.path().join("mock.json"), "{\"served\": 3").unwrap();
    std::fs::remove_file(dir.path().join("host.csv")).unwrap();
    std::fs::write(dir.path().join("resources.csv"), "t_ns,edge\n").unwrap();
    let judgement = judge_run(&RunDir::read(dir.path()).unwrap(), &Gates::default());
    insta::assert_snapshot!(reason(&judgement, "absent_evidence").detail, @"`load.json` is empty, `resources.csv` has no rows, `host.csv` is missing, `mock.json` is damaged: EOF while parsing an object at line 1 column 12");
}

#[test]
fn one_request_between_two_witnesses_voids_the_run() {
    let judgement = planted_run(|run| {
        let Evidence::Present(mock) = &mut run.mock else { panic!("the sample has a mock") };
        mock.served -= 1;
    });
    let reason = reason(&judgement, "counts_disagree");
    insta::assert_snapshot!(reason.detail, @"the generator sent 26400 requests, the mock saw 26399: a difference of 1");
    assert_eq!(reason.value, Some(1.0));
    assert_eq!(judgement.validity().state, State::Void);
    // Failed answers were seen too.
    let judgement = planted_run(|run| {
        let Evidence::Present(mock) = &mut run.mock else { panic!("the sample has a mock") };
        mock.served -= 5;
        mock.failed += 5;
    });
    assert_eq!(judgement.reasons, []);
}

#[test]
fn an_observer_that_saw_too_little_voids_the_run() {
    let judgement = planted_run(|run| {
        let Evidence::Present(resources) = &mut run.resources else { panic!("samples") };
        resources
            .rows
            .retain(|row| row.role != "target" || row.edge == record::resources::Edge::WindowStart);
    });
    insta::assert_snapshot!(reason(&judgement, "observer_samples").detail, @"1 samples of the target inside the window, fewer than 2");
    // Samples outside the window are no samples of it.
    let judgement = planted_run(|run| {
        let Evidence::Present(resources) = &mut run.resources else { panic!("samples") };
        for row in resources.rows.iter_mut().filter(|row| row.role == "generator") {
            row.edge = record::resources::Edge::Sample;
            row.t_ns += 2 * samples::WINDOW_NS;
        }
    });
    assert_eq!(reason(&judgement, "observer_samples").value, Some(0.0));
    // What runs elsewhere is not watched.
    let judgement = planted_run(|run| {
        let Evidence::Present(resources) = &mut run.resources else { panic!("samples") };
        resources.rows.retain(|row| row.role != "target");
        run.meta.effective.target.kind = TargetKind::Url("http://127.0.0.1:1".to_owned());
    });
    assert_eq!(judgement.reasons, []);
}

#[test]
fn every_gate_is_in_every_run() {
    let judgement = planted_run(|_| {});
    let listed: Vec<(&str, Scope)> =
        judgement.checks.iter().map(|check| (check.gate.as_str(), check.scope)).collect();
    let table: Vec<(&str, Scope)> = GATES.iter().map(|gate| (gate.name, gate.scope)).collect();
    assert_eq!(listed, table, "every gate is listed once, in the order of the table");
    let broken = planted_run(|run| {
        run.load = Evidence::Absent("`load.json` is missing".to_owned());
    });
    assert_eq!(broken.checks.len(), GATES.len(), "also when it does not apply");
}

#[test]
fn bounds_come_from_the_bench() {
    let gates = Gates { window_ns: 2_000_000_000, requests: 10, ..Gates::default() };
    let mut load = samples::load();
    load.window_ns = 2_500_000_000;
    load.window_asked_ns = Some(2_500_000_000);
    load.generator.cpu_user_ns = 100_000_000;
    load.generator.cpu_sys_ns = 0;
    load.latency_ns.mean = None;
    let judgement = judge_load(&load, &gates);
    assert_eq!(judgement.reasons, []);
    let check = judgement.checks.iter().find(|check| check.gate == "window").unwrap();
    assert_eq!(check.bound, Some(2e9));
}
