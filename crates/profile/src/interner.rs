//! Texts by number, each kept once, in one piece of memory.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Gives each different text a number, in the order of their first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interner {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Interner {
    /// The number of a text that is known.
    pub(crate) fn find(&self, text: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(text);
        self.numbers.find(hash, |&number| self.get(number) == text).copied()
    }

    /// The number of a text, known or new; `None` when `bound` bytes are used up.
    pub(crate) fn add(&mut self, text: &[u8], bound: usize) -> Option<u32> {
        if let Some(number) = self.find(text) {
            return Some(number);
        }
        let end = u32::try_from(self.bytes.len() + text.len()).ok()?;
        let number = u32::try_from(self.ends.len()).ok()?;
        // Each text costs an end and a place in the table too.
        if self.bytes.len() + text.len() + self.ends.len() * 12 > bound {
            return None;
        }
        self.bytes.extend_from_slice(text);
        self.ends.push(end);
        let Self { bytes, ends, numbers, hasher } = self;
        numbers.insert_unique(hasher.hash_one(text), number, |&known| {
            hasher.hash_one(slice(bytes, ends, known))
        });
        Some(number)
    }

    pub(crate) fn get(&self, number: u32) -> &[u8] {
        slice(&self.bytes, &self.ends, number)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[u32], number: u32) -> &'a [u8] {
    let at = number as usize;
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start as usize..ends[at] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_once_and_within_the_bound() {
        let mut names = Interner::default();
        assert_eq!(names.add(b"one", 100), Some(0));
        assert_eq!(names.add(b"", 100), Some(1));
        assert_eq!(names.add(b"one", 100), Some(0));
        assert_eq!(names.add(b"two", 100), Some(2));
        assert_eq!(
            (names.get(0), names.get(1), names.get(2)),
            (&b"one"[..], &b""[..], &b"two"[..])
        );
        assert_eq!(names.add(&[b'x'; 100], 100), None);
        assert_eq!((names.find(b"two"), names.find(b"three"), names.len()), (Some(2), None, 3));
    }
}
