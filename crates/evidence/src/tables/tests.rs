//! Tables of labels made by hand.

use std::path::Path;

use record::compare::{CellRow, Comparison, Contrast};
use record::plan::{Compare, Extent, Hypothesis, LevelOf, Manipulation};

use crate::compare::{CompareOptions, compare};
use crate::samples::{self, SampleRun, level};

/// A run with so many successes and so much CPU of the target.
fn run_of(block: u32, level: &LevelOf, succeeded: u64) -> SampleRun {
    let mut run = SampleRun::sound(block, level.index + 1, level);
    let mut load = samples::load();
    load.workers.clear();
    (load.due, load.sent, load.succeeded) = (succeeded, succeeded, succeeded);
    run.load = Some(load);
    run
}

fn with_cpu(mut run: SampleRun, cpu_ms: u64) -> SampleRun {
    // The sample account gains 1,000 ms in the window.
    let text = samples::resources_csv();
    let lines = text.lines().map(|line| {
        let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
        if fields[1] == "window_end" && fields[2] == "target" {
            fields[6] = (500_000_000 + cpu_ms * 1_000_000).to_string();
        }
        fields.join(",") + "\n"
    });
    run.resources = Some(lines.collect());
    run
}

/// Runs of a foreign generator at 100 and 400 requests, a factor of which sets `path`; `cpu_ns` is
/// that of a run of so many requests in a block.
pub(super) fn foreign_of_sizes(
    blocks: u32,
    path: &str,
    cpu_ns: impl Fn(u64, u32) -> u64,
) -> Comparison {
    let label = tempfile::tempdir().unwrap();
    for block in 1..=blocks {
        for (index, (name, requests)) in [("small", 100), ("large", 400)].into_iter().enumerate() {
            let of = level(name, index as u32, None);
            let dir = run_of(block, &of, 24_000).complete(label.path());
            let mut digest: record::digest::Digest =
                serde_json::from_slice(&std::fs::read(dir.join("digest.json")).unwrap()).unwrap();
            let mut foreign = crate::own_figures::tests::run();
            foreign.own.requests = requests;
            foreign.cpu_user_ns = cpu_ns(requests, block);
            foreign.cpu_sys_ns = 0;
            digest.foreign = Some(foreign);
            digest.identity.sets = [("target".to_owned(), [path.to_owned()].into())].into();
            samples::write_digest(&dir, &digest);
        }
    }
    compared(label.path())
}

fn compared(dir: &Path) -> Comparison {
    compare(dir, &CompareOptions::default()).unwrap()
}

fn row<'c>(comparison: &'c Comparison, cell: &str, metric: &str) -> &'c CellRow {
    let rows = &comparison.tables.cells;
    let found = rows.iter().find(|row| row.cell == cell && row.metric == metric);
    found.unwrap_or_else(|| panic!("no row of `{cell}` in `{metric}`"))
}

fn primary<'c>(comparison: &'c Comparison, level: &str) -> &'c Contrast {
    let found = comparison.contrasts.iter().find(|one| one.primary && one.level == level);
    found.unwrap_or_else(|| panic!("no contrast of `{level}`"))
}

/// A-107, D5: the median of three known runs, its interval from the smallest to the largest, and
/// that this covers 75 %, not 95 %.
#[test]
fn three_runs_have_a_median_and_an_interval_of_75_percent() {
    let label = tempfile::tempdir().unwrap();
    for (block, succeeded) in [(1, 24_300), (2, 24_000), (3, 24_600)] {
        run_of(block, &level("base", 0, None), succeeded).complete(label.path());
    }
    let comparison = compared(label.path());
    let throughput = row(&comparison, "base", "throughput");
    assert_eq!(throughput.median, Some(810.0));
    assert_eq!(throughput.interval, Some([800.0, 820.0]));
    assert_eq!(throughput.coverage, Some(0.75));
    assert_eq!(throughput.values, [(1, 810.0), (2, 800.0), (3, 820.0)]);
    assert_eq!((throughput.valid, throughput.runs), (3, 3));
    // (820 - 800) / 2 / 810.
    assert!((throughput.half_range_share.unwrap() - 10.0 / 810.0).abs() < 1e-12);
    assert_eq!(throughput.flags, Vec::<String>::new());
}

