//! What became of the runs of a label: finished, running, hung, died or not started.
//!
//! A digest means finished. Without one, the process that wrote `meta.json` decides: found by
//! pid and start time, so that a recycled pid is no sign of life. A living run is hung when one
//! of its processes is stopped or nothing in its directory has changed for longer than a bound.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use record::Format;
use record::layout;
use record::meta::{Meta, ProcessIdentity};
use record::plan::Plan;
use record::status::{RunState, RunStatus, Status};

use crate::compare::runs::{base_and_attempt, names_in};
use crate::error::EvidenceError;

/// A living run whose directory is quiet for longer than this is hung, unless its observer
/// samples more rarely.
pub const IDLE_BOUND: Duration = Duration::from_secs(15);

/// Samples that may be late before a run counts as hung.
const LATE_SAMPLES: u32 = 5;

/// A living process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Start time, clock ticks since boot.
    pub start_ticks: u64,
    /// Whether it is stopped by a signal or traced.
    pub stopped: bool,
}

/// The processes of this machine.
pub trait Processes {
    /// The process of a pid, unless there is none or it is a zombie.
    fn process(&self, pid: u32) -> Option<Process>;
}

/// Processes by `/proc/PID/stat`; finds none where there is no such file.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcFs;

impl Processes for ProcFs {
    fn process(&self, pid: u32) -> Option<Process> {
        parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }
}

/// Reads a line of `/proc/PID/stat`. The second field is a name in parentheses that may hold
/// blanks and parentheses itself, so fields are counted from its last one.
fn parse_stat(stat: &str) -> Option<Process> {
    let rest = stat.rsplit_once(')')?.1;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let state = *fields.first()?;
    // Field 22 of the line; the first here is field 3.
    let start_ticks = fields.get(19)?.parse().ok()?;
    let dead = matches!(state, "Z" | "X" | "x");
    (!dead).then_some(Process { start_ticks, stopped: matches!(state, "T" | "t") })
}

/// Tells how the runs of a label directory, or one run directory, stand at `now` (wall clock,
/// for the age of files).
///
/// # Errors
/// When the directory holds neither runs nor a plan nor a run, or cannot be listed.
pub fn status(
    dir: &Path,
    processes: &dyn Processes,
    now: SystemTime,
) -> Result<Status, EvidenceError> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let runs_dir = dir.join(layout::RUNS);
    let plan: Option<Plan> = layout::read_json(&dir.join(layout::PLAN)).ok();
    if !runs_dir.is_dir() && plan.is_none() {
        if !dir.join(layout::META).exists() && !dir.join(layout::DIGEST_JSON).exists() {
            return Err(EvidenceError::NoRuns { path: dir.display().to_string() });
        }
        let run = run_status(dir, &name, None, processes, now);
        return Ok(Status { format: format(), name, state: run.state, runs: vec![run] });
    }
    let names = if runs_dir.is_dir() { names_in(&runs_dir)? } else { Vec::new() };
    let mut runs: Vec<RunStatus> = names
        .iter()
        .map(|name| {
            let status = run_status(&runs_dir.join(name), name, plan.as_ref(), processes, now);
            // Attempts follow one another: one that was repeated is over, however young its
            // files are.
            let (base, attempt) = base_and_attempt(name);
            let repeated = names.iter().map(|other| base_and_attempt(other));
            let is_repeated = repeated.into_iter().any(|(b, a)| b == base && a > attempt);
            if is_repeated && status.state != RunState::Finished {
                RunStatus { state: RunState::Died, ..status }
            } else {
                status
            }
        })
        .collect();
    for planned in plan.iter().flat_map(|plan| &plan.runs) {
        if !names.iter().any(|name| base_and_attempt(name).0 == planned.dir) {
            runs.push(RunStatus {
                run: planned.dir.clone(),
                state: RunState::NotStarted,
                detail: String::new(),
            });
        }
    }
    // Between two runs the parent lives though no run does.
    let between = names.iter().any(|name| {
        read_meta(&runs_dir.join(name))
            .is_some_and(|meta| alive(meta.processes.get("parent"), processes).is_some())
    });
    runs.sort_by(|a, b| a.run.cmp(&b.run));
    Ok(Status { format: format(), name, state: overall(&runs, between), runs })
}

fn format() -> Format {
    Format::v1("assay.status")
}

