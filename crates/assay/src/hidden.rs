//! Verbs that only assay itself calls: the bodies of its child processes.

use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use record::job::{Event, Job};
use record::layout;

use crate::exit::{Failure, Status};
use crate::signals;

/// Carries out a hidden verb, if the first argument is one.
pub(crate) fn dispatch() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let verb = arguments.next()?;
    let outcome = match verb.to_str()? {
        "__guard" => return Some(ExitCode::from(target::guard_main() as u8)),
        "__observe" => observe::observe_main(BufReader::new(io::stdin())).map_err(Failure::failed),
        "__spin" => spin(arguments.map(|list| list.to_string_lossy().into_owned()).collect()),
        "__generate" => generate(arguments.next().map(PathBuf::from)),
        _ => return None,
    };
    Some(match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(io::stderr(), "error: {}", failure.message);
            failure.status.into()
        }
    })
}

/// The sentinel: a fixed loop on the cores of each list, as JSON on standard output.
fn spin(lists: Vec<String>) -> Result<(), Failure> {
    let spins = observe::sentinel::spins(&lists);
    serde_json::to_writer(io::stdout(), &spins).map_err(Failure::failed)
}

/// The generator: a job on standard input, events on standard output, a record in a file. The
/// record leaves unjudged: the digest judges it with the bench's own bounds.
fn generate(path: Option<PathBuf>) -> Result<(), Failure> {
    let path = path.ok_or_else(|| Failure::wrong("__generate needs the record's path"))?;
    let job: Job = serde_json::from_reader(BufReader::new(io::stdin())).map_err(Failure::wrong)?;
    let stop = signals::stop_flag()?;
    let mut show = |event: &Event| {
        // Nobody listens any more: the guardian is about to end us.
        let _ = serde_json::to_writer(io::stdout(), event)
            .map_err(io::Error::other)
            .and_then(|()| io::stdout().write_all(b"\n"))
            .and_then(|()| io::stdout().flush());
    };
    let record =
        load::run(&job, &stop, &mut show).map_err(|error| Failure::new(Status::Failed, error))?;
    layout::write_json(&path, &record)
        .map_err(|error| Failure::failed(format!("cannot write `{}`: {error}", path.display())))
}