/// E-042, K-106: how busy the generator was stands beside every figure, by the worst run.
#[test]
fn a_row_says_how_busy_its_generator_was() {
    let label = tempfile::tempdir().unwrap();
    for (block, busy_s) in [(1, 6), (2, 24), (3, 9)] {
        let mut run = run_of(block, &level("base", 0, None), 24_000);
        let load = run.load.as_mut().expect("a load record");
        load.generator.cores = 1;
        load.generator.cpu_user_ns = busy_s * 1_000_000_000;
        load.generator.cpu_sys_ns = 0;
        run.complete(label.path());
    }
    let comparison = compared(label.path());
    let row = row(&comparison, "base", "p50");
    assert!((row.generator_busy_share.expect("a share") - 0.8).abs() < 1e-9, "24 s of 30 s");
    assert!(row.flags.contains(&"generator_cpu_flag".to_owned()), "{:?}", row.flags);
}

/// nine runs give ranks 2 and 8 at 96.1 %.
#[test]
fn nine_runs_have_the_second_and_the_eighth() {
    let label = tempfile::tempdir().unwrap();
    for block in 1..=9 {
        let succeeded = 24_000 + 30 * u64::from(block);
        run_of(block, &level("base", 0, None), succeeded).complete(label.path());
    }
    let comparison = compared(label.path());
    let throughput = row(&comparison, "base", "throughput");
    assert_eq!(throughput.interval, Some([802.0, 808.0]));
    assert!((throughput.coverage.unwrap() - 0.9609375).abs() < 1e-12);
}

/// where the median of ratios and the ratio of medians differ, it is the latter.
#[test]
fn a_ratio_is_that_of_the_medians() {
    let label = tempfile::tempdir().unwrap();
    let runs = [(1, 24_000, 1_200), (2, 30_000, 3_000), (3, 36_000, 1_080)];
    for (block, succeeded, cpu_ms) in runs {
        let run = run_of(block, &level("base", 0, None), succeeded);
        with_cpu(run, cpu_ms).complete(label.path());
    }
    let comparison = compared(label.path());
    let per_request = row(&comparison, "base", "target.cpu_per_request");
    let ratios: Vec<f64> = per_request.values.iter().map(|(_, value)| *value).collect();
    assert_eq!(ratios, [50_000.0, 100_000.0, 30_000.0], "their median would be 50,000");
    assert_eq!(row(&comparison, "base", "target.cpu").median, Some(1_200e6));
    assert_eq!(row(&comparison, "base", "requests").median, Some(30_000.0));
    assert_eq!(per_request.median, Some(40_000.0));
    assert_eq!(per_request.formula.as_deref(), Some("target.cpu / requests"));
    assert_eq!((per_request.kind.as_str(), per_request.interval), ("derived", None));
    let per_core = row(&comparison, "base", "throughput_per_core");
    // 1,000/s over 0.04 cores, both medians, itself made of a derived figure.
    assert!((per_core.median.unwrap() - 25_000.0).abs() < 1e-6);
}

/// at least two valid runs, else shown and excluded.
#[test]
fn a_cell_counts_from_two_valid_runs_on() {
    for (runs, void, median, flags) in [
        (3, 0, true, vec![]),
        (3, 1, true, vec![]),
        (3, 2, false, vec!["few_runs"]),
        (1, 0, false, vec!["few_runs"]),
    ] {
        let label = tempfile::tempdir().unwrap();
        for block in 1..=runs {
            let mut run = run_of(block, &level("base", 0, None), 24_000);
            if block <= void {
                run.mock = None;
            }
            run.complete(label.path());
        }
        let comparison = compared(label.path());
        let throughput = row(&comparison, "base", "throughput");
        assert_eq!((throughput.valid, throughput.runs), (runs - void, runs));
        assert_eq!(throughput.median.is_some(), median, "{} of {runs}", runs - void);
        assert_eq!(throughput.flags, flags, "{} of {runs}", runs - void);
        assert_eq!(throughput.values.len() as u32, runs - void, "all are shown");
    }
}

