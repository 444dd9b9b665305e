//! The byte layer: integers and texts of a chunk, from a slice or through a window over a file.
//!
//! Integers are big-endian or, in compressed chunks, LEB128 of at most nine bytes where the
//! ninth carries eight bits (`jdk.jfr.internal.consumer.RecordingInput`). Texts start with an
//! encoding: 0 null, 1 empty, 2 an id of the pool of strings, 3 UTF-8, 4 UTF-16 units, each an
//! integer of its own, 5 Latin-1.

use super::damage::{Damage, Read};

/// Longest text that is kept; a longer one is cut. Class and method names stay below 64 KiB by
/// the class file format.
const TEXT_BYTES_MAX: usize = 1 << 16;

/// A text as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Text {
    /// No text.
    Null,
    /// The text itself.
    Inline(String),
    /// An id of the pool of `java.lang.String`.
    Pool(u64),
}

/// Where bytes come from.
pub(crate) trait Input {
    /// True when integers are LEB128.
    fn compressed(&self) -> bool;
    /// The next byte.
    fn byte(&mut self) -> Read<u8>;
    /// Passes over bytes.
    fn skip(&mut self, bytes: u64) -> Read<()>;
    /// The next bytes; `count` is at most [`TEXT_BYTES_MAX`].
    fn take(&mut self, count: usize) -> Read<&[u8]>;
    /// Bytes that are left.
    fn left(&self) -> u64;

    /// A LEB128 integer.
    #[inline]
    fn leb128(&mut self) -> Read<u64> {
        let mut value = 0_u64;
        for shift in (0..56).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Ok(value | u64::from(self.byte()?) << 56)
    }

    /// Passes over LEB128 integers.
    fn skip_leb128(&mut self, count: u64) -> Read<()> {
        for _ in 0..count {
            self.leb128()?;
        }
        Ok(())
    }

    /// An unsigned integer whose width is `bytes` when integers are not compressed.
    #[inline]
    fn integer(&mut self, bytes: u32) -> Read<u64> {
        if self.compressed() { self.leb128() } else { self.big_endian(bytes) }
    }

    /// A big-endian integer of up to eight bytes.
    fn big_endian(&mut self, bytes: u32) -> Read<u64> {
        let mut value = 0_u64;
        for _ in 0..bytes {
            value = value << 8 | u64::from(self.byte()?);
        }
        Ok(value)
    }

    /// A count of things that take at least one byte each.
    fn count(&mut self) -> Read<u64> {
        let count = self.integer(4)?;
        if count > self.left() { Err(Damage::Bound) } else { Ok(count) }
    }

    /// A text.
    fn text(&mut self) -> Read<Text> {
        match self.byte()? {
            0 => Ok(Text::Null),
            1 => Ok(Text::Inline(String::new())),
            2 => Ok(Text::Pool(self.integer(8)?)),
            3 => {
                let bytes = self.count()?;
                let kept = self.take(bytes.min(TEXT_BYTES_MAX as u64) as usize)?;
                let text = String::from_utf8_lossy(kept).into_owned();
                self.skip(bytes.saturating_sub(TEXT_BYTES_MAX as u64))?;
                Ok(Text::Inline(text))
            }
            4 => {
                let units = self.count()?;
                let mut kept = Vec::new();
                for index in 0..units {
                    let unit = self.integer(2)?;
                    if index < TEXT_BYTES_MAX as u64 {
                        kept.push(unit as u16);
                    }
                }
                Ok(Text::Inline(String::from_utf16_lossy(&kept)))
            }
            5 => {
                let bytes = self.count()?;
                let kept = self.take(bytes.min(TEXT_BYTES_MAX as u64) as usize)?;
                let text = kept.iter().map(|byte| char::from(*byte)).collect();
                self.skip(bytes.saturating_sub(TEXT_BYTES_MAX as u64))?;
                Ok(Text::Inline(text))
            }
            other => Err(Damage::Encoding(other)),
        }
    }

