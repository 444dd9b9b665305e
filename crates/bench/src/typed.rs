//! Tables of `[target.N]` and `[scenario.N]` as the types of the plan; `[load.N]` in a file of its own.
//!
//! Each `..._keys` function checks a table as written; its reader, given the effective table of
//! a cell, returns the value. Both walk the same keys.

use record::mock::{MockConfig, MockConfigError};
use record::plan::{
    BodyCheck, Expect, Fresh, Ready, Scenario, Stop, Target, TargetKind, VersionPin,
};

use crate::node::{Node, Value};
use crate::problem::Report;
use crate::read::{self, Bad, Fields, Read, Reading, Whole};
use crate::source::At;

mod load;

pub(crate) use load::{LOAD_KINDS, extent, load, load_keys};

/// Kinds of a target.
pub(crate) const TARGET_KINDS: [&str; 3] = ["command", "mock", "url"];
/// Kinds of a scenario: HTTP methods.
pub const METHODS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];
/// Signals that can end a process.
const SIGNALS: [&str; 7] = ["TERM", "INT", "HUP", "QUIT", "KILL", "USR1", "USR2"];
/// Headers that assay writes itself.
const OWN_HEADERS: [&str; 3] = ["content-length", "transfer-encoding", "connection"];
/// A mock is up as soon as it has bound its port, ns.
const MOCK_BRING_UP_NS: u64 = 200_000_000;

const PORT: Whole = Whole { min: 1, max: 65_535 };

/// Checks the keys of a target as written.
pub(crate) fn target_keys(fields: &mut Fields<'_>, name: &str, reading: &Reading) {
    target(fields, name, reading);
}

/// Checks the keys of a scenario as written.
pub(crate) fn scenario_keys(fields: &mut Fields<'_>, name: &str, reading: &Reading) {
    scenario(fields, name, reading);
    let mut load_fields = fields.table("load", reading);
    load_keys(&mut load_fields, "", reading);
    load_fields.finish(reading);
    fields.get("only", reading, read::texts);
}

/// Reads a target; `None` when it has no single kind or the kind was refused.
pub(crate) fn target(fields: &mut Fields<'_>, name: &str, reading: &Reading) -> Option<Target> {
    let kind = fields.one_of("target", name, &TARGET_KINDS, reading);
    let command = fields.get("command", reading, read::command);
    let url = fields.get("url", reading, url);
    let mut mock_fields = fields.table("mock", reading);
    let mock = mock(&mut mock_fields, reading);
    mock_fields.finish(reading);
    let address = address(fields, reading);
    let env = fields.get("env", reading, environment).unwrap_or_default();
    let cwd = fields.get("cwd", reading, read::scalar);
    let mut stop_fields = fields.table("stop", reading);
    let stop = Stop {
        signal: stop_fields
            .get("signal", reading, read::word("signal", &SIGNALS))
            .unwrap_or("TERM")
            .to_owned(),
        grace_ns: stop_fields.get("grace", reading, read::duration).unwrap_or(0),
    };
    stop_fields.finish(reading);
    let ready = ready(fields, reading);
    let fresh = fields.get("fresh", reading, fresh).unwrap_or(Fresh::Run);
    let bring_up = fields.raw("bring_up", reading);
    let bring_up_ns = fields.get("bring_up", reading, read::duration).unwrap_or(0);
    fields.table("vars", reading);
    let version = version(fields, reading);

    let kind_name = kind?;
    let (kind, address, bring_up_ns) = match kind_name {
        "command" => (TargetKind::Command(command?), address, bring_up_ns),
        "mock" => {
            let mut mock = mock?;
            if let Some(address) = &address {
                mock.listen.clone_from(address);
            }
            let is_default = bring_up.is_none_or(|node| node.origin.as_deref() == Some("default"));
            (
                TargetKind::Mock(Box::new(mock)),
                address,
                if is_default { MOCK_BRING_UP_NS } else { bring_up_ns },
            )
        }
        _ => {
            let (url, host) = url?;
            (TargetKind::Url(url), Some(host), 0)
        }
    };
    if reading.is_effective() && kind_name == "command" && address.is_none() {
        let message = format!("target `{name}` has no `address`");
        let help = "write `address = \"127.0.0.1:8080\"`; with port 0 a free one is chosen, \
                    known to the command as `${target.port}`";
        reading.report(Report::at(fields.at, message).help(help));
    }
    if reading.is_effective() {
        refuse_for_kind(fields, name, kind_name, reading);
    }
    Some(Target {
        name: name.to_owned(),
        kind,
        address,
        env: env.into_iter().collect(),
        cwd,
        stop,
        ready,
        fresh,
        bring_up_ns,
        version,
        slow_share: None,
    })
}

