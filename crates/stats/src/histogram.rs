//! Latency histograms: HdrHistogram with 3 significant digits up to 1 h, values in
//! nanoseconds, kept losslessly as V2 (deflate) in base64. The lowest value told apart is 1 ns:
//! with 1 µs the buckets below 1 ms would be 512 ns wide, and an effect of 1 % on a 35 µs
//! median could not be seen.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use record::{LagSummary, Summary};

/// Smallest value told apart, ns.
pub const LOWEST_NS: u64 = 1;
/// Largest value; anything longer is clamped to it.
pub const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits.
pub const DIGITS: u8 = 3;

/// Samples below which a percentile has no two-sided 95 % interval by order statistics (D8):
/// p50 6, p90 54, p95 112, p99 568, p99.9 5 800.
pub const MINIMUM_SAMPLES: [(f64, u64); 5] =
    [(0.50, 6), (0.90, 54), (0.95, 112), (0.99, 568), (0.999, 5_800)];

/// An encoded histogram that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("not an HdrHistogram V2 in base64: {0}")]
pub struct DecodeError(String);

/// An empty histogram of the project's one shape.
///
/// # Panics
/// Never: the constants form a valid range.
#[must_use]
pub fn new() -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, DIGITS).expect("constant bounds are valid")
}

/// Encodes losslessly.
///
/// # Panics
/// Never: writing to memory does not fail and counts fit.
#[must_use]
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a histogram serialises to memory");
    BASE64.encode(bytes)
}

/// Decodes what [`encode`] wrote.
///
/// # Errors
/// [`DecodeError`] when the text is no base64 or no V2 histogram.
pub fn decode(text: &str) -> Result<Histogram<u64>, DecodeError> {
    let bytes = BASE64.decode(text.trim()).map_err(|error| DecodeError(error.to_string()))?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| DecodeError(format!("{error:?}")))
}

/// The figures of a histogram; percentiles by nearest rank, `None` without the samples of
/// [`MINIMUM_SAMPLES`].
#[must_use]
pub fn summarise(histogram: &Histogram<u64>) -> Summary {
    let count = histogram.len();
    if count == 0 {
        return Summary::default();
    }
    let max = histogram.max();
    // A bucket's upper edge may exceed the largest value seen; no percentile may.
    let percentile = |index: usize| {
        let (p, needed) = MINIMUM_SAMPLES[index];
        (count >= needed).then(|| histogram.value_at_quantile(p).min(max))
    };
    Summary {
        count,
        min: Some(histogram.min()),
        mean: Some(histogram.mean()),
        p50: percentile(0),
        p90: percentile(1),
        p95: percentile(2),
        p99: percentile(3),
        p999: percentile(4),
        max: Some(max),
    }
}

/// The figures of a lag histogram, under the same sample rule.
#[must_use]
pub fn summarise_lag(histogram: &Histogram<u64>) -> LagSummary {
    let summary = summarise(histogram);
    LagSummary { p50: summary.p50, p99: summary.p99, p999: summary.p999, max: summary.max }
}
