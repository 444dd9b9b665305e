//! Frozen tables: what a label's table said when it was made, kept beside the digests, so that a
//! later derivation that says something else can show the difference.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Format;
use crate::meta::Build;

/// The derived table of a label against the one that was archived with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrozenCheck {
    /// `frozen/2`.
    pub frozen: String,
    /// Version and commit that derived the frozen table: `0.1.0 (0123abcd)`.
    pub by: String,
    /// Whether the same build derived this one.
    pub same_build: bool,
    /// Figures that differ.
    pub differences: Vec<FrozenDifference>,
    /// Digests that are not the ones the frozen table was derived from: changed, added, gone.
    pub inputs: Vec<String>,
}

/// A figure that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenDifference {
    /// Which: `target: slow / base in *, throughput: effect_percent`.
    pub what: String,
    /// In the frozen table.
    pub frozen: String,
    /// Now.
    pub now: String,
}

/// `frozen/<n>/inputs.json`: what a frozen table was derived from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrozenInputs {
    /// `assay.frozen_inputs`.
    pub format: Format,
    /// The build that derived it.
    pub assay: Build,
    /// When, UTC.
    pub at_utc: String,
    /// SHA-256 of each digest that was read, by run directory.
    pub digests: BTreeMap<String, String>,
}
