//! `assay plan --resolve --json`: whether a plan can see an effect, judged by a pilot's spread.

use serde::{Deserialize, Serialize};

use crate::Format;
use crate::compare::HostClass;

/// What a plan can see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// `assay.resolution`.
    pub format: Format,
    /// The bench's name.
    pub bench: String,
    /// Label of the pilot.
    pub pilot: String,
    /// The machines of the pilot: the answer holds for them.
    pub hosts: Vec<HostClass>,
    /// The effect that shall be seen, percent of the baseline.
    pub effect_percent: f64,
    /// Two-sided error.
    pub alpha: f64,
    /// Chance of seeing the effect when it is there.
    pub power: f64,
    /// `enough`: the planned pairs see it; `more_pairs`: `pairs_needed` would; `not_here`: no
    /// number of pairs that anybody would make does; `unknown`: the pilot has no spread.
    pub word: String,
    /// What each contrast of the pilot says.
    pub rows: Vec<ResolutionRow>,
    /// Pairs that the noisiest contrast needs.
    pub pairs_needed: Option<u32>,
    /// More pairs than this are out of reach.
    pub pairs_most: u32,
    /// The plan as it is.
    pub planned: PlanCost,
    /// The same plan with the pairs that are needed; absent when that is the plan as it is.
    #[serde(default)]
    pub needed: Option<PlanCost>,
    /// Price of an hour of the machines, in the currency of whoever gave it.
    #[serde(default)]
    pub price_per_h: Option<f64>,
    /// Spread, percent, at which `pairs_most` pairs would do.
    #[serde(default)]
    pub sd_wanted_percent: Option<f64>,
    /// Things a reader should know: a small pilot, no contrast, another primary metric.
    pub notes: Vec<String>,
}

/// What one contrast of the pilot says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolutionRow {
    /// `target: tomcat / nginx in *+1k`.
    pub contrast: String,
    /// The primary metric.
    pub metric: String,
    /// Pairs of the pilot.
    pub pairs: u32,
    /// Standard deviation of its log-ratios, percent.
    pub sd_percent: f64,
    /// Its upper 80 % bound, with which everything else is computed, percent.
    pub sd_upper_percent: f64,
    /// Pairs that see the effect.
    pub pairs_needed: u32,
    /// The smallest effect that the planned pairs see, percent; `None` under two of them.
    pub detectable_percent: Option<f64>,
}

/// What a plan of so many pairs takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlanCost {
    /// Blocks, each of which gives one pair to every contrast.
    pub pairs: u32,
    /// Time, ns; `None` when a window is a count.
    pub time_ns: Option<u64>,
    /// Disk, bytes.
    pub disk_bytes: u64,
    /// Price, where one was given and the time is known.
    pub price: Option<f64>,
}
