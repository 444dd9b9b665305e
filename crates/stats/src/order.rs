//! Order statistics: percentiles by nearest rank, how many samples one needs, and the interval
//! of a median (D5, D8). Samples are taken to be independent.

use crate::sample::{median, middle, normal_quantile};

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

/// A median of N with the interval that N values have, which for few is less than 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianInterval {
    /// The median.
    pub median: f64,
    /// The values at the two ranks.
    pub interval: [f64; 2],
    /// The ranks, from 1.
    pub ranks: (u32, u32),
    /// The share of samples whose interval between these ranks holds the true median:
    /// `sum_{i=j}^{n-j} C(n,i) / 2^n`, 0.75 for three values. At least that, for any continuous
    /// law.
    pub coverage: f64,
}

/// The median of `values` with the interval of [`median_ranks`]; where the values are too few
/// for `confidence`, the extremes with the coverage that they really have (D5). `None` under two
/// values, above 1,000, and when one is not finite.
#[must_use]
pub fn median_interval(values: &[f64], confidence: f64) -> Option<MedianInterval> {
    if values.len() < 2 || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let n = u32::try_from(values.len()).ok().filter(|n| *n <= 1_000)?;
    let ranks = median_ranks(n, confidence).unwrap_or((1, n));
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |rank: u32| sorted[rank as usize - 1];
    Some(MedianInterval {
        median: middle(&sorted)?,
        interval: [at(ranks.0), at(ranks.1)],
        ranks,
        coverage: rank_coverage(n, ranks.0),
    })
}

/// Coverage of the median by ranks `(j, n + 1 - j)`: `1 - 2 P(Bin(n, 1/2) < j)`.
fn rank_coverage(n: u32, rank: u32) -> f64 {
    let mut mass = 0.5_f64.powi(n as i32);
    let mut tail = 0.0;
    for below in 0..rank {
        tail += mass;
        mass *= f64::from(n - below) / f64::from(below + 1);
    }
    1.0 - 2.0 * tail
}

/// Spread by the median absolute deviation from the median, times 1.4826 so that it equals the
/// standard deviation of a normal law: one wild value does not move it. `None` when empty.
#[must_use]
pub fn mad_sd(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let away: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&away).map(|mad| 1.4826 * mad)
}

/// The value above which one stands out of a history: `Q3 + 3 (Q3 - Q1)`, Tukey's outer fence.
/// Quartiles are interpolated (type 7 of Hyndman and Fan, American Statistician 50, 1996).
/// What stands out is flagged, never dropped. `None` under four values.
#[must_use]
pub fn upper_fence(values: &[f64]) -> Option<f64> {
    if values.len() < 4 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let quartile = |q: f64| {
        let at = q * (sorted.len() - 1) as f64;
        let (low, part) = (at.floor() as usize, at.fract());
        let next = sorted[(low + 1).min(sorted.len() - 1)];
        sorted[low] + part * (next - sorted[low])
    };
    let (q1, q3) = (quartile(0.25), quartile(0.75));
    Some(q3 + 3.0 * (q3 - q1))
}

/// `(max - min) / 2`, the spread to print for a few values. `None` when empty.
#[must_use]
pub fn half_range(values: &[f64]) -> Option<f64> {
    let low = values.iter().copied().min_by(f64::total_cmp)?;
    let high = values.iter().copied().max_by(f64::total_cmp)?;
    Some((high - low) / 2.0)
}

/// Every k-th value, with the smallest k that leaves at most `most`.
pub(crate) fn thinned(values: &[f64], most: usize) -> Vec<f64> {
    let stride = values.len().div_ceil(most).max(1);
    values.iter().step_by(stride).copied().collect()
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
    fn a_median_says_how_much_its_interval_covers() {
        let three = median_interval(&[3.0, 1.0, 2.0], 0.95).unwrap();
        assert_eq!(
            three,
            MedianInterval { median: 2.0, interval: [1.0, 3.0], ranks: (1, 3), coverage: 0.75 }
        );
        let coverage = |n: u32| {
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            median_interval(&values, 0.95).unwrap().coverage
        };
        // 1 - 2^(1-n) for the extremes; 96.1 % for 9 by the 2nd and 8th and 12 by 3rd and 10th.
        for (n, expected) in
            [(2, 0.5), (5, 0.9375), (6, 0.96875), (9, 0.9609375), (12, 0.96142578125)]
        {
            assert!((coverage(n) - expected).abs() < 1e-12, "{n}: {}", coverage(n));
        }
        assert!(coverage(1_000) >= 0.95);
        assert_eq!(median_interval(&[1.0], 0.95), None);
        assert_eq!(median_interval(&[1.0, f64::NAN], 0.95), None);
    }

    #[test]
    fn spreads_that_one_value_does_not_move() {
        assert!((mad_sd(&[1.0, 2.0, 3.0, 4.0, 1e9]).unwrap() - 1.4826).abs() < 1e-12);
        assert_eq!(half_range(&[5.0, 1.0, 3.0]), Some(2.0));
        // Quartiles of 1 to 9 are 3 and 7.
        let nine: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(upper_fence(&nine), Some(19.0));
        assert_eq!(upper_fence(&nine[..3]), None);
        assert_eq!(mad_sd(&[]), None);
        assert_eq!(half_range(&[]), None);
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
