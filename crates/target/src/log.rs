//! Reading a log that a child is still writing.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Read per look, bytes; a child that writes faster is caught up with in later looks.
const LOOK_BYTES: u64 = 1 << 20;
/// Longest line that is kept whole, bytes; of longer ones the end.
const LINE_BYTES: usize = 64 << 10;
/// How much of a log's end goes into a message: lines, and bytes of each.
const LAST_LINES: usize = 8;
const LAST_LINE_BYTES: usize = 300;

/// What is added to a log from now on, line by line.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    offset: u64,
    partial: Vec<u8>,
}

impl Tail {
    /// Starts at the log's present end; a log that does not exist yet is empty.
    pub(crate) fn from_end(path: &Path) -> Self {
        let offset = std::fs::metadata(path).map_or(0, |meta| meta.len());
        Self { path: path.to_owned(), offset, partial: Vec::new() }
    }

    /// Shows each new line to `find` until it returns something. A last line without its end is
    /// shown as well when `partial` is set.
    pub(crate) fn find<T>(
        &mut self,
        partial: bool,
        mut find: impl FnMut(&str) -> Option<T>,
    ) -> Option<T> {
        self.read();
        while let Some(end) = self.partial.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            if let Some(found) = find(String::from_utf8_lossy(&line).trim_end()) {
                return Some(found);
            }
        }
        if partial && !self.partial.is_empty() {
            let found = find(&String::from_utf8_lossy(&self.partial));
            if found.is_some() {
                return found;
            }
        }
        let excess = self.partial.len().saturating_sub(LINE_BYTES);
        self.partial.drain(..excess);
        None
    }

    fn read(&mut self) {
        let Ok(mut file) = File::open(&self.path) else { return };
        if file.seek(SeekFrom::Start(self.offset)).is_err() {
            return;
        }
        let before = self.partial.len();
        // What was read before an error stays read.
        let _ = file.take(LOOK_BYTES).read_to_end(&mut self.partial);
        self.offset += (self.partial.len() - before) as u64;
    }
}

/// The last lines that a log got since it was `from` bytes long, secrets redacted.
pub(crate) fn last_lines(path: &Path, from: u64) -> Vec<String> {
    let Ok(mut file) = File::open(path) else { return Vec::new() };
    let length = file.metadata().map_or(0, |meta| meta.len());
    let start = length.saturating_sub((LAST_LINES * LAST_LINE_BYTES * 4) as u64).max(from);
    let mut bytes = Vec::new();
    if file.seek(SeekFrom::Start(start)).is_err() || file.read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..]
        .iter()
        .map(|line| {
            let short: String = record::redact::text(line.trim_end());
            let cut = short.char_indices().nth(LAST_LINE_BYTES).map_or(short.len(), |(at, _)| at);
            short[..cut].to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;

    #[test]
    fn lines_that_come_in_pieces() {
        let dir = tempfile::tempdir().expect("directory");
        let path = dir.path().join("log");
        let append = |text: &str| {
            let mut file = OpenOptions::new().append(true).create(true).open(&path).expect("log");
            file.write_all(text.as_bytes()).expect("write");
        };
        let ready = |line: &str| line.contains("ready").then(|| line.to_owned());
        append("ready before the start\n");
        let mut tail = Tail::from_end(&path);
        assert_eq!(tail.find(true, ready), None);
        append("starting\nrea");
        assert_eq!(tail.find(true, ready), None);
        append("dy");
        assert_eq!(tail.find(false, ready), None, "the line has no end yet");
        assert_eq!(tail.find(true, ready).as_deref(), Some("ready"));
        append(" now\nmore\n");
        assert_eq!(tail.find(false, ready).as_deref(), Some("ready now"));
        assert_eq!(tail.find(false, ready), None);
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let dir = tempfile::tempdir().expect("directory");
        let path = dir.path().join("log");
        std::fs::write(&path, vec![b'x'; 3 << 20]).expect("log");
        let mut tail = Tail { path, offset: 0, partial: Vec::new() };
        for _ in 0..4 {
            assert_eq!(tail.find(false, |_| Some(())), None);
            assert!(tail.partial.len() <= LINE_BYTES);
        }
        assert_eq!(tail.offset, 3 << 20);
    }

    #[test]
    fn the_end_of_a_log_is_short_and_redacted() {
        let dir = tempfile::tempdir().expect("directory");
        let path = dir.path().join("log");
        assert_eq!(last_lines(&path, 0), [""; 0]);
        let mut text: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
        text.push_str("bad password=hunter2 given\n");
        text.push_str(&"é".repeat(1000));
        std::fs::write(&path, &text).expect("log");
        let lines = last_lines(&path, 0);
        assert_eq!(lines.len(), LAST_LINES);
        assert_eq!(lines[0], "line 94");
        assert_eq!(lines[6], "bad password=<redacted> given");
        assert_eq!(lines[7], "é".repeat(LAST_LINE_BYTES));
        assert_eq!(last_lines(&path, text.len() as u64), [""; 0]);
    }
}
