//! The difference of two profiles or of two class histograms: `assay diff A B --json`.
//!
//! Absolute figures come first. Shares stand beside them only when sites that nothing touched
//! have the same absolute figures in both: when a total falls, every share of what is left rises.

use serde::{Deserialize, Serialize};

use crate::Format;

/// The difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileDiff {
    /// `assay.profile_diff`.
    pub format: Format,
    /// The earlier side.
    pub before: Side,
    /// The later side.
    pub after: Side,
    /// A second run of the earlier side, for the spread.
    #[serde(default)]
    pub null: Option<Side>,
    /// One for each kind of sample and way to group it.
    pub views: Vec<View>,
    /// Figures of the collector, where both sides have them.
    #[serde(default)]
    pub figures: Vec<FigureChange>,
    /// What cannot be compared, with the reason.
    #[serde(default)]
    pub absent: Vec<String>,
    /// What a reader must know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One of the files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Side {
    /// As it was given.
    pub file: String,
    /// `jfr`, `collapsed`, `gc_log` or `class_histogram`.
    pub kind: String,
    /// Recorded span, where it is known.
    pub span_ns: Option<u64>,
    /// Operations that the program did meanwhile, where they are known.
    pub operations: Option<u64>,
    /// JDK, where it is known.
    pub jdk: Option<String>,
    /// What is wrong with the file.
    pub faults: Vec<String>,
}

/// A figure of the collector on both sides. A share stands beside the absolute figure: when less
/// is allocated, the collector's share of the time may rise though its time falls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FigureChange {
    /// What: `pauses`, `time in pauses`, `longest pause`, `lowest heap after a collection`.
    pub name: String,
    /// `count`, `ns`, `bytes`.
    pub unit: String,
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
    /// Of the span before; times only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_before: Option<f64>,
    /// Of the span after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_after: Option<f64>,
}

/// One way to look at both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// `cpu`, `allocation`, `heap`.
    pub what: String,
    /// `site`, `type`, `frame`, `class`.
    pub by: String,
    /// `samples`, `bytes`, `ns`.
    pub unit: String,
    /// How long a sample stands for, ns, where that is known.
    #[serde(default)]
    pub interval_ns: Option<u64>,
    /// The whole.
    pub total: Change,
    /// How far figures of equal runs differ.
    pub spread: Spread,
    /// Untouched sites that were named.
    #[serde(default)]
    pub controls: Vec<Control>,
    /// What the controls allow.
    pub shares: Shares,
    /// Changes beyond the spread, then the others; within both the largest absolute change first.
    pub rows: Vec<Change>,
    /// Rows that are not listed.
    pub rest_rows: u64,
    /// Rows that a list of the largest had before and has no more.
    #[serde(default)]
    pub left: Vec<Change>,
    /// Rows that it has now and had not before.
    #[serde(default)]
    pub entered: Vec<Change>,
    /// Length of that list.
    pub top: u64,
    /// What keeps these rows from meaning what they seem to.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A figure on both sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// Site, type, frame or class.
    pub name: String,
    /// Before, in the view's unit; 0 is nothing seen.
    pub before: u64,
    /// After.
    pub after: u64,
    /// Before per operation, in ns or bytes where the unit allows, else in samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_per_operation: Option<f64>,
    /// After per operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_per_operation: Option<f64>,
    /// Change that the spread explains, either way, in the unit of `before`, after scaling to
    /// equal operations; absent when the spread is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// Whether the change is beyond the spread of equal runs; never without a null.
    pub marked: bool,
    /// Share of the whole before; only when the controls hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_before: Option<f64>,
    /// Share of the whole after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_after: Option<f64>,
    /// Instances before, of a class histogram.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances_before: Option<u64>,
    /// Instances after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances_after: Option<u64>,
}

/// How far figures of equal runs differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spread {
    /// `null`: from two runs of one side. `poisson`: from the counts alone, which is the least that
    /// it can be; nothing is marked. `unknown`: nothing is marked either. `counted`: there is none.
    pub how: String,
    /// Variance over that of independent samples, at least 1; with `null` of a file without
    /// samples, bytes of one sample.
    pub dispersion: f64,
    /// Standard deviations at which a change is marked.
    pub deviations: f64,
}

/// An untouched site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Control {
    /// As it was named.
    pub site: String,
    /// Its figure: samples with it anywhere in the stack; of types the type's.
    pub change: Change,
    /// `holds`, `differs` or `too few samples`.
    pub verdict: String,
}

/// Whether shares may be compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shares {
    /// No control was named: only absolute figures are shown.
    #[default]
    NoControls,
    /// All controls hold.
    Compared,
    /// A control differs or has too few samples: shares are refused.
    Refused,
}
