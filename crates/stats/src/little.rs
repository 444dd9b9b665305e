//! Little's law as a gate (D13): users = rate × time, so that what users spend outside of
//! requests can be told.

/// The time balance of a closed loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Little {
    /// Share of a user's time that no request accounts for: `1 - rate × latency / users`.
    /// Negative when requests account for more than there is, which is a fault of the books.
    pub gap_share: f64,
    /// The same for each request, s: `users / rate - latency`.
    pub outside_s: f64,
}

/// The balance of `users` that together complete `rate_per_s` requests of `mean_latency_s`
/// (J. D. C. Little, Operations Research 9, 1961: `L = λ W`). Think time is outside too, unless
/// it is added to the latency. `None` without users or rate.
#[must_use]
pub fn gap(users: f64, rate_per_s: f64, mean_latency_s: f64) -> Option<Little> {
    let usable = users > 0.0 && rate_per_s > 0.0 && mean_latency_s >= 0.0;
    let (loop_s, busy) = (users / rate_per_s, rate_per_s * mean_latency_s);
    (usable && loop_s.is_finite() && busy.is_finite())
        .then(|| Little { gap_share: 1.0 - busy / users, outside_s: loop_s - mean_latency_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_workers_spend_a_quarter_elsewhere() {
        let little = gap(16.0, 564.6, 0.021_87).unwrap();
        assert!((little.outside_s * 1e3 - 6.5).abs() < 0.05, "{little:?}");
        assert!((little.gap_share - 0.23).abs() < 0.005, "{little:?}");
    }

    #[test]
    fn a_loop_without_gap_and_one_that_cannot_be() {
        assert!(gap(10.0, 1_000.0, 0.01).unwrap().gap_share.abs() < 1e-12);
        assert!(gap(10.0, 1_000.0, 0.02).unwrap().gap_share < 0.0);
        assert_eq!(gap(0.0, 1.0, 1.0), None);
        assert_eq!(gap(1.0, 0.0, 1.0), None);
        assert_eq!(gap(1.0, 1.0, f64::NAN), None);
    }
}
