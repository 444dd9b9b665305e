//! The generator's books against the mock's, counted exactly under every planted fault.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use record::Format;
use record::arrival::Arrival;
use record::job::Job;
use record::load::LoadRecord;
use record::mock::{MockConfig, MockRecord};
use record::pause::Pause;
use record::plan::{BodyCheck, Expect, Extent, Load, Model, Scenario};

const MS: u64 = 1_000_000;

/// A mock in a thread of its own.
struct Witness {
    address: SocketAddr,
    handle: mock::Handle,
    thread: JoinHandle<MockRecord>,
}

impl Witness {
    fn start(settings: &[(&str, &str)]) -> Self {
        let mut config = MockConfig::default();
        for (key, text) in settings {
            config.set(key, text).unwrap();
        }
        let server = mock::Server::bind(config).unwrap();
        let address = server.local_addr();
        let control = mock::Control::new().unwrap();
        let handle = control.handle();
        Self { address, handle, thread: std::thread::spawn(move || server.run(control)) }
    }

    fn stop(self) -> MockRecord {
        self.handle.stop();
        self.thread.join().unwrap()
    }
}

fn job(address: SocketAddr, model: Model, measure: Extent) -> Job {
    Job {
        format: Format::v1("assay.job"),
        address: address.to_string(),
        host: None,
        scenario: Scenario {
            name: "get".into(),
            method: "GET".into(),
            path: "/".into(),
            headers: Vec::new(),
            body: None,
            expect: Expect {
                status: vec![200],
                body: Some(BodyCheck::Equals(String::from_utf8(mock::body(128)).unwrap())),
                size_bytes: None,
            },
        },
        load: Load {
            name: "l".into(),
            model,
            warmup: Extent::Ns(100 * MS),
            measure,
            arrival: Arrival::Constant,
            stages: Vec::new(),
            pause: Pause::None,
            iterations: None,
            sources: Vec::new(),
            cooldown_ns: 5_000 * MS,
            connections: "per-user".into(),
            max_connections: None,
            timeout_ns: 10_000 * MS,
        },
        certificate: None,
        threads: 2,
        progress: false,
    }
}

