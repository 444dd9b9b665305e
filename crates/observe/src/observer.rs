//! The observer process: samples roles and host by an interval and at the edges of the window.
//!
//! It is the body of the hidden verb `__observe`, a process of its own, so that the parent of a
//! matrix measures nothing. The first line of standard input is an [`ObserverConfig`] as JSON;
//! each further line is a [`Command`]:
//!
//! ```text
//! {"watch":{"role":"generator","pid":4711,"scope":"below"}}
//! {"mark":"window_start","at_ns":123456789}
//! {"stop":true}
//! ```
//!
//! A mark in the future is sampled at its instant, one in the past at once. It ends by `stop`
//! or when its standard input closes; marks that are then still ahead are not sampled, and
//! their absence is for the reader to notice. Every row is written when it is taken.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use clock::{Clock, Monotonic};
use record::resources::{Edge, HOST_HEADER, RESOURCES_HEADER};
use serde::{Deserialize, Serialize};

use crate::csv::{host_line, resource_line};
use crate::host::HostSampler;
use crate::procfs::Table;
use crate::tree::{TreeSampler, Watch};

/// Commands that may wait to be read; more make the sender wait.
const COMMANDS_WAITING: usize = 64;
/// Marks that may lie ahead; a window has two.
const MARKS_MAX: usize = 64;
/// The PSS is taken at edges and at every so many samples.
const PSS_EVERY: u64 = 10;
/// Shortest interval, ns: below, the observer itself would be the load.
const INTERVAL_NS_MIN: u64 = 1_000_000;

/// What an observer is told at its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObserverConfig {
    /// Between two samples, ns; at least 1 ms.
    pub interval_ns: u64,
    /// `resources.csv`; must not exist.
    pub resources: PathBuf,
    /// `host.csv`; must not exist.
    pub host: PathBuf,
    /// The roles; more can follow by command.
    #[serde(default)]
    pub watch: Vec<Watch>,
    /// Root of the process file system.
    #[serde(default = "proc_root")]
    pub proc_root: PathBuf,
    /// Root of the device file system.
    #[serde(default = "sys_root")]
    pub sys_root: PathBuf,
}

impl ObserverConfig {
    /// A configuration that reads the real `/proc` and `/sys`.
    #[must_use]
    pub fn new(interval_ns: u64, resources: PathBuf, host: PathBuf, watch: Vec<Watch>) -> Self {
        let (proc_root, sys_root) = (proc_root(), sys_root());
        Self { interval_ns, resources, host, watch, proc_root, sys_root }
    }
}

fn proc_root() -> PathBuf {
    PathBuf::from("/proc")
}

fn sys_root() -> PathBuf {
    PathBuf::from("/sys")
}

/// A line that an observer reads while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Command {
    /// Take a sample of this edge at this instant of the system-wide monotonic clock, ns.
    Mark {
        /// Which edge.
        mark: Edge,
        /// When.
        at_ns: u64,
    },
    /// Watch one more role from now on.
    Watch {
        /// The role.
        watch: Watch,
    },
    /// End.
    Stop {
        /// True.
        stop: bool,
    },
}

/// The body of the hidden verb `__observe`: reads the configuration from the first line, then
/// observes until it is told to stop.
///
/// # Errors
/// As [`observer_main`]; a first line that is no configuration.
pub fn observe_main(mut input: impl BufRead + Send + 'static) -> io::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let config = serde_json::from_str(&line)
        .map_err(|error| invalid(format!("the first line is no configuration: {error}")))?;
    observer_main(&config, input)
}

