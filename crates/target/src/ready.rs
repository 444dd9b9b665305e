//! Readiness: one try at a time, each bounded; the waiting is done by the bring-up.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use record::plan::Ready;

use crate::log::Tail;

/// Longest single try.
pub(crate) const TRY_BOUND: Duration = Duration::from_secs(2);

/// What makes a target ready.
#[derive(Debug)]
pub(crate) enum Check {
    /// The port accepts a connection.
    Port { host: String, port: u16 },
    /// A path answers 2xx or 3xx.
    Get { host: String, port: u16, path: String },
    /// A line of the output contains a text.
    Line { text: String, tails: Vec<Tail> },
}

impl Check {
    /// The check of `ready` against an address; `None` when it needs one and there is none.
    pub(crate) fn new(ready: &Ready, address: Option<(&str, u16)>, logs: &[&Path]) -> Option<Self> {
        if let Some(text) = &ready.line {
            let tails = logs.iter().map(|log| Tail::from_end(log)).collect();
            return Some(Self::Line { text: text.clone(), tails });
        }
        let host = address.map_or("127.0.0.1", |(host, _)| host).to_owned();
        let port = ready.port.or(address.map(|(_, port)| port))?;
        Some(match &ready.get {
            Some(path) => Self::Get { host, port, path: path.clone() },
            None => Self::Port { host, port },
        })
    }

    /// What is tried, for a message.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Port { host, port } => format!("connect to {}", join(host, *port)),
            Self::Get { host, port, path } => {
                let url = format!("http://{}{path}", join(host, *port));
                format!("GET {}", record::redact::url(&url))
            }
            Self::Line { text, .. } => format!("wait for a line with `{text}`"),
        }
    }

    /// Tries once, for at most `bound` and [`TRY_BOUND`].
    pub(crate) fn attempt(&mut self, bound: Duration) -> Result<(), String> {
        // A zero timeout is refused by the system.
        let bound = bound.clamp(Duration::from_millis(1), TRY_BOUND);
        match self {
            Self::Port { host, port } => connect(host, *port, bound).map(drop),
            Self::Get { host, port, path } => match status(host, *port, path, bound)? {
                200..=399 => Ok(()),
                code => Err(format!("it answered {code}")),
            },
            Self::Line { text, tails } => {
                let seen = tails
                    .iter_mut()
                    .any(|t| t.find(true, |line| line.contains(&*text).then_some(())).is_some());
                if seen { Ok(()) } else { Err("no such line yet".to_owned()) }
            }
        }
    }
}

/// `host:port`, with brackets around an IPv6 address.
pub(crate) fn join(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Host and port of `host:port`; brackets are taken off.
pub(crate) fn split(address: &str) -> Option<(String, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = match bare {
        Some(bare) => bare,
        None if host.contains(':') => return None,
        None => host,
    };
    if host.is_empty() { None } else { Some((host.to_owned(), port.parse().ok()?)) }
}

fn connect(host: &str, port: u16, bound: Duration) -> Result<TcpStream, String> {
    let addresses: Vec<_> =
        (host, port).to_socket_addrs().map_err(|error| error.to_string())?.collect();
    let mut last = format!("`{host}` has no address");
    for address in &addresses {
        match TcpStream::connect_timeout(address, bound / addresses.len() as u32) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error.to_string(),
        }
    }
    Err(last)
}

/// The status of one GET. Only the first line of the answer is read.
fn status(host: &str, port: u16, path: &str, bound: Duration) -> Result<u16, String> {
    let text = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::WouldBlock => "no answer in time".to_owned(),
        _ => error.to_string(),
    };
    let mut stream = connect(host, port, bound)?;
    stream.set_read_timeout(Some(bound)).map_err(text)?;
    stream.set_write_timeout(Some(bound)).map_err(text)?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: assay\r\nAccept: */*\r\n\
         Connection: close\r\n\r\n",
        join(host, port)
    );
    stream.write_all(request.as_bytes()).map_err(text)?;
    let mut head = Vec::new();
    // Byte by byte would let a slow peer stretch the bound; a few reads cannot.
    for _ in 0..8 {
        let mut bytes = [0_u8; 512];
        let count = stream.read(&mut bytes).map_err(text)?;
        head.extend_from_slice(&bytes[..count]);
        if count == 0 || head.contains(&b'\n') {
            break;
        }
    }
    if head.is_empty() {
        return Err("it closed the connection without an answer".to_owned());
    }
    parse_status(&head).ok_or_else(|| {
        let line: Vec<u8> =
            head.iter().copied().take_while(|b| !b"\r\n".contains(b)).take(60).collect();
        format!("it answered no HTTP: `{}`", String::from_utf8_lossy(&line).escape_debug())
    })
}

/// The code of `HTTP/1.1 200 OK`.
fn parse_status(head: &[u8]) -> Option<u16> {
    let line = head.split(|&byte| byte == b'\n').next()?;
    let rest = line.strip_prefix(b"HTTP/1.")?;
    let code = std::str::from_utf8(rest.get(2..5)?).ok()?.parse().ok()?;
    if rest.get(1) == Some(&b' ') && (100..600).contains(&code) { Some(code) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let split = |text| split(text).map(|(host, port)| join(&host, port));
        for good in ["127.0.0.1:80", "localhost:0", "[::1]:8080"] {
            assert_eq!(split(good).as_deref(), Some(good));
        }
        for bad in ["", ":80", "localhost", "::1:80", "a:b", "a:70000", "[]:1", "a:"] {
            assert_eq!(split(bad), None, "{bad}");
        }
    }

    #[test]
    fn status_lines() {
        assert_eq!(parse_status(b"HTTP/1.1 204 No Content\r\n"), Some(204));
        assert_eq!(parse_status(b"HTTP/1.0 301\r\n"), Some(301));
        for bad in
            [&b""[..], b"HTTP/1.1", b"HTTP/1.1 2", b"SSH-2.0-x", b"HTTP/1.1 999 x", b"HTTP/1.12000"]
        {
            assert_eq!(parse_status(bad), None, "{bad:?}");
        }
    }
}