/// the same configuration on the same hardware reproduces to 5 %.
#[test]
fn a_spread_over_five_percent_is_flagged() {
    for (other, flagged) in [(26_000, false), (27_000, true)] {
        let label = tempfile::tempdir().unwrap();
        for (block, succeeded) in [(1, 24_000), (2, other)] {
            run_of(block, &level("base", 0, None), succeeded).complete(label.path());
        }
        let comparison = compared(label.path());
        let flags = &row(&comparison, "base", "throughput").flags;
        assert_eq!(flags.contains(&"spread".to_owned()), flagged, "{other}: {flags:?}");
    }
}

/// one of three runs timed out; the cell has it.
#[test]
fn one_contaminated_run_contaminates_its_cell() {
    let label = tempfile::tempdir().unwrap();
    for (index, name) in ["base", "other"].into_iter().enumerate() {
        for block in 1..=3 {
            let mut run = run_of(block, &level(name, index as u32, None), 24_000);
            if name == "base" && block == 2 {
                let load = run.load.as_mut().unwrap();
                (load.due, load.sent, load.failed) = (24_002, 24_002, 2);
                load.failures.insert("timeout".to_owned(), 2);
                // Stolen in the window: 3 s of 4 cores over 30 s.
                let stolen = |line: &str| match line.contains("window_end") {
                    true => line.replace(",0,0.50,", ",3000000000,0.50,") + "\n",
                    false => line.to_owned() + "\n",
                };
                run.host = Some(samples::host_csv().lines().map(stolen).collect());
            }
            run.complete(label.path());
        }
    }
    let comparison = compared(label.path());
    let of = |cell: &str| -> Vec<(&str, Option<f64>, &str, u32, u32)> {
        let all = comparison.tables.contaminations.iter().filter(|one| one.cell == cell);
        all.map(|one| (one.fact.as_str(), one.worst, one.run.as_str(), one.affected, one.runs))
            .collect()
    };
    let base = of("base");
    let timeouts = base.iter().find(|one| one.0 == "timeouts").unwrap();
    assert_eq!(*timeouts, ("timeouts", Some(2.0), "02-01-base", 1, 3));
    assert!(base.iter().any(|one| one.0 == "failures_seen"), "a flag of a gate: {base:?}");
    let steal = base.iter().find(|one| one.0 == "steal").unwrap();
    assert!(steal.1.unwrap() > 0.02, "the worst run's, not a mean over three: {steal:?}");
    assert_eq!(of("other"), []);
    assert!(row(&comparison, "base", "throughput").flags.contains(&"timeouts".to_owned()));
    assert_eq!(row(&comparison, "other", "throughput").flags, Vec::<String>::new());
}

/// K-150: identical runs whose memory peaks lie 400 MB apart are two behaviours, not a mean.
#[test]
fn peaks_that_do_not_repeat_are_unstable() {
    for (apart_bytes, unstable) in [(400_000_000_u64, true), (2_000_000, false)] {
        let label = tempfile::tempdir().unwrap();
        for block in 1..=4 {
            let mut run = run_of(block, &level("base", 0, None), 24_000);
            if block % 2 == 0 {
                let peak = (8_388_608 + apart_bytes).to_string();
                run.resources = Some(samples::resources_csv().replace("8388608", &peak));
            }
            run.complete(label.path());
        }
        let comparison = compared(label.path());
        let peak = row(&comparison, "base", "target.rss_peak");
        assert_eq!(peak.flags.contains(&"unstable".to_owned()), unstable);
        assert_eq!(peak.median.is_none(), unstable, "not averaged");
        assert_eq!(peak.values.len(), 4);
    }
}

