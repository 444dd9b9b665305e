//! The books: the generator's counters among themselves, and against the mock's.

use std::path::Path;

use record::State;
use record::load::LoadRecord;
use record::plan::Gates;

use crate::support::{Bench, Lab, digest, load, mock};

/// Bounds that no honest record of these tests can miss.
fn loose() -> Gates {
    Gates {
        failures_share: 1.0,
        window_ns: 0,
        achieved_share: 0.0,
        generator_cpu_flag_share: f64::MAX,
        generator_cpu_share: f64::MAX,
        observer_samples: 0,
        requests: 0,
        window_share: 0.0,
        ..Gates::default()
    }
}

fn voids(record: &LoadRecord) -> Vec<String> {
    let reasons = evidence::judge_load(record, &loose()).reasons;
    let voids = reasons.iter().filter(|reason| reason.effect == record::Effect::Void);
    voids.map(|reason| reason.gate.clone()).collect()
}

type Drop = (&'static str, fn(&mut LoadRecord));

/// One increment lost, in each counter that a real record has.
const DROPPED: [Drop; 9] = [
    ("due", |load| load.due -= 1),
    ("sent", |load| load.sent -= 1),
    ("succeeded", |load| load.succeeded -= 1),
    ("failed", |load| load.failed -= 1),
    ("unsent", |load| load.unsent += 1),
    ("unfinished", |load| load.unfinished += 1),
    ("a kind of failure", |load| *load.failures.get_mut("status").expect("planted") -= 1),
    ("a worker's sent", |load| busy_worker(load).sent -= 1),
    ("a worker's succeeded", |load| busy_worker(load).succeeded -= 1),
];

fn busy_worker(load: &mut LoadRecord) -> &mut record::load::Worker {
    let mut workers = load.workers.iter_mut();
    workers.find(|worker| worker.succeeded > 0).expect("somebody succeeded")
}

#[test]
fn every_increment_that_is_dropped_trips_the_identity() {
    let lab = Lab::new();
    let bench =
        Bench::mock().target("mock.fail", "\"20%:status=503\"").gates("failures", "\"100%\"");
    lab.run(&bench, "real", &[]).expect(0);
    let sound = load(&lab.only_run("real"));
    assert_eq!(voids(&sound), [""; 0]);
    for (what, drop) in DROPPED {
        let mut broken = sound.clone();
        drop(&mut broken);
        assert_eq!(voids(&broken), ["accounting"], "{what}");
    }
}

/// Each fault of the mock under a closed and an open loop: `whole_life.sent` equals the mock's
/// `served + failed` to the last request, and the identity holds (K-105, M-017, K-101).
#[test]
fn generator_and_mock_agree_exactly_under_every_fault() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .load("timeout", "\"150ms\"")
        .gates("failures", "\"100%\"")
        .more("[load.open]\nrate = \"200/s\"\nwarmup = \"100ms\"\nmeasure = \"300ms\"\ntimeout = \"150ms\"\ncooldown = \"20s\"")
        .more("[factors]\nload = [\"steady\", \"open\"]")
        .factor(
            "fault",
            &[
                ("none", "{ target.mock.latency = \"2ms\" }"),
                ("status", "{ target.mock.fail = \"20%:status=503\" }"),
                ("body", "{ target.mock.fail = \"20%:body\" }"),
                ("reset", "{ target.mock.fail = \"20%:reset\" }"),
                ("never", "{ target.mock.fail = \"10%:never\" }"),
                ("stall", "{ target.mock.stall = \"50ms/200ms\" }"),
                ("slow", "{ target.mock.latency = \"400ms\" }"),
                ("spike", "{ target.mock.spike = \"10%:30ms\" }"),
            ],
        );
    let ran = lab.run(&bench, "faults", &[]);
    let runs = lab.runs("faults");
    assert_eq!(runs.len(), 16, "{}", ran.stderr);
    for run in runs {
        let dir = lab.label("faults").join("runs").join(&run);
        agree(&dir, &run);
        let digest = digest(&dir);
        let check = |gate: &str| digest.checks.iter().find(|check| check.gate == gate);
        for gate in ["counts_disagree", "accounting"] {
            assert_eq!(check(gate).and_then(|check| check.passed), Some(true), "{run}: {gate}");
        }
        // A planted fault is seen by the mock, except that one may choose nobody.
        let seen = mock(&dir).failures;
        for (cell, kind) in [("status", "status"), ("body", "body"), ("reset", "reset")] {
            if run.ends_with(cell) || run.contains(&format!("-{cell}+")) {
                assert!(seen.get(kind).is_some_and(|count| *count > 0), "{run}: {seen:?}");
            }
        }
    }
}

