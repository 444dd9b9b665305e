//! What a server of limited capacity makes of a request: how long it queues and how long it is
//! worked on. A pure model, first come, first served; every instant is known when a request is read.
//!
//! A request waits for a free worker, then, still holding it, for the serialised section, which one
//! request at a time holds for its time; then it sleeps and leaves the worker free. A peer that leaves
//! does not free its worker: a server works on for nobody, too.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use record::mock::{Dip, MockConfig};

/// The workers, the section and the queue. Instants are ns after start.
#[derive(Debug, Clone)]
pub struct Capacity {
    /// When each worker is free again; empty without a limit.
    free_ns: BinaryHeap<Reverse<u64>>,
    section_ns: u64,
    section_free_ns: u64,
    queue: Option<usize>,
    /// When each waiting request will start, in order; kept where a queue has a bound.
    starts_ns: VecDeque<u64>,
    dip: Option<Dip>,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It waits, then is worked on.
    Works {
        /// In the queue, ns.
        queued_ns: u64,
        /// In the section and asleep, ns.
        work_ns: u64,
    },
    /// The queue is full.
    Overloaded,
}

impl Capacity {
    /// All workers free, nobody waiting.
    #[must_use]
    pub fn new(config: &MockConfig) -> Self {
        let workers = config.workers.unwrap_or(0) as usize;
        Self {
            free_ns: std::iter::repeat_n(Reverse(0), workers).collect(),
            section_ns: config.serialise_ns,
            section_free_ns: 0,
            queue: config.queue.map(|queue| queue as usize),
            starts_ns: VecDeque::new(),
            dip: config.dip,
        }
    }

    /// Whether every request is worked on at once and for as long as it sleeps.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.free_ns.is_empty() && self.section_ns == 0 && self.dip.is_none()
    }

    /// Takes in a request read at `now_ns` that will sleep for `sleep_ns`.
    pub(crate) fn admit(&mut self, now_ns: u64, sleep_ns: u64) -> Admission {
        if self.is_unlimited() {
            return Admission::Works { queued_ns: 0, work_ns: sleep_ns };
        }
        if let Some(most) = self.queue {
            while self.starts_ns.front().is_some_and(|start_ns| *start_ns <= now_ns) {
                self.starts_ns.pop_front();
            }
            // A queue of 0 takes nobody who would have to wait.
            if self.starts_ns.len() >= most && self.start_ns(now_ns) > now_ns {
                return Admission::Overloaded;
            }
        }
        let start_ns = self.start_ns(now_ns);
        let factor = match self.dip {
            Some(Dip { from_ns, to_ns, factor }) if (from_ns..to_ns).contains(&start_ns) => factor,
            _ => 1.0,
        };
        let section_ns = slower(self.section_ns, factor);
        let work_ns = section_ns.saturating_add(slower(sleep_ns, factor));
        let done_ns = start_ns.saturating_add(work_ns);
        if self.section_ns > 0 {
            self.section_free_ns = start_ns.saturating_add(section_ns);
        }
        if self.free_ns.pop().is_some() {
            self.free_ns.push(Reverse(done_ns));
        }
        if self.queue.is_some() && start_ns > now_ns {
            self.starts_ns.push_back(start_ns);
        }
        Admission::Works { queued_ns: start_ns - now_ns, work_ns }
    }

    /// When a request read at `now_ns` would start.
    fn start_ns(&self, now_ns: u64) -> u64 {
        let worker_ns = self.free_ns.peek().map_or(0, |Reverse(free_ns)| *free_ns);
        let section_ns = if self.section_ns > 0 { self.section_free_ns } else { 0 };
        now_ns.max(worker_ns).max(section_ns)
    }
}

