use record::foreign::{
    Figure, ForeignRecord, ForeignRun, ForeignWarmup, Habits, Quantile, UNEXPLAINED,
};
use record::mock::{MockRecord, Stall};

use super::own_figures;
use crate::samples;

/// A run of which the mock saw 26,400 requests of 10 ms over 33 s.
pub(crate) fn run() -> ForeignRun {
    ForeignRun {
        format: record::Format::v1("assay.foreign"),
        generator: "wrk".to_owned(),
        adapter: "wrk".to_owned(),
        command: vec!["wrk".to_owned()],
        own: ForeignRecord {
            requests: 26_400,
            rate_per_s: Some(800.0),
            duration_ns: Some(33_000_000_000),
            ..ForeignRecord::default()
        },
        habits: Habits { drops_in_flight: true, ..Habits::default() },
        tolerance_requests: 8,
        warmup: None,
        elapsed_ns: 33_100_000_000,
        cpu_user_ns: 1_000_000_000,
        cpu_sys_ns: 1_000_000_000,
        peak_rss_bytes: 1 << 20,
    }
}

fn causes(run: &ForeignRun, mock: &MockRecord, figure: &str) -> Vec<String> {
    let rows = own_figures(run, &samples::load(), Some(mock));
    rows.into_iter().find(|row| row.figure == figure).expect("a row").causes
}

fn p99(value_ns: u64, resolution_ns: u64) -> Vec<Quantile> {
    vec![Quantile { share: 0.99, figure: Figure { value_ns, resolution_ns } }]
}

/// wrk fills a gap of a closed loop with samples of its own; another tool's tail has no such cause.
#[test]
fn a_tail_that_was_made_up_is_named() {
    let added = "samples that it adds behind long answers and never sent";
    let mock = samples::mock();
    let figure = |value_ns| Some(Figure { value_ns, resolution_ns: 1_000 });
    let mut run = run();
    run.own.quantiles = p99(950_000_000, 1_000);
    (run.own.mean, run.own.max) = (figure(84_000_000), figure(1_000_000_000));
    assert!(!causes(&run, &mock, "p99").contains(&added.to_owned()));
    run.habits.adds_samples = true;
    for name in ["p99", "mean", "time in flight"] {
        assert!(causes(&run, &mock, name).contains(&added.to_owned()), "{name}");
    }
    // Without a long answer it adds none.
    run.own.max = figure(100_000_000);
    assert!(!causes(&run, &mock, "p99").contains(&added.to_owned()));
}

#[test]
fn what_is_equal_needs_no_cause() {
    let (run, mock) = (run(), samples::mock());
    for figure in ["requests", "failures", "rate"] {
        assert_eq!(causes(&run, &mock, figure), [""; 0], "{figure}");
    }
}

#[test]
fn a_count_is_explained_by_what_was_in_flight_or_by_the_warm_up() {
    let mock = samples::mock();
    let mut run = run();
    run.own.requests = 26_395;
    assert_eq!(causes(&run, &mock, "requests"), ["5 in flight when its time was up"]);
    run.own.requests = 27_000;
    assert_eq!(causes(&run, &mock, "requests"), [UNEXPLAINED]);
    run.warmup = Some(ForeignWarmup { witnessed: Some(601), ..ForeignWarmup::default() });
    assert_eq!(causes(&run, &mock, "requests"), ["the 601 requests of its warm-up are included"]);
}

#[test]
fn a_rate_over_another_window_says_so() {
    let mut run = run();
    run.own.rate_per_s = Some(1_000.0);
    run.own.duration_ns = Some(26_400_000_000);
    let said = causes(&run, &samples::mock(), "rate").join("; ");
    assert!(said.contains("26.4 s instead of the 33.0 s"), "{said}");
}

#[test]
fn a_latency_is_explained_by_its_step_and_by_the_client_side() {
    let mock = samples::mock();
    let truth = mock.service_ns.p99.expect("a p99");
    let mut run = run();
    run.own.quantiles = p99(truth + 400_000, 1_000_000);
    assert_eq!(causes(&run, &mock, "p99"), ["rounded to 1.00 ms"]);
    run.own.quantiles = p99(truth + 3_000_000, 1_000);
    let said = causes(&run, &mock, "p99");
    assert!(said[0].contains("the client's own side, connecting included"), "{said:?}");
    run.own.quantiles = p99(truth, 1);
    assert_eq!(causes(&run, &mock, "p99"), [""; 0]);
}

#[test]
fn a_latency_below_what_the_mock_spent_is_unexplained() {
    let mock = samples::mock();
    let truth = mock.service_ns.p99.expect("a p99");
    let mut run = run();
    run.own.quantiles = p99(truth / 2, 1_000);
    assert_eq!(causes(&run, &mock, "p99"), [UNEXPLAINED]);
    // Unless it leaves failures out, and there were some.
    run.habits.omits_failures = true;
    let failed = MockRecord { failed: 100, ..mock.clone() };
    assert_eq!(causes(&run, &failed, "p99"), ["failed requests are excluded"]);
}

#[test]
fn a_stalling_mock_names_the_omission_of_a_closed_loop() {
    let mut mock = samples::mock();
    let mut run = run();
    run.own.mean = Some(Figure { value_ns: 10_000_000, resolution_ns: 1 });
    assert!(!causes(&run, &mock, "time in flight").join(" ").contains("closed loop"));
    mock.config.stall = Some(Stall { length_ns: 1_000_000_000, period_ns: 5_000_000_000 });
    assert!(causes(&run, &mock, "time in flight").join(" ").contains("closed loop"));
}

#[test]
fn without_a_mock_there_is_no_truth_and_no_cause() {
    let rows = own_figures(&run(), &samples::load(), None);
    assert!(rows.iter().all(|row| row.truth.is_none() && row.causes.is_empty()), "{rows:?}");
}
