//! The self-test lists its guards, and one that does not speak up fails by its name.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::{ASSAY, Lab, names, read};

/// K-168: no bench, no network beyond loopback, each case shown by name.
#[test]
fn every_guard_speaks_up_on_this_machine() {
    let lab = Lab::new();
    let ran = lab.assay(&["selftest", "--json", "out.json"]).expect(0);
    let report: Value = read(&lab.path().join("out.json"));
    let cases = report["cases"].as_array().expect("cases");
    assert!(cases.len() >= 15, "{}", cases.len());
    for case in cases {
        assert_eq!(case["passed"], true, "{case}");
        let name = case["name"].as_str().expect("a name");
        assert!(ran.stderr.contains(&format!("ok     {name} (")), "{name}: {}", ran.stderr);
    }
    assert_eq!(names(lab.path()), ["out.json"]);
    lab.assert_nothing_runs();
}

/// A build that never fails: every guard whose word is the exit status is silent.
#[test]
fn a_build_that_cannot_fail_is_found_out() {
    let lab = Lab::new();
    let program = lab.write("tame", &format!("#!/bin/sh\n{ASSAY} \"$@\"\nexit 0\n"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let program = program.display().to_string();
    let ran = lab.assay(&["selftest", "--program", &program, "--json", "out.json"]).expect(1);
    let report: Value = read(&lab.path().join("out.json"));
    let failed: Vec<&str> = report["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .filter(|case| case["passed"] == false)
        .filter_map(|case| case["name"].as_str())
        .collect();
    for name in [
        "failures void a run",
        "a label is never overwritten",
        "a recording that is none is refused",
    ] {
        assert!(failed.contains(&name), "{failed:?}");
        assert!(ran.stderr.contains(&format!("FAILED {name} (")), "{}", ran.stderr);
    }
    assert!(!failed.contains(&"a lost request breaks the books"), "{failed:?}");
}
