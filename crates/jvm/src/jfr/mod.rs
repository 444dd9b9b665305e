//! Flight recordings (JFR), read at the speed of the disk.
//!
//! A recording is a row of chunks. They are read in parallel, each in one pass: events are
//! counted by type, those that somebody asks for are decoded field by field as the chunk's own
//! metadata describe them, all others are passed over by their size. Constant pools are merged
//! over all checkpoints of a chunk; stack traces are decoded only when an event names them, and
//! once each. Memory follows the names and the distinct stacks of a chunk, never the size of
//! the file.
//!
//! Damage costs what it hits and no more: the rest is given, with a flag. Written from the
//! format's own description in the JDK's sources and from recordings; no code of others.

pub(crate) mod chunk;
pub(crate) mod damage;
pub(crate) mod input;
pub(crate) mod layout;
pub(crate) mod metadata;
pub(crate) mod names;
pub(crate) mod pools;
pub(crate) mod scan;
pub(crate) mod source;

use std::path::{Path, PathBuf};

pub use chunk::{Chunk, Condition, Header};
pub use damage::Error;
pub use source::Part;

/// Files of one recording with their chunks.
#[derive(Debug)]
pub struct Recording {
    /// The files, in order.
    pub parts: Vec<Part>,
    /// Their chunks, in order.
    pub chunks: Vec<Chunk>,
    /// What was wrong between chunks, a sentence each.
    pub faults: Vec<String>,
    /// Made of a repository that a JVM left, not of a finished file.
    pub recovered: bool,
}

impl Recording {
    /// Opens a recording.
    ///
    /// # Errors
    /// The file cannot be read, or its first bytes are no recording's.
    pub fn open(file: &Path) -> Result<Self, Error> {
        Self::of_parts(vec![Part::open(file)?])
    }

    /// Opens a chunk repository: each `*.jfr` in the folder, in order of its name, which is its
    /// start. A file without a byte (the JVM had just made it) is a fault, as is one that is no
    /// chunk; the others count.
    ///
    /// # Errors
    /// The folder cannot be read or has no chunk file.
    pub fn recover(folder: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Io { file: folder.display().to_string(), source };
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .map_err(failed)?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "jfr"))
            .collect();
        files.sort();
        if files.is_empty() {
            return Err(Error::EmptyRepository { folder: folder.display().to_string() });
        }
        let mut recording =
            Self { parts: Vec::new(), chunks: Vec::new(), faults: Vec::new(), recovered: true };
        let mut refused = None;
        for file in files {
            let one = Part::open(&file).and_then(|part| Self::of_parts(vec![part]));
            match one {
                Ok(mut one) => {
                    for chunk in &mut one.chunks {
                        chunk.part = recording.parts.len();
                    }
                    recording.parts.append(&mut one.parts);
                    recording.chunks.append(&mut one.chunks);
                    recording.faults.append(&mut one.faults);
                }
                Err(error) => {
                    recording.faults.push(error.to_string());
                    refused = Some(error);
                }
            }
        }
        match refused {
            Some(error) if recording.chunks.is_empty() => Err(error),
            _ => Ok(recording),
        }
    }

    /// Reads a recording from memory; for tests and fuzzing.
    ///
    /// # Errors
    /// The first bytes are no recording's.
    pub fn of_bytes(name: &str, bytes: impl Into<std::sync::Arc<[u8]>>) -> Result<Self, Error> {
        Self::of_parts(vec![Part::memory(name, bytes)])
    }

    fn of_parts(parts: Vec<Part>) -> Result<Self, Error> {
        let mut found = chunk::Chunks::default();
        for (index, part) in parts.iter().enumerate() {
            chunk::list(part, index, &mut found)?;
        }
        Ok(Self { parts, chunks: found.chunks, faults: found.faults, recovered: false })
    }

    /// Bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Part::bytes).sum()
    }
}
