//! A table with its title and remarks, for the terminal and for Markdown.

use crate::text::{cell, fitted};

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

    fn text(&self) -> String {
        let mut text = "\n".to_owned();
        if !self.title.is_empty() {
            text.push_str(&format!("{}\n", self.title));
        }
        if !self.rows.is_empty() {
            let mut lines: Vec<Vec<String>> =
                vec![self.header.iter().map(|name| (*name).to_owned()).collect()];
            lines.extend(self.rows.iter().cloned());
            text.push_str(&fitted(&lines, self.align));
        }
        text.extend(self.lines.iter().map(|line| format!("- {line}\n")));
        text
    }

    fn md(&self) -> String {
        let mut text = "\n".to_owned();
        if !self.title.is_empty() {
            text.push_str(&format!("### {}\n\n", self.title));
        }
        if !self.rows.is_empty() {
            let rule = |align: char| if align == 'r' { "---:" } else { "---" };
            let rules: Vec<&str> = self.align.chars().map(rule).collect();
            text.push_str(&format!("| {} |\n", self.header.join(" | ")));
            text.push_str(&format!("|{}|\n", rules.join("|")));
            for row in &self.rows {
                let values: Vec<String> = row.iter().map(|value| cell(value)).collect();
                text.push_str(&format!("| {} |\n", values.join(" | ")));
            }
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
