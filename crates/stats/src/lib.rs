//! Pure mathematics on slices and histograms: no files, no clock, no global randomness. A seed
//! is an argument and is stored with the result by whoever calls.
//!
//! | question | module |
//! |---|---|
//! | does a level differ from its baseline, and does it matter | [`verdict`], [`wilcoxon`] |
//! | how many pairs, how small an effect | [`power`] |
//! | what the order of runs did | [`order_effect`] |
//! | more than one look, more than one metric | [`sequential`], [`multiple`] |
//! | how far from a prediction, from another label | [`prediction`] |
//! | one figure for a suite | [`geomean`] |
//! | a few values of one cell | [`order`], [`sample`] |
//! | where variance comes from, ratios of unpaired means | [`variance`] |
//! | did it stay where it was | [`trend`], [`change_point`], [`stationarity`], [`two_sample`] |
//! | what a histogram hides | [`histogram`], [`modes`] |
//! | do users, rate and time agree | [`little`] |
//!
//! The unit of analysis is one run, never one request: a slice holds one figure per pair, the
//! natural logarithm of level / baseline. [`verdict`] turns such a slice into one of five words.

pub mod attribution;
pub mod change_point;
pub mod geomean;
pub mod histogram;
pub mod knee;
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
pub mod unit_cost;
pub mod variance;
pub mod verdict;
pub mod wilcoxon;
