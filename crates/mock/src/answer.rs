//! The answers, built once: the body's pattern, the wrong body, and the bytes of every head
//! in each of the three ways a connection goes on.
//!
//! No `Date` header is sent, so that an answer is the same bytes every time.

use std::sync::Arc;

use record::mock::{Failure, MockConfig};

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

/// Which prebuilt answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnswerId(u16);

/// One prebuilt answer: `bytes`, which start with the head, then `rest`.
#[derive(Debug)]
struct Answer {
    head_bytes: usize,
    bytes: Vec<u8>,
    rest: Arc<[u8]>,
}

/// All answers a configuration can give.
#[derive(Debug)]
pub(crate) struct Answers {
    answers: Vec<Answer>,
    /// Status code and first answer of each planned `status` failure.
    statuses: Vec<(u16, u16)>,
    /// First answers of what capacity and rate refuse.
    overloaded: u16,
    limited: u16,
    refusals: u16,
    interim: u16,
}

/// Answers of one kind lie side by side, one for each [`Persistence`].
const VARIANTS: [Persistence; 3] =
    [Persistence::KeepAlive, Persistence::KeepAliveHttp10, Persistence::Close];
const GOOD: u16 = 0;
const WRONG: u16 = 3;

impl Answers {
    /// Builds the answers of a configuration whose body size is within bounds.
    pub(crate) fn new(config: &MockConfig) -> Self {
        let size_bytes = config.body_size_bytes as usize;
        let good: Arc<[u8]> = body(size_bytes).into();
        let empty: Arc<[u8]> = Vec::new().into();
        let mut all = Self {
            answers: Vec::new(),
            statuses: Vec::new(),
            overloaded: 0,
            limited: 0,
            refusals: 0,
            interim: 0,
        };
        all.add(200, &good);
        all.add(200, &wrong_body(size_bytes).into());
        for fail in &config.fail {
            if let Failure::Status(code) = fail.how
                && all.status(code).is_none()
            {
                // Codes whose answers have no body by RFC 9110, section 6.4.1.
                let bodiless = matches!(code, 204 | 205 | 304);
                let first = all.add(code, if bodiless { &empty } else { &good });
                all.statuses.push((code, first));
            }
        }
        all.overloaded = all.add(503, &empty);
        all.limited = all.add(429, &empty);
        all.refusals = all.answers.len() as u16;
        for refusal in Refusal::ALL {
            all.add(refusal.status(), &empty);
        }
        all.interim = all.answers.len() as u16;
        let interim = b"HTTP/1.1 100 Continue\r\n\r\n".to_vec();
        all.answers.push(Answer { head_bytes: interim.len(), bytes: interim, rest: empty });
        all
    }

