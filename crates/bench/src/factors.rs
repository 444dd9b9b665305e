//! `[factors]`: what is varied, its levels and its controls.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::compare::DEFAULT_POSITIVE;
use crate::file::{BenchFile, Section, check_name};
use crate::node::{self, Node, Table, Value, leaves};
use crate::patch::{self, Patcher};
use crate::problem::Report;
use crate::read::Reading;
use crate::source::At;
use crate::typed;
use crate::words;

/// A factor with several levels.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    pub(crate) name: String,
    /// The section it picks a table from; without one its levels patch.
    pub(crate) section: Option<Section>,
    /// As written.
    pub(crate) levels: Vec<Level>,
    /// Index of the baseline: the first, unless `[compare]` moves it.
    pub(crate) baseline: usize,
    /// Whether its levels are compared. Scenarios and loads are rows, unless `[compare]` says
    /// otherwise.
    pub(crate) contrasted: bool,
}

impl Factor {
    /// Makes another level the baseline; controls that repeat the baseline follow it.
    pub(crate) fn move_baseline(&mut self, baseline: usize) {
        self.baseline = baseline;
        for level in self.levels.iter_mut().filter(|level| level.follows_baseline) {
            level.twin = Some(baseline);
        }
    }

    /// The level that decides what is run: the twin of a control, else the level itself.
    pub(crate) fn real(&self, level: usize) -> &Level {
        &self.levels[self.levels[level].twin.unwrap_or(level)]
    }

    /// The names that `match` knows a level by: its own and its twin's.
    pub(crate) fn level_names(&self, level: usize) -> Vec<&str> {
        let mut names = vec![self.levels[level].name.as_str()];
        names.extend(self.levels[level].twin.map(|twin| self.levels[twin].name.as_str()));
        names
    }
}

/// A level.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    pub(crate) name: String,
    /// For a control, the index of the level it repeats.
    pub(crate) twin: Option<usize>,
    /// What it patches; empty for one that picks a table, and for a control.
    pub(crate) patch: Table,
    /// Whether it repeats the baseline, whichever that is, and not a level of its choice.
    pub(crate) follows_baseline: bool,
    /// Whether what it repeats is slowed.
    pub(crate) positive: bool,
    pub(crate) at: At,
}

/// The factors of a bench.
#[derive(Debug, Default)]
pub(crate) struct Factors {
    /// With several levels, as written.
    pub(crate) varied: Vec<Factor>,
    /// With one.
    pub(crate) fixed: Vec<(String, Node)>,
    /// Fixed factors that pick nothing: recorded only.
    pub(crate) recorded_only: Vec<String>,
    /// Share by which positive controls are slowed; `[compare]` sets it.
    pub(crate) positive_share: f64,
}

impl Factors {
    /// Reads `[factors]`. A factor or level that is refused is reported and left out; `false`
    /// when a whole factor is missing for that, so that cells would mislead. `rehearsed` is one
    /// that the command line adds, last.
    pub(crate) fn new(
        file: &BenchFile,
        rehearsed: Option<Factor>,
        reading: &Reading,
    ) -> (Self, bool) {
        let mut factors = Self { positive_share: DEFAULT_POSITIVE, ..Self::default() };
        let mut complete = true;
        for (name, node) in &file.factors {
            if !check_name(name, node.key, reading.problems) {
                complete = false;
                continue;
            }
            let section = Section::of(name);
            match &node.value {
                Value::Text(level) => {
                    complete &= factors.fix(name, section, level, node, file, reading);
                }
                Value::List(list) => match listed(name, section, list, node, file, reading) {
                    Some(factor) => factors.varied.push(factor),
                    None => complete = false,
                },
                Value::Table(table) => match tabled(name, section, table, node, reading) {
                    Some(factor) => factors.varied.push(factor),
                    None => complete = false,
                },
                _ => {
                    let message = format!("{} is no level of `{name}`", node.shown());
                    let help = "a text fixes a factor, a list or a table of levels varies it";
                    reading.report(Report::at(node.at, message).help(help));
                    complete = false;
                }
            }
        }
        factors.varied.extend(rehearsed);
        conflicts(&factors.varied, reading);
        (factors, complete)
    }

