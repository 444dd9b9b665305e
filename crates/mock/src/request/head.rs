//! The head of a request: its start line and headers, and what they say about the body.

use std::mem::MaybeUninit;

use super::framing::Framing;
use super::{BODY_MAX_BYTES, HEADERS_MAX, Persistence, Refusal, Request};

/// A complete head.
#[derive(Debug)]
pub(super) struct Head {
    /// Bytes up to and with the empty line.
    pub(super) size_bytes: usize,
    pub(super) request: Request,
    pub(super) framing: Framing,
    /// The peer asked for `100 Continue` and has a body to send.
    pub(super) expects_continue: bool,
}

/// Parses a head at the start of `input`; `None` when it is not complete.
///
/// # Errors
/// [`Refusal`] when `input` is not the beginning of any request.
pub(super) fn parse(input: &[u8]) -> Result<Option<Head>, Refusal> {
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut []);
    let size_bytes = match request.parse_with_uninit_headers(input, &mut headers) {
        Ok(httparse::Status::Complete(size_bytes)) => size_bytes,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal::HeadTooLarge),
        Err(_) => return Err(Refusal::Malformed),
    };
    let http10 = request.version == Some(0);
    let mut fields = Fields::default();
    for header in &*request.headers {
        fields.read(header.name, header.value)?;
    }
    let framing = match (fields.length_bytes, fields.chunked) {
        // Both at once is how requests are smuggled; HTTP/1.0 has no transfer codings.
        (Some(_), true) => return Err(Refusal::Malformed),
        (None, true) if http10 => return Err(Refusal::Malformed),
        (None, true) => Framing::chunked(),
        (Some(length_bytes), false) => {
            if length_bytes > BODY_MAX_BYTES {
                return Err(Refusal::BodyTooLarge);
            }
            Framing::length(length_bytes)
        }
        (None, false) => Framing::length(0),
    };
    let persistence = match (http10, fields.close, fields.keep_alive) {
        (_, true, _) | (true, false, false) => Persistence::Close,
        (true, false, true) => Persistence::KeepAliveHttp10,
        (false, false, _) => Persistence::KeepAlive,
    };
    let expects_continue = fields.expects_continue && !http10 && !framing.is_done();
    let request = Request { head_only: request.method == Some("HEAD"), persistence };
    Ok(Some(Head { size_bytes, request, framing, expects_continue }))
}

/// The few header fields that matter here.
#[derive(Debug, Default)]
struct Fields {
    length_bytes: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
}

impl Fields {
    fn read(&mut self, name: &str, value: &[u8]) -> Result<(), Refusal> {
        // The length tells most fields apart before any text is compared.
        match name.len() {
            14 if name.eq_ignore_ascii_case("content-length") => {
                let length_bytes = content_length(value)?;
                if self.length_bytes.is_some_and(|earlier| earlier != length_bytes) {
                    return Err(Refusal::Malformed);
                }
                self.length_bytes = Some(length_bytes);
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                if self.chunked || !value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    return Err(Refusal::Malformed);
                }
                self.chunked = true;
            }
            10 if name.eq_ignore_ascii_case("connection") => {
                for token in value.split(|byte| *byte == b',') {
                    let token = token.trim_ascii();
                    self.close |= token.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            6 if name.eq_ignore_ascii_case("expect") => {
                self.expects_continue |= value.trim_ascii().eq_ignore_ascii_case(b"100-continue");
            }
            _ => {}
        }
        Ok(())
    }
}

/// Digits only: a sign, a list or hexadecimal is read differently by different parsers.
fn content_length(value: &[u8]) -> Result<u64, Refusal> {
    let value = value.trim_ascii();
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Refusal::Malformed);
    }
    value
        .iter()
        .try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        .ok_or(Refusal::BodyTooLarge)
}
