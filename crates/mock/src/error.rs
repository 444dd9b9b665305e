//! Why the mock could not start.

use std::io;
use std::net::SocketAddr;

use crate::limits::BODY_MAX_BYTES;
use crate::script::ScriptError;

/// Why the mock could not start. Once it runs it does not fail: what peers do is counted.
#[derive(Debug, thiserror::Error)]
pub enum MockError {
    /// The address to listen on cannot be read or resolved.
    #[error(
        "cannot listen on `{listen}`: {reason}; write `127.0.0.1:8080`, or port 0 for any free port"
    )]
    Listen {
        /// The text as configured.
        listen: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Another socket listens there: a precondition does not hold (exit status 5).
    #[error("port {} of {} is in use; stop its owner, or use port 0 for any free port", .0.port(), .0.ip())]
    PortInUse(SocketAddr),
    /// The system refused the address for another reason.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The resolved address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The answer's body would not fit into the bound on memory.
    #[error("body of {0} bytes is too large; the mock holds at most {BODY_MAX_BYTES}")]
    BodyTooLarge(u64),
    /// The histogram of the latency cannot be read.
    #[error("{file}{}: {reason}", line_of(*.line))]
    Histogram {
        /// The file.
        file: String,
        /// The line at fault, from 1; 0 for the file as a whole.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The script cannot be used.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A kernel facility is missing or exhausted.
    #[error("cannot set up {what}: {source}")]
    System {
        /// The facility.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// `:2` for a line, nothing for none.
fn line_of(line: usize) -> String {
    if line == 0 { String::new() } else { format!(":{line}") }
}
