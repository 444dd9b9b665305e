//! The seam of the house: names, shapes and units of everything in a run directory.
//!
//! Rooms left of the run directory fill these types in and write them; rooms right of it only
//! read them. The crate holds serde types, the parsing and printing of units, and the atomic
//! write; it starts nothing, measures nothing, judges nothing and prints nothing.
//!
//! Conventions: times are integers in nanoseconds (`_ns`), sizes in bytes (`_bytes`), CPU in
//! nanoseconds. Every JSON artefact carries [`Format`]; unknown fields are ignored and new
//! fields have defaults, so that old artefacts stay readable.

pub mod arrival;
pub mod calibration;
pub mod certificate;
pub mod compare;
pub mod digest;
pub mod doctor;
pub mod foreign;
pub mod format;
pub mod frozen;
pub mod generator;
pub mod glob;
pub mod host_check;
pub mod host_state;
pub mod job;
pub mod layout;
pub mod leaf;
pub mod load;
pub mod meta;
pub mod mock;
pub mod page;
pub mod pause;
pub mod plan;
pub mod profile_diff;
pub mod qualification;
pub mod quotability;
pub mod recording;
pub mod redact;
pub mod resolution;
pub mod resources;
pub mod seal;
pub mod sources;
pub mod status;
pub mod summary;
pub mod thread_name;
pub mod two_labels;
pub mod units;
pub mod validity;

pub use format::Format;
pub use summary::{LagSummary, Summary};
pub use validity::{Effect, Reason, Scope, State, Validity};