/// Observes until a `stop` or the end of `commands`.
///
/// # Errors
/// A file that exists already or cannot be written, an interval under 1 ms, a line that is no
/// command. What was sampled until then is in the files.
pub fn observer_main(
    config: &ObserverConfig,
    commands: impl BufRead + Send + 'static,
) -> io::Result<()> {
    if config.interval_ns < INTERVAL_NS_MIN {
        return Err(invalid(format!("an interval of {} ns is below 1 ms", config.interval_ns)));
    }
    let mut observer = Observer {
        resources: create(&config.resources, RESOURCES_HEADER)?,
        host_file: create(&config.host, HOST_HEADER)?,
        host: HostSampler::new(&config.proc_root, &config.sys_root),
        roles: Vec::new(),
        taken: 0,
        config,
    };
    for watch in &config.watch {
        observer.add(watch.clone());
    }
    let (sender, receiver) = sync_channel(COMMANDS_WAITING);
    // Not joined: it may sit in a read that nobody ends; the process ends with the observer.
    std::thread::spawn(move || {
        for line in commands.lines() {
            let command = line.and_then(|line| {
                serde_json::from_str(&line).map_err(|_| {
                    invalid(format!(
                        "`{line}` is no command; write \
                         `{{\"mark\":\"window_start\",\"at_ns\":1}}`, \
                         `{{\"watch\":{{\"role\":\"target\",\"pid\":1}}}}` or `{{\"stop\":true}}`"
                    ))
                })
            });
            let failed = command.is_err();
            if sender.send(command).is_err() || failed {
                return;
            }
        }
    });
    observer.run(&receiver)
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn create(path: &std::path::Path, header: &str) -> io::Result<File> {
    let named = |error: io::Error| {
        io::Error::new(error.kind(), format!("cannot write `{}`: {error}", path.display()))
    };
    let mut file = OpenOptions::new().append(true).create_new(true).open(path).map_err(named)?;
    file.write_all(format!("{header}\n").as_bytes()).map_err(named)?;
    Ok(file)
}

struct Observer<'a> {
    config: &'a ObserverConfig,
    resources: File,
    host_file: File,
    host: HostSampler,
    roles: Vec<TreeSampler>,
    taken: u64,
}

impl Observer<'_> {
    fn add(&mut self, watch: Watch) {
        self.roles.push(TreeSampler::new(&self.config.proc_root, watch));
    }

    fn run(&mut self, commands: &Receiver<io::Result<Command>>) -> io::Result<()> {
        let interval_ns = self.config.interval_ns;
        let mut next_ns = Monotonic.now_ns();
        let mut marks: Vec<(u64, Edge)> = Vec::new();
        loop {
            let due = |marks: &[(u64, Edge)]| {
                let now_ns = Monotonic.now_ns();
                marks.iter().position(|(at_ns, _)| *at_ns <= now_ns)
            };
            while let Some(at) = due(&marks) {
                let (_, edge) = marks.remove(at);
                self.sample(edge)?;
            }
            let now_ns = Monotonic.now_ns();
            if now_ns >= next_ns {
                self.sample(Edge::Sample)?;
                // What was missed is missed: no burst of samples after a pause.
                let missed = (Monotonic.now_ns() - next_ns) / interval_ns;
                next_ns = next_ns.saturating_add(interval_ns.saturating_mul(missed + 1));
                continue;
            }
            let until_ns = marks.iter().map(|(at_ns, _)| *at_ns).fold(next_ns, u64::min);
            let pause = Duration::from_nanos(until_ns.saturating_sub(now_ns));
            match commands.recv_timeout(pause) {
                Ok(command) => match command? {
                    Command::Mark { mark, at_ns } if marks.len() < MARKS_MAX => {
                        marks.push((at_ns, mark));
                        marks.sort_by_key(|(at_ns, _)| *at_ns);
                    }
                    Command::Mark { .. } => {
                        return Err(invalid(format!("more than {MARKS_MAX} marks lie ahead")));
                    }
                    Command::Watch { watch } => self.add(watch),
                    Command::Stop { stop: true } => return Ok(()),
                    Command::Stop { stop: false } => {}
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn sample(&mut self, edge: Edge) -> io::Result<()> {
        let table_ns = Monotonic.now_ns();
        let table = Table::read(&self.config.proc_root);
        let with_pss = edge != Edge::Sample || self.taken.is_multiple_of(PSS_EVERY);
        self.taken += 1;
        let mut rows = Vec::with_capacity(self.roles.len());
        for role in &mut self.roles {
            rows.push(role.sample(Monotonic.now_ns(), edge, &table));
        }
        let mut part_takers: std::collections::HashSet<u32> = [std::process::id()].into();
        for role in &self.roles {
            part_takers.insert(role.watch().pid);
            part_takers.extend(table.descendants(role.watch().pid));
        }
        let host = self.host.sample(table_ns, edge, &table, &part_takers);
        // Last, since it is slow and holds up the processes that it looks at.
        if with_pss {
            for (role, row) in self.roles.iter().zip(&mut rows) {
                row.pss_bytes = role.pss_bytes(&table);
            }
        }
        let lines: String = rows.iter().map(|row| resource_line(row) + "\n").collect();
        self.resources.write_all(lines.as_bytes())?;
        self.host_file.write_all((host_line(&host) + "\n").as_bytes())
    }
}
