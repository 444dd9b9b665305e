//! The parent's side of a guardian: start a child, hear of its end, end its whole tree.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use observe::procfs::{Stat, Table};
use record::plan::Stop;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::RecvFlags;

use crate::brake::Brake;
use crate::exit::{Exit, signal_number};
use crate::guardian::{KILL_BOUND, ORPHAN_GRACE, timespec};
use crate::protocol::{self, Event, Inbox, Order, Spec, TreeUsage};

/// How long a guardian may take to start its child: it only has to fork and exec.
const START_BOUND: Duration = Duration::from_secs(20);
/// What a guardian may take beyond grace and [`KILL_BOUND`] before it counts as lost.
const MARGIN: Duration = Duration::from_secs(5);

/// Where a child's standard input comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: end of file at once.
    #[default]
    Null,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// A file.
    File(PathBuf),
    /// The parent: see [`Guarded::take_stdin`].
    Pipe,
}

/// Where a child's standard output or error goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Output {
    /// Nowhere.
    #[default]
    Null,
    /// The end of a file, which is created when missing.
    File(PathBuf),
    /// The parent: see [`Guarded::take_stdout`]. Who asks for a pipe must read it, or the child
    /// will wait when it is full.
    Pipe,
}

/// A child to start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spawn {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Environment, added to the parent's.
    pub env: BTreeMap<String, String>,
    /// Whether the parent's environment is left out.
    pub env_clear: bool,
    /// Working directory; the parent's when absent.
    pub cwd: Option<PathBuf>,
    /// Standard input.
    pub stdin: Stdin,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
    /// Cores that the tree may run on; empty for no restriction.
    pub cpus: Vec<u32>,
    /// Has the tree stand still for a share of the time.
    pub brake: Option<Brake>,
}

