//! Scripts at work: endpoints, batches, the books of each, and the families.

mod support;

use std::time::{Duration, Instant};

use record::mock::{MockRecord, Office};
use support::{Answer, Client, Mock, counts, failures};

/// A mock with a script; the file may go once the mock is up.
fn start(script: &str) -> Mock {
    start_with(script, &[])
}

fn start_with(script: &str, settings: &[(&str, &str)]) -> Mock {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("script.toml");
    std::fs::write(&file, script).expect("a file");
    let file = file.display().to_string();
    Mock::start(&[&[("script", file.as_str())], settings].concat())
}

fn ask(client: &mut Client, line: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    client.send(format!(
        "{line} HTTP/1.1\r\nHost: mock\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    ));
    client.answer()
}

fn body(answer: &Answer) -> String {
    String::from_utf8(answer.body.clone()).expect("text")
}

fn json(answer: &Answer) -> serde_json::Value {
    serde_json::from_slice(&answer.body).expect("JSON")
}

fn book(record: &MockRecord, name: &str) -> [u64; 3] {
    let endpoint = &record.endpoints[name];
    [endpoint.served, endpoint.failed, endpoint.service_ns.count]
}

#[test]
fn endpoints_answer_as_they_are_told_and_have_their_own_books() {
    let mock = start(
        "[[endpoint]]\nmethod = \"GET\"\npath = \"/fast/{id}\"\nbody = \"quick\"\nheaders = { X-A = \"b\" }\n\
         [[endpoint]]\npath = \"/slow\"\nlatency = \"20ms\"\nstatus = 201\njson = { a = 1 }\n\
         [[endpoint]]\npath = \"/bad\"\nfail = \"100%:status=503\"\n\
         [[endpoint]]\npath = \"/once\"\nconnection = \"close\"\nbody_size = 3\n",
    );
    let mut client = mock.client();
    for id in 0..3 {
        let answer = ask(&mut client, &format!("GET /fast/{id}?q=1"), "", "");
        assert_eq!((answer.status, body(&answer).as_str()), (200, "quick"));
        assert!(answer.head.contains("\r\nX-A: b\r\n"), "{}", answer.head);
    }
    let start = Instant::now();
    let slow = ask(&mut client, "PUT /slow", "", "ignored");
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert_eq!((slow.status, body(&slow).as_str()), (201, "{\"a\":1}"));
    assert!(slow.head.contains("Content-Type: application/json\r\n"), "{}", slow.head);
    assert_eq!(ask(&mut client, "GET /bad", "", "").status, 503);
    assert_eq!(ask(&mut client, "POST /fast/1", "", "").status, 404, "another method");
    assert_eq!(ask(&mut client, "GET /none", "", "").status, 404);
    let once = ask(&mut client, "GET /once", "", "");
    assert_eq!(body(&once), "abc");
    client.expect_close();
    let record = mock.stop();
    assert_eq!(counts(&record), [5, 3, 0]);
    assert_eq!((failures(&record, "status"), failures(&record, "unmatched")), (1, 2));
    assert_eq!(book(&record, "GET /fast/{id}"), [3, 0, 3]);
    assert_eq!(book(&record, "/slow"), [1, 0, 1]);
    assert!(record.endpoints["/slow"].service_ns.min.expect("one") >= 20_000_000);
    assert_eq!(book(&record, "/bad"), [0, 1, 0]);
    assert_eq!(book(&record, "/once"), [1, 0, 1]);
    assert_eq!(book(&record, "unmatched"), [0, 2, 0]);
    let service = stats::histogram::decode(&record.endpoints["GET /fast/{id}"].service);
    assert_eq!(service.expect("a histogram").len(), 3);
    let failed = stats::histogram::decode(&record.histograms["failed.unmatched"]);
    assert_eq!(failed.expect("a histogram").len(), 2);
    assert_eq!(record.office, Some(Office::Subject));
    assert!(
        record.config_line.starts_with("subject: --listen 127.0.0.1:"),
        "{}",
        record.config_line
    );
    assert_eq!(record.script_sha256.expect("of the text").len(), 64);
}

#[test]
fn without_a_script_all_is_one_endpoint() {
    let mock = Mock::start(&[("fail", "100%:status=503")]);
    assert_eq!(mock.client().get().status, 503);
    let record = mock.stop();
    assert_eq!((record.endpoints.len(), book(&record, "/")), (1, [0, 1, 0]));
    assert_eq!((record.script_sha256, record.office), (None, Some(Office::Subject)));
    let plain = Mock::start(&[("latency", "1ms")]);
    plain.client().get();
    let record = plain.stop();
    assert_eq!((book(&record, "/"), record.office), ([1, 0, 1], Some(Office::Instrument)));
    let listen = &record.config.listen;
    let line = format!("instrument: --listen {listen} --latency 1ms --body-size 128 --seed 1");
    assert_eq!(record.config_line, line);
}

#[test]
fn a_batch_costs_by_its_items() {
    let mock = start(
        "[[endpoint]]\npath = \"/body\"\nlatency = \"5ms\"\nper_item = \"10ms\"\n\
         [[endpoint]]\npath = \"/query\"\nper_item = \"7ms\"\nitems = \"query:n\"\n",
    );
    let mut client = mock.client();
    let slept = |client: &mut Client, line: &str, body: &str| {
        assert_eq!(ask(client, line, "", body).status, 200);
        mock.flush().sleep.asked_ns / 1_000_000
    };
    assert_eq!(slept(&mut client, "POST /body", "[1,[2,3],{\"a\":4}]"), 35);
    assert_eq!(slept(&mut client, "POST /body", "[]"), 5);
    assert_eq!(slept(&mut client, "POST /body", "{\"one\":1}"), 15);
    assert_eq!(slept(&mut client, "GET /query?n=4", ""), 28);
    assert_eq!(slept(&mut client, "GET /query", ""), 7);
    // The items of a chunked body count the same.
    client.send(
        "POST /body HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n",
    );
    assert_eq!(client.answer().status, 200);
    assert_eq!(mock.flush().sleep.asked_ns, 25_000_000);
    mock.stop();
}

#[test]
fn a_bias_is_slept_and_not_asked_for() {
    let mock = Mock::start(&[("latency", "3ms"), ("bias", "4ms")]);
    let mut client = mock.client();
    for _ in 0..5 {
        client.get();
    }
    let record = mock.stop();
    assert_eq!(record.sleep.asked_ns, 15_000_000);
    assert!(record.sleep.slept_ns.min.expect("five") >= 7_000_000);
    let fair = Mock::start(&[("latency", "3ms")]);
    fair.client().get();
    let record = fair.stop();
    assert_eq!(record.sleep.asked_ns, 3_000_000);
}

const OAUTH: &str =
    "[oauth]\nclients = { shop = \"s3cret\" }\nusers = { alice = \"pw\", bob = \"b\" }\n";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";
const ME: &str = "client_id=shop&client_secret=s3cret&";

fn token(client: &mut Client, form: &str) -> Answer {
    ask(client, "POST /oauth/token", FORM, &format!("{ME}{form}"))
}

fn word(answer: &Answer, key: &str) -> String {
    json(answer)[key].as_str().unwrap_or_else(|| panic!("{key} in {}", body(answer))).to_owned()
}

#[test]
fn a_refresh_token_works_once() {
    let mock = start(OAUTH);
    let mut client = mock.client();
    let first = token(&mut client, "grant_type=password&username=alice&password=pw");
    assert_eq!(first.status, 200, "{}", body(&first));
    let refresh = word(&first, "refresh_token");
    let again = format!("grant_type=refresh_token&refresh_token={refresh}");
    let renewed = token(&mut client, &again);
    assert_eq!(renewed.status, 200);
    assert_ne!(word(&renewed, "access_token"), word(&first, "access_token"));
    let reused = token(&mut client, &again);
    assert_eq!((reused.status, word(&reused, "error").as_str()), (400, "invalid_grant"));
    let unknown = token(&mut client, "grant_type=refresh_token&refresh_token=none");
    assert_eq!((unknown.status, word(&unknown, "error").as_str()), (400, "invalid_grant"));
    // The one that came for it works.
    let next = word(&renewed, "refresh_token");
    let next = token(&mut client, &format!("grant_type=refresh_token&refresh_token={next}"));
    assert_eq!(next.status, 200);
    let record = mock.stop();
    assert_eq!(counts(&record), [3, 2, 0]);
    assert_eq!((failures(&record, "reused"), failures(&record, "denied")), (1, 1));
    assert_eq!(book(&record, "POST /oauth/token"), [3, 2, 3]);
}

#[test]
fn every_grant_and_what_becomes_of_its_token() {
    let mock = start(OAUTH);
    let mut client = mock.client();
    let machine = token(&mut client, "grant_type=client_credentials");
    assert_eq!(json(&machine)["expires_in"], 3_600);
    assert!(json(&machine).get("refresh_token").is_none());
    let access = word(&machine, "access_token");
    let info = |client: &mut Client, token: &str| {
        ask(client, "GET /oauth/userinfo", &format!("Authorization: Bearer {token}\r\n"), "")
    };
    assert_eq!(word(&info(&mut client, &access), "sub"), "shop");

    // By the Basic scheme: shop:s3cret.
    let basic = "Authorization: Basic c2hvcDpzM2NyZXQ=\r\n";
    let introspect = |client: &mut Client, token: &str| {
        json(&ask(client, "POST /oauth/introspect", basic, &format!("token={token}")))
    };
    assert_eq!(introspect(&mut client, &access)["active"], true);
    assert_eq!(introspect(&mut client, "none")["active"], false);
    let revoked = ask(&mut client, "POST /oauth/revoke", basic, &format!("token={access}"));
    assert_eq!(revoked.status, 200);
    assert_eq!(introspect(&mut client, &access)["active"], false);
    assert_eq!(info(&mut client, &access).status, 401);

    let back = "redirect_uri=http%3A%2F%2Fshop%2Fback";
    let authorize = format!(
        "GET /oauth/authorize?response_type=code&client_id=shop&{back}&state=x%2F1&login_hint=bob"
    );
    let sent = ask(&mut client, &authorize, "", "");
    assert_eq!(sent.status, 302);
    let location = sent.head.lines().find_map(|line| line.strip_prefix("Location: "));
    let location = location.expect("back to the client");
    let code = location.strip_prefix("http://shop/back?code=").expect(location);
    let (code, state) = code.split_once('&').expect(location);
    assert_eq!(state, "state=x%2F1");
    let grant = format!("grant_type=authorization_code&code={code}&{back}");
    let wrong = format!("grant_type=authorization_code&code={code}&redirect_uri=http://other");
    assert_eq!(token(&mut client, &wrong).status, 400);
    let granted = token(&mut client, &grant);
    assert_eq!(word(&info(&mut client, &word(&granted, "access_token")), "sub"), "bob");
    assert_eq!(token(&mut client, &grant).status, 400, "a code works once");

    for (form, error) in [
        ("grant_type=password&username=alice&password=no", "invalid_grant"),
        ("grant_type=device", "unsupported_grant_type"),
        ("", "invalid_request"),
    ] {
        assert_eq!(word(&token(&mut client, form), "error"), error, "{form}");
    }
    let stranger = ask(&mut client, "POST /oauth/token", FORM, "client_id=shop&client_secret=x");
    assert_eq!((stranger.status, word(&stranger, "error").as_str()), (401, "invalid_client"));

    let discovery = json(&ask(&mut client, "GET /oauth/.well-known/openid-configuration", "", ""));
    let issuer = format!("http://{}/oauth", mock.address);
    assert_eq!(discovery["issuer"], issuer);
    assert_eq!(discovery["token_endpoint"], format!("{issuer}/token"));
    let keys = json(&ask(&mut client, "GET /oauth/jwks", "", ""));
    assert_eq!(keys["keys"][0]["kty"], "EC");
    let record = mock.stop();
    assert_eq!((failures(&record, "denied"), failures(&record, "reused")), (6, 1));
}

#[test]
fn equal_seeds_give_equal_tokens() {
    let tokens = |seed: &str| {
        let mock = start_with(OAUTH, &[("seed", seed)]);
        let answer = token(&mut mock.client(), "grant_type=client_credentials");
        mock.stop();
        word(&answer, "access_token")
    };
    assert_eq!(tokens("3"), tokens("3"));
    assert_ne!(tokens("3"), tokens("4"));
}

#[test]
fn a_decision_is_that_of_the_first_rule_that_fits() {
    let mock = start(
        "[decision]\npath = \"/may\"\n\
         [[decision.rule]]\nsubject = \"alice\"\nresource = \"secret\"\ndecision = false\n\
         [[decision.rule]]\nsubject = \"alice\"\naction = \"re*\"\ndecision = true\n",
    );
    let mut client = mock.client();
    let mut may = |subject: &str, action: &str, resource: &str| {
        let body = serde_json::json!({
            "subject": { "type": "user", "id": subject },
            "action": { "name": action },
            "resource": { "type": "doc", "id": resource },
        });
        json(&ask(&mut client, "POST /may", "", &body.to_string()))["decision"].as_bool()
    };
    assert_eq!(may("alice", "read", "doc"), Some(true));
    assert_eq!(may("alice", "read", "secret"), Some(false));
    assert_eq!(may("alice", "write", "doc"), Some(false));
    assert_eq!(may("bob", "read", "doc"), Some(false));
    assert_eq!(ask(&mut client, "POST /may", "", "{\"subject\":1}").status, 400);
    let record = mock.stop();
    assert_eq!((counts(&record), failures(&record, "denied")), ([4, 1, 0], 1));
}

#[test]
fn rpc_has_the_errors_of_its_specification() {
    let mock = start(
        "[rpc]\nheaders = { X-Api = \"*\" }\nmethods = { echo = \"${params}\", answer = 42 }\n",
    );
    let mut client = mock.client();
    let mut call = |body: &str| ask(&mut client, "POST /rpc", "X-Api: k\r\n", body);
    let good = json(&call(r#"{"jsonrpc":"2.0","method":"echo","params":[1,2],"id":7}"#));
    assert_eq!(good, serde_json::json!({"jsonrpc":"2.0","result":[1,2],"id":7}));
    let batch = call(
        r#"[{"jsonrpc":"2.0","method":"answer","id":"a"},{"jsonrpc":"2.0","method":"echo","params":{}}]"#,
    );
    assert_eq!(json(&batch), serde_json::json!([{"jsonrpc":"2.0","result":42,"id":"a"}]));
    assert_eq!(call(r#"{"jsonrpc":"2.0","method":"answer"}"#).status, 204, "a notification");
    for (body, code, id) in [
        ("{", -32_700, serde_json::Value::Null),
        ("[]", -32_600, serde_json::Value::Null),
        ("1", -32_600, serde_json::Value::Null),
        (r#"{"method":"echo","id":1}"#, -32_600, 1.into()),
        (r#"{"jsonrpc":"2.0","method":"echo","params":3,"id":1}"#, -32_600, 1.into()),
        (r#"{"jsonrpc":"2.0","method":"none","id":2}"#, -32_601, 2.into()),
    ] {
        let answer = call(body);
        let answer = (answer.status, json(&answer));
        assert_eq!(answer.0, 200, "{body}");
        assert_eq!((&answer.1["error"]["code"], &answer.1["id"]), (&code.into(), &id), "{body}");
    }
    let bare = ask(&mut client, "POST /rpc", "", r#"{"jsonrpc":"2.0","method":"answer","id":1}"#);
    assert_eq!((bare.status, json(&bare)["error"]["code"].as_i64()), (400, Some(-32_600)));
    let record = mock.stop();
    assert_eq!((counts(&record), failures(&record, "rpc_error")), ([3, 7, 0], 7));
}

#[test]
fn a_wrong_script_does_not_start() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("script.toml");
    std::fs::write(&file, "[[endpoint]]\npath = \"/\"\nbdy = \"x\"\n").expect("a file");
    let name = file.display().to_string();
    let error = mock::Server::bind(support::config(&[("script", &name)])).expect_err("a slip");
    assert_eq!(
        error.to_string().replace(&name, "FILE").split("; expected").next(),
        Some("FILE:3:1: unknown key `bdy` of endpoint; nearest `body`")
    );
}
