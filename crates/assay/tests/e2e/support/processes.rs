//! Finding what a test started: by a variable in its environment that every descendant inherits,
//! however often it forks and whatever session it enters; never by a name.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// The variable; its value is a test's own.
pub(crate) const TAG: &str = "ASSAY_E2E_TAG";

/// A process that lives.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) command: String,
}

/// Processes whose environment holds the tag. A zombie has no environment: it does not run.
pub(crate) fn tagged(tag: &str) -> Vec<Process> {
    let wanted = format!("{TAG}={tag}");
    let entries = fs::read_dir("/proc").expect("these tests need /proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let is_ours = environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes());
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&line).replace('\0', " ");
        is_ours.then_some(Process { pid, command })
    })
    .collect()
}

/// Sends a signal to a process that this test started.
pub(crate) fn signal(pid: u32, which: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a pid");
    // It may have ended by itself.
    let _ = kill_process(pid, which);
}
