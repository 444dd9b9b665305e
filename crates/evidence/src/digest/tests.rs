//! Digests of hand-made run directories.

use record::load::LoadRecord;
use record::meta::{Outcome, OutcomeState};
use record::plan::{Compare, Extent};
use record::resources::HOST_HEADER;

use super::*;
use crate::samples::{self, SampleRun};

fn sound() -> SampleRun {
    SampleRun::sound(1, 1, &samples::level("base", 0, None))
}

fn digest_of(run: &SampleRun) -> Digest {
    let dir = tempfile::tempdir().unwrap();
    run.write(dir.path());
    digest(dir.path(), &Gates::default(), &Compare::default()).unwrap()
}

fn value(digest: &Digest, metric: &str) -> Option<f64> {
    digest.metrics[metric].value
}

fn with_load(change: impl FnOnce(&mut LoadRecord)) -> SampleRun {
    let mut run = sound();
    let mut load = samples::load();
    load.workers.clear();
    change(&mut load);
    run.load = Some(load);
    run
}

#[test]
fn figures_follow_from_counts_and_nanoseconds() {
    let digest = digest_of(&sound());
    assert_eq!(digest.validity, Validity::default());
    assert_eq!(value(&digest, "throughput"), Some(800.0));
    assert_eq!(value(&digest, "p99"), Some(20_000_000.0));
    assert_eq!(value(&digest, "failures"), Some(0.0));
    // 3 s and 1 s of CPU over 24,000 successes.
    assert_eq!(value(&digest, "generator.cpu_per_request"), Some(125_000.0));
    assert_eq!(value(&digest, "target.cpu_per_request").map(f64::round), Some(41_667.0));
    assert!(!digest.metrics.contains_key("time"), "only a count has a time");
    let target = &digest.resources["target"];
    assert_eq!((target.samples, target.window_ns), (3, samples::WINDOW_NS));
    assert_eq!(target.cpu_ns, Some(1_000_000_000));
    assert_eq!(target.switches_voluntary, Some(30));
    assert_eq!(target.rss_peak_bytes, Some(8_388_608));
    assert_eq!(digest.host.busy_share, Some(0.125));
    assert_eq!(digest.host.steal_share, Some(0.0));
    assert_eq!(digest.host.frequency_min_hz, None, "an absent sensor is unknown, not zero");
    assert_eq!(digest.host.foreign_name.as_deref(), Some("sshd"));
}

#[test]
fn rates_come_from_nanoseconds_not_from_whole_seconds() {
    let digest = digest_of(&with_load(|load| load.window_ns = 29_871_234_567));
    let rate = value(&digest, "throughput").unwrap();
    assert!((rate - 24_000.0 / 29.871_234_567).abs() < 1e-9, "{rate}");
}

#[test]
fn histograms_and_series_stay_in_the_load_record() {
    let run = with_load(|load| {
        load.series = vec![samples::second(0, &[1_000_000])];
        load.steps[0].histograms.insert("latency.succeeded".to_owned(), "x".repeat(100));
    });
    let load = digest_of(&run).load.unwrap();
    assert!(load.series.is_empty());
    assert!(load.steps[0].histograms.is_empty());
    assert_eq!(load.steps[0].request_sha256, samples::load().steps[0].request_sha256);
}

#[test]
fn a_void_run_keeps_its_values_under_their_state() {
    let mut run = sound();
    run.meta.outcome =
        Some(Outcome { state: OutcomeState::TargetDied, detail: "signal 9".to_owned() });
    let digest = digest_of(&run);
    assert_eq!(value(&digest, "throughput"), Some(800.0));
    assert!(digest.metrics.values().all(|metric| metric.state == State::Void));
}

#[test]
fn a_saturated_generator_voids_latency_and_bounds_throughput() {
    let digest = digest_of(&with_load(|load| load.generator.cpu_user_ns = 29_000_000_000));
    let state = |name: &str| digest.metrics[name].state;
    assert_eq!(state("p50"), State::Void);
    assert_eq!(state("throughput"), State::AtLeast);
    // What the target used for a request does not depend on who asked.
    assert_eq!(state("target.cpu_per_request"), State::Valid);
}

