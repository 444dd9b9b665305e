//! The shape of a load, the mock as its witness, and the surroundings: each condition tripped
//! through `assay run` by a planted fault, and not without it. Whether the host is at ease is the
//! host's: the absence of its flags is asserted nowhere.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use record::compare::Matrix;
use record::digest::Digest;
use record::layout;
use record::{Effect, State};
use rustix::process::Signal;

use crate::gates::{faulty, sound, trips};
use crate::support::{Bench, Lab, meta, read, reason, tripped, wait_for};

/// A run whose fault is only flagged: valid, exit 0, and the flag is there.
fn flags(bench: &Bench, faults: &[&str], gate: &str) -> Digest {
    let lab = Lab::new();
    lab.run(bench, "flagged", faults).expect(0);
    let digest = lab.only_digest("flagged");
    assert_eq!(digest.validity.state, State::Valid);
    assert_eq!(tripped(&digest), [""; 0]);
    assert_eq!(reason(&digest, gate).effect, Effect::Flag);
    let page = fs::read_to_string(lab.only_run("flagged").join(layout::DIGEST_MD)).expect("a page");
    assert!(page.contains(&format!("- {gate}: ")), "{page}");
    digest
}

fn holds(digest: &Digest, gate: &str) -> bool {
    let check = digest.checks.iter().find(|check| check.gate == gate);
    check.unwrap_or_else(|| panic!("`{gate}` is in every digest")).passed == Some(true)
}

/// Two users and 2 ms make 300 requests in 300 ms at most: too few for p99, enough for p50.
#[test]
fn a_window_too_short_for_its_percentile_is_flagged_and_valid() {
    let digest = flags(&Bench::mock(), &[], "percentile");
    assert_eq!(digest.metrics["p99"].value, None);
    let bench = Bench::mock().gates("percentile", "\"50%\"");
    let lab = Lab::new();
    assert!(holds(&sound(&lab, &bench), "percentile"));
}

#[test]
fn a_server_that_closes_every_connection_voids_the_run() {
    let lab = Lab::new();
    let bench = Bench::mock();
    let digest = sound(&lab, &bench);
    assert!(holds(&digest, "connection_shape") && holds(&digest, "reconnects"));
    assert_eq!(digest.load.as_ref().map(|load| load.connections.opened), Some(2));
    let digest = faulty(&lab, &bench, &["target.mock.close=1"]);
    assert_eq!(tripped(&digest), ["connection_shape"]);
    assert_eq!(reason(&digest, "reconnects").effect, Effect::Flag);
    let load = digest.load.as_ref().expect("a load record");
    assert_eq!(load.failed, 0, "a connection that is closed in order is no failure");
    assert_eq!(load.connections.opened, load.whole_life.sent);
}

/// A reconnect after a failure is the failure's doing.
#[test]
fn a_reset_explains_its_reconnect() {
    let bench = Bench::mock().target("mock.fail", "\"10%:reset\"").gates("failures", "\"100%\"");
    let lab = Lab::new();
    let digest = sound(&lab, &bench);
    assert!(digest.load.as_ref().is_some_and(|load| load.connections.opened > 2));
    assert!(holds(&digest, "connection_shape"));
}

/// The generator is stopped for a second in the middle of an open loop.
#[test]
fn a_late_generator_voids_latency_only() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .load("rate", "\"300/s\"")
        .load("measure", "\"4s\"")
        .gates("lag", "\"10000%\"");
    sound(&lab, &bench);
    let running = lab.start(&bench, "faulty", &[]);
    let run = wait_for("an open window", || {
        let run = lab.label("faulty").join(layout::RUNS).join(lab.runs("faulty").pop()?);
        let rows = fs::read_to_string(run.join(layout::RESOURCES)).ok()?;
        rows.contains("window_start").then_some(run)
    });
    let generator = meta(&run).processes["generator"].pid;
    crate::support::signal(generator, Signal::STOP);
    // The fault itself takes time.
    std::thread::sleep(std::time::Duration::from_secs(1));
    crate::support::signal(generator, Signal::CONT);
    running.finish().expect(3);
    let digest = lab.only_digest("faulty");
    assert_eq!(tripped(&digest), ["lag"], "{:#?}", digest.validity);
    assert_eq!(reason(&digest, "lag_flag").effect, Effect::Flag);
    assert!(reason(&digest, "lag").remedy.as_ref().is_some_and(|r| r.contains("load.rate")));
    let validity = &digest.validity;
    assert_eq!((validity.latency, validity.throughput), (State::Void, State::Valid));
    assert_eq!(digest.metrics["p50"].state, State::Void);
}

