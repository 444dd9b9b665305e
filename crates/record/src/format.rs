//! The name and version that every JSON artefact starts with.

use serde::{Deserialize, Serialize};

/// Identifies an artefact: `assay.load`, `assay.mock`, `assay.plan`, ... and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// The artefact's name, for example `assay.load`.
    pub name: String,
    /// Incremented when an old reader could misread a new file.
    pub version: u32,
}

impl Format {
    /// A format of the first version.
    #[must_use]
    pub fn v1(name: &str) -> Self {
        Self { name: name.to_owned(), version: 1 }
    }
}
