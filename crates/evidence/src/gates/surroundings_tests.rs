//! What stands around a run: the host, the mock as a witness, and the target's processes.

use record::meta::{Listener, OutcomeState};
use record::mock::Slowdown;
use record::{Effect, State};

use super::tests::{planted_run, reason};
use crate::run_dir::{Evidence, RunDir};

fn mock(run: &mut RunDir) -> &mut record::mock::MockRecord {
    match &mut run.mock {
        Evidence::Present(mock) => mock,
        Evidence::Absent(why) => panic!("{why}"),
    }
}

/// Plants a change in every host sample.
fn host(change: fn(usize, &mut record::resources::HostRow)) -> super::Judgement {
    planted_run(|run| {
        let Evidence::Present(host) = &mut run.host else { panic!("samples") };
        for (index, row) in host.rows.iter_mut().enumerate() {
            change(index, row);
        }
    })
}

#[test]
fn doubts_about_the_host_are_flags() {
    type Change = fn(usize, &mut record::resources::HostRow);
    // The sample's window is 30 s on 4 cores: 15 s busy, 105 s idle.
    let cases: [(&str, Change, &str); 4] = [
        (
            "steal",
            |index, row| row.steal_ns = Some(index as u64 * 400_000_000),
            "0.662 % of all cores was stolen, more than 0.5 %",
        ),
        (
            "foreign",
            |_, row| row.foreign_share = Some(0.35),
            "35 % of one core was used by sshd (pid 77), which took no part, more than 10 %",
        ),
        (
            "load_average",
            |_, row| row.load_1m = Some(8.4),
            "210 % load for each core (load average 8.40), more than 200 %",
        ),
        (
            "frequency",
            |index, row| row.frequency_hz = Some(3_000_000_000 - 200_000_000 * index as u64),
            "13.333 % of the cores' frequency was lost inside the window, more than 10 %",
        ),
    ];
    for (gate, change, said) in cases {
        let judgement = host(change);
        assert_eq!(judgement.reasons.len(), 1, "{gate}");
        assert_eq!(
            (reason(&judgement, gate).effect, &*reason(&judgement, gate).detail),
            (Effect::Flag, said)
        );
        assert_eq!(judgement.validity().state, State::Valid, "{gate} annotates");
    }
    // At the bound, or without a sensor, nothing is said.
    let quiet = host(|_, row| {
        row.foreign_share = Some(0.1);
        row.load_1m = None;
        row.steal_ns = None;
    });
    assert_eq!(quiet.reasons, []);
    let check = quiet.checks.iter().find(|check| check.gate == "steal").unwrap();
    assert_eq!((check.value, check.passed), (None, None), "unknown is not zero");
}

#[test]
fn the_mock_sees_exactly_the_users() {
    let fewer = planted_run(|run| mock(run).peak_in_flight = 7);
    assert_eq!(reason(&fewer, "mock_in_flight_flag").effect, Effect::Flag);
    insta::assert_snapshot!(reason(&fewer, "mock_in_flight_flag").detail, @"the mock had at most 7 requests in flight, there are 8 users");
    assert_eq!(fewer.reasons.len(), 1);
    let more = planted_run(|run| mock(run).peak_in_flight = 9);
    insta::assert_snapshot!(reason(&more, "mock_in_flight").detail, @"the mock had 9 requests in flight at once, there are only 8 users");
    assert_eq!(more.reasons.len(), 1);
    assert_eq!(more.validity().state, State::Void);
    // After a timeout the user goes on while the mock still sleeps.
    let timed_out = planted_run(|run| {
        mock(run).peak_in_flight = 9;
        let Evidence::Present(load) = &mut run.load else { panic!("a load record") };
        load.whole_life.answered -= 1;
    });
    assert_eq!(timed_out.reasons, []);
}

#[test]
fn a_mock_of_another_latency_voids_the_run() {
    // 9.8 ms were asked for; a mock from before answers after 50 ms.
    let stale = planted_run(|run| mock(run).config.latency_ns = 50_000_000);
    assert_eq!(
        reason(&stale, "mock_tier").detail,
        "the run asked for a mock of 9.80 ms, the one that answered has 50.0 ms"
    );
    assert_eq!(stale.validity().state, State::Void);
    assert_eq!(planted_run(|_| {}).reasons, []);
}

#[test]
fn a_mock_near_its_own_limit_is_flagged() {
    // 9.8 ms were asked for.
    assert_eq!(planted_run(|run| mock(run).service_ns.p99 = Some(10_780_000)).reasons, []);
    let late = planted_run(|run| mock(run).service_ns.p99 = Some(10_800_000));
    insta::assert_snapshot!(reason(&late, "mock_late").detail, @"p99 of the mock's service is 10.8 ms where 9.80 ms were asked for: 10.204 % more, bound 10 %");
    assert_eq!(late.validity().state, State::Valid);
    // A mock that was asked to be slow now and then is not late.
    let asked = planted_run(|run| {
        mock(run).service_ns.p99 = Some(30_000_000);
        mock(run).config.cold = Some(Slowdown { at_ns: 1, factor: 3.0 });
    });
    assert_eq!(asked.reasons, []);
}

#[test]
fn a_target_that_was_replaced_voids_the_run() {
    let restarted = planted_run(|run| run.meta.listeners.end[0].pid = 555);
    insta::assert_snapshot!(reason(&restarted, "target_restarted").detail, @"pid 101 listened at the start, pid 555 at the end");
    assert_eq!(restarted.validity().state, State::Void);
    // The same pid with another start is another process.
    let recycled = planted_run(|run| run.meta.listeners.end[0].start_ticks += 1);
    assert_eq!(recycled.reasons.len(), 1);
    let gone = planted_run(|run| run.meta.listeners.end.clear());
    insta::assert_snapshot!(reason(&gone, "target_restarted").detail, @"pid 101 listened at the start, nobody does at the end");
    // Workers come and go while their parent listens on.
    let worker = planted_run(|run| {
        run.meta.listeners.start.push(Listener { pid: 102, start_ticks: 4_300 });
        run.meta.listeners.end.push(Listener { pid: 103, start_ticks: 9_300 });
    });
    assert_eq!(worker.reasons, []);
    // Where it cannot be told, or the run ended otherwise, nothing is said.
    assert_eq!(planted_run(|run| run.meta.listeners.start.clear()).reasons, []);
    let died = planted_run(|run| {
        run.meta.listeners.end.clear();
        run.meta.outcome.as_mut().unwrap().state = OutcomeState::TargetDied;
    });
    assert_eq!(died.reasons.len(), 1);
    assert_eq!(died.reasons[0].gate, "target_died");
}
