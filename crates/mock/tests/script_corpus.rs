//! Replays the fuzzing corpus of scripts and seeded mutations of it, without a fuzzer: what
//! `fuzz/fuzz_targets/mock_script.rs` claims holds for each.

use mock::script::Script;
use record::mock::MockConfig;

/// Bytes that matter to the reader.
const TELLING: &[u8] = b"[]{}=\"'.,\n#%:*/\0&+\r\xff";

#[test]
fn the_corpus_and_its_mutations_hold() {
    let mut outcomes = [0_u64; 3];
    corpus::replay("mock_script", TELLING, 10, |data, origin| {
        let at = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
        let Ok(text) = std::str::from_utf8(&data[..at]) else { return };
        let no_files = |_: &str| Err("no files".to_owned());
        match Script::read("script", text, &MockConfig::default(), &no_files) {
            Err(error) => {
                assert!(error.line <= text.lines().count() + 1, "{origin}: {error}");
                outcomes[0] += 1;
            }
            Ok(script) => match script.rehearse(data.get(at + 1..).unwrap_or_default()) {
                Ok(0) | Err(_) => outcomes[1] += 1,
                Ok(_) => outcomes[2] += 1,
            },
        }
    });
    // The mutations reach every outcome, or this test checks nothing.
    assert!(outcomes.iter().all(|count| *count > 20), "{outcomes:?}");
}
