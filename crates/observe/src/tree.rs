//! One role's process tree: CPU, memory, threads, switches and descriptors of everything below
//! a root, as `/proc` tells it.
//!
//! Counters are cumulative over the life of the tree and never go back. CPU comes from two
//! accounts. The kernel's ticks (`stat`) hold everything, exited threads and reaped children
//! included, but are cut to 10 ms each. The scheduler's nanoseconds (`schedstat`) are exact,
//! but exist only while their thread does. [`ResourceRow::cpu_ns`] is for each process the
//! larger of the two, where the nanoseconds of a thread that ended are kept as last seen; and
//! for reaped children the ticks. A child whose parent ignores SIGCHLD is never accounted for
//! by the kernel: its CPU is seen while it lives and then stands still.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use record::resources::{Edge, ResourceRow};
use serde::{Deserialize, Serialize};

use crate::procfs::{Stat, Table, field, kib_field_bytes};

/// Which processes of a root's tree make up a role.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The root and everything below it.
    #[default]
    Tree,
    /// Everything below the root, which is a guardian: its own CPU is not the role's, that of
    /// the children it reaped is.
    Below,
    /// The root alone, without its children, live or reaped: the parent of a matrix.
    Alone,
}

/// A role to watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// `target`, `generator`, `mock`, `parent`; the word in the CSV.
    pub role: String,
    /// Root of its tree.
    pub pid: u32,
    /// The root's start in clock ticks since boot: without it a recycled pid is not noticed.
    #[serde(default)]
    pub start_ticks: Option<u64>,
    /// Which part of the tree counts.
    #[serde(default)]
    pub scope: Scope,
}

/// Samples one role.
#[derive(Debug)]
pub struct TreeSampler {
    proc: PathBuf,
    watch: Watch,
    tick_ns: u64,
    page_bytes: u64,
    threads: HashMap<(u32, u32), Thread>,
    /// CPU of threads that ended while their process lives on, as last seen, by pid.
    ended_threads_ns: HashMap<u32, u64>,
    /// Voluntary and involuntary switches of all threads that ended, as last seen.
    ended_switches: (u64, u64),
    /// What was reported last: counters never go back.
    floor: Counters,
}

/// Last seen of one thread.
#[derive(Debug, Clone, Copy, Default)]
struct Thread {
    cpu_ns: Option<u64>,
    voluntary: Option<u64>,
    involuntary: Option<u64>,
}

#[derive(Debug, Default)]
struct Counters {
    user_ns: u64,
    sys_ns: u64,
    cpu_ns: u64,
    voluntary: u64,
    involuntary: u64,
}

/// One pass over the tree. A sum is unknown as soon as one part is.
#[derive(Debug)]
struct Tally {
    user_ticks: u64,
    sys_ticks: u64,
    cpu_ns: u64,
    processes: u64,
    rss_bytes: u64,
    threads: u64,
    switches_known: bool,
    descriptors: Option<u64>,
    seen: HashSet<(u32, u32)>,
}

impl TreeSampler {
    /// A sampler of one role over the tree of files at `proc` (`/proc`).
    #[must_use]
    pub fn new(proc: &Path, watch: Watch) -> Self {
        Self {
            proc: proc.to_owned(),
            watch,
            tick_ns: tick_ns(),
            page_bytes: rustix::param::page_size() as u64,
            threads: HashMap::new(),
            ended_threads_ns: HashMap::new(),
            ended_switches: (0, 0),
            floor: Counters::default(),
        }
    }

