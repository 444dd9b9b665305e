//! The programs of a plan's generators: whether they are there, before anything is started, and which
//! file a script is.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use record::plan::{Generator, Plan};

use crate::error::LabError;

/// Looks for the program of every generator of a plan where its start will look for it.
///
/// # Errors
/// [`LabError::NoProgram`], a refusal: the first one that is not there, or that may not be executed.
pub fn require_programs(plan: &Plan) -> Result<(), LabError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    for cell in &plan.cells {
        let generator = &cell.effective.generator;
        if let Some(program) = foreign::program(generator)
            && find(program, &path).is_none()
        {
            return Err(LabError::NoProgram {
                generator: generator.name.clone(),
                program: program.to_owned(),
            });
        }
    }
    Ok(())
}

/// The file of a generator that is a script, with its hash. What a script is run by, and what it
/// becomes, is another program at another moment: only the file is the same in every run.
pub(crate) fn script(generator: &Generator) -> Option<(PathBuf, String)> {
    let program = foreign::program(generator)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let file = find(program, &path)?;
    let mut start = [0; 2];
    File::open(&file).ok()?.read_exact(&mut start).ok()?;
    let sha256 = observe::sha256_file(&file).ok().filter(|_| start == *b"#!")?;
    Some((file, sha256))
}

/// The file of a program: a name with `/` is that file; any other is looked for in the folders of the
/// path.
fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|file| is_executable(file));
    }
    std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_executed_is_a_program() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("gen");
        let path = dir.path().as_os_str();
        assert_eq!(find("gen", path), None);
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        assert_eq!(find("gen", path), None);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("gen", path).as_deref(), Some(&*file));
        assert_eq!(find(file.to_str().unwrap(), OsStr::new("")).as_deref(), Some(&*file));
        assert_eq!(find("gen", OsStr::new("")), None);
        // A folder is none, though it has the bits.
        assert_eq!(find(dir.path().to_str().unwrap(), path), None);
    }
}
