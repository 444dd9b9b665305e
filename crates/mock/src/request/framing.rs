//! Where a request's body ends: by length, or by chunks (RFC 9112, section 7.1). Nothing of
//! the body is kept unless a script wants it, so a body may arrive in any pieces at no cost in memory.

use super::{BODY_MAX_BYTES, HEAD_MAX_BYTES, Kept, Refusal};

/// Hexadecimal digits of a chunk size: enough for any size within [`BODY_MAX_BYTES`], with
/// leading zeros.
const SIZE_DIGITS_MAX: u8 = 16;

/// How much of a body is still to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Framing {
    /// This many bytes.
    Length(u64),
    /// Chunks.
    Chunked(Chunked),
}

/// A place inside a chunked body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunked {
    part: Part,
    /// Size of the chunk being read or announced; what is left of it while in its data.
    size_bytes: u64,
    digits: u8,
    /// All chunk sizes so far.
    total_bytes: u64,
    /// Bytes of extensions and trailers so far; bounded like a head.
    overhead_bytes: usize,
}

/// Which part of a chunked body comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Size,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// At the start of a trailer line, or of the empty line that ends the body.
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    Done,
}

impl Framing {
    pub(super) fn length(bytes: u64) -> Self {
        Self::Length(bytes)
    }

    pub(super) fn chunked() -> Self {
        Self::Chunked(Chunked {
            part: Part::Size,
            size_bytes: 0,
            digits: 0,
            total_bytes: 0,
            overhead_bytes: 0,
        })
    }

    /// Whether the body has been read in full.
    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Length(left_bytes) => *left_bytes == 0,
            Self::Chunked(chunked) => chunked.part == Part::Done,
        }
    }

    /// Reads on; returns how many bytes belonged to the body. Fewer than there are only when
    /// the body is done.
    ///
    /// # Errors
    /// [`Refusal`] when the chunking is broken or a bound is passed.
    /// `kept` takes the content, when somebody wants it.
    pub(super) fn advance(
        &mut self,
        input: &[u8],
        mut kept: Option<&mut Kept>,
    ) -> Result<usize, Refusal> {
        match self {
            Self::Length(left_bytes) => {
                let taken = input.len().min(usize::try_from(*left_bytes).unwrap_or(usize::MAX));
                *left_bytes -= taken as u64;
                if let Some(kept) = &mut kept {
                    kept.content(&input[..taken]);
                }
                Ok(taken)
            }
            Self::Chunked(chunked) => chunked.advance(input, kept),
        }
    }
}

impl Chunked {
    fn advance(&mut self, input: &[u8], mut kept: Option<&mut Kept>) -> Result<usize, Refusal> {
        let mut at = 0;
        while at < input.len() && self.part != Part::Done {
            if self.part == Part::Data {
                let left = usize::try_from(self.size_bytes).unwrap_or(usize::MAX);
                let taken = left.min(input.len() - at);
                if let Some(kept) = &mut kept {
                    kept.content(&input[at..at + taken]);
                }
                at += taken;
                self.size_bytes -= taken as u64;
                if self.size_bytes == 0 {
                    self.part = Part::DataCr;
                }
            } else {
                self.byte(input[at])?;
                at += 1;
            }
        }
        Ok(at)
    }

    /// One byte outside of the data. Line ends are CR LF, nothing else.
    fn byte(&mut self, byte: u8) -> Result<(), Refusal> {
        self.part = match (self.part, byte) {
            (Part::Size, b'\r') if self.digits > 0 => Part::SizeLf,
            (Part::Size, b';' | b' ' | b'\t') if self.digits > 0 => Part::Extension,
            (Part::Size, _) => self.size_digit(byte)?,
            (Part::Extension, b'\r') => Part::SizeLf,
            (Part::SizeLf, b'\n') => self.size_read()?,
            (Part::DataCr, b'\r') => Part::DataLf,
            (Part::DataLf, b'\n') => Part::Size,
            (Part::TrailerStart, b'\r') => Part::EndLf,
            (Part::Trailer, b'\r') => Part::TrailerLf,
            (Part::TrailerLf, b'\n') => Part::TrailerStart,
            (Part::EndLf, b'\n') => Part::Done,
            (Part::Extension | Part::TrailerStart | Part::Trailer, byte) if byte != b'\n' => {
                self.overhead_bytes += 1;
                if self.overhead_bytes > HEAD_MAX_BYTES {
                    return Err(Refusal::HeadTooLarge);
                }
                if self.part == Part::Extension { Part::Extension } else { Part::Trailer }
            }
            _ => return Err(Refusal::Malformed),
        };
        Ok(())
    }

    fn size_digit(&mut self, byte: u8) -> Result<Part, Refusal> {
        let digit = (byte as char).to_digit(16).ok_or(Refusal::Malformed)?;
        self.digits += 1;
        if self.digits > SIZE_DIGITS_MAX {
            return Err(Refusal::Malformed);
        }
        // At most 16 digits: 64 bits.
        self.size_bytes = self.size_bytes << 4 | u64::from(digit);
        Ok(Part::Size)
    }

    fn size_read(&mut self) -> Result<Part, Refusal> {
        self.total_bytes = self.total_bytes.saturating_add(self.size_bytes);
        self.digits = 0;
        if self.total_bytes > BODY_MAX_BYTES {
            return Err(Refusal::BodyTooLarge);
        }
        Ok(if self.size_bytes == 0 { Part::TrailerStart } else { Part::Data })
    }
}
