//! Surroundings without a machine: no environment, and a file system that is a rule.

use std::io;
use std::path::Path;

use bench::{Diagnostics, Env, Overrides};
use record::meta::FileHash;
use record::plan::Plan;

/// Every file exists unless its path contains `missing`; variables are a fixed few.
pub(crate) struct Pretend;

impl Env for Pretend {
    fn var(&self, name: &str) -> Option<String> {
        (name == "POOL").then(|| "16".to_owned())
    }

    fn is_dir(&self, path: &Path) -> bool {
        !path.display().to_string().contains("missing")
    }

    fn hash(&self, path: &Path, name: &str) -> io::Result<Option<FileHash>> {
        let path = path.display().to_string();
        let is_program = name.contains('/') && !path.contains("missing");
        Ok(is_program.then(|| FileHash {
            path: name.to_owned(),
            sha256: "0".repeat(64),
            bytes: path.len() as u64,
        }))
    }
}

/// Plans a text in `/bench` with overrides.
pub(crate) fn plan_with(text: &str, overrides: &Overrides) -> Result<Plan, Diagnostics> {
    bench::plan_source("bench.toml", text, Path::new("/bench"), overrides, &Pretend)
}

/// Plans a text that is good.
pub(crate) fn plan(text: &str) -> Plan {
    match plan_with(text, &Overrides::default()) {
        Ok(plan) => plan,
        Err(diagnostics) => panic!("{}", diagnostics.render()),
    }
}

/// The problems of a text as plain text.
pub(crate) fn refused(text: &str) -> String {
    match plan_with(text, &Overrides::default()) {
        Ok(_) => "accepted".to_owned(),
        Err(diagnostics) => diagnostics.render(),
    }
}

/// The directories of all runs, one line per block.
pub(crate) fn dirs(plan: &Plan) -> String {
    let mut lines = Vec::new();
    for block in 1..=plan.blocks {
        let runs = plan.runs.iter().filter(|run| run.block == block);
        lines.push(runs.map(|run| run.dir.as_str()).collect::<Vec<_>>().join("  "));
    }
    lines.join("\n")
}

/// A good bench of two servers, and more tables.
pub(crate) fn with(more: &str) -> String {
    format!(
        r#"[target.nginx]
command = ["nginx"]
address = "127.0.0.1:18080"
[target.tomcat]
command = ["./run.sh"]
address = "127.0.0.1:18081"
[scenario.small]
get = "/"
[load.steady]
users = 32
measure = "30s"
{more}"#
    )
}

/// The same with its targets chosen.
pub(crate) fn chosen(more: &str) -> String {
    with(&format!("{more}\n[factors]\ntarget = [\"nginx\", \"tomcat\"]\n"))
}

/// The same with a single target and factors.
pub(crate) fn single(factors: &str) -> String {
    format!(
        r#"[target.api]
mock = {{ latency = "5ms" }}
[scenario.get]
get = "/"
[load.main]
users = 1
measure = "2s"
{factors}"#
    )
}

/// The problems of a text with one `--set`.
pub(crate) fn set(text: &str, set: &str) -> String {
    let overrides = Overrides { set: vec![set.to_owned()], ..Overrides::default() };
    plan_with(text, &overrides).map_or_else(|found| found.render(), |_| "accepted".to_owned())
}
