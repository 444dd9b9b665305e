//! Warm-up, window and cool-down: which phase a request belongs to, and when the edges are.
//!
//! A window given as a duration has edges that are known when the load starts. One given as a
//! count is closed-loop only (an open loop's counts are turned into durations by its schedule):
//! requests are numbered as they start, across threads.

use std::sync::atomic::{AtomicU64, Ordering};

use record::plan::Extent;

/// Not yet known.
const UNKNOWN: u64 = u64::MAX;

/// Where a request belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    WarmUp,
    Window,
}

/// The edges, shared by all threads.
#[derive(Debug)]
pub(crate) struct Phases {
    window_start_ns: AtomicU64,
    window_end_ns: AtomicU64,
    warmup_count: Option<u64>,
    measure: Extent,
    cooldown_ns: u64,
    /// Requests of a counted warm-up that have started.
    warmed: AtomicU64,
    /// Requests of a counted window that have started.
    started: AtomicU64,
    /// Requests of a counted window that have ended.
    ended: AtomicU64,
}

impl Phases {
    pub(crate) fn new(start_ns: u64, warmup: Extent, measure: Extent, cooldown_ns: u64) -> Self {
        let (warmup_count, window_start) = match warmup {
            Extent::Ns(ns) => (None, start_ns.saturating_add(ns)),
            Extent::Count(0) => (None, start_ns),
            Extent::Count(count) => (Some(count), UNKNOWN),
        };
        let window_end = match measure {
            Extent::Ns(ns) if window_start != UNKNOWN => window_start.saturating_add(ns),
            _ => UNKNOWN,
        };
        Self {
            window_start_ns: AtomicU64::new(window_start),
            window_end_ns: AtomicU64::new(window_end),
            warmup_count,
            measure,
            cooldown_ns,
            warmed: AtomicU64::new(0),
            started: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        }
    }

    pub(crate) fn window_start_ns(&self) -> Option<u64> {
        known(self.window_start_ns.load(Ordering::Acquire))
    }

    pub(crate) fn window_end_ns(&self) -> Option<u64> {
        known(self.window_end_ns.load(Ordering::Acquire))
    }

    /// After this instant what is in flight stays unfinished.
    pub(crate) fn hard_end_ns(&self) -> Option<u64> {
        self.window_end_ns().map(|end| end.saturating_add(self.cooldown_ns))
    }

    /// The phase of a request that a user wants to start now; `None` when no more are started.
    #[inline]
    pub(crate) fn admit(&self, now_ns: u64) -> Option<Phase> {
        let start = self.window_start_ns.load(Ordering::Relaxed);
        if let (None, Extent::Ns(_)) = (self.warmup_count, self.measure) {
            let end = self.window_end_ns.load(Ordering::Relaxed);
            return (now_ns < end).then_some(if now_ns < start {
                Phase::WarmUp
            } else {
                Phase::Window
            });
        }
        self.admit_counted(now_ns, start)
    }