/// The state of a label from those of its runs. An attempt that died counts as done once a
/// later attempt of the same run is finished.
fn overall(runs: &[RunStatus], parent_lives: bool) -> RunState {
    let any = |state| runs.iter().any(|run| run.state == state);
    let finished = |base: &str| {
        runs.iter()
            .any(|run| run.state == RunState::Finished && base_and_attempt(&run.run).0 == base)
    };
    if any(RunState::Hung) {
        RunState::Hung
    } else if any(RunState::Running) || (parent_lives && any(RunState::NotStarted)) {
        RunState::Running
    } else if runs.iter().all(|run| run.state == RunState::NotStarted) {
        RunState::NotStarted
    } else if runs.iter().all(|run| finished(base_and_attempt(&run.run).0)) {
        RunState::Finished
    } else {
        RunState::Died
    }
}

fn read_meta(dir: &Path) -> Option<Meta> {
    layout::read_json(&dir.join(layout::META)).ok()
}

/// The process when it lives and is the one recorded, not another that got its pid.
fn alive(identity: Option<&ProcessIdentity>, processes: &dyn Processes) -> Option<Process> {
    let identity = identity?;
    processes.process(identity.pid).filter(|found| found.start_ticks == identity.start_ticks)
}

fn run_status(
    dir: &Path,
    name: &str,
    plan: Option<&Plan>,
    processes: &dyn Processes,
    now: SystemTime,
) -> RunStatus {
    let (state, detail) = judge(dir, plan, processes, now);
    RunStatus { run: name.to_owned(), state, detail }
}

fn judge(
    dir: &Path,
    plan: Option<&Plan>,
    processes: &dyn Processes,
    now: SystemTime,
) -> (RunState, String) {
    if dir.join(layout::DIGEST_JSON).exists() {
        return (RunState::Finished, String::new());
    }
    let idle = idle_time(dir, now);
    let Some(meta) = read_meta(dir) else {
        // The directory is made just before its metadata.
        return if idle <= IDLE_BOUND {
            (RunState::Running, "starting".to_owned())
        } else {
            (RunState::Died, "left no readable meta.json".to_owned())
        };
    };
    let parent = meta.processes.get("parent");
    if alive(parent, processes).is_none() {
        let recycled = parent.is_some_and(|parent| processes.process(parent.pid).is_some());
        let pid = parent.map_or_else(|| "of no pid".to_owned(), |p| format!("pid {}", p.pid));
        let mut detail = format!("parent {pid} is gone");
        if recycled {
            detail.push_str(" (its pid belongs to another process now)");
        }
        return (RunState::Died, detail);
    }
    for (role, identity) in &meta.processes {
        if alive(Some(identity), processes).is_some_and(|process| process.stopped) {
            return (RunState::Hung, format!("{role} (pid {}) is stopped", identity.pid));
        }
    }
    let bound = idle_bound(dir, &meta, plan);
    let seconds = idle.as_secs();
    if idle > bound {
        (
            RunState::Hung,
            format!("no file has changed for {seconds} s, longer than {} s", bound.as_secs()),
        )
    } else {
        (RunState::Running, format!("a file changed {seconds} s ago"))
    }
}

/// How long a living run may be quiet: some samples of its observer, and before the first
/// sample also the time that its target has to become ready.
fn idle_bound(dir: &Path, meta: &Meta, plan: Option<&Plan>) -> Duration {
    let interval = plan.map_or(0, |plan| plan.observe_interval_ns);
    let bound = IDLE_BOUND.max(Duration::from_nanos(interval) * LATE_SAMPLES);
    if dir.join(layout::RESOURCES).exists() {
        bound
    } else {
        bound + Duration::from_nanos(meta.effective.target.ready.within_ns)
    }
}

