//! Evidence as text: Markdown digests and tables, and tables for the terminal.
//!
//! Pure functions from records to `String`: nothing here reads a file, asks a clock, knows the
//! terminal or applies colour; verdicts are marked by their word alone. Bytes are shown with
//! binary units, rates and counts with decimal ones.

mod calibration;
mod cells;
mod certificate;
mod compare;
mod contrasts;
mod contrasts_csv;
mod digest;
mod doctor;
mod doubts;
mod drill;
mod grid;
mod host_check;
mod html;
mod load;
mod load_files;
mod matrix;
mod own_figures;
mod plan;
mod profile_diff;
mod qualification;
mod recording;
mod resolution;
mod section;
mod status;
mod tables;
mod text;
mod two_labels;

pub use calibration::calibration_text;
pub use certificate::certificate_text;
pub use compare::{Show, comparison_table};
pub use contrasts_csv::contrasts_csv;
pub use digest::digest_md;
pub use doctor::doctor_text;
pub use drill::drill_text;
pub use host_check::host_check_text;
pub use html::{matrix_html, recording_html};
pub use load::load_table;
pub use load_files::{load_csv, load_hdr, load_openmetrics};
pub use matrix::{comparison_md, matrix_md};
pub use plan::plan_text;
pub use profile_diff::profile_diff_text;
pub use qualification::qualification_text;
pub use recording::recording_md;
pub use resolution::resolution_text;
pub use status::status_text;
pub use two_labels::two_labels_text;
