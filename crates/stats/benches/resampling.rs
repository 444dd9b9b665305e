//! What the two searches over a whole matrix cost: the joint bootstrap of a suite, and the scan
//! of a long series for a change of level; and one verdict, which every row of every table needs.

use criterion::{Criterion, criterion_group, criterion_main};
use stats::change_point::scan;
use stats::geomean::{Cell, DRAWS, bootstrap};
use stats::random::Random;
use stats::trend::theil_sen;
use stats::verdict::verdict;

fn resampling(criterion: &mut Criterion) {
    let mut random = Random::seeded(1);
    let cells: Vec<Cell> = (0..50)
        .map(|_| Cell {
            weight: 1.0,
            pairs: (0..12).map(|block| (block, 0.02 * random.normal())).collect(),
        })
        .collect();
    criterion.bench_function("10,000 bootstrap draws over 50 cells of 12 blocks", |bencher| {
        bencher.iter(|| bootstrap(&cells, DRAWS, 1, 0.95));
    });
    let series: Vec<f64> =
        (0..10_000).map(|t| random.normal() + if t < 7_000 { 0.0 } else { 0.2 }).collect();
    criterion.bench_function("scan of 10,000 points for a change of level", |bencher| {
        bencher.iter(|| scan(&series));
    });
    let times: Vec<f64> = (0..series.len()).map(|t| t as f64).collect();
    criterion.bench_function("Theil-Sen slope of 10,000 points, thinned", |bencher| {
        bencher.iter(|| theil_sen(&times, &series, 0.95));
    });
    for pairs in [12, 500] {
        criterion.bench_function(&format!("verdict over {pairs} pairs with a null"), |bencher| {
            bencher.iter(|| verdict(&series[..pairs], 0.02, true, Some(&series[1..=pairs])));
        });
    }
}

criterion_group!(benches, resampling);
criterion_main!(benches);
