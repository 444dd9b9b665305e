//! An incremental reader of HTTP/1.x answers: bytes in, body slices out, never a copy of a body.
//!
//! It keeps only a head that arrived in pieces, bounded by [`MOST_HEAD_BYTES`]. It knows the
//! framings of RFC 9112 section 6.3: no body for HEAD, 204 and 304, chunked, content length,
//! and until close. It never panics on any input.

use crate::server_timing::ServerTiming;

/// A longer head is malformed.
pub(crate) const MOST_HEAD_BYTES: usize = 64 * 1024;
/// More headers are malformed.
const MOST_HEADERS: usize = 128;
/// Interim (1xx) answers before the final one.
const MOST_INTERIM: u32 = 16;
/// A chunk-size or trailer line longer than this is malformed.
const MOST_LINE_BYTES: u32 = 8 * 1024;
/// Trailer bytes after the last chunk.
const MOST_TRAILER_BYTES: u32 = 64 * 1024;

/// Bytes that are no HTTP answer, with what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed answer: {0}")]
pub struct Malformed(pub &'static str);

/// What became of the bytes fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fed {
    /// Bytes that belong to this answer; all of them unless `complete`.
    pub consumed: usize,
    /// The answer is complete.
    pub complete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Length(u64),
    /// Inside a chunk-size line: size so far, bytes of the line, digits ended.
    ChunkSize {
        size: u64,
        line: u32,
        ended: bool,
    },
    ChunkData(u64),
    /// The CRLF after a chunk's data.
    ChunkEnd,
    /// Trailer section: bytes of the current line, bytes in total.
    Trailer {
        line: u32,
        total: u32,
    },
    UntilClose,
    Complete,
}

/// The reader of one answer after another on one connection.
#[derive(Debug)]
pub struct ResponseParser {
    state: State,
    head: Vec<u8>,
    status: u16,
    keep_alive: bool,
    is_head: bool,
    interim: u32,
    started: bool,
    owned_ns: Option<u64>,
}

impl Default for ResponseParser {
    fn default() -> Self {
        Self {
            state: State::Head,
            head: Vec::new(),
            status: 0,
            keep_alive: true,
            is_head: false,
            interim: 0,
            started: false,
            owned_ns: None,
        }
    }
}

impl ResponseParser {
    /// Expects the next answer; `is_head` when the request was HEAD.
    #[inline]
    pub fn begin(&mut self, is_head: bool) {
        self.state = State::Head;
        self.head.clear();
        self.keep_alive = true;
        self.is_head = is_head;
        self.interim = 0;
        self.started = false;
        self.owned_ns = None;
    }

    /// The status, once the head was read.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the connection may carry another request after this answer.
    #[must_use]
    pub fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// The time that the target says it spent on this request, ns, once the head was read.
    #[must_use]
    pub fn owned_ns(&self) -> Option<u64> {
        self.owned_ns
    }

    /// Whether any byte of this answer arrived.
    #[must_use]
    pub fn started(&self) -> bool {
        self.started
    }

