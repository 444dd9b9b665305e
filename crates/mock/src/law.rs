//! Draws the sleep of a request from its law, by inversion: one uniform number gives one sleep, so
//! that a seed repeats a run whatever the law.

use record::mock::{Law, MockConfig, histogram};

use crate::MockError;

/// A law, ready to be drawn from.
#[derive(Debug)]
pub(crate) enum Sampler {
    Constant(f64),
    Normal {
        mean_ns: f64,
        sd_ns: f64,
    },
    Lognormal {
        median_ns: f64,
        sigma: f64,
    },
    Exponential {
        mean_ns: f64,
    },
    /// Latencies with the number of draws at or below each.
    Histogram {
        bins: Vec<(u64, u64)>,
        total: u64,
    },
}

impl Sampler {
    /// Reads what the law needs.
    ///
    /// # Errors
    /// [`MockError::Histogram`]: the file is unreadable or not of lines `DURATION COUNT`.
    pub(crate) fn new(config: &MockConfig) -> Result<Self, MockError> {
        let latency_ns = config.latency_ns as f64;
        Ok(match &config.law {
            None => Self::Constant(latency_ns),
            Some(Law::Normal { sd_ns }) => {
                Self::Normal { mean_ns: latency_ns, sd_ns: *sd_ns as f64 }
            }
            Some(Law::Lognormal { sigma }) => {
                Self::Lognormal { median_ns: latency_ns, sigma: *sigma }
            }
            Some(Law::Exponential) => Self::Exponential { mean_ns: latency_ns },
            Some(Law::Histogram { file }) => {
                let wrong =
                    |line, reason| MockError::Histogram { file: file.clone(), line, reason };
                let text =
                    std::fs::read_to_string(file).map_err(|error| wrong(0, error.to_string()))?;
                let mut bins = histogram(&text).map_err(|(line, reason)| wrong(line, reason))?;
                let mut total = 0;
                for (_, count) in &mut bins {
                    total += *count;
                    *count = total;
                }
                Self::Histogram { bins, total }
            }
        })
    }

    /// The sleep at `u`, uniform in [0, 1), in ns: the law's quantile, never below zero.
    pub(crate) fn draw_ns(&self, u: f64) -> f64 {
        match self {
            Self::Constant(latency_ns) => *latency_ns,
            Self::Normal { mean_ns, sd_ns } => (mean_ns + sd_ns * normal(u)).max(0.0),
            Self::Lognormal { median_ns, sigma } => median_ns * (sigma * normal(u)).exp(),
            Self::Exponential { mean_ns } => -mean_ns * (-u).ln_1p(),
            Self::Histogram { bins, total } => {
                let rank = (u * *total as f64) as u64;
                let at = bins.partition_point(|(_, up_to)| *up_to <= rank);
                bins[at.min(bins.len() - 1)].0 as f64
            }
        }
    }
}

/// The standard normal quantile at `u`, which is moved off zero: a draw is finite.
fn normal(u: f64) -> f64 {
    stats::sample::normal_quantile(u.max(f64::EPSILON / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler(latency: &str) -> Sampler {
        let mut config = MockConfig::default();
        config.set("latency", latency).expect("valid");
        Sampler::new(&config).expect("readable")
    }

    /// Draws at the middles of 10,000 equal parts.
    fn draws(sampler: &Sampler) -> Vec<f64> {
        (0..10_000).map(|i| sampler.draw_ns((f64::from(i) + 0.5) / 10_000.0)).collect()
    }

    #[test]
    fn laws_have_their_quantiles_and_moments() {
        let normal = draws(&sampler("normal:10ms:2ms"));
        assert!((normal[9_772] - 14e6).abs() < 1e4, "two sd above the mean at 97.7 %");
        let lognormal = draws(&sampler("lognormal:10ms:0.5"));
        assert!((lognormal[5_000] / 10e6 - 1.0).abs() < 1e-3, "the median");
        let mean = lognormal.iter().sum::<f64>() / 10_000.0;
        assert!((mean / (10e6 * (0.125_f64).exp()) - 1.0).abs() < 1e-3, "{mean}");
        let exponential = draws(&sampler("exponential:10ms"));
        let mean = exponential.iter().sum::<f64>() / 10_000.0;
        assert!((mean / 10e6 - 1.0).abs() < 1e-3, "{mean}");
        assert!((exponential[6_321] / 10e6 - 1.0).abs() < 1e-3, "63 % are below the mean");
        assert_eq!(draws(&sampler("10ms"))[77], 10e6);
    }

    #[test]
    fn draws_are_finite_and_never_negative() {
        let wide = sampler("normal:1ms:5ms");
        let far = sampler("lognormal:1ms:5");
        let late = sampler("exponential:1ms");
        for sampler in [wide, far, late] {
            for u in [0.0, f64::EPSILON / 2.0, 0.5, 1.0 - f64::EPSILON / 2.0] {
                let drawn = sampler.draw_ns(u);
                assert!(drawn.is_finite() && drawn >= 0.0, "{drawn} at {u} of {sampler:?}");
            }
        }
    }

    #[test]
    fn a_histogram_is_drawn_by_its_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("trace.txt");
        std::fs::write(&file, "20ms 1\n1ms 98\n5ms 1\n").expect("writable");
        let drawn = draws(&sampler(&format!("histogram:{}", file.display())));
        let count = |ns: f64| drawn.iter().filter(|drawn| **drawn == ns).count();
        assert_eq!((count(1e6), count(5e6), count(20e6)), (9_800, 100, 100));

        let mut config = MockConfig::default();
        std::fs::write(&file, "1ms 1\nsoon 1\n").expect("writable");
        config.set("latency", &format!("histogram:{}", file.display())).expect("valid");
        let error = Sampler::new(&config).expect_err("line 2 is wrong").to_string();
        assert!(error.contains("trace.txt:2: expected `DURATION COUNT`"), "{error}");
        config.set("latency", "histogram:/nowhere/trace.txt").expect("valid");
        let error = Sampler::new(&config).expect_err("no such file").to_string();
        assert!(error.contains("/nowhere/trace.txt: "), "{error}");
    }
}
