//! Redaction: values under secret-like names become [`REDACTED`] before anything is written.
//!
//! Pure functions over command lines, environments, URLs, free text and plans. A name is split
//! into words (`dbPassword`, `DB_PASSWORD` and `db.password` are the same two), and the words
//! decide. In doubt a value is redacted, except where the name says that it is a size, a time
//! or a place (`token_count`, `session-timeout`, `password_file`) or where a plural name has a
//! plain number (`max_tokens=4096`). What has no telling name is not found: this is a net, not
//! a proof.
//!
//! Every function is idempotent: what is redacted stays as it is.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::plan::{Effective, Plan, Target, TargetKind};

/// What stands in place of a secret.
pub const REDACTED: &str = "<redacted>";

/// Parts of a word that make it a secret wherever they stand: `PGPASSWORD`, `clientsecret`.
const STEMS: [&str; 11] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "credential",
    "authorization",
    "apikey",
    "accesskey",
    "privatekey",
    "sessionid",
    "sessid",
];
/// Whole words that do.
const WORDS: [&str; 4] = ["cookie", "bearer", "session", "jwt"];
/// Two words in a row that do.
const PAIRS: [(&str, &str); 5] =
    [("api", "key"), ("access", "key"), ("private", "key"), ("signing", "key"), ("account", "key")];
/// Plurals that do when they come last, and the value is no plain number.
const PLURALS: [&str; 3] = ["tokens", "cookies", "sessions"];
/// Last words of names whose value is a size, a time or a place, not the secret itself.
const QUALIFIERS: [&str; 24] = [
    "age",
    "count",
    "dir",
    "directory",
    "endpoint",
    "expires",
    "expiry",
    "file",
    "interval",
    "length",
    "lifetime",
    "limit",
    "max",
    "min",
    "ms",
    "name",
    "path",
    "rate",
    "seconds",
    "size",
    "timeout",
    "ttl",
    "uri",
    "url",
];

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Open,
    /// A secret unless it is a plain number.
    Countable,
    Secret,
}

/// Whether values under this name are redacted: `DB_PASSWORD`, `accessToken`, `X-Api-Key`.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    kind(name) != Kind::Open
}

fn kind(name: &str) -> Kind {
    // The working directory of a shell is no password; `Pwd` of a connection string is one.
    if matches!(name, "PWD" | "OLDPWD") {
        return Kind::Open;
    }
    let words = words(name);
    let Some(last) = words.last().map(String::as_str) else { return Kind::Open };
    let several = words.len() > 1;
    if several && QUALIFIERS.contains(&last) {
        return Kind::Open;
    }
    let secret = words.iter().any(|word| {
        STEMS.iter().any(|stem| word.contains(stem))
            || WORDS.contains(&word.as_str())
            || word.ends_with("token")
    });
    let paired = words.windows(2).any(|two| PAIRS.contains(&(&two[0], &two[1])));
    // `DB_PASS` is a password; `pass` alone is what a test does.
    let short = last == "pwd" || (several && last == "pass");
    if secret || paired || short {
        Kind::Secret
    } else if PLURALS.contains(&last) {
        Kind::Countable
    } else {
        Kind::Open
    }
}

