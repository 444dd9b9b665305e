//! What threads hold and wait for: the lines of locks, who stands in whose way, and the section
//! about deadlocks.

use std::collections::BTreeMap;

use super::{State, ThreadDump};

/// A line about a monitor or a synchronizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// What the thread does with it.
    pub how: LockUse,
    /// Its identity within the dump: an address, or class and hash; empty when the JVM knows none.
    pub id: String,
    /// Its class.
    pub class: String,
}

/// What a thread does with a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockUse {
    /// Its monitor was entered. While the thread waits on it, it does not hold it.
    Locked,
    /// `Object.wait()`.
    WaitingOn,
    /// Wants to enter its monitor, for the first time or again after `wait()`.
    WaitingToLock,
    /// Parked for it.
    Parking,
    /// A synchronizer of `java.util.concurrent` that it owns.
    Owned,
    /// The compiler took the lock away.
    Eliminated,
}

/// A lock that somebody waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contention {
    /// Its identity within the dump.
    pub id: String,
    /// Its class.
    pub class: String,
    /// Index of the thread that holds it, where the dump says.
    pub owner: Option<usize>,
    /// Indices of the threads that wait for it.
    pub waiters: Vec<usize>,
}

/// A deadlock that the JVM found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deadlock {
    /// Its threads in the order of the circle.
    pub threads: Vec<Waiting>,
    /// The start of a name that goes over several lines.
    name: Option<String>,
}

/// A thread in a deadlock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Its name.
    pub name: String,
    /// The class of what it waits for.
    pub waits_for: String,
    /// The name of the thread that holds that.
    pub held_by: String,
}

impl Lock {
    /// The text after `- `.
    pub(super) fn of(text: &str, owned: bool) -> Option<Self> {
        let (how, rest) = text.split_once('<')?;
        let how = match how.trim_end() {
            "" if owned => LockUse::Owned,
            "locked" => LockUse::Locked,
            "waiting on" => LockUse::WaitingOn,
            "waiting to lock" | "waiting to re-lock in wait()" => LockUse::WaitingToLock,
            "parking to wait for" => LockUse::Parking,
            "eliminated" => LockUse::Eliminated,
            _ => return None,
        };
        let (id, rest) = rest.split_once('>')?;
        let class = match rest.trim().strip_prefix("(a ").and_then(|rest| rest.strip_suffix(')')) {
            Some(class) => class,
            None => id.rsplit_once('@').map_or("", |(class, _)| class),
        };
        // `<no object reference available>`, `<owner is scalar replaced>`.
        let id = if id.contains(' ') { "" } else { id };
        Some(Self { how, id: id.to_owned(), class: class.to_owned() })
    }
}

impl Deadlock {
    /// Most threads kept of one.
    const MAX_THREADS: usize = 10_000;

    /// Reads a line of the section; whether it was understood.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let text = line.trim();
        let start = self.name.take();
        if start.is_some() || line.starts_with('"') {
            let name = match start {
                Some(start) => format!("{start}\n{line}"),
                None => line[1..].to_owned(),
            };
            if let Some(name) = name.strip_suffix("\":") {
                if self.threads.len() < Self::MAX_THREADS {
                    self.threads.push(Waiting { name: name.to_owned(), ..Waiting::default() });
                }
            } else if name.len() < 4_096 {
                self.name = Some(name);
            }
            return true;
        }
        let Some(thread) = self.threads.last_mut() else {
            return text.is_empty() || text.starts_with("===");
        };
        if text.starts_with("waiting ") {
            let class = text.rsplit_once("a ").map_or("", |(_, class)| class);
            class.trim_end_matches([',', ')']).clone_into(&mut thread.waits_for);
            return true;
        }
        if let Some((_, holder)) = text.split_once("which is held by ") {
            let name = holder.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
            name.unwrap_or(holder).clone_into(&mut thread.held_by);
            return true;
        }
        text.is_empty()
    }
}

impl ThreadDump {
    /// The locks that threads wait for, those with most waiters first.
    #[must_use]
    pub fn contentions(&self) -> Vec<Contention> {
        let mut locks = BTreeMap::<&str, Contention>::new();
        for (index, thread) in self.threads.iter().enumerate() {
            for lock in &thread.locks {
                if lock.id.is_empty() {
                    continue;
                }
                let entry = locks.entry(&lock.id).or_insert_with(|| Contention {
                    id: lock.id.clone(),
                    class: lock.class.clone(),
                    owner: None,
                    waiters: Vec::new(),
                });
                // In `wait()` JDK 11 prints the lock that it will want again; it does not yet.
                let waits = matches!(thread.state, Some(State::Waiting | State::TimedWaiting));
                match lock.how {
                    LockUse::Parking => entry.waiters.push(index),
                    LockUse::WaitingToLock if waits => {}
                    LockUse::WaitingToLock => entry.waiters.push(index),
                    LockUse::Owned => entry.owner = Some(index),
                    LockUse::Locked => {
                        let gives_way = |other: &Lock| {
                            other.id == lock.id
                                && matches!(other.how, LockUse::WaitingOn | LockUse::WaitingToLock)
                        };
                        if !thread.locks.iter().any(gives_way) {
                            entry.owner = Some(index);
                        }
                    }
                    LockUse::WaitingOn | LockUse::Eliminated => {}
                }
            }
        }
        let mut contended: Vec<Contention> = locks
            .into_values()
            .filter(|lock| !lock.waiters.is_empty())
            .map(|mut lock| {
                lock.waiters.dedup();
                lock
            })
            .collect();
        // Stable: equal counts stay in the order of their identity.
        contended.sort_by_key(|lock| std::cmp::Reverse(lock.waiters.len()));
        contended
    }
}
