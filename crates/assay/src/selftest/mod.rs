//! The self-test: faults that need no privileges, planted on the user's own machine, and what assay
//! says of each. A case passes only when the fault is reported by its name and the same thing without
//! the fault is not.
//!
//! Every case works in a folder of its own under the system's temporary folder, against programs on
//! loopback that it started itself, within a bound of time.

mod bed;
mod cases;

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::exit::Failure;
use bed::Bed;

/// What became of one case.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Verdict {
    /// The property.
    pub(crate) name: &'static str,
    /// What was planted.
    pub(crate) plant: &'static str,
    /// Whether it was reported, and only it.
    pub(crate) passed: bool,
    /// What was said, or what was not.
    pub(crate) said: String,
    /// How long it took, ns.
    pub(crate) elapsed_ns: u64,
}

/// One planted fault.
pub(crate) struct Case {
    /// The property, in words.
    pub(crate) name: &'static str,
    /// The fault.
    pub(crate) plant: &'static str,
    /// Plants it; `Ok` is what was said, `Err` what should have been.
    run: fn(&Bed) -> Result<String, String>,
}

/// The cases in their order.
pub(crate) fn cases() -> &'static [Case] {
    cases::CASES
}

/// Runs one case against the program at `program`.
///
/// # Errors
/// The temporary folder cannot be made.
pub(crate) fn run(case: &Case, program: &Path) -> Result<Verdict, Failure> {
    let began = Instant::now();
    let bed = Bed::make(program)
        .map_err(|error| Failure::failed(format!("cannot make a temporary folder: {error}")))?;
    let outcome = (case.run)(&bed);
    let elapsed: Duration = began.elapsed();
    Ok(Verdict {
        name: case.name,
        plant: case.plant,
        passed: outcome.is_ok(),
        said: outcome.unwrap_or_else(|missed| missed),
        elapsed_ns: elapsed.as_nanos() as u64,
    })
}
