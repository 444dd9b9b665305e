//! The runs of a label: every directory under `runs/`, each with its digest or without. Only
//! `digest.json` is read, and `plan.json` where there is one; no recording, no clock, no path
//! ends up in a result, so that a copy elsewhere gives the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use record::calibration::Calibration;
use record::compare::{LeftOut, Look};
use record::digest::Digest;
use record::layout;
use record::plan::{Plan, RunKind};
use record::seal::Sealed;

use crate::error::EvidenceError;
use crate::looks::read_looks;

/// Most run directories of one label that are looked at.
const MOST_RUNS: usize = 100_000;

/// All that is known of a label.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs {
    /// The label.
    pub(crate) label: String,
    /// The manifest, when there is one.
    pub(crate) plan: Option<Plan>,
    /// Every directory in the order of its name, with its digest when it is complete.
    pub(crate) all: Vec<(String, Option<Digest>)>,
    /// The calibration that the label was made under.
    pub(crate) calibration: Option<Calibration>,
    /// Every look at the data that is on record.
    pub(crate) looks: Vec<Look>,
    /// Remarks on the label as a whole.
    pub(crate) notes: Vec<String>,
}

impl Runs {
    /// Reads a label directory, or a single run directory as a label of one run.
    pub(crate) fn read(dir: &Path) -> Result<Self, EvidenceError> {
        let refused = || EvidenceError::QuickRefused { path: dir.display().to_string() };
        if is_quick_place(dir) {
            return Err(refused());
        }
        let runs_dir = dir.join(layout::RUNS);
        let names = if runs_dir.is_dir() {
            names_in(&runs_dir)?
        } else if dir.join(layout::DIGEST_JSON).is_file() || dir.join(layout::META).is_file() {
            let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Self::of_one(dir, name, refused);
        } else {
            return Err(EvidenceError::NoRuns { path: dir.display().to_string() });
        };
        let mut runs = Self::default();
        for name in names {
            let digest = read_digest(&runs_dir.join(&name), &mut runs.notes, &name);
            runs.all.push((name, digest));
        }
        runs.looks = read_looks(dir)?;
        let path = dir.join(layout::CALIBRATION);
        if path.is_file() {
            match Calibration::read(&path) {
                Ok(calibration) => runs.calibration = Some(calibration),
                Err(error) => runs.notes.push(format!("no calibration: {error}")),
            }
        }
        let path = dir.join(layout::PLAN);
        if path.is_file() {
            runs.plan = Some(layout::read_json(&path)?);
        } else {
            runs.notes.push("no matrix manifest: warm-up, order unknown".to_owned());
        }
        runs.finish(dir, refused)
    }

    fn of_one(
        dir: &Path,
        name: String,
        refused: impl FnOnce() -> EvidenceError,
    ) -> Result<Self, EvidenceError> {
        let mut runs = Self::default();
        let digest = read_digest(dir, &mut runs.notes, &name);
        let name = digest.as_ref().map_or(name, |digest| digest.run.clone());
        runs.all.push((name, digest));
        runs.finish(dir, refused)
    }

    fn finish(
        mut self,
        dir: &Path,
        refused: impl FnOnce() -> EvidenceError,
    ) -> Result<Self, EvidenceError> {
        let quick = self.plan.as_ref().is_some_and(|plan| plan.quick)
            || self.digests().any(|(_, digest)| digest.quick);
        if quick {
            return Err(refused());
        }
        self.label = self
            .most_common_label()
            .unwrap_or_else(|| dir.file_name().unwrap_or_default().to_string_lossy().into_owned());
        Ok(self)
    }

