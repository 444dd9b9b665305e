//! The recordings and texts of a run directory, and what its `meta.json` says of them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use record::layout;
use record::meta::{Meta, OutcomeState};

use crate::exit::Failure;
use crate::file_kind;

/// Folder of a run directory that holds recordings.
const RECORDINGS: &str = "recordings";

/// What a run directory says of its recordings.
pub(super) struct OfRun {
    /// The measured window by the wall clock, nanoseconds since the epoch; absent when the run
    /// never reached it.
    pub(super) window_ns: Option<[u64; 2]>,
    /// How the run ended, a word.
    pub(super) ended: String,
    /// The target's build.
    pub(super) build: Option<String>,
}

/// Recordings and texts in the folder `recordings` of a run directory, or recordings beside its `meta.json`, in order
/// of their names; with what the run says of them, where there is a `meta.json`.
pub(super) fn of(run: &Path) -> Result<(Vec<PathBuf>, Option<OfRun>), Failure> {
    let mut found = files(&run.join(RECORDINGS), file_kind::is_evidence);
    let has_meta = run.join(layout::META).is_file();
    if found.is_empty() && (has_meta || run.join(layout::LOAD).is_file()) {
        // Logs of the run lie there too: a recording is known by its name.
        found = files(run, |file| file.extension() == Some(OsStr::new("jfr")));
    }
    if found.is_empty() {
        let message = format!(
            "`{}` is a folder: expected recordings named `*.jfr` in its folder `{RECORDINGS}` or \
             beside its `{}`, or GC logs, class histograms, thread dumps or collapsed stacks in that \
             folder, found none; a chunk repository of a JVM is read with --recover",
            run.display(),
            layout::META
        );
        return Err(Failure::wrong(message));
    }
    if !has_meta {
        return Ok((found, None));
    }
    let meta: Meta = layout::read_json(&run.join(layout::META)).map_err(Failure::wrong)?;
    Ok((found, Some(of_meta(&meta))))
}

fn files(folder: &Path, is_one: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.is_file() && is_one(file))
        .collect();
    found.sort();
    found
}

fn of_meta(meta: &Meta) -> OfRun {
    let target = meta.processes.get("target").or_else(|| meta.processes.get("mock"));
    let ended = match &meta.outcome {
        None => "still running, or its lab died",
        Some(outcome) => match outcome.state {
            OutcomeState::Finished => "finished",
            OutcomeState::TargetNotReady => "the target never became ready",
            OutcomeState::TargetDied => "the target died",
            OutcomeState::WrongVersion => "the target has another version than the bench pins",
            OutcomeState::TimedOut => "timed out",
            OutcomeState::GeneratorFailed => "the generator failed",
            OutcomeState::Interrupted => "interrupted",
        },
    };
    OfRun {
        window_ns: window_ns(meta),
        ended: ended.to_owned(),
        build: target.and_then(|target| target.version.clone().or_else(|| target.sha256.clone())),
    }
}

/// The window by the wall clock: its instants are of the monotonic clock, which the start of the
/// run ties to the wall's. A run of before that tie was kept starts at its whole second.
fn window_ns(meta: &Meta) -> Option<[u64; 2]> {
    let instant = |name: &str| meta.instants_ns.get(name).copied();
    let started = instant("run_start")?;
    let unix = meta.started_unix_ns.or_else(|| clock::parse_utc_ns(&meta.started_utc))?;
    let wall = |at: u64| unix.saturating_add(at.saturating_sub(started));
    let window = [wall(instant("window_start")?), wall(instant("window_end")?)];
    (window[0] < window[1]).then_some(window)
}