/// Time since the latest change of the directory or a file in it; zero when that lies in the
/// future by the wall clock.
fn idle_time(dir: &Path, now: SystemTime) -> Duration {
    let files = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    files
        .chain([dir.to_owned()])
        .filter_map(|path| fs::metadata(path).and_then(|data| data.modified()).ok())
        .max()
        .and_then(|latest| now.duration_since(latest).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, SampleRun};
    use std::collections::HashMap;

    /// Processes by pid.
    #[derive(Default)]
    struct Fake(HashMap<u32, Process>);

    impl Processes for Fake {
        fn process(&self, pid: u32) -> Option<Process> {
            self.0.get(&pid).copied()
        }
    }

    /// Parent, target and generator of the samples, alive.
    fn living() -> Fake {
        let process = Process { start_ticks: 4_200, stopped: false };
        Fake((100..=102).map(|pid| (pid, process)).collect())
    }

    fn unfinished_run() -> (tempfile::TempDir, std::path::PathBuf) {
        let label = tempfile::tempdir().unwrap();
        let run = SampleRun::sound(1, 1, &samples::level("base", 0, None));
        let dir = label.path().join("runs").join(&run.meta.run);
        run.write(&dir);
        (label, dir)
    }

    fn state_of(dir: &Path, processes: &Fake, now: SystemTime) -> (RunState, String) {
        let status = status(dir, processes, now).unwrap();
        (status.state, status.runs[0].detail.clone())
    }

    #[test]
    fn four_situations_give_four_answers() {
        let (label, dir) = unfinished_run();
        let now = SystemTime::now();
        let later = now + Duration::from_secs(3_600);
        for place in [label.path(), dir.as_path()] {
            assert_eq!(state_of(place, &living(), now).0, RunState::Running);
            assert_eq!(state_of(place, &living(), later).0, RunState::Hung);
            assert_eq!(state_of(place, &Fake::default(), now).0, RunState::Died);
        }
        fs::write(dir.join(layout::DIGEST_JSON), "{}").unwrap();
        assert_eq!(state_of(&dir, &Fake::default(), later).0, RunState::Finished);
        assert_eq!(state_of(label.path(), &Fake::default(), later).0, RunState::Finished);
    }

    #[test]
    fn a_stopped_generator_is_hung_though_files_change() {
        let (_label, dir) = unfinished_run();
        let mut processes = living();
        processes.0.insert(102, Process { start_ticks: 4_200, stopped: true });
        let (state, detail) = state_of(&dir, &processes, SystemTime::now());
        assert_eq!(state, RunState::Hung);
        assert_eq!(detail, "generator (pid 102) is stopped");
    }

    #[test]
    fn a_recycled_pid_is_no_sign_of_life() {
        let (_label, dir) = unfinished_run();
        let mut processes = living();
        processes.0.insert(100, Process { start_ticks: 4_201, stopped: false });
        let (state, detail) = state_of(&dir, &processes, SystemTime::now());
        assert_eq!(state, RunState::Died);
        assert_eq!(detail, "parent pid 100 is gone (its pid belongs to another process now)");
    }

    #[test]
    fn planned_runs_without_a_directory_are_not_started() {
        let label = tempfile::tempdir().unwrap();
        let plan = samples::plan(&["base", "slow"], 1);
        layout::write_json(&label.path().join(layout::PLAN), &plan).unwrap();
        let of = |processes: &Fake| status(label.path(), processes, SystemTime::now()).unwrap();
        assert_eq!(of(&Fake::default()).state, RunState::NotStarted);
        let run = SampleRun::sound(1, 1, &samples::level("base", 0, None));
        run.complete(label.path());
        let states: Vec<RunState> = of(&Fake::default()).runs.iter().map(|run| run.state).collect();
        assert_eq!(states, [RunState::Finished, RunState::NotStarted]);
        assert_eq!(of(&Fake::default()).state, RunState::Died);
        // In the gap between two runs only the parent lives.
        assert_eq!(of(&living()).state, RunState::Running);
    }

    #[test]
    fn a_repeated_run_is_finished_though_its_first_attempt_died() {
        let (label, _dir) = unfinished_run();
        let mut second = SampleRun::sound(1, 1, &samples::level("base", 0, None));
        second.meta.run.push_str(".2");
        second.meta.attempt = 2;
        second.complete(label.path());
        let status = status(label.path(), &Fake::default(), SystemTime::now()).unwrap();
        assert_eq!(status.runs[0].state, RunState::Died);
        assert_eq!(status.state, RunState::Finished);
    }

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 3 0 987 0 0";
        assert_eq!(parse_stat(stat), Some(Process { start_ticks: 987, stopped: false }));
        assert_eq!(parse_stat(&stat.replace(" S ", " T ")).map(|p| p.stopped), Some(true));
        assert_eq!(parse_stat(&stat.replace(" S ", " Z ")), None);
        assert_eq!(parse_stat("7 (a"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_found_by_its_pid() {
        let found = ProcFs.process(std::process::id());
        assert!(found.is_some_and(|process| process.start_ticks > 0 && !process.stopped));
        assert_eq!(ProcFs.process(u32::MAX), None);
    }
}