    /// The label that most runs carry, the first of them on a tie: a stray directory does not
    /// rename a matrix.
    fn most_common_label(&self) -> Option<String> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for (_, digest) in self.digests() {
            match counts.iter_mut().find(|(label, _)| *label == digest.label) {
                Some((_, count)) => *count += 1,
                None => counts.push((&digest.label, 1)),
            }
        }
        let most = counts.iter().map(|(_, count)| *count).max()?;
        counts.iter().find(|(_, count)| *count == most).map(|(label, _)| (*label).to_owned())
    }

    /// Why an incomplete directory is left out, and what stands in for it.
    fn incomplete(&self, base: &str) -> String {
        let repetition = self.digests().find(|(name, _)| base_and_attempt(name).0 == base);
        match repetition {
            Some((name, _)) => format!("{INCOMPLETE}{REPEATED}{name}"),
            None => INCOMPLETE.to_owned(),
        }
    }

    /// Names of the complete warm-up runs.
    pub(crate) fn warm_ups(&self) -> Vec<&str> {
        let warm_up = |digest: &Digest| digest.kind == RunKind::WarmUp;
        self.digests().filter(|(_, digest)| warm_up(digest)).map(|(name, _)| name).collect()
    }

    /// The complete runs.
    pub(crate) fn digests(&self) -> impl Iterator<Item = (&str, &Digest)> {
        self.all.iter().filter_map(|(name, digest)| Some((name.as_str(), digest.as_ref()?)))
    }

    /// The measured runs that count once each, the latest complete attempt of every run; and
    /// what was left out, by name. Warm-up runs were never to be counted and are in neither.
    pub(crate) fn measured(&self) -> (Vec<(&str, &Digest)>, Vec<LeftOut>) {
        let mut left_out = Vec::new();
        let mut leave = |run: &str, reason: String| {
            left_out.push(LeftOut { run: run.to_owned(), reason });
        };
        let mut latest: BTreeMap<&str, (u32, &str, &Digest)> = BTreeMap::new();
        for (name, digest) in &self.all {
            let (base, attempt) = base_and_attempt(name);
            let Some(digest) = digest else {
                leave(name, self.incomplete(base));
                continue;
            };
            if digest.kind == RunKind::WarmUp {
                continue;
            }
            match latest.get(base) {
                Some((known, other, _)) if *known > attempt => {
                    leave(name, format!("superseded by {other}"));
                }
                Some((_, other, _)) => {
                    leave(other, format!("superseded by {name}"));
                    latest.insert(base, (attempt, name, digest));
                }
                None => {
                    latest.insert(base, (attempt, name, digest));
                }
            }
        }
        let mut counted: BTreeMap<(u32, &str), &str> = BTreeMap::new();
        let mut measured = Vec::with_capacity(latest.len());
        for (_, name, digest) in latest.into_values() {
            if digest.label != self.label {
                leave(name, format!("it belongs to the label `{}`", digest.label));
            } else if let Some(first) = counted.get(&(digest.block, digest.cell.as_str())) {
                let (cell, block) = (&digest.cell, digest.block);
                leave(name, format!("a second run of `{cell}` in block {block}; {first} counts"));
            } else {
                counted.insert((digest.block, &digest.cell), name);
                measured.push((name, digest));
            }
        }
        left_out.sort_by(|a, b| a.run.cmp(&b.run));
        (measured, left_out)
    }
}

/// How the reason of an incomplete directory begins.
const INCOMPLETE: &str = "incomplete: no digest.json";
/// What stands in it once the run was repeated.
const REPEATED: &str = ", repeated as ";

/// Whether a run was left out though nothing is missing: an attempt that was repeated in full.
pub(crate) fn is_made_good(left: &LeftOut) -> bool {
    left.reason.starts_with("superseded by ")
        || (left.reason.starts_with(INCOMPLETE) && left.reason.contains(REPEATED))
}

/// Splits `01-02-cell.2` into the run's name and its attempt. Only a number of 2 or more after
/// the last dot is an attempt: cells may hold dots.
pub(crate) fn base_and_attempt(name: &str) -> (&str, u32) {
    match name.rsplit_once('.').map(|(base, end)| (base, end.parse::<u32>())) {
        Some((base, Ok(attempt))) if attempt >= 2 => (base, attempt),
        _ => (name, 1),
    }
}

/// Whether a label lies in the folder of quick runs.
fn is_quick_place(dir: &Path) -> bool {
    let absolute = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    absolute.parent().and_then(Path::file_name).is_some_and(|parent| parent == layout::QUICK)
}

/// Names of the directories in a folder, sorted.
pub(crate) fn names_in(dir: &Path) -> Result<Vec<String>, EvidenceError> {
    let error = |source| EvidenceError::List { path: dir.display().to_string(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(error)? {
        let entry = entry.map_err(error)?;
        if names.len() < MOST_RUNS && entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// A digest that is there and readable. A damaged one is no digest: said in a note.
fn read_digest(dir: &Path, notes: &mut Vec<String>, name: &str) -> Option<Digest> {
    let path = dir.join(layout::DIGEST_JSON);
    if !path.exists() {
        return None;
    }
    match layout::read_json(&path) {
        Ok(digest) => Some(digest),
        Err(layout::ReadError::Json { source, .. }) => {
            notes.push(format!("{name}: digest.json is damaged: {source}"));
            None
        }
        Err(layout::ReadError::Io { source, .. }) => {
            notes.push(format!("{name}: digest.json cannot be read: {source}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_a_number_after_the_last_dot() {
        assert_eq!(base_and_attempt("01-02-a"), ("01-02-a", 1));
        assert_eq!(base_and_attempt("01-02-a.2"), ("01-02-a", 2));
        assert_eq!(base_and_attempt("01-02-v1.x"), ("01-02-v1.x", 1));
        assert_eq!(base_and_attempt("01-02-v1.0.3"), ("01-02-v1.0", 3));
    }
}