    /// Takes the next bytes and hands the parts of the body to `body`.
    ///
    /// # Errors
    /// [`Malformed`]; the connection is then of no further use.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8], mut body: impl FnMut(&[u8])) -> Result<Fed, Malformed> {
        let mut at = 0;
        self.started |= !bytes.is_empty();
        while at < bytes.len() {
            let rest = &bytes[at..];
            match self.state {
                State::Head => match self.take_head(rest)? {
                    Some(used) => at += used,
                    None => at = bytes.len(),
                },
                State::Length(left) => {
                    let used = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    body(&rest[..used]);
                    at += used;
                    let left = left - used as u64;
                    self.state = if left == 0 { State::Complete } else { State::Length(left) };
                }
                State::UntilClose => {
                    body(rest);
                    at = bytes.len();
                }
                State::ChunkData(left) => {
                    let used = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    body(&rest[..used]);
                    at += used;
                    let left = left - used as u64;
                    self.state = if left == 0 { State::ChunkEnd } else { State::ChunkData(left) };
                }
                State::ChunkSize { .. } | State::ChunkEnd | State::Trailer { .. } => {
                    self.take_framing_byte(rest[0])?;
                    at += 1;
                }
                State::Complete => break,
            }
            if self.state == State::Complete {
                break;
            }
        }
        Ok(Fed { consumed: at, complete: self.state == State::Complete })
    }

    /// The peer closed the connection. `Ok(true)` when that completes the answer.
    ///
    /// # Errors
    /// [`Malformed`] when the close cuts an answer short.
    pub fn end(&mut self) -> Result<bool, Malformed> {
        match self.state {
            State::UntilClose => {
                self.state = State::Complete;
                Ok(true)
            }
            State::Complete => Ok(true),
            State::Head if !self.started => Ok(false),
            _ => Err(Malformed("the connection closed inside the answer")),
        }
    }

    /// Reads the head. `None`: more bytes are needed, all given ones are kept.
    fn take_head(&mut self, rest: &[u8]) -> Result<Option<usize>, Malformed> {
        if self.head.is_empty() {
            if let Some(length) = self.parse_head(rest)? {
                return Ok(Some(length));
            }
            self.keep(rest)?;
            return Ok(None);
        }
        let before = self.head.len();
        self.keep(rest)?;
        let head = std::mem::take(&mut self.head);
        let parsed = self.parse_head(&head);
        self.head = head;
        Ok(parsed?.map(|length| {
            self.head.clear();
            // The head ends inside the new bytes, else it would have been complete before.
            length.saturating_sub(before)
        }))
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        if self.head.len() + bytes.len() > MOST_HEAD_BYTES {
            return Err(Malformed("the head is longer than 64 KiB"));
        }
        self.head.extend_from_slice(bytes);
        Ok(())
    }

    /// Parses a whole head and sets the framing; `None` when it is not complete.
    #[inline]
    fn parse_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        let mut headers = [const { std::mem::MaybeUninit::uninit() }; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let config = httparse::ParserConfig::default();
        let parsed = config.parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
        let length = match parsed {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(Malformed(head_error(error))),
        };
        let status = response.code.unwrap_or(0);
        if !(100..=599).contains(&status) {
            return Err(Malformed("the status is not between 100 and 599"));
        }
        let mut keep_alive = response.version == Some(1);
        let mut content_length: Option<u64> = None;
        let mut chunked = false;
        let mut other_coding = false;
        let mut owned_ns = None;
        let mut is_timed = false;
        for header in response.headers.iter() {
            let name = header.name;
            match name.len() {
                10 if name.eq_ignore_ascii_case("connection") => {
                    if has_token(header.value, b"close") {
                        keep_alive = false;
                    } else if has_token(header.value, b"keep-alive") {
                        keep_alive = true;
                    }
                }
                12 if name.eq_ignore_ascii_case("mock-time-ns") => owned_ns = decimal(header.value),
                13 if name.eq_ignore_ascii_case("server-timing") => is_timed = true,
                14 if name.eq_ignore_ascii_case("content-length") => {
                    let value = decimal(header.value)
                        .ok_or(Malformed("the content length is no number"))?;
                    if content_length.is_some_and(|before| before != value) {
                        return Err(Malformed("two content lengths differ"));
                    }
                    content_length = Some(value);
                }
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    chunked = has_token(header.value, b"chunked");
                    other_coding = !chunked;
                }
                _ => {}
            }
        }
        self.status = status;
        if status < 200 {
            self.interim += 1;
            if self.interim > MOST_INTERIM || status == 101 {
                return Err(Malformed("an interim answer that was not asked for"));
            }
            return Ok(Some(length));
        }
        if is_timed {
            let mut timing = ServerTiming::default();
            for header in response.headers.iter() {
                if header.name.eq_ignore_ascii_case("server-timing") {
                    timing.take(header.value);
                }
            }
            owned_ns = timing.owned_ns().or(owned_ns);
        }
        self.owned_ns = owned_ns;
        self.keep_alive = keep_alive;
        self.state = if self.is_head || status == 204 || status == 304 {
            State::Complete
        } else if chunked {
            State::ChunkSize { size: 0, line: 0, ended: false }
        } else if other_coding {
            self.keep_alive = false;
            State::UntilClose
        } else {
            match content_length {
                Some(0) => State::Complete,
                Some(length) => State::Length(length),
                None => {
                    self.keep_alive = false;
                    State::UntilClose
                }
            }
        };
        Ok(Some(length))
    }

    /// Takes one byte of chunked framing.
    fn take_framing_byte(&mut self, byte: u8) -> Result<(), Malformed> {
        self.state = match self.state {
            State::ChunkSize { size, line, ended } => match byte {
                b'\n' if line == 0 => return Err(Malformed("a chunk without a size")),
                b'\n' if size == 0 => State::Trailer { line: 0, total: 0 },
                b'\n' => State::ChunkData(size),
                _ if line >= MOST_LINE_BYTES => {
                    return Err(Malformed("a chunk-size line longer than 8 KiB"));
                }
                _ if ended => State::ChunkSize { size, line: line + 1, ended },
                b';' | b' ' | b'\t' | b'\r' if line > 0 => {
                    State::ChunkSize { size, line: line + 1, ended: true }
                }
                _ => {
                    let digit = char::from(byte)
                        .to_digit(16)
                        .ok_or(Malformed("a chunk size that is no hexadecimal number"))?;
                    let size = size
                        .checked_mul(16)
                        .and_then(|size| size.checked_add(u64::from(digit)))
                        .ok_or(Malformed("a chunk size beyond 64 bits"))?;
                    State::ChunkSize { size, line: line + 1, ended }
                }
            },
            State::ChunkEnd => match byte {
                b'\r' => State::ChunkEnd,
                b'\n' => State::ChunkSize { size: 0, line: 0, ended: false },
                _ => return Err(Malformed("a chunk longer than its size")),
            },
            State::Trailer { line, total } => {
                if total >= MOST_TRAILER_BYTES {
                    return Err(Malformed("trailers longer than 64 KiB"));
                }
                match byte {
                    b'\n' if line == 0 => State::Complete,
                    b'\n' => State::Trailer { line: 0, total: total + 1 },
                    b'\r' => State::Trailer { line, total: total + 1 },
                    _ => State::Trailer { line: line + 1, total: total + 1 },
                }
            }
            state => state,
        };
        Ok(())
    }
}

