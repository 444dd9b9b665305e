//! Cells above a knee, and two prices that do not agree.

use record::Format;
use record::calibration::{Calibration, CalibrationOf, Price, Ramp};
use record::digest::Digest;
use record::plan::{Compare, Gates, Model};

use super::calibrated;
use crate::samples::{self, SampleRun};

/// Knee between 8 and 16 users, a connection for 200 us.
fn calibration() -> Calibration {
    let ramp = |mode: &str| Ramp {
        mode: mode.to_owned(),
        points: Vec::new(),
        repeat: None,
        basis: "unowned".to_owned(),
        noise_floor_ns: Some(5_000.0),
        knee: Some([8.0, 16.0]),
        plateau: None,
    };
    Calibration {
        format: Format::v1("assay.calibration"),
        sha256: "ab".repeat(32),
        made_utc: "2026-11-30T10:00:00Z".to_owned(),
        made_unix_ns: 0,
        of: CalibrationOf {
            host: "bench-1".to_owned(),
            kernel: "6.12.0".to_owned(),
            cpu_model: None,
            cores: 4,
            transport: "p0".to_owned(),
            model: "closed".to_owned(),
            target: "api, get".to_owned(),
        },
        ramps: vec![ramp("keep-alive"), ramp("close")],
        price: Some(Price {
            time_ns: 200_000.0,
            noise_floor_ns: 5_000.0,
            target_cpu_ns: None,
            generator_cpu_ns: None,
        }),
        notes: Vec::new(),
        runs: String::new(),
    }
}

/// A run of `users` with this mean latency in this connection mode.
fn digest(cell: &str, users: u32, connections: &str, mean_ns: f64) -> Digest {
    let mut run = SampleRun::sound(1, 1, &samples::level(cell, 0, None));
    run.meta.effective.load.model = Model::Users(users);
    run.meta.effective.load.connections = connections.to_owned();
    if let Some(load) = &mut run.load {
        load.latency_ns.mean = Some(mean_ns);
        if connections == "new" {
            load.connections.opened_in_window = load.succeeded;
        }
    }
    let dir = tempfile::tempdir().unwrap();
    run.write(dir.path());
    crate::digest(dir.path(), &Gates::default(), &Compare::default()).unwrap()
}

#[test]
fn a_cell_above_half_of_the_knee_is_named() {
    let (at, above) = (digest("at", 8, "per-user", 1e7), digest("above", 9, "per-user", 1e7));
    let said = calibrated(&calibration(), None, &[("1", &at), ("2", &above)]).above_knee;
    assert_eq!(said, ["above: 9 users are above 50 % of the knee at 16: it measures queues"]);
}

#[test]
fn two_prices_agree_or_are_said_not_to() {
    let kept = digest("kept", 8, "per-user", 10_000_000.0);
    let price = |mean_ns: f64| {
        let new = digest("new", 8, "new", mean_ns);
        let said = calibrated(&calibration(), None, &[("1", &kept), ("2", &new)]);
        said.prices[0].clone()
    };
    let near = price(10_220_000.0);
    assert_eq!((near.agrees, near.pairs, near.arms.as_str()), (true, 1, "new / kept"));
    assert!((near.cells_ns - 220_000.0).abs() < 1.0);
    assert!(!price(12_700_000.0).agrees);
    // Arms that differ in more than the connections have no price.
    let other = digest("new", 7, "new", 10_220_000.0);
    assert!(calibrated(&calibration(), None, &[("1", &kept), ("2", &other)]).prices.is_empty());
}
