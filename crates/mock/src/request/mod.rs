//! How bytes become requests: a pure state machine that reads what a connection received, in
//! whatever pieces, and says when a request is complete. Heads and bodies are read and discarded,
//! unless a script wants them.
//!
//! It is as strict as counting needs: bytes that two parsers could frame differently are no
//! request. It is lenient where counting does not care: a missing `Host` or an unknown method
//! is fine.

mod framing;
mod head;
mod kept;

pub use crate::answer::{Persistence, Refusal};
pub(crate) use kept::Kept;

use framing::Framing;

/// Largest head of a request, bytes.
pub const HEAD_MAX_BYTES: usize = 64 * 1024;
/// Most headers of a request.
pub const HEADERS_MAX: usize = 100;
/// Largest body of a request, bytes.
pub const BODY_MAX_BYTES: u64 = 1 << 30;

/// A request read in full: what its answer needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The answer is the head alone (method HEAD).
    pub head_only: bool,
    /// How the connection goes on.
    pub persistence: Persistence,
}

/// What one step found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Nothing more without more bytes.
    NeedMore,
    /// The peer waits for `100 Continue` before it sends its body.
    ExpectsContinue,
    /// A request was read in full.
    Request(Request),
    /// The bytes are no request. What follows on the connection has no meaning.
    Refused(Refusal),
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Bytes of the input that are done with; the next input starts after them.
    pub consumed: usize,
    /// What was found.
    pub event: Event,
}

/// Where in the stream of requests a reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// No request has begun.
    Between,
    /// A head has begun and is not complete.
    Head,
    /// The head is complete, the body is not.
    Body,
}

/// Reads the requests of one connection.
#[derive(Debug, Default)]
pub struct Reader {
    state: State,
    /// What a script wants to see of the request that is read.
    kept: Option<Box<Kept>>,
}

#[derive(Debug)]
enum State {
    /// In a head, of which the first `seen` bytes have been looked at in vain.
    Head { seen: usize },
    /// In a body.
    Body { framing: Framing, request: Request },
}

impl Default for State {
    fn default() -> Self {
        Self::Head { seen: 0 }
    }
}

impl Reader {
    /// Looks at `input`: all that was received and not yet consumed, so it starts with what
    /// the last step left over. At [`Event::NeedMore`] the caller keeps the rest, of at most
    /// [`HEAD_MAX_BYTES`], and calls again with more behind it. Call until `NeedMore` or
    /// `Refused`.
    pub fn step(&mut self, input: &[u8]) -> Step {
        match self.state {
            State::Head { seen } => self.head(input, seen),
            State::Body { .. } => self.body(input, 0),
        }
    }

    /// From now on heads and bodies are kept, or not.
    pub(crate) fn keep(&mut self, keep: bool) {
        self.kept = keep.then(|| self.kept.take().unwrap_or_default());
    }

    /// The request that was read last, where it is kept. It stays until the next head.
    pub(crate) fn kept(&self) -> Option<&Kept> {
        self.kept.as_deref()
    }

    /// Where the reader is, given what is left over.
    #[must_use]
    pub fn place(&self, left_over: &[u8]) -> Place {
        match self.state {
            State::Body { .. } => Place::Body,
            State::Head { .. } if left_over.is_empty() => Place::Between,
            State::Head { .. } => Place::Head,
        }
    }

    /// What the end of the stream makes of the bytes left over: a truncated request is
    /// nothing, but bytes that could not have become one are refused.
    #[must_use]
    pub fn end(&self, left_over: &[u8]) -> Option<Refusal> {
        match self.state {
            State::Head { .. } => head::parse(left_over).err(),
            State::Body { .. } => None,
        }
    }

