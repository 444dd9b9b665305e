//! Collapsed stacks: one line for each stack, frames from the root separated by `;`, then a blank
//! and the weight. Written by async-profiler, by `perf` through a folder, and by many others.
//!
//! The weight is what follows the *last* blank, for names of threads hold blanks, and there may be
//! blanks after it. The reader works on bytes, line by line, and starts where a line differs from
//! the one before: the frames that both share are not looked up again.

use std::io::{self, BufRead};

use memchr::{memchr, memchr_iter, memrchr};

use crate::naming::Naming;
use crate::stacks::{Limits, Profile, ROOT, Unit};
use crate::table::Figure;

/// The longest line that is read, bytes: a stack of 2,048 frames of 256 bytes. A longer one is
/// counted as strange and passed over.
pub const LINE_BYTES: usize = 1 << 19;

/// A file of collapsed stacks, read.
#[derive(Debug, Clone, Default)]
pub struct Collapsed {
    /// The stacks.
    pub profile: Profile,
    /// What is wrong with the file.
    pub quality: Quality,
}

/// What is wrong with a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quality {
    /// Lines of the file, empty ones and comments too.
    pub lines: u64,
    /// Lines with a stack and a weight.
    pub stacks: u64,
    /// Lines that are none, and no comment.
    pub strange_lines: u64,
    /// The first of these, from 1.
    pub first_strange_line: Option<u64>,
    /// Whether the last line has no line end: its weight may be cut, though many writers leave the
    /// line end out.
    pub unfinished: bool,
    /// Whether the last line is no whole stack: the file was cut in it.
    pub cut: bool,
}

/// Why a file is none of collapsed stacks.
#[derive(Debug, thiserror::Error)]
pub enum CollapsedError {
    /// It could not be read.
    #[error("line {line}: {source}")]
    Io {
        /// The line after which reading failed, from 1.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// More lines are none than are.
    #[error(
        "line {line}: expected collapsed stacks, `frame;frame;frame 12`, found `{found}` ({stacks} \
         of {lines} lines are stacks). async-profiler writes them with `-o collapsed`"
    )]
    NotCollapsed {
        /// The first line that is none, from 1.
        line: u64,
        /// Its start.
        found: String,
        /// Lines that are.
        stacks: u64,
        /// All lines.
        lines: u64,
    },
}

/// How a file is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// What the weights count; told from the leaves when absent.
    pub unit: Option<Unit>,
    /// How frames become names.
    pub naming: Naming,
    /// Bounds on memory.
    pub limits: Limits,
}

impl Collapsed {
    /// Reads a file.
    ///
    /// # Errors
    /// When the input fails, or when it holds no stack or more other lines than stacks.
    pub fn read(mut input: impl BufRead, options: Options) -> Result<Self, CollapsedError> {
        let unit = options.unit.unwrap_or_default();
        let mut reader = Reader {
            profile: Profile::new(unit, options.naming, options.limits),
            quality: Quality::default(),
            found: String::new(),
            before: Vec::new(),
            path: Vec::new(),
            types: 0,
            lumps: unit == Unit::Bytes,
        };
        // The start of a line whose end is in the next piece.
        let mut part = Vec::new();
        let mut too_long = false;
        loop {
            let piece = match input.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => {
                    return Err(CollapsedError::Io { line: reader.quality.lines, source });
                }
            };
            if piece.is_empty() {
                break;
            }
            let bytes = piece.len();
            let mut start = 0;
            for end in memchr_iter(b'\n', piece) {
                let line = &piece[start..end];
                start = end + 1;
                if too_long {
                    reader.strange(&part);
                } else if part.is_empty() {
                    reader.line(line);
                } else {
                    part.extend_from_slice(line);
                    reader.line(&part);
                }
                part.clear();
                too_long = false;
            }
            let rest = &piece[start..];
            if part.len() + rest.len() > LINE_BYTES {
                too_long = true;
            } else {
                part.extend_from_slice(rest);
            }
            input.consume(bytes);
        }
        if too_long {
            reader.strange(&part);
        } else if !part.is_empty() {
            reader.last(&part);
        }
        reader.finish(options.unit)
    }
}

struct Reader {
    profile: Profile,
    quality: Quality,
    /// The start of the first strange line.
    found: String,
    /// The stack of the line before, as written.
    before: Vec<u8>,
    /// Its frames: where each ends in `before`, and its node.
    path: Vec<(u32, u32)>,
    /// Weight of leaves that are types as async-profiler writes them.
    types: u64,
    lumps: bool,
}

impl Reader {
    fn line(&mut self, line: &[u8]) {
        self.quality.lines += 1;
        match split(line) {
            Some((stack, weight)) if line.len() <= LINE_BYTES => self.stack(stack, weight),
            _ if line.iter().all(u8::is_ascii_whitespace) || line[0] == b'#' => {}
            _ => {
                self.quality.lines -= 1;
                self.strange(line);
            }
        }
    }

    /// The last line without a line end. Many writers leave it out, so it counts; but when it is
    /// no whole line the file was cut in it.
    fn last(&mut self, line: &[u8]) {
        if split(line).is_some() {
            self.line(line);
        } else {
            self.quality.lines += 1;
            self.quality.cut = true;
        }
        self.quality.unfinished = true;
    }

