//! Where a curve leaves its baseline. The knee of a server is looked for in the time that nobody
//! owns, never in throughput: a closed loop reaches a plateau whether or not there is a knee, since
//! users who wait send no more.

/// Where the curve left its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// Index of the last point on the baseline.
    pub last_below: usize,
    /// Index of the first point that left it.
    pub first_above: usize,
}

/// A point has left the baseline when it is above it by this share of it, at least, ...
pub const LEAVES_SHARE: f64 = 0.5;
/// ... and by this many noise floors.
pub const LEAVES_FLOORS: f64 = 3.0;

/// The value above which a point has left the baseline.
#[must_use]
pub fn leaves_at(baseline: f64, noise_floor: f64) -> f64 {
    baseline + (LEAVES_SHARE * baseline).max(LEAVES_FLOORS * noise_floor)
}

/// The first point from which on all points lie above [`leaves_at`]; `None` when the last one does
/// not, or the first does. `values` are in order of their load; those that are not known count as
/// not above.
#[must_use]
pub fn leaves_baseline(values: &[Option<f64>], baseline: f64, noise_floor: f64) -> Option<Knee> {
    let bound = leaves_at(baseline, noise_floor);
    let above =
        values.iter().rev().take_while(|value| value.is_some_and(|value| value > bound)).count();
    let first_above = values.len() - above;
    (above > 0 && first_above > 0).then(|| Knee { last_below: first_above - 1, first_above })
}

/// The first point at which throughput grows by less than a tenth of what its load grows by: what
/// the naive rule would call the knee. Points are `(load, throughput)` in order of their load.
#[must_use]
pub fn plateau(points: &[(f64, f64)]) -> Option<usize> {
    points.windows(2).position(|pair| {
        let (load, rate) = (pair[1].0 / pair[0].0 - 1.0, pair[1].1 / pair[0].1 - 1.0);
        load > 0.0 && rate < 0.1 * load
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn a_queue_shows_and_noise_does_not() {
        // Unowned time of a server over TLS: the knee is at 64 users.
        let values = known(&[0.26, 0.27, 0.28, 0.27, 0.26, 0.28, 0.461]);
        let knee = leaves_baseline(&values, 0.26, 0.02);
        assert_eq!(knee, Some(Knee { last_below: 5, first_above: 6 }));
        // The same numbers on a machine whose baseline moves by a third of itself.
        assert_eq!(leaves_baseline(&values, 0.26, 0.09), None);
        // A point that comes back is no knee.
        assert_eq!(leaves_baseline(&known(&[1.0, 9.0, 1.0]), 1.0, 0.0), None);
        assert_eq!(leaves_baseline(&[Some(1.0), None], 1.0, 0.0), None);
        assert_eq!(leaves_baseline(&[], 1.0, 0.0), None);
    }

    #[test]
    fn a_plateau_is_where_more_load_brings_no_more() {
        let points = [(1.0, 100.0), (2.0, 200.0), (4.0, 398.0), (8.0, 410.0), (16.0, 411.0)];
        assert_eq!(plateau(&points), Some(2));
        assert_eq!(plateau(&points[..3]), None);
    }

    proptest! {
        #[test]
        fn a_knee_stays_where_it_is_in_any_unit(
            values in proptest::collection::vec(0.1_f64..10.0, 1..12),
            floor in 0.0_f64..1.0,
            unit in 0.001_f64..1000.0,
        ) {
            let one = leaves_baseline(&known(&values), values[0], floor);
            let scaled: Vec<f64> = values.iter().map(|value| value * unit).collect();
            let other = leaves_baseline(&known(&scaled), scaled[0], floor * unit);
            // A value within a rounding error of the bound may fall to either side.
            let bound = leaves_at(values[0], floor);
            prop_assume!(values.iter().all(|value| (value - bound).abs() > 1e-9));
            prop_assert_eq!(one, other);
            if let Some(knee) = one {
                prop_assert_eq!(knee.last_below + 1, knee.first_above);
                prop_assert!(values[knee.first_above..].iter().all(|value| *value > bound));
                prop_assert!(values[knee.last_below] <= bound);
            }
        }

        #[test]
        fn a_flat_curve_has_no_knee(level in 0.1_f64..10.0, points in 1_usize..12) {
            prop_assert_eq!(leaves_baseline(&vec![Some(level); points], level, 0.0), None);
        }
    }
}
