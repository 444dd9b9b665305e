//! Patches: what a level, a `[[where]]` or a `--set` may set, checked as it is written.
//!
//! A patch addresses the effective values without the names of tables: `target.env.POOL`,
//! `load.measure`, `vars.size`.

use crate::compare;
use crate::generator;
use crate::node::{Node, Table, Value, leaves};
use crate::problem::Report;
use crate::read::{Fields, Reading, unknown_key};
use crate::settings;
use crate::typed;

/// Roots that every patch may set.
pub(crate) const ROOTS: [&str; 7] =
    ["target", "scenario", "load", "generator", "vars", "cpus", "observe"];

/// Who patches, and how messages call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patcher<'n> {
    /// A level of a factor.
    Level(&'n str),
    /// A factor that sweeps one key.
    Sweep(&'n str),
    /// `[[where]] set`, which may set gates.
    Where,
    /// `--set`, which may set gates, the matrix and what is compared.
    Set,
}

impl Patcher<'_> {
    fn place(self) -> String {
        match self {
            Self::Level(name) => format!("level `{name}`"),
            Self::Sweep(name) => format!("factor `{name}`"),
            Self::Where => "`[[where]]`".to_owned(),
            Self::Set => "`--set`".to_owned(),
        }
    }

    fn roots(self) -> Vec<&'static str> {
        let mut roots = ROOTS.to_vec();
        match self {
            Self::Level(_) | Self::Sweep(_) => {}
            Self::Where => roots.push("gates"),
            Self::Set => roots.extend(["gates", "matrix", "compare"]),
        }
        roots
    }
}

/// Checks a patch and returns it with `target.vars`, `scenario.vars` and `scenario.load` moved
/// to where they take effect. What cannot be set is reported and left out.
pub(crate) fn checked(patch: &Table, patcher: Patcher<'_>, reading: &Reading) -> Table {
    let place = patcher.place();
    let roots = patcher.roots();
    let mut result = Table::new();
    for (root, node) in patch {
        if !roots.contains(&root.as_str()) {
            reading.report(refusal(root, node, patcher, &roots));
            continue;
        }
        let Some(table) = node.as_table() else {
            let message = format!("{} is not a table; write `{root}.KEY`", node.shown());
            reading.report(Report::at(node.at, message));
            continue;
        };
        let mut fields = Fields::new(Some(table), node.key, &place, root);
        match root.as_str() {
            "target" => typed::target_keys(&mut fields, "", reading),
            "scenario" => typed::scenario_keys(&mut fields, "", reading),
            "load" => typed::load_keys(&mut fields, "", reading),
            "generator" => generator::generator_keys(&mut fields, "", reading),
            "cpus" => settings::cpus_keys(&mut fields, reading),
            "observe" => settings::observe_keys(&mut fields, reading),
            "gates" => settings::gates_keys(&mut fields, reading),
            "matrix" => settings::matrix_keys(&mut fields, reading),
            "compare" => compare::compare_keys(&mut fields, reading),
            // Any key is a variable; `finish` would refuse them all.
            _ => {
                result.insert(root.clone(), node.clone());
                continue;
            }
        }
        fields.finish(reading);
        result.insert(root.clone(), node.clone());
    }
    hoist(result)
}

fn refusal(root: &str, node: &Node, patcher: Patcher<'_>, roots: &[&str]) -> Report {
    if matches!(patcher, Patcher::Level(_) | Patcher::Sweep(_)) && root == "gates" {
        let path = first_leaf(root, node);
        let message = format!("{} sets `{path}`; only `[[where]]` may", patcher.place());
        return Report::at(node.key, message)
            .help("a gate that differs between the levels of a contrast would bias it");
    }
    unknown_key(root, node.key, Some(&patcher.place()), roots)
}

/// `gates.failures` of `gates = { failures = ... }`.
fn first_leaf(root: &str, node: &Node) -> String {
    let mut first = None;
    if let Some(table) = node.as_table() {
        leaves(root, table, &mut |path, _| {
            first.get_or_insert(path);
        });
    }
    first.unwrap_or_else(|| root.to_owned())
}

/// Moves the parts of a target or scenario table that patch something else.
pub(crate) fn hoist(mut patch: Table) -> Table {
    for (root, key, to) in
        [("scenario", "load", "load"), ("scenario", "vars", "vars"), ("target", "vars", "vars")]
    {
        let Some(Value::Table(table)) = patch.get_mut(root).map(|node| &mut node.value) else {
            continue;
        };
        let Some(moved) = table.shift_remove(key) else { continue };
        match patch.get_mut(to).map(|node| &mut node.value) {
            Some(Value::Table(under)) => {
                if let Value::Table(over) = &moved.value {
                    crate::node::merge(under, over, None);
                }
            }
            _ => {
                patch.insert(to.to_owned(), moved);
            }
        }
    }
    patch
}
