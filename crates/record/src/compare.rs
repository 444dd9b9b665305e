//! `assay compare --json` and `matrix.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::frozen::FrozenCheck;
use crate::host_check::HostStanding;
use crate::plan::Skipped;
use crate::quotability::Quotability;
use crate::{Format, Validity};

/// All contrasts of a matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// `assay.comparison`.
    pub format: Format,
    /// Label.
    pub label: String,
    /// The contrasts, primary metric first within each.
    pub contrasts: Vec<Contrast>,
    /// Remarks on the matrix as a whole: no manifest, unpaired, undecidable, ...
    #[serde(default)]
    pub notes: Vec<String>,
    /// Incomplete or excluded runs, each with its reason.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// Everything beside the contrasts.
    #[serde(default)]
    pub tables: Tables,
}

/// What stands beside the contrasts of a matrix.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tables {
    /// Short identity of each machine that took part; more than one is a fault.
    pub hosts: Vec<HostClass>,
    /// The grade of the machine, the worst first; more than one when it changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub standings: Vec<HostStanding>,
    /// Whether the figures may be quoted; absent for runs of older versions, which carry no grade.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotability: Option<Quotability>,
    /// What the calibration that the label was made under says of its cells.
    #[serde(default)]
    pub calibrated: Option<Calibrated>,
    /// One row per cell: medians over its valid runs.
    pub cells: Vec<CellRow>,
    /// Geometric means over matched rows.
    pub geomeans: Vec<Geomean>,
    /// Whether the arms differ in what the factor was meant to change.
    pub manipulations: Vec<ManipulationResult>,
    /// Which rival explanation the figures are nearer to.
    pub hypotheses: Vec<HypothesisResult>,
    /// Whether a cell that nothing changed drifted over the matrix.
    pub drifts: Vec<Drift>,
    /// Every look at the data of this label, the first one first.
    pub looks: Vec<Look>,
    /// Variance by level of repetition, where the data has levels.
    pub variances: Vec<Variance>,
    /// Contamination of each cell by its worst run, never by an average.
    pub contaminations: Vec<Contamination>,
    /// Whether the ratios depend on the length of the warm-up, where that was rehearsed.
    pub rehearsals: Vec<Rehearsal>,
    /// How these figures stand to the frozen table of the label, where there is one.
    pub frozen: Option<FrozenCheck>,
    /// What the mock slept for each arm, and the effect without the difference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sleep: Vec<SleepParity>,
    /// What a foreign generator costs once and for each request, where a factor gave it two sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unit_costs: Vec<UnitCosts>,
}

/// Start-up and marginal CPU of a program by two sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitCosts {
    /// The factor of sizes.
    pub factor: String,
    /// One size.
    pub baseline: String,
    /// The other.
    pub level: String,
    /// The combination of the other factors.
    pub cell: String,
    /// Blocks with both sizes.
    pub pairs: u32,
    /// Requests of the smaller, median.
    pub small_requests: f64,
    /// Requests of the larger, median.
    pub large_requests: f64,
    /// CPU before the first request, ns; the interval is at 95 %.
    pub start_up_ns: Estimate,
    /// CPU of one more request, ns.
    pub marginal_ns: Estimate,
    /// By how much the CPU per request of the smaller run overstates the marginal one, percent of
    /// that.
    pub overstated_percent: Option<f64>,
}

/// Sleep parity of one contrast: the effect as it was, and as it would be had the mock slept as long
/// for the level as for the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SleepParity {
    /// The factor.
    pub factor: String,
    /// Baseline level.
    pub baseline: String,
    /// The level.
    pub level: String,
    /// The combination of the other factors.
    pub cell: String,
    /// `throughput`, `p50`, ...
    pub metric: String,
    /// Pairs in which both mocks slept.
    pub pairs: u32,
    /// Median change, percent of the baseline, as it was.
    pub raw_percent: f64,
    /// The same without the difference of sleep.
    pub corrected_percent: f64,
    /// The less favourable of the two to the level.
    pub headline_percent: f64,
    /// Mean sleep of a request of the level, median over the pairs, ns.
    pub level_slept_ns: f64,
    /// The same of the baseline, ns.
    pub baseline_slept_ns: f64,
    /// Which way the bias runs, and which figure is the headline.
    pub words: String,
}

