//! A server of limited capacity, a limited address, and answers that say the truth: seen at the client
//! and in the record.

mod support;

use std::time::{Duration, Instant};

use support::{Answer, Mock, counts, failures};

/// The value of a header.
fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// Milliseconds of one part of the `Server-Timing` header.
fn timing(answer: &Answer, part: &str) -> f64 {
    let line = header(answer, "Server-Timing").expect("the truth was asked for");
    let parts = line.split(", ").find_map(|one| one.strip_prefix(part)?.strip_prefix(";dur="));
    parts.expect("each part is named").parse().expect("a number")
}

/// Sends so many requests in one piece, so that they are read at one instant.
fn at_once(mock: &Mock, requests: usize) -> Vec<Answer> {
    let mut client = mock.client();
    client.send(support::GET.repeat(requests));
    (0..requests).map(|_| client.answer()).collect()
}

#[test]
fn a_serialised_section_makes_the_last_of_ten_wait_for_all() {
    let mock = Mock::start(&[("serialise", "22ms"), ("truth_header", "true")]);
    let start = Instant::now();
    let answers = at_once(&mock, 10);
    assert!(start.elapsed() >= Duration::from_millis(220), "one after the other");
    let queued: Vec<f64> = answers.iter().map(|answer| timing(answer, "queue")).collect();
    assert_eq!(queued, [0.0, 22.0, 44.0, 66.0, 88.0, 110.0, 132.0, 154.0, 176.0, 198.0]);
    assert!(answers.iter().all(|answer| timing(answer, "sleep") >= 22.0));
    let record = mock.stop();
    assert_eq!((counts(&record), record.peak_in_flight), ([10, 0, 0], 10));
    assert_eq!((record.sleep.asked_ns, record.queued_ns.max), (220_000_000, Some(198_000_000)));

    let free = Mock::start(&[("latency", "22ms")]);
    at_once(&free, 10);
    assert_eq!(free.stop().queued_ns.max, Some(0));
}

#[test]
fn a_full_queue_is_refused_and_counted_apart() {
    let mock = Mock::start(&[("latency", "20ms"), ("workers", "1"), ("queue", "1")]);
    let statuses: Vec<u16> = at_once(&mock, 5).iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 200, 503, 503, 503]);
    assert_eq!(mock.client().get().status, 200, "and later there is room again");
    let record = mock.stop();
    assert_eq!((counts(&record), failures(&record, "overloaded")), ([3, 3, 0], 3));
    assert_eq!(record.sleep.slept_ns.count, 3, "what is refused does not sleep");
}

#[test]
fn an_address_over_its_rate_is_told_when_to_come_again() {
    let mock = Mock::start(&[("rate_limit", "3/min")]);
    let mut client = mock.client();
    let answers: Vec<Answer> = (0..5).map(|_| client.get()).collect();
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    let seconds: u64 =
        header(&answers[3], "Retry-After").expect("a limit says when").parse().expect("seconds");
    assert!((1..=60).contains(&seconds), "{seconds}");
    assert_eq!(header(&answers[0], "Retry-After"), None);
    // Another connection of the same address is the same client.
    assert_eq!(mock.client().get().status, 429);
    let record = mock.stop();
    assert_eq!((counts(&record), failures(&record, "limited")), ([3, 3, 0], 3));
}

#[test]
fn answers_say_what_was_slept_and_the_whole() {
    let mock = Mock::start(&[("latency", "10ms"), ("truth_header", "true"), ("body_size", "64KB")]);
    let mut client = mock.client();
    for _ in 0..3 {
        let answer = client.get();
        assert_eq!(answer.body, mock::body(64_000));
        let [queue, sleep, work] = ["queue", "sleep", "work"].map(|part| timing(&answer, part));
        assert!(queue == 0.0 && sleep >= 10.0 && work >= 0.0, "{queue} {sleep} {work}");
        let whole: f64 =
            header(&answer, "Mock-Time-Ns").expect("the whole").parse().expect("a number");
        assert!((whole / 1e6 - (queue + sleep + work)).abs() < 1e-6);
    }
    let record = mock.stop();
    assert_eq!(counts(&record), [3, 0, 0]);
    let plain = Mock::start(&[]);
    assert_eq!(header(&plain.client().get(), "Server-Timing"), None);
}

#[test]
fn a_law_is_drawn_by_its_seed_and_changes_no_failure() {
    let fail = ("fail", "30%:status=500");
    let statuses = |settings: &[(&str, &str)]| {
        let mock = Mock::start(settings);
        let mut client = mock.client();
        let seen: Vec<u16> = (0..200).map(|_| client.get().status).collect();
        (seen, mock.stop().sleep.asked_ns)
    };
    let (plain, asked) = statuses(&[fail]);
    assert_eq!(asked, 0);
    let law = ("latency", "exponential:100us");
    let (with_law, asked) = statuses(&[fail, law]);
    assert_eq!(with_law, plain, "a law draws from a sequence of its own");
    let (_, again) = statuses(&[fail, law]);
    assert_eq!(again, asked, "the same seed");
    let (_, other) = statuses(&[fail, law, ("seed", "2")]);
    assert_ne!(other, asked, "another seed");
    // About 140 draws of a mean of 100 us: within five standard errors, 42 us.
    let served = plain.iter().filter(|status| **status == 200).count() as f64;
    let mean_us = asked as f64 / served / 1e3;
    assert!((mean_us - 100.0).abs() < 42.0, "{mean_us}");
}
