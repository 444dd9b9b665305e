//! Tables of the page: with a caption, column headers and row headers, in a region of their own
//! that scrolls and that the keyboard reaches.

use super::markup::Markup;

/// A table in the making.
#[derive(Debug)]
pub(crate) struct Table {
    caption: String,
    /// Names of the columns, each with whether it holds figures.
    columns: Vec<(&'static str, bool)>,
    rows: Vec<Vec<String>>,
    left: usize,
}

/// Most rows of a table; the rest is counted.
const MOST_ROWS: usize = 2_000;

impl Table {
    /// A table with a caption. A column whose name begins with `#` holds figures.
    pub(crate) fn new(caption: impl Into<String>, columns: &[&'static str]) -> Self {
        let column = |name: &&'static str| (name.trim_start_matches('#'), name.starts_with('#'));
        Self {
            caption: caption.into(),
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
            left: 0,
        }
    }

    /// Adds a row; its first value is its header.
    pub(crate) fn row(&mut self, values: Vec<String>) {
        assert_eq!(values.len(), self.columns.len(), "a value for each column");
        if self.rows.len() < MOST_ROWS {
            self.rows.push(values);
        } else {
            self.left += 1;
        }
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes it.
    pub(crate) fn write(&self, markup: &mut Markup) {
        let region: [(&'static str, &dyn std::fmt::Display); 4] = [
            ("class", &"scroll"),
            ("tabindex", &0),
            ("role", &"region"),
            ("aria-label", &self.caption),
        ];
        markup.open("div", &region).open("table", &[]);
        markup.element("caption", &[], &self.caption);
        markup.open("thead", &[]).open("tr", &[]);
        for (name, figures) in &self.columns {
            let class = if *figures { "figures" } else { "words" };
            markup.element("th", &[("scope", &"col"), ("class", &class)], name);
        }
        markup.close().close().open("tbody", &[]);
        for row in &self.rows {
            markup.open("tr", &[]);
            for (place, (value, (_, figures))) in row.iter().zip(&self.columns).enumerate() {
                match (place, figures) {
                    (0, _) => markup.element("th", &[("scope", &"row")], value),
                    (_, true) => markup.element("td", &[("class", &"figures")], value),
                    (_, false) => markup.element("td", &[], value),
                };
            }
            markup.close();
        }
        markup.close().close().close();
        if self.left > 0 {
            let text = format!("{} more rows are in matrix.json.", self.left);
            markup.element("p", &[], &text);
        }
    }

    /// Writes it folded, as the text of a figure.
    pub(crate) fn fold(&self, markup: &mut Markup) {
        if self.is_empty() {
            return;
        }
        markup.open("details", &[]);
        markup.element("summary", &[], &format!("As a table: {}", self.caption));
        self.write(markup);
        markup.close();
    }
}
