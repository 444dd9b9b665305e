//! Every first gate, tripped through `assay run` by a planted fault; the same bench without the
//! fault is valid and exits with 0.

use std::fs;

use record::compare::Matrix;
use record::digest::Digest;
use record::layout;
use record::meta::OutcomeState;
use record::{Effect, Scope, State};
use rustix::process::Signal;

use crate::support::{
    Bench, Lab, Peer, Stubborn, meta, mock, read, reason, request, tripped, wait_for,
};

/// A target that serves as a mock.
const SERVE: &str = "exec \"$ASSAY\" mock --listen 127.0.0.1:$PORT --latency 2ms --body-size 26";

/// The run without the fault: valid, exit 0. Flags do not count: the host may be busy.
pub(crate) fn sound(lab: &Lab, bench: &Bench) -> Digest {
    lab.run(bench, "sound", &[]).expect(0);
    let digest = lab.only_digest("sound");
    assert_eq!(digest.validity.state, State::Valid, "{:#?}", digest.validity);
    assert_eq!(tripped(&digest), [""; 0]);
    digest
}

/// The run with the fault: exit 3, with the same reasons in the digest and in the matrix.
pub(crate) fn faulty(lab: &Lab, bench: &Bench, faults: &[&str]) -> Digest {
    lab.run(bench, "faulty", faults).expect(3);
    let digest = lab.only_digest("faulty");
    let matrix: Matrix = read(&lab.label("faulty").join(layout::MATRIX_JSON));
    assert_eq!(matrix.runs.len(), 1);
    assert_eq!(matrix.runs[0].validity.as_ref(), Some(&digest.validity));
    lab.assert_nothing_runs();
    digest
}

/// Plants faults by `--set` and expects exactly these gates to do more than flag.
pub(crate) fn trips(bench: &Bench, faults: &[&str], gates: &[&str]) -> Digest {
    let lab = Lab::new();
    sound(&lab, bench);
    let digest = faulty(&lab, bench, faults);
    assert_eq!(tripped(&digest), gates, "{:#?}", digest.validity);
    digest
}

fn failures_of(digest: &Digest) -> Vec<(&str, u64)> {
    let load = digest.load.as_ref().expect("a load record");
    assert_eq!(load.failures.values().sum::<u64>(), load.failed);
    load.failures.iter().map(|(kind, count)| (kind.as_str(), *count)).collect()
}

/// The only kind of failure, which must have been seen.
fn only_kind(digest: &Digest) -> &str {
    let kinds = failures_of(digest);
    let [(kind, count)] = kinds[..] else { panic!("one kind: {kinds:?}") };
    assert!(count > 0);
    kind
}

#[test]
fn failed_statuses_void_the_run() {
    let digest = trips(&Bench::mock(), &["target.mock.fail=5%:status=503"], &["failures"]);
    assert_eq!(only_kind(&digest), "status");
    assert_eq!(digest.validity.state, State::Void);
    let sample = &digest.failure_samples[0];
    assert_eq!((sample.kind.as_str(), sample.status), ("status", Some(503)));
}

#[test]
fn wrong_bodies_void_the_run_though_every_status_is_200() {
    let bench = Bench::mock().scenario("expect.body", "\"abcdefghijklmnopqrstuvwxyz\"");
    let digest = trips(&bench, &["target.mock.fail=5%:body"], &["failures"]);
    assert_eq!(only_kind(&digest), "body");
    let sample = &digest.failure_samples[0];
    assert_eq!(sample.status, Some(200));
    assert_eq!(sample.body, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "the body that came is kept");
}

#[test]
fn resets_void_the_run() {
    let digest = trips(&Bench::mock(), &["target.mock.fail=5%:reset"], &["failures"]);
    assert_eq!(only_kind(&digest), "reset");
}

