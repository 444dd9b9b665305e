//! From the log-ratios of the pairs to one of five words (D4). The order of the rules is the
//! contract: void, equivalent, faster or slower, inconclusive.

use crate::power::{ALPHA, FEWEST_PAIRS, POWER, minimum_detectable, needed_pairs, sd_upper_80};
use crate::sample::{sd, t_interval};
use crate::wilcoxon::{Walsh, interval};

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
/// A known slowdown was planted and was not seen.
pub const POSITIVE_MISSED: &str = "positive_missed";

/// What is asked of the pairs. All figures are log-ratios, level / baseline, one per pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question<'a> {
    /// The pairs.
    pub log_ratios: &'a [f64],
    /// The smallest effect that matters, as a share: 0.02 is 2 %.
    pub margin: f64,
    /// The metric's declared direction.
    pub higher_is_better: bool,
    /// A contrast of a thing with itself in the same matrix.
    pub null: Option<&'a [f64]>,
    /// Log-ratios of the level against itself, where the matrix has that too: the quiet of one arm
    /// says nothing of another program's.
    pub level_null: Option<&'a [f64]>,
    /// A contrast with a known slowdown in the same matrix, for a metric that it worsens.
    pub positive: Option<&'a [f64]>,
    /// Two-sided error: the interval is at `1 - alpha`, equivalence at `1 - 2 alpha`.
    pub alpha: f64,
}

impl<'a> Question<'a> {
    /// A question without controls at [`ALPHA`].
    #[must_use]
    pub fn new(log_ratios: &'a [f64], margin: f64, higher_is_better: bool) -> Self {
        Self {
            log_ratios,
            margin,
            higher_is_better,
            null: None,
            level_null: None,
            positive: None,
            alpha: ALPHA,
        }
    }
}

/// What the pairs say. All effects are log-ratios.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The word.
    pub word: Word,
    /// Flags, in a fixed order.
    pub flags: Vec<&'static str>,
    /// Hodges-Lehmann estimate; `None` without pairs.
    pub effect: Option<f64>,
    /// Two-sided interval at `1 - alpha`; `None` under 6 pairs at 5 %, and under more at less.
    pub interval: Option<[f64; 2]>,
    /// The interval of the mean at the same level, which cross-checks the one of ranks.
    pub t_interval: Option<[f64; 2]>,
    /// Two-sided p of the signed-rank test; `None` without pairs.
    pub p_value: Option<f64>,
    /// Whether the interval excludes 0, whatever the word.
    pub significant: bool,
    /// Whether the estimate lies outside the margin, which is another question; `None` without
    /// pairs.
    pub matters: Option<bool>,
    /// Whether a positive control of enough pairs was seen; `None` without one.
    pub positive_seen: Option<bool>,
    /// Pairs that would show an effect of the margin's size with power 0.8, planned with the
    /// upper 80 % bound of the spread; `None` under two pairs.
    pub needed_pairs: Option<u32>,
    /// The smallest effect that these pairs would have shown with power 0.8.
    pub minimum_detectable: Option<f64>,
}

/// Judges `log_ratios` (level / baseline, one per pair) against `margin` (0.02 is 2 %) at 5 %;
/// see [`judge`]. `null` holds the log-ratios of a contrast of a thing with itself from the same
/// matrix.
#[must_use]
pub fn verdict(
    log_ratios: &[f64],
    margin: f64,
    higher_is_better: bool,
    null: Option<&[f64]>,
) -> Verdict {
    judge(&Question { null, ..Question::new(log_ratios, margin, higher_is_better) })
}