fn manipulated(level_connections: u64) -> (tempfile::TempDir, Comparison) {
    let label = tempfile::tempdir().unwrap();
    let levels =
        [level("plain", 0, None), level("pooled", 1, None), level("null", 2, Some("plain"))];
    let registered = Compare {
        manipulation: vec![Manipulation {
            factor: None,
            metric: "connections".to_owned(),
            least: 0.5,
        }],
        ..Compare::default()
    };
    for block in 1..=6 {
        for level in &levels {
            let mut run = run_of(block, level, 24_000 + u64::from(block) * 10);
            let load = run.load.as_mut().unwrap();
            load.connections.opened = if level.level == "pooled" { level_connections } else { 400 };
            run.complete_as(label.path(), &registered);
        }
    }
    let comparison = compared(label.path());
    (label, comparison)
}

/// E-033: 400 connections become 8, or the option did nothing.
#[test]
fn arms_that_do_not_differ_are_withheld() {
    let (_keep, comparison) = manipulated(8);
    let result = &comparison.tables.manipulations[0];
    assert_eq!(comparison.tables.manipulations.len(), 1, "the null is not checked");
    assert_eq!((result.level.as_str(), result.differs), ("pooled", true));
    assert_eq!((result.baseline_value, result.level_value), (Some(400.0), Some(8.0)));
    assert_ne!(primary(&comparison, "pooled").verdict, "void");

    let (_keep, comparison) = manipulated(401);
    assert!(!comparison.tables.manipulations[0].differs);
    for contrast in comparison.contrasts.iter().filter(|one| one.level == "pooled") {
        assert_eq!(contrast.verdict, "void", "{}", contrast.metric);
        assert!(contrast.flags.contains(&"manipulation_failed".to_owned()));
        assert_eq!((contrast.ratio, contrast.effect_percent), (None, None));
        assert_eq!(contrast.interval_percent, None);
    }
    assert_ne!(primary(&comparison, "null").verdict, "void");
    assert!(crate::is_doubtful(&comparison));
    let note = comparison.notes.iter().find(|note| note.starts_with("withheld")).unwrap();
    insta::assert_snapshot!(note, @"withheld: `connections` of `plain` is 400 and of `pooled` 401, less than 50 % apart: the factor did not do what it was meant to (in *)");
}

/// Six blocks of base and level whose pairs scatter around `effect` with a standard deviation of
/// 0.5 %, so that the standard error of the mean is 0.2 %.
fn pairs_around(effect: f64, registered: &Compare) -> Comparison {
    let label = tempfile::tempdir().unwrap();
    let scatter = [-0.006, 0.004, -0.002, 0.006, -0.004, 0.002];
    for (block, scatter) in (1..=6).zip(scatter) {
        for (index, name) in ["base", "level"].into_iter().enumerate() {
            let factor = if index == 0 { 1.0 } else { (1.0_f64 + effect).ln() + scatter }.exp();
            let factor = if index == 0 { 1.0 } else { factor };
            let mut run = run_of(block, &level(name, index as u32, None), 24_000);
            run.load.as_mut().unwrap().succeeded = (24_000_000.0 * factor).round() as u64;
            let dir = run.complete_as(label.path(), registered);
            // The gates know that so many requests were not sent; the figure is what counts here.
            let path = dir.join(record::layout::DIGEST_JSON);
            let mut digest: record::digest::Digest = record::layout::read_json(&path).unwrap();
            digest.validity = record::Validity::default();
            for metric in digest.metrics.values_mut() {
                metric.state = record::State::Valid;
            }
            samples::write_digest(&dir, &digest);
        }
    }
    compared(label.path())
}

