//! What watches while a run goes on, and who took part.
//!
//! The samplers run in a process of their own and read `/proc` and `/sys`; they judge nothing.
//! A sensor that a machine does not have is absent (`None`, an empty cell), never zero and
//! never a failure.

pub mod csv;
#[cfg(test)]
mod fixture;
mod host;
mod identity;
mod listeners;
mod observer;
pub mod procfs;
pub mod sentinel;
pub mod state;
mod tree;

pub use host::HostSampler;
pub use identity::{host_facts, process_identity, sha256_file};
pub use listeners::listeners;
pub use observer::{Command, ObserverConfig, observe_main, observer_main};
pub use tree::{Scope, TreeSampler, Watch, tick_ns};
