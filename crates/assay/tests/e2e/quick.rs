//! A quick run proves the plumbing and can never be read as a measurement.

use std::fs;

use record::layout;

use crate::support::{Bench, Lab, files, meta};

fn bench() -> Bench {
    Bench::mock()
        .matrix("blocks", "6")
        .load("measure", "\"60s\"")
        .load("warmup", "\"60s\"")
        .factor("latency", &[("base", "{}"), ("slower", "{ target.mock.latency = \"4ms\" }")])
}

#[test]
fn a_quick_run_is_marked_kept_apart_and_refused_by_every_table() {
    let lab = Lab::new();
    lab.write("bench.toml", &bench().toml());
    let ran = lab.assay(&["run", "bench.toml", "--quick", "--label", "q"]).expect(0);
    insta::assert_snapshot!(ran.stdout, @"quick: 2 of 2 runs went through; this is no measurement");
    let dir = lab.path().join("results/quick/q");
    assert!(!lab.label("q").exists());
    let runs = crate::support::names(&dir.join(layout::RUNS));
    assert_eq!(runs, ["01-01-base", "01-02-slower"], "one block");
    for run in &runs {
        let run = dir.join(layout::RUNS).join(run);
        assert!(meta(&run).quick);
        assert!(crate::support::digest(&run).quick);
        let page = fs::read_to_string(run.join(layout::DIGEST_MD)).expect("a digest for people");
        assert!(page.contains("no measurement"), "{page}");
    }
    assert!(!dir.join(layout::MATRIX_JSON).exists(), "no table is made of it");
    assert!(!dir.join(layout::MATRIX_MD).exists());

    let ran = lab.assay(&["compare", "results/quick/q"]).expect(5);
    assert_eq!(ran.stdout, "");
    insta::assert_snapshot!(ran.stderr, @"error: `results/quick/q` holds quick runs: they prove the plumbing and are no measurement; run the bench without `--quick`");
    // Elsewhere it is refused as well, with and without its plan, and so is each of its runs.
    fs::rename(&dir, lab.path().join("moved")).expect("it can be moved");
    lab.assay(&["compare", "moved"]).expect(5);
    fs::remove_file(lab.path().join("moved").join(layout::PLAN)).expect("the plan was there");
    lab.assay(&["compare", "moved"]).expect(5);
    lab.assay(&["compare", "moved/runs/01-01-base"]).expect(5);
    assert!(!files(lab.path()).iter().any(|path| path.ends_with(layout::MATRIX_JSON)));
}

#[test]
fn a_quick_run_and_a_real_one_may_have_the_same_label() {
    let lab = Lab::new();
    lab.write("bench.toml", &Bench::mock().toml());
    lab.assay(&["run", "bench.toml", "--label", "same"]).expect(0);
    lab.assay(&["run", "bench.toml", "--label", "same", "--quick"]).expect(0);
    lab.assay(&["run", "bench.toml", "--label", "same", "--quick"]).expect(5);
    lab.assay(&["run", "bench.toml", "--label", "quick"]).expect(2);
}
