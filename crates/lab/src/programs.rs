//! Whether the programs of a plan's generators are there, before anything is started.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use record::plan::Plan;

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
            && !is_there(program, &path)
        {
            return Err(LabError::NoProgram {
                generator: generator.name.clone(),
                program: program.to_owned(),
            });
        }
    }
    Ok(())
}

/// A name with `/` is that file; any other is looked for in the folders of the path.
fn is_there(program: &str, path: &OsStr) -> bool {
    if program.contains('/') {
        return is_executable(Path::new(program));
    }
    std::env::split_paths(path).any(|folder| is_executable(&folder.join(program)))
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
        assert!(!is_there("gen", path));
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        assert!(!is_there("gen", path));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(is_there("gen", path));
        assert!(is_there(file.to_str().unwrap(), OsStr::new("")));
        assert!(!is_there("gen", OsStr::new("")));
        // A folder is none, though it has the bits.
        assert!(!is_there(dir.path().to_str().unwrap(), path));
    }
}
