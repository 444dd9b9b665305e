//! Whether the load had the shape that was asked for: a generator in time, users that are at work
//! all the time, and connections that are kept.

use record::load::LoadRecord;
use record::plan::Gates;
use record::units::HumanDuration;
use stats::little::{self, Little};

use super::{Judgement, percent};

/// A window must hold this many mean service times before its books are balanced, as in
/// [`little::closed_loop`].
const SERVICES_IN_A_WINDOW: f64 = 20.0;

/// The gates on the shape of a load.
pub(super) fn judge(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    lag(judgement, load, bounds);
    balance(judgement, load, bounds);
    connections(judgement, load, bounds);
}

/// p99 of the send lag beside the median service time (D17: at most 5 % of it, or 200 us). The
/// median counts as `lag_base` at least, so that both bounds are one share.
fn lag(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let p50_ns = load.service_ns.p50.unwrap_or(0).max(bounds.lag_base_ns).max(1);
    let lag_ns = load.lag_ns.p99.filter(|_| load.planned_per_s.is_some());
    let share = lag_ns.map(|lag| lag as f64 / p50_ns as f64);
    // Where requests waited for a connection the lag is the target's doing and belongs to the
    // latency: only the flag speaks then.
    let own = share.filter(|_| load.queued_peak == 0);
    for (gate, bound, share) in
        [("lag_flag", bounds.lag_flag_share, share), ("lag", bounds.lag_share, own)]
    {
        judgement.add(gate, bounds, share, share.map(|share| share <= bound), || {
            format!(
                "p99 of the send lag is {}, {} of {}, more than {}",
                HumanDuration(lag_ns.unwrap_or_default() as f64),
                percent(share.unwrap_or_default()),
                HumanDuration(p50_ns as f64),
                percent(bound)
            )
        });
    }
}

/// The time balance of a closed loop: what users spend outside of their requests. `None` for an
/// open loop, and where the window is too short beside a request to tell.
///
/// Failures that got no answer have no latency; what they took counts as outside.
#[must_use]
pub fn loop_balance(load: &LoadRecord) -> Option<Little> {
    let ended = load.succeeded.saturating_add(load.failed);
    let latencies = [&load.latency_ns, &load.failed_latency_ns];
    little::closed_loop(load.users?, load.window_ns, ended, latencies, load.paused_ns)
}

/// Little's law (D13). In a closed loop users = rate × time of a loop, and what no request
/// accounts for is outside of them. In an open loop the mean number in flight, rate × service
/// time, cannot be above the most that were in flight at once.
fn balance(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    if load.users.is_some() {
        let little = loop_balance(load);
        let share = little.map(|little| little.gap_share);
        let held = share.map(|share| share.abs() <= bounds.little_share);
        judgement.add("little", bounds, share, held, || {
            let outside_ns = little.map_or(0.0, |little| little.outside_s * 1e9);
            let silent = load.failed.saturating_sub(load.failed_latency_ns.count);
            let failures = if silent > 0 {
                format!(", with {silent} failures that got no answer")
            } else {
                String::new()
            };
            format!(
                "{} ({}) of each loop is outside the request, more than {}{failures}",
                HumanDuration(outside_ns),
                percent(share.unwrap_or_default()),
                percent(bounds.little_share)
            )
        });
        return;
    }
    let window_ns = load.window_ns as f64;
    let mean_ns = load.service_ns.mean.filter(|mean| mean * SERVICES_IN_A_WINDOW <= window_ns);
    let in_flight = mean_ns.map(|mean| mean * load.service_ns.count as f64 / window_ns);
    let excess = in_flight
        .filter(|_| load.in_flight_peak > 0)
        .map(|mean| (mean / load.in_flight_peak as f64 - 1.0).max(0.0));
    let held = excess.map(|excess| excess <= bounds.little_share);
    judgement.add("little", bounds, excess, held, || {
        format!(
            "rate times service time is {:.1} in flight on average, the most at once was {}",
            in_flight.unwrap_or_default(),
            load.in_flight_peak
        )
    });
}

/// The connection mode in which each request has a connection of its own.
const NEW: &str = "new";

/// Connections as the mode says: one for each user, or one for each request.
fn connections(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    if load.is_foreign() {
        // Held to what the mock saw of them.
        judgement.add("connection_shape", bounds, None, None, String::new);
        judgement.add("reconnects", bounds, None, None, String::new);
    } else if load.connection_mode == NEW {
        one_for_each_request(judgement, load, bounds);
    } else {
        one_for_each_user(judgement, load, bounds);
    }
}

/// A connection for each request: none carried two.
fn one_for_each_request(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let (sent, opened) = (load.whole_life.sent, load.connections.opened);
    let share = (sent > 0).then(|| sent.saturating_sub(opened) as f64 / sent as f64);
    let held = share.map(|share| share <= bounds.reconnects_share);
    judgement.add("connection_shape", bounds, share, held, || {
        format!("{opened} connections for {sent} requests that should have one each")
    });
    judgement.add("reconnects", bounds, None, None, String::new);
}

/// One connection for each user, opened again only after a request that ended without one.
fn one_for_each_user(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let Some(users) = load.users.map(u64::from).filter(|_| load.whole_life.sent > 0) else {
        judgement.add("connection_shape", bounds, None, None, String::new);
        judgement.add("reconnects", bounds, None, None, String::new);
        return;
    };
    let seen = &load.connections;
    let sent = load.whole_life.sent;
    let explained = sent.saturating_sub(load.whole_life.answered).saturating_add(load.failed);
    let unexplained = seen.opened.saturating_sub(users.saturating_add(explained));
    // A window of few requests need not reach every user, and a refused one has no connection.
    let all_at_work = load.window_asked_count.is_some()
        || seen.failed > 0
        // From several addresses one port may come twice.
        || (seen.opened >= users && (seen.distinct_ports >= users || seen.sources > 1));
    let share = unexplained as f64 / sent as f64;
    let held = share <= bounds.reconnects_share && all_at_work;
    judgement.add("connection_shape", bounds, Some(share), Some(held), || {
        if all_at_work {
            format!(
                "{} connections for {users} users and {sent} requests: {} of the requests \
                 reconnected though nothing had failed, more than {}",
                seen.opened,
                percent(share),
                percent(bounds.reconnects_share)
            )
        } else {
            format!(
                "{users} users opened {} connections from {} ports: not all were at work",
                seen.opened, seen.distinct_ports
            )
        }
    });
    let count = Some(unexplained as f64);
    judgement.add("reconnects", bounds, count, Some(unexplained == 0), || {
        format!("{unexplained} connections were opened again though nothing had failed")
    });
}