    /// What is watched.
    #[must_use]
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Takes a sample at `t_ns`. `table` is the process table of this moment; it gives the
    /// shape of the tree, the counters are read anew. Without the root, or with another process
    /// under its number, everything is unknown. The PSS is left out: see [`Self::pss_bytes`].
    pub fn sample(&mut self, t_ns: u64, edge: Edge, table: &Table) -> ResourceRow {
        let mut row = ResourceRow {
            t_ns,
            edge,
            role: self.watch.role.clone(),
            processes: 0,
            cpu_user_ns: None,
            cpu_sys_ns: None,
            cpu_ns: None,
            rss_bytes: None,
            pss_bytes: None,
            threads: None,
            switches_voluntary: None,
            switches_involuntary: None,
            descriptors: None,
        };
        let Some(root) = self.root() else { return row };
        let mut tally = Tally {
            user_ticks: 0,
            sys_ticks: 0,
            cpu_ns: 0,
            processes: 0,
            rss_bytes: 0,
            threads: 0,
            switches_known: true,
            descriptors: Some(0),
            seen: HashSet::new(),
        };
        if self.watch.scope == Scope::Below {
            self.add_reaped(&root, &mut tally);
        }
        for pid in self.members(table) {
            if let Some(stat) = Stat::read(&self.proc, pid) {
                self.add(&stat, &mut tally);
            }
        }
        let (voluntary, involuntary) = self.switches(&tally.seen);

        let floor = &mut self.floor;
        floor.user_ns = floor.user_ns.max(tally.user_ticks.saturating_mul(self.tick_ns));
        floor.sys_ns = floor.sys_ns.max(tally.sys_ticks.saturating_mul(self.tick_ns));
        floor.cpu_ns = floor.cpu_ns.max(tally.cpu_ns);
        floor.voluntary = floor.voluntary.max(voluntary);
        floor.involuntary = floor.involuntary.max(involuntary);
        row.cpu_user_ns = Some(floor.user_ns);
        row.cpu_sys_ns = Some(floor.sys_ns);
        row.cpu_ns = Some(floor.cpu_ns);
        row.processes = tally.processes;
        if tally.processes > 0 {
            row.rss_bytes = Some(tally.rss_bytes);
            row.threads = Some(tally.threads);
            row.descriptors = tally.descriptors;
            row.switches_voluntary = tally.switches_known.then_some(floor.voluntary);
            row.switches_involuntary = tally.switches_known.then_some(floor.involuntary);
        }
        row
    }

    /// The proportional set of the tree, bytes; `None` when it is denied for one process. The
    /// kernel walks every page table for it: sample it rarely, and after the counters.
    #[must_use]
    pub fn pss_bytes(&self, table: &Table) -> Option<u64> {
        self.root()?;
        let mut sum = None;
        for pid in self.members(table) {
            let path = self.proc.join(pid.to_string()).join("smaps_rollup");
            match fs::read_to_string(path).ok().and_then(|text| kib_field_bytes(&text, "Pss")) {
                Some(bytes) => sum = Some(sum.unwrap_or(0) + bytes),
                None if self.is_running(pid) => return None,
                None => {}
            }
        }
        sum
    }

    /// The root, if it is still the same process.
    fn root(&self) -> Option<Stat> {
        Stat::read(&self.proc, self.watch.pid)
            .filter(|stat| self.watch.start_ticks.is_none_or(|start| start == stat.start_ticks))
    }

    fn members(&self, table: &Table) -> Vec<u32> {
        let root = self.watch.pid;
        match self.watch.scope {
            Scope::Alone => vec![root],
            Scope::Below => table.descendants(root),
            Scope::Tree => [vec![root], table.descendants(root)].concat(),
        }
    }

    fn add_reaped(&self, stat: &Stat, tally: &mut Tally) {
        let ticks = stat.children_user_ticks.saturating_add(stat.children_system_ticks);
        tally.user_ticks += stat.children_user_ticks;
        tally.sys_ticks += stat.children_system_ticks;
        tally.cpu_ns += ticks.saturating_mul(self.tick_ns);
    }

    fn add(&mut self, stat: &Stat, tally: &mut Tally) {
        if self.watch.scope != Scope::Alone {
            self.add_reaped(stat, tally);
        }
        tally.user_ticks += stat.user_ticks;
        tally.sys_ticks += stat.system_ticks;
        let ticks_ns = stat.ticks().saturating_mul(self.tick_ns);
        let threads = self.read_threads(stat.pid, &mut tally.seen);
        let descriptors = self.count_descriptors(stat.pid);
        // Ended, or ending between the reads: its ticks stand until its parent reaps it.
        if !self.is_running(stat.pid) {
            tally.cpu_ns += ticks_ns;
            return;
        }
        tally.cpu_ns += ticks_ns.max(self.scheduled_ns(stat.pid, &threads).unwrap_or(0));
        tally.processes += 1;
        tally.rss_bytes += stat.rss_pages.saturating_mul(self.page_bytes);
        tally.threads += stat.threads;
        tally.switches_known &= !threads.is_empty()
            && threads.iter().all(|t| t.voluntary.is_some() && t.involuntary.is_some());
        tally.descriptors = tally.descriptors.zip(descriptors).map(|(sum, part)| sum + part);
    }