/// M-023: a fifth of the requests end in nothing after 100 ms; no latency says so.
#[test]
fn time_in_no_request_is_flagged() {
    let bench =
        Bench::mock().gates("failures", "\"100%\"").load("measure", "\"2s\"").load("warmup", "0");
    let faults = ["target.mock.fail=20%:never", "load.timeout=100ms"];
    let digest = flags(&bench, &faults, "little");
    let little = reason(&digest, "little");
    assert!(little.value > Some(0.5), "{little:?}");
    assert!(little.detail.contains("failures that got no answer"), "{little:?}");
}

/// K-106: two requests are all the work that there is for sixteen users.
#[test]
fn users_that_never_meet_at_the_mock_are_flagged() {
    let bench = Bench::mock()
        .target("mock.latency", "\"100ms\"")
        .load("users", "16")
        .load("warmup", "0")
        .load("measure", "2");
    let digest = flags(&bench, &[], "mock_in_flight_flag");
    assert!(reason(&digest, "mock_in_flight_flag").value <= Some(0.125));
}

/// No sleep is shorter than asked, so that a bound of nothing is exceeded by any mock.
#[test]
fn a_mock_that_oversleeps_is_flagged() {
    let bench = Bench::mock().load("users", "8").load("measure", "\"2s\"");
    flags(&bench, &["gates.mock_late=0%"], "mock_late");
    let lab = Lab::new();
    assert!(holds(&sound(&lab, &bench.gates("mock_late", "\"100000%\"")), "mock_late"));
}

/// This very process burns a core beside the run, and takes no part in it.
#[test]
fn a_busy_neighbour_is_flagged_by_name() {
    let over = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&over);
    let burner = std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    let bench = Bench::mock().load("measure", "\"6s\"");
    let digest = flags(&bench, &["gates.foreign=0%", "gates.load_average=0%"], "foreign");
    over.store(true, Ordering::Relaxed);
    burner.join().expect("it only spins");
    assert!(digest.host.foreign_name.as_ref().is_some_and(|name| !name.is_empty()));
    assert!(reason(&digest, "foreign").detail.contains("which took no part"));
    assert_eq!(reason(&digest, "load_average").effect, Effect::Flag);
}

/// A supervisor that starts the server again hides its death from everybody but the books.
#[test]
fn a_target_that_restarts_in_its_window_voids_the_run() {
    let script = "while :; do \"$ASSAY\" mock --listen 127.0.0.1:$PORT --latency 2ms \
                  --body-size 26; sleep 0.01; done";
    let bench = Bench::script(script).gates("failures", "\"100%\"");
    let lab = Lab::new();
    let digest = sound(&lab, &bench);
    assert!(holds(&digest, "target_restarted"));
    let running = lab.start(&bench, "faulty", &["load.measure=2s"]);
    wait_for("an open window", || {
        let run = lab.label("faulty").join(layout::RUNS).join(lab.runs("faulty").pop()?);
        let rows = fs::read_to_string(run.join(layout::RESOURCES)).ok()?;
        rows.contains("window_start").then_some(())
    });
    let mut mocks = lab.running().into_iter().filter(|one| one.command.contains(" mock --listen "));
    let mock = mocks.next_back().expect("the server runs");
    crate::support::signal(mock.pid, Signal::KILL);
    running.finish().expect(3);
    let digest = lab.only_digest("faulty");
    assert_eq!(tripped(&digest), ["target_restarted"], "{:#?}", digest.validity);
    let before = format!("pid {} listened at the start", mock.pid);
    assert!(reason(&digest, "target_restarted").detail.contains(&before));
    lab.assert_nothing_runs();
}

