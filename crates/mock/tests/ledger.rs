//! The record as a witness: counts, peaks, ports and windows under many clients, at a flush and
//! at a stop.

mod support;

use support::{Client, GET, Mock, counts, failures};

#[test]
fn many_clients_are_counted_exactly() {
    const CLIENTS: u64 = 24;
    const REQUESTS: u64 = 50;
    for latency in ["0ms", "1ms"] {
        let mock = Mock::start(&[("latency", latency)]);
        let address = mock.address;
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(move || {
                    let mut client = Client::connect(address);
                    for _ in 0..REQUESTS {
                        assert_eq!(client.get().status, 200);
                    }
                });
            }
        });
        let record = mock.stop();
        assert_eq!(counts(&record), [CLIENTS * REQUESTS, 0, 0]);
        assert!((1..=CLIENTS).contains(&record.peak_in_flight), "{}", record.peak_in_flight);
        // A port may be used again once its connection has closed.
        assert!((1..=CLIENTS).contains(&record.distinct_peer_ports));
        assert_eq!(record.service_ns.count, CLIENTS * REQUESTS);
        let rate = record.served as f64 / (record.window_ns as f64 / 1e9);
        assert!((record.served_per_s / rate - 1.0).abs() < 1e-9, "{} {rate}", record.served_per_s);
        assert!(record.window_ns <= record.life_ns);
        assert!(record.cpu_ns > 0);
    }
}

#[test]
fn a_new_connection_for_each_request_is_a_port_each() {
    let mock = Mock::start(&[]);
    let clients: Vec<_> = (0..30)
        .map(|_| {
            let mut client = mock.client();
            client.get();
            client
        })
        .collect();
    let record = mock.stop();
    assert_eq!((counts(&record), record.distinct_peer_ports), ([30, 0, 0], 30));
    assert_eq!(record.peak_in_flight, 1, "one after the other");
    drop(clients);
}

#[test]
fn a_flush_starts_afresh() {
    let mock = Mock::start(&[("latency", "1ms")]);
    let mut kept = mock.client();
    for _ in 0..5 {
        kept.get();
    }
    let mut other = mock.client();
    other.send("nonsense\r\n\r\n");
    assert_eq!(other.answer().status, 400);
    drop(other);
    let first = mock.flush();
    assert_eq!(counts(&first), [5, 0, 1]);
    assert_eq!((first.distinct_peer_ports, first.peak_in_flight), (2, 1));

    let quiet = mock.flush();
    assert_eq!(counts(&quiet), [0, 0, 0]);
    assert_eq!((quiet.distinct_peer_ports, quiet.peak_in_flight, quiet.window_ns), (0, 0, 0));
    assert_eq!((quiet.service_ns.count, quiet.sleep.asked_ns), (0, 0));

    // A connection from before counts by its requests.
    kept.get();
    let last = mock.stop();
    assert_eq!((counts(&last), last.distinct_peer_ports), ([1, 0, 0], 1));
    assert!(last.life_ns < quiet.life_ns + first.life_ns + last.life_ns);
}

#[test]
fn what_is_in_flight_at_a_flush_counts_where_it_ends() {
    // An answer that is only half taken is in flight for as long as the test likes.
    let mock = Mock::start(&[("body_size", "64MiB")]);
    let mut client = mock.client();
    client.send(GET);
    let head = client.head().expect("a head");
    assert!(head.contains("200 OK"));
    let record = mock.flush();
    assert_eq!((counts(&record), record.peak_in_flight), ([0, 0, 0], 1));
    let mut body = vec![0; 64 << 20];
    let had = client.take_unread(&mut body);
    std::io::Read::read_exact(&mut client.stream, &mut body[had..]).expect("the rest");
    assert!(body == mock::body(64 << 20));
    let record = mock.stop();
    assert_eq!((counts(&record), record.peak_in_flight), ([1, 0, 0], 1));
    assert_eq!(record.distinct_peer_ports, 1);
    assert!(record.window_ns > 0);
    assert!(record.window_ns <= record.life_ns);
}

#[test]
fn what_is_in_flight_at_a_stop_is_abandoned() {
    let mock = Mock::start(&[("latency", "1h")]);
    let mut clients: Vec<_> = (0..5).map(|_| mock.client()).collect();
    for client in &mut clients {
        client.send(GET.repeat(2));
    }
    let record = mock.stop();
    assert_eq!((counts(&record), failures(&record, "abandoned")), ([0, 10, 0], 10));
    assert_eq!((record.peak_in_flight, record.distinct_peer_ports), (10, 5));
    // Nothing was answered, and no sleep came to its end.
    assert_eq!((record.service_ns.count, record.sleep.slept_ns.count), (0, 0));
    for client in &mut clients {
        assert!(client.try_answer().is_err());
    }
}

#[test]
fn clients_that_leave_do_not_pile_up() {
    // Each leaves a deadline an hour away behind; their places are used again.
    let mock = Mock::start(&[("latency", "1h")]);
    for _ in 0..3_000 {
        let mut client = mock.client();
        client.send(GET);
    }
    let record = mock.flush();
    assert_eq!((counts(&record), failures(&record, "abandoned")), ([0, 3_000, 0], 3_000));
    assert_eq!(counts(&mock.stop()), [0, 0, 0]);
}

#[test]
fn a_stop_may_come_before_the_start_and_a_flush_with_it() {
    let server = mock::Server::bind(support::config(&[])).expect("a free port");
    let (sender, flushed) = std::sync::mpsc::channel();
    let control = mock::Control::new()
        .expect("a socket pair")
        .on_flush(move |record| sender.send(record).expect("the test listens"));
    control.handle().stop();
    control.handle().flush();
    let record = server.run(control);
    assert_eq!(counts(&record), [0, 0, 0]);
    assert_eq!(flushed.iter().count(), 1);
}

#[test]
fn arrivals_and_histograms_are_of_the_requests_that_were_read() {
    let mock = Mock::start(&[("latency", "2ms")]);
    let mut client = mock.client();
    for _ in 0..20 {
        client.get();
    }
    // Three in one piece: they are read at one instant, and wait for no answer.
    client.send(GET.repeat(3));
    for _ in 0..3 {
        client.answer();
    }
    let record = mock.flush();
    let seen = |name: &str| {
        stats::histogram::decode(&record.histograms[name]).expect("as the mock encodes it")
    };
    let names: Vec<&str> = record.histograms.keys().map(String::as_str).collect();
    assert_eq!(names, ["gap", "queued", "service", "slept"]);
    for name in ["queued", "service", "slept"] {
        assert_eq!(seen(name).len(), 23, "{name}");
    }
    // An upper edge of a bucket is not below what was slept.
    assert!(seen("slept").max() >= 2_000_000);
    let gaps = seen("gap");
    assert_eq!((record.arrivals.count, gaps.len()), (22, 22));
    // 20 requests wait for the 2 ms of the one before.
    let total_ns = record.arrivals.mean_ns * 22.0;
    assert!((39.9e6..=record.life_ns as f64).contains(&total_ns), "{total_ns}");
    assert!(record.arrivals.variance_ns2 > 0.0);
    assert_eq!((record.accepted, record.ports_saturated), (1, false));
    let rate = record.accepted_per_s.expect("the map has room");
    assert!((rate * record.window_ns as f64 / 1e9 - 1.0).abs() < 1e-9);
    let (first, last) = record.port_range.expect("this host has one");
    assert!(first <= last);

    let quiet = mock.stop();
    assert_eq!((quiet.accepted, quiet.accepted_per_s), (0, None), "no window, no rate");
    assert_eq!(quiet.arrivals, record::mock::Arrivals::default());
}
