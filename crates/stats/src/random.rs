//! A small seeded generator for resampling and for simulations: the same seed gives the same
//! draws on every machine. It is no cryptography.

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014): 64 bits of state, a period of 2^64, and every seed is good.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator whose draws depend on nothing but `seed`.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1): the upper 53 bits, all that an `f64` holds.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform among `0..n`, by Lemire's multiplication of 32 bits; the bias is under `n / 2^32`.
    ///
    /// # Panics
    /// When `n` is 0 or does not fit 32 bits, which is a caller's bug.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "there is nothing to choose from");
        let n = u32::try_from(n).expect("indices of samples fit 32 bits");
        (((self.bits() >> 32) * u64::from(n)) >> 32) as usize
    }

    /// Standard normal, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        // Each turn succeeds with probability 0.785.
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reproduces_the_published_sequence_of_seed_zero() {
        let mut random = Random::seeded(0);
        assert_eq!(random.bits(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(random.bits(), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn draws_have_the_moments_of_their_laws() {
        let mut random = Random::seeded(7);
        let n = 100_000;
        let normals: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = normals.iter().sum::<f64>() / f64::from(n);
        let square = normals.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        // Five standard errors: 0.016 and 0.022.
        assert!(mean.abs() < 0.016, "{mean}");
        assert!((square - 1.0).abs() < 0.023, "{square}");
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7)] += 1;
        }
        // Five standard errors of 10,000.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 470), "{counts:?}");
    }
}
