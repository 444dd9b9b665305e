//! Replays the corpus of the answer reader: what `fuzz/fuzz_targets/http_response.rs` claims
//! holds for each file, each cut of it and each mutation.

use load::transcribe;

#[test]
fn the_corpus_and_its_mutations_hold() {
    let mut outcomes = [0_u64; 3];
    corpus::replay("http_response", b"\r\n :;0\x009fHTP/1.,chunked\xff", 12, |data, origin| {
        let Some((piece_bytes, stream)) = data.split_first() else { return };
        let whole = transcribe(stream, usize::MAX);
        for piece_bytes in [usize::from(*piece_bytes), 1] {
            let text = String::from_utf8_lossy(stream);
            assert_eq!(transcribe(stream, piece_bytes), whole, "{origin}: {text:?}");
        }
        match whole.outcome {
            Ok(true) => outcomes[0] += 1,
            Ok(false) => outcomes[1] += 1,
            Err(_) => outcomes[2] += 1,
        }
    });
    // The mutations reach every outcome, or this test checks nothing.
    assert!(outcomes[0] > 20 && outcomes[1] > 0 && outcomes[2] > 20, "{outcomes:?}");
}
