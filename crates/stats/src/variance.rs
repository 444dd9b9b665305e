//! Where variance comes from (D6): levels of repetition inside each other, such as stretches of a
//! run, runs, and builds or hosts; how often each is worth repeating; and the ratio of two
//! unpaired means.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use crate::sample::{mean, sd, t_quantile};

/// Repetitions inside repetitions: the leaves are measured values.
#[derive(Debug, Clone, PartialEq)]
pub enum Nested {
    /// One value.
    Value(f64),
    /// Repetitions of the level below.
    Group(Vec<Nested>),
}

impl Nested {
    /// A group of values.
    #[must_use]
    pub fn values(values: &[f64]) -> Self {
        Self::Group(values.iter().copied().map(Self::Value).collect())
    }

    fn mean(&self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            Self::Group(parts) => {
                let means: Option<Vec<f64>> = parts.iter().map(Self::mean).collect();
                mean(&means?)
            }
        }
    }

    /// Levels of repetition; `None` when branches differ in depth or a group is empty.
    fn depth(&self) -> Option<usize> {
        match self {
            Self::Value(_) => Some(0),
            Self::Group(parts) => {
                let mut depths = parts.iter().map(Self::depth);
                let first = depths.next()??;
                depths.all(|depth| depth == Some(first)).then_some(first + 1)
            }
        }
    }
}

/// One level of repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// `S²`: mean variance of the means of this level's repetitions.
    pub observed: f64,
    /// `T²`: what this level itself adds, `S_i² - S_{i-1}² / r_{i-1}`. Not positive when the level
    /// below explains all: such a level is dropped from planning.
    pub added: f64,
    /// Mean number of repetitions in a group of this level (harmonic, where they differ).
    pub repetitions: f64,
}

/// The levels of a nested experiment, lowest first (T. Kalibera and R. Jones, "Rigorous
/// Benchmarking in Reasonable Time", ISMM 2013, section 6): `S_1²` is the mean variance inside the
/// lowest groups, `S_i²` that of the means one level below, and `T_1² = S_1²`,
/// `T_i² = S_i² - S_{i-1}² / r_{i-1}`. Groups of one have no variance and do not count. `None` when
/// branches differ in depth, or when a level has no group of two.
#[must_use]
pub fn levels(experiment: &Nested) -> Option<Vec<Level>> {
    let depth = experiment.depth()?;
    let mut groups = vec![experiment];
    let mut levels = Vec::with_capacity(depth);
    for _ in 0..depth {
        let mut variances = Vec::new();
        let mut inverse = 0.0;
        for group in &groups {
            let Nested::Group(parts) = group else { return None };
            let means: Option<Vec<f64>> = parts.iter().map(Nested::mean).collect();
            variances.extend(sd(&means?).map(|sd| sd * sd));
            inverse += 1.0 / parts.len() as f64;
        }
        let repetitions = groups.len() as f64 / inverse;
        levels.push(Level { observed: mean(&variances)?, added: 0.0, repetitions });
        groups = groups
            .into_iter()
            .flat_map(|group| match group {
                Nested::Group(parts) => parts.iter().collect(),
                Nested::Value(_) => Vec::new(),
            })
            .collect();
    }
    levels.reverse();
    let mut below = 0.0;
    for level in &mut levels {
        level.added = level.observed - below;
        below = level.observed / level.repetitions;
    }
    Some(levels)
}

