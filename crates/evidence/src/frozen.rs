//! Frozen tables, the read side: what an archived table was derived from, and how a derivation of
//! today stands to it. A later version of the comparison may say something else of the same
//! digests; that is shown figure by figure, never silently put in place of what was said before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use record::Format;
use record::compare::{CellRow, Comparison, Contrast, Tables};
use record::frozen::{FrozenCheck, FrozenDifference, FrozenInputs};
use record::layout::{self, ReadError};
use record::meta::Build;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::compare::runs::names_in;
use crate::error::EvidenceError;
use crate::tables::arms::{arm_of, name_of};

/// Two figures closer than this, as a share, are the same: the sum of a thousand values in
/// another order differs by less.
const SAME_SHARE: f64 = 1e-9;

/// What the frozen table of a label is derived from now: the SHA-256 of every digest.
///
/// # Errors
/// When the label cannot be listed or a digest cannot be read.
pub fn inputs(label: &Path, assay: Build, at_utc: String) -> Result<FrozenInputs, EvidenceError> {
    let format = Format::v1("assay.frozen_inputs");
    Ok(FrozenInputs { format, assay, at_utc, digests: hashes(label)? })
}

/// The newest archive of a label that is complete, with its number: `inputs.json` is written last.
#[must_use]
pub fn latest(label: &Path) -> Option<(u32, PathBuf)> {
    numbered(label)
        .into_iter()
        .map(|n| (n, label.join(layout::FROZEN).join(n.to_string())))
        .rfind(|(_, dir)| dir.join(layout::INPUTS).is_file())
}

/// The number of the next archive.
#[must_use]
pub fn next(label: &Path) -> u32 {
    numbered(label).last().map_or(1, |last| last + 1)
}

/// Numbers of the folders under `frozen/`, ascending.
fn numbered(label: &Path) -> Vec<u32> {
    // A label without the folder has no archive.
    let names = names_in(&label.join(layout::FROZEN)).unwrap_or_default();
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// Holds a comparison against the newest frozen table of its label; `None` where there is none.
/// `whole` says that nothing was left out of the comparison by an option, so that a row that is
/// missing now is a difference. `assay` is the build that derives now; its hash is not looked at.
///
/// # Errors
/// When the archive is damaged, or a digest cannot be read.
pub fn check(
    label: &Path,
    comparison: &Comparison,
    whole: bool,
    assay: &Build,
) -> Result<Option<FrozenCheck>, EvidenceError> {
    let Some((number, dir)) = latest(label) else {
        return Ok(None);
    };
    let frozen: FrozenTable = layout::read_json(&dir.join(layout::MATRIX_JSON))?;
    let then: FrozenInputs = layout::read_json(&dir.join(layout::INPUTS))?;
    let mut differences = of_contrasts(&frozen.contrasts, &comparison.contrasts, whole);
    differences.extend(of_cells(&frozen.tables.cells, &comparison.tables.cells, whole));
    // Hashing is worth its time only where there is something to explain.
    let inputs = match differences.is_empty() {
        true => Vec::new(),
        false => changed(&then.digests, &hashes(label)?),
    };
    Ok(Some(FrozenCheck {
        frozen: format!("{}/{number}", layout::FROZEN),
        by: format!("{} ({})", then.assay.version, then.assay.commit),
        same_build: (&then.assay.version, &then.assay.commit) == (&assay.version, &assay.commit),
        differences,
        inputs,
    }))
}

/// Of `matrix.json` what is held against a derivation; its runs are skipped.
#[derive(Debug, Default, Deserialize)]
struct FrozenTable {
    #[serde(default)]
    contrasts: Vec<Contrast>,
    #[serde(default)]
    tables: Tables,
}

fn hashes(label: &Path) -> Result<BTreeMap<String, String>, EvidenceError> {
    let runs = label.join(layout::RUNS);
    let mut hashes = BTreeMap::new();
    for name in names_in(&runs)? {
        let path = runs.join(&name).join(layout::DIGEST_JSON);
        if !path.exists() {
            continue;
        }
        let bytes = fs::read(&path)
            .map_err(|source| ReadError::Io { path: path.display().to_string(), source })?;
        let hash = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        hashes.insert(name, hash);
    }
    Ok(hashes)
}

/// Which inputs are not what they were.
fn changed(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    names
        .into_iter()
        .filter_map(|name| match (then.get(name), now.get(name)) {
            (Some(then), Some(now)) if then == now => None,
            (Some(_), Some(_)) => Some(format!("changed: {name}")),
            (None, _) => Some(format!("added: {name}")),
            (_, None) => Some(format!("gone: {name}")),
        })
        .collect()
}

/// A figure for the comparison of two derivations.
#[derive(Debug, Clone, PartialEq)]
enum Figure {
    Word(String),
    Number(Option<f64>),
}

impl Figure {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(Some(a)), Self::Number(Some(b))) => {
                (a - b).abs() <= SAME_SHARE * a.abs().max(b.abs())
            }
            (a, b) => a == b,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::Number(Some(number)) => format!("{number}"),
            Self::Number(None) => "none".to_owned(),
        }
    }
}

