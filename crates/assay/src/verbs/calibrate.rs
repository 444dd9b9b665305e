//! `assay calibrate`: a ramp of load before any matrix on this host and transport.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bench::CalibrationDesign;
use record::calibration::Calibration;
use record::layout;

use crate::cli::CalibrateArguments;
use crate::exit::{Failure, Outcome, Status};
use crate::instrument;
use crate::output::Output;
use crate::state_dir;
use crate::verbs::load::split_url;

/// Name of the bench, and so the beginning of its label.
const NAME: &str = "calibration";

pub(crate) fn run(arguments: &CalibrateArguments, output: &Output) -> Outcome {
    let (text, dir) = bench_text(arguments)?;
    let plan = instrument::expand(NAME, &text, &dir, &arguments.set, None)?;
    let interrupt = instrument::interruptible()?;
    let options = BTreeMap::from([("of".to_owned(), record::redact::url(&arguments.of))]);
    let made = instrument::carry_out(&plan, &arguments.out, options, &interrupt, output)?;
    if made.interrupted || made.left > 0 {
        output.remark(&format!("interrupted: no calibration; kept in {}", made.dir.display()));
        return Ok(Status::Doubtful);
    }
    let calibration = evidence::calibration(&made.dir).map_err(crate::verbs::compare::failure)?;
    keep(&calibration, &made.dir, output)?;
    output.result(arguments.json.json.as_ref(), &calibration, || {
        report::calibration_text(&calibration)
    })?;
    Ok(status(&calibration))
}

/// A calibration without a noise floor says nothing.
fn status(calibration: &Calibration) -> Status {
    let sound = calibration.ramps.iter().all(|ramp| ramp.noise_floor_ns.is_some());
    if sound { Status::Done } else { Status::Doubtful }
}

/// The text of the bench and the folder that its paths are relative to.
fn bench_text(arguments: &CalibrateArguments) -> Result<(String, PathBuf), Failure> {
    let open = !arguments.rates.is_empty();
    let design = CalibrationDesign {
        target: arguments.target.clone(),
        scenario: arguments.scenario.clone(),
        ramp: if open { arguments.rates.clone() } else { arguments.ramp.clone() },
        open,
        settle: format!("{}ns", arguments.settle),
        measure: format!("{}ns", arguments.measure),
    };
    if !design.ramp.is_sorted_by(|one, other| one < other) || design.ramp.first() == Some(&0) {
        return Err(Failure::wrong("the ramp must ascend from above 0; write `--ramp 1,2,4,8`"));
    }
    let here = std::env::current_dir().map_err(|error| Failure::failed(error.to_string()))?;
    if arguments.of.contains("://") {
        let (_, authority, path) = split_url(&arguments.of)?;
        let url = format!("http://{authority}");
        return Ok((bench::calibration_of_url(&url, &path, &design), here));
    }
    let path = Path::new(&arguments.of);
    // A bench that does not expand says where: its own errors point into its own text.
    let overrides = bench::Overrides::default();
    bench::plan(path, &overrides).map_err(|problems| Failure::wrong(problems.render()))?;
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::wrong(format!("cannot read `{}`: {error}", path.display())))?;
    let text = bench::calibration_text(&text, &design).map_err(Failure::wrong)?;
    let absolute = std::path::absolute(path).map_err(|error| Failure::failed(error.to_string()))?;
    Ok((text, absolute.parent().map_or(here, Path::to_owned)))
}

/// Archives it with its runs, and where matrices look for one.
fn keep(calibration: &Calibration, label: &Path, output: &Output) -> Result<(), Failure> {
    let write = |path: &Path| {
        layout::write_json(path, calibration)
            .map_err(|error| Failure::failed(format!("cannot write `{}`: {error}", path.display())))
    };
    write(&label.join(layout::CALIBRATION))?;
    let Some(folder) = state_dir::calibrations() else {
        output.remark("no home folder: the calibration is kept with its runs alone");
        return Ok(());
    };
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::failed(format!("cannot make `{}`: {error}", folder.display())))?;
    let of = &calibration.of;
    let path = folder.join(format!("{}-{}-{}.json", of.transport, of.model, of.host));
    write(&path)?;
    output.remark(&format!("kept in {}, and for matrices in {}", label.display(), path.display()));
    Ok(())
}
