//! Any text as `resources.csv` and as `host.csv`: every line is read or counted, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let lines = text.split_inclusive('\n').count().saturating_sub(1);
    let resources = evidence::run_dir::resource_rows(&text);
    assert_eq!(resources.rows.len() + resources.skipped as usize, lines);
    let host = evidence::run_dir::host_rows(&text);
    assert_eq!(host.rows.len() + host.skipped as usize, lines);
});
