//! The machine around the load of a run: what its files say, and the sentinel.

use std::path::Path;
use std::process::{Command, Stdio};

use record::host_state::{HostState, Spin};

use crate::facts::Facts;

/// The state of the machine now. A sentinel that fails is absent, as any sensor; its child works for
/// some milliseconds and ends by itself, so that no guardian is needed for it.
pub(crate) fn state(facts: &Facts) -> HostState {
    let mut state = observe::state::read(Path::new("/sys"));
    state.spins = spins(facts).unwrap_or_default();
    state
}

fn spins(facts: &Facts) -> Option<Vec<Spin>> {
    let output = Command::new(&facts.assay)
        .arg("__spin")
        .args(facts.core_types())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    serde_json::from_slice(&output.stdout).ok()
}
