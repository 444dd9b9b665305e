//! Looks at the data: each one that was taken is on record in `looks.json` of its label, and
//! whoever looks more than once pays for it with wider intervals (D11). Re-running until it is
//! green is a look.
//!
//! The rule of the two-sided error that look number k may spend is here and nowhere else:
//!
//! - L looks registered by `compare.looks`: O'Brien and Fleming's level for look k of L, 5 % in
//!   all. Early looks are almost blind, the last one has nearly the whole 5 %.
//! - none registered: 5 % for the first look, and after that Pocock's level for as many looks as
//!   were taken. The first one has spent the 5 % by then, so looks that nobody planned cost some
//!   error all the same: 6.7 % in all for two and 8.9 % for five, against 14 % for five looks at
//!   5 % each. Register the looks to keep the 5 %.
//! - more looks than registered: the stricter of both for as many as were taken, and the result
//!   says that its error rate is above 5 %.
//!
//! A look at fewer than six blocks has no interval and can raise no alarm; it is kept on record
//! and does not count.

use std::path::Path;

use record::compare::Look;
use record::layout;
use stats::power::{ALPHA, FEWEST_PAIRS};
use stats::sequential::{MOST_LOOKS, obrien_fleming, pocock};

use crate::error::EvidenceError;

/// Where a label stands after its looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Two-sided error of the latest look, or of the first one when none was taken.
    pub alpha: f64,
    /// Looks that could have raised an alarm.
    pub looks: u32,
    /// Whether more were taken than registered.
    pub extra: bool,
}

/// The looks of a label, the first one first; none when there is no such file.
///
/// # Errors
/// A file that cannot be read.
pub fn read_looks(label_dir: &Path) -> Result<Vec<Look>, EvidenceError> {
    let path = label_dir.join(layout::LOOKS);
    if path.is_file() { Ok(layout::read_json(&path)?) } else { Ok(Vec::new()) }
}

/// Where a label stands after `looks`, of which `registered` were planned.
#[must_use]
pub fn standing(looks: &[Look], registered: Option<u32>) -> Standing {
    let taken = looks.iter().filter(|look| counts(look.blocks)).count() as u32;
    let (alpha, extra) = alpha(registered, taken.max(1));
    Standing { alpha, looks: taken, extra }
}

/// The looks with one more, at `blocks` complete blocks: what [`read_looks`] gives next. A second
/// look at the same blocks shows nothing new and is the same look; its verdicts are still to be
/// filled in, since they depend on the error that it may spend.
#[must_use]
pub fn with_look(
    before: &[Look],
    registered: Option<u32>,
    at_utc: String,
    blocks: u32,
) -> Vec<Look> {
    let mut looks = before.to_vec();
    if looks.last().is_some_and(|last| last.blocks == blocks) {
        looks.pop();
    }
    looks.push(Look { at_utc, blocks, alpha: ALPHA, verdicts: Default::default() });
    let alpha = standing(&looks, registered).alpha;
    if let Some(last) = looks.last_mut() {
        last.alpha = alpha;
    }
    looks
}

/// Whether a look at so many blocks can raise an alarm.
fn counts(blocks: u32) -> bool {
    blocks >= FEWEST_PAIRS
}

/// The two-sided error that look `number` (from 1) may spend, and whether it is one more than was
/// registered.
fn alpha(registered: Option<u32>, number: u32) -> (f64, bool) {
    let planned = registered.and_then(|looks| obrien_fleming(looks as usize));
    let taken = number as usize;
    match &planned {
        Some(levels) if taken <= levels.len() => (levels[taken - 1], false),
        Some(levels) => (unplanned(taken).min(levels[levels.len() - 1]), true),
        None if number == 1 => (ALPHA, false),
        None => (unplanned(taken), false),
    }
}

/// Pocock's level for so many looks. Beyond the tables it falls with their number, which is
/// stricter than his own bound: that falls more slowly.
fn unplanned(looks: usize) -> f64 {
    let within = looks.min(MOST_LOOKS);
    let level = pocock(within).and_then(|levels| levels.first().copied()).unwrap_or(0.0);
    level * within as f64 / looks as f64
}

#[cfg(test)]
mod tests {
    use stats::sequential::overall_error;

    use super::*;

    fn looks(blocks: &[u32]) -> Vec<Look> {
        let one = |blocks: &u32| Look {
            at_utc: String::new(),
            blocks: *blocks,
            alpha: 0.0,
            verdicts: Default::default(),
        };
        blocks.iter().map(one).collect()
    }

    fn alpha_of(blocks: &[u32], registered: Option<u32>) -> f64 {
        standing(&looks(blocks), registered).alpha
    }

    #[test]
    fn one_look_has_five_percent() {
        assert_eq!(standing(&[], None), Standing { alpha: 0.05, looks: 0, extra: false });
        assert_eq!(alpha_of(&[12], None), 0.05);
        assert!((alpha_of(&[12], Some(1)) - 0.05).abs() < 1e-3);
    }

    /// D11: 3 looks, |z| > 3.47, 2.45, 2.00.
    #[test]
    fn registered_looks_follow_obrien_and_fleming() {
        let level = |z: f64| 2.0 * (1.0 - stats::sample::normal_cdf(z));
        for (blocks, z) in [(&[6][..], 3.471), (&[6, 8], 2.454), (&[6, 8, 12], 2.004)] {
            let found = alpha_of(blocks, Some(3));
            assert!((found - level(z)).abs() < 2e-4, "{blocks:?}: {found}");
        }
        let fourth = standing(&looks(&[6, 8, 12, 14]), Some(3));
        assert!(fourth.extra && fourth.alpha < alpha_of(&[6, 8, 12], Some(3)));
    }

    #[test]
    fn looks_that_nobody_planned_are_pococks() {
        for (taken, z) in [(2_usize, 2.178), (3, 2.289), (5, 2.413)] {
            let level = 2.0 * (1.0 - stats::sample::normal_cdf(z));
            let blocks: Vec<u32> = (0..taken).map(|index| 6 + index as u32).collect();
            assert!((alpha_of(&blocks, None) - level).abs() < 2e-4);
        }
        let strictest = alpha_of(&(6..30).collect::<Vec<u32>>(), None);
        assert!(strictest > 0.0 && strictest < alpha_of(&(6..14).collect::<Vec<u32>>(), None));
    }

    /// The figures of the module's text.
    #[test]
    fn what_unplanned_looks_cost() {
        let levels: Vec<f64> = (1..=5).map(|number| alpha(None, number).0).collect();
        let cost = |looks: usize| (overall_error(&levels[..looks]) * 1000.0).round() / 10.0;
        assert_eq!((cost(1), cost(2), cost(5)), (5.0, 6.7, 8.9));
        assert!(overall_error(&[0.05; 5]) > 0.14);
    }

    /// What could not raise an alarm costs nothing, and the same data are the same look.
    #[test]
    fn screens_and_repeated_looks_are_free() {
        assert_eq!(alpha_of(&[2, 4, 12], None), 0.05);
        let first = with_look(&[], None, "a".to_owned(), 12);
        let again = with_look(&first, None, "b".to_owned(), 12);
        assert_eq!((again.len(), again[0].alpha), (1, 0.05));
        let more = with_look(&again, None, "c".to_owned(), 16);
        assert_eq!((more.len(), more[1].alpha), (2, alpha_of(&[12, 16], None)));
        assert!(more[1].alpha < 0.05);
    }
}
