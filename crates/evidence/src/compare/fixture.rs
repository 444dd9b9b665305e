//! Labels in memory, for tests: digests are copies of one sound sample, so that thousands of
//! runs cost nothing and only what a test plants can matter.

use std::sync::OnceLock;

use record::compare::{Comparison, Contrast, Look};
use record::digest::Digest;
use record::plan::{Compare, Gates, LevelOf};

use super::runs::Runs;
use super::{CompareOptions, compare_runs};
use crate::error::EvidenceError;
use crate::samples::{self, SampleRun};

/// Throughput of the baseline when a test does not care, requests per second.
pub(super) const BASE: f64 = 800.0;

/// A label in the making.
#[derive(Debug, Clone, Default)]
pub(super) struct Label {
    pub(super) runs: Vec<(String, Digest)>,
    /// The looks on record, by their complete blocks.
    pub(super) looks: Vec<u32>,
}

impl Label {
    /// Adds a run of these levels whose throughput is `value`; gives it for planting faults.
    pub(super) fn run(
        &mut self,
        block: u32,
        order: u32,
        levels: &[LevelOf],
        value: f64,
    ) -> &mut Digest {
        let mut digest = sound().clone();
        (digest.block, digest.order) = (block, order);
        digest.levels = levels.to_vec();
        let names: Vec<&str> = levels.iter().map(|level| level.level.as_str()).collect();
        digest.cell = names.join("+");
        digest.run = format!("{block:02}-{order:02}-{}", digest.cell);
        digest.previous_cell = self.runs.last().map(|(_, digest)| digest.cell.clone());
        let things: Vec<&str> = levels
            .iter()
            .map(|level| match (&level.twin, level.positive) {
                (Some(twin), None) => twin.as_str(),
                _ => level.level.as_str(),
            })
            .collect();
        digest.identity.effective_sha256 = format!("effective-{}", things.join("+"));
        set(&mut digest, "throughput", value);
        self.runs.push((digest.run.clone(), digest));
        &mut self.runs.last_mut().expect("one was just added").1
    }

    /// One block of two cells in which `level` differs from the baseline by `log_ratio`; the
    /// lead alternates.
    pub(super) fn pair(&mut self, block: u32, level: &LevelOf, log_ratio: f64) {
        let base = base();
        let places = if block % 2 == 1 { (1, 2) } else { (2, 1) };
        let known = self.runs.iter().any(|(_, run)| run.block == block && run.cell == base.level);
        if !known {
            self.run(block, places.0, &[base], BASE);
        }
        self.run(block, places.1, std::slice::from_ref(level), BASE * log_ratio.exp());
    }

    /// Blocks 1, 2, ... with these log-ratios of `level`.
    pub(super) fn pairs(&mut self, level: &LevelOf, log_ratios: &[f64]) {
        for (block, log_ratio) in (1..).zip(log_ratios) {
            self.pair(block, level, *log_ratio);
        }
    }

    /// Changes every run that `wanted` picks.
    pub(super) fn edit(&mut self, wanted: impl Fn(&Digest) -> bool, change: impl Fn(&mut Digest)) {
        for (_, digest) in self.runs.iter_mut().filter(|(_, digest)| wanted(digest)) {
            change(digest);
        }
    }

    /// What the bench registered.
    pub(super) fn registered(&mut self, compare: &Compare) {
        self.edit(|_| true, |digest| digest.compare = Some(compare.clone()));
    }

    pub(super) fn compared(&self) -> Comparison {
        self.compared_with(&CompareOptions::default()).expect("sound terms")
    }

    pub(super) fn compared_with(
        &self,
        options: &CompareOptions,
    ) -> Result<Comparison, EvidenceError> {
        let mut all: Vec<(String, Option<Digest>)> =
            self.runs.iter().map(|(name, digest)| (name.clone(), Some(digest.clone()))).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let label = self.runs.first().map(|(_, digest)| digest.label.clone()).unwrap_or_default();
        let look = |blocks: &u32| Look {
            at_utc: String::new(),
            blocks: *blocks,
            alpha: 0.0,
            verdicts: Default::default(),
        };
        let looks = self.looks.iter().map(look).collect();
        compare_runs(&Runs { label, all, looks, ..Runs::default() }, options)
    }
}

/// The sample that every run is a copy of.
fn sound() -> &'static Digest {
    static SOUND: OnceLock<Digest> = OnceLock::new();
    SOUND.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a directory");
        SampleRun::sound(1, 1, &base()).write(dir.path());
        crate::digest(dir.path(), &Gates::default(), &Compare::default()).expect("a digest")
    })
}

/// Sets the value of a metric, which keeps its unit and direction.
pub(super) fn set(digest: &mut Digest, metric: &str, value: f64) {
    digest.metrics.get_mut(metric).expect("a metric of the sample").value = Some(value);
}

/// A level of another factor than `target`.
pub(super) fn other(factor: &str, name: &str, index: u32, contrasted: bool) -> LevelOf {
    LevelOf {
        factor: factor.to_owned(),
        level: name.to_owned(),
        index,
        twin: None,
        positive: None,
        contrasted,
    }
}

pub(super) fn base() -> LevelOf {
    samples::level("base", 0, None)
}

pub(super) fn slow() -> LevelOf {
    samples::level("slow", 1, None)
}

pub(super) fn null() -> LevelOf {
    samples::level("null", 2, Some("base"))
}

/// The baseline slowed by 5 %.
pub(super) fn positive() -> LevelOf {
    LevelOf { positive: Some(0.05), ..samples::level("positive", 3, Some("base")) }
}

/// The only contrast of a level in a metric and a cell.
pub(super) fn of<'c>(
    comparison: &'c Comparison,
    level: &str,
    cell: &str,
    metric: &str,
) -> &'c Contrast {
    let mut found = comparison.contrasts.iter().filter(|contrast| {
        contrast.level == level && contrast.cell == cell && contrast.metric == metric
    });
    let first = found.next().unwrap_or_else(|| panic!("no {metric} of {level} in {cell}"));
    assert!(found.next().is_none(), "{metric} of {level} in {cell} is there twice");
    first
}

/// Throughput of a level in a label of one factor.
pub(super) fn throughput<'c>(comparison: &'c Comparison, level: &str) -> &'c Contrast {
    of(comparison, level, "*", "throughput")
}

/// `n` log-ratios about `centre`, with a spread that is the same for every seed: equal steps
/// from `-half` to `half` in an order that has nothing to do with the block's parity.
pub(super) fn spread(n: u32, centre: f64, half: f64) -> Vec<f64> {
    let step = |k: u32| -half + 2.0 * half * f64::from(k) / f64::from(n - 1);
    // 0, n-1, n-2, 1, 2, n-3, n-4, ...: neighbours sum to a constant, blocks of four cancel.
    let place = |k: u32| match k % 4 {
        0 => k / 2,
        1 => n - 1 - k / 2,
        2 => n - 1 - k / 2,
        _ => k / 2,
    };
    (0..n).map(|k| centre + step(place(k))).collect()
}
