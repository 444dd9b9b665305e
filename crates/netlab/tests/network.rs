//! Networks of a test's own: that their settings hold there and nowhere else, that a link delays and
//! loses, and what the mock says of narrow ones.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use netlab::{Conditions, Link, Namespace, veth};
use record::mock::{MockConfig, MockRecord};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A mock in a namespace.
struct Mock {
    address: SocketAddr,
    backlog: Option<u32>,
    handle: mock::Handle,
    ended: mpsc::Receiver<MockRecord>,
}

impl Mock {
    fn start(namespace: &Namespace, settings: &[(&str, &str)]) -> Self {
        let mut config = MockConfig::default();
        for (key, text) in settings {
            config.set(key, text).expect("a test writes valid settings");
        }
        let server = namespace.run(|| mock::Server::bind(config)).expect("a free port");
        let (address, backlog) = (server.local_addr(), server.effective_backlog());
        let control = mock::Control::new().expect("a socket pair");
        let handle = control.handle();
        let (sender, ended) = mpsc::channel();
        std::thread::scope(|scope| {
            // The record reads the settings of the thread's namespace.
            scope.spawn(|| {
                namespace.enter();
                // The test may have ended before it: then nobody waits for the record.
                std::thread::spawn(move || drop(sender.send(server.run(control))));
            });
        });
        Self { address, backlog, handle, ended }
    }

    fn stop(self) -> MockRecord {
        self.handle.stop();
        self.ended.recv_timeout(PATIENCE).expect("it stops")
    }
}

fn get(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("not zero");
    exchange(&mut stream);
    stream
}

fn exchange(stream: &mut TcpStream) {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: m\r\n\r\n").expect("it reads");
    let mut seen = Vec::new();
    let mut buffer = [0; 4_096];
    // Head and body of 128 bytes that ends the alphabet at `x`.
    while !seen.ends_with(b"uvwx") {
        let bytes = stream.read(&mut buffer).expect("an answer");
        assert!(bytes > 0, "closed after {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&buffer[..bytes]);
    }
}

#[test]
fn settings_hold_in_their_namespace_alone() {
    let read = || std::fs::read_to_string("/proc/sys/net/core/somaxconn").expect("any Linux");
    let before = read();
    let (one, other) = (Namespace::new(), Namespace::new());
    one.set("net.core.somaxconn", "16");
    other.set("net.core.somaxconn", "64");
    assert_eq!((one.run(read), other.run(read)), ("16\n".to_owned(), "64\n".to_owned()));
    assert_eq!(read(), before);
}

/// K-117, E-018: a clamp that the kernel makes in silence is said.
#[test]
fn a_backlog_is_what_the_namespace_allows() {
    let namespace = Namespace::new();
    for (most, effective) in [("16", 16), ("64", 64), ("8192", 1_024)] {
        namespace.set("net.core.somaxconn", most);
        let mock = Mock::start(&namespace, &[("backlog", "1024")]);
        assert_eq!(mock.backlog, Some(effective), "somaxconn {most}");
        assert_eq!(mock.stop().backlog_effective, Some(effective));
    }
}

#[test]
fn two_namespaces_meet_over_virtual_ethernet() {
    let (left, right) = (Namespace::new(), Namespace::new());
    veth(&left, "10.77.0.1", &right, "10.77.0.2");
    let mock = Mock::start(&right, &[("listen", "10.77.0.2:0")]);
    let address = mock.address;
    left.run(|| drop(get(address)));
    let record = mock.stop();
    assert_eq!((record.served, record.accepted), (1, 1));
}

/// K-120: ports of a narrow range come again, and then no rate is derived.
#[test]
fn a_map_of_ports_that_is_full_gives_no_rate() {
    let namespace = Namespace::new();
    namespace.set("net.ipv4.ip_local_port_range", "40000 40099");
    // Ports that wait for their time to pass may be used again over loopback.
    namespace.set("net.ipv4.tcp_tw_reuse", "2");
    let run = |connections: usize| {
        let mock = Mock::start(&namespace, &[]);
        let address = mock.address;
        // All at once, so that each has a port of its own.
        namespace.run(|| {
            let open: Vec<TcpStream> = (0..connections).map(|_| get(address)).collect();
            assert_eq!(open.len(), connections);
        });
        mock.stop()
    };
    let few = run(20);
    assert_eq!((few.port_range, few.distinct_peer_ports), (Some((40_000, 40_099)), 20));
    assert!(!few.ports_saturated);
    assert!(few.accepted_per_s.is_some());
    let many = run(40);
    assert_eq!((many.accepted, many.distinct_peer_ports), (40, 40));
    assert!(many.ports_saturated, "more than a quarter of 100");
    assert_eq!(many.accepted_per_s, None);
}

#[test]
fn a_link_delays_each_packet() {
    let (left, right) = (Namespace::new(), Namespace::new());
    let delay = Duration::from_millis(3);
    let conditions = Conditions { delay, loss: 0.0, seed: 1 };
    let link = Link::join((&left, "10.77.1.1"), (&right, "10.77.1.2"), conditions);
    let mock = Mock::start(&right, &[("listen", "10.77.1.2:0")]);
    let address = mock.address;
    left.run(|| {
        let start = Instant::now();
        let mut stream = get(address);
        // A handshake, a request and its answer: four ways.
        assert!(start.elapsed() >= 4 * delay, "{:?}", start.elapsed());
        for _ in 0..5 {
            let start = Instant::now();
            exchange(&mut stream);
            assert!(start.elapsed() >= 2 * delay, "{:?}", start.elapsed());
        }
    });
    assert_eq!((mock.stop().served, link.lost()), (6, 0));
}

#[test]
fn a_link_loses_what_it_is_told_to_and_the_answer_comes_all_the_same() {
    let (left, right) = (Namespace::new(), Namespace::new());
    let conditions = Conditions { delay: Duration::from_millis(1), loss: 0.1, seed: 7 };
    let link = Link::join((&left, "10.77.2.1"), (&right, "10.77.2.2"), conditions);
    let mock = Mock::start(&right, &[("listen", "10.77.2.2:0")]);
    let address = mock.address;
    left.run(|| {
        let mut stream = get(address);
        for _ in 0..60 {
            exchange(&mut stream);
        }
    });
    assert_eq!(mock.stop().served, 61);
    assert!(link.lost() > 0, "of more than 120 packets one in ten");
}
