//! What clients get: bytes, order, ends of connections; and that bounds hold.

mod support;

use std::io;
use std::net::Shutdown;

use mock::Limits;
use support::{Client, GET, Mock, counts, failures};

#[test]
fn a_good_answer_is_these_bytes() {
    let mock = Mock::start(&[("body_size", "28B")]);
    let answer = mock.client().get();
    insta::assert_snapshot!(answer.head.replace('\r', ""), @r"
    HTTP/1.1 200 OK
    Content-Type: text/plain
    Content-Length: 28
    ");
    assert_eq!(answer.body, mock::body(28));
    let record = mock.stop();
    assert_eq!(counts(&record), [1, 0, 0]);
    assert_eq!(record.config.listen.rsplit(':').next().map(|port| port != "0"), Some(true));
}

#[test]
fn connections_end_as_asked() {
    let mock = Mock::start(&[]);
    let mut http10 = mock.client();
    http10.send("GET / HTTP/1.0\r\n\r\n");
    assert!(http10.answer().head.contains("Connection: close\r\n"));
    http10.expect_close();

    let mut kept = mock.client();
    for _ in 0..2 {
        kept.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        assert!(kept.answer().head.contains("Connection: keep-alive\r\n"));
    }
    kept.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert!(kept.answer().head.contains("Connection: close\r\n"));
    kept.expect_close();

    // What follows a request that closes is no request, and does not cost the answer.
    let mut more = mock.client();
    more.send(format!("GET / HTTP/1.0\r\n\r\n{GET}"));
    assert_eq!(more.answer().status, 200);
    more.expect_close();
    assert_eq!(counts(&mock.stop()), [5, 0, 0]);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    // The bound makes reading pause and go on; HEAD and GET tell the order.
    for (latency, pipelined) in [("0ms", 128), ("1ms", 128), ("0ms", 4), ("1ms", 4), ("1ms", 1)] {
        let mock =
            Mock::start_with(&[("latency", latency)], Limits { pipelined, ..Limits::default() });
        let mut client = mock.client();
        let head = "HEAD / HTTP/1.1\r\n\r\n";
        client.send(format!("{head}{head}{GET}{head}").repeat(25));
        for index in 0..100 {
            if index % 4 == 2 {
                assert_eq!(client.answer().body, mock::body(128));
            } else {
                assert!(client.head().expect("a head").contains("Content-Length: 128"));
            }
        }
        client.stream.shutdown(Shutdown::Write).expect("connected");
        client.expect_close();
        let record = mock.stop();
        assert_eq!(counts(&record), [100, 0, 0]);
        assert!(record.peak_in_flight <= pipelined as u64, "{}", record.peak_in_flight);
    }
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let mock = Mock::start(&[]);
    let mut client = mock.client();
    let request = "\r\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                   5;x=y\r\nhello\r\n0\r\nTrailer: t\r\n\r\n";
    for _ in 0..3 {
        for byte in request.as_bytes() {
            client.send([*byte]);
        }
        assert_eq!(client.answer().status, 200);
    }
    assert_eq!(counts(&mock.stop()), [3, 0, 0]);
}

#[test]
fn bodies_are_read_and_discarded() {
    let mock = Mock::start(&[]);
    let mut client = mock.client();
    let body = "x".repeat(3_000_000);
    client.send(format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    assert_eq!(client.answer().status, 200);
    let chunks = format!("{:x}\r\n{}\r\n", 1_000_000, &body[..1_000_000]).repeat(3);
    client.send(format!("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n"));
    assert_eq!(client.answer().status, 200);
    client.send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.answer().status, 100);
    client.send("ab");
    assert_eq!(client.answer().status, 200);
    assert_eq!(counts(&mock.stop()), [3, 0, 0]);
}

#[test]
fn a_large_body_waits_for_its_reader() {
    let mock = Mock::start(&[("body_size", "20MiB")]);
    let mut client = mock.client();
    client.send(GET.repeat(3));
    for _ in 0..3 {
        assert!(client.answer().body == mock::body(20 << 20), "the body as documented");
    }
    assert_eq!(counts(&mock.stop()), [3, 0, 0]);
}

#[test]
fn a_body_can_be_empty() {
    let mock = Mock::start(&[("body_size", "0B")]);
    let mut client = mock.client();
    assert_eq!(client.get().body, b"");
    assert_eq!(client.get().body, b"");
    assert_eq!(counts(&mock.stop()), [2, 0, 0]);
}

#[test]
fn bytes_that_are_no_request_are_refused_and_counted_apart() {
    let mock = Mock::start(&[("latency", "1ms")]);
    let long_head = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(100_000));
    let cases: [(&str, u16); 6] = [
        ("GET / HTTP/2.0\r\n\r\n", 400),
        ("\0\0\0", 400),
        ("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 1073741825\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", 400),
        (&long_head, 431),
    ];
    for (bytes, status) in cases {
        let mut client = mock.client();
        client.send(bytes);
        assert_eq!(client.answer().status, status, "{:?}", &bytes[..bytes.len().min(60)]);
        client.expect_close();
    }
    // Behind a good request: that one is answered first.
    let mut client = mock.client();
    client.send(format!("{GET}nonsense\r\n\r\n{GET}"));
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.answer().status, 400);
    client.expect_close();
    // A request cut off by the end of the stream is neither.
    let mut cut = mock.client();
    cut.send(&GET[..10]);
    drop(cut);
    assert_eq!(counts(&mock.stop()), [1, 0, 7]);
}