type Figures = Vec<(&'static str, Figure)>;

fn of_contrasts(then: &[Contrast], now: &[Contrast], whole: bool) -> Vec<FrozenDifference> {
    let key = |one: &Contrast| format!("{}, {}", name_of(&arm_of(one)), one.metric);
    let figures = |one: &Contrast| -> Figures {
        let [low, high] = one.interval_percent.map_or([None, None], |ends| ends.map(Some));
        vec![
            ("verdict", Figure::Word(one.verdict.clone())),
            ("pairs", Figure::Number(Some(f64::from(one.pairs)))),
            ("baseline", Figure::Number(one.baseline_value)),
            ("level", Figure::Number(one.level_value)),
            ("ratio", Figure::Number(one.ratio)),
            ("effect", Figure::Number(one.effect_percent)),
            ("interval from", Figure::Number(low)),
            ("interval to", Figure::Number(high)),
        ]
    };
    differences(&rows(then, key, figures), &rows(now, key, figures), whole)
}

fn of_cells(then: &[CellRow], now: &[CellRow], whole: bool) -> Vec<FrozenDifference> {
    let key = |row: &CellRow| format!("cell {}, {}", row.cell, row.metric);
    let figures = |row: &CellRow| -> Figures {
        vec![
            ("median", Figure::Number(row.median)),
            ("valid", Figure::Number(Some(f64::from(row.valid)))),
            ("runs", Figure::Number(Some(f64::from(row.runs)))),
        ]
    };
    differences(&rows(then, key, figures), &rows(now, key, figures), whole)
}

fn rows<T>(
    all: &[T],
    key: impl Fn(&T) -> String,
    figures: impl Fn(&T) -> Figures,
) -> BTreeMap<String, Figures> {
    all.iter().map(|one| (key(one), figures(one))).collect()
}

fn differences(
    then: &BTreeMap<String, Figures>,
    now: &BTreeMap<String, Figures>,
    whole: bool,
) -> Vec<FrozenDifference> {
    let mut found = Vec::new();
    for (key, frozen) in then {
        let Some(current) = now.get(key) else {
            if whole {
                found.push(difference(key, "a row", "no row"));
            }
            continue;
        };
        for ((name, a), (_, b)) in frozen.iter().zip(current).filter(|((_, a), (_, b))| !a.same(b))
        {
            found.push(difference(&format!("{key}: {name}"), &a.text(), &b.text()));
        }
    }
    for key in now.keys().filter(|key| !then.contains_key(*key)) {
        found.push(difference(key, "no row", "a row"));
    }
    found
}

fn difference(what: &str, frozen: &str, now: &str) -> FrozenDifference {
    FrozenDifference { what: what.to_owned(), frozen: frozen.to_owned(), now: now.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{SampleRun, level};
    use crate::{CompareOptions, compare};

    fn build(version: &str) -> Build {
        Build { version: version.to_owned(), commit: "0123abcd".to_owned(), sha256: String::new() }
    }

    /// A label of two cells over six blocks with its frozen table.
    fn frozen_label() -> tempfile::TempDir {
        let label = tempfile::tempdir().unwrap();
        for block in 1..=6 {
            for (index, name) in ["base", "slow"].into_iter().enumerate() {
                let mut run =
                    SampleRun::sound(block, index as u32 + 1, &level(name, index as u32, None));
                run.load.as_mut().unwrap().window_ns += u64::from(block) * 1_000_000;
                run.complete(label.path());
            }
        }
        let dir = label.path().join("frozen/1");
        fs::create_dir_all(&dir).unwrap();
        let matrix = crate::matrix(label.path()).unwrap();
        layout::write_json(&dir.join(layout::MATRIX_JSON), &matrix).unwrap();
        let inputs =
            inputs(label.path(), build("0.1.0"), "2026-11-30T12:00:00Z".to_owned()).unwrap();
        layout::write_json(&dir.join(layout::INPUTS), &inputs).unwrap();
        label
    }

    fn checked(label: &Path, version: &str) -> FrozenCheck {
        let comparison = compare(label, &CompareOptions::default()).unwrap();
        check(label, &comparison, true, &build(version)).unwrap().unwrap()
    }

    #[test]
    fn the_same_digests_give_the_frozen_table() {
        let label = frozen_label();
        let found = checked(label.path(), "0.1.0");
        assert_eq!((found.frozen.as_str(), found.by.as_str()), ("frozen/1", "0.1.0 (0123abcd)"));
        assert!(found.same_build);
        assert_eq!(found.differences, []);
        assert!(!checked(label.path(), "0.2.0").same_build);
    }

    /// K-097: a later derivation that differs shows the difference, and which input changed.
    #[test]
    fn a_figure_that_moved_is_shown_with_the_input_that_moved_it() {
        let label = frozen_label();
        let path = label.path().join("runs/03-02-slow/digest.json");
        let mut digest: record::digest::Digest = layout::read_json(&path).unwrap();
        digest.metrics.get_mut("throughput").unwrap().value = Some(700.0);
        layout::write_json(&path, &digest).unwrap();
        let found = checked(label.path(), "0.2.0");
        assert_eq!(found.inputs, ["changed: 03-02-slow"]);
        let whats: Vec<&str> = found.differences.iter().map(|one| one.what.as_str()).collect();
        assert!(whats.contains(&"target: slow / base in *, throughput: ratio"), "{whats:?}");
        assert!(whats.iter().all(|what| what.contains("throughput")), "{whats:?}");
        fs::remove_dir_all(label.path().join("runs/06-01-base")).unwrap();
        let found = checked(label.path(), "0.2.0");
        assert_eq!(found.inputs, ["changed: 03-02-slow", "gone: 06-01-base"]);
        let pairs = found.differences.iter().find(|one| one.what.ends_with("p50: pairs")).unwrap();
        assert_eq!((pairs.frozen.as_str(), pairs.now.as_str()), ("6", "5"));
    }

    /// With the same inputs it is the tool that changed: here a table that was written otherwise.
    #[test]
    fn another_tool_is_named_when_no_input_changed() {
        let label = frozen_label();
        let path = label.path().join("frozen/1/matrix.json");
        let mut matrix: record::compare::Matrix = layout::read_json(&path).unwrap();
        matrix.tables.cells[0].median = Some(1.5);
        layout::write_json(&path, &matrix).unwrap();
        let found = checked(label.path(), "0.2.0");
        let [only] = &found.differences[..] else { panic!("{:?}", found.differences) };
        assert_eq!(
            (only.what.as_str(), only.frozen.as_str()),
            ("cell base, throughput: median", "1.5")
        );
        assert_eq!((found.inputs.len(), found.same_build), (0, false));
    }

    #[test]
    fn only_complete_archives_count() {
        let label = frozen_label();
        assert_eq!(next(label.path()), 2);
        fs::create_dir_all(label.path().join("frozen/10")).unwrap();
        assert_eq!(latest(label.path()).unwrap().0, 1, "the tenth has no inputs yet");
        assert_eq!(next(label.path()), 11);
        let none = tempfile::tempdir().unwrap();
        assert_eq!((next(none.path()), latest(none.path())), (1, None));
    }
}
