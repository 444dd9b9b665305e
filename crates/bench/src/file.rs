//! The sections of a bench file, not yet typed: which tables there are and what they are called.

use std::cell::RefCell;

use indexmap::IndexMap;

use crate::generator;
use crate::node::{Node, Table, Value};
use crate::problem::{Problems, Report};
use crate::read::unknown_key;
use crate::source::At;
use crate::words;

/// Sections that hold one table per name, and the built-in names of those that hold none yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Section {
    Target,
    Scenario,
    Load,
    Transport,
    Generator,
    Build,
}

impl Section {
    /// All sections, in the order of the documentation.
    pub(crate) const ALL: [Self; 6] =
        [Self::Target, Self::Scenario, Self::Load, Self::Transport, Self::Generator, Self::Build];

    /// The section's name, which is also the name of the factor that picks from it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Scenario => "scenario",
            Self::Load => "load",
            Self::Transport => "transport",
            Self::Generator => "generator",
            Self::Build => "build",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.name() == name)
    }
}

/// The keys of the file itself.
pub(crate) const TOP_KEYS: [&str; 14] = [
    "vars",
    "target",
    "scenario",
    "load",
    "generator",
    "factors",
    "where",
    "matrix",
    "cpus",
    "gates",
    "observe",
    "compare",
    "hypothesis",
    "require",
];

/// A bench file by section.
#[derive(Debug, Default)]
pub(crate) struct BenchFile {
    pub(crate) vars: Table,
    pub(crate) targets: IndexMap<String, Node>,
    pub(crate) scenarios: IndexMap<String, Node>,
    pub(crate) loads: IndexMap<String, Node>,
    pub(crate) generators: IndexMap<String, Node>,
    pub(crate) factors: Table,
    pub(crate) wheres: Vec<Node>,
    pub(crate) matrix: Table,
    pub(crate) cpus: Table,
    pub(crate) gates: Table,
    pub(crate) observe: Table,
    pub(crate) compare: Table,
    pub(crate) require: Table,
    pub(crate) hypotheses: Vec<Node>,
    /// Something was refused and left out, so that what is missing may not be.
    pub(crate) incomplete: bool,
}

impl BenchFile {
    /// Sorts the root table into sections; what does not fit is reported and left out.
    pub(crate) fn new(root: Table, problems: &RefCell<Problems>) -> Self {
        let mut file = Self::default();
        for (key, node) in root {
            if !TOP_KEYS.contains(&key.as_str()) {
                problems.borrow_mut().push(unknown_key(&key, node.key, None, &TOP_KEYS));
                continue;
            }
            match key.as_str() {
                "where" => {
                    file.wheres = list_of_tables(&key, node, problems);
                    continue;
                }
                "hypothesis" => {
                    file.hypotheses = list_of_tables(&key, node, problems);
                    continue;
                }
                _ => {}
            }
            let Node { value: Value::Table(table), .. } = node else {
                let message = format!("{} is not a table; write `[{key}]`", node.shown());
                problems.borrow_mut().push(Report::at(node.at, message));
                file.incomplete = true;
                continue;
            };
            let before = problems.borrow().len();
            match key.as_str() {
                "target" => file.targets = named(Section::Target, table, problems),
                "scenario" => file.scenarios = named(Section::Scenario, table, problems),
                "load" => file.loads = named(Section::Load, table, problems),
                "generator" => file.generators = named(Section::Generator, table, problems),
                "vars" => file.vars = table,
                "factors" => file.factors = table,
                "matrix" => file.matrix = table,
                "cpus" => file.cpus = table,
                "gates" => file.gates = table,
                "observe" => file.observe = table,
                "compare" => file.compare = table,
                "require" => file.require = table,
                _ => {}
            }
            file.incomplete |= problems.borrow().len() > before;
        }
        file
    }

    /// The tables of a section; `None` for one whose names are built in.
    pub(crate) fn tables(&self, section: Section) -> Option<&IndexMap<String, Node>> {
        match section {
            Section::Target => Some(&self.targets),
            Section::Scenario => Some(&self.scenarios),
            Section::Load => Some(&self.loads),
            Section::Generator => Some(&self.generators),
            Section::Transport | Section::Build => None,
        }
    }

    /// The names that a factor may pick from a section.
    pub(crate) fn names(&self, section: Section) -> Vec<&str> {
        match section {
            Section::Transport => vec!["p0"],
            Section::Generator => {
                let own = self.generators.keys().map(String::as_str);
                std::iter::once(generator::BUILT_IN).chain(own).collect()
            }
            _ => {
                self.tables(section).into_iter().flatten().map(|(name, _)| name.as_str()).collect()
            }
        }
    }
}

/// Reports a name that breaks the rules; true when it is good.
pub(crate) fn check_name(name: &str, at: At, problems: &RefCell<Problems>) -> bool {
    let Some(fault) = words::name_fault(name) else { return true };
    let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    problems.borrow_mut().push(Report::at(at, format!("`{shown}` is not a name")).help(fault));
    false
}

fn named(section: Section, table: Table, problems: &RefCell<Problems>) -> IndexMap<String, Node> {
    let mut tables = IndexMap::new();
    for (name, node) in table {
        if node.as_table().is_none() {
            // The likeliest slip: the name was left out, `[load]` with its keys.
            let message = format!("{} is not a table", node.shown());
            let help = format!("tables of this section have names: `[{}.NAME]`", section.name());
            problems.borrow_mut().push(Report::at(node.key, message).help(help));
        } else if section == Section::Generator && name == generator::BUILT_IN {
            let message = format!("`{name}` is built in");
            let help = "it needs no table; give this generator another name";
            problems.borrow_mut().push(Report::at(node.key, message).help(help));
        } else if check_name(&name, node.key, problems) {
            tables.insert(name, node);
        }
    }
    tables
}

/// The tables of `[[key]]`; what is none is reported and left out.
fn list_of_tables(key: &str, node: Node, problems: &RefCell<Problems>) -> Vec<Node> {
    let message = format!("{} is not a list of tables; write `[[{key}]]`", node.shown());
    let Value::List(list) = node.value else {
        problems.borrow_mut().push(Report::at(node.key, message));
        return Vec::new();
    };
    let mut tables = Vec::new();
    for element in list {
        if element.as_table().is_some() {
            tables.push(element);
        } else {
            problems.borrow_mut().push(Report::at(element.at, message.clone()));
        }
    }
    tables
}
