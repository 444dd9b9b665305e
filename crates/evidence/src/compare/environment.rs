//! What the two runs of a pair must agree in, and what makes them the same thing.

use std::collections::BTreeMap;

use record::digest::{Digest, Identity};
use record::plan::TargetKind;
use serde_json::Value;

/// A fact by dotted key, as text.
type Facts = BTreeMap<String, String>;

/// Factors that pick a whole table, and with it every key below.
const TABLES: [&str; 3] = ["load", "transport", "generator"];

/// The first key in which two runs differ though the factor does not pick it, with both values.
pub(crate) fn disagreement(a: &Digest, b: &Digest, factor: &str) -> Option<String> {
    let (left, right) = (facts(a), facts(b));
    let keys: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let differing = keys.into_iter().find(|key| {
        left.get(*key) != right.get(*key) && !picks(factor, key, &a.identity, &b.identity)
    })?;
    let shown = |facts: &Facts| facts.get(differing).cloned().unwrap_or_else(|| "unset".to_owned());
    Some(format!("`{differing}` differs: {} and {}", shown(&left), shown(&right)))
}

/// The first key of the host, the tool or the gates in which a run differs from the first pair.
pub(crate) fn drift(first: &Digest, run: &Digest) -> Option<String> {
    let (left, right) = (place(first), place(run));
    let key = left.keys().chain(right.keys()).find(|key| left.get(*key) != right.get(*key))?;
    let shown = |facts: &Facts| facts.get(key).cloned().unwrap_or_else(|| "unset".to_owned());
    Some(format!("`{key}` is {}, in the first pair {}", shown(&right), shown(&left)))
}

/// Whether a factor may make this key differ: it picks the table, or one of its levels set the
/// key or something above it.
fn picks(factor: &str, key: &str, a: &Identity, b: &Identity) -> bool {
    let below = |path: &str| key == path || key.starts_with(&format!("{path}."));
    if TABLES.contains(&factor) && below(factor) {
        return true;
    }
    [a, b].iter().any(|identity| {
        identity.sets.get(factor).is_some_and(|paths| {
            // A path may be finer than the fact (`load.measure.ns`) or coarser (`load`).
            paths.iter().any(|path| below(path) || path.starts_with(&format!("{key}.")))
        })
    })
}

/// Everything a pair must agree in.
fn facts(digest: &Digest) -> Facts {
    let effective = &digest.identity.effective;
    let mut facts = place(digest);
    facts.insert("transport".to_owned(), effective.transport.clone());
    facts.insert("generator".to_owned(), effective.generator.clone());
    let cpus = &effective.cpus;
    for (role, cores) in [
        ("target", &cpus.target),
        ("mock", &cpus.mock),
        ("generator", &cpus.generator),
        ("parent", &cpus.parent),
    ] {
        facts.insert(format!("cpus.{role}"), format!("{cores:?}"));
    }
    facts.insert("observe.interval".to_owned(), effective.observe_interval_ns.to_string());
    if let Ok(Value::Object(load)) = serde_json::to_value(&effective.load) {
        for (key, value) in load.iter().filter(|(key, _)| *key != "name") {
            // `model` is one key of two in the bench file.
            let (key, value) = match (key.as_str(), value) {
                ("model", Value::Object(model)) => match model.iter().next() {
                    Some((kind, value)) => (kind.clone(), value),
                    None => continue,
                },
                _ => (key.trim_end_matches("_ns").to_owned(), value),
            };
            facts.insert(format!("load.{key}"), value.to_string());
        }
    }
    facts
}

/// Host, tool and gates: what no factor of the first cut can pick.
pub(crate) fn place(digest: &Digest) -> Facts {
    let host = &digest.identity.host;
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let mut facts = Facts::from([
        ("host.name".to_owned(), host.name.clone()),
        ("host.boot_id".to_owned(), text(&host.boot_id)),
        ("host.kernel".to_owned(), host.kernel.clone()),
        ("host.governor".to_owned(), text(&host.governor)),
        ("host.cores".to_owned(), host.cores.to_string()),
        ("assay.sha256".to_owned(), digest.identity.assay.sha256.clone()),
    ]);
    for check in &digest.checks {
        if let Some(bound) = check.bound {
            facts.insert(format!("gates.{}", check.gate), bound.to_string());
        }
    }
    facts
}

/// Whether two runs are the same thing: equal effective runs, and equal binaries and versions
/// of every process but the parent and its observer.
pub(crate) fn same_identity(a: &Identity, b: &Identity) -> bool {
    let binaries = |identity: &Identity| -> BTreeMap<String, (Option<String>, Option<String>)> {
        identity
            .processes
            .iter()
            .filter(|(role, _)| !matches!(role.as_str(), "parent" | "observer"))
            .map(|(role, process)| {
                (role.clone(), (process.sha256.clone(), process.version.clone()))
            })
            .collect()
    };
    a.effective_sha256 == b.effective_sha256
        && a.assay.sha256 == b.assay.sha256
        && binaries(a) == binaries(b)
}

/// What an identity lacks for anyone to tell which build gave a figure; empty when nothing.
pub(crate) fn unknown_identity(identity: &Identity) -> Vec<&'static str> {
    let unknown = |text: &str| text.is_empty() || text == "unknown";
    let mut lacks = Vec::new();
    if unknown(&identity.assay.commit) {
        lacks.push("assay's commit");
    }
    if unknown(&identity.assay.sha256) {
        lacks.push("assay's hash");
    }
    if unknown(&identity.effective_sha256) {
        lacks.push("the hash of the effective run");
    }
    // What runs somewhere else already has no binary that could be read here.
    if !matches!(identity.effective.target.kind, TargetKind::Url(_)) {
        let target = ["target", "mock"].iter().find_map(|role| identity.processes.get(*role));
        if target.and_then(|target| target.sha256.as_deref()).is_none_or(unknown) {
            lacks.push("the hash of the target's binary");
        }
    }
    lacks
}
