//! Location, spread and quantiles of small samples. Empty input gives `None`, never zero.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Arithmetic mean; `None` when empty.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation with `n - 1` in the denominator; `None` under two values.
#[must_use]
pub fn sd(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Median, the mean of the middle two for an even count; `None` when empty.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    middle(&sorted)
}

/// Median of values that are sorted already.
pub(crate) fn middle(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(sorted[n / 2]),
        _ => Some(f64::midpoint(sorted[n / 2 - 1], sorted[n / 2])),
    }
}

/// Geometric mean; `None` when empty or when a value is not positive.
#[must_use]
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logs: Option<Vec<f64>> =
        values.iter().map(|value| (*value > 0.0).then(|| value.ln())).collect();
    mean(&logs?).map(f64::exp)
}

/// The logarithm of `level / baseline`. Two zeros are equal, so their log-ratio is 0; one zero,
/// a negative or a non-finite value has no ratio.
#[must_use]
pub fn log_ratio(baseline: f64, level: f64) -> Option<f64> {
    if baseline == 0.0 && level == 0.0 {
        return Some(0.0);
    }
    let ratio = (level / baseline).ln();
    (baseline > 0.0 && level > 0.0 && ratio.is_finite()).then_some(ratio)
}

/// A log-ratio as a percentage: `100 (e^d - 1)`.
#[must_use]
pub fn percent(log_ratio: f64) -> f64 {
    100.0 * log_ratio.exp_m1()
}

/// Quantile of the standard normal distribution; infinite at `q` of 0 and 1 and beyond.
#[must_use]
pub fn normal_quantile(q: f64) -> f64 {
    Normal::standard().inverse_cdf(q.clamp(0.0, 1.0))
}

/// Distribution function of the standard normal distribution.
#[must_use]
pub fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// Quantile of Student's t with `freedom` > 0 degrees of freedom; infinite at `q` of 0 and 1 and
/// beyond.
///
/// # Panics
/// When `freedom` is not positive, which is a caller's bug.
#[must_use]
pub fn t_quantile(freedom: f64, q: f64) -> f64 {
    let law = StudentsT::new(0.0, 1.0, freedom).expect("degrees of freedom are positive");
    law.inverse_cdf(q.clamp(0.0, 1.0))
}

/// Two-sided p of a t statistic with `freedom` > 0 degrees of freedom.
///
/// # Panics
/// When `freedom` is not positive, which is a caller's bug.
#[must_use]
pub fn t_two_sided_p(t: f64, freedom: f64) -> f64 {
    let law = StudentsT::new(0.0, 1.0, freedom).expect("degrees of freedom are positive");
    (2.0 * law.cdf(-t.abs())).min(1.0)
}

/// Two-sided interval of the mean, `mean ± t · sd / √n`; `None` under two values. Assumes
/// roughly normal differences, which is why it only cross-checks the rank-based interval (D2).
#[must_use]
pub fn t_interval(values: &[f64], confidence: f64) -> Option<[f64; 2]> {
    let (centre, spread) = (mean(values)?, sd(values)?);
    let n = values.len() as f64;
    let half = t_quantile(n - 1.0, 0.5 + confidence / 2.0) * spread / n.sqrt();
    Some([centre - half, centre + half])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_and_spread() {
        assert_eq!(mean(&[]), None);
        assert_eq!(sd(&[1.0]), None);
        assert_eq!(sd(&[1.0, 3.0]), Some(std::f64::consts::SQRT_2));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert!((geometric_mean(&[1.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    }

    #[test]
    fn ratios_of_zero_are_not_invented() {
        assert_eq!(log_ratio(0.0, 0.0), Some(0.0));
        assert_eq!(log_ratio(0.0, 1.0), None);
        assert_eq!(log_ratio(1.0, 0.0), None);
        assert_eq!(log_ratio(-1.0, -2.0), None);
        assert!((log_ratio(2.0, 4.0).unwrap() - 2_f64.ln()).abs() < 1e-15);
        assert!((percent(1.05_f64.ln()) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn quantiles_match_the_tables() {
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-5);
        assert!((t_quantile(5.0, 0.975) - 2.570_582).abs() < 1e-4);
        let interval = t_interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).unwrap();
        assert!((interval[0] - 1.536_6).abs() < 1e-3);
        assert!((interval[1] - 5.463_4).abs() < 1e-3);
    }
}
