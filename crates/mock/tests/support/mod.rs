//! A running mock and a raw client, for tests that look at bytes and counts.

#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::Duration;

use mock::{Control, Handle, Limits, Server};
use record::mock::{MockConfig, MockRecord};

/// How long anything may take before a test gives up; nothing waits for it in a good run.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A request that keeps its connection.
pub(crate) const GET: &str = "GET / HTTP/1.1\r\nHost: mock\r\n\r\n";

pub(crate) fn config(settings: &[(&str, &str)]) -> MockConfig {
    let mut config = MockConfig::default();
    for (key, text) in settings {
        config.set(key, text).expect("a test writes valid settings");
    }
    config
}

/// A mock on its own thread.
pub(crate) struct Mock {
    pub(crate) address: SocketAddr,
    handle: Handle,
    flushed: Receiver<MockRecord>,
    thread: JoinHandle<MockRecord>,
}

impl Mock {
    pub(crate) fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_with(settings, Limits::default())
    }

    pub(crate) fn start_with(settings: &[(&str, &str)], limits: Limits) -> Self {
        let server = Server::bind_with(config(settings), limits).expect("loopback, a free port");
        assert!(server.is_loopback());
        let address = server.local_addr();
        let (sender, flushed) = mpsc::channel();
        let control = Control::new()
            .expect("a socket pair")
            .on_flush(move |record| sender.send(record).expect("the test listens"));
        let handle = control.handle();
        let thread = std::thread::spawn(move || server.run(control));
        Self { address, handle, flushed, thread }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    pub(crate) fn flush(&self) -> MockRecord {
        self.handle.flush();
        self.flushed.recv_timeout(PATIENCE).expect("a flush comes back")
    }

    pub(crate) fn stop(self) -> MockRecord {
        self.handle.stop();
        self.thread.join().expect("the mock does not panic")
    }
}

/// What a client got.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// A blocking connection that speaks bytes.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the mock listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("not zero");
        stream.set_write_timeout(Some(PATIENCE)).expect("not zero");
        stream.set_nodelay(true).expect("a TCP socket");
        Self { stream, unread: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the mock reads");
    }

    /// Sends a GET and reads its answer.
    pub(crate) fn get(&mut self) -> Answer {
        self.send(GET);
        self.answer()
    }

    pub(crate) fn answer(&mut self) -> Answer {
        self.try_answer().expect("an answer")
    }

    /// Reads one answer; its end is by `Content-Length`, absent is 0.
    pub(crate) fn try_answer(&mut self) -> io::Result<Answer> {
        let head = self.head()?;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "))
            .map_or(0, |length| length.parse().expect("a number"));
        while self.unread.len() < length {
            self.receive()?;
        }
        let body = self.unread.drain(..length).collect();
        let status = head[9..12].parse().expect("a status line");
        Ok(Answer { status, head, body })
    }

    /// Reads one head alone.
    pub(crate) fn head(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.unread.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = self.unread.drain(..end + 4).collect();
                return Ok(String::from_utf8(head).expect("heads are text"));
            }
            self.receive()?;
        }
    }

    /// Waits for the mock to close, orderly and with nothing more said.
    pub(crate) fn expect_close(&mut self) {
        assert_eq!(self.unread, b"");
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).expect("an orderly close");
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }

    /// Moves what was received and not used to the start of `buffer`; returns its length.
    pub(crate) fn take_unread(&mut self, buffer: &mut [u8]) -> usize {
        let length = self.unread.len();
        buffer[..length].copy_from_slice(&self.unread);
        self.unread.clear();
        length
    }

    /// Closes by reset instead of FIN.
    pub(crate) fn reset(self) {
        rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO))
            .expect("a TCP socket");
    }

    fn receive(&mut self) -> io::Result<()> {
        let mut buffer = [0; 64 * 1024];
        match self.stream.read(&mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => {
                self.unread.extend_from_slice(&buffer[..bytes]);
                Ok(())
            }
        }
    }
}

/// `[served, failed, malformed]` of a record.
pub(crate) fn counts(record: &MockRecord) -> [u64; 3] {
    let kinds: u64 = record.failures.values().sum();
    assert_eq!(kinds, record.failed, "failures by kind add up");
    [record.served, record.failed, record.malformed]
}

/// How many requests failed in one way.
pub(crate) fn failures(record: &MockRecord, kind: &str) -> u64 {
    record.failures.get(kind).copied().unwrap_or(0)
}
