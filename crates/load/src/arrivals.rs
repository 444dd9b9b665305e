//! When requests are due: a pure function of the index and the law's seed, so that a queue of due
//! requests is two cursors and never grows.
//!
//! With stages the expected number of arrivals up to an instant is a piecewise parabola; arrival
//! `index` is due where that reaches `index`, or for Poisson arrivals where it reaches the sum of
//! `index + 1` draws from the unit exponential (time change: such a process has the given rate).

use std::sync::Arc;

use record::arrival::{Arrival, Stage};
use stats::random::Random;

/// Arrivals at a constant rate, index 0 at offset 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConstantRate {
    period_ns: f64,
}

impl ConstantRate {
    /// Arrivals at `per_s` per second; `None` unless the rate is positive, finite and at most
    /// one per nanosecond.
    #[must_use]
    pub fn new(per_s: f64) -> Option<Self> {
        (per_s.is_finite() && per_s > 0.0 && per_s <= 1e9).then(|| Self { period_ns: 1e9 / per_s })
    }

    /// Offset of arrival `index` from the start, ns, rounded down.
    #[inline]
    #[must_use]
    pub fn due_ns(&self, index: u64) -> u64 {
        (index as f64 * self.period_ns) as u64
    }

    /// Arrivals whose offset is below `offset_ns`.
    #[must_use]
    pub fn count_before(&self, offset_ns: u64) -> u64 {
        let mut count = (offset_ns as f64 / self.period_ns).ceil() as u64;
        // The estimate may be one off either way by rounding.
        while count > 0 && self.due_ns(count - 1) >= offset_ns {
            count -= 1;
        }
        while self.due_ns(count) < offset_ns {
            count += 1;
        }
        count
    }
}

/// A stretch with an even change of rate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Segment {
    start_ns: f64,
    /// Arrivals expected before it.
    before: f64,
    /// Arrivals expected in it.
    arrivals: f64,
    /// Rate at its start, per ns.
    from: f64,
    /// Change of the rate, per ns².
    slope: f64,
    length_ns: f64,
}

impl Segment {
    /// When `y` arrivals are expected since its start, as an offset from that, ns.
    fn when(&self, y: f64) -> f64 {
        if y <= 0.0 {
            return 0.0;
        }
        // The root of slope/2 t^2 + from t = y in the form that does not cancel.
        let root = (self.from * self.from + 2.0 * self.slope * y).max(0.0).sqrt();
        (2.0 * y / (self.from + root)).min(self.length_ns)
    }
}

/// The arrivals of an open loop, and nothing of how far they are.
#[derive(Debug, Clone)]
pub enum Arrivals {
    /// A constant rate with even gaps.
    Even(ConstantRate),
    /// Stages, or drawn gaps, or both.
    Shaped(Shaped),
}

/// Arrivals whose gaps are not all the same.
#[derive(Debug, Clone)]
pub struct Shaped {
    segments: Arc<[Segment]>,
    law: Arrival,
}

impl Arrivals {
    /// Arrivals of `law` at `per_s`, or over `stages` where there are any, which begin after a
    /// warm-up of `warmup_ns` at the rate with which the first one starts. `None` for a rate that
    /// cannot be scheduled, as for [`ConstantRate::new`].
    #[must_use]
    pub fn new(law: Arrival, per_s: f64, stages: &[Stage], warmup_ns: u64) -> Option<Self> {
        let even = ConstantRate::new(per_s)?;
        let Some(first) = stages.first() else {
            return Some(match law {
                Arrival::Constant => Self::Even(even),
                Arrival::Poisson { .. } => {
                    let endless = [(per_s, per_s, f64::INFINITY)];
                    Self::Shaped(Shaped { segments: segments(endless), law })
                }
            });
        };
        let valid = |per_s: f64| (0.0..=1e9).contains(&per_s);
        if !stages.iter().all(|stage| valid(stage.from_per_s) && valid(stage.to_per_s)) {
            return None;
        }
        let warmup =
            (warmup_ns > 0).then_some((first.from_per_s, first.from_per_s, warmup_ns as f64));
        let own = stages.iter().map(|one| (one.from_per_s, one.to_per_s, one.length_ns as f64));
        Some(Self::Shaped(Shaped { segments: segments(warmup.into_iter().chain(own)), law }))
    }

