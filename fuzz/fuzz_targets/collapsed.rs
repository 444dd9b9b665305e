//! Any bytes as collapsed stacks: a profile or an error, never a panic; the same in whatever
//! pieces the bytes arrive; leaves sum to the whole, or the sum does not fit.
#![no_main]

use std::io::BufReader;

use libfuzzer_sys::fuzz_target;
use profile::collapsed::{Collapsed, Options};

fuzz_target!(|data: &[u8]| {
    let Ok(whole) = Collapsed::read(data, Options::default()) else { return };
    let pieces = BufReader::with_capacity(5, data);
    let pieces = Collapsed::read(pieces, Options::default()).expect("read as a whole");
    assert_eq!(whole.quality, pieces.quality);
    assert_eq!(whole.profile.leaves(), pieces.profile.leaves());
    let total = whole.profile.total().weight;
    let sum = whole.profile.leaves().rows.values().fold(0_u64, |sum, row| sum.saturating_add(row.weight));
    assert_eq!(sum, total);
});