/// Refuses what could have no effect: the settings of a process on something that is none.
fn refuse_for_kind(fields: &mut Fields<'_>, name: &str, kind: &str, reading: &Reading) {
    let (keys, why): (&[&'static str], &str) = match kind {
        "url" => (
            &["address", "env", "cwd", "stop", "bring_up", "version"],
            "it runs already and is never started or patched",
        ),
        "mock" => (&["cwd", "env", "version"], "it is assay's own"),
        _ => return,
    };
    for key in keys {
        let Some(node) = fields.raw(key, reading) else { continue };
        if let Some(at) = given_place(node) {
            let message = format!("`{key}` has no effect on target `{name}`, a `{kind}`");
            reading.report(Report::at(at, message).help(why));
        }
    }
}

/// The place of the first value in a node that is no default: where its key is.
pub(crate) fn given_place(node: &Node) -> Option<At> {
    match node.as_table() {
        Some(table) => table.values().find_map(given_place),
        None => (node.origin.as_deref() != Some("default")).then_some(node.key),
    }
}

fn mock(fields: &mut Fields<'_>, reading: &Reading) -> Option<MockConfig> {
    let mut config = MockConfig::default();
    let mut good = true;
    for key in MockConfig::KEYS.iter().copied().filter(|key| *key != "listen") {
        let Some(node) = fields.raw(key, reading) else { continue };
        if !reading.is_effective() && node.has_placeholder() {
            continue;
        }
        let several = key == "fail";
        let elements = match node.as_list() {
            Some(list) if several => list,
            _ => std::slice::from_ref(node),
        };
        for element in elements {
            let set = element.scalar_text().map_or_else(
                || Err(Bad::new(format!("{} is no value of `{key}`", element.shown()))),
                |text| config.set(key, &text).map_err(mock_fault),
            );
            if let Err(bad) = set {
                reading.refuse(element, bad);
                good = false;
            }
        }
    }
    good.then_some(config)
}

fn mock_fault(error: MockConfigError) -> Bad {
    Bad::new(error.to_string())
}

fn address(fields: &mut Fields<'_>, reading: &Reading) -> Option<String> {
    let node = fields.raw("address", reading)?;
    if node.as_table().is_some() {
        let mut inner = fields.table("address", reading);
        let address = inner.get("http", reading, host_port);
        inner.finish(reading);
        address
    } else {
        fields.get("address", reading, host_port)
    }
}

fn environment(node: &Node) -> Read<Vec<(String, String)>> {
    let pairs = read::scalars(node)?;
    match pairs.iter().find(|(key, _)| key.is_empty() || key.contains(['=', '\0'])) {
        Some((key, _)) => {
            Err(Bad::new(format!("`{}` is no name of a variable", key.escape_debug())))
        }
        None => Ok(pairs),
    }
}

/// `host:port`; an IPv6 host in brackets.
fn host_port(node: &Node) -> Read<String> {
    let text = read::text(node)?;
    if is_host_port(&text) {
        Ok(text)
    } else {
        let message = format!("{} is no address; write `\"127.0.0.1:8080\"`", node.shown());
        Err(Bad::new(message))
    }
}

fn is_host_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let host_is_good = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inside) => inside.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
        }
    };
    digits && port.parse::<u16>().is_ok() && host_is_good
}

/// `http://host[:port]`, with its address.
fn url(node: &Node) -> Read<(String, String)> {
    let text = read::text(node)?;
    let bad = || {
        Bad::new(format!("{} is no target; write `\"http://host:port\"`", node.shown()))
            .help("plain HTTP, without a path: scenarios hold the paths")
    };
    let host = text.strip_prefix("http://").ok_or_else(bad)?;
    let host = host.strip_suffix('/').unwrap_or(host);
    let with_port = if is_host_port(host) { host.to_owned() } else { format!("{host}:80") };
    if is_host_port(&with_port) && with_port.rsplit(':').next() != Some("0") {
        Ok((format!("http://{host}"), with_port))
    } else {
        Err(bad())
    }
}

fn fresh(node: &Node) -> Read<Fresh> {
    let word = read::word("fresh", &["run", "change", "matrix"])(node)?;
    Ok(match word {
        "change" => Fresh::Change,
        "matrix" => Fresh::Matrix,
        _ => Fresh::Run,
    })
}

fn ready(fields: &mut Fields<'_>, reading: &Reading) -> Ready {
    let mut inner = fields.table("ready", reading);
    let both = [inner.raw("get", reading), inner.raw("line", reading)];
    if let [Some(_), Some(line)] = both {
        reading.report(Report::at(line.key, "`ready` has both `get` and `line`; write one"));
    }
    let ready = Ready {
        port: inner
            .get("port", reading, |node| PORT.read(node))
            .and_then(|port| u16::try_from(port).ok()),
        get: inner.get("get", reading, path),
        line: inner.get("line", reading, |node| {
            let line = read::text(node)?;
            if line.is_empty() || line.contains('\n') {
                return Err(Bad::new("`line` is part of one line of the target's output"));
            }
            Ok(line)
        }),
        within_ns: inner.get("within", reading, read::some_duration).unwrap_or(0),
    };
    inner.finish(reading);
    ready
}

