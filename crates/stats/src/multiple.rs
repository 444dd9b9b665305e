//! Many questions to the same data: corrected p-values, and what happens without (D7). One
//! metric is primary and needs no correction; the others do.

/// Chance of at least one false alarm among `tests` independent tests at level `alpha`:
/// `1 - (1 - alpha)^tests`; 40 % for ten at 5 %.
#[must_use]
pub fn any_false_alarm(tests: u32, alpha: f64) -> f64 {
    1.0 - (1.0 - alpha).powf(f64::from(tests))
}

/// P-values adjusted by Holm's step-down procedure, in the order of the input: the i-th smallest
/// of m becomes `max over j <= i of (m - j + 1) p_(j)`, at most 1. The chance of any false
/// rejection stays under the level, whatever the dependence (S. Holm, Scandinavian Journal of
/// Statistics 6, 1979). A NaN is no test: it stays NaN and does not count.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let mut adjusted = p_values.to_vec();
    let mut largest = 0.0_f64;
    for (rank, index) in order.iter().enumerate() {
        largest = largest.max((order.len() - rank) as f64 * p_values[*index]).min(1.0);
        adjusted[*index] = largest;
    }
    adjusted
}

/// P-values adjusted by the step-up procedure of Benjamini and Hochberg, in the order of the
/// input: the i-th smallest of m becomes `min over j >= i of m p_(j) / j`. Keeps the expected
/// share of false among all rejections under the level, for independent or positively
/// dependent tests (Journal of the Royal Statistical Society B 57, 1995). NaN as in [`holm`].
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let mut adjusted = p_values.to_vec();
    let mut smallest = 1.0_f64;
    for (rank, index) in order.iter().enumerate().rev() {
        let factor = order.len() as f64 / (rank + 1) as f64;
        smallest = smallest.min(factor * p_values[*index]);
        adjusted[*index] = smallest;
    }
    adjusted
}

/// Indices of the tests by ascending p.
fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|i| !p_values[*i].is_nan()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(computed: &[f64], expected: &[f64]) {
        assert_eq!(computed.len(), expected.len());
        for (a, b) in computed.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12 || (a.is_nan() && b.is_nan()), "{computed:?}");
        }
    }

    #[test]
    fn holm_steps_down() {
        // 4 × 0.005, 3 × 0.01, 2 × 0.03, then 0.04 raised to the one before it.
        assert_close(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        assert_close(&holm(&[0.5, f64::NAN, 0.9]), &[1.0, f64::NAN, 1.0]);
        assert_close(&holm(&[]), &[]);
        assert_close(&holm(&[0.2]), &[0.2]);
    }

    #[test]
    fn benjamini_and_hochberg_step_up() {
        assert_close(&benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005]), &[0.02, 0.04, 0.04, 0.02]);
        assert_close(&benjamini_hochberg(&[f64::NAN, 0.5]), &[f64::NAN, 0.5]);
    }

    #[test]
    fn the_paper_of_1995_is_reproduced() {
        // The example of Benjamini and Hochberg's section 3.1, 15 tests: Holm rejects three and
        // their own procedure four at 5 %.
        let p_values = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0000,
        ];
        let rejected = |adjusted: Vec<f64>| adjusted.iter().filter(|p| **p <= 0.05).count();
        assert_eq!(rejected(holm(&p_values)), 3);
        assert_eq!(rejected(benjamini_hochberg(&p_values)), 4);
    }

    #[test]
    fn alarms_without_correction() {
        for (tests, percent) in [(1, 5), (5, 23), (10, 40), (20, 64), (50, 92)] {
            let share = any_false_alarm(tests, 0.05);
            assert!((100.0 * share - f64::from(percent)).abs() < 0.5, "{tests}: {share}");
        }
    }
}