/// Best repetitions of every level but the top one, lowest first:
/// `r_i = ceil(sqrt((c_{i+1} / c_i) (T_i² / T_{i+1}²)))`, where `costs[i]` is the cost of one more
/// repetition at that level, warm-up and bring-up included. What time is left goes into the top
/// level. A level that adds nothing is repeated once and skipped. `None` when the costs are not
/// positive or not one for each level.
#[must_use]
pub fn best_repetitions(levels: &[Level], costs: &[f64]) -> Option<Vec<u32>> {
    let priced = costs.iter().all(|cost| *cost > 0.0 && cost.is_finite());
    if levels.is_empty() || levels.len() != costs.len() || !priced {
        return None;
    }
    let top = levels.len() - 1;
    let best = |i: usize| {
        let above = (i + 1..=top).find(|j| levels[*j].added > 0.0);
        match above {
            Some(j) if levels[i].added > 0.0 => {
                let share = (costs[j] / costs[i]) * (levels[i].added / levels[j].added);
                share.sqrt().ceil().clamp(1.0, f64::from(u32::MAX)) as u32
            }
            // Nothing above varies: repeating here is as good as repeating above, and cheaper,
            // but says nothing about other runs. The plan keeps what there was.
            None if levels[i].added > 0.0 => levels[i].repetitions.round().max(1.0) as u32,
            _ => 1,
        }
    };
    Some((0..top).map(best).collect())
}

/// The interval of a ratio of two means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fieller {
    /// Its ends.
    Interval([f64; 2]),
    /// The denominator cannot be told from 0: no finite interval has this confidence.
    Unbounded,
}

/// The ratio `mean(level) / mean(baseline)` of two unpaired samples of top-level means, with
/// Fieller's interval (E. C. Fieller, Journal of the Royal Statistical Society B 16, 1954):
/// `(xy ± sqrt((xy)² - (x² - h_x²)(y² - h_y²))) / (x² - h_x²)` with `h² = t² s² / n`, unbounded
/// when `x² <= h_x²`. `None` under two values of either.
#[must_use]
pub fn ratio_of_means(baseline: &[f64], level: &[f64], confidence: f64) -> Option<(f64, Fieller)> {
    let half_square = |values: &[f64]| -> Option<f64> {
        let n = values.len() as f64;
        let t = t_quantile((n - 1.0).max(1.0), 0.5 + confidence / 2.0);
        Some((t * sd(values)?).powi(2) / n)
    };
    let (x, y) = (mean(baseline)?, mean(level)?);
    let (h_x, h_y) = (half_square(baseline)?, half_square(level)?);
    let denominator = x * x - h_x;
    let root = (x * y).powi(2) - denominator * (y * y - h_y);
    if denominator <= 0.0 || root < 0.0 {
        return Some((y / x, Fieller::Unbounded));
    }
    let ends = [-root.sqrt(), root.sqrt()].map(|root| (x * y + root) / denominator);
    Some((y / x, Fieller::Interval(ends)))
}

/// Variance between groups apart from variance within them, for layouts or hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetweenWithin {
    /// Standard deviation that the group adds; 0 when the values inside explain all.
    pub between_sd: f64,
    /// Standard deviation inside a group.
    pub within_sd: f64,
    /// Chance of such a difference between groups when they are all alike (F test).
    pub p_value: f64,
}

