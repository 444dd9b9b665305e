//! How a run directory becomes a digest: the read side behind the lab's seam.

use std::path::Path;

use lab::{Digested, Digester};
use record::plan::{Compare, Gates};

/// Digests with `evidence`, writes with `report`.
pub(crate) struct ReadSide;

impl Digester for ReadSide {
    fn digest(&self, run_dir: &Path, gates: &Gates, compare: &Compare) -> Result<Digested, String> {
        let digest =
            evidence::digest(run_dir, gates, compare).map_err(|error| error.to_string())?;
        let mut json = serde_json::to_vec_pretty(&digest).map_err(|error| error.to_string())?;
        json.push(b'\n');
        let markdown = report::digest_md(&digest);
        Ok(Digested { json, markdown, validity: digest.validity })
    }
}
