//! The label directory: created exclusively, resumed when it was made from the same plan, or
//! extended by more blocks of it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use record::calibration::Calibration;
use record::layout;
use record::meta::{Build, Meta};
use record::plan::{Plan, PlannedRun, RunKind};
use record::seal::Sealed;
use rustix::fs::{FlockOperation, flock};

use crate::error::LabError;

/// Folder of the logs and the scratch space of instances that serve several runs.
pub(crate) const INSTANCES: &str = "instances";
/// Held open with an exclusive lock while a matrix runs.
const LOCK: &str = ".lock";

/// How a label comes into being.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// It is created; it must not exist.
    New,
    /// What is left of it is made.
    Resume,
    /// It is complete, and the plan has more blocks than it.
    Extend,
}

/// The plan that a label was made from; `None` when there is no such label, or when it was killed
/// before its plan was written. `quick` labels are not looked at.
///
/// # Errors
/// A plan that cannot be read.
pub fn kept_plan(out: &Path, label: &str) -> Result<Option<Plan>, LabError> {
    let path = out.join(label).join(layout::PLAN);
    if path.is_file() { Ok(Some(layout::read_json(&path)?)) } else { Ok(None) }
}

/// A label that is ours to write.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) dir: PathBuf,
    pub(crate) name: String,
    /// Locked until it is dropped, also by a kill.
    _lock: File,
}

impl Label {
    /// Creates, resumes or extends a label. A new one is written to disk only when the estimate
    /// fits. `build` is the tool that makes the runs: an extension is made by the same one.
    pub(crate) fn open(
        out: &Path,
        label: &str,
        plan: &Plan,
        opening: Opening,
        build: &Build,
    ) -> Result<Self, LabError> {
        let base = if plan.quick { out.join(layout::QUICK) } else { out.to_owned() };
        let dir = base.join(label);
        let written = record::redact::plan(plan);
        match opening {
            Opening::New => Self::create(base, dir, label, &written),
            Opening::Resume => Self::resume(base, dir, label, &written),
            Opening::Extend => Self::extend(base, dir, label, &written, build),
        }
    }

    /// Keeps the calibration beside the runs that are made under it. A label that has runs was made
    /// under one when its plan requires it: it must still be there, as it was.
    pub(crate) fn archive(
        &self,
        calibration: Option<&Calibration>,
        plan: &Plan,
        opening: Opening,
    ) -> Result<(), LabError> {
        let path = self.dir.join(layout::CALIBRATION);
        let required = plan.require.as_ref().is_some_and(|asked| asked.calibration.is_some());
        if opening != Opening::New && required && !self.runs()?.is_empty() {
            return match Calibration::read(&path) {
                Ok(_) => Ok(()),
                Err(error) => Err(LabError::LostCalibration {
                    label: self.name.clone(),
                    why: error.to_string(),
                }),
            };
        }
        match calibration.filter(|_| !path.exists()) {
            Some(calibration) => {
                layout::write_json(&path, calibration).map_err(LabError::write(&path))
            }
            None => Ok(()),
        }
    }

    fn create(base: PathBuf, dir: PathBuf, label: &str, plan: &Plan) -> Result<Self, LabError> {
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
        Self { dir, name: label.to_owned(), _lock: lock }.prepare(plan)
    }

    fn resume(base: PathBuf, dir: PathBuf, label: &str, plan: &Plan) -> Result<Self, LabError> {
        if !dir.is_dir() {
            return Err(LabError::NothingToResume { label: label.to_owned(), out: base });
        }
        let lock = lock(&dir, label)?;
        let this = Self { dir, name: label.to_owned(), _lock: lock };
        // Killed before the plan was written: nothing was run, so nothing can differ.
        if this.dir.join(layout::PLAN).is_file() {
            let before: Plan = layout::read_json(&this.dir.join(layout::PLAN))?;
            if let Some(differs) = difference(&before, plan) {
                return Err(LabError::OtherPlan { label: label.to_owned(), differs });
            }
        }
        this.prepare(plan)
    }

    /// The plan takes the place of the one before in a single step: from then on the label is
    /// one that was interrupted before its last blocks, and `--resume` completes it.
    fn extend(
        base: PathBuf,
        dir: PathBuf,
        label: &str,
        plan: &Plan,
        build: &Build,
    ) -> Result<Self, LabError> {
        let path = dir.join(layout::PLAN);
        if !path.is_file() {
            return Err(LabError::NothingToExtend { label: label.to_owned(), out: base });
        }
        let lock = lock(&dir, label)?;
        let this = Self { dir, name: label.to_owned(), _lock: lock };
        let before: Plan = layout::read_json(&path)?;
        if let Some(differs) = difference(&before, &shortened(plan, &before)) {
            return Err(LabError::OtherPlan { label: label.to_owned(), differs });
        }
        let runs = this.runs()?;
        let measured = |run: &&PlannedRun| run.kind == RunKind::Measured;
        let left = crate::pending::pending(&before.runs, &runs)
            .iter()
            .filter(|run| measured(&&run.planned))
            .count();
        if left > 0 {
            return Err(LabError::Incomplete { label: label.to_owned(), left });
        }
        this.require_same_place(&runs, build)?;
        let more = plan.estimate.disk_bytes.saturating_sub(before.estimate.disk_bytes);
        require_room(&this.dir, more)?;
        layout::write_json(&path, plan).map_err(LabError::write(&path))?;
        this.prepare(plan)
    }

    /// Refuses what no pair of the label could be compared with: another build of the tool, and
    /// another host, kernel or boot.
    fn require_same_place(
        &self,
        runs: &BTreeMap<String, bool>,
        build: &Build,
    ) -> Result<(), LabError> {
        let complete = runs.iter().find(|(_, complete)| **complete).map(|(name, _)| name);
        let Some(name) = complete else { return Ok(()) };
        let before: Meta =
            layout::read_json(&self.dir.join(layout::RUNS).join(name).join(layout::META))?;
        let now = observe::host_facts();
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        let build_of = |build: &Build| {
            let start: String = build.sha256.chars().take(16).collect();
            format!("{} {} {start}", build.version, build.commit)
        };
        let facts = [
            ("assay", build_of(&before.assay), build_of(build)),
            ("host.name", before.host.name.clone(), now.name.clone()),
            ("host.kernel", before.host.kernel.clone(), now.kernel.clone()),
            ("host.boot_id", text(&before.host.boot_id), text(&now.boot_id)),
            ("host.governor", text(&before.host.governor), text(&now.governor)),
            ("host.cores", before.host.cores.to_string(), now.cores.to_string()),
        ];
        match facts.into_iter().find(|(_, before, now)| before != now) {
            Some((what, before, now)) => Err(LabError::OtherPlace {
                label: self.name.clone(),
                what: what.to_owned(),
                before,
                now,
            }),
            None => Ok(()),
        }
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

/// An extended plan without its last extension, as far as `before` goes: what changes with the
/// number of blocks is taken from there. Runs that were planned before must be the same ones.
fn shortened(plan: &Plan, before: &Plan) -> Plan {
    let mut shortened = plan.clone();
    shortened.extensions.truncate(before.extensions.len());
    shortened.runs.truncate(before.runs.len());
    shortened.blocks = before.blocks;
    shortened.estimate = before.estimate;
    shortened.notes.clone_from(&before.notes);
    shortened
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