#[test]
fn answers_that_never_come_are_timeouts() {
    let faults = ["target.mock.fail=20%:never", "load.timeout=100ms"];
    let digest = trips(&Bench::mock(), &faults, &["failures"]);
    assert!(failures_of(&digest).iter().any(|(kind, _)| *kind == "timeout"));
}

/// M-044, A-089: any failure is flagged; under its bound it annotates and excludes nothing.
#[test]
fn failures_under_the_bound_are_flagged_and_valid() {
    let lab = Lab::new();
    let bench = Bench::mock().target("mock.fail", "\"5%:status=503\"").gates("failures", "\"50%\"");
    lab.run(&bench, "flagged", &[]).expect(0);
    let digest = lab.only_digest("flagged");
    assert_eq!(digest.validity.state, State::Valid);
    assert_eq!(tripped(&digest), [""; 0]);
    assert_eq!(reason(&digest, "failures_seen").effect, Effect::Flag);
    assert!(!digest.failure_samples.is_empty(), "a sample of what failed is kept");
}

/// just under and just over the allowance, by counts. The mock fails by a seeded choice,
/// so the bound is put on both sides of the share that was seen.
#[test]
fn the_bound_on_failures_is_a_bound() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .target("mock.fail", "\"10%:status=500\"")
        .load("warmup", "0")
        .load("users", "1")
        .load("measure", "200")
        .gates("failures", "\"100%\"");
    lab.run(&bench, "seen", &[]).expect(0);
    let load = lab.only_digest("seen").load.expect("a load record");
    assert_eq!(load.due, 200);
    let share = |count: u64| format!("gates.failures={}%", count as f64 * 100.0 / 200.0);
    lab.run(&bench, "under", &[&share(load.failed)]).expect(0);
    assert_eq!(lab.only_digest("under").load.expect("a record").failed, load.failed);
    lab.run(&bench, "over", &[&share(load.failed - 1)]).expect(3);
    assert_eq!(tripped(&lab.only_digest("over")), ["failures"]);
}

#[test]
fn a_target_that_dies_voids_the_run() {
    // It dies when its run is loaded: the observer's file is there.
    let script = format!(
        "if [ \"$DIES\" = yes ]; then (while ! [ -s \"$RUN/resources.csv\" ]; do sleep 0.01; \
         done; kill -9 $$) & fi; {SERVE}"
    );
    let bench = Bench::script(&script).target("env.RUN", "\"${run.dir}\"");
    let lab = Lab::new();
    sound(&lab, &bench);
    let digest = faulty(&lab, &bench, &["target.env.DIES=yes", "load.measure=600s"]);
    assert_eq!(tripped(&digest)[0], "target_died");
    assert_eq!(digest.outcome.state, OutcomeState::TargetDied);
    insta::assert_snapshot!(digest.outcome.detail, @"target `api` died during the run: killed by SIGKILL (9), perhaps out of memory");
}

#[test]
fn a_target_that_never_gets_ready_is_named_and_nothing_is_loaded() {
    let bench = Bench::script(&format!("[ \"$DEAF\" ] && exec sleep 600; {SERVE}"));
    let faults = ["target.env.DEAF=yes", "target.ready.within=300ms"];
    let digest = trips(&bench, &faults, &["target_not_ready"]);
    assert_eq!(digest.outcome.state, OutcomeState::TargetNotReady);
    assert_eq!(digest.load, None);
}

#[test]
fn a_target_that_dies_before_it_is_ready_tells_its_last_words() {
    let bench =
        Bench::script(&format!("[ \"$WORD\" ] && {{ echo \"$WORD\" >&2; exit 7; }}; {SERVE}"));
    let digest = trips(&bench, &["target.env.WORD=no-such-database"], &["target_died"]);
    assert!(digest.outcome.detail.contains("no-such-database"), "{}", digest.outcome.detail);
    assert!(digest.outcome.detail.contains('7'), "{}", digest.outcome.detail);
}

