//! `assay status` on planted situations: by pid and start time, never by a name (K-023, K-043).

use std::fs;
use std::path::PathBuf;

use record::layout;
use record::meta::Meta;
use record::status::{RunState, Status};
use rustix::process::Signal;

use crate::support::{Bench, Lab, Running, meta, signal, wait_for};

fn status(lab: &Lab, dir: &str) -> Status {
    let ran = lab.assay(&["status", dir, "--json", "-"]).expect(0);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
}

/// A run of ten minutes once its load is on.
fn running(lab: &Lab) -> (Running, PathBuf) {
    let running = lab.start(&Bench::mock(), "one", &["load.measure=600s"]);
    let run = wait_for("a loaded run", || {
        let run = lab.label("one").join(layout::RUNS).join(lab.runs("one").pop()?);
        let rows = fs::read_to_string(run.join(layout::RESOURCES)).ok()?;
        rows.contains("window_start").then_some(run)
    });
    (running, run)
}

#[test]
fn running_hung_and_died_are_told_apart_while_it_happens() {
    let lab = Lab::new();
    let (running, run) = running(&lab);
    for place in ["results/one", "results/one/runs/01-01-only"] {
        assert_eq!(status(&lab, place).state, RunState::Running, "{place}");
    }
    let recorded = meta(&run);

    let mock = recorded.processes["mock"].pid;
    signal(mock, Signal::STOP);
    let hung = wait_for("the stop to be seen", || {
        Some(status(&lab, "results/one")).filter(|status| status.state == RunState::Hung)
    });
    assert_eq!(hung.runs[0].detail, format!("mock (pid {mock}) is stopped"));
    signal(mock, Signal::CONT);
    wait_for("the mock to go on", || {
        (status(&lab, "results/one").state == RunState::Running).then_some(())
    });

    signal(running.pid(), Signal::KILL);
    running.finish();
    let died = status(&lab, "results/one");
    assert_eq!(died.state, RunState::Died);
    let parent = recorded.processes["parent"].pid;
    assert_eq!(died.runs[0].detail, format!("parent pid {parent} is gone"));
    lab.assert_nothing_runs();
    let ran = lab.assay(&["status", "results/one"]).expect(0);
    assert!(ran.stdout.contains("died"), "{}", ran.stdout);
}

#[test]
fn finished_and_not_started_are_told_apart() {
    let lab = Lab::new();
    lab.run(&Bench::mock(), "one", &[]).expect(0);
    assert_eq!(status(&lab, "results/one").state, RunState::Finished);
    assert_eq!(status(&lab, "results/one/runs/01-01-only").state, RunState::Finished);
    let ran = lab.assay(&["status", "results/one"]).expect(0);
    insta::assert_snapshot!(ran.stdout, @"one: finished, 1 of 1 runs finished");
    // As it would look had it been stopped before its first run.
    fs::remove_dir_all(lab.only_run("one")).expect("it can be removed");
    assert_eq!(status(&lab, "results/one").state, RunState::NotStarted);
}

/// K-043: the number of the parent belongs to another process now, here to this very test.
#[test]
fn a_recycled_pid_is_no_sign_of_life() {
    let lab = Lab::new();
    let (running, run) = running(&lab);
    running.signal(Signal::KILL);
    running.finish();
    lab.assert_nothing_runs();
    let mut recorded: Meta = meta(&run);
    let parent = recorded.processes.get_mut("parent").expect("it is recorded");
    parent.pid = std::process::id();
    layout::write_json(&run.join(layout::META), &recorded).expect("a file of the test");
    let died = status(&lab, "results/one");
    assert_eq!(died.state, RunState::Died);
    assert!(died.runs[0].detail.contains("belongs to another process now"), "{died:?}");
}

#[test]
fn a_directory_without_runs_is_wrong_input() {
    let lab = Lab::new();
    let ran = lab.assay(&["status", "."]).expect(2);
    insta::assert_snapshot!(ran.stderr, @"error: `.` holds no runs: expected a label directory with `runs/`, or a run directory with `meta.json`");
    let ran = lab.assay(&["status", "nowhere"]).expect(2);
    insta::assert_snapshot!(ran.stderr, @"error: `nowhere` holds no runs: expected a label directory with `runs/`, or a run directory with `meta.json`");
}
