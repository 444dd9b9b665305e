//! The effective values of a cell: layers over one another, weakest first, each value keeping
//! the place or layer that set it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::cells::{Combination, Where};
use crate::env::Env;
use crate::factors::Factors;
use crate::file::{BenchFile, Section};
use crate::node::{Node, Table, Value, merge};
use crate::problem::Report;
use crate::read::Reading;
use crate::source::{At, Sources};
use crate::typed;
use crate::words;

/// The table chosen from each section, with what chose it.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    by_section: HashMap<Section, (String, String)>,
}

impl Chosen {
    /// The name chosen from a section; empty for `build`, which has no tables.
    pub(crate) fn name(&self, section: Section) -> &str {
        self.by_section.get(&section).map_or("", |(name, _)| name)
    }

    fn origin(&self, section: Section) -> &str {
        self.by_section.get(&section).map_or("default", |(_, origin)| origin)
    }
}

/// Everything that cells are made of.
pub(crate) struct Layers<'b> {
    pub(crate) file: &'b BenchFile,
    pub(crate) factors: &'b Factors,
    pub(crate) wheres: &'b [Where],
    /// Layer 1.
    pub(crate) defaults: &'b Table,
    /// Layer 6.
    pub(crate) set: &'b Table,
    /// Layer 7.
    pub(crate) quick: bool,
    pub(crate) sources: &'b Sources,
}

