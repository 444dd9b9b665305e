//! The answers, built once: the body's pattern, the wrong body, and the bytes of every head
//! in each of the three ways a connection goes on.
//!
//! No `Date` header is sent, so that an answer is the same bytes every time.

use std::sync::Arc;

use record::mock::{Failure, MockConfig};

use crate::script::Fixed;
use crate::site::Said;

/// What ends a head.
const BLANK_LINE: &[u8] = b"\r\n";
/// Body bytes up to which head and body are kept together, so that one plain `send` does.
const INLINE_BYTES: usize = 16 * 1024;

/// The body of a good answer: byte `i` is the letter `a + i mod 26`. 26 shares no factor with
/// the powers of two that buffers come in, so that a lost or repeated block does not fit.
#[must_use]
pub fn body(size_bytes: usize) -> Vec<u8> {
    (b'a'..=b'z').cycle().take(size_bytes).collect()
}

/// The body of a planned `body` failure: the same size in capitals, so that every byte is
/// wrong; for size 0, one byte that should not be there.
#[must_use]
pub fn wrong_body(size_bytes: usize) -> Vec<u8> {
    (b'A'..=b'Z').cycle().take(size_bytes.max(1)).collect()
}

/// How the connection goes on after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// HTTP/1.1's default: it stays open and nothing needs saying.
    KeepAlive,
    /// HTTP/1.0 with `Connection: keep-alive`: it stays open and the answer says so.
    KeepAliveHttp10,
    /// It closes after this answer, and the answer says so.
    Close,
}

/// Why bytes are refused as a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// 400: the bytes are no HTTP/1 request, or its framing is ambiguous.
    Malformed,
    /// 408: the request made no progress for too long.
    Stalled,
    /// 413: the body is over its bound.
    BodyTooLarge,
    /// 431: the head is over its bound, in bytes or in headers.
    HeadTooLarge,
}

impl Refusal {
    /// All of them, in the order of their statuses.
    pub const ALL: [Self; 4] =
        [Self::Malformed, Self::Stalled, Self::BodyTooLarge, Self::HeadTooLarge];

    /// The status code of the answer.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::Stalled => 408,
            Self::BodyTooLarge => 413,
            Self::HeadTooLarge => 431,
        }
    }
}

/// One answer: `bytes`, which start with the head, then `rest`.
#[derive(Debug)]
pub(crate) struct Answer {
    head_bytes: usize,
    bytes: Vec<u8>,
    rest: Arc<[u8]>,
}

/// All answers a configuration can give, or one endpoint of a script.
#[derive(Debug)]
pub(crate) struct Answers {
    answers: Vec<Arc<Answer>>,
    /// Status code and first answer of each planned `status` failure and of each refusal.
    statuses: Vec<(u16, usize)>,
    interim: Arc<Answer>,
}

/// Answers of one kind lie side by side, one for each [`Persistence`].
const VARIANTS: [Persistence; 3] =
    [Persistence::KeepAlive, Persistence::KeepAliveHttp10, Persistence::Close];
const GOOD: usize = 0;
const WRONG: usize = 3;
/// Statuses of answers that capacity, rate and scripts refuse with; like refusals they are bare.
const BARE: [u16; 3] = [503, 429, 404];

impl Answer {
    /// An answer with its headers; `Content-Length` and `Connection` come from the body and
    /// `persistence`.
    fn new(
        code: u16,
        content_type: &str,
        headers: &str,
        body: &Arc<[u8]>,
        persistence: Persistence,
    ) -> Self {
        let connection = match persistence {
            Persistence::KeepAlive => "",
            Persistence::KeepAliveHttp10 => "Connection: keep-alive\r\n",
            Persistence::Close => "Connection: close\r\n",
        };
        let length = match code {
            204 | 304 => String::new(),
            _ => format!("Content-Length: {}\r\n", body.len()),
        };
        let mut bytes = format!(
            "HTTP/1.1 {code} {}\r\nContent-Type: {content_type}\r\n{headers}{length}{connection}\r\n",
            reason(code)
        )
        .into_bytes();
        let head_bytes = bytes.len();
        let inline = body.len() <= INLINE_BYTES;
        if inline {
            bytes.extend_from_slice(body);
        }
        let rest = if inline { Vec::new().into() } else { Arc::clone(body) };
        Self { head_bytes, bytes, rest }
    }

    /// What a family of a script says.
    pub(crate) fn said(said: &Said, persistence: Persistence) -> Self {
        let headers: String =
            said.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        Self::new(said.status, "application/json", &headers, &said.body[..].into(), persistence)
    }

