//! `assay host qualify --json`: whether this machine can see what a bench is about.

use serde::{Deserialize, Serialize};

use crate::Format;
use crate::host_check::HostStanding;
use crate::resolution::Resolution;

/// A null of one cell, held against a bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Qualification {
    /// `assay.qualification`.
    pub format: Format,
    /// The bench's name.
    pub bench: String,
    /// The cell that was run beside itself.
    pub cell: String,
    /// Label of the null.
    pub label: String,
    /// Grade of the machine.
    #[serde(default)]
    pub standing: Option<HostStanding>,
    /// The metric.
    pub metric: String,
    /// Pairs that were asked for.
    pub pairs_asked: u32,
    /// Pairs with both runs valid.
    pub pairs: u32,
    /// Mean of the log-ratios, percent: nothing differs, so that it should be near zero.
    pub mean_percent: Option<f64>,
    /// Standard deviation of the log-ratios, percent.
    pub sd_percent: Option<f64>,
    /// The bound on it, percent.
    pub bound_percent: f64,
    /// `holds`, `fails`, or `untold` without two valid pairs.
    pub word: String,
    /// What the planned matrix sees with this spread.
    pub resolution: Resolution,
}
