//! How often an interval holds the truth.

use stats::geomean::{Cell, bootstrap};
use stats::order::median_interval;
use stats::prediction::{Distance, Measured, from_prediction, propagated};
use stats::random::Random;
use stats::sample::t_interval;
use stats::stationarity::batch_means;
use stats::trend::theil_sen;
use stats::two_sample;
use stats::variance::{Fieller, Nested, between_within, levels, ratio_of_means};
use stats::wilcoxon::{exact_coverage, interval};

use crate::{autoregressive, holds, share, slack, white};

const TRIALS: usize = 8_000;

/// Draws one value.
type Law = fn(&mut Random) -> f64;

#[test]
fn paired_intervals_cover_what_their_ranks_say() {
    let truth = 0.013;
    let laws: [(&str, Law); 3] = [
        ("normal", Random::normal),
        ("uniform", |random| 2.0 * random.unit() - 1.0),
        // Laplace: a symmetric law with heavier tails.
        ("Laplace", |random| {
            let size = -(1.0 - random.unit()).ln();
            if random.unit() < 0.5 { size } else { -size }
        }),
    ];
    for (name, law) in laws {
        for pairs in [6, 8, 12, 20, 30] {
            for confidence in [0.90, 0.95] {
                let exact = exact_coverage(pairs, confidence).unwrap();
                let covered = share(TRIALS, 40 + pairs as u64, |random| {
                    let ratios: Vec<f64> = (0..pairs).map(|_| truth + 0.02 * law(random)).collect();
                    holds(interval(&ratios, confidence), truth)
                });
                assert!(
                    (covered - exact).abs() < 0.015,
                    "{name}, {pairs} pairs: {covered} for {exact}"
                );
                assert!(exact >= confidence - 1e-12 || pairs > 25, "{pairs}: {exact}");
            }
        }
    }
}

#[test]
fn medians_of_few_cover_what_they_say() {
    // A skewed law, as latencies have; the median of an exponential is ln 2.
    let truth = std::f64::consts::LN_2;
    for n in [2, 3, 5, 6, 9, 12] {
        let mut stated = 0.0;
        let covered = share(TRIALS, n as u64, |random| {
            let values: Vec<f64> = (0..n).map(|_| -(1.0 - random.unit()).ln()).collect();
            let median = median_interval(&values, 0.95).unwrap();
            stated = median.coverage;
            holds(Some(median.interval), truth)
        });
        assert!((covered - stated).abs() < 0.015, "{n}: {covered} for {stated}");
        assert!(n != 3 || stated == 0.75);
    }
}

#[test]
fn shifts_and_slopes_are_covered() {
    for n in [5, 12, 40] {
        let covered = share(3_000, 50 + n as u64, |random| {
            let (first, second) = (white(n, random), white(n, random));
            let second: Vec<f64> = second.iter().map(|value| value + 0.7).collect();
            holds(two_sample::shift(&first, &second).unwrap().shift.interval, 0.7)
        });
        assert!(covered >= 0.95 - slack(0.05, 3_000), "{n}: {covered}");
        assert!(covered <= 0.985, "{n}: {covered}");
        let covered = share(3_000, 60 + n as u64, |random| {
            let times: Vec<f64> = (0..n).map(|t| t as f64).collect();
            let values: Vec<f64> =
                times.iter().zip(white(n, random)).map(|(t, noise)| 0.1 * t + noise).collect();
            holds(theil_sen(&times, &values, 0.95).unwrap().slope.interval, 0.1)
        });
        assert!(covered >= 0.95 - slack(0.05, 3_000), "{n}: {covered}");
        assert!(covered <= 0.99, "{n}: {covered}");
    }
}

#[test]
fn correlated_values_deceive_and_batches_do_not() {
    // Of 300 values with mean 0: the plain interval, and that of ten batch means (D9).
    for (r, plain, batched) in [
        (0.0, 0.95, 0.95),
        (0.3, 0.86, 0.95),
        (0.6, 0.68, 0.95),
        (0.8, 0.48, 0.94),
        (0.9, 0.32, 0.91),
    ] {
        let trials = 3_000;
        let covered = share(trials, 70, |random| {
            holds(t_interval(&autoregressive(300, r, random), 0.95), 0.0)
        });
        assert!((covered - plain).abs() < 0.03, "{r}: {covered} for {plain}");
        let covered = share(trials, 71, |random| {
            let values = autoregressive(300, r, random);
            let means: Vec<f64> =
                values.chunks(30).map(|batch| batch.iter().sum::<f64>() / 30.0).collect();
            holds(t_interval(&means, 0.95), 0.0)
        });
        assert!((covered - batched).abs() < 0.03, "{r}: {covered} for {batched}");
        // The rule that doubles the batches, of 3,000 values.
        let covered = share(1_000, 72, |random| {
            let values = autoregressive(3_000, r, random);
            holds(batch_means(&values).unwrap().mean.interval, 0.0)
        });
        assert!(covered > 0.92, "{r}: {covered}");
    }
}

