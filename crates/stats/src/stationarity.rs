//! Whether a series stays where it is (D10), and what its autocorrelation does to an interval
//! (D9). Each of these can fail, and each names what it cannot see.

use record::compare::Estimate;

use crate::sample::{mean, t_interval};
use crate::two_sample::{self, Shift};

/// The shift from the first half of a series to the second; a value in the middle belongs to
/// neither. Its interval takes values as independent, so that for a series of seconds the size of
/// the shift counts and not its p. `None` under two values and when one is not finite. Sees a
/// drift and a step near the middle; a bump that passes in time is for
/// [`crate::change_point::scan`].
#[must_use]
pub fn halves(values: &[f64]) -> Option<Shift> {
    let half = values.len() / 2;
    two_sample::shift(&values[..half], &values[values.len() - half..])
}

/// Correlation of a series with itself one step later:
/// `sum (x_t - m)(x_{t+1} - m) / sum (x_t - m)²`. `None` under three values and without spread.
#[must_use]
pub fn lag1(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let products: f64 = values.windows(2).map(|w| (w[0] - centre) * (w[1] - centre)).sum();
    (squares > 0.0).then(|| products / squares)
}

/// How many independent values n correlated ones are worth: `n (1 - r) / (1 + r)` for a lag-1
/// correlation r (first-order autoregression). Never more than n.
#[must_use]
pub fn effective_n(n: usize, lag1: f64) -> f64 {
    let r = lag1.clamp(0.0, 1.0);
    n as f64 * (1.0 - r) / (1.0 + r)
}

/// Batches to begin with.
pub const BATCHES: usize = 20;
/// Largest lag-1 correlation of batch means that are taken as independent.
pub const BATCH_CORRELATION: f64 = 0.2;
/// Fewest batches: with fewer, their correlation cannot be told from chance.
const FEWEST_BATCHES: usize = 5;

/// Means of equal stretches of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchMeans {
    /// Values in each batch.
    pub length: usize,
    /// The means, in order. What does not fill a batch at the beginning is left out.
    pub means: Vec<f64>,
    /// Lag-1 correlation of the means; `None` without spread.
    pub lag1: Option<f64>,
    /// Whether that is under [`BATCH_CORRELATION`]. When not, no batch length was long enough and
    /// the interval is too narrow.
    pub independent: bool,
    /// Mean of the batches with its 95 % t-interval.
    pub mean: Estimate,
}

/// Batch means: [`BATCHES`] stretches, doubled in length until their lag-1 correlation is under
/// [`BATCH_CORRELATION`] or only five are left (D9; R. W. Conway, Management Science 10, 1963).
/// `None` under [`BATCHES`] values and when one is not finite.
#[must_use]
pub fn batch_means(values: &[f64]) -> Option<BatchMeans> {
    if values.len() < BATCHES || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut length = values.len() / BATCHES;
    loop {
        let batches = values.len() / length;
        let kept = &values[values.len() - batches * length..];
        let means: Vec<f64> = kept
            .chunks_exact(length)
            .map(|batch| batch.iter().sum::<f64>() / length as f64)
            .collect();
        let correlation = lag1(&means);
        let independent = correlation.is_none_or(|r| r < BATCH_CORRELATION);
        if independent || values.len() / (2 * length) < FEWEST_BATCHES {
            let estimate = Estimate { value: mean(&means)?, interval: t_interval(&means, 0.95) };
            return Some(BatchMeans {
                length,
                means,
                lag1: correlation,
                independent,
                mean: estimate,
            });
        }
        length *= 2;
    }
}

/// Fewest values for [`adf`].
pub const ADF_FEWEST: usize = 20;
/// Most lags in [`adf`].
const ADF_MOST_LAGS: usize = 24;

/// The augmented Dickey-Fuller test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adf {
    /// t statistic of the level's coefficient: the more negative, the more the series returns.
    pub statistic: f64,
    /// The 5 % critical value for this length.
    pub critical: f64,
    /// Lagged differences in the regression.
    pub lags: usize,
    /// Whether a unit root is rejected at 5 %: `statistic < critical`. A statistic that is merely
    /// negative proves nothing.
    pub rejected: bool,
}

/// Tests "this series wanders without returning" (a unit root) against "it returns to a constant
/// level": the t statistic of g in `Δy_t = a + g y_{t-1} + sum of c_i Δy_{t-i} + e`, with
/// `floor((n - 1)^(1/3))` lagged differences (D. A. Dickey and W. A. Fuller, Journal of the
/// American Statistical Association 74, 1979; S. E. Said and Dickey, Biometrika 71, 1984). The
/// critical value is the response surface for a constant and no trend in J. G. MacKinnon,
/// "Critical Values for Cointegration Tests", Queen's Economics Department working paper 1227,
/// 2010, table 2.
///
/// Few values have little power: a stationary series of 20 is often not rejected. `None` under
/// [`ADF_FEWEST`] values, when one is not finite, and when the regression is singular, as for a
/// constant series or an exact line.
#[must_use]
pub fn adf(values: &[f64]) -> Option<Adf> {
    let n = values.len();
    if n < ADF_FEWEST || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let lags = (((n - 1) as f64).cbrt().floor() as usize).min(ADF_MOST_LAGS);
    let differences: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
    // Centred, so that a large level does not spoil the normal equations.
    let centre = mean(values)?;
    let rows: Vec<(Vec<f64>, f64)> = (lags..differences.len())
        .map(|t| {
            let mut row = vec![values[t] - centre, 1.0];
            row.extend((1..=lags).map(|lag| differences[t - lag]));
            (row, differences[t])
        })
        .collect();
    let statistic = first_t_statistic(&rows)?;
    let used = rows.len() as f64;
    let critical = -2.861_54 - 2.890_3 / used - 4.234 / used.powi(2) - 40.040 / used.powi(3);
    Some(Adf { statistic, critical, lags, rejected: statistic < critical })
}

