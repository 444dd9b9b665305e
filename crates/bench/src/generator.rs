//! `[generator.N]`: assay's own generator, a known tool, or any command; and what the generator of
//! a cell cannot do of what the cell asks.

use record::plan::{Effective, Generator, GeneratorKind};

use crate::node::{Node, Table, find};
use crate::problem::Report;
use crate::read::{self, Bad, Fields, Read, Reading};
use crate::words;

/// The built-in generator, which needs no table.
pub(crate) const BUILT_IN: &str = record::generator::ASSAY;
/// Kinds of a generator.
const KINDS: [&str; 2] = ["adapter", "command"];

/// Checks the keys of a generator as written.
pub(crate) fn generator_keys(fields: &mut Fields<'_>, name: &str, reading: &Reading) {
    generator(fields, name, reading);
}

/// Reads a generator; `None` when it has no single kind or the kind was refused.
pub(crate) fn generator(
    fields: &mut Fields<'_>,
    name: &str,
    reading: &Reading,
) -> Option<Generator> {
    if name == BUILT_IN && reading.is_effective() {
        return Some(Generator::default());
    }
    let kind = fields.one_of("generator", name, &KINDS, reading);
    let adapter = fields.get("adapter", reading, adapter);
    let command = fields.get("command", reading, read::command);
    let script = fields.get("script", reading, read::scalar);
    let args = fields.get("args", reading, |node| read::list(node, read::scalar));
    let patterns = fields.get("patterns", reading, patterns);
    let kind = match kind? {
        "adapter" => GeneratorKind::Adapter(adapter?.to_owned()),
        _ => {
            if reading.is_effective() && !fields.has("patterns", reading) {
                let message = format!("generator `{name}` has no `patterns`");
                let help = "regular expressions that find its figures: \
                            `patterns = [\"requests: (?<requests>[0-9]+)\"]`";
                reading.report(Report::at(fields.at, message).help(help));
                return None;
            }
            GeneratorKind::Command(
                command.filter(|_| patterns.is_some() || !reading.is_effective())?,
            )
        }
    };
    if reading.is_effective()
        && let GeneratorKind::Adapter(adapter) = &kind
        && let Some(node) = fields.raw("patterns", reading)
    {
        let message = format!("`patterns` has no effect on generator `{name}`, an `adapter`");
        let help =
            format!("the figures of `{adapter}` are read by assay; patterns are for a `command`");
        reading.report(Report::at(node.key, message).help(help));
    }
    Some(Generator {
        name: name.to_owned(),
        kind,
        script,
        args: args.unwrap_or_default(),
        patterns: patterns.unwrap_or_default(),
    })
}

fn adapter(node: &Node) -> Read<&'static str> {
    let names = foreign::runnable_names();
    let given = node.as_text();
    if let Some(name) = names.iter().copied().find(|name| given == Some(*name)) {
        return Ok(name);
    }
    if let Some(known) = given.and_then(foreign::adapter) {
        let message = format!("`{}` is only read, not started", known.name);
        return Err(Bad::new(message).help(format!("adapters: {}", words::listed(names))));
    }
    let near = given.and_then(|given| words::nearest(given, names.iter().copied()));
    let hint = match near {
        Some(near) => format!("nearest `{near}`"),
        None => format!("valid: {}", words::listed(names)),
    };
    Err(Bad::new(format!("{} is no value of `adapter`; {hint}", node.shown()))
        .help("any other program is a `command` with `patterns`"))
}

fn patterns(node: &Node) -> Read<Vec<String>> {
    let patterns = read::list(node, read::text)?;
    if patterns.is_empty() {
        return Err(Bad::new("`patterns` is empty: nothing would be read"));
    }
    let Some((index, why, known)) = foreign::patterns_fault(&patterns) else {
        return Ok(patterns);
    };
    let at = node.as_list().and_then(|list| list.get(index)).map_or(node.at, |found| found.at);
    let bad = Bad::new(format!("pattern {}: {why}", index + 1)).at(at);
    Err(if known.is_empty() {
        bad
    } else {
        let known = words::listed(known);
        bad.help(format!("figures: {known}; times may name their unit: `p99_ms`"))
    })
}

/// Reports what the generator of a cell cannot do, at the key that asks for it.
pub(crate) fn check(effective: &Effective, tree: &Table, reading: &Reading) {
    let place = |key: &str| {
        let path: Vec<&str> = key.split('.').collect();
        find(tree, &path).map(|node| node.at)
    };
    let report = |key: &str, message: String, help: String| {
        // A default has no place in the file: the generator's table has.
        let written = find(tree, &key.split('.').collect::<Vec<_>>())
            .is_some_and(|node| node.origin.as_deref() != Some("default"));
        let at = if written { place(key) } else { place("generator") };
        let report = at.map_or_else(|| Report::nowhere(&message), |at| Report::at(at, &message));
        reading.report(report.help(help));
    };
    if !effective.generator.is_foreign() && effective.load.connections == "shared" {
        report(
            "load.connections",
            format!(
                "generator `{}` cannot share connections between users",
                effective.generator.name
            ),
            "write `\"per-user\"` or `\"new\"`".to_owned(),
        );
    }
    for refusal in foreign::refusals(effective) {
        report(&refusal.key, refusal.message, refusal.help);
    }
}
