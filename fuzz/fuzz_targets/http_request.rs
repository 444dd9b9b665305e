//! The mock's reader of requests: never panics, keeps no more than a head, and finds the same
//! requests in whatever pieces the bytes arrive. The first byte says how large pieces are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mock::request::transcribe;

fuzz_target!(|data: &[u8]| {
    let Some((piece_bytes, stream)) = data.split_first() else { return };
    let whole = transcribe(stream, usize::MAX);
    assert_eq!(whole, transcribe(stream, usize::from(*piece_bytes)));
});
