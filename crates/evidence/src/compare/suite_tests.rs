//! One figure for many rows, and what the machine did meanwhile.

use record::compare::{Comparison, Geomean};
use record::plan::Compare;

use super::CompareOptions;
use super::fixture::{BASE, Label, base, null, other, slow, spread};

/// Rows of a scenario with their log-ratios, over 8 blocks; a null in each.
fn suite(rows: &[(&str, f64)]) -> Label {
    let mut label = Label::default();
    for (index, (row, effect)) in (0_u32..).zip(rows) {
        let row = other("scenario", row, index, false);
        let noise = spread(8, *effect, 0.004);
        for (block, (d, nothing)) in (1..).zip(noise.into_iter().zip(spread(8, 0.0, 0.003))) {
            let (first, second) = if block % 2 == 1 { (1, 2) } else { (2, 1) };
            let at = 10 * index;
            label.run(block, at + first, &[base(), row.clone()], BASE);
            label.run(block, at + second, &[slow(), row.clone()], BASE * d.exp());
            label.run(block, at + 3, &[null(), row.clone()], BASE * nothing.exp());
        }
    }
    label
}

fn over(guard: &[&str], weight: &[(&str, f64)]) -> Compare {
    Compare {
        over: Some("scenario".to_owned()),
        guard: guard.iter().map(|row| (*row).to_owned()).collect(),
        weight: weight.iter().map(|(row, weight)| ((*row).to_owned(), *weight)).collect(),
        ..Compare::default()
    }
}

fn geomean<'c>(comparison: &'c Comparison, level: &str) -> &'c Geomean {
    let mut found = comparison.tables.geomeans.iter().filter(|one| one.level == level);
    let first = found.next().expect("a geometric mean");
    assert!(found.next().is_none(), "one for each level");
    first
}

/// K-081: a guard at +50 % leaves the mean where it was, and is the worst row or not by itself.
#[test]
fn a_guard_stands_beside_the_mean_and_never_in_it() {
    let rows = [("arith", 0.02), ("strings", 0.04), ("large", 0.0)];
    let mut label = suite(&rows);
    label.registered(&over(&["large"], &[]));
    let without = geomean(&label.compared(), "slow").clone();
    assert_eq!((without.rows.len(), without.guards.len()), (2, 1));
    assert!((without.ratio.unwrap() - 0.03_f64.exp()).abs() < 1e-9);

    let mut shifted = suite(&[rows[0], rows[1], ("large", 1.5_f64.ln())]);
    shifted.registered(&over(&["large"], &[]));
    let with = geomean(&shifted.compared(), "slow").clone();
    assert_eq!(with.ratio, without.ratio);
    assert_eq!(with.effect_percent, without.effect_percent);
    assert!((with.guards[0].ratio - 1.5).abs() < 1e-9);
    // In throughput more is better, so that a guard at half is the worst row.
    let mut sunk = suite(&[rows[0], rows[1], ("large", 0.5_f64.ln())]);
    sunk.registered(&over(&["large"], &[]));
    let sunk = geomean(&sunk.compared(), "slow").clone();
    assert_eq!((sunk.ratio, sunk.worst.as_deref()), (without.ratio, Some("large")));
}

/// Weights, counts, the worst row, seed and draws, and the null's own mean beside it.
#[test]
fn rows_are_weighted_and_counted() {
    let mut label = suite(&[("arith", 0.06), ("strings", -0.06), ("jwks", 0.0), ("login", 0.05)]);
    label.registered(&over(&[], &[("arith", 3.0)]));
    let comparison = label.compared();
    let mean = geomean(&comparison, "slow");
    let expected: f64 = (3.0 * 0.06 - 0.06 + 0.05) / 6.0;
    assert!((mean.ratio.unwrap().ln() - expected).abs() < 1e-9);
    assert_eq!((mean.better, mean.worse, mean.equal), (2, 1, 1));
    assert_eq!(mean.worst.as_deref(), Some("strings"));
    assert_eq!((mean.draws, mean.seed), (10_000, 1));
    let effect = mean.effect_percent.unwrap();
    let [low, high] = effect.interval.unwrap();
    assert!(low < effect.value && effect.value < high && high - low < 1.0, "{effect:?}");
    assert_eq!(&comparison, &label.compared(), "the same seed, the same draws");
    let nothing = geomean(&comparison, "null");
    let [low, high] = nothing.effect_percent.unwrap().interval.unwrap();
    assert!(low <= 0.0 && 0.0 <= high);
}

/// Rows of one block share their host: the interval is wider than that of independent rows.
#[test]
fn the_interval_knows_that_rows_share_their_blocks() {
    let width = |shared: bool| {
        let mut label = Label::default();
        let noise = spread(8, 0.0, 0.05);
        for index in 0_u32..6 {
            let row = other("scenario", &format!("row{index}"), index, false);
            for block in 1..=8_u32 {
                // Shared: a bad block is bad for all rows. Else each row has it elsewhere.
                let shift = if shared { 0 } else { index as usize * 3 };
                let d = noise[(block as usize - 1 + shift) % 8];
                label.run(block, 10 * index + 1, &[base(), row.clone()], BASE);
                label.run(block, 10 * index + 2, &[slow(), row.clone()], BASE * d.exp());
            }
        }
        label.registered(&over(&[], &[]));
        let [low, high] =
            geomean(&label.compared(), "slow").effect_percent.unwrap().interval.unwrap();
        high - low
    };
    assert!(width(true) > 2.0 * width(false), "{} {}", width(true), width(false));
}

