//! The gates over all evidence of a run: how it ended, what it left behind, and whether two
//! independent witnesses agree.

use record::meta::{Listener, OutcomeState};
use record::plan::{Gates, TargetKind};

use super::load::judge_load;
use super::table::GATES;
use super::{Judgement, gate, host, ports, witness};
use crate::run_dir::RunDir;

/// Judges a run by everything in its directory. Gates that need the load record are listed as
/// not applicable when there is none.
#[must_use]
pub fn judge_run(run: &RunDir, bounds: &Gates) -> Judgement {
    let mut judgement = match run.load.present() {
        Some(load) => judge_load(load, bounds),
        None => Judgement::default(),
    };
    outcome(&mut judgement, run, bounds);
    absent_evidence(&mut judgement, run, bounds);
    restarted(&mut judgement, run, bounds);
    observer_samples(&mut judgement, run, bounds);
    witness::judge(&mut judgement, run, bounds);
    host::judge(&mut judgement, run, bounds);
    ports::judge(&mut judgement, run, bounds);
    ports::judge_gap(&mut judgement, run, bounds);
    for gate in GATES {
        if !judgement.checks.iter().any(|check| check.gate == gate.name) {
            judgement.add(gate.name, bounds, None, None, String::new);
        }
    }
    judgement.sorted()
}

/// The gate of a way to end; `None` for the good one.
fn gate_of(state: OutcomeState) -> Option<&'static str> {
    Some(match state {
        OutcomeState::Finished => return None,
        OutcomeState::TargetNotReady => "target_not_ready",
        OutcomeState::TargetDied => "target_died",
        OutcomeState::WrongVersion => "wrong_version",
        OutcomeState::TimedOut => "timed_out",
        OutcomeState::GeneratorFailed => "generator_failed",
        OutcomeState::Interrupted => "interrupted",
    })
}

fn outcome(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    // A run without an outcome was cut off before its parent could write one.
    let (state, detail) = match &run.meta.outcome {
        Some(outcome) => (outcome.state, outcome.detail.clone()),
        None => (OutcomeState::Interrupted, "the run left no outcome".to_owned()),
    };
    let tripped = gate_of(state);
    for state in [
        OutcomeState::TargetNotReady,
        OutcomeState::WrongVersion,
        OutcomeState::TargetDied,
        OutcomeState::GeneratorFailed,
        OutcomeState::TimedOut,
        OutcomeState::Interrupted,
    ] {
        let name = gate_of(state).unwrap_or_default();
        judgement.add(name, bounds, None, Some(tripped != Some(name)), || {
            if detail.is_empty() {
                gate::rows(name).next().map(|gate| gate.meaning).unwrap_or_default().to_owned()
            } else {
                detail.clone()
            }
        });
    }
}

/// Whether load was ever started: a run that failed before it owes no record of it.
fn was_loaded(run: &RunDir) -> bool {
    match run.meta.outcome.as_ref().map(|outcome| outcome.state) {
        Some(OutcomeState::TargetNotReady | OutcomeState::WrongVersion) => false,
        // It may have died before it was ready.
        Some(OutcomeState::TargetDied) => run.meta.instants_ns.contains_key("load_start"),
        _ => true,
    }
}

/// Whether one process at least that listened for the target at the start of the load still does
/// at its end. A target that restarts itself behind a supervisor does not exit for its parent.
fn restarted(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let (before, after) = (&run.meta.listeners.start, &run.meta.listeners.end);
    let finished = run.meta.outcome.as_ref().is_some_and(|o| o.state == OutcomeState::Finished);
    let held = (finished && !before.is_empty())
        .then(|| before.iter().any(|process| after.contains(process)));
    judgement.add("target_restarted", bounds, None, held, || {
        let pids = |processes: &[Listener]| {
            let pids: Vec<String> = processes.iter().map(|one| one.pid.to_string()).collect();
            pids.join(", ")
        };
        if after.is_empty() {
            format!("pid {} listened at the start, nobody does at the end", pids(before))
        } else {
            format!("pid {} listened at the start, pid {} at the end", pids(before), pids(after))
        }
    });
}

fn absent_evidence(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    if !was_loaded(run) {
        judgement.add("absent_evidence", bounds, None, None, String::new);
        return;
    }
    let mut missing: Vec<&str> = Vec::new();
    missing.extend(run.load.absence());
    missing.extend(run.resources.absence());
    missing.extend(run.host.absence());
    if run.has_mock() {
        missing.extend(run.mock.absence());
    }
    if run.has_foreign() {
        missing.extend(run.foreign.absence());
    }
    let count = Some(missing.len() as f64);
    judgement
        .add("absent_evidence", bounds, count, Some(missing.is_empty()), || missing.join(", "));
}

/// The fewest samples inside the window, over the roles that must be there.
fn observer_samples(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let (Some(load), Some(resources)) = (run.load.present(), run.resources.present()) else {
        judgement.add("observer_samples", bounds, None, None, String::new);
        return;
    };
    let mut roles = vec![("generator", &["generator"][..])];
    if !matches!(run.meta.effective.target.kind, TargetKind::Url(_)) {
        roles.push(("target", &crate::digest::TARGET_ROLES));
    }
    let window = crate::digest::Window::of(load);
    let counts = roles.iter().map(|(name, roles)| {
        let inside = resources
            .rows
            .iter()
            .filter(|row| roles.contains(&row.role.as_str()) && window.holds(row.t_ns, row.edge))
            .count() as u64;
        (inside, *name)
    });
    let (fewest, role) = counts.min().unwrap_or_default();
    judgement.add(
        "observer_samples",
        bounds,
        Some(fewest as f64),
        Some(fewest >= bounds.observer_samples),
        || {
            format!(
                "{fewest} samples of the {role} inside the window, fewer than {}",
                bounds.observer_samples
            )
        },
    );
}
