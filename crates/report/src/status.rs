//! The text of `assay status`.

use record::status::{RunState, Status};

use crate::text::columns;

/// Renders how the runs of a label stand: the state as a whole first, then a line for each run
/// that is not finished.
#[must_use]
pub fn status_text(status: &Status) -> String {
    let finished = status.runs.iter().filter(|run| run.state == RunState::Finished).count();
    let mut text = format!(
        "{}: {}, {finished} of {} runs finished\n",
        status.name,
        status.state.word(),
        status.runs.len()
    );
    let open: Vec<Vec<String>> = status
        .runs
        .iter()
        .filter(|run| run.state != RunState::Finished)
        .map(|run| vec![format!("  {}", run.run), run.state.word().to_owned(), run.detail.clone()])
        .collect();
    text.push_str(&columns(&open, "l"));
    if status.state == RunState::Died {
        text.push_str("complete the matrix with `--resume`\n");
    }
    text
}
