//! One thread of load: an epoll set, its connections and its books.
//!
//! Sockets are registered once, edge-triggered, for both directions; an answer costs one read,
//! one clock reading and one write of the next request. In a closed loop slot `i` belongs to
//! user `i`; in an open loop slots are a pool and the due requests that wait for one are the
//! index range `head..next`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clock::{Clock, Monotonic};
use record::load::Connections;
use record::pause::Pause;
use record::plan::Expect;
use record::sources::{self, SourceRange};
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use crate::arrivals::Cursor;
use crate::connection::{Connection, InFlight, Stage, begin_connect};
use crate::failure::{Failure, Kind};
use crate::phases::{Phase, Phases};
use crate::ports::PortMap;
use crate::recorder::{Recorder, Times};
use crate::request::Request;

/// Bytes read at once. Larger than a socket's usual burst, small enough to stay in cache.
const SCRATCH_BYTES: usize = 64 * 1024;
/// Events taken at once; few, so that a request due in an open loop waits for few answers.
const EVENTS: usize = 64;
/// Between two looks for timeouts and two publications of progress.
const SWEEP_NS: u64 = 50_000_000;
/// A user that could not connect tries again after this: a refusal costs nothing, and without
/// a pause the loop would spin on it.
const BACKOFF_NS: u64 = 100_000_000;

/// What all threads share.
pub(crate) struct Shared<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) warmup_request: Request,
    pub(crate) request: Request,
    pub(crate) expect: &'a Expect,
    pub(crate) timeout_ns: u64,
    /// Closed loop: requests of each user in a counted window.
    pub(crate) each: Option<u64>,
    /// Addresses that connections come from, in turn.
    pub(crate) sources: &'a [SourceRange],
    /// Closed loop: between an answer and the next request.
    pub(crate) pause: Pause,
    /// Each request has a connection of its own.
    pub(crate) new_connections: bool,
    pub(crate) phases: Phases,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) start_ns: u64,
}

/// Counters that a thread publishes for the progress display.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Published {
    pub(crate) sent: AtomicU64,
    pub(crate) succeeded: AtomicU64,
    pub(crate) failed: AtomicU64,
}

/// The requests of an open loop that belong to one thread: `first`, `first + stride`, ...
#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) stride: u64,
    /// The next arrival that is not yet due.
    pub(crate) next: Cursor,
    /// The oldest due arrival that was not yet attempted.
    pub(crate) head: Cursor,
    /// What is due before this offset belongs to the warm-up, ns.
    pub(crate) window_start_ns: u64,
    /// The offset from which on nothing is due any more, ns.
    pub(crate) end_ns: u64,
    pub(crate) queued_peak: u64,
}

impl Schedule {
    fn phase(&self, due_ns: u64) -> Phase {
        if due_ns < self.window_start_ns { Phase::WarmUp } else { Phase::Window }
    }

    fn queued(&self) -> u64 {
        (self.next.index() - self.head.index()) / self.stride
    }

    /// The offset of the oldest arrival that waits, which is taken.
    fn take(&mut self) -> Option<u64> {
        if self.head.index() >= self.next.index() {
            return None;
        }
        let due_ns = self.head.due_ns();
        self.head.advance(self.stride);
        Some(due_ns)
    }
}

/// Where work comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// This many users, each with its slot.
    Closed(u32),
    /// A schedule.
    Open(Schedule),
}

/// A user that does not go on yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    until_ns: u64,
    slot: u32,
    /// When its pause began; none for one that could not connect and tries again.
    since_ns: Option<u64>,
}

