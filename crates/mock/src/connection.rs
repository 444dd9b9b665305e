//! One connection: its socket, what it received and did not use yet, and its requests in
//! flight in the order in which they must be answered.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use record::mock::Failure;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{self, SendAncillaryBuffer, SendFlags};

use crate::answer::Answer;
use crate::ledger::{Ledger, Outcome};
use crate::request::Reader;
use crate::truth::{Lines, Says, Truth};

/// Answers that one system call sends.
const ANSWERS_PER_SEND: usize = 16;
/// Bytes up to which the parts of one answer are joined before they are sent.
const JOINED_BYTES: usize = 1024;

/// What is to be done about one request, or about bytes that were none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Answer a request.
    Answer(Outcome),
    /// Reset the connection.
    Reset,
    /// Nothing, ever. It is settled already.
    Never,
    /// Send `100 Continue`: no request of its own.
    Interim,
    /// Send a refusal: it was no request.
    Refuse,
}

/// One duty, in the order of the connection.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) duty: Duty,
    pub(crate) read_ns: u64,
    /// When it is to be done, at the earliest.
    pub(crate) due_ns: u64,
    pub(crate) answer: Arc<Answer>,
    /// The endpoint's number in the ledger.
    pub(crate) endpoint: u16,
    pub(crate) head_only: bool,
    /// The connection ends with it.
    pub(crate) closes: bool,
    /// From read to the start of its work, ns: part of the time until it is due.
    pub(crate) queued_ns: u64,
    /// Of its sleep, what was not asked for: a bias, ns.
    pub(crate) bias_ns: u64,
    /// When its sleep was over, and in the ledger.
    pub(crate) woken_ns: Option<u64>,
    /// The lines that its answer has of its own.
    pub(crate) says: Option<Says>,
    /// When its answer was begun; its lines are of that instant.
    pub(crate) begun_ns: Option<u64>,
}

impl Pending {
    /// The duty to a request with this planned failure.
    pub(crate) fn duty(failure: Option<Failure>) -> Duty {
        match failure {
            None => Duty::Answer(Outcome::Served),
            Some(Failure::Status(_)) => Duty::Answer(Outcome::Status),
            Some(Failure::Body) => Duty::Answer(Outcome::Body),
            Some(Failure::Reset) => Duty::Reset,
            Some(Failure::Never) => Duty::Never,
        }
    }

    /// The lines of its answer, as of the instant it was begun.
    fn lines(&self) -> Lines {
        let Some(says) = self.says else { return Lines::NONE };
        let woken_ns = self.woken_ns.unwrap_or(self.due_ns);
        let begun_ns = self.begun_ns.unwrap_or(woken_ns);
        let start_ns = self.read_ns.saturating_add(self.queued_ns);
        Lines::new(
            says,
            Truth {
                queue_ns: self.queued_ns,
                sleep_ns: woken_ns.saturating_sub(start_ns),
                work_ns: begun_ns.saturating_sub(woken_ns),
            },
        )
    }

    /// Bytes of its answer.
    fn length(&self) -> usize {
        self.answer.length(self.head_only) + self.says.map_or(0, Says::length)
    }

    fn is_request(&self) -> bool {
        !matches!(self.duty, Duty::Interim | Duty::Refuse)
    }

    fn sends(&self) -> bool {
        !matches!(self.duty, Duty::Reset | Duty::Never)
    }
}

/// What became of a connection by [`Connection::advance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Nothing is due: the next duty is due at this instant, if at all.
    Waiting(Option<u64>),
    /// The peer takes no more bytes for now.
    Blocked,
    /// A duty that ends the connection is done.
    Finished,
    /// The connection is to be reset.
    Reset,
    /// The peer is gone.
    Gone,
}

/// The other end of a connection; a socket that does not say has port 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    pub(crate) port: u16,
}

