//! What must hold for any pairs: which arm is called the baseline, in which order directories
//! are read, how a label is called and where its blocks begin to count change nothing but what
//! they name.

use proptest::prelude::*;

use super::CompareOptions;
use super::fixture::{Label, null, slow, throughput};

/// Log-ratios of a level and of a null, of 6 to 14 blocks.
fn pairs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (6_usize..14).prop_flat_map(|n| {
        (
            (-0.1..0.1_f64, prop::collection::vec(-0.05..0.05_f64, n))
                .prop_map(|(shift, noise)| noise.iter().map(|d| d + shift).collect()),
            prop::collection::vec(-0.02..0.02_f64, n),
        )
    })
}

fn label_of(level: &[f64], nothing: &[f64]) -> Label {
    let mut label = Label::default();
    label.pairs(&slow(), level);
    label.pairs(&null(), nothing);
    label
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The arms swapped: the log-ratios and their interval change sign, faster is slower.
    #[test]
    fn orientation_under_arm_swap((level, nothing) in pairs()) {
        let label = label_of(&level, &nothing);
        let forth = label.compared();
        let options =
            CompareOptions { baseline: Some("slow".to_owned()), ..CompareOptions::default() };
        let back = label.compared_with(&options).unwrap();
        let (forth, back) = (throughput(&forth, "slow"), throughput(&back, "base"));
        let log = |percent: Option<f64>| percent.map(|percent| (percent / 100.0).ln_1p());
        prop_assert!(close(log(forth.effect_percent), log(back.effect_percent).map(|d| -d)));
        prop_assert!(close(forth.mean_log_ratio, back.mean_log_ratio.map(|d| -d)));
        prop_assert!(close(forth.sd_log_ratio, back.sd_log_ratio));
        prop_assert!(close(forth.noise_sd_log_ratio, back.noise_sd_log_ratio));
        prop_assert!(close(forth.p_value, back.p_value));
        let ends = |interval: Option<[f64; 2]>| interval.map(|ends| ends.map(|end| log(Some(end))));
        let turned = ends(back.interval_percent).map(|[low, high]| [high, low]);
        for (a, b) in ends(forth.interval_percent).into_iter().flatten().zip(turned.into_iter().flatten()) {
            prop_assert!(close(a, b.map(|b| -b)));
        }
        let mirrored = match forth.verdict.as_str() {
            "faster" => "slower",
            "slower" => "faster",
            other => other,
        };
        prop_assert_eq!(&back.verdict, mirrored);
        prop_assert_eq!(forth.needed_pairs, back.needed_pairs);
        // What running second does is the same whoever is called the baseline.
        let order = |contrast: &record::compare::Contrast| {
            log(contrast.order_effect_percent.map(|order| order.value))
        };
        prop_assert!(close(order(forth), order(back)));
    }

    /// The directories in any order.
    #[test]
    fn the_order_of_directories_is_irrelevant((level, nothing) in pairs(), seed in any::<u64>()) {
        let label = label_of(&level, &nothing);
        let mut shuffled = label.clone();
        let n = shuffled.runs.len();
        for index in 0..n {
            let other = (seed.wrapping_mul(index as u64 + 1) >> 7) as usize % n;
            shuffled.runs.swap(index, other);
        }
        prop_assert_eq!(shuffled.compared(), label.compared());
    }

    /// Another label, and blocks that begin to count elsewhere.
    #[test]
    fn a_label_of_another_name_says_the_same((level, nothing) in pairs(), shift in 1_u32..40) {
        let label = label_of(&level, &nothing);
        let mut moved = label.clone();
        moved.edit(|_| true, |run| {
            run.label = "another".to_owned();
            // Even, so that the same arm leads.
            run.block += 2 * shift;
        });
        for (name, run) in &mut moved.runs {
            *name = format!("{:02}-{:02}-{}", run.block, run.order, run.cell);
        }
        let (here, mut there) = (label.compared(), moved.compared());
        prop_assert_eq!(&there.label, "another");
        there.label.clone_from(&here.label);
        for contrast in &mut there.contrasts {
            contrast.log_ratios.iter_mut().for_each(|(block, _)| *block -= 2 * shift);
            contrast.pair_values.iter_mut().for_each(|pair| pair.block -= 2 * shift);
        }
        prop_assert_eq!(&here.contrasts, &there.contrasts);
    }
}
