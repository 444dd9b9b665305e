//! Chance that can be repeated: the seed is told, and `ASSAY_SEED` gives it back.

use std::time::SystemTime;

/// A seeded sequence (SplitMix64).
pub(crate) struct Dice(u64);

impl Dice {
    /// Seeded by `ASSAY_SEED`, else by the time.
    pub(crate) fn seeded() -> Self {
        let given = std::env::var("ASSAY_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            now.map_or(1, |since| since.as_nanos() as u64)
        });
        eprintln!("ASSAY_SEED={seed} repeats this");
        Self(seed)
    }

    /// The next number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}
