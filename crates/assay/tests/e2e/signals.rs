//! Interruptions: what is kept, what ends, and that a matrix killed at any instant resumes with
//! each run counted once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use record::compare::Matrix;
use record::layout;
use record::plan::{Plan, RunKind};
use record::status::{RunState, Status};
use rustix::process::Signal;

use crate::support::{Bench, Dice, Lab, Running, digest, meta, names, read, wait_for};

/// A server with what makes trees hard to end: a worker in a session of its own whose parent is
/// gone, with a child that ignores every polite signal.
const TREE: &str = "setsid sh -c 'trap \"\" TERM INT HUP; sleep 600 & sleep 600' & \
                    (sleep 600 &) ; \"$ASSAY\" mock --listen 127.0.0.1:$PORT --body-size 26 & wait";

/// Two levels of the mock, so that there are runs to come.
///
/// One user: of two, a starved machine may leave one without a connection in windows this short,
/// which is a doubt.
fn matrix(blocks: u32) -> Bench {
    Bench::mock()
        .load("users", "1")
        .load("measure", "\"150ms\"")
        .load("warmup", "\"50ms\"")
        .matrix("blocks", &blocks.to_string())
        .factor(
            "size",
            &[
                ("small", "{ target.mock.body_size = \"10\" }"),
                ("large", "{ target.mock.body_size = \"1000\" }"),
            ],
        )
}

/// Waits until the load of a run is on, and returns its directory.
fn loaded(lab: &Lab, label: &str) -> PathBuf {
    wait_for("a loaded run", || {
        let run = lab.label(label).join(layout::RUNS).join(lab.runs(label).pop()?);
        let rows = fs::read_to_string(run.join(layout::RESOURCES)).ok()?;
        rows.contains("window_start").then_some(run)
    })
}

fn resume(lab: &Lab, label: &str) -> Running {
    lab.spawn(&["run", "bench.toml", "--label", label, "--resume"])
}

