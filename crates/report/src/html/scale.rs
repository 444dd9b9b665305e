//! From values to positions: linear and logarithmic scales with round ticks.
//!
//! A position is always finite and inside the range: values beyond the domain are clamped to its
//! edge. Ticks are always inside the domain, ascending, and no more than asked for.

/// How values become positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    kind: Kind,
    /// Smallest and largest value; both positive for a logarithmic scale.
    domain: [f64; 2],
    /// Their positions, px.
    range: [f64; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Linear,
    Log,
}

/// Share of the domain that is added at each side, so that no mark sits on the frame.
const PAD: f64 = 0.04;

impl Scale {
    /// A linear scale over the finite ones of `values`, with some room at both sides; 0 to 1 when
    /// there are none.
    pub(crate) fn linear(values: impl IntoIterator<Item = f64>, range: [f64; 2]) -> Self {
        let [low, high] = extremes(values, |v| v.is_finite()).unwrap_or([0.0, 1.0]);
        let room = if high > low { (high - low) * PAD } else { (low.abs() * 0.05).max(0.5) };
        let domain = [low - room, high + room];
        // Extreme values may leave the finite numbers when room is added.
        let domain = if domain.iter().all(|v| v.is_finite()) { domain } else { [low, high] };
        Self { kind: Kind::Linear, domain, range }
    }

    /// A linear scale from exactly `low` to exactly `high`.
    pub(crate) fn exactly(low: f64, high: f64, range: [f64; 2]) -> Self {
        Self { kind: Kind::Linear, domain: [low, if high > low { high } else { low + 1.0 }], range }
    }

    /// A logarithmic scale over the positive ones of `values`; 1 to 10 when there are none.
    pub(crate) fn log(values: impl IntoIterator<Item = f64>, range: [f64; 2]) -> Self {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let [low, high] = extremes(values, positive).unwrap_or([1.0, 10.0]);
        let decades = (high / low).log10();
        let room = if decades > 0.0 { 10_f64.powf((decades * PAD).max(0.01)) } else { 1.5 };
        let domain = [(low / room).max(f64::MIN_POSITIVE), (high * room).min(f64::MAX)];
        Self { kind: Kind::Log, domain, range }
    }

    /// The domain.
    pub(crate) fn domain(&self) -> [f64; 2] {
        self.domain
    }

    /// Whether a value lies in the domain.
    pub(crate) fn holds(&self, value: f64) -> bool {
        value >= self.domain[0] && value <= self.domain[1]
    }

    /// The position of a value, px; beyond the domain at its edge, and so is what is no number.
    pub(crate) fn position(&self, value: f64) -> f64 {
        let [low, high] = self.domain;
        let share = match self.kind {
            // Halves keep the difference of two extreme values finite.
            Kind::Linear => (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0),
            Kind::Log => (value.max(f64::MIN_POSITIVE) / low).ln() / (high / low).ln(),
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.range[0] + share * (self.range[1] - self.range[0])
    }

    /// As [`Scale::ticks`] of a linear scale, round as multiples of `size`: minutes in
    /// nanoseconds for example.
    pub(crate) fn ticks_by(&self, size: f64, most: usize) -> Vec<f64> {
        let ticks = linear_ticks(self.domain.map(|edge| edge / size), most.max(2));
        ticks.into_iter().map(|tick| tick * size).filter(|tick| self.holds(*tick)).collect()
    }

    /// Round values inside the domain, ascending, at most `most` and at least one where there is
    /// a round one.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        let most = most.max(2);
        match self.kind {
            Kind::Linear => linear_ticks(self.domain, most),
            Kind::Log => {
                // The densest set that fits; within less than a decade, as on a linear scale.
                let sets: [&[f64]; 3] =
                    [&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], &[1.0, 2.0, 5.0], &[1.0]];
                let fitting = sets
                    .into_iter()
                    .map(|set| log_ticks(self.domain, set))
                    .find(|ticks| ticks.len() <= most);
                match fitting {
                    Some(ticks) if ticks.len() >= 3 => ticks,
                    Some(_) => linear_ticks(self.domain, most),
                    None => thinned(log_ticks(self.domain, &[1.0]), most),
                }
            }
        }
    }
}

fn extremes(
    values: impl IntoIterator<Item = f64>,
    counts: impl Fn(f64) -> bool,
) -> Option<[f64; 2]> {
    values.into_iter().filter(|value| counts(*value)).fold(None, |known, value| {
        let [low, high] = known.unwrap_or([value, value]);
        Some([f64::min(low, value), f64::max(high, value)])
    })
}

