//! The arrival law as the mock sees it: the times between successive requests read.

use record::mock::Arrivals;

use super::distribution::Distribution;

/// Mean and variance by Welford's recurrence, which does not cancel, and a histogram.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    last_ns: Option<u64>,
    count: u64,
    mean_ns: f64,
    /// Sum of the squared distances from the mean so far, ns².
    squares_ns2: f64,
    histogram: Distribution,
}

impl Gaps {
    /// A request was read at `now_ns`, not before the one before it.
    pub(super) fn arrived(&mut self, now_ns: u64) {
        let Some(last_ns) = self.last_ns.replace(now_ns) else { return };
        let gap_ns = now_ns.saturating_sub(last_ns);
        self.histogram.add(gap_ns);
        self.count += 1;
        let from_old_ns = gap_ns as f64 - self.mean_ns;
        self.mean_ns += from_old_ns / self.count as f64;
        self.squares_ns2 += from_old_ns * (gap_ns as f64 - self.mean_ns);
    }

    pub(super) fn summarise(&self) -> Arrivals {
        Arrivals {
            count: self.count,
            mean_ns: self.mean_ns,
            variance_ns2: match self.count {
                0 | 1 => 0.0,
                count => self.squares_ns2 / (count - 1) as f64,
            },
        }
    }

    /// The histogram as a record keeps it.
    pub(super) fn encode(&self) -> String {
        self.histogram.encode()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(instants_ns: &[u64]) -> Gaps {
        let mut gaps = Gaps::default();
        for instant_ns in instants_ns {
            gaps.arrived(*instant_ns);
        }
        gaps
    }

    #[test]
    fn mean_and_variance_are_those_of_the_gaps() {
        // Gaps of 10, 20 and 60.
        let gaps = of(&[1_000, 1_010, 1_030, 1_090]);
        let seen = gaps.summarise();
        assert_eq!((seen.count, seen.mean_ns), (3, 30.0));
        assert!((seen.variance_ns2 - 700.0).abs() < 1e-9, "{}", seen.variance_ns2);
        let histogram = stats::histogram::decode(&gaps.encode()).expect("as written");
        assert_eq!((histogram.len(), histogram.min(), histogram.max()), (3, 10, 60));
    }

    #[test]
    fn a_constant_rate_has_no_variance_and_few_requests_no_gap() {
        let steady: Vec<u64> = (0..1_000).map(|n| 7_000_000_000 + n * 1_000_000).collect();
        let seen = of(&steady).summarise();
        assert_eq!((seen.count, seen.mean_ns, seen.variance_ns2), (999, 1e6, 0.0));
        assert_eq!(of(&[]).summarise(), Arrivals::default());
        assert_eq!(of(&[5]).summarise(), Arrivals::default());
        assert_eq!(of(&[5, 9]).summarise(), Arrivals { count: 1, mean_ns: 4.0, variance_ns2: 0.0 });
    }
}