/// A machine in one line.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostClass {
    /// Eight hexadecimal digits over all that follows; two machines of one class share it.
    pub id: String,
    /// `AMD EPYC, x86_64, 2 cores, Linux 6.1.0`.
    pub description: String,
}

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Its 95 % interval, where there are enough data for one.
    #[serde(default)]
    pub interval: Option<[f64; 2]>,
}

/// One cell in one metric: the median over its valid runs (D5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellRow {
    /// The cell.
    pub cell: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Runs whose figure is valid.
    pub valid: u32,
    /// Runs.
    pub runs: u32,
    /// Median; `None` under two valid runs.
    pub median: Option<f64>,
    /// Interval of the median by order statistics.
    #[serde(default)]
    pub interval: Option<[f64; 2]>,
    /// The true coverage of that interval: 0.75 for three runs.
    #[serde(default)]
    pub coverage: Option<f64>,
    /// `(max - min) / 2` over the median, as a share.
    #[serde(default)]
    pub half_range_share: Option<f64>,
    /// `measured`, `derived` or `sampled`.
    pub kind: String,
    /// For a figure that is computed from other medians and is no median itself: how.
    #[serde(default)]
    pub formula: Option<String>,
    /// Every valid value by block.
    pub values: Vec<(u32, f64)>,
    /// How busy the generator was at most in a run of the cell, as a share of its cores.
    #[serde(default)]
    pub generator_busy_share: Option<f64>,
    /// `unstable`, `few_runs`, ...; contamination facts of the worst run.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// A fact that spoils a cell when one of its runs has it: the worst run counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contamination {
    /// The cell.
    pub cell: String,
    /// `timeouts`, `steal`, or the name of a gate that flagged.
    pub fact: String,
    /// The worst value; `None` when the flag carries none.
    pub worst: Option<f64>,
    /// How far that lies from the bound, in its unit: the worst of several cells has the largest.
    #[serde(default)]
    pub distance: f64,
    /// Its unit.
    pub unit: String,
    /// Run directory that had it.
    pub run: String,
    /// Runs of the cell that have the fact.
    pub affected: u32,
    /// Runs of the cell.
    pub runs: u32,
}

/// One ratio at several lengths of the warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rehearsal {
    /// The contrast: `factor: level / baseline in cell`, with `*` for the warm-up as well.
    pub contrast: String,
    /// The metric.
    pub metric: String,
    /// The ratio at each length, shortest first.
    pub points: Vec<RehearsalPoint>,
    /// Range of the effects over the lengths, percentage points.
    pub range_percent: Option<f64>,
    /// What the null arms show where nothing is to be seen, percent: the bound on that range.
    pub noise_percent: Option<f64>,
    /// Change of the ratio from one length to the next, percent, by a Theil-Sen slope over all
    /// pairs of runs.
    pub step_percent: Option<Estimate>,
    /// `stable`, `trend` or `undecided`.
    pub word: String,
}

/// The ratio after one warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RehearsalPoint {
    /// The level: `2s`.
    pub warmup: String,
    /// Pairs.
    pub pairs: u32,
    /// exp of the mean log-ratio, level / baseline.
    pub ratio: Option<f64>,
    /// Change of level against baseline, percent of the baseline.
    pub effect_percent: Option<Estimate>,
}

/// A geometric mean over the rows of one contrast (D7). Percentages are of the baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Geomean {
    /// The contrasted factor.
    pub factor: String,
    /// Baseline level.
    pub baseline: String,
    /// The level.
    pub level: String,
    /// The factor whose levels are the rows.
    pub over: String,
    /// The combination of the factors that are neither: `*+p0`; empty without any.
    #[serde(default)]
    pub cell: String,
    /// The metric.
    pub metric: String,
    /// Matched rows with their weights.
    pub rows: Vec<GeomeanRow>,
    /// Rows that stand beside and never in it.
    pub guards: Vec<GeomeanRow>,
    /// Rows without a valid figure, each with the reason.
    pub left_out: Vec<LeftOut>,
    /// Weighted geometric mean of level / baseline.
    pub ratio: Option<f64>,
    /// The same as a change, percent, with a joint bootstrap over blocks.
    pub effect_percent: Option<Estimate>,
    /// Rows that are better, worse and equivalent.
    pub better: u32,
    /// Rows that are worse.
    pub worse: u32,
    /// Rows that are neither.
    pub equal: u32,
    /// The worst row, guards included.
    pub worst: Option<String>,
    /// Bootstrap draws.
    pub draws: u32,
    /// Their seed.
    pub seed: u64,
}

