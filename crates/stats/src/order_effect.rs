//! What the order of the runs does to their figures: who of a pair ran first (D1), and who ran
//! before a run.

use record::compare::Estimate;

use crate::sample::{mean, sd, t_quantile};

/// The order effect of pairs `(baseline first, log-ratio)`: half of the difference between the
/// mean of the pairs whose baseline ran first and the mean of the others,
/// `(mean d | baseline first - mean d | level first) / 2`. Positive when running second raises a
/// figure. The 95 % interval is Welch's, for two groups of unequal spread (Biometrika 34, 1947);
/// it needs two pairs of each order. `None` without a pair of each order.
#[must_use]
pub fn order_effect(pairs: &[(bool, f64)]) -> Option<Estimate> {
    let (first, second) = by_order(pairs);
    difference_of_means(&first, &second).map(|difference| Estimate {
        value: difference.value / 2.0,
        interval: difference.interval.map(|interval| interval.map(|end| end / 2.0)),
    })
}

/// Standard deviation of the pairs about the mean of their own order: the noise that is left
/// once the order effect is removed, with `n - 2` in the denominator. `None` without a pair of
/// each order, and under three pairs.
#[must_use]
pub fn residual_sd(pairs: &[(bool, f64)]) -> Option<f64> {
    let (first, second) = by_order(pairs);
    let (centre_first, centre_second) = (mean(&first)?, mean(&second)?);
    if pairs.len() < 3 {
        return None;
    }
    let squares: f64 = first.iter().map(|d| (d - centre_first).powi(2)).sum::<f64>()
        + second.iter().map(|d| (d - centre_second).powi(2)).sum::<f64>();
    Some((squares / (pairs.len() - 2) as f64).sqrt())
}

/// What one predecessor leaves behind: the mean of a cell's runs that came after `predecessor`
/// less the mean of its runs after any other, with Welch's 95 % interval. `runs` are
/// `(index of the cell that ran before, figure)`, all of one cell, on the log scale when the
/// answer is to be a log-ratio; a figure relative to its block's mean is freed from drift.
/// `None` unless both kinds of run exist: a rotation in which a cell always follows the same
/// other one cannot tell.
#[must_use]
pub fn carry_over(runs: &[(usize, f64)], predecessor: usize) -> Option<Estimate> {
    let (after, others): (Vec<_>, Vec<_>) =
        runs.iter().partition(|(index, _)| *index == predecessor);
    let values =
        |runs: Vec<(usize, f64)>| -> Vec<f64> { runs.into_iter().map(|run| run.1).collect() };
    difference_of_means(&values(after), &values(others))
}

fn by_order(pairs: &[(bool, f64)]) -> (Vec<f64>, Vec<f64>) {
    let of = |wanted: bool| -> Vec<f64> {
        pairs.iter().filter(|(first, _)| *first == wanted).map(|(_, d)| *d).collect()
    };
    (of(true), of(false))
}

/// Difference of two means with Welch's 95 % interval, where both have two values.
fn difference_of_means(a: &[f64], b: &[f64]) -> Option<Estimate> {
    let value = mean(a)? - mean(b)?;
    let interval = sd(a).zip(sd(b)).map(|(sd_a, sd_b)| {
        let (error_a, error_b) = (sd_a.powi(2) / a.len() as f64, sd_b.powi(2) / b.len() as f64);
        let error = error_a + error_b;
        let freedom = error.powi(2)
            / (error_a.powi(2) / (a.len() - 1) as f64 + error_b.powi(2) / (b.len() - 1) as f64);
        // Without any spread the difference is exact and its interval a point.
        let half = if error > 0.0 { t_quantile(freedom, 0.975) * error.sqrt() } else { 0.0 };
        [value - half, value + half]
    });
    Some(Estimate { value, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_the_orders_differ_by() {
        // The effect 0.10 is in both orders, running second adds 0.03.
        let pairs =
            [(true, 0.14), (true, 0.12), (true, 0.13), (false, 0.06), (false, 0.08), (false, 0.07)];
        let order = order_effect(&pairs).unwrap();
        assert!((order.value - 0.03).abs() < 1e-12);
        // Welch: sd 0.01 each, 3 and 3, so 4 degrees of freedom; t = 2.776, halved.
        let half = 2.776_445 * (2.0 * 0.01_f64.powi(2) / 3.0).sqrt() / 2.0;
        let [low, high] = order.interval.unwrap();
        assert!((low - (0.03 - half)).abs() < 1e-7);
        assert!((high - (0.03 + half)).abs() < 1e-7);
        // The spread without the order effect is 0.01; with it, far more.
        assert!((residual_sd(&pairs).unwrap() - 0.01).abs() < 1e-12);
        let all: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
        assert!(sd(&all).unwrap() > 0.03);
    }

    #[test]
    fn one_order_alone_tells_nothing() {
        assert_eq!(order_effect(&[(true, 0.1), (true, 0.2)]), None);
        assert_eq!(residual_sd(&[(true, 0.1), (true, 0.2), (true, 0.3)]), None);
        let single = order_effect(&[(true, 0.3), (false, 0.1)]).unwrap();
        assert!((single.value - 0.1).abs() < 1e-12);
        assert_eq!(single.interval, None);
    }

    #[test]
    fn what_a_predecessor_leaves_is_recovered() {
        let runs = [(0, 1.05), (1, 1.01), (0, 1.07), (2, 0.99), (0, 1.06), (1, 1.00)];
        let heavy = carry_over(&runs, 0).unwrap();
        assert!((heavy.value - 0.06).abs() < 1e-12);
        assert!(heavy.interval.unwrap()[0] > 0.0);
        assert_eq!(carry_over(&runs, 7), None);
        assert_eq!(carry_over(&[(0, 1.0), (0, 1.1)], 0), None);
    }
}
