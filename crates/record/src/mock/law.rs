//! The law by which the mock draws the sleep of a request: `normal:10ms:2ms` and the like.

use serde::{Deserialize, Serialize};

use super::flags::time;
use super::{MockConfigError, shape};
use crate::units;

/// How the sleep of a request is drawn around [`super::MockConfig::latency_ns`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// `normal:10ms:2ms`: mean and standard deviation; draws below zero are zero.
    Normal {
        /// Standard deviation, ns.
        sd_ns: u64,
    },
    /// `lognormal:10ms:0.5`: median and the standard deviation of the natural logarithm.
    Lognormal {
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// `exponential:10ms`: the mean.
    Exponential,
    /// `histogram:FILE`: latencies with their counts, one `DURATION COUNT` in a line.
    Histogram {
        /// The file.
        file: String,
    },
}

/// Longest file of a histogram, bins.
pub const HISTOGRAM_BINS_MAX: usize = 100_000;

impl Law {
    /// Reads `10ms` or a law: the latency in ns and the law around it, `None` for a constant.
    ///
    /// # Errors
    /// A law, duration or number of the wrong shape, with a valid spelling.
    pub fn read(text: &str) -> Result<(u64, Option<Self>), MockConfigError> {
        let Some((name, rest)) = text.split_once(':') else {
            return Ok((units::duration_ns(text)?, None));
        };
        let two = |example| rest.split_once(':').ok_or_else(|| shape(text, "latency", example));
        match name {
            "normal" => {
                let (mean, sd) = two("normal:10ms:2ms")?;
                let sd_ns = units::duration_ns(sd)?;
                Ok((units::duration_ns(mean)?, Some(Self::Normal { sd_ns })))
            }
            "lognormal" => {
                let (median, sigma) = two("lognormal:10ms:0.5")?;
                let sigma = sigma.parse().ok().filter(|sigma: &f64| (0.0..=5.0).contains(sigma));
                let sigma = sigma.ok_or_else(|| {
                    shape(text, "latency with a sigma from 0 to 5", "lognormal:10ms:0.5")
                })?;
                Ok((units::duration_ns(median)?, Some(Self::Lognormal { sigma })))
            }
            "exponential" => Ok((units::duration_ns(rest)?, Some(Self::Exponential))),
            "histogram" if !rest.is_empty() => {
                Ok((0, Some(Self::Histogram { file: rest.to_owned() })))
            }
            _ => Err(shape(
                text,
                "latency: a time, or `normal`, `lognormal`, `exponential` or `histogram`",
                "lognormal:10ms:0.5",
            )),
        }
    }

    /// The text that [`Law::read`] takes for this law around `latency_ns`.
    #[must_use]
    pub fn text(&self, latency_ns: u64) -> String {
        match self {
            Self::Normal { sd_ns } => format!("normal:{}:{}", time(latency_ns), time(*sd_ns)),
            Self::Lognormal { sigma } => format!("lognormal:{}:{sigma}", time(latency_ns)),
            Self::Exponential => format!("exponential:{}", time(latency_ns)),
            Self::Histogram { file } => format!("histogram:{file}"),
        }
    }
}

/// Reads the text of a histogram file: latency in ns and count of each line, sorted by latency.
/// Blank lines and what follows a `#` are skipped.
///
/// # Errors
/// The number of the line, counted from 1, and what was expected of it; 0 for the file as a whole.
pub fn histogram(text: &str) -> Result<Vec<(u64, u64)>, (usize, String)> {
    let mut bins = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(latency) = words.next() else { continue };
        let expected =
            || (index + 1, format!("expected `DURATION COUNT`, found `{}`", line.trim()));
        let latency_ns = units::duration_ns(latency).map_err(|_| expected())?;
        let count: u64 = words.next().and_then(|word| word.parse().ok()).ok_or_else(expected)?;
        if words.next().is_some() {
            return Err(expected());
        }
        if bins.len() == HISTOGRAM_BINS_MAX {
            return Err((index + 1, format!("more than {HISTOGRAM_BINS_MAX} lines")));
        }
        bins.push((latency_ns, count));
    }
    let total = bins.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
    match total {
        Some(0) => Err((0, "no latency with a count above 0".to_owned())),
        None => Err((0, "counts that add up to more than 64 bits".to_owned())),
        Some(_) => {
            bins.sort_unstable();
            Ok(bins)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_read_and_written() {
        for (text, latency_ns, law) in [
            ("normal:10ms:2ms", 10_000_000, Law::Normal { sd_ns: 2_000_000 }),
            ("lognormal:10ms:0.5", 10_000_000, Law::Lognormal { sigma: 0.5 }),
            ("exponential:1us", 1_000, Law::Exponential),
            ("histogram:a:b.txt", 0, Law::Histogram { file: "a:b.txt".to_owned() }),
        ] {
            assert_eq!(Law::read(text), Ok((latency_ns, Some(law.clone()))), "{text}");
            assert_eq!(Law::read(&law.text(latency_ns)), Ok((latency_ns, Some(law))), "{text}");
        }
        assert_eq!(Law::read("10ms"), Ok((10_000_000, None)));
        for wrong in
            ["gauss:10ms", "normal:10ms", "lognormal:10ms:x", "lognormal:10ms:9", "histogram:", "1"]
        {
            assert!(Law::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_histogram_of_lines() {
        let text = "# from a trace\n20ms 1\n1ms 98  # most\n\n5ms 1\n";
        assert_eq!(histogram(text), Ok(vec![(1_000_000, 98), (5_000_000, 1), (20_000_000, 1)]));
        assert_eq!(
            histogram("1ms\n"),
            Err((1, "expected `DURATION COUNT`, found `1ms`".to_owned()))
        );
        assert_eq!(histogram("1ms 1\n2ms x\n").unwrap_err().0, 2);
        assert_eq!(histogram("1ms 1 1").unwrap_err().0, 1);
        assert_eq!(histogram("1ms 0\n").unwrap_err().0, 0);
        assert_eq!(histogram(&format!("1ms {0}\n1ms {0}", u64::MAX)).unwrap_err().0, 0);
    }
}