/// One row of a geometric mean.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GeomeanRow {
    /// The level of `over`.
    pub row: String,
    /// Its weight.
    pub weight: f64,
    /// level / baseline.
    pub ratio: f64,
    /// The verdict of its own contrast.
    pub verdict: String,
}

/// A manipulation check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManipulationResult {
    /// The factor.
    pub factor: String,
    /// Baseline level.
    pub baseline: String,
    /// The level.
    pub level: String,
    /// The combination of the other factors.
    pub cell: String,
    /// The quantity.
    pub metric: String,
    /// Median over the baseline's runs.
    pub baseline_value: Option<f64>,
    /// Median over the level's runs.
    pub level_value: Option<f64>,
    /// Smallest share by which they must differ.
    pub least: f64,
    /// Whether they do. When not, the contrasts of this pair of arms are withheld.
    pub differs: bool,
}

/// How far the figures are from what an explanation predicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HypothesisResult {
    /// Its name.
    pub name: String,
    /// The contrast: `factor: level / baseline in cell`.
    pub contrast: String,
    /// The metric.
    pub metric: String,
    /// Predicted change, percent of the baseline.
    pub predicted_percent: f64,
    /// Measured change, percent of the baseline.
    pub measured_percent: Option<f64>,
    /// Distance of the measured from the predicted in standard deviations of the measured mean.
    pub distance_sd: Option<f64>,
    /// True for the nearest of its contrast.
    pub nearest: bool,
    /// `consistent`, `disfavoured` or `excluded`; `undecided` without two pairs that differ.
    pub word: String,
}

/// Drift of a cell that nothing changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// The cell that served as sentinel.
    pub cell: String,
    /// The metric.
    pub metric: String,
    /// Change from the first to the last block, percent of the first, by a Theil-Sen slope.
    pub change_percent: Estimate,
    /// Whether it is real and larger than the margin.
    pub drifted: bool,
    /// The block from which on it differs, where one stands out.
    #[serde(default)]
    pub since_block: Option<u32>,
    /// Cells whose runs lie in the time that it touches, where they were not interleaved.
    #[serde(default)]
    pub affected: Vec<String>,
}

/// One look at the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// When, UTC.
    pub at_utc: String,
    /// Blocks complete at that time.
    pub blocks: u32,
    /// Two-sided error that this look may spend.
    pub alpha: f64,
    /// Verdicts of the primary metrics: `target: slow / base in *` to the word.
    pub verdicts: BTreeMap<String, String>,
}

/// Variance of one metric by level of repetition, on the log scale (D6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variance {
    /// The contrast or cell.
    pub of: String,
    /// The metric.
    pub metric: String,
    /// `within_run`, `run`, `layout`, `host` with the standard deviation that each adds, percent.
    pub sd_percent: Vec<(String, f64)>,
    /// Best repetitions below the top level, by level.
    pub repetitions: Vec<(String, u32)>,
}

