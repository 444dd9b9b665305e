//! A monotone trend: the slope of Theil and Sen with Kendall's interval, and the Mann-Kendall
//! test (D10, D15). One wild value moves neither; values are taken to be independent.

use record::compare::Estimate;

use crate::order::thinned;
use crate::sample::{median, middle, normal_cdf, normal_quantile};

/// Most points that are looked at: slopes grow with the square. A longer series is thinned to
/// equal strides, which costs width and never bias.
pub const MOST_POINTS: usize = 1_500;

/// Largest number of points with the exact distribution of Kendall's S; the normal approximation
/// above it, and with ties.
pub const EXACT_POINTS: usize = 25;

/// A straight line through a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Median of the slopes of all pairs of points, in units of y per unit of x, with its
    /// interval. No interval when there are too few points: 95 % needs 5.
    pub slope: Estimate,
    /// `median y - slope × median x`.
    pub intercept: f64,
}

/// The slope of Theil and Sen: the median of `(y_j - y_i) / (x_j - x_i)` over all pairs with
/// different x, and the interval `[s_(c), s_(N+1-c)]` over the N sorted slopes, where c is the
/// largest rank whose tail of Kendall's distribution is at most `(1 - confidence) / 2`: exact up
/// to [`EXACT_POINTS`] without ties, else `c = floor((N - z sqrt(Var S)) / 2)` (P. K. Sen,
/// Journal of the American Statistical Association 63, 1968). Seconds of a run are not
/// independent: a slope is judged by its size as well.
///
/// `None` when the lengths differ, when a value is not finite, or without two different x.
#[must_use]
pub fn theil_sen(xs: &[f64], ys: &[f64], confidence: f64) -> Option<Line> {
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    if xs.len() != ys.len() || !finite(xs) || !finite(ys) {
        return None;
    }
    let (xs, ys) = (thinned(xs, MOST_POINTS), thinned(ys, MOST_POINTS));
    let mut slopes = Vec::with_capacity(xs.len() * xs.len().saturating_sub(1) / 2);
    for i in 0..xs.len() {
        for j in i + 1..xs.len() {
            if xs[i] != xs[j] {
                slopes.push((ys[j] - ys[i]) / (xs[j] - xs[i]));
            }
        }
    }
    slopes.sort_unstable_by(f64::total_cmp);
    let value = middle(&slopes)?;
    let tail = (1.0 - confidence) / 2.0;
    let tied = ties(&xs) + ties(&ys) > 0.0;
    let rank = if xs.len() <= EXACT_POINTS && !tied {
        // The slack as in the signed-rank table.
        inversions(xs.len()).iter().take_while(|below| **below <= tail + 1e-12).count()
    } else {
        let spread = normal_quantile(1.0 - tail) * variance_of_s(&xs, &ys).sqrt();
        ((slopes.len() as f64 - spread) / 2.0).floor().max(0.0) as usize
    };
    let interval = (rank >= 1 && 2 * rank <= slopes.len())
        .then(|| [slopes[rank - 1], slopes[slopes.len() - rank]]);
    let intercept = median(&ys)? - value * median(&xs)?;
    Some(Line { slope: Estimate { value, interval }, intercept })
}

/// Kendall's test against time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannKendall {
    /// Rising less falling pairs.
    pub s: i64,
    /// Variance of s without a trend: `n(n-1)(2n+5)/18`, less `t(t-1)(2t+5)/18` for each tie.
    pub variance: f64,
    /// Two-sided p: exact up to [`EXACT_POINTS`] without ties, else normal with a correction for
    /// continuity.
    pub p_value: f64,
}

/// Whether a series rises or falls (H. B. Mann, Econometrica 13, 1945). `None` under three
/// values and when one is not finite; a longer one than [`MOST_POINTS`] is thinned.
#[must_use]
pub fn mann_kendall(values: &[f64]) -> Option<MannKendall> {
    let values = thinned(values, MOST_POINTS);
    if values.len() < 3 || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut s = 0_i64;
    for (index, first) in values.iter().enumerate() {
        for second in &values[index + 1..] {
            s += i64::from(second > first) - i64::from(second < first);
        }
    }
    let times: Vec<f64> = (0..values.len()).map(|index| index as f64).collect();
    let variance = variance_of_s(&times, &values);
    let p_value = if values.len() <= EXACT_POINTS && ties(&values) == 0.0 {
        let pairs = (values.len() * (values.len() - 1) / 2) as u64;
        // `pairs = rising + falling` and `s = rising - falling`.
        let fewer = (pairs - s.unsigned_abs()) / 2;
        2.0 * inversions(values.len())[fewer as usize]
    } else if variance > 0.0 {
        2.0 * normal_cdf((1.0 - s.unsigned_abs() as f64).min(0.0) / variance.sqrt())
    } else {
        1.0
    };
    Some(MannKendall { s, variance, p_value: p_value.min(1.0) })
}

/// `P(inversions <= k)` of a random order of n values, for every k, by the recursion
/// `w(n, k) = sum of w(n-1, k-j) over j < n` (M. G. Kendall, Biometrika 30, 1938).
fn inversions(n: usize) -> Vec<f64> {
    let mut shares = vec![1.0];
    for size in 2..=n {
        let mut next = vec![0.0; size * (size - 1) / 2 + 1];
        for (k, share) in shares.iter().enumerate() {
            for slot in &mut next[k..k + size] {
                *slot += share / size as f64;
            }
        }
        shares = next;
    }
    let mut below = 0.0;
    shares
        .iter()
        .map(|share| {
            below += share;
            below
        })
        .collect()
}