/// The words of a name, lower-case: cut at everything that is no letter or digit, and where
/// capitals begin or end (`dbPassword`, `APIKey`).
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| chars[before]);
        let rises = c.is_uppercase() && before.is_some_and(char::is_lowercase);
        let falls = c.is_uppercase()
            && before.is_some_and(char::is_uppercase)
            && chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        if !c.is_alphanumeric() || rises || falls {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn hides(name: &str, value: &str) -> bool {
    match kind(name) {
        Kind::Open => false,
        Kind::Secret => !value.is_empty(),
        Kind::Countable => value.parse::<f64>().is_err() && !value.is_empty(),
    }
}

/// Redacts a command line, argument by argument: `--token X`, `--token=X`, `-Dtoken=X`,
/// `TOKEN=X`, headers, URLs, and whole scripts in one argument.
#[must_use]
pub fn command(arguments: &[String]) -> Vec<String> {
    let mut redacted = Vec::with_capacity(arguments.len());
    // The secret-like flag before, whose value this argument would be.
    let mut flag: Option<&str> = None;
    for argument in arguments {
        let value_of = flag.take().filter(|_| !is_flag(argument));
        if let Some(name) = value_of {
            redacted.push(if hides(name, argument) { REDACTED.into() } else { text(argument) });
            continue;
        }
        if is_flag(argument) && is_name(argument) && is_secret_name(bare(argument)) {
            flag = Some(bare(argument));
        }
        redacted.push(whole(argument));
    }
    redacted
}

/// Redacts one argument that may be a single `name=value` or a header: then the value reaches
/// to the argument's end, blanks included.
fn whole(argument: &str) -> String {
    if let Some((name, value)) = argument.split_once('=').filter(|(name, _)| is_name(name)) {
        let value = value_of(bare(name), value);
        return format!("{name}={value}");
    }
    if let Some((name, value)) = argument.split_once(':').filter(|(name, _)| is_name(name)) {
        let rest = value.trim_start();
        if !rest.starts_with("//") && !rest.starts_with(':') && hides(name, rest) {
            return format!("{name}:{}{REDACTED}", &value[..value.len() - rest.len()]);
        }
    }
    text(argument)
}

/// The value of a name that is given apart, as in an environment or a header.
fn value_of(name: &str, value: &str) -> String {
    if hides(name, value) { REDACTED.to_owned() } else { text(value) }
}

/// Redacts an environment, or any map from names to values.
#[must_use]
pub fn environment(variables: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    variables.iter().map(|(name, value)| (name.clone(), value_of(name, value))).collect()
}

/// Redacts headers.
#[must_use]
pub fn headers(headers: &[(String, String)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| (name.clone(), value_of(name, value))).collect()
}

/// Redacts a URL, or a path with a query: the password before `@` (or all that stands there
/// when it has no colon: it may be a token) and secret-like parameters.
#[must_use]
pub fn url(url: &str) -> String {
    text(url)
}

/// Redacts a JSON value: everything under a secret-like key, and inside strings.
#[must_use]
pub fn json(value: &Value) -> Value {
    match value {
        Value::String(string) => Value::String(text(string)),
        Value::Array(items) => Value::Array(items.iter().map(json).collect()),
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, value)| (name.clone(), member(name, value))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn member(name: &str, value: &Value) -> Value {
    let hidden = match value {
        Value::Null => false,
        Value::String(string) => hides(name, string),
        Value::Number(number) => hides(name, &number.to_string()),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => is_secret_name(name),
    };
    if hidden { Value::String(REDACTED.to_owned()) } else { json(value) }
}

/// Redacts what a run was made of. The body of a request is left alone: it is part of what was
/// measured, and its checks refer to it.
#[must_use]
pub fn effective(effective: &Effective) -> Effective {
    let mut effective = effective.clone();
    effective.target = target(&effective.target);
    effective.scenario.path = url(&effective.scenario.path);
    effective.scenario.headers = headers(&effective.scenario.headers);
    effective.vars =
        effective.vars.iter().map(|(name, value)| (name.clone(), member(name, value))).collect();
    effective
}

fn target(target: &Target) -> Target {
    let mut target = target.clone();
    target.env = environment(&target.env);
    target.kind = match target.kind {
        TargetKind::Command(argv) => TargetKind::Command(command(&argv)),
        TargetKind::Mock(config) => TargetKind::Mock(config),
        TargetKind::Url(address) => TargetKind::Url(url(&address)),
    };
    target.ready.get = target.ready.get.map(|path| url(&path));
    if let Some(version) = &mut target.version {
        version.command = command(&version.command);
    }
    target
}

/// Redacts a plan before it is written.
#[must_use]
pub fn plan(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for cell in &mut plan.cells {
        cell.effective = effective(&cell.effective);
        cell.origins =
            cell.origins.iter().map(|(path, origin)| (path.clone(), text(origin))).collect();
    }
    plan.notes = plan.notes.iter().map(|note| text(note)).collect();
    plan
}

/// `-x`, `--word`; not a lone dash, nor a value such as `-aB3.x!`.
fn is_flag(argument: &str) -> bool {
    match argument.strip_prefix("--") {
        Some(rest) => rest.starts_with(|c: char| c.is_ascii_alphabetic()),
        None => {
            argument.len() > 1
                && argument.starts_with('-')
                && argument[1..].starts_with(|c: char| c.is_ascii_alphabetic())
                && (argument.len() == 2 || is_name(argument) && is_secret_name(bare(argument)))
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_name_char)
}

/// A name without the dashes of a flag and the `-D` of a property.
fn bare(name: &str) -> &str {
    name.strip_prefix("-D").unwrap_or(name).trim_start_matches('-')
}

/// Redacts free text: log lines, messages, scripts. Found are `name=value`, `name: value`, JSON
/// members, `--name value`, `Bearer value` and the password of a URL. An unquoted value ends at
/// a blank, a quote or `&`; that of an `Authorization` or `Cookie` header at the line's end.
#[must_use]
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut before = None;
    while let Some(c) = text[at..].chars().next() {
        if text[at..].starts_with("://") {
            let (shown, consumed) = userinfo(&text[at + 3..]);
            out.push_str("://");
            out.push_str(&shown);
            at += 3 + consumed;
            before = Some('/');
            continue;
        }
        if !is_name_char(c) {
            out.push(c);
            at += c.len_utf8();
            before = Some(c);
            continue;
        }
        let rest = &text[at..];
        let name = &rest[..rest.find(|c| !is_name_char(c)).unwrap_or(rest.len())];
        out.push_str(name);
        at += name.len();
        if let Some((between, value)) = value_after(name, before, &text[at..]) {
            out.push_str(&text[at..at + between]);
            out.push_str(REDACTED);
            at += between + value;
            before = None;
        } else {
            before = name.chars().last();
        }
    }
    out
}

/// The length of what stands between a secret-like name and its value, and of the value.
fn value_after(name: &str, before: Option<char>, after: &str) -> Option<(usize, usize)> {
    let blanks = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    if name.eq_ignore_ascii_case("bearer") {
        let between = blanks(after);
        let value = word_length(&after[between..]);
        return (between > 0 && value > 0).then_some((between, value));
    }
    if !is_secret_name(bare(name)) {
        return None;
    }
    // The quote around a JSON key, perhaps escaped; an open quote otherwise surrounds it all.
    let outer = before.filter(|c| matches!(c, '"' | '\''));
    let slash = usize::from(after.starts_with("\\\""));
    let closes = outer.is_some_and(|quote| after[slash..].starts_with(quote));
    let mut between = if closes { slash + 1 } else { 0 };
    between += blanks(&after[between..]);
    let delimiter = after[between..].chars().next();
    match delimiter {
        Some('=' | ':') => {
            between += 1;
            let next = &after[between..];
            if next.starts_with(['=', ':']) || next.starts_with("//") {
                return None;
            }
            between += blanks(next);
        }
        // `--name value`
        Some(_) if name.starts_with('-') && between > 0 && !closes => {
            let word = &after[between..][..word_length(&after[between..])];
            if is_flag(word) {
                return None;
            }
        }
        _ => return None,
    }
    let mut rest = &after[between..];
    let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
    for open in ["\\\"", "\"", "'"] {
        if let Some(quoted) = rest.strip_prefix(open) {
            between += open.len();
            let end = closing(quoted, open).unwrap_or(line - open.len());
            let value = &quoted[..end];
            return hides(bare(name), value).then_some((between, end));
        }
    }
    rest = &rest[..line];
    let is_header = delimiter == Some(':') && {
        let lower = name.to_ascii_lowercase();
        lower.ends_with("authorization") || lower.ends_with("cookie")
    };
    let value = if is_header {
        let enclosed = outer.filter(|_| !closes).and_then(|quote| rest.find(quote));
        rest[..enclosed.unwrap_or(rest.len())].trim_end().len()
    } else {
        let first = word_length(rest);
        // `token: Bearer x`: the scheme is no value.
        let scheme = ["bearer", "basic"].iter().any(|s| rest[..first].eq_ignore_ascii_case(s));
        let gap = blanks(&rest[first..]);
        let second = word_length(&rest[first + gap..]);
        if scheme && gap > 0 && second > 0 { first + gap + second } else { first }
    };
    hides(bare(name), &rest[..value]).then_some((between, value))
}

/// The length of an unquoted value.
fn word_length(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '&')).unwrap_or(text.len())
}

