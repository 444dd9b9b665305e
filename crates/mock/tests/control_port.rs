//! The control port: the truth while it runs, another script, and no trace in the main ledger.

mod support;

use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use record::mock::MockRecord;
use support::{Client, counts};

struct Controlled {
    control: SocketAddr,
    address: SocketAddr,
    handle: mock::Handle,
    ended: mpsc::Receiver<MockRecord>,
}

impl Controlled {
    fn start(settings: &[(&str, &str)]) -> Self {
        let settings = [&[("control", "127.0.0.1:0")], settings].concat();
        let server = mock::Server::bind(support::config(&settings)).expect("free ports");
        let control = server.config().control.clone().expect("asked for");
        let (address, control) = (server.local_addr(), control.parse().expect("an address"));
        let loop_control = mock::Control::new().expect("a socket pair");
        let handle = loop_control.handle();
        let (sender, ended) = mpsc::channel();
        std::thread::spawn(move || drop(sender.send(server.run(loop_control))));
        Self { control, address, handle, ended }
    }

    fn ask(&self, line: &str, body: &str) -> (u16, serde_json::Value) {
        let mut client = Client::connect(self.control);
        client.send(format!("{line} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
        let answer = client.answer();
        (answer.status, serde_json::from_slice(&answer.body).expect("JSON"))
    }

    fn stop(self) -> MockRecord {
        self.handle.stop();
        self.ended.recv_timeout(support::PATIENCE).expect("it stops, and its control port too")
    }
}

#[test]
fn the_truth_so_far_leaves_the_ledger_as_it_is() {
    let mock = Controlled::start(&[("latency", "2ms")]);
    let mut client = Client::connect(mock.address);
    for _ in 0..3 {
        client.get();
    }
    for _ in 0..2 {
        let (status, truth) = mock.ask("GET /truth", "");
        let truth: MockRecord = serde_json::from_value(truth).expect("a record");
        assert_eq!((status, counts(&truth)), (200, [3, 0, 0]));
        assert_eq!((truth.accepted, truth.distinct_peer_ports), (1, 1));
    }
    let (_, config) = mock.ask("GET /config", "");
    let line = config["line"].as_str().expect("a line");
    assert!(line.starts_with("instrument: --listen 127.0.0.1:"), "{line}");
    assert!(line.ends_with(&format!("--control {}", mock.control)), "{line}");
    assert_eq!(mock.ask("GET /other", "").0, 404);
    client.get();
    let record = mock.stop();
    assert_eq!((counts(&record), record.accepted, record.script_changes), ([4, 0, 0], 1, 0));
}

#[test]
fn another_script_holds_from_the_next_request_on() {
    let mock = Controlled::start(&[]);
    let mut client = Client::connect(mock.address);
    assert_eq!(client.get().body.len(), 128);
    let (status, refused) = mock.ask("PUT /script", "[[endpoint]]\npth = \"/\"\n");
    assert_eq!(status, 400);
    let reason = refused["error"].as_str().expect("a reason");
    assert!(reason.starts_with("control:1:1: no `path`"), "{reason}");
    assert_eq!(client.get().body.len(), 128, "a wrong script changes nothing");

    let slow = "[server]\nlatency = \"15ms\"\n[[endpoint]]\npath = \"/\"\nbody = \"slow\"\n";
    assert_eq!(mock.ask("PUT /script", slow).0, 200);
    let start = Instant::now();
    // On a connection from before.
    assert_eq!(client.get().body, b"slow");
    assert!(start.elapsed() >= Duration::from_millis(15));
    assert_eq!(mock.ask("POST /script", "[[endpoint]]\npath = \"/else\"\n").0, 200);
    assert_eq!(client.get().status, 404);
    let record = mock.stop();
    assert_eq!((counts(&record), record.script_changes), ([3, 1, 0], 2));
    assert_eq!((record.endpoints["/"].served, record.endpoints["unmatched"].failed), (1, 1));
    // The last script is on top of the flags, not of the script before.
    assert_eq!(record.config.latency_ns, 0);
}

#[test]
fn a_control_port_is_of_loopback() {
    let config = support::config(&[("control", "0.0.0.0:0")]);
    let error = mock::Server::bind(config).expect_err("not loopback").to_string();
    assert!(error.contains("a control port is for this host alone"), "{error}");
}

#[test]
fn a_stop_does_not_wait_for_a_peer_of_the_control_port() {
    let mock = Controlled::start(&[]);
    let silent = Client::connect(mock.control);
    // The next peer waits behind it, and is let go as well.
    let mut waiting = Client::connect(mock.control);
    waiting.send("GET /truth HTTP/1.1\r\n\r\n");
    let start = Instant::now();
    mock.stop();
    assert!(start.elapsed() < support::PATIENCE);
    drop(silent);
}
