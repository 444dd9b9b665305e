//! Replays the fuzzing corpus of the request reader, and a few thousand seeded mutations of it,
//! without a fuzzer: what `fuzz/fuzz_targets/http_request.rs` claims holds for each.

use std::fs;
use std::path::Path;

use mock::request::transcribe;

/// Mutations of each file.
const MUTATIONS: u64 = 500;

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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/http_request");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the corpus is part of the sources")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{} files of the corpus are left", files.len());
    let corpus: Vec<Vec<u8>> =
        files.iter().map(|file| fs::read(file).expect("a readable file")).collect();

    let mut outcomes = [0_u64; 3];
    for (file, data) in files.iter().zip(&corpus) {
        let name = file.display().to_string();
        check(data, &name);
        for cut in 0..data.len() {
            check(&data[..cut], &format!("{name} cut at {cut}"));
        }
        for seed in 0..MUTATIONS {
            let mutant = mutate(data, &corpus, seed);
            check(&mutant, &format!("{name} with seed {seed}"));
            let seen = transcribe(mutant.get(1..).unwrap_or_default(), usize::MAX);
            outcomes[0] += u64::from(!seen.requests.is_empty());
            outcomes[1] += u64::from(seen.refused.is_some());
            outcomes[2] += u64::from(seen.requests.is_empty() && seen.refused.is_none());
        }
    }
    // The mutations reach every outcome, or this test checks nothing.
    assert!(outcomes.iter().all(|count| *count > 20), "{outcomes:?}");
}

/// One to four changes: a byte set, removed, inserted or doubled, or another file's part.
fn mutate(data: &[u8], corpus: &[Vec<u8>], seed: u64) -> Vec<u8> {
    const TELLING: &[u8] = b"\r\n :;0\x009fGHEAD,chunked\xff";
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound.max(1) as u64) as usize
    };
    let mut mutant = data.to_vec();
    for _ in 0..=below(4) {
        let at = below(mutant.len());
        match below(5) {
            0 if !mutant.is_empty() => mutant[at] = TELLING[below(TELLING.len())],
            1 if !mutant.is_empty() => {
                mutant.remove(at);
            }
            2 => mutant.insert(at, TELLING[below(TELLING.len())]),
            3 => {
                let end = at + below(mutant.len() - at);
                let part = mutant[at..end].to_vec();
                mutant.splice(at..at, part);
            }
            _ => {
                let other = &corpus[below(corpus.len())];
                mutant.extend_from_slice(&other[below(other.len())..]);
            }
        }
    }
    mutant
}
