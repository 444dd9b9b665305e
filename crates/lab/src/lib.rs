//! Carries out a plan: brings instances up, makes the runs in their order, keeps the gaps,
//! writes one directory a run, resumes where a previous attempt stopped, and extends a label.
//!
//! The parent measures nothing: target, mock, generator and observer are child processes, each
//! under its guardian. A run is complete when its `digest.json` exists; it is written last and
//! by renaming. What a digest says is not known here: [`Digester`] is given by the caller.
//!
//! What is absent: no statistics, no verdict, no printing, no signal handler ([`Interrupt`] is a
//! value that somebody else sets), no process found by name.

mod digester;
mod error;
mod execute;
mod facts;
mod foreign;
mod generator;
mod instances;
mod interrupt;
mod label;
mod observer;
mod pending;
mod predecessor;
mod programs;
mod progress;
mod run;
mod sentinel;

pub use digester::{Digested, Digester};
pub use error::LabError;
pub use execute::{Finished, Session, execute};
pub use interrupt::Interrupt;
pub use label::{Opening, kept_plan};
pub use programs::require_programs;
pub use progress::{Progress, Step};
