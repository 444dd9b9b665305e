//! Who we are and where: facts gathered once for a matrix.

use std::collections::BTreeMap;
use std::path::PathBuf;

use record::meta::{Build, HostFacts, ProcessIdentity};
use record::plan::Cpus;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Facts that do not change between the runs of a matrix.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) assay: PathBuf,
    pub(crate) build: Build,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) host: HostFacts,
    pub(crate) parent: ProcessIdentity,
    /// Cores that the parent was given, before it placed itself.
    cores: Vec<u32>,
}

impl Facts {
    pub(crate) fn gather(
        assay: PathBuf,
        build: Build,
        options: BTreeMap<String, String>,
        parent_cpus: &[u32],
    ) -> Self {
        let cores = place_parent(parent_cpus);
        let options = record::redact::environment(&options);
        let host = observe::host_facts();
        let parent = observe::process_identity(std::process::id()).unwrap_or_default();
        Self { assay, build, options, host, parent, cores }
    }

    /// Cores by role where a role without any gets what the parent was given: children inherit
    /// the parent's own place otherwise.
    pub(crate) fn place(&self, cpus: &Cpus) -> Cpus {
        let or_all = |list: &[u32]| if list.is_empty() { &self.cores } else { list }.to_vec();
        Cpus {
            target: or_all(&cpus.target),
            mock: or_all(&cpus.mock),
            generator: or_all(&cpus.generator),
            parent: or_all(&cpus.parent),
        }
    }
}

/// Places the calling thread, from which children are started, on the parent's cores; the
/// cores it had before. A core that does not exist is left to the kernel to ignore.
fn place_parent(cpus: &[u32]) -> Vec<u32> {
    let Ok(before) = sched_getaffinity(None) else { return Vec::new() };
    let cores = (0..CpuSet::MAX_CPU).filter(|core| before.is_set(*core)).map(|core| core as u32);
    let cores = cores.collect();
    if !cpus.is_empty() {
        let mut wanted = CpuSet::new();
        for core in cpus.iter().filter(|core| (**core as usize) < CpuSet::MAX_CPU) {
            wanted.set(*core as usize);
        }
        // Its own place is a courtesy to the others; being elsewhere is recorded, not fatal.
        let _ = sched_setaffinity(None, &wanted);
    }
    cores
}
