//! The value tree: TOML with the place of every key and value, and the layering of tables.

use std::ops::Range;
use std::rc::Rc;

use indexmap::IndexMap;
use toml_edit::{Item, TableLike};

use crate::source::{At, Sources};

/// Deepest nesting that is read; recursion is bounded by it.
const MAX_DEPTH: usize = 32;

/// A table: keys in written order.
pub(crate) type Table = IndexMap<String, Node>;

/// A value with its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    /// Where the value is.
    pub(crate) at: At,
    /// Where its key is; the value's own place for an element of a list.
    pub(crate) key: At,
    /// The layer that set it, when that says more than file and line.
    pub(crate) origin: Option<Rc<str>>,
}

/// A TOML value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// Dates and times have no meaning in a bench.
    Date,
    List(Vec<Node>),
    Table(Table),
}

impl Node {
    pub(crate) fn new(value: Value, at: At) -> Self {
        Self { value, at, key: at, origin: None }
    }

    /// A text that no file holds, with the place of what asked for it.
    pub(crate) fn text(text: &str, at: At, origin: &str) -> Self {
        let value = Value::Text(text.to_owned());
        Self { value, at, key: at, origin: Some(Rc::from(origin)) }
    }

    pub(crate) fn as_table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    pub(crate) fn as_list(&self) -> Option<&[Node]> {
        if let Value::List(list) = &self.value { Some(list) } else { None }
    }

    /// The value as text when it is a scalar.
    pub(crate) fn scalar_text(&self) -> Option<String> {
        match &self.value {
            Value::Text(text) => Some(text.clone()),
            Value::Int(number) => Some(number.to_string()),
            Value::Float(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Date | Value::List(_) | Value::Table(_) => None,
        }
    }

    /// The value for a message: scalars in backquotes and cut short, else their kind.
    pub(crate) fn shown(&self) -> String {
        match &self.value {
            Value::Date => "a date".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
            _ => {
                let text = self.scalar_text().unwrap_or_default();
                let mut shown: String =
                    text.chars().take(60).flat_map(char::escape_debug).collect();
                if text.chars().nth(60).is_some() {
                    shown.push_str("...");
                }
                // `escape_debug` guards quotes too, which read better bare between backquotes.
                format!("`{}`", shown.replace("\\\"", "\"").replace("\\'", "'"))
            }
        }
    }

    /// Whether any text in it has a placeholder, so that it can only be read per cell.
    pub(crate) fn has_placeholder(&self) -> bool {
        match &self.value {
            Value::Text(text) => text.contains("${"),
            Value::List(list) => list.iter().any(Self::has_placeholder),
            Value::Table(table) => table.values().any(Self::has_placeholder),
            _ => false,
        }
    }

    /// Number of values in it, itself included.
    pub(crate) fn count(&self) -> usize {
        1 + match &self.value {
            Value::List(list) => list.iter().map(Self::count).sum(),
            Value::Table(table) => table.values().map(Self::count).sum(),
            _ => 0,
        }
    }

    /// Names the layer that set it and everything in it.
    pub(crate) fn set_origin(&mut self, origin: &Rc<str>) {
        self.origin = Some(Rc::clone(origin));
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(|node| node.set_origin(origin)),
            Value::Table(table) => table.values_mut().for_each(|node| node.set_origin(origin)),
            _ => {}
        }
    }

    /// Moves it and everything in it to one place.
    pub(crate) fn set_place(&mut self, at: At) {
        self.at = at;
        self.key = at;
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(|node| node.set_place(at)),
            Value::Table(table) => table.values_mut().for_each(|node| node.set_place(at)),
            _ => {}
        }
    }

    /// The layer that set it: `level db=capped`, or `bench.toml:12`.
    pub(crate) fn origin(&self, sources: &Sources) -> String {
        match &self.origin {
            Some(origin) => origin.to_string(),
            None => sources.name_and_line(self.at),
        }
    }
}

/// Merges `patch` over `base`: tables merge, all else replaces. `origin` names the layer; without
/// one the values say their file and line.
pub(crate) fn merge(base: &mut Table, patch: &Table, origin: Option<&Rc<str>>) {
    for (key, node) in patch {
        let both = (base.get_mut(key).map(|under| &mut under.value), &node.value);
        if let (Some(Value::Table(under)), Value::Table(over)) = both {
            merge(under, over, origin);
            continue;
        }
        let mut node = node.clone();
        if let Some(origin) = origin {
            node.set_origin(origin);
        }
        base.insert(key.clone(), node);
    }
}

/// Every value that is no table, with its dotted path, in order.
pub(crate) fn leaves<'t>(prefix: &str, table: &'t Table, visit: &mut impl FnMut(String, &'t Node)) {
    for (key, node) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match &node.value {
            Value::Table(inner) => leaves(&path, inner, visit),
            _ => visit(path, node),
        }
    }
}

