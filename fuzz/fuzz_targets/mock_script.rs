//! The mock's script and what it makes of requests: never panics, an error lies within the text, and no
//! request makes lines of its own in the head of an answer. A NUL parts the script from the requests.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mock::script::Script;
use record::mock::MockConfig;

fuzz_target!(|data: &[u8]| {
    let at = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let Ok(text) = std::str::from_utf8(&data[..at]) else { return };
    match Script::read("script", text, &MockConfig::default(), &|_| Err("no files".to_owned())) {
        Err(error) => assert!(error.line <= text.lines().count() + 1, "{error}"),
        Ok(script) => {
            // A law's file that is not there is no fault of the script.
            let _ = script.rehearse(data.get(at + 1..).unwrap_or_default());
        }
    }
});
