//! The readers of foreign generators: the first byte chooses the tool, the rest is its output.
//! Nothing panics; what is read has a request, and no more failures than requests.

#![no_main]

use foreign::{ADAPTERS, Output};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((tool, bytes)) = data.split_first() else { return };
    let adapter = ADAPTERS[usize::from(*tool) % ADAPTERS.len()];
    let text = String::from_utf8_lossy(bytes);
    let output = Output { stdout: &text, stderr: "", file: Some(&text) };
    if let Ok(record) = (adapter.read)(&output) {
        assert!(record.requests > 0 && record.failures <= record.requests);
    }
});
