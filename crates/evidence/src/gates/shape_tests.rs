//! The shape of a load, broken on purpose.

use record::load::LoadRecord;
use record::plan::Gates;
use record::{Effect, Scope, State};

use super::tests::{planted, reason};
use super::{judge_load, loop_balance};
use crate::samples;

fn lag(p99_ns: u64) -> impl FnOnce(&mut LoadRecord) {
    move |load| load.lag_ns.p99 = Some(p99_ns)
}

#[test]
fn a_late_generator_is_flagged_and_a_very_late_one_voids_latency() {
    // The median service time is 9.9 ms: 5 % of it are 495 us.
    assert_eq!(planted(samples::open_load(), lag(495_000)).reasons, []);
    let flagged = planted(samples::open_load(), lag(500_000));
    assert_eq!(flagged.reasons.len(), 1);
    insta::assert_snapshot!(reason(&flagged, "lag_flag").detail, @"p99 of the send lag is 500 us, 5.051 % of 9.90 ms, more than 5 %");
    assert_eq!(flagged.validity().state, State::Valid);
    let late = planted(samples::open_load(), lag(9_900_001));
    assert_eq!(
        (reason(&late, "lag").effect, reason(&late, "lag").scope),
        (Effect::Void, Scope::Latency)
    );
    let validity = late.validity();
    assert_eq!((validity.latency, validity.throughput), (State::Void, State::Valid));
    assert!(reason(&late, "lag").remedy.as_ref().is_some_and(|remedy| remedy.contains("rate")));
}

/// D17: 200 us are never late, however fast the target answers.
#[test]
fn a_fast_target_does_not_make_every_generator_late() {
    let fast = |lag_ns: u64| {
        let mut load = samples::open_load();
        load.service_ns = samples::summary(24_000, 30_000);
        load.latency_ns = samples::summary(24_000, 40_000);
        load.lag_ns.p99 = Some(lag_ns);
        judge_load(&load, &Gates::default()).reasons
    };
    assert_eq!(fast(200_000), []);
    let flags: Vec<String> = fast(200_001).into_iter().map(|reason| reason.gate).collect();
    assert_eq!(flags, ["lag_flag"]);
}

/// Requests that waited for a connection waited for the target: their latency is what it is.
#[test]
fn a_wait_for_a_connection_is_no_lateness_of_the_generator() {
    let judgement = planted(samples::open_load(), |load| {
        load.lag_ns.p99 = Some(50_000_000);
        load.queued_peak = 12;
    });
    assert_eq!(reason(&judgement, "lag_flag").effect, Effect::Flag);
    assert_eq!(judgement.validity().latency, State::Valid);
}

/// M-023: 101,621 calls in 180 s by 16 workers with a mean of 21.87 ms.
#[test]
fn time_outside_the_requests_is_reported_apart() {
    let judgement = planted(samples::load(), |load| {
        load.users = Some(16);
        load.connections.opened = 16;
        load.connections.distinct_ports = 16;
        load.workers.clear();
        load.window_ns = 180_000_000_000;
        load.window_asked_ns = Some(180_000_000_000);
        (load.due, load.sent, load.succeeded) = (101_621, 101_621, 101_621);
        load.whole_life.sent = 101_621;
        load.whole_life.answered = 101_621;
        load.latency_ns = samples::summary(101_621, 21_870_000);
    });
    assert_eq!(judgement.reasons.len(), 1);
    insta::assert_snapshot!(reason(&judgement, "little").detail, @"6.47 ms (22.832 %) of each loop is outside the request, more than 5 %");
    assert_eq!(judgement.validity().state, State::Valid);
    let balance = loop_balance(&samples::load()).unwrap();
    assert!(balance.gap_share.abs() < 1e-12, "{balance:?}");
}

#[test]
fn what_cannot_be_balanced_is_not_judged() {
    let mut slow = samples::load();
    // 1.5 s is a twentieth of the window: requests over its edges would be the balance.
    slow.latency_ns.mean = Some(1_600_000_000.0);
    assert_eq!(loop_balance(&slow), None);
    let judgement = judge_load(&slow, &Gates::default());
    let check = judgement.checks.iter().find(|check| check.gate == "little").unwrap();
    assert_eq!((check.value, check.passed, check.bound), (None, None, Some(0.05)));
    assert_eq!(loop_balance(&samples::open_load()), None, "no users");
}

/// More in flight on average than ever at once: the books of an open loop do not add up.
#[test]
fn an_open_loop_has_no_more_in_flight_than_its_peak() {
    let judgement = planted(samples::open_load(), |load| load.in_flight_peak = 7);
    insta::assert_snapshot!(reason(&judgement, "little").detail, @"rate times service time is 7.9 in flight on average, the most at once was 7");
}

#[test]
fn a_connection_that_carries_two_requests_is_not_new() {
    let with = |opened: fn(u64) -> u64| {
        planted(samples::load(), |load| {
            load.connection_mode = "new".to_owned();
            load.connections.opened = opened(load.whole_life.sent);
        })
    };
    assert_eq!(with(|sent| sent).reasons, []);
    let shared = with(|_| 8);
    insta::assert_snapshot!(reason(&shared, "connection_shape").detail, @"8 connections for 26400 requests that should have one each");
}

#[test]
fn a_server_that_closes_its_connections_voids_the_run() {
    let opened = |count: u64| {
        move |load: &mut LoadRecord| {
            load.connections.opened = count;
            load.connections.distinct_ports = count;
        }
    };
    // One reconnect in 26,400 requests: said, and no more.
    let flagged = planted(samples::load(), opened(9));
    assert_eq!(flagged.reasons.len(), 1);
    insta::assert_snapshot!(reason(&flagged, "reconnects").detail, @"1 connections were opened again though nothing had failed");
    assert_eq!(flagged.validity().state, State::Valid);
    let closed = planted(samples::load(), opened(26_400));
    insta::assert_snapshot!(reason(&closed, "connection_shape").detail, @"26400 connections for 8 users and 26400 requests: 99.97 % of the requests reconnected though nothing had failed, more than 5 %");
    assert_eq!(closed.validity().state, State::Void);
    let idle = planted(samples::load(), opened(7));
    insta::assert_snapshot!(reason(&idle, "connection_shape").detail, @"8 users opened 7 connections from 7 ports: not all were at work");
}

/// A request that got no answer costs its connection; that is the failure's doing.
#[test]
fn a_reconnect_after_a_failure_is_explained() {
    let judgement = planted(samples::load(), |load| {
        load.connections.opened = 8 + 24;
        load.connections.distinct_ports = 8 + 24;
        load.whole_life.answered -= 24;
    });
    assert_eq!(judgement.reasons, []);
}
