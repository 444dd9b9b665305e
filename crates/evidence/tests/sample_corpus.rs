//! Replays the corpus of sample files: what `fuzz/fuzz_targets/samples.rs` claims holds for each
//! file, each cut of it and each mutation.

use evidence::run_dir::{host_rows, resource_rows};

#[test]
fn every_line_is_read_or_counted() {
    let mut seen = [0_usize; 2];
    corpus::replay("samples", b",\n\r0123456789.-eE x\xff", 6, |data, origin| {
        let text = String::from_utf8_lossy(data);
        let lines = text.split_inclusive('\n').count().saturating_sub(1);
        let (resources, host) = (resource_rows(&text), host_rows(&text));
        assert_eq!(resources.rows.len() + resources.skipped as usize, lines, "{origin}");
        assert_eq!(host.rows.len() + host.skipped as usize, lines, "{origin}");
        seen[0] += resources.rows.len() + host.rows.len();
        seen[1] += (resources.skipped + host.skipped) as usize;
    });
    // Both happen, or this test checks nothing.
    assert!(seen[0] > 100 && seen[1] > 100, "{seen:?}");
}
