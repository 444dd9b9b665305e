//! How far a figure is from what somebody predicted, and how two figures with errors of their own
//! compare.

use record::compare::Estimate;

use crate::sample::{mean, normal_cdf, sd, t_quantile, t_two_sided_p};

/// What an estimate says of a prediction. Evidence that is weak is worded as weak: disfavoured is
/// not excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Distance {
    /// As near as chance alone would leave it in 95.4 % of experiments: within two standard
    /// deviations of a normal law. Rival predictions may all be consistent.
    Consistent,
    /// Farther than that, and not yet so far that it could not be chance.
    Disfavoured,
    /// As far as chance alone leads in 0.27 % of experiments: beyond three standard deviations.
    Excluded,
}

impl Distance {
    /// The word as it is written in artefacts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Consistent => "consistent",
            Self::Disfavoured => "disfavoured",
            Self::Excluded => "excluded",
        }
    }
}

/// How far the mean of a sample is from a prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FromPrediction {
    /// `|mean - prediction|` in standard errors of the mean, `sd / sqrt(n)`.
    pub distance_sd: f64,
    /// The word for it. Few values know their own spread badly, so that a distance of 3 from five
    /// of them is worth less than from fifty: the word follows the t tail of the distance, held
    /// against the normal tails of 2 and 3 standard deviations.
    pub word: Distance,
}

/// Distance of the mean of `values` from `predicted`, both in one unit (log-ratios for a contrast).
/// `None` under two values and without any spread: a spread of zero is a fault of the scale, and
/// no certainty.
#[must_use]
pub fn from_prediction(values: &[f64], predicted: f64) -> Option<FromPrediction> {
    let n = values.len() as f64;
    let error = sd(values)? / n.sqrt();
    let distance_sd = (mean(values)? - predicted).abs() / error;
    (error > 0.0 && distance_sd.is_finite())
        .then(|| FromPrediction { distance_sd, word: word(t_two_sided_p(distance_sd, n - 1.0)) })
}

fn word(p: f64) -> Distance {
    let beyond = |deviations: f64| 2.0 * normal_cdf(-deviations);
    if p >= beyond(2.0) {
        Distance::Consistent
    } else if p >= beyond(3.0) {
        Distance::Disfavoured
    } else {
        Distance::Excluded
    }
}

/// A mean with its error, from one label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// Its standard error, `sd / sqrt(n)`.
    pub standard_error: f64,
    /// Values behind it; the error has one degree of freedom less.
    pub n: u32,
}

impl Measured {
    /// The mean of `values` with its error; `None` under two values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        Some(Self {
            mean: mean(values)?,
            standard_error: sd(values)? / (n as f64).sqrt(),
            n: u32::try_from(n).ok()?,
        })
    }
}

/// `b - a` of two independent figures, on the log scale of two log-ratios: the errors add in
/// squares, and the 95 % interval has the degrees of freedom of Welch and Satterthwaite,
/// `(e_a² + e_b²)² / (e_a⁴/(n_a - 1) + e_b⁴/(n_b - 1))`. Errors of figures that share a baseline
/// are not independent; they belong into one contrast. No interval under two values of either.
#[must_use]
pub fn propagated(a: Measured, b: Measured) -> Estimate {
    let value = b.mean - a.mean;
    let (square_a, square_b) = (a.standard_error.powi(2), b.standard_error.powi(2));
    let square = square_a + square_b;
    let interval = (a.n >= 2 && b.n >= 2 && square.is_finite()).then(|| {
        let half = if square > 0.0 {
            let freedom = square.powi(2)
                / (square_a.powi(2) / f64::from(a.n - 1) + square_b.powi(2) / f64::from(b.n - 1));
            t_quantile(freedom, 0.975) * square.sqrt()
        } else {
            0.0
        };
        [value - half, value + half]
    });
    Estimate { value, interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` values with exactly this mean and standard deviation.
    fn values(n: u32, mean: f64, spread: f64) -> Vec<f64> {
        let raw: Vec<f64> = (0..n).map(|i| f64::from(i) - f64::from(n - 1) / 2.0).collect();
        let scale = spread / sd(&raw).unwrap();
        raw.iter().map(|value| mean + scale * value).collect()
    }

    #[test]
    fn words_of_near_and_far_differ() {
        // The standard error of 25 values with sd 5 is 1.
        let at = |distance: f64| from_prediction(&values(25, distance, 5.0), 0.0).unwrap();
        assert!((at(1.4).distance_sd - 1.4).abs() < 1e-9);
        let words = [0.0, 1.4, 2.5, 3.5].map(|distance| at(distance).word.as_str());
        assert_eq!(words, ["consistent", "consistent", "disfavoured", "excluded"]);
    }

    #[test]
    fn five_values_exclude_less_than_fifty() {
        let far = |n: u32| {
            let spread = f64::from(n).sqrt();
            from_prediction(&values(n, 3.5, spread), 0.0).unwrap()
        };
        assert_eq!((far(5).word, far(50).word), (Distance::Disfavoured, Distance::Excluded));
        assert!((far(5).distance_sd - far(50).distance_sd).abs() < 1e-9);
        // No spread is no certainty, and one value has none.
        assert_eq!(from_prediction(&[1.0, 1.0, 1.0], 0.0), None);
        assert_eq!(from_prediction(&[1.0], 0.0), None);
    }

    #[test]
    fn nearness_picks_the_right_explanation() {
        // A deficit near 1.0 % against a deficit near 1.4 %, five pairs.
        let pairs = [-0.0102, -0.0097, -0.0108, -0.0095, -0.0104];
        let length = from_prediction(&pairs, -0.010).unwrap();
        let density = from_prediction(&pairs, -0.014).unwrap();
        assert!(length.distance_sd < density.distance_sd);
        assert_eq!(length.word, Distance::Consistent);
        assert_eq!(density.word, Distance::Excluded);
    }

    #[test]
    fn errors_add_in_squares() {
        let a = Measured { mean: 0.10, standard_error: 0.03, n: 10 };
        let b = Measured { mean: 0.25, standard_error: 0.04, n: 10 };
        let difference = propagated(a, b);
        assert!((difference.value - 0.15).abs() < 1e-12);
        // Welch: 0.05⁴ / (0.03⁴/9 + 0.04⁴/9) = 16.69 degrees of freedom.
        let half = t_quantile(16.691_394_7, 0.975) * 0.05;
        let [low, high] = difference.interval.unwrap();
        assert!((high - low - 2.0 * half).abs() < 1e-6, "{low} {high}");
        let alone = Measured { n: 1, ..a };
        assert_eq!(propagated(alone, b).interval, None);
    }
}
