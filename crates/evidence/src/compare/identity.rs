//! What the arms of a contrast are: on which machine, of which build, and in what they differ
//! though the factor did not set it.

use std::collections::{BTreeMap, BTreeSet};

use record::compare::HostClass;
use record::digest::{Digest, Identity};
use record::meta::HostFacts;
use record::plan::TargetKind;
use sha2::{Digest as _, Sha256};

use super::environment::picks;

/// The short identity of a machine: eight hexadecimal digits of a hash over CPU model,
/// architecture, cores, SMT and kernel. Two machines of one class share it; a new kernel is a new
/// class, and with it a new baseline rather than a repetition.
pub(crate) fn host_class(host: &HostFacts) -> HostClass {
    let cpu = host.cpu_model.as_deref().unwrap_or("unknown CPU");
    let smt = match host.smt {
        Some(true) => "SMT on",
        Some(false) => "SMT off",
        None => "SMT unknown",
    };
    let description =
        format!("{cpu}, {}, {} cores, {smt}, Linux {}", host.arch, host.cores, host.kernel);
    let hash = Sha256::digest(description.as_bytes());
    let id = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    HostClass { id, description }
}

/// The machines of all runs, each once, sorted.
pub(crate) fn host_classes(measured: &[(&str, &Digest)]) -> Vec<HostClass> {
    let mut known: Vec<&HostFacts> = Vec::new();
    for (_, digest) in measured {
        let host = &digest.identity.host;
        if !known.contains(&host) {
            known.push(host);
        }
    }
    let mut classes: Vec<HostClass> = known.into_iter().map(host_class).collect();
    classes.sort();
    classes.dedup();
    classes
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

/// Factors that pick the whole target: its program, environment and version are what they vary.
const PICKS_TARGET: [&str; 2] = ["target", "build"];
/// What makes two arms incomparable even when the whole target is varied: the same program on
/// another heap or collector is another experiment.
const ALWAYS: [&str; 2] = ["heap", "collector"];
/// Hexadecimal digits of a hash that tell binaries apart.
const HASH_DIGITS: usize = 8;

/// What the arms differ in beside what their factor set, each as `what: baseline's and level's`.
/// A runtime's heap, collector and version, the program and its environment, the commit: the
/// differences that are most often read as a finding.
pub(crate) fn beside_the_factor(baseline: &Digest, level: &Digest, factor: &str) -> Vec<String> {
    let (left, right) = (traits(&baseline.identity), traits(&level.identity));
    let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let mut differs: Vec<(&str, String)> = Vec::new();
    for key in keys {
        let (a, b) = (left.get(key), right.get(key));
        if a.map(|t| &t.value) == b.map(|t| &t.value) {
            continue;
        }
        let path = a.or(b).map_or("", |one| one.path.as_str());
        let set = if PICKS_TARGET.contains(&factor) {
            // A program that has no heap differs from one that has in everything.
            !ALWAYS.contains(&key.as_str()) || a.is_none() || b.is_none()
        } else {
            picks(factor, path, &baseline.identity, &level.identity)
        };
        if !set {
            let [a, b] = [a, b].map(|one| one.map_or("unset", |one| one.value.as_str()));
            differs.push((path, format!("{key} {a} and {b}")));
        }
    }
    // A whole command line says nothing that the heap in it does not say in short.
    let in_short = |path: &str| {
        differs
            .iter()
            .any(|(other, text)| *other == path && ALWAYS.iter().any(|name| text.starts_with(name)))
    };
    let whole = |text: &str| text.starts_with("command ") || text.starts_with("environment ");
    let kept = differs.iter().filter(|(path, text)| !(whole(text) && in_short(path)));
    kept.map(|(_, text)| text.clone()).collect()
}

/// One trait of an arm: its value, and the key of the bench that would have set it.
struct Trait {
    path: String,
    value: String,
}

fn traits(identity: &Identity) -> BTreeMap<String, Trait> {
    let mut traits = BTreeMap::new();
    let mut add = |name: &str, path: &str, value: String| {
        traits.insert(name.to_owned(), Trait { path: path.to_owned(), value });
    };
    let target = &identity.effective.target;
    if let TargetKind::Command(command) = &target.kind {
        let command = command.join(" ");
        add("command", "target.command", command.clone());
        jvm_traits(&command, "target.command", &mut add);
    }
    for (name, value) in &target.env {
        let path = format!("target.env.{name}");
        jvm_traits(value, &path, &mut add);
        add(&format!("environment {name}"), &path, value.clone());
    }
    for (name, value) in &identity.effective.vars {
        add(&format!("variable {name}"), &format!("vars.{name}"), value.to_string());
    }
    let process = ["target", "mock"].iter().find_map(|role| identity.processes.get(*role));
    if let Some(process) = process {
        if let Some(version) = &process.version {
            add("runtime version", "target.command", version.clone());
        }
        if let Some(sha256) = &process.sha256 {
            let short: String = sha256.chars().take(HASH_DIGITS).collect();
            add("binary", "target.command", short);
        }
    }
    add("source commit", "target.build", identity.assay.commit.clone());
    add("host class", "place", host_class(&identity.host).id);
    traits
}

/// Heap and collector where a command line or a variable names them, as a JVM and its wrappers
/// are told.
fn jvm_traits(text: &str, path: &str, add: &mut impl FnMut(&str, &str, String)) {
    const HEAP: [&str; 5] = ["-Xmx", "-Xms", "-XX:MaxHeapSize=", "-XX:MaxRAMPercentage=", "--xmx"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let value_of = |index: usize, word: &str, flag: &str| match word.strip_prefix(flag) {
        Some("") => words.get(index + 1).map(|value| format!("{flag} {value}")),
        Some(_) => Some(word.to_owned()),
        None => None,
    };
    let of = |flags: &[&str]| -> Vec<String> {
        let pick = |(index, word): (usize, &&str)| {
            flags.iter().find_map(|flag| value_of(index, word, flag))
        };
        words.iter().enumerate().filter_map(pick).collect()
    };
    let heap = of(&HEAP);
    if !heap.is_empty() {
        add("heap", path, heap.join(" "));
    }
    let is_collector = |word: &&&str| word.starts_with("-XX:+Use") && word.ends_with("GC");
    let mut collector: Vec<String> =
        words.iter().filter(is_collector).map(|word| (*word).to_owned()).collect();
    collector.extend(of(&["--gc"]));
    if !collector.is_empty() {
        add("collector", path, collector.join(" "));
    }
}
