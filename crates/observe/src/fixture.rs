//! A made-up `/proc` and `/sys` for tests.

use std::fs;
use std::path::PathBuf;

/// A directory with `proc` and `sys` in it.
pub(crate) struct Fixture(tempfile::TempDir);

impl Fixture {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("directory");
        for root in ["proc", "sys"] {
            fs::create_dir(dir.path().join(root)).expect("root");
        }
        Self(dir)
    }

    pub(crate) fn proc(&self) -> PathBuf {
        self.0.path().join("proc")
    }

    pub(crate) fn sys(&self) -> PathBuf {
        self.0.path().join("sys")
    }

    /// Writes a file, its folders included.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, content).expect("write");
    }

    /// A process whose user time is `ticks`; nothing else is known of it.
    pub(crate) fn process(&self, pid: u32, ppid: u32, name: &str, ticks: u64, start: u64) {
        self.stat(pid, &format!("({name}) S {ppid}"), [ticks, 0, 0, 0], start);
    }

    /// The `stat` of a process: name, state and parent as the kernel writes them; user, system,
    /// reaped user, reaped system ticks. It has 2 threads and 3 resident pages.
    pub(crate) fn stat(&self, pid: u32, head: &str, ticks: [u64; 4], start: u64) {
        let [user, sys, reaped_user, reaped_sys] = ticks;
        let stat = format!(
            "{pid} {head} 1 1 0 -1 0 0 0 0 0 {user} {sys} {reaped_user} {reaped_sys} 20 0 2 0 \
             {start} 4096 3 0 0\n"
        );
        self.write(&format!("proc/{pid}/stat"), &stat);
    }

    /// A thread by the scheduler: time on a core, ns, and switches.
    pub(crate) fn thread(&self, pid: u32, tid: u32, cpu_ns: u64, switches: (u64, u64)) {
        let task = format!("proc/{pid}/task/{tid}");
        self.write(&format!("{task}/schedstat"), &format!("{cpu_ns} 55 9\n"));
        let status = format!(
            "Name:\tx\nvoluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t{}\n",
            switches.0, switches.1
        );
        self.write(&format!("{task}/status"), &status);
    }

    /// Takes a thread away.
    pub(crate) fn remove_thread(&self, pid: u32, tid: u32) {
        fs::remove_dir_all(self.proc().join(format!("{pid}/task/{tid}"))).expect("a thread");
    }

    /// Takes a process away.
    pub(crate) fn remove(&self, pid: u32) {
        fs::remove_dir_all(self.proc().join(pid.to_string())).expect("a process");
    }
}
