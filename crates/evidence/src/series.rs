//! Cuts a measured window again, afterwards, from the per-second series of a load record. Each
//! second keeps its counters and its own histogram, so that a re-cut gives what a live cut at
//! the same edges would have given, to the last observation.

use hdrhistogram::Histogram;
use record::Summary;
use record::load::LoadRecord;

/// A part of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Recut {
    /// First second, from the start of the window.
    pub from_s: u64,
    /// End, exclusive.
    pub to_s: u64,
    /// Requests due in it that were sent.
    pub sent: u64,
    /// Of those, answered as expected.
    pub succeeded: u64,
    /// Of those, failed.
    pub failed: u64,
    /// Successes per second.
    pub rate_per_s: f64,
    /// Latency of the successes, ns.
    pub latency: Histogram<u64>,
}

impl Recut {
    /// The figures of the latency, under the rule of enough samples.
    #[must_use]
    pub fn summary(&self) -> Summary {
        stats::histogram::summarise(&self.latency)
    }
}

/// Why a window cannot be cut.
#[derive(Debug, thiserror::Error)]
pub enum RecutError {
    /// The edges are the wrong way round or equal.
    #[error("nothing lies between second {from_s} and second {to_s}; the end is exclusive")]
    Empty {
        /// First second.
        from_s: u64,
        /// End, exclusive.
        to_s: u64,
    },
    /// The edges reach beyond what was measured in full.
    #[error("the series covers seconds 0 to {covered}, not {from_s} to {to_s}")]
    Outside {
        /// First second.
        from_s: u64,
        /// End, exclusive.
        to_s: u64,
        /// Whole seconds that were measured.
        covered: u64,
    },
    /// A second's histogram cannot be read.
    #[error("the histogram of second {second} is damaged: {source}")]
    Histogram {
        /// Which.
        second: u64,
        /// Why.
        source: stats::histogram::DecodeError,
    },
}

/// Cuts seconds `from_s` to `to_s` (exclusive) out of a window. A second without an entry had
/// no request due in it. Only whole seconds of the window can be cut: the last part of one is
/// shorter than a second and would give a wrong rate.
///
/// # Errors
/// [`RecutError`] when the cut is empty, reaches outside, or a histogram is damaged.
pub fn recut(load: &LoadRecord, from_s: u64, to_s: u64) -> Result<Recut, RecutError> {
    if from_s >= to_s {
        return Err(RecutError::Empty { from_s, to_s });
    }
    let covered = load.window_ns / 1_000_000_000;
    if to_s > covered || load.series.is_empty() {
        let covered = if load.series.is_empty() { 0 } else { covered };
        return Err(RecutError::Outside { from_s, to_s, covered });
    }
    let mut cut = Recut {
        from_s,
        to_s,
        sent: 0,
        succeeded: 0,
        failed: 0,
        rate_per_s: 0.0,
        latency: stats::histogram::new(),
    };
    for second in load.series.iter().filter(|one| (from_s..to_s).contains(&one.second)) {
        cut.sent += second.sent;
        cut.succeeded += second.succeeded;
        cut.failed += second.failed;
        if !second.latency.is_empty() {
            let histogram = stats::histogram::decode(&second.latency)
                .map_err(|source| RecutError::Histogram { second: second.second, source })?;
            // Both have the project's one shape or a smaller one, so that every value fits.
            if cut.latency.add(&histogram).is_err() {
                for value in histogram.iter_recorded() {
                    let count = value.count_at_value();
                    cut.latency.saturating_record_n(value.value_iterated_to(), count);
                }
            }
        }
    }
    cut.rate_per_s = cut.succeeded as f64 / (to_s - from_s) as f64;
    Ok(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use proptest::prelude::*;

    fn load_of(seconds: &[Vec<u64>]) -> LoadRecord {
        LoadRecord {
            window_ns: seconds.len() as u64 * 1_000_000_000,
            series: seconds
                .iter()
                .enumerate()
                .filter(|(_, latencies)| !latencies.is_empty())
                .map(|(index, latencies)| samples::second(index as u64, latencies))
                .collect(),
            ..samples::load()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// Recording only the requests of the cut gives the same counts and histogram.
        #[test]
        fn a_recut_equals_a_live_cut(
            seconds in prop::collection::vec(
                prop::collection::vec(1_u64..10_000_000_000, 0..40), 2..12),
            a in 0_usize..12,
            b in 0_usize..12,
        ) {
            let (from, to) = (a.min(b).min(seconds.len() - 1), a.max(b).min(seconds.len()));
            prop_assume!(from < to && seconds.iter().any(|second| !second.is_empty()));
            let cut = recut(&load_of(&seconds), from as u64, to as u64).unwrap();
            let mut live = stats::histogram::new();
            for latency in seconds[from..to].iter().flatten() {
                live.saturating_record(*latency);
            }
            prop_assert_eq!(cut.succeeded, live.len());
            prop_assert_eq!(cut.sent, live.len());
            prop_assert_eq!(cut.summary(), stats::histogram::summarise(&live));
            prop_assert_eq!(cut.latency, live);
        }
    }

    #[test]
    fn edges_outside_are_refused() {
        let load = load_of(&[vec![1_000], vec![2_000]]);
        let message = |from, to| recut(&load, from, to).unwrap_err().to_string();
        insta::assert_snapshot!(message(1, 1), @"nothing lies between second 1 and second 1; the end is exclusive");
        insta::assert_snapshot!(message(0, 3), @"the series covers seconds 0 to 2, not 0 to 3");
    }

    #[test]
    fn a_damaged_second_is_named() {
        let mut load = load_of(&[vec![1_000], vec![2_000]]);
        load.series[1].latency = "?".to_owned();
        let error = recut(&load, 0, 2).unwrap_err();
        assert!(error.to_string().starts_with("the histogram of second 1 is damaged"), "{error}");
        assert!(recut(&load, 0, 1).is_ok());
    }
}
