//! Each fault is planted and seen: at the client by its effect, in the record by its count.

mod support;

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use support::{GET, Mock, counts, failures};

/// Statuses of `count` requests, one after the other on one connection.
fn statuses(settings: &[(&str, &str)], count: usize) -> (Vec<u16>, record::mock::MockRecord) {
    let mock = Mock::start(settings);
    let mut client = mock.client();
    let seen = (0..count).map(|_| client.get().status).collect();
    (seen, mock.stop())
}

#[test]
fn status_is_answered_and_does_not_sleep() {
    let (seen, record) = statuses(&[("latency", "1h"), ("fail", "100%:status=503")], 50);
    assert_eq!(seen, [503; 50]);
    assert_eq!((counts(&record), failures(&record, "status")), ([0, 50, 0], 50));
    assert_eq!((record.sleep.asked_ns, record.sleep.slept_ns.count), (0, 0));
    assert_eq!(record.served_per_s, 0.0);
}

#[test]
fn a_share_comes_out_near_itself_and_the_same_for_a_seed() {
    let settings = [("fail", "30%:status=500"), ("fail", "10%:status=429")];
    let (first, record) = statuses(&settings, 4_000);
    let count = |status| first.iter().filter(|seen| **seen == status).count() as u64;
    assert_eq!(failures(&record, "status"), count(500) + count(429));
    assert_eq!(counts(&record), [count(200), count(500) + count(429), 0]);
    // Five standard deviations of a binomial: 145 and 95.
    assert!(count(500).abs_diff(1_200) < 145, "{}", count(500));
    assert!(count(429).abs_diff(400) < 95, "{}", count(429));
    let (again, _) = statuses(&settings, 400);
    assert_eq!(again, first[..400], "the same seed");
    let (other, _) = statuses(&[settings[0], settings[1], ("seed", "2")], 400);
    assert_ne!(other, first[..400], "another seed");
}

#[test]
fn a_wrong_body_has_the_right_size_and_status() {
    for (size, length) in [("128B", 128), ("0B", 1)] {
        let mock = Mock::start(&[("body_size", size), ("fail", "100%:body"), ("latency", "1ms")]);
        let answer = mock.client().get();
        assert_eq!((answer.status, answer.body.len()), (200, length));
        assert_ne!(answer.body, mock::body(length));
        let record = mock.stop();
        assert_eq!((counts(&record), failures(&record, "body")), ([0, 1, 0], 1));
    }
}

#[test]
fn a_connection_is_closed_after_its_number_of_requests() {
    let mock = Mock::start(&[("close", "2")]);
    for _ in 0..3 {
        let mut client = mock.client();
        let heads = [client.get().head, client.get().head];
        let closes = heads.map(|head| head.contains("Connection: close\r\n"));
        assert_eq!(closes, [false, true]);
        assert!(client.try_answer().is_err(), "the connection is over");
    }
    let record = mock.stop();
    assert_eq!(counts(&record), [6, 0, 0]);
    assert_eq!(record.distinct_peer_ports, 3);
}

