//! The keys of one table of a script, each with its place, on their way into typed values.

use std::ops::Range;

use toml_edit::{Item, TableLike, Value};

use super::ScriptError;

/// The text that places point into.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// An error at a place; of the file as a whole without one.
    pub(super) fn error(&self, at: Option<Range<usize>>, message: String) -> ScriptError {
        let (mut line, mut column) = (0, 0);
        if let Some(at) = at {
            let mut start = at.start.min(self.text.len());
            while !self.text.is_char_boundary(start) {
                start -= 1;
            }
            let before = &self.text[..start];
            line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
            let from = before.rfind('\n').map_or(0, |newline| newline + 1);
            column = before[from..].chars().count() + 1;
        }
        ScriptError { file: self.file.to_owned(), line, column, message }
    }
}

/// One table.
pub(super) struct Fields<'a> {
    source: Source<'a>,
    table: &'a dyn TableLike,
    /// How messages call it.
    what: &'static str,
    at: Option<Range<usize>>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(
        source: Source<'a>,
        table: &'a dyn TableLike,
        what: &'static str,
        at: Option<Range<usize>>,
    ) -> Self {
        Self { source, table, what, at, known: Vec::new() }
    }

    /// Where the table is.
    pub(super) fn span(&self) -> Option<Range<usize>> {
        self.at.clone()
    }

    /// An error at the value of a key; at the table when it is not there.
    pub(super) fn error(&self, key: &str, message: impl Into<String>) -> ScriptError {
        let at = self.table.get(key).and_then(Item::span).or_else(|| self.key_span(key));
        self.source.error(at.or_else(|| self.span()), message.into())
    }

    fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.table.key(key).and_then(toml_edit::Key::span)
    }

    pub(super) fn item(&mut self, key: &'static str) -> Option<&'a Item> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key).filter(|item| !item.is_none())
    }

    /// A text.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<&'a str>, ScriptError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        match item.as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(self.error(key, format!("`{key}` is {}; expected a text", kind(item)))),
        }
    }

    /// A text, number or truth as its text.
    pub(super) fn scalar(&mut self, key: &'static str) -> Result<Option<String>, ScriptError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        let found = item.as_value().and_then(scalar);
        found.map(Some).ok_or_else(|| {
            self.error(key, format!("`{key}` is {}; expected a text or number", kind(item)))
        })
    }

    /// One text or several.
    pub(super) fn scalars(&mut self, key: &'static str) -> Result<Vec<String>, ScriptError> {
        let Some(item) = self.item(key) else { return Ok(Vec::new()) };
        let Some(list) = item.as_array() else {
            return Ok(self.scalar(key)?.into_iter().collect());
        };
        let texts: Option<Vec<String>> = list.iter().map(scalar).collect();
        texts.ok_or_else(|| self.error(key, format!("`{key}` is a list of texts")))
    }

    /// A whole number of a range.
    pub(super) fn whole(
        &mut self,
        key: &'static str,
        range: Range<i64>,
    ) -> Result<Option<i64>, ScriptError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        match item.as_integer().filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.error(
                key,
                format!(
                    "`{key}`: expected a whole number from {} to {}",
                    range.start,
                    range.end - 1
                ),
            )),
        }
    }

    /// `true` or `false`.
    pub(super) fn truth(&mut self, key: &'static str) -> Result<Option<bool>, ScriptError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        let truth = item.as_bool();
        truth.map(Some).ok_or_else(|| {
            self.error(key, format!("`{key}` is {}; expected true or false", kind(item)))
        })
    }

    /// Keys with scalar values, in their order.
    pub(super) fn pairs(
        &mut self,
        key: &'static str,
    ) -> Result<Vec<(String, String)>, ScriptError> {
        let Some(item) = self.item(key) else { return Ok(Vec::new()) };
        let Some(table) = item.as_table_like() else {
            return Err(self.error(key, format!("`{key}` is {}; expected a table", kind(item))));
        };
        let mut pairs = Vec::new();
        for (name, item) in table.iter() {
            let Some(value) = item.as_value().and_then(scalar) else {
                let message = format!("`{name}` is {}; expected a text", kind(item));
                return Err(self.source.error(item.span().or_else(|| self.span()), message));
            };
            pairs.push((name.to_owned(), value));
        }
        Ok(pairs)
    }

    /// A table within.
    pub(super) fn table(&mut self, key: &'static str) -> Result<Option<Fields<'a>>, ScriptError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        match item.as_table_like() {
            Some(table) => {
                let at = self.key_span(key).or_else(|| item.span());
                Ok(Some(Fields::new(self.source, table, key, at)))
            }
            None => Err(self.error(key, format!("`{key}` is {}; expected a table", kind(item)))),
        }
    }

    /// The tables of a list.
    pub(super) fn tables(&mut self, key: &'static str) -> Result<Vec<Fields<'a>>, ScriptError> {
        let source = self.source;
        match self.item(key) {
            None => Ok(Vec::new()),
            Some(Item::ArrayOfTables(list)) => {
                Ok(list.iter().map(|table| Fields::new(source, table, key, table.span())).collect())
            }
            Some(Item::Value(Value::Array(list))) => list
                .iter()
                .map(|value| match value.as_inline_table() {
                    Some(table) => Ok(Fields::new(source, table, key, value.span())),
                    None => Err(source.error(value.span(), format!("`{key}` is a list of tables"))),
                })
                .collect(),
            Some(item) => {
                let message = format!("`{key}` is {}; write `[[{key}]]` for each", kind(item));
                Err(self.error(key, message))
            }
        }
    }

    /// Any value as JSON.
    pub(super) fn json(
        &mut self,
        key: &'static str,
    ) -> Result<Option<serde_json::Value>, ScriptError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        match json(item) {
            Some(value) => Ok(Some(value)),
            None => Err(self.error(key, format!("`{key}` has a date or a number JSON has not"))),
        }
    }

    /// Refuses every key that was not asked for.
    pub(super) fn finish(&self) -> Result<(), ScriptError> {
        for (name, item) in self.table.iter() {
            if self.known.contains(&name) {
                continue;
            }
            let near = nearest(name, &self.known);
            let known: Vec<String> = self.known.iter().map(|key| format!("`{key}`")).collect();
            let message = format!(
                "unknown key `{}` of {}{near}; expected one of {}",
                name.escape_debug(),
                self.what,
                known.join(", ")
            );
            return Err(self.source.error(self.key_span(name).or_else(|| item.span()), message));
        }
        Ok(())
    }
}

