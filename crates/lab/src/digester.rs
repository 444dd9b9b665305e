//! The seam to the read side: how a finished run directory becomes a digest.

use std::path::Path;

use record::Validity;
use record::plan::{Compare, Gates};

/// The two forms of a digest, ready to be written.
#[derive(Debug, Clone)]
pub struct Digested {
    /// Content of `digest.json`.
    pub json: Vec<u8>,
    /// Content of `digest.md`.
    pub markdown: String,
    /// What may be believed of the run.
    pub validity: Validity,
}

/// Derives a digest from a run directory. Reads only.
pub trait Digester {
    /// The digest of `run_dir`, judged by `gates`; it repeats `compare`.
    ///
    /// # Errors
    /// A sentence that says which file could not be read.
    fn digest(&self, run_dir: &Path, gates: &Gates, compare: &Compare) -> Result<Digested, String>;
}