fn predicting(predictions: &[(&str, f64)]) -> Compare {
    let hypothesis = |(name, predicts): &(&str, f64)| Hypothesis {
        name: (*name).to_owned(),
        factor: None,
        level: None,
        metric: None,
        predicts: *predicts,
    };
    Compare { hypotheses: predictions.iter().map(hypothesis).collect(), ..Compare::default() }
}

/// K-010, K-093: pairs centred at each prediction name that hypothesis, and the other one is told
/// by its distance.
#[test]
fn pairs_centred_at_a_prediction_name_it() {
    let registered = predicting(&[("run length", -0.010), ("density", -0.014)]);
    for (centre, nearest) in [(-0.010, "run length"), (-0.014, "density")] {
        let comparison = pairs_around(centre, &registered);
        let found = &comparison.tables.hypotheses;
        assert_eq!(found.len(), 2);
        let near = found.iter().find(|one| one.nearest).unwrap();
        let far = found.iter().find(|one| !one.nearest).unwrap();
        assert_eq!((near.name.as_str(), near.word.as_str()), (nearest, "consistent"));
        assert!(near.distance_sd.unwrap() < 0.1, "{near:?}");
        // 0.4 points at a standard error of about 0.2 points.
        assert!((1.5..3.0).contains(&far.distance_sd.unwrap()), "{far:?}");
        assert_eq!(near.contrast, "target: level / base in *");
    }
}

/// K-093: a distance of 1.4 sd and one of much more have different words.
#[test]
fn a_wide_spread_is_no_refutation() {
    let words = |predicts: f64| {
        let comparison = pairs_around(0.0, &predicting(&[("one", predicts)]));
        let found = comparison.tables.hypotheses[0].clone();
        assert!(!found.nearest, "alone it has no rival");
        (found.distance_sd.unwrap(), found.word)
    };
    let (near, near_word) = words(0.0028);
    let (far, far_word) = words(0.02);
    assert!((1.2..1.6).contains(&near), "{near}");
    assert!(far > 8.0, "{far}");
    assert_eq!((near_word.as_str(), far_word.as_str()), ("consistent", "excluded"));
}

#[test]
fn a_hypothesis_about_nothing_is_said() {
    let mut registered = predicting(&[("one", 0.01)]);
    registered.hypotheses[0].level = Some("levle".to_owned());
    let comparison = pairs_around(0.0, &registered);
    assert_eq!(comparison.tables.hypotheses, []);
    assert!(comparison.notes.contains(&"hypothesis `one` is about no contrast here".to_owned()));
}

/// K-094: an effect of 1 % that every pair shows, with one memory layout and with several.
#[test]
fn a_small_effect_with_one_layout_carries_the_flag() {
    for (effect, layouts, flagged) in [(0.99, 1, true), (0.99, 3, false), (0.90, 1, false)] {
        let label = tempfile::tempdir().unwrap();
        for block in 1..=6 {
            for (index, name) in ["base", "level"].into_iter().enumerate() {
                let succeeded = 24_000.0 * if index == 0 { 1.0 } else { effect };
                let noise = u64::from(block % 3) * 10;
                let mut run =
                    run_of(block, &level(name, index as u32, None), succeeded as u64 + noise);
                run.meta.layout_bytes = (block % layouts) * 64;
                run.complete(label.path());
            }
        }
        let comparison = compared(label.path());
        let flags = &primary(&comparison, "level").flags;
        assert_eq!(flags.contains(&"layout_noise".to_owned()), flagged, "{effect}: {flags:?}");
        let of_contrast = |one: &&record::compare::Variance| one.of.contains(" / ");
        let variance = comparison.tables.variances.iter().find(of_contrast);
        assert_eq!(variance.is_some(), layouts > 1, "between layouts apart from within");
    }
}

