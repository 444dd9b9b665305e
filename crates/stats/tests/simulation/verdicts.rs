//! The verdict path on whole matrices of runs: baseline, a null and a level in every block, in
//! each of the six orders in turn.

use stats::order_effect::{carry_over, order_effect, residual_sd};
use stats::random::Random;
use stats::verdict::{Question, Verdict, Word, judge};

use crate::{autoregressive, share, slack};

/// Standard deviation of a log-ratio where nothing else is said.
const SD: f64 = 0.02;
/// The margin.
const MARGIN: f64 = 0.02;
/// Simulated matrices of each kind.
const MATRICES: usize = 4_000;
/// Cells of a block.
const ARMS: usize = 3;
/// All orders of three cells; the first six blocks are balanced for position and predecessor.
const ORDERS: [[usize; ARMS]; 6] =
    [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];

/// What else the machine does to a run, on the log scale.
#[derive(Debug, Clone, Copy, Default)]
struct Disturbance {
    /// From the first run of the matrix to the last.
    drift: f64,
    /// By position in the block.
    position: [f64; ARMS],
    /// Lag-1 correlation of the runs' noise.
    correlation: f64,
    /// Share of runs whose noise is ten times as large.
    outliers: f64,
}

/// Figures of one matrix by block and cell: 0 is the baseline, 1 the null, 2 the level.
fn matrix(blocks: usize, effect: f64, by: Disturbance, random: &mut Random) -> Vec<[f64; ARMS]> {
    let noise = autoregressive(blocks * ARMS, by.correlation, random);
    (0..blocks)
        .map(|block| {
            let mut figures = [0.0; ARMS];
            for (position, cell) in ORDERS[block % 6].into_iter().enumerate() {
                let run = block * ARMS + position;
                let wild = if random.unit() < by.outliers { 10.0 } else { 1.0 };
                figures[cell] = by.drift * run as f64 / (blocks * ARMS) as f64
                    + by.position[position]
                    + SD / std::f64::consts::SQRT_2 * wild * noise[run]
                    + if cell == 2 { effect.ln_1p() } else { 0.0 };
            }
            figures
        })
        .collect()
}

fn ratios(matrix: &[[f64; ARMS]], cell: usize) -> Vec<f64> {
    matrix.iter().map(|figures| figures[cell] - figures[0]).collect()
}

fn judged(matrix: &[[f64; ARMS]]) -> Verdict {
    let (null, level) = (ratios(matrix, 1), ratios(matrix, 2));
    judge(&Question { null: Some(&null), ..Question::new(&level, MARGIN, true) })
}

fn is_alarm(word: Word) -> bool {
    matches!(word, Word::Faster | Word::Slower)
}

/// Shares of the words over [`MATRICES`] matrices.
fn words(blocks: usize, effect: f64, by: Disturbance, seed: u64) -> [f64; 5] {
    let mut random = Random::seeded(seed);
    let mut shares = [0.0; 5];
    for _ in 0..MATRICES {
        let word = judged(&matrix(blocks, effect, by, &mut random)).word;
        let index = [Word::Faster, Word::Slower, Word::Equivalent, Word::Inconclusive, Word::Void]
            .iter()
            .position(|known| *known == word);
        shares[index.expect("there are five words")] += 1.0 / MATRICES as f64;
    }
    shares
}

#[test]
fn the_table_of_the_methodology_is_reproduced() {
    // Pairs; without an effect: alarms, equivalent, inconclusive, void; seen at 2 % and at 3 %.
    // At 6 pairs `equivalent` is rarer than by ranks alone (0.36), since the mean must agree.
    let table = [
        (6, [0.018, 0.33, 0.61, 0.045], 0.33, 0.61),
        (8, [0.023, 0.50, 0.44, 0.04], 0.55, 0.88),
        (12, [0.018, 0.82, 0.12, 0.045], 0.80, 0.95),
        (20, [0.004, 0.94, 0.007, 0.05], 0.90, 0.95),
    ];
    for (index, (pairs, without, at_2, at_3)) in table.into_iter().enumerate() {
        let seed = 100 * index as u64;
        let none = Disturbance::default();
        let [faster, slower, equivalent, inconclusive, void] = words(pairs, 0.0, none, seed);
        for (computed, stated) in
            [faster + slower, equivalent, inconclusive, void].into_iter().zip(without)
        {
            assert!((computed - stated).abs() < 0.03, "{pairs} pairs: {computed} for {stated}");
        }
        for (effect, stated) in [(0.02, at_2), (0.03, at_3)] {
            let seen = words(pairs, effect, none, seed + 1)[0];
            assert!((seen - stated).abs() < 0.03, "{pairs} pairs, {effect}: {seen} for {stated}");
        }
    }
}

/// A machine that does what machines do, and no effect.
const DISTURBANCES: [(&str, Disturbance); 6] = [
    ("nothing", Disturbance { drift: 0.0, position: [0.0; 3], correlation: 0.0, outliers: 0.0 }),
    ("drift", Disturbance { drift: 0.10, position: [0.0; 3], correlation: 0.0, outliers: 0.0 }),
    (
        "order effect",
        Disturbance { drift: 0.0, position: [0.02, 0.0, -0.01], correlation: 0.0, outliers: 0.0 },
    ),
    (
        "autocorrelation",
        Disturbance { drift: 0.0, position: [0.0; 3], correlation: 0.7, outliers: 0.0 },
    ),
    ("outliers", Disturbance { drift: 0.0, position: [0.0; 3], correlation: 0.0, outliers: 0.1 }),
    (
        "all of them",
        Disturbance { drift: 0.05, position: [0.01, 0.0, -0.005], correlation: 0.5, outliers: 0.1 },
    ),
];