fn run(job: &Job) -> LoadRecord {
    load::run(job, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

/// The identities of one record, and of its parts with its totals.
fn assert_balanced(record: &LoadRecord) {
    assert_eq!(record.due, record.sent + record.unsent);
    assert_eq!(record.sent, record.succeeded + record.failed + record.unfinished);
    assert_eq!(record.failures.values().sum::<u64>(), record.failed);
    let sum =
        |field: fn(&record::load::Worker) -> u64| record.workers.iter().map(field).sum::<u64>();
    assert_eq!(sum(|w| w.due), record.due);
    assert_eq!(sum(|w| w.sent), record.sent);
    assert_eq!(sum(|w| w.succeeded), record.succeeded);
    assert_eq!(sum(|w| w.failed), record.failed);
    assert_eq!(record.latency_ns.count, record.succeeded);
    assert_eq!(record.service_ns.count, record.succeeded);
    let seconds =
        |field: fn(&record::load::Second) -> u64| record.series.iter().map(field).sum::<u64>();
    assert_eq!(seconds(|s| s.sent), record.sent);
    assert_eq!(seconds(|s| s.succeeded), record.succeeded);
    assert_eq!(seconds(|s| s.failed), record.failed);
}

fn kinds(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
}

#[test]
fn both_books_agree_under_every_fault() {
    let faults: [&[(&str, &str)]; 6] = [
        &[],
        &[("fail", "20%:status=503")],
        &[("fail", "20%:body")],
        &[("fail", "20%:reset")],
        &[("stall", "50ms/200ms")],
        &[("spike", "10%:50ms")],
    ];
    for fault in faults {
        for model in [Model::Users(5), Model::Rate(400.0)] {
            let witness = Witness::start(&[&[("latency", "5ms")], fault].concat());
            let record = run(&job(witness.address, model, Extent::Ns(400 * MS)));
            let seen = witness.stop();
            assert_balanced(&record);
            assert!(record.succeeded > 0, "{fault:?} {model:?}");
            assert_eq!(record.whole_life.sent, seen.served + seen.failed, "{fault:?} {model:?}");
            let expected = fault.iter().any(|(key, _)| *key == "fail");
            assert_eq!(record.failed > 0, expected, "{fault:?} {model:?}: {:?}", record.failures);
            // The sleep is a lower bound of what a client can see.
            assert!(record.latency_ns.min >= Some(5 * MS), "{:?}", record.latency_ns);
        }
    }
}

#[test]
fn an_open_loop_owes_exactly_its_schedule() {
    let witness = Witness::start(&[("latency", "1ms")]);
    let record = run(&job(witness.address, Model::Rate(500.0), Extent::Ns(400 * MS)));
    witness.stop();
    assert_balanced(&record);
    assert_eq!(record.due, 200);
    assert_eq!(record.series.len(), 1);
    assert!(record.lag_ns.max.is_some());
}

#[test]
fn counted_windows_are_exact_in_both_models() {
    for model in [Model::Users(7), Model::Rate(2_000.0)] {
        let witness = Witness::start(&[("latency", "1ms")]);
        let mut job = job(witness.address, model, Extent::Count(500));
        job.load.warmup = Extent::Count(50);
        let record = run(&job);
        let seen = witness.stop();
        assert_balanced(&record);
        assert_eq!((record.due, record.succeeded), (500, 500));
        assert_eq!(seen.served, 550);
        assert_eq!(record.whole_life.sent, 550);
    }
}

#[test]
fn concurrency_never_exceeds_the_users() {
    let witness = Witness::start(&[("latency", "3ms")]);
    let record = run(&job(witness.address, Model::Users(16), Extent::Ns(300 * MS)));
    let seen = witness.stop();
    assert!(seen.peak_in_flight <= 16, "{}", seen.peak_in_flight);
    assert_eq!(seen.distinct_peer_ports, record.connections.distinct_ports);
    assert_eq!(record.connections.opened, 16);
}

#[test]
fn what_the_cap_cannot_carry_is_censored_not_dropped() {
    let witness = Witness::start(&[("latency", "100ms")]);
    let mut job = job(witness.address, Model::Rate(200.0), Extent::Ns(500 * MS));
    job.load.max_connections = Some(2);
    job.load.cooldown_ns = 50 * MS;
    let record = run(&job);
    let seen = witness.stop();
    assert_balanced(&record);
    assert_eq!(record.due, 100);
    assert!(record.unsent > 50, "{}", record.unsent);
    assert!(record.queued_peak > 0);
    assert!(record.connections.peak <= 2);
    assert_eq!(record.whole_life.sent, seen.served + seen.failed);
    // In flight at the end, those of the warm-up included.
    let cut_off = record.whole_life.sent - record.whole_life.answered;
    assert_eq!(seen.failures.get("abandoned").copied().unwrap_or(0), cut_off);
}

#[test]
fn latency_of_an_open_loop_starts_when_a_request_was_due() {
    // One connection, a stall in each period: those that waited must show it.
    let witness = Witness::start(&[("stall", "200ms/400ms")]);
    let mut job = job(witness.address, Model::Rate(100.0), Extent::Ns(800 * MS));
    job.load.max_connections = Some(1);
    let record = run(&job);
    witness.stop();
    assert_balanced(&record);
    assert_eq!(record.due, 80);
    let waited = record.latency_ns.mean.unwrap() - record.service_ns.mean.unwrap();
    assert!(waited > 10e6, "waiting for the connection is part of the latency: {waited} ns");
}

#[test]
fn never_answered_is_a_timeout_and_the_user_goes_on() {
    let witness = Witness::start(&[("fail", "100%:never")]);
    let mut job = job(witness.address, Model::Users(2), Extent::Ns(500 * MS));
    job.load.timeout_ns = 100 * MS;
    let record = run(&job);
    let seen = witness.stop();
    assert_balanced(&record);
    assert_eq!(record.failures, kinds(&[("timeout", record.failed)]));
    assert!(record.failed >= 2);
    assert_eq!(record.whole_life.sent, seen.failed);
    assert_eq!(record.whole_life.answered, 0);
}

#[test]
fn nobody_listens() {
    // Bound and dropped: the port is free, and nobody else is told of it.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for model in [Model::Users(3), Model::Rate(100.0)] {
        let record = run(&job(address, model, Extent::Ns(300 * MS)));
        assert_balanced(&record);
        assert!(record.failed > 0);
        assert_eq!(record.failures, kinds(&[("refused", record.failed)]));
        assert_eq!(record.whole_life, record::load::WholeLife::default());
        // A user pauses after a refusal: no more than one each 100 ms.
        assert!(!matches!(model, Model::Users(_)) || record.due <= 3 * 5, "{}", record.due);
        let sample = &record.failure_samples[0];
        assert!(sample.detail.starts_with("cannot connect: "), "{}", sample.detail);
    }
}

/// Answers each connection with fixed bytes after its first read, then closes it.
fn speaks(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Lives as long as the test process; it holds no resource of others.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream): Result<TcpStream, _> = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(bytes);
        }
    });
    address
}

