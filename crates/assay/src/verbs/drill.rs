//! `assay drill`: one question to a recording or to collapsed stacks, one short answer.

use jvm::jfr::Recording;
use jvm::panels::Subject;
use profile::collapsed::{Collapsed, Options};
use profile::naming::Pattern;
use record::recording::Drill;

use crate::cli::{DrillArguments, DrillSubject};
use crate::exit::{Failure, Outcome, Status};
use crate::file_kind::{self, FileKind, named};
use crate::output::Output;
use crate::verbs::digest::{failure, question, window};

pub(crate) fn run(arguments: &DrillArguments, output: &Output) -> Outcome {
    let is_text =
        !arguments.file.is_dir() && file_kind::of(&arguments.file)?.0 != FileKind::Recording;
    let drill = if is_text { of_stacks(arguments)? } else { of_recording(arguments)? };
    output.result(arguments.json.json.as_ref(), &drill, || report::drill_text(&drill))?;
    Ok(if drill.truncated { Status::Doubtful } else { Status::Done })
}

/// The callers that collapsed stacks hold; other texts have no stacks to ask.
fn of_stacks(arguments: &DrillArguments) -> Result<Drill, Failure> {
    let file = &arguments.file;
    let wrong = |error: &dyn std::fmt::Display| named(file, error);
    if file_kind::of(file)?.0 != FileKind::Collapsed {
        return Err(wrong(
            &"expected a flight recording or collapsed stacks; `assay digest` reads it",
        ));
    }
    let allocations = match arguments.subject {
        DrillSubject::Allocations => true,
        DrillSubject::Cpu => false,
        _ => return Err(wrong(&"collapsed stacks answer `allocations` or `cpu` alone")),
    };
    if arguments.reading.window.is_some() {
        return Err(wrong(&"--window is of recordings: collapsed stacks have no times"));
    }
    let read = Collapsed::read(file_kind::open(file)?, Options::default());
    let collapsed = read.map_err(|error| wrong(&error))?;
    let own: Vec<Pattern> = arguments.reading.package.iter().map(|own| Pattern::new(own)).collect();
    let asked = profile::drill::Asked {
        allocations,
        own: &own,
        site: arguments.site.as_deref(),
        callers: arguments.callers,
    };
    profile::drill::drill(&collapsed, &asked).map_err(|error| wrong(&error))
}

fn of_recording(arguments: &DrillArguments) -> Result<Drill, Failure> {
    let recording = if arguments.file.is_dir() {
        Recording::recover(&arguments.file)
    } else {
        Recording::open(&arguments.file)
    };
    let recording = recording.map_err(failure)?;
    let mut question = question(&arguments.reading);
    question.window_ns = window(&arguments.reading, &recording)?;
    if let Some(site) = &arguments.site {
        question = question.site(site, arguments.callers);
    }
    jvm::panels::drill(&recording, &question, subject(arguments.subject)).map_err(Failure::wrong)
}

fn subject(subject: DrillSubject) -> Subject {
    match subject {
        DrillSubject::Allocations => Subject::Allocations,
        DrillSubject::Cpu => Subject::Cpu,
        DrillSubject::Locks => Subject::Locks,
        DrillSubject::Pauses => Subject::Pauses,
        DrillSubject::Floor => Subject::Floor,
        DrillSubject::Survivors => Subject::Survivors,
        DrillSubject::Threads => Subject::Threads,
    }
}
