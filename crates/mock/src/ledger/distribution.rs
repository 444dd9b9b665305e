//! A distribution of durations: a histogram whose extremes and mean are exact.

use hdrhistogram::Histogram;
use record::Summary;

/// Durations: percentiles from a histogram, extremes and mean exact, so that a sleep of the
/// asked length is not shown as a shorter one by the rounding of a bucket.
#[derive(Debug)]
pub(super) struct Distribution {
    histogram: Histogram<u64>,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
}

impl Default for Distribution {
    fn default() -> Self {
        Self { histogram: stats::histogram::new(), min_ns: u64::MAX, max_ns: 0, sum_ns: 0 }
    }
}

impl Distribution {
    pub(super) fn add(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.sum_ns += u128::from(ns);
    }

    pub(super) fn summarise(&self) -> Summary {
        let rounded = stats::histogram::summarise(&self.histogram);
        if rounded.count == 0 {
            return rounded;
        }
        let within = |p: Option<u64>| p.map(|ns| ns.clamp(self.min_ns, self.max_ns));
        Summary {
            count: rounded.count,
            min: Some(self.min_ns),
            mean: Some(self.sum_ns as f64 / rounded.count as f64),
            p50: within(rounded.p50),
            p90: within(rounded.p90),
            p95: within(rounded.p95),
            p99: within(rounded.p99),
            p999: within(rounded.p999),
            max: Some(self.max_ns),
        }
    }
    /// The histogram as a record keeps it.
    pub(super) fn encode(&self) -> String {
        stats::histogram::encode(&self.histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_and_mean_of_durations_are_exact() {
        let mut durations = Distribution::default();
        for ns in [2_000_001, 2_000_001, 2_000_001, 2_000_001, 2_000_001, 2_000_007] {
            durations.add(ns);
        }
        let summary = durations.summarise();
        assert_eq!((summary.min, summary.max), (Some(2_000_001), Some(2_000_007)));
        assert_eq!(summary.mean, Some(2_000_002.0));
        assert_eq!(summary.p50, Some(2_000_007), "a bucket's edge, within what was seen");
    }
}
