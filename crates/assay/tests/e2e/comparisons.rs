//! The flags of `assay compare` on a label whose digests are made by hand: what is shown, where it
//! goes, what is refused, and that hiding a row hides no doubt.

use std::fs;
use std::path::{Path, PathBuf};

use evidence::samples::{SampleRun, level};
use record::compare::Comparison;
use record::layout;

use crate::support::{Lab, Ran};

/// Six blocks of a baseline, its null and a level that needs more CPU; the pairs of the level
/// have another throughput when `void` breaks one of its runs.
fn label(lab: &Lab, void: bool) -> PathBuf {
    let dir = lab.path().join("made");
    let levels = [level("base", 0, None), level("slow", 1, None), level("null", 2, Some("base"))];
    for block in 1..=6_u32 {
        for (index, level) in (0_u32..).zip(&levels) {
            let order = (index + block) % 3 + 1;
            let mut run = SampleRun::sound(block, order, level);
            if void && block == 3 && level.level == "slow" {
                run.meta.outcome = None;
            }
            run.complete(&dir);
        }
    }
    dir
}

fn compare(lab: &Lab, dir: &Path, flags: &[&str]) -> Ran {
    let dir = dir.display().to_string();
    lab.assay(&[&["compare", dir.as_str()], flags].concat())
}

#[test]
fn metrics_and_rows_are_chosen_and_terms_are_marked() {
    let lab = Lab::new();
    let dir = label(&lab, false);
    let plain = compare(&lab, &dir, &[]).expect(0).stdout;
    assert!(plain.contains("\ntarget: throughput (primary, margin 2 %), host "), "{plain}");
    assert!(!plain.contains("p50"), "{plain}");
    let some = compare(&lab, &dir, &["--metric", "p50,p99"]).expect(0).stdout;
    assert!(some.contains("target: p50 (exploratory") && some.contains("target: p99 ("), "{some}");
    assert!(!some.contains("throughput"), "{some}");
    let group = compare(&lab, &dir, &["--group", "sl*"]).expect(0).stdout;
    assert!(group.contains("\nslow ") && !group.contains("\nnull "), "{group}");
    let later = compare(&lab, &dir, &["--primary", "p50", "--margin", "3%"]).expect(0).stdout;
    assert!(
        later.contains("p50 (primary, chosen after the run, margin 3 % chosen after the run)"),
        "{later}"
    );
    for note in ["primary metric", "margin"] {
        assert!(later.contains(&format!("- {note} chosen after the run: exploratory")), "{later}");
    }
    let turned = compare(&lab, &dir, &["--baseline", "slow"]).expect(0).stdout;
    assert!(turned.lines().any(|line| line.starts_with("base   slow ")), "{turned}");
    let all = compare(&lab, &dir, &["--all"]).expect(0).stdout;
    for part in ["significant and large enough", "noise and order", "pairs: slow / base in *"] {
        assert!(all.contains(part), "{part} in {all}");
    }
}

#[test]
fn every_form_goes_where_it_was_asked_to() {
    let lab = Lab::new();
    let dir = label(&lab, false);
    let page = compare(&lab, &dir, &["--md"]).expect(0).stdout;
    assert!(page.starts_with("# Comparison sample\n") && page.contains("\n## Contrasts"), "{page}");
    let csv = compare(&lab, &dir, &["--csv", "-"]).expect(0).stdout;
    let json = compare(&lab, &dir, &["--json", "-"]).expect(0).stdout;
    let comparison: Comparison = serde_json::from_str(&json).expect("JSON");
    assert_eq!(csv.lines().count(), comparison.contrasts.len() + 1);
    assert!(csv.starts_with("factor,cell,level,"), "{csv}");
    // Both files beside the table, and the same bytes as on standard output.
    let both = compare(&lab, &dir, &["--csv", "out.csv", "--json", "out.json"]).expect(0);
    assert!(both.stdout.starts_with("label sample\n"));
    let read = |name: &str| fs::read_to_string(lab.path().join(name)).expect(name);
    assert_eq!((read("out.csv"), read("out.json")), (csv.clone(), json));
    let mixed = compare(&lab, &dir, &["--csv", "-", "--json", "again.json"]).expect(0);
    assert_eq!(mixed.stdout, csv);
    assert_eq!(read("again.json"), read("out.json"));
    let taken = compare(&lab, &dir, &["--csv", "-", "--json", "-"]).expect(2);
    assert!(taken.stdout.is_empty() && taken.stderr.contains("both take standard output"));
}

#[test]
fn what_is_unknown_is_refused_with_the_nearest_word() {
    let lab = Lab::new();
    let dir = label(&lab, false);
    for (flags, said) in [
        (&["--metric", "p55"][..], "no metric `p55` in these runs; nearest `p50`"),
        (&["--primary", "thruput"], "no metric `thruput` in these runs; nearest `throughput`"),
        (&["--baseline", "bsae"], "no level `bsae` in these runs; nearest `base`"),
        (&["--over", "scenario"], "no factor `scenario` in these runs; there are `target`"),
        (&["--group", "slwo"], "no row, cell or level `slwo` in these runs; nearest `slow`"),
        (&["--factor", "tragets"], "no factor `tragets` in these runs; nearest `target`"),
        (&["--margin", "2"], "`2` is not a percentage"),
        (&["--margin=-1%"], "is no margin"),
    ] {
        let refused = compare(&lab, &dir, flags).expect(2);
        assert!(refused.stderr.contains(said), "{flags:?}: {}", refused.stderr);
        assert!(refused.stdout.is_empty(), "{flags:?}");
    }
}

#[test]
fn hiding_a_row_hides_no_doubt() {
    let lab = Lab::new();
    let dir = label(&lab, true);
    compare(&lab, &dir, &[]).expect(3);
    compare(&lab, &dir, &["--metric", "p50"]).expect(3);
    compare(&lab, &dir, &["--group", "null"]).expect(3);
    fs::remove_dir_all(dir.join(layout::RUNS)).expect("the runs were there");
    let sound = label(&lab, false);
    compare(&lab, &sound, &["--metric", "p50"]).expect(0);
}
