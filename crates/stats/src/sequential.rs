//! Stopping early pays for its looks (D11): the two-sided level of each look so that all looks
//! together err at 5 %, and what looks at other levels cost. Looks are taken as equally spaced
//! in information, which is to say in pairs.

use crate::sample::{normal_cdf, normal_quantile};

/// Most registered looks.
pub const MOST_LOOKS: usize = 8;

/// Constants for 1 to 8 looks at two-sided 5 %: the last bound of O'Brien and Fleming
/// (Biometrics 35, 1979), and the constant bound of Pocock (Biometrika 64, 1977), as tabled by
/// Jennison and Turnbull, "Group Sequential Methods", 2000, tables 2.3 and 2.1. A test computes
/// the error of each row from scratch.
const BOUNDS: [(f64, f64); MOST_LOOKS] = [
    (1.960, 1.960),
    (1.977, 2.178),
    (2.004, 2.289),
    (2.024, 2.361),
    (2.040, 2.413),
    (2.053, 2.453),
    (2.063, 2.485),
    (2.072, 2.512),
];

/// Two-sided levels of `looks` looks by O'Brien and Fleming: `|z_k| > C sqrt(looks / k)`. The
/// first looks are almost free and almost blind; the last one has nearly the whole 5 %. `None`
/// outside 1 to [`MOST_LOOKS`].
#[must_use]
pub fn obrien_fleming(looks: usize) -> Option<Vec<f64>> {
    let (last, _) = BOUNDS.get(looks.checked_sub(1)?)?;
    Some((1..=looks).map(|k| level(last * (looks as f64 / k as f64).sqrt())).collect())
}

/// Two-sided levels of `looks` looks by Pocock: the same at each. `None` outside 1 to
/// [`MOST_LOOKS`].
#[must_use]
pub fn pocock(looks: usize) -> Option<Vec<f64>> {
    let (_, bound) = BOUNDS.get(looks.checked_sub(1)?)?;
    Some(vec![level(*bound); looks])
}

/// The chance that at least one of several equally spaced looks raises a false alarm, when look
/// k is made at the two-sided level `levels[k]`: 0.142 for five looks at 5 %. By the recursion
/// of Armitage, McPherson and Rowe (Journal of the Royal Statistical Society A 132, 1969) over
/// the density of the running sum, for normal increments. A level outside (0, 1) is a look that
/// decides nothing (0 or below) or everything (1 or above).
#[must_use]
pub fn overall_error(levels: &[f64]) -> f64 {
    if levels.iter().any(|level| *level >= 1.0) {
        return 1.0;
    }
    // The sum after k looks has variance k; no alarm so far means that it is within
    // `z_k sqrt(k)`. `density` holds that of the surviving sums on an even grid.
    let mut grid = Grid { half: 0.0, density: Vec::new() };
    let mut surviving = 1.0;
    for (index, level) in levels.iter().enumerate() {
        let looks = (index + 1) as f64;
        let bound = if *level > 0.0 { -normal_quantile(level / 2.0) } else { BLIND };
        grid = grid.next(bound.min(BLIND) * looks.sqrt(), index == 0);
        surviving = grid.mass();
    }
    1.0 - surviving
}

/// A bound in standard deviations that no sum passes: the tail beyond is under 1e-15.
const BLIND: f64 = 8.0;
/// Points of the grid; Simpson's rule wants an odd number.
const POINTS: usize = 301;

struct Grid {
    /// The grid reaches from `-half` to `half`.
    half: f64,
    density: Vec<f64>,
}

impl Grid {
    fn step(&self) -> f64 {
        2.0 * self.half / (POINTS - 1) as f64
    }

    fn at(&self, index: usize) -> f64 {
        -self.half + index as f64 * self.step()
    }

    /// Weight of a point in Simpson's rule.
    fn weight(&self, index: usize) -> f64 {
        let factor = match index {
            0 => 1.0,
            _ if index == POINTS - 1 => 1.0,
            _ if index % 2 == 1 => 4.0,
            _ => 2.0,
        };
        factor * self.step() / 3.0
    }

    fn mass(&self) -> f64 {
        self.density.iter().enumerate().map(|(index, d)| self.weight(index) * d).sum()
    }

    /// The density after one more unit increment, kept within `half`.
    fn next(&self, half: f64, first: bool) -> Self {
        let mut next = Self { half, density: Vec::with_capacity(POINTS) };
        for index in 0..POINTS {
            let at = next.at(index);
            let value = if first {
                normal_density(at)
            } else {
                self.density
                    .iter()
                    .enumerate()
                    .map(|(from, d)| self.weight(from) * d * normal_density(at - self.at(from)))
                    .sum()
            };
            next.density.push(value);
        }
        next
    }
}

fn normal_density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The two-sided level of a bound on |z|.
fn level(bound: f64) -> f64 {
    2.0 * normal_cdf(-bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_errs_at_five_percent() {
        for looks in 1..=MOST_LOOKS {
            for levels in [obrien_fleming(looks).unwrap(), pocock(looks).unwrap()] {
                let error = overall_error(&levels);
                // Three decimals of the constants are worth 0.0002.
                assert!((error - 0.05).abs() < 3e-4, "{looks}: {levels:?}: {error}");
            }
        }
        for outside in [0, MOST_LOOKS + 1] {
            assert_eq!(obrien_fleming(outside), None);
            assert_eq!(pocock(outside), None);
        }
    }

    #[test]
    fn bounds_of_three_looks_are_those_of_the_page() {
        let bounds: Vec<f64> =
            obrien_fleming(3).unwrap().iter().map(|level| -normal_quantile(level / 2.0)).collect();
        for (bound, expected) in bounds.iter().zip([3.47, 2.45, 2.00]) {
            assert!((bound - expected).abs() < 0.01, "{bounds:?}");
        }
    }

    #[test]
    fn unpaid_looks_cost_what_armitage_and_others_computed() {
        // Their table 2: repeated tests at 5 % err at 8.3, 10.7, 12.6, 14.2 and 19.3 %.
        for (looks, error) in
            [(1, 0.05), (2, 0.083), (3, 0.107), (4, 0.126), (5, 0.142), (10, 0.193)]
        {
            let computed = overall_error(&vec![0.05; looks]);
            assert!((computed - error).abs() < 6e-4, "{looks}: {computed}");
        }
        assert!((overall_error(&[0.0, 0.05]) - 0.05).abs() < 1e-6);
        assert!(overall_error(&[]).abs() < 1e-12);
        assert!((overall_error(&[0.01, 1.0]) - 1.0).abs() < 1e-12);
    }
}
