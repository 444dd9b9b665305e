//! The Wilcoxon signed-rank distribution, the Hodges-Lehmann estimate and the interval by
//! inversion of the test (D2). Sound for differences that are symmetric about their centre;
//! no normality is assumed.

use crate::sample::{normal_cdf, normal_quantile};

/// Largest number of pairs with the exact distribution; the normal approximation above it.
pub const EXACT_PAIRS: usize = 25;

/// Most pairs that are looked at: Walsh averages grow with the square of the pairs. Far above
/// any matrix of runs; everything here gives `None` beyond it.
pub const MOST_PAIRS: usize = 4_096;

/// The exact null distribution of the signed-rank sum of `n` pairs: entry `s` is
/// `P(T+ <= s)`, for `s` from 0 to `n(n+1)/2`. By dynamic programming over the ranks: each
/// rank is in the sum or not, with probability 1/2 each.
///
/// # Panics
/// When `n` is above [`EXACT_PAIRS`], which is a caller's bug.
#[must_use]
pub fn null_distribution(n: usize) -> Vec<f64> {
    assert!(n <= EXACT_PAIRS, "the exact distribution is kept to {EXACT_PAIRS} pairs");
    let most = n * (n + 1) / 2;
    let mut ways = vec![0_u64; most + 1];
    ways[0] = 1;
    for rank in 1..=n {
        for sum in (rank..=most).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let all = (1_u64 << n) as f64;
    let mut below = 0;
    ways.iter()
        .map(|count| {
            below += count;
            below as f64 / all
        })
        .collect()
}

/// The averages `(d_i + d_j) / 2`, `i <= j`, of n differences, sorted: `n(n+1)/2` of them. All
/// that this module says of a sample is read off them.
#[derive(Debug, Clone)]
pub struct Walsh {
    pairs: usize,
    averages: Vec<f64>,
}

impl Walsh {
    /// The averages of `differences`; `None` when empty, beyond [`MOST_PAIRS`], or when a value
    /// is not finite.
    #[must_use]
    pub fn of(differences: &[f64]) -> Option<Self> {
        let pairs = differences.len();
        if pairs == 0 || pairs > MOST_PAIRS || !differences.iter().all(|d| d.is_finite()) {
            return None;
        }
        let mut averages = Vec::with_capacity(pairs * (pairs + 1) / 2);
        for (index, first) in differences.iter().enumerate() {
            let with = differences[index..].iter();
            averages.extend(with.map(|second| f64::midpoint(*first, *second)));
        }
        averages.sort_unstable_by(f64::total_cmp);
        Some(Self { pairs, averages })
    }

    /// The Hodges-Lehmann estimate: their median.
    #[must_use]
    pub fn hodges_lehmann(&self) -> f64 {
        let n = self.averages.len();
        f64::midpoint(self.averages[(n - 1) / 2], self.averages[n / 2])
    }

    /// The two-sided interval `[W_(c), W_(M+1-c)]` of the centre with at least `confidence`:
    /// exact up to [`EXACT_PAIRS`], else `c = floor(M/2 - z sqrt(n(n+1)(2n+1)/24))`. `None` when
    /// there are too few pairs for that confidence: 95 % needs 6, 90 % needs 5.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<[f64; 2]> {
        let rank = interval_rank(self.pairs, confidence)?;
        Some([self.averages[rank - 1], self.averages[self.averages.len() - rank]])
    }

    /// The two-sided p of "the centre is 0": the smallest level at which [`Self::interval`]
    /// excludes 0, so that the two never contradict each other. With `k` the smaller of the
    /// numbers of averages that are at most 0 and at least 0 it is `2 P(T+ <= k)`, exact up to
    /// [`EXACT_PAIRS`].
    ///
    /// Without zeros and ties `k` is the smaller rank sum and this is Wilcoxon's test
    /// (Biometrics Bulletin 1, 1945). A difference of 0, and two that cancel, count for both
    /// sides: p is then larger than without them, never smaller.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        let below = self.averages.partition_point(|average| *average < 0.0);
        let at_most = self.averages.partition_point(|average| *average <= 0.0);
        let smaller = at_most.min(self.averages.len() - below);
        let tail = if self.pairs <= EXACT_PAIRS {
            null_distribution(self.pairs)[smaller]
        } else {
            let (centre, spread) = moments(self.pairs);
            normal_cdf((smaller as f64 + 1.0 - centre) / spread)
        };
        (2.0 * tail).min(1.0)
    }
}

