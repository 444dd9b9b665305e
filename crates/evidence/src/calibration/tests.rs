//! Ramps with a planted knee, a baseline that does not come back, failures, a silent target.

use record::Summary;
use record::calibration::Calibration;
use record::plan::{LevelOf, Model};
use record::seal::{SealError, Sealed};

use super::calibration;
use crate::samples::{self, SampleRun};

const USERS: [u32; 5] = [1, 4, 8, 16, 32];

fn levels(mode: &str, point: &str) -> Vec<LevelOf> {
    let level = |factor: &str, name: &str| LevelOf {
        factor: factor.to_owned(),
        ..samples::level(name, 0, None)
    };
    vec![level("mode", mode), level("point", point)]
}

/// A point whose mean unowned time is `unowned_ns`; its throughput is that of its users.
fn point(order: u32, mode: &str, name: &str, users: u32, unowned_ns: f64) -> SampleRun {
    let mut run = SampleRun::sound(1, order, &samples::level("x", 0, None));
    run.meta.levels = levels(mode, name);
    run.meta.run = format!("01-{order:02}-{mode}+{name}");
    run.meta.effective.load.model = Model::Users(users);
    run.meta.started_unix_ns = Some(7);
    if let Some(load) = &mut run.load {
        load.users = Some(users);
        load.connections.opened = u64::from(users);
        load.connections.distinct_ports = u64::from(users);
        load.rate_per_s = 100.0 * f64::from(users.min(16));
        load.unowned_ns = Summary {
            count: load.succeeded,
            mean: Some(unowned_ns),
            ..samples::summary(load.succeeded, 1)
        };
    }
    run
}

/// A ramp of both modes; `again_ns` is the repeat of the lowest point.
fn ramps(kept_ns: [f64; 5], again_ns: f64) -> Vec<SampleRun> {
    let mut runs = Vec::new();
    for (mode, more_ns) in [("keep-alive", 0.0), ("close", 200_000.0)] {
        for (users, ns) in USERS.into_iter().zip(kept_ns) {
            let order = runs.len() as u32 + 1;
            runs.push(point(order, mode, &format!("at-{users}"), users, ns + more_ns));
        }
        let order = runs.len() as u32 + 1;
        runs.push(point(order, mode, "again-1", 1, again_ns + more_ns));
    }
    runs
}

fn calibrated(runs: &[SampleRun]) -> Calibration {
    let dir = tempfile::tempdir().unwrap();
    for run in runs {
        run.complete(dir.path());
    }
    calibration(dir.path()).unwrap()
}

const FLAT: [f64; 5] = [260_000.0, 270_000.0, 265_000.0, 272_000.0, 268_000.0];

