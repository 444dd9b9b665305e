//! The tables of `assay compare` on the terminal: one row for each contrast of the primary
//! metric, identical runs first, then every doubt in a line of its own with what to try.

use record::compare::{Comparison, Contrast, Tables};

use crate::contrasts::{details, geomeans, metric_tables, pair_tables};
use crate::doubts::{doubts, some};
use crate::grid::wrapped;
use crate::tables as beside;

/// Which metrics a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Show {
    /// The primary metric of each contrast.
    #[default]
    Primary,
    /// Every metric of the comparison.
    Metrics,
    /// Every metric, with what stands behind each verdict and every pair.
    All,
}

impl Show {
    /// Whether a contrast is shown at all.
    pub(crate) fn shows(self, contrast: &Contrast) -> bool {
        self != Self::Primary || contrast.primary
    }
}

/// Renders a comparison for the terminal, its tables at most 100 columns wide: the machine and
/// what the arms differ in at the top, then level against baseline, both absolute values, ratio,
/// effect with its interval, pairs and verdict; geometric means; then flags, what was left out
/// and the notes, one line each.
#[must_use]
pub fn comparison_table(comparison: &Comparison, show: Show) -> String {
    let tables = &comparison.tables;
    let contrasts: Vec<&Contrast> =
        comparison.contrasts.iter().filter(|contrast| show.shows(contrast)).collect();
    let mut text = format!("label {}\n", comparison.label);
    for line in hosts(tables).into_iter().chain(arms(&contrasts)) {
        text.push_str(&wrapped(&line));
    }
    text.push_str(&beside::before_text(tables));
    let mut grids = metric_tables(&contrasts, &tables.hosts);
    if show == Show::All {
        grids.extend(details(&contrasts, &tables.hosts, false));
        grids.extend(pair_tables(&contrasts, &tables.hosts));
    }
    grids.extend(geomeans(&tables.geomeans, &tables.hosts));
    for grid in grids {
        text.push_str(&format!("\n{}", grid.terminal()));
    }
    let doubts =
        doubts(&comparison.contrasts, show, &comparison.left_out, tables, &comparison.notes);
    if !doubts.is_empty() {
        text.push('\n');
        for doubt in doubts {
            text.push_str(&format!("- {doubt}\n"));
        }
    }
    text.push_str(&beside::after_text(tables, &comparison.contrasts, show));
    text
}

/// One line for each machine, for each grade, and what the figures may be used for.
pub(crate) fn hosts(tables: &Tables) -> Vec<String> {
    let machines = tables.hosts.iter();
    let mut lines: Vec<String> =
        machines.map(|host| format!("host {}: {}", host.id, host.description)).collect();
    lines.extend(tables.standings.iter().map(|standing| {
        let by = if standing.probes { "" } else { " (by facts alone)" };
        format!("host grade {}{by}", standing.headline())
    }));
    if let Some(quotability) = &tables.quotability {
        // The grade of the host has its own line already.
        let lacks = quotability.lacks.iter().filter(|lack| !lack.starts_with("the host is "));
        let lacks: Vec<&str> = lacks.map(String::as_str).collect();
        let separator = if lacks.is_empty() { "" } else { ": " };
        lines.push(format!("quotable as {}{separator}{}", quotability.word, lacks.join("; ")));
        lines.extend(quotability.refused.iter().map(|claim| format!("not to be claimed: {claim}")));
    }
    if let Some(calibrated) = &tables.calibrated {
        lines.extend(crate::calibration::of_matrix(calibrated));
    }
    lines
}

/// What the factors set, and what else the arms differ in: one line for each pair of arms that
/// has something to say.
pub(crate) fn arms(contrasts: &[&Contrast]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for contrast in contrasts {
        let arms = format!("{}: {} / {}", contrast.factor, contrast.level, contrast.baseline);
        if !contrast.sets.is_empty() && !contrast.null {
            lines.push(format!("{arms} sets {}", some(&contrast.sets)));
        }
        if !contrast.differs.is_empty() {
            let differs = contrast.differs.join("; ");
            lines.push(format!("{arms} differ in more, baseline and level: {differs}"));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    lines
}
