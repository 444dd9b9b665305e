//! Class histograms of `jcmd PID GC.class_histogram` and `jmap -histo`, and their difference.
//!
//! A row is `   1:          5657         841072  [B (java.base@17.0.15)`: rank, instances, bytes,
//! the class as the JVM names it (arrays stay `[B`) and its module; JDK 8 has no modules. The last
//! line is the total. A file without it, or whose rows do not sum to it, was cut or damaged: what
//! is there is given, and what is wrong with it is in [`Quality`].
//!
//! The histogram counts what was live when it was taken, for the JVM collects first (without
//! `-all`). It says how much of what, never who holds it.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use crate::text_lines::Lines;

/// Rows kept; a JVM has as many as it has loaded classes.
pub const MAX_ROWS: usize = 1 << 20;

/// A class histogram, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassHistogram {
    /// The rows in the order of the file: by bytes, most first.
    pub rows: Vec<Row>,
    /// Sum over the rows.
    pub total: Amount,
    /// The total that the file states; `None` when it ends before.
    pub stated: Option<Amount>,
    /// What is wrong with the file.
    pub quality: Quality,
}

/// Instances and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Instances.
    pub instances: u64,
    /// Their shallow size, bytes.
    pub bytes: u64,
}

/// A class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// As the JVM names it: `java.lang.String`, `[B`, `[Ljava.lang.Object;`.
    pub class: String,
    /// Module with version, `java.base@17.0.15`; `None` for the class path and for JDK 8.
    pub module: Option<String>,
    /// Its instances.
    pub amount: Amount,
}

/// What is wrong with a histogram.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quality {
    /// Lines that are neither a row nor of the frame.
    pub strange_lines: u64,
    /// The first of these, from 1.
    pub first_strange_line: Option<u64>,
    /// Ranks that are not one more than the row before: rows are missing or moved.
    pub broken_ranks: u64,
    /// Rows beyond [`MAX_ROWS`]; in the total, not among the rows.
    pub dropped_rows: u64,
    /// Whether a second histogram follows; it was not read.
    pub more_follows: bool,
}

/// Why a file is no class histogram.
#[derive(Debug, thiserror::Error)]
pub enum ClassHistogramError {
    /// It could not be read.
    #[error("line {line}: {source}")]
    Io {
        /// The line after which reading failed, from 1.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// No row in it.
    #[error(
        "expected a class histogram with a row like `1:  5657  841072  [B`, found {lines} lines \
         without one; the first: `{first}`. One is written with `jcmd PID GC.class_histogram`"
    )]
    NotAHistogram {
        /// Lines read.
        lines: u64,
        /// The start of the first line that is not empty.
        first: String,
    },
}

impl ClassHistogram {
    /// Reads a histogram.
    ///
    /// # Errors
    /// When the input fails or holds no row. Damage beside rows is no error: see [`Quality`].
    pub fn read(input: impl BufRead) -> Result<Self, ClassHistogramError> {
        let mut lines = Lines::new(input);
        let mut histogram = Self::default();
        let (mut first, mut rank) = (String::new(), 0_u64);
        loop {
            let count = lines.count;
            let line = match lines.next_line() {
                Ok(Some(line)) => String::from_utf8_lossy(line).into_owned(),
                Ok(None) => break,
                Err(source) => return Err(ClassHistogramError::Io { line: count, source }),
            };
            if first.is_empty() {
                first = line.trim().chars().take(80).collect();
            }
            match Line::of(&line) {
                Line::Row(its_rank, row) => {
                    if its_rank == 1 && rank > 0 {
                        histogram.quality.more_follows = true;
                        break;
                    }
                    histogram.quality.broken_ranks += u64::from(its_rank != rank + 1);
                    // The rank of a damaged row says nothing of the next.
                    rank += 1;
                    histogram.total.add(row.amount);
                    if histogram.rows.len() < MAX_ROWS {
                        histogram.rows.push(row);
                    } else {
                        histogram.quality.dropped_rows += 1;
                    }
                }
                Line::Total(amount) if histogram.stated.is_none() => {
                    histogram.stated = Some(amount);
                }
                Line::Frame if histogram.stated.is_none() || line.trim().is_empty() => {}
                Line::Total(_) | Line::Frame => {
                    histogram.quality.more_follows = true;
                    break;
                }
                Line::Strange => {
                    histogram.quality.strange_lines += 1;
                    histogram.quality.first_strange_line.get_or_insert(count + 1);
                }
            }
        }
        if histogram.rows.is_empty() {
            return Err(ClassHistogramError::NotAHistogram { lines: lines.count, first });
        }
        Ok(histogram)
    }

