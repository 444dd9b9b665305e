//! Weights per stack, and what can be said of them: sites, shares of packages, differences
//! between two runs, graphs.
//!
//! A [`Profile`] holds stacks with their weights, whoever took them: the reader of
//! [collapsed stacks](collapsed) is here, that of flight recordings fills the same. A
//! [`Table`](table::Table) is one view of it, figures by name; [`diff`] compares tables. The crate
//! that draws graphs is known to [`flame`] alone.
//!
//! Right of the run directory: bytes in, values out. Nothing is printed, started or judged; a
//! bound is a setting and is reported. Input is never trusted, and memory is bounded whatever it
//! says.

pub mod collapsed;
pub mod diff;
pub mod digest;
pub mod drill;
pub mod flame;
mod interner;
pub mod naming;
pub mod shares;
mod stacks;
pub mod table;

pub use stacks::{BEYOND, Limits, NO_OWN_FRAME, NO_STACK, Profile, Unit};