#[test]
fn what_is_no_answer_has_its_kind_and_a_sample() {
    let table: [(&[u8], &str, &str); 4] = [
        (
            b"SSH-2.0-OpenSSH\r\n\r\n",
            "protocol",
            "malformed answer: the status line has no HTTP version",
        ),
        (b"", "reset", "the connection closed before any answer"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 128\r\n\r\nshort",
            "reset",
            "malformed answer: the connection closed inside the answer",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi and more",
            "protocol",
            "9 bytes after the end of the answer",
        ),
    ];
    for (bytes, kind, detail) in table {
        let record = run(&job(speaks(bytes), Model::Users(2), Extent::Ns(100 * MS)));
        assert_balanced(&record);
        assert!(record.failed > 0, "{detail}");
        assert_eq!(record.failures, kinds(&[(kind, record.failed)]), "{detail}");
        assert_eq!(record.failure_samples[0].detail, detail);
        assert!(record.failure_samples.len() <= 10);
    }
}

#[test]
fn a_target_that_closes_after_each_answer_is_served_on_new_connections() {
    let address = speaks(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
    let mut job = job(address, Model::Users(2), Extent::Count(20));
    job.load.warmup = Extent::Ns(0);
    job.scenario.expect =
        Expect { status: vec![200], body: Some(BodyCheck::Equals("hi".into())), size_bytes: None };
    let record = run(&job);
    assert_balanced(&record);
    assert_eq!(record.succeeded, 20);
    assert!(record.connections.opened >= 20);
}

#[test]
fn a_stop_ends_it_early_with_its_books_in_order() {
    let witness = Witness::start(&[("latency", "1ms")]);
    let stop = AtomicBool::new(false);
    let mut job = job(witness.address, Model::Users(2), Extent::Ns(3_600_000 * MS));
    job.progress = true;
    // Stopped by the first event of the window: no clock is waited for.
    let record = load::run(&job, &stop, &mut |event| {
        if matches!(event, record::job::Event::Progress { .. }) {
            stop.store(true, Ordering::SeqCst);
        }
    })
    .unwrap();
    let seen = witness.stop();
    assert_balanced(&record);
    assert!(record.window_ns < 3_600_000 * MS);
    assert_eq!(record.window_asked_ns, Some(3_600_000 * MS));
    assert_eq!(record.whole_life.sent, seen.served + seen.failed);
}

#[test]
fn warm_up_and_window_send_the_same_bytes() {
    let witness = Witness::start(&[]);
    let record = run(&job(witness.address, Model::Users(1), Extent::Ns(100 * MS)));
    witness.stop();
    let step = &record.steps[0];
    assert!(step.request_sha256.is_some());
    assert_eq!(step.request_sha256, step.warmup_request_sha256);
}

#[test]
fn a_cold_start_stays_in_the_warm_up() {
    // Cold requests sleep 20 ms, others 2 ms: the mock's sum of sleeps says how many were cold,
    // and the generator's books how many it sent in the warm-up.
    let cold_and_warm_up = |warmup_ns: u64| {
        let witness = Witness::start(&[("latency", "2ms"), ("cold", "300ms:10x")]);
        let mut job = job(witness.address, Model::Users(2), Extent::Ns(400 * MS));
        job.load.warmup = Extent::Ns(warmup_ns);
        let record = run(&job);
        let seen = witness.stop();
        assert_balanced(&record);
        let cold = (seen.sleep.asked_ns - 2 * MS * record.whole_life.sent) / (18 * MS);
        (cold, record.whole_life.sent - record.sent)
    };
    let (cold, warm_up) = cold_and_warm_up(600 * MS);
    assert!(cold > 0);
    assert!(cold <= warm_up, "{cold} cold requests, {warm_up} in the warm-up");
    // Without a warm-up they are in the window, and this test would see them there.
    let (cold, warm_up) = cold_and_warm_up(0);
    assert!(cold > warm_up, "{cold} cold requests, {warm_up} in the warm-up");
}

/// K-104: a request with a connection of its own never shares it, whatever the target would allow.
#[test]
fn new_connections_are_as_many_as_requests() {
    for model in [Model::Users(3), Model::Rate(500.0)] {
        let witness = Witness::start(&[]);
        let mut job = job(witness.address, model, Extent::Count(60));
        job.load.connections = "new".into();
        let record = run(&job);
        let seen = witness.stop();
        assert_balanced(&record);
        assert_eq!(record.connection_mode, "new");
        assert_eq!(record.failed, 0, "{:?}", record.failures);
        assert_eq!(record.connections.opened, record.whole_life.sent);
        assert_eq!(seen.distinct_peer_ports, record.connections.distinct_ports);
    }
}

/// Answers each request of one connection after `wait`, with this head line.
fn answers_after(wait: std::time::Duration, header: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Ends with the test's connection.
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {
            std::thread::sleep(wait);
            let answer = format!("HTTP/1.1 200 OK\r\n{header}Content-Length: 2\r\n\r\nhi");
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    });
    address
}

