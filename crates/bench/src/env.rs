//! What a plan needs from the machine: environment variables and files. A value, so that tests
//! and fuzzing plan without either.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use record::meta::FileHash;
use sha2::{Digest, Sha256};

/// The surroundings of a bench.
pub trait Env {
    /// An environment variable, when it is set and valid Unicode.
    fn var(&self, name: &str) -> Option<String>;

    /// Whether a directory exists.
    fn is_dir(&self, path: &Path) -> bool;

    /// The hash of a regular file, with `name` as its path; `None` when there is no such file.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    fn hash(&self, path: &Path, name: &str) -> io::Result<Option<FileHash>>;
}

/// The real environment and file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

impl Env for System {
    fn var(&self, name: &str) -> Option<String> {
        // `std::env::var` panics on no input, but a name with `=` or NUL is never set.
        std::env::var(name).ok()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn hash(&self, path: &Path, name: &str) -> io::Result<Option<FileHash>> {
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(_) => return Ok(None),
        };
        // Devices, pipes and sockets have no content to hash, and reading one may never end.
        if !metadata.is_file() {
            return Ok(None);
        }
        // Never more than the length seen: a growing log ends somewhere.
        let mut rest = File::open(path)?.take(metadata.len());
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        let mut bytes = 0;
        loop {
            let read = rest.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
            bytes += read as u64;
        }
        Ok(Some(FileHash { path: name.to_owned(), sha256: hex(&hasher.finalize()), bytes }))
    }
}

/// SHA-256 of bytes, lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
