use super::*;

const ALL: &str = r#"
[server]
latency = "5ms"
workers = 8

[[endpoint]]
method = "GET"
path = "/items/{id}"
latency = "normal:10ms:2ms"
fail = ["1%:status=503", "1%:reset"]
body = "hello"
headers = { X-Kind = "item", Content-Type = "text/html" }

[[endpoint]]
path = "/batch"
per_item = "2ms"
items = "query:n"
status = 201
json = { made = [1, 2.5, "x"], ok = true }
connection = "close"

[[endpoint]]
path = "/file"
file = "body.bin"

[oauth]
clients = { shop = "secret" }
users = { alice = "pw" }
lifetime = "5m"

[decision]
default = false
[[decision.rule]]
subject = "alice"
action = "read"
resource = "doc-*"
decision = true

[rpc]
headers = { X-Api = "*" }
methods = { echo = "${params}", answer = 42 }
"#;

fn read(text: &str) -> Result<Script, ScriptError> {
    let load = |name: &str| match name {
        "body.bin" => Ok(b"\0\x01".to_vec()),
        _ => Err(format!("cannot read `{name}`: not there")),
    };
    Script::read("shop.toml", text, &MockConfig::default(), &load)
}

#[test]
fn everything_a_script_can_say() {
    let script = read(ALL).expect("a good script");
    assert_eq!((script.config.latency_ns, script.config.workers), (5_000_000, Some(8)));
    let names: Vec<&str> = script.endpoints.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "GET /items/{id}",
            "/batch",
            "/file",
            "POST /oauth/token",
            "POST /oauth/introspect",
            "POST /oauth/revoke",
            "GET /oauth/authorize",
            "GET /oauth/userinfo",
            "GET /oauth/jwks",
            "GET /oauth/.well-known/openid-configuration",
            "POST /access/v1/evaluation",
            "POST /rpc",
        ]
    );
    let [items, batch, file, ..] = &script.endpoints[..] else { panic!("checked above") };
    assert_eq!((items.config.latency_ns, items.config.fail.len()), (10_000_000, 2));
    // What an endpoint does not say it has from the server.
    assert_eq!((batch.config.latency_ns, batch.per_item_ns), (5_000_000, 2_000_000));
    assert_eq!((&batch.items, batch.closes), (&Items::Query("n".to_owned()), true));
    let fixed = |endpoint: &Endpoint| match &endpoint.kind {
        Kind::Fixed(fixed) => fixed.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(fixed(items).content_type, "text/html");
    assert_eq!(fixed(items).headers, [("X-Kind".to_owned(), "item".to_owned())]);
    assert_eq!(
        (fixed(batch).status, &*fixed(batch).body),
        (201, &b"{\"made\":[1,2.5,\"x\"],\"ok\":true}"[..])
    );
    assert_eq!(&*fixed(file).body, b"\0\x01");
}

/// One endpoint with a line of its own at line 3.
fn fault(line: &str) -> String {
    read(&format!("[[endpoint]]\npath = \"/\"\n{line}\n")).expect_err("a fault").to_string()
}

