//! Two independent samples: the Hodges-Lehmann shift, its interval and its p-value, by
//! Wilcoxon's rank sum. Assumes equal shapes and independent values; no normality.

use record::compare::Estimate;

use crate::order::thinned;
use crate::sample::{middle, normal_cdf, normal_quantile};

/// Largest size of each sample with the exact distribution; the normal approximation above it.
pub const EXACT_SIZE: usize = 20;

/// Most values of each sample that are looked at: differences grow with the product. A longer
/// one is thinned to equal strides.
pub const MOST_VALUES: usize = 1_000;

/// A shift between two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Median of all differences `second - first`, with its 95 % interval
    /// `[D_(c), D_(mn+1-c)]` (Hodges and Lehmann, Annals of Mathematical Statistics 34, 1963;
    /// Moses's inversion of the rank-sum test). No interval when the samples are too small: 95 %
    /// needs 4 and 4.
    pub shift: Estimate,
    /// Two-sided p of "no shift": the smallest level whose interval excludes 0. A tie between
    /// the samples counts for both sides.
    pub p_value: f64,
}

/// The shift from `first` to `second`; `None` when either is empty or a value is not finite.
#[must_use]
pub fn shift(first: &[f64], second: &[f64]) -> Option<Shift> {
    let (first, second) = (thinned(first, MOST_VALUES), thinned(second, MOST_VALUES));
    if !first.iter().chain(&second).all(|value| value.is_finite()) {
        return None;
    }
    let mut differences: Vec<f64> =
        second.iter().flat_map(|b| first.iter().map(move |a| b - a)).collect();
    differences.sort_unstable_by(f64::total_cmp);
    let value = middle(&differences)?;
    let law = RankSum::of(first.len(), second.len());
    let rank = law.rank(0.025);
    let interval =
        (rank >= 1).then(|| [differences[rank - 1], differences[differences.len() - rank]]);
    let below = differences.partition_point(|d| *d < 0.0);
    let at_most = differences.partition_point(|d| *d <= 0.0);
    let smaller = at_most.min(differences.len() - below);
    let p_value = (2.0 * law.tail(smaller)).min(1.0);
    Some(Shift { shift: Estimate { value, interval }, p_value })
}

/// The law of the number of pairs in which the second value is below the first, without a shift.
enum RankSum {
    /// `P(U <= u)` for every u.
    Exact(Vec<f64>),
    /// Mean and standard deviation.
    Normal(f64, f64),
}

impl RankSum {
    fn of(m: usize, n: usize) -> Self {
        if m <= EXACT_SIZE && n <= EXACT_SIZE {
            return Self::Exact(exact(m, n));
        }
        let (m, n) = (m as f64, n as f64);
        Self::Normal(m * n / 2.0, (m * n * (m + n + 1.0) / 12.0).sqrt())
    }

    /// `P(U <= u)`, from the safe side where it is approximate.
    fn tail(&self, u: usize) -> f64 {
        match self {
            Self::Exact(below) => below[u.min(below.len() - 1)],
            Self::Normal(centre, spread) => normal_cdf((u as f64 + 1.0 - centre) / spread),
        }
    }

    /// The largest c with `P(U <= c - 1) <= tail`, 0 when there is none.
    fn rank(&self, tail: f64) -> usize {
        match self {
            // The slack as in the signed-rank table.
            Self::Exact(below) => below.iter().take_while(|p| **p <= tail + 1e-12).count(),
            Self::Normal(centre, spread) => {
                (centre - normal_quantile(1.0 - tail) * spread).floor().max(0.0) as usize
            }
        }
    }
}

/// `P(U <= u)` for samples of m and n: the count of partitions of u into at most m parts of at
/// most n, by the recursion `w(m, n, u) = w(m - 1, n, u - n) + w(m, n - 1, u)` (Mann and
/// Whitney, Annals of Mathematical Statistics 18, 1947).
fn exact(m: usize, n: usize) -> Vec<f64> {
    let most = m * n;
    // Row j holds the counts of the current number of parts, for parts of at most j.
    let mut rows = vec![vec![0.0_f64; most + 1]; n + 1];
    for row in &mut rows {
        row[0] = 1.0;
    }
    for _ in 0..m {
        let before = rows.clone();
        for j in 1..=n {
            for u in 0..=most {
                let with = if u >= j { before[j][u - j] } else { 0.0 };
                rows[j][u] = with + rows[j - 1][u];
            }
        }
    }
    let all: f64 = rows[n].iter().sum();
    let mut below = 0.0;
    rows[n]
        .iter()
        .map(|ways| {
            below += ways;
            below / all
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(U <= u) by listing every choice of ranks.
    fn by_enumeration(m: usize, n: usize) -> Vec<f64> {
        let mut counts = vec![0.0; m * n + 1];
        let mut all = 0.0;
        for choice in 0_u32..1 << (m + n) {
            if choice.count_ones() as usize == m {
                // For each of the m, how many of the n rank below it.
                let u: u32 = (0..m + n)
                    .filter(|bit| choice & (1 << bit) != 0)
                    .map(|bit| (!choice & ((1 << bit) - 1)).count_ones())
                    .sum();
                counts[u as usize] += 1.0;
                all += 1.0;
            }
        }
        let mut below = 0.0;
        counts
            .iter()
            .map(|count| {
                below += count;
                below / all
            })
            .collect()
    }

    #[test]
    fn the_distribution_is_that_of_all_rankings() {
        for (m, n) in [(1, 1), (1, 5), (3, 4), (4, 3), (5, 5), (6, 4), (2, 9)] {
            for (computed, listed) in exact(m, n).iter().zip(by_enumeration(m, n)) {
                assert!((computed - listed).abs() < 1e-12, "{m}, {n}");
            }
        }
        // Published two-sided 5 % critical values of U.
        for (m, n, critical) in [(4, 4, 0), (5, 5, 2), (8, 8, 13), (10, 10, 23), (20, 20, 127)] {
            assert_eq!(RankSum::of(m, n).rank(0.025), critical + 1, "{m}, {n}");
        }
        assert_eq!(RankSum::of(3, 3).rank(0.025), 0);
    }

    #[test]
    fn a_shift_is_found_with_its_sign() {
        let first = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let second = first.map(|value| value + 10.0);
        let found = shift(&first, &second).unwrap();
        assert!((found.shift.value - 10.0).abs() < 1e-12);
        assert!(found.shift.interval.unwrap()[0] > 0.0);
        // All 36 pairs on one side: 2 / C(12, 6).
        assert!((found.p_value - 2.0 / 924.0).abs() < 1e-12);
        assert_eq!(shift(&first, &first).unwrap().p_value, 1.0);
        assert_eq!(shift(&[], &first), None);
        assert_eq!(shift(&[f64::NAN], &first), None);
    }
}