#[test]
fn a_suite_is_covered_though_its_cells_share_blocks() {
    // Eight cells; half of a cell's variance comes from its block.
    let truth = 0.03;
    for blocks in [6_u32, 12] {
        let trials = 1_000;
        let mut independent = 0.0;
        let covered = share(trials, u64::from(blocks), |random| {
            let host = white(blocks as usize, random);
            let cells: Vec<Cell> = (0..8)
                .map(|_| Cell {
                    weight: 1.0,
                    pairs: (0..blocks)
                        .map(|block| {
                            let noise = host[block as usize] + random.normal();
                            (block, truth + 0.02 * noise)
                        })
                        .collect(),
                })
                .collect();
            // What independent errors of the cells would claim.
            let errors: f64 = cells
                .iter()
                .map(|cell| {
                    let ratios: Vec<f64> = cell.pairs.iter().map(|pair| pair.1).collect();
                    Measured::of(&ratios).unwrap().standard_error.powi(2)
                })
                .sum();
            let suite = bootstrap(&cells, 1_000, random.bits(), 0.95).unwrap();
            let half = 1.96 * errors.sqrt() / 8.0;
            independent += f64::from(u8::from((suite.value - truth).abs() <= half)) / trials as f64;
            holds(suite.interval, truth)
        });
        assert!((covered - 0.95).abs() < 0.03, "{blocks} blocks: {covered}");
        assert!(independent < 0.75, "{blocks} blocks: {independent}");
    }
}

#[test]
fn ratios_and_differences_of_unpaired_means_are_covered() {
    let trials = 3_000;
    let covered = share(trials, 80, |random| {
        let arm = |random: &mut Random, mean: f64, n: usize| -> Vec<f64> {
            white(n, random).iter().map(|noise| mean * (1.0 + 0.05 * noise)).collect()
        };
        let (baseline, level) = (arm(random, 10.0, 8), arm(random, 13.0, 8));
        match ratio_of_means(&baseline, &level, 0.95).unwrap().1 {
            Fieller::Interval(ends) => holds(Some(ends), 1.3),
            Fieller::Unbounded => true,
        }
    });
    assert!(covered >= 0.95 - slack(0.05, trials), "{covered}");
    let covered = share(trials, 81, |random| {
        let arm = |random: &mut Random, mean: f64, sd: f64, n: usize| -> Measured {
            let values: Vec<f64> = white(n, random).iter().map(|noise| mean + sd * noise).collect();
            Measured::of(&values).unwrap()
        };
        let difference = propagated(arm(random, 0.1, 0.01, 6), arm(random, 0.3, 0.03, 12));
        holds(difference.interval, 0.2)
    });
    assert!((covered - 0.95).abs() <= slack(0.05, trials), "{covered}");
}

#[test]
fn the_words_for_a_distance_err_as_stated() {
    for n in [3, 5, 12, 50] {
        let mut excluded = 0.0;
        let consistent = share(TRIALS, 90 + n as u64, |random| {
            let values: Vec<f64> = white(n, random).iter().map(|noise| 4.0 + noise).collect();
            let word = from_prediction(&values, 4.0).unwrap().word;
            excluded += f64::from(u8::from(word == Distance::Excluded)) / TRIALS as f64;
            word == Distance::Consistent
        });
        assert!((consistent - 0.9545).abs() <= slack(0.0455, TRIALS), "{n}: {consistent}");
        assert!((excluded - 0.0027).abs() <= slack(0.0027, TRIALS), "{n}: {excluded}");
    }
}

#[test]
fn planted_variances_are_recovered() {
    // sd of values inside a run 3, of runs on a host 2, of hosts 4.
    let mut random = Random::seeded(91);
    let mut group = |n: usize, centre: f64, sd: f64| -> Vec<f64> {
        (0..n).map(|_| centre + sd * random.normal()).collect()
    };
    let experiment = Nested::Group(
        group(400, 100.0, 4.0)
            .into_iter()
            .map(|host| {
                let runs = group(6, host, 2.0).into_iter();
                Nested::Group(runs.map(|run| Nested::values(&group(5, run, 3.0))).collect())
            })
            .collect(),
    );
    let found = levels(&experiment).unwrap();
    for (level, planted) in found.iter().zip([9.0, 4.0, 16.0]) {
        assert!((level.added / planted - 1.0).abs() < 0.25, "{found:?}");
    }
    let mut random = Random::seeded(92);
    let layouts: Vec<Vec<f64>> = (0..300)
        .map(|_| {
            let layout = 0.01 * random.normal();
            (0..4).map(|_| layout + 0.02 * random.normal()).collect()
        })
        .collect();
    let apart = between_within(&layouts).unwrap();
    assert!((apart.between_sd / 0.01 - 1.0).abs() < 0.2, "{apart:?}");
    assert!((apart.within_sd / 0.02 - 1.0).abs() < 0.1, "{apart:?}");
    assert!(apart.p_value < 0.001, "{apart:?}");
    let alarms = share(3_000, 93, |random| {
        let layouts: Vec<Vec<f64>> = (0..5).map(|_| white(4, random)).collect();
        between_within(&layouts).unwrap().p_value <= 0.05
    });
    assert!((alarms - 0.05).abs() <= slack(0.05, 3_000), "{alarms}");
}
