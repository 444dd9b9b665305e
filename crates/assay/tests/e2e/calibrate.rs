//! `assay calibrate` at small size, and what `[require]` makes of a calibration.

use std::fs;

use record::calibration::Calibration;
use record::compare::Matrix;
use record::layout;
use record::seal::Sealed;

use crate::support::{Bench, Lab, names, read};

/// A ramp of two points in 200 ms windows, and the calibration as matrices find it.
fn calibrated(lab: &Lab, more: &[&str]) -> Calibration {
    let mut arguments = vec!["calibrate", "bench.toml", "--settle", "50ms", "--measure", "200ms"];
    arguments.extend(["--json", "out.json"]);
    arguments.extend(more);
    lab.assay(&arguments).expect(0);
    let folder = lab.path().join("state/assay/calibrations");
    let name = names(&folder).into_iter().next().expect("one is kept");
    let kept = Calibration::read(&folder.join(name)).expect("a sealed calibration");
    assert_eq!(read::<Calibration>(&lab.path().join("out.json")), kept);
    let label = lab.path().join(&kept.runs);
    assert_eq!(Calibration::read(&label.join(layout::CALIBRATION)).expect("archived"), kept);
    kept
}

fn required(knee: &str) -> Bench {
    Bench::mock().more(&format!("[require]\ncalibration = {{ age = \"1d\", knee = \"{knee}\" }}\n"))
}

#[test]
fn a_ramp_has_its_floor_and_each_mode_its_connections() {
    let lab = Lab::new();
    lab.write("bench.toml", &Bench::mock().toml());
    let calibration = calibrated(&lab, &["--ramp", "1,3"]);
    assert_eq!(calibration.of.model, "closed");
    let [kept, new] = calibration.ramps.as_slice() else { panic!("two modes") };
    assert_eq!((kept.mode.as_str(), new.mode.as_str()), ("keep-alive", "close"));
    for ramp in [kept, new] {
        let loads: Vec<f64> = ramp.points.iter().map(|point| point.load).collect();
        assert_eq!(loads, [1.0, 3.0]);
        assert_eq!(ramp.repeat.as_ref().map(|point| point.load), Some(1.0));
        assert_eq!(ramp.basis, "unowned", "the mock says what it spends");
        assert!(ramp.noise_floor_ns.is_some());
        // The mock sleeps 2 ms, which are its own.
        assert!(ramp.points[0].wait_mean_ns >= Some(1_990_000.0));
        assert!(ramp.points[0].unowned_mean_ns < ramp.points[0].wait_mean_ns);
    }
    assert!(kept.points.iter().all(|point| point.connections_per_request < 0.1));
    assert!(new.points.iter().all(|point| point.connections_per_request > 0.9));
    lab.assert_nothing_runs();
}

/// K-111: sixteen workers. What waits for one of them is owned by nobody; throughput grows on.
#[test]
fn a_limit_of_workers_is_found_as_a_knee() {
    let lab = Lab::new();
    let bench = Bench::mock().target("mock.workers", "16").target("mock.latency", "\"20ms\"");
    lab.write("bench.toml", &bench.toml());
    let calibration = calibrated(&lab, &["--ramp", "4,64"]);
    let kept = &calibration.ramps[0];
    // 64 users over 16 workers: each waits 60 ms for one, however slow this machine is.
    assert!(kept.points[1].unowned_mean_ns >= Some(30_000_000.0), "{:?}", kept.points[1]);
    if kept.noise_floor_ns < Some(5_000_000.0) {
        assert_eq!(kept.knee, Some([4.0, 64.0]), "{kept:?}");
    }
}

#[test]
fn a_matrix_that_requires_a_calibration_is_refused_without_one() {
    let lab = Lab::new();
    let bench = required("50%");
    let ran = lab.run(&bench, "none", &[]).expect(5);
    assert!(
        ran.stderr.contains("no calibration for this host over p0 in closed loop"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("assay calibrate bench.toml"), "{}", ran.stderr);
    assert!(!lab.label("none").exists());

    lab.write("bench.toml", &bench.toml());
    let calibration = calibrated(&lab, &["--ramp", "1,3"]);
    let ran = lab.run(&bench, "stands", &[]).expect(0);
    assert!(ran.stdout.contains(&format!("calibrated {}", calibration.made_utc)), "{}", ran.stdout);
    let matrix: Matrix = read(&lab.label("stands").join(layout::MATRIX_JSON));
    let calibrated = matrix.tables.calibrated.expect("in the table");
    assert_eq!(calibrated.sha256, calibration.sha256);

    // One of a closed loop says nothing about an open one (K-114).
    let open = "[target.api]\nmock = { latency = \"1ms\" }\n[scenario.get]\nget = \"/\"\n[load.x]\n\
        rate = \"50/s\"\nmeasure = \"300ms\"\n[gates]\nwindow = \"100ms\"\n[require]\n\
        calibration = {}\n";
    lab.write("open.toml", open);
    let ran = lab.assay(&["run", "open.toml", "--label", "open"]).expect(5);
    assert!(ran.stderr.contains("another arrival model: `closed`, here `open`"), "{}", ran.stderr);

    // Neither does an old one.
    let ran = lab.run(&bench, "old", &["require.calibration.age=1ns"]).expect_one_of(&[2, 5]);
    assert!(!lab.label("old").exists(), "{}", ran.stderr);
}

/// K-113: the calibration has its knee planted below the users of the cell.
#[test]
fn a_cell_above_the_knee_is_said_in_the_heading() {
    let lab = Lab::new();
    let bench = required("50%");
    lab.write("bench.toml", &bench.toml());
    let mut calibration = calibrated(&lab, &["--ramp", "1,3"]);
    let folder = lab.path().join("state/assay/calibrations");
    let path = folder.join(&names(&folder)[0]);
    let mut plant = |knee: Option<[f64; 2]>| {
        calibration.ramps[0].knee = knee;
        layout::write_json(&path, &calibration.clone().sealed()).expect("written");
    };
    plant(Some([1.0, 3.0]));
    let ran = lab.run(&bench, "above", &[]).expect(0);
    assert!(ran.stdout.contains("2 users are above 50 % of the knee at 3"), "{}", ran.stdout);
    let page = fs::read_to_string(lab.label("above").join(layout::MATRIX_MD)).expect("a page");
    assert!(page.contains("2 users are above 50 % of the knee at 3"), "{page}");
    plant(Some([4.0, 8.0]));
    let ran = lab.run(&bench, "below", &[]).expect(0);
    assert!(!ran.stdout.contains("of the knee"), "{}", ran.stdout);
}

/// K-174: the evidence of the step before is gone, so the next one stops and names it.
#[test]
fn a_label_whose_calibration_is_gone_is_not_resumed() {
    let lab = Lab::new();
    let bench = required("50%");
    lab.write("bench.toml", &bench.toml());
    calibrated(&lab, &["--ramp", "1,3"]);
    lab.run(&bench, "x", &[]).expect(0);
    let run = lab.only_run("x");
    fs::remove_file(run.join(layout::DIGEST_JSON)).expect("the run is incomplete");
    let kept = lab.label("x").join(layout::CALIBRATION);
    let bytes = fs::read(&kept).expect("archived");
    fs::remove_file(&kept).expect("removed");
    let resume = || lab.assay(&["run", "bench.toml", "--label", "x", "--resume"]);
    let ran = resume().expect(5);
    assert!(ran.stderr.contains("calibration.json"), "{}", ran.stderr);
    fs::write(&kept, bytes).expect("put back");
    resume().expect(0);
}
