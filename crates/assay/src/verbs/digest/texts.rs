//! The digests of files that are no recordings.

use std::path::Path;

use jvm::class_histogram::ClassHistogram;
use jvm::gc_log::GcLog;
use jvm::text_digest::{of_class_histogram, of_gc_log, of_thread_dump};
use jvm::thread_dump::ThreadDump;
use profile::collapsed::{Collapsed, Options};
use profile::digest::of_collapsed;
use profile::naming::Pattern;
use profile::shares::{Band, Mode, Question};
use record::recording::RecordingDigest;

use crate::cli::DigestArguments;
use crate::exit::Failure;
use crate::file_kind::{self, FileKind, named};

/// The digest of a text; `None` when the file is for the reader of recordings.
pub(super) fn read(
    file: &Path,
    arguments: &DigestArguments,
    question: &jvm::panels::Question,
) -> Result<Option<RecordingDigest>, Failure> {
    let (kind, bytes) = file_kind::of(file)?;
    if kind != FileKind::Recording && arguments.reading.window.is_some() {
        let message = "--window is of recordings: a text has no span to cut";
        return Err(named(file, &message));
    }
    let wrong = |error: &dyn std::fmt::Display| named(file, error);
    Ok(Some(match kind {
        FileKind::Recording => return Ok(None),
        FileKind::GcLog => {
            let log = GcLog::read(file_kind::open(file)?).map_err(|error| wrong(&error))?;
            of_gc_log(&log, bytes)
        }
        FileKind::ClassHistogram => {
            let read = ClassHistogram::read(file_kind::open(file)?);
            of_class_histogram(&read.map_err(|error| wrong(&error))?, bytes)
        }
        FileKind::ThreadDump => {
            let dump = ThreadDump::read(file_kind::open(file)?).map_err(|error| wrong(&error))?;
            of_thread_dump(&dump, bytes)
        }
        FileKind::Collapsed => {
            let read = Collapsed::read(file_kind::open(file)?, Options::default());
            let collapsed = read.map_err(|error| wrong(&error))?;
            let own: Vec<Pattern> =
                arguments.reading.package.iter().map(|own| Pattern::new(own)).collect();
            if let Some(nowhere) = collapsed.profile.unmatched(&own).first() {
                let message = format!("--package `{}` matches no frame", nowhere.written());
                return Err(wrong(&message));
            }
            let shares = Question {
                packages: Vec::new(),
                mode: if question.exclusive { Mode::Exclusive } else { Mode::Inclusive },
                depth: Some(question.depth),
                bands: question.bands.iter().map(band).collect(),
            };
            of_collapsed(&collapsed, bytes, &own, &shares)
        }
    }))
}

fn band((package, from, to): &(String, f64, f64)) -> Band {
    Band { package: Pattern::new(package), from: *from, to: *to }
}