    fn admit_counted(&self, now_ns: u64, start_ns: u64) -> Option<Phase> {
        if let Some(count) = self.warmup_count
            && start_ns == UNKNOWN
        {
            if self.warmed.fetch_add(1, Ordering::AcqRel) < count {
                return Some(Phase::WarmUp);
            }
            // The first request past the warm-up opens the window; late ones meet it open.
            if self
                .window_start_ns
                .compare_exchange(UNKNOWN, now_ns, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
                && let Extent::Ns(ns) = self.measure
            {
                self.window_end_ns.store(now_ns.saturating_add(ns), Ordering::Release);
            }
        } else if self.warmup_count.is_none() && now_ns < start_ns {
            // A counted warm-up is over when its count is: a thread whose clock was read before the
            // other's that opened the window would warm up once too often.
            return Some(Phase::WarmUp);
        }
        match self.measure {
            Extent::Ns(_) => {
                (now_ns < self.window_end_ns.load(Ordering::Acquire)).then_some(Phase::Window)
            }
            Extent::Count(count) => {
                // Compare before adding, so that refused users do not run the number up.
                self.started
                    .fetch_update(Ordering::AcqRel, Ordering::Acquire, |started| {
                        (started < count).then_some(started + 1)
                    })
                    .is_ok()
                    .then_some(Phase::Window)
            }
        }
    }

    /// A request of the window ended; the last of a counted window closes it.
    #[inline]
    pub(crate) fn window_request_ended(&self, now_ns: u64) {
        if let Extent::Count(count) = self.measure
            && self.ended.fetch_add(1, Ordering::AcqRel) + 1 == count
        {
            self.window_end_ns.store(now_ns, Ordering::Release);
        }
    }

    /// Closes everything at `now_ns`: the run was told to stop.
    pub(crate) fn stop(&self, now_ns: u64) {
        self.window_start_ns.fetch_min(now_ns, Ordering::AcqRel);
        self.window_end_ns.fetch_min(now_ns, Ordering::AcqRel);
    }
}

fn known(ns: u64) -> Option<u64> {
    (ns != UNKNOWN).then_some(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_durations() {
        let phases = Phases::new(100, Extent::Ns(10), Extent::Ns(20), 5);
        assert_eq!(phases.window_start_ns(), Some(110));
        assert_eq!(phases.hard_end_ns(), Some(135));
        for (now, phase) in [
            (100, Some(Phase::WarmUp)),
            (109, Some(Phase::WarmUp)),
            (110, Some(Phase::Window)),
            (129, Some(Phase::Window)),
            (130, None),
        ] {
            assert_eq!(phases.admit(now), phase, "at {now}");
        }
    }

    #[test]
    fn by_counts() {
        let phases = Phases::new(0, Extent::Count(2), Extent::Count(3), 5);
        let admitted: Vec<_> = (10..20).map(|now| phases.admit(now)).collect();
        assert_eq!(&admitted[..2], &[Some(Phase::WarmUp); 2]);
        assert_eq!(&admitted[2..5], &[Some(Phase::Window); 3]);
        assert_eq!(&admitted[5..], &[None; 5]);
        assert_eq!(phases.window_start_ns(), Some(12));
        assert_eq!(phases.window_end_ns(), None);
        for now in [30, 31, 32] {
            phases.window_request_ended(now);
        }
        assert_eq!(phases.window_end_ns(), Some(32));
    }

    #[test]
    fn counted_warmup_then_duration() {
        let phases = Phases::new(0, Extent::Count(1), Extent::Ns(10), 0);
        assert_eq!(phases.admit(5), Some(Phase::WarmUp));
        assert_eq!(phases.admit(7), Some(Phase::Window));
        assert_eq!(phases.window_end_ns(), Some(17));
        assert_eq!(phases.admit(17), None);
    }

    /// The instant of a thread may be older than that at which another opened the window.
    #[test]
    fn a_clock_that_was_read_earlier_adds_no_warm_up() {
        let phases = Phases::new(0, Extent::Count(1), Extent::Count(2), 0);
        assert_eq!(phases.admit(5), Some(Phase::WarmUp));
        assert_eq!(phases.admit(9), Some(Phase::Window));
        assert_eq!(phases.admit(8), Some(Phase::Window));
        assert_eq!(phases.admit(10), None);
    }

    #[test]
    fn counts_are_exact_across_threads() {
        let phases = Phases::new(0, Extent::Count(100), Extent::Count(1_000), 0);
        let (warm, window) = std::thread::scope(|scope| {
            let tasks: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let (mut warm, mut window) = (0, 0);
                        while let Some(phase) = phases.admit(1) {
                            match phase {
                                Phase::WarmUp => warm += 1,
                                Phase::Window => window += 1,
                            }
                        }
                        (warm, window)
                    })
                })
                .collect();
            tasks
                .into_iter()
                .map(|task| task.join().unwrap())
                .fold((0, 0), |total, one| (total.0 + one.0, total.1 + one.1))
        });
        assert_eq!(warm, 100);
        assert_eq!(window, 1_000);
    }
}
