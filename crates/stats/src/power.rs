//! How many pairs an effect needs, and how small an effect the pairs could have shown (D3).

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::sample::{normal_quantile, sd, t_quantile};

/// Fewest pairs with a two-sided 95 % interval: the smallest two-sided p of `n` pairs is
/// `2^(1-n)`, 0.0625 for 5 and 0.031 for 6.
pub const FEWEST_PAIRS: u32 = 6;

/// Two-sided error of the first kind in every statement.
pub const ALPHA: f64 = 0.05;

/// Power that a plan aims at.
pub const POWER: f64 = 0.8;

/// Fewest pairs with a two-sided interval at `1 - alpha`: the smallest n with
/// `2^(1-n) <= alpha`, 6 at 5 %, 12 at 0.052 % (the first of three looks by O'Brien and
/// Fleming). `None` unless `0 < alpha <= 1`.
#[must_use]
pub fn fewest_pairs(alpha: f64) -> Option<u32> {
    // The slack forgives rounding in the twelfth digit.
    (alpha > 0.0 && alpha <= 1.0).then(|| (1.0 - alpha.log2() - 1e-12).ceil().max(1.0) as u32)
}

/// Pairs needed to see `effect` (0.02 is 2 %) at a two-sided error `alpha` when log-ratios scatter
/// with `sd`: `((z_{1-a/2} + z_power) sd / ln(1 + effect))² + z²_{1-a/2} / 2`, at least
/// [`fewest_pairs`]. `None` when the effect is not positive, the sd not finite or the error none.
#[must_use]
pub fn needed_pairs(sd: f64, effect: f64, alpha: f64, power: f64) -> Option<u32> {
    if !(effect > 0.0 && sd >= 0.0 && sd.is_finite()) {
        return None;
    }
    let fewest = fewest_pairs(alpha)?;
    let (z_alpha, z_power) = (normal_quantile(1.0 - alpha / 2.0), normal_quantile(power));
    let pairs = ((z_alpha + z_power) * sd / effect.ln_1p()).powi(2) + z_alpha.powi(2) / 2.0;
    Some((pairs.ceil().min(f64::from(u32::MAX)) as u32).max(fewest))
}

/// The upper 80 % bound of a standard deviation seen over `n` pairs,
/// `s sqrt((n-1) / chi²_{0.2, n-1})`, assuming normal differences. A plan uses it, since a
/// small pilot underestimates the spread half of the time. `None` under two pairs.
#[must_use]
pub fn sd_upper_80(sd: f64, n: usize) -> Option<f64> {
    if n < 2 {
        return None;
    }
    let freedom = (n - 1) as f64;
    let quantile = ChiSquared::new(freedom).ok()?.inverse_cdf(0.2);
    Some(sd * (freedom / quantile).sqrt())
}

/// The smallest log-ratio that these pairs would have shown with [`POWER`]; see
/// [`minimum_detectable_with`]. `None` under two pairs.
#[must_use]
pub fn minimum_detectable(differences: &[f64], alpha: f64) -> Option<f64> {
    minimum_detectable_with(sd(differences)?, u32::try_from(differences.len()).ok()?, alpha)
}

/// The smallest log-ratio that `pairs` pairs show with [`POWER`] when their log-ratios scatter
/// with `sd`, at a two-sided error `alpha`: `(t_{n-1, 1-a/2} + t_{n-1, power}) s / sqrt(n)`. `None`
/// under two pairs.
#[must_use]
pub fn minimum_detectable_with(sd: f64, pairs: u32, alpha: f64) -> Option<f64> {
    if pairs < 2 {
        return None;
    }
    let n = f64::from(pairs);
    let quantiles = t_quantile(n - 1.0, 1.0 - alpha / 2.0) + t_quantile(n - 1.0, POWER);
    Some(quantiles * sd / n.sqrt())
}

/// Pairs after which the mean is known to half of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolvingPairs {
    /// By one standard error.
    pub at_one_standard_error: u32,
    /// By half of the 95 % interval.
    pub at_95_percent: u32,
}

