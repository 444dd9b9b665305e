//! What a contrast says of its pairs: controls, order, correction for many metrics, and what it
//! would take to know more.

use record::plan::Compare;

use super::fixture::{BASE, Label, base, null, of, other, positive, set, slow, spread, throughput};
use crate::samples::level;

fn flagged(contrast: &record::compare::Contrast, flag: &str) -> bool {
    contrast.flags.iter().any(|known| known == flag)
}

/// A label of 12 blocks: `slow` about `effect`, a quiet null.
fn twelve(effect: f64) -> Label {
    let mut label = Label::default();
    label.pairs(&slow(), &spread(12, effect, 0.004));
    label.pairs(&null(), &spread(12, 0.0, 0.003));
    label
}

/// D1, D2: running second costs 3 %; the order effect is printed and the noise is what is left.
#[test]
fn the_order_effect_is_told_apart_from_the_noise() {
    let mut label = Label::default();
    let noise = spread(12, -0.05, 0.004);
    for (block, d) in (1..).zip(&noise) {
        // In odd blocks the level runs second.
        let order = if block % 2 == 1 { -0.03 } else { 0.03 };
        label.pair(block, &slow(), d + order);
    }
    label.pairs(&null(), &spread(12, 0.0, 0.003));
    let comparison = label.compared();
    let slow = throughput(&comparison, "slow");
    let order = slow.order_effect_percent.unwrap();
    assert!((order.value + 3.0).abs() < 0.2, "{order:?}");
    let [low, high] = order.interval.unwrap();
    assert!(low < order.value && order.value < high && high < 0.0);
    let (sd, left) = (slow.sd_log_ratio.unwrap(), slow.noise_sd_log_ratio.unwrap());
    assert!(sd > 0.028 && left < 0.004, "{sd} {left}");
    // Balanced leads keep the estimate where it was.
    assert!((slow.effect_percent.unwrap() + 4.88).abs() < 0.3, "{:?}", slow.effect_percent);
    assert!(!flagged(slow, "one_order"));
}

/// A fixed order cannot tell an effect from a drift, and says so.
#[test]
fn one_order_alone_is_flagged() {
    let mut label = Label::default();
    for block in 1..=8 {
        label.run(block, 1, &[base()], BASE);
        label.run(block, 2, &[slow()], BASE * 0.99);
    }
    let comparison = label.compared();
    let slow = throughput(&comparison, "slow");
    assert!(flagged(slow, "one_order"));
    assert_eq!(slow.order_effect_percent, None);
}

/// the baseline leaves its successor 4 % slower; with three cells in balanced order the
/// estimate recovers it. With two cells it would be the order effect again, and is not given.
#[test]
fn what_a_predecessor_carries_over_is_recovered() {
    let heavy = level("heavy", 2, None);
    let cells = [base(), slow(), heavy];
    let orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];
    let mut label = Label::default();
    for block in 1..=12_u32 {
        let order = orders[(block as usize - 1) % 6];
        for (place, cell) in (1..).zip(order) {
            let level = &cells[cell];
            let after_base = label.runs.last().is_some_and(|(_, run)| run.cell == "base");
            let carried = if after_base && level.level != "base" { 0.96 } else { 1.0 };
            label.run(block, place, std::slice::from_ref(level), BASE * carried);
        }
    }
    let comparison = label.compared();
    let carried = throughput(&comparison, "slow").carry_over_percent.unwrap();
    assert!((carried.value + 4.0).abs() < 0.01, "{carried:?}");
    let two = twelve(0.0).compared();
    assert_eq!(throughput(&two, "slow").carry_over_percent, None);
}

#[test]
fn a_positive_control_is_seen_and_stands_beside_the_others() {
    let mut label = twelve(-0.05);
    label.pairs(&positive(), &spread(12, -0.049, 0.004));
    let comparison = label.compared();
    let control = throughput(&comparison, "positive");
    assert_eq!(control.positive, Some(0.05));
    assert_eq!(control.verdict, "slower");
    assert_eq!(control.positive_arm.as_deref(), Some("positive in *: seen"));
    assert!(!control.null && !flagged(control, "control_differs"), "{:?}", control.flags);
    assert_eq!(control.baseline, "base", "it meets what it slows");
    let slow = throughput(&comparison, "slow");
    assert_eq!(slow.positive_arm.as_deref(), Some("positive in *: seen"));
    assert_eq!((slow.verdict.as_str(), slow.positive), ("slower", None));
}

