//! Labels of runs with real histograms, series and instants, without a machine's noise.

use std::path::Path;

use evidence::CompareOptions;
use evidence::samples::{self, SampleRun, WINDOW_START_NS, level};
use record::load::Second;
use record::page::Page;
use record::plan::RunKind;
use tempfile::TempDir;

/// Requests of one second.
const PER_SECOND: u64 = 800;
/// From the start of a run to the start of the next, ns.
const PERIOD_NS: u64 = 36_000_000_000;

/// A label in the making.
pub(crate) struct LabelMaker {
    /// Levels with the factor on their latency and their twin.
    pub(crate) levels: Vec<(&'static str, f64, Option<&'static str>)>,
    /// Blocks.
    pub(crate) blocks: u32,
    /// Seconds of a window; 30 is what the other samples of a run are about.
    pub(crate) seconds: u64,
    /// Changes a run before it is judged.
    pub(crate) change: fn(&mut SampleRun),
}

impl Default for LabelMaker {
    /// `base`, `slower` by 8 % and `null` over 12 blocks.
    fn default() -> Self {
        Self {
            levels: vec![("base", 1.0, None), ("slower", 1.08, None), ("null", 1.0, Some("base"))],
            blocks: 12,
            seconds: 30,
            change: |_| {},
        }
    }
}

/// Turns successes of a run into failures, and the gate on failures trips.
pub(crate) fn fail(run: &mut SampleRun, failed: u64) {
    let load = run.load.as_mut().expect("a sound run has a load record");
    load.succeeded -= failed;
    load.failed = failed;
    load.failures.insert("status".to_owned(), failed);
}

impl LabelMaker {
    /// Writes the label.
    pub(crate) fn make(&self) -> TempDir {
        let label = tempfile::tempdir().expect("a directory for the label");
        let names: Vec<&str> = self.levels.iter().map(|(name, _, _)| *name).collect();
        let plan = samples::plan(&names, self.blocks);
        let path = label.path().join(record::layout::PLAN);
        record::layout::write_json(&path, &plan).expect("a plan can be written");
        let mut dice = Dice(7);
        let mut at_ns = WINDOW_START_NS;
        for block in 1..=self.blocks {
            for position in 0..self.levels.len() {
                // Each level takes each position in turn.
                let index = (position + block as usize) % self.levels.len();
                let (name, factor, twin) = self.levels[index];
                let of = level(name, index as u32, twin);
                let mut run = SampleRun::sound(block, position as u32 + 1, &of);
                fill(&mut run, &mut dice, factor, (at_ns, self.seconds));
                (self.change)(&mut run);
                run.complete(label.path());
                at_ns += PERIOD_NS;
            }
        }
        label
    }
}

/// Seconds, histograms and instants of a run whose latency is about 10 ms times `factor`.
fn fill(run: &mut SampleRun, dice: &mut Dice, factor: f64, (at_ns, seconds): (u64, u64)) {
    let centre = 9.5e6 * factor * (1.0 + 0.006 * (dice.roll() - 0.5));
    let load = run.load.as_mut().expect("a sound run has a load record");
    let mut whole = stats::histogram::new();
    load.series = (0..seconds)
        .map(|second| {
            // A closed loop is as fast as its answers.
            let count =
                (PER_SECOND as f64 * 9.5e6 / centre * (1.0 + 0.02 * (dice.roll() - 0.5))) as u64;
            let latencies: Vec<u64> = (0..count).map(|_| latency(dice, centre)).collect();
            for latency in &latencies {
                whole.saturating_record(*latency);
            }
            Second { ..samples::second(second, &latencies) }
        })
        .collect();
    let count = whole.len();
    (load.due, load.sent, load.succeeded) = (count, count, count);
    load.workers.clear();
    load.latency_ns = stats::histogram::summarise(&whole);
    load.steps[0]
        .histograms
        .insert("latency.succeeded".to_owned(), stats::histogram::encode(&whole));
    run.meta.kind = RunKind::Measured;
    run.meta.instants_ns.insert("run_start".to_owned(), at_ns);
    run.meta.instants_ns.insert("digest_start".to_owned(), at_ns + 34_000_000_000);
    let since = (at_ns - WINDOW_START_NS) / 1_000_000_000;
    run.meta.started_utc =
        format!("2026-11-30T{:02}:{:02}:{:02}Z", 10 + since / 3_600, since / 60 % 60, since % 60);
}

/// One latency, ns: a narrow body with a tail.
fn latency(dice: &mut Dice, centre: f64) -> u64 {
    let body = centre * (1.0 + 0.08 * dice.roll() * dice.roll());
    let tail = match dice.roll() {
        share if share < 0.0005 => 9.0,
        share if share < 0.012 => 1.5 + 2.0 * dice.roll(),
        _ => 1.0,
    };
    (body * tail) as u64
}

/// What `assay compare --html` would show of a label.
pub(crate) fn page_of(label: &Path) -> Page {
    let comparison = evidence::compare(label, &CompareOptions::default());
    evidence::page(label, comparison.expect("samples compare")).expect("a label is readable")
}

/// A linear congruential generator (Knuth's MMIX constants): the same label every time.
struct Dice(u64);

impl Dice {
    /// Uniform from 0 to 1.
    fn roll(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