impl Layers<'_> {
    /// Reports sections that have several tables and none chosen, or none at all; true when every
    /// section has its choice.
    pub(crate) fn check_choices(&self, reading: &Reading) -> bool {
        let mut good = !self.file.incomplete;
        for section in [Section::Target, Section::Scenario, Section::Load, Section::Generator] {
            let name = section.name();
            // A choice that was refused has been reported; it is not also missing.
            let chosen = self.file.factors.contains_key(name);
            let Some(tables) = self.file.tables(section).filter(|_| !chosen) else { continue };
            let report = match tables.len() {
                1 => continue,
                // The built-in one is there without a table.
                0 if section == Section::Generator => continue,
                0 if self.file.incomplete => continue,
                0 => Report::nowhere(format!("no {name}; add `[{name}.NAME]`")),
                several => {
                    let message =
                        format!("{several} {name}s and none chosen; add `{name}` to `[factors]`");
                    let names = words::listed(tables.keys().take(10).map(String::as_str));
                    let second = tables.get_index(1).map(|(_, node)| node.key);
                    match second {
                        Some(at) => Report::at(at, message),
                        None => Report::nowhere(message),
                    }
                    .help(format!("a text fixes one, a list varies them: {names}"))
                }
            };
            reading.report(report);
            good = false;
        }
        good
    }

    /// The tables of a cell. Call only after [`Self::check_choices`].
    pub(crate) fn chosen(&self, cell: &Combination) -> Chosen {
        let mut by_section = HashMap::new();
        for section in Section::ALL {
            let varied = self.factors.varied.iter().zip(&cell.levels);
            let picked = varied.into_iter().find(|(factor, _)| factor.section == Some(section));
            let fixed = self.factors.fixed.iter().find(|(name, _)| name == section.name());
            let choice = if let Some((factor, level)) = picked {
                let origin = format!("level {}={}", factor.name, factor.levels[*level].name);
                Some((factor.real(*level).name.clone(), origin))
            } else if let Some((_, node)) = fixed {
                node.as_text().map(|name| (name.to_owned(), node.origin(self.sources)))
            } else if let Some(tables) = self
                .file
                .tables(section)
                .filter(|tables| section != Section::Generator || !tables.is_empty())
            {
                tables.first().map(|(name, node)| (name.clone(), node.origin(self.sources)))
            } else {
                self.file
                    .names(section)
                    .first()
                    .map(|name| ((*name).to_owned(), "default".to_owned()))
            };
            by_section.extend(choice.map(|choice| (section, choice)));
        }
        Chosen { by_section }
    }

    /// The names that `match` and `only` know a cell's level of a factor by.
    pub(crate) fn names(&self, cell: &Combination, chosen: &Chosen, factor: &str) -> Vec<String> {
        let mut names = Vec::new();
        for (varied, level) in self.factors.varied.iter().zip(&cell.levels) {
            if varied.name == factor {
                names.extend(varied.level_names(*level).into_iter().map(str::to_owned));
            }
        }
        if let Some((_, node)) = self.factors.fixed.iter().find(|(name, _)| name == factor) {
            names.extend(node.as_text().map(str::to_owned));
        }
        if let Some(section) = Section::of(factor) {
            let name = chosen.name(section);
            if !name.is_empty() && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// The layered values of a cell, before references are resolved: `target`, `scenario`,
    /// `load`, `vars`, `cpus`, `observe`, `gates`, and the names of transport and generator.
    pub(crate) fn tree(&self, cell: &Combination, chosen: &Chosen) -> Table {
        let mut tree = self.defaults.clone();
        tree.shift_remove("matrix");
        let all = At { source: 0, start: 0, end: 0 };
        tree.insert("vars".to_owned(), Node::new(Value::Table(Table::new()), all));
        tree.insert("cpus".to_owned(), Node::new(Value::Table(Table::new()), all));
        tree.insert("generator".to_owned(), Node::new(Value::Table(Table::new()), all));
        for (root, table) in [
            ("vars", &self.file.vars),
            ("cpus", &self.file.cpus),
            ("observe", &self.file.observe),
            ("gates", &self.file.gates),
        ] {
            over(&mut tree, root, table, None);
        }
        // The scenario's variables are weaker than the target's, which adapt it.
        for section in [Section::Generator, Section::Load, Section::Scenario, Section::Target] {
            let name = chosen.name(section);
            let tables = self.file.tables(section);
            let Some(node) = tables.and_then(|tables| tables.get(name)) else { continue };
            let mut table = node.as_table().cloned().unwrap_or_default();
            table.shift_remove("only");
            let mut patch = Table::new();
            let root = section.name();
            patch.insert(root.to_owned(), Node { value: Value::Table(table), ..node.clone() });
            for (root, node) in &crate::patch::hoist(patch) {
                if let Some(table) = node.as_table() {
                    over(&mut tree, root, table, None);
                }
            }
            // Messages about what is missing point at the chosen table.
            if let Some(found) = tree.get_mut(root) {
                found.key = node.key;
                found.at = node.at;
            }
        }
        for (factor, level) in self.factors.varied.iter().zip(&cell.levels) {
            let own = &factor.levels[*level].name;
            let origin = Rc::from(format!("level {}={own}", factor.name).as_str());
            apply(&mut tree, &factor.real(*level).patch, &origin);
        }
        for rule in self.wheres {
            if rule.skip.is_none() && rule.applies(&|factor| self.names(cell, chosen, factor)) {
                apply(&mut tree, &rule.set, &rule.origin);
            }
        }
        apply(&mut tree, self.set, &Rc::from("--set"));
        if self.quick {
            quick(&mut tree);
        }
        for section in [
            Section::Target,
            Section::Scenario,
            Section::Load,
            Section::Transport,
            Section::Generator,
        ] {
            let root = section.name();
            let node = tree
                .entry(root.to_owned())
                .or_insert_with(|| Node::new(Value::Table(Table::new()), all));
            let name = Node::text(chosen.name(section), node.at, chosen.origin(section));
            if let Value::Table(table) = &mut node.value {
                table.insert("name".to_owned(), name);
            }
        }
        tree
    }
}

fn apply(tree: &mut Table, patch: &Table, origin: &Rc<str>) {
    for (root, node) in patch {
        if let Some(table) = node.as_table() {
            over(tree, root, table, Some(origin));
        }
    }
}

/// Merges a layer over one root of the tree; another kind of load or scenario replaces the kind.
fn over(tree: &mut Table, root: &str, patch: &Table, origin: Option<&Rc<str>>) {
    let Some(Value::Table(base)) = tree.get_mut(root).map(|node| &mut node.value) else { return };
    let kinds = typed::replaceable_kinds(root);
    if kinds.iter().any(|kind| patch.contains_key(*kind)) {
        for kind in kinds {
            base.shift_remove(*kind);
        }
    }
    merge(base, patch, origin);
}

/// Tiny windows. They only ever shrink: a bench whose windows are tiny already keeps them.
fn quick(tree: &mut Table) {
    let Some(Value::Table(load)) = tree.get_mut("load").map(|node| &mut node.value) else { return };
    if let Some(node) = load.get_mut("stages") {
        quick_stages(node);
    }
    if let Some(node) = load.get_mut("iterations")
        && matches!(node.value, Value::Int(101..))
    {
        node.value = Value::Int(100);
        node.origin = Some(Rc::from("--quick"));
    }
    for (key, limit, ns) in [
        ("warmup", "200ms", 200_000_000),
        ("measure", "500ms", 500_000_000),
        ("cooldown", "500ms", 500_000_000),
    ] {
        let Some(node) = load.get_mut(key) else { continue };
        let value = match &node.value {
            Value::Int(count) if *count > 100 => Value::Int(100),
            Value::Int(_) => continue,
            Value::Text(text) => match record::units::duration_ns(text) {
                Ok(given) if given <= ns => continue,
                // Also in place of a reference, whose value is not known here; what is no
                // duration at all was reported where it is written.
                _ => Value::Text(limit.to_owned()),
            },
            _ => continue,
        };
        node.value = value;
        node.origin = Some(Rc::from("--quick"));
    }
}

/// Stages in the same proportions, half a second together; what is none was reported where it is
/// written.
fn quick_stages(node: &mut Node) {
    const TOGETHER_NS: f64 = 500e6;
    let Value::List(list) = &mut node.value else { return };
    let parts = |node: &Node| -> Option<(String, u64)> {
        let text = node.as_text()?;
        let word = if text.trim_start().starts_with("to ") { " in " } else { " for " };
        let (rate, length) = text.split_once(word)?;
        Some((format!("{rate}{word}"), record::units::duration_ns(length).ok()?))
    };
    let Some(known) = list.iter().map(parts).collect::<Option<Vec<_>>>() else { return };
    let together: u64 = known.iter().fold(0, |sum, (_, ns)| sum.saturating_add(*ns));
    let scale = TOGETHER_NS / together.max(1) as f64;
    if scale >= 1.0 {
        return;
    }
    for (node, (rate, ns)) in list.iter_mut().zip(known) {
        let ns = (ns as f64 * scale).ceil().max(1.0);
        node.value = Value::Text(format!("{rate}{ns:.0}ns"));
        node.origin = Some(Rc::from("--quick"));
    }
}

/// Replaces `{ env, default }` in the `vars` of the bench and of every target and scenario by
/// the variable's value. Each variable is read once.
pub(crate) fn read_environment(file: &mut BenchFile, env: &dyn Env, reading: &Reading) {
    let read = RefCell::new(HashMap::new());
    let variable = |name: &str| -> Option<String> {
        let mut read = read.borrow_mut();
        read.entry(name.to_owned()).or_insert_with(|| env.var(name)).clone()
    };
    let tables = file.targets.values_mut().chain(file.scenarios.values_mut());
    let vars = tables.filter_map(|node| match &mut node.value {
        Value::Table(table) => table.get_mut("vars").and_then(|node| match &mut node.value {
            Value::Table(vars) => Some(vars),
            _ => None,
        }),
        _ => None,
    });
    for vars in std::iter::once(&mut file.vars).chain(vars) {
        for (key, node) in vars.iter_mut() {
            from_environment(key, node, &variable, reading);
        }
    }
}

fn from_environment(
    key: &str,
    node: &mut Node,
    variable: &dyn Fn(&str) -> Option<String>,
    reading: &Reading,
) {
    let Some(table) = node.as_table() else { return };
    let only_these = table.keys().all(|key| key == "env" || key == "default");
    let Some(name) = table.get("env").filter(|_| only_these) else { return };
    let Some(name) = name.as_text() else {
        let message = format!("{} is no name of a variable", name.shown());
        reading.report(Report::at(name.at, message));
        return;
    };
    if let Some(value) = variable(name) {
        let origin = format!("environment {name}");
        node.value = Value::Text(value);
        node.origin = Some(Rc::from(origin.as_str()));
    } else if let Some(default) = table.get("default") {
        *node = Node { key: node.key, ..default.clone() };
    } else {
        let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
        let message = format!("environment variable `{shown}` is not set");
        let help = format!("set it, or give `vars.{key}` a `default`");
        reading.report(Report::at(node.at, message).help(help));
    }
}