/// D4: a planted slowdown that was missed voids what it controls; only the primary metric, since
/// nothing says that it moves the others.
#[test]
fn a_missed_positive_control_voids_the_primary_metric_alone() {
    let mut label = twelve(-0.05);
    label.pairs(&positive(), &spread(12, 0.0, 0.004));
    for (_, run) in &mut label.runs {
        if run.cell == "slow" {
            set(run, "p50", 11_000_000.0 + f64::from(run.block));
        }
    }
    let comparison = label.compared();
    let slow = throughput(&comparison, "slow");
    assert_eq!(slow.verdict, "void");
    assert!(flagged(slow, "positive_missed"));
    assert_eq!(slow.positive_arm.as_deref(), Some("positive in *: missed"));
    assert_eq!(of(&comparison, "slow", "*", "p50").verdict, "slower");
    assert_eq!(
        throughput(&comparison, "null").verdict,
        "equivalent",
        "a control judges no control"
    );
    assert!(super::is_doubtful(&comparison));
    // Under 6 pairs it says nothing, and voids nothing.
    let mut few = twelve(-0.05);
    few.pairs(&positive(), &[0.0; 5]);
    let comparison = few.compared();
    let control = throughput(&comparison, "positive");
    assert_eq!(control.positive_arm.as_deref(), Some("positive in *: too few pairs"));
    assert_eq!(throughput(&comparison, "slow").verdict, "slower");
}

/// K-076: two programs, each with a null of its own. One that differs withholds the verdict, whichever
/// it is, and with both near zero the verdict is there.
#[test]
fn each_arm_has_a_null_that_can_void_the_contrast() {
    let of_both = |level_null: [f64; 2]| {
        let mut label = twelve(-0.05);
        let null_slow = level("null-slow", 3, Some("slow"));
        let noise = spread(12, level_null[0], level_null[1]);
        for ((block, d), nothing) in (1..).zip(spread(12, -0.05, 0.004)).zip(noise) {
            let value = BASE * (d + nothing).exp();
            label.run(block, 4, std::slice::from_ref(&null_slow), value);
        }
        label.compared()
    };
    let quiet = of_both([0.0, 0.003]);
    let slow = throughput(&quiet, "slow");
    assert_eq!(slow.verdict, "slower", "{:?}", slow.flags);
    assert_eq!(slow.null_arm.as_deref(), Some("null in *, null-slow in *"));
    // Arm B against itself is 3 % apart; arm A's null passes.
    let noisy = of_both([0.03, 0.003]);
    assert_eq!(throughput(&noisy, "null").verdict, "equivalent");
    assert_eq!(throughput(&noisy, "null-slow").verdict, "void");
    let slow = throughput(&noisy, "slow");
    assert_eq!(slow.verdict, "void");
    assert!(flagged(slow, "null_differs"), "{:?}", slow.flags);
    let own = throughput(&noisy, "null").null_arm.as_deref();
    assert_eq!(own, None, "a null is its own");
}

/// K-194: the noise floor is that of the row. Both rows have the same delta; the null of one of
/// them is noisy.
#[test]
fn one_noisy_row_is_unresolved_and_no_other() {
    let mut label = Label::default();
    for (row, index, noise) in [("strings", 0, 0.002), ("arith", 1, 0.03)] {
        let row = other("scenario", row, index, false);
        for (block, (d, nothing)) in
            (1..).zip(spread(12, 0.008, 0.004).into_iter().zip(spread(12, 0.0, noise)))
        {
            let (first, second) = if block % 2 == 1 { (0, 1) } else { (1, 0) };
            let at = 10 * index;
            label.run(block, at + 1 + first, &[base(), row.clone()], BASE);
            label.run(block, at + 1 + second, &[slow(), row.clone()], BASE * d.exp());
            label.run(block, at + 3, &[null(), row.clone()], BASE * nothing.exp());
        }
    }
    let margin = [("*".to_owned(), 0.005)].into();
    label.registered(&Compare { margin, ..Compare::default() });
    let comparison = label.compared();
    let [quiet, noisy] =
        ["*+strings", "*+arith"].map(|cell| of(&comparison, "slow", cell, "throughput"));
    assert!(!flagged(quiet, "unresolved"), "{:?}", quiet.flags);
    assert!(flagged(noisy, "unresolved"), "{:?}", noisy.flags);
    assert_eq!(quiet.null_arm.as_deref(), Some("null in *+strings"));
    assert_eq!(noisy.null_arm.as_deref(), Some("null in *+arith"));
    let width = |[low, high]: [f64; 2]| high - low;
    let floor = |contrast: &record::compare::Contrast| {
        width(contrast.null_interval_percent.expect("twelve pairs of a null"))
    };
    assert!(floor(noisy) > 5.0 * floor(quiet));
}