/// D6: a run whose parts scatter, runs that differ more, layouts that differ most.
#[test]
fn variance_is_told_by_level() {
    let label = tempfile::tempdir().unwrap();
    for block in 1..=8_u32 {
        let mut run = run_of(block, &level("base", 0, None), 24_000);
        run.meta.layout_bytes = (block % 2) * 64;
        let layout_us = if block % 2 == 0 { 0 } else { 400 };
        let run_us = u64::from(block / 2) * 20;
        run.load.as_mut().unwrap().series = (0..30)
            .map(|at| {
                let part_us = (at / 2 % 2) * 5;
                samples::second(at, &vec![(10_000 + layout_us + run_us + part_us) * 1_000; 800])
            })
            .collect();
        run.meta
            .instants_ns
            .insert("digest_start".to_owned(), samples::WINDOW_START_NS + 36 * 1_000_000_000);
        run.complete(label.path());
    }
    let comparison = compared(label.path());
    let variance = comparison.tables.variances.iter().find(|one| one.metric == "p50").unwrap();
    assert_eq!(variance.of, "base");
    let names: Vec<&str> = variance.sd_percent.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["within_run", "run", "layout"]);
    let sd: Vec<f64> = variance.sd_percent.iter().map(|(_, sd)| *sd).collect();
    assert!(sd[0] < sd[1] && sd[1] < sd[2], "{sd:?}");
    // 400 µs of 10 ms apart, by n - 1 of two groups: 4 % / sqrt(2).
    assert!((sd[2] - 2.8).abs() < 0.3, "{sd:?}");
    assert_eq!(variance.repetitions.len(), 2, "for all but the top level");
}

/// Six blocks at three warm-ups; `excess` is what the level's runs are slower by after each.
fn rehearsed(excess: [f64; 3]) -> Comparison {
    let label = tempfile::tempdir().unwrap();
    let lengths = [("2s", 2), ("5s", 5), ("15s", 15)];
    for block in 1..=6_u32 {
        for (row, (name, seconds)) in lengths.into_iter().enumerate() {
            for (index, own) in ["base", "level", "null"].into_iter().enumerate() {
                let own = level(own, index as u32, (own == "null").then_some("base"));
                let slowed = if own.level == "level" { 1.0 - excess[row] } else { 1.0 };
                let noise = f64::from((block * 5 + row as u32 * 3 + index as u32 * 7) % 4) * 0.001;
                let mut run = run_of(block, &own, (24_000.0 * (slowed + noise)) as u64);
                run.meta.run =
                    format!("{block:02}-{:02}-{}+{name}", row * 3 + index + 1, own.level);
                run.meta.cell = format!("{}+{name}", own.level);
                run.meta.levels.push(LevelOf {
                    factor: "warmup".to_owned(),
                    level: name.to_owned(),
                    index: row as u32,
                    twin: None,
                    positive: None,
                    contrasted: false,
                });
                run.meta.effective.load.warmup = Extent::Ns(seconds * 1_000_000_000);
                run.complete(label.path());
            }
        }
    }
    compared(label.path())
}

/// K-087: a level that warms slower is penalised less the longer the warm-up.
#[test]
fn a_cost_that_decays_is_a_trend_and_noise_is_not() {
    let decaying = rehearsed([0.08, 0.04, 0.01]);
    let [found] = &decaying.tables.rehearsals[..] else { panic!("one contrast is rehearsed") };
    assert_eq!(found.contrast, "target: level / base in *+*");
    let warmups: Vec<&str> = found.points.iter().map(|point| point.warmup.as_str()).collect();
    assert_eq!((warmups, found.word.as_str()), (vec!["2s", "5s", "15s"], "trend"));
    assert!(found.step_percent.unwrap().interval.unwrap()[0] > 0.0);
    assert!(found.range_percent > found.noise_percent);

    let same = rehearsed([0.04, 0.04, 0.04]);
    assert_eq!(same.tables.rehearsals[0].word, "stable");
    let up_and_down = rehearsed([0.04, 0.01, 0.04]);
    assert_eq!(up_and_down.tables.rehearsals[0].word, "undecided");
}