/// After three targets in a row that did not come up, whichever way, the rest is not tried.
#[test]
fn a_target_that_keeps_failing_is_not_tried_for_ever() {
    for script in ["exit 7", "exec sleep 600"] {
        let lab = Lab::new();
        let bench = Bench::script(script).target("ready.within", "\"200ms\"").matrix("blocks", "6");
        let ran = lab.run(&bench, "hopeless", &[]).expect(3);
        assert_eq!(lab.runs("hopeless").len(), 3, "{script}");
        assert!(ran.stderr.contains("3 runs are left, `--resume` makes them"), "{}", ran.stderr);
        lab.assert_nothing_runs();
    }
}

/// K-074: another version than the pinned one ends before the first request.
#[test]
fn another_version_than_the_pin_is_never_loaded() {
    let lab = Lab::new();
    let bench = Bench::script(&format!(": > \"$RUN/started\"; {SERVE}"))
        .target("env.RUN", "\"${run.dir}\"")
        .target("version.command", "[\"sh\", \"-c\", \"echo server 1.2.3\"]")
        .target("version.is", "\"1.2.3\"");
    let digest = sound(&lab, &bench);
    let target = &digest.identity.processes["target"];
    assert_eq!(target.version.as_deref(), Some("server 1.2.3"), "as it reports itself");
    let digest = faulty(&lab, &bench, &["target.version.is=1.2.4"]);
    assert_eq!(tripped(&digest), ["wrong_version"]);
    assert!(lab.only_run("sound").join("started").exists());
    assert!(!lab.only_run("faulty").join("started").exists(), "it was not even started");
    assert!(!lab.only_run("faulty").join(layout::LOAD).exists());
}

/// K-105: one request more than the generator sent, from somebody else, voids the run.
#[test]
fn one_request_by_another_client_makes_the_counts_disagree() {
    let lab = Lab::new();
    // Both users are in flight nearly all the time, so that a third request is one too many.
    let bench = Bench::mock().target("mock.latency", "\"300ms\"");
    sound(&lab, &bench);
    let mut running = lab.start(&bench, "faulty", &["load.measure=3s"]);
    let log = wait_for("the mock's address", || {
        let run = lab.runs("faulty").pop()?;
        let log = lab.label("faulty").join(layout::RUNS).join(run).join(layout::STDOUT);
        fs::read_to_string(log).ok().filter(|text| text.ends_with('\n'))
    });
    // The observer samples from just before the generator on.
    wait_for("the load", || {
        let run = lab.runs("faulty").pop()?;
        lab.label("faulty")
            .join(layout::RUNS)
            .join(run)
            .join(layout::RESOURCES)
            .exists()
            .then_some(())
    });
    let address = log.trim().strip_prefix("listening http://").expect("the mock prints it");
    assert!(request(address).starts_with("HTTP/1.1 200"));
    assert!(!running.has_ended(), "the request came in time");
    running.finish().expect(3);
    let digest = lab.only_digest("faulty");
    assert_eq!(tripped(&digest), ["counts_disagree", "mock_in_flight"]);
    assert_eq!(reason(&digest, "counts_disagree").value, Some(1.0));
    assert_eq!(reason(&digest, "mock_in_flight").value, Some(1.5));
    let sent = digest.load.expect("a load record").whole_life.sent;
    assert_eq!(mock(&lab.only_run("faulty")).served, sent + 1);
}

/// The request by which a mock is found ready is no request of the run.
#[test]
fn the_readiness_request_is_not_counted() {
    let lab = Lab::new();
    sound(&lab, &Bench::mock().target("ready.get", "\"/\""));
}

