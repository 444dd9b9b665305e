//! Chance that can be repeated: the seed is told, and `ASSAY_SEED` gives it back.

use std::time::SystemTime;

use stats::random::Random;

/// A seeded sequence.
pub(crate) struct Dice(Random);

impl Dice {
    /// Seeded by `ASSAY_SEED`, else by the time.
    pub(crate) fn seeded() -> Self {
        let given = std::env::var("ASSAY_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            now.map_or(1, |since| since.as_nanos() as u64)
        });
        eprintln!("ASSAY_SEED={seed} repeats this");
        Self(Random::seeded(seed))
    }

    /// The next number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.bits() % bound
    }
}
