//! Files that carry their own SHA-256: what outlives a label must show that nobody changed it.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::layout::{self, ReadError};

/// A sealed file that may not be used.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It was changed after it was made.
    #[error("`{path}` does not have the SHA-256 that it states: it was changed; make it anew")]
    Changed {
        /// The file.
        path: String,
    },
}

/// An artefact with a field for its hash.
pub trait Sealed: Clone + Serialize + DeserializeOwned {
    /// SHA-256 of the compact JSON with this field empty, lower-case hex.
    fn seal(&mut self) -> &mut String;

    /// The same with its own hash in it.
    #[must_use]
    fn sealed(mut self) -> Self {
        self.seal().clear();
        // Serialising artefacts cannot fail; nothing then is a hash that matches nothing.
        let bytes = serde_json::to_vec(&self).unwrap_or_default();
        *self.seal() = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        self
    }

    /// Reads one and checks its hash.
    ///
    /// # Errors
    /// Unreadable, another shape, or changed.
    fn read(path: &Path) -> Result<Self, SealError> {
        let mut found: Self = layout::read_json(path)?;
        let mut anew = found.clone().sealed();
        if found.seal() == anew.seal() {
            Ok(found)
        } else {
            Err(SealError::Changed { path: path.display().to_string() })
        }
    }
}