/// Multiples of 1, 2 or 5 times a power of ten inside the domain.
fn linear_ticks([low, high]: [f64; 2], most: usize) -> Vec<f64> {
    let rough = (high / 2.0 - low / 2.0) / most as f64 * 2.0;
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let magnitude = 10_f64.powf(rough.log10().floor());
    let mut finer = Vec::new();
    for factor in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0] {
        let step = factor * magnitude;
        let (first, last) = ((low / step).ceil(), (high / step).floor());
        // Beyond 2^53 neighbouring multiples are no longer told apart.
        if !(step > 0.0 && first.abs() < 9e15 && last.abs() < 9e15) {
            continue;
        }
        let count = (last - first + 1.0).max(0.0);
        let ticks = (0..count as usize).map(|i| (first + i as f64) * step + 0.0);
        let ticks: Vec<f64> = ticks.filter(|tick| (low..=high).contains(tick)).collect();
        // One tick is no scale: where this step has a single one, every other of the finer step's.
        if ticks.len() < 2 && !finer.is_empty() {
            return thinned(finer, most);
        }
        if ticks.len() <= most {
            return ticks;
        }
        finer = ticks;
    }
    Vec::new()
}

/// `set` times powers of ten inside the domain.
fn log_ticks([low, high]: [f64; 2], set: &[f64]) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    (first..=last)
        .flat_map(|exponent| set.iter().map(move |factor| factor * 10_f64.powi(exponent)))
        .filter(|tick| (low..=high).contains(tick))
        .collect()
}

/// Every k-th of too many ticks.
fn thinned(ticks: Vec<f64>, most: usize) -> Vec<f64> {
    let step = ticks.len().div_ceil(most);
    ticks.into_iter().step_by(step.max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn round_ticks_at_round_places() {
        let scale = Scale::exactly(0.0, 10.0, [0.0, 100.0]);
        assert_eq!(scale.ticks(6), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(Scale::exactly(-5.2, 6.3, [0.0, 1.0]).ticks(5), [-5.0, 0.0, 5.0]);
        // Steps of 2 have five multiples here, steps of 5 only one.
        assert_eq!(Scale::exactly(5.36, 14.64, [0.0, 1.0]).ticks(4), [6.0, 10.0, 14.0]);
        assert_eq!(scale.position(5.0), 50.0);
        assert_eq!(scale.position(-1.0), 0.0);
        assert_eq!(scale.position(f64::NAN), 0.0);
        assert_eq!(scale.position(f64::INFINITY), 100.0);
    }

    #[test]
    fn decades_where_there_are_many_and_parts_where_there_are_few() {
        let wide = Scale::log([1e3, 1e8], [0.0, 100.0]);
        assert_eq!(wide.ticks(7), [1e3, 1e4, 1e5, 1e6, 1e7, 1e8]);
        let decade = Scale::log([1e6, 2e7], [0.0, 100.0]);
        assert_eq!(decade.ticks(7), [1e6, 2e6, 5e6, 1e7, 2e7]);
        let narrow = Scale::log([1.00e6, 1.06e6], [0.0, 100.0]);
        let ticks = narrow.ticks(7);
        assert!(ticks.len() >= 3, "{ticks:?}");
    }

    #[test]
    fn nothing_to_show_is_still_a_scale() {
        for scale in [Scale::linear([], [0.0, 9.0]), Scale::log([-1.0, f64::NAN], [0.0, 9.0])] {
            assert!(!scale.ticks(5).is_empty());
        }
        assert!(Scale::linear([7.0, 7.0], [0.0, 9.0]).holds(7.0));
    }

    fn sound(scale: &Scale, values: &[f64], most: usize) -> Result<(), TestCaseError> {
        let [low, high] = scale.domain();
        prop_assert!(low.is_finite() && high.is_finite() && low < high, "{low} {high}");
        let ticks = scale.ticks(most);
        prop_assert!(ticks.len() <= most.max(2));
        prop_assert!(ticks.iter().all(|tick| scale.holds(*tick)), "{ticks:?}");
        prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let positions: Vec<f64> = sorted.iter().map(|value| scale.position(*value)).collect();
        prop_assert!(positions.iter().all(|x| (10.0..=900.0).contains(x)), "{positions:?}");
        prop_assert!(positions.windows(2).all(|pair| pair[0] <= pair[1]), "{positions:?}");
        Ok(())
    }

    proptest! {
        #[test]
        fn a_linear_scale_is_monotone_and_its_ticks_are_inside(
            values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 0..9),
            most in 0_usize..12,
        ) {
            sound(&Scale::linear(values.iter().copied(), [10.0, 900.0]), &values, most)?;
        }

        #[test]
        fn a_logarithmic_scale_is_monotone_and_its_ticks_are_inside(
            values in prop::collection::vec(1e-9_f64..1e18, 0..9),
            most in 0_usize..12,
        ) {
            sound(&Scale::log(values.iter().copied(), [10.0, 900.0]), &values, most)?;
        }

        #[test]
        fn usual_figures_have_at_least_two_ticks(
            centre in 1e-3_f64..1e12, spread in 1e-4_f64..0.9, most in 4_usize..12,
        ) {
            let values = [centre * (1.0 - spread), centre * (1.0 + spread)];
            for scale in [Scale::linear(values, [0.0, 1.0]), Scale::log(values, [0.0, 1.0])] {
                prop_assert!(scale.ticks(most).len() >= 2, "{scale:?}");
            }
        }
    }
}
