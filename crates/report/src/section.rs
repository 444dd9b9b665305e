//! A table with its title and remarks, for the terminal and for Markdown.

use crate::grid::Grid;

/// One table.
#[derive(Debug, Default)]
pub(crate) struct Section {
    /// Empty where one remark says it all.
    pub(crate) title: String,
    /// Names of the columns; empty without a table.
    pub(crate) header: Vec<&'static str>,
    /// `l` or `r` for each column.
    pub(crate) align: &'static str,
    pub(crate) rows: Vec<Vec<String>>,
    /// Remarks, one line each.
    pub(crate) lines: Vec<String>,
}

impl Section {
    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.lines.is_empty()
    }

    fn grid(&self) -> Grid {
        let mut grid = Grid::new(self.title.clone(), &self.header, self.align);
        grid.rows.clone_from(&self.rows);
        grid
    }

    fn text(&self) -> String {
        let mut text = "\n".to_owned();
        if self.rows.is_empty() {
            text.extend((!self.title.is_empty()).then(|| format!("{}\n", self.title)));
        } else {
            text.push_str(&self.grid().terminal());
        }
        text.extend(self.lines.iter().map(|line| format!("- {line}\n")));
        text
    }

    fn md(&self) -> String {
        let mut text = "\n".to_owned();
        if self.rows.is_empty() {
            text.extend((!self.title.is_empty()).then(|| format!("### {}\n\n", self.title)));
        } else {
            text.push_str(&self.grid().markdown(3));
            text.push_str(if self.lines.is_empty() { "" } else { "\n" });
        }
        text.extend(self.lines.iter().map(|line| format!("- {}\n", line.replace('\n', " "))));
        text
    }
}

/// Sections that say something, for the terminal.
pub(crate) fn text(sections: &[Section]) -> String {
    sections.iter().filter(|section| !section.is_empty()).map(Section::text).collect()
}

/// The same as Markdown, under headings of the third level.
pub(crate) fn md(sections: &[Section]) -> String {
    sections.iter().filter(|section| !section.is_empty()).map(Section::md).collect()
}
