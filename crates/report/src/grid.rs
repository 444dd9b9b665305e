//! A table before its medium: the same rows for the terminal and for Markdown.

use crate::text::{WIDTH, cell, cut, fitted};

/// A table with its heading.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    /// One line: what it shows, of which host.
    pub(crate) title: String,
    /// Lines below the title: how to read it.
    pub(crate) legend: Vec<String>,
    /// Heads of the columns.
    pub(crate) header: Vec<String>,
    /// `l` or `r` for each column; its last letter holds for all that follow.
    pub(crate) align: String,
    /// The rows.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table without rows.
    pub(crate) fn new(title: impl Into<String>, header: &[&str], align: &str) -> Self {
        Self {
            title: title.into(),
            legend: Vec::new(),
            header: header.iter().map(|head| (*head).to_owned()).collect(),
            align: align.to_owned(),
            rows: Vec::new(),
        }
    }

    /// Title, legend, and columns side by side or, where they do not fit, a block for each row.
    pub(crate) fn terminal(&self) -> String {
        let mut text = String::new();
        for line in std::iter::once(&self.title).chain(&self.legend) {
            text.push_str(&wrapped(line));
        }
        let mut lines = vec![self.header.clone()];
        lines.extend(self.rows.iter().cloned());
        text.push_str(&fitted(&lines, &self.align));
        text
    }

    /// The title as a heading of `level`, the legend as a paragraph, then the table.
    pub(crate) fn markdown(&self, level: usize) -> String {
        let mut text = format!("{} {}\n\n", "#".repeat(level), cell(&self.title));
        if !self.legend.is_empty() {
            let legend: Vec<String> = self.legend.iter().map(|line| cell(line)).collect();
            text.push_str(&format!("{}\n\n", legend.join("; ")));
        }
        text.push_str(&self.markdown_table());
        text
    }

    /// The table alone.
    pub(crate) fn markdown_table(&self) -> String {
        let row = |values: &[String]| {
            let cells: Vec<String> = values.iter().map(|value| cell(value)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let last = self.align.chars().last().unwrap_or('l');
        let rule = (0..self.header.len()).map(|column| {
            match self.align.chars().nth(column).unwrap_or(last) {
                'r' => "---:",
                _ => "---",
            }
        });
        let mut text = row(&self.header);
        text.push_str(&format!("|{}|\n", rule.collect::<Vec<_>>().join("|")));
        for values in &self.rows {
            text.push_str(&row(values));
        }
        text
    }
}

/// A line and its newline, continued with an indent where it is wider than [`WIDTH`].
pub(crate) fn wrapped(line: &str) -> String {
    let mut text = String::new();
    let mut width = 0;
    for word in line.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
            text.push_str("\n  ");
            width = 2;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        let word = cut(word, WIDTH - 2);
        width += word.chars().count();
        text.push_str(&word);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_in_two_media() {
        let mut grid = Grid::new("cells, host 1", &["cell", "n"], "lr");
        grid.rows = vec![vec!["a|b".to_owned(), "12".to_owned()], vec!["c".into(), "3".into()]];
        insta::assert_snapshot!(grid.terminal(), @"
        cells, host 1
        cell   n
        a|b   12
        c      3
        ");
        insta::assert_snapshot!(grid.markdown(3), @r"
        ### cells, host 1

        | cell | n |
        |---|---:|
        | a\|b | 12 |
        | c | 3 |
        ");
    }

    #[test]
    fn nothing_is_wider_than_the_terminal() {
        let mut grid = Grid::new("word ".repeat(60), &["name", "value"], "ll");
        grid.rows.push(vec!["x".repeat(80), "y".repeat(200)]);
        for line in grid.terminal().lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
