//! File names inside a label and a run directory, and the atomic write and the read of JSON.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The expanded plan, in the label directory.
pub const PLAN: &str = "plan.json";
/// Every look at the data of a label.
pub const LOOKS: &str = "looks.json";
/// The matrix for programs, in the label directory.
pub const MATRIX_JSON: &str = "matrix.json";
/// The matrix for people, in the label directory.
pub const MATRIX_MD: &str = "matrix.md";
/// The matrix to look at, one self-contained page, in the label directory.
pub const MATRIX_HTML: &str = "matrix.html";
/// The folder of archived tables in the label directory, one numbered folder for each.
pub const FROZEN: &str = "frozen";
/// What an archived table was derived from, beside it.
pub const INPUTS: &str = "inputs.json";
/// The folder of runs in the label directory.
pub const RUNS: &str = "runs";
/// Identity and environment of a run.
pub const META: &str = "meta.json";
/// The load record of a run.
pub const LOAD: &str = "load.json";
/// What a foreign generator said of a run.
pub const FOREIGN: &str = "foreign.json";
/// The mock record of a run, when its target is a mock.
pub const MOCK: &str = "mock.json";
/// Samples of the processes that took part.
pub const RESOURCES: &str = "resources.csv";
/// Samples of the host.
pub const HOST: &str = "host.csv";
/// The digest for programs; a run is complete only when it exists.
pub const DIGEST_JSON: &str = "digest.json";
/// The digest for people, written just before `digest.json`.
pub const DIGEST_MD: &str = "digest.md";
/// The calibration that a label was made under.
pub const CALIBRATION: &str = "calibration.json";
/// Standard output of the target.
pub const STDOUT: &str = "stdout.log";
/// Standard error of the target.
pub const STDERR: &str = "stderr.log";
/// Scratch space of a run; removed by the parent, also after a kill.
pub const SCRATCH: &str = "scratch";
/// Where quick runs live under the output directory; every table refuses it.
pub const QUICK: &str = "quick";

/// An artefact that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be opened or read.
    #[error("cannot read `{path}`: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file is no such artefact.
    #[error("`{path}` is not a readable artefact: {source}")]
    Json {
        /// The file.
        path: String,
        /// Where and why parsing stopped.
        source: serde_json::Error,
    },
}

/// Reads a JSON artefact.
///
/// # Errors
/// [`ReadError`] when the file is missing, unreadable or of another shape.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ReadError> {
    let bytes = fs::read(path)
        .map_err(|source| ReadError::Io { path: path.display().to_string(), source })?;
    serde_json::from_slice(&bytes)
        .map_err(|source| ReadError::Json { path: path.display().to_string(), source })
}

/// Writes `value` as indented JSON, atomically: see [`write_atomic`].
///
/// # Errors
/// What the file system reports; the destination is then unchanged.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(io::Error::other)?;
    bytes.push(b'\n');
    write_atomic(path, &bytes)
}

/// Writes a file so that a reader sees all of it or nothing: a sibling temporary file is
/// written, synced and renamed over `path`.
///
/// A device, a pipe or a socket at `path` is written to, never replaced: a rename by root over
/// `/dev/null` would leave the machine without one.
///
/// # Errors
/// What the file system reports; the destination is then unchanged and the temporary removed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let temporary = path.with_file_name(name);
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_data()
    });
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        // Best effort: the error that matters is the one being returned.
        let _ = fs::remove_file(&temporary);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileTypeExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("pipe");
        let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo is there");
        assert!(made.success());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path)
        });
        write_atomic(&path, b"all of it").expect("a pipe can be written");
        assert!(fs::symlink_metadata(&path).expect("it is there").file_type().is_fifo());
        assert_eq!(reader.join().expect("no panic").expect("readable"), b"all of it");
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1, "nothing beside it");
    }

    #[test]
    fn a_file_is_replaced_whole_and_leaves_no_partial() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file.json");
        fs::write(&path, "a longer text than the new one").expect("writable");
        write_atomic(&path, b"new").expect("writable");
        assert_eq!(fs::read(&path).expect("readable"), b"new");
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1);
    }
}
