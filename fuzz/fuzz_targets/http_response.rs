//! The generator's reader of answers: never panics, and finds the same answer in whatever
//! pieces the bytes arrive. The first byte says how large pieces are.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((piece_bytes, stream)) = data.split_first() else { return };
    let whole = load::transcribe(stream, usize::MAX);
    assert_eq!(whole, load::transcribe(stream, usize::from(*piece_bytes)));
});