    /// What is left to send of an answer after `sent` bytes, in parts. `lines` are the header lines
    /// that only this answer has; they stand last in its head.
    pub(crate) fn unsent<'a>(
        &'a self,
        head_only: bool,
        lines: &'a [u8],
        sent: usize,
    ) -> [&'a [u8]; 4] {
        if lines.is_empty() {
            // The usual case: one part, which one plain `send` does.
            return match sent.checked_sub(self.bytes.len()) {
                _ if head_only => [&self.bytes[sent..self.head_bytes], &[], &[], &[]],
                None => [&self.bytes[sent..], &self.rest, &[], &[]],
                Some(past) => [&[], &self.rest[past..], &[], &[]],
            };
        }
        let (head, blank) = self.bytes.split_at(self.head_bytes - BLANK_LINE.len());
        debug_assert!(blank.starts_with(BLANK_LINE), "a head ends with a blank line");
        let mut parts = [head, lines, blank, &self.rest];
        if head_only {
            parts[2] = &parts[2][..BLANK_LINE.len()];
            parts[3] = &[];
        }
        let mut skip = sent;
        for part in &mut parts {
            let cut = skip.min(part.len());
            *part = &part[cut..];
            skip -= cut;
        }
        parts
    }

    /// Bytes of an answer without lines of its own.
    pub(crate) fn length(&self, head_only: bool) -> usize {
        if head_only { self.head_bytes } else { self.bytes.len() + self.rest.len() }
    }
}

impl Answers {
    /// Builds the answers of a configuration whose body size is within bounds.
    pub(crate) fn new(config: &MockConfig) -> Self {
        let body = body(config.body_size_bytes as usize).into();
        Self::build(config, 200, "text/plain", "", &body)
    }

    /// Builds the answers of one endpoint.
    pub(crate) fn fixed(config: &MockConfig, fixed: &Fixed) -> Self {
        let headers: String =
            fixed.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let empty: Arc<[u8]> = Vec::new().into();
        let body = if is_bodiless(fixed.status) { &empty } else { &fixed.body };
        Self::build(config, fixed.status, &fixed.content_type, &headers, body)
    }

    fn build(
        config: &MockConfig,
        code: u16,
        content_type: &str,
        headers: &str,
        good: &Arc<[u8]>,
    ) -> Self {
        let empty: Arc<[u8]> = Vec::new().into();
        let interim = b"HTTP/1.1 100 Continue\r\n\r\n".to_vec();
        let interim = Arc::new(Answer {
            head_bytes: interim.len(),
            bytes: interim,
            rest: Arc::clone(&empty),
        });
        let mut all = Self { answers: Vec::new(), statuses: Vec::new(), interim };
        all.add(code, content_type, headers, good);
        all.add(code, content_type, headers, &wrong_body(good.len()).into());
        for fail in &config.fail {
            if let Failure::Status(code) = fail.how
                && all.status(code).is_none()
            {
                let body = if is_bodiless(code) { &empty } else { good };
                let first = all.add(code, "text/plain", "", body);
                all.statuses.push((code, first));
            }
        }
        // Bare ones come behind: a planned 503 has a body, that of a full queue has none.
        for code in BARE.into_iter().chain(Refusal::ALL.map(Refusal::status)) {
            let first = all.add(code, "text/plain", "", &empty);
            all.statuses.push((code, first));
        }
        all
    }

    /// Adds one kind in all variants; returns the first one's place.
    fn add(&mut self, code: u16, content_type: &str, headers: &str, body: &Arc<[u8]>) -> usize {
        let first = self.answers.len();
        for persistence in VARIANTS {
            let answer = Answer::new(code, content_type, headers, body, persistence);
            self.answers.push(Arc::new(answer));
        }
        first
    }

    /// A good answer, or that of a planned failure that is answered.
    pub(crate) fn of(&self, failure: Option<Failure>, persistence: Persistence) -> Arc<Answer> {
        let first = match failure {
            Some(Failure::Status(code)) => self.status(code).unwrap_or(GOOD),
            Some(Failure::Body) => WRONG,
            // The last two send nothing; any answer stands in.
            None | Some(Failure::Reset | Failure::Never) => GOOD,
        };
        Arc::clone(&self.answers[first + persistence as usize])
    }

    /// A bare answer: 503, 429, 404 or a refusal's status.
    pub(crate) fn bare(&self, code: u16, persistence: Persistence) -> Arc<Answer> {
        let found = self.statuses.iter().rev().find(|(known, _)| *known == code);
        let (_, first) = found.expect("the bare statuses are all built");
        Arc::clone(&self.answers[first + persistence as usize])
    }

