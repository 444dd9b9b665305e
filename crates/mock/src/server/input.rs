//! From received bytes to duties: which requests are in them, how each is to be treated, and
//! what the ledger says of it.

use std::mem;
use std::sync::Arc;

use clock::{Clock as _, Monotonic};
use record::mock::Failure;

use super::scripted::From;
use super::{KEPT_BUFFER_BYTES, Server};
use crate::answer::{Answer, Answers, Persistence};
use crate::connection::{Connection, Duty, Pending};
use crate::ledger::{Ledger, Outcome};
use crate::request::{Event, Place, Refusal};
use crate::site::Ask;
use crate::treatment::{Reply, Treatment};

impl Server {
    /// Takes the requests out of what was received at `now_ns`: `bytes`, behind what was left over.
    pub(super) fn parse(&mut self, slot: u32, bytes: &[u8], now_ns: u64) {
        let Some(connection) = self.slots[slot as usize].connection.as_mut() else { return };
        if connection.input_over {
            // After the last request, or while lingering: discarded.
            return;
        }
        let mut received = mem::take(&mut connection.received);
        if received.is_empty() {
            // The usual case: whole requests, which need not be copied.
            let used = self.requests(slot, bytes, now_ns);
            received.extend_from_slice(&bytes[used..]);
        } else {
            received.extend_from_slice(bytes);
            let used = self.requests(slot, &received, now_ns);
            received.drain(..used);
        }
        if received.is_empty() && received.capacity() > KEPT_BUFFER_BYTES {
            received = Vec::new();
        }
        let Some(connection) = self.slots[slot as usize].connection.as_mut() else { return };
        connection.progress_ns = match connection.reader.place(&received) {
            _ if connection.input_over || connection.held => None,
            Place::Between => None,
            Place::Head => connection.progress_ns.or(Some(now_ns)),
            Place::Body => Some(now_ns),
        };
        connection.received = received;
    }

    /// Takes requests from the start of `input`; returns how many bytes are used up.
    fn requests(&mut self, slot: u32, input: &[u8], now_ns: u64) -> usize {
        let Some(connection) = self.slots[slot as usize].connection.as_mut() else { return 0 };
        connection.held = false;
        let mut used = 0;
        loop {
            let room = connection.queue.len() < self.limits.pipelined;
            // A peer that has closed gets no queue: its requests are settled as they come.
            if !room && !connection.peer_closed {
                connection.held = true;
                return used;
            }
            let step = connection.reader.step(&input[used..]);
            used += step.consumed;
            match step.event {
                Event::NeedMore => return used,
                Event::ExpectsContinue => connection.queue.push_back(Pending {
                    duty: Duty::Interim,
                    read_ns: now_ns,
                    due_ns: now_ns,
                    answer: self.answers.interim(),
                    endpoint: 0,
                    head_only: false,
                    closes: false,
                    queued_ns: 0,
                    bias_ns: 0,
                    woken_ns: Some(now_ns),
                    says: None,
                    begun_ns: None,
                }),
                Event::Request(mut request) => {
                    connection.requests += 1;
                    if self.config.close_after.is_some_and(|most| connection.requests >= most) {
                        request.persistence = Persistence::Close;
                    }
                    self.ledger.request_read(now_ns, connection.peer.port);
                    let since_start_ns = now_ns - self.started_ns;
                    let scripted = self.site.as_mut().zip(connection.reader.kept());
                    let read = match scripted {
                        None => {
                            let address = connection.peer.address;
                            let treatment = self.treatment.of(address, since_start_ns, None);
                            let answer = plain(&self.answers, &treatment, request.persistence);
                            let head_only = request.head_only;
                            let closes = request.persistence == Persistence::Close;
                            Read { head_only, closes, endpoint: 0, treatment, answer, now_ns, room }
                        }
                        Some((site, kept)) => {
                            let from = From {
                                address: connection.peer.address,
                                since_start_ns,
                                requests: connection.requests,
                                room,
                            };
                            let ask = Ask::new(kept);
                            site.read(
                                &mut self.treatment,
                                &self.answers,
                                &ask,
                                request,
                                from,
                                now_ns,
                            )
                        }
                    };
                    admit(connection, &mut self.ledger, read, self.config.bias_ns);
                    if connection.input_over {
                        connection.input_left = used < input.len();
                        return input.len();
                    }
                }
                Event::Refused(refusal) => {
                    refuse(connection, &mut self.ledger, &self.answers, refusal, now_ns);
                    return input.len();
                }
            }
        }
    }

