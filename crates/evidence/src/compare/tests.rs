//! Comparisons of labels made by hand: who meets whom, who is left out and why, and that the
//! result depends on the digests alone.

use std::fs;
use std::path::{Path, PathBuf};

use record::compare::{Comparison, Contrast};
use record::digest::Digest;
use record::layout;
use record::meta::{Outcome, OutcomeState};
use record::plan::{Extent, LevelOf, Model, RunKind};

use super::{CompareOptions, compare, is_doubtful};
use crate::error::EvidenceError;
use crate::samples::{self, SampleRun, level};

/// Throughput of a run as a count of successes in the sample window.
fn run_of(block: u32, order: u32, level: &LevelOf, succeeded: u64) -> SampleRun {
    let mut run = SampleRun::sound(block, order, level);
    let mut load = samples::load();
    load.workers.clear();
    load.due = succeeded;
    load.sent = succeeded;
    load.succeeded = succeeded;
    run.load = Some(load);
    run
}

/// Base, 5 % slower and null over `blocks`, with a little noise that differs by block.
fn label_of(blocks: u32) -> (tempfile::TempDir, PathBuf) {
    let label = tempfile::tempdir().unwrap();
    let levels = [level("base", 0, None), level("slow", 1, None), level("null", 2, Some("base"))];
    for block in 1..=blocks {
        for (index, level) in levels.iter().enumerate() {
            let noise = u64::from((block * 7 + index as u32 * 3) % 5) * 20;
            let centre = if level.level == "slow" { 22_800 } else { 24_000 };
            let order = (index as u32 + block) % 3 + 1;
            run_of(block, order, level, centre + noise).complete(label.path());
        }
    }
    let path = label.path().to_owned();
    (label, path)
}

fn compared(dir: &Path) -> Comparison {
    compare(dir, &CompareOptions::default()).unwrap()
}

fn contrast<'c>(comparison: &'c Comparison, level: &str, metric: &str) -> &'c Contrast {
    comparison
        .contrasts
        .iter()
        .find(|contrast| contrast.level == level && contrast.metric == metric)
        .unwrap_or_else(|| panic!("no contrast of `{level}` in `{metric}`"))
}

fn run_dir(label: &Path, block: u32, level: &str) -> PathBuf {
    let runs = label.join("runs");
    let found = fs::read_dir(&runs).unwrap().flatten().find(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with(&format!("{block:02}-")) && name.ends_with(&format!("-{level}"))
    });
    found.unwrap_or_else(|| panic!("no run of `{level}` in block {block}")).path()
}

/// Changes the digest of a run in place.
fn edit(dir: &Path, change: impl FnOnce(&mut Digest)) {
    let path = dir.join(layout::DIGEST_JSON);
    let mut digest = layout::read_json(&path).unwrap();
    change(&mut digest);
    samples::write_digest(dir, &digest);
}

fn name_of(dir: &Path) -> String {
    dir.file_name().unwrap().to_string_lossy().into_owned()
}