/// [`Walsh::hodges_lehmann`] of `differences`; `None` as for [`Walsh::of`].
#[must_use]
pub fn hodges_lehmann(differences: &[f64]) -> Option<f64> {
    Walsh::of(differences).map(|walsh| walsh.hodges_lehmann())
}

/// [`Walsh::interval`] of `differences`; `None` as there and as for [`Walsh::of`].
#[must_use]
pub fn interval(differences: &[f64], confidence: f64) -> Option<[f64; 2]> {
    Walsh::of(differences)?.interval(confidence)
}

/// [`Walsh::p_value`] of `differences`; `None` as for [`Walsh::of`].
#[must_use]
pub fn p_value(differences: &[f64]) -> Option<f64> {
    Walsh::of(differences).map(|walsh| walsh.p_value())
}

/// The rank `c` of the lower end among the sorted Walsh averages, from 1: the largest with
/// `P(T+ <= c - 1) <= (1 - confidence) / 2`. `None` when even the extremes do not reach it.
#[must_use]
pub fn interval_rank(n: usize, confidence: f64) -> Option<usize> {
    // A confidence under 0 asks for no more than the middle.
    let tail = ((1.0 - confidence) / 2.0).min(0.5);
    let rank = if n <= EXACT_PAIRS {
        // A hair of slack, so that a tail that equals a table value is not lost to rounding.
        null_distribution(n).iter().take_while(|below| **below <= tail + 1e-12).count()
    } else {
        let (centre, spread) = moments(n);
        (centre - normal_quantile(1.0 - tail) * spread).floor().max(0.0) as usize
    };
    (rank >= 1).then_some(rank)
}

/// The share of samples whose interval of at least `confidence` holds the centre, which ranks of
/// few pairs overshoot: 96.9 % for 6 pairs at 95 %. Exact up to [`EXACT_PAIRS`] for any symmetric
/// continuous law, else by the normal approximation. `None` without such an interval.
#[must_use]
pub fn exact_coverage(n: usize, confidence: f64) -> Option<f64> {
    let rank = interval_rank(n, confidence)?;
    let tail = if n <= EXACT_PAIRS {
        null_distribution(n)[rank - 1]
    } else {
        let (centre, spread) = moments(n);
        normal_cdf((rank as f64 - 0.5 - centre) / spread)
    };
    Some(1.0 - 2.0 * tail)
}

