//! The calibration that stands for a plan: looked for in the state folder of the user, never believed
//! when changed, too old, or of another host, transport or arrival model.

use lab::Opening;
use record::calibration::{Calibration, CalibrationOf};
use record::plan::{Model, Plan};
use record::seal::Sealed;
use record::units::HumanDuration;

use crate::exit::Failure;
use crate::output::Output;
use crate::state_dir;

/// Files looked at; one is kept for each transport, model and host.
const MOST_FILES: usize = 256;

/// The calibration for a plan, where it requires one or one is at hand.
///
/// # Errors
/// Refused: the plan requires one and none stands, with what is wrong with each that there is.
pub(crate) fn standing(
    plan: &Plan,
    opening: Opening,
    output: &Output,
) -> Result<Option<Calibration>, Failure> {
    let required = plan.require.as_ref().and_then(|asked| asked.calibration.as_ref());
    if opening != Opening::New || plan.quick {
        // A label keeps its own, which the lab looks after.
        return Ok(None);
    }
    let Some(here) = wanted(plan)? else { return Ok(None) };
    let now_unix_ns = clock::utc_now_ns();
    let mut doubts = Vec::new();
    let folder = state_dir::calibrations();
    for path in folder.iter().flat_map(|folder| state_dir::kept(folder, MOST_FILES)) {
        let calibration = match Calibration::read(&path) {
            Ok(calibration) => calibration,
            Err(error) => {
                doubts.push(error.to_string());
                continue;
            }
        };
        if let Some((property, of, here)) = calibration.of.difference(&here) {
            doubts.push(format!(
                "`{}` is of another {property}: `{of}`, here `{here}`",
                path.display()
            ));
            continue;
        }
        let age_ns = now_unix_ns.saturating_sub(calibration.made_unix_ns);
        if let Some(asked) = required.filter(|asked| age_ns > asked.age_ns) {
            doubts.push(format!(
                "`{}` is {} old, at most {}",
                path.display(),
                HumanDuration(age_ns as f64),
                HumanDuration(asked.age_ns as f64)
            ));
            continue;
        }
        output.detail(&format!("calibration `{}`", path.display()));
        return Ok(Some(calibration));
    }
    if required.is_none() {
        return Ok(None);
    }
    let mut message = format!(
        "no calibration for this host over {} in {} loop, which `[require]` asks for",
        here.transport, here.model
    );
    for doubt in doubts {
        message.push_str(&format!("\n  {doubt}"));
    }
    let rates = if here.model == "open" { " --rates 100,200,400" } else { "" };
    message.push_str(&format!("\nhint: assay calibrate {}{rates}", plan.path));
    Err(Failure::refused(message))
}

/// What the cells of a plan ask of a calibration; one plan has one arrival model and transport, or
/// no calibration can stand for it.
fn wanted(plan: &Plan) -> Result<Option<CalibrationOf>, Failure> {
    let host = observe::host_facts();
    let mut wanted: Option<CalibrationOf> = None;
    for cell in &plan.cells {
        let effective = &cell.effective;
        let model = match effective.load.model {
            Model::Users(_) => "closed",
            Model::Rate(_) => "open",
        };
        let target = format!("{}, {}", effective.target.name, effective.scenario.name);
        let here = CalibrationOf::of(&host, &effective.transport, model, &target);
        match &wanted {
            Some(before) if before.difference(&here).is_some() => {
                if plan.require.is_some() {
                    return Err(Failure::refused(
                        "cells of several transports or arrival models have no calibration in \
                         common, which `[require]` asks for; make a bench of each",
                    ));
                }
                return Ok(None);
            }
            Some(_) => {}
            None => wanted = Some(here),
        }
    }
    Ok(wanted)
}
