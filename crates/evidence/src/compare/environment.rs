//! What the two runs of a pair must agree in: with each other, and with the first pair of their
//! contrast.
//!
//! Host, tool, gates and load must be the same in both arms, save what the contrasted factor
//! picks or the bench allows. Over the matrix each arm must stay what it was in the first pair,
//! its binaries and versions included: a runtime that is upgraded in the middle is another arm.

use std::collections::{BTreeMap, BTreeSet};

use record::digest::{Digest, Identity};
use record::plan::{Generator, GeneratorKind};
use serde_json::Value;

use super::pairing::Pair;

/// A fact by dotted key, as text.
type Facts = BTreeMap<String, String>;

/// Factors that pick a whole table, and with it every key below.
const TABLES: [&str; 3] = ["load", "transport", "generator"];

/// The first key in which two runs differ though the factor does not pick it and the bench does
/// not allow it, with both values.
pub(crate) fn disagreement(
    a: &Digest,
    b: &Digest,
    factor: &str,
    allow: &[String],
) -> Option<String> {
    if same_place(a, b) && same_load(a, b) {
        return None;
    }
    let (left, right) = (facts(a), facts(b));
    let excused = |key: &str| {
        picks(factor, key, &a.identity, &b.identity) || allow.iter().any(|path| below(key, path))
    };
    let key = first_difference(&left, &right, excused)?;
    Some(format!("`{key}` differs: {} and {}", shown(&left, key), shown(&right, key)))
}

/// The first key of host, tool, gates or of an arm's own identity in which a pair differs from
/// the first pair.
pub(crate) fn drift(first: &Pair<'_>, pair: &Pair<'_>, allow: &[String]) -> Option<String> {
    let arms = [(first.baseline.1, pair.baseline.1), (first.level.1, pair.level.1)];
    let differs = |left: Facts, right: Facts| {
        let excused = |key: &str| allow.iter().any(|path| below(key, path));
        let key = first_difference(&left, &right, excused)?;
        Some(format!("`{key}` is {}, in the first pair {}", shown(&right, key), shown(&left, key)))
    };
    for (_, run) in arms {
        // One host and one tool for both arms: the baseline's of the first pair.
        if !same_place(first.baseline.1, run) {
            let found = differs(place(first.baseline.1), place(run));
            if found.is_some() {
                return found;
            }
        }
    }
    arms.into_iter().find_map(|(then, now)| {
        if same_thing(&then.identity, &now.identity) {
            return None;
        }
        differs(thing(&then.identity), thing(&now.identity))
    })
}

fn first_difference<'f>(
    left: &'f Facts,
    right: &'f Facts,
    excused: impl Fn(&str) -> bool,
) -> Option<&'f str> {
    let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let differing = keys.into_iter().find(|key| left.get(*key) != right.get(*key) && !excused(key));
    differing.map(String::as_str)
}

/// A value for people: the start of a hash tells as much as the whole.
fn shown(facts: &Facts, key: &str) -> String {
    const HASH: usize = 64;
    match facts.get(key) {
        Some(value) if value.len() == HASH && value.chars().all(|c| c.is_ascii_hexdigit()) => {
            value.chars().take(HASH / 4).collect()
        }
        Some(value) => value.clone(),
        None => "unset".to_owned(),
    }
}

