//! What the figures choose from a page: groups of cells on one scale, runs that count, primary
//! metrics, and who went first in a pair.

use std::collections::{BTreeMap, BTreeSet};

use record::State;
use record::compare::{Contrast, MatrixRun};
use record::page::Page;

/// Cells whose figures share a scale: those that agree in the factors that are rows.
pub(crate) struct Group<'a> {
    /// Levels of the rows; empty without any.
    pub(crate) rows: &'a str,
    /// The cells, in the order of the plan.
    pub(crate) cells: Vec<&'a str>,
}

impl Group<'_> {
    /// The group's name after `what`: `p99, scenario=read`.
    pub(crate) fn name(&self, what: &str) -> String {
        if self.rows.is_empty() { what.to_owned() } else { format!("{what}, {}", self.rows) }
    }
}

/// The groups of a page in the order of their first cell, none larger than `most` cells.
pub(crate) fn groups(page: &Page, most: usize) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for cell in &page.cells {
        let open = groups
            .iter_mut()
            .rev()
            .find(|group| group.rows == cell.rows)
            .filter(|group| group.cells.len() < most);
        match open {
            Some(group) => group.cells.push(&cell.name),
            None => groups.push(Group { rows: &cell.rows, cells: vec![&cell.name] }),
        }
    }
    groups
}

/// The name of a run's directory.
pub(crate) fn run_name(run: &MatrixRun) -> &str {
    run.path.trim_start_matches("runs/")
}

/// The measured runs, each once: an attempt that another superseded is not among them.
pub(crate) fn measured(page: &Page) -> Vec<&MatrixRun> {
    let superseded: BTreeSet<&str> = page
        .left_out
        .iter()
        .filter(|left| left.reason.starts_with("superseded"))
        .map(|left| left.run.as_str())
        .collect();
    let counts = |run: &&MatrixRun| run.kind == "measured" && !superseded.contains(run_name(run));
    page.matrix.runs.iter().filter(counts).collect()
}

/// The primary metrics in the order of their contrasts; without a contrast the first of the
/// usual ones that was measured.
pub(crate) fn primaries(page: &Page) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for contrast in page.matrix.contrasts.iter().filter(|contrast| contrast.primary) {
        if !names.contains(&contrast.metric.as_str()) {
            names.push(&contrast.metric);
        }
    }
    if names.is_empty() {
        let measured =
            |name: &&str| page.matrix.runs.iter().any(|run| run.metrics.contains_key(*name));
        names.extend(["p99", "p50", "throughput", "time"].into_iter().find(measured));
    }
    names
}

/// Unit and direction of a metric, by the runs that have it.
pub(crate) fn nature<'a>(page: &'a Page, metric: &str) -> (&'a str, &'static str) {
    match page.matrix.runs.iter().find_map(|run| run.metrics.get(metric)) {
        Some(known) if known.higher_is_better => (&known.unit, "higher is better"),
        Some(known) => (&known.unit, "lower is better"),
        None => ("", "unknown direction"),
    }
}

/// What may be believed of one figure of a run: the worse of the run's state and its own.
pub(crate) fn state_of(run: &MatrixRun, metric: &str) -> State {
    let own = run.metrics.get(metric).map_or(State::Void, |metric| metric.state);
    let whole = run.validity.as_ref().map_or(State::Void, |validity| validity.state);
    // A run whose other figures are bounded leaves this one as it is; a void run does not.
    if whole == State::Void { State::Void } else { own }
}

/// Names of the gates and flags of a run, each once.
pub(crate) fn gates(run: &MatrixRun) -> String {
    let Some(validity) = &run.validity else { return String::new() };
    let mut names: Vec<&str> = validity.reasons.iter().map(|reason| reason.gate.as_str()).collect();
    names.dedup();
    names.join(", ")
}

/// `slower / base`, and the combination of the other factors where there are any.
pub(crate) fn contrast_name(contrast: &Contrast) -> String {
    let arms = format!("{} / {}", contrast.level, contrast.baseline);
    if contrast.cell == "*" { arms } else { format!("{arms} in {}", contrast.cell) }
}

/// What a contrast is beside a question: `null control`, `positive control`, or nothing.
pub(crate) fn control(contrast: &Contrast) -> Option<String> {
    match contrast.positive {
        Some(share) => Some(format!("positive control, slowed by {}", crate::text::share(share))),
        None if contrast.null => Some("null control".to_owned()),
        None => None,
    }
}

/// The primary contrasts: questions first, then the null controls, then the positive ones.
pub(crate) fn primary_contrasts(page: &Page) -> Vec<&Contrast> {
    let mut contrasts: Vec<&Contrast> =
        page.matrix.contrasts.iter().filter(|contrast| contrast.primary).collect();
    contrasts.sort_by_key(|contrast| (contrast.positive.is_some(), contrast.null));
    contrasts
}

/// Which arm of a pair went first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    /// The baseline.
    Baseline,
    /// The level.
    Level,
}

/// The position of every cell in every block, to tell who went first.
pub(crate) struct Positions<'a>(BTreeMap<(&'a str, u32), u32>);

impl<'a> Positions<'a> {
    /// The positions of the measured runs. Attempts of one run share its position.
    pub(crate) fn of(page: &'a Page) -> Self {
        let runs = page.matrix.runs.iter().filter(|run| run.kind == "measured");
        Self(runs.map(|run| ((run.cell.as_str(), run.block), run.order)).collect())
    }

    /// Who went first in the pair of a block; `None` when a run of it is not known.
    pub(crate) fn first(&self, contrast: &Contrast, block: u32) -> Option<First> {
        let position = |level: &str| {
            let cell: Vec<&str> = contrast
                .cell
                .split('+')
                .map(|part| if part == "*" { level } else { part })
                .collect();
            self.0.get(&(cell.join("+").as_str(), block)).copied()
        };
        let (baseline, level) = (position(&contrast.baseline)?, position(&contrast.level)?);
        Some(if baseline < level { First::Baseline } else { First::Level })
    }
}
