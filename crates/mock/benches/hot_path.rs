//! The two pure parts of the hot path: reading a request and deciding its treatment.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mock::delay::{Capacity, Draws, delay};
use mock::request::{Event, Reader};
use record::mock::MockConfig;

fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Elements(1));
    for (name, request) in [
        ("get", "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n".to_owned()),
        (
            "post_chunked_1KiB",
            format!(
                "POST / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nTransfer-Encoding: chunked\r\n\r\n\
                 400\r\n{}\r\n0\r\n\r\n",
                "x".repeat(1_024)
            ),
        ),
    ] {
        let mut reader = Reader::default();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let step = reader.step(black_box(request.as_bytes()));
                assert!(matches!(step.event, Event::Request(_)));
            });
        });
    }
    group.finish();
}

fn deciding(criterion: &mut Criterion) {
    let mut every_fault = MockConfig::default();
    for (key, text) in [
        ("latency", "10ms"),
        ("stall", "1s/5s"),
        ("fail", "1%:status=503"),
        ("fail", "1%:body"),
        ("cold", "5s:10x"),
        ("drift", "+1%/min"),
        ("slow_after", "10s:1.3x"),
        ("spike", "3.5%:225ms"),
    ] {
        every_fault.set(key, text).expect("valid settings");
    }
    let draws = Draws { latency_ns: 10e6, fail: 0.5, spike: 0.5, extra_ns: 0 };
    for (name, config) in [("plain", MockConfig::default()), ("every_fault", every_fault)] {
        let mut capacity = Capacity::new(&config);
        criterion.bench_function(&format!("delay/{name}"), |bencher| {
            bencher
                .iter(|| delay(black_box(&config), &mut capacity, black_box(7_000_000_000), draws));
        });
    }
}

criterion_group!(benches, reading, deciding);
criterion_main!(benches);