#[test]
fn censoring_reaches_the_percentiles_above_it() {
    // 240 of 24,000 are 1 %: p99 and beyond are bounds, p95 is not.
    let digest = digest_of(&with_load(|load| {
        load.succeeded -= 240;
        load.unfinished = 240;
    }));
    let state = |name: &str| digest.metrics[name].state;
    assert_eq!(digest.validity.latency, State::Censored);
    assert_eq!((state("p50"), state("p95")), (State::Valid, State::Valid));
    assert_eq!((state("p99"), state("p999")), (State::Censored, State::Censored));
    assert_eq!(state("throughput"), State::Valid);
}

#[test]
fn an_unknown_percentile_has_no_value() {
    let digest = digest_of(&with_load(|load| load.latency_ns.p999 = None));
    assert_eq!(value(&digest, "p999"), None);
    assert_eq!(digest.metrics["p999"].samples, Some(24_000));
}

#[test]
fn failing_fast_does_not_look_cheap() {
    let half = digest_of(&with_load(|load| {
        load.succeeded = 12_000;
        load.failed = 12_000;
        load.failures.insert("status".to_owned(), 12_000);
    }));
    assert_eq!(value(&half, "throughput"), Some(400.0));
    assert!(
        value(&half, "target.cpu_per_request")
            > value(&digest_of(&sound()), "target.cpu_per_request")
    );
}

#[test]
fn a_missing_edge_is_replaced_by_the_nearest_sample_inside() {
    let mut run = sound();
    let csv = samples::resources_csv();
    let kept: Vec<&str> = csv.lines().filter(|line| !line.contains("window_end")).collect();
    run.resources = Some(kept.join("\n") + "\n");
    let digest = digest_of(&run);
    let target = &digest.resources["target"];
    assert_eq!((target.samples, target.window_ns), (2, samples::WINDOW_NS / 2));
    assert_eq!(target.cpu_ns, Some(500_000_000));
    let busy = target.cores_busy.unwrap();
    assert!((busy - 1.0 / 30.0).abs() < 1e-9, "{busy}");
    assert_eq!(value(&digest, "target.cpu_per_request"), None, "half a window is no window");
}

#[test]
fn a_counter_that_went_back_is_unknown() {
    let mut run = sound();
    let mut lines: Vec<String> = samples::resources_csv().lines().map(str::to_owned).collect();
    let last = lines.iter().rposition(|line| line.contains("target")).unwrap();
    lines[last] = lines[last].replace("1500000000", "1");
    run.resources = Some(lines.join("\n") + "\n");
    let digest = digest_of(&run);
    assert_eq!(digest.resources["target"].cpu_ns, None);
    assert_eq!(value(&digest, "target.cpu_per_request"), None);
}

#[test]
fn without_any_load_record_there_are_no_figures() {
    let mut run = sound();
    run.load = None;
    run.host = Some(format!("{HOST_HEADER}\n"));
    let digest = digest_of(&run);
    assert!(digest.metrics.is_empty());
    assert_eq!(digest.validity.state, State::Void);
    assert_eq!(digest.load, None);
}

#[test]
fn the_primary_metric_fits_the_load() {
    let mut digest = digest_of(&sound());
    assert_eq!(primary_of(&digest), "throughput");
    digest.identity.effective.load.model = plan::Model::Rate(800.0);
    assert_eq!(primary_of(&digest), "p99");
    digest.identity.effective.load.measure = Extent::Count(1_000);
    assert_eq!(primary_of(&digest), "time");
    digest.primary = Some("p50".to_owned());
    assert_eq!(primary_of(&digest), "p50");
    let counted = digest_of(&with_load(|load| {
        load.window_asked_ns = None;
        load.window_asked_count = Some(24_000);
    }));
    assert_eq!(value(&counted, "time"), Some(30e9));
}

#[test]
fn what_a_level_set_comes_from_the_plan() {
    let label = tempfile::tempdir().unwrap();
    layout::write_json(&label.path().join(layout::PLAN), &samples::plan(&["base"], 1)).unwrap();
    let dir = sound().complete(label.path());
    let digest = digest(&dir, &Gates::default(), &Compare::default()).unwrap();
    assert_eq!(
        digest.identity.sets,
        BTreeMap::from([("target".to_owned(), BTreeSet::from(["target.mock.latency".to_owned()]))])
    );
}

#[test]
fn the_same_directory_elsewhere_gives_the_same_bytes() {
    let bytes = || serde_json::to_vec(&digest_of(&sound())).unwrap();
    assert_eq!(bytes(), bytes());
}
