//! Every doubt in one line with its remedy: flags by contrast, what more pairs would show, what
//! was left out by reason, the drift of the machine, then the notes.

use std::collections::BTreeMap;

use record::compare::{Contrast, Drift, LeftOut, Resolve, Tables};

use crate::compare::Show;
use crate::text::{count, interval_of, signed_percent};

/// Runs of one reason that are named before the rest is counted.
const MOST_NAMED: usize = 4;

/// All doubts of a comparison, in the order in which they weigh.
pub(crate) fn doubts(
    contrasts: &[Contrast],
    show: Show,
    left_out: &[LeftOut],
    tables: &Tables,
    notes: &[String],
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut by_flag: BTreeMap<(usize, &str), Vec<String>> = BTreeMap::new();
    for contrast in contrasts.iter().filter(|c| show.shows(c)) {
        let name = if show == Show::Primary {
            format!("{} in {}", contrast.level, contrast.cell)
        } else {
            format!("{} of {} in {}", contrast.metric, contrast.level, contrast.cell)
        };
        for flag in &contrast.flags {
            by_flag.entry((flag_place(flag), flag)).or_default().push(name.clone());
        }
        lines.extend(more_pairs(contrast, &name));
    }
    for ((_, flag), names) in by_flag {
        if !SAID_IN_A_NOTE.contains(&flag) {
            lines.push(format!("{flag} ({}): {}", some(&names), explain(flag)));
        }
    }
    lines.extend(tables.drifts.iter().filter(|drift| drift.drifted).map(drift_line));
    let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
    let all = contrasts
        .iter()
        .filter(|contrast| show.shows(contrast))
        .flat_map(|contrast| &contrast.left_out)
        .chain(left_out);
    for left in all {
        match by_reason.iter_mut().find(|(reason, _)| *reason == left.reason) {
            Some((_, runs)) if runs.contains(&left.run) => {}
            Some((_, runs)) => runs.push(left.run.clone()),
            None => by_reason.push((&left.reason, vec![left.run.clone()])),
        }
    }
    for (reason, runs) in by_reason {
        lines.push(format!("left out {}: {reason}", some(&runs)));
    }
    lines.extend(notes.iter().cloned());
    lines
}

/// What more pairs would show, for a contrast that could not decide.
fn more_pairs(contrast: &Contrast, name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if contrast.verdict != "inconclusive" || contrast.null {
        return lines;
    }
    if let Some(needed) = contrast.needed_pairs {
        let seen = contrast
            .minimum_detectable_percent
            .map(|percent| format!("; these {} could show {percent:.2} %", contrast.pairs))
            .unwrap_or_default();
        let margin = contrast.margin_percent.unwrap_or_default();
        lines.push(format!(
            "inconclusive ({name}): an effect of {margin} % needs about {needed} pairs{seen}"
        ));
    }
    if let Some(resolve) = &contrast.resolve {
        lines.push(format!("to resolve ({name}): {}", resolve_line(resolve)));
    }
    lines
}

/// What it would take to know a mean to half of itself.
pub(crate) fn resolve_line(resolve: &Resolve) -> String {
    let cost = |pairs: u64| {
        let hours = resolve
            .pair_ns
            .map(|ns| format!(" ({:.2} h)", pairs as f64 * ns as f64 / 3.6e12))
            .unwrap_or_default();
        format!("{}{hours}", count(pairs))
    };
    format!(
        "pairs that know the mean {} at sd {:.2} % to half of itself: {} at one standard error, {} \
         at 95 %",
        signed_percent(resolve.mean_percent),
        resolve.sd_percent,
        cost(resolve.pairs_one_se),
        cost(resolve.pairs_95),
    )
}

/// What a drift of the baseline means for the figures.
fn drift_line(drift: &Drift) -> String {
    let since = drift.since_block.map_or_else(
        || "over the matrix".to_owned(),
        |block| format!("over the matrix, a step at block {block}"),
    );
    let meaning = if drift.affected.is_empty() {
        "every cell has runs in the same blocks: contrasts hold, values of different blocks do \
         not compare"
            .to_owned()
    } else {
        format!("not interleaved with it, and in doubt: {}", some(&drift.affected))
    };
    format!(
        "drift ({}): {} changed by {} {} of its first block {since}; {meaning}",
        drift.cell,
        drift.metric,
        signed_percent(drift.change_percent.value),
        interval_of(drift.change_percent.interval),
    )
}

/// A few names, and how many more there are.
pub(crate) fn some(names: &[String]) -> String {
    let mut text = names.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST_NAMED {
        text.push_str(&format!(" and {} more", names.len() - MOST_NAMED));
    }
    text
}

/// Flags that a note explains once for the whole table.
const SAID_IN_A_NOTE: [&str; 3] = ["primary_after_data", "margin_after_data", "generator_cluster"];

/// Flags in the order of their weight.
const FLAGS: [(&str, &str); 16] = [
    (
        "manipulation_failed",
        "the factor did not do what it was meant to: its table is withheld; check the option",
    ),
    (
        "null_differs",
        "a thing differs from itself here: this machine's noise is larger than the margin; quieten it",
    ),
    (
        "positive_missed",
        "a planted slowdown was not seen in this metric: add pairs, or quieten the machine",
    ),
    ("undecidable", "an arm does not say which build it was: run from a clean checkout"),
    ("control_differs", "this control is not the same thing as its twin: see both identities"),
    ("uncontrolled", "no null contrast of 6 pairs beside it: add `null` to the levels"),
    ("extra_looks", "more looks at the data than registered: the error rate is above 5 %"),
    (
        "not_quiet",
        "not resolvable here; machine not quiet: quieten or change it before adding pairs",
    ),
    (
        "unresolved",
        "the effect lies within what identical runs differ by here: quieten the machine",
    ),
    (
        "few_pairs",
        "no interval under 6 pairs, nor under more at a stricter look: raise `matrix.blocks`",
    ),
    (
        "heavy_tails",
        "interval of ranks and of the mean disagree: look for outliers among the pairs",
    ),
    (
        "not_after_holm",
        "among so many metrics such a difference is expected by chance: make it primary and run anew",
    ),
    ("one_order", "one arm always ran first, so drift loads the other: use `order = \"balanced\"`"),
    ("odd_pairs", "an odd number of pairs lets drift load one arm: use an even number of blocks"),
    ("real_but_small", "a difference is there, and smaller than the margin"),
    (
        "layout_noise",
        "so small an effect may be the place of code in memory: vary it with `matrix.layout`",
    ),
];

fn flag_place(flag: &str) -> usize {
    FLAGS.iter().position(|(known, _)| *known == flag).unwrap_or(FLAGS.len())
}

fn explain(flag: &str) -> &'static str {
    FLAGS.iter().find(|(known, _)| *known == flag).map_or("see METHODOLOGY.md", |(_, text)| text)
}
