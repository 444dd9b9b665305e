//! Data on standard output, everything else on standard error; colour that only repeats what
//! a word says already.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use record::layout;
use serde::Serialize;

use crate::cli::{ColorChoice, Global, JsonTarget};
use crate::exit::Failure;

/// Words that carry a judgement, with the SGR code that repeats it.
const COLOURED: [(&str, &str); 12] = [
    ("valid", "32"),
    ("void", "31"),
    ("at_least", "33"),
    ("censored", "33"),
    ("faster", "32"),
    ("slower", "31"),
    ("equivalent", "36"),
    ("inconclusive", "33"),
    ("incomplete", "31"),
    ("qualified", "32"),
    ("directional", "33"),
    ("unfit", "31"),
];

/// Where a verb's words go.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    quiet: bool,
    verbose: bool,
    colour_stdout: bool,
    colour_stderr: bool,
}

impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        let colour = |is_terminal: bool| match global.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                is_terminal && !unwanted
            }
        };
        Self {
            quiet: global.quiet,
            verbose: global.verbose > 0,
            colour_stdout: colour(io::stdout().is_terminal()),
            colour_stderr: colour(io::stderr().is_terminal()),
        }
    }

    /// Whether progress may be drawn.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet
    }

    /// Whether progress may move the cursor.
    pub(crate) fn is_interactive(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Data, to standard output.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        if self.colour_stdout {
            stdout.write_all(coloured(text).as_bytes())?;
        } else {
            stdout.write_all(text.as_bytes())?;
        }
        stdout.flush()?;
        Ok(())
    }

    /// Data for programs, to standard output: never coloured.
    pub(crate) fn plain(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        Ok(())
    }

    /// A remark, to standard error; silent with `-q`.
    pub(crate) fn remark(&self, text: &str) {
        if !self.quiet {
            // Nobody to tell when standard error is gone.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    /// A remark for those who asked for more.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose {
            self.remark(text);
        }
    }

    /// An error, to standard error.
    pub(crate) fn error(&self, failure: &Failure) {
        let word = if self.colour_stderr { "\u{1b}[31;1merror\u{1b}[0m" } else { "error" };
        let _ = writeln!(io::stderr(), "{word}: {}", failure.message.trim_end());
    }

    /// The verb's result: JSON where it was asked for, and the text, unless standard output is
    /// taken by the JSON.
    pub(crate) fn result<T: Serialize>(
        &self,
        json: Option<&JsonTarget>,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        match json {
            Some(JsonTarget::Stdout) => {
                let mut bytes = serde_json::to_vec_pretty(value).map_err(Failure::failed)?;
                bytes.push(b'\n');
                io::stdout().write_all(&bytes)?;
                Ok(())
            }
            Some(JsonTarget::File(path)) => {
                write_json(path, value)?;
                self.data(&text())
            }
            None => self.data(&text()),
        }
    }
}

/// Writes JSON to a file of the user's choice.
pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), Failure> {
    layout::write_json(path, value)
        .map_err(|error| Failure::failed(format!("cannot write `{}`: {error}", path.display())))
}

/// Colours the words of judgement where they stand alone.
fn coloured(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 64);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest.find(is_word).unwrap_or(rest.len());
        result.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        match COLOURED.iter().find(|(name, _)| *name == word) {
            Some((_, code)) => result.push_str(&format!("\u{1b}[{code}m{word}\u{1b}[0m")),
            None => result.push_str(word),
        }
        rest = &rest[end..];
    }
    result
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn only_whole_words_are_coloured() {
        assert_eq!(coloured("void, avoid"), "\u{1b}[31mvoid\u{1b}[0m, avoid");
        assert_eq!(coloured("no judgement\n"), "no judgement\n");
    }
}