/// what a saturated generator measures is its own limit.
#[test]
fn a_saturated_generator_voids_latency_and_bounds_throughput() {
    let digest = trips(&Bench::mock(), &["gates.generator_cpu=0.001%"], &["generator_cpu"]);
    let validity = &digest.validity;
    assert_eq!((validity.latency, validity.throughput), (State::Void, State::AtLeast));
    assert_eq!(validity.state, State::AtLeast);
    assert_eq!(digest.metrics["throughput"].state, State::AtLeast);
    assert_eq!(digest.metrics["p50"].state, State::Void);
    let limits = validity.reasons.iter().filter(|reason| reason.effect != Effect::Flag);
    let effects: Vec<(Scope, Effect)> =
        limits.map(|reason| (reason.scope, reason.effect)).collect();
    assert_eq!(effects, [(Scope::Throughput, Effect::AtLeast), (Scope::Latency, Effect::Void)]);
}

#[test]
fn a_busy_generator_is_flagged() {
    let lab = Lab::new();
    lab.run(&Bench::mock(), "busy", &["gates.generator_cpu_flag=0.001%"]).expect(0);
    let digest = lab.only_digest("busy");
    assert_eq!(digest.validity.state, State::Valid);
    assert_eq!(reason(&digest, "generator_cpu_flag").effect, Effect::Flag);
}

/// One connection to a target of 50 ms carries 20 requests a second, not 1000.
#[test]
fn a_rate_that_was_not_reached_voids_and_what_was_not_sent_is_counted() {
    let bench = Bench::mock()
        .load("rate", "\"40/s\"")
        .load("max_connections", "40")
        .load("cooldown", "\"100ms\"")
        .target("mock.latency", "\"50ms\"")
        .gates("achieved", "\"99%\"");
    let lab = Lab::new();
    sound(&lab, &bench.clone().load("cooldown", "\"20s\""));
    let faults = ["load.rate=1000/s", "load.max_connections=1", "load.warmup=0s"];
    let digest = faulty(&lab, &bench, &faults);
    let gates = tripped(&digest);
    assert!(gates.contains(&"achieved") && gates.contains(&"unsent"), "{gates:?}");
    let load = digest.load.expect("a load record");
    assert_eq!(load.due, 300);
    assert_eq!(load.due, load.sent + load.unsent);
    assert!(load.unsent > 200, "{}", load.unsent);
    assert_eq!(load.planned_per_s, Some(1000.0));
    // Where the rate itself voids nothing, what is only known as a bound is shown as one (D8).
    lab.run(&bench, "bounded", &[&faults[..], &["gates.achieved=0.001%"]].concat()).expect(3);
    let load = lab.only_digest("bounded").load.expect("a load record");
    let page = fs::read_to_string(lab.only_run("bounded").join(layout::DIGEST_MD)).expect("a page");
    assert!(load.latency_ns.p50.is_none() || page.contains("| p50 | >= "), "{page}");
}

#[test]
fn a_short_window_voids() {
    let digest = trips(&Bench::mock(), &["gates.window=20s"], &["window"]);
    let reason = reason(&digest, "window");
    assert_eq!((reason.value, reason.bound), (Some(3e8), Some(2e10)));
}

#[test]
fn too_few_requests_void() {
    trips(&Bench::mock(), &["gates.requests=1000000"], &["requests"]);
}

#[test]
fn too_few_samples_void() {
    trips(&Bench::mock(), &["gates.samples=1000"], &["observer_samples"]);
}

/// E-046: a generator that is told to end early says how long its window really was.
#[test]
fn a_truncated_window_is_said_in_the_digest_the_table_and_the_exit_status() {
    let lab = Lab::new();
    let bench = Bench::mock();
    sound(&lab, &bench);
    let running = lab.start(&bench, "faulty", &["load.measure=600s"]);
    let run = wait_for("an open window", || {
        let run = lab.label("faulty").join(layout::RUNS).join(lab.runs("faulty").pop()?);
        let rows = fs::read_to_string(run.join(layout::RESOURCES)).ok()?;
        rows.contains("window_start").then_some(run)
    });
    crate::support::signal(meta(&run).processes["generator"].pid, Signal::TERM);
    running.finish().expect(3);
    let digest = lab.only_digest("faulty");
    assert!(tripped(&digest).contains(&"truncated"), "{:?}", tripped(&digest));
    let load = digest.load.as_ref().expect("it still wrote its record");
    assert_eq!(load.window_asked_ns, Some(600_000_000_000));
    assert!(load.window_ns < 600_000_000_000);
    let page = fs::read_to_string(run.join(layout::DIGEST_MD)).expect("a digest for people");
    assert!(page.contains("TRUNCATED"), "{page}");
    let page = fs::read_to_string(lab.label("faulty").join(layout::MATRIX_MD)).expect("a matrix");
    let row = page.lines().find(|line| line.starts_with("| 01-01-only | void |"));
    assert!(row.is_some_and(|row| row.contains("truncated")), "{page}");
}