    fn fix(
        &mut self,
        name: &str,
        section: Option<Section>,
        level: &str,
        node: &Node,
        file: &BenchFile,
        reading: &Reading,
    ) -> bool {
        match section {
            Some(section) if !file.names(section).contains(&level) => {
                reading.report(no_table(section, level, node.at, file));
                return false;
            }
            Some(_) => {}
            None => {
                if !check_name(level, node.at, reading.problems) {
                    return false;
                }
                self.recorded_only.push(name.to_owned());
            }
        }
        self.fixed.push((name.to_owned(), node.clone()));
        true
    }
}

/// `` no `[target.tomcta]`; nearest `tomcat` ``
pub(crate) fn no_table(section: Section, name: &str, at: At, file: &BenchFile) -> Report {
    let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    let names = file.names(section);
    let near = words::nearest_suffix(name, names.iter().copied());
    let near = match &names[..] {
        // Of the built-in sections there is only one name to write.
        [only] if near.is_empty() && file.tables(section).is_none_or(IndexMap::is_empty) => {
            format!("; nearest `{only}`")
        }
        _ => near,
    };
    Report::at(at, format!("no `[{}.{shown}]`{near}", section.name()))
}

/// A factor written as a list: names of tables, baseline first.
fn listed(
    name: &str,
    section: Option<Section>,
    list: &[Node],
    node: &Node,
    file: &BenchFile,
    reading: &Reading,
) -> Option<Factor> {
    let Some(section) = section else {
        let near = words::nearest_suffix(name, Section::ALL.map(Section::name));
        let message = format!("levels of `{name}` set nothing{near}");
        let help = format!(
            "levels that patch are a table: `[factors.{name}]`, or `{{ key = \"...\", values = [...] }}`"
        );
        reading.report(Report::at(node.key, message).help(help));
        return None;
    };
    let mut levels = Vec::new();
    let mut complete = true;
    for element in list {
        let Some(level) = element.as_text() else {
            let message = format!("{} is no name of a table", element.shown());
            reading.report(Report::at(element.at, message));
            complete = false;
            continue;
        };
        if !words::is_control_name(level) && !file.names(section).contains(&level) {
            reading.report(no_table(section, level, element.at, file));
            complete = false;
            continue;
        }
        levels.push(Draft::named(level, element.at));
    }
    // Fewer levels than were written would be counted wrongly.
    if complete { finish(name, Some(section), levels, node, reading) } else { None }
}

/// A factor written as a table: levels that patch, or one key swept over values.
fn tabled(
    name: &str,
    section: Option<Section>,
    table: &Table,
    node: &Node,
    reading: &Reading,
) -> Option<Factor> {
    if section.is_some() {
        let message = format!("factor `{name}` picks a table; its levels are a list of names");
        reading.report(Report::at(node.key, message).help(format!("write `{name} = [\"...\"]`")));
        return None;
    }
    let before = reading.problems.borrow().len();
    let is_list = |key: &str| table.get(key).is_some_and(|node| node.as_list().is_some());
    let is_text = |key: &str| table.get(key).is_some_and(|node| node.as_text().is_some());
    let drafts = if is_list("values") || (is_text("key") && table.len() == 1) {
        swept(name, table, node, reading)?
    } else {
        patches(table, reading)?
    };
    let factor = finish(name, None, drafts, node, reading)?;
    let sets_something = factor.levels.iter().any(|level| {
        // Slowing is a change too.
        let mut any = level.positive;
        leaves("", &level.patch, &mut |_, _| any = true);
        any
    });
    if reading.problems.borrow().len() > before {
        return None;
    }
    if !sets_something {
        let near = words::nearest_suffix(name, Section::ALL.map(Section::name));
        let message = format!("levels of `{name}` set nothing{near}");
        reading.report(Report::at(node.key, message));
        return None;
    }
    Some(factor)
}

