//! One thread's books. Each counter is incremented at its own event and nowhere else, so that
//! the accounting identity can fail when an event is lost.

use record::load::{FailureSample, WholeLife, Worker};

use crate::counts::Counts;
use crate::failure::{Failure, Failures, MOST_SAMPLES};
use crate::phases::Phase;
use crate::series::Series;

/// Status codes from 100 that are counted; a status line has three digits.
const STATUSES: usize = 900;

/// When things happened to one request, ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Open loop: when it was due. Closed: when its user began it.
    pub(crate) due_ns: u64,
    /// Before the first byte was written.
    pub(crate) sent_ns: u64,
}

/// The books of a thread.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) worker: Worker,
    pub(crate) unsent: u64,
    pub(crate) whole_life: WholeLife,
    pub(crate) succeeded_whole_life: u64,
    pub(crate) failed_whole_life: u64,
    /// Answers to requests of the window by status code less 100.
    statuses: Box<[u64; STATUSES]>,
    pub(crate) failures: Failures,
    pub(crate) samples: Vec<FailureSample>,
    pub(crate) service: Counts,
    pub(crate) unowned: Counts,
    pub(crate) failed_latency: Counts,
    pub(crate) lag: Counts,
    pub(crate) series: Series,
    pub(crate) sent_in_warmup: bool,
    records_lag: bool,
}

impl Recorder {
    pub(crate) fn new(records_lag: bool) -> Self {
        Self {
            worker: Worker::default(),
            unsent: 0,
            whole_life: WholeLife::default(),
            succeeded_whole_life: 0,
            failed_whole_life: 0,
            statuses: Box::new([0; STATUSES]),
            failures: Failures::default(),
            samples: Vec::new(),
            service: Counts::default(),
            unowned: Counts::default(),
            failed_latency: Counts::default(),
            lag: Counts::default(),
            series: Series::new(),
            sent_in_warmup: false,
            records_lag,
        }
    }

    /// A request became due.
    #[inline]
    pub(crate) fn due(&mut self, phase: Phase) {
        if phase == Phase::Window {
            self.worker.due += 1;
        }
    }

    /// A request was written in full.
    #[inline]
    pub(crate) fn written(&mut self, phase: Phase, times: Times) {
        self.whole_life.sent += 1;
        self.attempted(phase, times);
        self.sent_in_warmup |= phase == Phase::WarmUp;
    }

    /// A request left the queue: written, or failed while trying.
    #[inline]
    pub(crate) fn attempted(&mut self, phase: Phase, times: Times) {
        if phase == Phase::Window {
            self.worker.sent += 1;
            self.series.sent(times.due_ns);
            if self.records_lag {
                self.lag.record(times.sent_ns.saturating_sub(times.due_ns));
            }
        }
    }

    /// A complete answer was read, whatever it says.
    #[inline]
    pub(crate) fn answered(&mut self, phase: Option<Phase>, status: u16) {
        self.whole_life.answered += 1;
        if phase == Some(Phase::Window)
            && let Some(count) = self.statuses.get_mut(usize::from(status.wrapping_sub(100)))
        {
            *count += 1;
        }
    }

    /// Answers to requests of the window by status code.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = (u16, u64)> {
        (100..).zip(self.statuses.iter().copied()).filter(|(_, count)| *count > 0)
    }

    #[inline]
    pub(crate) fn succeeded(&mut self, phase: Phase, times: Times, end_ns: u64) {
        self.succeeded_whole_life += 1;
        if phase == Phase::Window {
            self.worker.succeeded += 1;
            self.service.record(end_ns.saturating_sub(times.sent_ns));
            self.series.succeeded(times.due_ns, end_ns.saturating_sub(times.due_ns));
        }
    }

    /// What of a success's wait the target did not account for.
    #[inline]
    pub(crate) fn unowned(&mut self, phase: Phase, unowned_ns: u64) {
        if phase == Phase::Window {
            self.unowned.record(unowned_ns);
        }
    }

    /// A request failed; `answered_ns` when a complete answer was read.
    #[cold]
    pub(crate) fn failed(
        &mut self,
        phase: Phase,
        times: Times,
        answered_ns: Option<u64>,
        failure: &Failure<'_>,
    ) {
        self.failed_whole_life += 1;
        if phase == Phase::Window {
            self.worker.failed += 1;
            self.failures.count(failure.kind);
            self.series.failed(times.due_ns);
            if let Some(end_ns) = answered_ns {
                self.failed_latency.record(end_ns.saturating_sub(times.due_ns));
            }
            if self.samples.len() < MOST_SAMPLES {
                self.samples.push(failure.sample());
            }
        }
    }

    /// Sent and still in flight at the end.
    pub(crate) fn unfinished(&mut self, phase: Phase) {
        if phase == Phase::Window {
            self.worker.unfinished += 1;
        }
    }

    /// Due and never sent.
    pub(crate) fn unsent(&mut self, phase: Phase) {
        if phase == Phase::Window {
            self.unsent += 1;
        }
    }
}
