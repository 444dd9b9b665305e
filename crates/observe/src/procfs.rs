//! The few files of `/proc` that the samplers and the guardian read, parsed without trust.
//!
//! Every function takes the root of the tree, so that a fixture can stand in for `/proc`. A
//! file that is missing, denied or of another shape is `None`: a process may end between any
//! two reads, and a kernel may not offer a sensor. Nothing here panics on content.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// What matters of `/proc/PID/stat`. Times are in clock ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Process id.
    pub pid: u32,
    /// Name, at most 15 bytes; may hold blanks and parentheses.
    pub name: String,
    /// `R`, `S`, `D`, `Z`, ...
    pub state: char,
    /// Parent's process id.
    pub ppid: u32,
    /// User time of all threads, exited ones included.
    pub user_ticks: u64,
    /// System time of all threads, exited ones included.
    pub system_ticks: u64,
    /// User time of children that were waited for, and of theirs.
    pub children_user_ticks: u64,
    /// System time of children that were waited for, and of theirs.
    pub children_system_ticks: u64,
    /// Threads.
    pub threads: u64,
    /// Start, in clock ticks since boot; with the pid it names a process for good.
    pub start_ticks: u64,
    /// Resident set, pages.
    pub rss_pages: u64,
}

impl Stat {
    /// Parses one line of `stat`; `None` when it is of another shape.
    ///
    /// The name is cut at the *last* closing parenthesis: it may itself hold `) R 1 (`.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let open = line.find('(')?;
        let close = line.rfind(')')?;
        let name = line.get(open + 1..close)?.to_owned();
        // From field 3 (state) on, in the numbering of proc(5).
        let fields: Vec<&str> = line.get(close + 1..)?.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        // Times of reaped children are signed in the kernel's format.
        let signed = |field: usize| {
            fields.get(field - 3)?.parse::<i64>().ok().and_then(|n| u64::try_from(n).ok())
        };
        Some(Self {
            pid: line.get(..open)?.trim().parse().ok()?,
            name,
            state: fields.first()?.chars().next()?,
            ppid: u32::try_from(number(4)?).ok()?,
            user_ticks: number(14)?,
            system_ticks: number(15)?,
            children_user_ticks: signed(16)?,
            children_system_ticks: signed(17)?,
            threads: signed(20)?,
            start_ticks: number(22)?,
            rss_pages: signed(24)?,
        })
    }

    /// Reads `ROOT/PID/stat`.
    #[must_use]
    pub fn read(root: &Path, pid: u32) -> Option<Self> {
        let bytes = fs::read(root.join(pid.to_string()).join("stat")).ok()?;
        // A process may name itself with any bytes.
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    /// User plus system time, in clock ticks, without reaped children.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.user_ticks.saturating_add(self.system_ticks)
    }
}

/// Start of a process in clock ticks since boot; `None` when it is gone.
#[must_use]
pub fn start_ticks(root: &Path, pid: u32) -> Option<u64> {
    Stat::read(root, pid).map(|stat| stat.start_ticks)
}

/// All processes of a moment, by pid, with the shape of their tree.
#[derive(Debug, Default)]
pub struct Table {
    /// By pid.
    pub by_pid: HashMap<u32, Stat>,
    children: HashMap<u32, Vec<u32>>,
}

impl Table {
    /// Walks `ROOT` once. Processes that end meanwhile are left out; an unreadable root is an
    /// empty table.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        let mut table = Self::default();
        let Ok(entries) = fs::read_dir(root) else { return table };
        for entry in entries.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if let Some(stat) = Stat::read(root, pid) {
                table.children.entry(stat.ppid).or_default().push(pid);
                table.by_pid.insert(pid, stat);
            }
        }
        table
    }

    /// Descendants of `root`, nearest first, itself excluded. Bounded by the table's size, also
    /// when pids recycled during the walk make a loop.
    #[must_use]
    pub fn descendants(&self, root: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut seen = std::collections::HashSet::from([root]);
        let mut next = 0;
        let mut parent = root;
        loop {
            for &child in self.children.get(&parent).into_iter().flatten() {
                if seen.insert(child) {
                    found.push(child);
                }
            }
            let Some(&following) = found.get(next) else { return found };
            parent = following;
            next += 1;
        }
    }
}

/// The value of a `Name:   value` line of a file such as `status` or `meminfo`.
#[must_use]
pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
}

/// A field of `meminfo` or `smaps_rollup` that is given in KiB, as bytes.
#[must_use]
pub fn kib_field_bytes(text: &str, name: &str) -> Option<u64> {
    let kib: u64 = field(text, name)?.strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str) -> String {
        format!(
            "42 ({name}) S 7 42 42 0 -1 4194560 100 0 0 0 11 12 13 14 20 0 5 0 9876 1000 250 \
             18446744073709551615 0 0 0"
        )
    }

    #[test]
    fn names_with_blanks_and_parentheses() {
        for name in ["sh", "Web Content", "a) R 1 (b", "((sd-pam))", ")", "x ) Z 99 99", ""] {
            let stat = Stat::parse(&line(name)).expect(name);
            assert_eq!(stat.name, name);
            assert_eq!((stat.pid, stat.ppid, stat.state), (42, 7, 'S'));
            assert_eq!((stat.user_ticks, stat.system_ticks), (11, 12));
            assert_eq!((stat.children_user_ticks, stat.children_system_ticks), (13, 14));
            assert_eq!((stat.threads, stat.start_ticks, stat.rss_pages), (5, 9876, 250));
        }
    }

    #[test]
    fn a_cut_line_is_none_and_never_a_panic() {
        let whole = line("a) (b");
        for end in 0..whole.len() {
            // Cut inside the numbers a shorter number may parse; before field 24 nothing may.
            if end < whole.find(" 250").expect("field 24") {
                assert_eq!(Stat::parse(&whole[..end]), None, "{end}");
            }
        }
    }

    #[test]
    fn own_process_is_read() {
        let stat = Stat::read(Path::new("/proc"), std::process::id()).expect("own stat");
        assert_eq!(stat.pid, std::process::id());
        assert!(stat.start_ticks > 0);
        assert_eq!(start_ticks(Path::new("/proc"), stat.pid), Some(stat.start_ticks));
    }

    #[test]
    fn a_loop_of_parents_ends() {
        let mut table = Table::default();
        table.children.insert(1, vec![2]);
        table.children.insert(2, vec![3]);
        table.children.insert(3, vec![1, 2]);
        assert_eq!(table.descendants(1), [2, 3]);
        assert_eq!(table.descendants(9), [0_u32; 0]);
    }

    #[test]
    fn fields() {
        let text = "Name:\tx\nMemAvailable:    2048 kB\nBroken: 12\n";
        assert_eq!(kib_field_bytes(text, "MemAvailable"), Some(2_097_152));
        assert_eq!(kib_field_bytes(text, "Broken"), None);
        assert_eq!(field(text, "Name"), Some("x"));
        assert_eq!(field(text, "Nam"), None);
    }
}
