//! Files of a recording, and a window that moves over one of them.
//!
//! A window holds one to [`WINDOW_BYTES_MAX`] bytes whatever the size of the file, so memory
//! does not follow the recording.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::damage::{Damage, Error, Read};
use super::input::{Input, leb128_of, leb128_span};

/// Bytes that a window reads at a time.
const WINDOW_BYTES: usize = 1 << 20;
/// Largest event that is looked into; larger ones but pools are passed over and counted.
const WINDOW_BYTES_MAX: usize = 1 << 24;

/// One file of a recording.
#[derive(Debug)]
pub struct Part {
    name: String,
    bytes: u64,
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    File(File),
    Memory(Arc<[u8]>),
}

impl Part {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be opened, or is a folder.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let failed = |source| Error::Io { file: name.clone(), source };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(std::io::ErrorKind::IsADirectory.into()));
        }
        Ok(Self { bytes: metadata.len(), storage: Storage::File(file), name })
    }

    /// Bytes in memory under a name.
    #[must_use]
    pub fn memory(name: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { name: name.to_owned(), bytes: bytes.len() as u64, storage: Storage::Memory(bytes) }
    }

    /// Name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Size, bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills `buffer` from `offset` as far as the file reaches.
    ///
    /// # Errors
    /// The system's own.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        match &self.storage {
            Storage::Memory(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let count = buffer.len().min(bytes.len() - from);
                buffer[..count].copy_from_slice(&bytes[from..from + count]);
                Ok(count)
            }
            Storage::File(file) => {
                let mut filled = 0;
                while filled < buffer.len() {
                    match file.read_at(&mut buffer[filled..], offset + filled as u64) {
                        Ok(0) => break,
                        Ok(count) => filled += count,
                        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(filled)
            }
        }
    }
}

/// A window over one part, up to a fixed end.
#[derive(Debug)]
pub(crate) struct Window<'p> {
    part: &'p Part,
    buffer: Vec<u8>,
    /// Offset in the part of the first byte of the buffer.
    base: u64,
    at: usize,
    filled: usize,
    end: u64,
    compressed: bool,
}

impl<'p> Window<'p> {
    /// A window from `start` to `end` (offsets in the part).
    pub(crate) fn new(part: &'p Part, start: u64, end: u64, compressed: bool) -> Self {
        let end = end.min(part.bytes());
        let start = start.min(end);
        Self { part, buffer: Vec::new(), base: start, at: 0, filled: 0, end, compressed }
    }

    /// Offset in the part.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Moves to `offset`, forward or back; cheap within what is in memory.
    pub(crate) fn seek(&mut self, offset: u64) -> Read<()> {
        if offset > self.end {
            return Err(Damage::End);
        }
        if offset >= self.base && offset - self.base <= self.filled as u64 {
            self.at = (offset - self.base) as usize;
        } else {
            self.base = offset;
            self.at = 0;
            self.filled = 0;
        }
        Ok(())
    }

    /// Sets another end, an offset in the part; returns the one before. What is read within a
    /// nearer end may pass it by one integer.
    pub(crate) fn set_end(&mut self, end: u64) -> u64 {
        std::mem::replace(&mut self.end, end.min(self.part.bytes()))
    }

    /// The next `count` bytes without moving.
    #[inline]
    pub(crate) fn peek(&mut self, count: usize) -> Read<&[u8]> {
        if self.filled - self.at < count {
            self.fill(count)?;
        }
        Ok(&self.buffer[self.at..self.at + count])
    }

    /// The next bytes, at most `count`, fewer at the end.
    pub(crate) fn peek_up_to(&mut self, count: usize) -> Read<&[u8]> {
        let count = self.left().min(count as u64) as usize;
        self.peek(count)
    }

    #[cold]
    fn fill(&mut self, count: usize) -> Read<()> {
        if count as u64 > self.left() {
            return Err(Damage::End);
        }
        if count > WINDOW_BYTES_MAX {
            return Err(Damage::Bound);
        }
        self.buffer.copy_within(self.at..self.filled, 0);
        self.base += self.at as u64;
        self.filled -= self.at;
        self.at = 0;
        let want = (self.end - self.base).min(WINDOW_BYTES.max(count) as u64) as usize;
        if self.buffer.len() < want {
            self.buffer.resize(want, 0);
        }
        let offset = self.base + self.filled as u64;
        let count_read = self
            .part
            .read_at(offset, &mut self.buffer[self.filled..want])
            .map_err(|_| Damage::Io)?;
        self.filled += count_read;
        if self.filled < count { Err(Damage::End) } else { Ok(()) }
    }
}

impl Input for Window<'_> {
    #[inline]
    fn compressed(&self) -> bool {
        self.compressed
    }

    #[inline]
    fn byte(&mut self) -> Read<u8> {
        if self.at == self.filled {
            self.fill(1)?;
        }
        let byte = self.buffer[self.at];
        self.at += 1;
        Ok(byte)
    }

    fn skip(&mut self, bytes: u64) -> Read<()> {
        if bytes > self.left() {
            return Err(Damage::End);
        }
        self.seek(self.offset() + bytes)
    }

    fn take(&mut self, count: usize) -> Read<&[u8]> {
        if self.filled - self.at < count {
            self.fill(count)?;
        }
        self.at += count;
        Ok(&self.buffer[self.at - count..self.at])
    }

    #[inline]
    fn left(&self) -> u64 {
        self.end.saturating_sub(self.offset())
    }

    #[inline]
    fn leb128(&mut self) -> Read<u64> {
        if self.filled - self.at < 9 {
            let want = self.left().min(9) as usize;
            if self.filled - self.at < want {
                self.fill(want)?;
            }
        }
        let (value, bytes) = leb128_of(&self.buffer[self.at..self.filled])?;
        self.at += bytes;
        Ok(value)
    }

    fn skip_leb128(&mut self, count: u64) -> Read<()> {
        // Integers are at most nine bytes: all lie within what is at hand, or go one by one.
        let bound = count.saturating_mul(9);
        if bound <= (WINDOW_BYTES / 2) as u64 {
            if ((self.filled - self.at) as u64) < bound {
                let want = self.left().min(bound) as usize;
                if self.filled - self.at < want {
                    self.fill(want)?;
                }
            }
            self.at += leb128_span(&self.buffer[self.at..self.filled], count)?;
            return Ok(());
        }
        for _ in 0..count {
            self.leb128()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_over_many_reads_sees_what_a_slice_sees() {
        let bytes: Vec<u8> =
            (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let part = Part::memory("bytes", bytes.clone());
        let mut window = Window::new(&part, 10, bytes.len() as u64, true);
        let mut at = 10;
        while let Ok((value, length)) = leb128_of(&bytes[at..]) {
            assert_eq!(window.leb128(), Ok(value), "at {at}");
            at += length;
        }
        assert_eq!(window.leb128(), Err(Damage::End));
        window.seek(20).expect("back within the part");
        assert_eq!(window.take(5).expect("five bytes"), &bytes[20..25]);
        assert_eq!(window.skip(u64::MAX), Err(Damage::End));
    }

    #[test]
    fn an_event_beyond_the_bound_is_refused_before_memory_is_taken() {
        let part = Part::memory("bytes", vec![0_u8; WINDOW_BYTES_MAX + 10]);
        let mut window = Window::new(&part, 0, u64::MAX, true);
        assert_eq!(window.peek(WINDOW_BYTES_MAX + 1).map(<[u8]>::len), Err(Damage::Bound));
        assert_eq!(window.peek(WINDOW_BYTES_MAX).map(<[u8]>::len), Ok(WINDOW_BYTES_MAX));
    }
}
