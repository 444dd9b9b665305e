//! How one request is treated: how long it sleeps and whether it fails. A pure function.
//!
//! "Since start" is the time since the server bound its port, for every fault that depends on
//! time; a flush of the record does not restart it. Shares are plain Bernoulli trials with the
//! configured seed: over n requests a share p comes out within about `3 sqrt(p (1 - p) / n)`
//! of itself, exactly only for 0 and 100 %.

use record::mock::{Failure, MockConfig, Slowdown};

use crate::capacity::Admission;
pub use crate::capacity::Capacity;

/// Nanoseconds of a minute.
const MINUTE_NS: f64 = 60e9;

/// The random numbers of one request. All are drawn for every request, so that adding a fault does
/// not change the choices of another; those of the law come from a sequence of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draws {
    /// The latency that its law gave, ns; the configured one without a law.
    pub latency_ns: f64,
    /// Decides, uniform in [0, 1), whether and how the request fails.
    pub fail: f64,
    /// Decides, uniform in [0, 1), whether the request is a spike.
    pub spike: f64,
    /// What the request itself costs beyond the latency, ns: the items of a batch.
    pub extra_ns: u64,
}

/// How one request is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// From request read to the start of its work, ns.
    pub queued_ns: u64,
    /// From the start of its work to answer due, ns. Meaningless for [`Failure::Never`].
    pub sleep_ns: u64,
    /// The planned failure, if any.
    pub failure: Option<Failure>,
}

/// The treatment of a request read `since_start_ns` after the server bound; `None` when `capacity`
/// has no place for it.
///
/// The latency is `law · cold · (1 + drift · minutes) · slow_after + spike`: linear drift of the
/// drawn latency, never below zero; the items of a batch come on top; a factor applies to requests read while it holds. A request
/// that sleeps needs a worker and the serialised section first. `status` failures do not sleep;
/// `body` and `reset` sleep like a good answer; `never` is not answered; the first and the last
/// need no worker. At the end, an answer due inside a stall (the last `length` of each period) is
/// due at the stall's end, whatever it is.
#[must_use]
pub fn delay(
    config: &MockConfig,
    capacity: &mut Capacity,
    since_start_ns: u64,
    draws: Draws,
) -> Option<Delay> {
    let failure = planned_failure(config, draws.fail);
    let (queued_ns, work_ns) = match failure {
        Some(Failure::Status(_) | Failure::Never) => (0, 0),
        _ => match capacity.admit(since_start_ns, latency_ns(config, since_start_ns, draws)) {
            Admission::Works { queued_ns, work_ns } => (queued_ns, work_ns),
            Admission::Overloaded => return None,
        },
    };
    let due_ns = since_start_ns.saturating_add(queued_ns).saturating_add(work_ns);
    let stalled_ns = match &config.stall {
        // A period of zero cannot come from `MockConfig::set`, only from a hand-made value.
        Some(stall) if stall.period_ns > 0 => {
            let phase_ns = due_ns % stall.period_ns;
            let left_ns = stall.period_ns - phase_ns;
            if left_ns <= stall.length_ns { left_ns } else { 0 }
        }
        _ => 0,
    };
    Some(Delay { queued_ns, sleep_ns: work_ns.saturating_add(stalled_ns), failure })
}

fn planned_failure(config: &MockConfig, draw: f64) -> Option<Failure> {
    let mut upper = 0.0;
    config.fail.iter().find_map(|fail| {
        upper += fail.share;
        (draw < upper).then_some(fail.how)
    })
}

