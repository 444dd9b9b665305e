//! Evidence as text: Markdown digests and tables, and tables for the terminal.
//!
//! Pure functions from records to `String`: nothing here reads a file, asks a clock, knows the
//! terminal or applies colour; verdicts are marked by their word alone. Bytes are shown with
//! binary units, rates and counts with decimal ones.

mod compare;
mod digest;
mod html;
mod load;
mod matrix;
mod plan;
mod recording;
mod status;
mod text;

pub use compare::{Show, comparison_table};
pub use digest::digest_md;
pub use html::matrix_html;
pub use load::load_table;
pub use matrix::matrix_md;
pub use plan::plan_text;
pub use recording::{drill_text, recording_md};
pub use status::status_text;
