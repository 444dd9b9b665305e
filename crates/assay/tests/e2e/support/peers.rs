//! Peers that misbehave on purpose, and a client of one request.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
    listener.local_addr().expect("it is bound").port()
}

/// Sends one request and returns what came back.
pub(crate) fn request(address: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the peer listens");
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .expect("the peer reads");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// How a server misbehaves once it has read something.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stubborn {
    /// Answers with bytes that are no HTTP.
    Garbage,
    /// Announces more body than it sends, then closes.
    CutShort,
    /// Closes without an answer.
    Close,
    /// Never answers.
    Hang,
}

/// A server on loopback, one thread a connection, until it is dropped.
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peer {
    pub(crate) fn start(how: Stubborn) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
        let address = listener.local_addr().expect("it is bound");
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let stop = Arc::clone(&stop);
                std::thread::spawn(move || serve(stream, how, &stop));
            }
        });
        Self { address, over, thread: Some(thread) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(mut stream: TcpStream, how: Stubborn, stop: &AtomicBool) {
    let mut bytes = [0_u8; 4096];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        match how {
            Stubborn::Garbage => {
                let _ = stream.write_all(b"\x00\x01 this is no HTTP\r\n\r\n");
                return;
            }
            Stubborn::CutShort => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\nabc");
                return;
            }
            Stubborn::Close => return,
            Stubborn::Hang => {
                while !stop.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    }
}