/// What a reader makes of `stream` when it arrives in pieces of `piece_bytes` and then ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Complete, not begun, or what is wrong.
    pub outcome: Result<bool, Malformed>,
    /// Status, when a final head was read.
    pub status: u16,
    /// The body as far as it came.
    pub body: Vec<u8>,
}

/// Reads one answer out of `stream`: for tests and fuzzing, which claim that pieces do not
/// matter.
#[must_use]
pub fn transcribe(stream: &[u8], piece_bytes: usize) -> Transcript {
    let mut parser = ResponseParser::default();
    parser.begin(false);
    let mut body = Vec::new();
    let mut outcome = None;
    for piece in stream.chunks(piece_bytes.max(1)) {
        match parser.feed(piece, |bytes| body.extend_from_slice(bytes)) {
            Err(error) => outcome = Some(Err(error)),
            Ok(fed) if fed.complete => outcome = Some(Ok(true)),
            Ok(_) => continue,
        }
        break;
    }
    let outcome = outcome.unwrap_or_else(|| parser.end());
    Transcript { outcome, status: parser.status(), body }
}

fn head_error(error: httparse::Error) -> &'static str {
    match error {
        httparse::Error::Version => "the status line has no HTTP version",
        httparse::Error::Status => "the status line has no status",
        httparse::Error::TooManyHeaders => "more than 128 headers",
        httparse::Error::HeaderName => "a header name with an invalid byte",
        httparse::Error::HeaderValue => "a header value with an invalid byte",
        httparse::Error::NewLine => "a line that does not end in CRLF",
        _ => "the head is no HTTP",
    }
}

/// Whether a comma-separated list contains the token, in any case.
fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

