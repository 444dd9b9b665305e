//! The label directory: created exclusively, or resumed when it was made from the same plan.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use record::layout;
use record::plan::Plan;
use rustix::fs::{FlockOperation, flock};

use crate::error::LabError;

/// Folder of the logs and the scratch space of instances that serve several runs.
pub(crate) const INSTANCES: &str = "instances";
/// Held open with an exclusive lock while a matrix runs.
const LOCK: &str = ".lock";

/// A label that is ours to write.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) dir: PathBuf,
    pub(crate) name: String,
    /// Locked until it is dropped, also by a kill.
    _lock: File,
}

impl Label {
    /// Creates or resumes a label. A new one is written to disk only when the estimate fits.
    pub(crate) fn open(
        out: &Path,
        label: &str,
        plan: &Plan,
        resume: bool,
    ) -> Result<Self, LabError> {
        let base = if plan.quick { out.join(layout::QUICK) } else { out.to_owned() };
        let dir = base.join(label);
        let written = record::redact::plan(plan);
        if resume {
            if !dir.is_dir() {
                return Err(LabError::NothingToResume { label: label.to_owned(), out: base });
            }
            let lock = lock(&dir, label)?;
            let this = Self { dir, name: label.to_owned(), _lock: lock };
            // Killed before the plan was written: nothing was run, so nothing can differ.
            if this.dir.join(layout::PLAN).is_file() {
                let before: Plan = layout::read_json(&this.dir.join(layout::PLAN))?;
                if let Some(differs) = difference(&before, &written) {
                    return Err(LabError::OtherPlan { label: label.to_owned(), differs });
                }
            }
            return this.prepare(&written);
        }
        if dir.exists() {
            return Err(LabError::LabelExists { label: label.to_owned(), out: base });
        }
        fs::create_dir_all(&base).map_err(LabError::write(&base))?;
        require_room(&base, plan.estimate.disk_bytes)?;
        match fs::create_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(LabError::LabelExists { label: label.to_owned(), out: base });
            }
            other => other.map_err(LabError::write(&dir))?,
        }
        let lock = lock(&dir, label)?;
        Self { dir, name: label.to_owned(), _lock: lock }.prepare(&written)
    }

    /// Makes sure of the folder of runs and of the plan.
    fn prepare(self, plan: &Plan) -> Result<Self, LabError> {
        let runs = self.dir.join(layout::RUNS);
        fs::create_dir_all(&runs).map_err(LabError::write(&runs))?;
        let path = self.dir.join(layout::PLAN);
        if !path.is_file() {
            layout::write_json(&path, plan).map_err(LabError::write(&path))?;
        }
        Ok(self)
    }

    /// The run directories, with whether each is complete.
    pub(crate) fn runs(&self) -> Result<BTreeMap<String, bool>, LabError> {
        let runs = self.dir.join(layout::RUNS);
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(&runs).map_err(LabError::write(&runs))? {
            let entry = entry.map_err(LabError::write(&runs))?;
            if entry.path().is_dir() {
                let complete = entry.path().join(layout::DIGEST_JSON).is_file();
                found.insert(entry.file_name().to_string_lossy().into_owned(), complete);
            }
        }
        Ok(found)
    }

    /// Removes scratch space that a killed attempt left behind, of runs and of instances.
    pub(crate) fn sweep_scratch(&self) -> Result<(), LabError> {
        for folder in [layout::RUNS, INSTANCES] {
            let folder = self.dir.join(folder);
            if !folder.is_dir() {
                continue;
            }
            for entry in fs::read_dir(&folder).map_err(LabError::write(&folder))? {
                let scratch = entry.map_err(LabError::write(&folder))?.path().join(layout::SCRATCH);
                if scratch.is_dir() {
                    fs::remove_dir_all(&scratch).map_err(LabError::write(&scratch))?;
                }
            }
        }
        Ok(())
    }
}

/// Takes the lock and writes our pid into it.
fn lock(dir: &Path, label: &str) -> Result<File, LabError> {
    let path = dir.join(LOCK);
    let mut file = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(LabError::write(&path))?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let mut pid = String::new();
        let _ = file.read_to_string(&mut pid);
        return Err(LabError::Busy { label: label.to_owned(), pid: pid.trim().to_owned() });
    }
    let written = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()));
    written.map_err(LabError::write(&path))?;
    Ok(file)
}

fn require_room(path: &Path, needed_bytes: u64) -> Result<(), LabError> {
    // A file system that does not tell is not a reason to refuse.
    let Ok(stat) = rustix::fs::statvfs(path) else { return Ok(()) };
    let free_bytes = stat.f_bavail.saturating_mul(stat.f_frsize);
    if free_bytes < needed_bytes {
        return Err(LabError::TooLittleDisk {
            path: path.display().to_string(),
            needed_bytes,
            free_bytes,
        });
    }
    Ok(())
}

/// The first part in which two plans differ, by its key.
fn difference(before: &Plan, now: &Plan) -> Option<String> {
    if before == now {
        return None;
    }
    let fields = |plan: &Plan| serde_json::to_value(plan).unwrap_or_default();
    let (before, now) = (fields(before), fields(now));
    let keys = before.as_object()?.keys();
    let differing = keys.into_iter().find(|key| before[key.as_str()] != now[key.as_str()]);
    Some(differing.cloned().unwrap_or_else(|| "the plan".to_owned()))
}
