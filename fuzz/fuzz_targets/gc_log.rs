//! Any bytes as a GC log: a log or an error, never a panic, and the same in whatever pieces the
//! bytes arrive.
#![no_main]

use std::io::BufReader;

use jvm::gc_log::GcLog;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let whole = GcLog::read(data).ok();
    let pieces = GcLog::read(BufReader::with_capacity(7, data)).ok();
    assert_eq!(whole, pieces);
    if let Some(log) = whole {
        assert_eq!(log.pauses.len() as u64, log.pauses_in_all().0);
    }
});
