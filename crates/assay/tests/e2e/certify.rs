//! `assay certify` at small size, and what a certificate does to later runs.

use std::fs;

use record::certificate::Certificate;
use record::seal::Sealed;
use record::{Effect, layout};

use crate::support::{ASSAY, Bench, Lab, Running, names, read, reason};

/// A word, a tool without an open model and a program that is not installed: nothing is started.
#[test]
fn a_generator_that_cannot_be_certified_starts_nothing() {
    let lab = Lab::new();
    let refused = |arguments: &[&str], code: i32, words: &[&str]| {
        let mut command = lab.command(ASSAY, &[&["certify", "--generator"], arguments].concat());
        // Nothing is installed there.
        command.env("PATH", lab.path());
        let ran = Running::start(command).finish().expect(code);
        for word in words {
            assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
        }
    };
    refused(&["wrkk"], 2, &["no generator `wrkk`; nearest `wrk`"]);
    refused(&["vegeta"], 2, &["only read, not started"]);
    let able = "these have one: `assay`, `k6`, `oha`";
    refused(&["wrk", "--model", "open"], 2, &["`wrk` has no constant arrival rate", able]);
    refused(&["gen {url}"], 2, &["--pattern", "[generator.N]"]);
    refused(&["wrk"], 5, &["no program `wrk`"]);
    refused(&["gen {url}", "--pattern", "n=(?<requests>[0-9]+)"], 5, &["no program `gen`"]);
    assert_eq!(names(lab.path()), [""; 0]);
}

/// wrk for real, by one stall: the certificate is its own, says that the stall in its p99 is made of
/// samples that it added, and stands for no run of assay's.
#[test]
fn a_certificate_of_wrk_says_what_its_stall_is_made_of() {
    let lab = Lab::new();
    let arguments =
        ["certify", "--generator", "wrk", "--only", "stall", "--certificate", "wrk.json"];
    let ran = lab.assay(&arguments).expect_one_of(&[0, 3]);
    let certificate = Certificate::read(&lab.path().join("wrk.json")).expect("a certificate");
    assert!(ran.stdout.starts_with("certificate of wrk ("), "{}", ran.stdout);
    let of = &certificate.of;
    assert_eq!(of.generator, "wrk");
    assert!(of.generator_version.contains("wrk"), "{}", of.generator_version);
    let program = of.generator_program.as_deref().expect("a program");
    assert!(program.contains("wrk "), "{program}");
    // Only a closed loop, as wrk has no other.
    assert_eq!(certificate.stalls.len(), 1);
    assert_eq!(certificate.stalls[0].model, "closed");
    assert!(certificate.counts.requests > 0);
    let line = certificate.findings.iter().find(|one| one.name == "stall, closed");
    let line = line.expect("a line on the stall");
    // How near the made-up tail comes is a matter of the machine; that it is no evidence is not.
    assert_eq!(line.holds, None, "{line:?}");
    let made_up = line.detail.contains("(by samples that it adds and never sent)");
    assert_eq!(made_up, certificate.stalls[0].shown, "{line:?}");

    let folder = lab.path().join("state/assay/certificates");
    fs::create_dir_all(&folder).expect("a folder");
    fs::copy(lab.path().join("wrk.json"), folder.join("wrk.json")).expect("copied");
    lab.run(&Bench::mock(), "own", &[]).expect(0);
    assert!(lab.only_digest("own").load.is_some_and(|load| load.certificate.is_none()));
}

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
