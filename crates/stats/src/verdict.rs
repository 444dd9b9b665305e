//! From the log-ratios of the pairs to one of five words (D4). The order of the rules is the
//! contract: void, equivalent, faster or slower, inconclusive.

use crate::power::{FEWEST_PAIRS, POWER, minimum_detectable, needed_pairs, sd_upper_80};
use crate::sample::{sd, t_interval};
use crate::wilcoxon::{hodges_lehmann, interval};

/// The five words. Faster means better in the metric's declared direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Word {
    /// Better: the 95 % interval excludes 0 on the good side.
    Faster,
    /// Worse: the 95 % interval excludes 0 on the bad side.
    Slower,
    /// The 90 % interval lies inside the margin: two one-sided tests at 5 %.
    Equivalent,
    /// None of the others: more pairs are needed.
    Inconclusive,
    /// Not to be used.
    Void,
}

impl Word {
    /// The word as it is written in artefacts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::Void => "void",
        }
    }
}

/// No null arm with an interval stands beside the contrast: its error rate is unknown.
pub const UNCONTROLLED: &str = "uncontrolled";
/// Fewer than 6 pairs: no 95 % interval exists.
pub const FEW_PAIRS: &str = "few_pairs";
/// Equivalent, though the 95 % interval excludes 0.
pub const REAL_BUT_SMALL: &str = "real_but_small";
/// The interval of ranks and that of the mean lead to different words (D2).
pub const HEAVY_TAILS: &str = "heavy_tails";
/// The null arm shows a difference of a thing with itself.
pub const NULL_DIFFERS: &str = "null_differs";

/// What the pairs say. All effects are log-ratios.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The word.
    pub word: Word,
    /// Flags, in a fixed order.
    pub flags: Vec<&'static str>,
    /// Hodges-Lehmann estimate; `None` without pairs.
    pub effect: Option<f64>,
    /// Two-sided 95 % interval; `None` under 6 pairs.
    pub interval: Option<[f64; 2]>,
    /// Pairs that would show an effect of the margin's size with power 0.8, planned with the
    /// upper 80 % bound of the spread; `None` under two pairs.
    pub needed_pairs: Option<u32>,
    /// The smallest effect that these pairs would have shown with power 0.8.
    pub minimum_detectable: Option<f64>,
}

/// Judges `log_ratios` (level / baseline, one per pair) against `margin` (0.02 is 2 %). The
/// margin is symmetric on the log scale, `± ln(1 + margin)`, so that swapping the arms swaps
/// faster and slower and changes nothing else. `null` holds the log-ratios of a contrast of a
/// thing with itself from the same matrix.
#[must_use]
pub fn verdict(
    log_ratios: &[f64],
    margin: f64,
    higher_is_better: bool,
    null: Option<&[f64]>,
) -> Verdict {
    let bound = margin.ln_1p();
    let enough = |pairs: &[f64]| pairs.len() >= FEWEST_PAIRS as usize;
    let mut flags = Vec::new();
    let null = null.filter(|pairs| enough(pairs));
    if null.is_none() {
        flags.push(UNCONTROLLED);
    }
    let effect = hodges_lehmann(log_ratios);
    let interval_95 = interval(log_ratios, 0.95);
    let word = if !enough(log_ratios) {
        flags.push(FEW_PAIRS);
        Word::Inconclusive
    } else if null.is_some_and(|pairs| null_differs(pairs, bound)) {
        flags.push(NULL_DIFFERS);
        Word::Void
    } else {
        let by_ranks = word_of(interval_95, interval(log_ratios, 0.90), bound, higher_is_better);
        let by_mean = word_of(
            t_interval(log_ratios, 0.95),
            t_interval(log_ratios, 0.90),
            bound,
            higher_is_better,
        );
        if by_ranks == by_mean {
            if by_ranks == Word::Equivalent && interval_95.is_some_and(excludes_zero) {
                flags.push(REAL_BUT_SMALL);
            }
            by_ranks
        } else {
            flags.push(HEAVY_TAILS);
            Word::Inconclusive
        }
    };
    let planned_sd = sd(log_ratios).and_then(|sd| sd_upper_80(sd, log_ratios.len()));
    Verdict {
        word,
        flags,
        effect,
        interval: interval_95,
        needed_pairs: planned_sd.and_then(|sd| needed_pairs(sd, margin, POWER)),
        minimum_detectable: minimum_detectable(log_ratios),
    }
}

/// Whether a null arm shows a difference: its interval excludes 0 or its point lies outside the
/// margin. Asking for its whole interval inside the margin would cost too much power (D4).
#[must_use]
pub fn null_differs(log_ratios: &[f64], bound: f64) -> bool {
    interval(log_ratios, 0.95).is_some_and(excludes_zero)
        || hodges_lehmann(log_ratios).is_some_and(|point| point.abs() >= bound)
}

fn excludes_zero([low, high]: [f64; 2]) -> bool {
    low > 0.0 || high < 0.0
}

fn word_of(
    interval_95: Option<[f64; 2]>,
    interval_90: Option<[f64; 2]>,
    bound: f64,
    higher_is_better: bool,
) -> Word {
    if interval_90.is_some_and(|[low, high]| low > -bound && high < bound) {
        return Word::Equivalent;
    }
    match interval_95 {
        Some([low, _]) if low > 0.0 => better(higher_is_better),
        Some([_, high]) if high < 0.0 => better(!higher_is_better),
        _ => Word::Inconclusive,
    }
}

fn better(is_better: bool) -> Word {
    if is_better { Word::Faster } else { Word::Slower }
}