/// Answers a question by D4. The margin is symmetric on the log scale, `± ln(1 + margin)`, so
/// that swapping the arms swaps faster and slower and changes nothing else.
///
/// Controls are judged at [`ALPHA`] whatever the question's own level: they ask whether this
/// machine can be believed, which a stricter look does not change. Under [`FEWEST_PAIRS`] pairs
/// a control tells nothing and is taken as absent.
#[must_use]
pub fn judge(question: &Question<'_>) -> Verdict {
    let Question { log_ratios, margin, higher_is_better, alpha, .. } = *question;
    let bound = margin.ln_1p();
    let controls = |pairs: &&[f64]| pairs.len() >= FEWEST_PAIRS as usize;
    let null = question.null.filter(controls);
    let positive_seen =
        question.positive.filter(controls).map(|pairs| positive_seen(pairs, higher_is_better));
    let walsh = Walsh::of(log_ratios);
    let by_ranks = Intervals::at(alpha, |confidence| walsh.as_ref()?.interval(confidence));
    let by_mean = Intervals::at(alpha, |confidence| t_interval(log_ratios, confidence));
    let effect = walsh.as_ref().map(Walsh::hodges_lehmann);
    let significant = by_ranks.outer.is_some_and(excludes_zero);

    let mut flags = Vec::new();
    if null.is_none() {
        flags.push(UNCONTROLLED);
    }
    let missed = positive_seen == Some(false);
    let level_null = question.level_null.filter(controls);
    let differs = null.into_iter().chain(level_null).any(|pairs| null_differs(pairs, bound));
    let word = if log_ratios.len() < FEWEST_PAIRS as usize || by_ranks.outer.is_none() {
        flags.push(FEW_PAIRS);
        Word::Inconclusive
    } else if differs || missed {
        flags.extend(differs.then_some(NULL_DIFFERS));
        flags.extend(missed.then_some(POSITIVE_MISSED));
        Word::Void
    } else {
        let word = by_ranks.word(bound, higher_is_better);
        if word == by_mean.word(bound, higher_is_better) {
            flags.extend((word == Word::Equivalent && significant).then_some(REAL_BUT_SMALL));
            word
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
        interval: by_ranks.outer,
        t_interval: by_mean.outer,
        p_value: walsh.as_ref().map(Walsh::p_value),
        significant,
        matters: effect.map(|effect| effect.abs() > bound),
        positive_seen,
        needed_pairs: planned_sd.and_then(|sd| needed_pairs(sd, margin, alpha, POWER)),
        minimum_detectable: minimum_detectable(log_ratios, alpha),
    }
}

/// Whether a planted slowdown shows: its 95 % interval excludes 0 on the bad side. Asked of at
/// least [`FEWEST_PAIRS`] pairs; with fewer it is never seen.
#[must_use]
pub fn positive_seen(log_ratios: &[f64], higher_is_better: bool) -> bool {
    interval(log_ratios, 1.0 - ALPHA)
        .is_some_and(|[low, high]| if higher_is_better { high < 0.0 } else { low > 0.0 })
}

/// Whether a null arm shows a difference: its interval excludes 0 or its point lies outside the
/// margin. Asking for its whole interval inside the margin would cost too much power (D4).
#[must_use]
pub fn null_differs(log_ratios: &[f64], bound: f64) -> bool {
    Walsh::of(log_ratios).is_some_and(|walsh| {
        walsh.interval(1.0 - ALPHA).is_some_and(excludes_zero)
            || walsh.hodges_lehmann().abs() >= bound
    })
}

fn excludes_zero([low, high]: [f64; 2]) -> bool {
    low > 0.0 || high < 0.0
}

/// The two intervals that one method gives.
struct Intervals {
    /// At `1 - alpha`.
    outer: Option<[f64; 2]>,
    /// At `1 - 2 alpha`: two one-sided tests at `alpha`.
    inner: Option<[f64; 2]>,
}

impl Intervals {
    fn at(alpha: f64, interval: impl Fn(f64) -> Option<[f64; 2]>) -> Self {
        Self { outer: interval(1.0 - alpha), inner: interval(1.0 - 2.0 * alpha) }
    }

    fn word(&self, bound: f64, higher_is_better: bool) -> Word {
        if self.inner.is_some_and(|[low, high]| low > -bound && high < bound) {
            return Word::Equivalent;
        }
        match self.outer {
            Some([low, _]) if low > 0.0 => better(higher_is_better),
            Some([_, high]) if high < 0.0 => better(!higher_is_better),
            _ => Word::Inconclusive,
        }
    }
}

fn better(is_better: bool) -> Word {
    if is_better { Word::Faster } else { Word::Slower }
}
