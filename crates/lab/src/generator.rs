//! The generator process of a run, from the parent's side: assay's own, with a job in, events and a
//! record out; or a foreign one, whose edges are its start and its end.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use record::job::{Event, Job};
use record::layout;
use record::plan::Stop;
use target::{Exit, Guarded, Output, Spawn, Stdin};

use crate::error::LabError;
use crate::facts::Facts;
use crate::foreign::Foreign;

/// Events that may wait for the parent. There is about one a second.
const MOST_EVENTS: usize = 256;
/// How long a generator that was told to stop may take to write its record.
const STOP_GRACE_NS: u64 = 5_000_000_000;

/// The generator while it runs.
#[derive(Debug)]
pub(crate) enum Generator {
    /// assay's own.
    Own(Own),
    /// Another program.
    Foreign(Box<Foreign>),
}

impl Generator {
    pub(crate) fn pid(&self) -> u32 {
        match self {
            Self::Own(own) => own.process.pid(),
            Self::Foreign(foreign) => foreign.pid(),
        }
    }

    pub(crate) fn guardian_pid(&self) -> u32 {
        match self {
            Self::Own(own) => own.process.guardian_pid(),
            Self::Foreign(foreign) => foreign.guardian_pid(),
        }
    }

    /// The next event within `wait`.
    pub(crate) fn event(&mut self, wait: Duration) -> Option<Event> {
        match self {
            Self::Own(own) => own.event(wait),
            Self::Foreign(foreign) => foreign.event(wait),
        }
    }

    pub(crate) fn exited(&mut self) -> Option<Exit> {
        match self {
            Self::Own(own) => own.process.exited(),
            Self::Foreign(foreign) => foreign.exited(),
        }
    }

    /// Why an exit is a failure; `None` for a good one.
    pub(crate) fn complaint(&self, exit: &Exit) -> Option<String> {
        match self {
            Self::Own(_) if exit.success() => None,
            Self::Own(_) => Some(format!("the generator {exit}; see `generator.log`")),
            Self::Foreign(foreign) if foreign.accepts(exit) => None,
            Self::Foreign(foreign) => Some(foreign.complaint(exit)),
        }
    }

    /// Has it end early; assay's own still writes what it has.
    pub(crate) fn stop(&mut self) {
        match self {
            Self::Own(own) => {
                let stop = Stop { signal: "TERM".to_owned(), grace_ns: STOP_GRACE_NS };
                let _ = own.process.stop(&stop);
            }
            Self::Foreign(foreign) => foreign.kill(),
        }
    }

    pub(crate) fn kill(&mut self) {
        match self {
            Self::Own(own) => {
                let _ = own.process.kill();
            }
            Self::Foreign(foreign) => foreign.kill(),
        }
    }
}

/// assay's own generator while it runs.
#[derive(Debug)]
pub(crate) struct Own {
    process: Guarded,
    events: Receiver<Event>,
}

impl Own {
    /// Starts it. It writes its record to `load.json` of the run directory itself.
    pub(crate) fn start(
        facts: &Facts,
        run_dir: &Path,
        job: &Job,
        cpus: &[u32],
    ) -> Result<Self, LabError> {
        let failed = |source| LabError::Child { role: "generator", source };
        let spawn = Spawn {
            argv: vec![
                facts.assay.display().to_string(),
                "__generate".to_owned(),
                run_dir.join(layout::LOAD).display().to_string(),
            ],
            stdin: Stdin::Bytes(serde_json::to_vec(job).unwrap_or_default()),
            stdout: Output::Pipe,
            stderr: Output::File(run_dir.join("generator.log")),
            cpus: cpus.to_vec(),
            ..Spawn::default()
        };
        let mut process = Guarded::spawn(&facts.assay, &spawn).map_err(failed)?;
        let (sender, events) = sync_channel(MOST_EVENTS);
        if let Some(stdout) = process.take_stdout() {
            // Ends with the generator's end of the pipe.
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines() {
                    let Ok(line) = line else { return };
                    // A line that is no event is nobody's message to us.
                    if let Ok(event) = serde_json::from_str(&line)
                        && sender.send(event).is_err()
                    {
                        return;
                    }
                }
            });
        }
        Ok(Self { process, events })
    }

    /// The next event within `wait`.
    fn event(&mut self, wait: Duration) -> Option<Event> {
        match self.events.recv_timeout(wait) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                // Its output is closed; its exit follows.
                self.process.wait(wait);
                None
            }
        }
    }
}
