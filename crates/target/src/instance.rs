//! A target that is up.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use record::layout;
use record::mock::MockRecord;
use record::plan::Stop;

use crate::exit::Exit;
use crate::guarded::{Guarded, TargetError};

/// How long a mock may take to write its record when it is asked to.
pub const FLUSH_BOUND: Duration = Duration::from_secs(5);

/// A mock did not hand out its record.
#[derive(Debug, thiserror::Error)]
pub enum FlushError {
    /// The target is no mock.
    #[error("the target is no mock and keeps no record")]
    NoMock,
    /// The mock is gone.
    #[error("the mock ended before it wrote its record: {0}")]
    Gone(Exit),
    /// The signal could not be sent.
    #[error(transparent)]
    Signal(#[from] TargetError),
    /// The old record could not be removed.
    #[error("cannot remove the old record `{path}`: {source}")]
    Remove {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// No record appeared.
    #[error("the mock wrote no record to `{path}` within {within_ms} ms of SIGUSR1")]
    Late {
        /// The file.
        path: String,
        /// The bound, ms.
        within_ms: u128,
    },
    /// The record cannot be read.
    #[error(transparent)]
    Read(#[from] layout::ReadError),
}

/// What an instance is made of.
pub(crate) struct Parts {
    pub(crate) address: String,
    pub(crate) version: Option<String>,
    pub(crate) child: Option<Guarded>,
    pub(crate) stop: Stop,
    pub(crate) mock_record: Option<PathBuf>,
}

/// A target that is up and ready. Dropping it ends its process tree, if it has one.
#[derive(Debug)]
pub struct Instance {
    address: String,
    version: Option<String>,
    child: Option<Guarded>,
    stop: Stop,
    mock_record: Option<PathBuf>,
}

impl Instance {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { address, version, child, stop, mock_record } = parts;
        Self { address, version, child, stop, mock_record }
    }

    /// `host:port` to send requests to; empty for a target that has none.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The first line that its version command printed.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The process that was started; `None` for a target that ran already.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Guarded::pid)
    }

    /// Its start in clock ticks since boot.
    #[must_use]
    pub fn start_ticks(&self) -> Option<u64> {
        self.child.as_ref().map(Guarded::start_ticks)
    }

    /// Its guardian; the tree below that is the target.
    #[must_use]
    pub fn guardian_pid(&self) -> Option<u32> {
        self.child.as_ref().map(Guarded::guardian_pid)
    }

    /// How it ended, if it has. Always `None` for a target that ran already.
    pub fn exited(&mut self) -> Option<Exit> {
        self.child.as_mut().and_then(Guarded::exited)
    }

    /// Stops it by the plan's signal and grace and waits for the end of its tree. `None` for a
    /// target that ran already: it is left alone.
    ///
    /// # Errors
    /// An unknown signal; processes that outlive SIGKILL.
    pub fn stop(&mut self) -> Result<Option<Exit>, TargetError> {
        self.child.as_mut().map(|child| child.stop(&self.stop)).transpose()
    }

    /// The file of a mock's record. A mock writes it when it is stopped, too.
    #[must_use]
    pub fn mock_record_path(&self) -> Option<&Path> {
        self.mock_record.as_deref()
    }

    /// Has a mock write what it saw since the previous flush, and reads it.
    ///
    /// The mock replaces the file by renaming, so one that exists is whole.
    ///
    /// # Errors
    /// A target that is no mock, a mock that is gone or silent for `timeout`, a record that
    /// cannot be read.
    pub fn flush_mock(&mut self, timeout: Duration) -> Result<MockRecord, FlushError> {
        let (Some(path), Some(child)) = (&self.mock_record, &mut self.child) else {
            return Err(FlushError::NoMock);
        };
        if let Some(exit) = child.exited() {
            return Err(FlushError::Gone(exit));
        }
        match fs::remove_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(FlushError::Remove { path: path.display().to_string(), source });
            }
            _ => {}
        }
        child.signal("USR1")?;
        let deadline = Instant::now() + timeout;
        let mut pause = Duration::from_millis(1);
        while !path.exists() {
            if let Some(exit) = child.wait(pause) {
                return Err(FlushError::Gone(exit));
            }
            if Instant::now() >= deadline {
                let within_ms = timeout.as_millis();
                return Err(FlushError::Late { path: path.display().to_string(), within_ms });
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        Ok(layout::read_json(path)?)
    }
}
