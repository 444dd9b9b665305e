//! The exit statuses and the error that carries one.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// The documented exit statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done, everything valid.
    Done = 0,
    /// assay or the system beneath it failed.
    Failed = 1,
    /// The command line, a bench file or an input is wrong; nothing was started.
    Wrong = 2,
    /// Done, but something is void, partial or incomplete.
    Doubtful = 3,
    /// Refused to start: a precondition does not hold.
    Refused = 5,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// Why a verb ended early, with the status to end with.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    /// What failed, in sentences.
    pub(crate) message: String,
    closed_pipe: bool,
}

impl Failure {
    pub(crate) fn new(status: Status, error: impl fmt::Display) -> Self {
        Self { status, message: error.to_string(), closed_pipe: false }
    }

    pub(crate) fn failed(error: impl fmt::Display) -> Self {
        Self::new(Status::Failed, error)
    }

    pub(crate) fn wrong(error: impl fmt::Display) -> Self {
        Self::new(Status::Wrong, error)
    }

    pub(crate) fn refused(error: impl fmt::Display) -> Self {
        Self::new(Status::Refused, error)
    }

    /// Whether standard output was closed by its reader.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self { status: Status::Failed, message: error.to_string(), closed_pipe }
    }
}

/// What a verb returns.
pub(crate) type Outcome = Result<Status, Failure>;