    /// Passes over a text.
    fn skip_text(&mut self) -> Read<()> {
        match self.byte()? {
            0 | 1 => Ok(()),
            2 => self.integer(8).map(|_| ()),
            3 | 5 => {
                let bytes = self.count()?;
                self.skip(bytes)
            }
            4 => {
                let units = self.count()?;
                for _ in 0..units {
                    self.integer(2)?;
                }
                Ok(())
            }
            other => Err(Damage::Encoding(other)),
        }
    }
}

/// Bytes in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice<'b> {
    bytes: &'b [u8],
    at: usize,
    compressed: bool,
}

impl<'b> Slice<'b> {
    pub(crate) fn new(bytes: &'b [u8], compressed: bool) -> Self {
        Self { bytes, at: 0, compressed }
    }

    /// Position from the start of the slice, bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }
}

impl Input for Slice<'_> {
    #[inline]
    fn compressed(&self) -> bool {
        self.compressed
    }

    #[inline]
    fn byte(&mut self) -> Read<u8> {
        let byte = *self.bytes.get(self.at).ok_or(Damage::End)?;
        self.at += 1;
        Ok(byte)
    }

    fn skip(&mut self, bytes: u64) -> Read<()> {
        if bytes > self.left() {
            return Err(Damage::End);
        }
        self.at += bytes as usize;
        Ok(())
    }

    fn take(&mut self, count: usize) -> Read<&[u8]> {
        let taken = self.bytes.get(self.at..self.at + count).ok_or(Damage::End)?;
        self.at += count;
        Ok(taken)
    }

    #[inline]
    fn left(&self) -> u64 {
        (self.bytes.len() - self.at) as u64
    }

    #[inline]
    fn leb128(&mut self) -> Read<u64> {
        let (value, bytes) = leb128_of(&self.bytes[self.at..])?;
        self.at += bytes;
        Ok(value)
    }

    fn skip_leb128(&mut self, count: u64) -> Read<()> {
        self.at += leb128_span(&self.bytes[self.at..], count)?;
        Ok(())
    }
}

/// The LEB128 integer that `bytes` starts with, and its length.
#[inline]
pub(crate) fn leb128_of(bytes: &[u8]) -> Read<(u64, usize)> {
    let first = *bytes.first().ok_or(Damage::End)?;
    if first < 0x80 {
        return Ok((u64::from(first), 1));
    }
    if let Some(head) = bytes.first_chunk::<9>() {
        let word = u64::from_le_bytes(*head.first_chunk::<8>().ok_or(Damage::End)?);
        let ends = !word & 0x8080_8080_8080_8080;
        if ends == 0 {
            return Ok((pack_septets(word) | u64::from(head[8]) << 56, 9));
        }
        let last_bit = ends.trailing_zeros();
        let kept = word & (u64::MAX >> (63 - last_bit));
        return Ok((pack_septets(kept), last_bit as usize / 8 + 1));
    }
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().enumerate().take(8) {
        value |= u64::from(byte & 0x7F) << (7 * index);
        if *byte < 0x80 {
            return Ok((value, index + 1));
        }
    }
    Err(Damage::End)
}

/// Eight bytes of seven bits each, lowest first, as one integer of 56 bits.
#[inline]
fn pack_septets(word: u64) -> u64 {
    let word = word & 0x7F7F_7F7F_7F7F_7F7F;
    let pairs = (word & 0x007F_007F_007F_007F) | (word & 0x7F00_7F00_7F00_7F00) >> 1;
    let quads = (pairs & 0x0000_3FFF_0000_3FFF) | (pairs & 0x3FFF_0000_3FFF_0000) >> 2;
    (quads & 0x0FFF_FFFF) | (quads & 0x0FFF_FFFF_0000_0000) >> 4
}

