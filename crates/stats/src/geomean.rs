//! One figure for a suite (D7): the weighted geometric mean of the ratios of its cells, with an
//! interval that respects that cells of one block share the state of their host.

use std::collections::BTreeMap;

use record::compare::Estimate;

use crate::random::Random;
use crate::sample::{mean, normal_cdf, t_quantile};

/// Draws of a bootstrap unless something else is asked for.
pub const DRAWS: u32 = 10_000;
/// Most draws.
pub const MOST_DRAWS: u32 = 1_000_000;

/// One cell of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its weight, relative to the others.
    pub weight: f64,
    /// `(block, log-ratio)` of each pair.
    pub pairs: Vec<(u32, f64)>,
}

/// The logarithm of the weighted geometric mean, `sum w_j mean_j / sum w_j`, where `mean_j` is
/// the mean log-ratio of cell j. A cell without pairs, of no weight or with a value that is not
/// finite has no part in it. `None` when no cell has.
#[must_use]
pub fn log_mean(cells: &[Cell]) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for cell in cells.iter().filter(|cell| usable(cell)) {
        let ratios: Vec<f64> = cell.pairs.iter().map(|pair| pair.1).collect();
        sum += cell.weight * mean(&ratios)?;
        weights += cell.weight;
    }
    (weights > 0.0).then(|| sum / weights)
}

/// [`log_mean`] with a bootstrap interval: each draw takes as many blocks as there are, with
/// replacement, and the same blocks for all cells, since a bad minute of the host is in all of
/// them; independent errors of cells would make the interval too narrow. Ends are the quantiles
/// of the draws at `Φ(± sqrt(n / (n - 1)) t)`, which widens the plain percentile interval to the
/// coverage of the t-interval for n blocks (T. C. Hesterberg, "What Teachers Should Know About the
/// Bootstrap", American Statistician 69, 2015, section 3.2). The same seed gives the same ends.
///
/// A draw in which a cell has no pair leaves that cell out. No interval under
/// two blocks; `draws` is taken as at most [`MOST_DRAWS`].
#[must_use]
pub fn bootstrap(cells: &[Cell], draws: u32, seed: u64, confidence: f64) -> Option<Estimate> {
    let value = log_mean(cells)?;
    let suite = Suite::of(cells);
    let blocks = suite.blocks as f64;
    if suite.blocks < 2 || draws < 2 {
        return Some(Estimate { value, interval: None });
    }
    let mut random = Random::seeded(seed);
    let mut times = vec![0.0; suite.blocks];
    let mut drawn: Vec<f64> = (0..draws.min(MOST_DRAWS))
        .filter_map(|_| {
            times.fill(0.0);
            for _ in 0..suite.blocks {
                times[random.below(suite.blocks)] += 1.0;
            }
            suite.log_mean(&times)
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let t = t_quantile(blocks - 1.0, 0.5 + confidence / 2.0);
    let tail = normal_cdf(-(blocks / (blocks - 1.0)).sqrt() * t);
    let last = drawn.len().checked_sub(1)?;
    let below = ((tail * drawn.len() as f64).floor() as usize).min(last);
    Some(Estimate { value, interval: Some([drawn[below], drawn[last - below]]) })
}

fn usable(cell: &Cell) -> bool {
    !cell.pairs.is_empty()
        && cell.weight > 0.0
        && cell.weight.is_finite()
        && cell.pairs.iter().all(|pair| pair.1.is_finite())
}

/// The usable cells with their blocks numbered from 0.
struct Suite {
    blocks: usize,
    cells: Vec<(f64, Vec<(usize, f64)>)>,
}

impl Suite {
    fn of(cells: &[Cell]) -> Self {
        let cells: Vec<&Cell> = cells.iter().filter(|cell| usable(cell)).collect();
        let mut numbers: BTreeMap<u32, usize> =
            cells.iter().flat_map(|cell| cell.pairs.iter().map(|pair| (pair.0, 0))).collect();
        for (index, number) in numbers.values_mut().enumerate() {
            *number = index;
        }
        let cells = cells
            .into_iter()
            .map(|cell| {
                let pairs = cell.pairs.iter().map(|(block, d)| (numbers[block], *d)).collect();
                (cell.weight, pairs)
            })
            .collect();
        Self { blocks: numbers.len(), cells }
    }

    /// The log mean when block b counts `times[b]` times.
    fn log_mean(&self, times: &[f64]) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (weight, pairs) in &self.cells {
            let (mut ratios, mut count) = (0.0, 0.0);
            for (block, d) in pairs {
                ratios += times[*block] * d;
                count += times[*block];
            }
            if count > 0.0 {
                sum += weight * ratios / count;
                weights += weight;
            }
        }
        (weights > 0.0).then(|| sum / weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(weight: f64, ratios: &[f64]) -> Cell {
        Cell { weight, pairs: (1..).zip(ratios.iter().map(|ratio| ratio.ln())).collect() }
    }

    #[test]
    fn weights_weigh() {
        let cells = [cell(1.0, &[2.0, 2.0]), cell(3.0, &[0.5, 0.5])];
        // (ln 2 + 3 ln 1/2) / 4
        assert!((log_mean(&cells).unwrap() + 0.5 * 2_f64.ln()).abs() < 1e-12);
        let with_guard = [cells[0].clone(), cells[1].clone(), cell(0.0, &[9.0]), cell(1.0, &[])];
        assert_eq!(log_mean(&with_guard), log_mean(&cells));
        assert_eq!(log_mean(&[]), None);
        // The suite of six ratios that was published with the mean 1.52.
        let six = [1.588, 1.686, 1.250, 1.352, 1.771].map(|ratio| cell(1.0, &[ratio]));
        assert!((log_mean(&six).unwrap().exp() - 1.52).abs() < 0.005);
    }

    #[test]
    fn a_shared_block_widens_the_interval() {
        // Block effects are the same in all cells: five cells are worth no more than one.
        let blocks = [1.01, 0.97, 1.03, 0.99, 1.02, 0.98];
        let one = bootstrap(&[cell(1.0, &blocks)], 4_000, 7, 0.95).unwrap();
        let five = bootstrap(&vec![cell(1.0, &blocks); 5], 4_000, 7, 0.95).unwrap();
        let ([low, high], [low_five, high_five]) = (one.interval.unwrap(), five.interval.unwrap());
        assert!((low - low_five).abs() < 1e-12 && (high - high_five).abs() < 1e-12);
        assert!(low < one.value && one.value < high);
        assert_eq!(bootstrap(&[cell(1.0, &blocks)], 4_000, 7, 0.95), Some(one));
        assert_ne!(bootstrap(&[cell(1.0, &blocks)], 4_000, 8, 0.95), Some(one));
        assert_eq!(bootstrap(&[cell(1.0, &blocks[..1])], 4_000, 7, 0.95).unwrap().interval, None);
    }
}
