//! Cells: the product of the levels in written order, which of them are skipped, and which
//! `[[where]]` patches apply to which.

use std::rc::Rc;

use crate::factors::Factors;
use crate::file::{BenchFile, Section};
use crate::node::{Node, Table, Value};
use crate::patch::{self, Patcher};
use crate::problem::Report;
use crate::read::{self, Reading, unknown_key};
use crate::source::{At, Sources};
use crate::words::{self, Patterns};

/// Most cells.
pub(crate) const MAX_CELLS: usize = 10_000;
/// Longest name of a cell, bytes: with block and order in front it stays a file name.
const MAX_CELL_NAME: usize = 200;

/// A choice of level in every varied factor.
#[derive(Debug, Clone)]
pub(crate) struct Combination {
    /// Varied levels joined by `+`; `only` without any.
    pub(crate) name: String,
    /// Index of the level in each varied factor.
    pub(crate) levels: Vec<usize>,
}

/// Every combination in written order: the last factor varies fastest.
pub(crate) fn product(factors: &Factors, file: &BenchFile, reading: &Reading) -> Vec<Combination> {
    let varied = &factors.varied;
    let count = varied.iter().try_fold(1_usize, |count, factor| {
        count.checked_mul(factor.levels.len()).filter(|count| *count <= MAX_CELLS)
    });
    let place = file.factors.values().next().map(|node| node.key);
    let report = |message: String, help: &str| {
        let report = match place {
            Some(at) => Report::at(at, message),
            None => Report::nowhere(message),
        };
        reading.report(report.help(help));
        Vec::new()
    };
    let Some(count) = count else {
        return report(
            format!("the factors make more than {MAX_CELLS} cells"),
            "every level is combined with every level of the other factors",
        );
    };
    let mut cells = Vec::with_capacity(count);
    for mut index in 0..count {
        let mut levels = vec![0; varied.len()];
        for (level, factor) in levels.iter_mut().zip(varied).rev() {
            *level = index % factor.levels.len();
            index /= factor.levels.len();
        }
        let names: Vec<&str> = levels
            .iter()
            .zip(varied)
            .map(|(level, factor)| factor.levels[*level].name.as_str())
            .collect();
        let name = if names.is_empty() { "only".to_owned() } else { names.join("+") };
        if name.len() > MAX_CELL_NAME {
            return report(
                format!("the name of cell `{name}` is longer than {MAX_CELL_NAME}"),
                "cells are named by their levels; shorten the names of levels",
            );
        }
        cells.push(Combination { name, levels });
    }
    cells
}

/// A `[[where]]`.
#[derive(Debug)]
pub(crate) struct Where {
    matches: Vec<(String, Patterns)>,
    /// Why what matches is skipped.
    pub(crate) skip: Option<String>,
    /// What it sets.
    pub(crate) set: Table,
    /// `[[where]] bench.toml:30`.
    pub(crate) origin: Rc<str>,
    at: At,
}

impl Where {
    /// Whether a cell matches, by the names that each factor's level is known by.
    pub(crate) fn applies(&self, names: &impl Fn(&str) -> Vec<String>) -> bool {
        self.matches.iter().all(|(factor, patterns)| {
            let names = names(factor);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            !names.is_empty() && patterns.matches(&names)
        })
    }

    /// Reports one that matches nothing.
    pub(crate) fn report_unused(&self, reading: &Reading) {
        let report = Report::at(self.at, "`[[where]]` matches no cell");
        reading.report(report.help("without it the plan is the same"));
    }
}

/// Reads every `[[where]]`; what is refused is reported and left out.
pub(crate) fn wheres(
    file: &BenchFile,
    factors: &Factors,
    sources: &Sources,
    reading: &Reading,
) -> Vec<Where> {
    file.wheres.iter().filter_map(|node| one_where(node, file, factors, sources, reading)).collect()
}

