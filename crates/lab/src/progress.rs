//! What a matrix tells while it runs. Showing it is the caller's.

use std::time::Duration;

use record::Validity;

/// Something happened.
#[derive(Debug, Clone)]
pub enum Step<'a> {
    /// A target instance comes up.
    BringUp {
        /// The target.
        target: &'a str,
    },
    /// A run begins.
    Run {
        /// Its directory name.
        run: &'a str,
        /// Its place among the runs still to make, from 1.
        number: usize,
        /// Runs to make.
        of: usize,
        /// Block of the plan and blocks in all.
        block: (u32, u32),
        /// Cell name.
        cell: &'a str,
        /// Since the matrix began.
        elapsed: Duration,
        /// Estimate of what is left, when windows are durations.
        remaining: Option<Duration>,
    },
    /// About once a second while the load runs.
    Live {
        /// Answers per second.
        rate_per_s: f64,
        /// Failures so far.
        failed: u64,
    },
    /// A run was digested.
    Digested {
        /// Its directory name.
        run: &'a str,
        /// What may be believed of it.
        validity: &'a Validity,
    },
    /// A gap between two runs.
    Gap {
        /// Its length.
        length: Duration,
    },
    /// Something to know that is not an error.
    Note {
        /// A sentence.
        text: String,
    },
}

/// Who shows it.
pub trait Progress {
    /// Called from the thread that makes the runs; must not block for long.
    fn step(&mut self, step: Step<'_>);
}