fn agree(dir: &Path, run: &str) {
    let (load, mock) = (load(dir), mock(dir));
    assert_eq!(load.whole_life.sent, mock.served + mock.failed, "{run}");
    assert!(load.sent > 0, "{run}");
    assert_eq!(load.due, load.sent + load.unsent, "{run}");
    assert_eq!(load.sent, load.succeeded + load.failed + load.unfinished, "{run}");
    let sum = |field: fn(&record::load::Worker) -> u64| load.workers.iter().map(field).sum::<u64>();
    assert_eq!(sum(|worker| worker.due), load.due, "{run}");
    assert_eq!(sum(|worker| worker.sent), load.sent, "{run}");
    assert_eq!(sum(|worker| worker.succeeded), load.succeeded, "{run}");
    assert_eq!(sum(|worker| worker.failed), load.failed, "{run}");
    assert_eq!(load.steps.iter().map(|step| step.sent).sum::<u64>(), load.sent, "{run}");
    assert_eq!(load.series.iter().map(|second| second.sent).sum::<u64>(), load.sent, "{run}");
    if let Some(users) = load.users {
        // M-016: never more in flight than users, by both witnesses.
        assert!(load.in_flight_peak <= u64::from(users), "{run}: {}", load.in_flight_peak);
        assert!(load.connections.peak <= u64::from(users), "{run}");
    }
}

/// M-016: 16 users are never more than 16 at the mock, and their ports are their connections.
#[test]
fn users_are_never_more_in_flight_than_they_are() {
    let lab = Lab::new();
    lab.run(&Bench::mock().load("users", "16"), "users", &[]).expect(0);
    let dir = lab.only_run("users");
    let (load, mock) = (load(&dir), mock(&dir));
    assert!((1..=16).contains(&mock.peak_in_flight), "{}", mock.peak_in_flight);
    assert_eq!(mock.distinct_peer_ports, load.connections.distinct_ports);
    assert_eq!(load.connections.opened, 16);
}

/// What is in flight when the cool-down ends is censored, not dropped and no failure.
#[test]
fn a_cool_down_shorter_than_the_latency_leaves_unfinished_requests() {
    for (model, value, unfinished) in [("users", "3", 3), ("rate", "\"50/s\"", 15)] {
        let lab = Lab::new();
        let bench = Bench::mock()
            .target("mock.latency", "\"60s\"")
            .load(model, value)
            .load("warmup", "0")
            .load("cooldown", "\"50ms\"")
            .gates("requests", "0");
        lab.run(&bench, "cut", &[]).expect(3);
        let dir = lab.only_run("cut");
        let (load, mock) = (load(&dir), mock(&dir));
        assert_eq!((load.sent, load.failed), (unfinished, 0), "{model}");
        assert_eq!(load.unfinished, unfinished, "{model}");
        assert_eq!(mock.failures.get("abandoned"), Some(&unfinished), "{model}");
        assert_eq!(load.whole_life.sent, mock.served + mock.failed, "{model}");
        let digest = digest(&dir);
        assert_eq!(digest.validity.latency, State::Censored, "{model}");
    }
}

/// what was due in the window is drained, however slow; the cut makes no failure.
#[test]
fn a_cool_down_longer_than_the_latency_drains_everything() {
    let lab = Lab::new();
    let bench = Bench::mock().target("mock.latency", "\"500ms\"").load("warmup", "0");
    lab.run(&bench, "drained", &[]).expect(0);
    let load = load(&lab.only_run("drained"));
    assert_eq!((load.sent, load.succeeded), (2, 2));
    assert_eq!((load.failed, load.unfinished), (0, 0));
    assert!(load.latency_ns.min.is_some_and(|min| min >= 500_000_000));
}

