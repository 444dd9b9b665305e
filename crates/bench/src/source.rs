//! Sources and places: the bench file, each `--set`, and the built-in defaults, all addressed
//! by byte ranges so that every value can say where it came from.

use std::ops::Range;
use std::sync::Arc;

use miette::NamedSource;

/// Longest bench file that is read, bytes. Plans are kept in memory once per cell.
pub(crate) const MAX_SOURCE_BYTES: usize = 1 << 20;

/// A place in one of the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct At {
    /// Index into [`Sources`].
    pub(crate) source: u32,
    /// First byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
}

impl At {
    /// The byte range.
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// A place in the same source.
    pub(crate) fn with_range(self, range: &Range<usize>) -> Self {
        Self { start: clamp(range.start), end: clamp(range.end), ..self }
    }
}

/// Sources are at most [`MAX_SOURCE_BYTES`] long, so offsets fit; a longer one is never parsed.
fn clamp(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// A text with a name.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    named: Arc<NamedSource<String>>,
}

impl Source {
    pub(crate) fn new(name: &str, text: String) -> Self {
        Self { named: Arc::new(NamedSource::new(name, text).with_language("toml")) }
    }

    pub(crate) fn name(&self) -> &str {
        self.named.name()
    }

    pub(crate) fn text(&self) -> &str {
        self.named.inner()
    }

    /// What miette reads spans from.
    pub(crate) fn code(&self) -> &NamedSource<String> {
        &self.named
    }

    /// Line and column of a byte offset, both from 1; columns count characters.
    pub(crate) fn line_column(&self, offset: usize) -> (usize, usize) {
        let text = self.text();
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }

    /// The text of the line that holds a byte offset, without its end.
    pub(crate) fn line_at(&self, offset: usize) -> &str {
        let (line, _) = self.line_column(offset);
        self.text().lines().nth(line - 1).unwrap_or("")
    }
}

/// All sources of one plan.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    list: Vec<Source>,
}

impl Sources {
    /// Adds a source; the index goes into every [`At`] of its values.
    pub(crate) fn add(&mut self, name: &str, text: String) -> u32 {
        self.list.push(Source::new(name, text));
        clamp(self.list.len() - 1)
    }

    pub(crate) fn get(&self, index: u32) -> &Source {
        &self.list[index as usize]
    }

    /// The text of a place; empty when the place does not lie on character boundaries.
    pub(crate) fn text(&self, at: At) -> &str {
        self.get(at.source).text().get(at.range()).unwrap_or("")
    }

    /// `bench.toml:12`.
    pub(crate) fn name_and_line(&self, at: At) -> String {
        let source = self.get(at.source);
        format!("{}:{}", source.name(), source.line_column(at.start as usize).0)
    }
}