#[test]
fn reset_is_seen_as_a_reset() {
    let mock = Mock::start(&[("fail", "100%:reset"), ("latency", "1ms")]);
    for _ in 0..10 {
        let mut client = mock.client();
        client.send(GET);
        let error = client.try_answer().expect_err("no answer");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    // What was pipelined behind it nobody answers.
    let mut client = mock.client();
    client.send(GET.repeat(3));
    let error = client.try_answer().expect_err("no answer");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let record = mock.stop();
    assert_eq!((failures(&record, "reset"), failures(&record, "abandoned")), (11, 2));
    assert_eq!(counts(&record), [0, 13, 0]);
}

#[test]
fn never_is_never_answered_and_stays_in_flight() {
    let mock = Mock::start(&[("fail", "100%:never")]);
    let mut clients: Vec<_> = (0..7).map(|_| mock.client()).collect();
    for client in &mut clients {
        client.send(GET);
    }
    let record = mock.flush();
    assert_eq!((counts(&record), failures(&record, "never")), ([0, 7, 0], 7));
    assert_eq!(record.peak_in_flight, 7, "each client waits");
    // Counted once, although they are in flight over the flush and until the clients leave.
    let record = mock.flush();
    assert_eq!((counts(&record), record.peak_in_flight), ([0, 0, 0], 7));
    for client in &clients {
        client.stream.set_nonblocking(true).expect("a socket");
        let answer = std::io::Read::read(&mut &client.stream, &mut [0]);
        assert_eq!(answer.expect_err("no answer").kind(), ErrorKind::WouldBlock);
    }
    drop(clients);
    let record = mock.flush();
    assert_eq!((counts(&record), record.peak_in_flight), ([0, 0, 0], 7));
    let record = mock.stop();
    assert_eq!((counts(&record), record.peak_in_flight), ([0, 0, 0], 0), "they have left");
}

#[test]
fn sleeps_are_never_short() {
    let mock = Mock::start(&[("latency", "3ms")]);
    let mut client = mock.client();
    for _ in 0..20 {
        let asked = Instant::now();
        client.get();
        assert!(asked.elapsed() >= Duration::from_millis(3), "{:?}", asked.elapsed());
    }
    let record = mock.stop();
    assert_eq!(counts(&record), [20, 0, 0]);
    assert_eq!(record.sleep.asked_ns, 20 * 3_000_000);
    assert_eq!(record.sleep.slept_ns.count, 20);
    assert!(record.sleep.slept_ns.min >= Some(3_000_000), "{:?}", record.sleep);
    assert!(record.service_ns.min >= record.sleep.slept_ns.min);
}

#[test]
fn factors_and_spikes_lengthen_the_sleep() {
    for (settings, asked_ns) in [
        ([("latency", "1ms"), ("cold", "1h:10x")], 10_000_000),
        ([("latency", "1ms"), ("slow_after", "0s:5x")], 5_000_000),
        ([("latency", "1ms"), ("slow_after", "1h:5x")], 1_000_000),
        ([("latency", "1ms"), ("spike", "100%:7ms")], 8_000_000),
    ] {
        let mock = Mock::start(&settings);
        let asked = Instant::now();
        mock.client().get();
        assert!(asked.elapsed() >= Duration::from_nanos(asked_ns), "{settings:?}");
        let record = mock.stop();
        assert_eq!(record.sleep.asked_ns, asked_ns, "{settings:?}");
        assert!(record.sleep.slept_ns.min >= Some(asked_ns), "{settings:?}");
    }
}

#[test]
fn nothing_is_answered_in_a_stall() {
    // Answers only in the first millisecond of each 150.
    let (period, free) = (Duration::from_millis(150), Duration::from_millis(1));
    let before_bind = Instant::now();
    let mock = Mock::start(&[("stall", "149ms/150ms")]);
    let after_bind = Instant::now();
    let mut client = mock.client();
    let mut stalled = 0;
    while stalled < 3 {
        let asked = Instant::now();
        let since = asked - after_bind;
        let periods = (since.as_nanos() / period.as_nanos()) as u32;
        let in_stall = since - period * periods >= free;
        client.get();
        if in_stall {
            // Whether the mock read it in this stall or later: not before the stall's end.
            assert!(before_bind.elapsed() >= period * (periods + 1));
            stalled += 1;
        }
    }
    let record = mock.stop();
    assert_eq!(record.failed, 0);
    assert!(record.served >= 3);
}

#[test]
fn an_answer_nobody_takes_is_abandoned() {
    // Half written: the peer leaves before it took all of it.
    let mock = Mock::start(&[("body_size", "64MiB")]);
    let mut client = mock.client();
    client.send(GET);
    assert!(client.head().expect("a head").contains("200 OK"));
    drop(client);
    let record = mock.flush();
    assert_eq!((counts(&record), failures(&record, "abandoned")), ([0, 1, 0], 1));
    mock.stop();
}
