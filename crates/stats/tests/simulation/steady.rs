//! Steady state: each function raises few alarms on a series that stays where it is, and each
//! fails on the fault that it is for.

use stats::change_point::scan;
use stats::random::Random;
use stats::stationarity::{adf, batch_means, halves};
use stats::trend::{mann_kendall, theil_sen};

use crate::{autoregressive, share, slack, white};

const TRIALS: usize = 2_000;

/// Whether a series raises an alarm.
type Alarm = fn(&[f64]) -> bool;

fn drifts(values: &[f64]) -> bool {
    let times: Vec<f64> = (0..values.len()).map(|t| t as f64).collect();
    theil_sen(&times, values, 0.95)
        .and_then(|line| line.slope.interval)
        .is_some_and(|[low, high]| low > 0.0 || high < 0.0)
}

fn halves_differ(values: &[f64]) -> bool {
    halves(values).is_some_and(|shift| shift.p_value <= 0.05)
}

fn breaks(values: &[f64]) -> bool {
    scan(values).is_some_and(|change| change.p_value <= 0.05)
}

fn wanders(values: &[f64]) -> bool {
    adf(values).is_some_and(|test| !test.rejected)
}

#[test]
fn white_noise_is_steady() {
    let tests: [(&str, Alarm); 4] = [
        ("slope", drifts),
        ("halves", halves_differ),
        ("change point", breaks),
        ("Mann-Kendall", |values| mann_kendall(values).is_some_and(|test| test.p_value <= 0.05)),
    ];
    for n in [20, 60, 180] {
        for (name, alarm) in tests {
            let alarms = share(TRIALS, n as u64, |random| alarm(&white(n, random)));
            assert!(alarms <= 0.05 + slack(0.05, TRIALS), "{name}, {n} values: {alarms}");
            assert!(alarms > 0.002, "{name}, {n} values: {alarms}");
        }
    }
    // The unit root has the other null hypothesis: it must be rejected, which takes values.
    for (n, most) in [(60, 0.2), (120, 0.02), (300, 0.0)] {
        let alarms = share(500, n as u64, |random| wanders(&white(n, random)));
        assert!(alarms <= most, "{n} values: {alarms}");
    }
}

#[test]
fn correlation_alone_is_no_change_of_level() {
    for r in [0.3, 0.6, 0.8] {
        for n in [60, 300] {
            let alarms = share(1_000, 5, |random| breaks(&autoregressive(n, r, random)));
            assert!(alarms <= 0.07, "{r}, {n} values: {alarms}");
        }
    }
}

#[test]
fn each_fault_is_seen_by_the_function_that_is_for_it() {
    let planted = |random: &mut Random, fault: fn(usize) -> f64| -> Vec<f64> {
        white(120, random).iter().enumerate().map(|(t, noise)| fault(t) + noise).collect()
    };
    let seen = |alarm: Alarm, fault: fn(usize) -> f64| {
        share(300, 6, |random| alarm(&planted(random, fault)))
    };
    // A slow rise by two standard deviations, a step of 1.5, and a last third that is different.
    assert!(seen(drifts, |t| t as f64 / 60.0) > 0.95);
    assert!(seen(halves_differ, |t| f64::from(u8::from(t >= 60))) > 0.95);
    assert!(seen(breaks, |t| 1.5 * f64::from(u8::from(t >= 90))) > 0.95);
    let walks = share(500, 7, |random| {
        let mut level = 0.0;
        let walk: Vec<f64> = white(120, random)
            .iter()
            .map(|step| {
                level += step;
                level
            })
            .collect();
        wanders(&walk)
    });
    // A unit root is rejected by mistake in 5 %.
    assert!((walks - 0.95).abs() <= slack(0.05, 500), "{walks}");
    let dependent = share(300, 8, |random| {
        batch_means(&planted(random, |t| t as f64 / 10.0))
            .is_some_and(|batches| !batches.independent)
    });
    assert!(dependent > 0.95, "{dependent}");
}

#[test]
fn a_change_is_placed_where_it_is() {
    let mut away = 0.0;
    share(300, 9, |random| {
        let values: Vec<f64> = white(200, random)
            .iter()
            .enumerate()
            .map(|(t, noise)| noise + if t >= 130 { 2.0 } else { 0.0 })
            .collect();
        away += scan(&values).unwrap().index.abs_diff(130) as f64 / 300.0;
        true
    });
    assert!(away < 2.5, "{away}");
}
