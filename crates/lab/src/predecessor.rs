//! The run before the first one of a session. What a run may carry over (a warm cache, a busy
//! disk, a throttled core) comes from the run that the machine made before it, whether or not
//! the parent was killed in between; so a resumed or extended label asks its own directories.

use std::collections::BTreeMap;
use std::path::Path;

use record::layout;
use record::meta::Meta;

/// A run that was made before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Previous {
    pub(crate) cell: String,
    /// When it ended on the monotonic clock, ns; `None` when it was cut off and nobody knows.
    pub(crate) ended_ns: Option<u64>,
}

/// The latest run of a label that began since the machine was booted; a reboot carries nothing
/// over. A directory whose metadata cannot be read tells nothing and is passed over.
pub(crate) fn predecessor(
    runs_dir: &Path,
    runs: &BTreeMap<String, bool>,
    boot_id: Option<&str>,
) -> Option<Previous> {
    let metas = runs
        .keys()
        .filter_map(|run| layout::read_json::<Meta>(&runs_dir.join(run).join(layout::META)).ok());
    metas
        .filter(|meta| meta.host.boot_id.as_deref() == boot_id)
        // Stamps of one format and zone sort as they follow one another.
        .max_by(|a, b| a.started_utc.cmp(&b.started_utc))
        .map(|meta| Previous {
            ended_ns: meta.instants_ns.get("digest_start").copied(),
            cell: meta.cell,
        })
}