fn left_out(contrast: &Contrast) -> String {
    contrast
        .left_out
        .iter()
        .map(|left| format!("{}: {}", left.run, left.reason))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn an_effect_is_found_with_its_sign_and_size_and_the_null_is_none() {
    let (_keep, label) = label_of(8);
    let comparison = compared(&label);
    let slow = contrast(&comparison, "slow", "throughput");
    assert_eq!((slow.pairs, slow.primary, slow.null), (8, true, false));
    assert_eq!(slow.verdict, "slower");
    let [low, high] = slow.interval_percent.unwrap();
    assert!(low <= -5.0 && -5.0 <= high, "{low} to {high}");
    assert_eq!(slow.null_arm.as_deref(), Some("null in *"));
    assert!((slow.ratio.unwrap() - 0.95).abs() < 0.005);
    assert!((slow.level_value.unwrap() / slow.baseline_value.unwrap() - 0.95).abs() < 0.005);
    assert_eq!(slow.flags, Vec::<String>::new());
    let null = contrast(&comparison, "null", "throughput");
    assert_eq!((null.null, null.verdict.as_str()), (true, "equivalent"));
    assert_eq!(null.baseline, "base", "a control meets its twin");
    // Lower CPU per request is better; the same CPU over fewer requests is worse.
    assert_eq!(contrast(&comparison, "slow", "target.cpu_per_request").verdict, "slower");
    // The primary metric comes first within each level.
    let first_of_slow = comparison.contrasts.iter().find(|c| c.level == "slow").unwrap();
    assert!(first_of_slow.primary);
    assert_eq!(comparison.notes, ["no matrix manifest: warm-up, order unknown"]);
}

#[test]
fn under_six_pairs_a_large_effect_is_inconclusive() {
    let (_keep, label) = label_of(5);
    let comparison = compared(&label);
    let slow = contrast(&comparison, "slow", "throughput");
    assert_eq!(slow.verdict, "inconclusive");
    assert_eq!(slow.interval_percent, None);
    assert_eq!(slow.flags, ["uncontrolled", "few_pairs", "odd_pairs"]);
    assert!(slow.needed_pairs >= Some(6));
    assert_eq!(slow.null_arm, None, "five pairs of a null control nothing");
}

#[test]
fn without_a_null_the_contrast_is_uncontrolled() {
    let (_keep, label) = label_of(8);
    for block in 1..=8 {
        fs::remove_dir_all(run_dir(&label, block, "null")).unwrap();
    }
    let comparison = compared(&label);
    let slow = contrast(&comparison, "slow", "throughput");
    assert_eq!(
        (slow.verdict.as_str(), &slow.flags[..]),
        ("slower", &["uncontrolled".to_owned()][..])
    );
    assert_eq!(slow.null_arm, None);
}

#[test]
fn a_null_that_differs_voids_what_it_controls() {
    let (_keep, label) = label_of(8);
    for block in 1..=8 {
        edit(&run_dir(&label, block, "null"), |digest| {
            let metric = digest.metrics.get_mut("throughput").unwrap();
            metric.value = metric.value.map(|value| value * 0.97);
        });
    }
    let comparison = compared(&label);
    assert_eq!(contrast(&comparison, "slow", "throughput").verdict, "void");
    assert_eq!(contrast(&comparison, "null", "throughput").verdict, "void");
    assert!(contrast(&comparison, "slow", "throughput").flags.contains(&"null_differs".to_owned()));
    assert_eq!(
        contrast(&comparison, "slow", "p50").verdict,
        "equivalent",
        "each metric has its own"
    );
}

#[test]
fn pairs_are_made_by_block_whatever_time_and_order_say() {
    let (_keep, label) = label_of(8);
    let before = contrast(&compared(&label), "slow", "throughput").clone();
    for block in 1..=8 {
        for level in ["base", "slow", "null"] {
            edit(&run_dir(&label, block, level), |digest| {
                digest.started_utc = format!("2026-01-01T00:00:{:02}Z", 60 - block * 7);
                digest.order = 4 - digest.order;
            });
        }
    }
    let other_order = contrast(&compared(&label), "slow", "throughput").clone();
    assert_eq!(without_order(&before), without_order(&other_order));
    // What the order did is told apart: it has the other sign now.
    let of = |contrast: &Contrast| (contrast.order_effect_percent.unwrap().value / 100.0).ln_1p();
    assert!(of(&before) != 0.0 && (of(&before) + of(&other_order)).abs() < 1e-9);
    // One run less: its partner is named, every other pair is as it was.
    fs::remove_dir_all(run_dir(&label, 3, "slow")).unwrap();
    let comparison = compared(&label);
    let after = contrast(&comparison, "slow", "throughput");
    let without: Vec<_> = before.log_ratios.iter().filter(|(block, _)| *block != 3).collect();
    assert_eq!(after.log_ratios.iter().collect::<Vec<_>>(), without);
    let orphan = name_of(&run_dir(&label, 3, "base"));
    assert_eq!(left_out(after), format!("{orphan}: orphan: no partner in block 3"));
}

/// A contrast without what the order of its runs says.
fn without_order(contrast: &Contrast) -> Contrast {
    let mut contrast = contrast.clone();
    contrast.order_effect_percent = None;
    contrast.pair_values.iter_mut().for_each(|pair| pair.baseline_first = None);
    contrast
}

#[test]
fn an_incomplete_directory_is_named_and_its_repetition_counts_once() {
    let (_keep, label) = label_of(8);
    let dir = run_dir(&label, 2, "slow");
    fs::remove_file(dir.join(layout::DIGEST_JSON)).unwrap();
    let comparison = compared(&label);
    let name = name_of(&dir);
    assert_eq!(comparison.left_out[0].run, name);
    assert_eq!(comparison.left_out[0].reason, "incomplete: no digest.json");
    assert!(is_doubtful(&comparison));
    let slow = contrast(&comparison, "slow", "throughput");
    assert_eq!(slow.pairs, 7);
    assert!(left_out(slow).ends_with(&format!("block 2, where {name} is incomplete")));

    let mut again = run_of(2, 1, &level("slow", 1, None), 22_800);
    again.meta.run = format!("{name}.2");
    again.meta.attempt = 2;
    again.complete(&label);
    let comparison = compared(&label);
    assert_eq!(contrast(&comparison, "slow", "throughput").pairs, 8);
    let listed: Vec<&str> = comparison.left_out.iter().map(|left| left.run.as_str()).collect();
    assert_eq!(listed, [name.as_str()], "the first attempt stays listed");
    assert_eq!(
        comparison.left_out[0].reason,
        format!("incomplete: no digest.json, repeated as {name}.2")
    );
    assert!(!is_doubtful(&comparison), "every run is there");
}

#[test]
fn warm_up_runs_are_discarded_by_name() {
    let (_keep, label) = label_of(6);
    let before = compared(&label).contrasts;
    let mut warm = run_of(1, 1, &level("base", 0, None), 1_000);
    warm.meta.run = "01-01w-base".to_owned();
    warm.meta.kind = RunKind::WarmUp;
    warm.complete(&label);
    let comparison = compared(&label);
    assert_eq!(comparison.contrasts, before);
    assert_eq!(comparison.left_out, []);
    assert_eq!(comparison.notes[1], "warm-up runs, discarded: 01-01w-base");
    assert!(!is_doubtful(&comparison));
}

#[test]
fn void_runs_are_named_with_their_reason_and_left_out() {
    let (_keep, label) = label_of(8);
    let dir = run_dir(&label, 4, "slow");
    let mut run = run_of(4, 1, &level("slow", 1, None), 22_800);
    run.meta.run = name_of(&dir);
    run.meta.outcome =
        Some(Outcome { state: OutcomeState::TargetDied, detail: "the mock got signal 9".into() });
    run.complete(&label);
    let comparison = compared(&label);
    let slow = contrast(&comparison, "slow", "throughput");
    assert_eq!(slow.pairs, 7);
    assert!(is_doubtful(&comparison));
    let partner = name_of(&run_dir(&label, 4, "base"));
    let expected = format!(
        "{partner}: orphan: its partner {name} is void\n\
         {name}: void: target_died: the mock got signal 9",
        name = name_of(&dir)
    );
    assert_eq!(left_out(slow), expected);
    assert_eq!(contrast(&comparison, "null", "throughput").pairs, 8);
}

#[test]
fn when_every_pair_fell_to_a_gate_the_word_is_void() {
    let (_keep, label) = label_of(6);
    for block in 1..=6 {
        let dir = run_dir(&label, block, "slow");
        let mut run = run_of(block, 1, &level("slow", 1, None), 22_800);
        run.meta.run = name_of(&dir);
        run.meta.outcome = None;
        run.complete(&label);
    }
    let comparison = compared(&label);
    let slow = contrast(&comparison, "slow", "throughput");
    assert_eq!((slow.pairs, slow.verdict.as_str(), slow.ratio), (0, "void", None));
}

#[test]
fn a_saturated_generator_leaves_latency_and_throughput_but_not_cpu() {
    let (_keep, label) = label_of(8);
    let dir = run_dir(&label, 5, "slow");
    let mut run = run_of(5, 1, &level("slow", 1, None), 22_800);
    run.meta.run = name_of(&dir);
    if let Some(load) = &mut run.load {
        load.generator.cpu_user_ns = 29_000_000_000;
    }
    run.complete(&label);
    let comparison = compared(&label);
    let throughput = contrast(&comparison, "slow", "throughput");
    assert_eq!(throughput.pairs, 7);
    assert!(left_out(throughput).contains("only a lower bound: generator_cpu"));
    let latency = contrast(&comparison, "slow", "p50");
    assert_eq!(latency.pairs, 7);
    assert!(left_out(latency).contains("void: generator_cpu"));
    assert_eq!(contrast(&comparison, "slow", "target.cpu_per_request").pairs, 8);
}

#[test]
fn a_null_is_equal_identity_whatever_it_is_called() {
    let (_keep, label) = label_of(6);
    // Another binary on one arm: the declared control is none.
    for block in 1..=6 {
        edit(&run_dir(&label, block, "null"), |digest| {
            let target = digest.identity.processes.get_mut("target").unwrap();
            target.sha256 = Some("ee".repeat(32));
        });
        // A level of the same identity is a null, though nobody declared it.
        edit(&run_dir(&label, block, "slow"), |digest| {
            digest.identity.effective_sha256 = "effective-base".to_owned();
        });
    }
    let comparison = compared(&label);
    let null = contrast(&comparison, "null", "throughput");
    assert!(!null.null);
    assert!(null.flags.contains(&"control_differs".to_owned()));
    assert!(contrast(&comparison, "slow", "throughput").null);
}

#[test]
fn an_arm_without_identity_is_undecidable_aloud() {
    let (_keep, label) = label_of(6);
    edit(&run_dir(&label, 2, "slow"), |digest| digest.identity.assay.commit = "unknown".into());
    let comparison = compared(&label);
    assert_eq!(contrast(&comparison, "slow", "throughput").flags, ["undecidable"]);
    assert!(contrast(&comparison, "null", "throughput").flags.is_empty());
    insta::assert_snapshot!(comparison.notes.join("\n"), @"
    no matrix manifest: warm-up, order unknown
    undecidable: `slow` does not say which build it was; unknown: assay's commit
    ");
}

#[test]
fn a_pair_must_agree_in_everything_that_its_factor_does_not_pick() {
    type Change = fn(&mut Digest);
    let cases: [(Change, &str); 6] = [
        (
            |digest| digest.identity.effective.load.model = Model::Users(9),
            "environment: `load.users` differs: 8 and 9",
        ),
        (
            |digest| digest.identity.effective.transport = "p1".to_owned(),
            "environment: `transport` differs: p0 and p1",
        ),
        (
            |digest| digest.identity.host.kernel = "6.13.0".to_owned(),
            "environment: `host.kernel` differs: 6.12.0 and 6.13.0",
        ),
        (
            |digest| digest.identity.host.governor = Some("powersave".to_owned()),
            "environment: `host.governor` differs: unknown and powersave",
        ),
        (
            |digest| digest.identity.assay.sha256 = "new".to_owned(),
            "environment: `assay.sha256` differs:",
        ),
        (
            |digest| {
                let check = digest.checks.iter_mut().find(|check| check.gate == "window");
                check.unwrap().bound = Some(1e9);
            },
            "environment: `gates.window` differs: 20000000000 and 1000000000",
        ),
    ];
    for (change, expected) in cases {
        let (_keep, label) = label_of(6);
        edit(&run_dir(&label, 2, "slow"), change);
        let comparison = compared(&label);
        let slow = contrast(&comparison, "slow", "throughput");
        assert_eq!(slow.pairs, 5, "{expected}");
        assert!(left_out(slow).contains(expected), "{}", left_out(slow));
    }
}

#[test]
fn what_the_factor_sets_may_differ() {
    let (_keep, label) = label_of(6);
    for block in 1..=6 {
        edit(&run_dir(&label, block, "slow"), |digest| {
            digest.identity.effective.load.model = Model::Users(9);
            let sets = digest.identity.sets.entry("target".to_owned()).or_default();
            sets.insert("load.users".to_owned());
        });
    }
    assert_eq!(contrast(&compared(&label), "slow", "throughput").pairs, 6);
}

#[test]
fn a_reboot_in_the_middle_leaves_the_later_pairs_out() {
    let (_keep, label) = label_of(6);
    for block in 5..=6 {
        for level in ["base", "slow"] {
            edit(&run_dir(&label, block, level), |digest| {
                digest.identity.host.boot_id = Some("33333333-4444".to_owned());
            });
        }
    }
    let comparison = compared(&label);
    let slow = contrast(&comparison, "slow", "throughput");
    assert_eq!(slow.pairs, 4);
    assert!(left_out(slow).contains("`host.boot_id` is 33333333-4444, in the first pair 11111111"));
}

#[test]
fn quick_runs_are_refused_wherever_they_lie() {
    let (_keep, label) = label_of(1);
    edit(&run_dir(&label, 1, "base"), |digest| digest.quick = true);
    let refused = compare(&label, &CompareOptions::default()).unwrap_err();
    assert!(matches!(refused, EvidenceError::QuickRefused { .. }));
    assert!(refused.is_refusal());
    assert!(matches!(crate::matrix(&label), Err(EvidenceError::QuickRefused { .. })));

    let out = tempfile::tempdir().unwrap();
    let quick = out.path().join("quick").join("a");
    SampleRun::sound(1, 1, &level("base", 0, None)).complete(&quick);
    let refused = compare(&quick, &CompareOptions::default()).unwrap_err();
    assert!(matches!(refused, EvidenceError::QuickRefused { .. }));
}

#[test]
fn one_run_alone_is_no_comparison() {
    let label = tempfile::tempdir().unwrap();
    let dir = SampleRun::sound(1, 1, &level("base", 0, None)).complete(label.path());
    for place in [label.path(), dir.as_path()] {
        let comparison = compared(place);
        assert!(comparison.contrasts.is_empty());
        assert!(comparison.notes.contains(&"unpaired: one run is no comparison".to_owned()));
    }
}

#[test]
fn what_holds_no_runs_and_what_is_no_factor_is_said() {
    let empty = tempfile::tempdir().unwrap();
    let error = compare(empty.path(), &CompareOptions::default()).unwrap_err();
    assert!(matches!(error, EvidenceError::NoRuns { .. }));
    let (_keep, label) = label_of(1);
    let options =
        CompareOptions { factor: Some("targets".to_owned()), ..CompareOptions::default() };
    let error = compare(&label, &options).unwrap_err();
    assert_eq!(error.to_string(), "no factor `targets` in these runs; nearest `target`");
    let options = CompareOptions { factor: Some("target".to_owned()), ..CompareOptions::default() };
    assert!(!compare(&label, &options).unwrap().contrasts.is_empty());
}

/// A copy elsewhere, with nothing but digests and plan, gives the same bytes.
#[test]
fn the_table_follows_from_the_digests_alone() {
    let (_keep, label) = label_of(6);
    layout::write_json(&label.join(layout::PLAN), &samples::plan(&["base", "slow", "null"], 6))
        .unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("other").join("name");
    fs::create_dir_all(copy.join("runs")).unwrap();
    fs::copy(label.join(layout::PLAN), copy.join(layout::PLAN)).unwrap();
    // Written in another order, so that no listing order can matter.
    let mut runs: Vec<_> = fs::read_dir(label.join("runs")).unwrap().flatten().collect();
    runs.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
    for run in runs {
        let to = copy.join("runs").join(run.file_name());
        fs::create_dir_all(&to).unwrap();
        fs::copy(run.path().join(layout::DIGEST_JSON), to.join(layout::DIGEST_JSON)).unwrap();
    }
    let bytes = |dir: &Path| {
        let comparison = serde_json::to_vec(&compared(dir)).unwrap();
        (comparison, serde_json::to_vec(&crate::matrix(dir).unwrap()).unwrap())
    };
    assert_eq!(bytes(&label), bytes(&copy));
}

#[test]
fn a_damaged_digest_is_an_incomplete_run_with_a_note() {
    let (_keep, label) = label_of(6);
    let dir = run_dir(&label, 1, "slow");
    fs::write(dir.join(layout::DIGEST_JSON), "{").unwrap();
    let comparison = compared(&label);
    assert_eq!(contrast(&comparison, "slow", "throughput").pairs, 5);
    let note = format!("{}: digest.json is damaged", name_of(&dir));
    assert!(comparison.notes.iter().any(|known| known.starts_with(&note)));
}

#[test]
fn primary_metrics_follow_the_load_and_its_samples() {
    let change = |label: &Path, change: fn(&mut Digest)| {
        for block in 1..=6 {
            for level in ["base", "slow", "null"] {
                edit(&run_dir(label, block, level), change);
            }
        }
    };
    let primary = |label: &Path| {
        let comparison = compared(label);
        let found = comparison.contrasts.iter().find(|contrast| contrast.primary).unwrap();
        (found.metric.clone(), comparison.notes)
    };
    let (_keep, label) = label_of(6);
    assert_eq!(primary(&label).0, "throughput");
    change(&label, |digest| digest.identity.effective.load.model = Model::Rate(800.0));
    assert_eq!(primary(&label).0, "p99");
    change(&label, |digest| digest.metrics.get_mut("p99").unwrap().value = None);
    let (metric, notes) = primary(&label);
    assert_eq!(metric, "p50");
    assert!(notes.iter().any(|note| note.contains("p99 has too few samples")), "{notes:?}");
    change(&label, |digest| digest.primary = Some("target.cpu_per_request".to_owned()));
    assert_eq!(primary(&label).0, "target.cpu_per_request");
    change(&label, |digest| {
        digest.primary = None;
        digest.identity.effective.load.measure = Extent::Count(100);
    });
    assert_eq!(primary(&label).0, "time");
}

/// Two factors: `target` with a null, and `size`; the worked example of the bench file.
#[test]
fn every_level_meets_the_baseline_within_each_combination_of_the_others() {
    let label = tempfile::tempdir().unwrap();
    let size = |name: &str, index| LevelOf {
        factor: "size".to_owned(),
        level: name.to_owned(),
        index,
        twin: None,
        positive: None,
        contrasted: true,
    };
    for block in 1..=6 {
        let mut order = 0;
        for target in
            [level("nginx", 0, None), level("tomcat", 1, None), level("null", 2, Some("nginx"))]
        {
            for size in [size("1k", 0), size("64k", 1)] {
                order += 1;
                let mut run = run_of(block, order, &target, 24_000 + u64::from(block));
                run.meta.cell = format!("{}+{}", target.level, size.level);
                run.meta.run = format!("{block:02}-{order:02}-{}", run.meta.cell);
                run.meta.identity_sha256.push_str(&size.level);
                run.meta.levels = vec![target.clone(), size];
                run.complete(label.path());
            }
        }
    }
    let comparison = compared(label.path());
    let listed: Vec<String> = comparison
        .contrasts
        .iter()
        .filter(|contrast| contrast.primary)
        .map(|c| {
            format!("{}: {}/{} in {}, {} pairs", c.factor, c.level, c.baseline, c.cell, c.pairs)
        })
        .collect();
    insta::assert_snapshot!(listed.join("\n"), @"
    target: tomcat/nginx in *+1k, 6 pairs
    target: tomcat/nginx in *+64k, 6 pairs
    target: null/nginx in *+1k, 6 pairs
    target: null/nginx in *+64k, 6 pairs
    size: 64k/1k in nginx+*, 6 pairs
    size: 64k/1k in tomcat+*, 6 pairs
    ");
    let in_1k = contrast(&comparison, "tomcat", "throughput");
    assert_eq!(in_1k.null_arm.as_deref(), Some("null in *+1k"), "the null of the same cell");
    // Where a cell has no null of its own, that of the factor stands in, by name.
    for block in 1..=6 {
        fs::remove_dir_all(label.path().join(format!("runs/{block:02}-06-null+64k"))).unwrap();
    }
    let comparison = compared(label.path());
    let nulls: Vec<&str> = comparison
        .contrasts
        .iter()
        .filter(|c| c.primary && c.level == "tomcat")
        .filter_map(|c| c.null_arm.as_deref())
        .collect();
    assert_eq!(nulls, ["null in *+1k", "null in *+1k"]);
}

#[test]
fn no_failures_on_both_arms_are_equal_and_one_zero_has_no_ratio() {
    let (_keep, label) = label_of(6);
    let equal = contrast(&compared(&label), "slow", "failures").clone();
    assert_eq!((equal.pairs, equal.verdict.as_str()), (6, "equivalent"));
    edit(&run_dir(&label, 1, "slow"), |digest| {
        digest.metrics.get_mut("failures").unwrap().value = Some(0.0005);
    });
    let comparison = compared(&label);
    let failures = contrast(&comparison, "slow", "failures");
    assert_eq!(failures.pairs, 5);
    assert!(left_out(failures).contains("`failures` is 0 in one arm: no ratio"));
}

#[test]
fn lowered_gates_are_said_in_the_table() {
    let (_keep, label) = label_of(2);
    for block in 1..=2 {
        for level in ["base", "slow", "null"] {
            edit(&run_dir(&label, block, level), |digest| {
                for check in digest.checks.iter_mut().filter(|check| check.gate == "window") {
                    check.bound = Some(2e9);
                }
            });
        }
    }
    let comparison = compared(&label);
    assert_eq!(comparison.notes[1], "gates set by the bench: window 2.00 s (default 20.0 s)");
}

#[test]
fn the_matrix_lists_every_directory() {
    let (_keep, label) = label_of(2);
    layout::write_json(&label.join(layout::PLAN), &samples::plan(&["base", "slow", "null"], 3))
        .unwrap();
    let dir = label.join("runs/03-02w-base");
    fs::create_dir_all(&dir).unwrap();
    let matrix = crate::matrix(&label).unwrap();
    assert_eq!((matrix.planned_runs, matrix.completed_runs, matrix.runs.len()), (9, 6, 7));
    let incomplete = &matrix.runs[6];
    assert_eq!((incomplete.block, incomplete.order), (3, 2));
    assert_eq!((incomplete.cell.as_str(), incomplete.kind.as_str()), ("base", "incomplete"));
    assert_eq!(incomplete.validity, None);
    assert!(
        matrix.notes.contains(
            &"6 of 9 planned runs are complete; `--resume` completes the rest".to_owned()
        )
    );
}
