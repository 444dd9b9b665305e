//! `assay compare --tables A B --json`: two labels side by side, of which the second differs from
//! the first in what one arm is.

use serde::{Deserialize, Serialize};

use crate::Format;
use crate::compare::Estimate;
use crate::meta::Build;

/// Two labels side by side. All percentages are changes of the first-named: of the baseline for
/// an effect, of label A for a drift and for a difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TwoLabels {
    /// `assay.two_labels`.
    pub format: Format,
    /// The first label.
    pub a: Half,
    /// The second.
    pub b: Half,
    /// Every contrast that both have, the primary metric first within each.
    pub rows: Vec<TwoLabelsRow>,
    /// The change of every arm that nothing touched: drift between the two sessions.
    pub drifts: Vec<SessionDrift>,
    /// Spread of the untouched arms by level: within a run, between runs, between the labels.
    #[serde(default)]
    pub variances: Vec<crate::compare::Variance>,
    /// Contrasts that only one of them has, and other remarks.
    pub notes: Vec<String>,
}

/// Where and when one label was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Half {
    /// The label.
    pub label: String,
    /// Host name.
    pub host: String,
    /// Boot id.
    pub boot_id: Option<String>,
    /// The tool.
    pub assay: Build,
    /// Measured windows, as text: `30.0 s`.
    pub windows: Vec<String>,
    /// Measured runs.
    pub runs: u32,
    /// Start of the first run, UTC.
    pub started_utc: String,
}

/// One contrast in both labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TwoLabelsRow {
    /// The factor.
    pub factor: String,
    /// Baseline level.
    pub baseline: String,
    /// The level.
    pub level: String,
    /// The combination of the other factors.
    pub cell: String,
    /// The metric.
    pub metric: String,
    /// Whether it is the primary metric.
    pub primary: bool,
    /// The arms that are not the same thing in both labels.
    pub changed: Vec<String>,
    /// Pairs in A and in B.
    pub pairs: [u32; 2],
    /// Change of level against baseline in A, by the mean log-ratio, with its t-interval.
    pub effect_a_percent: Option<Estimate>,
    /// The same in B.
    pub effect_b_percent: Option<Estimate>,
    /// What the change did: ratio in B over ratio in A, errors propagated. Withheld when the
    /// halves are not comparable.
    pub difference_percent: Option<Estimate>,
    /// The untouched arm by which comparability was judged.
    pub untouched: Option<String>,
    /// Its change from A to B.
    pub drift_percent: Option<Estimate>,
    /// The most that it may have drifted: half of the difference, or half of what the pairs can
    /// resolve where that is larger.
    pub drift_bound_percent: Option<f64>,
    /// `comparable` or `not_comparable`.
    pub word: String,
    /// Why not, when not.
    #[serde(default)]
    pub reason: Option<String>,
    /// Always `composed`: the figure comes from two tables.
    pub kind: String,
}

/// The change of an untouched arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionDrift {
    /// The cell.
    pub cell: String,
    /// The metric.
    pub metric: String,
    /// Unit of the values.
    pub unit: String,
    /// Median in A.
    pub a: f64,
    /// Median in B.
    pub b: f64,
    /// Valid runs in A and in B.
    pub runs: [u32; 2],
    /// Change from A to B by the means of the logarithms, percent of A.
    pub change_percent: Estimate,
}
