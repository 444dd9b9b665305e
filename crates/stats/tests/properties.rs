//! What must hold for any data: swapping the arms swaps the words, shifts shift, order does not
//! matter, parts merged are the whole, and what was written is read again.

use hdrhistogram::Histogram;
use proptest::prelude::*;
use stats::histogram::{self, MINIMUM_SAMPLES};
use stats::order::nearest_rank;
use stats::sample::{log_ratio, median};
use stats::verdict::{UNCONTROLLED, Word, verdict};
use stats::wilcoxon::{hodges_lehmann, interval};

const MARGIN: f64 = 0.02;

fn ratios(pairs: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    (prop::collection::vec(-0.05_f64..0.05, pairs), -0.1_f64..0.1)
        .prop_map(|(noise, shift)| noise.into_iter().map(|d| d + shift).collect())
}

fn negated(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| -value).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + a.abs())
}

fn histogram_of(values: &[u64]) -> Histogram<u64> {
    let mut histogram = histogram::new();
    for value in values {
        histogram.saturating_record(*value);
    }
    histogram
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn swapping_the_arms_swaps_faster_and_slower(
        level in ratios(0..30),
        null in prop::option::of(ratios(6..14)),
        higher_is_better: bool,
    ) {
        let there = verdict(&level, MARGIN, higher_is_better, null.as_deref());
        let null = null.map(|null| negated(&null));
        let back = verdict(&negated(&level), MARGIN, higher_is_better, null.as_deref());
        let expected = match there.word {
            Word::Faster => Word::Slower,
            Word::Slower => Word::Faster,
            other => other,
        };
        prop_assert_eq!(back.word, expected);
        prop_assert_eq!(back.flags, there.flags);
        prop_assert_eq!(back.needed_pairs, there.needed_pairs);
        if let (Some(a), Some(b)) = (there.effect, back.effect) {
            prop_assert!(close(a, -b));
        }
        if let (Some([low, high]), Some([low_back, high_back])) = (there.interval, back.interval) {
            prop_assert!(close(low, -high_back) && close(high, -low_back));
        }
    }

    #[test]
    fn the_metrics_direction_swaps_the_word_and_nothing_else(level in ratios(6..30)) {
        let up = verdict(&level, MARGIN, true, None);
        let down = verdict(&level, MARGIN, false, None);
        let swapped = match up.word {
            Word::Faster => Word::Slower,
            Word::Slower => Word::Faster,
            other => other,
        };
        prop_assert_eq!(down.word, swapped);
        prop_assert_eq!(down.interval, up.interval);
    }

    #[test]
    fn the_order_of_the_pairs_does_not_matter(level in ratios(1..30), by in 0_usize..30) {
        let mut turned = level.clone();
        turned.rotate_left(by % level.len());
        let a = verdict(&level, MARGIN, true, None);
        let b = verdict(&turned, MARGIN, true, None);
        prop_assert_eq!(a.word, b.word);
        prop_assert_eq!(a.effect, b.effect);
        prop_assert_eq!(a.interval, b.interval);
    }

    #[test]
    fn a_shift_of_all_pairs_shifts_the_estimate(level in ratios(6..30), shift in -1.0_f64..1.0) {
        let shifted: Vec<f64> = level.iter().map(|d| d + shift).collect();
        let (a, b) = (hodges_lehmann(&level).unwrap(), hodges_lehmann(&shifted).unwrap());
        prop_assert!((b - a - shift).abs() < 1e-9);
        let ([low, high], [low_b, high_b]) =
            (interval(&level, 0.95).unwrap(), interval(&shifted, 0.95).unwrap());
        prop_assert!((low_b - low - shift).abs() < 1e-9);
        prop_assert!((high_b - high - shift).abs() < 1e-9);
    }

    #[test]
    fn the_interval_holds_the_estimate_and_widens_with_confidence(level in ratios(6..40)) {
        let point = hodges_lehmann(&level).unwrap();
        let [low, high] = interval(&level, 0.95).unwrap();
        let [low_90, high_90] = interval(&level, 0.90).unwrap();
        prop_assert!(low <= low_90 && high_90 <= high);
        prop_assert!(low_90 <= point && point <= high_90);
        let extremes = (level.iter().copied().fold(f64::MAX, f64::min),
                        level.iter().copied().fold(f64::MIN, f64::max));
        prop_assert!(extremes.0 <= low && high <= extremes.1);
    }

    #[test]
    fn under_six_pairs_nothing_is_decided(level in ratios(0..6), null in ratios(6..14)) {
        prop_assert_eq!(verdict(&level, MARGIN, true, Some(&null)).word, Word::Inconclusive);
    }

    #[test]
    fn a_null_that_differs_makes_every_word_void(
        level in ratios(6..14),
        noise in prop::collection::vec(0.001_f64..0.05, 6..14),
    ) {
        // All pairs on one side: the interval of the null excludes 0.
        prop_assert_eq!(verdict(&level, MARGIN, true, Some(&noise)).word, Word::Void);
        let off: Vec<f64> = noise.iter().map(|d| if *d < 0.002 { -0.2 } else { 0.2 }).collect();
        prop_assert_eq!(verdict(&level, MARGIN, true, Some(&off)).word, Word::Void);
    }

    #[test]
    fn a_null_of_too_few_pairs_controls_nothing(
        level in ratios(6..14),
        null in prop::option::of(ratios(0..6)),
    ) {
        let judged = verdict(&level, MARGIN, true, null.as_deref());
        prop_assert!(judged.flags.contains(&UNCONTROLLED));
        prop_assert_ne!(judged.word, Word::Void);
    }

    #[test]
    fn ratios_turn_with_their_arms(a in 1e-3_f64..1e9, b in 1e-3_f64..1e9, unit in 1e-3_f64..1e3) {
        let ratio = log_ratio(a, b).unwrap();
        prop_assert!(close(ratio, -log_ratio(b, a).unwrap()));
        prop_assert!((ratio - log_ratio(a * unit, b * unit).unwrap()).abs() < 1e-9);
    }

    #[test]
    fn the_median_lies_in_the_middle(values in prop::collection::vec(-1e6_f64..1e6, 1..40)) {
        let middle = median(&values).unwrap();
        let below = values.iter().filter(|value| **value < middle).count();
        let above = values.iter().filter(|value| **value > middle).count();
        prop_assert!(below * 2 <= values.len() && above * 2 <= values.len());
    }

    #[test]
    fn parts_merged_are_the_whole(
        parts in prop::collection::vec(
            prop::collection::vec(0_u64..4_000_000_000_000, 0..60), 1..6),
    ) {
        let mut merged = histogram::new();
        for part in &parts {
            merged.add(histogram_of(part)).unwrap();
        }
        let whole = histogram_of(&parts.concat());
        prop_assert_eq!(histogram::summarise(&merged), histogram::summarise(&whole));
        prop_assert_eq!(&merged, &whole);
        // The text is a function of the content, not of how it came together.
        prop_assert_eq!(histogram::encode(&merged), histogram::encode(&whole));
    }

    #[test]
    fn what_was_written_is_read_again(
        values in prop::collection::vec(0_u64..4_000_000_000_000, 0..200),
    ) {
        let whole = histogram_of(&values);
        let read = histogram::decode(&histogram::encode(&whole)).unwrap();
        prop_assert_eq!(read.len(), values.len() as u64);
        prop_assert_eq!(&read, &whole);
        prop_assert_eq!(histogram::summarise(&read), histogram::summarise(&whole));
    }

    #[test]
    fn no_text_makes_the_decoder_panic(text in ".{0,200}") {
        let _ = histogram::decode(&text);
    }

    #[test]
    fn a_cut_encoding_is_never_another_histogram(
        values in prop::collection::vec(1_u64..1_000_000_000, 1..50),
        cut in 0.0_f64..1.0,
    ) {
        let whole = histogram_of(&values);
        let text = histogram::encode(&whole);
        let end = (text.len() as f64 * cut) as usize;
        // Only the checksum at the end may be missing.
        if let Ok(read) = histogram::decode(&text[..end]) {
            prop_assert_eq!(read, whole);
            prop_assert!(text.len() - end <= 8);
        }
    }
}

/// Percentiles of 1, 10, 100 and 1000 values against exact nearest rank: within the histogram's
/// three digits, and none lost where two ranks coincide (p99 and p99.9 of 100 values).
#[test]
fn percentiles_are_nearest_rank_within_three_digits() {
    for n in [1_u64, 10, 100, 1_000] {
        let values: Vec<u64> = (1..=n).map(|rank| rank * 1_234_567).collect();
        let histogram = histogram_of(&values);
        for (p, _) in MINIMUM_SAMPLES {
            let exact = nearest_rank(&values, p).unwrap();
            let bucketed = histogram.value_at_quantile(p);
            assert!(
                bucketed.abs_diff(exact) * 1_000 <= exact,
                "n = {n}, p = {p}: {bucketed} for {exact}"
            );
        }
        let summary = histogram::summarise(&histogram);
        let shown =
            [summary.p50, summary.p90, summary.p95, summary.p99, summary.p999].map(|p| p.is_some());
        let expected = MINIMUM_SAMPLES.map(|(_, needed)| n >= needed);
        assert_eq!(shown, expected, "n = {n}");
        assert_eq!(summary.count, n);
    }
}