/// Variance of Kendall's S without a trend, with ties in either variable (Kendall, "Rank
/// Correlation Methods", chapter 4).
fn variance_of_s(xs: &[f64], ys: &[f64]) -> f64 {
    let n = xs.len() as f64;
    let (groups_x, groups_y) = (groups(xs), groups(ys));
    let sum = |groups: &[f64], of: fn(f64) -> f64| -> f64 { groups.iter().map(|t| of(*t)).sum() };
    let cubic: fn(f64) -> f64 = |t| t * (t - 1.0) * (2.0 * t + 5.0);
    let pairs: fn(f64) -> f64 = |t| t * (t - 1.0);
    let triples: fn(f64) -> f64 = |t| t * (t - 1.0) * (t - 2.0);
    let mut variance = (cubic(n) - sum(&groups_x, cubic) - sum(&groups_y, cubic)) / 18.0;
    if n > 2.0 {
        variance += sum(&groups_x, pairs) * sum(&groups_y, pairs) / (2.0 * pairs(n));
        variance += sum(&groups_x, triples) * sum(&groups_y, triples) / (9.0 * triples(n));
    }
    variance
}

/// Sizes of the groups of equal values.
fn groups(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|group| group.len() as f64).collect()
}

/// Values beyond the first of their group.
fn ties(values: &[f64]) -> f64 {
    values.len() as f64 - groups(values).len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_sen_is_reproduced() {
        // Sen 1968, section 6: slope 4; the limits 26/7 and 35/8 are the 4th and 18th of 21 slopes.
        // Kendall's distribution gives these ranks 97.0 % (2 × 76 / 7! outside); his 93 % is that
        // of the 5th and 17th, as in Hollander and Wolfe's section 9.3.
        let xs = [1.0, 2.0, 3.0, 4.0, 10.0, 12.0, 18.0];
        let ys = [9.0, 15.0, 19.0, 20.0, 45.0, 55.0, 78.0];
        let line = theil_sen(&xs, &ys, 0.969).unwrap();
        assert!((line.slope.value - 4.0).abs() < 1e-12, "{line:?}");
        let ends =
            |confidence: f64| theil_sen(&xs, &ys, confidence).unwrap().slope.interval.unwrap();
        for (confidence, expected) in
            [(0.969, [26.0 / 7.0, 35.0 / 8.0]), (0.93, [30.0 / 8.0, 46.0 / 11.0])]
        {
            let [low, high] = ends(confidence);
            assert!((low - expected[0]).abs() < 1e-12, "{confidence}: {low}");
            assert!((high - expected[1]).abs() < 1e-12, "{confidence}: {high}");
        }
        assert!((line.intercept - 4.0).abs() < 1e-12, "{line:?}");
    }

    #[test]
    fn a_line_is_its_own_slope() {
        let xs: Vec<f64> = (0..40).map(f64::from).collect();
        let ys: Vec<f64> = xs.iter().map(|x| 3.0 - 0.5 * x).collect();
        let line = theil_sen(&xs, &ys, 0.95).unwrap();
        assert_eq!(line.slope, Estimate { value: -0.5, interval: Some([-0.5, -0.5]) });
        assert!((line.intercept - 3.0).abs() < 1e-12);
        assert_eq!(theil_sen(&xs, &ys[1..], 0.95), None);
        assert_eq!(theil_sen(&[1.0, 1.0], &[1.0, 2.0], 0.95), None);
        assert_eq!(theil_sen(&[], &[], 0.95), None);
        // Four points have no 95 % interval, five have: 1 / 5! on each side.
        assert_eq!(theil_sen(&xs[..4], &[0.0, 2.0, 1.0, 4.0], 0.95).unwrap().slope.interval, None);
        assert!(
            theil_sen(&xs[..5], &[0.0, 2.0, 1.0, 4.0, 5.0], 0.95).unwrap().slope.interval.is_some()
        );
    }

    #[test]
    fn kendalls_distribution_is_exact() {
        // Inversions of 4 values: 1, 3, 5, 6, 5, 3, 1 of 24.
        let expected = [1.0, 4.0, 9.0, 15.0, 20.0, 23.0, 24.0].map(|count| count / 24.0);
        for (computed, expected) in inversions(4).iter().zip(expected) {
            assert!((computed - expected).abs() < 1e-12);
        }
        let rising = mann_kendall(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!(rising.s, 15);
        assert!((rising.variance - 6.0 * 5.0 * 17.0 / 18.0).abs() < 1e-9);
        assert!((rising.p_value - 2.0 / 720.0).abs() < 1e-12);
        assert_eq!(mann_kendall(&[2.0; 9]).unwrap().p_value, 1.0);
        assert_eq!(mann_kendall(&[1.0, 2.0]), None);
    }

    #[test]
    fn ties_take_variance_away() {
        // n(n-1)(2n+5) = 2,250 for ten values; a pair takes 18, a triple 66.
        let values = [1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let variance = mann_kendall(&values).unwrap().variance;
        assert!((variance - (2_250.0 - 18.0 - 66.0) / 18.0).abs() < 1e-9, "{variance}");
    }

    #[test]
    fn a_long_series_is_thinned_and_still_right() {
        let xs: Vec<f64> = (0..50_000).map(f64::from).collect();
        let ys: Vec<f64> = xs.iter().map(|x| 0.25 * x + (x * 0.7).sin()).collect();
        let line = theil_sen(&xs, &ys, 0.95).unwrap();
        assert!((line.slope.value - 0.25).abs() < 1e-4, "{line:?}");
    }
}
