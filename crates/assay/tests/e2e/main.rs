//! End to end: the built binary against real processes, one file for each idea.
//!
//! Faults are planted and must be seen by name, while the same bench without the fault is valid.
//! Counts are exact; times are only ever bounded from below, since the machine may be busy. Every
//! command has a hard time limit, and every test can prove that nothing of it is left running.

#![expect(clippy::print_stderr, reason = "seeds are told, so that a failure can be repeated")]

mod accounting;
mod arrivals;
mod calibrate;
mod certify;
mod cli;
mod comparisons;
mod conditions;
mod controls;
mod diff;
mod directories;
mod effect;
mod extend;
mod frozen;
mod gates;
mod generators;
mod hosts;
mod inputs;
mod instruments;
mod labels;
mod load_verb;
mod manipulation;
mod networks;
mod page;
mod quick;
mod recordings;
mod resolve;
mod secrets;
mod selftest;
mod signals;
mod simulated;
mod status;
mod steadiness;
mod support;
mod two_labels;
