//! Any text as a bench file: a plan or problems, never a panic. The machine is left out: no
//! environment, and files that exist when a rule says so.

#![no_main]

use std::io;
use std::path::Path;

use libfuzzer_sys::fuzz_target;

struct Pretend;

impl bench::Env for Pretend {
    fn var(&self, name: &str) -> Option<String> {
        (name.len() % 2 == 0).then(|| name.to_owned())
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.as_os_str().len() % 2 == 0
    }

    fn hash(&self, path: &Path, name: &str) -> io::Result<Option<record::meta::FileHash>> {
        let bytes = path.as_os_str().len() as u64;
        Ok((bytes % 2 == 0).then(|| record::meta::FileHash {
            path: name.to_owned(),
            sha256: "0".repeat(64),
            bytes,
        }))
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // The first line may be a comment with overrides: `#--set load.users=2`.
    let first = text.lines().next().unwrap_or("");
    let overrides = bench::Overrides {
        only: first.strip_prefix("#--only ").map(str::to_owned),
        set: first.strip_prefix("#--set ").map(str::to_owned).into_iter().collect(),
        rehearse: first.strip_prefix("#--rehearse ").map(str::to_owned),
        quick: first == "#--quick",
        ..bench::Overrides::default()
    };
    match bench::plan_source("fuzz.toml", text, Path::new("/bench"), &overrides, &Pretend) {
        Ok(plan) => assert!(!plan.runs.is_empty()),
        Err(diagnostics) => assert!(!diagnostics.render().is_empty()),
    }
});