fn latency_ns(config: &MockConfig, since_start_ns: u64, draws: Draws) -> u64 {
    let mut factor = 1.0;
    if let Some(Slowdown { at_ns, factor: cold }) = config.cold
        && since_start_ns < at_ns
    {
        factor *= cold;
    }
    if config.drift_per_min != 0.0 {
        factor *= (1.0 + config.drift_per_min * since_start_ns as f64 / MINUTE_NS).max(0.0);
    }
    if let Some(Slowdown { at_ns, factor: slow }) = config.slow_after
        && since_start_ns >= at_ns
    {
        factor *= slow;
    }
    let extra_ns = match &config.spike {
        Some(spike) if draws.spike < spike.share => spike.extra_ns,
        _ => 0,
    };
    // Exact without a factor; with one, `f64` holds whole ns up to 104 days and the cast
    // saturates.
    let scaled_ns = if factor == 1.0 && config.law.is_none() {
        config.latency_ns
    } else {
        (draws.latency_ns * factor).round() as u64
    };
    scaled_ns.saturating_add(extra_ns).saturating_add(draws.extra_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const S: u64 = 1_000 * MS;

    fn config(settings: &[(&str, &str)]) -> MockConfig {
        let mut config = MockConfig::default();
        for (key, text) in settings {
            config.set(key, text).expect("a test writes valid settings");
        }
        config
    }

    /// The treatment by a mock that was idle before.
    fn delay(config: &MockConfig, since_start_ns: u64, (fail, spike): (f64, f64)) -> Delay {
        let draws = Draws { latency_ns: config.latency_ns as f64, fail, spike, extra_ns: 0 };
        super::delay(config, &mut Capacity::new(config), since_start_ns, draws)
            .expect("an idle mock has a place")
    }

    fn sleep_ns(settings: &[(&str, &str)], since_start_ns: u64) -> u64 {
        delay(&config(settings), since_start_ns, (0.999, 0.999)).sleep_ns
    }

    #[test]
    fn latency_alone_is_exact_at_any_time() {
        for since in [0, 1, 5 * S, u64::MAX] {
            assert_eq!(sleep_ns(&[("latency", "10ms")], since), 10 * MS);
            assert_eq!(sleep_ns(&[], since), 0);
        }
    }

    #[test]
    fn factors_by_table() {
        let cases: [(&str, &str, u64, u64); 12] = [
            ("cold", "5s:10x", 0, 100 * MS),
            ("cold", "5s:10x", 5 * S - 1, 100 * MS),
            ("cold", "5s:10x", 5 * S, 10 * MS),
            ("slow_after", "10s:1.3x", 10 * S - 1, 10 * MS),
            ("slow_after", "10s:1.3x", 10 * S, 13 * MS),
            ("slow_after", "10s:0.5x", 10 * S, 5 * MS),
            ("drift", "+1%/min", 0, 10 * MS),
            ("drift", "+1%/min", 60 * S, 10_100_000),
            ("drift", "+1%/min", 90 * S, 10_150_000),
            ("drift", "+50%/min", 120 * S, 20 * MS),
            ("drift", "-10%/min", 60 * S, 9 * MS),
            // Linear: after ten minutes nothing is left, and it does not turn negative.
            ("drift", "-10%/min", 1_200 * S, 0),
        ];
        for (key, text, since, expected) in cases {
            let slept = sleep_ns(&[("latency", "10ms"), (key, text)], since);
            assert_eq!(slept, expected, "{key} {text} at {since} ns");
        }
    }

    #[test]
    fn factors_multiply() {
        let settings = [("latency", "10ms"), ("cold", "5s:2x"), ("slow_after", "1s:3x")];
        assert_eq!(sleep_ns(&settings, 0), 20 * MS);
        assert_eq!(sleep_ns(&settings, 2 * S), 60 * MS);
        assert_eq!(sleep_ns(&settings, 5 * S), 30 * MS);
    }

    #[test]
    fn stall_moves_what_falls_due_inside_it_to_its_end() {
        // The last second of every five.
        let stall = ("stall", "1s/5s");
        let cases: [(&str, u64, u64); 9] = [
            ("0ns", 0, 0),
            ("0ns", 4 * S - 1, 0),
            ("0ns", 4 * S, S),
            ("0ns", 5 * S - 1, 1),
            ("0ns", 5 * S, 0),
            ("0ns", 9 * S, S),
            // Read before the stall, due inside it.
            ("10ms", 4 * S - 5 * MS, S + 5 * MS),
            // Read inside the stall, due after it.
            ("1s", 4 * S + MS, S),
            // The stall's own end is outside.
            ("10ms", 5 * S - 10 * MS, 10 * MS),
        ];
        for (latency, since, expected) in cases {
            let slept = sleep_ns(&[("latency", latency), stall], since);
            assert_eq!(slept, expected, "latency {latency} read at {since} ns");
        }
    }

    #[test]
    fn a_stall_holds_back_failures_too() {
        let config =
            config(&[("latency", "10ms"), ("stall", "1s/5s"), ("fail", "100%:status=503")]);
        assert_eq!(
            delay(&config, 4 * S, (0.0, 0.0)),
            Delay { queued_ns: 0, sleep_ns: S, failure: Some(Failure::Status(503)) }
        );
    }

    #[test]
    fn shares_split_the_unit_interval_in_the_order_given() {
        let config = config(&[
            ("latency", "10ms"),
            ("fail", "10%:status=503"),
            ("fail", "20%:body"),
            ("fail", "30%:reset"),
            ("fail", "5%:never"),
        ]);
        let cases: [(f64, Option<Failure>, u64); 8] = [
            (0.0, Some(Failure::Status(503)), 0),
            (0.099, Some(Failure::Status(503)), 0),
            (0.101, Some(Failure::Body), 10 * MS),
            (0.299, Some(Failure::Body), 10 * MS),
            (0.301, Some(Failure::Reset), 10 * MS),
            (0.599, Some(Failure::Reset), 10 * MS),
            (0.601, Some(Failure::Never), 0),
            (0.651, None, 10 * MS),
        ];
        for (fail, failure, sleep_ns) in cases {
            let seen = delay(&config, 0, (fail, 0.5));
            assert_eq!(seen, Delay { queued_ns: 0, sleep_ns, failure }, "draw {fail}");
        }
    }

    #[test]
    fn a_share_of_everything_fails_everything_and_of_nothing_nothing() {
        let all = config(&[("fail", "100%:body")]);
        let none = config(&[("fail", "0%:body")]);
        for fail in [0.0, 0.5, 1.0 - f64::EPSILON / 2.0] {
            let draws = (fail, 0.0);
            assert_eq!(delay(&all, 0, draws).failure, Some(Failure::Body));
            assert_eq!(delay(&none, 0, draws).failure, None);
        }
    }

    #[test]
    fn a_spike_adds_after_the_factors() {
        let config = config(&[("latency", "10ms"), ("cold", "5s:10x"), ("spike", "3.5%:225ms")]);
        let with = |spike| delay(&config, 0, (0.5, spike)).sleep_ns;
        assert_eq!(with(0.0), 325 * MS);
        assert_eq!(with(0.0349), 325 * MS);
        assert_eq!(with(0.0351), 100 * MS);
    }

    #[test]
    fn absurd_values_saturate() {
        let mut config = config(&[("cold", "5s:10x"), ("spike", "100%:1s")]);
        config.latency_ns = u64::MAX;
        let draws = (0.5, 0.0);
        assert_eq!(delay(&config, u64::MAX, draws).sleep_ns, u64::MAX);
        assert_eq!(delay(&config, 0, draws).sleep_ns, u64::MAX);
    }

    #[test]
    fn a_drawn_latency_is_scaled_and_queues() {
        let config =
            config(&[("latency", "exponential:10ms"), ("cold", "5s:2x"), ("workers", "1")]);
        let mut capacity = Capacity::new(&config);
        let mut treated = |latency_ns| {
            let draws = Draws { latency_ns, fail: 0.5, spike: 0.5, extra_ns: 0 };
            let delay =
                super::delay(&config, &mut capacity, S, draws).expect("no bound on the queue");
            (delay.queued_ns, delay.sleep_ns)
        };
        assert_eq!(treated(3e6), (0, 6 * MS));
        assert_eq!(treated(4e6), (6 * MS, 8 * MS));
    }

    /// Queued until inside the stall: the stall's end is what counts.
    #[test]
    fn a_stall_holds_back_what_queued_into_it() {
        let config = config(&[("latency", "2s"), ("workers", "1"), ("stall", "1s/5s")]);
        let mut capacity = Capacity::new(&config);
        let mut treated = || {
            let draws = Draws { latency_ns: 2e9, fail: 0.5, spike: 0.5, extra_ns: 0 };
            let delay =
                super::delay(&config, &mut capacity, 0, draws).expect("no bound on the queue");
            (delay.queued_ns, delay.sleep_ns)
        };
        assert_eq!(treated(), (0, 2 * S));
        assert_eq!(treated(), (2 * S, 3 * S));
    }

    proptest::proptest! {
        #[test]
        fn no_answer_is_due_in_a_stall_nor_earlier_than_without(
            latency_ns in 0..10 * S,
            period_ns in 2..10 * S,
            share in 0.0..1.0,
            since_start_ns in 0..1_000 * S,
            fail in 0.0..1.0,
        ) {
            let length_ns = ((period_ns as f64 * share) as u64).clamp(1, period_ns - 1);
            let mut config = config(&[("fail", "30%:status=503"), ("fail", "30%:body")]);
            config.latency_ns = latency_ns;
            let draws = (fail, 0.5);
            let without = delay(&config, since_start_ns, draws);
            config.stall = Some(record::mock::Stall { length_ns, period_ns });
            let with = delay(&config, since_start_ns, draws);
            let phase_ns = (since_start_ns + with.sleep_ns) % period_ns;
            proptest::prop_assert!(phase_ns < period_ns - length_ns);
            proptest::prop_assert!(with.sleep_ns >= without.sleep_ns);
            proptest::prop_assert!(with.sleep_ns - without.sleep_ns <= length_ns);
            proptest::prop_assert_eq!(with.failure, without.failure);
        }
    }
}
