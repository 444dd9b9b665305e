//! `assay digest`: what a recording says, on one page.

mod run_dir;
mod texts;

use std::path::Path;

use jvm::jfr::{Error, Recording};
use jvm::panels::{OWN, Question};
use record::recording::RecordingDigest;
use record::{layout, units};

use crate::cli::{DigestArguments, ReadingArguments};
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;

use run_dir::OfRun;

/// The word of a band for pauses of the collector per second.
const GC_RATE: &str = "gc-rate";

pub(crate) fn run(arguments: &DigestArguments, output: &Output) -> Outcome {
    let mut question = question(&arguments.reading);
    question.exclusive = arguments.exclusive;
    question.depth = arguments.depth.unwrap_or(question.depth);
    for text in &arguments.band {
        let (name, [low, high]) = parse_band(text)?;
        if name == GC_RATE {
            question.gc_rate_per_s = Some([low, high]);
        } else {
            question.bands.push((name, low / 100.0, high / 100.0));
        }
    }
    if question.bands.iter().any(|band| band.0 == OWN) && arguments.reading.package.is_empty() {
        return Err(Failure::wrong("--band own=...: name your own code with --package"));
    }
    let mut digests = Vec::new();
    let add = |recording: &Recording, of_run: Option<&OfRun>| -> Result<_, Failure> {
        let mut question = question.clone();
        question.window_ns = match window(&arguments.reading, recording)? {
            None => of_run.and_then(|run| run.window_ns),
            asked => asked,
        };
        let mut digest = jvm::panels::digest(recording, &question);
        if let (Some(of_run), Some(run)) = (of_run, &mut digest.panels.run) {
            run.ended = Some(of_run.ended.clone());
            run.build = of_run.build.clone();
        }
        Ok(digest)
    };
    match &arguments.recover {
        Some(folder) if arguments.files.is_empty() => {
            let recording = Recording::recover(folder).map_err(failure)?;
            digests.push((name_of(folder), add(&recording, None)?));
        }
        Some(_) => {
            let message = "--recover reads a repository: name it alone, without files";
            return Err(Failure::wrong(message));
        }
        None => {
            for path in &arguments.files {
                let (files, of_run) = match path.is_dir() {
                    true => run_dir::of(path)?,
                    false => (vec![path.clone()], None),
                };
                for file in files {
                    let digest = match texts::read(&file, arguments, &question)? {
                        Some(digest) => digest,
                        None => add(&Recording::open(&file).map_err(failure)?, of_run.as_ref())?,
                    };
                    digests.push((name_of(&file), digest));
                }
            }
        }
    }
    jvm::panels::suppress_unstable(
        &mut digests.iter_mut().map(|(_, digest)| digest).collect::<Vec<_>>(),
    );
    let text = || {
        let pages = digests.iter().map(|(name, digest)| report::recording_md(name, digest));
        pages.collect::<Vec<_>>().join("\n")
    };
    if let Some(path) = &arguments.html {
        layout::write_atomic(path, report::recording_html(&digests).as_bytes()).map_err(
            |error| Failure::wrong(format!("cannot write `{}`: {error}", path.display())),
        )?;
    }
    // One recording is one object; several are a list of them.
    match digests.as_slice() {
        [(_, digest)] => output.result(arguments.json.json.as_ref(), digest, text)?,
        all => {
            let all: Vec<&RecordingDigest> = all.iter().map(|(_, digest)| digest).collect();
            output.result(arguments.json.json.as_ref(), &all, text)?;
        }
    }
    let partial =
        digests.iter().any(|(_, digest)| digest.quality.truncated || digest.quality.recovered);
    Ok(if partial { Status::Doubtful } else { Status::Done })
}

/// The question that the flags of both verbs make.
pub(crate) fn question(arguments: &ReadingArguments) -> Question {
    Question::default().packages(&arguments.package)
}

/// The last part of a path: pages of like runs do not differ by the folders that they lie in.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// `--window`, spans from the recording's start made instants.
pub(crate) fn window(
    arguments: &ReadingArguments,
    recording: &Recording,
) -> Result<Option<[u64; 2]>, Failure> {
    let Some(text) = &arguments.window else { return Ok(None) };
    let wrong = |what: String| {
        Failure::wrong(format!("--window `{text}`: {what}; write spans from the start: `5s..25s`"))
    };
    let (from, to) = text.split_once("..").ok_or_else(|| wrong("found no `..`".to_owned()))?;
    let start_ns = recording.chunks.iter().map(|chunk| chunk.header.start_ns).min().unwrap_or(0);
    let side = |text: &str, open: u64| match text.trim() {
        "" => Ok(open),
        "0" => Ok(start_ns),
        text => units::duration_ns(text)
            .map(|span| start_ns.saturating_add(span))
            .map_err(|error| wrong(error.to_string())),
    };
    let window = [side(from, start_ns)?, side(to, u64::MAX)?];
    if window[0] >= window[1] {
        return Err(wrong("it ends before it begins".to_owned()));
    }
    Ok(Some(window))
}

/// `PREFIX=LOW..HIGH`, numbers with or without a `%`.
fn parse_band(text: &str) -> Result<(String, [f64; 2]), Failure> {
    let side = |text: &str| -> Option<f64> {
        let number: f64 = text.trim().trim_end_matches('%').trim().parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    };
    let parsed = (|| {
        let (name, band) = text.split_once('=')?;
        let (low, high) = band.split_once("..")?;
        let (low, high) = (side(low)?, side(high)?);
        (low <= high && !name.is_empty()).then(|| (name.replace('/', "."), [low, high]))
    })();
    parsed.ok_or_else(|| {
        Failure::wrong(format!(
            "--band `{text}`: expected a band such as `org.acme=35..40`, `own=0..8` or \
             `gc-rate=0..3`"
        ))
    })
}

/// The exit status of an error of the reader.
pub(crate) fn failure(error: Error) -> Failure {
    let empty =
        matches!(&error, Error::NotARecording { found, .. } if found.contains("end of the"));
    if empty {
        return Failure::wrong(format!(
            "{error}; a JVM that was killed leaves its chunks in the repository: --recover DIR"
        ));
    }
    Failure::wrong(error)
}