/// Where a quoted value ends: at the same quote, not escaped, on the same line.
fn closing(text: &str, open: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if matches!(c, '\n' | '\r') {
            return None;
        }
        if open.len() == 2 {
            if text[at..].starts_with(open) {
                return Some(at);
            }
        } else if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if text[at..].starts_with(open) {
            return Some(at);
        }
    }
    None
}

/// The userinfo after `://`, redacted with its `@`, and how much of the text it takes.
fn userinfo(after: &str) -> (String, usize) {
    let end =
        after.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')).unwrap_or(after.len());
    let word = &after[..end];
    let authority = &word[..word.find(['/', '?', '#']).unwrap_or(word.len())];
    let at = authority.rfind('@').or_else(|| {
        // A password with a slash cuts the authority short; what follows the colon is then no
        // port.
        let (_, port) = authority.rsplit_once(':')?;
        let is_port = port.chars().all(|c| c.is_ascii_digit());
        if is_port { None } else { word.find('@') }
    });
    match at {
        None | Some(0) => (String::new(), 0),
        Some(at) => {
            let shown = match word[..at].split_once(':') {
                Some((_, "")) => word[..at].to_owned(),
                Some((user, _)) => format!("{user}:{REDACTED}"),
                None => REDACTED.to_owned(),
            };
            (format!("{shown}@"), at + 1)
        }
    }
}

#[cfg(test)]
mod tests;