#[test]
fn no_machine_makes_more_than_one_alarm_in_twenty() {
    for (index, (name, by)) in DISTURBANCES.into_iter().enumerate() {
        for pairs in [6, 12, 20] {
            let [faster, slower, ..] = words(pairs, 0.0, by, 1_000 + index as u64);
            assert!(faster + slower <= 0.05, "{name}, {pairs} pairs: {}", faster + slower);
        }
    }
}

#[test]
fn without_a_null_arm_the_test_alone_keeps_its_level() {
    // Not the word but the interval, which no equivalence and no void stands before.
    for (index, (name, by)) in DISTURBANCES.into_iter().enumerate() {
        for pairs in [6, 12, 18] {
            let significant = share(MATRICES, 2_000 + index as u64, |random| {
                let level = ratios(&matrix(pairs, 0.0, by, random), 2);
                judge(&Question::new(&level, MARGIN, true)).significant
            });
            assert!(significant <= 0.05 + slack(0.05, MATRICES), "{name}, {pairs}: {significant}");
        }
    }
}

#[test]
fn a_fixed_order_is_what_goes_wrong() {
    // The same order effect with the level last in every block is taken for an effect.
    let position = [0.02, 0.0, -0.01];
    let alarms = share(500, 3, |random| {
        let level: Vec<f64> =
            (0..12).map(|_| position[2] - position[0] + SD * random.normal()).collect();
        is_alarm(judge(&Question::new(&level, MARGIN, true)).word)
    });
    assert!(alarms > 0.9, "{alarms}");
}

#[test]
fn a_positive_control_is_seen_or_voids() {
    // 5 % at sd 2 % and 12 pairs is always seen; 0.5 % is mostly missed.
    for (slowdown, least, most) in [(0.05, 0.99, 1.0), (0.005, 0.0, 0.25)] {
        let mut random = Random::seeded(4);
        let (mut seen, mut void) = (0, 0);
        for _ in 0..1_000 {
            let planted: Vec<f64> = (0..12).map(|_| -slowdown + SD * random.normal()).collect();
            let level: Vec<f64> = (0..12).map(|_| 0.05 + SD * random.normal()).collect();
            let question =
                Question { positive: Some(&planted), ..Question::new(&level, MARGIN, true) };
            let judged = judge(&question);
            seen += i32::from(judged.positive_seen == Some(true));
            void += i32::from(judged.word == Word::Void);
        }
        let share = f64::from(seen) / 1_000.0;
        assert!((least..=most).contains(&share), "{slowdown}: {share}");
        assert_eq!(seen + void, 1_000, "missed and only missed controls void");
    }
}

#[test]
fn order_effects_are_found_and_taken_out_of_the_noise() {
    // Alternating lead; running second costs 3 %, the effect is 2 %, the noise 1 %.
    let pairs = |random: &mut Random, order: f64| -> Vec<(bool, f64)> {
        (0..12)
            .map(|block| {
                let first = block % 2 == 0;
                (first, 0.02 + if first { order } else { -order } + 0.01 * random.normal())
            })
            .collect()
    };
    let mut noise = 0.0;
    let found = share(2_000, 5, |random| {
        let pairs = pairs(random, -0.03);
        noise += residual_sd(&pairs).unwrap() / 2_000.0;
        let order = order_effect(&pairs).unwrap();
        order.interval.is_some_and(|[low, high]| low <= -0.03 && -0.03 <= high)
    });
    assert!((found - 0.95).abs() <= slack(0.05, 2_000), "{found}");
    assert!((noise - 0.01).abs() < 0.001, "{noise}");
    let alarms = share(2_000, 6, |random| {
        let order = order_effect(&pairs(random, 0.0)).unwrap();
        order.interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    });
    assert!((alarms - 0.05).abs() <= slack(0.05, 2_000), "{alarms}");
}

#[test]
fn carry_over_is_recovered_under_a_balanced_rotation() {
    // What runs right after cell 2 is 4 % slower. Cell 0 follows it in half of its runs.
    let mut sum = 0.0;
    let held = share(2_000, 7, |random| {
        let mut runs = Vec::new();
        for block in 0..24 {
            let order = ORDERS[block % 6];
            let drift = 0.002 * block as f64;
            let mut figures = Vec::new();
            for (position, cell) in order.into_iter().enumerate() {
                let before = position.checked_sub(1).map_or(3, |before| order[before]);
                let left = if before == 2 { 0.04 } else { 0.0 };
                figures.push((cell, before, drift + left + 0.01 * random.normal()));
            }
            runs.extend(figures.into_iter().filter(|run| run.0 == 0).map(|run| (run.1, run.2)));
        }
        let after = carry_over(&runs, 2).unwrap();
        sum += after.value / 2_000.0;
        after.interval.is_some_and(|[low, high]| low <= 0.04 && 0.04 <= high)
    });
    assert!((sum - 0.04).abs() < 0.002, "{sum}");
    assert!(held > 0.93, "{held}");
}
