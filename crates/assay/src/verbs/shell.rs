//! `assay completions` and `assay man`.

use clap::CommandFactory;

use crate::cli::Cli;
use crate::exit::{Outcome, Status};
use crate::output::Output;

/// Completions for a shell, to standard output.
pub(crate) fn completions(shell: clap_complete::Shell, output: &Output) -> Outcome {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "assay", &mut bytes);
    output.data(&String::from_utf8_lossy(&bytes))?;
    Ok(Status::Done)
}

/// The manual page, to standard output: `assay man | man -l -`.
pub(crate) fn man(output: &Output) -> Outcome {
    let mut bytes = Vec::new();
    let command = Cli::command();
    clap_mangen::Man::new(command.clone()).render(&mut bytes)?;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        clap_mangen::Man::new(verb.clone()).render(&mut bytes)?;
    }
    output.data(&String::from_utf8_lossy(&bytes))?;
    Ok(Status::Done)
}
