//! What must hold for any data: swapping the arms swaps the words, shifts shift, order does not
//! matter, parts merged are the whole, and what was written is read again.

use hdrhistogram::Histogram;
use proptest::prelude::*;
use stats::change_point::{FEWEST_VALUES, scan};
use stats::geomean::{Cell, bootstrap, log_mean};
use stats::histogram::{self, MINIMUM_SAMPLES};
use stats::little::gap;
use stats::modes::upper_mode;
use stats::multiple::{benjamini_hochberg, holm};
use stats::order::nearest_rank;
use stats::order_effect::{order_effect, residual_sd};
use stats::prediction::{Measured, propagated};
use stats::sample::{log_ratio, median};
use stats::trend::{EXACT_POINTS, mann_kendall, theil_sen};
use stats::two_sample;
use stats::variance::{Fieller, ratio_of_means};
use stats::verdict::{HEAVY_TAILS, POSITIVE_MISSED, Question, UNCONTROLLED, Word, judge, verdict};
use stats::wilcoxon::{Walsh, hodges_lehmann, interval};

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
        // One pair on the other side: at six pairs 0 is inside, and the point is outside.
        let mut off = vec![0.2; noise.len()];
        off[0] = -0.2;
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
    fn a_p_value_is_the_level_at_which_the_interval_parts_from_zero(
        level in ratios(1..40),
        zeros in 0_usize..4,
    ) {
        // Zeros and exact ties too: the duality is by construction and must survive them.
        let mut level = level;
        level.extend(vec![0.0; zeros]);
        level.push(-level[0]);
        let walsh = Walsh::of(&level).unwrap();
        let p = walsh.p_value();
        prop_assert!((0.0..=1.0).contains(&p));
        let excludes = |alpha: f64| {
            walsh.interval(1.0 - alpha).is_some_and(|[low, high]| low > 0.0 || high < 0.0)
        };
        prop_assert!(p >= 1.0 - 1e-9 || excludes(p + 1e-9), "{p}");
        prop_assert!(!excludes(p - 1e-6), "{p}");
        let mirrored = Walsh::of(&negated(&level)).unwrap();
        prop_assert!(close(p, mirrored.p_value()));
        prop_assert!(close(walsh.hodges_lehmann(), -mirrored.hodges_lehmann()));
    }

    #[test]
    fn a_unit_scales_an_estimate_and_no_p_value(level in ratios(6..30), power in -20_i32..20) {
        // Powers of two are exact.
        let unit = 2.0_f64.powi(power);
        let scaled: Vec<f64> = level.iter().map(|d| d * unit).collect();
        let (a, b) = (Walsh::of(&level).unwrap(), Walsh::of(&scaled).unwrap());
        prop_assert_eq!(a.hodges_lehmann() * unit, b.hodges_lehmann());
        prop_assert_eq!(a.p_value(), b.p_value());
        prop_assert_eq!(a.interval(0.95).unwrap().map(|end| end * unit), b.interval(0.95).unwrap());
    }

    #[test]
    fn a_stricter_level_never_decides_more(level in ratios(6..30), alpha in 0.001_f64..0.05) {
        let strict = judge(&Question { alpha, ..Question::new(&level, MARGIN, true) });
        let usual = judge(&Question::new(&level, MARGIN, true));
        prop_assert!(!strict.significant || usual.significant);
        prop_assert_eq!(strict.significant, strict.p_value.unwrap() <= alpha + 1e-12);
        prop_assert_eq!(strict.matters, usual.matters);
        // A stricter test of equivalence is at least as hard to pass.
        prop_assert!(strict.word != Word::Equivalent || usual.word == Word::Equivalent
            || usual.flags.contains(&HEAVY_TAILS));
    }

    #[test]
    fn a_positive_control_that_is_missed_voids_whatever_was_found(
        level in ratios(6..14),
        noise in prop::collection::vec(0.001_f64..0.05, 6..14),
    ) {
        // All pairs on the good side, or all on the bad side, of a metric that should be high.
        let missed = Question { positive: Some(&noise), ..Question::new(&level, MARGIN, true) };
        prop_assert_eq!(judge(&missed).word, Word::Void);
        prop_assert!(judge(&missed).flags.contains(&POSITIVE_MISSED));
        let slowed = negated(&noise);
        let seen = Question { positive: Some(&slowed), ..Question::new(&level, MARGIN, true) };
        prop_assert_eq!(judge(&seen).word, judge(&Question::new(&level, MARGIN, true)).word);
        // For a latency the bad side is the other one.
        let latency = Question { higher_is_better: false, ..missed };
        prop_assert_eq!(judge(&latency).positive_seen, Some(true));
        // Too few pairs are no control.
        let few = Question { positive: Some(&noise[..5]), ..missed };
        prop_assert_eq!(judge(&few).positive_seen, None);
    }

    #[test]
    fn corrections_never_help_and_keep_the_order(
        p_values in prop::collection::vec(0.0_f64..=1.0, 0..20),
        by in 0_usize..20,
    ) {
        for correct in [holm, benjamini_hochberg] {
            let adjusted = correct(&p_values);
            for (a, p) in adjusted.iter().zip(&p_values) {
                prop_assert!(*a >= *p && *a <= 1.0);
            }
            for (i, j) in (0..p_values.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                prop_assert!(p_values[i] < p_values[j] || adjusted[i] >= adjusted[j]);
            }
            // The order of input is irrelevant.
            let mut turned = p_values.clone();
            turned.rotate_left(by % p_values.len().max(1));
            let mut back = correct(&turned);
            back.rotate_right(by % p_values.len().max(1));
            prop_assert_eq!(back, adjusted);
        }
        // Holm is at least as strict as Benjamini and Hochberg.
        for (strict, lax) in holm(&p_values).iter().zip(benjamini_hochberg(&p_values)) {
            prop_assert!(*strict >= lax - 1e-12);
        }
    }

    #[test]
    fn an_order_effect_turns_with_the_orders_and_not_with_the_effect(
        pairs in prop::collection::vec((any::<bool>(), -0.1_f64..0.1), 2..20),
        effect in -1.0_f64..1.0,
    ) {
        let by = |turn: bool, shift: f64| -> Vec<(bool, f64)> {
            pairs.iter().map(|(first, d)| (*first != turn, d + shift)).collect()
        };
        let there = order_effect(&by(false, 0.0));
        let back = order_effect(&by(true, effect));
        prop_assert_eq!(there.is_some(), back.is_some());
        if let (Some(there), Some(back)) = (there, back) {
            prop_assert!((there.value + back.value).abs() < 1e-9);
            prop_assert_eq!(there.interval.is_some(), back.interval.is_some());
        }
        let (a, b) = (residual_sd(&by(false, 0.0)), residual_sd(&by(true, effect)));
        prop_assert_eq!(a.is_some(), b.is_some());
        prop_assert!(a.zip(b).is_none_or(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn slopes_turn_shift_and_scale(
        ys in prop::collection::vec(-1e3_f64..1e3, 5..40),
        tilt in -10.0_f64..10.0,
    ) {
        let xs: Vec<f64> = (0..ys.len()).map(|x| x as f64).collect();
        let line = theil_sen(&xs, &ys, 0.95).unwrap();
        let tilted: Vec<f64> = xs.iter().zip(&ys).map(|(x, y)| y + tilt * x + 7.0).collect();
        let other = theil_sen(&xs, &tilted, 0.95).unwrap();
        prop_assert!((other.slope.value - line.slope.value - tilt).abs() < 1e-6);
        let mirrored = theil_sen(&xs, &negated(&ys), 0.95).unwrap();
        prop_assert!(close(mirrored.slope.value, -line.slope.value));
        let ([low, high], [low_m, high_m]) =
            (line.slope.interval.unwrap(), mirrored.slope.interval.unwrap());
        prop_assert!(close(low, -high_m) && close(high, -low_m));
        prop_assert!(low <= line.slope.value && line.slope.value <= high);
        // Mann-Kendall and the interval of the slope agree about a trend, at any distinct values.
        let kendall = mann_kendall(&ys).unwrap();
        prop_assert_eq!(kendall.s, -mann_kendall(&negated(&ys)).unwrap().s);
        prop_assert!(ys.len() > EXACT_POINTS
            || (low > 0.0 || high < 0.0) == (kendall.p_value <= 0.05 + 1e-9));
    }

    #[test]
    fn a_shift_between_samples_turns_with_them(
        first in prop::collection::vec(-1e3_f64..1e3, 4..40),
        second in prop::collection::vec(-1e3_f64..1e3, 4..40),
    ) {
        let there = two_sample::shift(&first, &second).unwrap();
        let back = two_sample::shift(&second, &first).unwrap();
        prop_assert!(close(there.shift.value, -back.shift.value));
        prop_assert!(close(there.p_value, back.p_value));
        let ([low, high], [low_b, high_b]) =
            (there.shift.interval.unwrap(), back.shift.interval.unwrap());
        prop_assert!(close(low, -high_b) && close(high, -low_b));
        prop_assert_eq!(low > 0.0 || high < 0.0, there.p_value <= 0.05 + 1e-12);
    }

    #[test]
    fn a_change_of_level_is_the_same_in_any_unit(
        values in prop::collection::vec(-1e3_f64..1e3, 10..80),
        power in -10_i32..10,
    ) {
        let change = scan(&values).unwrap();
        prop_assert!(change.index >= FEWEST_VALUES && change.index + FEWEST_VALUES <= values.len());
        let unit = 2.0_f64.powi(power);
        let scaled: Vec<f64> = values.iter().map(|value| value * unit).collect();
        let other = scan(&scaled).unwrap();
        prop_assert_eq!((change.index, change.p_value), (other.index, other.p_value));
        prop_assert_eq!(change.before * unit, other.before);
        prop_assert!(close(scan(&negated(&values)).unwrap().p_value, change.p_value));
    }

    #[test]
    fn an_upper_mode_is_that_of_the_merged_parts(
        base in prop::collection::vec(1_000_000_u64..2_000_000, 400..800),
        extra in prop::collection::vec(90_000_000_u64..91_000_000, 25..60),
        cut in 0.0_f64..1.0,
    ) {
        let all = [base.as_slice(), extra.as_slice()].concat();
        let mode = upper_mode(&histogram_of(&all)).unwrap();
        prop_assert!((mode.share - extra.len() as f64 / all.len() as f64).abs() < 1e-12);
        prop_assert!(mode.from_ns >= 90_000_000 && mode.to_ns <= 91_100_000);
        let (left, right) = all.split_at((cut * all.len() as f64) as usize);
        let mut merged = histogram_of(left);
        merged.add(histogram_of(right)).unwrap();
        prop_assert_eq!(upper_mode(&merged), Some(mode));
        prop_assert_eq!(upper_mode(&histogram_of(&base)), None);
    }

    #[test]
    fn a_suite_turns_with_its_arms_and_takes_its_cells_in_any_order(
        rows in prop::collection::vec(
            (0.1_f64..5.0, prop::collection::vec((0_u32..8, -0.5_f64..0.5), 1..8)), 1..6),
        by in 0_usize..6,
        seed: u64,
    ) {
        let cells = |sign: f64| -> Vec<Cell> {
            rows.iter()
                .map(|(weight, pairs)| Cell {
                    weight: *weight,
                    pairs: pairs.iter().map(|(block, d)| (*block, sign * d)).collect(),
                })
                .collect()
        };
        let there = bootstrap(&cells(1.0), 200, seed, 0.95).unwrap();
        let back = bootstrap(&cells(-1.0), 200, seed, 0.95).unwrap();
        prop_assert!(close(there.value, -back.value));
        if let (Some([low, high]), Some([low_b, high_b])) = (there.interval, back.interval) {
            prop_assert!(close(low, -high_b) && close(high, -low_b) && low <= high);
        }
        let mut turned = cells(1.0);
        turned.rotate_left(by % rows.len());
        prop_assert!(close(log_mean(&turned).unwrap(), there.value));
        let ratios: Vec<f64> = rows.iter().flat_map(|row| row.1.iter().map(|pair| pair.1)).collect();
        let (least, most) = (ratios.iter().copied().fold(f64::MAX, f64::min),
                             ratios.iter().copied().fold(f64::MIN, f64::max));
        prop_assert!(least - 1e-12 <= there.value && there.value <= most + 1e-12);
    }

    #[test]
    fn fiellers_interval_turns_into_its_inverse(
        baseline in prop::collection::vec(9.0_f64..11.0, 3..12),
        level in prop::collection::vec(18.0_f64..22.0, 3..12),
    ) {
        let there = ratio_of_means(&baseline, &level, 0.95).unwrap();
        let back = ratio_of_means(&level, &baseline, 0.95).unwrap();
        prop_assert!(close(there.0, 1.0 / back.0));
        if let (Fieller::Interval([low, high]), Fieller::Interval([low_b, high_b])) =
            (there.1, back.1)
        {
            prop_assert!((low * high_b - 1.0).abs() < 1e-9 && (high * low_b - 1.0).abs() < 1e-9);
            prop_assert!(low <= there.0 && there.0 <= high);
        }
    }

    #[test]
    fn a_difference_of_figures_turns_with_them(
        a in prop::collection::vec(-1.0_f64..1.0, 2..12),
        b in prop::collection::vec(-1.0_f64..1.0, 2..12),
    ) {
        let (a, b) = (Measured::of(&a).unwrap(), Measured::of(&b).unwrap());
        let (there, back) = (propagated(a, b), propagated(b, a));
        prop_assert!(close(there.value, -back.value));
        let ([low, high], [low_b, high_b]) = (there.interval.unwrap(), back.interval.unwrap());
        prop_assert!(close(low, -high_b) && close(high, -low_b));
        // Never narrower than either alone would be with all the degrees of freedom in the world.
        let alone = 2.0 * 1.959 * a.standard_error.max(b.standard_error);
        prop_assert!(high - low >= alone - 1e-12);
    }

    #[test]
    fn time_inside_and_outside_of_requests_is_all_there_is(
        users in 1.0_f64..1e4, rate in 0.1_f64..1e6, latency in 0.0_f64..10.0,
    ) {
        let little = gap(users, rate, latency).unwrap();
        prop_assert!(((little.outside_s + latency) * rate / users - 1.0).abs() < 1e-9);
        prop_assert!((little.gap_share * users / rate - little.outside_s).abs()
            < 1e-9 * (1.0 + latency + users / rate));
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
