//! Reading typed values: one function per kind of value, and [`Fields`], which reads the keys
//! of a table, remembers which exist, and refuses the others with the nearest valid word.
//!
//! The same code reads a table as it is written (placeholders are skipped, nothing is required)
//! and the effective table of a cell (everything is fixed), so that the two cannot disagree.

use std::cell::RefCell;
use std::collections::BTreeSet;

use record::units;

use crate::node::{Node, Table, Value};
use crate::problem::{Problems, Report};
use crate::source::At;
use crate::words;

/// Longest duration, ns: 400 days. Sums of a whole plan stay far from overflow.
const MAX_DURATION_NS: u64 = 400 * 86_400 * 1_000_000_000;

/// Why a value is refused.
pub(crate) struct Bad {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// A better place than the whole value.
    pub(crate) at: Option<At>,
}

impl Bad {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, at: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn at(mut self, at: At) -> Self {
        self.at = Some(at);
        self
    }
}

impl From<units::UnitError> for Bad {
    fn from(error: units::UnitError) -> Self {
        Self::new(error.to_string())
    }
}

/// What a value reader returns.
pub(crate) type Read<T> = Result<T, Bad>;

/// Whether a table is read as written or as a cell's effective one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Placeholders are skipped and nothing is required.
    Written,
    /// All layers are in and all placeholders resolved.
    Effective,
}

/// One reading: its stage, and where problems go.
pub(crate) struct Reading<'p> {
    pub(crate) stage: Stage,
    pub(crate) problems: &'p RefCell<Problems>,
    /// When set, every key that is asked for is recorded here by dotted path.
    pub(crate) keys: Option<&'p RefCell<BTreeSet<String>>>,
}

impl Reading<'_> {
    pub(crate) fn report(&self, report: Report) {
        self.problems.borrow_mut().push(report);
    }

    /// Reports a refused value at its place.
    pub(crate) fn refuse(&self, node: &Node, bad: Bad) {
        let at = bad.at.unwrap_or(node.at);
        self.report(Report::at(at, bad.message).maybe_help(bad.help));
    }

    pub(crate) fn is_effective(&self) -> bool {
        self.stage == Stage::Effective
    }
}