#[test]
fn a_fault_names_its_place_what_was_expected_and_the_nearest_word() {
    let faults: Vec<String> = [
        "latncy = \"1ms\"",
        "latency = \"1\"",
        "latency = [1, [2]]",
        "fail = \"200%:body\"",
        "method = \"get\"",
        "connection = \"closed\"",
        "status = 700",
        "items = \"header\"",
        "per_item = 3",
        "body = \"a\"\njson = 1",
        "file = \"none\"",
        "headers = { \"a b\" = \"c\" }",
        "headers = { a = \"b\\nc\" }",
        "headers = { Content-Length = 3 }",
        "json = 1979-05-27",
        "body_size = \"2GiB\"",
        "x = ",
    ]
    .map(fault)
    .into();
    insta::assert_snapshot!(faults.join("\n"), @r#"
    shop.toml:3:1: unknown key `latncy` of endpoint; nearest `latency`; expected one of `path`, `latency`, `fail`, `cold`, `drift`, `slow_after`, `spike`, `stall`, `close`, `per_item`, `items`, `method`, `connection`, `status`, `body_size`, `body`, `json`, `file`, `headers`
    shop.toml:3:11: `latency`: `1` is not a duration; write `"1s"`
    shop.toml:3:11: `latency` is a list of texts
    shop.toml:3:8: `fail`: `200%` is not a share of requests; write `1%`
    shop.toml:3:10: `get` is no method; nearest `GET`
    shop.toml:3:14: `closed`; nearest `close`; expected `close` or `keep-alive`
    shop.toml:3:10: `status`: expected a whole number from 200 to 599
    shop.toml:3:9: `header`: expected `body` (elements of a JSON array) or `query:NAME`
    shop.toml:3:12: `per_item` is a whole number; expected a text
    shop.toml:4:8: both `body` and `json`; write one
    shop.toml:3:8: cannot read `none`: not there
    shop.toml:3:11: `a b` is no name of a header
    shop.toml:3:11: the value of `a` has a control character
    shop.toml:3:11: the mock writes `Content-Length` itself; see `body` and `connection`
    shop.toml:3:8: `json` has a date or a number JSON has not
    shop.toml:3:13: `body_size` is over 1073741824 bytes
    shop.toml:3:5: string values must be quoted, expected literal string
    "#);
}

#[test]
fn a_script_is_refused_as_a_whole() {
    let faults: Vec<String> = [
        "",
        "[[endpont]]\npath = \"/\"",
        "[endpoint]\npath = \"/\"",
        "[[endpoint]]\nmethod = \"GET\"",
        "[[endpoint]]\npath = \"a\"",
        "[[endpoint]]\npath = \"/a\"\n[[endpoint]]\npath = \"/a\"",
        "[server]\nlisten = \"127.0.0.1:1\"",
        "[oauth]\nlifetime = \"1h\"",
        "[decision]\n[[decision.rule]]\nsubject = \"a\"",
        "[rpc]\n",
        "[rpc]\nmethods = 3",
    ]
    .into_iter()
    .map(|text| read(text).expect_err(text).to_string())
    .collect();
    insta::assert_snapshot!(faults.join("\n"), @r#"
    shop.toml: nothing is answered; write an `[[endpoint]]` with a `path`
    shop.toml:1:3: unknown key `endpont` of the script; nearest `endpoint`; expected one of `server`, `endpoint`, `oauth`, `decision`, `rpc`
    shop.toml:1:1: `endpoint` is a table; write `[[endpoint]]` for each
    shop.toml:1:1: no `path`; write `path = "/items/{id}"`
    shop.toml:2:8: `a` is no path; write `/items/{id}`
    shop.toml:3:1: `/a` is there twice
    shop.toml:2:1: unknown key `listen` of server; expected one of `seed`, `serialise`, `workers`, `queue`, `dip`, `rate_limit`, `truth_header`, `body_size`, `latency`, `fail`, `cold`, `drift`, `slow_after`, `spike`, `stall`, `close`
    shop.toml:1:2: no client; write `clients = { shop = "secret" }`
    shop.toml:2:1: no `decision`; write `decision = true`
    shop.toml:1:2: no method; write `methods = { echo = "${params}" }`
    shop.toml:2:11: expected a table of at most 1000 methods and their results
    "#);
    let many: String =
        (0..=ENDPOINTS_MAX).map(|n| format!("[[endpoint]]\npath = \"/{n}\"\n")).collect();
    assert!(read(&many).expect_err("too many").message.contains("more than 64 endpoints"));
    let long = "#".repeat(SCRIPT_MAX_BYTES + 1);
    assert!(read(&long).expect_err("too long").message.contains("longer than"));
}

#[test]
fn no_cut_of_a_good_script_panics() {
    for end in (0..ALL.len()).filter(|end| ALL.is_char_boundary(*end)) {
        // Most are faults; what matters is that each ends as a value.
        if let Err(error) = read(&ALL[..end]) {
            assert!(!error.message.is_empty());
        }
    }
}
