//! Stamps the binary with the commit that it was built from, with a mark when the tree had
//! changes, so that every digest can say which build made it.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).map_or_else(
        // Built outside a checkout, from an archive for instance.
        || "unknown".to_owned(),
        |commit| {
            let changes = git(&["status", "--porcelain", "--untracked-files=no"]);
            let dirty = changes.is_none_or(|changes| !changes.is_empty());
            if dirty { format!("{commit}+dirty") } else { commit }
        },
    );
    println!("cargo:rustc-env=ASSAY_COMMIT={commit}");
    // Any change of the sources or of the commit stamps anew.
    for path in ["../../crates", "../../Cargo.lock", "../../.git/HEAD", "../../.git/index"] {
        println!("cargo:rerun-if-changed={path}");
    }
}
