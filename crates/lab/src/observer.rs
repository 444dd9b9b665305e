//! The observer process of a run, from the parent's side.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use observe::{Command, ObserverConfig, Watch};
use record::layout;
use record::plan::Stop;
use record::resources::Edge;
use target::{Guarded, Output, Spawn, Stdin};

use crate::error::LabError;
use crate::facts::Facts;

/// How long the observer may take to write its last row.
const STOP_BOUND: Duration = Duration::from_secs(5);

/// Samples processes and host into the run directory until it is stopped.
#[derive(Debug)]
pub(crate) struct Observer {
    process: Guarded,
    commands: Option<File>,
}

impl Observer {
    pub(crate) fn start(
        facts: &Facts,
        run_dir: &Path,
        watches: Vec<Watch>,
        interval_ns: u64,
        cpus: &[u32],
    ) -> Result<Self, LabError> {
        let failed = |source| LabError::Child { role: "observer", source };
        let spawn = Spawn {
            argv: vec![facts.assay.display().to_string(), "__observe".to_owned()],
            stdin: Stdin::Pipe,
            stderr: Output::File(run_dir.join("observer.log")),
            cpus: cpus.to_vec(),
            ..Spawn::default()
        };
        let mut process = Guarded::spawn(&facts.assay, &spawn).map_err(failed)?;
        let commands = process.take_stdin();
        let mut observer = Self { process, commands };
        let config = ObserverConfig::new(
            interval_ns,
            run_dir.join(layout::RESOURCES),
            run_dir.join(layout::HOST),
            watches,
        );
        observer.send(&config);
        Ok(observer)
    }

    /// Asks for a sample at an edge of the window, which may lie ahead.
    pub(crate) fn mark(&mut self, edge: Edge, at_ns: u64) {
        self.send(&Command::Mark { mark: edge, at_ns });
    }

    /// Watches one more role from now on.
    pub(crate) fn watch(&mut self, watch: Watch) {
        self.send(&Command::Watch { watch });
    }

    /// Its pid, for the record.
    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Has it write what it has and end. Rows that are missing afterwards are seen by the gate
    /// of absent evidence, so a failure here is not reported twice.
    pub(crate) fn stop(mut self) {
        self.send(&Command::Stop { stop: true });
        self.commands = None;
        if self.process.wait(STOP_BOUND).is_none() {
            let _ = self.process.stop(&Stop { signal: "TERM".to_owned(), grace_ns: 1_000_000_000 });
        }
    }

    fn send<T: serde::Serialize>(&mut self, message: &T) {
        let Some(commands) = &mut self.commands else { return };
        let Ok(mut line) = serde_json::to_vec(message) else { return };
        line.push(b'\n');
        if commands.write_all(&line).is_err() {
            self.commands = None;
        }
    }
}
