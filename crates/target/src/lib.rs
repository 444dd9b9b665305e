//! Targets: brought up, awaited, and stopped with everything they started.
//!
//! Every child of a matrix runs under a guardian, a process of our own binary that answers for
//! the child's whole tree and ends it when the parent is gone. On top of that stands the
//! bring-up: version pin, free port, start, readiness. The crate prints nothing, writes only
//! below the directory that it is given, never finds a process by name and never patches a
//! target.

mod brake;
mod bring_up;
mod error;
mod exit;
mod guarded;
mod guardian;
mod instance;
mod log;
mod port;
mod protocol;
mod ready;
mod version;

pub use brake::Brake;
pub use bring_up::{Context, bring_up, require_free_port};
pub use error::BringUpError;
pub use exit::{Exit, signal_name, signal_number};
pub use guarded::{Guarded, Output, Spawn, Stdin, TargetError};
pub use guardian::{KILL_BOUND, ORPHAN_GRACE, guard_main};
pub use instance::{FLUSH_BOUND, FlushError, Instance};
pub use port::Holder;
pub use protocol::TreeUsage;
pub use version::VERSION_LOG;
