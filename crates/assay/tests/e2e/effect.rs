//! One real small matrix whose planted effect is chosen at random: its sign and size must come
//! back within the interval.

use record::compare::{Contrast, Matrix};
use record::{Validity, layout};

use crate::support::{Bench, Dice, Lab, mock, read};

/// The effects that may be planted, percent of the mock's latency.
const PLANTED: [i64; 7] = [-30, -20, -10, 0, 10, 20, 30];
/// Latency of the baseline, µs.
const BASE_US: i64 = 10_000;

#[test]
fn a_planted_effect_is_recovered() {
    let planted = PLANTED[Dice::seeded().below(PLANTED.len() as u64) as usize];
    let lab = Lab::new();
    let level = format!("{{ target.mock.latency = \"{}us\" }}", BASE_US + BASE_US / 100 * planted);
    let base = format!("{{ target.mock.latency = \"{BASE_US}us\" }}");
    // Where nothing is planted the two levels say the same: they are a null by identity.
    let bench = Bench::mock()
        .target("mock.latency", "\"1ms\"")
        .load("users", "8")
        .load("warmup", "\"200ms\"")
        .load("measure", "\"500ms\"")
        .matrix("blocks", "6")
        .factor("latency", &[("base", &base), ("planted", &level), ("null", "\"base\"")])
        .more("[compare]\nprimary = \"p50\"");
    let ended = lab.run(&bench, "effect", &[]).expect_one_of(&[0, 3]);
    let matrix: Matrix = read(&lab.label("effect").join(layout::MATRIX_JSON));
    // On a noisy machine the null may differ from itself, which voids what it controls and is
    // the one reason for doubt here: every run is valid.
    let doubted =
        matrix.runs.iter().any(|run| run.validity.as_ref().is_none_or(Validity::is_doubtful));
    assert!(!doubted);
    let void = matrix.contrasts.iter().any(|one| one.primary && one.verdict == "void");
    assert_eq!(ended.status.code() == Some(3), void);
    let contrast = |level: &str| -> &Contrast {
        let found = matrix.contrasts.iter().find(|one| one.level == level && one.primary);
        found.expect("a contrast")
    };
    let found = contrast("planted");
    assert_eq!((found.metric.as_str(), found.pairs), ("p50", 6));
    assert_eq!(found.null, planted == 0);
    assert!(contrast("null").null);

    // What was really planted, by the mock's own account: it also oversleeps when the machine
    // is busy, which the generator then rightly sees.
    let truth = truth(&lab, &matrix);
    let [low, high] = found.interval_percent.expect("six pairs have an interval");
    // The interval holds the truth in 97 of 100 matrices; half its width more, and half a
    // percent for the way through the kernel that the mock cannot see, make that all of them.
    let slack = (high - low) / 2.0 + 0.5;
    eprintln!("planted {planted} %, by the mock {truth:.2} %, found [{low:.2}, {high:.2}] %");
    assert!((low - slack..=high + slack).contains(&truth), "{truth} is not in [{low}, {high}]");
    let effect = found.effect_percent.expect("an effect");
    assert!((effect - truth).abs() <= high - low + slack, "{effect} is not {truth}");
    if planted != 0 {
        assert_eq!(effect > 0.0, planted > 0, "the sign is recovered: {effect} for {planted}");
        // Latency: less is faster.
        let wrong = if planted > 0 { "faster" } else { "slower" };
        assert_ne!(found.verdict, wrong);
    }
}

/// Median over the blocks of the ratio of the mocks' own median service times, percent.
fn truth(lab: &Lab, matrix: &Matrix) -> f64 {
    let service = |block: u32, cell: &str| {
        let run = matrix.runs.iter().find(|run| run.block == block && run.cell == cell);
        let run = run.expect("each block has each cell");
        mock(&lab.label("effect").join(&run.path)).service_ns.p50.expect("enough samples") as f64
    };
    let mut ratios: Vec<f64> =
        (1..=6).map(|block| service(block, "planted") / service(block, "base")).collect();
    ratios.sort_by(f64::total_cmp);
    ((ratios[2] * ratios[3]).sqrt() - 1.0) * 100.0
}
