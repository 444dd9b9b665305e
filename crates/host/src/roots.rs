//! Where facts are read: the trees of files that a kernel shows, or a copy of them.

use std::fs;
use std::path::{Path, PathBuf};

/// Roots of the process and of the device file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`, with the control groups below `fs/cgroup`.
    pub sys: PathBuf,
}

/// Largest file that is read; kernel files of interest are far smaller.
const BYTES_MAX: u64 = 1 << 20;

impl Roots {
    /// This machine.
    #[must_use]
    pub fn live() -> Self {
        Self { proc: PathBuf::from("/proc"), sys: PathBuf::from("/sys") }
    }

    /// The copied trees `proc` and `sys` under a folder.
    #[must_use]
    pub fn under(folder: &Path) -> Self {
        Self { proc: folder.join("proc"), sys: folder.join("sys") }
    }

    /// The trimmed content of `proc/NAME`; `None` when it is missing, denied or empty.
    pub(crate) fn proc(&self, name: &str) -> Option<String> {
        word(&self.proc.join(name))
    }

    /// The same of `sys/NAME`.
    pub(crate) fn sys(&self, name: &str) -> Option<String> {
        word(&self.sys.join(name))
    }

    /// Names below `sys/NAME`, sorted.
    pub(crate) fn sys_names(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.sys.join(name)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Numbers of the cores that have a folder, in order.
    pub(crate) fn core_numbers(&self) -> Vec<u32> {
        let names = self.sys_names("devices/system/cpu");
        let mut numbers: Vec<u32> =
            names.iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The content of `devices/system/cpu/cpuN/NAME` for every core that tells.
    pub(crate) fn by_core(&self, name: &str) -> Vec<(u32, String)> {
        let cores = self.core_numbers().into_iter();
        cores
            .filter_map(|core| {
                Some((core, self.sys(&format!("devices/system/cpu/cpu{core}/{name}"))?))
            })
            .collect()
    }
}

/// The trimmed content of a small file, if there is any.
fn word(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut text = String::new();
    fs::File::open(path).ok()?.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
