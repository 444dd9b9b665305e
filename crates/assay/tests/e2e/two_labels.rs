//! `assay compare --tables A B` on labels that were written by hand.

use std::path::Path;

use evidence::samples::{self, SampleRun, level};
use record::meta::Meta;
use record::plan::Extent;
use record::two_labels::TwoLabels;

use crate::support::{Lab, Ran};

/// Eight blocks of `plain` and `pooled` under `results/<label>`: plain reaches 800/s times
/// `session`, pooled so much of it and is the thing called `variant`.
fn write_label(lab: &Lab, label: &str, (session, pooled): (f64, f64), edit: impl Fn(&mut Meta)) {
    let dir = lab.label(label);
    for block in 1..=8_u32 {
        for (index, name) in ["plain", "pooled"].into_iter().enumerate() {
            let factor = if index == 1 { pooled } else { 1.0 };
            let noise = f64::from((block * 7 + index as u32 * 3) % 5) * 0.0002;
            let succeeded = (24_000.0 * session * factor * (1.0 + noise)) as u64;
            let mut run =
                SampleRun::sound(block, index as u32 + 1, &level(name, index as u32, None));
            let mut load = samples::load();
            load.workers.clear();
            (load.due, load.sent, load.succeeded) = (succeeded, succeeded, succeeded);
            run.load = Some(load);
            run.meta.label = label.to_owned();
            if index == 1 {
                run.meta.identity_sha256 = format!("pooled-in-{label}");
            }
            edit(&mut run.meta);
            run.complete(&dir);
        }
    }
}

/// Pooling lifts the arm from 0.90 to 0.95 of plain, in a second session at this speed.
fn compared(session: f64, edit: impl Fn(&mut Meta)) -> (Lab, Ran) {
    let lab = Lab::new();
    write_label(&lab, "before", (1.0, 0.90), |_| {});
    write_label(&lab, "after", (session, 0.95), edit);
    let ran = lab.assay(&["compare", "--tables", "results/before", "results/after"]);
    (lab, ran)
}

/// E-030, E-031, E-032, K-095: a drift of 0.08 % and of 0.1 % is printed and accepted, 3 % leaves
/// the difference out.
#[test]
fn the_drift_of_the_untouched_arm_decides() {
    for (session, drift, comparable) in
        [(1.0008, "+0.08 %", true), (1.001, "+0.10 %", true), (1.03, "+3.00 %", false)]
    {
        let (_lab, ran) = compared(session, |_| {});
        let ran = ran.expect(if comparable { 0 } else { 3 });
        let line = |start: &str| {
            let found = ran.stdout.lines().find(|line| line.starts_with(start));
            found.unwrap_or_else(|| panic!("no `{start}` in {}", ran.stdout)).to_owned()
        };
        assert!(line("plain ").contains(drift), "{}", ran.stdout);
        assert_eq!(line("pooled* / plain").contains("not comparable"), !comparable);
        assert_eq!(ran.stdout.contains("- halves not comparable"), !comparable);
        assert!(ran.stdout.contains("composed from two tables"), "K-013: {}", ran.stdout);
        assert!(
            ran.stdout.lines().all(|line| line.starts_with("- ") || line.chars().count() <= 100)
        );
    }
}

#[test]
fn its_json_has_both_effects_and_the_difference() {
    let (lab, _) = compared(1.0008, |_| {});
    let ran = lab
        .assay(&["compare", "--tables", "results/before", "results/after", "--json", "-"])
        .expect(0);
    let tables: TwoLabels = serde_json::from_str(&ran.stdout).expect("JSON alone");
    assert_eq!(tables.format.name, "assay.two_labels");
    assert_eq!((tables.a.label.as_str(), tables.b.label.as_str()), ("before", "after"));
    let row = tables.rows.iter().find(|row| row.primary).expect("a row");
    let difference = row.difference_percent.expect("comparable");
    assert!((difference.value - 5.556).abs() < 0.1, "{difference:?}");
    assert!(difference.interval.is_some(), "errors are propagated");
    assert_eq!(row.kind, "composed");
}

/// E-030, K-199: what differs is named, nothing is printed, and the status says refused.
#[test]
fn other_boots_builds_and_windows_are_refused_by_name() {
    let refused = |edit: fn(&mut Meta), name: &str| {
        let (_lab, ran) = compared(1.0, edit);
        let ran = ran.expect(5);
        assert!(ran.stderr.contains("halves not comparable"), "{}", ran.stderr);
        assert!(ran.stderr.contains(name), "{name} in {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    };
    refused(|meta| meta.host.boot_id = Some("3333-4444".to_owned()), "`host.boot_id`");
    refused(
        |meta| meta.host.name = "bench-2".to_owned(),
        "`host.name` is bench-1 in A and bench-2",
    );
    refused(|meta| meta.assay.sha256 = "ee".repeat(32), "`assay.sha256`");
    refused(
        |meta| meta.effective.load.measure = Extent::Ns(60_000_000_000),
        "is 30.0 s in A and 60.0 s in B",
    );
}

#[test]
fn it_takes_two_labels_or_one_directory() {
    let lab = Lab::new();
    for arguments in
        [&["compare"][..], &["compare", "--tables", "a"], &["compare", "x", "--tables", "a", "b"]]
    {
        assert_eq!(lab.assay(arguments).expect(2).stdout, "");
    }
    let missing = lab.assay(&["compare", "--tables", "nowhere", "neither"]).expect(2);
    assert!(missing.stderr.contains("`nowhere` holds no runs"), "{}", missing.stderr);
    assert!(!Path::new("nowhere").exists());
}