fn swept(name: &str, table: &Table, node: &Node, reading: &Reading) -> Option<Vec<Draft>> {
    for (key, node) in table {
        if key != "key" && key != "values" {
            let place = format!("`[factors.{name}]`");
            reading.report(crate::read::unknown_key(
                key,
                node.key,
                Some(&place),
                &["key", "values"],
            ));
        }
    }
    let missing = |key: &str| {
        let message = format!("factor `{name}` has no `{key}`");
        let help = "write `{ key = \"load.connections\", values = [...] }`";
        reading.report(Report::at(node.key, message).help(help));
    };
    let Some(key) = table.get("key") else {
        missing("key");
        return None;
    };
    let Some(values) = table.get("values").and_then(Node::as_list) else {
        missing("values");
        return None;
    };
    let path: Option<Vec<String>> = key
        .as_text()
        .and_then(|text| toml_edit::Key::parse(text).ok())
        .map(|keys| keys.iter().map(|key| key.get().to_owned()).collect());
    let path = path.filter(|path| (2..=16).contains(&path.len()));
    let Some(path) = path else {
        let message = format!("{} is no key of a run; write `\"load.measure\"`", key.shown());
        reading.report(Report::at(key.at, message));
        return None;
    };
    let mut drafts = Vec::new();
    for value in values {
        if let Some(control) = value.as_text().filter(|text| words::is_control_name(text)) {
            drafts.push(Draft::named(control, value.at));
            continue;
        }
        let text = match &value.value {
            Value::List(list) => {
                list.iter().map(Node::scalar_text).collect::<Option<Vec<_>>>().map(|t| t.join("-"))
            }
            _ => value.scalar_text(),
        };
        let Some(text) = text else {
            let message = format!("{} cannot be swept", value.shown());
            let help = "levels that patch with tables have names: `[factors.NAME]`";
            reading.report(Report::at(value.at, message).help(help));
            return None;
        };
        let level = words::swept_name(&text);
        if !check_name(&level, value.at, reading.problems) {
            return None;
        }
        // The place of the key, so that an unknown one is reported where it is written.
        let patch = node::nest(&path, value.clone(), key.at);
        let patch = patch::checked(&patch, Patcher::Sweep(name), reading);
        drafts.push(Draft { name: level, twin: None, patch, at: value.at });
    }
    Some(drafts)
}

fn patches(table: &Table, reading: &Reading) -> Option<Vec<Draft>> {
    let mut drafts = Vec::new();
    for (name, node) in table {
        let is_control = words::is_control_name(name);
        match &node.value {
            Value::Text(twin) => {
                if !is_control && !check_name(name, node.key, reading.problems) {
                    return None;
                }
                let twin = Some((twin.clone(), node.at));
                drafts.push(Draft { name: name.clone(), twin, patch: Table::new(), at: node.key });
            }
            Value::Table(_) if is_control => {
                let message = format!("`{name}` repeats a level and patches nothing");
                let help = format!("write `{name} = \"LEVEL\"`");
                reading.report(Report::at(node.key, message).help(help));
                return None;
            }
            Value::Table(patch) => {
                if !check_name(name, node.key, reading.problems) {
                    return None;
                }
                let patch = patch::checked(patch, Patcher::Level(name), reading);
                drafts.push(Draft { name: name.clone(), twin: None, patch, at: node.key });
            }
            _ => {
                let message = format!("{} is no level", node.shown());
                let help = "a level is a table that patches, or the name of one it repeats";
                reading.report(Report::at(node.at, message).help(help));
                return None;
            }
        }
    }
    Some(drafts)
}

/// A level whose twin is still a name.
struct Draft {
    name: String,
    twin: Option<(String, At)>,
    patch: Table,
    at: At,
}

impl Draft {
    fn named(name: &str, at: At) -> Self {
        Self { name: name.to_owned(), twin: None, patch: Table::new(), at }
    }
}

