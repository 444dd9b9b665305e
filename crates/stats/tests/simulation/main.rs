//! The functions of this crate against laws whose truth is known: how often they raise an alarm
//! when there is nothing, how often they see what was planted, how often an interval holds the
//! truth. Seeded, so that a failure is the same failure on every machine.

mod intervals;
mod looks;
mod steady;
mod verdicts;

use stats::random::Random;

/// Share of `trials` in which `holds`.
fn share(trials: usize, seed: u64, mut holds: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random::seeded(seed);
    (0..trials).filter(|_| holds(&mut random)).count() as f64 / trials as f64
}

/// What a true rate of `rate` may look like over `trials`: four standard errors, so that one
/// correct test in 16,000 would fail by its seed.
fn slack(rate: f64, trials: usize) -> f64 {
    4.0 * (rate * (1.0 - rate) / trials as f64).sqrt()
}

/// `n` values of a first-order autoregression with variance 1.
fn autoregressive(n: usize, r: f64, random: &mut Random) -> Vec<f64> {
    let mut value = random.normal();
    (0..n)
        .map(|_| {
            let now = value;
            value = r * value + (1.0 - r * r).sqrt() * random.normal();
            now
        })
        .collect()
}

/// `n` independent normal values.
fn white(n: usize, random: &mut Random) -> Vec<f64> {
    autoregressive(n, 0.0, random)
}

/// Whether an interval holds `truth`.
fn holds(interval: Option<[f64; 2]>, truth: f64) -> bool {
    interval.is_some_and(|[low, high]| low <= truth && truth <= high)
}
