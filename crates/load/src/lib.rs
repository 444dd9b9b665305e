//! The load generator: one job, one address, one measured window, one load record.
//!
//! It runs in a process of its own. Each thread owns an epoll set, its connections and its
//! counters; threads share only the edges of the window and, for a window that is a count, the
//! number of requests started. Nothing is allocated per request on the hot path.
//!
//! What is absent: no printing, no judgement (the record leaves with an empty `validity`), no
//! retry of a request, no answer invented. Latency in an open loop starts when a request was
//! due; what was due and not sent, or sent and not answered, is counted and never dropped.

mod arrivals;
mod body;
mod connection;
mod counts;
mod failure;
mod phases;
mod ports;
mod recorder;
mod request;
mod response;
mod run;
mod series;
mod server_timing;
mod worker;

pub use arrivals::{Arrivals, ConstantRate, Cursor, Shaped};
pub use counts::Counts;
pub use response::{Fed, Malformed, ResponseParser, Transcript, transcribe};
pub use run::{LoadError, cores, run};
