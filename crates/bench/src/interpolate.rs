//! `${a.b}`: references between effective values, resolved per cell after all layers are in.
//!
//! A reference alone in a text keeps the type of what it names; inside longer text it must be a
//! text, a number or a flag. `${target.port}`, `${run.dir}` and `${run.scratch}` are only known
//! at run time and stay. Depth and size are bounded, so that no bench can expand without end.

use std::collections::HashMap;
use std::path::Path;

use record::units;

use crate::node::{Node, Table, Value, find, leaves};
use crate::problem::Report;
use crate::read::Reading;
use crate::source::{At, Sources};
use crate::words;

/// References that the lab resolves at run time.
const AT_RUN_TIME: [&str; 3] = ["target.port", "run.dir", "run.scratch"];
/// Facts of the bench itself.
const OF_THE_BENCH: [&str; 2] = ["bench.dir", "bench.name"];
/// Deepest chain of references and nesting.
const MAX_DEPTH: usize = 64;
/// Most text that one cell may expand to, bytes.
const MAX_EXPANSION: usize = 1 << 20;

/// Resolves the references of one cell.
pub(crate) struct Resolver<'t> {
    tree: &'t Table,
    dir: &'t Path,
    name: &'t str,
    target: &'t str,
    sources: &'t Sources,
    reading: &'t Reading<'t>,
    done: HashMap<String, Node>,
    active: Vec<String>,
    depth: usize,
    spent: usize,
    failed: bool,
}

impl<'t> Resolver<'t> {
    /// A resolver over the layered values of a cell. `dir` and `name` are the bench's, `target`
    /// names the cell's target in messages.
    pub(crate) fn new(
        tree: &'t Table,
        (dir, name): (&'t Path, &'t str),
        target: &'t str,
        sources: &'t Sources,
        reading: &'t Reading<'t>,
    ) -> Self {
        Self {
            tree,
            dir,
            name,
            target,
            sources,
            reading,
            done: HashMap::new(),
            active: Vec::new(),
            depth: 0,
            spent: 0,
            failed: false,
        }
    }

    /// The whole tree resolved, or `None` when something was reported.
    pub(crate) fn tree(mut self) -> Option<Table> {
        let mut resolved = Table::new();
        for (key, node) in self.tree {
            resolved.insert(key.clone(), self.node(node)?);
        }
        (!self.failed).then_some(resolved)
    }