/// Exact without a factor, so that times are those asked for to the nanosecond.
fn slower(ns: u64, factor: f64) -> u64 {
    if factor == 1.0 { ns } else { (ns as f64 / factor).round() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn capacity(settings: &[(&str, &str)]) -> Capacity {
        let mut config = MockConfig::default();
        for (key, text) in settings {
            config.set(key, text).expect("valid");
        }
        Capacity::new(&config)
    }

    /// Queued and worked, in ms, for requests that all come at `now_ms` and sleep 10 ms.
    fn at(capacity: &mut Capacity, now_ms: u64) -> (u64, u64) {
        match capacity.admit(now_ms * MS, 10 * MS) {
            Admission::Works { queued_ns, work_ns } => (queued_ns / MS, work_ns / MS),
            Admission::Overloaded => (999, 999),
        }
    }

    #[test]
    fn without_limits_nobody_waits() {
        let mut free = capacity(&[]);
        assert!(free.is_unlimited());
        assert!((0..100).all(|_| at(&mut free, 5) == (0, 10)));
    }

    #[test]
    fn two_workers_do_two_at_a_time() {
        let mut two = capacity(&[("workers", "2")]);
        let seen: Vec<_> = (0..5).map(|_| at(&mut two, 0).0).collect();
        assert_eq!(seen, [0, 0, 10, 10, 20]);
        // All are done by 30 ms.
        assert_eq!(at(&mut two, 25), (0, 10));
        assert_eq!(at(&mut two, 100), (0, 10));
    }

    #[test]
    fn a_section_is_held_by_one_and_the_sleep_by_all() {
        let mut section = capacity(&[("serialise", "22ms")]);
        assert_eq!(
            (0..3).map(|_| at(&mut section, 0)).collect::<Vec<_>>(),
            [(0, 32), (22, 32), (44, 32)]
        );
        assert_eq!(at(&mut section, 70), (0, 32));
    }

    #[test]
    fn a_worker_is_held_while_it_waits_for_the_section() {
        let mut both = capacity(&[("serialise", "22ms"), ("workers", "1")]);
        assert_eq!((at(&mut both, 0).0, at(&mut both, 0).0), (0, 32));
    }

    #[test]
    fn a_full_queue_refuses_and_takes_again() {
        let mut short = capacity(&[("workers", "1"), ("queue", "2")]);
        let seen: Vec<_> = (0..5).map(|_| at(&mut short, 0).0).collect();
        assert_eq!(seen, [0, 10, 20, 999, 999]);
        // At 10 ms the first of the two has started.
        assert_eq!(at(&mut short, 10).0, 20);
        let mut none = capacity(&[("workers", "1"), ("queue", "0")]);
        assert_eq!((at(&mut none, 0).0, at(&mut none, 1).0, at(&mut none, 10).0), (0, 999, 0));
    }

    #[test]
    fn a_dip_is_a_dip() {
        let mut dip = capacity(&[("workers", "1"), ("dip", "1s..2s:0.25x")]);
        assert_eq!(at(&mut dip, 0), (0, 10));
        assert_eq!(at(&mut dip, 1_000), (0, 40));
        assert_eq!(at(&mut dip, 1_000), (40, 40));
        // Queued inside, started outside.
        assert_eq!(at(&mut dip, 1_990), (0, 40));
        assert_eq!(at(&mut dip, 1_995), (35, 10));
        assert_eq!(at(&mut dip, 3_000), (0, 10));
    }

    proptest::proptest! {
        #[test]
        fn never_more_than_the_workers_are_at_work(
            workers in 1_u32..6,
            arrivals in proptest::collection::vec((0..50 * MS, 0..20 * MS), 1..100),
        ) {
            let mut capacity = capacity(&[("workers", &workers.to_string())]);
            let (mut now_ns, mut last_ns) = (0, 0);
            let mut spans = Vec::new();
            for (gap_ns, sleep_ns) in arrivals {
                now_ns += gap_ns / 10;
                let Admission::Works { queued_ns, work_ns } = capacity.admit(now_ns, sleep_ns) else {
                    panic!("no queue has a bound")
                };
                let start_ns = now_ns + queued_ns;
                proptest::prop_assert!(start_ns >= last_ns, "first come, first served");
                last_ns = start_ns;
                spans.push((start_ns, start_ns + work_ns));
            }
            for (start_ns, _) in &spans {
                let at_work = spans.iter().filter(|(from, to)| from <= start_ns && start_ns < to).count();
                proptest::prop_assert!(at_work <= workers as usize);
            }
        }
    }
}
