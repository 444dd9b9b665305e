//! Chunks of a recording: their headers, and which of their bytes can be read.
//!
//! A recording is a row of chunks, each complete in itself: a header of 68 bytes, then events.
//! A header says how far its chunk reaches; where it lies (a size of zero, a size beyond the
//! file, bytes that were overwritten) the next chunk is found by its first four bytes.

use super::damage::Error;
use super::source::Part;

/// Bytes of a chunk's header.
pub(crate) const HEADER_BYTES: u64 = 68;
/// First bytes of a chunk.
const MAGIC: [u8; 4] = *b"FLR\0";
/// State of a chunk that is being written this instant.
const STATE_LOCKED: u8 = 255;
/// Bytes that a search for the next chunk reads at a time.
const SEARCH_BYTES: usize = 1 << 16;

/// The header of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Format version: 1 or 2.
    pub major: u16,
    /// Minor format version.
    pub minor: u16,
    /// Bytes of the chunk as of the last flush; 0 before the first.
    pub size_bytes: u64,
    /// Offset of the metadata event within the chunk; 0 before the first flush.
    pub metadata_offset: u64,
    /// Start, nanoseconds since the epoch.
    pub start_ns: u64,
    /// Length, nanoseconds.
    pub duration_ns: u64,
    /// Ticks at the start.
    pub start_ticks: u64,
    /// Ticks per second.
    pub ticks_per_s: u64,
    /// 0 finished, 255 being written, else the number of flushes.
    pub state: u8,
    /// Integers are LEB128.
    pub compressed: bool,
}

impl Header {
    fn parse(bytes: &[u8; HEADER_BYTES as usize]) -> Self {
        let long = |at: usize| {
            u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes of the header"))
        };
        let short = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        Self {
            major: short(4),
            minor: short(6),
            size_bytes: long(8),
            metadata_offset: long(24),
            start_ns: long(32),
            duration_ns: long(40),
            start_ticks: long(48),
            ticks_per_s: long(56),
            state: bytes[64],
            compressed: bytes[67] & 1 == 1,
        }
    }

    /// Length of a span of ticks, ns: `ticks * 10^9 / ticks_per_s`, rounded down.
    #[must_use]
    pub fn span_ns(&self, ticks: u64) -> u64 {
        if self.ticks_per_s == 1_000_000_000 || self.ticks_per_s == 0 {
            return ticks;
        }
        let ns = u128::from(ticks) * 1_000_000_000 / u128::from(self.ticks_per_s);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// Instant of a tick count, ns since the epoch. Ticks are the chunk's own: an event must be
    /// converted by the header of the chunk that holds it.
    #[must_use]
    pub fn instant_ns(&self, ticks: u64) -> u64 {
        if ticks >= self.start_ticks {
            self.start_ns.saturating_add(self.span_ns(ticks - self.start_ticks))
        } else {
            self.start_ns.saturating_sub(self.span_ns(self.start_ticks - ticks))
        }
    }
}

/// How much of a chunk is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// All of it.
    Whole,
    /// Left unfinished by its JVM: readable up to the last flush.
    Unfinished,
    /// Left before the first flush: no size, no metadata known.
    NeverFlushed,
    /// Being written when it was copied: skipped.
    Locked,
    /// The file ends, or the next chunk starts, before the chunk does.
    Truncated,
}

/// One chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Index of its file.
    pub part: usize,
    /// Offset of its header in the file.
    pub offset: u64,
    /// Bytes from the header on that can be read.
    pub readable_bytes: u64,
    /// Its header.
    pub header: Header,
    /// How much of it is there.
    pub condition: Condition,
}

/// All chunks of some files.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    pub(crate) chunks: Vec<Chunk>,
    /// What was wrong between chunks: file, offset and a sentence.
    pub(crate) faults: Vec<String>,
}