/// K-112: what the target does not own up to is found, and what it does is taken off.
#[test]
fn the_wait_that_nobody_owns_is_told() {
    let wait = std::time::Duration::from_millis(15);
    let unowned = |header| {
        let mut job = job(answers_after(wait, header), Model::Users(1), Extent::Count(10));
        job.load.warmup = Extent::Ns(0);
        job.scenario.expect = Expect { status: vec![200], body: None, size_bytes: None };
        run(&job).unowned_ns
    };
    // It says 5 of its 15 ms: 10 are nobody's.
    for header in ["Mock-Time-Ns: 5000000\r\n", "Server-Timing: db;dur=2, app;dur=3\r\n"] {
        let told = unowned(header);
        assert_eq!(told.count, 10);
        assert!(told.min >= Some(9_990_000), "{told:?}");
    }
    // More than was waited for leaves nothing, and silence is no zero.
    assert_eq!(unowned("Mock-Time-Ns: 3600000000000\r\n").max, Some(0));
    assert_eq!(unowned("").count, 0);
}

#[test]
fn the_mock_owns_what_it_slept() {
    let witness = Witness::start(&[("latency", "10ms"), ("truth_header", "true")]);
    let record = run(&job(witness.address, Model::Users(2), Extent::Count(20)));
    witness.stop();
    assert_eq!(record.unowned_ns.count, record.succeeded);
    // Each wait holds the sleep, what is unowned does not.
    assert!(record.latency_ns.min >= Some(9_990_000));
    assert!(record.unowned_ns.min < record.latency_ns.min, "{:?}", record.unowned_ns);
}