/// The t statistic of the first coefficient of a least-squares fit; `None` when the columns
/// depend on each other or nothing is left to fit.
fn first_t_statistic(rows: &[(Vec<f64>, f64)]) -> Option<f64> {
    let columns = rows.first()?.0.len();
    if rows.len() <= columns {
        return None;
    }
    // Normal equations beside the identity's first column: one elimination gives the
    // coefficients and the variance factor of the first.
    let mut system = vec![vec![0.0; columns + 2]; columns];
    for (row, target) in rows {
        for (i, left) in row.iter().enumerate() {
            for (j, right) in row.iter().enumerate() {
                system[i][j] += left * right;
            }
            system[i][columns] += left * target;
        }
    }
    system[0][columns + 1] = 1.0;
    let scales: Vec<f64> = (0..columns).map(|i| system[i][i]).collect();
    for pivot in 0..columns {
        // Positive definite: the diagonal needs no exchange of rows. What is left of a column
        // after elimination, relative to what it was, is the part that the others do not explain.
        if system[pivot][pivot] <= 1e-10 * scales[pivot] {
            return None;
        }
        let pivot_row = system[pivot].clone();
        for (i, row) in system.iter_mut().enumerate() {
            if i != pivot {
                let factor = row[pivot] / pivot_row[pivot];
                for (value, above) in row.iter_mut().zip(&pivot_row) {
                    *value -= factor * above;
                }
            }
        }
    }
    let coefficients: Vec<f64> = (0..columns).map(|i| system[i][columns] / system[i][i]).collect();
    let residuals: f64 = rows
        .iter()
        .map(|(row, target)| {
            let fit: f64 = row.iter().zip(&coefficients).map(|(x, c)| x * c).sum();
            (target - fit).powi(2)
        })
        .sum();
    let variance = residuals / (rows.len() - columns) as f64;
    let factor = system[0][columns + 1] / system[0][0];
    let statistic = coefficients[0] / (variance * factor).sqrt();
    statistic.is_finite().then_some(statistic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn autoregressive(n: usize, r: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::seeded(seed);
        let mut value = random.normal();
        (0..n)
            .map(|_| {
                value = r * value + (1.0 - r * r).sqrt() * random.normal();
                value
            })
            .collect()
    }

    fn walk(n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::seeded(seed);
        let mut value = 0.0;
        (0..n)
            .map(|_| {
                value += random.normal();
                value
            })
            .collect()
    }

    #[test]
    fn a_drift_parts_the_halves() {
        let flat = autoregressive(60, 0.0, 1);
        assert!(
            halves(&flat)
                .unwrap()
                .shift
                .interval
                .is_some_and(|[low, high]| low < 0.0 && high > 0.0)
        );
        let drifting: Vec<f64> = flat.iter().enumerate().map(|(t, x)| x + 0.1 * t as f64).collect();
        let shift = halves(&drifting).unwrap().shift;
        assert!((shift.value - 3.0).abs() < 0.7, "{shift:?}");
        assert!(shift.interval.unwrap()[0] > 0.0);
        assert_eq!(halves(&[1.0]), None);
    }

    #[test]
    fn correlation_eats_values() {
        assert!(lag1(&autoregressive(5_000, 0.0, 2)).unwrap().abs() < 0.05);
        assert!((lag1(&autoregressive(5_000, 0.8, 3)).unwrap() - 0.8).abs() < 0.05);
        assert_eq!(lag1(&[1.0; 9]), None);
        assert!((effective_n(300, 0.5) - 100.0).abs() < 1e-12);
        assert_eq!(effective_n(300, -0.5), 300.0);
    }

    #[test]
    fn batches_grow_until_they_are_independent() {
        let white = batch_means(&autoregressive(2_000, 0.0, 5)).unwrap();
        assert!(white.independent);
        assert_eq!((white.length, white.means.len()), (100, 20));
        // A correlation over some 40 values: batches of 10 are correlated, longer ones are not.
        let slow = batch_means(&autoregressive(200, 0.98, 4)).unwrap();
        assert!(slow.length > 10 || !slow.independent, "{slow:?}");
        // A trend never becomes independent.
        let trend: Vec<f64> = (0..400).map(f64::from).collect();
        assert!(!batch_means(&trend).unwrap().independent);
        assert!(batch_means(&[1.0; 20]).unwrap().independent);
        assert_eq!(batch_means(&[1.0; 19]), None);
    }

    #[test]
    fn a_wandering_series_is_not_taken_for_a_steady_one() {
        let steady = adf(&autoregressive(300, 0.5, 6)).unwrap();
        assert!(steady.rejected, "{steady:?}");
        let wandering = adf(&walk(300, 7)).unwrap();
        assert!(!wandering.rejected, "{wandering:?}");
        assert_eq!(adf(&[1.0; 50]), None);
        assert_eq!(adf(&walk(10, 1)), None);
    }
}
