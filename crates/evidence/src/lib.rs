//! The read side: run directories, gates, digests, contrasts and status.
//!
//! Everything here only reads what a run left behind and derives statements from it; the same
//! files give the same bytes on another machine years later. The crate writes nothing, prints
//! nothing, starts nothing, asks no clock and uses nothing that exists on Linux alone, except
//! [`status::ProcFs`], which finds no process elsewhere. Input is never trusted: a truncated or
//! malformed file is named, not panicked upon.

mod batches;
mod calibrated;
pub mod calibration;
pub mod certificate;
pub mod compare;
pub mod digest;
pub mod doctor;
pub mod error;
pub mod frozen;
pub mod gates;
pub mod looks;
pub mod matrix;
mod own_figures;
pub mod page;
pub mod qualification;
pub mod quotability;
pub mod resolution;
pub mod run_dir;
pub mod series;
pub mod status;
mod tables;
pub mod two_labels;

#[cfg(any(test, feature = "dev"))]
pub mod samples;

pub use calibration::calibration;
pub use certificate::{Asked, certificate};
pub use compare::{CompareOptions, compare, is_doubtful, select};
pub use digest::digest;
pub use doctor::doctor;
pub use error::EvidenceError;
pub use gates::{Judgement, judge_load, judge_run};
pub use looks::{Standing, read_looks, standing, with_look};
pub use matrix::matrix;
pub use page::page;
pub use qualification::{noisiest_cell, qualification};
pub use quotability::{Support, quotability};
pub use resolution::{Wanted, resolution};
pub use two_labels::two_labels;