/// Resolves the twins and checks what holds for every way to write a factor.
fn finish(
    name: &str,
    section: Option<Section>,
    drafts: Vec<Draft>,
    node: &Node,
    reading: &Reading,
) -> Option<Factor> {
    if drafts.len() < 2 {
        let report = match (drafts.first(), section) {
            (Some(level), Some(_)) => Report::at(
                node.key,
                format!("factor `{name}` has one level; `{name} = \"{}\"` fixes it", level.name),
            ),
            (Some(_), None) => Report::at(node.key, format!("factor `{name}` has one level"))
                .help("add a second level, or set the value where it belongs"),
            (None, _) => Report::at(node.key, format!("factor `{name}` has no level"))
                .help("levels are written baseline first"),
        };
        reading.report(report);
        return None;
    }
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        if by_name.insert(&draft.name, index).is_some() {
            let message = format!("factor `{name}` has two levels `{}`", draft.name);
            let help = "a level that repeats another is a control: `null`, or `null-NAME`";
            reading.report(Report::at(draft.at, message).help(help));
            return None;
        }
    }
    let mut twins = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        let wanted = match (&draft.twin, draft.name.strip_prefix("null-")) {
            (Some((twin, at)), _) => Some((twin.as_str(), *at)),
            (None, Some(twin)) => Some((twin, draft.at)),
            (None, None) if words::is_control_name(&draft.name) => {
                Some((drafts[0].name.as_str(), draft.at))
            }
            (None, None) => None,
        };
        let Some((twin, at)) = wanted else {
            twins.push(None);
            continue;
        };
        if index == 0 {
            let message = format!("the baseline of `{name}` is the control `{}`", draft.name);
            reading.report(Report::at(draft.at, message).help("levels are written baseline first"));
            return None;
        }
        let is_real = |index: &usize| {
            let other = &drafts[*index];
            other.twin.is_none() && !words::is_control_name(&other.name)
        };
        let Some(found) = by_name.get(twin).copied().filter(is_real) else {
            let real = drafts.iter().enumerate().filter(|(index, _)| is_real(index));
            let near = words::nearest_suffix(twin, real.map(|(_, draft)| draft.name.as_str()));
            let message =
                format!("level `{}` of `{name}` repeats no level `{twin}`{near}", draft.name);
            reading.report(Report::at(at, message));
            return None;
        };
        twins.push(Some(found));
    }
    let levels = drafts
        .into_iter()
        .zip(twins)
        .map(|(draft, twin)| Level {
            follows_baseline: twin.is_some()
                && draft.twin.is_none()
                && !draft.name.starts_with("null-"),
            positive: draft.name == words::POSITIVE,
            name: draft.name,
            twin,
            patch: draft.patch,
            at: draft.at,
        })
        .collect();
    let contrasted = !matches!(section, Some(Section::Scenario | Section::Load));
    Some(Factor { name: name.to_owned(), section, levels, baseline: 0, contrasted })
}

/// Two factors that set one path would make the result depend on their order.
fn conflicts(factors: &[Factor], reading: &Reading) {
    // Path to the factor that set it first, and whether it is a leaf or a table on the way.
    let mut set: HashMap<String, (usize, bool)> = HashMap::new();
    for (index, factor) in factors.iter().enumerate() {
        for level in &factor.levels {
            let mut paths = Vec::new();
            leaves("", &level.patch, &mut |path, node| paths.push((path, node.key)));
            for (path, at) in paths {
                let key = kind_of(&path);
                let parents = key.match_indices('.').map(|(dot, _)| (&key[..dot], false));
                let mut first = None;
                for (part, is_leaf) in parents.chain([(key.as_str(), true)]) {
                    match set.get(part) {
                        Some((other, other_is_leaf)) if *other != index => {
                            if is_leaf || *other_is_leaf {
                                first = first.or(Some(*other));
                            }
                        }
                        Some((_, true)) => {}
                        _ => {
                            set.insert(part.to_owned(), (index, is_leaf));
                        }
                    }
                }
                if let Some(other) = first {
                    let message = format!(
                        "factors `{}` and `{}` both set `{path}`",
                        factors[other].name, factor.name
                    );
                    reading.report(Report::at(at, message));
                }
            }
        }
    }
}

/// The path, with kinds that replace one another under one name.
fn kind_of(path: &str) -> String {
    if let Some((root, key)) = path.split_once('.')
        && typed::replaceable_kinds(root).contains(&key)
    {
        return format!("{root}.(kind)");
    }
    path.to_owned()
}
