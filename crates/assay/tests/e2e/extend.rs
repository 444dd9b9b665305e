//! More blocks for a label that exists (K-092): numbers go on, identities are checked, every look
//! is on record, and a kill in the middle loses nothing. Rehearsed warm-ups and varied layouts.

use std::fs;

use record::compare::{Look, Matrix};
use record::layout;
use record::plan::Plan;
use rustix::process::Signal;

use crate::support::{Bench, Lab, Ran, files, meta, read, wait_for};

/// Two latencies and a null, two short blocks.
fn bench() -> Bench {
    Bench::mock()
        .matrix("blocks", "2")
        .factor(
            "latency",
            &[
                ("base", "{}"),
                ("slower", "{ target.mock.latency = \"6ms\" }"),
                ("null", "\"base\""),
            ],
        )
        .more("[compare]\nprimary = \"p50\"")
}

fn extend(lab: &Lab, label: &str, blocks: &str, more: &[&str]) -> Ran {
    let arguments = ["run", "bench.toml", "--label", label, "--extend", blocks];
    lab.assay(&[&arguments[..], more].concat())
}

fn plan(lab: &Lab, label: &str) -> Plan {
    read(&lab.label(label).join(layout::PLAN))
}

fn looks(lab: &Lab, label: &str) -> Vec<Look> {
    read(&lab.label(label).join(layout::LOOKS))
}

fn last_line(ran: &Ran) -> &str {
    ran.stderr.lines().last().unwrap_or_default()
}

/// A matrix of few blocks as a screen, then more blocks of all, then more of one row.
#[test]
fn screen_then_extend() {
    let lab = Lab::new();
    lab.run(&bench(), "screen", &[]).expect_one_of(&[0, 3]);
    let screened = plan(&lab, "screen");
    let before = files(&lab.label("screen").join(layout::RUNS));
    let contents = |path: &std::path::PathBuf| fs::read(path).expect("a file of a run");
    let bytes: Vec<Vec<u8>> = before.iter().map(contents).collect();

    extend(&lab, "screen", "4", &[]).expect_one_of(&[0, 3]);
    extend(&lab, "screen", "2", &["--only", "[!n]*"]).expect(2);
    extend(&lab, "screen", "2", &["--only", "*l*e*"]).expect_one_of(&[0, 3]);
    let runs = lab.runs("screen");
    // Blocks 1 to 6 of three cells, then two of `slower` alone.
    assert_eq!(runs.len(), 3 * 6 + 2, "{runs:?}");
    assert!(runs[18].starts_with("07-01-slower") && runs[19].starts_with("08-01-slower"));
    // Nothing of the screen was touched.
    let after: Vec<Vec<u8>> = before.iter().map(contents).collect();
    assert!(bytes == after, "a run that was made is never written again");
    let extended = plan(&lab, "screen");
    assert_eq!((screened.blocks, extended.blocks), (2, 8));
    assert_eq!(extended.runs[..screened.runs.len()], screened.runs);
    let added: Vec<(u32, Option<&str>)> =
        extended.extensions.iter().map(|e| (e.blocks, e.only.as_deref())).collect();
    assert_eq!(added, [(4, None), (2, Some("*l*e*"))]);
    let matrix: Matrix = read(&lab.label("screen").join(layout::MATRIX_JSON));
    assert_eq!((matrix.planned_runs, matrix.completed_runs), (20, 20));
    // The first run of the extension follows the last one of the screen, and says so.
    let of = |run: &str| meta(&lab.label("screen").join(layout::RUNS).join(run));
    assert_eq!(of(&runs[6]).previous_cell, Some(of(&runs[5]).cell));
    assert!(of(&runs[6]).since_previous_run_ns.is_some());
    // Every look is on record, each with what it may spend and what it showed.
    let looks = looks(&lab, "screen");
    assert_eq!(looks.iter().map(|look| look.blocks).collect::<Vec<u32>>(), [2, 6, 8]);
    assert_eq!(looks[1].alpha, 0.05, "two blocks could not raise an alarm");
    assert!(looks[2].alpha < 0.05, "a second look is paid for");
    let shown = looks[1].verdicts.get("latency: slower / base in *");
    assert!(shown.is_some(), "{:?}", looks[1].verdicts);
    lab.assert_nothing_runs();
}

