//! The user's wish to stop, as a value that a signal handler or a test sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Two wishes: stop after the current run, or stop at once.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    after_run: Arc<AtomicBool>,
    at_once: Arc<AtomicBool>,
}

impl Interrupt {
    /// Stop when the current run is digested.
    pub fn after_run(&self) {
        self.after_run.store(true, Ordering::SeqCst);
    }

    /// Stop now; the current run stays incomplete.
    pub fn at_once(&self) {
        self.at_once.store(true, Ordering::SeqCst);
    }

    /// Whether no further run may start.
    #[must_use]
    pub fn wants_stop(&self) -> bool {
        self.after_run.load(Ordering::SeqCst) || self.wants_abort()
    }

    /// Whether the current run must end now.
    #[must_use]
    pub fn wants_abort(&self) -> bool {
        self.at_once.load(Ordering::SeqCst)
    }
}