#[test]
fn a_generator_that_was_killed_leaves_a_void_run() {
    let lab = Lab::new();
    let running = lab.start(&Bench::mock(), "killed", &["load.measure=600s"]);
    let pid = wait_for("the generator's pid", || {
        let run = lab.label("killed").join(layout::RUNS).join(lab.runs("killed").pop()?);
        let meta: record::meta::Meta = layout::read_json(&run.join(layout::META)).ok()?;
        meta.processes.get("generator").map(|generator| generator.pid)
    });
    crate::support::signal(pid, Signal::KILL);
    running.finish().expect(3);
    let digest = lab.only_digest("killed");
    assert_eq!(digest.outcome.state, OutcomeState::GeneratorFailed);
    assert_eq!(tripped(&digest), ["generator_failed", "absent_evidence"]);
    assert!(digest.outcome.detail.contains("SIGKILL"), "{}", digest.outcome.detail);
    lab.assert_nothing_runs();
}

/// Design rule 3: a file that should be there and is not is reported by name.
#[test]
fn evidence_that_is_gone_voids_the_run_by_its_name() {
    let lab = Lab::new();
    let bench = Bench::mock();
    sound(&lab, &bench);
    let mut running = lab.start(&bench, "faulty", &["load.measure=2s"]);
    wait_for("the host's samples to vanish", || {
        let run = lab.label("faulty").join(layout::RUNS).join(lab.runs("faulty").pop()?);
        fs::remove_file(run.join(layout::HOST)).ok()
    });
    assert!(!running.has_ended());
    running.finish().expect(3);
    let digest = lab.only_digest("faulty");
    assert_eq!(tripped(&digest), ["absent_evidence"]);
    insta::assert_snapshot!(reason(&digest, "absent_evidence").detail, @"`host.csv` is missing");
}

#[test]
fn a_run_over_its_time_is_digested_with_what_it_has() {
    let faults = ["matrix.timeout=1s", "load.measure=600s"];
    let lab = Lab::new();
    let bench = Bench::mock().matrix("timeout", "\"120s\"");
    sound(&lab, &bench);
    let digest = faulty(&lab, &bench, &faults);
    assert_eq!(tripped(&digest)[0], "timed_out");
    assert_eq!(digest.outcome.state, OutcomeState::TimedOut);
    assert!(digest.load.expect("what exists is digested").sent > 0);
}

/// What speaks no HTTP, or speaks it badly, fails by kind; nothing of it is left running.
#[test]
fn malformed_answers_are_failures_by_kind() {
    for (how, kind) in [
        (Stubborn::Garbage, "protocol"),
        (Stubborn::CutShort, "reset"),
        (Stubborn::Close, "reset"),
        (Stubborn::Hang, "timeout"),
    ] {
        let peer = Peer::start(how);
        let lab = Lab::new();
        let bench = Bench::url(&peer.url()).load("timeout", "\"100ms\"").load("warmup", "0");
        let digest = faulty(&lab, &bench, &[]);
        assert!(tripped(&digest).contains(&"failures"), "{how:?}");
        let kinds = failures_of(&digest);
        assert!(kinds.iter().any(|(seen, _)| *seen == kind), "{how:?}: {kinds:?}");
        assert_eq!(digest.load.expect("a load record").succeeded, 0, "{how:?}");
    }
}
