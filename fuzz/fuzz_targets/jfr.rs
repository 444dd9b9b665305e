//! Any bytes as a flight recording: an error that names the place, or a digest whose rows sum to
//! its total; never a panic, never a loop.
#![no_main]

use jvm::jfr::Recording;
use jvm::panels::{Question, digest};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(recording) = Recording::of_bytes("fuzz", data) else { return };
    let digest = digest(&recording, &Question::default().packages(&["fixture.lab"]));
    if let Some(panel) = &digest.panels.allocation_by_site {
        let sum = panel.rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
        assert_eq!(sum.saturating_add(panel.rest_bytes), panel.total_bytes);
    }
});