/// D7: the primary metric is not corrected, the others are counted; a metric in which nothing
/// differs cannot raise an alarm and is not.
#[test]
fn many_metrics_are_paid_for() {
    let mut label = Label::default();
    // All six pairs point one way: p = 2/2^6 = 0.031.
    label.pairs(&slow(), &spread(6, -0.05, 0.004));
    label.pairs(&null(), &spread(6, 0.0, 0.003));
    let touch = |label: &mut Label, metrics: &[&str]| {
        for (_, run) in label.runs.iter_mut().filter(|(_, run)| run.cell == "slow") {
            for metric in metrics {
                let value = run.metrics[*metric].value.unwrap();
                set(run, metric, value * (1.2 + f64::from(run.block) / 100.0));
            }
        }
    };
    touch(&mut label, &["p50"]);
    let comparison = label.compared();
    let primary = throughput(&comparison, "slow");
    assert_eq!((primary.p_value, primary.holm_p_value), (Some(0.03125), None));
    assert!(primary.significant);
    let alone = of(&comparison, "slow", "*", "p50");
    assert_eq!((alone.p_value, alone.holm_p_value), (Some(0.03125), Some(0.03125)));
    assert_eq!((alone.verdict.as_str(), alone.significant), ("slower", true));
    assert_eq!(of(&comparison, "slow", "*", "p99").holm_p_value, None);

    touch(&mut label, &["p99"]);
    let comparison = label.compared();
    for metric in ["p50", "p99"] {
        let one = of(&comparison, "slow", "*", metric);
        assert_eq!(one.holm_p_value, Some(0.0625), "{metric}");
        assert_eq!((one.verdict.as_str(), one.significant), ("inconclusive", false), "{metric}");
        assert!(flagged(one, "not_after_holm"), "{metric}");
    }
    assert_eq!(throughput(&comparison, "slow").verdict, "slower", "primary pays for nobody");
}

/// Two questions, two answers.
#[test]
fn significant_and_large_enough_are_two_columns() {
    for (effect, significant, matters, verdict) in [
        (-0.010, true, false, "equivalent"),
        (-0.05, true, true, "slower"),
        (0.0, false, false, "equivalent"),
    ] {
        let comparison = twelve(effect).compared();
        let slow = throughput(&comparison, "slow");
        assert_eq!(
            (slow.significant, slow.matters, slow.verdict.as_str()),
            (significant, Some(matters), verdict),
            "{effect}"
        );
        assert_eq!(flagged(slow, "real_but_small"), significant && !matters, "{effect}");
        assert_eq!(slow.alpha, Some(0.05));
    }
}

/// K-083: `(2 sd / |mean|)^2` pairs, the mean that it is about, and the hours.
#[test]
fn the_pairs_that_would_resolve_the_mean_are_said_with_their_hours() {
    let mut label = Label::default();
    let log_ratios = [0.054, -0.042, 0.031, -0.019, 0.048, -0.036];
    label.pairs(&slow(), &log_ratios);
    label.edit(
        |_| true,
        |run| {
            run.since_previous_run_ns = Some(60_000_000_000);
            run.instants_ns =
                [("target_ready".to_owned(), 0), ("load_end".to_owned(), 30_000_000_000)].into();
        },
    );
    let comparison = label.compared();
    let slow = throughput(&comparison, "slow");
    let (mean, sd) = (slow.mean_log_ratio.unwrap(), slow.sd_log_ratio.unwrap());
    let resolve = slow.resolve.unwrap();
    let expected = (sd / (mean.abs() / 2.0)).powi(2);
    assert_eq!(resolve.pairs_one_se, expected.round() as u64);
    assert!((resolve.pairs_95 as f64 / expected - 3.84).abs() < 0.01);
    assert!((resolve.mean_percent - 100.0 * mean.exp_m1()).abs() < 1e-9);
    assert!((resolve.sd_percent - 100.0 * sd).abs() < 1e-9);
    // Two runs of 30 s, each after 60 s.
    assert_eq!(resolve.pair_ns, Some(180_000_000_000));
}

