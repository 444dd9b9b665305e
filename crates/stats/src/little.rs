//! Little's law as a gate (D13): users = rate × time, so that what users spend outside of
//! requests can be told.

use record::Summary;

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

/// A window must hold this many mean latencies before its balance is drawn up: requests that reach
/// over its edges are wrong by at most one latency for each user.
const LATENCIES_IN_A_WINDOW: f64 = 20.0;

/// The balance of a measured window: `ended` requests of `users` in `window_ns`, with the latencies
/// of those that have one. What ended without a latency, a timeout for example, took time that is
/// outside of every request. `paused_ns` is the time for which users paused on purpose, all of them
/// together: a part of their loops that is accounted for. `None` where nothing ended, and where the window is too short beside a
/// request to tell.
#[must_use]
pub fn closed_loop(
    users: u32,
    window_ns: u64,
    ended: u64,
    latencies_ns: [&Summary; 2],
    paused_ns: u64,
) -> Option<Little> {
    let (window_s, ended) = (window_ns as f64 / 1e9, ended as f64);
    let mut spent_ns = paused_ns as f64;
    for summary in latencies_ns.into_iter().filter(|summary| summary.count > 0) {
        spent_ns += summary.mean? * summary.count as f64;
    }
    let mean_s = spent_ns / ended / 1e9;
    let is_long = window_s >= LATENCIES_IN_A_WINDOW * mean_s;
    if is_long { gap(f64::from(users), ended / window_s, mean_s) } else { None }
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
    fn a_window_is_balanced_when_it_is_long_beside_a_request() {
        let of = |count, mean: f64| Summary { count, mean: Some(mean), ..Summary::default() };
        let none = Summary::default();
        // Two users, 1 s, 5 ms each: 400 requests leave no time.
        let busy = closed_loop(2, 1_000_000_000, 400, [&of(400, 5e6), &none], 0).unwrap();
        assert!(busy.gap_share.abs() < 1e-12, "{busy:?}");
        // A tenth of them failed with an answer, the same time each.
        let failed = closed_loop(2, 1_000_000_000, 400, [&of(360, 5e6), &of(40, 5e6)], 0).unwrap();
        assert!(failed.gap_share.abs() < 1e-12, "{failed:?}");
        // And without one: a tenth of the time is nobody's.
        let silent = closed_loop(2, 1_000_000_000, 400, [&of(360, 5e6), &none], 0).unwrap();
        assert!((silent.gap_share - 0.1).abs() < 1e-12, "{silent:?}");
        // Half of each loop was a pause.
        let paced =
            closed_loop(2, 1_000_000_000, 200, [&of(200, 5e6), &none], 1_000_000_000).unwrap();
        assert!(paced.gap_share.abs() < 1e-12, "{paced:?}");
        assert_eq!(closed_loop(2, 1_000_000_000, 38, [&of(38, 51e6), &none], 0), None);
        assert_eq!(closed_loop(2, 1_000_000_000, 0, [&none, &none], 0), None);
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
