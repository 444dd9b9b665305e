//! For tests alone: replays a fuzzing corpus without a fuzzer. Each file is given whole, cut at
//! every byte, and in seeded mutations; what the fuzz target claims must hold for each.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Mutations of each file, at least.
const MUTATIONS: u64 = 300;
/// With `ASSAY_LONG` a corpus is mutated for so long, its files in equal parts.
const LONG: Duration = Duration::from_secs(60);

/// Calls `check` with each input and a word on where it came from.
///
/// # Panics
/// When the corpus of this name is missing or has fewer than `at_least` files: a missing
/// fixture fails.
pub fn replay(name: &str, telling: &[u8], at_least: usize, mut check: impl FnMut(&[u8], &str)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("corpus `{}`: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    files.sort();
    assert!(files.len() >= at_least, "{} files are left in {}", files.len(), folder.display());
    let corpus: Vec<Vec<u8>> =
        files.iter().map(|file| fs::read(file).expect("a readable file")).collect();
    let long = if std::env::var_os("ASSAY_LONG").is_some() { LONG } else { Duration::ZERO };
    let part = long / u32::try_from(corpus.len()).unwrap_or(u32::MAX).max(1);
    for (file, data) in files.iter().zip(&corpus) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        check(data, &name);
        for cut in 0..data.len().min(4_096) {
            check(&data[..cut], &format!("{name} cut at {cut}"));
        }
        let start = Instant::now();
        for seed in (0..).take_while(|seed| *seed < MUTATIONS || start.elapsed() < part) {
            check(&mutate(data, &corpus, telling, seed), &format!("{name} with seed {seed}"));
        }
    }
}

/// One to four changes: a byte set, removed or inserted, a part doubled, or another file's part
/// put in. `telling` are bytes that matter to the reader under test.
#[must_use]
pub fn mutate(data: &[u8], corpus: &[Vec<u8>], telling: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
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
            0 if !mutant.is_empty() => mutant[at] = telling[below(telling.len())],
            1 if !mutant.is_empty() => {
                mutant.remove(at);
            }
            2 => mutant.insert(at, telling[below(telling.len())]),
            3 => {
                let end = at + below(mutant.len() - at);
                let part = mutant[at..end].to_vec();
                mutant.splice(at..at, part);
            }
            _ if !corpus.is_empty() => {
                let other = &corpus[below(corpus.len())];
                let start = below(other.len());
                let end = start + below(other.len() - start);
                mutant.splice(at..at, other[start..end].iter().copied());
            }
            _ => {}
        }
    }
    mutant
}
