//! The loop: accepts, reads, sleeps, answers and counts, all on the thread that runs it.
//!
//! Level-triggered epoll with one read for each event; deadlines come before events, so that a
//! busy socket does not lengthen a sleep by more than one batch of events.
//!
//! A peer that closes its side (FIN) has left, as far as sleeping requests go: TCP does not
//! tell a closed socket from one that is shut down for writing and still reads, and load that
//! nobody waits for must not sleep on in the ledger. So a half-closing client gets the answers
//! that are due at once (latency 0, failures by status) and those being sent; what would have
//! to sleep is `abandoned` at once.

use std::io;
use std::mem::{self, MaybeUninit};
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use clock::{Clock as _, Monotonic};
use record::mock::{MockConfig, MockRecord};
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, Shutdown, SocketFlags, sockopt};
use rustix::process::{self, Resource, Rlimit};

use crate::answer::Answers;
use crate::connection::{Connection, Peer, Progress};
use crate::control::Control;
use crate::control_port::ControlListener;
use crate::ledger::Ledger;
use crate::limits::{BODY_MAX_BYTES, Limits};
use crate::request::Refusal;
use crate::script::Script;
use crate::site::Site;
use crate::timers::{Owner, Timers};
use crate::treatment::Decider;
use crate::{MockError, listener};

mod input;
mod questions;
mod scripted;

use input::refuse;
use scripted::Scripted;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;
/// Events of one batch.
const EVENTS: usize = 64;
/// Connections accepted at one event; more wait for the next batch.
const ACCEPTS: usize = 64;
/// Descriptors left to the rest of the process.
const RESERVED_DESCRIPTORS: u64 = 32;
/// A connection's buffer is kept for its next partial request up to this size.
const KEPT_BUFFER_BYTES: usize = 4_096;
/// Before a flush or stop: how long all must be quiet to be taken for done. The kernel delivers
/// what a finished peer sent within microseconds; on a loaded host its softirq may wait for a
/// turn of the scheduler.
const QUIET_NS: u64 = 20_000_000;
/// And how long a peer that keeps sending is waited for.
const CATCH_UP_NS: u64 = 500_000_000;

/// Marks the listener among events; no connection has the slot `u32::MAX`.
const LISTENER: u64 = u64::MAX;
/// Marks the control socket among events.
const CONTROL: u64 = u64::MAX - 1;

/// A place for a connection. The generation grows with each that leaves, so that an event or
/// deadline of an earlier one is not taken for the present one's.
#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    connection: Option<Connection>,
}

/// The mock, bound and ready to run.
#[derive(Debug)]
pub struct Server {
    config: MockConfig,
    limits: Limits,
    answers: Answers,
    treatment: Decider,
    site: Option<Scripted>,
    /// The configuration before a script's `[server]`: what another script starts from.
    flags: MockConfig,
    script_changes: u32,
    control_listener: Option<ControlListener>,
    local_addr: SocketAddr,
    backlog_effective: Option<u32>,
    /// When the server bound: the start of everything that depends on time.
    started_ns: u64,
    listener: OwnedFd,
    accepting: bool,
    epoll: OwnedFd,
    slots: Vec<Slot>,
    free: Vec<u32>,
    timers: Timers,
    next_sweep_ns: u64,
    ledger: Ledger,
    scratch: Vec<u8>,
}

impl Server {
    /// Binds and listens; connections wait until [`Server::run`]. Raises the process's soft
    /// limit on open descriptors to its hard limit, and the ledger opens.
    ///
    /// # Errors
    /// [`MockError`]: the address is unusable or in use, the body is too large, or the kernel
    /// lacks what the mock needs.
    pub fn bind(config: MockConfig) -> Result<Self, MockError> {
        Self::bind_with(config, Limits::default())
    }

