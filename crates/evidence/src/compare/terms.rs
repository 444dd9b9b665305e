//! On whose terms runs are compared: what was registered before the first run, and what is asked
//! for now. What is asked for wins and is marked, since it was chosen with the data at hand.

use std::collections::{BTreeMap, BTreeSet};

use record::compare::{Comparison, Contrast, Look};
use record::digest::Digest;
use record::glob::glob_matches;
use record::plan::Compare;
use stats::power::ALPHA;

use crate::digest::{PERCENTILES, primary_of};
use crate::error::{EvidenceError, nearest};
use crate::looks::{Standing, standing};

/// What to compare.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompareOptions {
    /// Only this factor; all contrasted ones when absent.
    pub factor: Option<String>,
    /// This level as the baseline of the factors that have it; a control keeps its twin.
    pub baseline: Option<String>,
    /// Only these metrics are shown, see [`select`]; which one is primary stays as it was.
    pub metrics: Vec<String>,
    /// Smallest effect that matters, as a share; marked as chosen after the run.
    pub margin: Option<f64>,
    /// Primary metric; marked as chosen after the run.
    pub primary: Option<String>,
    /// Only the contrasts whose row matches this pattern are shown, see [`select`].
    pub group: Option<String>,
    /// The factor whose levels are the rows of a geometric mean.
    pub over: Option<String>,
}

/// The note when another primary metric is asked for than was registered.
const PRIMARY_AFTER: &str = "primary metric chosen after the run: exploratory";
/// The note when another margin is asked for than was registered.
const MARGIN_AFTER: &str = "margin chosen after the run: exploratory";

/// Metrics that describe the shape of the load and are no measure of speed: more of them is
/// neither better nor worse. A manipulation check reads them, a contrast does not.
const SHAPES: [&str; 2] = ["connections", "connections_per_request"];

/// What was registered and what is asked for.
#[derive(Debug)]
pub(crate) struct Terms<'o> {
    pub(crate) options: &'o CompareOptions,
    /// As the first digest repeats it.
    pub(crate) registered: Compare,
    /// Two-sided error that the intervals may spend.
    pub(crate) alpha: f64,
    /// Where the label stands after its looks; `None` when there is no record of any.
    standing: Option<Standing>,
    /// Seed of every random choice.
    pub(crate) seed: u64,
}

impl<'o> Terms<'o> {
    /// Takes the terms from the digests and checks every word of the options against them.
    pub(crate) fn new(
        options: &'o CompareOptions,
        measured: &[(&str, &Digest)],
        factors: &[String],
        looks: &[Look],
    ) -> Result<Self, EvidenceError> {
        let registered =
            measured.iter().find_map(|(_, digest)| digest.compare.clone()).unwrap_or_default();
        let seed = measured.first().map_or(1, |(_, digest)| digest.seed);
        // Digests that were copied without the looks at them are looked at once.
        let standing = (!looks.is_empty()).then(|| standing(looks, registered.looks));
        let alpha = standing.map_or(ALPHA, |standing| standing.alpha);
        let terms = Self { options, registered, alpha, standing, seed };
        terms.check_words(measured, factors)?;
        Ok(terms)
    }

    fn check_words(
        &self,
        measured: &[(&str, &Digest)],
        factors: &[String],
    ) -> Result<(), EvidenceError> {
        let options = self.options;
        if let Some(factor) = &options.factor
            && !factors.contains(factor)
        {
            return Err(EvidenceError::UnknownFactor {
                factor: factor.clone(),
                nearest: nearest(factor, factors),
                known: factors.to_vec(),
            });
        }
        let metrics = || -> BTreeSet<&String> {
            measured.iter().flat_map(|(_, digest)| digest.metrics.keys()).collect()
        };
        for metric in options.metrics.iter().chain(&options.primary) {
            known_word("metric", metric, metrics())?;
        }
        let levels = || measured.iter().flat_map(|(_, digest)| &digest.levels);
        if let Some(over) = &options.over {
            known_word("factor", over, levels().map(|level| &level.factor).collect())?;
        }
        if let Some(baseline) = &options.baseline {
            let wanted = |factor: &String| match &options.factor {
                Some(only) => only == factor,
                None => factors.contains(factor),
            };
            // A control is measured against its twin and is nobody's baseline.
            let real = levels().filter(|level| wanted(&level.factor) && level.twin.is_none());
            known_word("level", baseline, real.map(|level| &level.level).collect())?;
        }
        Ok(())
    }

    /// The smallest effect that matters in a metric, as a share: asked for, registered for the
    /// metric or for all others (`*`), else 5 % for latency percentiles and 2 % for throughput,
    /// CPU, time and the rest (D4).
    pub(crate) fn margin(&self, metric: &str) -> f64 {
        self.options.margin.unwrap_or_else(|| self.registered_margin(metric))
    }

    fn registered_margin(&self, metric: &str) -> f64 {
        let registered = &self.registered.margin;
        registered.get(metric).or_else(|| registered.get("*")).copied().unwrap_or_else(|| {
            if PERCENTILES.iter().any(|(name, _, _)| *name == metric) { 0.05 } else { 0.02 }
        })
    }

    /// Whether the margin of a metric is another one than was registered.
    pub(crate) fn margin_after(&self, metric: &str) -> bool {
        self.options.margin.is_some_and(|asked| asked != self.registered_margin(metric))
    }

    /// The primary metric of a run, and whether it was chosen after the run.
    pub(crate) fn primary(&self, digest: &Digest) -> (String, bool) {
        let registered = primary_of(digest);
        match &self.options.primary {
            Some(asked) if *asked != registered => (asked.clone(), true),
            _ => (registered, false),
        }
    }