fn decimal(value: &[u8]) -> Option<u64> {
    let value = value.trim_ascii();
    if value.is_empty() || value.len() > 19 {
        return None;
    }
    value.iter().try_fold(0_u64, |total, byte| {
        byte.is_ascii_digit().then(|| total * 10 + u64::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Feeds `text` in pieces of `step` bytes; the answer's status, body, leftover and whether
    /// it was complete before the end.
    fn read(
        text: &[u8],
        step: usize,
        is_head: bool,
    ) -> Result<(u16, Vec<u8>, usize, bool), Malformed> {
        let mut parser = ResponseParser::default();
        parser.begin(is_head);
        let mut body = Vec::new();
        let mut at = 0;
        for piece in text.chunks(step) {
            let fed = parser.feed(piece, |bytes| body.extend_from_slice(bytes))?;
            at += fed.consumed;
            if fed.complete {
                return Ok((parser.status(), body, text.len() - at, parser.keep_alive()));
            }
        }
        let complete = parser.end()?;
        assert!(complete, "neither complete nor cut short");
        Ok((parser.status(), body, text.len() - at, parser.keep_alive()))
    }

    /// An answer, whether the request was HEAD; status, body, bytes left, keep-alive.
    type Framing = (&'static [u8], bool, u16, &'static [u8], usize, bool);

    #[test]
    fn framings() {
        let table: [Framing; 9] = [
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, 200, b"hello", 0, true),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello++", false, 200, b"hello", 2, true),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello", false, 200, b"hello", 0, false),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", true, 200, b"", 0, true),
            (b"HTTP/1.1 204 No Content\r\n\r\n", false, 204, b"", 0, true),
            (b"HTTP/1.0 200 OK\r\n\r\nto the end", false, 200, b"to the end", 0, false),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n!\r\n0\r\nA: b\r\n\r\n", false, 200, b"hello!", 0, true),
            (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", false, 200, b"x", 0, true),
            (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", false, 200, b"", 0, true),
        ];
        for (text, is_head, status, body, left, keep_alive) in table {
            for step in [1, 2, 3, 7, text.len()] {
                let (s, b, l, k) = read(text, step, is_head).unwrap();
                let shown = String::from_utf8_lossy(text);
                assert_eq!((s, b.as_slice(), k), (status, body, keep_alive), "{shown} by {step}");
                if step == text.len() {
                    assert_eq!(l, left, "{shown}");
                }
            }
        }
    }

    #[test]
    fn malformed_answers_say_what_is_wrong() {
        let table: [(&[u8], &str); 9] = [
            (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "the status line has no HTTP version"),
            (b"HTTP/1.1 999 Odd\r\n\r\n", "the status is not between 100 and 599"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n", "the content length is no number"),
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                "two content lengths differ",
            ),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "a chunk size that is no hexadecimal number",
            ),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
                "a chunk size beyond 64 bits",
            ),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab",
                "a chunk longer than its size",
            ),
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
                "the connection closed inside the answer",
            ),
            (b"HTTP/1.1 101 Switching\r\n\r\n", "an interim answer that was not asked for"),
        ];
        for (text, message) in table {
            for step in [1, text.len()] {
                assert_eq!(read(text, step, false), Err(Malformed(message)));
            }
        }
    }

    #[test]
    fn a_head_without_end_is_bounded() {
        let mut parser = ResponseParser::default();
        parser.begin(false);
        let mut fed = parser.feed(b"HTTP/1.1 200 OK\r\n", |_| {}).map(|_| ());
        for _ in 0..2_000 {
            if fed.is_err() {
                break;
            }
            fed = parser
                .feed(b"X-Filler: 0123456789012345678901234567890123456789\r\n", |_| {})
                .map(|_| ());
        }
        assert!(fed.is_err());
        assert!(parser.head.len() <= MOST_HEAD_BYTES);
    }

    proptest! {
        #[test]
        fn never_panics_and_pieces_do_not_matter(
            noise in proptest::collection::vec(any::<u8>(), 0..300),
            cut in 1_usize..50,
            valid_start in any::<bool>(),
        ) {
            let mut text = Vec::new();
            if valid_start {
                text.extend_from_slice(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            }
            text.extend_from_slice(&noise);
            prop_assert_eq!(transcribe(&text, cut), transcribe(&text, usize::MAX));
        }
    }
}
