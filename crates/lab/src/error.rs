//! Why a matrix was not started, or could not go on.

use std::io;
use std::path::PathBuf;

use record::layout::ReadError;
use record::units::HumanBytes;
use target::{BringUpError, TargetError};

/// A matrix that was refused or that failed.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The label directory exists and resuming was not asked for.
    #[error("label `{label}` exists in `{}`; give another `--label`, or `--resume` to complete it", .out.display())]
    LabelExists {
        /// The label.
        label: String,
        /// Output directory.
        out: PathBuf,
    },
    /// A foreign generator could not be started.
    #[error("generator `{name}`: {why}")]
    Generator {
        /// Its name in the bench.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// The program of a foreign generator is not there.
    #[error(
        "generator `{generator}`: no program `{program}`; install it, or name its folder in `PATH`"
    )]
    NoProgram {
        /// The generator's name in the bench.
        generator: String,
        /// The program, as it is looked for.
        program: String,
    },
    /// A step before left no evidence, or it was changed.
    #[error(
        "label `{label}` was made under a calibration and {why}; put it back, or make a new label"
    )]
    LostCalibration {
        /// The label.
        label: String,
        /// What became of the file.
        why: String,
    },
    /// Resuming was asked for and there is nothing to resume.
    #[error("no label `{label}` in `{}` to resume", .out.display())]
    NothingToResume {
        /// The label.
        label: String,
        /// Output directory.
        out: PathBuf,
    },
    /// Extending was asked for and there is nothing to extend.
    #[error("no label `{label}` in `{}` to extend", .out.display())]
    NothingToExtend {
        /// The label.
        label: String,
        /// Output directory.
        out: PathBuf,
    },
    /// Runs of the label are still to be made.
    #[error(
        "label `{label}` is not complete: {left} runs are left; `--resume` makes them, then extend it"
    )]
    Incomplete {
        /// The label.
        label: String,
        /// Measured runs.
        left: usize,
    },
    /// No run that is made now could be paired with those of the label.
    #[error(
        "label `{label}` was made elsewhere: `{what}` was {before} and is {now}; make a new label"
    )]
    OtherPlace {
        /// The label.
        label: String,
        /// The fact: `assay`, `host.kernel`.
        what: String,
        /// What it was.
        before: String,
        /// What it is.
        now: String,
    },
    /// The label was made from another plan.
    #[error(
        "label `{label}` was made from another plan: `{differs}` differs; resume or extend it with the bench and options it was made with"
    )]
    OtherPlan {
        /// The label.
        label: String,
        /// The first part of the plan that differs.
        differs: String,
    },
    /// Another process works on the label.
    #[error("label `{label}` is being run by pid {pid}; wait for it or stop it")]
    Busy {
        /// The label.
        label: String,
        /// The process that holds the lock.
        pid: String,
    },
    /// Not enough room for what the plan estimates.
    #[error("the plan needs about {} and `{path}` has {} left; free some or choose another `--out`", HumanBytes(*.needed_bytes as f64), HumanBytes(*.free_bytes as f64))]
    TooLittleDisk {
        /// Directory.
        path: String,
        /// Estimated need, bytes.
        needed_bytes: u64,
        /// Free space, bytes.
        free_bytes: u64,
    },
    /// A precondition of a target does not hold; nothing was started.
    #[error(transparent)]
    Refused(BringUpError),
    /// The file system failed.
    #[error("cannot write `{path}`: {source}")]
    Write {
        /// What was being written.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// An artefact of the label could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A child of our own could not be started.
    #[error("cannot start the {role}: {source}")]
    Child {
        /// `generator` or `observer`.
        role: &'static str,
        /// Why.
        source: TargetError,
    },
    /// The digest could not be derived.
    #[error("cannot digest `{run}`: {why}")]
    Digest {
        /// The run.
        run: String,
        /// Why.
        why: String,
    },
}

impl LabError {
    /// Whether a precondition did not hold and nothing was started (exit 5), as opposed to a
    /// failure of the tool or the system beneath it (exit 1).
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::LabelExists { .. }
                | Self::NothingToResume { .. }
                | Self::NothingToExtend { .. }
                | Self::Incomplete { .. }
                | Self::OtherPlace { .. }
                | Self::OtherPlan { .. }
                | Self::LostCalibration { .. }
                | Self::Busy { .. }
                | Self::TooLittleDisk { .. }
                | Self::NoProgram { .. }
                | Self::Refused(_)
        )
    }

    pub(crate) fn write(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::Write { path, source }
    }
}
