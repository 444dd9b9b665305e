//! Order statistics: percentiles by nearest rank, how many samples one needs, and the interval
//! of a median (D5, D8). Samples are taken to be independent.

use crate::sample::normal_quantile;

/// The percentile `p` (0 to 1) of sorted values by nearest rank: the smallest value with at
/// least `p n` values at or below it. `None` when empty.
#[must_use]
pub fn nearest_rank<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    let n = sorted.len();
    // The slack keeps 0.99 × 100 = 99.00000000000001 at rank 99.
    let rank = (p * n as f64 - 1e-9).ceil().max(1.0) as usize;
    sorted.get(rank.min(n).checked_sub(1)?).copied()
}

/// The ranks, from 1, of a two-sided 95 % interval of percentile `p` over `n` independent
/// samples, `j = floor(np - z sqrt(np(1-p)))` and `k = ceil(np + z sqrt(np(1-p))) + 1` (D8).
/// `None` when a rank lies outside the sample: then there is no such interval.
#[must_use]
pub fn percentile_ranks(n: u64, p: f64) -> Option<(u64, u64)> {
    let (centre, z) = (n as f64 * p, normal_quantile(0.975));
    let half = z * (centre * (1.0 - p)).sqrt();
    let (low, high) = ((centre - half).floor(), (centre + half).ceil() + 1.0);
    (low >= 1.0 && high <= n as f64).then_some((low as u64, high as u64))
}

/// The smallest sample with a two-sided 95 % interval of percentile `p`, by
/// [`percentile_ranks`]: 53 for p90, 110 for p95, 563 for p99. `None` outside `0 < p < 1`, or
/// when a million million samples would not do.
#[must_use]
pub fn samples_needed(p: f64) -> Option<u64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    // The condition holds from some size on, so that bisection finds the edge.
    let (mut none, mut enough) = (0_u64, 1_u64 << 40);
    percentile_ranks(enough, p)?;
    while enough - none > 1 {
        let middle = u64::midpoint(none, enough);
        if percentile_ranks(middle, p).is_some() {
            enough = middle;
        } else {
            none = middle;
        }
    }
    Some(enough)
}

/// The ranks `(j, n + 1 - j)`, from 1, of the interval of a median of `n` values with at least
/// `confidence`: the largest `j` with `sum_{i=j}^{n-j} C(n,i) / 2^n >= confidence` (D5). `None`
/// when even the extremes cover less: a median of 5 has no 95 % interval.
#[must_use]
pub fn median_ranks(n: u32, confidence: f64) -> Option<(u32, u32)> {
    if n == 0 || n > 1_000 {
        return None;
    }
    let mut mass = 0.5_f64.powi(i32::try_from(n).ok()?);
    let mut tail = 0.0;
    let mut rank = 0;
    // `tail` is P(Bin(n, 1/2) < j); both tails are equal.
    for below in 0..n / 2 {
        tail += mass;
        if 1.0 - 2.0 * tail < confidence - 1e-12 {
            break;
        }
        rank = below + 1;
        mass *= f64::from(n - below) / f64::from(below + 1);
    }
    (rank >= 1).then(|| (rank, n + 1 - rank))
}

/// Whether percentile `p` (0 to 1) is only a lower bound, because `censored` of `all`
/// observations lie somewhere beyond every value that was seen: so once their share reaches
/// what lies above the percentile (D8).
#[must_use]
pub fn is_bound(p: f64, censored: u64, all: u64) -> bool {
    // The slack keeps 1 - 0.99 = 0.010000000000000009 from excusing exactly 1 %.
    censored > 0 && censored as f64 >= (1.0 - p) * all as f64 * (1.0 - 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::MINIMUM_SAMPLES;

    #[test]
    fn nearest_rank_is_exact() {
        let hundred: Vec<u32> = (1..=100).collect();
        for (p, expected) in [(0.0, 1), (0.5, 50), (0.9, 90), (0.99, 99), (0.999, 100), (1.0, 100)]
        {
            assert_eq!(nearest_rank(&hundred, p), Some(expected), "{p}");
        }
        assert_eq!(nearest_rank(&[7], 0.001), Some(7));
        assert_eq!(nearest_rank::<u32>(&[], 0.5), None);
    }

    #[test]
    fn the_edge_is_the_edge() {
        for p in [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999] {
            let needed = samples_needed(p).unwrap();
            assert!(percentile_ranks(needed, p).is_some(), "{p}: {needed}");
            assert!(percentile_ranks(needed - 1, p).is_none(), "{p}: {needed}");
        }
        assert_eq!(samples_needed(1.0), None);
        assert_eq!(samples_needed(f64::NAN), None);
    }

    #[test]
    fn the_table_is_never_laxer_than_the_formula() {
        let computed: Vec<u64> =
            MINIMUM_SAMPLES[1..].iter().map(|(p, _)| samples_needed(*p).unwrap()).collect();
        assert_eq!(computed, [53, 110, 563, 5_661]);
        for ((p, table), needed) in MINIMUM_SAMPLES[1..].iter().zip(computed) {
            assert!(*table >= needed, "p{p}: the table says {table}, the formula {needed}");
            assert!(*table * 100 <= needed * 103, "p{p}: {table} is far above {needed}");
        }
        // The median's bound is exact, by D5.
        assert_eq!(median_ranks(MINIMUM_SAMPLES[0].1 as u32, 0.95), Some((1, 6)));
        assert_eq!(median_ranks(MINIMUM_SAMPLES[0].1 as u32 - 1, 0.95), None);
    }

    #[test]
    fn median_intervals_are_those_of_the_page() {
        assert_eq!(median_ranks(3, 0.95), None);
        assert_eq!(median_ranks(9, 0.95), Some((2, 8)));
        assert_eq!(median_ranks(12, 0.95), Some((3, 10)));
        assert_eq!(median_ranks(0, 0.95), None);
    }

    #[test]
    fn censoring_reaches_what_lies_below_it() {
        assert!(!is_bound(0.99, 0, 100));
        assert!(is_bound(0.99, 1, 100));
        assert!(!is_bound(0.95, 4, 100));
        assert!(is_bound(0.95, 5, 100));
        assert!(is_bound(1.0, 1, 1_000_000));
        assert!(!is_bound(0.0, 99, 100));
    }
}
