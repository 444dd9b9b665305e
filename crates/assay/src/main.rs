//! The command. One file per verb: it parses arguments, calls a room, prints. This is the only
//! crate that prints, reads flags, routes the signals of a matrix and chooses exit codes; it contains
//! no measurement and no mathematics.

mod build_stamp;
mod calibrations;
mod certificates;
mod cli;
mod exit;
mod file_kind;
mod frozen;
mod hidden;
mod instrument;
mod looks;
mod output;
mod preflight;
mod progress;
mod read_side;
mod selftest;
mod signals;
mod state_dir;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Verb};
use crate::exit::Failure;
use crate::output::Output;

fn main() -> ExitCode {
    // Hidden verbs first: they are started for every child of a matrix and take no flags.
    if let Some(code) = hidden::dispatch() {
        return code;
    }
    let cli = Cli::parse();
    let output = Output::new(&cli.global);
    let outcome = match &cli.verb {
        Verb::Run(arguments) => verbs::run::run(arguments, &output),
        Verb::Plan(arguments) => verbs::plan::run(arguments, &output),
        Verb::Load(arguments) => verbs::load::run(arguments, &output),
        Verb::Mock(arguments) => verbs::mock::run(arguments, &output),
        Verb::Compare(arguments) => verbs::compare::run(arguments, &output),
        Verb::Digest(arguments) => verbs::digest::run(arguments, &output),
        Verb::Drill(arguments) => verbs::drill::run(arguments, &output),
        Verb::Diff(arguments) => verbs::diff::run(arguments, &output),
        Verb::Host(arguments) => verbs::host::run(arguments, &output),
        Verb::Status(arguments) => verbs::status::run(arguments, &output),
        Verb::Selftest(arguments) => verbs::selftest::run(arguments, &output),
        Verb::Schema(arguments) => verbs::schema::run(arguments, &output),
        Verb::Calibrate(arguments) => verbs::calibrate::run(arguments, &output),
        Verb::Certify(arguments) => verbs::certify::run(arguments, &output),
        Verb::Completions { shell } => verbs::shell::completions(*shell, &output),
        Verb::Man => verbs::shell::man(&output),
    };
    match outcome {
        Ok(status) => status.into(),
        Err(failure) => report(&failure, &output),
    }
}

fn report(failure: &Failure, output: &Output) -> ExitCode {
    if failure.is_closed_pipe() {
        // Whoever read us has seen enough.
        return ExitCode::SUCCESS;
    }
    output.error(failure);
    failure.status.into()
}
