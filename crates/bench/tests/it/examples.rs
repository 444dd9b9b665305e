//! The benches in `examples/` plan as their comments say.

use std::path::{Path, PathBuf};

use bench::Overrides;
use record::plan::Plan;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn planned(path: &Path) -> Plan {
    match bench::plan(path, &Overrides::default()) {
        Ok(plan) => plan,
        Err(diagnostics) => panic!("{}", diagnostics.render()),
    }
}

#[test]
fn every_example_has_a_plan() {
    let mut count = 0;
    for entry in std::fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            assert!(!planned(&path).runs.is_empty(), "{}", path.display());
            count += 1;
        }
    }
    assert!(count >= 3, "{count} examples");
}

/// The whole design: every part that a bench can register, in about two minutes.
#[test]
fn the_designed_example_registers_everything() {
    let plan = planned(&examples().join("designed.toml"));
    let minutes = plan.estimate.time_ns.expect("windows are durations") as f64 / 60e9;
    assert!((1.5..2.5).contains(&minutes), "{minutes} minutes");
    assert_eq!((plan.cells.len(), plan.blocks), (12, 6));
    assert_eq!(plan.order, "change=balanced, scenario=shuffle");
    let change = plan.factors.iter().find(|factor| factor.name == "change").unwrap();
    assert!(change.contrasted);
    let controls: Vec<(&str, Option<f64>)> = change
        .levels
        .iter()
        .filter(|level| level.twin.is_some())
        .map(|level| (level.name.as_str(), level.positive))
        .collect();
    assert_eq!(controls, [("null", None), ("positive", Some(0.05))]);
    let compare = &plan.compare;
    assert_eq!(compare.over.as_deref(), Some("scenario"));
    assert_eq!((compare.guard.len(), compare.weight.len(), compare.hypotheses.len()), (1, 1, 2));
    assert!(plan.runs.iter().all(|run| run.layout_bytes > 0));
    // Nothing that a reader of the plan would be warned of.
    for doubt in ["no null", "odd", "under 6", "differ from what", "not used"] {
        assert!(!plan.notes.iter().any(|note| note.contains(doubt)), "{doubt}: {:?}", plan.notes);
    }
}
