//! Who we are and where: facts gathered once for a matrix.

use std::collections::BTreeMap;
use std::path::PathBuf;

use record::meta::{Build, HostFacts, ProcessIdentity};

/// Facts that do not change between the runs of a matrix.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) assay: PathBuf,
    pub(crate) build: Build,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) host: HostFacts,
    pub(crate) parent: ProcessIdentity,
}

impl Facts {
    pub(crate) fn gather(assay: PathBuf, build: Build, options: BTreeMap<String, String>) -> Self {
        let options = record::redact::environment(&options);
        let host = observe::host_facts();
        let parent = observe::process_identity(std::process::id()).unwrap_or_default();
        Self { assay, build, options, host, parent }
    }
}
