//! The bounds of the mock's queues, buffers and waits.

/// Largest answer body that can be configured, bytes: it is held in memory.
pub(crate) const BODY_MAX_BYTES: u64 = 1 << 30;

/// Bounds on what a peer can make the mock hold. The defaults are meant for load tests; tests
/// of the bounds themselves set smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Open connections at once; at the bound, accepting pauses until one closes. Never more
    /// than the process may open descriptors, less a reserve of 32.
    pub connections: usize,
    /// Requests of one connection that are read and not yet answered; at the bound, reading
    /// from that connection pauses.
    pub pipelined: usize,
    /// How long a request may make no progress before the connection is closed with 408, ns:
    /// its head must be complete, and its body must go on, within this time. Looked at in
    /// steps of half this time.
    pub stalled_request_ns: u64,
    /// How long the peer may take to close after an answer that ends the connection, ns.
    pub linger_ns: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 65_536,
            pipelined: 128,
            stalled_request_ns: 60_000_000_000,
            linger_ns: 1_000_000_000,
        }
    }
}