    /// The peer has closed its side or is gone, and all it sent is read.
    pub(super) fn end_of_input(&mut self, slot: u32) {
        let Some(connection) = self.slots[slot as usize].connection.as_mut() else { return };
        connection.peer_closed = true;
        if connection.held {
            // A full queue held requests back; now they are settled.
            self.parse(slot, &[], Monotonic.now_ns());
        }
        let Some(connection) = self.slots[slot as usize].connection.as_mut() else { return };
        if connection.input_over {
            return;
        }
        match connection.reader.end(&connection.received) {
            Some(refusal) => {
                let now_ns = Monotonic.now_ns();
                refuse(connection, &mut self.ledger, &self.answers, refusal, now_ns);
            }
            None => connection.input_over = true,
        }
    }
}

/// A request that was read in full, and how it is to be treated.
pub(super) struct Read {
    pub(super) head_only: bool,
    /// The connection ends with its answer.
    pub(super) closes: bool,
    /// The endpoint's number in the ledger.
    pub(super) endpoint: u16,
    pub(super) treatment: Treatment,
    pub(super) answer: Arc<Answer>,
    pub(super) now_ns: u64,
    /// The connection's queue has room for it.
    pub(super) room: bool,
}

/// The answer of a mock without a script.
pub(super) fn plain(
    answers: &Answers,
    treatment: &Treatment,
    persistence: Persistence,
) -> Arc<Answer> {
    match treatment.answer {
        Reply::Planned => answers.of(treatment.delay.failure, persistence),
        Reply::Overloaded => answers.bare(503, persistence),
        Reply::Limited => answers.bare(429, persistence),
        Reply::Unmatched => answers.bare(404, persistence),
    }
}

/// Enters a request into the queue, or settles it when nobody waits. `bias_ns` lengthens a sleep.
fn admit(connection: &mut Connection, ledger: &mut Ledger, read: Read, bias_ns: u64) {
    let Read { head_only, closes, endpoint, treatment, answer, now_ns, room } = read;
    let Treatment { duty, delay, says, .. } = treatment;
    let never = duty == Duty::Never;
    connection.input_over = closes;
    if never {
        ledger.settled(Outcome::Never, endpoint);
    }
    // What is answered at once by plan does not sleep, longer or otherwise.
    let sleeps = !matches!(delay.failure, Some(Failure::Status(_) | Failure::Never))
        && treatment.answer == Reply::Planned;
    let bias_ns = if sleeps { bias_ns } else { 0 };
    let asked_ns = delay.queued_ns.saturating_add(delay.sleep_ns);
    let due_ns = now_ns.saturating_add(asked_ns).saturating_add(bias_ns);
    if connection.peer_closed && (never || due_ns > now_ns || !room) {
        if !never {
            ledger.settled(Outcome::Abandoned, endpoint);
        }
        ledger.left_flight();
        return;
    }
    connection.queue.push_back(Pending {
        duty,
        read_ns: now_ns,
        due_ns,
        answer,
        endpoint,
        head_only,
        closes,
        queued_ns: delay.queued_ns,
        bias_ns,
        woken_ns: (due_ns == now_ns).then_some(now_ns),
        says,
        begun_ns: None,
    });
}

/// Answers bytes that are no request, after what is due before; nothing more is read.
pub(super) fn refuse(
    connection: &mut Connection,
    ledger: &mut Ledger,
    answers: &Answers,
    refusal: Refusal,
    now_ns: u64,
) {
    ledger.refused();
    connection.input_over = true;
    connection.input_left = true;
    connection.progress_ns = None;
    connection.queue.push_back(Pending {
        duty: Duty::Refuse,
        read_ns: now_ns,
        due_ns: now_ns,
        answer: answers.refusal(refusal),
        endpoint: 0,
        head_only: false,
        closes: true,
        queued_ns: 0,
        bias_ns: 0,
        woken_ns: Some(now_ns),
        says: None,
        begun_ns: None,
    });
}
