//! What can be wrong with a recording: errors that end the reading, and damage that costs a part.

/// Why a recording could not be read at all. Names the file, the place, what was expected and
/// what was found.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The bytes are no flight recording.
    #[error("{file}: no flight recording: at offset {offset} expected {expected}, found {found}")]
    NotARecording {
        /// The file.
        file: String,
        /// Offset in the file, bytes.
        offset: u64,
        /// What a recording has there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A chunk repository without a single chunk file.
    #[error("{folder}: no chunk of a recording: expected files named `*.jfr`, found none")]
    EmptyRepository {
        /// The folder.
        folder: String,
    },
}

/// Damage within a chunk: where, and in which structure. The reader goes on with what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// The bytes end before the structure does.
    End,
    /// A count, size or depth beyond what the bytes could hold.
    Bound,
    /// A byte that names no known encoding.
    Encoding(u8),
    /// The file could not be read.
    Io,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::End => f.write_str("the bytes end before the structure does"),
            Self::Bound => f.write_str("a count or size beyond what the bytes could hold"),
            Self::Encoding(byte) => write!(f, "a text with the unknown encoding {byte}"),
            Self::Io => f.write_str("the file could not be read"),
        }
    }
}

/// Result of everything that reads bytes of a chunk.
pub(crate) type Read<T> = Result<T, Damage>;