    fn is_running(&self, pid: u32) -> bool {
        Stat::read(&self.proc, pid).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X'))
    }

    /// Reads the live threads of a process and notes them.
    fn read_threads(&mut self, pid: u32, seen: &mut HashSet<(u32, u32)>) -> Vec<Thread> {
        let tasks = self.proc.join(pid.to_string()).join("task");
        let Ok(entries) = fs::read_dir(tasks) else { return Vec::new() };
        let mut threads = Vec::new();
        for entry in entries.flatten() {
            let Some(tid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let Some(thread) = read_thread(&entry.path()) else { continue };
            seen.insert((pid, tid));
            threads.push(thread);
            if let Some(before) = self.threads.insert((pid, tid), thread) {
                // A number that went back is another thread's.
                if thread.cpu_ns < before.cpu_ns || thread.voluntary < before.voluntary {
                    self.end(pid, before);
                }
            }
        }
        // Of this process; those of processes that ended are found in `switches`.
        let ended: Vec<_> = self
            .threads
            .keys()
            .filter(|key| key.0 == pid && !seen.contains(key))
            .copied()
            .collect();
        for key in ended {
            if let Some(thread) = self.threads.remove(&key) {
                self.end(pid, thread);
            }
        }
        threads
    }

    fn end(&mut self, pid: u32, thread: Thread) {
        *self.ended_threads_ns.entry(pid).or_default() += thread.cpu_ns.unwrap_or(0);
        self.ended_switches.0 += thread.voluntary.unwrap_or(0);
        self.ended_switches.1 += thread.involuntary.unwrap_or(0);
    }

    /// CPU of a live process by the scheduler; `None` where it has no such account.
    fn scheduled_ns(&self, pid: u32, threads: &[Thread]) -> Option<u64> {
        let live = threads.iter().map(|thread| thread.cpu_ns).sum::<Option<u64>>()?;
        Some(live + self.ended_threads_ns.get(&pid).copied().unwrap_or(0))
    }

    /// Switches of all threads, ended ones included. Forgets the processes that are gone: their
    /// CPU is in their parent's account now.
    fn switches(&mut self, seen: &HashSet<(u32, u32)>) -> (u64, u64) {
        let gone: Vec<_> = self.threads.keys().filter(|key| !seen.contains(key)).copied().collect();
        for key in gone {
            if let Some(thread) = self.threads.remove(&key) {
                self.end(key.0, thread);
            }
        }
        let live: HashSet<u32> = seen.iter().map(|key| key.0).collect();
        self.ended_threads_ns.retain(|pid, _| live.contains(pid));
        self.threads.values().fold(self.ended_switches, |(voluntary, involuntary), thread| {
            (
                voluntary + thread.voluntary.unwrap_or(0),
                involuntary + thread.involuntary.unwrap_or(0),
            )
        })
    }

    fn count_descriptors(&self, pid: u32) -> Option<u64> {
        let entries = fs::read_dir(self.proc.join(pid.to_string()).join("fd")).ok()?;
        Some(entries.flatten().count() as u64)
    }
}

/// Reads one thread; `None` when it is gone.
fn read_thread(task: &Path) -> Option<Thread> {
    let schedstat = fs::read_to_string(task.join("schedstat")).ok();
    let status = fs::read_to_string(task.join("status")).ok();
    if schedstat.is_none() && status.is_none() {
        return None;
    }
    let switches =
        |name: &str| status.as_deref().and_then(|text| field(text, name)?.parse::<u64>().ok());
    Some(Thread {
        cpu_ns: schedstat.and_then(|text| text.split_ascii_whitespace().next()?.parse().ok()),
        voluntary: switches("voluntary_ctxt_switches"),
        involuntary: switches("nonvoluntary_ctxt_switches"),
    })
}

/// Length of the kernel's clock tick as user space sees it, ns: 10 ms nearly everywhere.
#[must_use]
pub fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

#[cfg(test)]
mod tests;
