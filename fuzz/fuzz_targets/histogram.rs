//! Any text as an encoded histogram: a histogram or an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(histogram) = stats::histogram::decode(text) {
        let _ = stats::histogram::summarise(&histogram);
    }
});
