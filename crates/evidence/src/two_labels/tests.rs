//! Pairs of labels made by hand: what is refused, what is subtracted, what is told of the drift.

use std::path::{Path, PathBuf};

use record::meta::Meta;
use record::two_labels::{TwoLabels, TwoLabelsRow};

use super::{COMPARABLE, CONTROL, NOT_COMPARABLE, is_doubtful, two_labels};
use crate::samples::{self, SampleRun, level};

/// A label of `plain`, `pooled` and a null over eight blocks: throughput of `plain` is 800/s times
/// `session`, that of `pooled` so many percent of it. `pooled` is the thing named by `variant`.
fn label_of(dir: &Path, session: f64, pooled: f64, variant: &str, edit: impl Fn(&mut Meta)) {
    let levels =
        [level("plain", 0, None), level("pooled", 1, None), level("null", 2, Some("plain"))];
    for block in 1..=8_u32 {
        for level in &levels {
            let factor = if level.level == "pooled" { pooled } else { 1.0 };
            let noise = f64::from((block * 7 + level.index * 3) % 5) * 0.0002;
            let succeeded = (2_400_000.0 * session * factor * (1.0 + noise)) as u64;
            let mut run = SampleRun::sound(block, level.index + 1, level);
            let mut load = samples::load();
            load.workers.clear();
            (load.due, load.sent, load.succeeded) = (succeeded, succeeded, succeeded);
            load.whole_life.sent = succeeded;
            load.whole_life.answered = succeeded;
            run.load = Some(load);
            run.mock.as_mut().unwrap().served = succeeded;
            run.meta.label = dir.file_name().unwrap().to_string_lossy().into_owned();
            if level.level == "pooled" {
                run.meta.identity_sha256 = format!("effective-{variant}");
            }
            edit(&mut run.meta);
            run.complete(dir);
        }
    }
}

/// Two labels: B runs at `session` times the speed of A, and its pooled arm is another thing that
/// reaches 0.95 of plain instead of 0.90.
fn two(session: f64, edit_b: impl Fn(&mut Meta)) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let out = tempfile::tempdir().unwrap();
    let (a, b) = (out.path().join("first"), out.path().join("second"));
    label_of(&a, 1.0, 0.90, "unpooled", |_| {});
    label_of(&b, session, 0.95, "pooled", edit_b);
    (out, a, b)
}

fn compared(session: f64) -> TwoLabels {
    let (_keep, a, b) = two(session, |_| {});
    two_labels(&a, &b).unwrap()
}

fn pooled(tables: &TwoLabels) -> &TwoLabelsRow {
    tables.rows.iter().find(|row| row.primary && row.level == "pooled").unwrap()
}

/// E-030, E-032: table against table, with the errors of both.
#[test]
fn the_difference_of_two_labels_has_its_error() {
    let tables = compared(1.0008);
    let row = pooled(&tables);
    assert_eq!(
        (row.changed.as_slice(), row.word.as_str()),
        (&["pooled".to_owned()][..], COMPARABLE)
    );
    assert_eq!((row.pairs, row.kind.as_str()), ([8, 8], "composed"));
    let value = |estimate: Option<record::compare::Estimate>| estimate.unwrap().value;
    assert!((value(row.effect_a_percent) + 10.0).abs() < 0.1);
    assert!((value(row.effect_b_percent) + 5.0).abs() < 0.1);
    // 0.95 / 0.90.
    let difference = row.difference_percent.unwrap();
    assert!((difference.value - 5.556).abs() < 0.1, "{difference:?}");
    let [low, high] = difference.interval.unwrap();
    let width = |estimate: Option<record::compare::Estimate>| {
        let [low, high] = estimate.unwrap().interval.unwrap();
        high - low
    };
    assert!(low < difference.value && difference.value < high);
    assert!(high - low > width(row.effect_b_percent), "both errors are in it");
}

