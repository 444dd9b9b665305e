//! What a JVM leaves behind, read: flight recordings, GC logs, class histograms, thread dumps.
//!
//! Right of the run directory: the crate reads bytes and returns values; it starts nothing,
//! prints nothing and judges nothing. Input is never trusted: every reader gives an error that
//! names the place or a partial result with a flag, never a panic, and holds its memory within
//! a bound whatever the file says.

// Text, each a file of its own.
pub mod class_histogram;
pub mod gc_log;
pub mod text_digest;
mod text_lines;
pub mod thread_dump;

// Flight recordings: the reader, and the panels made of what it reads.
pub mod jfr;
pub mod panels;