#[test]
fn what_cannot_be_extended() {
    let lab = Lab::new();
    lab.write("bench.toml", &bench().toml());
    let nothing = extend(&lab, "none", "2", &[]).expect(5);
    insta::assert_snapshot!(last_line(&nothing), @"error: no label `none` in `results` to extend");
    lab.run(&bench(), "kept", &[]).expect_one_of(&[0, 3]);
    let untouched = fs::read(lab.label("kept").join(layout::PLAN)).expect("a plan");

    // Another bench, other options.
    lab.write("bench.toml", &bench().load("users", "3").toml());
    let other = extend(&lab, "kept", "2", &[]).expect(5);
    insta::assert_snapshot!(last_line(&other), @"error: label `kept` was made from another plan: `files` differs; resume or extend it with the bench and options it was made with");
    lab.write("bench.toml", &bench().toml());
    let set = extend(&lab, "kept", "2", &["--set", "load.users=3"]).expect(5);
    insta::assert_snapshot!(last_line(&set), @"error: label `kept` was made from another plan: `cells` differs; resume or extend it with the bench and options it was made with");
    // No cell, no number, no measurement.
    let empty = extend(&lab, "kept", "2", &["--only", "slowr"]).expect(2);
    insta::assert_snapshot!(empty.stderr.trim_end(), @"error: `--only slowr` matches no cell of the label; nearest `slower`");
    extend(&lab, "kept", "0", &[]).expect(2);
    extend(&lab, "kept", "2", &["--quick"]).expect(2);
    extend(&lab, "kept", "2", &["--resume"]).expect(2);
    extend(&lab, "kept", "2", &["--blocks", "4"]).expect(2);
    lab.assay(&["run", "bench.toml", "--extend", "2"]).expect(2);

    // Another build of the tool, as its own records tell.
    let run = lab.runs("kept").remove(0);
    let path = lab.label("kept").join(layout::RUNS).join(run).join(layout::META);
    let mut altered: record::meta::Meta = read(&path);
    altered.assay.sha256 = "0".repeat(64);
    layout::write_json(&path, &altered).expect("a file of the test");
    let build = extend(&lab, "kept", "2", &[]).expect(5);
    let message = last_line(&build);
    assert!(message.contains("`assay` was") && message.contains(" 0000000000000000"), "{message}");
    altered.assay.sha256 = read::<record::meta::Meta>(
        &lab.label("kept").join(layout::RUNS).join(lab.runs("kept").remove(1)).join(layout::META),
    )
    .assay
    .sha256;
    altered.host.boot_id = Some("another boot".to_owned());
    layout::write_json(&path, &altered).expect("a file of the test");
    let boot = extend(&lab, "kept", "2", &[]).expect(5);
    assert!(last_line(&boot).contains("`host.boot_id` was another boot"), "{}", boot.stderr);
    // Refused means that nothing was written.
    assert_eq!(fs::read(lab.label("kept").join(layout::PLAN)).expect("a plan"), untouched);
    assert_eq!(lab.runs("kept").len(), 6);
    assert_eq!(looks(&lab, "kept").len(), 1);
}

/// A label that was killed is completed before it is extended; one that was killed while it was
/// extended is completed by `--resume`, which needs no word of the extension.
#[test]
fn a_kill_during_an_extension_loses_nothing() {
    let lab = Lab::new();
    lab.run(&bench(), "killed", &[]).expect_one_of(&[0, 3]);
    let running = lab.spawn(&["run", "bench.toml", "--label", "killed", "--extend", "3"]);
    wait_for("the second run of the extension", || {
        let runs = lab.runs("killed");
        runs.iter().any(|run| run.starts_with("03-02")).then_some(())
    });
    running.signal(Signal::KILL);
    running.finish();
    lab.assert_nothing_runs();
    let message = extend(&lab, "killed", "1", &[]).expect(5);
    assert!(last_line(&message).contains("is not complete"), "{}", message.stderr);

    let made = lab.runs("killed");
    let run_dir = |run: &str| lab.label("killed").join(layout::RUNS).join(run);
    // A kill may hit before a directory says what it is.
    let told = |run: &&String| run.starts_with("03-") && run_dir(run).join(layout::META).is_file();
    let last = made.iter().rfind(told).expect("runs of block 3");
    let last_cell = meta(&run_dir(last)).cell;
    lab.assay(&["run", "bench.toml", "--label", "killed", "--resume"]).expect_one_of(&[0, 3]);
    let complete: Vec<String> = lab
        .runs("killed")
        .into_iter()
        .filter(|run| {
            lab.label("killed").join(layout::RUNS).join(run).join(layout::DIGEST_JSON).is_file()
        })
        .collect();
    assert_eq!(complete.len(), 3 * 5, "{complete:?}");
    // What the first run of the session may carry over is the run before the kill.
    let first = meta(&lab.label("killed").join(layout::RUNS).join(
        complete.iter().find(|run| !made.contains(run)).expect("the resumed session made runs"),
    ));
    assert_eq!(first.previous_cell.as_deref(), Some(last_cell.as_str()));
    let matrix: Matrix = read(&lab.label("killed").join(layout::MATRIX_JSON));
    assert_eq!((matrix.planned_runs, matrix.completed_runs), (15, 15));
    let blocks: Vec<u32> = looks(&lab, "killed").iter().map(|look| look.blocks).collect();
    assert_eq!(blocks, [2, 5]);
}

