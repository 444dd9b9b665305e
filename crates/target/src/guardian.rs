//! The guardian: a small process that starts one child and answers for its whole tree.
//!
//! It leads a session of its own, so that the terminal's Ctrl-C does not reach the child, and
//! it is a child subreaper: whatever the child forks, however often, stays below the guardian.
//! Therefore "no child left to wait for" means "no process left", and nothing is ever found or
//! killed by name.
//!
//! The tree ends when the parent says so, when the parent's end of the socket closes (it may
//! have been killed with -9), when the guardian gets SIGTERM or SIGHUP, or when the child exits
//! by itself. First comes a signal, after a grace SIGKILL, in rounds until nothing is left or
//! [`KILL_BOUND`] has passed. Every wait has a bound, except the wait for the child while all
//! is well.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use observe::procfs::{Stat, Table};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};
use rustix::thread::CpuSet;

use crate::brake::Hold;
use crate::protocol::{self, Event, Inbox, Order, Spec, TreeUsage};

/// Time between SIGTERM and SIGKILL when the parent is gone, or when the child has exited and
/// left others behind.
pub const ORPHAN_GRACE: Duration = Duration::from_millis(500);
/// How long SIGKILL is repeated before what is left is reported: only a process stuck in the
/// kernel, or of another user, outlives it.
pub const KILL_BOUND: Duration = Duration::from_secs(10);
/// How long the guardian waits for its task.
const SPEC_BOUND: Duration = Duration::from_secs(10);
/// Between two looks at the tree while it ends.
const ROUND: Duration = Duration::from_millis(20);

const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

/// The body of the hidden verb `__guard`: reads its task from the socket on standard input,
/// guards the child to its end and returns the exit code of the guardian itself: 0 when the
/// tree is gone, 1 when it could not be started or something is left.
#[must_use]
pub fn guard_main() -> i32 {
    let Ok(control) = io::stdin().as_fd().try_clone_to_owned() else { return 1 };
    let control = UnixStream::from(control);
    match start(&control) {
        Ok(Some((guardian, pid, start_ticks))) => {
            let _ = protocol::send_line(&control, &Event::Started { pid, start_ticks });
            guardian.watch()
        }
        // The parent is gone before it said what to start.
        Ok(None) => 1,
        Err((doing, why)) => {
            let _ = protocol::send_line(&control, &Event::Failed { doing, why: why.to_string() });
            1
        }
    }
}

type Started<'a> = Option<(Guardian<'a>, u32, u64)>;

/// Prepares this process, then starts the child. An error names what was being done.
fn start(control: &UnixStream) -> Result<Started<'_>, (String, io::Error)> {
    // Fails only for a process that leads a group already, which is then its own session or
    // one that somebody else manages on purpose.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(doing("become a subreaper"))?;
    let wake = signals().map_err(doing("catch signals"))?;

    let mut inbox = Inbox::default();
    let stdio = protocol::receive_stdio(control).map_err(doing("receive descriptors"))?;
    let Some(stdio) = stdio else { return Ok(None) };
    let spec = receive_spec(control, &mut inbox).map_err(doing("receive the task"))?;
    let Some(spec) = spec else { return Ok(None) };
    pin(&spec.cpus).map_err(doing(format!("run on cores {:?}", spec.cpus)))?;
    let program = spec.argv.first().cloned().unwrap_or_default();
    let main = spawn(&spec, stdio).map_err(doing(format!("start `{program}`")))?;
    // It cannot have been reaped yet: only this process could have done so.
    let start_ticks = observe::procfs::start_ticks(Path::new("/proc"), main).unwrap_or(0);
    let guardian = Guardian {
        brake: spec.brake.map(Hold::new),
        control: Some(control),
        wake,
        inbox,
        main: i32::try_from(main).ok().and_then(Pid::from_raw),
        exit: None,
        phase: Phase::Watching,
    };
    Ok(Some((guardian, main, start_ticks)))
}