/// M-010: warm-up and window send the same bytes.
#[test]
fn the_warm_up_sends_what_the_window_sends() {
    let lab = Lab::new();
    let bench =
        Bench::mock().scenario("get", "\"/a?b=c\"").scenario("headers", "{ X-Trace = \"on\" }");
    lab.run(&bench, "same", &[]).expect(0);
    let load = load(&lab.only_run("same"));
    let step = &load.steps[0];
    assert!(load.whole_life.sent > load.sent, "some were sent before the window");
    assert_eq!(step.request_sha256.as_ref().map(String::len), Some(64));
    assert_eq!(step.warmup_request_sha256, step.request_sha256);
}

/// a mock that is slow at first. Without a warm-up it shows; a warm-up that covers it
/// takes it away entirely.
#[test]
fn a_warm_up_keeps_a_cold_start_out_of_the_window() {
    // The first 1.5 s answer in a second each. Under a warm-up of 4 s the last of them ends
    // before 2.5 s after the mock's start.
    const COLD_NS: u64 = 1_000_000_000;
    let bench =
        Bench::mock().target("mock.latency", "\"5ms\"").target("mock.cold", "\"1500ms:200x\"");
    let lab = Lab::new();
    lab.run(&bench, "cold", &["load.warmup=0s"]).expect(0);
    let max = |label: &str| load(&lab.only_run(label)).latency_ns.max.expect("requests succeeded");
    assert!(max("cold") >= COLD_NS);
    lab.run(&bench, "warm", &["load.warmup=4s"]).expect(0);
    assert!(max("warm") < COLD_NS, "{}", max("warm"));
    let mock = mock(&lab.only_run("warm"));
    assert!(mock.service_ns.max.is_some_and(|max| max >= COLD_NS), "the warm-up met the cold");
}

/// instant failures raise no throughput; the window is the one in nanoseconds (K-102).
#[test]
fn failures_are_no_throughput() {
    let lab = Lab::new();
    let bench =
        Bench::mock().target("mock.fail", "\"30%:status=500\"").gates("failures", "\"100%\"");
    lab.run(&bench, "failing", &[]).expect(0);
    let dir = lab.only_run("failing");
    let (load, digest) = (load(&dir), digest(&dir));
    assert!(load.failed > 0 && load.succeeded > 0);
    let per_s = load.succeeded as f64 * 1e9 / load.window_ns as f64;
    assert!((load.rate_per_s - per_s).abs() <= 1e-9 * per_s, "{} is not {per_s}", load.rate_per_s);
    assert_eq!(digest.metrics["throughput"].value, Some(per_s));
    assert_eq!(digest.metrics["throughput"].samples, Some(load.succeeded));
    assert_eq!(load.latency_ns.count, load.succeeded, "percentiles hold successes only");
    let share = load.failed as f64 / (load.failed + load.succeeded) as f64;
    assert_eq!(digest.metrics["failures"].value, Some(share));
}

/// one counter and histogram for each outcome, decoded; a window that is cut again
/// from the series gives what the live window gave.
#[test]
fn histograms_decode_by_outcome_and_a_recut_equals_the_live_cut() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .target("mock.fail", "\"10%:status=500\"")
        .load("measure", "\"2s\"")
        .gates("failures", "\"100%\"");
    lab.run(&bench, "kept", &[]).expect(0);
    let load = load(&lab.only_run("kept"));
    let histogram = |name: &str| {
        let text = &load.steps[0].histograms[name];
        stats::histogram::decode(text).expect("it is a V2 histogram")
    };
    assert_eq!(histogram("latency.succeeded").len(), load.succeeded);
    assert_eq!(histogram("latency.failed").len(), load.failed);
    assert_eq!(histogram("service.succeeded").len(), load.succeeded);
    assert_eq!(stats::histogram::summarise(&histogram("latency.succeeded")), load.latency_ns);
    let cut = evidence::series::recut(&load, 0, 2).expect("two whole seconds");
    assert_eq!((cut.sent, cut.succeeded, cut.failed), (load.sent, load.succeeded, load.failed));
    assert_eq!(cut.latency, histogram("latency.succeeded"));
    assert_eq!(cut.summary(), load.latency_ns);
    // Its halves add up to the whole.
    let [first, second] = [(0, 1), (1, 2)]
        .map(|(from, to)| evidence::series::recut(&load, from, to).expect("one whole second"));
    assert_eq!(first.sent + second.sent, load.sent);
    let mut merged = first.latency.clone();
    merged.add(&second.latency).expect("one shape");
    assert_eq!(merged, cut.latency);
}