/// The keys of one table on their way into a typed value.
pub(crate) struct Fields<'t> {
    table: Option<&'t Table>,
    /// Where the table is.
    pub(crate) at: At,
    /// How messages call it: `` `[matrix]` `` or `` level `on` ``.
    place: String,
    path: String,
    known: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    /// The keys of `table`; `place` is how messages call it, `path` the dotted path of its keys.
    pub(crate) fn new(table: Option<&'t Table>, at: At, place: &str, path: &str) -> Self {
        Self { table, at, place: place.to_owned(), path: path.to_owned(), known: Vec::new() }
    }

    /// Whether the table has the key; the key counts as known.
    pub(crate) fn has(&mut self, key: &'static str, reading: &Reading) -> bool {
        self.raw(key, reading).is_some()
    }

    /// The value of a key as it is.
    pub(crate) fn raw(&mut self, key: &'static str, reading: &Reading) -> Option<&'t Node> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        if let Some(keys) = reading.keys {
            keys.borrow_mut().insert(self.path_of(key));
        }
        self.table.and_then(|table| table.get(key))
    }

    /// The value of a key, read by `parse`; `None` when absent, refused (and reported), or not
    /// known before its placeholders are.
    pub(crate) fn get<T>(
        &mut self,
        key: &'static str,
        reading: &Reading,
        parse: impl Fn(&Node) -> Read<T>,
    ) -> Option<T> {
        let node = self.raw(key, reading)?;
        if !reading.is_effective() && node.has_placeholder() {
            return None;
        }
        parse(node).map_err(|bad| reading.refuse(node, bad)).ok()
    }

    /// The keys of a table within it; of an empty one when it is absent.
    pub(crate) fn table(&mut self, key: &'static str, reading: &Reading) -> Fields<'t> {
        let node = self.raw(key, reading);
        let table = node.and_then(|node| match node.as_table() {
            Some(table) => Some(table),
            None => {
                reading.refuse(node, Bad::new(format!("{} is not a table", node.shown())));
                None
            }
        });
        let place = match self.place.strip_suffix("]`") {
            Some(header) => format!("{header}.{key}]`"),
            None => self.place.clone(),
        };
        Fields {
            table,
            at: node.map_or(self.at, |node| node.key),
            place,
            path: self.path_of(key),
            known: Vec::new(),
        }
    }

    /// Reports the first of `kinds` that stand together, and returns the one that is there.
    /// `what` and `name` are the thing that has one kind; a patch has no name.
    pub(crate) fn one_of(
        &mut self,
        what: &str,
        name: &str,
        kinds: &[&'static str],
        reading: &Reading,
    ) -> Option<&'static str> {
        let what = if name.is_empty() { self.place.clone() } else { format!("{what} `{name}`") };
        let present: Vec<&'static str> =
            kinds.iter().copied().filter(|kind| self.has(kind, reading)).collect();
        if let [first, second, ..] = present[..] {
            let node = self.table.and_then(|table| table.get(second));
            let at = node.map_or(self.at, |node| node.key);
            reading
                .report(Report::at(at, format!("{what} has two kinds: `{first}` and `{second}`")));
            return None;
        }
        if present.is_empty() && reading.is_effective() {
            let kinds = words::listed(kinds.iter().copied());
            reading.report(Report::at(self.at, format!("{what} has no kind; one of {kinds}")));
        }
        present.first().copied()
    }

    /// Refuses every key that was not asked for. Only the written table can say in which place
    /// an unknown key stands, so the effective one is not looked at again.
    pub(crate) fn finish(self, reading: &Reading) {
        if reading.is_effective() {
            return;
        }
        let Some(table) = self.table else { return };
        for (key, node) in table {
            if !self.known.contains(&key.as_str()) {
                reading.report(unknown_key(key, node.key, Some(&self.place), &self.known));
            }
        }
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// `` unknown key `blokcs` in `[matrix]`; nearest `blocks` ``
pub(crate) fn unknown_key(key: &str, at: At, place: Option<&str>, known: &[&str]) -> Report {
    let place = place.map_or(String::new(), |place| format!(" in {place}"));
    let mut once: Vec<&str> = Vec::new();
    for word in known {
        if !once.contains(word) {
            once.push(word);
        }
    }
    let shown: String = key.chars().take(60).flat_map(char::escape_debug).collect();
    let near = words::nearest_suffix(key, known.iter().copied());
    let report = Report::at(at, format!("unknown key `{shown}`{place}{near}"));
    if known.is_empty() {
        report
    } else {
        report.help(format!("valid keys: {}", words::listed(once)))
    }
}

/// The bounds of counts.
pub(crate) struct Whole {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Whole {
    /// A whole number within the bounds.
    pub(crate) fn read(&self, node: &Node) -> Read<u64> {
        let number = match node.value {
            Value::Int(number) => u64::try_from(number).ok(),
            _ => None,
        };
        number.filter(|number| (self.min..=self.max).contains(number)).ok_or_else(|| {
            Bad::new(format!(
                "{} is not a whole number from {} to {}",
                node.shown(),
                self.min,
                self.max
            ))
        })
    }

    /// The same, when the bounds fit 32 bits.
    pub(crate) fn read_u32(&self, node: &Node) -> Read<u32> {
        debug_assert!(self.max <= u64::from(u32::MAX), "the bound is a constant of this crate");
        self.read(node).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    }
}

/// Text.
pub(crate) fn text(node: &Node) -> Read<String> {
    match &node.value {
        Value::Text(text) => Ok(text.clone()),
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => {
            let bare = node.scalar_text().unwrap_or_default();
            Err(Bad::new(format!("`{bare}` is not text; write `\"{bare}\"`")))
        }
        _ => Err(Bad::new(format!("{} is not text", node.shown()))),
    }
}

/// Text, a number or a flag, as text without NUL: what a process can be given.
pub(crate) fn scalar(node: &Node) -> Read<String> {
    let text = node
        .scalar_text()
        .ok_or_else(|| Bad::new(format!("{} is not text or a number", node.shown())))?;
    if text.contains('\0') {
        return Err(Bad::new("a text given to a process cannot contain NUL"));
    }
    Ok(text)
}

/// `true` or `false`.
pub(crate) fn flag(node: &Node) -> Read<bool> {
    match node.value {
        Value::Bool(flag) => Ok(flag),
        _ => Err(Bad::new(format!("{} is neither `true` nor `false`", node.shown()))),
    }
}

/// A scalar's text for the parsers of units, or what it should have been.
fn unit_text(node: &Node, what: &str, example: &str) -> Read<String> {
    node.scalar_text()
        .ok_or_else(|| Bad::new(format!("{} is not a {what}; write `\"{example}\"`", node.shown())))
}

/// A duration, ns.
pub(crate) fn duration(node: &Node) -> Read<u64> {
    let text = unit_text(node, "duration", "30s")?;
    let ns = units::duration_ns(&text)?;
    if ns > MAX_DURATION_NS {
        return Err(Bad::new(format!("{} is longer than `400d`", node.shown())));
    }
    Ok(ns)
}

/// A duration that is not zero, ns.
pub(crate) fn some_duration(node: &Node) -> Read<u64> {
    match duration(node)? {
        0 => Err(Bad::new(format!("{} is no time at all; write `\"30s\"`", node.shown()))),
        ns => Ok(ns),
    }
}

/// A size, bytes.
pub(crate) fn size(node: &Node) -> Read<u64> {
    Ok(units::size_bytes(&unit_text(node, "size", "64KiB")?)?)
}

/// A percentage from 0 to 100 as a share from 0 to 1.
pub(crate) fn share(node: &Node) -> Read<f64> {
    let share = units::share(&unit_text(node, "percentage", "0.1%")?)?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(Bad::new(format!("{} is not from `0%` to `100%`", node.shown())))
    }
}

/// A percentage from 0 to 100,000 as a multiple from 0 to 1,000: of something that may be
/// exceeded, one core or the median.
pub(crate) fn multiple(node: &Node) -> Read<f64> {
    let share = units::share(&unit_text(node, "percentage", "5%")?)?;
    if (0.0..=1_000.0).contains(&share) {
        Ok(share)
    } else {
        Err(Bad::new(format!("{} is not from `0%` to `100000%`", node.shown())))
    }
}

/// A rate, per second.
pub(crate) fn rate(node: &Node) -> Read<f64> {
    let rate = units::rate_per_s(&unit_text(node, "rate", "200/s")?)?;
    if rate > 1e7 {
        return Err(Bad::new(format!("{} is more than `10000000/s`", node.shown())));
    }
    Ok(rate)
}

/// One of a few words.
pub(crate) fn word(
    key: &'static str,
    valid: &'static [&'static str],
) -> impl Fn(&Node) -> Read<&'static str> {
    move |node| {
        let given = node.as_text();
        valid.iter().copied().find(|word| given == Some(*word)).ok_or_else(|| {
            let near = given.and_then(|given| words::nearest(given, valid.iter().copied()));
            let hint = match near {
                Some(near) => format!("nearest `{near}`"),
                None => format!("valid: {}", words::listed(valid.iter().copied())),
            };
            Bad::new(format!("{} is no value of `{key}`; {hint}", node.shown()))
        })
    }
}