/// The value at a dotted path.
pub(crate) fn find<'t>(table: &'t Table, path: &[&str]) -> Option<&'t Node> {
    let (first, rest) = path.split_first()?;
    let node = table.get(*first)?;
    if rest.is_empty() { Some(node) } else { find(node.as_table()?, rest) }
}

/// A table that holds `value` at a dotted path, every table on the way at the place of `at`.
pub(crate) fn nest(path: &[String], value: Node, at: At) -> Table {
    let mut table = Table::new();
    if let Some((first, rest)) = path.split_first() {
        let node = if rest.is_empty() {
            Node { key: at, ..value }
        } else {
            Node::new(Value::Table(nest(rest, value, at)), at)
        };
        table.insert(first.clone(), node);
    }
    table
}

/// A TOML document that could not be read.
pub(crate) struct Unreadable {
    pub(crate) at: At,
    pub(crate) message: String,
}

/// Reads a TOML document of a source.
pub(crate) fn parse(text: &str, source: u32) -> Result<Table, Unreadable> {
    let all = At { source, start: 0, end: 0 };
    let document = toml_edit::Document::parse(text).map_err(|error| Unreadable {
        at: error.span().map_or(all, |span| all.with_range(&span)),
        message: sentence(error.message()),
    })?;
    table(document.as_table(), all, 0)
}

/// Reads one value; bare words that are no TOML value are text. All of it lies at `at`.
pub(crate) fn parse_value(text: &str, at: At) -> Result<Node, Unreadable> {
    let parsed: Option<toml_edit::Value> = text.trim().parse().ok();
    let mut node = match parsed {
        Some(found) if !found.is_datetime() => value(&found, at, 0)?,
        _ => Node::new(Value::Text(text.to_owned()), at),
    };
    node.set_place(at);
    Ok(node)
}

/// One line without a final period, as messages are written here.
fn sentence(message: &str) -> String {
    message.lines().collect::<Vec<_>>().join("; ").trim_end_matches('.').to_owned()
}

fn table(like: &dyn TableLike, at: At, depth: usize) -> Result<Table, Unreadable> {
    let mut table = Table::new();
    for (name, item) in like.iter() {
        let key = like.key(name).and_then(toml_edit::Key::span);
        let key = key.map_or(at, |span| at.with_range(&span));
        if let Some(mut node) = self::item(item, key, depth + 1)? {
            node.key = key;
            table.insert(name.to_owned(), node);
        }
    }
    Ok(table)
}

fn item(item: &Item, key: At, depth: usize) -> Result<Option<Node>, Unreadable> {
    if depth > MAX_DEPTH {
        return Err(Unreadable {
            at: key,
            message: format!("tables are nested deeper than {MAX_DEPTH}"),
        });
    }
    let node = match item {
        Item::None => return Ok(None),
        Item::Value(found) => value(found, key, depth)?,
        // A header or a dotted key: the key is the better place, its table may span pages.
        Item::Table(found) => Node::new(Value::Table(table(found, key, depth)?), key),
        Item::ArrayOfTables(array) => {
            let tables: Result<Vec<Node>, Unreadable> = array
                .iter()
                .map(|found| {
                    let at = header(found.span(), key);
                    Ok(Node::new(Value::Table(table(found, at, depth)?), at))
                })
                .collect();
            Node::new(Value::List(tables?), key)
        }
    };
    Ok(Some(node))
}

fn header(span: Option<Range<usize>>, key: At) -> At {
    span.map_or(key, |span| key.with_range(&span))
}

fn value(found: &toml_edit::Value, key: At, depth: usize) -> Result<Node, Unreadable> {
    if depth > MAX_DEPTH {
        return Err(Unreadable {
            at: key,
            message: format!("values are nested deeper than {MAX_DEPTH}"),
        });
    }
    let at = found.span().map_or(key, |span| key.with_range(&span));
    let value = match found {
        toml_edit::Value::String(text) => Value::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::Int(*number.value()),
        toml_edit::Value::Float(number) => Value::Float(*number.value()),
        toml_edit::Value::Boolean(flag) => Value::Bool(*flag.value()),
        toml_edit::Value::Datetime(_) => Value::Date,
        toml_edit::Value::Array(array) => {
            let nodes: Result<Vec<Node>, Unreadable> =
                array.iter().map(|element| self::value(element, at, depth + 1)).collect();
            Value::List(nodes?)
        }
        toml_edit::Value::InlineTable(inline) => Value::Table(table(inline, at, depth)?),
    };
    Ok(Node::new(value, at))
}