/// Whether `key` is `path` or lies below it.
fn below(key: &str, path: &str) -> bool {
    key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a factor may make this key differ: it picks the table, or one of its levels set the
/// key or something above it.
pub(crate) fn picks(factor: &str, key: &str, a: &Identity, b: &Identity) -> bool {
    if TABLES.contains(&factor) && below(key, factor) {
        return true;
    }
    [a, b].iter().any(|identity| {
        identity.sets.get(factor).is_some_and(|paths| {
            // A path may be finer than the fact (`load.measure.ns`) or coarser (`load`).
            paths.iter().any(|path| below(key, path) || below(path, key))
        })
    })
}

/// Everything a pair must agree in.
fn facts(digest: &Digest) -> Facts {
    let effective = &digest.identity.effective;
    let mut facts = place(digest);
    facts.insert("transport".to_owned(), effective.transport.clone());
    generator(&mut facts, &effective.generator);
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

/// The generator by its table's keys; the name alone says nothing.
fn generator(facts: &mut Facts, generator: &Generator) {
    let kind = match &generator.kind {
        GeneratorKind::Assay => generator.name.clone(),
        GeneratorKind::Adapter(adapter) => adapter.clone(),
        GeneratorKind::Command(command) => command.join(" "),
    };
    facts.insert("generator".to_owned(), kind);
    if let Some(script) = &generator.script {
        facts.insert("generator.script".to_owned(), script.clone());
    }
    for (key, list) in [("args", &generator.args), ("patterns", &generator.patterns)] {
        if !list.is_empty() {
            facts.insert(format!("generator.{key}"), list.join(" "));
        }
    }
}

/// Host, tool and gates: what no factor can pick. The class of the hardware is part of it, so
/// that runs of two machines never average, whatever the machines are called.
pub(crate) fn place(digest: &Digest) -> Facts {
    let host = &digest.identity.host;
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let number = |value: Option<u64>| value.map_or("unknown".to_owned(), |v| v.to_string());
    let smt = host.smt.map_or("unknown", |on| if on { "on" } else { "off" });
    let mut facts = Facts::from([
        ("host.name".to_owned(), host.name.clone()),
        ("host.cpu_model".to_owned(), text(&host.cpu_model)),
        ("host.arch".to_owned(), host.arch.clone()),
        ("host.cores".to_owned(), host.cores.to_string()),
        ("host.smt".to_owned(), smt.to_owned()),
        ("host.memory".to_owned(), number(host.memory_bytes)),
        ("host.boot_id".to_owned(), text(&host.boot_id)),
        ("host.kernel".to_owned(), host.kernel.clone()),
        ("host.clocksource".to_owned(), text(&host.clocksource)),
        (
            "host.governor".to_owned(),
            text(&digest.host_states.governor().or(host.governor.clone())),
        ),
        ("host.turbo".to_owned(), text(&digest.host_states.turbo())),
        ("assay.sha256".to_owned(), digest.identity.assay.sha256.clone()),
    ]);
    for (kind, values) in [("limit", &host.limits), ("sysctl", &host.sysctls)] {
        for (name, value) in values {
            facts.insert(format!("host.{kind}.{name}"), value.clone());
        }
    }
    for check in &digest.checks {
        if let Some(bound) = check.bound {
            facts.insert(format!("gates.{}", check.gate), bound.to_string());
        }
    }
    facts
}

/// What an arm is: the effective run, and binary and version of every process that it consists
/// of. Parent and observer are the tool's, which [`place`] covers.
fn thing(identity: &Identity) -> Facts {
    let mut facts = Facts::from([("effective".to_owned(), identity.effective_sha256.clone())]);
    for (role, process) in &identity.processes {
        if is_tool(role) {
            continue;
        }
        let known = [("sha256", &process.sha256), ("version", &process.version)];
        for (name, value) in known {
            let value = value.clone().unwrap_or_else(|| "unknown".to_owned());
            facts.insert(format!("{role}.{name}"), value);
        }
    }
    facts
}

fn is_tool(role: &str) -> bool {
    matches!(role, "parent" | "observer")
}

/// [`place`] without building it: most runs of a matrix are equal, and a matrix may have
/// thousands.
fn same_place(a: &Digest, b: &Digest) -> bool {
    a.identity.host == b.identity.host
        && a.host_states.turbo() == b.host_states.turbo()
        && a.host_states.governor() == b.host_states.governor()
        && a.identity.assay.sha256 == b.identity.assay.sha256
        && a.checks.len() == b.checks.len()
        && a.checks.iter().zip(&b.checks).all(|(a, b)| a.gate == b.gate && a.bound == b.bound)
}

fn same_load(a: &Digest, b: &Digest) -> bool {
    let (a, b) = (&a.identity.effective, &b.identity.effective);
    a.load == b.load
        && a.transport == b.transport
        && a.generator == b.generator
        && a.cpus == b.cpus
        && a.observe_interval_ns == b.observe_interval_ns
}

/// Whether two runs are the same thing: equal effective runs, and equal binaries and versions
/// of every process but the parent and its observer.
pub(crate) fn same_identity(a: &Identity, b: &Identity) -> bool {
    a.assay.sha256 == b.assay.sha256 && same_thing(a, b)
}

fn same_thing(a: &Identity, b: &Identity) -> bool {
    fn binaries(
        identity: &Identity,
    ) -> impl Iterator<Item = (&String, &Option<String>, &Option<String>)> {
        identity
            .processes
            .iter()
            .filter(|(role, _)| !is_tool(role))
            .map(|(role, process)| (role, &process.sha256, &process.version))
    }
    a.effective_sha256 == b.effective_sha256 && binaries(a).eq(binaries(b))
}