    /// What a reader must know before believing the figures, in sentences; empty when all is well.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        match self.stated {
            None => remarks.push(format!(
                "no line `Total`: the file was cut after row {}; classes are missing",
                self.rows.len()
            )),
            Some(stated) if stated != self.total => remarks.push(format!(
                "the rows sum to {} instances and {} bytes, the line `Total` says {} and {}: rows \
                 are missing or damaged",
                self.total.instances, self.total.bytes, stated.instances, stated.bytes
            )),
            Some(_) => {}
        }
        if let Some(line) = self.quality.first_strange_line {
            let count = self.quality.strange_lines;
            remarks.push(format!("{count} lines are no rows, the first is line {line}"));
        }
        if self.quality.broken_ranks > 0 {
            let count = self.quality.broken_ranks;
            remarks.push(format!("{count} rows do not have the rank after the row before"));
        }
        if self.quality.more_follows {
            remarks.push("a second histogram follows in the file and was not read".into());
        }
        remarks
    }

    /// Whether classes are missing or figures cannot be right.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.stated != Some(self.total)
            || self.quality.strange_lines > 0
            || self.quality.broken_ranks > 0
    }

    /// What changed from this histogram to a later one of the same program, most grown first.
    /// Classes that the JVM made up are compared without their numbers, which differ from run to
    /// run: the lambda classes of one host count together.
    #[must_use]
    pub fn difference(&self, later: &Self) -> Difference {
        let mut classes = BTreeMap::<String, Change>::new();
        for (histogram, is_later) in [(self, false), (later, true)] {
            for row in &histogram.rows {
                let name = comparable(&row.class).unwrap_or_else(|| row.class.clone());
                let change = classes.entry(name).or_default();
                if change.module.is_none() {
                    change.module.clone_from(&row.module);
                }
                if is_later { change.after.add(row.amount) } else { change.before.add(row.amount) }
            }
        }
        let mut rows: Vec<Change> = classes
            .into_iter()
            .map(|(class, change)| Change { class, ..change })
            .filter(|change| change.before != change.after)
            .collect();
        rows.sort_by(|a, b| {
            (b.bytes_grown(), b.instances_grown())
                .cmp(&(a.bytes_grown(), a.instances_grown()))
                .then_with(|| a.class.cmp(&b.class))
        });
        Difference { before: self.total, after: later.total, rows }
    }
}

/// What changed between two histograms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Sum of the earlier.
    pub before: Amount,
    /// Sum of the later.
    pub after: Amount,
    /// The classes that changed, most grown bytes first.
    pub rows: Vec<Change>,
}

/// A class in both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The class, without the numbers of classes that the JVM made up.
    pub class: String,
    /// Its module.
    pub module: Option<String>,
    /// In the earlier; zero when it was not there.
    pub before: Amount,
    /// In the later; zero when it is gone.
    pub after: Amount,
}

impl Change {
    /// Bytes more; negative when it shrank.
    #[must_use]
    pub fn bytes_grown(&self) -> i128 {
        i128::from(self.after.bytes) - i128::from(self.before.bytes)
    }

    /// Instances more; negative when there are fewer.
    #[must_use]
    pub fn instances_grown(&self) -> i128 {
        i128::from(self.after.instances) - i128::from(self.before.instances)
    }
}

impl Amount {
    fn add(&mut self, other: Self) {
        self.instances = self.instances.saturating_add(other.instances);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// A class that the JVM made up, without what differs between runs: `a.B$$Lambda$16/0x00007f`
/// and `a.B$$Lambda+0x00007f` are `a.B$$Lambda`. `None` for any other.
fn comparable(class: &str) -> Option<String> {
    let cut = match class.find("$$Lambda") {
        Some(at) => at + "$$Lambda".len(),
        // Other hidden classes: `java.lang.invoke.LambdaForm$MH/0x000000080008c000`.
        None => class.find(['/', '+'])?,
    };
    let tail = &class[cut..];
    let id = |c: char| c.is_ascii_hexdigit() || "$/+.x;".contains(c);
    tail.chars().all(id).then(|| {
        let end = if class.starts_with('[') && class.ends_with(';') { ";" } else { "" };
        format!("{}{end}", &class[..cut])
    })
}

/// What a line is.
enum Line {
    /// Rank and row.
    Row(u64, Row),
    Total(Amount),
    /// The head, the rule beneath it, the line with the process that `jcmd` prints, nothing.
    Frame,
    Strange,
}

impl Line {
    fn of(line: &str) -> Self {
        let text = line.trim();
        let rule = !text.is_empty() && text.bytes().all(|byte| byte == b'-');
        let process = text.strip_suffix(':').is_some_and(|pid| pid.parse::<u32>().is_ok());
        if text.is_empty() || rule || process || text.starts_with("num ") {
            return Self::Frame;
        }
        Self::total(text).or_else(|| Self::row(text)).unwrap_or(Self::Strange)
    }

    fn total(text: &str) -> Option<Self> {
        let mut words = text.strip_prefix("Total")?.split_whitespace();
        let instances = words.next()?.parse().ok()?;
        let bytes = words.next()?.parse().ok()?;
        words.next().is_none().then_some(Self::Total(Amount { instances, bytes }))
    }

    fn row(text: &str) -> Option<Self> {
        let (rank, rest) = text.split_once(':')?;
        let (instances, rest) = rest.trim_start().split_once(' ')?;
        let (bytes, rest) = rest.trim_start().split_once(' ')?;
        let amount = Amount { instances: instances.parse().ok()?, bytes: bytes.parse().ok()? };
        let name = rest.trim();
        let (class, module) = match name.rsplit_once(" (") {
            Some((class, module)) if module.ends_with(')') => {
                (class, Some(module[..module.len() - 1].to_owned()))
            }
            _ => (name, None),
        };
        let row = Row { class: class.to_owned(), module, amount };
        (!row.class.is_empty()).then_some(Self::Row(rank.parse().ok()?, row))
    }
}

/// Whether the start of a file looks like a class histogram.
#[must_use]
pub fn looks_like(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(4).peekable();
    lines.peek().is_some()
        && lines
            .find(|line| !matches!(Line::of(line), Line::Frame))
            .is_some_and(|line| matches!(Line::of(line), Line::Row(1, _)))
}

#[cfg(test)]
mod tests;