fn one_where(
    node: &Node,
    file: &BenchFile,
    factors: &Factors,
    sources: &Sources,
    reading: &Reading,
) -> Option<Where> {
    let table = node.as_table()?;
    let keys = ["match", "skip", "set"];
    for (key, node) in table {
        if !keys.contains(&key.as_str()) {
            reading.report(unknown_key(key, node.key, Some("`[[where]]`"), &keys));
        }
    }
    let at = table.values().next().map_or(node.at, |first| first.key);
    let Some(matched) = table.get("match").and_then(Node::as_table).filter(|m| !m.is_empty())
    else {
        let at = table.get("match").map_or(at, |node| node.at);
        let help = "write `match = { target = \"nginx\" }`";
        reading.report(Report::at(at, "`[[where]]` has no `match`").help(help));
        return None;
    };
    let mut matches = Vec::new();
    for (factor, node) in matched {
        matches.push((factor.clone(), patterns(factor, node, file, factors, reading)?));
    }
    let skip = match table.get("skip") {
        Some(node) => match read::text(node) {
            Ok(why) => Some(why),
            Err(bad) => {
                reading.refuse(node, bad.help("say why: the plan lists what is skipped"));
                return None;
            }
        },
        None => None,
    };
    let set = match table.get("set").map(|node| (&node.value, node)) {
        Some((Value::Table(set), _)) => Some(patch::checked(set, Patcher::Where, reading)),
        Some((_, node)) => {
            reading.report(Report::at(node.at, format!("{} is not a table", node.shown())));
            return None;
        }
        None => None,
    };
    if skip.is_some() == set.is_some() {
        let message = if skip.is_some() {
            "`[[where]]` has both `skip` and `set`; write one"
        } else {
            "`[[where]]` has neither `skip` nor `set`"
        };
        reading.report(Report::at(at, message));
        return None;
    }
    let origin = Rc::from(format!("[[where]] {}", sources.name_and_line(at)).as_str());
    Some(Where { matches, skip, set: set.unwrap_or_default(), origin, at })
}

fn patterns(
    factor: &str,
    node: &Node,
    file: &BenchFile,
    factors: &Factors,
    reading: &Reading,
) -> Option<Patterns> {
    let Some(valid) = level_names(factor, file, factors) else {
        let known: Vec<&str> = Section::ALL
            .map(Section::name)
            .into_iter()
            .chain(factors.varied.iter().map(|factor| factor.name.as_str()))
            .chain(factors.fixed.iter().map(|(name, _)| name.as_str()))
            .collect();
        reading.report(unknown_key(factor, node.key, Some("`match`"), &known));
        return None;
    };
    let texts = match read::texts(node) {
        Ok(texts) => texts,
        Err(bad) => {
            reading.refuse(node, bad.help("a name, a list of names, a glob, or `!name`"));
            return None;
        }
    };
    let patterns = Patterns::new(texts.iter().map(String::as_str));
    for exact in patterns.exact() {
        if !valid.iter().any(|name| name == exact) {
            let near = words::nearest_suffix(exact, valid.iter().map(String::as_str));
            let shown: String = exact.chars().take(60).flat_map(char::escape_debug).collect();
            let message = format!("`{factor}` has no level `{shown}`{near}");
            reading.report(Report::at(node.at, message));
            return None;
        }
    }
    Some(patterns)
}

/// The names that levels of a factor are known by; `None` when there is no such factor.
fn level_names(factor: &str, file: &BenchFile, factors: &Factors) -> Option<Vec<String>> {
    if let Some(varied) = factors.varied.iter().find(|varied| varied.name == factor) {
        return Some(varied.levels.iter().map(|level| level.name.clone()).collect());
    }
    if let Some((_, node)) = factors.fixed.iter().find(|(name, _)| name == factor) {
        return Some(vec![node.as_text().unwrap_or_default().to_owned()]);
    }
    let section = Section::of(factor)?;
    Some(file.names(section).into_iter().map(str::to_owned).collect())
}
