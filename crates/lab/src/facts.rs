//! Who we are and where: facts gathered once for a matrix.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use record::host_check::HostStanding;
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
    pub(crate) standing: Option<HostStanding>,
    pub(crate) parent: ProcessIdentity,
    /// Cores that the parent was given, before it placed itself.
    cores: Vec<u32>,
}

impl Facts {
    pub(crate) fn gather(
        assay: PathBuf,
        build: Build,
        options: BTreeMap<String, String>,
        standing: Option<HostStanding>,
        parent_cpus: &[u32],
    ) -> Self {
        let cores = place_parent(parent_cpus);
        let options = record::redact::environment(&options);
        let host = observe::host_facts();
        let parent = observe::process_identity(std::process::id()).unwrap_or_default();
        Self { assay, build, options, host, standing, parent, cores }
    }

    /// The cores that the matrix may use, one list for each type of core, as `0-3,8`.
    pub(crate) fn core_types(&self) -> Vec<String> {
        let usable = |types: Vec<u32>| -> Vec<u32> {
            types.into_iter().filter(|core| self.cores.contains(core)).collect()
        };
        let types = observe::state::core_types(Path::new("/sys")).into_iter().map(usable);
        let mut types: Vec<Vec<u32>> = types.filter(|cores| !cores.is_empty()).collect();
        if types.is_empty() {
            types.push(self.cores.clone());
        }
        types.iter().map(|cores| observe::state::shown_cores(cores)).collect()
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