    fn head(&mut self, input: &[u8], seen: usize) -> Step {
        // Empty lines before a request are skipped (RFC 9112, section 2.2).
        let skipped = empty_lines(input);
        let input = &input[skipped..];
        let window = &input[..input.len().min(HEAD_MAX_BYTES)];
        let full = window.len() == HEAD_MAX_BYTES;
        let seen = seen.saturating_sub(skipped).min(window.len());
        // Parsing starts over each time, so it waits for the end of a line: otherwise a head
        // that comes byte by byte would cost the square of its size.
        if seen > 0 && !full && !window[seen..].contains(&b'\n') {
            self.state = State::Head { seen: window.len() };
            return Step { consumed: skipped, event: Event::NeedMore };
        }
        match head::parse(window) {
            Err(refusal) => Step { consumed: skipped, event: Event::Refused(refusal) },
            Ok(None) if full => {
                Step { consumed: skipped, event: Event::Refused(Refusal::HeadTooLarge) }
            }
            Ok(None) => {
                self.state = State::Head { seen: window.len() };
                Step { consumed: skipped, event: Event::NeedMore }
            }
            Ok(Some(head)) => {
                let consumed = skipped + head.size_bytes;
                if let Some(kept) = &mut self.kept {
                    kept.begin(&input[..head.size_bytes]);
                }
                let rest = &input[head.size_bytes..];
                if head.framing.is_done() {
                    self.state = State::default();
                    return Step { consumed, event: Event::Request(head.request) };
                }
                self.state = State::Body { framing: head.framing, request: head.request };
                if head.expects_continue && rest.is_empty() {
                    return Step { consumed, event: Event::ExpectsContinue };
                }
                self.body(rest, consumed)
            }
        }
    }

    fn body(&mut self, input: &[u8], before: usize) -> Step {
        let State::Body { framing, request } = &mut self.state else {
            unreachable!("called in the body state only")
        };
        match framing.advance(input, self.kept.as_deref_mut()) {
            Err(refusal) => Step { consumed: before, event: Event::Refused(refusal) },
            Ok(consumed) => {
                let event =
                    if framing.is_done() { Event::Request(*request) } else { Event::NeedMore };
                if event != Event::NeedMore {
                    self.state = State::default();
                }
                Step { consumed: before + consumed, event }
            }
        }
    }
}

/// Length of the empty lines that `input` starts with. A lone CR at the end may yet become one
/// and stays.
fn empty_lines(input: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match &input[at..] {
            [b'\n', ..] => at += 1,
            [b'\r', b'\n', ..] => at += 2,
            _ => return at,
        }
    }
}

/// What a whole stream of bytes comes to; for tests, benches and fuzzing of [`Reader`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The requests read in full, up to the first that closes the connection.
    pub requests: Vec<Request>,
    /// Why the stream ended before its end.
    pub refused: Option<Refusal>,
}

/// Reads `stream` as a server would that receives it in pieces of `piece_bytes` (at least 1).
/// The outcome does not depend on the pieces: that is the property which fuzzing checks.
#[must_use]
pub fn transcribe(stream: &[u8], piece_bytes: usize) -> Transcript {
    let mut reader = Reader::default();
    let mut requests = Vec::new();
    let mut start = 0;
    let mut received = 0;
    while received < stream.len() {
        received = received.saturating_add(piece_bytes.max(1)).min(stream.len());
        loop {
            let step = reader.step(&stream[start..received]);
            assert!(step.consumed <= received - start, "consumed more than there was");
            start += step.consumed;
            match step.event {
                Event::NeedMore => break,
                Event::ExpectsContinue => {}
                Event::Refused(refusal) => {
                    return Transcript { requests, refused: Some(refusal) };
                }
                Event::Request(request) => {
                    requests.push(request);
                    if request.persistence == Persistence::Close {
                        return Transcript { requests, refused: None };
                    }
                }
            }
        }
        assert!(received - start <= HEAD_MAX_BYTES, "kept more than a head");
    }
    let refused = reader.end(&stream[start..]);
    Transcript { requests, refused }
}

#[cfg(test)]
mod tests;