    /// The first arrival.
    #[must_use]
    pub fn first(&self) -> Cursor {
        let (random, position) = match self {
            Self::Shaped(Shaped { law: Arrival::Poisson { seed }, .. }) => {
                let mut random = Random::seeded(*seed);
                let first = exponential(&mut random);
                (Some(random), first)
            }
            _ => (None, 0.0),
        };
        let mut cursor =
            Cursor { arrivals: self.clone(), index: 0, due_ns: 0, position, segment: 0, random };
        cursor.place();
        cursor
    }
}

/// Segments one after the other from `(from per s, to per s, length in ns)`.
fn segments(stages: impl IntoIterator<Item = (f64, f64, f64)>) -> Arc<[Segment]> {
    let (mut start_ns, mut before) = (0.0, 0.0);
    stages
        .into_iter()
        .map(|(from_per_s, to_per_s, length_ns)| {
            let (from, to) = (from_per_s / 1e9, to_per_s / 1e9);
            let slope = if from == to { 0.0 } else { (to - from) / length_ns };
            let arrivals = if from + to > 0.0 { (from + to) / 2.0 * length_ns } else { 0.0 };
            let segment = Segment { start_ns, before, arrivals, from, slope, length_ns };
            (start_ns, before) = (start_ns + length_ns, before + arrivals);
            segment
        })
        .collect()
}

/// A draw from the exponential distribution of mean 1.
fn exponential(random: &mut Random) -> f64 {
    // `unit` is below 1, so the logarithm is finite.
    -(1.0 - random.unit()).ln()
}

/// One arrival, and the way to the next.
#[derive(Debug, Clone)]
pub struct Cursor {
    arrivals: Arrivals,
    index: u64,
    due_ns: u64,
    /// Arrivals expected up to this one.
    position: f64,
    /// The segment that it is in, or before.
    segment: usize,
    random: Option<Random>,
}

impl Cursor {
    /// Its number, from 0.
    #[inline]
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Its offset from the start, ns, rounded down; `u64::MAX` after the last stage.
    #[inline]
    #[must_use]
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Moves on by `count` arrivals.
    #[inline]
    pub fn advance(&mut self, count: u64) {
        self.index += count;
        if let Some(random) = &mut self.random {
            for _ in 0..count {
                self.position += exponential(random);
            }
        } else {
            self.position = self.index as f64;
        }
        self.place();
    }