    /// Adds one kind in all variants; returns the first one's place.
    fn add(&mut self, code: u16, body: &Arc<[u8]>) -> u16 {
        let first = self.answers.len() as u16;
        for persistence in VARIANTS {
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
                "HTTP/1.1 {code} {}\r\nContent-Type: text/plain\r\n{length}{connection}\r\n",
                reason(code)
            )
            .into_bytes();
            let head_bytes = bytes.len();
            let inline = body.len() <= INLINE_BYTES;
            if inline {
                bytes.extend_from_slice(body);
            }
            let rest = if inline { Vec::new().into() } else { Arc::clone(body) };
            self.answers.push(Answer { head_bytes, bytes, rest });
        }
        first
    }

    /// A good answer, or that of a planned failure that is answered.
    pub(crate) fn of(&self, failure: Option<Failure>, persistence: Persistence) -> AnswerId {
        let first = match failure {
            Some(Failure::Status(code)) => self.status(code).unwrap_or(GOOD),
            Some(Failure::Body) => WRONG,
            // The last two send nothing; any answer stands in.
            None | Some(Failure::Reset | Failure::Never) => GOOD,
        };
        AnswerId(first + persistence as u16)
    }

    /// The answer to a request that found the queue full.
    pub(crate) fn overloaded(&self, persistence: Persistence) -> AnswerId {
        AnswerId(self.overloaded + persistence as u16)
    }

    /// The answer to a request over its address's rate.
    pub(crate) fn limited(&self, persistence: Persistence) -> AnswerId {
        AnswerId(self.limited + persistence as u16)
    }

    /// The answer to bytes that are no request; it closes the connection.
    pub(crate) fn refusal(&self, refusal: Refusal) -> AnswerId {
        AnswerId(self.refusals + 3 * refusal as u16 + Persistence::Close as u16)
    }

    /// `100 Continue`.
    pub(crate) fn interim(&self) -> AnswerId {
        AnswerId(self.interim)
    }

    /// What is left to send of an answer after `sent` bytes, in parts. `lines` are the header lines
    /// that only this answer has; they stand last in its head.
    pub(crate) fn unsent<'a>(
        &'a self,
        id: AnswerId,
        head_only: bool,
        lines: &'a [u8],
        sent: usize,
    ) -> [&'a [u8]; 4] {
        let answer = &self.answers[id.0 as usize];
        if lines.is_empty() {
            // The usual case: one part, which one plain `send` does.
            return match sent.checked_sub(answer.bytes.len()) {
                _ if head_only => [&answer.bytes[sent..answer.head_bytes], &[], &[], &[]],
                None => [&answer.bytes[sent..], &answer.rest, &[], &[]],
                Some(past) => [&[], &answer.rest[past..], &[], &[]],
            };
        }
        let (head, blank) = answer.bytes.split_at(answer.head_bytes - BLANK_LINE.len());
        debug_assert!(blank.starts_with(BLANK_LINE), "a head ends with a blank line");
        let mut parts = [head, lines, blank, &answer.rest];
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
    pub(crate) fn length(&self, id: AnswerId, head_only: bool) -> usize {
        let answer = &self.answers[id.0 as usize];
        if head_only { answer.head_bytes } else { answer.bytes.len() + answer.rest.len() }
    }

    fn status(&self, code: u16) -> Option<u16> {
        self.statuses.iter().find(|(known, _)| *known == code).map(|(_, first)| *first)
    }
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

    fn text(answers: &Answers, id: AnswerId) -> String {
        String::from_utf8(answers.unsent(id, false, b"", 0).concat()).expect("answers are text")
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
            assert_eq!(text(&answers, answers.of(failure, persistence)), expected);
        }
    }

    #[test]
    fn an_answer_without_content_has_neither_body_nor_length() {
        let answers = answers(3);
        let id = answers.of(Some(Failure::Status(204)), Persistence::KeepAlive);
        insta::assert_snapshot!(text(&answers, id).replace('\r', ""), @r"
        HTTP/1.1 204 No Content
        Content-Type: text/plain
        ");
    }

    #[test]
    fn refusals_close() {
        let answers = answers(3);
        for refusal in Refusal::ALL {
            let text = text(&answers, answers.refusal(refusal));
            assert!(text.starts_with(&format!("HTTP/1.1 {} ", refusal.status())), "{text}");
            assert!(text.contains("Connection: close\r\n"), "{text}");
        }
        assert_eq!(text(&answers, answers.interim()), "HTTP/1.1 100 Continue\r\n\r\n");
    }

    #[test]
    fn every_cut_leaves_the_rest() {
        let own: [&[u8]; 2] = [b"", b"Retry-After: 0000000060\r\n"];
        for (size, lines) in
            [5, INLINE_BYTES as u64 + 5].into_iter().flat_map(|s| own.map(|l| (s, l)))
        {
            let answers = answers(size);
            let id = answers.of(None, Persistence::KeepAlive);
            let whole = answers.unsent(id, false, lines, 0).concat();
            assert!(whole.ends_with(&body(size as usize)));
            assert_eq!(whole.len(), answers.length(id, false) + lines.len());
            let step = whole.len().div_ceil(97);
            for sent in (0..=whole.len()).step_by(step) {
                assert_eq!(answers.unsent(id, false, lines, sent).concat(), whole[sent..]);
            }
            let head = answers.unsent(id, true, lines, 0).concat();
            assert!(head.ends_with(&[b"\r\n", lines, b"\r\n"].concat()));
            assert!(whole.starts_with(&head));
            assert_eq!(head.len(), answers.length(id, true) + lines.len());
            for sent in 0..=head.len() {
                assert_eq!(answers.unsent(id, true, lines, sent).concat(), head[sent..]);
            }
        }
    }
}
