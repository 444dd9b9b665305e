//! The instrumented latency mock: an HTTP/1.1 server that is an independent, exact witness
//! of load.
//!
//! It answers every request with the same prebuilt bytes after a sleep that is drawn from a law,
//! as a server of limited capacity would, can be told to misbehave in known ways and to say in
//! each answer what it did, and counts what it saw: `served + failed` is exactly the
//! number of requests read in full since the last flush, and the record says from which
//! requests, how many at once, how long, and for how much CPU of its own.
//!
//! Contract of the room:
//! - One thread runs one loop ([`Server::run`]); nothing is shared, so the order of events in
//!   the ledger is the order in which they happened. A control port has a thread that passes
//!   questions to the loop (`control_port`).
//! - How a request is treated is a pure function of the configuration, the time since the
//!   server bound, three random numbers ([`delay::delay`]) and who was there before
//!   (`capacity`, `limiter`). How bytes become requests is a
//!   pure state machine: [`request::Reader`].
//! - Every queue, buffer and wait has a bound: see [`Limits`].
//! - The room prints nothing, parses no flags and writes no files: records are returned, or
//!   handed to the callback of [`Control::on_flush`].
//!
//! Linux 5.11 or later: waits are `epoll_pwait2` with nanosecond timeouts.

pub mod answer;
mod capacity;
mod connection;
mod control;
mod control_port;
pub mod delay;
mod error;
mod law;
mod ledger;
mod limiter;
mod limits;
mod listener;
pub mod request;
pub mod script;
mod server;
mod site;
mod timers;
mod treatment;
mod truth;

pub use answer::{body, wrong_body};
pub use control::{Control, Handle};
pub use error::MockError;
pub use limits::Limits;
pub use server::Server;
