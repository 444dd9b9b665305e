//! What a file of a JVM or a profiler is, told from its first bytes and never from its name.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use jvm::{class_histogram, gc_log, thread_dump};
use profile::collapsed;

use crate::exit::Failure;

/// Bytes by which a file is told.
const HEAD_BYTES: u64 = 64 * 1024;
/// Bytes read at once.
const BUFFER_BYTES: usize = 1 << 20;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    ClassHistogram,
    ThreadDump,
    GcLog,
    Collapsed,
    /// A flight recording, or none of the others: the reader of recordings says what is wrong.
    Recording,
}

/// Tells a file's kind, with its size in bytes.
pub(crate) fn of(path: &Path) -> io::Result<(FileKind, u64)> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head)?;
    let kind = if head.starts_with(b"FLR\0") || head.contains(&0) {
        FileKind::Recording
    } else if class_histogram::looks_like(&head) {
        FileKind::ClassHistogram
    } else if thread_dump::looks_like(&head) {
        FileKind::ThreadDump
    } else if gc_log::looks_like(&head) {
        FileKind::GcLog
    } else if collapsed::looks_like(&head) {
        FileKind::Collapsed
    } else {
        FileKind::Recording
    };
    Ok((kind, bytes))
}

/// Opens a text for reading.
pub(crate) fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    let file = File::open(path).map_err(|error| named(path, &error))?;
    Ok(BufReader::with_capacity(BUFFER_BYTES, file))
}

/// An error of an input, with the file's name.
pub(crate) fn named(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::wrong(format!("`{}`: {error}", path.display()))
}
