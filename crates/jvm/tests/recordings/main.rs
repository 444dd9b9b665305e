//! Recordings with ground truth from the JDK's own tools.

mod damage;
mod fresh;
mod large;
mod page;
mod shapes;
mod traps;
mod trust;
mod truth;
mod writer;

use std::path::{Path, PathBuf};

use jvm::jfr::Recording;
use jvm::panels::{Question, digest};
use record::recording::RecordingDigest;
use serde_json::Value;

/// A fixture; one that is missing fails the test that needs it.
fn fixture(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/jvm").join(name);
    assert!(path.exists(), "missing fixture {}", path.display());
    path
}

fn truth_of(name: &str) -> Value {
    let path = fixture(&format!("{name}.truth.json"));
    serde_json::from_slice(&std::fs::read(path).expect("a readable fixture")).expect("JSON")
}

fn open(name: &str) -> Recording {
    Recording::open(&fixture(&format!("{name}.jfr"))).expect("a recording")
}

fn digest_of(name: &str, question: &Question) -> RecordingDigest {
    digest(&open(name), question)
}
