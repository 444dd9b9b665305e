//! The recording side of a histogram: the bucket layout of HdrHistogram (3 digits, from 1 ns)
//! as a flat array. Recording is a leading-zero count, a shift and an increment; emptying it
//! touches only the buckets that were used, so that the seconds of a series can be set aside in
//! the middle of a window without a pause.

use hdrhistogram::Histogram;

/// log2 of the sub-buckets of a bucket: 2048 tell 3 digits apart.
const SUB_BUCKET_BITS: u32 = 11;
const HALF_BITS: u32 = SUB_BUCKET_BITS - 1;
const SUB_BUCKET_MASK: u64 = (1 << SUB_BUCKET_BITS) - 1;
/// One past the index of [`stats::histogram::HIGHEST_NS`].
const SLOTS: usize = index_of(stats::histogram::HIGHEST_NS) + 1;

/// A histogram being recorded.
#[derive(Debug, Clone)]
pub struct Counts {
    slots: Box<[u64]>,
    total: u64,
    lowest: usize,
    highest: usize,
}

/// Slot of a value: its leading bits select the bucket, the next ten the sub-bucket.
#[inline]
const fn index_of(value_ns: u64) -> usize {
    let bits = u64::BITS - (value_ns | SUB_BUCKET_MASK).leading_zeros();
    let bucket = bits - SUB_BUCKET_BITS;
    let sub_bucket = (value_ns >> bucket) as usize;
    ((bucket as usize) << HALF_BITS) + sub_bucket
}

/// Smallest value of a slot.
#[inline]
const fn value_of(index: usize) -> u64 {
    let bucket = (index >> HALF_BITS).saturating_sub(1);
    let sub_bucket = index - (bucket << HALF_BITS);
    (sub_bucket as u64) << bucket
}

impl Default for Counts {
    fn default() -> Self {
        Self { slots: vec![0; SLOTS].into_boxed_slice(), total: 0, lowest: SLOTS, highest: 0 }
    }
}

impl Counts {
    /// Records one value; above an hour it is clamped.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        let index = index_of(value_ns).min(SLOTS - 1);
        self.slots[index] += 1;
        self.total += 1;
        self.lowest = self.lowest.min(index);
        self.highest = self.highest.max(index);
    }

    /// Values recorded.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.total
    }

    /// True when nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Takes the used slots out as `(index, count)` and leaves it empty.
    pub fn drain(&mut self) -> Vec<(u32, u64)> {
        let mut sparse = Vec::new();
        if self.total > 0 {
            for index in self.lowest..=self.highest {
                let count = std::mem::take(&mut self.slots[index]);
                if count > 0 {
                    sparse.push((index as u32, count));
                }
            }
        }
        debug_assert_eq!(sparse.iter().map(|(_, count)| count).sum::<u64>(), self.total);
        (self.total, self.lowest, self.highest) = (0, SLOTS, 0);
        sparse
    }

    /// Puts drained slots back.
    pub fn restore(&mut self, sparse: &[(u32, u64)]) {
        for &(index, count) in sparse {
            let index = index as usize;
            self.slots[index] += count;
            self.total += count;
            self.lowest = self.lowest.min(index);
            self.highest = self.highest.max(index);
        }
    }

    /// Adds everything to a histogram of the project's shape.
    pub fn add_to(&mut self, histogram: &mut Histogram<u64>) {
        add_sparse(&self.drain(), histogram);
    }
}

/// Adds drained slots to a histogram.
///
/// # Panics
/// Never: each slot's value lies in the histogram's range.
pub(crate) fn add_sparse(sparse: &[(u32, u64)], histogram: &mut Histogram<u64>) {
    for &(index, count) in sparse {
        histogram
            .record_n(value_of(index as usize), count)
            .expect("both share one range of values");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn same_buckets_as_the_library(
            values in proptest::collection::vec(0_u64..stats::histogram::HIGHEST_NS, 0..200),
            shift in 0_u32..42,
        ) {
            let mut ours = Counts::default();
            let mut library = stats::histogram::new();
            for value in values {
                ours.record(value >> shift);
                library.record(value >> shift).unwrap();
            }
            let mut converted = stats::histogram::new();
            ours.add_to(&mut converted);
            prop_assert_eq!(converted, library);
        }

        #[test]
        fn drain_and_restore_lose_nothing(values in proptest::collection::vec(0_u64..10_000_000_000, 0..50)) {
            let mut counts = Counts::default();
            for &value in &values {
                counts.record(value);
            }
            let sparse = counts.drain();
            prop_assert!(counts.is_empty());
            counts.restore(&sparse);
            prop_assert_eq!(counts.len(), values.len() as u64);
            prop_assert_eq!(counts.drain(), sparse);
        }
    }

    #[test]
    fn above_an_hour_is_clamped() {
        let mut counts = Counts::default();
        counts.record(u64::MAX);
        let mut histogram = stats::histogram::new();
        counts.add_to(&mut histogram);
        assert_eq!(histogram.len(), 1);
        assert!(histogram.max() >= stats::histogram::HIGHEST_NS);
    }
}
