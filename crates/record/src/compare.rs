//! `assay compare --json` and `matrix.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plan::Skipped;
use crate::{Format, Validity};

/// All contrasts of a matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// `assay.comparison`.
    pub format: Format,
    /// Label.
    pub label: String,
    /// The contrasts, primary metric first within each.
    pub contrasts: Vec<Contrast>,
    /// Remarks on the matrix as a whole: no manifest, unpaired, undecidable, ...
    #[serde(default)]
    pub notes: Vec<String>,
    /// Incomplete or excluded runs, each with its reason.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
}

/// One level against the baseline in one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// The factor.
    pub factor: String,
    /// Baseline level (a control's twin).
    pub baseline: String,
    /// The level.
    pub level: String,
    /// The combination of the other factors: `*+1k`; `*` without others.
    pub cell: String,
    /// Metric name.
    pub metric: String,
    /// Unit of the two values.
    #[serde(default)]
    pub unit: String,
    /// Whether it is the primary metric.
    pub primary: bool,
    /// Pairs with both runs valid.
    pub pairs: u32,
    /// Median over the pairs' baseline runs.
    pub baseline_value: Option<f64>,
    /// Median over the pairs' level runs.
    pub level_value: Option<f64>,
    /// exp of the mean log-ratio, level / baseline.
    pub ratio: Option<f64>,
    /// Hodges-Lehmann estimate of the log-ratio as a percentage.
    pub effect_percent: Option<f64>,
    /// Exact Wilcoxon 95 % interval of the effect, percent; `None` under 6 pairs.
    pub interval_percent: Option<[f64; 2]>,
    /// Mean log-ratio.
    #[serde(default)]
    pub mean_log_ratio: Option<f64>,
    /// Standard deviation of the log-ratio.
    #[serde(default)]
    pub sd_log_ratio: Option<f64>,
    /// Whether both arms have the same identity.
    pub null: bool,
    /// `faster`, `slower`, `equivalent`, `inconclusive`, `void`; other metrics than speed use
    /// the same words for better and worse.
    pub verdict: String,
    /// `uncontrolled`, `odd_pairs`, `undecidable`, ...
    pub flags: Vec<String>,
    /// The null contrast that stands beside it: `null in *+1k`; `None` when uncontrolled.
    #[serde(default)]
    pub null_arm: Option<String>,
    /// Margin of the verdict, percent.
    #[serde(default)]
    pub margin_percent: Option<f64>,
    /// The smallest effect that these pairs would have shown with power 0.8, percent.
    #[serde(default)]
    pub minimum_detectable_percent: Option<f64>,
    /// Pairs that would resolve the margin with power 0.8.
    pub needed_pairs: Option<u32>,
    /// Log-ratio of each pair by block.
    #[serde(default)]
    pub log_ratios: Vec<(u32, f64)>,
    /// Runs of this contrast that do not count.
    pub left_out: Vec<LeftOut>,
}

/// A run that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Run directory.
    pub run: String,
    /// Why.
    pub reason: String,
}

/// `matrix.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// `assay.matrix`.
    pub format: Format,
    /// Label.
    pub label: String,
    /// The bench's name.
    #[serde(default)]
    pub bench: String,
    /// Runs planned, measured ones only.
    #[serde(default)]
    pub planned_runs: u32,
    /// Runs completed, measured ones only.
    #[serde(default)]
    pub completed_runs: u32,
    /// All run directories, warm-ups and incomplete ones included.
    pub runs: Vec<MatrixRun>,
    /// The contrasts.
    pub contrasts: Vec<Contrast>,
    /// Cells that were not run.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    /// Remarks.
    #[serde(default)]
    pub notes: Vec<String>,
    /// CPU of the parent over the matrix, ns; its wall time, ns.
    #[serde(default)]
    pub parent_cpu_ns: Option<u64>,
    /// Wall time of the matrix, ns.
    #[serde(default)]
    pub elapsed_ns: Option<u64>,
}

/// One run directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixRun {
    /// `runs/01-01-base`.
    pub path: String,
    /// Block.
    pub block: u32,
    /// Position.
    pub order: u32,
    /// Cell.
    pub cell: String,
    /// Levels by factor.
    pub levels: BTreeMap<String, String>,
    /// Validity; `None` for an incomplete directory.
    pub validity: Option<Validity>,
    /// `measured`, `warm_up` or `incomplete`.
    #[serde(default)]
    pub kind: String,
    /// Metric values by name, as in the digest.
    #[serde(default)]
    pub metrics: BTreeMap<String, crate::digest::Metric>,
}
