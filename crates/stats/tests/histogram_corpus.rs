//! Replays the corpus of encoded histograms: what `fuzz/fuzz_targets/histogram.rs` claims holds
//! for each file, each cut of it and each mutation.

use stats::histogram;

#[test]
fn any_text_is_a_histogram_or_an_error() {
    let mut outcomes = [0_u32; 2];
    corpus::replay("histogram", b"AZaz09+/=HISTF \n", 6, |data, _| {
        let text = String::from_utf8_lossy(data);
        match histogram::decode(&text) {
            Ok(decoded) => {
                outcomes[0] += 1;
                assert_eq!(histogram::summarise(&decoded).count, decoded.len());
            }
            Err(error) => {
                outcomes[1] += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    });
    assert!(outcomes.iter().all(|count| *count > 5), "{outcomes:?}");
}
