//! A target's version as its own program reports it, against the bench's pin.

use std::time::Duration;

use record::plan::Target;

use crate::bring_up::Context;
use crate::error::BringUpError;
use crate::guarded::{Guarded, Output, Spawn};
use crate::log::last_lines;

/// How long a program may take to print its version.
const VERSION_BOUND: Duration = Duration::from_secs(10);
/// How much of its output is looked at, bytes.
const OUTPUT_BYTES: u64 = 64 << 10;
/// Its output, kept beside the logs of the instance.
pub const VERSION_LOG: &str = "version.log";

/// Asks for the version and compares it with the pin. Returns the first line of standard output
/// and error that is not empty; `None` when the target has no version command.
///
/// It runs with the target's environment and directory, under a guardian like everything else.
pub(crate) fn check(
    target: &Target,
    like: &Spawn,
    context: &Context<'_>,
) -> Result<Option<String>, BringUpError> {
    let Some(pin) = &target.version else { return Ok(None) };
    let failed = |why: String| BringUpError::Version { target: target.name.clone(), why };
    let log = context.dir.join(VERSION_LOG);
    let from = std::fs::metadata(&log).map_or(0, |meta| meta.len());
    let spawn = Spawn {
        argv: pin.command.clone(),
        stdout: Output::File(log.clone()),
        stderr: Output::File(log.clone()),
        ..like.clone()
    };
    let mut child = Guarded::spawn(context.guardian, &spawn)
        .map_err(|source| BringUpError::Start { target: target.name.clone(), source })?;
    let Some(exit) = child.wait(VERSION_BOUND) else {
        return Err(failed(format!("no end within {} s", VERSION_BOUND.as_secs())));
    };
    if !exit.success() {
        let last = last_lines(&log, from).pop();
        return Err(failed(match last {
            Some(last) => format!("{exit}: {last}"),
            None => exit.to_string(),
        }));
    }
    let output = read(&log, from).map_err(|error| failed(format!("left no output: {error}")))?;
    let first = output.lines().map(str::trim).find(|line| !line.is_empty());
    let Some(first) = first else { return Err(failed("printed nothing".to_owned())) };
    match &pin.is {
        Some(expected) if !output.contains(expected.as_str()) => Err(BringUpError::WrongVersion {
            target: target.name.clone(),
            expected: expected.clone(),
            found: first.to_owned(),
        }),
        _ => Ok(Some(first.to_owned())),
    }
}

fn read(log: &std::path::Path, from: u64) -> std::io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = std::fs::File::open(log)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