/// Pairs that resolve a mean of `mean` at a spread of `sd` (both in one unit) to half of itself:
/// `(sd / (|mean| / 2))²` at one standard error, and `z²_{0.975}` = 3.84 times as many at 95 %;
/// rounded to the nearest. It says when a machine cannot resolve an effect: halving the noise is
/// worth four times the runs. The mean that it was asked about belongs beside the answer. `None`
/// when the mean is 0 or something is not finite.
#[must_use]
pub fn pairs_to_resolve_mean(sd: f64, mean: f64) -> Option<ResolvingPairs> {
    let pairs = (sd / (mean.abs() / 2.0)).powi(2);
    let rounded = |pairs: f64| pairs.round().clamp(1.0, f64::from(u32::MAX)) as u32;
    (mean != 0.0 && pairs.is_finite()).then(|| ResolvingPairs {
        at_one_standard_error: rounded(pairs),
        at_95_percent: rounded(pairs * normal_quantile(1.0 - ALPHA / 2.0).powi(2)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_pairs_reproduce_the_table() {
        // Rows: sd; columns: effect 1, 2, 3, 5, 10 %; power 0.8 and 0.9.
        let table = [
            (0.01, [(10, 13), (6, 6), (6, 6), (6, 6), (6, 6)]),
            (0.02, [(34, 45), (10, 13), (6, 7), (6, 6), (6, 6)]),
            (0.03, [(74, 98), (20, 27), (11, 13), (6, 6), (6, 6)]),
            (0.05, [(201, 268), (52, 69), (25, 32), (11, 13), (6, 6)]),
            (0.10, [(795, 1064), (203, 270), (92, 123), (35, 47), (11, 14)]),
        ];
        for (sd, row) in table {
            for (effect, (at_80, at_90)) in [0.01, 0.02, 0.03, 0.05, 0.10].into_iter().zip(row) {
                assert_eq!(needed_pairs(sd, effect, ALPHA, 0.8), Some(at_80), "sd {sd}, {effect}");
                assert_eq!(
                    needed_pairs(sd, effect, ALPHA, 0.9),
                    Some(at_90),
                    "sd {sd}, {effect}, 0.9"
                );
            }
        }
        assert_eq!(needed_pairs(0.01, 0.0, ALPHA, 0.8), None);
        assert_eq!(needed_pairs(f64::NAN, 0.01, ALPHA, 0.8), None);
        // A stricter look needs its own fewest pairs, however quiet the machine.
        assert_eq!(needed_pairs(1e-6, 0.02, 0.0052, 0.8), Some(9));
        assert_eq!(needed_pairs(1e-6, 0.02, 0.0, 0.8), None);
    }

    #[test]
    fn the_bound_on_sd_reproduces_its_factors() {
        assert!((sd_upper_80(1.0, 6).unwrap() - 1.46).abs() < 0.005);
        assert!((sd_upper_80(1.0, 10).unwrap() - 1.29).abs() < 0.005);
        assert_eq!(sd_upper_80(1.0, 1), None);
    }

    #[test]
    fn a_mean_is_resolved_at_the_ledgers_cost() {
        // Six pairs with sd 4.83 ms: 260 for a mean of 0.60 ms, 41 for one of 1.5 ms.
        let small = pairs_to_resolve_mean(4.83, -0.60).unwrap();
        assert_eq!((small.at_one_standard_error, small.at_95_percent), (259, 996));
        assert_eq!(pairs_to_resolve_mean(4.83, 1.5).unwrap().at_one_standard_error, 41);
        assert_eq!(pairs_to_resolve_mean(4.83, 0.0), None);
        assert_eq!(pairs_to_resolve_mean(f64::NAN, 1.0), None);
    }

    #[test]
    fn a_level_has_its_fewest_pairs() {
        for (alpha, fewest) in [(1.0, 1), (0.5, 2), (0.1, 5), (0.0625, 5), (0.05, 6), (5.2e-4, 12)]
        {
            assert_eq!(fewest_pairs(alpha), Some(fewest), "{alpha}");
        }
        assert_eq!(fewest_pairs(0.0), None);
        assert_eq!(fewest_pairs(f64::NAN), None);
    }

    #[test]
    fn what_twelve_pairs_can_see() {
        // (t_{11, .975} + t_{11, .8}) sd / sqrt(12) with the published quantiles.
        let pairs: Vec<f64> = (0..12).map(|i| if i % 2 == 0 { 0.02 } else { -0.02 }).collect();
        let expected = (2.200_985 + 0.875_530) * sd(&pairs).unwrap() / 12_f64.sqrt();
        assert!((minimum_detectable(&pairs, ALPHA).unwrap() - expected).abs() < 1e-6);
        assert!(minimum_detectable(&pairs, 0.0052) > minimum_detectable(&pairs, ALPHA));
    }
}