/// One level against the baseline in one metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// The factor.
    pub factor: String,
    /// Baseline level (a control's twin).
    pub baseline: String,
    /// The level.
    pub level: String,
    /// The combination of the other factors: `*+1k`; `*` without others.
    pub cell: String,
    /// Metric name.
    pub metric: String,
    /// Unit of the two values.
    #[serde(default)]
    pub unit: String,
    /// Whether a ratio above 1 is the better one.
    #[serde(default)]
    pub higher_is_better: bool,
    /// Whether it is the primary metric.
    pub primary: bool,
    /// Pairs with both runs valid.
    pub pairs: u32,
    /// Median over the pairs' baseline runs.
    pub baseline_value: Option<f64>,
    /// Median over the pairs' level runs.
    pub level_value: Option<f64>,
    /// exp of the mean log-ratio, level / baseline.
    pub ratio: Option<f64>,
    /// Hodges-Lehmann estimate of the log-ratio as a percentage.
    pub effect_percent: Option<f64>,
    /// Exact Wilcoxon 95 % interval of the effect, percent; `None` under 6 pairs.
    pub interval_percent: Option<[f64; 2]>,
    /// Mean log-ratio.
    #[serde(default)]
    pub mean_log_ratio: Option<f64>,
    /// Standard deviation of the log-ratio.
    #[serde(default)]
    pub sd_log_ratio: Option<f64>,
    /// The same once the order effect is removed: the noise of a pair.
    #[serde(default)]
    pub noise_sd_log_ratio: Option<f64>,
    /// Whether both arms have the same identity.
    pub null: bool,
    /// `faster`, `slower`, `equivalent`, `inconclusive`, `void`; other metrics than speed use
    /// the same words for better and worse.
    pub verdict: String,
    /// `uncontrolled`, `odd_pairs`, `undecidable`, ...
    pub flags: Vec<String>,
    /// The null contrasts that stand beside it, of the baseline and of the level where it has one:
    /// `null in *+1k, null-k6 in *+1k`; `None` when uncontrolled.
    #[serde(default)]
    pub null_arm: Option<String>,
    /// Margin of the verdict, percent.
    #[serde(default)]
    pub margin_percent: Option<f64>,
    /// The smallest effect that these pairs would have shown with power 0.8, percent.
    #[serde(default)]
    pub minimum_detectable_percent: Option<f64>,
    /// Pairs that would resolve the margin with power 0.8.
    pub needed_pairs: Option<u32>,
    /// Pairs and hours that would resolve the mean that was seen.
    #[serde(default)]
    pub resolve: Option<Resolve>,
    /// t-interval of the mean as a cross-check of the rank interval, percent.
    #[serde(default)]
    pub t_interval_percent: Option<[f64; 2]>,
    /// Half of the difference between pairs with the baseline first and pairs with the level
    /// first, percent.
    #[serde(default)]
    pub order_effect_percent: Option<Estimate>,
    /// What the level's runs carry over from the run before them, percent: after the baseline
    /// against after anything else.
    #[serde(default)]
    pub carry_over_percent: Option<Estimate>,
    /// Share by which a positive control was slowed; `None` for other levels.
    #[serde(default)]
    pub positive: Option<f64>,
    /// The positive control that stands beside it: `positive in *: seen` or `missed`.
    #[serde(default)]
    pub positive_arm: Option<String>,
    /// Noise floor of this row: the null arm's 95 % interval, percent.
    #[serde(default)]
    pub null_interval_percent: Option<[f64; 2]>,
    /// Two-sided p of the exact signed-rank test.
    #[serde(default)]
    pub p_value: Option<f64>,
    /// The same after Holm's correction over the other metrics of the contrast; the primary
    /// metric is not corrected.
    #[serde(default)]
    pub holm_p_value: Option<f64>,
    /// Whether the (corrected) interval excludes no effect.
    #[serde(default)]
    pub significant: bool,
    /// Whether the effect is larger than the margin: another question.
    #[serde(default)]
    pub matters: Option<bool>,
    /// Two-sided error of the interval: 0.05, or what is left of it after earlier looks.
    #[serde(default)]
    pub alpha: Option<f64>,
    /// Effective paths that the factor set, and in which the arms therefore differ.
    #[serde(default)]
    pub sets: Vec<String>,
    /// What else the arms differ in, each with both values: heap, collector, version, commit.
    #[serde(default)]
    pub differs: Vec<String>,
    /// Both values of each pair by block.
    #[serde(default)]
    pub pair_values: Vec<PairValues>,
    /// Log-ratio of each pair by block.
    #[serde(default)]
    pub log_ratios: Vec<(u32, f64)>,
    /// Runs of this contrast that do not count.
    pub left_out: Vec<LeftOut>,
}

