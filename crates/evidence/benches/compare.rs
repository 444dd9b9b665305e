//! How long the comparison of a large label takes: 1,000 digests, 250 blocks of four levels.

use criterion::{Criterion, criterion_group, criterion_main};
use evidence::samples::{SampleRun, level};
use evidence::{CompareOptions, compare};

fn thousand_digests(c: &mut Criterion) {
    let label = tempfile::tempdir().expect("a directory for the label");
    let levels = [
        level("base", 0, None),
        level("one", 1, None),
        level("two", 2, None),
        level("null", 3, Some("base")),
    ];
    for block in 1..=250 {
        for (order, level) in (1..).zip(&levels) {
            SampleRun::sound(block, order, level).complete(label.path());
        }
    }
    c.bench_function("compare 1,000 digests", |bencher| {
        bencher.iter(|| {
            let comparison = compare(label.path(), &CompareOptions::default());
            assert_eq!(comparison.map(|found| found.contrasts[0].pairs).ok(), Some(250));
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = thousand_digests
}
criterion_main!(benches);
