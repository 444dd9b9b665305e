//! One change of level in a series (D10): by ranks, with the largest of all splits, and a p-value
//! that knows that it is the largest.

use crate::order::thinned;
use crate::sample::{mean, median};

/// Fewest values on either side of a change: one or two wild values are no new level.
pub const FEWEST_VALUES: usize = 5;

/// Most values that are looked at; a longer series is thinned to equal strides.
pub const MOST_VALUES: usize = 100_000;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value of the new level.
    pub index: usize,
    /// Median before it.
    pub before: f64,
    /// Median from it on.
    pub after: f64,
    /// Chance of a split at least this sharp in a series without a change.
    pub p_value: f64,
}

/// The sharpest split of `values`, by Pettitt's statistic: `U_t = 2 (ranks before t) - t (n + 1)`
/// with mean ranks for ties, `K = max |U_t|`, and `p = 2 exp(-6 K² / (n³ + n²))` (A. N. Pettitt,
/// Applied Statistics 28, 1979), which holds for the maximum and is conservative for short
/// series. `O(n log n)`.
///
/// Neighbouring seconds resemble each other, which makes K larger without any change. `K²` is
/// therefore divided by `(1 + r) / (1 - r)`, where r is the lag-1 correlation of the ranks about
/// the means of their two segments, corrected for its bias in short series and never taken as
/// negative.
///
/// Splits with fewer than [`FEWEST_VALUES`] on a side are not looked at. `None` under twice as
/// many values and when one is not finite. The p-value belongs to one scan: a search within the
/// two parts would need its own.
#[must_use]
pub fn scan(values: &[f64]) -> Option<ChangePoint> {
    let stride = values.len().div_ceil(MOST_VALUES).max(1);
    let values = thinned(values, MOST_VALUES);
    let n = values.len();
    if n < 2 * FEWEST_VALUES || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let ranks = mean_ranks(&values);
    let mut sum = 0.0;
    let mut sharpest = (FEWEST_VALUES, 0.0_f64);
    for (index, rank) in ranks.iter().enumerate() {
        // `sum` is that of the ranks before `index`.
        if index >= FEWEST_VALUES && n - index >= FEWEST_VALUES {
            let u = (2.0 * sum - index as f64 * (n + 1) as f64).abs();
            if u > sharpest.1 {
                sharpest = (index, u);
            }
        }
        sum += rank;
    }
    let (index, k) = sharpest;
    let correlation = segment_correlation(&ranks, index);
    let inflation = (1.0 + correlation) / (1.0 - correlation);
    let length = n as f64;
    let exponent = 6.0 * k * k / (inflation * (length.powi(3) + length.powi(2)));
    Some(ChangePoint {
        index: index * stride,
        before: median(&values[..index])?,
        after: median(&values[index..])?,
        p_value: (2.0 * (-exponent).exp()).min(1.0),
    })
}

/// Ranks from 1, equal values sharing their mean rank.
fn mean_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = start as f64 + (group.len() + 1) as f64 / 2.0;
        for index in group {
            ranks[*index] = rank;
        }
        start += group.len();
    }
    ranks
}

/// Lag-1 correlation about the means of the two segments, from 0 to 0.99. The estimate is too
/// low by about `(1 + 4 r) / n` for each fitted mean (F. H. C. Marriott and J. A. Pope,
/// Biometrika 41, 1954), which is given back.
fn segment_correlation(ranks: &[f64], index: usize) -> f64 {
    let (mut products, mut squares) = (0.0, 0.0);
    for segment in [&ranks[..index], &ranks[index..]] {
        let Some(centre) = mean(segment) else { continue };
        squares += segment.iter().map(|rank| (rank - centre).powi(2)).sum::<f64>();
        products += segment.windows(2).map(|w| (w[0] - centre) * (w[1] - centre)).sum::<f64>();
    }
    if squares == 0.0 {
        return 0.0;
    }
    let raw = products / squares;
    let corrected = raw + 2.0 * (1.0 + 4.0 * raw) / ranks.len() as f64;
    corrected.clamp(0.0, 0.99)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::seeded(seed);
        (0..n).map(|_| random.normal()).collect()
    }

    #[test]
    fn a_planted_step_is_found_where_it_is() {
        let mut values = noise(200, 1);
        for value in &mut values[120..] {
            *value += 2.0;
        }
        let change = scan(&values).unwrap();
        assert!(change.index.abs_diff(120) <= 3, "{change:?}");
        assert!(change.p_value < 1e-6, "{change:?}");
        assert!((change.after - change.before - 2.0).abs() < 0.5, "{change:?}");
        assert!(scan(&noise(200, 1)).unwrap().p_value > 0.05);
    }

    #[test]
    fn the_nile_falls_after_1898() {
        // Annual flow at Aswan from 1871 to 1970, 10^8 m³; the change of 1898 is that of Cobb
        // (Biometrika 65, 1978) and of every textbook since.
        let flow = [
            1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020,
            960, 1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840,
            874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120,
            1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845,
            944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890,
            744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919,
            718, 714, 740,
        ];
        let flow = flow.map(f64::from);
        let change = scan(&flow).unwrap();
        assert_eq!(1871 + change.index, 1899, "the first year of the new level");
        assert_eq!((change.before, change.after), (1_130.0, 842.5));
        assert!(change.p_value < 1e-4, "{change:?}");
    }

    #[test]
    fn short_and_constant_series() {
        assert_eq!(scan(&noise(9, 1)), None);
        assert_eq!(scan(&[3.0; 50]).unwrap().p_value, 1.0);
        assert_eq!(scan(&[f64::NAN; 50]), None);
        // Two wild values at the end are no new level.
        let mut values = vec![1.0; 40];
        values[38] = 100.0;
        values[39] = 100.0;
        assert!(scan(&values).unwrap().p_value > 0.05);
    }

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(mean_ranks(&[5.0, 1.0, 5.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }
}