/// Both values of one pair, in the unit of the contrast.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PairValues {
    /// Block.
    pub block: u32,
    /// The baseline's run.
    pub baseline: f64,
    /// The level's run.
    pub level: f64,
    /// Whether the baseline's run came first; `None` when nothing tells.
    #[serde(default)]
    pub baseline_first: Option<bool>,
}

/// What it would take to resolve the mean of the pairs: `(2 sd / |mean|)^2` pairs bring its
/// standard error down to half of it, 3.84 times as many its 95 % interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Resolve {
    /// The mean that the count is about, percent of the baseline.
    pub mean_percent: f64,
    /// Standard deviation of the pairs, percent of the baseline.
    pub sd_percent: f64,
    /// Pairs for half of the mean at one standard error.
    pub pairs_one_se: u64,
    /// Pairs for half of the mean at 95 %.
    pub pairs_95: u64,
    /// Mean duration of a pair, both runs and the gaps before them, ns; `None` when the runs do
    /// not say.
    #[serde(default)]
    pub pair_ns: Option<u64>,
}

/// A run that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Run directory.
    pub run: String,
    /// Why.
    pub reason: String,
}

/// `matrix.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// `assay.matrix`.
    pub format: Format,
    /// Label.
    pub label: String,
    /// The bench's name.
    #[serde(default)]
    pub bench: String,
    /// Runs planned, measured ones only.
    #[serde(default)]
    pub planned_runs: u32,
    /// Runs completed, measured ones only.
    #[serde(default)]
    pub completed_runs: u32,
    /// All run directories, warm-ups and incomplete ones included.
    pub runs: Vec<MatrixRun>,
    /// The contrasts.
    pub contrasts: Vec<Contrast>,
    /// Cells that were not run.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    /// Everything beside the contrasts.
    #[serde(default)]
    pub tables: Tables,
    /// Remarks.
    #[serde(default)]
    pub notes: Vec<String>,
    /// CPU of the parent over the matrix, ns; its wall time, ns.
    #[serde(default)]
    pub parent_cpu_ns: Option<u64>,
    /// Wall time of the matrix, ns.
    #[serde(default)]
    pub elapsed_ns: Option<u64>,
}

/// A matrix beside the calibration that it was made under.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Hash of the calibration.
    pub sha256: String,
    /// When it was made, UTC.
    pub made_utc: String,
    /// What it is of, as `api, get`.
    pub of: String,
    /// Cells above the allowed share of the knee, each in a sentence.
    pub above_knee: Vec<String>,
    /// The price of a connection by the cells and by the calibration.
    pub prices: Vec<PriceCheck>,
}

/// One price seen twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceCheck {
    /// The two arms: `new / per-user in small`.
    pub arms: String,
    /// Median over pairs: time added for each connection that a request opened, ns.
    pub cells_ns: f64,
    /// Pairs behind it.
    pub pairs: u32,
    /// The same by the calibration, ns.
    pub calibration_ns: f64,
    /// Largest difference that counts as agreement, ns.
    pub bound_ns: f64,
    /// Whether both agree.
    pub agrees: bool,
}

/// One run directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixRun {
    /// `runs/01-01-base`.
    pub path: String,
    /// Block.
    pub block: u32,
    /// Position.
    pub order: u32,
    /// Cell.
    pub cell: String,
    /// Levels by factor.
    pub levels: BTreeMap<String, String>,
    /// Validity; `None` for an incomplete directory.
    pub validity: Option<Validity>,
    /// `measured`, `warm_up` or `incomplete`.
    #[serde(default)]
    pub kind: String,
    /// Cell of the run before it.
    #[serde(default)]
    pub previous_cell: Option<String>,
    /// Start and end of the run on the monotonic clock, ns.
    #[serde(default)]
    pub span_ns: Option<[u64; 2]>,
    /// Start, UTC.
    #[serde(default)]
    pub started_utc: String,
    /// Metric values by name, as in the digest.
    #[serde(default)]
    pub metrics: BTreeMap<String, crate::digest::Metric>,
}
