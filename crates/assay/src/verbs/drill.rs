//! `assay drill`: one question to a recording, one short answer.

use jvm::jfr::Recording;
use jvm::panels::Subject;

use crate::cli::{DrillArguments, DrillSubject};
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;
use crate::verbs::digest::{failure, question, window};

pub(crate) fn run(arguments: &DrillArguments, output: &Output) -> Outcome {
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
    let drill = jvm::panels::drill(&recording, &question, subject(arguments.subject))
        .map_err(Failure::wrong)?;
    output.result(arguments.json.json.as_ref(), &drill, || report::drill_text(&drill))?;
    Ok(if drill.truncated { Status::Doubtful } else { Status::Done })
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