/// K-084, E-002, E-038: beyond 40 pairs the machine is at fault; a spread under the effect is
/// fine, whatever another machine would have shown.
#[test]
fn a_machine_that_is_not_quiet_is_blamed_before_pairs_are_added() {
    let case = |effect: f64, half: f64, margin: f64| {
        let mut label = Label::default();
        label.pairs(&slow(), &spread(8, effect, half));
        label.pairs(&null(), &spread(8, 0.0, half));
        let margin = [("throughput".to_owned(), margin)].into();
        label.registered(&Compare { margin, ..Compare::default() });
        let comparison = label.compared();
        let slow = throughput(&comparison, "slow");
        (slow.verdict.clone(), flagged(slow, "not_quiet"), slow.needed_pairs.unwrap())
    };
    // An effect of 0.5 % under a spread of 4 %.
    let (verdict, not_quiet, needed) = case(0.004, 0.055, 0.005);
    assert_eq!((verdict.as_str(), not_quiet), ("inconclusive", true));
    assert!(needed > 400, "{needed}");
    // The spread is larger than an effect that matters.
    assert_eq!(case(0.01, 0.06, 0.02).0, "inconclusive");
    assert!(case(0.01, 0.06, 0.02).1);
    // Consistent pairs decide, however far from anybody's expectation.
    assert_eq!(case(-0.4, 0.004, 0.02), ("slower".to_owned(), false, 6));
    // Undecided and quiet enough: more pairs are the remedy.
    let (verdict, not_quiet, needed) = case(0.012, 0.025, 0.02);
    assert_eq!((verdict.as_str(), not_quiet), ("inconclusive", false));
    assert!(needed <= 40, "{needed}");
}

/// E-039: three pairs have no rank interval; the interval of the mean says how little is known.
#[test]
fn few_pairs_have_an_interval_of_the_mean_beside_their_number() {
    let sample = [0.30, 0.59, 0.88];
    let [low, high] = stats::sample::t_interval(&sample, 0.95).unwrap();
    assert!((stats::sample::mean(&sample).unwrap() - 0.59).abs() < 1e-12);
    assert!((stats::sample::sd(&sample).unwrap() - 0.29).abs() < 1e-12);
    assert!((low + 0.13).abs() < 0.005 && (high - 1.31).abs() < 0.005, "{low} {high}");
    let mut label = Label::default();
    label.pairs(&slow(), &sample.map(|percent: f64| (percent / 100.0).ln_1p()));
    let comparison = label.compared();
    let slow = throughput(&comparison, "slow");
    assert_eq!((slow.pairs, slow.interval_percent), (3, None));
    let [low, high] = slow.t_interval_percent.unwrap();
    assert!((low + 0.13).abs() < 0.01 && (high - 1.31).abs() < 0.01, "{low} {high}");
}

/// K-080, K-198: both values of each pair with who went first, and the one factor's own paths.
#[test]
fn pairs_and_paths_are_kept() {
    let mut label = twelve(-0.05);
    label.edit(
        |run| run.cell == "slow",
        |run| {
            let paths = ["target.mock.latency".to_owned()].into();
            run.identity.sets = [("target".to_owned(), paths)].into();
        },
    );
    let comparison = label.compared();
    let slow = throughput(&comparison, "slow");
    assert_eq!(slow.sets, ["target.mock.latency"]);
    assert_eq!(throughput(&comparison, "null").sets, Vec::<String>::new());
    assert_eq!(slow.pair_values.len(), 12);
    for (pair, (block, d)) in slow.pair_values.iter().zip(&slow.log_ratios) {
        assert_eq!(pair.block, *block);
        assert!(((pair.level / pair.baseline).ln() - d).abs() < 1e-12);
        assert_eq!(pair.baseline_first, Some(block % 2 == 1));
    }
}