#[test]
fn a_half_closing_client_gets_what_is_due_at_once() {
    let mock = Mock::start(&[]);
    let mut client = mock.client();
    client.send(GET.repeat(2));
    client.stream.shutdown(Shutdown::Write).expect("connected");
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.answer().status, 200);
    client.expect_close();
    assert_eq!(counts(&mock.stop()), [2, 0, 0]);
    // What would have to sleep is abandoned: nobody can tell this from a client that left.
    let mock = Mock::start(&[("latency", "1h")]);
    let mut client = mock.client();
    client.send(GET);
    client.stream.shutdown(Shutdown::Write).expect("connected");
    client.expect_close();
    let record = mock.stop();
    assert_eq!((counts(&record), failures(&record, "abandoned")), ([0, 1, 0], 1));
}

#[test]
fn a_request_that_stalls_is_refused_and_an_idle_connection_is_not() {
    let limits = Limits { stalled_request_ns: 20_000_000, ..Limits::default() };
    let mock = Mock::start_with(&[], limits);
    let mut idle = mock.client();
    assert_eq!(idle.get().status, 200);
    for part in [&GET[..10], "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"] {
        let mut slow = mock.client();
        slow.send(part);
        assert_eq!(slow.answer().status, 408);
        slow.expect_close();
    }
    assert_eq!(idle.get().status, 200);
    assert_eq!(counts(&mock.stop()), [2, 0, 2]);
}

#[test]
fn a_peer_that_does_not_close_is_not_waited_for() {
    let limits = Limits { linger_ns: 1_000_000, ..Limits::default() };
    let mock = Mock::start_with(&[], limits);
    let mut client = mock.client();
    client.send("nonsense\r\n\r\n");
    assert_eq!(client.answer().status, 400);
    // The mock's side is shut; then it closes, and what is still sent is answered by a reset.
    client.expect_close();
    let error = loop {
        if let Err(error) = io::Write::write(&mut client.stream, b"more") {
            break error;
        }
    };
    let kind = error.kind();
    assert!(matches!(kind, io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset), "{kind}");
    assert_eq!(counts(&mock.stop()), [0, 0, 1]);
}

#[test]
fn connections_beyond_the_bound_wait() {
    // No sweep: only the close of a connection makes room.
    let limits = Limits { connections: 2, stalled_request_ns: u64::MAX, ..Limits::default() };
    let mock = Mock::start_with(&[], limits);
    let (mut first, mut second) = (mock.client(), mock.client());
    assert_eq!((first.get().status, second.get().status), (200, 200));
    let mut third = mock.client();
    third.send(GET);
    let record = mock.flush();
    assert_eq!((counts(&record), record.distinct_peer_ports), ([2, 0, 0], 2));
    drop(first);
    assert_eq!(third.answer().status, 200);
    assert_eq!(second.get().status, 200);
    let record = mock.stop();
    assert_eq!((counts(&record), record.distinct_peer_ports), ([2, 0, 0], 2));
}

#[test]
fn a_port_in_use_is_its_own_error() {
    let mock = Mock::start(&[]);
    let mut taken = support::config(&[]);
    taken.listen = mock.address.to_string();
    let error = mock::Server::bind(taken).expect_err("it is taken");
    assert!(matches!(error, mock::MockError::PortInUse(at) if at == mock.address), "{error}");
    let mut large = support::config(&[]);
    large.body_size_bytes = u64::MAX;
    insta::assert_snapshot!(
        mock::Server::bind(large).expect_err("too large"),
        @"body of 18446744073709551615 bytes is too large; the mock holds at most 1073741824"
    );
    mock.stop();
}

#[test]
fn every_way_of_leaving_is_accounted_for() {
    fn fin(client: Client) {
        drop(client);
    }
    // The mock sees the requests and the leaving one after the other, or both at once.
    for read_first in [true, false] {
        for (latency, requests) in [("1h", 1), ("1h", 10), ("0ms", 10)] {
            for leave in [fin, Client::reset] {
                let limits = Limits { pipelined: 4, ..Limits::default() };
                let mock = Mock::start_with(&[("latency", latency)], limits);
                let mut client = mock.client();
                client.send(GET.repeat(requests));
                let mut served = 0;
                if read_first {
                    let record = mock.flush();
                    assert_eq!(record.failed, 0, "its peer is there");
                    served = record.served;
                }
                leave(client);
                let record = mock.flush();
                // At latency 0 the answers may be written before the peer is known to be gone.
                served += record.served;
                assert_eq!(served + record.failed, requests as u64, "{latency} {read_first}");
                assert_eq!(record.failed, failures(&record, "abandoned"));
                if latency == "1h" {
                    assert_eq!(served, 0);
                }
                assert_eq!(counts(&mock.stop()), [0, 0, 0]);
            }
        }
    }
}

/// Timeouts in whole milliseconds would turn 1.2 ms into 2 ms and a planted effect of 5 % into
/// one of 25 %. One prompt wake-up among many shows that the clock is finer than that.
#[test]
fn sleeps_are_finer_than_a_millisecond() {
    let asked_ns = 1_200_000;
    let mock = Mock::start(&[("latency", "1200us")]);
    let mut client = mock.client();
    let mut shortest_ns = u64::MAX;
    for _ in 0..2_000 {
        let began = std::time::Instant::now();
        client.get();
        shortest_ns = shortest_ns.min(began.elapsed().as_nanos() as u64);
        if shortest_ns < 1_900_000 {
            break;
        }
    }
    assert!((asked_ns..1_900_000).contains(&shortest_ns), "{shortest_ns} ns at the shortest");
}