/// Lists the chunks of a file. Bytes that are no chunk end the reading when the file starts
/// with them; later ones are a fault, and the next chunk is looked for.
///
/// # Errors
/// The first bytes are no chunk's, or of a version that nobody knows; the file cannot be read.
pub(crate) fn list(part: &Part, index: usize, into: &mut Chunks) -> Result<(), Error> {
    let failed = |source| Error::Io { file: part.name().to_owned(), source };
    let mut offset = 0_u64;
    while offset < part.bytes() || offset == 0 {
        let mut bytes = [0_u8; HEADER_BYTES as usize];
        let filled = part.read_at(offset, &mut bytes).map_err(failed)?;
        let refuse = |at: u64, expected: &str, found: String| Error::NotARecording {
            file: part.name().to_owned(),
            offset: offset + at,
            expected: expected.to_owned(),
            found,
        };
        if filled < 4 || bytes[..4] != MAGIC {
            let error = refuse(0, "`FLR\\0`, the first bytes of a chunk", shown(&bytes[..filled]));
            if offset == 0 {
                return Err(error);
            }
            into.faults.push(error.to_string());
            offset = next_chunk(part, offset + 1, None).map_err(failed)?;
            continue;
        }
        if filled < HEADER_BYTES as usize {
            into.faults.push(format!(
                "{}: a chunk's header of {HEADER_BYTES} bytes begins at offset {offset}, and the \
                 file ends after {filled} of them",
                part.name()
            ));
            return Ok(());
        }
        let header = Header::parse(&bytes);
        if !(1..=2).contains(&header.major) {
            let error = refuse(
                4,
                "version 1.x or 2.x of the format",
                format!("version {}.{}", header.major, header.minor),
            );
            if offset == 0 {
                return Err(error);
            }
            into.faults.push(error.to_string());
            offset = next_chunk(part, offset + 4, None).map_err(failed)?;
            continue;
        }
        let left = part.bytes() - offset;
        let sized = header.size_bytes >= HEADER_BYTES;
        let fits = sized && header.size_bytes <= left;
        // Where the size can be believed, the next chunk starts there or the file ends there.
        let next = if fits {
            offset + header.size_bytes
        } else {
            next_chunk(part, offset + HEADER_BYTES, Some(header.start_ns)).map_err(failed)?
        };
        let condition = match header.state {
            STATE_LOCKED => Condition::Locked,
            _ if header.size_bytes == 0 || header.metadata_offset == 0 => Condition::NeverFlushed,
            _ if !fits => Condition::Truncated,
            0 => Condition::Whole,
            _ => Condition::Unfinished,
        };
        into.chunks.push(Chunk {
            part: index,
            offset,
            readable_bytes: next.min(part.bytes()) - offset,
            header,
            condition,
        });
        offset = next;
    }
    Ok(())
}

/// Offset of the next header at or after `from`, or the end of the file. A flush leaves a copy
/// of its own header among the events: a chunk that starts at the same instant is no other.
fn next_chunk(part: &Part, from: u64, own_start_ns: Option<u64>) -> std::io::Result<u64> {
    let mut buffer = vec![0_u8; SEARCH_BYTES];
    let mut at = from;
    loop {
        let filled = part.read_at(at, &mut buffer)?;
        let last = filled < SEARCH_BYTES;
        for found in memchr::memmem::find_iter(&buffer[..filled], &MAGIC) {
            let rest = &buffer[found..filled];
            let plausible = match rest.first_chunk::<{ HEADER_BYTES as usize }>() {
                Some(header) => {
                    let header = Header::parse(header);
                    is_plausible(&header) && Some(header.start_ns) != own_start_ns
                }
                // Cut by the end of the file, or to be seen whole by the next read.
                None => last,
            };
            if plausible {
                return Ok(at + found as u64);
            }
        }
        if last {
            return Ok(part.bytes().max(from));
        }
        at += (filled - (HEADER_BYTES as usize - 1)) as u64;
    }
}

fn is_plausible(header: &Header) -> bool {
    (1..=2).contains(&header.major)
        && header.minor < 16
        && (1_000..=1_000_000_000_000).contains(&header.ticks_per_s)
        && (header.size_bytes == 0 || header.size_bytes >= HEADER_BYTES)
        && header.metadata_offset < i64::MAX as u64
}

/// The first bytes for a message.
fn shown(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "the end of the file".to_owned();
    }
    let first = &bytes[..bytes.len().min(8)];
    if first.iter().all(|byte| (0x20..0x7F).contains(byte)) {
        format!("`{}`", String::from_utf8_lossy(first))
    } else {
        let hex: Vec<String> = first.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("bytes {}", hex.join(" "))
    }
}
