//! Any bytes as a class histogram: a histogram or an error, never a panic; its difference with
//! itself is empty.
#![no_main]

use jvm::class_histogram::ClassHistogram;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(histogram) = ClassHistogram::read(data) {
        assert!(histogram.difference(&histogram).rows.is_empty());
        let _ = histogram.remarks();
    }
});
