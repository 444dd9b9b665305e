//! Load generators that are not assay's: what each can do, how it is asked for a job, and how its
//! output is read into one record.
//!
//! An [`Adapter`] is data: [`Abilities`] that a bench is checked against, [`record::foreign::Habits`]
//! that explain how its figures differ from the truth, a function from a [`Job`] to an
//! [`Invocation`], and a reader of what it printed. Nothing here starts a process or opens a file.
//! Readers trust nothing: garbage, an empty output and a run without a request are errors with a
//! name, never zeros.

mod adapter;
mod ask;
mod books;
mod command;
mod error;
mod figure;
mod job;
mod refusal;

mod ab;
mod h2load;
mod hey;
mod k6;
mod locust;
mod oha;
mod siege;
mod vegeta;
mod wrk;
mod wrk2;

pub use adapter::{
    ADAPTERS, Abilities, Adapter, adapter, adapter_of, ask, program, read, runnable_names,
};
pub use books::{load_record, tolerance_requests};
pub use command::patterns_fault;
pub use error::ReadError;
pub use job::{Invocation, Job, Output};
pub use refusal::{Refusal, refusals, unchecked};
