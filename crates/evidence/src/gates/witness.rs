//! The mock as a second witness of the same requests: how many, how many at once, and how late it
//! was itself.

use record::foreign::{ForeignRun, UNEXPLAINED};
use record::mock::MockRecord;
use record::plan::{Gates, Model, TargetKind};
use record::units::HumanDuration;

use super::{Judgement, percent};
use crate::run_dir::RunDir;

/// The gates that need both books.
pub(super) fn judge(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    match run.foreign.present() {
        Some(foreign) => {
            own_count(judgement, run, foreign, bounds);
            ports(judgement, run, foreign, bounds);
        }
        None => {
            counts_disagree(judgement, run, bounds);
            judgement.add("ports_at_mock", bounds, None, None, String::new);
        }
    }
    no_witness(judgement, run, bounds);
    own_figures(judgement, run, bounds);
    in_flight(judgement, run, bounds);
    tier(judgement, run, bounds);
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

/// A foreign generator's count against the mock's: they may differ by what was in flight at its end
/// and by nothing else. The value is what is beyond that.
fn own_count(judgement: &mut Judgement, run: &RunDir, foreign: &ForeignRun, bounds: &Gates) {
    let Some(mock) = run.mock.present() else {
        judgement.add("counts_disagree", bounds, None, None, String::new);
        return;
    };
    let (own, witnessed) = (foreign.own.requests, mock.served.saturating_add(mock.failed));
    // What was given up without an answer may never have reached the mock.
    let unanswered = if foreign.habits.counts_unanswered { foreign.own.failures } else { 0 };
    let mut excess = own.abs_diff(witnessed).saturating_sub(foreign.tolerance_requests);
    if own > witnessed {
        excess = excess.saturating_sub(unanswered);
    }
    judgement.add("counts_disagree", bounds, Some(excess as f64), Some(excess == 0), || {
        format!(
            "`{}` says {own} requests, the mock saw {witnessed}: {} more than the {} that may be in \
             flight at its end explain",
            foreign.generator, excess, foreign.tolerance_requests
        )
    });
}

/// The connections of a foreign generator as the mock saw them (K-104): as many client ports as
/// users where connections are kept, as requests where each has its own. Where so many are opened
/// that the kernel gives ports out again, equality is impossible, and the order of magnitude is what
/// can be held (K-121).
fn ports(judgement: &mut Judgement, run: &RunDir, foreign: &ForeignRun, bounds: &Gates) {
    let load = &run.meta.effective.load;
    let (Some(mock), Model::Users(users)) = (run.mock.present(), load.model) else {
        judgement.add("ports_at_mock", bounds, None, None, String::new);
        return;
    };
    let users = u64::from(users);
    let seen = mock.distinct_peer_ports;
    let requests = mock.served.saturating_add(mock.failed);
    // A failure may cost a connection, and its user opens another.
    let probes = foreign.habits.probe_connections;
    let explained = mock.failed;
    let rule = match load.connections.as_str() {
        "new" => PortRule::for_each(requests, foreign.tolerance_requests.saturating_add(probes)),
        _ => PortRule::Equal {
            least: users.min(requests),
            most: users.saturating_add(probes).saturating_add(explained),
        },
    };
    judgement.add("ports_at_mock", bounds, Some(seen as f64), Some(rule.holds(seen)), || {
        format!(
            "`{}` came from {seen} client ports with {requests} requests, {}",
            foreign.generator,
            rule.words(users, probes)
        )
    });
}

/// Ports above which the kernel may have given some out twice: a quarter of those that there are.
const RECYCLED_PORTS: u64 = 65_536 / 4;
/// Where ports are given out again: so many at least for each request there could have been.
const MAGNITUDE: u64 = 10;

/// What a count of ports is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PortRule {
    /// `==`: within what failures explain.
    Equal { least: u64, most: u64 },
    /// `~=`: one for each request, with those in flight at the end.
    About { expected: u64, slack: u64 },
    /// `>>`: many more than users; ports were given out again, so that their number says no more.
    Many { least: u64 },
}