/// A thread's state, and its results when [`Worker::run`] returns.
pub(crate) struct Worker<'a> {
    shared: &'a Shared<'a>,
    published: &'a Published,
    epoll: OwnedFd,
    slots: Vec<Connection>,
    most_connections: usize,
    source: Source,
    /// Open loop: established connections without a request, the last used on top.
    idle: Vec<u32>,
    /// Slots without a socket.
    free: Vec<u32>,
    /// Closed loop: users that wait, the first to go on on top.
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// Closed loop with pauses: by slot, when the user began its first request and how many since.
    users: Vec<(u64, u64)>,
    /// Closed loop with a count for each user: its requests in the window, by slot.
    done: Vec<u64>,
    /// The latest clock reading taken for an answer.
    last_answer_ns: u64,
    in_flight: u64,
    open_connections: u64,
    scratch: Vec<u8>,
    /// Number of the next connection among those of all threads, by its source.
    next_source: u64,
    source_stride: u64,
    pub(crate) in_flight_peak: u64,
    /// Time of the window for which users paused, ns.
    pub(crate) paused_ns: u64,
    pub(crate) recorder: Recorder,
    pub(crate) connections: Connections,
    pub(crate) ports: PortMap,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        published: &'a Published,
        source: Source,
        most_connections: usize,
        (thread, threads): (u64, u64),
    ) -> Result<Self, Errno> {
        let mut recorder = Recorder::new(matches!(source, Source::Open(_)));
        if let Some(window_start_ns) = shared.phases.window_start_ns() {
            recorder.series.start(window_start_ns);
        }
        Ok(Self {
            shared,
            published,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            slots: Vec::new(),
            most_connections,
            source,
            idle: Vec::new(),
            free: Vec::new(),
            waiting: BinaryHeap::new(),
            users: Vec::new(),
            done: Vec::new(),
            last_answer_ns: 0,
            in_flight: 0,
            open_connections: 0,
            scratch: vec![0; SCRATCH_BYTES],
            next_source: thread,
            source_stride: threads,
            in_flight_peak: 0,
            paused_ns: 0,
            recorder,
            connections: Connections { bound: most_connections as u64, ..Connections::default() },
            ports: PortMap::default(),
        })
    }

    /// The queue's peak, in an open loop.
    pub(crate) fn queued_peak(&self) -> u64 {
        match &self.source {
            Source::Open(schedule) => schedule.queued_peak,
            Source::Closed(_) => 0,
        }
    }

    /// Drives the load to its end.
    pub(crate) fn run(&mut self) -> Result<(), Errno> {
        let mut events = Vec::with_capacity(EVENTS);
        let mut next_sweep_ns = self.shared.start_ns + SWEEP_NS;
        if let Source::Closed(users) = self.source {
            let now_ns = Monotonic.now_ns();
            for slot in 0..users {
                self.slots.push(Connection::new());
                if self.shared.each.is_some() {
                    self.done.push(0);
                }
                if !self.shared.pause.is_none() {
                    self.users.push((now_ns, 0));
                }
                self.begin_user(slot, now_ns);
            }
        }
        loop {
            let now_ns = Monotonic.now_ns();
            self.arrive(now_ns);
            if now_ns >= next_sweep_ns {
                self.sweep(now_ns);
                next_sweep_ns = now_ns + SWEEP_NS;
            }
            if self.is_finished(now_ns) {
                break;
            }
            let wait_ns = self.next_wake_ns(now_ns, next_sweep_ns).saturating_sub(now_ns);
            let timeout = Timespec {
                tv_sec: (wait_ns / 1_000_000_000) as i64,
                tv_nsec: (wait_ns % 1_000_000_000) as i64,
            };
            events.clear();
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                Some(&timeout),
            ) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
            for event in &events {
                self.handle(event.data.u64(), event.flags);
                // An answer frees a connection and time has passed: what is due goes first.
                self.arrive(self.last_answer_ns);
            }
            self.publish();
        }
        self.finish();
        self.publish();
        Ok(())
    }

    fn publish(&self) {
        self.published.sent.store(self.recorder.whole_life.sent, Ordering::Relaxed);
        self.published.succeeded.store(self.recorder.succeeded_whole_life, Ordering::Relaxed);
        self.published.failed.store(self.recorder.failed_whole_life, Ordering::Relaxed);
    }

    fn is_finished(&self, now_ns: u64) -> bool {
        if self.shared.stop.load(Ordering::Relaxed) {
            return true;
        }
        if self.shared.phases.hard_end_ns().is_some_and(|end| now_ns >= end) {
            return true;
        }
        let none_left = match &self.source {
            Source::Closed(_) => true,
            Source::Open(schedule) => schedule.head.due_ns() >= schedule.end_ns,
        };
        // A thread with nothing left waits for the window's end all the same, so that its
        // cores are accounted over the whole of it.
        let window_over = self.shared.phases.window_end_ns().is_some_and(|end| now_ns >= end);
        none_left && self.in_flight == 0 && window_over
    }

    fn next_wake_ns(&self, now_ns: u64, next_sweep_ns: u64) -> u64 {
        let mut wake = next_sweep_ns;
        if let Source::Open(schedule) = &self.source
            && schedule.next.due_ns() < schedule.end_ns
        {
            wake = wake.min(self.shared.start_ns + schedule.next.due_ns());
        }
        if let Some(Reverse(first)) = self.waiting.peek() {
            wake = wake.min(first.until_ns);
        }
        let edges = [self.shared.phases.window_end_ns(), self.shared.phases.hard_end_ns()];
        for edge in edges.into_iter().flatten().filter(|edge| *edge > now_ns) {
            wake = wake.min(edge);
        }
        wake
    }

    /// Takes in what became due, and users whose pause is over.
    #[inline]
    fn arrive(&mut self, now_ns: u64) {
        match &mut self.source {
            Source::Open(schedule) => {
                let since_ns = now_ns.saturating_sub(self.shared.start_ns);
                while schedule.next.due_ns() < schedule.end_ns && schedule.next.due_ns() <= since_ns
                {
                    self.recorder.due(schedule.phase(schedule.next.due_ns()));
                    schedule.next.advance(schedule.stride);
                }
                self.serve_queue();
            }
            Source::Closed(_) => {
                while let Some(Reverse(first)) = self.waiting.peek().copied()
                    && first.until_ns <= now_ns
                {
                    self.waiting.pop();
                    self.paused(&first, now_ns);
                    self.begin_user(first.slot, now_ns);
                }
            }
        }
    }

    /// Enters a pause that ends at `now_ns`: the part of it that lies in the window.
    fn paused(&mut self, waiting: &Waiting, now_ns: u64) {
        let phases = &self.shared.phases;
        let (Some(since_ns), Some(start_ns)) = (waiting.since_ns, phases.window_start_ns()) else {
            return;
        };
        let end_ns = phases.window_end_ns().unwrap_or(u64::MAX).min(now_ns);
        self.paused_ns += end_ns.saturating_sub(since_ns.max(start_ns));
    }

    /// Closed loop: the user of this slot has its answer, and pauses or goes on.
    #[inline]
    fn go_on(&mut self, slot: u32, now_ns: u64) {
        if self.shared.pause.is_none() {
            return self.begin_user(slot, now_ns);
        }
        let (first_ns, count) = self.users[slot as usize];
        let until_ns = self.shared.pause.until_ns(first_ns, count, now_ns);
        if until_ns > now_ns {
            self.waiting.push(Reverse(Waiting { until_ns, slot, since_ns: Some(now_ns) }));
        } else {
            self.begin_user(slot, now_ns);
        }
    }

    /// Open loop: gives waiting requests to connections while there are any.
    fn serve_queue(&mut self) {
        loop {
            let Source::Open(schedule) = &mut self.source else { return };
            if schedule.queued() == 0 {
                return;
            }
            let slot = if let Some(slot) = self.idle.pop() {
                slot
            } else if (self.open_connections as usize) < self.most_connections {
                self.free.pop().unwrap_or_else(|| {
                    self.slots.push(Connection::new());
                    (self.slots.len() - 1) as u32
                })
            } else {
                schedule.queued_peak = schedule.queued_peak.max(schedule.queued());
                return;
            };
            let Some(due_ns) = schedule.take() else { return };
            // Read anew for each: after a stall the queue is long and sending it takes time.
            let now_ns = Monotonic.now_ns();
            let in_flight = InFlight {
                phase: schedule.phase(due_ns),
                times: Times { due_ns: self.shared.start_ns + due_ns, sent_ns: now_ns },
                attempt_ns: now_ns,
            };
            self.begin(slot, in_flight);
        }
    }

    /// Closed loop: the user of this slot wants to send.
    #[inline]
    fn begin_user(&mut self, slot: u32, now_ns: u64) {
        if let (Some(each), Some(done)) = (self.shared.each, self.done.get(slot as usize))
            && *done >= each
        {
            return;
        }
        let Some(phase) = self.shared.phases.admit(now_ns) else { return };
        if phase == Phase::Window
            && let Some(done) = self.done.get_mut(slot as usize)
        {
            *done += 1;
        }
        if phase == Phase::Window
            && self.recorder.worker.due == 0
            && let Some(window_start_ns) = self.shared.phases.window_start_ns()
        {
            self.recorder.series.start(window_start_ns);
        }
        if let Some((_, count)) = self.users.get_mut(slot as usize) {
            *count += 1;
        }
        self.recorder.due(phase);
        let times = Times { due_ns: now_ns, sent_ns: now_ns };
        self.begin(slot, InFlight { phase, times, attempt_ns: now_ns });
    }

    /// Sends on an established connection, or connects first.
    #[inline]
    fn begin(&mut self, slot: u32, in_flight: InFlight) {
        self.in_flight += 1;
        self.in_flight_peak = self.in_flight_peak.max(self.in_flight);
        let connection = &mut self.slots[slot as usize];
        connection.in_flight = Some(in_flight);
        if connection.stage == Stage::Idle {
            connection.written = 0;
            connection.stage = Stage::Writing;
            self.write(slot);
        } else {
            self.connect(slot);
        }
    }

    fn connect(&mut self, slot: u32) {
        let source = sources::nth(self.shared.sources, self.next_source);
        self.next_source += self.source_stride;
        let connected = begin_connect(&self.shared.address, source).and_then(|socket| {
            let flags = epoll::EventFlags::IN
                | epoll::EventFlags::OUT
                | epoll::EventFlags::RDHUP
                | epoll::EventFlags::ET;
            let generation = self.slots[slot as usize].generation;
            let data = epoll::EventData::new_u64(u64::from(generation) << 32 | u64::from(slot));
            epoll::add(&self.epoll, &socket, data, flags)?;
            Ok(socket)
        });
        match connected {
            Ok(socket) => {
                let connection = &mut self.slots[slot as usize];
                connection.socket = Some(socket);
                connection.stage = Stage::Connecting;
                connection.written = 0;
                self.open_connections += 1;
                self.connections.peak = self.connections.peak.max(self.open_connections);
            }
            Err(errno) => {
                self.connections.failed += 1;
                self.fail(slot, Kind::Refused, None, format!("cannot connect: {errno}"));
            }
        }
    }

    #[inline]
    fn handle(&mut self, data: u64, flags: epoll::EventFlags) {
        let slot = data as u32;
        let connection = &mut self.slots[slot as usize];
        if connection.generation != (data >> 32) as u32 {
            return;
        }
        match connection.stage {
            Stage::Closed => {}
            Stage::Connecting => self.connected(slot),
            Stage::Idle => {
                // Nothing was asked: the peer closed, or said something on its own.
                if flags.intersects(
                    epoll::EventFlags::IN
                        | epoll::EventFlags::RDHUP
                        | epoll::EventFlags::HUP
                        | epoll::EventFlags::ERR,
                ) {
                    self.idle.retain(|idle| *idle != slot);
                    self.close(slot);
                    if matches!(self.source, Source::Open(_)) {
                        self.free.push(slot);
                    }
                }
            }
            Stage::Writing => {
                if flags.intersects(epoll::EventFlags::OUT) {
                    self.write(slot);
                }
                if self.slots[slot as usize].stage == Stage::Reading
                    || flags.intersects(epoll::EventFlags::HUP | epoll::EventFlags::ERR)
                {
                    self.read(slot, flags);
                }
            }
            Stage::Reading => self.read(slot, flags),
        }
    }

    fn connected(&mut self, slot: u32) {
        match self.slots[slot as usize].finish_connect() {
            Ok(port) => {
                let now_ns = Monotonic.now_ns();
                self.ports.insert(port);
                self.connections.opened += 1;
                let phases = &self.shared.phases;
                if phases.window_start_ns().is_some_and(|start| now_ns >= start)
                    && phases.window_end_ns().is_none_or(|end| now_ns < end)
                {
                    self.connections.opened_in_window += 1;
                }
                let connection = &mut self.slots[slot as usize];
                connection.stage = Stage::Writing;
                if let Some(in_flight) = &mut connection.in_flight {
                    in_flight.times.sent_ns = now_ns;
                }
                self.write(slot);
            }
            Err(error) => {
                self.connections.failed += 1;
                self.fail(slot, Kind::Refused, None, format!("cannot connect: {error}"));
            }
        }
    }

    #[inline]
    fn write(&mut self, slot: u32) {
        let connection = &mut self.slots[slot as usize];
        let Some(in_flight) = connection.in_flight else { return };
        let request = match in_flight.phase {
            Phase::WarmUp => &self.shared.warmup_request,
            Phase::Window => &self.shared.request,
        };
        match connection.write(&request.bytes) {
            Ok(true) => {
                connection.stage = Stage::Reading;
                connection.parser.begin(request.is_head);
                connection.body.begin();
                self.recorder.written(in_flight.phase, in_flight.times);
            }
            Ok(false) => {}
            Err(errno) => {
                let detail = format!("the connection ended while sending: {errno}");
                self.fail(slot, Kind::Reset, None, detail);
            }
        }
    }

    /// Reads until the answer is complete or nothing is left.
    #[inline]
    fn read(&mut self, slot: u32, flags: epoll::EventFlags) {
        let closing = flags
            .intersects(epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR);
        // Moved out for the borrow checker; a `Vec` moves as three words.
        let mut scratch = std::mem::take(&mut self.scratch);
        loop {
            let connection = &mut self.slots[slot as usize];
            match connection.read(&mut scratch) {
                Ok(None) => break,
                Ok(Some(0)) => {
                    self.peer_closed(slot);
                    break;
                }
                Ok(Some(read)) => {
                    let expect = self.shared.expect;
                    let Connection { parser, body, .. } = connection;
                    match parser.feed(&scratch[..read], |bytes| body.take(bytes, expect)) {
                        Err(malformed) => {
                            self.fail(slot, Kind::Protocol, None, malformed.to_string());
                            break;
                        }
                        Ok(fed) if fed.complete => {
                            let keep = parser.keep_alive() && fed.consumed == read && !closing;
                            let extra = read - fed.consumed;
                            self.complete(slot, keep, extra);
                            break;
                        }
                        // A short read has emptied the socket, unless its end is there too.
                        Ok(_) if read < scratch.len() && !closing => break,
                        Ok(_) => {}
                    }
                }
                Err(errno) => {
                    let detail = format!("the connection was reset: {errno}");
                    self.fail(slot, Kind::Reset, None, detail);
                    break;
                }
            }
        }
        self.scratch = scratch;
    }

    fn peer_closed(&mut self, slot: u32) {
        let parser = &mut self.slots[slot as usize].parser;
        match parser.end() {
            Ok(true) => self.complete(slot, false, 0),
            Ok(false) => {
                let detail = "the connection closed before any answer".to_owned();
                self.fail(slot, Kind::Reset, None, detail);
            }
            Err(malformed) => self.fail(slot, Kind::Reset, None, malformed.to_string()),
        }
    }

    /// A complete answer was read.
    #[inline]
    fn complete(&mut self, slot: u32, keep: bool, extra_bytes: usize) {
        let now_ns = Monotonic.now_ns();
        self.last_answer_ns = now_ns;
        let connection = &mut self.slots[slot as usize];
        let keep = keep && !self.shared.new_connections;
        let status = connection.parser.status();
        self.recorder.answered(connection.in_flight.as_ref().map(|one| one.phase), status);
        let verdict = if extra_bytes > 0 {
            Err((Kind::Protocol, format!("{extra_bytes} bytes after the end of the answer")))
        } else {
            connection.body.verdict(status, self.shared.expect)
        };
        match verdict {
            Ok(()) => {
                let Some(in_flight) = connection.in_flight.take() else { return };
                connection.stage = Stage::Idle;
                self.recorder.succeeded(in_flight.phase, in_flight.times, now_ns);
                if let Some(owned_ns) = connection.parser.owned_ns() {
                    let wait_ns = now_ns.saturating_sub(in_flight.attempt_ns);
                    self.recorder.unowned(in_flight.phase, wait_ns.saturating_sub(owned_ns));
                }
                if !keep {
                    self.close(slot);
                }
                self.ended(slot, in_flight.phase, now_ns);
            }
            Err((kind, detail)) => {
                if keep {
                    connection.stage = Stage::Idle;
                }
                self.fail(slot, kind, Some(now_ns), detail);
            }
        }
    }

    /// The request of this slot failed. A connection that is not idle is closed with it.
    #[cold]
    fn fail(&mut self, slot: u32, kind: Kind, answered_ns: Option<u64>, detail: String) {
        let now_ns = answered_ns.unwrap_or_else(|| Monotonic.now_ns());
        let connection = &mut self.slots[slot as usize];
        let Some(in_flight) = connection.in_flight.take() else { return };
        if matches!(connection.stage, Stage::Closed | Stage::Connecting | Stage::Writing) {
            self.recorder.attempted(in_flight.phase, in_flight.times);
        }
        let has_answer = answered_ns.is_some();
        let failure = Failure {
            kind,
            status: has_answer.then(|| connection.parser.status()),
            detail,
            body: if has_answer { connection.body.start() } else { &[] },
        };
        self.recorder.failed(in_flight.phase, in_flight.times, answered_ns, &failure);
        if connection.stage != Stage::Idle {
            self.close(slot);
        }
        if kind == Kind::Refused && matches!(self.source, Source::Closed(_)) {
            self.in_flight -= 1;
            self.note_ended(in_flight.phase, now_ns);
            let until_ns = now_ns + BACKOFF_NS;
            self.waiting.push(Reverse(Waiting { until_ns, slot, since_ns: None }));
        } else {
            self.ended(slot, in_flight.phase, now_ns);
        }
    }

    fn close(&mut self, slot: u32) {
        let connection = &mut self.slots[slot as usize];
        if connection.socket.is_some() {
            self.open_connections -= 1;
        }
        connection.close();
    }

    fn note_ended(&mut self, phase: Phase, now_ns: u64) {
        if phase == Phase::Window {
            self.shared.phases.window_request_ended(now_ns);
        }
    }

    /// A request ended: its slot takes the next one.
    #[inline]
    fn ended(&mut self, slot: u32, phase: Phase, now_ns: u64) {
        self.in_flight -= 1;
        self.note_ended(phase, now_ns);
        match &self.source {
            Source::Closed(_) => self.go_on(slot, now_ns),
            Source::Open(_) => {
                if self.slots[slot as usize].stage == Stage::Idle {
                    self.idle.push(slot);
                } else {
                    self.free.push(slot);
                }
            }
        }
    }

    /// Fails what has been in flight for longer than the timeout.
    fn sweep(&mut self, now_ns: u64) {
        let Some(since_ns) = now_ns.checked_sub(self.shared.timeout_ns) else { return };
        for slot in 0..self.slots.len() {
            let late = self.slots[slot]
                .in_flight
                .is_some_and(|in_flight| in_flight.attempt_ns <= since_ns);
            if late {
                let seconds = self.shared.timeout_ns as f64 / 1e9;
                let detail = format!("no complete answer within {seconds} s");
                self.fail(slot as u32, Kind::Timeout, None, detail);
            }
        }
    }

    /// Books what never ended: sent is unfinished, due is unsent.
    fn finish(&mut self) {
        let now_ns = Monotonic.now_ns();
        for Reverse(waiting) in mem::take(&mut self.waiting) {
            self.paused(&waiting, now_ns);
        }
        if let Source::Open(schedule) = &mut self.source {
            while let Some(due_ns) = schedule.take() {
                self.recorder.unsent(schedule.phase(due_ns));
            }
        }
        for connection in &mut self.slots {
            if let Some(in_flight) = connection.in_flight.take() {
                if connection.stage == Stage::Reading {
                    self.recorder.unfinished(in_flight.phase);
                } else {
                    self.recorder.unsent(in_flight.phase);
                }
            }
            connection.close();
        }
    }
}