    #[inline]
    fn place(&mut self) {
        let shaped = match &self.arrivals {
            Arrivals::Even(rate) => {
                self.due_ns = rate.due_ns(self.index);
                return;
            }
            Arrivals::Shaped(shaped) => shaped,
        };
        self.due_ns = loop {
            let Some(segment) = shaped.segments.get(self.segment) else { break u64::MAX };
            let within = self.position - segment.before;
            if within < segment.arrivals {
                break (segment.start_ns + segment.when(within)) as u64;
            }
            self.segment += 1;
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;

    fn dues(law: Arrival, per_s: f64, texts: &[&str], warmup_ns: u64, until_ns: u64) -> Vec<u64> {
        let stages = if texts.is_empty() {
            Vec::new()
        } else {
            record::arrival::stages(texts.iter().copied()).unwrap()
        };
        let mut cursor = Arrivals::new(law, per_s, &stages, warmup_ns).unwrap().first();
        let mut dues = Vec::new();
        while cursor.due_ns() < until_ns {
            dues.push(cursor.due_ns());
            cursor.advance(1);
        }
        dues
    }

    fn within(dues: &[u64], from_ns: u64, to_ns: u64) -> usize {
        dues.iter().filter(|due| (from_ns..to_ns).contains(due)).count()
    }

    #[test]
    fn stages_have_the_arrivals_that_their_areas_say() {
        let texts =
            ["100/s for 10s", "to 1000/s in 10s", "5000/s for 1s", "0/s for 5s", "10/s for 1s"];
        let all = dues(Arrival::Constant, 1.0, &texts, 0, u64::MAX);
        let counts: Vec<usize> = [(0, 10), (10, 20), (20, 21), (21, 26), (26, 27)]
            .iter()
            .map(|(from, to)| within(&all, from * S, to * S))
            .collect();
        assert_eq!(counts, [1_000, 5_500, 5_000, 0, 10]);
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1]), "in order");
        // Half-way up the ramp the rate is 550/s: 162.5 of each 1,000 before, the rest after.
        assert_eq!(within(&all, 10 * S, 15 * S), 1_625);
        assert_eq!(within(&all, 15 * S, 20 * S), 3_875);
        // From nothing: the first arrival is the ramp's own first instant.
        let ramp = dues(Arrival::Constant, 1.0, &["0/s for 1s", "to 200/s in 2s"], 0, u64::MAX);
        assert_eq!((ramp.len(), ramp[0]), (200, S));
        assert_eq!(ramp[50], 2 * S, "a quarter after half of the time");
    }

    #[test]
    fn a_warm_up_stands_before_the_stages_at_their_first_rate() {
        let all = dues(Arrival::Constant, 1.0, &["50/s for 1s", "to 150/s in 1s"], 2 * S, u64::MAX);
        let counts: Vec<usize> =
            (0..4).map(|second| within(&all, second * S, (second + 1) * S)).collect();
        assert_eq!(counts, [50, 50, 50, 100]);
    }

    /// Exponential gaps: mean and standard deviation are the same, and a third of the gaps is longer
    /// than 1.0986 means. 100,000 gaps: the mean is within 1.3 % with four standard errors.
    #[test]
    fn poisson_gaps_are_exponential_and_the_seed_is_all_there_is() {
        let law = Arrival::Poisson { seed: 7 };
        let all = dues(law, 1_000.0, &[], 0, 100 * S);
        let gaps: Vec<f64> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = stats::sample::mean(&gaps).unwrap();
        assert!((mean / 1e6 - 1.0).abs() < 0.013, "{mean}");
        assert!((stats::sample::sd(&gaps).unwrap() / mean - 1.0).abs() < 0.02);
        let long = gaps.iter().filter(|gap| **gap > 1.098_612 * mean).count() as f64;
        assert!((long / gaps.len() as f64 - 1.0 / 3.0).abs() < 0.006, "{long}");
        assert_eq!(all, dues(law, 1_000.0, &[], 0, 100 * S));
        assert_ne!(all, dues(Arrival::Poisson { seed: 8 }, 1_000.0, &[], 0, 100 * S));
    }

    #[test]
    fn poisson_follows_the_stages() {
        let law = Arrival::Poisson { seed: 3 };
        let all = dues(law, 1.0, &["1000/s for 10s", "to 9000/s in 10s"], 0, u64::MAX);
        for (from, to, expected) in [(0, 10, 10_000.0_f64), (10, 15, 15_000.0), (15, 20, 35_000.0)]
        {
            let seen = within(&all, from * S, to * S) as f64;
            assert!((seen - expected).abs() < 4.0 * expected.sqrt(), "{seen} of {expected}");
        }
    }

    proptest! {
        /// Threads that take every second arrival see together what one sees.
        #[test]
        fn strides_are_a_partition(seed in any::<u64>(), stride in 1_u64..5, per_s in 1.0_f64..1e6) {
            for law in [Arrival::Constant, Arrival::Poisson { seed }] {
                let arrivals = Arrivals::new(law, per_s, &[], 0).unwrap();
                let mut all: Vec<(u64, u64)> = (0..stride)
                    .flat_map(|thread| {
                        let mut cursor = arrivals.first();
                        cursor.advance(thread);
                        (0..100)
                            .map(|_| {
                                let seen = (cursor.index(), cursor.due_ns());
                                cursor.advance(stride);
                                seen
                            })
                            .collect::<Vec<_>>()
                    })
                    .collect();
                all.sort_unstable();
                let mut cursor = arrivals.first();
                for (index, due_ns) in all {
                    prop_assert_eq!((cursor.index(), cursor.due_ns()), (index, due_ns));
                    cursor.advance(1);
                }
            }
        }
    }

    #[test]
    fn table() {
        let rate = ConstantRate::new(1000.0).unwrap();
        for (index, due) in [(0, 0), (1, 1_000_000), (3, 3_000_000), (1_000, 1_000_000_000)] {
            assert_eq!(rate.due_ns(index), due);
        }
        for (offset, count) in
            [(0, 0), (1, 1), (1_000_000, 1), (1_000_001, 2), (1_000_000_000, 1_000)]
        {
            assert_eq!(rate.count_before(offset), count, "before {offset}");
        }
    }

    #[test]
    fn impossible_rates_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e9] {
            assert_eq!(ConstantRate::new(rate), None);
        }
    }

    proptest! {
        #[test]
        fn count_is_the_inverse_of_due(per_s in 0.01_f64..5e6, offset in 0_u64..100_000_000_000) {
            let rate = ConstantRate::new(per_s).unwrap();
            let count = rate.count_before(offset);
            prop_assert!(rate.due_ns(count) >= offset);
            prop_assert!(count == 0 || rate.due_ns(count - 1) < offset);
        }
    }
}