    fn strange(&mut self, line: &[u8]) {
        self.quality.lines += 1;
        self.quality.strange_lines += 1;
        if self.quality.first_strange_line.is_none() {
            self.quality.first_strange_line = Some(self.quality.lines);
            let line = String::from_utf8_lossy(&line[..line.len().min(320)]);
            self.found = line.chars().take(80).collect();
        }
    }

    fn stack(&mut self, stack: &[u8], weight: u64) {
        self.quality.stacks += 1;
        // Frames that are wholly in the common start of both lines have their nodes already.
        let common = common_prefix(&self.before, stack);
        let kept = self.path.partition_point(|&(end, _)| {
            let end = end as usize;
            end < common || end == common && stack.get(end).is_none_or(|byte| *byte == b';')
        });
        self.path.truncate(kept);
        let (mut at, mut node) = match self.path.last() {
            Some(&(end, node)) => (end as usize + 1, node),
            None => (0, ROOT),
        };
        while at <= stack.len() {
            let end = self.frame_end(stack, at);
            let frame = &stack[at..end];
            if !frame.is_empty() {
                node = self.profile.child(node, frame);
            }
            self.path.push((end as u32, node));
            at = end + 1;
        }
        self.before.clear();
        self.before.extend_from_slice(stack);
        let leaf = memrchr(b';', stack).map_or(stack, |at| &stack[at + 1..]);
        if is_type(leaf) {
            self.types = self.types.saturating_add(weight);
        }
        let figure = if self.lumps {
            Figure::lump(weight)
        } else {
            // Each of `weight` samples weighs one.
            Figure { weight, samples: weight, squares: weight as f64 }
        };
        if node == ROOT {
            self.profile.add([], figure);
        } else {
            self.profile.weigh(node, figure);
        }
    }

    /// Where the frame that starts at `at` ends. A thread's name may hold a semicolon:
    /// `[blocked; on shared tid=26]`.
    fn frame_end(&self, stack: &[u8], at: usize) -> usize {
        let end = |from: usize| memchr(b';', &stack[from..]).map_or(stack.len(), |end| from + end);
        let mut first = end(at);
        if at > 0 || stack.first() != Some(&b'[') {
            return first;
        }
        let simple = first;
        while !is_thread(&stack[at..first]) {
            if first == stack.len() {
                return simple;
            }
            first = end(first + 1);
        }
        first
    }

    fn finish(mut self, unit: Option<Unit>) -> Result<Collapsed, CollapsedError> {
        let Quality { lines, stacks, strange_lines, first_strange_line, .. } = self.quality;
        if stacks == 0 || strange_lines > stacks {
            let line = first_strange_line.unwrap_or(lines);
            return Err(CollapsedError::NotCollapsed { line, found: self.found, stacks, lines });
        }
        // 99 of 100: a few leaves of an allocation profile are no types (`[no_Java_frame]`).
        let total = self.profile.total().weight;
        if unit.is_none() && u128::from(self.types) * 100 >= u128::from(total) * 99 {
            self.profile.count_bytes();
        }
        Ok(Collapsed { profile: self.profile, quality: self.quality })
    }
}

/// Stack and weight of a line.
fn split(line: &[u8]) -> Option<(&[u8], u64)> {
    let line = line.trim_ascii_end();
    let blank = memrchr(b' ', line).or_else(|| memrchr(b'\t', line))?;
    let digits = &line[blank + 1..];
    if digits.is_empty() || digits.len() > 20 {
        return None;
    }
    let mut weight = 0_u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        weight = weight.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some((line[..blank].trim_ascii_end(), weight))
}

/// How many bytes two texts share at their start.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let length = a.len().min(b.len());
    let words = length / 8;
    for word in 0..words {
        let at = word * 8;
        let read = |text: &[u8]| u64::from_le_bytes(text[at..at + 8].try_into().expect("8 bytes"));
        let differ = read(a) ^ read(b);
        if differ != 0 {
            return at + differ.trailing_zeros() as usize / 8;
        }
    }
    let at = words * 8;
    at + a[at..length].iter().zip(&b[at..length]).take_while(|(a, b)| a == b).count()
}

/// `[name tid=12]`.
fn is_thread(frame: &[u8]) -> bool {
    let Some(inner) = frame.strip_suffix(b"]") else { return false };
    let digits = inner.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && inner[..inner.len() - digits].ends_with(b" tid=")
}

/// A leaf as async-profiler writes the type of an allocation: marked `_[i]` or `_[k]`, with dots
/// or as an array, where methods have slashes.
fn is_type(leaf: &[u8]) -> bool {
    let leaf = leaf.trim_ascii_end();
    let Some(name) = leaf.strip_suffix(b"_[i]").or_else(|| leaf.strip_suffix(b"_[k]")) else {
        return false;
    };
    name.ends_with(b"[]") || memchr(b'.', name).is_some() && memchr(b'/', name).is_none()
}

/// Whether the start of a file looks like collapsed stacks: its first whole lines are.
#[must_use]
pub fn looks_like(head: &[u8]) -> bool {
    let whole = memrchr(b'\n', head).map_or(head, |end| &head[..end]);
    let mut lines = whole
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty() && line[0] != b'#')
        .take(20)
        .peekable();
    let one = |line: &[u8]| split(line).is_some_and(|(stack, _)| !stack.is_empty());
    lines.peek().is_some() && {
        let lines: Vec<_> = lines.collect();
        lines.iter().all(|line| one(line)) && lines.iter().any(|line| line.contains(&b';'))
    }
}

#[cfg(test)]
mod tests;
