//! `assay status --json`: how the runs of a label stand.

use serde::{Deserialize, Serialize};

use crate::Format;

/// The ways a run can stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Its digest is there.
    Finished,
    /// Its parent lives and its directory changes.
    Running,
    /// Its parent lives but nothing happens.
    Hung,
    /// Its parent is gone and left no digest.
    Died,
    /// Planned, without a directory.
    NotStarted,
}

impl RunState {
    /// The word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Running => "running",
            Self::Hung => "hung",
            Self::Died => "died",
            Self::NotStarted => "not started",
        }
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStatus {
    /// Name of its directory.
    pub run: String,
    /// Its state.
    pub state: RunState,
    /// Why, in a few words; empty when there is nothing to add.
    pub detail: String,
}

/// A label, or a single run directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// `assay.status`.
    pub format: Format,
    /// The label's or run's name.
    pub name: String,
    /// The state as a whole: hung, else running, when something lives; else finished when
    /// every run is, not started when none was, else died.
    pub state: RunState,
    /// Directories of runs, and planned runs without one.
    pub runs: Vec<RunStatus>,
}
