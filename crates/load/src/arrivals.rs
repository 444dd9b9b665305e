//! When requests are due: a pure function of the index, so that a queue of due requests is two
//! numbers and never grows.

/// Arrivals at a constant rate, index 0 at offset 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConstantRate {
    period_ns: f64,
}

impl ConstantRate {
    /// Arrivals at `per_s` per second; `None` unless the rate is positive, finite and at most
    /// one per nanosecond.
    #[must_use]
    pub fn new(per_s: f64) -> Option<Self> {
        (per_s.is_finite() && per_s > 0.0 && per_s <= 1e9).then(|| Self { period_ns: 1e9 / per_s })
    }

    /// Offset of arrival `index` from the start, ns, rounded down.
    #[inline]
    #[must_use]
    pub fn due_ns(&self, index: u64) -> u64 {
        (index as f64 * self.period_ns) as u64
    }

    /// Arrivals whose offset is below `offset_ns`.
    #[must_use]
    pub fn count_before(&self, offset_ns: u64) -> u64 {
        let mut count = (offset_ns as f64 / self.period_ns).ceil() as u64;
        // The estimate may be one off either way by rounding.
        while count > 0 && self.due_ns(count - 1) >= offset_ns {
            count -= 1;
        }
        while self.due_ns(count) < offset_ns {
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn table() {
        let rate = ConstantRate::new(1000.0).unwrap();
        for (index, due) in [(0, 0), (1, 1_000_000), (3, 3_000_000), (1_000, 1_000_000_000)] {
            assert_eq!(rate.due_ns(index), due);
        }
        for (offset, count) in
            [(0, 0), (1, 1), (1_000_000, 1), (1_000_001, 2), (1_000_000_000, 1_000)]
        {
            assert_eq!(rate.count_before(offset), count, "before {offset}");
        }
    }

    #[test]
    fn impossible_rates_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e9] {
            assert_eq!(ConstantRate::new(rate), None);
        }
    }

    proptest! {
        #[test]
        fn count_is_the_inverse_of_due(per_s in 0.01_f64..5e6, offset in 0_u64..100_000_000_000) {
            let rate = ConstantRate::new(per_s).unwrap();
            let count = rate.count_before(offset);
            prop_assert!(rate.due_ns(count) >= offset);
            prop_assert!(count == 0 || rate.due_ns(count - 1) < offset);
        }
    }
}
