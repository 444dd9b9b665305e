//! Replays the fuzzing corpus of the request reader, and a few thousand seeded mutations of it,
//! without a fuzzer: what `fuzz/fuzz_targets/http_request.rs` claims holds for each.

use mock::request::transcribe;

/// Bytes that matter to the reader.
const TELLING: &[u8] = b"\r\n :;0\x009fGHEAD,chunked\xff";

/// The claim of the fuzz target: the pieces do not matter.
fn check(data: &[u8], origin: &str) {
    let Some((piece_bytes, stream)) = data.split_first() else { return };
    let whole = transcribe(stream, usize::MAX);
    for piece_bytes in [usize::from(*piece_bytes), 1] {
        let seen = transcribe(stream, piece_bytes);
        let text = String::from_utf8_lossy(stream);
        assert_eq!(seen, whole, "{origin} in pieces of {piece_bytes}: {text:?}");
    }
}

#[test]
fn the_corpus_and_its_mutations_hold() {
    let mut outcomes = [0_u64; 3];
    corpus::replay("http_request", TELLING, 10, |data, origin| {
        check(data, origin);
        let seen = transcribe(data.get(1..).unwrap_or_default(), usize::MAX);
        outcomes[0] += u64::from(!seen.requests.is_empty());
        outcomes[1] += u64::from(seen.refused.is_some());
        outcomes[2] += u64::from(seen.requests.is_empty() && seen.refused.is_none());
    });
    // The mutations reach every outcome, or this test checks nothing.
    assert!(outcomes.iter().all(|count| *count > 20), "{outcomes:?}");
}
