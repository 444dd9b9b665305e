//! Which build this is.

use std::path::{Path, PathBuf};

use record::meta::Build;

use crate::exit::Failure;

/// Version with commit and dirty mark.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("ASSAY_COMMIT"), ")");

/// The path of the running program.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot find our own program: {error}")))
}

/// Version and commit, without the hash of the program.
pub(crate) fn stamp() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("ASSAY_COMMIT").to_owned(),
        sha256: String::new(),
    }
}

/// The stamp that goes into every run.
pub(crate) fn build(program: &Path) -> Build {
    Build {
        // An unreadable program shows as an empty hash, which comparisons call undecidable.
        sha256: observe::sha256_file(program).unwrap_or_default(),
        ..stamp()
    }
}