/// One-way analysis of variance with random groups: `s_within² = MS_within`,
/// `s_between² = (MS_between - MS_within) / n_0`, with
/// `n_0 = (N - sum n_i² / N) / (k - 1)` for groups of unequal size (Searle, Casella and McCulloch,
/// "Variance Components", 1992, section 3.6). `None` under two groups or without a second value
/// in any.
#[must_use]
pub fn between_within(groups: &[Vec<f64>]) -> Option<BetweenWithin> {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| !group.is_empty()).collect();
    let all: Vec<f64> = groups.iter().flat_map(|group| group.iter().copied()).collect();
    let (k, n) = (groups.len() as f64, all.len() as f64);
    if k < 2.0 || n - k < 1.0 || !all.iter().all(|value| value.is_finite()) {
        return None;
    }
    let centre = mean(&all)?;
    let (mut between, mut within, mut squares) = (0.0, 0.0, 0.0);
    for group in &groups {
        let (own, size) = (mean(group)?, group.len() as f64);
        between += size * (own - centre).powi(2);
        within += group.iter().map(|value| (value - own).powi(2)).sum::<f64>();
        squares += size * size;
    }
    let (between, within) = (between / (k - 1.0), within / (n - k));
    let size = (n - squares / n) / (k - 1.0);
    let p_value = if within > 0.0 {
        1.0 - FisherSnedecor::new(k - 1.0, n - k).ok()?.cdf(between / within)
    } else if between > 0.0 {
        0.0
    } else {
        1.0
    };
    Some(BetweenWithin {
        between_sd: ((between - within) / size).max(0.0).sqrt(),
        within_sd: within.sqrt(),
        p_value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_add_up() {
        // Two hosts of two runs of two values; by hand: S1² = 2, S2² = 2, S3² = 50.
        let run = |a: f64| Nested::values(&[a, a + 2.0]);
        let experiment = Nested::Group(vec![
            Nested::Group(vec![run(0.0), run(2.0)]),
            Nested::Group(vec![run(10.0), run(12.0)]),
        ]);
        let levels = levels(&experiment).unwrap();
        for (level, (observed, added)) in levels.iter().zip([(2.0, 2.0), (2.0, 1.0), (50.0, 49.0)])
        {
            assert!((level.observed - observed).abs() < 1e-9, "{levels:?}");
            assert!((level.added - added).abs() < 1e-9, "{levels:?}");
        }
        // sqrt(8/1 × 2/1) = 4 values in a run, sqrt(100/8 × 1/49) = 0.5 runs on a host.
        assert_eq!(best_repetitions(&levels, &[1.0, 8.0, 100.0]), Some(vec![4, 1]));
        assert_eq!(best_repetitions(&levels, &[1.0, 8.0]), None);
    }

    #[test]
    fn a_level_that_adds_nothing_is_dropped() {
        // All runs have the same mean: T2² = -S1²/2.
        let same = Nested::Group(vec![Nested::values(&[0.0, 2.0]), Nested::values(&[0.0, 2.0])]);
        let levels = levels(&same).unwrap();
        assert!(levels[1].added < 0.0);
        let uneven = Nested::Group(vec![Nested::Value(1.0), Nested::values(&[1.0, 2.0])]);
        assert_eq!(super::levels(&uneven), None);
        assert_eq!(super::levels(&Nested::Group(Vec::new())), None);
    }

    #[test]
    fn fieller_knows_when_it_cannot_say() {
        let (ratio, interval) =
            ratio_of_means(&[9.9, 10.0, 10.1], &[19.8, 20.0, 20.2], 0.95).unwrap();
        assert!((ratio - 2.0).abs() < 1e-12);
        let Fieller::Interval([low, high]) = interval else { panic!("{interval:?}") };
        assert!(low < 2.0 && 2.0 < high && high - low < 0.2, "{low} {high}");
        let wild = ratio_of_means(&[-1.0, 2.0, 0.5], &[1.0, 2.0, 3.0], 0.95).unwrap();
        assert_eq!(wild.1, Fieller::Unbounded);
        assert_eq!(ratio_of_means(&[1.0], &[1.0, 2.0], 0.95), None);
    }

    #[test]
    fn layouts_apart_from_noise() {
        // By hand: means 1 and 5, MS within 1, MS between 24, three values each.
        let found = between_within(&[vec![0.0, 1.0, 2.0], vec![4.0, 5.0, 6.0]]).unwrap();
        assert!((found.within_sd - 1.0).abs() < 1e-12);
        assert!((found.between_sd - (23.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{found:?}");
        // F(1, 4) = 24 is the square of t(4) = 4.899.
        assert!((found.p_value - crate::sample::t_two_sided_p(24_f64.sqrt(), 4.0)).abs() < 1e-9);
        let none = between_within(&[vec![0.0, 2.0], vec![0.0, 2.0]]).unwrap();
        assert_eq!(none.between_sd, 0.0);
        assert_eq!(between_within(&[vec![1.0, 2.0]]), None);
        assert_eq!(between_within(&[vec![1.0], vec![2.0]]), None);
    }
}
