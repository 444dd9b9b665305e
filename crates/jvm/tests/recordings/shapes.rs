//! What the floor of the heap says, on the phases of the fixtures whose behaviour is known, and
//! on series made for it.

use jvm::panels::{Question, Shape, classify, gc_pauses};
use record::recording::HeapRow;

use super::{digest_of, fixture};

/// The shape of a phase of `lab-profile-g1`, by the clock of its own protocol.
fn phase(name: &str) -> (String, String) {
    let lines = std::fs::read_to_string(fixture("jfr/lab-profile-g1.phases.jsonl")).expect("text");
    let phase: serde_json::Value = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .find(|phase: &serde_json::Value| phase["phase"] == name)
        .expect("a phase");
    let ns = |key: &str| phase[key].as_u64().expect("ms") * 1_000_000;
    let question = Question::default().window(ns("start_ms"), ns("end_ms"));
    let panel = digest_of("jfr/lab-profile-g1", &question).panels.heap_after_gc.expect("a heap");
    (panel.shape, panel.reason)
}

#[test]
fn churn_and_cliff_are_named_rightly() {
    assert_eq!(phase("churn").0, "churn");
    assert_eq!(phase("cliff").0, "live-mid-copy");
}

/// The old space of the G1 run was not collected during its leak: the series alone cannot know.
#[test]
fn a_rise_without_a_collection_of_old_space_is_undecidable() {
    let (shape, reason) = phase("leak");
    assert_eq!(shape, "undecidable");
    assert!(reason.contains("old space was not collected"), "{reason}");
}

fn series(values: impl IntoIterator<Item = (u64, bool)>) -> Vec<HeapRow> {
    let rows = values.into_iter().enumerate();
    rows.map(|(at, (mib, old))| HeapRow {
        at_ns: at as u64 * 1_000_000_000,
        used_bytes: mib << 20,
        gc_id: Some(at as u64),
        old,
    })
    .collect()
}

#[test]
fn four_series() {
    let shape = |values: Vec<(u64, bool)>| classify(&series(values)).0;
    // Large teeth on a flat floor: a footprint, no leak.
    let saw = |n: u64| (0..n).map(|at| (100 + at % 10 * 40, at % 10 == 0)).collect::<Vec<_>>();
    assert_eq!(shape(saw(60)), Shape::Churn);
    // A small rise of the floor under collections of old space.
    let leak =
        |old: bool| (0..60).map(|at| (100 + at * 3, old && at % 10 == 9)).collect::<Vec<_>>();
    assert_eq!(shape(leak(true)), Shape::Leak);
    assert_eq!(shape(leak(false)), Shape::Undecidable);
    // Flat, built up, held, let go.
    let copy = (0..60).map(|at| (if (20..40).contains(&at) { 400 } else { 100 }, false)).collect();
    assert_eq!(shape(copy), Shape::LiveMidCopy);
    // Old collections bring it down again.
    let brought = (0..60).map(|at| (100 + at % 30 * 10, at % 30 == 0)).collect();
    assert_ne!(shape(brought), Shape::Leak);
    assert_eq!(shape((0..5).map(|at| (at, true)).collect()), Shape::Undecidable);
}

#[test]
fn more_frequent_pauses_are_pressure_not_retention() {
    let at = |index: u64| if index < 20 { index * 100 } else { 2_000 + (index - 20) * 50 };
    let pauses: Vec<_> = (0..60).map(|index| (at(index), 1_000, "Pause".to_owned())).collect();
    let panel = gc_pauses(&pauses, (0, 4_000), 60, Default::default());
    assert_eq!(panel.halves, [20, 40]);
    assert!(panel.trend.contains("allocation pressure, not retention"));
    let even: Vec<_> = (0..60).map(|index| (index * 60, 1_000, "Pause".to_owned())).collect();
    assert_eq!(gc_pauses(&even, (0, 3_600), 60, Default::default()).trend, "even");
}
