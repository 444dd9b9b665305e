//! Cost once and cost each, by two sizes: what a program costs before its first execution is told
//! apart from what one more costs (K-053). A short run bills its start-up to its executions.

/// Sizes that are closer than this are no two sizes: the noise of both costs would be divided by
/// little.
pub const LEAST_RATIO: f64 = 1.5;

/// A line through two points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitCost {
    /// Cost before the first execution, in the unit of the costs; below 0 by noise alone.
    pub start_up: f64,
    /// Cost of one more execution.
    pub marginal: f64,
    /// By how much the cost per execution of the small run overstates the marginal one, as a share of
    /// that; `None` when nothing was marginal.
    pub overstated_share: Option<f64>,
}

/// The line through `small` and `large`, each executions and cost: the slope is
/// `(large cost - small cost) / (large executions - small executions)`, the start-up what is left of
/// the small run's cost. `None` unless the larger size is [`LEAST_RATIO`] times the smaller, which is
/// above 0, and all four are finite.
#[must_use]
pub fn two_sizes(small: (f64, f64), large: (f64, f64)) -> Option<UnitCost> {
    let ((few, little), (many, much)) =
        if small.0 <= large.0 { (small, large) } else { (large, small) };
    let finite = [few, many, little, much].iter().all(|value| value.is_finite());
    if !finite || few <= 0.0 || many < LEAST_RATIO * few {
        return None;
    }
    let marginal = (much - little) / (many - few);
    let start_up = little - marginal * few;
    let overstated_share = (marginal > 0.0).then(|| start_up / few / marginal);
    Some(UnitCost { start_up, marginal, overstated_share })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The source's own figures: 2 core-seconds once, 0.45 ms each.
    #[test]
    fn a_known_line_is_recovered_in_either_order() {
        let cost = |executions: f64| (executions, 2.0 + 0.000_45 * executions);
        for (one, other) in [(cost(1_000.0), cost(4_000.0)), (cost(4_000.0), cost(1_000.0))] {
            let found = two_sizes(one, other).expect("two sizes");
            assert!((found.start_up - 2.0).abs() < 1e-9, "{found:?}");
            assert!((found.marginal - 0.000_45).abs() < 1e-12, "{found:?}");
            // 2.45 ms each in the small run: 444 % too much.
            assert!((found.overstated_share.expect("a share") - 2.0 / 0.45).abs() < 1e-6);
        }
    }

    #[test]
    fn one_size_twice_says_nothing() {
        for (one, other) in
            [((100.0, 1.0), (149.0, 2.0)), ((0.0, 1.0), (9.0, 2.0)), ((1.0, f64::NAN), (9.0, 2.0))]
        {
            assert_eq!(two_sizes(one, other), None);
        }
        let flat = two_sizes((10.0, 5.0), (20.0, 5.0)).expect("two sizes");
        assert_eq!(flat, UnitCost { start_up: 5.0, marginal: 0.0, overstated_share: None });
    }
}