fn version(fields: &mut Fields<'_>, reading: &Reading) -> Option<VersionPin> {
    let has = fields.has("version", reading);
    let mut inner = fields.table("version", reading);
    let command = inner.get("command", reading, read::command);
    let is = inner.get("is", reading, read::scalar);
    if has && reading.is_effective() && !inner.has("command", reading) {
        let message = "`version` has no `command`; write `[\"./server\", \"--version\"]`";
        reading.report(Report::at(inner.at, message));
    }
    inner.finish(reading);
    Some(VersionPin { command: command?, is })
}

/// Reads a scenario; `None` when it has no single method or its path was refused.
pub(crate) fn scenario(fields: &mut Fields<'_>, name: &str, reading: &Reading) -> Option<Scenario> {
    let kind = fields.one_of("scenario", name, &METHODS, reading);
    let mut found = None;
    for method in METHODS {
        if let Some(path) = fields.get(method, reading, path) {
            found.get_or_insert(path);
        }
    }
    let headers = fields.get("headers", reading, headers).unwrap_or_default();
    let body = fields.get("body", reading, |node| {
        read::text(node).map_err(|bad| bad.help("a body is text; quote it"))
    });
    fields.table("vars", reading);
    let mut inner = fields.table("expect", reading);
    let expect = Expect {
        status: inner.get("status", reading, statuses).unwrap_or_default(),
        body: body_check(&mut inner, reading),
        size_bytes: inner.get("size", reading, read::size),
    };
    inner.finish(reading);
    Some(Scenario {
        name: name.to_owned(),
        method: kind?.to_uppercase(),
        path: found?,
        headers,
        body,
        expect,
    })
}

/// A path with query as it goes on the request line.
fn path(node: &Node) -> Read<String> {
    let text = read::scalar(node)?;
    if text.starts_with('/') && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(text);
    }
    let help = if text.starts_with("http") {
        "the host is the target's; a scenario holds the path alone"
    } else {
        "a path starts with `/`; other characters than visible ASCII are %-encoded"
    };
    Err(Bad::new(format!("{} is no path; write `\"/path\"`", node.shown())).help(help))
}

fn headers(node: &Node) -> Read<Vec<(String, String)>> {
    let pairs = read::scalars(node)?;
    check_headers(&pairs).map_err(Bad::new)?;
    Ok(pairs)
}

/// Checks the headers of a request, by name and value.
///
/// # Errors
/// What is wrong with the first that cannot be sent: no name, a line break, a header that assay writes
/// itself, one given twice.
pub fn check_headers(headers: &[(String, String)]) -> Result<(), String> {
    let mut seen: Vec<String> = Vec::new();
    for (name, value) in headers {
        let lower = name.to_ascii_lowercase();
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(token) {
            return Err(format!("`{}` is no header name", name.escape_debug()));
        }
        if value.contains(['\r', '\n']) {
            return Err(format!("header `{name}` contains a line break"));
        }
        if OWN_HEADERS.contains(&lower.as_str()) {
            return Err(format!("header `{name}` is written by assay itself"));
        }
        if seen.contains(&lower) {
            return Err(format!("header `{name}` is given twice"));
        }
        seen.push(lower);
    }
    Ok(())
}

fn statuses(node: &Node) -> Read<Vec<u16>> {
    let one = |node: &Node| {
        let code = Whole { min: 200, max: 599 }.read(node);
        let code = code.map_err(|_| {
            Bad::new(format!("{} is no status of an answer; from 200 to 599", node.shown()))
        })?;
        Ok(u16::try_from(code).unwrap_or(u16::MAX))
    };
    match &node.value {
        Value::List(list) if list.is_empty() => Err(Bad::new("no status is accepted")),
        Value::List(_) => read::list(node, one),
        _ => one(node).map(|code| vec![code]),
    }
}

fn body_check(expect: &mut Fields<'_>, reading: &Reading) -> Option<BodyCheck> {
    let node = expect.raw("body", reading)?;
    if node.as_table().is_none() {
        return expect.get("body", reading, read::text).map(BodyCheck::Equals);
    }
    let mut inner = expect.table("body", reading);
    let contains = inner.get("contains", reading, |node| {
        let text = read::text(node)?;
        if text.is_empty() { Err(Bad::new("every body contains the empty text")) } else { Ok(text) }
    });
    if !inner.has("contains", reading) {
        let message = "`body` is text or `{ contains = \"...\" }`";
        reading.report(Report::at(node.at, message));
    }
    inner.finish(reading);
    contains.map(BodyCheck::Contains)
}

/// The kind keys of a section, which replace one another when a layer brings another kind.
pub(crate) fn replaceable_kinds(root: &str) -> &'static [&'static str] {
    match root {
        "scenario" => &METHODS,
        "load" => &LOAD_KINDS,
        // Another kind of target is another target: a patch such as `target.mock.latency` must
        // not turn a server into a mock.
        _ => &[],
    }
}