/// Looks that were registered spend what O'Brien and Fleming give them.
#[test]
fn registered_looks_are_paid_for_in_advance() {
    let lab = Lab::new();
    let bench = bench().matrix("blocks", "6").more("looks = 2");
    lab.run(&bench, "planned", &[]).expect_one_of(&[0, 3]);
    extend(&lab, "planned", "2", &[]).expect_one_of(&[0, 3]);
    // Nothing new: a resume of a complete label is the same look.
    lab.assay(&["run", "bench.toml", "--label", "planned", "--resume"]).expect_one_of(&[0, 3]);
    let alphas: Vec<f64> = looks(&lab, "planned").iter().map(|look| look.alpha).collect();
    // |z| > 2.797, then 1.977.
    let [first, second] = alphas[..] else { panic!("two looks: {alphas:?}") };
    assert!((first - 0.0052).abs() < 2e-4 && (second - 0.0480).abs() < 5e-4, "{alphas:?}");
}

/// K-087: the bench once for each warm-up, in one matrix.
#[test]
fn a_rehearsal_runs_every_warm_up() {
    let lab = Lab::new();
    lab.write("bench.toml", &bench().toml());
    lab.assay(&["run", "bench.toml", "--label", "warm", "--rehearse", "warmup=50ms,150ms"])
        .expect_one_of(&[0, 3]);
    let plan = plan(&lab, "warm");
    assert_eq!(plan.rehearsal.as_ref().map(|r| r.levels.len()), Some(2));
    let matrix: Matrix = read(&lab.label("warm").join(layout::MATRIX_JSON));
    assert_eq!(matrix.completed_runs, 2 * 3 * 2);
    for warmup in ["50ms", "150ms"] {
        let rows = matrix
            .contrasts
            .iter()
            .filter(|one| one.primary && one.cell.ends_with(&format!("+{warmup}")));
        assert_eq!(rows.count(), 2, "`slower` and `null` at {warmup}");
    }
}

/// K-094: the padding reaches the target, is the same for both arms of a block, and is in no
/// identity.
#[test]
fn a_varied_layout_pads_the_environment() {
    let lab = Lab::new();
    let serve = "printenv ASSAY_LAYOUT | tr -d '\\n' | wc -c >\"$DIR/padding\"; \
                 exec \"$ASSAY\" mock --listen 127.0.0.1:$PORT";
    let bench = Bench::script(serve)
        .target("env.DIR", "\"${run.dir}\"")
        .matrix("blocks", "4")
        .matrix("layout", "\"vary\"")
        .factor("users", &[("two", "{}"), ("three", "{ load.users = 3 }"), ("null", "\"two\"")]);
    lab.run(&bench, "padded", &[]).expect_one_of(&[0, 3]);
    let mut by_pair = std::collections::BTreeMap::new();
    for run in lab.runs("padded") {
        let dir = lab.label("padded").join(layout::RUNS).join(&run);
        let digest = crate::support::digest(&dir);
        let seen = fs::read_to_string(dir.join("padding")).expect("the target wrote it");
        assert_eq!(seen.trim().parse(), Ok(digest.layout_bytes), "{run}");
        assert!(!digest.identity.effective.target.env.contains_key("ASSAY_LAYOUT"));
        let pair = (digest.block - 1) / 2;
        assert_eq!(*by_pair.entry(pair).or_insert(digest.layout_bytes), digest.layout_bytes);
    }
    assert_eq!(by_pair.len(), 2);
    assert_ne!(by_pair[&0], by_pair[&1]);
    let matrix: Matrix = read(&lab.label("padded").join(layout::MATRIX_JSON));
    let null = matrix.contrasts.iter().find(|one| one.level == "null" && one.primary);
    assert!(null.is_some_and(|null| null.null && null.pairs == 4), "{null:#?}");
}
