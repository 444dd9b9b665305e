//! The generator process of a run, from the parent's side: a job in, events and a record out.

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

/// Events that may wait for the parent. There is about one a second.
const MOST_EVENTS: usize = 256;
/// How long a generator that was told to stop may take to write its record.
const STOP_GRACE_NS: u64 = 5_000_000_000;

/// The generator while it runs.
#[derive(Debug)]
pub(crate) struct Generator {
    process: Guarded,
    events: Receiver<Event>,
}

impl Generator {
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

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub(crate) fn guardian_pid(&self) -> u32 {
        self.process.guardian_pid()
    }

    /// The next event within `wait`.
    pub(crate) fn event(&mut self, wait: Duration) -> Option<Event> {
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

    pub(crate) fn exited(&mut self) -> Option<Exit> {
        self.process.exited()
    }

    /// Has it end early; it still writes what it has.
    pub(crate) fn stop(&mut self) {
        let _ = self.process.stop(&Stop { signal: "TERM".to_owned(), grace_ns: STOP_GRACE_NS });
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
    }
}
