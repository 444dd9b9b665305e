//! Pure mathematics on slices and histograms: no files, no clock, no global randomness. A seed
//! is an argument and is stored with the result by whoever calls.

pub mod histogram;
