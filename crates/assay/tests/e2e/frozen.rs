//! The frozen table of a label: made by `assay run`, held against by `assay compare`.

use std::fs;

use record::compare::Matrix;
use record::digest::Digest;
use record::frozen::FrozenInputs;
use record::layout;

use crate::support::{Bench, Lab, names, read};

fn bench() -> Bench {
    Bench::mock()
        .factor("path", &[("a", "{ scenario.get = \"/a\" }"), ("b", "{ scenario.get = \"/b\" }")])
}

/// K-097: every table is kept with the build and the hashes behind it; nothing is archived twice.
#[test]
fn a_label_keeps_its_table_as_it_was_derived() {
    let lab = Lab::new();
    lab.run(&bench(), "kept", &[]).expect(0);
    let frozen = lab.label("kept").join(layout::FROZEN);
    assert_eq!(names(&frozen), ["1"]);
    let dir = frozen.join("1");
    assert_eq!(names(&dir), [layout::INPUTS, layout::MATRIX_JSON, layout::MATRIX_MD]);
    let inputs: FrozenInputs = read(&dir.join(layout::INPUTS));
    assert_eq!(inputs.digests.keys().cloned().collect::<Vec<_>>(), lab.runs("kept"));
    assert!(!inputs.assay.version.is_empty() && inputs.assay.sha256.len() == 64);
    let (archived, now): (Matrix, Matrix) =
        (read(&dir.join(layout::MATRIX_JSON)), read(&lab.label("kept").join(layout::MATRIX_JSON)));
    assert_eq!(archived.contrasts, now.contrasts);

    lab.assay(&["run", "bench.toml", "--label", "kept", "--resume"]).expect(0);
    assert_eq!(names(&frozen), ["1"], "the same digests by the same build");
}

/// K-097: an equal derivation is one line; another figure is shown with the input that moved it.
#[test]
fn a_later_derivation_that_differs_shows_the_difference() {
    let lab = Lab::new();
    lab.run(&bench(), "kept", &[]).expect(0);
    let equal = lab.assay(&["compare", "results/kept"]).expect(0);
    let said: Vec<&str> = equal.stderr.lines().filter(|line| line.contains("frozen")).collect();
    assert!(said.len() == 1 && said[0].starts_with("equals the frozen table of "), "{said:?}");

    let run = lab.runs("kept").remove(0);
    let path = lab.label("kept").join(layout::RUNS).join(&run).join(layout::DIGEST_JSON);
    let mut digest: Digest = read(&path);
    let metric = digest.metrics.get_mut("throughput").expect("a throughput");
    metric.value = metric.value.map(|value| value * 0.5);
    layout::write_json(&path, &digest).expect("the digest can be written");
    let moved = lab.assay(&["compare", "results/kept"]).expect(3);
    assert!(moved.stdout.contains("figures that differ: "), "{}", moved.stdout);
    assert!(moved.stdout.contains("throughput: ratio: "), "{}", moved.stdout);
    assert!(moved.stdout.contains(&format!("input changed: {run}")), "{}", moved.stdout);

    // Without the archive there is nothing to hold it against.
    fs::remove_dir_all(lab.label("kept").join(layout::FROZEN)).expect("it is ours");
    let alone = lab.assay(&["compare", "results/kept"]).expect(0);
    assert!(!alone.stderr.contains("frozen"), "{}", alone.stderr);
}

#[test]
fn a_damaged_archive_is_a_remark() {
    let lab = Lab::new();
    lab.run(&bench(), "kept", &[]).expect(0);
    fs::write(lab.label("kept").join("frozen/1").join(layout::MATRIX_JSON), "{").expect("ours");
    let ran = lab.assay(&["compare", "results/kept"]).expect(0);
    assert!(ran.stderr.contains("no look at the frozen table"), "{}", ran.stderr);
}