/// A list of what `element` reads, at most 1,000.
pub(crate) fn list<T>(node: &Node, element: impl Fn(&Node) -> Read<T>) -> Read<Vec<T>> {
    let Some(list) = node.as_list() else {
        let hint = match node.as_text() {
            Some(text) if text.len() < 60 => format!("; write `[{text:?}]`"),
            _ => String::new(),
        };
        return Err(Bad::new(format!("{} is not a list{hint}", node.shown())));
    };
    if list.len() > 1000 {
        return Err(Bad::new(format!("a list of {} is too long; at most 1000", list.len())));
    }
    list.iter()
        .map(|found| {
            element(found).map_err(|bad| if bad.at.is_some() { bad } else { bad.at(found.at) })
        })
        .collect()
}

/// One text or a list of them.
pub(crate) fn texts(node: &Node) -> Read<Vec<String>> {
    if node.as_list().is_some() { list(node, text) } else { text(node).map(|text| vec![text]) }
}

/// A program and its arguments.
pub(crate) fn command(node: &Node) -> Read<Vec<String>> {
    let arguments = list(node, scalar)?;
    match arguments.first().map(String::as_str) {
        None | Some("") => Err(Bad::new("a command needs a program; write `[\"./server\"]`")),
        Some(_) => Ok(arguments),
    }
}

/// A table of scalars as text, by key.
pub(crate) fn scalars(node: &Node) -> Read<Vec<(String, String)>> {
    let table =
        node.as_table().ok_or_else(|| Bad::new(format!("{} is not a table", node.shown())))?;
    table
        .iter()
        .map(|(key, value)| {
            let text = scalar(value).map_err(|bad| bad.at(value.at))?;
            Ok((key.clone(), text))
        })
        .collect()
}

/// A value of `vars` as JSON.
pub(crate) fn json(node: &Node) -> Read<serde_json::Value> {
    Ok(match &node.value {
        Value::Text(text) => text.clone().into(),
        Value::Int(number) => (*number).into(),
        Value::Bool(flag) => (*flag).into(),
        Value::Float(number) if number.is_finite() => (*number).into(),
        Value::Float(_) | Value::Date => {
            return Err(Bad::new(format!("{} has no meaning here; quote it", node.shown())));
        }
        Value::List(list) => {
            let values: Read<Vec<serde_json::Value>> =
                list.iter().map(|node| json(node).map_err(|bad| bad.at(node.at))).collect();
            values?.into()
        }
        Value::Table(table) => {
            let mut map = serde_json::Map::new();
            for (key, node) in table {
                map.insert(key.clone(), json(node).map_err(|bad| bad.at(node.at))?);
            }
            map.into()
        }
    })
}

/// Cores: `"0-3,6"` or a bare core, sorted, each once.
pub(crate) fn cores(node: &Node) -> Read<Vec<u32>> {
    let bad = || Bad::new(format!("{} is no list of cores; write `\"0-3,6\"`", node.shown()));
    let text = match &node.value {
        Value::Text(text) => text.clone(),
        Value::Int(core) => core.to_string(),
        _ => return Err(bad()),
    };
    let mut cores = BTreeSet::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let core = |text: &str| -> Option<u32> {
            let text = text.trim();
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // 4096 is the largest machine that the kernel's core masks are built for by default.
            text.parse().ok().filter(|core| digits && *core < 4096)
        };
        let (Some(first), Some(last)) = (core(first), core(last)) else { return Err(bad()) };
        if first > last {
            return Err(bad());
        }
        cores.extend(first..=last);
    }
    Ok(cores.into_iter().collect())
}