    /// The baseline level of a factor, where it is not the first: asked for, else registered.
    pub(crate) fn baseline(&self, factor: &str) -> [Option<&str>; 2] {
        [self.options.baseline.as_deref(), self.registered.baseline.get(factor).map(String::as_str)]
    }

    /// The factor whose levels are the rows of a geometric mean.
    pub(crate) fn over(&self) -> Option<&str> {
        self.options.over.as_deref().or(self.registered.over.as_deref())
    }

    /// Whether more looks were taken than registered.
    pub(crate) fn extra_looks(&self) -> bool {
        self.standing.is_some_and(|standing| standing.extra)
    }

    /// Which look this is and what it may spend; nothing for a single look that needed no
    /// registration.
    fn look_note(&self) -> Option<String> {
        let looks = self.standing?.looks.max(1);
        let registered = self.registered.looks.unwrap_or(1);
        if looks == 1 && registered == 1 {
            return None;
        }
        let planned = match self.registered.looks {
            Some(registered) => format!("of {registered} registered"),
            None => "and only one is free".to_owned(),
        };
        let confidence = 100.0 * (1.0 - self.alpha);
        Some(format!(
            "look {looks} {planned}: alpha {:.4}, so that intervals are at {confidence:.2} %",
            self.alpha
        ))
    }

    /// What the reader must know about terms that were chosen with the data at hand.
    pub(crate) fn notes(&self, contrasts: &[Contrast]) -> Vec<String> {
        let flagged = |flag: &str| {
            contrasts.iter().any(|contrast| contrast.flags.iter().any(|known| known == flag))
        };
        let mut notes: Vec<String> = self.look_note().into_iter().collect();
        if flagged(PRIMARY_AFTER_DATA) {
            notes.push(PRIMARY_AFTER.to_owned());
        }
        if flagged(MARGIN_AFTER_DATA) {
            notes.push(MARGIN_AFTER.to_owned());
        }
        notes
    }
}

/// The primary metric is another one than was registered.
pub(crate) const PRIMARY_AFTER_DATA: &str = "primary_after_data";
/// The margin is another one than was registered.
pub(crate) const MARGIN_AFTER_DATA: &str = "margin_after_data";

/// Whether a metric can be better or worse at all.
pub(crate) fn is_contrasted(metric: &str) -> bool {
    !SHAPES.contains(&metric)
}

fn known_word(
    what: &'static str,
    word: &str,
    known: BTreeSet<&String>,
) -> Result<(), EvidenceError> {
    if known.iter().any(|candidate| *candidate == word) {
        return Ok(());
    }
    let known: Vec<String> = known.into_iter().cloned().collect();
    Err(EvidenceError::UnknownWord {
        what,
        word: word.to_owned(),
        nearest: nearest(word, &known),
        known,
    })
}

/// Keeps of a comparison what `metrics` and `group` ask for. It only hides: each word was found
/// with every control, correction and look in place, and stays what it was.
///
/// A group matches the name of a cell (`slow+64k`), of the combination (`*+64k`) or one level
/// of another factor (`64k`).
///
/// # Errors
/// [`EvidenceError::UnknownWord`] when the group matches nothing.
pub fn select(comparison: &mut Comparison, options: &CompareOptions) -> Result<(), EvidenceError> {
    let shown = |metric: &String| options.metrics.is_empty() || options.metrics.contains(metric);
    comparison.contrasts.retain(|contrast| shown(&contrast.metric));
    let tables = &mut comparison.tables;
    tables.geomeans.retain(|geomean| shown(&geomean.metric));
    tables.cells.retain(|row| shown(&row.metric));
    tables.sleep.retain(|row| shown(&row.metric));
    let Some(group) = &options.group else {
        return Ok(());
    };
    let words: BTreeMap<String, bool> = comparison
        .contrasts
        .iter()
        .flat_map(names_of)
        .chain(tables.cells.iter().flat_map(|row| names_of_cell(&row.cell)))
        .map(|name| (name.clone(), glob_matches(group, &name)))
        .collect();
    if !words.values().any(|matches| *matches) {
        let known: Vec<String> = words.into_keys().collect();
        return Err(EvidenceError::UnknownWord {
            what: "row, cell or level",
            word: group.clone(),
            nearest: nearest(group, &known),
            known,
        });
    }
    let matches = |names: Vec<String>| names.iter().any(|name| words.get(name) == Some(&true));
    comparison.contrasts.retain(|contrast| matches(names_of(contrast)));
    tables.cells.retain(|row| matches(names_of_cell(&row.cell)));
    let kept = &comparison.contrasts;
    tables.sleep.retain(|row| {
        kept.iter()
            .any(|one| (&one.factor, &one.level, &one.cell) == (&row.factor, &row.level, &row.cell))
    });
    Ok(())
}

/// Everything that a group may call a contrast.
fn names_of(contrast: &Contrast) -> Vec<String> {
    let mut names = vec![contrast.cell.replacen('*', &contrast.level, 1)];
    names.extend(names_of_cell(&contrast.cell));
    names
}

/// A cell and its levels.
fn names_of_cell(cell: &str) -> Vec<String> {
    let levels = cell.split('+').filter(|level| *level != "*");
    let mut names: Vec<String> = levels.map(str::to_owned).collect();
    if cell != "*" && !names.iter().any(|name| name == cell) {
        names.push(cell.to_owned());
    }
    names
}
