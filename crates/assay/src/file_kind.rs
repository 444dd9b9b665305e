//! What a file of a JVM or a profiler is, told from its first bytes and never from its name.

use std::fs::File;
use std::io::{BufReader, Read};
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
    /// A flight recording, or bytes that are no text: the reader of recordings says what is wrong.
    Recording,
}

/// Tells a file's kind, with its size in bytes.
pub(crate) fn of(path: &Path) -> Result<(FileKind, u64), Failure> {
    let named = |error| self::named(path, &error);
    let file = File::open(path).map_err(named)?;
    let bytes = file.metadata().map_err(named)?.len();
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head).map_err(named)?;
    let kind = if head.is_empty() || head.starts_with(b"FLR") || head.contains(&0) {
        FileKind::Recording
    } else if class_histogram::looks_like(&head) {
        FileKind::ClassHistogram
    } else if thread_dump::looks_like(&head) {
        FileKind::ThreadDump
    } else if collapsed::looks_like(&head) {
        // Before logs: frames of a collector's own threads have their words, `GC Thread#0`.
        FileKind::Collapsed
    } else if gc_log::looks_like(&head) {
        FileKind::GcLog
    } else {
        let error = format!(
            "at offset 0 expected `FLR\\0` of a flight recording, or lines of a GC log, a class \
             histogram, a thread dump or collapsed stacks, found `{}`",
            first_line(&head)
        );
        return Err(self::named(path, &error));
    };
    Ok((kind, bytes))
}

/// The start of the first line that is not empty.
fn first_line(head: &[u8]) -> String {
    let text = String::from_utf8_lossy(head);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().take(60).map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Whether a file of a run directory is one that a digest reads: a recording by its name, for an
/// empty or broken one is to be reported and not passed over, others by their first bytes.
pub(crate) fn is_evidence(path: &Path) -> bool {
    let named = path.extension().is_some_and(|extension| extension == "jfr");
    path.is_file() && (named || matches!(of(path), Ok((kind, _)) if kind != FileKind::Recording))
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