/// E-031, K-095: the untouched arm's change is printed; 0.1 % is accepted, 3 % refused.
#[test]
fn the_untouched_arm_tells_the_drift() {
    for (session, word) in [(1.0008, COMPARABLE), (1.001, COMPARABLE), (1.03, NOT_COMPARABLE)] {
        let tables = compared(session);
        let row = pooled(&tables);
        assert_eq!(row.word, word, "{session}");
        assert_eq!(row.untouched.as_deref(), Some("plain"));
        let drift = row.drift_percent.unwrap().value;
        assert!((drift - (session - 1.0) * 100.0).abs() < 0.01, "{drift} for {session}");
        assert_eq!(row.difference_percent.is_some(), word == COMPARABLE, "withheld otherwise");
        assert_eq!(is_doubtful(&tables), word == NOT_COMPARABLE);
        // plain and its null are untouched cells, pooled is none.
        let cells: Vec<&str> = tables
            .drifts
            .iter()
            .filter(|drift| drift.metric == "throughput")
            .map(|drift| drift.cell.as_str())
            .collect();
        assert_eq!(cells, ["plain", "null"]);
    }
    let tables = compared(1.03);
    insta::assert_snapshot!(pooled(&tables).reason.clone().unwrap(), @"`plain`, which nothing touched, changed by +3.00 % of A between the sessions; the difference of +5.56 % of A allows 2.74 %");
}

#[test]
fn a_contrast_that_nothing_touched_is_a_control() {
    let tables = compared(1.03);
    let null = tables.rows.iter().find(|row| row.primary && row.level == "null").unwrap();
    assert_eq!((null.word.as_str(), null.changed.len()), (CONTROL, 0));
    assert!(null.difference_percent.unwrap().value.abs() < 0.1);
}

/// E-030: hosts, boots and builds are named.
#[test]
fn another_host_boot_or_build_is_refused_by_name() {
    let message = |edit: fn(&mut Meta)| {
        let (_keep, a, b) = two(1.0, edit);
        let error = two_labels(&a, &b).unwrap_err();
        assert!(error.is_refusal());
        error.to_string()
    };
    let boot = message(|meta| meta.host.boot_id = Some("33333333-4444".to_owned()));
    insta::assert_snapshot!(boot, @"halves not comparable: in `first` (A) and `second` (B) `host.boot_id` is 11111111-2222 in A and 33333333-4444 in B; run both in one session, on one host, with one build of assay, over one window");
    assert!(
        message(|meta| meta.host.name = "bench-2".to_owned())
            .contains("`host.name` is bench-1 in A and bench-2 in B")
    );
    assert!(message(|meta| meta.assay.sha256 = "ee".repeat(32)).contains("`assay.sha256` is"));
}

/// K-199: figures over different windows are not subtracted, and both windows are printed.
#[test]
fn different_windows_are_refused_with_both() {
    let (_keep, a, b) = two(1.0, |meta| {
        meta.effective.load.measure = record::plan::Extent::Ns(60_000_000_000);
    });
    let error = two_labels(&a, &b).unwrap_err();
    assert!(error.is_refusal());
    insta::assert_snapshot!(error, @"halves not comparable: in `first` (A) and `second` (B) the measured window of `null`, `plain`, `pooled` is 30.0 s in A and 60.0 s in B; run both in one session, on one host, with one build of assay, over one window");
}

#[test]
fn when_both_arms_changed_nothing_tells_the_drift() {
    let (_keep, a, b) = two(1.0, |meta| meta.identity_sha256 += "-later");
    let tables = two_labels(&a, &b).unwrap();
    let row = pooled(&tables);
    assert_eq!((row.word.as_str(), row.changed.len()), (NOT_COMPARABLE, 2));
    insta::assert_snapshot!(row.reason.clone().unwrap(), @"both arms changed (`plain`, `pooled`): no untouched arm tells the drift between the sessions");
    assert_eq!(tables.drifts, []);
}
