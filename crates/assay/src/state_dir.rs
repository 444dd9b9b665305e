//! Where assay keeps what outlives a label: certificates and calibrations of this user.

use std::path::{Path, PathBuf};

/// `$XDG_STATE_HOME/assay`, else `~/.local/state/assay`; `None` without a home. A relative
/// `XDG_STATE_HOME` does not count, as the base directory specification says.
pub(crate) fn state_dir() -> Option<PathBuf> {
    from(std::env::var_os("XDG_STATE_HOME").map(PathBuf::from), std::env::home_dir())
}

fn from(state: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    state
        .filter(absolute)
        .or_else(|| home.filter(absolute).map(|home| home.join(".local/state")))
        .map(|state| state.join("assay"))
}

/// The folder of certificates.
pub(crate) fn certificates() -> Option<PathBuf> {
    state_dir().map(|dir| dir.join("certificates"))
}

/// The folder of calibrations.
pub(crate) fn calibrations() -> Option<PathBuf> {
    state_dir().map(|dir| dir.join("calibrations"))
}

/// The JSON files of a folder by name, at most `most` of them; none when there is no such folder.
pub(crate) fn kept(folder: &Path, most: usize) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .take(most)
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_user() {
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(from(path("/s"), path("/h")), path("/s/assay"));
        assert_eq!(from(path("relative"), path("/h")), path("/h/.local/state/assay"));
        assert_eq!(from(None, path("/h")), path("/h/.local/state/assay"));
        assert_eq!(from(None, None), None);
    }
}
