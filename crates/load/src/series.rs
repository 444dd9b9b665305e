//! The per-second series of a window. Requests are filed under the second in which they were
//! due, so that a window re-cut from the series equals a live cut.
//!
//! A request may end long after its second. A few seconds are kept open as flat histograms; the
//! least recently used one is set aside in sparse form and is taken back when a late request
//! still belongs to it.

use hdrhistogram::Histogram;
use record::load::Second;

use crate::counts::{Counts, add_sparse};

const NS_PER_SECOND: u64 = 1_000_000_000;
/// Seconds kept open by a thread. Requests normally end within the second after their own.
const OPEN_SECONDS: usize = 3;

/// Counters of one second.
#[derive(Debug, Clone, Copy, Default)]
struct SecondCounts {
    sent: u64,
    succeeded: u64,
    failed: u64,
}

#[derive(Debug, Default)]
struct Open {
    second: usize,
    last_use: u64,
    counts: Counts,
}

/// The series of one thread.
#[derive(Debug)]
pub(crate) struct Series {
    window_start_ns: u64,
    counters: Vec<SecondCounts>,
    /// Latency set aside by second.
    aside: Vec<Vec<(u32, u64)>>,
    open: Vec<Open>,
    /// Index into `open` of the second used last.
    current: usize,
    uses: u64,
}

impl Series {
    pub(crate) fn new() -> Self {
        Self {
            window_start_ns: 0,
            counters: Vec::new(),
            aside: Vec::new(),
            open: Vec::new(),
            current: 0,
            uses: 0,
        }
    }

    /// Tells when the window opened; before anything is filed.
    pub(crate) fn start(&mut self, window_start_ns: u64) {
        self.window_start_ns = window_start_ns;
    }

    #[inline]
    fn second_of(&mut self, due_ns: u64) -> usize {
        let second = (due_ns.saturating_sub(self.window_start_ns) / NS_PER_SECOND) as usize;
        if second >= self.counters.len() {
            self.counters.resize(second + 1, SecondCounts::default());
            self.aside.resize(second + 1, Vec::new());
        }
        second
    }

    #[inline]
    pub(crate) fn sent(&mut self, due_ns: u64) {
        let second = self.second_of(due_ns);
        self.counters[second].sent += 1;
    }

    #[inline]
    pub(crate) fn failed(&mut self, due_ns: u64) {
        let second = self.second_of(due_ns);
        self.counters[second].failed += 1;
    }

    #[inline]
    pub(crate) fn succeeded(&mut self, due_ns: u64, latency_ns: u64) {
        let second = self.second_of(due_ns);
        self.counters[second].succeeded += 1;
        if self.open.get(self.current).is_none_or(|open| open.second != second) {
            self.current = self.bring(second);
        }
        self.open[self.current].counts.record(latency_ns);
    }

    /// Opens a second, setting the least recently used one aside.
    fn bring(&mut self, second: usize) -> usize {
        self.uses += 1;
        let slot = if let Some(slot) = self.open.iter().position(|open| open.second == second) {
            slot
        } else if self.open.len() < OPEN_SECONDS {
            self.open.push(Open { second, ..Open::default() });
            self.open.len() - 1
        } else {
            let slot = (0..self.open.len())
                .min_by_key(|slot| self.open[*slot].last_use)
                .expect("some seconds are open");
            let open = &mut self.open[slot];
            self.aside[open.second] = open.counts.drain();
            open.second = second;
            slot
        };
        let open = &mut self.open[slot];
        open.last_use = self.uses;
        let aside = std::mem::take(&mut self.aside[second]);
        open.counts.restore(&aside);
        slot
    }

    fn close(&mut self) {
        for open in &mut self.open {
            self.aside[open.second] = open.counts.drain();
        }
        self.open.clear();
    }
}

/// Adds the threads' series up: one entry per second of the window, empty ones included, and
/// the latency of the whole window.
pub(crate) fn merge(threads: &mut [Series], window_ns: u64) -> (Vec<Second>, Histogram<u64>) {
    for series in threads.iter_mut() {
        series.close();
    }
    let longest = threads.iter().map(|series| series.counters.len()).max().unwrap_or(0);
    let seconds = longest.max(window_ns.div_ceil(NS_PER_SECOND) as usize);
    let mut total = stats::histogram::new();
    let mut one = stats::histogram::new();
    let merged = (0..seconds)
        .map(|second| {
            let mut entry = Second { second: second as u64, ..Second::default() };
            one.reset();
            for series in threads.iter() {
                let Some(counters) = series.counters.get(second) else { continue };
                entry.sent += counters.sent;
                entry.succeeded += counters.succeeded;
                entry.failed += counters.failed;
                add_sparse(&series.aside[second], &mut one);
            }
            total.add(&one).expect("one shape of histogram");
            entry.latency = stats::histogram::encode(&one);
            entry
        })
        .collect();
    (merged, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_requests_go_to_their_own_second() {
        let mut series = Series::new();
        series.start(1_000);
        let at = |second: u64| 1_000 + second * NS_PER_SECOND + 5;
        // Ten seconds in order, then one straggler for each: more than are kept open.
        for second in (0..10).chain(0..10) {
            series.sent(at(second));
            series.succeeded(at(second), 1_000 * (second + 1));
        }
        series.sent(at(3));
        series.failed(at(3));
        let (seconds, total) = merge(&mut [series], 10 * NS_PER_SECOND);
        assert_eq!(seconds.len(), 10);
        assert_eq!(total.len(), 20);
        for (index, second) in seconds.iter().enumerate() {
            let index = index as u64;
            let failed = u64::from(index == 3);
            assert_eq!((second.sent, second.succeeded, second.failed), (2 + failed, 2, failed));
            let histogram = stats::histogram::decode(&second.latency).unwrap();
            assert_eq!(histogram.len(), 2);
            assert_eq!(histogram.min(), 1_000 * (index + 1));
        }
    }

    #[test]
    fn threads_add_up_and_empty_seconds_stay() {
        let mut threads = [Series::new(), Series::new()];
        for series in &mut threads {
            series.start(0);
            series.sent(NS_PER_SECOND * 2);
            series.succeeded(NS_PER_SECOND * 2, 500);
        }
        let (seconds, total) = merge(&mut threads, NS_PER_SECOND * 3);
        assert_eq!(seconds.iter().map(|s| s.succeeded).collect::<Vec<_>>(), [0, 0, 2]);
        assert_eq!(total.len(), 2);
    }
}