    /// The answer to bytes that are no request; it closes the connection.
    pub(crate) fn refusal(&self, refusal: Refusal) -> Arc<Answer> {
        self.bare(refusal.status(), Persistence::Close)
    }

    /// `100 Continue`.
    pub(crate) fn interim(&self) -> Arc<Answer> {
        Arc::clone(&self.interim)
    }

    fn status(&self, code: u16) -> Option<usize> {
        self.statuses.iter().find(|(known, _)| *known == code).map(|(_, first)| *first)
    }
}

/// Codes whose answers have no body by RFC 9110, section 6.4.1.
fn is_bodiless(code: u16) -> bool {
    matches!(code, 204 | 205 | 304)
}

/// Reason phrases of RFC 9110 for the codes people plan; clients ignore them.
fn reason(code: u16) -> &'static str {
    match code {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Planned",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(size_bytes: u64) -> Answers {
        let mut config = MockConfig { body_size_bytes: size_bytes, ..MockConfig::default() };
        config.set("fail", "1%:status=503").expect("valid");
        config.set("fail", "1%:status=204").expect("valid");
        Answers::new(&config)
    }

    fn text(answer: &Answer) -> String {
        String::from_utf8(answer.unsent(false, b"", 0).concat()).expect("answers are text")
    }

    #[test]
    fn bodies_differ_in_every_byte_and_agree_in_size() {
        assert_eq!(body(28), b"abcdefghijklmnopqrstuvwxyzab");
        for size in [1, 26, 1_000] {
            let (good, wrong) = (body(size), wrong_body(size));
            assert_eq!(good.len(), wrong.len());
            assert!(good.iter().zip(&wrong).all(|(good, wrong)| good != wrong));
        }
        assert_eq!((body(0).len(), wrong_body(0).len()), (0, 1));
    }

    #[test]
    fn heads_say_how_the_connection_goes_on() {
        let answers = answers(3);
        let cases = [
            (None, Persistence::KeepAlive, "200 OK", "", "abc"),
            (None, Persistence::KeepAliveHttp10, "200 OK", "Connection: keep-alive\r\n", "abc"),
            (None, Persistence::Close, "200 OK", "Connection: close\r\n", "abc"),
            (Some(Failure::Body), Persistence::KeepAlive, "200 OK", "", "ABC"),
            (
                Some(Failure::Status(503)),
                Persistence::KeepAlive,
                "503 Service Unavailable",
                "",
                "abc",
            ),
        ];
        for (failure, persistence, status, connection, body) in cases {
            let expected = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n{connection}\r\n{body}"
            );
            assert_eq!(text(&answers.of(failure, persistence)), expected);
        }
    }

    #[test]
    fn an_answer_without_content_has_neither_body_nor_length() {
        let answers = answers(3);
        let id = answers.of(Some(Failure::Status(204)), Persistence::KeepAlive);
        insta::assert_snapshot!(text(&id).replace('\r', ""), @r"
        HTTP/1.1 204 No Content
        Content-Type: text/plain
        ");
    }

    #[test]
    fn refusals_close() {
        let answers = answers(3);
        for refusal in Refusal::ALL {
            let text = text(&answers.refusal(refusal));
            assert!(text.starts_with(&format!("HTTP/1.1 {} ", refusal.status())), "{text}");
            assert!(text.contains("Connection: close\r\n"), "{text}");
        }
        assert_eq!(text(&answers.interim()), "HTTP/1.1 100 Continue\r\n\r\n");
    }

    #[test]
    fn every_cut_leaves_the_rest() {
        let own: [&[u8]; 2] = [b"", b"Retry-After: 0000000060\r\n"];
        for (size, lines) in
            [5, INLINE_BYTES as u64 + 5].into_iter().flat_map(|s| own.map(|l| (s, l)))
        {
            let answers = answers(size);
            let id = answers.of(None, Persistence::KeepAlive);
            let whole = id.unsent(false, lines, 0).concat();
            assert!(whole.ends_with(&body(size as usize)));
            assert_eq!(whole.len(), id.length(false) + lines.len());
            let step = whole.len().div_ceil(97);
            for sent in (0..=whole.len()).step_by(step) {
                assert_eq!(id.unsent(false, lines, sent).concat(), whole[sent..]);
            }
            let head = id.unsent(true, lines, 0).concat();
            assert!(head.ends_with(&[b"\r\n", lines, b"\r\n"].concat()));
            assert!(whole.starts_with(&head));
            assert_eq!(head.len(), id.length(true) + lines.len());
            for sent in 0..=head.len() {
                assert_eq!(id.unsent(true, lines, sent).concat(), head[sent..]);
            }
        }
    }
}
