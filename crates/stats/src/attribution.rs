//! What goes along with the scatter of pairs (D16): least squares on ranks, one cause after the
//! other, each with the share of the variance that it explains beyond those before it.
//!
//! Ranks, so that one pair far off decides nothing and any monotone relation counts. The causes are
//! taken greedily: the strongest first, then the strongest of what is left once the first is
//! removed from both sides (a partial R²). Whether a share is more than chance is asked of
//! permutations of what is left unexplained (Freedman and Lane, "A nonstochastic interpretation of
//! reported significance levels", 1983), and each permutation takes the best of all causes, so that
//! looking at many raises no more alarms than looking at one. It assumes that pairs are exchangeable
//! when nothing explains them.
//!
//! This is association. A cause that is named may be an effect, or a companion of the cause.

use crate::random::Random;

/// Fewer pairs than this say nothing: among eight, one cause of many is close by chance already.
pub const FEWEST_PAIRS: usize = 8;
/// Chance of naming a cause where there is none, over all causes of one contrast.
pub const ALPHA: f64 = 0.05;
/// Permutations for each step.
pub const PERMUTATIONS: u32 = 2_000;
/// Most causes that are said to explain; each takes a degree of freedom.
const CAUSES_MAX: usize = 3;
/// Pairs for each cause that is said to explain.
const PAIRS_PER_CAUSE: usize = 4;

/// One cause, measured against the scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Its place among the causes that were given.
    pub cause: usize,
    /// Share of the variance of the ranks that it explains beyond the causes before it, 0 to 1.
    pub explained: f64,
    /// 1 when the scatter rises with it, -1 when it falls.
    pub sign: f64,
    /// Chance of a share as large for the best of the causes that are left, by permutation.
    pub p: f64,
    /// Whether that is below [`ALPHA`] and every cause before it is too.
    pub explains: bool,
}

/// Ranks the causes of `scatter`, the largest first. A cause that did not vary, or that is none but
/// those before it in other words, explains nothing and is left out. `None` under
/// [`FEWEST_PAIRS`], where lengths differ, where a value is not finite, or without scatter.
#[must_use]
pub fn attribute(scatter: &[f64], causes: &[Vec<f64>], seed: u64) -> Option<Vec<Share>> {
    let n = scatter.len();
    let is_sound = |values: &[f64]| values.len() == n && values.iter().all(|v| v.is_finite());
    if n < FEWEST_PAIRS || !is_sound(scatter) || !causes.iter().all(|cause| is_sound(cause)) {
        return None;
    }
    let mut left = centred_ranks(scatter);
    let total = dot(&left, &left);
    if total <= 0.0 {
        return None;
    }
    let mut columns: Vec<(usize, Vec<f64>)> =
        causes.iter().map(|cause| centred_ranks(cause)).enumerate().collect();
    columns.retain(|(_, column)| dot(column, column) > 0.0);
    let least = 1e-9 * total;
    let mut random = Random::seeded(seed);
    let mut shares: Vec<Share> = Vec::new();
    let most = CAUSES_MAX.min(n / PAIRS_PER_CAUSE);
    while shares.len() < most {
        let Some((place, gain)) = best(&left, &columns) else { break };
        let p = chance(&left, &columns, gain, &mut random);
        if p > ALPHA {
            break;
        }
        let (cause, column) = columns.swap_remove(place);
        let sign = dot(&left, &column).signum();
        shares.push(Share { cause, explained: gain / total, sign, p, explains: true });
        let unit = unit(&column);
        remove(&mut left, &unit);
        for (_, other) in &mut columns {
            remove(other, &unit);
        }
        columns.retain(|(_, column)| dot(column, column) > least);
    }
    // What is left, each for itself: shown, and not said to explain.
    let mut rest: Vec<Share> = columns
        .iter()
        .map(|(cause, column)| {
            let gain = gained(&left, column);
            let p = chance(&left, &columns, gain, &mut random);
            let sign = dot(&left, column).signum();
            Share { cause: *cause, explained: gain / total, sign, p, explains: false }
        })
        .collect();
    rest.sort_by(|a, b| b.explained.total_cmp(&a.explained).then(a.cause.cmp(&b.cause)));
    shares.extend(rest);
    Some(shares)
}

/// Average ranks, less their mean.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let ties = order[start..].iter().take_while(|at| values[**at] == value).count();
        let rank = start as f64 + (ties as f64 - 1.0) / 2.0;
        for at in &order[start..start + ties] {
            ranks[*at] = rank;
        }
        start += ties;
    }
    let mean = (values.len() as f64 - 1.0) / 2.0;
    ranks.iter().map(|rank| rank - mean).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn unit(column: &[f64]) -> Vec<f64> {
    let length = dot(column, column).sqrt();
    column.iter().map(|value| value / length).collect()
}

/// Takes the part along `unit` out of `values`.
fn remove(values: &mut [f64], unit: &[f64]) {
    let along = dot(values, unit);
    values.iter_mut().zip(unit).for_each(|(value, unit)| *value -= along * unit);
}

/// Sum of squares of `left` that one column explains.
fn gained(left: &[f64], column: &[f64]) -> f64 {
    let square = dot(column, column);
    if square > 0.0 { dot(left, column).powi(2) / square } else { 0.0 }
}