impl PortRule {
    fn for_each(requests: u64, in_flight: u64) -> Self {
        if requests > RECYCLED_PORTS {
            Self::Many { least: RECYCLED_PORTS / MAGNITUDE }
        } else {
            // A hundredth: even few ports are now and then given out again.
            Self::About { expected: requests, slack: in_flight.saturating_add(requests / 100) }
        }
    }

    fn holds(self, seen: u64) -> bool {
        match self {
            Self::Equal { least, most } => (least..=most).contains(&seen),
            Self::About { expected, slack } => seen.abs_diff(expected) <= slack,
            Self::Many { least } => seen >= least,
        }
    }

    fn words(self, users: u64, probes: u64) -> String {
        let probed =
            if probes > 0 { format!(" and it may try {probes} before") } else { String::new() };
        match self {
            Self::Equal { least, most } if least == most => {
                format!("where {users} users keep one connection each (`== {least}`)")
            }
            Self::Equal { least, most } => format!(
                "where {users} users keep one connection each{probed} (`== {least}`, with what is \
                 known of it up to {most})"
            ),
            Self::About { expected, slack } => {
                format!(
                    "where each request has its own connection (`~= {expected}`, within {slack})"
                )
            }
            Self::Many { least } => format!(
                "where each request has its own connection: ports are given out again, so that \
                 `>> {users}` is held, {least} at least"
            ),
        }
    }
}

/// A foreign generator whose target is no mock: nobody else has counted.
fn no_witness(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let held = run.foreign.present().map(|_| run.has_mock());
    judgement.add("no_witness", bounds, None, held, || {
        "throughput is the generator's own word: the target is no mock that counts".to_owned()
    });
}

/// Figures of a foreign generator that no cause explains.
fn own_figures(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let both = run.foreign.present().zip(run.load.present()).zip(run.mock.present());
    let rows = both
        .map(|((foreign, load), mock)| crate::own_figures::own_figures(foreign, load, Some(mock)));
    let unexplained: Vec<String> = rows
        .iter()
        .flatten()
        // The count has a gate of its own.
        .filter(|row| row.figure != "requests")
        .filter(|row| row.causes.iter().any(|cause| cause == UNEXPLAINED))
        .map(|row| format!("`{}`", row.figure))
        .collect();
    let value = rows.as_ref().map(|_| unexplained.len() as f64);
    let held = rows.as_ref().map(|_| unexplained.is_empty());
    judgement.add("own_figures", bounds, value, held, || {
        format!(
            "the generator's own {} cannot be: the mock saw otherwise, and nothing that is known of \
             this tool explains it",
            unexplained.join(", ")
        )
    });
}

/// Users against the most that the mock had in flight at once (K-106): fewer are a generator that
/// cannot keep its users at work, more are somebody else's. After a failure neither can be told:
/// the user goes on while the mock still holds its request.
fn in_flight(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let both = run.load.present().zip(run.mock.present());
    let seen = both.and_then(|(load, mock)| {
        let foreign = run.foreign.present().is_some();
        let clean =
            load.failed == 0 && (foreign || load.whole_life.sent == load.whole_life.answered);
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

/// The latency that the mock says it has against the one that the run asked for (E-026): a mock that
/// was left over answers as it did before, under the new label.
fn tier(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let asked = match &run.meta.effective.target.kind {
        // A script may say its own.
        TargetKind::Mock(config) if config.script.is_none() => Some(config),
        _ => None,
    };
    let both = asked.zip(run.mock.present());
    let same = both.map(|(asked, mock)| {
        asked.latency_ns == mock.config.latency_ns && asked.law == mock.config.law
    });
    let (asked_ns, had_ns) =
        both.map(|(asked, mock)| (asked.latency_ns, mock.config.latency_ns)).unwrap_or_default();
    judgement.add("mock_tier", bounds, both.map(|_| had_ns as f64), same, || {
        format!(
            "the run asked for a mock of {}, the one that answered has {}",
            HumanDuration(asked_ns as f64),
            HumanDuration(had_ns as f64)
        )
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
