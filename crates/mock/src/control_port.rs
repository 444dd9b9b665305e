//! The control port: a second, loopback-only port on which a running mock tells the truth so far and
//! takes another script. Plain HTTP, one request for each connection, on a thread of its own that only
//! passes questions to the loop: what comes here is in no ledger.
//!
//! `GET /truth` is the record so far, `GET /config` the configuration in effect, `PUT` or `POST`
//! `/script` another script, refused with the reason when it is wrong. While the loop makes an answer,
//! the mock answers nobody else: some milliseconds for `/truth`.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::MockError;
use crate::control::{Handle, Question};
use crate::request::{Event, Reader};
use crate::site::Ask;

/// How long a peer may take to send its request, or to take its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A bound control port that nobody serves yet.
#[derive(Debug)]
pub(crate) struct ControlListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl ControlListener {
    /// Binds `listen`, `host:port` of loopback.
    ///
    /// # Errors
    /// [`MockError::Listen`], [`MockError::PortInUse`] or [`MockError::Bind`].
    pub(crate) fn bind(listen: &str) -> Result<Self, MockError> {
        let unusable = |reason: String| MockError::Listen { listen: listen.to_owned(), reason };
        let mut found = listen.to_socket_addrs().map_err(|error| unusable(error.to_string()))?;
        let address =
            found.next().ok_or_else(|| unusable("it resolves to no address".to_owned()))?;
        if !address.ip().is_loopback() {
            return Err(unusable("a control port is for this host alone".to_owned()));
        }
        let bound = TcpListener::bind(address).and_then(|listener| {
            let address = listener.local_addr()?;
            Ok(Self { listener, address })
        });
        bound.map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => MockError::PortInUse(address),
            _ => MockError::Bind { address, source },
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the value is dropped.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(crate) fn serve(self, handle: Handle) -> io::Result<ControlPort> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let Self { listener, address } = self;
        std::thread::Builder::new().name("mock-control".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                // A peer that fails is its own affair.
                let _ = stream.and_then(|stream| converse(stream, &handle));
            }
        })?;
        Ok(ControlPort { address, stop })
    }
}

/// A control port that is served.
#[derive(Debug)]
pub(crate) struct ControlPort {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Drop for ControlPort {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // The thread waits for a connection: this is one. It is not waited for: a silent peer may hold
        // it for a while yet, and no stop waits for a peer.
        let _ = TcpStream::connect_timeout(&self.address, PATIENCE);
    }
}

/// Reads one request and answers it.
fn converse(mut stream: TcpStream, handle: &Handle) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = Reader::default();
    reader.keep(true);
    let mut received = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let (status, body) = loop {
        let step = reader.step(&received);
        received.drain(..step.consumed);
        match step.event {
            Event::NeedMore => match stream.read(&mut buffer)? {
                0 => return Ok(()),
                bytes => received.extend_from_slice(&buffer[..bytes]),
            },
            Event::ExpectsContinue => stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            Event::Request(_) => break answer(&reader, handle),
            Event::Refused(refusal) => break (refusal.status(), error("no request")),
        }
    };
    let head = format!(
        "HTTP/1.1 {status} Control\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

fn answer(reader: &Reader, handle: &Handle) -> (u16, String) {
    let Some(kept) = reader.kept() else { return (500, error("nothing was kept")) };
    let ask = Ask::new(kept);
    let question = match (ask.method, ask.path) {
        ("GET", "/truth") => Question::Truth,
        ("GET", "/config") => Question::Config,
        ("PUT" | "POST", "/script") => match std::str::from_utf8(ask.body) {
            Ok(text) if !ask.cut => Question::Script(text.to_owned()),
            _ => return (400, error("a script is UTF-8 of at most 1 MiB")),
        },
        _ => return (404, error("expected GET /truth, GET /config or PUT /script")),
    };
    handle.ask(question).unwrap_or_else(|| (503, error("the mock is stopping")))
}

/// A reason as JSON.
pub(crate) fn error(reason: &str) -> String {
    serde_json::json!({ "error": reason }).to_string()
}
