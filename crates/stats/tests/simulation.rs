//! The verdict path simulated: how often it raises an alarm when there is no effect, how often
//! it sees a stated one, and how often its interval covers the truth. Seeded, so that a failure
//! is the same failure on every machine.

use stats::verdict::{Verdict, Word, verdict};
use stats::wilcoxon::interval;

/// Standard deviation of a log-ratio in every simulation.
const SD: f64 = 0.02;
/// The margin.
const MARGIN: f64 = 0.02;
/// Simulated matrices of each kind.
const MATRICES: usize = 3_000;

/// SplitMix64 and the polar method: small, seeded, and good enough for a few thousand normals.
struct Normals {
    state: u64,
}

impl Normals {
    fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }
}

/// Shares of the words over [`MATRICES`] matrices whose null and level share the baseline.
#[derive(Debug)]
struct Shares {
    alarms: f64,
    equivalent: f64,
    inconclusive: f64,
    void: f64,
    seen: f64,
}

fn simulate(pairs: usize, effect: f64, seed: u64) -> Shares {
    let mut normals = Normals { state: seed };
    let run_sd = SD / std::f64::consts::SQRT_2;
    let verdicts: Vec<Verdict> = (0..MATRICES)
        .map(|_| {
            let mut arm = |shift: f64| -> Vec<f64> {
                (0..pairs).map(|_| shift + run_sd * normals.next()).collect()
            };
            let (baseline, null, level) = (arm(0.0), arm(0.0), arm(effect.ln_1p()));
            let against = |arm: &[f64]| -> Vec<f64> {
                arm.iter().zip(&baseline).map(|(level, baseline)| level - baseline).collect()
            };
            verdict(&against(&level), MARGIN, true, Some(&against(&null)))
        })
        .collect();
    let share = |words: &[Word]| {
        verdicts.iter().filter(|verdict| words.contains(&verdict.word)).count() as f64
            / MATRICES as f64
    };
    Shares {
        alarms: share(&[Word::Faster, Word::Slower]),
        equivalent: share(&[Word::Equivalent]),
        inconclusive: share(&[Word::Inconclusive]),
        void: share(&[Word::Void]),
        seen: share(&[Word::Faster]),
    }
}

/// Four standard errors of a share near 5 % over [`MATRICES`] matrices.
const SLACK: f64 = 0.016;

#[test]
fn no_effect_raises_few_alarms() {
    for (pairs, seed) in [(6, 11), (8, 12), (12, 13), (20, 14)] {
        let shares = simulate(pairs, 0.0, seed);
        assert!(shares.alarms <= 0.05, "{pairs} pairs: {shares:?}");
        // The null arm itself errs at the 5 % level.
        assert!(shares.void <= 0.05 + SLACK, "{pairs} pairs: {shares:?}");
        let all = shares.alarms + shares.equivalent + shares.inconclusive + shares.void;
        assert!((all - 1.0).abs() < 1e-9, "{pairs} pairs: {shares:?}");
    }
    // Enough pairs say `equivalent`, too few say that they are too few.
    assert!(simulate(12, 0.0, 15).equivalent > 0.75);
    assert!(simulate(6, 0.0, 16).inconclusive > 0.5);
}

#[test]
fn an_effect_is_seen_as_often_as_the_methodology_says() {
    // Pairs, share that sees 2 %, share that sees 3 %.
    for (pairs, two, three) in [(6, 0.33, 0.61), (8, 0.55, 0.88), (12, 0.80, 0.95)] {
        let seen = (simulate(pairs, 0.02, 21).seen, simulate(pairs, 0.03, 22).seen);
        assert!((seen.0 - two).abs() < 0.05, "{pairs} pairs, 2 %: {seen:?}");
        assert!((seen.1 - three).abs() < 0.05, "{pairs} pairs, 3 %: {seen:?}");
    }
}

#[test]
fn alarms_are_few_without_a_null_arm_and_with_outliers() {
    for outliers in [0.0, 0.1] {
        let mut normals = Normals { state: 31 };
        let alarms = (0..MATRICES)
            .filter(|_| {
                let ratios: Vec<f64> = (0..10)
                    .map(|_| {
                        let wide = if normals.uniform() < outliers { 10.0 } else { 1.0 };
                        SD * wide * normals.next()
                    })
                    .collect();
                let word = verdict(&ratios, MARGIN, true, None).word;
                matches!(word, Word::Faster | Word::Slower)
            })
            .count() as f64
            / MATRICES as f64;
        assert!(alarms <= 0.05 + SLACK, "{outliers}: {alarms}");
    }
}

#[test]
fn intervals_cover_the_truth() {
    for pairs in [6, 8, 12, 25, 26, 40] {
        for confidence in [0.90, 0.95] {
            let mut normals = Normals { state: 41 + pairs as u64 };
            let truth = 0.013;
            let covered = (0..MATRICES)
                .filter(|_| {
                    let ratios: Vec<f64> =
                        (0..pairs).map(|_| truth + SD * normals.next()).collect();
                    interval(&ratios, confidence)
                        .is_some_and(|[low, high]| low <= truth && truth <= high)
                })
                .count() as f64
                / MATRICES as f64;
            assert!(covered >= confidence - SLACK, "{pairs} pairs, {confidence}: {covered}");
            // Exactness costs little width: the interval is not the trivial one.
            assert!(pairs == 6 || covered <= confidence + 0.04, "{pairs}, {confidence}: {covered}");
        }
    }
}
