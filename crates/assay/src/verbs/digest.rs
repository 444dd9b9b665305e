//! `assay digest`: what a recording says, on one page.

mod texts;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use jvm::jfr::{Error, Recording};
use jvm::panels::Question;
use record::recording::RecordingDigest;
use record::units;

use crate::cli::{DigestArguments, ReadingArguments};
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;

/// Folder of a run directory that holds recordings.
const RECORDINGS: &str = "recordings";

pub(crate) fn run(arguments: &DigestArguments, output: &Output) -> Outcome {
    let mut question = question(&arguments.reading);
    question.exclusive = arguments.exclusive;
    question.depth = arguments.depth.unwrap_or(question.depth);
    for band in &arguments.band {
        question.bands.push(parse_band(band)?);
    }
    let mut digests = Vec::new();
    let add = |recording: &Recording| -> Result<RecordingDigest, Failure> {
        let mut question = question.clone();
        question.window_ns = window(&arguments.reading, recording)?;
        Ok(jvm::panels::digest(recording, &question))
    };
    match &arguments.recover {
        Some(folder) if arguments.files.is_empty() => {
            let recording = Recording::recover(folder).map_err(failure)?;
            digests.push((name_of(folder), add(&recording)?));
        }
        Some(_) => {
            let message = "--recover reads a repository: name it alone, without files";
            return Err(Failure::wrong(message));
        }
        None => {
            for file in files(&arguments.files)? {
                let digest = match texts::read(&file, arguments, &question)? {
                    Some(digest) => digest,
                    None => add(&Recording::open(&file).map_err(failure)?)?,
                };
                digests.push((name_of(&file), digest));
            }
        }
    }
    let text = || {
        let pages = digests.iter().map(|(name, digest)| report::recording_md(name, digest));
        pages.collect::<Vec<_>>().join("\n")
    };
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

/// Files as they are, and the recordings of run directories.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let folder = path.join(RECORDINGS);
        let mut found: Vec<PathBuf> = fs::read_dir(&folder)
            .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
            .unwrap_or_default();
        found.retain(|file| file.extension() == Some(OsStr::new("jfr")));
        found.sort();
        if found.is_empty() {
            let message = format!(
                "`{}` is a folder: expected recordings named `*.jfr` in its folder \
                 `{RECORDINGS}`, found none; a chunk repository of a JVM is read with --recover",
                path.display()
            );
            return Err(Failure::wrong(message));
        }
        files.append(&mut found);
    }
    Ok(files)
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

/// `PREFIX=LOW..HIGH`, percentages.
fn parse_band(text: &str) -> Result<(String, f64, f64), Failure> {
    let parsed = (|| {
        let (package, band) = text.split_once('=')?;
        let (low, high) = band.split_once("..")?;
        let low = units::share(low).ok()?;
        let high = units::share(high).ok()?;
        (low <= high && !package.is_empty()).then(|| (package.replace('/', "."), low, high))
    })();
    parsed.ok_or_else(|| {
        Failure::wrong(format!("--band `{text}`: expected a band such as `org.acme=4%..6%`"))
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