/// Adds to an error what was being done.
fn doing<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> (String, io::Error) {
    move |error| (what.into(), error.into())
}

/// Descriptors that become readable on signals.
struct Wake {
    child: UnixStream,
    end: UnixStream,
}

fn signals() -> io::Result<Wake> {
    let (child, child_write) = UnixStream::pair()?;
    let (end, end_write) = UnixStream::pair()?;
    child.set_nonblocking(true)?;
    end.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, child_write)?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::low_level::pipe::register(signal, end_write.try_clone()?)?;
    }
    // Caught and forgotten rather than ignored: an ignored signal would be inherited by the
    // child, a caught one is reset by exec. A shell ignores SIGINT and SIGQUIT for what it starts in
    // the background, and a target that is stopped by one of them would never hear it.
    use signal_hook::consts::{SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};
    for signal in [SIGINT, SIGQUIT, SIGUSR1, SIGUSR2] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(Wake { child, end })
}

fn receive_spec(control: &UnixStream, inbox: &mut Inbox) -> io::Result<Option<Spec>> {
    let deadline = Instant::now() + SPEC_BOUND;
    loop {
        if let Some(spec) = inbox.next()? {
            return Ok(Some(spec));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        wait_readable(&[control.as_fd()], left);
        if receive(control, inbox)? == Received::Closed {
            return Ok(None);
        }
    }
}

fn pin(cpus: &[u32]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus.iter().map(|&cpu| cpu as usize).filter(|cpu| *cpu < CpuSet::MAX_CPU) {
        set.set(cpu);
    }
    // The kernel refuses a set without any core of this machine, and silently drops others.
    let effective = match rustix::thread::sched_setaffinity(None, &set) {
        Ok(()) => rustix::thread::sched_getaffinity(None)?,
        Err(Errno::INVAL) => CpuSet::new(),
        Err(error) => return Err(error.into()),
    };
    let has = |cpu: u32| (cpu as usize) < CpuSet::MAX_CPU && effective.is_set(cpu as usize);
    match cpus.iter().find(|cpu| !has(**cpu)) {
        Some(cpu) => Err(io::Error::other(format!("this process may not use core {cpu}"))),
        None => Ok(()),
    }
}

fn spawn(spec: &Spec, stdio: [OwnedFd; 3]) -> io::Result<u32> {
    let [stdin, stdout, stderr] = stdio;
    let program = spec.argv.first().ok_or_else(|| io::Error::other("no program is named"))?;
    let mut command = Command::new(program);
    command.args(&spec.argv[1..]);
    if spec.env_clear {
        command.env_clear();
    }
    command.envs(&spec.env);
    if let Some(cwd) = &spec.cwd {
        command.current_dir(cwd);
    }
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    // A group of its own, so that a child which signals its group does not hit its guardian.
    command.process_group(0);
    // Waited for by number with everything else below, not through this handle.
    Ok(command.spawn()?.id())
}

#[derive(PartialEq, Eq)]
enum Received {
    Nothing,
    Bytes,
    Closed,
}

/// Reads once without waiting.
fn receive(control: &UnixStream, inbox: &mut Inbox) -> io::Result<Received> {
    let mut bytes = [0_u8; 4096];
    match rustix::net::recv(control, &mut bytes[..], rustix::net::RecvFlags::DONTWAIT) {
        Ok((_, 0)) => Ok(Received::Closed),
        Ok((_, count)) => {
            inbox.push(&bytes[..count]);
            Ok(Received::Bytes)
        }
        Err(Errno::AGAIN | Errno::INTR) => Ok(Received::Nothing),
        // A reset is an end like any other.
        Err(_) => Ok(Received::Closed),
    }
}

/// Waits until one of the descriptors is readable or the time is up.
fn wait_readable(descriptors: &[std::os::fd::BorrowedFd<'_>], timeout: Duration) {
    let mut polled: Vec<PollFd<'_>> =
        descriptors.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let timeout = timespec(timeout);
    // Interruptions and errors only mean one more round of the caller's loop.
    let _ = poll(&mut polled, Some(&timeout));
}

/// A duration for the kernel.
pub(crate) fn timespec(duration: Duration) -> rustix::time::Timespec {
    rustix::time::Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

/// How far the end has come.
enum Phase {
    Watching,
    Stopping {
        signal: i32,
        /// Processes that have had the signal, by pid and start: each gets it once.
        told: HashSet<(u32, u64)>,
        /// Until then, or until it has exited, only the child itself is told: it may want to
        /// end its own children in order (a server with workers, a script with a trap).
        others_at: Instant,
        kill_at: Instant,
    },
    Killing {
        give_up_at: Instant,
    },
}

struct Guardian<'a> {
    /// Held only while the child is watched.
    brake: Option<Hold>,
    control: Option<&'a UnixStream>,
    wake: Wake,
    inbox: Inbox,
    main: Option<Pid>,
    exit: Option<(Option<i32>, Option<i32>)>,
    phase: Phase,
}

impl Guardian<'_> {
    fn watch(mut self) -> i32 {
        let reporting = self.control;
        loop {
            let left = if self.reap() {
                Vec::new()
            } else {
                if self.exit.is_some() && matches!(self.phase, Phase::Watching) {
                    self.end_at_once();
                }
                match self.advance() {
                    Some(pause) => {
                        self.listen(pause);
                        continue;
                    }
                    None => descendants().into_iter().map(|process| process.pid).collect(),
                }
            };
            let (code, signal) = self.exit.unwrap_or((None, None));
            let clean = left.is_empty();
            if let Some(control) = reporting {
                let used = clock::children_usage();
                let usage = TreeUsage {
                    cpu_user_ns: used.cpu_user_ns,
                    cpu_sys_ns: used.cpu_sys_ns,
                    peak_rss_bytes: used.peak_rss_bytes,
                };
                let _ = protocol::send_line(control, &Event::Ended { code, signal, left, usage });
            }
            return i32::from(!clean);
        }
    }

    /// Reaps everything that has ended; true when no process is left in the tree.
    fn reap(&mut self) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if Some(pid) == self.main && !status.stopped() {
                        self.exit = Some((status.exit_status(), status.terminating_signal()));
                        // From here on its number may name another process.
                        self.main = None;
                    }
                }
                Ok(None) => return false,
                Err(Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }

    /// Does what the phase asks for and returns how long to wait before the next look; `None`
    /// when the tree could not be ended.
    fn advance(&mut self) -> Option<Duration> {
        let now = Instant::now();
        if let Phase::Stopping { kill_at, .. } = &self.phase
            && now >= *kill_at
        {
            self.phase = Phase::Killing { give_up_at: now + KILL_BOUND };
        }
        match &mut self.phase {
            Phase::Watching => match (&mut self.brake, self.main) {
                (Some(brake), Some(main)) => Some(brake.advance(main)),
                // Only a bound against a lost wake-up.
                _ => Some(Duration::from_secs(3600)),
            },
            Phase::Stopping { signal, told, others_at, kill_at } => {
                let main = self.main.map(|pid| pid.as_raw_nonzero().get() as u32);
                let all = main.is_none() || now >= *others_at;
                for process in descendants() {
                    let name = (process.pid, process.start_ticks);
                    if (all || Some(process.pid) == main) && told.insert(name) {
                        signal_process(&process, *signal);
                    }
                }
                Some(ROUND.min(kill_at.saturating_duration_since(now)))
            }
            Phase::Killing { give_up_at } => {
                if now >= *give_up_at {
                    return None;
                }
                for process in descendants() {
                    signal_process(&process, SIGKILL);
                }
                Some(ROUND)
            }
        }
    }

    /// Waits for an order, a signal or the end of a child, at most `pause`.
    fn listen(&mut self, pause: Duration) {
        let mut descriptors = vec![self.wake.child.as_fd(), self.wake.end.as_fd()];
        descriptors.extend(self.control.map(AsFd::as_fd));
        wait_readable(&descriptors, pause);
        drain(&self.wake.child);
        if drain(&self.wake.end) {
            self.end_at_once();
        }
        let Some(control) = self.control else { return };
        let closed = receive(control, &mut self.inbox).unwrap_or(Received::Closed);
        loop {
            match self.inbox.next() {
                Ok(Some(order)) => self.obey(&order),
                Ok(None) => break,
                // Not a parent of ours: treated as one that is gone.
                Err(_) => {
                    self.control = None;
                    self.end_at_once();
                    return;
                }
            }
        }
        if closed == Received::Closed {
            self.control = None;
            self.end_at_once();
        }
    }

    fn obey(&mut self, order: &Order) {
        match *order {
            Order::Signal { signal } => {
                // Safe from reuse of the number: it is not reaped while `main` is there.
                if let (Some(main), Some(signal)) = (self.main, Signal::from_named_raw(signal)) {
                    let _ = rustix::process::kill_process(main, signal);
                }
            }
            Order::Stop { signal, grace_ns } => {
                if matches!(self.phase, Phase::Watching) {
                    // A grace beyond a century is one; the sum must not overflow.
                    let grace = Duration::from_nanos(grace_ns.min(1 << 61));
                    self.stop(signal, grace / 2, grace);
                }
            }
            Order::Kill => {
                self.release();
                if !matches!(self.phase, Phase::Killing { .. }) {
                    self.phase = Phase::Killing { give_up_at: Instant::now() + KILL_BOUND };
                }
            }
        }
    }

    /// SIGTERM to everything now, SIGKILL soon; a longer grace that runs is cut short.
    fn end_at_once(&mut self) {
        if !matches!(self.phase, Phase::Killing { .. }) {
            self.stop(SIGTERM, Duration::ZERO, ORPHAN_GRACE);
        }
    }

    /// Lets go of the brake: nothing that is to end is left standing still.
    fn release(&mut self) {
        if let Some(brake) = self.brake.take() {
            brake.release(self.main);
        }
    }

    fn stop(&mut self, signal: i32, others_after: Duration, grace: Duration) {
        self.release();
        let now = Instant::now();
        let sooner = match &self.phase {
            Phase::Stopping { kill_at, .. } => *kill_at,
            _ => now + grace,
        };
        self.phase = Phase::Stopping {
            signal,
            told: HashSet::new(),
            others_at: now + others_after,
            kill_at: sooner.min(now + grace),
        };
    }
}