/// One open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: OwnedFd,
    pub(crate) peer: Peer,
    pub(crate) reader: Reader,
    /// Received and not used: the beginning of a head, or what a full queue held back.
    pub(crate) received: Vec<u8>,
    pub(crate) queue: VecDeque<Pending>,
    /// Bytes sent of the first answer in the queue.
    sent_bytes: usize,
    /// What the kernel watches for.
    pub(crate) interest: EventFlags,
    /// A deadline of this connection is among the timers.
    pub(crate) armed: bool,
    /// The peer has closed its side.
    pub(crate) peer_closed: bool,
    /// No more requests are read: the last one said so, or bytes were refused.
    pub(crate) input_over: bool,
    /// Bytes lie unread behind the last request: closing at once would reset the connection
    /// and could cost the peer its last answer.
    pub(crate) input_left: bool,
    /// The kernel does not take more at the moment.
    pub(crate) blocked: bool,
    /// A full queue held back bytes in `received` that may hold requests.
    pub(crate) held: bool,
    /// All is sent and shut down; the peer's close is awaited until this instant.
    pub(crate) linger_until_ns: Option<u64>,
    /// When the request being read last made progress; `None` between requests.
    pub(crate) progress_ns: Option<u64>,
    /// Requests read so far.
    pub(crate) requests: u64,
}

impl Connection {
    pub(crate) fn new(socket: OwnedFd, peer: Peer, interest: EventFlags) -> Self {
        Self {
            socket,
            peer,
            reader: Reader::default(),
            received: Vec::new(),
            queue: VecDeque::new(),
            sent_bytes: 0,
            interest,
            armed: false,
            peer_closed: false,
            input_over: false,
            input_left: false,
            blocked: false,
            held: false,
            linger_until_ns: None,
            progress_ns: None,
            requests: 0,
        }
    }

    /// What the kernel should watch for, given the state and the bound on the queue.
    pub(crate) fn wanted(&self, pipelined: usize) -> EventFlags {
        let mut wanted = EventFlags::empty();
        if self.blocked {
            wanted |= EventFlags::OUT;
        }
        if self.linger_until_ns.is_some() {
            return EventFlags::IN;
        }
        // A closed side stays readable for ever: watching it further would spin.
        if !self.peer_closed {
            wanted |= EventFlags::RDHUP;
            if !self.input_over && self.queue.len() < pipelined {
                wanted |= EventFlags::IN;
            }
        }
        wanted
    }

    /// Does what is due at `now_ns`, in order, and enters it in the ledger.
    pub(crate) fn advance(
        &mut self,
        ledger: &mut Ledger,
        mut now_ns: u64,
        clock: impl Fn() -> u64,
    ) -> Progress {
        self.blocked = false;
        loop {
            let mut due = 0;
            for pending in self.queue.iter_mut().take(ANSWERS_PER_SEND) {
                if pending.due_ns > now_ns || pending.duty == Duty::Never {
                    break;
                }
                if pending.woken_ns.is_none() {
                    pending.woken_ns = Some(now_ns);
                    let start_ns = pending.read_ns + pending.queued_ns;
                    let asked_ns = pending.due_ns - start_ns - pending.bias_ns;
                    ledger.slept(pending.queued_ns, asked_ns, now_ns - start_ns);
                }
                if !pending.sends() {
                    break;
                }
                due += 1;
                if pending.closes {
                    break;
                }
            }
            if due == 0 {
                let Some(first) = self.queue.front() else { return Progress::Waiting(None) };
                return match first.duty {
                    Duty::Never => Progress::Waiting(None),
                    Duty::Reset if first.due_ns <= now_ns => {
                        ledger.settled(Outcome::Reset, first.endpoint);
                        ledger.left_flight();
                        self.queue.pop_front();
                        Progress::Reset
                    }
                    _ => Progress::Waiting(Some(first.due_ns)),
                };
            }
            let sent = match self.send(due, &clock) {
                Ok(sent) => sent,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {
                    self.blocked = true;
                    return Progress::Blocked;
                }
                // Reset, broken pipe, or whatever else: nobody will take this answer.
                Err(_) => return Progress::Gone,
            };
            now_ns = clock();
            if self.sent(ledger, sent, now_ns) {
                return Progress::Finished;
            }
        }
    }

    /// Gives up every request in the queue: nobody will take the answers.
    pub(crate) fn abandon(&mut self, ledger: &mut Ledger) {
        for pending in self.queue.drain(..) {
            if pending.is_request() {
                if pending.duty != Duty::Never {
                    ledger.settled(Outcome::Abandoned, pending.endpoint);
                }
                ledger.left_flight();
            }
        }
    }

