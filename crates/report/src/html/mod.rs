//! `matrix.html`: a label to look at, one self-contained page. Under construction: the figures
//! follow.

use record::page::Page;

/// Renders the page.
#[must_use]
pub fn matrix_html(page: &Page) -> String {
    let cells = page.cells.len();
    format!("<!DOCTYPE html>\n<html lang=\"en\"><title>{cells} cells</title></html>\n")
}