    /// A value resolved. `None` only when a bound was hit; other problems leave the text as it
    /// is, so that all of them are found.
    fn node(&mut self, node: &Node) -> Option<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.give_up(node.at, format!("values refer deeper than {MAX_DEPTH}"));
        }
        let value = match &node.value {
            Value::Text(text) => self.text(text, node.at)?,
            Value::List(list) => {
                Value::List(list.iter().map(|node| self.node(node)).collect::<Option<_>>()?)
            }
            Value::Table(table) => {
                let mut resolved = Table::new();
                for (key, node) in table {
                    resolved.insert(key.clone(), self.node(node)?);
                }
                Value::Table(resolved)
            }
            other => other.clone(),
        };
        self.depth -= 1;
        Some(Node { value, ..node.clone_place() })
    }

    fn give_up(&mut self, at: At, message: String) -> Option<Node> {
        self.failed = true;
        self.reading.report(Report::at(at, message));
        None
    }

    fn text(&mut self, text: &str, at: At) -> Option<Value> {
        self.spent += text.len();
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            out.push_str(&rest[..start]);
            let Some(length) = rest[start..].find('}') else {
                self.failed = true;
                let help = "a reference is written `${vars.name}`";
                self.reading.report(Report::at(at, "`${` without `}`").help(help));
                return Some(Value::Text(text.to_owned()));
            };
            let whole = &rest[start..=start + length];
            let path = whole[2..whole.len() - 1].trim();
            let alone = whole.len() == text.len();
            rest = &rest[start + length + 1..];
            if AT_RUN_TIME.contains(&path) {
                out.push_str(whole);
                continue;
            }
            let place = self.place_of(whole, at);
            let found = match self.reference(path, place) {
                Some(found) => found,
                None if self.depth > MAX_DEPTH || self.spent > MAX_EXPANSION => return None,
                // Reported; the rest of the text may hold more.
                None => {
                    out.push_str(whole);
                    continue;
                }
            };
            self.spent += 16 * found.count();
            if self.spent > MAX_EXPANSION {
                self.give_up(at, format!("references expand to more than {MAX_EXPANSION} bytes"));
                return None;
            }
            if alone {
                let mut found = found;
                found.set_place(at);
                return Some(found.value);
            }
            let Some(inner) = found.scalar_text() else {
                self.failed = true;
                let message =
                    format!("`${{{path}}}` is {}; only text fits inside text", found.shown());
                self.reading.report(Report::at(place, message));
                return Some(Value::Text(text.to_owned()));
            };
            self.spent += inner.len();
            out.push_str(&inner);
        }
        out.push_str(rest);
        Some(Value::Text(out))
    }

    /// The place of the reference within its text, when the text is written without escapes.
    fn place_of(&self, whole: &str, at: At) -> At {
        match self.sources.text(at).find(whole) {
            Some(offset) => {
                let start = at.range().start + offset;
                at.with_range(&(start..start + whole.len()))
            }
            None => at,
        }
    }

    fn reference(&mut self, path: &str, at: At) -> Option<Node> {
        if let Some(done) = self.done.get(path) {
            return Some(done.clone());
        }
        if path == "bench.dir" || path == "bench.name" {
            let text = if path == "bench.dir" {
                self.dir.display().to_string()
            } else {
                self.name.to_owned()
            };
            return Some(Node::text(&text, at, "default"));
        }
        if let Some(first) = self.active.iter().position(|active| active == path) {
            let mut chain = self.active[first..].to_vec();
            chain.push(path.to_owned());
            let message = format!("`${{{path}}}` refers to itself: {}", chain.join(" -> "));
            self.failed = true;
            self.reading.report(Report::at(at, message));
            return None;
        }
        let segments: Vec<&str> = path.split('.').collect();
        let (node, unit) = match find(self.tree, &segments) {
            Some(node) if segments.len() > 1 => (node, None),
            _ => match segments.split_last() {
                Some((unit, parent)) if parent.len() > 1 && is_unit(unit) => {
                    match find(self.tree, parent) {
                        Some(node) => (node, Some(*unit)),
                        None => return self.unknown(path, at),
                    }
                }
                _ => return self.unknown(path, at),
            },
        };
        self.active.push(path.to_owned());
        let resolved = self.node(node);
        self.active.pop();
        let resolved = resolved?;
        if self.failed && resolved.has_placeholder() {
            return None;
        }
        let resolved = match unit {
            None => resolved,
            Some(unit) => match in_unit(&resolved, unit) {
                Some(node) => node,
                None => return self.unknown(path, at),
            },
        };
        self.done.insert(path.to_owned(), resolved.clone());
        Some(resolved)
    }

    fn unknown(&mut self, path: &str, at: At) -> Option<Node> {
        self.failed = true;
        let mut paths: Vec<String> =
            AT_RUN_TIME.iter().chain(&OF_THE_BENCH).map(|p| (*p).to_owned()).collect();
        leaves("", self.tree, &mut |path, _| paths.push(path));
        let near = words::nearest(path, paths.iter().map(String::as_str));
        let shown: String = path.chars().take(60).flat_map(char::escape_debug).collect();
        let report = if path.starts_with("vars.") {
            let message = format!("`${{{shown}}}` is not set for target `{}`", self.target);
            let help = "set it in `[vars]`, or in `vars` of the target or the scenario";
            Report::at(at, message)
                .help(near.map_or(help.to_owned(), |near| format!("nearest `${{{near}}}`; {help}")))
        } else {
            let near = near.map_or(String::new(), |near| format!("; nearest `${{{near}}}`"));
            Report::at(at, format!("`${{{shown}}}` is no effective key{near}"))
                .help("the environment comes in by `[vars]`: `name = { env = \"NAME\" }`")
        };
        self.reading.report(report);
        None
    }
}

impl Node {
    /// The node without its value.
    fn clone_place(&self) -> Self {
        Self { value: Value::Bool(false), at: self.at, key: self.key, origin: self.origin.clone() }
    }
}

/// Whether `${load.measure.s}` may end in this word.
fn is_unit(word: &str) -> bool {
    units::DURATION_UNITS.iter().any(|(unit, _)| *unit == word)
}

/// A duration as a number of `unit`.
fn in_unit(node: &Node, unit: &str) -> Option<Node> {
    let ns = units::duration_ns(node.as_text()?).ok()? as f64;
    let (_, length) = units::DURATION_UNITS.iter().find(|(name, _)| *name == unit)?;
    let number = ns / length;
    // Durations stay under 2^63 ns, so a whole number of any unit fits.
    let value = if number.fract() == 0.0 && number < 9e18 {
        Value::Int(number as i64)
    } else {
        Value::Float(number)
    };
    Some(Node { value, ..node.clone_place() })
}
