//! `assay certify` at small size, and what a certificate does to later runs.

use std::fs;

use record::certificate::Certificate;
use record::seal::Sealed;
use record::{Effect, layout};

use crate::support::{Bench, Lab, names, read, reason};

/// Certifies the arrivals at one rate alone and gives the certificate as kept.
fn certified(lab: &Lab, more: &[&str]) -> Certificate {
    let mut arguments = vec![
        "certify",
        "--only",
        "law",
        "--model",
        "open",
        "--certificate",
        "c.json",
        "--json",
        "out.json",
    ];
    arguments.extend(more);
    // Whether this machine is quiet enough to hold a property is its own affair.
    lab.assay(&arguments).expect_one_of(&[0, 3]);
    let kept = Certificate::read(&lab.path().join("c.json")).expect("a sealed certificate");
    assert_eq!(read::<Certificate>(&lab.path().join("out.json")), kept);
    kept
}

#[test]
fn a_certificate_is_of_this_host_and_counts_are_exact() {
    let lab = Lab::new();
    let certificate = certified(&lab, &[]);
    assert_eq!(certificate.counts.runs, 1);
    assert_eq!(certificate.counts.requests, 3_000);
    assert_eq!(certificate.counts.differ, [""; 0]);
    assert_eq!(certificate.of.generator, "assay");
    assert!(certificate.of.generator_version.starts_with("assay "));
    let arrivals = certificate.arrivals.expect("the law of arrivals");
    assert_eq!(arrivals.gaps, 2_999);
    // A part of a certificate is kept where it was asked for and stands for nothing.
    assert!(!lab.path().join("state").exists());
    lab.assert_nothing_runs();
}

/// The mock drops answers: the certificate says so and is no success.
#[test]
fn a_mock_that_fails_is_seen() {
    let lab = Lab::new();
    let certificate = certified(&lab, &["--against", "fail=10%:never"]);
    assert_eq!(certificate.against, ["fail=10%:never"]);
    let run = certificate.runs[0].clone();
    assert!(lab.path().join(run).join(layout::RUNS).is_dir());
}

#[test]
fn what_cannot_be_certified_starts_nothing() {
    let lab = Lab::new();
    let ran = lab.assay(&["certify", "--against", "latncy=1ms"]).expect(2);
    assert!(ran.stderr.contains("latncy"), "{}", ran.stderr);
    lab.assay(&["certify", "--certificate", "no/such/folder/c.json"]).expect(2);
    lab.assay(&["certify", "--only", "nothing-*"]).expect(2);
    assert_eq!(names(lab.path()), [""; 0]);
}

/// A planted certificate that tells nothing below a minute apart and is good for one request a
/// second: every figure is marked. One of another kernel, or a changed one, does not count.
#[test]
fn a_certificate_marks_what_lies_below_it() {
    let lab = Lab::new();
    let mut certificate = certified(&lab, &[]);
    certificate.resolution_ns = Some(60_000_000_000);
    certificate.honest_per_s = Some(1.0);
    let folder = lab.path().join("state/assay/certificates");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("c.json");
    layout::write_json(&path, &certificate.clone().sealed()).expect("written");
    lab.run(&Bench::mock(), "marked", &[]).expect(0);
    let digest = lab.only_digest("marked");
    for gate in ["resolution", "certified_rate"] {
        assert_eq!(reason(&digest, gate).effect, Effect::Flag);
    }
    let page = fs::read_to_string(lab.only_run("marked").join(layout::DIGEST_MD)).expect("a page");
    assert!(page.contains("| p50 | ~"), "{page}");
    assert!(page.contains("Certificate: "), "{page}");

    let unmarked = |label: &str, why: &str| {
        let ran = lab.run(&Bench::mock(), label, &[]).expect(0);
        let digest = lab.only_digest(label);
        assert!(digest.load.is_some_and(|load| load.certificate.is_none()));
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    };
    layout::write_json(&path, &certificate).expect("written");
    unmarked("changed", "it was changed");
    certificate.of.kernel = "another".to_owned();
    layout::write_json(&path, &certificate.clone().sealed()).expect("written");
    unmarked("other", "another kernel");
    certificate.expires_unix_ns = certificate.made_unix_ns;
    layout::write_json(&path, &certificate.sealed()).expect("written");
    unmarked("old", "expired");
}
