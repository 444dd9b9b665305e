//! `[server]` and `[[endpoint]]` of a script.

use std::sync::Arc;

use record::mock::MockConfig;
use record::units;

use super::fields::{Fields, nearest};
use super::{Endpoint, Fixed, Items, Kind, Loader, Pattern, ScriptError};
use crate::answer;
use crate::limits::BODY_MAX_BYTES;

/// Settings that only a server as a whole has.
const SERVER: [&str; 7] =
    ["seed", "serialise", "workers", "queue", "dip", "rate_limit", "truth_header"];
/// Settings of every endpoint; the words of the flags.
const OWN: [&str; 8] =
    ["latency", "fail", "cold", "drift", "slow_after", "spike", "stall", "close"];
/// Methods that the nearest word is looked for among.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
/// Headers that the mock writes itself.
const OWN_HEADERS: [&str; 3] = ["content-length", "transfer-encoding", "connection"];

/// Reads `[server]` into the configuration.
pub(super) fn server(fields: &mut Fields<'_>, config: &mut MockConfig) -> Result<(), ScriptError> {
    for key in SERVER {
        set(fields, config, key)?;
    }
    set(fields, config, "body_size")?;
    settings(fields, config)
}

/// Reads the settings that every endpoint may have over those of the server.
pub(super) fn settings(
    fields: &mut Fields<'_>,
    config: &mut MockConfig,
) -> Result<(), ScriptError> {
    for key in OWN {
        set(fields, config, key)?;
    }
    Ok(())
}

fn set(
    fields: &mut Fields<'_>,
    config: &mut MockConfig,
    key: &'static str,
) -> Result<(), ScriptError> {
    let values = fields.scalars(key)?;
    if key == "fail" && fields.item(key).is_some() {
        config.fail.clear();
    }
    for value in values {
        config.set(key, &value).map_err(|error| fields.error(key, format!("`{key}`: {error}")))?;
    }
    Ok(())
}

/// Reads one `[[endpoint]]`.
pub(super) fn endpoint(
    fields: &mut Fields<'_>,
    server: &MockConfig,
    load: Loader<'_>,
) -> Result<Endpoint, ScriptError> {
    let mut endpoint = base(fields, server, None)?;
    if let Some(method) = fields.text("method")? {
        let good = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        if !good || method.len() > 20 {
            let near = nearest(&method.to_ascii_uppercase(), &METHODS);
            let message = format!("`{}` is no method{near}", method.escape_debug());
            return Err(fields.error("method", message));
        }
        endpoint.method = Some(method.to_owned());
        endpoint.name = format!("{method} {}", endpoint.name);
    }
    endpoint.closes = match fields.text("connection")? {
        None | Some("keep-alive") => false,
        Some("close") => true,
        Some(other) => {
            let near = nearest(other, &["close", "keep-alive"]);
            let message =
                format!("`{}`{near}; expected `close` or `keep-alive`", other.escape_debug());
            return Err(fields.error("connection", message));
        }
    };
    let fixed = fixed(fields, &mut endpoint.config, load)?;
    endpoint.kind = Kind::Fixed(fixed);
    Ok(endpoint)
}

/// An endpoint's path, settings and costs; `path` where the family has a usual one.
pub(super) fn base(
    fields: &mut Fields<'_>,
    server: &MockConfig,
    path: Option<&str>,
) -> Result<Endpoint, ScriptError> {
    let Some(path) = fields.text("path")?.or(path) else {
        return Err(fields.error("path", "no `path`; write `path = \"/items/{id}\"`"));
    };
    let pattern = Pattern::read(path).map_err(|message| fields.error("path", message))?;
    let mut config = server.clone();
    settings(fields, &mut config)?;
    let per_item_ns = match fields.text("per_item")? {
        Some(text) => {
            units::duration_ns(text).map_err(|error| fields.error("per_item", error.to_string()))?
        }
        None => 0,
    };
    let items = match fields.text("items")? {
        None | Some("body") => Items::Body,
        Some(text) => match text.strip_prefix("query:") {
            Some(name) if !name.is_empty() => Items::Query(name.to_owned()),
            _ => {
                let message = format!(
                    "`{}`: expected `body` (elements of a JSON array) or `query:NAME`",
                    text.escape_debug()
                );
                return Err(fields.error("items", message));
            }
        },
    };
    Ok(Endpoint {
        name: path.to_owned(),
        method: None,
        pattern,
        config,
        per_item_ns,
        items,
        closes: false,
        // The caller knows.
        kind: Kind::Decision,
    })
}

fn fixed(
    fields: &mut Fields<'_>,
    config: &mut MockConfig,
    load: Loader<'_>,
) -> Result<Fixed, ScriptError> {
    let status = fields.whole("status", 200..600)?.unwrap_or(200) as u16;
    let kinds = ["body_size", "body", "json", "file"];
    let given: Vec<&str> = kinds.into_iter().filter(|kind| fields.item(kind).is_some()).collect();
    if let [first, second, ..] = given[..] {
        return Err(fields.error(second, format!("both `{first}` and `{second}`; write one")));
    }
    let (content_type, body) = if let Some(text) = fields.text("body")? {
        ("text/plain", text.as_bytes().to_vec())
    } else if let Some(json) = fields.json("json")? {
        ("application/json", json.to_string().into_bytes())
    } else if let Some(file) = fields.text("file")? {
        let bytes = load(file).map_err(|message| fields.error("file", message))?;
        ("application/octet-stream", bytes)
    } else {
        set(fields, config, "body_size")?;
        if config.body_size_bytes > BODY_MAX_BYTES {
            let message = format!("`body_size` is over {BODY_MAX_BYTES} bytes");
            return Err(fields.error("body_size", message));
        }
        ("text/plain", answer::body(config.body_size_bytes as usize))
    };
    config.body_size_bytes = body.len() as u64;
    let mut content_type = content_type.to_owned();
    let mut headers = Vec::new();
    for (name, value) in fields.pairs("headers")? {
        if let Err(message) = header(&name, &value) {
            return Err(fields.error("headers", message));
        }
        if name.eq_ignore_ascii_case("content-type") {
            content_type = value;
        } else {
            headers.push((name, value));
        }
    }
    Ok(Fixed { status, content_type, headers, body: Arc::from(body) })
}

/// Whether a header can be sent as it stands.
pub(super) fn header(name: &str, value: &str) -> Result<(), String> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(format!("`{}` is no name of a header", name.escape_debug()));
    }
    if value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
        return Err(format!("the value of `{name}` has a control character"));
    }
    if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(format!("the mock writes `{name}` itself; see `body` and `connection`"));
    }
    Ok(())
}