/// Bytes that `count` LEB128 integers take. Eight bytes are looked at together: an integer ends
/// at each byte below 128, unless eight bytes of 128 and more run together, where the ninth
/// always ends it.
pub(crate) fn leb128_span(bytes: &[u8], count: u64) -> Read<usize> {
    let mut left = count;
    let mut at = 0_usize;
    // Bytes of 128 and more that the part already passed ends with.
    let mut open = 0_u32;
    while left > 0 {
        let Some(head) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { break };
        let ends = !u64::from_le_bytes(*head) & 0x8080_8080_8080_8080;
        let ended = ends.count_ones();
        let leading = ends.trailing_zeros() / 8;
        // A run of eight could end an integer without a low byte; a word that ends more than
        // what is left is for the slow path too.
        if open + leading >= 8 || u64::from(ended) >= left {
            break;
        }
        left -= u64::from(ended);
        open = ends.leading_zeros() / 8;
        at += 8;
    }
    // Back to the start of the integer that is still open.
    at -= open as usize;
    for _ in 0..left {
        let rest = bytes.get(at..).ok_or(Damage::End)?;
        at += leb128_of(rest)?.1;
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn leb128(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..8 {
            if value < 0x80 {
                bytes.push(value as u8);
                return bytes;
            }
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    #[test]
    fn every_encoding_of_a_text() {
        let read = |bytes: &[u8]| Slice::new(bytes, true).text();
        assert_eq!(read(&[0]), Ok(Text::Null));
        assert_eq!(read(&[1]), Ok(Text::Inline(String::new())));
        assert_eq!(read(&[2, 0x85, 1]), Ok(Text::Pool(133)));
        assert_eq!(read(&[3, 3, 0xE2, 0x82, 0xAC]), Ok(Text::Inline("€".into())));
        // U+1F600 as the two surrogates D83D DE00.
        assert_eq!(
            read(&[4, 2, 0xBD, 0xB0, 0x03, 0x80, 0xBC, 0x03]),
            Ok(Text::Inline("😀".into()))
        );
        assert_eq!(read(&[5, 2, 0xDF, 0x65]), Ok(Text::Inline("ße".into())));
        assert_eq!(read(&[6]), Err(Damage::Encoding(6)));
        assert_eq!(read(&[3, 200]), Err(Damage::End));
        assert_eq!(read(&[3, 100, 1]), Err(Damage::Bound));
    }

    #[test]
    fn uncompressed_integers_are_big_endian() {
        let mut input = Slice::new(&[0, 0, 1, 0, 5, 0, 0, 0, 1, 65], false);
        assert_eq!(input.integer(4), Ok(256));
        assert_eq!(input.text(), Ok(Text::Inline("A".into())));
    }

    #[test]
    fn a_size_padded_to_four_bytes_is_four_bytes() {
        assert_eq!(leb128_of(&[0xB9, 0xB0, 0x80, 0x00, 0xFF]), Ok((6_201, 4)));
    }

    proptest! {
        #[test]
        fn integers_come_back(values in prop::collection::vec(any::<u64>(), 1..40), shift in 0_u32..64) {
            let values: Vec<u64> = values.iter().map(|value| value >> shift).collect();
            let bytes: Vec<u8> = values.iter().flat_map(|value| leb128(*value)).collect();
            let mut input = Slice::new(&bytes, true);
            for (index, value) in values.iter().enumerate() {
                let span: usize = values[..index].iter().map(|value| leb128(*value).len()).sum();
                prop_assert_eq!(leb128_span(&bytes, index as u64), Ok(span));
                prop_assert_eq!(input.leb128(), Ok(*value));
            }
            prop_assert_eq!(leb128_span(&bytes, values.len() as u64), Ok(bytes.len()));
            prop_assert_eq!(leb128_span(&bytes, values.len() as u64 + 1), Err(Damage::End));
        }

        #[test]
        fn any_bytes_are_passed_alike(bytes in prop::collection::vec(any::<u8>(), 0..80), count in 0_u64..30) {
            let mut slow = Slice::new(&bytes, true);
            let by_one = (0..count).try_for_each(|_| slow.leb128().map(|_| ())).map(|()| slow.at());
            prop_assert_eq!(leb128_span(&bytes, count), by_one);
        }
    }
}
