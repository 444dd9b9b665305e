//! The bench file: from TOML text to [`Plan`].
//!
//! One path leads through this crate: text to values with places (`node`), sections (`file`),
//! checks of every table as written (`read`, `typed`, `settings`), factors and their levels
//! (`factors`, `patch`), what is compared (`compare`), cells and what is skipped (`cells`), the
//! effective values of each cell (`layers`, `interpolate`, `cell`, `positive`), orders, instances
//! and runs (`order`, `runs`), the estimate and notes. All problems are found at once and point into the file.
//!
//! Architecture invariant: this crate starts nothing, writes nothing and prints nothing. It
//! reads the bench file, the environment and the files that the bench refers to, and those only
//! through [`Env`]; [`plan_source`] never panics, whatever the text.

mod calibration;
mod cell;
mod cells;
mod certify;
mod compare;
mod env;
mod estimate;
mod expand;
mod factors;
mod file;
mod files;
mod generator;
mod interpolate;
mod layers;
mod node;
mod notes;
mod order;
mod patch;
mod positive;
mod problem;
mod qualify;
mod random;
mod read;
mod rehearse;
mod runs;
mod schema;
mod settings;
mod source;
mod typed;
mod words;

use std::path::Path;

use record::plan::{Extension, Plan};

pub use calibration::{
    CalibrationDesign, CalibrationTextError, calibration_of_url, calibration_text,
};
pub use certify::{CertifyGenerator, CertifyModel};
pub use env::{Env, System};
pub use problem::{Diagnostics, Problem};
pub use qualify::{qualification, shortest_cell};
pub use schema::schema;
pub use typed::{METHODS, check_headers};

/// What the command line changes about a bench.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--only GLOB`: cells by name; the others are listed as skipped.
    pub only: Option<String>,
    /// `--blocks N`, over `[matrix] blocks` and `--set`.
    pub blocks: Option<u32>,
    /// `--set KEY=VALUE`: a key of the effective run or of `matrix`, `gates`, `compare`; the
    /// value is TOML, anything else is text.
    pub set: Vec<String>,
    /// `--rehearse warmup=2s,5s`: a row factor that varies the warm-up.
    pub rehearse: Option<String>,
    /// Blocks that were added to a label after its plan, in their order.
    pub extensions: Vec<Extension>,
    /// `--quick`: one block of tiny windows without gaps, which is no measurement.
    pub quick: bool,
}

/// Reads a bench file and expands it.
///
/// # Errors
/// Everything that is wrong with the file, the overrides, or the files it refers to.
pub fn plan(path: &Path, overrides: &Overrides) -> Result<Plan, Diagnostics> {
    let name = path.display().to_string();
    let refused = |message: String, help: Option<&str>| {
        Diagnostics::single(&name, message, help.map(str::to_owned))
    };
    let bytes = std::fs::read(path).map_err(|error| {
        refused(format!("cannot read `{name}`: {error}"), Some("a bench is one TOML file"))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        refused(format!("`{name}` is not UTF-8 from byte {offset} on"), None)
    })?;
    let absolute = std::path::absolute(path)
        .map_err(|error| refused(format!("`{name}` has no absolute path: {error}"), None))?;
    let dir = absolute.parent().unwrap_or(Path::new("/"));
    plan_source(&name, &text, dir, overrides, &System)
}

/// Expands the text of a bench. `name` is its path for messages and the plan, `dir` the folder
/// that its paths are relative to, absolute.
///
/// # Errors
/// Everything that is wrong with the text, the overrides, or the files it refers to.
pub fn plan_source(
    name: &str,
    text: &str,
    dir: &Path,
    overrides: &Overrides,
    env: &dyn Env,
) -> Result<Plan, Diagnostics> {
    expand::expand(name, text, dir, overrides, env)
}