/// Complete directories by the planned run that they are an attempt of.
fn complete(dir: &Path) -> BTreeMap<String, Vec<String>> {
    let plan: Plan = read(&dir.join(layout::PLAN));
    let runs = names(&dir.join(layout::RUNS));
    let of = |planned: &str| -> Vec<String> {
        let attempts = runs.iter().filter(|run| {
            let rest = run.strip_prefix(planned);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        let is_complete =
            |run: &&String| dir.join(layout::RUNS).join(run).join(layout::DIGEST_JSON).exists();
        attempts.filter(is_complete).cloned().collect()
    };
    let measured = plan.runs.iter().filter(|run| run.kind == RunKind::Measured);
    measured.map(|run| (run.dir.clone(), of(&run.dir))).collect()
}

/// A label that was completed after interruptions: each planned run once, what was cut short
/// listed as incomplete and repeated under the next name, no scratch space, nothing running.
fn assert_completed(lab: &Lab, label: &str) -> Matrix {
    let dir = lab.label(label);
    let complete = complete(&dir);
    for (planned, attempts) in &complete {
        assert_eq!(attempts.len(), 1, "{planned} is complete as {attempts:?}");
    }
    let matrix: Matrix = read(&dir.join(layout::MATRIX_JSON));
    assert_eq!(matrix.planned_runs as usize, complete.len());
    assert_eq!(matrix.completed_runs as usize, complete.len());
    let mut measured: Vec<&str> = Vec::new();
    for run in &matrix.runs {
        let has_digest = dir.join(&run.path).join(layout::DIGEST_JSON).exists();
        assert_eq!(run.kind == "incomplete", !has_digest, "{}", run.path);
        if run.kind == "measured" {
            measured.push(run.path.trim_start_matches("runs/"));
        }
    }
    let expected: Vec<&str> = complete.values().flatten().map(String::as_str).collect();
    assert_eq!(measured, expected);
    assert_eq!(matrix.runs.len(), lab.runs(label).len(), "every directory is listed");
    // Attempts are numbered without a hole, and only the last is complete.
    for run in lab.runs(label) {
        let attempt = attempt_of(&run);
        if attempt > 1 {
            let base = run.rsplit_once('.').expect("a repetition has a number").0;
            let before =
                if attempt == 2 { base.to_owned() } else { format!("{base}.{}", attempt - 1) };
            let before = dir.join(layout::RUNS).join(before);
            assert!(before.is_dir(), "{run} repeats {}", before.display());
            // A warm-up run belongs to an instance: it is made again with it.
            let is_complete = before.join(layout::DIGEST_JSON).exists();
            assert!(!is_complete || run.contains("w-"), "{}", before.display());
        }
        let scratch = dir.join(layout::RUNS).join(&run).join(layout::SCRATCH);
        assert!(!scratch.exists(), "{} was left", scratch.display());
    }
    lab.assert_nothing_runs();
    matrix
}

/// The number after the last dot; these cells hold none.
fn attempt_of(run: &str) -> u32 {
    run.rsplit_once('.').map_or(1, |(_, attempt)| attempt.parse().expect("a number"))
}

#[test]
fn one_interrupt_ends_after_the_current_run_and_a_resume_completes() {
    let lab = Lab::new();
    let running = lab.start(&matrix(2), "calm", &["load.measure=500ms"]);
    let run = loaded(&lab, "calm");
    running.signal(Signal::INT);
    let ran = running.finish().expect(3);
    assert!(ran.stderr.contains("stopping after the current run"), "{}", ran.stderr);
    assert_eq!(lab.runs("calm").len(), 1, "no run was started after it");
    assert_eq!(digest(&run).outcome.state, record::meta::OutcomeState::Finished);
    let matrix: Matrix = read(&lab.label("calm").join(layout::MATRIX_JSON));
    assert_eq!((matrix.planned_runs, matrix.completed_runs), (4, 1));
    lab.assert_nothing_runs();

    lab.spawn(&["run", "bench.toml", "--label", "calm", "--resume", "--set", "load.measure=500ms"])
        .finish()
        .expect(0);
    let matrix = assert_completed(&lab, "calm");
    assert!(matrix.runs.iter().all(|run| run.kind == "measured"), "nothing was repeated");
    // Complete already: nothing is left to do, and nothing is done.
    lab.spawn(&["run", "bench.toml", "--label", "calm", "--resume", "--set", "load.measure=500ms"])
        .finish()
        .expect(0);
    assert_eq!(lab.runs("calm").len(), 4);
}

/// Sent while a window of ten minutes is open: only a run that is cut short ends at all.
fn ends_at_once(signals: &[Signal], code: Option<i32>) {
    let lab = Lab::new();
    let bench = Bench::script(TREE).load("measure", "\"600s\"");
    let mut running = lab.start(&bench, "cut", &[]);
    let run = loaded(&lab, "cut");
    assert!(lab.running().len() >= 8, "{:#?}", lab.running());
    let [first @ .., last] = signals else { panic!("a signal") };
    for signal in first {
        running.signal(*signal);
        // A second signal of one kind is only one when the first was taken.
        wait_for("the first to be heard", || {
            running.stderr().contains("stopping after the current run").then_some(())
        });
        assert!(!running.has_ended(), "one {signal:?} lets the run go on");
    }
    running.signal(*last);
    let ran = running.finish();
    assert_eq!(ran.status.code(), code, "{}", ran.stderr);
    lab.assert_nothing_runs();
    assert!(!run.join(layout::DIGEST_JSON).exists(), "it is incomplete");
    let status: Status = json(&lab, &["status", "results/cut", "--json", "-"]);
    assert_eq!(status.state, RunState::Died);
}

fn json<T: serde::de::DeserializeOwned>(lab: &Lab, arguments: &[&str]) -> T {
    let ran = lab.assay(arguments);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn a_second_interrupt_ends_at_once_with_the_whole_tree() {
    ends_at_once(&[Signal::INT, Signal::INT], Some(3));
}

#[test]
fn sigterm_ends_at_once_with_the_whole_tree() {
    ends_at_once(&[Signal::TERM], Some(3));
}

#[test]
fn sighup_ends_at_once_with_the_whole_tree() {
    ends_at_once(&[Signal::HUP], Some(3));
}

#[test]
fn a_killed_parent_leaves_no_orphan() {
    ends_at_once(&[Signal::KILL], None);
}

#[test]
fn an_interrupt_during_a_bring_up_ends_it() {
    let lab = Lab::new();
    let bench = Bench::script("exec sleep 600").target("ready.within", "\"600s\"");
    let running = lab.start(&bench, "early", &[]);
    wait_for("the target to start", || {
        lab.running().iter().any(|process| process.command.starts_with("sleep")).then_some(())
    });
    running.signal(Signal::TERM);
    running.finish().expect(3);
    lab.assert_nothing_runs();
}

#[test]
fn an_interrupt_in_a_gap_ends_the_wait() {
    let lab = Lab::new();
    let running = lab.start(&matrix(2), "gap", &["matrix.gap=600s"]);
    wait_for("the first digest", || {
        let run = lab.label("gap").join(layout::RUNS).join(lab.runs("gap").pop()?);
        run.join(layout::DIGEST_JSON).exists().then_some(())
    });
    running.signal(Signal::INT);
    running.finish().expect(3);
    assert_eq!(lab.runs("gap").len(), 1);
    lab.assert_nothing_runs();
}

/// The instant between the two halves of a digest, held open by a pipe in the place of the
/// second half's temporary file: opening it waits for a reader who never comes.
#[test]
fn killed_between_the_two_halves_of_a_digest_the_run_is_repeated() {
    let lab = Lab::new();
    let running = lab.start(&matrix(1), "halves", &[]);
    let run = wait_for("a run directory", || {
        let run = lab.label("halves").join(layout::RUNS).join(lab.runs("halves").pop()?);
        make_fifo(&run.join(format!("{}.partial", layout::DIGEST_JSON))).then_some(run)
    });
    wait_for("the first half", || run.join(layout::DIGEST_MD).exists().then_some(()));
    running.signal(Signal::KILL);
    running.finish();
    lab.assert_nothing_runs();
    assert!(!run.join(layout::DIGEST_JSON).exists());

    resume(&lab, "halves").finish().expect(0);
    assert_completed(&lab, "halves");
    let repeated = format!("{}.2", run.display());
    assert_eq!(digest(Path::new(&repeated)).attempt, 2);
}

fn make_fifo(path: &Path) -> bool {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).is_ok()
}

/// When a matrix is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// So long after its start.
    After(Duration),
    /// When a file of this name appears in the newest run directory of this session.
    Sees(&'static str),
}

/// Files whose appearance marks a step of a run.
const STEPS: [&str; 8] = [
    layout::SCRATCH,
    layout::META,
    layout::RESOURCES,
    layout::LOAD,
    layout::MOCK,
    "digest.md.partial",
    layout::DIGEST_MD,
    "digest.json.partial",
];

/// Kills a session at a moment; false when it came to its end before.
fn kill_at(lab: &Lab, label: &str, mut running: Running, moment: Moment) -> bool {
    let began = Instant::now();
    let before = lab.runs(label);
    let newest = |file: &str| {
        let runs = lab.runs(label).into_iter().filter(|run| !before.contains(run));
        runs.map(|run| lab.label(label).join(layout::RUNS).join(run))
            .any(|run| run.join(file).exists())
    };
    let mut killed = false;
    while !killed && !running.has_ended() {
        let is_now = match moment {
            Moment::After(length) => began.elapsed() >= length,
            Moment::Sees(file) => newest(file),
        };
        if is_now {
            running.signal(Signal::KILL);
            killed = true;
        } else if matches!(moment, Moment::After(_)) {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    let ran = running.finish();
    lab.assert_nothing_runs();
    if killed && ran.status.code().is_none() {
        return true;
    }
    ran.expect(0);
    false
}

/// Kills a matrix and its resumes at 50 seeded instants, 200 in the long form. One that comes to
/// its end between two kills is checked, and the next begins.
fn killed_again_and_again(bench: &Bench) {
    let wanted = if std::env::var_os("ASSAY_LONG").is_some() { 200 } else { 50 };
    let mut dice = Dice::seeded();
    let lab = Lab::new();
    lab.write("bench.toml", &bench.toml());
    let (mut kills, mut cut, mut number) = (0, 0, 1);
    while kills < wanted || lab.label(&number.to_string()).is_dir() {
        let label = number.to_string();
        let moment = match dice.below(2) {
            _ if kills >= wanted => Moment::After(Duration::MAX),
            0 => Moment::After(Duration::from_millis(dice.below(900))),
            _ => Moment::Sees(STEPS[dice.below(STEPS.len() as u64) as usize]),
        };
        let mut arguments = vec!["run", "bench.toml", "--label", &label];
        if lab.label(&label).is_dir() {
            arguments.push("--resume");
        }
        if kill_at(&lab, &label, lab.spawn(&arguments), moment) {
            kills += 1;
            eprintln!("kill {kills}: {moment:?}");
        } else {
            cut += completed(&lab, &label);
            number += 1;
        }
    }
    eprintln!("{cut} runs of {} matrices were cut short", number - 1);
}

/// Checks a label that came to its end; the number of runs that were cut short in it.
fn completed(lab: &Lab, label: &str) -> usize {
    let matrix = assert_completed(lab, label);
    let status: Status = json(lab, &["status", &format!("results/{label}"), "--json", "-"]);
    assert_eq!(status.state, RunState::Finished);
    // What was cut short and made good is listed, and is no doubt.
    lab.assay(&["compare", &format!("results/{label}")]).expect(0);
    let page = fs::read_to_string(lab.label(label).join(layout::MATRIX_MD)).expect("a matrix");
    let incomplete = matrix.runs.iter().filter(|run| run.kind == "incomplete");
    let names = incomplete.map(|run| run.path.trim_start_matches("runs/"));
    names.inspect(|name| assert!(page.contains(name), "{name} is not listed in {page}")).count()
}

#[test]
fn killed_at_seeded_instants_a_matrix_counts_each_run_once() {
    killed_again_and_again(&matrix(3));
}

/// The same where an instance serves several runs and begins with a warm-up run.
#[test]
fn killed_at_seeded_instants_shared_instances_are_brought_up_anew() {
    killed_again_and_again(&shared_instances());
}

fn shared_instances() -> Bench {
    matrix(2)
        .target("fresh", "\"change\"")
        .matrix("nest", "[\"size\", \"path\"]")
        .factor("path", &[("a", "{ scenario.get = \"/a\" }"), ("b", "{ scenario.get = \"/b\" }")])
}

/// K-036: scratch space of a killed run is gone after the resume, also an instance's.
#[test]
fn scratch_space_does_not_outlive_a_kill() {
    for (label, fresh) in [("alone", "run"), ("shared", "matrix")] {
        let lab = Lab::new();
        let bench = Bench::script(
            "echo leftover > \"$SCRATCH/leftover\"; exec \"$ASSAY\" mock --listen 127.0.0.1:$PORT",
        )
        .target("env.SCRATCH", "\"${run.scratch}\"")
        .target("fresh", &format!("\"{fresh}\""))
        .matrix("warmup_run", "false")
        .factor("path", &[("a", "{ scenario.get = \"/a\" }"), ("b", "{ scenario.get = \"/b\" }")]);
        let running = lab.start(&bench, label, &[]);
        let run = loaded(&lab, label);
        assert_eq!(meta(&run).label, label);
        let leftovers = || {
            let all = crate::support::files(&lab.label(label));
            all.iter().filter(|path| path.ends_with("leftover")).count()
        };
        assert_eq!(leftovers(), 1, "{fresh}");
        running.signal(Signal::KILL);
        running.finish();
        lab.assert_nothing_runs();
        resume(&lab, label).finish().expect(0);
        assert_eq!(leftovers(), 0, "{fresh}");
        assert_completed(&lab, label);
    }
}

#[test]
fn another_plan_does_not_resume() {
    let lab = Lab::new();
    lab.run(&matrix(1), "other", &[]).expect(0);
    let before = crate::support::files(&lab.label("other"));
    lab.write("bench.toml", &matrix(1).target("mock.latency", "\"3ms\"").toml());
    let ran = resume(&lab, "other").finish().expect(5);
    insta::assert_snapshot!(ran.stderr.lines().last().unwrap_or_default(), @"error: label `other` was made from another plan: `files` differs; resume or extend it with the bench and options it was made with");
    assert_eq!(crate::support::files(&lab.label("other")), before);
    let ran = resume(&lab, "nowhere").finish().expect(5);
    insta::assert_snapshot!(ran.stderr.lines().last().unwrap_or_default(), @"error: no label `nowhere` in `results` to resume");
}

#[test]
fn two_at_once_do_not_share_a_label() {
    let lab = Lab::new();
    let running = lab.start(&matrix(1), "one", &["load.measure=600s"]);
    loaded(&lab, "one");
    let arguments = ["run", "bench.toml", "--label", "one", "--set", "load.measure=600s"];
    let ran = lab.assay(&arguments).expect(5);
    assert!(ran.stderr.contains("label `one` exists"), "{}", ran.stderr);
    let ran = lab.assay(&[&arguments[..], &["--resume"]].concat()).expect(5);
    let holder = format!("label `one` is being run by pid {}", running.pid());
    assert!(ran.stderr.contains(&holder), "{}", ran.stderr);
    running.signal(Signal::TERM);
    running.finish().expect(3);
    lab.assert_nothing_runs();
}