    /// Sends what is left of the first `count` answers, as far as the kernel takes it.
    fn send(&mut self, count: usize, clock: impl Fn() -> u64) -> Result<usize, Errno> {
        // One answer is the usual case, and room for sixteen costs more than the answer itself.
        if count == 1 {
            let lines = self.begin::<1>(clock);
            return self.transmit_one(&lines[0]);
        }
        let lines = self.begin::<ANSWERS_PER_SEND>(clock);
        self.transmit(count, &lines)
    }

    /// The lines of the first `N` answers, which begin now if they have not begun.
    fn begin<const N: usize>(&mut self, clock: impl Fn() -> u64) -> [Lines; N] {
        let mut lines = [Lines::NONE; N];
        if self.queue.iter().take(N).any(|pending| pending.says.is_some()) {
            let now_ns = clock();
            for (pending, lines) in self.queue.iter_mut().take(N).zip(&mut lines) {
                pending.begun_ns.get_or_insert(now_ns);
                *lines = pending.lines();
            }
        }
        lines
    }

    /// Sends what is left of the first answer. Parts that are short are joined: a copy costs less
    /// than a call with a list of parts.
    fn transmit_one(&self, lines: &Lines) -> Result<usize, Errno> {
        let Some(first) = self.queue.front() else { return Ok(0) };
        let parts = first.answer.unsent(first.head_only, lines.bytes(), self.sent_bytes);
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if let Some(whole) = parts.iter().find(|part| part.len() == length) {
            return net::send(&self.socket, whole, SendFlags::NOSIGNAL);
        }
        if length > JOINED_BYTES {
            let parts = parts.map(IoSlice::new);
            let mut control = SendAncillaryBuffer::default();
            return net::sendmsg(&self.socket, &parts, &mut control, SendFlags::NOSIGNAL);
        }
        let mut joined = [0; JOINED_BYTES];
        let mut used = 0;
        for part in parts {
            joined[used..used + part.len()].copy_from_slice(part);
            used += part.len();
        }
        net::send(&self.socket, &joined[..used], SendFlags::NOSIGNAL)
    }

    /// Sends what is left of the first `count` answers, each with its lines.
    fn transmit(&self, count: usize, lines: &[Lines]) -> Result<usize, Errno> {
        let mut parts = [IoSlice::new(&[]); 4 * ANSWERS_PER_SEND];
        let mut used = 0;
        for (index, (pending, lines)) in self.queue.iter().zip(lines).take(count).enumerate() {
            let sent_bytes = if index == 0 { self.sent_bytes } else { 0 };
            for part in pending.answer.unsent(pending.head_only, lines.bytes(), sent_bytes) {
                if !part.is_empty() {
                    parts[used] = IoSlice::new(part);
                    used += 1;
                }
            }
        }
        let mut control = SendAncillaryBuffer::default();
        // A peer that is gone is an error to be counted, not a signal.
        net::sendmsg(&self.socket, &parts[..used], &mut control, SendFlags::NOSIGNAL)
    }

    /// Enters `bytes` sent; true when they complete an answer that ends the connection.
    fn sent(&mut self, ledger: &mut Ledger, mut bytes: usize, now_ns: u64) -> bool {
        while let Some(first) = self.queue.front() {
            let left_bytes = first.length() - self.sent_bytes;
            if bytes < left_bytes {
                self.sent_bytes += bytes;
                return false;
            }
            // Later entries may not be due, and an empty one completes only when its turn
            // comes with the next send; no answer is empty.
            debug_assert!(left_bytes > 0, "every answer has a head");
            bytes -= left_bytes;
            self.sent_bytes = 0;
            if let Duty::Answer(outcome) = first.duty {
                ledger.answered(outcome, first.endpoint, first.read_ns, now_ns);
                ledger.left_flight();
            }
            let closes = first.closes;
            self.queue.pop_front();
            if closes || bytes == 0 {
                return closes;
            }
        }
        debug_assert_eq!(bytes, 0, "no more is sent than was queued");
        false
    }
}