#[test]
fn the_knee_is_where_unowned_time_leaves_its_baseline() {
    let flat = calibrated(&ramps(FLAT, 266_000.0));
    let kept = &flat.ramps[0];
    assert_eq!((kept.noise_floor_ns, kept.knee), (Some(6_000.0), None));
    // The throughput of the sample stops at 16 users, whatever waits.
    assert_eq!(kept.plateau, Some(16.0));
    insta::assert_snapshot!(flat.notes.join("\n"), @"
    keep-alive: throughput stops growing at 16 and nothing waits: no knee in this ramp
    keep-alive, 1: mock_in_flight: the mock had 8 requests in flight at once, there are only 1 users
    keep-alive, 4: mock_in_flight: the mock had 8 requests in flight at once, there are only 4 users
    keep-alive, 1: mock_in_flight: the mock had 8 requests in flight at once, there are only 1 users
    close: throughput stops growing at 16 and nothing waits: no knee in this ramp
    close, 1: mock_in_flight: the mock had 8 requests in flight at once, there are only 1 users
    close, 4: mock_in_flight: the mock had 8 requests in flight at once, there are only 4 users
    close, 1: mock_in_flight: the mock had 8 requests in flight at once, there are only 1 users
    ");
    let mut queued = FLAT;
    queued[4] = 461_000.0;
    let knee = calibrated(&ramps(queued, 266_000.0));
    assert_eq!(knee.ramps[0].knee, Some([16.0, 32.0]));
    insta::assert_snapshot!(knee.notes.join("\n"), @"
    keep-alive: throughput stops growing at 16, before the knee at 32: users who wait send no more, which is no limit of the target
    keep-alive, 1: mock_in_flight: the mock had 8 requests in flight at once, there are only 1 users
    keep-alive, 4: mock_in_flight: the mock had 8 requests in flight at once, there are only 4 users
    keep-alive, 1: mock_in_flight: the mock had 8 requests in flight at once, there are only 1 users
    close: throughput stops growing at 16 and nothing waits: no knee in this ramp
    close, 1: mock_in_flight: the mock had 8 requests in flight at once, there are only 1 users
    close, 4: mock_in_flight: the mock had 8 requests in flight at once, there are only 4 users
    close, 1: mock_in_flight: the mock had 8 requests in flight at once, there are only 1 users
    ");
}

/// A lowest point that does not come back makes the floor as high as what was to be seen.
#[test]
fn a_baseline_that_moved_is_the_noise_floor() {
    let mut queued = FLAT;
    queued[4] = 461_000.0;
    let moved = calibrated(&ramps(queued, 340_000.0));
    assert_eq!((moved.ramps[0].noise_floor_ns, moved.ramps[0].knee), (Some(80_000.0), None));
    let mut without = ramps(queued, 266_000.0);
    without.retain(|run| !run.meta.run.contains("again-"));
    let without = calibrated(&without);
    assert_eq!((without.ramps[0].noise_floor_ns, without.price), (None, None));
    assert!(without.notes[0].contains("not repeated"), "{:?}", without.notes);
}

#[test]
fn a_connection_has_a_price_above_the_floor_or_none() {
    let price = calibrated(&ramps(FLAT, 266_000.0)).price.unwrap();
    assert_eq!((price.time_ns, price.noise_floor_ns), (200_000.0, 6_000.0));
    let noisy = calibrated(&ramps(FLAT, 500_000.0));
    assert!(noisy.price.is_some_and(|price| price.time_ns < price.noise_floor_ns));
    assert!(noisy.notes.iter().any(|note| note.contains("not above the noise floor")));
}

#[test]
fn a_failed_request_ends_it_and_a_silent_target_is_judged_by_the_wait() {
    let mut runs = ramps(FLAT, 266_000.0);
    if let Some(load) = &mut runs[0].load {
        load.failed = 1;
    }
    let failed = calibrated(&runs);
    assert_eq!((failed.ramps[0].noise_floor_ns, &failed.price), (None, &None));
    assert!(failed.notes[0].contains("1 requests failed"), "{:?}", failed.notes);
    let mut runs = ramps(FLAT, 266_000.0);
    for load in runs.iter_mut().filter_map(|run| run.load.as_mut()) {
        load.unowned_ns = Summary::default();
    }
    let silent = calibrated(&runs);
    assert_eq!(silent.ramps[0].basis, "wait");
    assert!(silent.notes[0].contains("does not say"), "{:?}", silent.notes);
}

#[test]
fn a_changed_calibration_is_no_calibration() {
    let calibration = calibrated(&ramps(FLAT, 266_000.0));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("c.json");
    record::layout::write_json(&path, &calibration).unwrap();
    assert_eq!(Calibration::read(&path).unwrap(), calibration);
    let mut changed = calibration.clone();
    changed.ramps[0].knee = None;
    changed.made_utc.push('0');
    record::layout::write_json(&path, &changed).unwrap();
    assert!(matches!(Calibration::read(&path), Err(SealError::Changed { .. })));
    let mut here = calibration.of.clone();
    assert_eq!(calibration.of.difference(&here), None);
    here.model = "open".to_owned();
    assert_eq!(
        calibration.of.difference(&here),
        Some(("arrival model", "closed".to_owned(), "open".to_owned()))
    );
}