/// `; nearest \`x\`` for a likely slip, or nothing.
pub(super) fn nearest(word: &str, known: &[&str]) -> String {
    if word.len() > 160 {
        return String::new();
    }
    let near = known
        .iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance);
    near.map_or(String::new(), |(_, candidate)| format!("; nearest `{candidate}`"))
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.value().clone()),
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Float(number) => Some(number.value().to_string()),
        Value::Boolean(truth) => Some(truth.value().to_string()),
        _ => None,
    }
}

fn kind(item: &Item) -> &'static str {
    match item {
        Item::None => "nothing",
        Item::Table(_) => "a table",
        Item::ArrayOfTables(_) => "a list of tables",
        Item::Value(value) => match value {
            Value::String(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "a truth",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "a list",
            Value::InlineTable(_) => "a table",
        },
    }
}

/// The parser bounds how deep values are nested, and with it this recursion.
fn json(item: &Item) -> Option<serde_json::Value> {
    match item {
        Item::None => None,
        Item::Value(value) => value_json(value),
        Item::Table(table) => table_json(table),
        Item::ArrayOfTables(list) => list
            .iter()
            .map(|table| table_json(table))
            .collect::<Option<_>>()
            .map(serde_json::Value::Array),
    }
}

fn table_json(table: &dyn TableLike) -> Option<serde_json::Value> {
    table
        .iter()
        .map(|(key, item)| Some((key.to_owned(), json(item)?)))
        .collect::<Option<_>>()
        .map(serde_json::Value::Object)
}

fn value_json(value: &Value) -> Option<serde_json::Value> {
    Some(match value {
        Value::String(text) => text.value().clone().into(),
        Value::Integer(number) => (*number.value()).into(),
        Value::Float(number) => serde_json::Number::from_f64(*number.value())?.into(),
        Value::Boolean(truth) => (*truth.value()).into(),
        Value::Datetime(_) => return None,
        Value::Array(list) => {
            serde_json::Value::Array(list.iter().map(value_json).collect::<Option<_>>()?)
        }
        Value::InlineTable(table) => table_json(table)?,
    })
}
