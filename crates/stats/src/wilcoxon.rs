//! The Wilcoxon signed-rank distribution, the Hodges-Lehmann estimate and the interval by
//! inversion of the test (D2). Sound for differences that are symmetric about their centre;
//! no normality is assumed.

use crate::sample::{middle, normal_quantile};

/// Largest number of pairs with the exact distribution; the normal approximation above it.
pub const EXACT_PAIRS: usize = 25;

/// Most pairs that are looked at: Walsh averages grow with the square of the pairs. Far above
/// any matrix of runs; [`hodges_lehmann`] and [`interval`] give `None` beyond it.
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

/// The averages `(d_i + d_j) / 2`, `i <= j`, sorted: `n(n+1)/2` of them.
fn walsh_averages(differences: &[f64]) -> Vec<f64> {
    let n = differences.len();
    let mut averages = Vec::with_capacity(n * (n + 1) / 2);
    for (index, first) in differences.iter().enumerate() {
        averages.extend(differences[index..].iter().map(|second| f64::midpoint(*first, *second)));
    }
    averages.sort_by(f64::total_cmp);
    averages
}

/// The Hodges-Lehmann estimate: the median of the Walsh averages. `None` when empty, beyond
/// [`MOST_PAIRS`], or when a value is not finite.
#[must_use]
pub fn hodges_lehmann(differences: &[f64]) -> Option<f64> {
    usable(differences).then(|| middle(&walsh_averages(differences)))?
}

/// The two-sided interval `[W_(c), W_(M+1-c)]` of the centre with at least `confidence`:
/// exact up to [`EXACT_PAIRS`], else `c = floor(M/2 - z sqrt(n(n+1)(2n+1)/24))`.
///
/// `None` when there are too few pairs for that confidence: 95 % needs 6, 90 % needs 5; also
/// beyond [`MOST_PAIRS`] and when a value is not finite.
#[must_use]
pub fn interval(differences: &[f64], confidence: f64) -> Option<[f64; 2]> {
    if !usable(differences) {
        return None;
    }
    let rank = interval_rank(differences.len(), confidence)?;
    let averages = walsh_averages(differences);
    Some([averages[rank - 1], averages[averages.len() - rank]])
}

/// The rank `c` of the lower end among the sorted Walsh averages, from 1: the largest with
/// `P(T+ <= c - 1) <= (1 - confidence) / 2`. `None` when even the extremes do not reach it.
#[must_use]
pub fn interval_rank(n: usize, confidence: f64) -> Option<usize> {
    let tail = (1.0 - confidence) / 2.0;
    let rank = if n <= EXACT_PAIRS {
        // A hair of slack, so that a tail that equals a table value is not lost to rounding.
        null_distribution(n).iter().take_while(|below| **below <= tail + 1e-12).count()
    } else {
        let pairs = n as f64;
        let centre = pairs * (pairs + 1.0) / 4.0;
        let spread = (pairs * (pairs + 1.0) * (2.0 * pairs + 1.0) / 24.0).sqrt();
        (centre - normal_quantile(1.0 - tail) * spread).floor().max(0.0) as usize
    };
    (rank >= 1).then_some(rank)
}

fn usable(differences: &[f64]) -> bool {
    !differences.is_empty()
        && differences.len() <= MOST_PAIRS
        && differences.iter().all(|difference| difference.is_finite())
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
    fn the_approximation_continues_the_table() {
        let exact = interval_rank(25, 0.95).unwrap();
        let approximate = interval_rank(26, 0.95).unwrap();
        // The published value for 26 pairs is 98.
        assert!((98..=99).contains(&approximate), "{approximate}");
        assert!(approximate > exact);
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