    /// [`Server::bind`] with other bounds.
    ///
    /// # Errors
    /// As [`Server::bind`].
    pub fn bind_with(mut config: MockConfig, mut limits: Limits) -> Result<Self, MockError> {
        if config.body_size_bytes > BODY_MAX_BYTES {
            return Err(MockError::BodyTooLarge(config.body_size_bytes));
        }
        let descriptors = raise_descriptor_limit();
        let room = usize::try_from(descriptors.saturating_sub(RESERVED_DESCRIPTORS));
        limits.connections = limits.connections.min(room.unwrap_or(usize::MAX)).max(1);
        limits.pipelined = limits.pipelined.max(1);

        let (listener, local_addr) = listener::listen(&config.listen, config.backlog)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system("epoll"))?;
        // A nanosecond timeout needs `epoll_pwait2`: found out now, not while serving.
        epoll::wait(&epoll, &mut [MaybeUninit::uninit()], Some(&timespec(1)))
            .map_err(system("epoll_pwait2 (Linux 5.11)"))?;
        watch(&epoll, &listener, LISTENER, epoll::EventFlags::IN).map_err(system("epoll"))?;

        config.listen = local_addr.to_string();
        let now_ns = Monotonic.now_ns();
        let mut ledger = Ledger::open(now_ns, 0, 0, Vec::new());
        let control_listener = config.control.as_deref().map(ControlListener::bind).transpose()?;
        if let Some(control) = &control_listener {
            config.control = Some(control.address().to_string());
        }
        let flags = config.clone();
        let mut site = None;
        if let Some(file) = config.script.clone() {
            let (script, text) = Script::read_file(Path::new(&file), &config)?;
            config = script.config.clone();
            let sha256 = sha256_hex(&text);
            site = Some(Scripted::new(Site::new(script, &config.listen)?, sha256, &mut ledger));
        }
        Ok(Self {
            site,
            flags,
            script_changes: 0,
            control_listener,
            answers: Answers::new(&config),
            treatment: Decider::new(&config)?,
            backlog_effective: listener::effective_backlog(config.backlog),
            config,
            local_addr,
            started_ns: now_ns,
            listener,
            accepting: true,
            epoll,
            slots: Vec::new(),
            free: Vec::new(),
            timers: Timers::default(),
            next_sweep_ns: now_ns.saturating_add(limits.stalled_request_ns / 2),
            ledger,
            scratch: vec![0; READ_BYTES],
            limits,
        })
    }

    /// Where it listens, with the port that the system chose for port 0.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The configuration in effect: the port that was chosen, and what the script sets.
    #[must_use]
    pub fn config(&self) -> &MockConfig {
        &self.config
    }

    /// The backlog that was asked for.
    #[must_use]
    pub fn backlog(&self) -> u32 {
        self.config.backlog
    }

    /// The backlog in effect, where the kernel's limit can be read; fewer than asked for look like
    /// a knee of whatever is measured.
    #[must_use]
    pub fn effective_backlog(&self) -> Option<u32> {
        self.backlog_effective
    }

    /// Whether only this host can reach it.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.local_addr.ip().is_loopback()
    }

    /// The bounds in effect: the number of connections may be lower than asked.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Serves until `control` asks to stop; returns what was seen since the last flush.
    ///
    /// Before a flush or stop, all that peers have sent is read, until nothing came for 20 ms,
    /// and at most for 500 ms: a generator that has exited is accounted for in full. Then, at
    /// a flush, requests whose peer has gone are `abandoned` and others carry over to the next
    /// record; at a stop, all that are in flight are `abandoned`.
    ///
    /// # Panics
    /// When the kernel refuses to wait on a valid epoll descriptor: our own bug.
    #[must_use]
    pub fn run(mut self, mut control: Control) -> MockRecord {
        // Best effort: without it sleeps are up to 50 µs longer, which the record shows.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        watch(&self.epoll, control.wake_reader(), CONTROL, epoll::EventFlags::IN)
            .expect("the control socket is open and not watched yet");
        let port = self.control_listener.take();
        // Without a thread the port stays silent; the mock itself does its work.
        let port = port.and_then(|port| port.serve(control.handle()).ok());
        loop {
            control.answer(|question| self.reply(question));
            if control.take_flush() {
                self.flush(&mut control);
            }
            if control.stop_asked() {
                control.close_questions();
                drop(port);
                return self.stop(&mut control);
            }
            self.turn(&mut control, None);
        }
    }

    fn flush(&mut self, control: &mut Control) {
        self.catch_up(control);
        self.close_where(|connection| connection.peer_closed);
        control.flushed(self.record());
        let (in_flight, unsettled) = (self.ledger.in_flight(), self.ledger.unsettled());
        let names = self.ledger.endpoint_names();
        self.ledger = Ledger::open(Monotonic.now_ns(), in_flight, unsettled, names);
        for connection in self.slots.iter().filter_map(|slot| slot.connection.as_ref()) {
            if !connection.queue.is_empty() {
                self.ledger.peer(connection.peer.port);
            }
        }
    }

    fn stop(&mut self, control: &mut Control) -> MockRecord {
        self.catch_up(control);
        self.close_where(|_| true);
        assert_eq!(self.ledger.in_flight(), 0, "a closed connection has nothing in flight");
        assert_eq!(self.ledger.unsettled(), 0, "every request read has one outcome");
        self.record()
    }

    fn record(&self) -> MockRecord {
        let record = self.ledger.record(Monotonic.now_ns(), &self.config);
        MockRecord {
            backlog_effective: self.backlog_effective,
            script_changes: self.script_changes,
            script_sha256: self.site.as_ref().map(|site| site.sha256.clone()),
            ..record
        }
    }

    /// Does all that is pending, until it is quiet.
    fn catch_up(&mut self, control: &mut Control) {
        let deadline_ns = Monotonic.now_ns() + CATCH_UP_NS;
        while self.turn(control, Some(QUIET_NS)) > 0 && Monotonic.now_ns() < deadline_ns {}
    }

    /// One round: waits for events or the next deadline, at most `at_most_ns`; handles them.
    /// Returns how many there were.
    fn turn(&mut self, control: &mut Control, at_most_ns: Option<u64>) -> usize {
        let wake_ns = self.timers.next_ns().unwrap_or(u64::MAX).min(self.next_sweep_ns);
        let wait_ns = wake_ns.saturating_sub(Monotonic.now_ns());
        let timeout = timespec(wait_ns.min(at_most_ns.unwrap_or(u64::MAX)));
        let mut buffer = [const { MaybeUninit::<epoll::Event>::uninit() }; EVENTS];
        let events = match epoll::wait(&self.epoll, &mut buffer[..], Some(&timeout)) {
            Ok((events, _)) => &*events,
            Err(Errno::INTR) => &[],
            Err(error) => panic!("waiting on an open epoll descriptor failed: {error}"),
        };
        let now_ns = Monotonic.now_ns();
        let mut handled = self.wake_sleepers(now_ns);
        if now_ns >= self.next_sweep_ns {
            self.sweep(now_ns);
        }
        for event in events {
            let (token, flags) = (event.data.u64(), event.flags);
            match token {
                CONTROL => control.woken(),
                LISTENER => self.accept(),
                _ => self.ready(token, flags),
            }
            handled += usize::from(token != CONTROL);
        }
        handled
    }

    /// Does what is due by `now_ns`; returns how many deadlines came up.
    fn wake_sleepers(&mut self, now_ns: u64) -> usize {
        let mut woken = 0;
        while let Some(owner) = self.timers.pop_due(now_ns) {
            woken += 1;
            let Some(connection) = self.connection(owner) else { continue };
            if let Some(until_ns) = connection.linger_until_ns {
                if until_ns <= now_ns {
                    self.close(owner.slot);
                }
                continue;
            }
            connection.armed = false;
            // Not the instant of the first: those before it took time.
            self.advance(owner.slot, Monotonic.now_ns());
        }
        woken
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS {
            if self.open_connections() >= self.limits.connections {
                return self.set_accepting(false);
            }
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match net::acceptfrom_with(&self.listener, flags) {
                Ok((socket, peer)) => {
                    let peer = peer.and_then(|peer| SocketAddr::try_from(peer).ok());
                    let unknown = SocketAddr::from(([0, 0, 0, 0], 0));
                    let peer = peer.unwrap_or(unknown);
                    self.open(socket, Peer { address: peer.ip(), port: peer.port() });
                }
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => return,
                // Out of descriptors or memory: try again when a connection closes, or at the
                // next sweep.
                Err(_) => return self.set_accepting(false),
            }
        }
    }

    fn open(&mut self, socket: OwnedFd, peer: Peer) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let interest = epoll::EventFlags::IN | epoll::EventFlags::RDHUP;
        let place = &mut self.slots[slot as usize];
        let token = u64::from(place.generation) << 32 | u64::from(slot);
        if watch(&self.epoll, &socket, token, interest).is_err() {
            // Out of memory or of `max_user_watches`: the peer sees its connection closed.
            self.free.push(slot);
            return;
        }
        let mut connection = Connection::new(socket, peer, interest);
        connection.reader.keep(self.site.is_some());
        place.connection = Some(connection);
        self.ledger.accepted(peer.port);
    }

    /// An event of a connection.
    fn ready(&mut self, token: u64, flags: epoll::EventFlags) {
        let owner = Owner { slot: token as u32, generation: (token >> 32) as u32 };
        let Some(connection) = self.connection(owner) else { return };
        let gone = epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
        let input = gone | epoll::EventFlags::IN;
        if flags.intersects(gone) {
            connection.peer_closed = true;
        }
        if flags.intersects(input) {
            self.read(owner.slot);
        } else {
            self.advance(owner.slot, Monotonic.now_ns());
        }
    }

    /// Reads once, or to the end from a peer that has closed its side, and does what is due.
    fn read(&mut self, slot: u32) {
        let mut scratch = mem::take(&mut self.scratch);
        let mut gone = false;
        let mut read_ns = None;
        while let Some(connection) = self.slots[slot as usize].connection.as_mut() {
            match net::recv(&connection.socket, &mut scratch[..], RecvFlags::empty()) {
                Ok((0, _)) => {
                    self.end_of_input(slot);
                    break;
                }
                Ok((bytes, _)) => {
                    let more = connection.peer_closed;
                    let now_ns = *read_ns.insert(Monotonic.now_ns());
                    self.parse(slot, &scratch[..bytes], now_ns);
                    if !more {
                        break;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    self.end_of_input(slot);
                    gone = true;
                    break;
                }
            }
        }
        self.scratch = scratch;
        if gone {
            self.close(slot);
        } else {
            // What is due at once is done as of when it was read: a clock less for each request.
            self.advance(slot, read_ns.unwrap_or_else(|| Monotonic.now_ns()));
        }
    }

    /// Does what is due at `now_ns` on a connection, and arranges for what comes next.
    fn advance(&mut self, slot: u32, mut now_ns: u64) {
        loop {
            let Some(connection) = self.slots[slot as usize].connection.as_mut() else { return };
            if connection.linger_until_ns.is_some() {
                if connection.peer_closed {
                    self.close(slot);
                }
                return;
            }
            let clock = || Monotonic.now_ns();
            let progress = connection.advance(&mut self.ledger, now_ns, clock);
            let room = connection.queue.len() < self.limits.pipelined;
            match progress {
                Progress::Gone if connection.peer_closed => return self.close(slot),
                Progress::Gone => {
                    // What it sent before it left was sent, and is counted.
                    connection.peer_closed = true;
                    connection.abandon(&mut self.ledger);
                    return self.read(slot);
                }
                Progress::Reset => {
                    // Best effort: a socket that cannot be reset is closed all the same.
                    let _ = sockopt::set_socket_linger(&connection.socket, Some(Duration::ZERO));
                    return self.close(slot);
                }
                Progress::Finished => return self.finish(slot, now_ns),
                Progress::Blocked | Progress::Waiting(_) if connection.held && room => {
                    now_ns = Monotonic.now_ns();
                    self.parse(slot, &[], now_ns);
                    continue;
                }
                Progress::Waiting(_) if connection.peer_closed => return self.close(slot),
                Progress::Waiting(Some(due_ns)) if !connection.armed => {
                    connection.armed = true;
                    self.arm(slot, due_ns);
                }
                Progress::Blocked | Progress::Waiting(_) => {}
            }
            return self.set_interest(slot);
        }
    }

    /// Ends a connection whose last answer is sent.
    fn finish(&mut self, slot: u32, now_ns: u64) {
        let Some(connection) = self.slots[slot as usize].connection.as_mut() else { return };
        let unread = connection.input_left && !connection.peer_closed;
        if !unread || net::shutdown(&connection.socket, Shutdown::Write).is_err() {
            return self.close(slot);
        }
        let until_ns = now_ns.saturating_add(self.limits.linger_ns);
        connection.linger_until_ns = Some(until_ns);
        self.arm(slot, until_ns);
        self.set_interest(slot);
    }

    fn arm(&mut self, slot: u32, due_ns: u64) {
        let generation = self.slots[slot as usize].generation;
        self.timers.add(due_ns, Owner { slot, generation });
        // A live connection has at most two deadlines; the rest are stale.
        if self.timers.len() > 2 * self.open_connections() + 1_024 {
            let slots = &self.slots;
            self.timers.retain(|owner| {
                let slot = &slots[owner.slot as usize];
                slot.generation == owner.generation && slot.connection.is_some()
            });
        }
    }

    fn set_interest(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        let Some(connection) = place.connection.as_mut() else { return };
        let wanted = connection.wanted(self.limits.pipelined);
        if wanted != connection.interest {
            connection.interest = wanted;
            let token = u64::from(place.generation) << 32 | u64::from(slot);
            let data = epoll::EventData::new_u64(token);
            epoll::modify(&self.epoll, &connection.socket, data, wanted)
                .expect("an open connection is watched");
        }
    }

    /// Closes a connection; what is in flight on it is abandoned.
    fn close(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        let Some(mut connection) = place.connection.take() else { return };
        connection.abandon(&mut self.ledger);
        // Closing the only descriptor of a socket ends its watch.
        drop(connection);
        place.generation = place.generation.wrapping_add(1);
        self.free.push(slot);
        if !self.accepting {
            self.set_accepting(true);
        }
    }

    fn close_where(&mut self, which: impl Fn(&Connection) -> bool) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].connection.as_ref().is_some_and(&which) {
                self.close(slot as u32);
            }
        }
    }

    /// Refuses requests that made no progress for too long, and tries to accept again.
    fn sweep(&mut self, now_ns: u64) {
        self.next_sweep_ns = now_ns.saturating_add((self.limits.stalled_request_ns / 2).max(1));
        let oldest_ns = now_ns.saturating_sub(self.limits.stalled_request_ns);
        for slot in 0..self.slots.len() {
            let Some(connection) = self.slots[slot].connection.as_mut() else { continue };
            if connection.progress_ns.is_some_and(|progress_ns| progress_ns <= oldest_ns) {
                refuse(connection, &mut self.ledger, &self.answers, Refusal::Stalled, now_ns);
                self.advance(slot as u32, now_ns);
            }
        }
        if !self.accepting && self.open_connections() < self.limits.connections {
            self.set_accepting(true);
        }
    }

    fn set_accepting(&mut self, accepting: bool) {
        self.accepting = accepting;
        let wanted = if accepting { epoll::EventFlags::IN } else { epoll::EventFlags::empty() };
        epoll::modify(&self.epoll, &self.listener, epoll::EventData::new_u64(LISTENER), wanted)
            .expect("the listener is watched");
    }

    fn open_connections(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn connection(&mut self, owner: Owner) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(owner.slot as usize)?;
        if slot.generation != owner.generation {
            return None;
        }
        slot.connection.as_mut()
    }
}

/// SHA-256 in hexadecimal.
fn sha256_hex(text: &str) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn watch(
    epoll: &OwnedFd,
    source: impl std::os::fd::AsFd,
    token: u64,
    flags: epoll::EventFlags,
) -> Result<(), Errno> {
    epoll::add(epoll, source, epoll::EventData::new_u64(token), flags)
}

fn system(what: &'static str) -> impl FnOnce(Errno) -> MockError {
    move |errno| MockError::System { what, source: io::Error::from(errno) }
}

fn timespec(ns: u64) -> Timespec {
    // At most 2^64 / 10^9 seconds, and less than a second of the rest: both fit.
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// Raises the soft limit on open descriptors as far as allowed; returns it.
fn raise_descriptor_limit() -> u64 {
    let Rlimit { current, maximum } = process::getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let effective = match process::setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(_) => current,
    };
    effective.unwrap_or(u64::MAX)
}
