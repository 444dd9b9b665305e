//! Pure mathematics on slices and histograms: no files, no clock, no global randomness. A seed
//! is an argument and is stored with the result by whoever calls.
//!
//! The unit of analysis is one run, never one request: a slice holds one figure per pair, the
//! natural logarithm of level / baseline. [`verdict`] turns such a slice into one of five words.

pub mod change_point;
pub mod geomean;
pub mod histogram;
pub mod little;
pub mod modes;
pub mod multiple;
pub mod order;
pub mod order_effect;
pub mod power;
pub mod prediction;
pub mod random;
pub mod sample;
pub mod sequential;
pub mod stationarity;
pub mod trend;
pub mod two_sample;
pub mod variance;
pub mod verdict;
pub mod wilcoxon;
