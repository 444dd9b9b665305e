//! What `matrix.html` shows: the matrix and what no digest keeps, read again from the runs.
//!
//! No artefact: nothing writes it to a file. The read side fills it in, the report draws it.

use crate::Effect;
use crate::compare::{LeftOut, Matrix};

/// The percentiles of a distribution on the page, as shares.
pub const PERCENTILES: [f64; 5] = [0.50, 0.90, 0.99, 0.999, 0.9999];

/// Everything on the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Runs, contrasts, tables and notes.
    pub matrix: Matrix,
    /// Incomplete, superseded or excluded runs, each with its reason.
    pub left_out: Vec<LeftOut>,
    /// Builds of assay that made the runs: `assay 0.1.0, commit 0123abcd`. More than one is a
    /// doubt.
    pub builds: Vec<String>,
    /// The cells in the order of the plan.
    pub cells: Vec<PageCell>,
    /// Machines that took part: name, CPU, cores, memory, kernel. More than one is a doubt.
    pub machines: Vec<String>,
    /// Latency of each cell, in the order of the cells.
    pub distributions: Vec<Distribution>,
    /// Cells beyond the bound, whose distribution was not read.
    pub distributions_left: u32,
    /// Per-second series of the runs that are shown, in the order of blocks.
    pub series: Vec<RunSeries>,
    /// Runs whose series is not shown, by the bound.
    pub series_left: u32,
    /// Files that could not be read: a sentence each.
    pub notes: Vec<String>,
}

/// A cell and the rows it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageCell {
    /// Its name.
    pub name: String,
    /// Its levels of the factors that are rows and never compared: `scenario=read, load=low`.
    /// Figures of one scale are drawn for the cells that agree in it. Empty without such factors.
    pub rows: String,
}

/// Latency of one cell, from the merged histograms of its valid runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The cell.
    pub cell: String,
    /// Runs that are merged.
    pub runs: u32,
    /// Runs of the cell that are not: latency not valid, or histogram unreadable.
    pub left_out: u32,
    /// Successful requests.
    pub samples: u64,
    /// One for each of [`PERCENTILES`].
    pub points: Vec<DistributionPoint>,
}

/// One percentile of a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistributionPoint {
    /// The percentile as a share: 0.999 for p99.9.
    pub percentile: f64,
    /// Of the merged histogram, ns; `None` with fewer samples than needed.
    pub value_ns: Option<u64>,
    /// Samples that it needs for a two-sided 95 % interval.
    pub needed: u64,
    /// Smallest and largest of the single runs that have enough samples, ns.
    pub runs_ns: Option<[u64; 2]>,
}

/// The seconds of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSeries {
    /// Run directory.
    pub run: String,
    /// Block, from 1.
    pub block: u32,
    /// Position in the block, from 1.
    pub order: u32,
    /// The cell.
    pub cell: String,
    /// Whether a gate tripped in it.
    pub doubtful: bool,
    /// Whole seconds of the window, one entry each from second 0.
    pub seconds: Vec<SecondFigures>,
    /// Gates and flags with the second at which they broke, if they name one.
    pub marks: Vec<SeriesMark>,
}

/// One second of a window, by the second in which a request was due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SecondFigures {
    /// Successes.
    pub succeeded: u64,
    /// Failures.
    pub failed: u64,
    /// Median latency, ns; `None` with too few samples.
    pub p50_ns: Option<u64>,
    /// 99th percentile, ns; `None` with too few samples.
    pub p99_ns: Option<u64>,
}

/// A gate or a flag of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesMark {
    /// Its name.
    pub gate: String,
    /// What it does.
    pub effect: Effect,
    /// Second of the window, from 0.
    pub second: Option<u64>,
    /// A sentence.
    pub detail: String,
}

impl Distribution {
    /// Percentiles that lack samples, as people write them: `p99.99`.
    #[must_use]
    pub fn lacking(&self) -> Vec<String> {
        let lacking = self.points.iter().filter(|point| point.value_ns.is_none());
        lacking.map(|point| percentile_name(point.percentile)).collect()
    }
}

/// The name of a percentile given as a share: `p99.9`.
#[must_use]
pub fn percentile_name(percentile: f64) -> String {
    let text = format!("{:.2}", percentile * 100.0);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}
