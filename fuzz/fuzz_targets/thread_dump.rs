//! Any bytes as a thread dump: a dump or an error, never a panic.
#![no_main]

use jvm::thread_dump::ThreadDump;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(dump) = ThreadDump::read(data) {
        for lock in dump.contentions() {
            assert!(!lock.waiters.is_empty());
        }
    }
});
