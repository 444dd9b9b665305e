//! Looking more than once.

use stats::multiple::{any_false_alarm, benjamini_hochberg, holm};
use stats::sequential::{obrien_fleming, overall_error, pocock};
use stats::verdict::{Question, judge};
use stats::wilcoxon::p_value;

use crate::{share, slack, white};

const MATRICES: usize = 3_000;

/// Share of matrices without an effect in which some look is significant: `first` pairs at the
/// first look, as many more at each.
fn alarms(levels: &[f64], first: usize, seed: u64) -> f64 {
    share(MATRICES, seed, |random| {
        let pairs = white(first * levels.len(), random);
        levels.iter().enumerate().any(|(look, alpha)| {
            let so_far = &pairs[..first * (look + 1)];
            judge(&Question { alpha: *alpha, ..Question::new(so_far, 0.02, true) }).significant
        })
    })
}

#[test]
fn registered_looks_keep_five_percent() {
    for (looks, first) in [(1, 12), (2, 12), (3, 12), (5, 8)] {
        for levels in [obrien_fleming(looks).unwrap(), pocock(looks).unwrap()] {
            let share = alarms(&levels, first, 1);
            assert!(share <= 0.05 + slack(0.05, MATRICES), "{looks}: {share} at {levels:?}");
            // The ranks make it strict, not blind.
            assert!(share > 0.03, "{looks}: {share} at {levels:?}");
        }
    }
}

#[test]
fn looks_that_were_not_registered_do_not() {
    let levels = [0.05; 5];
    let share = alarms(&levels, 20, 2);
    assert!((share - overall_error(&levels)).abs() < 0.02, "{share}");
    assert!(share > 0.12, "{share}");
}

#[test]
fn holm_keeps_the_chance_of_any_alarm() {
    let tests = 10;
    let any = |correct: fn(&[f64]) -> Vec<f64>, seed: u64| {
        share(MATRICES, seed, |random| {
            let p_values: Vec<f64> =
                (0..tests).map(|_| p_value(&white(12, random)).unwrap()).collect();
            correct(&p_values).iter().any(|p| *p <= 0.05)
        })
    };
    // The exact level of 12 pairs is 4.25 %.
    let uncorrected = any(<[f64]>::to_vec, 3);
    assert!((uncorrected - any_false_alarm(tests, 0.0425)).abs() < 0.04, "{uncorrected}");
    for correct in [holm, benjamini_hochberg] {
        let corrected = any(correct, 4);
        assert!(corrected <= 0.05 + slack(0.05, MATRICES), "{corrected}");
    }
}
