//! The mock as a second witness of the same requests: how many, how many at once, and how late it
//! was itself.

use record::mock::MockRecord;
use record::plan::Gates;
use record::units::HumanDuration;

use super::{Judgement, percent};
use crate::run_dir::RunDir;

/// The gates that need both books.
pub(super) fn judge(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    counts_disagree(judgement, run, bounds);
    in_flight(judgement, run, bounds);
    late(judgement, run, bounds);
}

/// The mock's count against the generator's, warm-up and cool-down included: equal to the last
/// request, or one of the two is wrong.
fn counts_disagree(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let (Some(load), Some(mock)) = (run.load.present(), run.mock.present()) else {
        judgement.add("counts_disagree", bounds, None, None, String::new);
        return;
    };
    let (sent, witnessed) = (load.whole_life.sent, mock.served.saturating_add(mock.failed));
    let difference = sent.abs_diff(witnessed);
    judgement.add(
        "counts_disagree",
        bounds,
        Some(difference as f64),
        Some(difference == 0),
        || {
            format!(
                "the generator sent {sent} requests, the mock saw {witnessed}: a difference of \
                 {difference}"
            )
        },
    );
}

/// Users against the most that the mock had in flight at once (K-106): fewer are a generator that
/// cannot keep its users at work, more are somebody else's. After a failure neither can be told:
/// the user goes on while the mock still holds its request.
fn in_flight(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let both = run.load.present().zip(run.mock.present());
    let seen = both.and_then(|(load, mock)| {
        let clean = load.failed == 0 && load.whole_life.sent == load.whole_life.answered;
        Some((load.users.filter(|_| clean)?, mock.peak_in_flight))
    });
    let share = seen.map(|(users, peak)| peak as f64 / f64::from(users));
    let (users, peak) = seen.unwrap_or_default();
    let enough = share.map(|share| share >= 1.0);
    judgement.add("mock_in_flight_flag", bounds, share, enough, || {
        format!("the mock had at most {peak} requests in flight, there are {users} users")
    });
    let no_more = share.map(|share| share <= 1.0);
    judgement.add("mock_in_flight", bounds, share, no_more, || {
        format!("the mock had {peak} requests in flight at once, there are only {users} users")
    });
}

/// p99 of the mock's service above the latency it was asked for, where that is the same for every
/// request.
fn late(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let mock = run.mock.present().filter(|mock| is_constant(mock));
    let asked_ns = mock.map_or(0, |mock| mock.config.latency_ns);
    let p99_ns = mock.and_then(|mock| mock.service_ns.p99).filter(|_| asked_ns > 0);
    let share = p99_ns.map(|p99| (p99 as f64 / asked_ns as f64 - 1.0).max(0.0));
    let most_ns = asked_ns as f64 * (1.0 + bounds.mock_late_share);
    let held = p99_ns.map(|p99| p99 as f64 <= most_ns);
    judgement.add("mock_late", bounds, share, held, || {
        format!(
            "p99 of the mock's service is {} where {} were asked for: {} more, bound {}",
            HumanDuration(p99_ns.unwrap_or_default() as f64),
            HumanDuration(asked_ns as f64),
            percent(share.unwrap_or_default()),
            percent(bounds.mock_late_share)
        )
    });
}

/// Whether the mock was asked for one latency all the time.
fn is_constant(mock: &MockRecord) -> bool {
    let config = &mock.config;
    config.law.is_none()
        && config.serialise_ns == 0
        && config.workers.is_none()
        && config.dip.is_none()
        && config.rate_limit.is_none()
        && config.stall.is_none()
        && config.cold.is_none()
        && config.slow_after.is_none()
        && config.spike.is_none()
        && config.drift_per_min == 0.0
        && config.fail.is_empty()
}
