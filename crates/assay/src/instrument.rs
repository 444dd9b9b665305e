//! Carries out a bench that assay wrote itself: a certificate, a calibration, a self-test. The runs
//! are kept as those of any other label; what they say together is another room's office.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use bench::{Overrides, System};
use lab::{Finished, Interrupt, Opening, Session};
use record::plan::Plan;

use crate::build_stamp;
use crate::exit::Failure;
use crate::output::Output;
use crate::preflight;
use crate::progress::Display;
use crate::read_side::ReadSide;
use crate::signals;
use crate::verbs::run::{fresh_label, lab_failure};

/// Expands the text of a bench of our own. `dir` is the folder that its paths are relative to.
///
/// # Errors
/// What is wrong with it: the parts that the user gave are the only ones that can be.
pub(crate) fn expand(
    name: &str,
    text: &str,
    dir: &Path,
    set: &[String],
    only: Option<&str>,
) -> Result<Plan, Failure> {
    let only = only.map(str::to_owned);
    let overrides = Overrides { set: set.to_vec(), only, ..Overrides::default() };
    bench::plan_source(&format!("{name}.toml"), text, dir, &overrides, &System)
        .map_err(|problems| Failure::wrong(problems.render()))
}

/// The user's wish to stop, for all the plans of one verb.
pub(crate) fn interruptible() -> Result<Interrupt, Failure> {
    let interrupt = Interrupt::default();
    signals::route(&interrupt, || {
        let _ =
            writeln!(std::io::stderr(), "stopping after the current run; once more stops at once");
    })?;
    Ok(interrupt)
}

/// Makes the runs of a plan under a fresh label of `out`.
///
/// # Errors
/// As those of a matrix.
pub(crate) fn carry_out(
    plan: &Plan,
    out: &Path,
    options: BTreeMap<String, String>,
    interrupt: &Interrupt,
    output: &Output,
) -> Result<Finished, Failure> {
    let program = build_stamp::program()?;
    let session = Session {
        plan,
        out: out.to_owned(),
        label: fresh_label(plan, out),
        opening: Opening::New,
        assay: program.clone(),
        build: build_stamp::build(&program),
        options,
        standing: Some(preflight::standing(plan, out)?),
        certificates: BTreeMap::new(),
        calibration: None,
        digester: &ReadSide,
        interrupt,
    };
    let mut display = Display::of_instrument(output);
    let made = lab::execute(&session, &mut display);
    display.finish();
    made.map_err(lab_failure)
}
