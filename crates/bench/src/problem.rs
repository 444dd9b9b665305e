//! What is wrong with a bench: all problems at once, each with its place, what was expected and
//! the remedy, for miette to draw and for snapshots as plain text.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, SourceCode};

use crate::source::{At, Source, Sources};

/// Most problems that are kept; the rest is counted.
const MAX_PROBLEMS: usize = 100;

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub struct Problem {
    message: String,
    source: Option<Source>,
    span: Range<usize>,
    help: Option<String>,
}

impl Problem {
    /// What is wrong, with the nearest valid word or spelling.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The offending bytes of its source; empty when it has no place.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Line and column, both from 1; `None` for a problem of the command line or the file.
    #[must_use]
    pub fn line_column(&self) -> Option<(usize, usize)> {
        self.source.as_ref().map(|source| source.line_column(self.span.start))
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        self.help.as_deref()
    }

    fn render(&self, out: &mut String) {
        use fmt::Write;
        // Writing to a String cannot fail.
        let Some(source) = &self.source else {
            let _ = writeln!(out, "{}", self.message);
            if let Some(help) = &self.help {
                let _ = writeln!(out, "  help: {help}");
            }
            return;
        };
        let (line, column) = source.line_column(self.span.start);
        let _ = writeln!(out, "{}:{line}:{column}: {}", source.name(), self.message);
        // Control characters would act on the terminal; one for one keeps the columns.
        let shown = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
        let text: String = source.line_at(self.span.start).chars().map(shown).collect();
        let covered = source.text().get(self.span.clone()).unwrap_or("");
        let wide = covered.lines().next().unwrap_or("").chars().count().max(1);
        let gutter = line.to_string();
        let margin = " ".repeat(gutter.len());
        let indent: String = text
            .chars()
            .take(column - 1)
            .map(|character| if character == '\t' { '\t' } else { ' ' })
            .collect();
        let _ = writeln!(out, "  {gutter} | {text}");
        let _ = writeln!(out, "  {margin} | {indent}{}", "^".repeat(wide));
        if let Some(help) = &self.help {
            let _ = writeln!(out, "  {margin} = help: {help}");
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source.code() as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.source.as_ref()?;
        let label = LabeledSpan::new(None, self.span.start, self.span.len());
        Some(Box::new(std::iter::once(label)))
    }
}

/// Everything that is wrong with a bench; never empty.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    name: String,
    problems: Vec<Problem>,
    left_out: usize,
}

impl Diagnostics {
    /// A single problem without a place, such as a file that cannot be read.
    pub(crate) fn single(name: &str, message: String, help: Option<String>) -> Self {
        let problem = Problem { message, source: None, span: 0..0, help };
        Self { name: name.to_owned(), problems: vec![problem], left_out: 0 }
    }

    /// The problems by place.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Plain text: `file:line:column: message`, the line and its underlined part, for each.
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = String::new();
        for problem in &self.problems {
            problem.render(&mut out);
        }
        if self.left_out > 0 {
            out.push_str(&format!("and {} more\n", self.left_out));
        }
        out
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len() + self.left_out;
        let noun = if count == 1 { "error" } else { "errors" };
        write!(f, "{count} {noun} in `{}`", self.name)
    }
}

impl std::error::Error for Diagnostics {}

impl Diagnostic for Diagnostics {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.problems.iter().map(|problem| problem as &dyn Diagnostic)))
    }
}

/// A problem on its way to [`Problems`].
#[derive(Debug, Clone)]
pub(crate) struct Report {
    at: Option<At>,
    message: String,
    help: Option<String>,
}

impl Report {
    pub(crate) fn at(at: At, message: impl Into<String>) -> Self {
        Self { at: Some(at), message: message.into(), help: None }
    }

    /// A problem of the command line, which has no file to point into.
    pub(crate) fn nowhere(message: impl Into<String>) -> Self {
        Self { at: None, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }
}

/// Collects problems; the same message at the same place is kept once.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Report>,
    seen: HashSet<(Option<At>, String)>,
    left_out: usize,
}

impl Problems {
    pub(crate) fn push(&mut self, report: Report) {
        if self.list.len() >= MAX_PROBLEMS {
            self.left_out += 1;
        } else if self.seen.insert((report.at, report.message.clone())) {
            self.list.push(report);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many were kept so far; to see whether a step added any.
    pub(crate) fn len(&self) -> usize {
        self.list.len() + self.left_out
    }

    /// The collected problems by place, or `Ok` when there are none.
    pub(crate) fn into_result(self, name: &str, sources: &Sources) -> Result<(), Diagnostics> {
        if self.list.is_empty() {
            return Ok(());
        }
        let mut list = self.list;
        list.sort_by_key(|report| report.at);
        let problems = list
            .into_iter()
            .map(|report| Problem {
                message: report.message,
                source: report.at.map(|at| sources.get(at.source).clone()),
                span: report.at.map_or(0..0, At::range),
                help: report.help,
            })
            .collect();
        Err(Diagnostics { name: name.to_owned(), problems, left_out: self.left_out })
    }
}
