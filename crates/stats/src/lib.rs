//! Pure mathematics on slices and histograms: no files, no clock, no global randomness. A seed
//! is an argument and is stored with the result by whoever calls.
//!
//! The unit of analysis is one run, never one request: a slice holds one figure per pair, the
//! natural logarithm of level / baseline. [`verdict`] turns such a slice into one of five words.

pub mod histogram;
pub mod order;
pub mod power;
pub mod sample;
pub mod verdict;
pub mod wilcoxon;
