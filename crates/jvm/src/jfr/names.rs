//! Names by number, and the hash of small keys.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map from small keys; deterministic, and fast where the default hash is not.
pub(crate) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FoldHasher>>;

/// Multiplies and folds: each bit of the key reaches both halves of the product.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct FoldHasher(u64);

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0_u8; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word) ^ (part.len() as u64) << 59);
        }
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0.rotate_left(23) ^ value ^ 0x243F_6A88_85A3_08D3)
            * 0x9E37_79B9_7F4A_7C15_u128;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }
}

/// Distinct names, each with a number in order of first sight.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names {
    by_name: HashMap<std::sync::Arc<str>, u32, BuildHasherDefault<FoldHasher>>,
    by_number: Vec<std::sync::Arc<str>>,
}

impl Names {
    /// The number of a name.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.by_name.get(name) {
            return *number;
        }
        let number = self.by_number.len() as u32;
        let name: std::sync::Arc<str> = name.into();
        self.by_number.push(name.clone());
        self.by_name.insert(name, number);
        number
    }

    /// All names in order of their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.by_number.iter().map(|name| &**name)
    }

    /// The name of a number given out by [`Names::number`].
    pub(crate) fn name(&self, number: u32) -> &str {
        &self.by_number[number as usize]
    }
}