/// Mean and standard deviation of the signed-rank sum without an effect.
fn moments(n: usize) -> (f64, f64) {
    let pairs = n as f64;
    let spread = (pairs * (pairs + 1.0) * (2.0 * pairs + 1.0) / 24.0).sqrt();
    (pairs * (pairs + 1.0) / 4.0, spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(T+ <= s) by listing all sign patterns: an oracle that shares nothing with the DP.
    fn by_enumeration(n: usize) -> Vec<f64> {
        let most = n * (n + 1) / 2;
        let mut counts = vec![0_u64; most + 1];
        for signs in 0_u32..(1 << n) {
            let sum: usize = (0..n).filter(|bit| signs & (1 << bit) != 0).map(|bit| bit + 1).sum();
            counts[sum] += 1;
        }
        let mut below = 0;
        counts
            .iter()
            .map(|count| {
                below += count;
                below as f64 / f64::from(1_u32 << n)
            })
            .collect()
    }

    #[test]
    fn the_distribution_is_that_of_all_sign_patterns() {
        for n in 1..=12 {
            let (computed, listed) = (null_distribution(n), by_enumeration(n));
            assert_eq!(computed, listed, "n = {n}");
        }
        assert_eq!(null_distribution(EXACT_PAIRS).last(), Some(&1.0));
    }

    #[test]
    fn ranks_match_the_published_critical_values() {
        // Two-sided 5 % critical values of the signed-rank sum; the rank is one more.
        for (n, critical) in [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (20, 52), (25, 89)]
        {
            assert_eq!(interval_rank(n, 0.95), Some(critical + 1), "n = {n}");
        }
        assert_eq!(interval_rank(5, 0.95), None);
        assert_eq!(interval_rank(5, 0.90), Some(1));
        assert_eq!(interval_rank(4, 0.90), None);
    }

    #[test]
    fn coverage_is_that_of_the_ranks() {
        for (n, expected) in [(6, 0.96875), (8, 0.9609), (12, 0.9575), (20, 0.9516), (26, 0.9524)] {
            let coverage = exact_coverage(n, 0.95).unwrap();
            assert!((coverage - expected).abs() < 5e-4, "{n}: {coverage}");
        }
        assert_eq!(exact_coverage(5, 0.95), None);
    }

    #[test]
    fn the_approximation_continues_the_table() {
        let exact = interval_rank(25, 0.95).unwrap();
        let approximate = interval_rank(26, 0.95).unwrap();
        // The published value for 26 pairs is 98.
        assert!((98..=99).contains(&approximate), "{approximate}");
        assert!(approximate > exact);
    }

    #[test]
    fn p_values_are_those_of_all_sign_patterns() {
        // No zeros, no ties: the smaller rank sum of -1 +2 +3 -4 +5 +6 +7 is 5.
        let pairs = [-1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0];
        let expected = 2.0 * by_enumeration(7)[5];
        assert!((p_value(&pairs).unwrap() - expected).abs() < 1e-12);
        // The smallest two-sided p of n pairs is 2^(1-n).
        for n in 1..=12_u32 {
            let all: Vec<f64> = (1..=n).map(f64::from).collect();
            assert!((p_value(&all).unwrap() - 0.5_f64.powi(n as i32 - 1)).abs() < 1e-12);
        }
        assert_eq!(p_value(&[0.0; 8]), Some(1.0));
        assert_eq!(p_value(&[]), None);
        assert_eq!(p_value(&[f64::INFINITY]), None);
    }

    #[test]
    fn the_depression_scores_of_hollander_and_wolfe() {
        // "Nonparametric Statistical Methods", example 3.1: nine patients before and after a
        // tranquilizer; T+ = 5 of the ranks, two-sided p = 0.0391, as in R's `wilcox.test`.
        // Scores here in thousandths.
        let before =
            [1_830.0, 500.0, 1_620.0, 2_480.0, 1_680.0, 1_880.0, 1_550.0, 3_060.0, 1_300.0];
        let after = [878.0, 647.0, 598.0, 2_050.0, 1_060.0, 1_290.0, 1_060.0, 3_140.0, 1_290.0];
        let differences: Vec<f64> = before.iter().zip(after).map(|(x, y)| y - x).collect();
        assert!((p_value(&differences).unwrap() - 0.039_062_5).abs() < 1e-9);
        assert!((hodges_lehmann(&differences).unwrap() + 460.0).abs() < 1e-9);
    }

    #[test]
    fn six_pairs_give_their_extremes() {
        let pairs = [0.03, -0.01, 0.02, 0.05, 0.01, 0.04];
        assert_eq!(interval(&pairs, 0.95), Some([-0.01, 0.05]));
        assert!((hodges_lehmann(&pairs).unwrap() - 0.025).abs() < 1e-12);
        assert_eq!(interval(&pairs[..5], 0.95), None);
        assert_eq!(hodges_lehmann(&[]), None);
        assert_eq!(hodges_lehmann(&[f64::NAN]), None);
    }
}