/// A child could not be started, told or ended.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A file for standard input, output or error could not be opened.
    #[error("cannot open `{path}`: {source}")]
    Open {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A descriptor could not be had.
    #[error("cannot make a pipe: {0}")]
    Pipe(io::Error),
    /// The guardian's own program could not be started.
    #[error("cannot start a guardian from `{path}`: {source}")]
    Guardian {
        /// The program.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The guardian could not start the child.
    #[error("cannot {doing}: {why}")]
    Start {
        /// What it was about: ``start `nginx` ``.
        doing: String,
        /// What the system said.
        why: String,
    },
    /// The guardian ended or kept silent instead of starting the child.
    #[error("the guardian of `{program}` ended, or was silent for {} s, before it started anything", START_BOUND.as_secs())]
    Silent {
        /// The child's program.
        program: String,
    },
    /// No such signal.
    #[error("`{name}` is no signal; write `\"TERM\"`, `\"INT\"`, `\"QUIT\"` or `\"KILL\"`")]
    Signal {
        /// The name as given.
        name: String,
    },
    /// It has ended already.
    #[error("process {pid} is gone: {exit}")]
    Gone {
        /// Its pid.
        pid: u32,
        /// How it ended.
        exit: Exit,
    },
    /// Some of the tree outlived SIGKILL.
    #[error("processes {left:?} below `{program}` outlive SIGKILL; end them by hand")]
    Left {
        /// The child's program.
        program: String,
        /// Pids.
        left: Vec<u32>,
    },
}

/// A child under its guardian. Dropping it ends the whole tree.
#[derive(Debug)]
pub struct Guarded {
    guardian: Child,
    control: UnixStream,
    inbox: Inbox,
    program: String,
    pid: u32,
    start_ticks: u64,
    stdin: Option<File>,
    stdout: Option<File>,
    stderr: Option<File>,
    exit: Option<Exit>,
    usage: Option<TreeUsage>,
    left: Vec<u32>,
}

impl Guarded {
    /// Starts a guardian from `guardian` (the program that dispatches the verb `__guard` to
    /// [`crate::guard_main`]) and under it the child.
    ///
    /// # Errors
    /// A file or the program that cannot be had. Nothing is left running then.
    pub fn spawn(guardian: &Path, spawn: &Spawn) -> Result<Self, TargetError> {
        let (input, stdin) = open_stdin(&spawn.stdin)?;
        let (output, stdout) = open_output(&spawn.stdout)?;
        let (errors, stderr) = open_output(&spawn.stderr)?;
        let (control, theirs) = UnixStream::pair().map_err(TargetError::Pipe)?;
        let refused =
            |source| TargetError::Guardian { path: guardian.display().to_string(), source };
        let child = Command::new(guardian)
            .arg("__guard")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(refused)?;
        let mut guarded = Self {
            guardian: child,
            control,
            inbox: Inbox::default(),
            program: spawn.argv.first().cloned().unwrap_or_default(),
            pid: 0,
            start_ticks: 0,
            stdin,
            stdout,
            stderr,
            exit: None,
            usage: None,
            left: Vec::new(),
        };
        let spec = Spec {
            argv: spawn.argv.clone(),
            env: spawn.env.clone(),
            env_clear: spawn.env_clear,
            cwd: spawn.cwd.clone(),
            cpus: spawn.cpus.clone(),
            brake: spawn.brake,
        };
        let told =
            protocol::send_stdio(&guarded.control, [input.as_fd(), output.as_fd(), errors.as_fd()])
                .and_then(|()| protocol::send_line(&guarded.control, &spec));
        drop((input, output, errors));
        // From here on dropping `guarded` cleans up.
        let event = match told {
            Ok(()) => guarded.next_event(Instant::now() + START_BOUND),
            Err(_) => None,
        };
        match event {
            Some(Event::Started { pid, start_ticks }) => {
                guarded.pid = pid;
                guarded.start_ticks = start_ticks;
                Ok(guarded)
            }
            Some(Event::Failed { doing, why }) => Err(TargetError::Start { doing, why }),
            Some(Event::Ended { .. }) | None => {
                Err(TargetError::Silent { program: guarded.program.clone() })
            }
        }
    }

    /// The child's pid.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The child's start in clock ticks since boot; with the pid it names the process for good.
    #[must_use]
    pub fn start_ticks(&self) -> u64 {
        self.start_ticks
    }

    /// The guardian's pid: everything below it is the child's tree, whatever it forks.
    #[must_use]
    pub fn guardian_pid(&self) -> u32 {
        self.guardian.id()
    }

    /// The writing end of [`Stdin::Pipe`], once. Dropping it is end of file for the child.
    pub fn take_stdin(&mut self) -> Option<File> {
        self.stdin.take()
    }

    /// The reading end of [`Output::Pipe`], once.
    pub fn take_stdout(&mut self) -> Option<File> {
        self.stdout.take()
    }

    /// The reading end of [`Output::Pipe`], once.
    pub fn take_stderr(&mut self) -> Option<File> {
        self.stderr.take()
    }

    /// How the child ended, if it has; the whole tree is gone then. Does not wait.
    pub fn exited(&mut self) -> Option<Exit> {
        self.wait(Duration::ZERO)
    }

    /// What the whole tree has used, once it has ended; `None` before, and where its guardian was
    /// killed.
    #[must_use]
    pub fn usage(&self) -> Option<TreeUsage> {
        self.usage
    }

    /// Waits at most `timeout` for the end of the child and of everything below it.
    pub fn wait(&mut self, timeout: Duration) -> Option<Exit> {
        if self.exit.is_none() {
            self.next_event(Instant::now() + timeout);
        }
        self.exit
    }

    /// Sends a signal, named `TERM` or `SIGTERM`, to the child alone.
    ///
    /// # Errors
    /// An unknown name, or a child that is gone.
    pub fn signal(&mut self, name: &str) -> Result<(), TargetError> {
        let signal = number(name)?;
        if let Some(exit) = self.exited() {
            return Err(TargetError::Gone { pid: self.pid, exit });
        }
        // A guardian that is gone shows as an exit at the next look.
        let _ = protocol::send_line(&self.control, &Order::Signal { signal });
        Ok(())
    }

    /// Ends the tree: the signal, to the child first and to the others when it has exited or
    /// half of the grace is over; SIGKILL after the grace. Waits for the end. A child that has
    /// ended before is no error.
    ///
    /// # Errors
    /// An unknown signal; processes that outlive SIGKILL.
    pub fn stop(&mut self, stop: &Stop) -> Result<Exit, TargetError> {
        let signal = number(&stop.signal)?;
        let order = Order::Stop { signal, grace_ns: stop.grace_ns };
        self.end(&order, Duration::from_nanos(stop.grace_ns))
    }

    /// Ends the tree with SIGKILL and waits for the end.
    ///
    /// # Errors
    /// Processes that outlive it.
    pub fn kill(&mut self) -> Result<Exit, TargetError> {
        self.end(&Order::Kill, Duration::ZERO)
    }

    fn end(&mut self, order: &Order, grace: Duration) -> Result<Exit, TargetError> {
        if self.exited().is_none() {
            let _ = protocol::send_line(&self.control, order);
        }
        let bound = grace.saturating_add(KILL_BOUND + MARGIN);
        let exit = match self.wait(bound) {
            Some(exit) => exit,
            // The guardian is stopped or stuck: it goes, and the tree with it.
            None => self.lost(),
        };
        if self.left.is_empty() {
            Ok(exit)
        } else {
            Err(TargetError::Left { program: self.program.clone(), left: self.left.clone() })
        }
    }

    /// The next event by `deadline`. Notes the exit; a closed socket without one is an exit
    /// unseen.
    fn next_event(&mut self, deadline: Instant) -> Option<Event> {
        loop {
            match self.inbox.next() {
                Ok(Some(event)) => {
                    match &event {
                        Event::Ended { code, signal, left, usage } => {
                            self.usage = Some(*usage);
                            self.exit = Some(Exit { code: *code, signal: *signal });
                            self.left.clone_from(left);
                            self.reap_guardian();
                        }
                        Event::Failed { .. } => {
                            self.exit = Some(Exit::UNKNOWN);
                            self.reap_guardian();
                        }
                        Event::Started { .. } => {}
                    }
                    return Some(event);
                }
                Ok(None) => {}
                Err(_) => {
                    self.lost();
                    return None;
                }
            }
            let mut bytes = [0_u8; 4096];
            match rustix::net::recv(&self.control, &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((_, count)) if count > 0 => self.inbox.push(&bytes[..count]),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return None;
                    }
                    let mut polled = [PollFd::new(&self.control, PollFlags::IN)];
                    // An interruption only means another round.
                    let _ = poll(&mut polled, Some(&timespec(left)));
                }
                Ok(_) | Err(_) => {
                    self.lost();
                    return None;
                }
            }
        }
    }

    /// The guardian was killed or is stuck. Ends it and what of the child's tree can still be
    /// told by the child's pid and start; processes that left that tree before are out of reach.
    fn lost(&mut self) -> Exit {
        let _ = self.guardian.kill();
        let _ = self.guardian.wait();
        let deadline = Instant::now() + KILL_BOUND;
        while self.pid != 0 && Instant::now() < deadline {
            let table = Table::read(Path::new("/proc"));
            let alive = |stat: &&Stat| !matches!(stat.state, 'Z' | 'X');
            let Some(main) = table.by_pid.get(&self.pid).filter(alive) else { break };
            if main.start_ticks != self.start_ticks {
                break;
            }
            // The leaves first: while the child lives the walk from it finds the others.
            let below = table.descendants(self.pid);
            let mut rest: Vec<&Stat> =
                below.iter().filter_map(|pid| table.by_pid.get(pid)).filter(alive).collect();
            if rest.is_empty() {
                rest.push(main);
            }
            for process in rest {
                crate::guardian::signal_process(process, 9);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.exit = Some(Exit::UNKNOWN);
        Exit::UNKNOWN
    }

    /// Waits for the guardian, which ends right after its last word.
    fn reap_guardian(&mut self) {
        let deadline = Instant::now() + MARGIN;
        let mut pause = Duration::from_micros(100);
        while let Ok(None) = self.guardian.try_wait() {
            if Instant::now() >= deadline {
                let _ = self.guardian.kill();
                let _ = self.guardian.wait();
                return;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if self.exit.is_none() {
            // The guardian takes the closed lifeline as the death of its parent.
            let _ = self.control.shutdown(std::net::Shutdown::Write);
            if self.wait(ORPHAN_GRACE + KILL_BOUND + MARGIN).is_none() {
                self.lost();
            }
        }
    }
}

fn number(name: &str) -> Result<i32, TargetError> {
    signal_number(name).ok_or_else(|| TargetError::Signal { name: name.to_owned() })
}

/// The child's end and the parent's end, if any.
fn open_stdin(stdin: &Stdin) -> Result<(OwnedFd, Option<File>), TargetError> {
    match stdin {
        Stdin::Null => Ok((open(Path::new("/dev/null"), OpenOptions::new().read(true))?, None)),
        Stdin::File(path) => Ok((open(path, OpenOptions::new().read(true))?, None)),
        Stdin::Bytes(bytes) => {
            // Memory rather than a pipe: nobody has to wait for a child that does not read.
            let memory = rustix::fs::memfd_create("stdin", rustix::fs::MemfdFlags::CLOEXEC)
                .map_err(|error| TargetError::Pipe(error.into()))?;
            let mut memory = File::from(memory);
            memory.write_all(bytes).and_then(|()| memory.rewind()).map_err(TargetError::Pipe)?;
            Ok((memory.into(), None))
        }
        Stdin::Pipe => {
            let (read, write) = pipe()?;
            Ok((read, Some(File::from(write))))
        }
    }
}

/// The child's end and the parent's end, if any.
fn open_output(output: &Output) -> Result<(OwnedFd, Option<File>), TargetError> {
    match output {
        Output::Null => Ok((open(Path::new("/dev/null"), OpenOptions::new().write(true))?, None)),
        Output::File(path) => Ok((open(path, OpenOptions::new().append(true).create(true))?, None)),
        Output::Pipe => {
            let (read, write) = pipe()?;
            Ok((write, Some(File::from(read))))
        }
    }
}

fn open(path: &Path, options: &OpenOptions) -> Result<OwnedFd, TargetError> {
    let file = options
        .open(path)
        .map_err(|source| TargetError::Open { path: path.display().to_string(), source })?;
    Ok(file.into())
}

fn pipe() -> Result<(OwnedFd, OwnedFd), TargetError> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|error| TargetError::Pipe(error.into()))
}
