//! Whether the figures of a matrix may be quoted as figures (K-126).

use serde::{Deserialize, Serialize};

/// What may be said outside of the house.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quotability {
    /// `publishable`: absolute figures may be quoted; `directional`: the shape alone.
    pub word: String,
    /// What is missing for `publishable`, one sentence each; empty when nothing is.
    pub lacks: Vec<String>,
    /// Claims that may not be made at all from these runs, whatever the word.
    #[serde(default)]
    pub refused: Vec<String>,
}
