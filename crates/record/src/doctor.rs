//! `assay host doctor --json`: what of the machine goes along with the scatter of pairs.

use serde::{Deserialize, Serialize};

use crate::Format;
use crate::compare::HostClass;

/// The doctor's word on a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Doctor {
    /// `assay.doctor`.
    pub format: Format,
    /// Label.
    pub label: String,
    /// The machines.
    pub hosts: Vec<HostClass>,
    /// Seed of the permutations.
    pub seed: u64,
    /// Chance of naming a cause where there is none, for each contrast.
    pub alpha: f64,
    /// One for each contrast of a primary metric.
    pub contrasts: Vec<DoctorRow>,
}

/// What was found of one contrast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DoctorRow {
    /// `target: tomcat / nginx in *+1k`.
    pub contrast: String,
    /// The primary metric.
    pub metric: String,
    /// Pairs whose runs tell of the machine.
    pub pairs: u32,
    /// Standard deviation of their log-ratios, percent.
    #[serde(default)]
    pub sd_percent: Option<f64>,
    /// `named`: something explains; `nothing`: nothing of what was recorded does; `too_few`: fewer
    /// pairs than it takes.
    pub word: String,
    /// The causes, the one that explains most first.
    pub causes: Vec<Cause>,
    /// What did not vary or was not recorded, by name.
    pub untold: Vec<String>,
}

/// One difference between the machine under the two runs of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// `steal`, `temperature`, ...
    pub name: String,
    /// Share of the variance, by ranks, that it explains beyond the causes before it.
    pub explained_share: f64,
    /// Whether the figure rises with it.
    pub rises: bool,
    /// Chance of as large a share for the best of all causes, by permutation.
    pub p: f64,
    /// Whether it is said to explain.
    pub explains: bool,
}