/// K-061: an arm that answers with a constant is the fastest, and is in no figure.
#[test]
fn an_arm_that_answers_a_constant_is_ineligible() {
    let lab = Lab::new();
    let constant = "{ target.mock.latency = \"0ms\", target.mock.body_size = 1 }";
    let bench = Bench::mock()
        .scenario("expect.body", "\"abcdefghijklmnopqrstuvwxyz\"")
        .factor("engine", &[("base", "{ target.mock.latency = \"5ms\" }"), ("constant", constant)]);
    lab.run(&bench, "oracle", &[]).expect(3);
    let matrix: Matrix = read(&lab.label("oracle").join(layout::MATRIX_JSON));
    let contrast = matrix.contrasts.iter().find(|one| one.primary).expect("a contrast");
    assert_eq!((contrast.pairs, contrast.ratio, contrast.verdict.as_str()), (0, None, "void"));
    let run = contrast.left_out.iter().find(|left| left.run.ends_with("-constant"));
    assert!(run.is_some_and(|left| left.reason.contains("failures")), "{:?}", contrast.left_out);
}

/// Three targets that differ in their answer only, while the generator counts as busy.
#[test]
fn targets_that_only_show_the_generator_are_a_cluster() {
    let lab = Lab::new();
    let levels = ["26", "27", "28"].map(|size| format!("{{ target.mock.body_size = {size} }}"));
    let bench = Bench::mock()
        .gates("generator_cluster", "\"100%\"")
        .factor("server", &[("a", &levels[0]), ("b", &levels[1]), ("c", &levels[2])]);
    let flagged = |label: &str, faults: &[&str]| {
        lab.run(&bench, label, faults).expect(0);
        let matrix: Matrix = read(&lab.label(label).join(layout::MATRIX_JSON));
        let noted = matrix.notes.iter().any(|note| note.starts_with("generator_cluster: "));
        let flags = matrix.contrasts.iter().filter(|one| one.primary);
        let count = flags.filter(|one| one.flags.contains(&"generator_cluster".to_owned()));
        (noted, count.count())
    };
    assert_eq!(flagged("at-ease", &[]), (false, 0));
    assert_eq!(flagged("busy", &["gates.generator_cpu_flag=0.001%"]), (true, 2));
}

/// Every check is shown with its value and bound, held or not (K-128).
#[test]
fn a_digest_shows_every_check_with_value_and_bound() {
    let lab = Lab::new();
    let digest = sound(&lab, &Bench::mock());
    let mut names: Vec<&str> = digest.checks.iter().map(|check| check.gate.as_str()).collect();
    names.dedup();
    let mut table: Vec<&str> = evidence::gates::GATES.iter().map(|gate| gate.name).collect();
    table.dedup();
    assert_eq!(names, table);
    let page = fs::read_to_string(lab.only_run("sound").join(layout::DIGEST_MD)).expect("a page");
    for name in table {
        assert!(page.contains(&format!("| {name} | ")), "{name} in {page}");
    }
}

/// A planted failure is one kind of void; the same bench under its allowance is the other side.
#[test]
fn a_void_run_stays_void_with_every_flag_off() {
    let loose = ["gates.little=100%", "gates.percentile=1%", "target.mock.fail=50%:status=500"];
    let digest = trips(&Bench::mock(), &loose, &["failures"]);
    assert_eq!(digest.metrics["p50"].state, State::Void, "failed requests improve no figure");
    assert_eq!(digest.metrics["throughput"].state, State::Void);
}
