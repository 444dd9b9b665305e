//! Lines of a text of any size, one at a time, within a bound: a line longer than the bound is
//! cut there and counted. Line ends are `\n` or `\r\n`.

use std::io::{self, BufRead};

use memchr::memchr;

/// The longest line that is kept whole, bytes. The longest line that a JVM writes to the texts
/// read here is a command line in a log's head, which nothing uses.
pub(crate) const LINE_BYTES: usize = 64 * 1024;

/// Reads lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    /// Lines given out.
    pub(crate) count: u64,
    /// Lines that were longer than [`LINE_BYTES`].
    pub(crate) cut: u64,
    /// Whether the last line given out ended with a line end.
    pub(crate) ended: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, line: Vec::new(), count: 0, cut: 0, ended: true }
    }

    /// The next line without its end, or `None` at the end of the input.
    ///
    /// # Errors
    /// Whatever the input gives.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let (mut any, mut whole) = (false, true);
        let before = std::mem::replace(&mut self.ended, false);
        while !self.ended {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break;
            }
            any = true;
            let end = memchr(b'\n', available);
            let part = &available[..end.unwrap_or(available.len())];
            let kept = part.len().min(LINE_BYTES - self.line.len());
            self.line.extend_from_slice(&part[..kept]);
            whole &= kept == part.len();
            let used = part.len() + usize::from(end.is_some());
            self.ended = end.is_some();
            self.input.consume(used);
        }
        if !any {
            // That of the last line, or nothing was there to end.
            self.ended = before;
            return Ok(None);
        }
        self.count += 1;
        self.cut += u64::from(!whole);
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(Some(&self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> (Vec<String>, u64, bool) {
        let mut lines = Lines::new(io::BufReader::with_capacity(7, text));
        let mut given = Vec::new();
        while let Some(line) = lines.next_line().expect("memory") {
            given.push(String::from_utf8_lossy(line).into_owned());
        }
        (given, lines.cut, lines.count == 0 || text.ends_with(b"\n"))
    }

    #[test]
    fn line_ends_of_both_kinds_and_a_last_line_without_one() {
        assert_eq!(all(b"").0, Vec::<String>::new());
        assert_eq!(all(b"one\ntwo lines\r\n\nlast").0, ["one", "two lines", "", "last"]);
        let mut lines = Lines::new(&b"a\nb"[..]);
        assert_eq!(lines.next_line().expect("memory"), Some(&b"a"[..]));
        assert!(lines.ended);
        assert_eq!(lines.next_line().expect("memory"), Some(&b"b"[..]));
        assert!(!lines.ended);
        assert_eq!(lines.next_line().expect("memory"), None);
        assert!(!lines.ended, "the end of the input does not end its last line");
    }

    #[test]
    fn a_line_longer_than_the_bound_is_cut_and_counted() {
        let mut text = vec![b'x'; LINE_BYTES + 10];
        text.extend_from_slice(b"\nnext\n");
        let (lines, cut, _) = all(&text);
        assert_eq!((lines[0].len(), lines[1].as_str(), cut), (LINE_BYTES, "next", 1));
    }
}