/// A void row is listed with its reason and has no part in the mean; `--over` asks for one where
/// none was registered.
#[test]
fn void_rows_are_listed_and_rows_may_be_asked_for() {
    let mut label = suite(&[("arith", 0.04), ("strings", 0.04)]);
    // A thing differs from itself in this row.
    label.edit(
        |run| run.cell == "null+strings",
        |run| super::fixture::set(run, "throughput", BASE * 0.9),
    );
    assert!(label.compared().tables.geomeans.is_empty());
    let options = CompareOptions { over: Some("scenario".to_owned()), ..CompareOptions::default() };
    let comparison = label.compared_with(&options).unwrap();
    let mean = geomean(&comparison, "slow");
    assert_eq!(mean.rows.iter().map(|row| row.row.as_str()).collect::<Vec<_>>(), ["arith"]);
    assert_eq!(mean.left_out[0].run, "strings");
    assert_eq!(mean.left_out[0].reason, "void: null_differs");
    assert!((mean.ratio.unwrap().ln() - 0.04).abs() < 1e-9);
}

/// Other factors keep their own means.
#[test]
fn a_third_factor_has_a_mean_for_each_of_its_levels() {
    let mut label = Label::default();
    for (t, transport) in [(0, "p0"), (1, "p1")] {
        for (s, scenario) in [(0, "a"), (1, "b")] {
            for block in 1..=6 {
                let at = 20 * t + 10 * s;
                let rest =
                    [other("scenario", scenario, s, false), other("transport", transport, t, true)];
                let cell = |level| [vec![level], rest.to_vec()].concat();
                label.run(block, at + 1, &cell(base()), BASE);
                let d = 0.01 + 0.05 * f64::from(t);
                label.run(block, at + 2, &cell(slow()), BASE * d.exp());
            }
        }
    }
    label.registered(&over(&[], &[]));
    let comparison = label.compared();
    let of: Vec<(&str, &str, f64)> = comparison
        .tables
        .geomeans
        .iter()
        .map(|one| (one.factor.as_str(), one.cell.as_str(), one.ratio.unwrap().ln()))
        .filter(|(factor, _, _)| *factor == "target")
        .collect();
    assert_eq!((of[0].1, of[1].1, of.len()), ("*+*+p0", "*+*+p1", 2));
    assert!((of[0].2 - 0.01).abs() < 1e-9 && (of[1].2 - 0.06).abs() < 1e-9, "{of:?}");
}

/// the machine slows by 10 % from block 7 on. Cells of every block are compared within
/// them; a cell that was added to the later blocks alone has no witness, and is named.
#[test]
fn a_step_of_the_machine_is_seen_by_the_baseline() {
    let speed = |block: u32| BASE * if block >= 7 { 0.9 } else { 1.0 };
    let mut label = Label::default();
    let noise = spread(12, 0.0, 0.004);
    for block in 1..=12_u32 {
        let wobble = noise[block as usize - 1].exp();
        let (first, second) = if block % 2 == 1 { (1, 2) } else { (2, 1) };
        label.run(block, first, &[base()], speed(block) * wobble);
        label.run(block, second, &[slow()], speed(block) * wobble * 0.98);
    }
    let comparison = label.compared();
    let [drift] = &comparison.tables.drifts[..] else { panic!("one sentinel") };
    assert_eq!((drift.cell.as_str(), drift.metric.as_str()), ("base", "throughput"));
    assert!(drift.drifted);
    assert_eq!(drift.since_block, Some(7));
    assert_eq!(drift.affected, Vec::<String>::new(), "all cells are interleaved");
    let effect = super::fixture::throughput(&comparison, "slow").effect_percent.unwrap();
    assert!((effect + 2.0).abs() < 0.01, "pairs within blocks do not see it: {effect}");

    for block in 13..=14 {
        label.run(block, 1, &[crate::samples::level("late", 4, None)], speed(block));
    }
    let comparison = label.compared();
    assert_eq!(comparison.tables.drifts[0].affected, ["late"]);
}

#[test]
fn a_ramp_is_a_drift_without_a_block_and_a_quiet_machine_is_none() {
    let label_of = |per_block: f64| {
        let mut label = Label::default();
        let noise = spread(12, 0.0, 0.004);
        for block in 1..=12_u32 {
            let level = (noise[block as usize - 1] + per_block * f64::from(block)).exp();
            label.run(block, 1, &[base()], BASE * level);
            label.run(block, 2, &[slow()], BASE * level);
        }
        label.compared().tables.drifts[0].clone()
    };
    let ramp = label_of(-0.01);
    assert!(ramp.drifted && ramp.since_block.is_none(), "{ramp:?}");
    assert!((ramp.change_percent.value + 10.4).abs() < 0.6, "{ramp:?}");
    let quiet = label_of(0.0);
    assert!(!quiet.drifted && quiet.since_block.is_none(), "{quiet:?}");
    let [low, high] = quiet.change_percent.interval.unwrap();
    assert!(low <= 0.0 && 0.0 <= high);
    // A real drift below the margin is none that matters.
    assert!(!label_of(-0.001).drifted);
}