/// The column that explains most, and how much.
fn best(left: &[f64], columns: &[(usize, Vec<f64>)]) -> Option<(usize, f64)> {
    let gains = columns.iter().map(|(_, column)| gained(left, column)).enumerate();
    // Of equals the one that was given first.
    gains.max_by(|a, b| a.1.total_cmp(&b.1).then(columns[b.0].0.cmp(&columns[a.0].0)))
}

/// How often the best of all columns explains as much of a shuffled `left`.
fn chance(left: &[f64], columns: &[(usize, Vec<f64>)], gain: f64, random: &mut Random) -> f64 {
    let units: Vec<Vec<f64>> = columns.iter().map(|(_, column)| unit(column)).collect();
    let mut shuffled = left.to_vec();
    let mut as_good = 0_u32;
    for _ in 0..PERMUTATIONS {
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, random.below(at + 1));
        }
        let most = units.iter().map(|unit| dot(&shuffled, unit).powi(2)).fold(0.0, f64::max);
        // A permutation that is the data again must count, whatever rounding says.
        as_good += u32::from(most >= gain * (1.0 - 1e-9));
    }
    f64::from(1 + as_good) / f64::from(1 + PERMUTATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(random: &mut Random, n: usize) -> Vec<f64> {
        (0..n).map(|_| random.normal()).collect()
    }

    #[test]
    fn what_drives_the_scatter_is_ranked_first() {
        let mut random = Random::seeded(1);
        let causes: Vec<Vec<f64>> = (0..6).map(|_| noise(&mut random, 16)).collect();
        let scatter: Vec<f64> =
            causes[2].iter().map(|steal| 0.05 * steal + 0.01 * random.normal()).collect();
        let shares = attribute(&scatter, &causes, 7).expect("enough pairs");
        assert_eq!((shares[0].cause, shares[0].sign, shares[0].explains), (2, 1.0, true));
        assert!(shares[0].explained > 0.8, "{shares:?}");
        assert!(shares[1..].iter().all(|share| !share.explains), "{shares:?}");
        assert_eq!(shares.len(), 6);
        assert_eq!(attribute(&scatter, &causes, 7), Some(shares), "the same seed, the same answer");
    }

    #[test]
    fn a_companion_explains_nothing_more() {
        let mut random = Random::seeded(2);
        let steal = noise(&mut random, 20);
        let companion: Vec<f64> = steal.iter().map(|s| s.exp()).collect();
        let scatter: Vec<f64> = steal.iter().map(|s| -s).collect();
        let shares = attribute(&scatter, &[steal, companion], 3).expect("enough pairs");
        assert_eq!(shares.len(), 1, "the same ranks are the same cause: {shares:?}");
        assert_eq!((shares[0].cause, shares[0].sign), (0, -1.0));
        assert!((shares[0].explained - 1.0).abs() < 1e-9);
    }

    #[test]
    fn two_causes_share_the_variance() {
        let mut random = Random::seeded(4);
        let causes: Vec<Vec<f64>> = (0..4).map(|_| noise(&mut random, 40)).collect();
        let both = causes[0].iter().zip(&causes[3]);
        let scatter: Vec<f64> = both.map(|(a, b)| 2.0 * a - b + 0.2 * random.normal()).collect();
        let shares = attribute(&scatter, &causes, 5).expect("enough pairs");
        let named: Vec<usize> = shares.iter().filter(|s| s.explains).map(|s| s.cause).collect();
        assert_eq!(named, [0, 3]);
        let sum: f64 = shares.iter().take(2).map(|share| share.explained).sum();
        assert!((0.8..=1.0 + 1e-9).contains(&sum), "{shares:?}");
    }

    #[test]
    fn what_cannot_be_told() {
        let seven = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        assert_eq!(attribute(&seven, std::slice::from_ref(&seven), 1), None, "too few");
        assert_eq!(attribute(&[1.0; 9], &[vec![0.0; 9]], 1), None, "no scatter");
        let nine: Vec<f64> = (0..9).map(f64::from).collect();
        assert_eq!(attribute(&nine, &[vec![0.0; 8]], 1), None, "another length");
        assert_eq!(attribute(&nine, &[vec![f64::NAN; 9]], 1), None);
        assert_eq!(attribute(&nine, &[vec![4.0; 9]], 1), Some(Vec::new()), "it did not vary");
    }

    /// Without a cause one in twenty looks alarms, however many causes are looked at.
    #[test]
    fn false_alarms_are_as_rare_as_stated() {
        let mut random = Random::seeded(11);
        let looks = 300;
        let mut alarms = 0;
        for seed in 0..looks {
            let causes: Vec<Vec<f64>> = (0..8).map(|_| noise(&mut random, 12)).collect();
            let scatter = noise(&mut random, 12);
            let shares = attribute(&scatter, &causes, seed).expect("enough pairs");
            alarms += usize::from(shares[0].explains);
        }
        // 5 % of 300 is 15 with a standard deviation of 3.8.
        assert!((4..=29).contains(&alarms), "{alarms} of {looks}");
    }
}