/// Everything below this process that has not ended.
pub(crate) fn descendants() -> Vec<Stat> {
    let mut table = Table::read(Path::new("/proc"));
    let pids = table.descendants(std::process::id());
    pids.iter()
        .filter_map(|pid| table.by_pid.remove(pid))
        .filter(|process| !matches!(process.state, 'Z' | 'X'))
        .collect()
}

/// Sends a signal to exactly this process: the handle is opened first, then pid and start are
/// compared, so that a number that was given to another process meanwhile is never hit.
pub(crate) fn signal_process(process: &Stat, signal: i32) {
    let Some(signal) = Signal::from_named_raw(signal) else { return };
    let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) else { return };
    let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty());
    let same = Stat::read(Path::new("/proc"), process.pid)
        .is_some_and(|now| now.start_ticks == process.start_ticks);
    if !same {
        return;
    }
    // What cannot be signalled is found again in the next round, and reported in the end.
    let _ = match handle {
        Ok(handle) => rustix::process::pidfd_send_signal(handle, signal),
        // Kernels before 5.3: the comparison above leaves only a narrow race.
        Err(Errno::NOSYS) => rustix::process::kill_process(pid, signal),
        Err(error) => Err(error),
    };
}

/// Empties a wake-up socket; true when there was something.
fn drain(wake: &UnixStream) -> bool {
    let mut some = false;
    let mut bytes = [0_u8; 64];
    while matches!(io::Read::read(&mut &*wake, &mut bytes), Ok(count) if count > 0) {
        some = true;
    }
    some
}
