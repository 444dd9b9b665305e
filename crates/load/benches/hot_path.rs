//! What one answer costs the generator apart from the kernel: parsing and recording.

use criterion::{Criterion, criterion_group, criterion_main};
use load::{Counts, ResponseParser};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\n\
Content-Type: application/octet-stream\r\nContent-Length: 128\r\nLast-Modified: Mon, 30 Nov 2026 11:00:00 GMT\r\n\
Connection: keep-alive\r\nETag: \"656871b0-80\"\r\nAccept-Ranges: bytes\r\n\r\n\
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn hot_path(criterion: &mut Criterion) {
    criterion.bench_function("parse one nginx answer of 128 bytes", |bencher| {
        let mut parser = ResponseParser::default();
        bencher.iter(|| {
            parser.begin(false);
            let mut size = 0;
            let fed = parser.feed(ANSWER, |bytes| size += bytes.len());
            assert!(fed.is_ok_and(|fed| fed.complete));
            size
        });
    });
    criterion.bench_function("record one latency", |bencher| {
        let mut counts = Counts::default();
        let mut value = 20_000;
        bencher.iter(|| {
            value = value * 13 % 1_000_003;
            counts.record(value);
        });
    });
}

criterion_group!(benches, hot_path);
criterion_main!(benches);
