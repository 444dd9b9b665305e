//! The gates on foreign generators, each with the fault planted in the records.

use record::foreign::{Figure, Quantile};
use record::mock::MockRecord;
use record::plan::{Generator, GeneratorKind, TargetKind};
use record::{Effect, State};

use super::Judgement;
use super::tests::{planted_run, reason};
use crate::own_figures::tests::run as foreign_run;
use crate::run_dir::{Evidence, RunDir};

fn mock(run: &mut RunDir) -> &mut MockRecord {
    let Evidence::Present(mock) = &mut run.mock else { panic!("the sample has a mock") };
    mock
}

/// The sample as if `wrk` had loaded it, then a fault.
fn planted(fault: impl FnOnce(&mut RunDir)) -> Judgement {
    planted_run(|run| {
        run.meta.effective.generator = Generator {
            name: "wrk".to_owned(),
            kind: GeneratorKind::Adapter("wrk".to_owned()),
            ..Generator::default()
        };
        run.foreign = Evidence::Present(foreign_run());
        let Evidence::Present(load) = &mut run.load else { panic!("the sample has a load") };
        load.generator.cpu_span_ns = Some(load.window_ns);
        fault(run);
    })
}

#[test]
fn a_foreign_run_in_order_trips_nothing() {
    assert_eq!(planted(|_| {}).reasons, []);
}

#[test]
fn a_count_beyond_what_is_in_flight_voids_the_run() {
    let of = |count: u64| {
        planted(|run| {
            let Evidence::Present(foreign) = &mut run.foreign else { panic!("foreign") };
            foreign.own.requests = count;
        })
    };
    // Eight users may have one each in flight at the end.
    assert_eq!(of(26_400 - 8).reasons, []);
    let judgement = of(26_400 - 9);
    assert_eq!(reason(&judgement, "counts_disagree").value, Some(1.0));
    assert_eq!(judgement.validity().state, State::Void);
    assert_eq!(reason(&of(30_000), "counts_disagree").value, Some(3_592.0));
}

#[test]
fn a_foreign_generator_of_another_shape_voids_the_run() {
    // `==`: users that keep their connections.
    let judgement = planted(|run| mock(run).distinct_peer_ports = 26_400);
    let said = &reason(&judgement, "ports_at_mock").detail;
    assert!(said.contains("26400 client ports") && said.contains("(`== 8`)"), "{said}");
    assert_eq!(judgement.validity().state, State::Void);
    let fewer = planted(|run| mock(run).distinct_peer_ports = 7);
    assert!(fewer.validity().state == State::Void);
    // One that tries a connection first is held to one more.
    let probing = planted(|run| {
        let Evidence::Present(foreign) = &mut run.foreign else { panic!("foreign") };
        foreign.habits.probe_connections = 1;
        mock(run).distinct_peer_ports = 9;
    });
    assert_eq!(probing.reasons, []);
    // `~=`: a connection for each request, few enough for every port to be another.
    let each = |requests: u64, ports: u64| {
        planted(|run| {
            run.meta.effective.load.connections = "new".to_owned();
            let Evidence::Present(foreign) = &mut run.foreign else { panic!("foreign") };
            foreign.own.requests = requests;
            foreign.own.rate_per_s = None;
            let mock = mock(run);
            (mock.served, mock.distinct_peer_ports) = (requests, ports);
        })
    };
    assert_eq!(each(4_000, 3_960).reasons, []);
    assert!(reason(&each(4_000, 8), "ports_at_mock").detail.contains("(`~= 4000`"));
    // `>>`: so many that the kernel gives ports out again; equality would fail on a healthy run.
    assert_eq!(each(400_000, 28_000).reasons, []);
    assert!(reason(&each(400_000, 8), "ports_at_mock").detail.contains("`>> 8`"));
}

#[test]
fn a_foreign_generator_alone_is_told_to_have_no_witness() {
    let judgement = planted(|run| {
        run.meta.effective.target.kind = TargetKind::Url("http://127.0.0.1:1".to_owned());
        run.mock = Evidence::Absent("`mock.json` is missing".to_owned());
    });
    assert_eq!(reason(&judgement, "no_witness").effect, Effect::Flag);
}

#[test]
fn a_figure_that_cannot_be_is_flagged() {
    let judgement = planted(|run| {
        let truth = mock(run).service_ns.p99.expect("a p99");
        let Evidence::Present(foreign) = &mut run.foreign else { panic!("foreign") };
        let figure = Figure { value_ns: truth / 3, resolution_ns: 1_000 };
        foreign.own.quantiles = vec![Quantile { share: 0.99, figure }];
    });
    let reason = reason(&judgement, "own_figures");
    assert!(reason.detail.contains("`p99`"), "{}", reason.detail);
    assert_eq!(reason.effect, Effect::Flag);
}

#[test]
fn a_foreign_run_without_its_figures_lacks_evidence() {
    let judgement =
        planted(|run| run.foreign = Evidence::Absent("`foreign.json` is missing".to_owned()));
    assert!(reason(&judgement, "absent_evidence").detail.contains("foreign.json"));
}
