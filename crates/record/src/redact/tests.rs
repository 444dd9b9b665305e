//! Tables of what is redacted and what must stay, and properties of any text.

use super::*;
use proptest::prelude::*;

#[test]
fn names() {
    for secret in [
        "password",
        "PASSWD",
        "PGPASSWORD",
        "db.password",
        "dbPassword",
        "DB_PASS",
        "Pwd",
        "my_secret",
        "clientsecret",
        "SECRET_KEY",
        "token",
        "accessToken",
        "X-Auth-Token",
        "authtoken",
        "api_key",
        "apikey",
        "X-API-Key",
        "APIKey",
        "authorization",
        "Proxy-Authorization",
        "Cookie",
        "set-cookie",
        "credential",
        "AWS_CREDENTIALS",
        "private_key",
        "SSH_PRIVATE_KEY",
        "access_key",
        "AWS_ACCESS_KEY_ID",
        "session",
        "SESSION_ID",
        "JSESSIONID",
        "PHPSESSID",
        "bearer",
        "passphrase",
        "tokens",
    ] {
        assert!(is_secret_name(secret), "{secret}");
    }
    for open in [
        "",
        "-",
        "MONKEY",
        "author",
        "authority",
        "key",
        "KEYBOARD",
        "primary_key",
        "map_ikey",
        "tokenizer",
        "tokens-per-page",
        "token_count",
        "session-timeout",
        "cookie_name",
        "password_file",
        "TOKEN_URL",
        "pass",
        "passes",
        "compass",
        "bypass",
        "PWD",
        "OLDPWD",
        "passenger",
        "accession",
        "obsession_level",
    ] {
        assert!(!is_secret_name(open), "{open}");
    }
}

#[test]
fn commands() {
    let check = |given: &str, expected: &str| {
        let arguments: Vec<String> = given.split('|').map(str::to_owned).collect();
        let once = command(&arguments);
        assert_eq!(once.join("|"), expected);
        assert_eq!(command(&once), once, "idempotent: {given}");
    };
    check("srv|--token|X|--port|80", "srv|--token|<redacted>|--port|80");
    check("srv|--token=X|-v", "srv|--token=<redacted>|-v");
    check("srv|-token|X", "srv|-token|<redacted>");
    check("env|TOKEN=X Y|srv", "env|TOKEN=<redacted>|srv");
    check(
        "java|-Dpassword=x|-Dapi.key=x|-Xmx1g",
        "java|-Dpassword=<redacted>|-Dapi.key=<redacted>|-Xmx1g",
    );
    check("wrk|-H|Authorization: Bearer x y", "wrk|-H|Authorization: <redacted>");
    check("wrk|-H|Cookie: a=b; c=d|http://h/", "wrk|-H|Cookie: <redacted>|http://h/");
    check("wrk|-H|X-Api-Key:a b c", "wrk|-H|X-Api-Key:<redacted>");
    check("wrk|--header=Authorization: Basic abc=", "wrk|--header=Authorization: <redacted>");
    check(
        "curl|http://user:pw@h/?token=x&n=1",
        "curl|http://user:<redacted>@h/?token=<redacted>&n=1",
    );
    check("srv|--db=postgres://u:p/w@h/db", "srv|--db=postgres://u:<redacted>@h/db");
    check(
        "sh|-c|exec TOKEN=a ./srv --password b -n 1",
        "sh|-c|exec TOKEN=<redacted> ./srv --password <redacted> -n 1",
    );
    check(
        "sh|-c|curl -H 'Cookie: a=b; c' http://h/",
        "sh|-c|curl -H 'Cookie: <redacted>' http://h/",
    );
    check("srv|{\"token\": \"a b\", \"n\": 1}", "srv|{\"token\": \"<redacted>\", \"n\": 1}");
    // A flag without a value does not take the next flag; a value may begin with a dash.
    check("srv|--token|--verbose|a", "srv|--token|--verbose|a");
    check("srv|--token|-v|a", "srv|--token|-v|a");
    check("srv|--token|-aB3x", "srv|--token|<redacted>");
    check("srv|--token", "srv|--token");
    check("srv|--token=", "srv|--token=");
    // What must stay.
    check("srv|MONKEY=1|author=me|--key|a", "srv|MONKEY=1|author=me|--key|a");
    check("srv|--tokens-per-page|5|--max-tokens=4096", "srv|--tokens-per-page|5|--max-tokens=4096");
    check("srv|--max-tokens|4096|--tokens|a,b", "srv|--max-tokens|4096|--tokens|<redacted>");
    check(
        "srv|--session-timeout=30|--password-file|/run/pw",
        "srv|--session-timeout=30|--password-file|/run/pw",
    );
    check("srv|http://h:80/a@b|a==b|x::y", "srv|http://h:80/a@b|a==b|x::y");
    check("nginx|-g|daemon off;|-c|/etc/nginx.conf", "nginx|-g|daemon off;|-c|/etc/nginx.conf");
    check("", "");
}

#[test]
fn urls() {
    let check = |given: &str, expected: &str| {
        assert_eq!(url(given), expected);
        assert_eq!(url(expected), expected, "idempotent");
    };
    check("http://user:pw@h:80/a", "http://user:<redacted>@h:80/a");
    check("http://user:p@w@h:80/a", "http://user:<redacted>@h:80/a");
    check("https://ghp_abc@h/r.git", "https://<redacted>@h/r.git");
    check("http://user:@h/", "http://user:@h/");
    check("http://token:x@h/", "http://token:<redacted>@h/");
    check("/login?token=x&user=me#top", "/login?token=<redacted>&user=me#top");
    check("/cb#access_token=x&n=1", "/cb#access_token=<redacted>&n=1");
    check("/a?author=b&monkey=c", "/a?author=b&monkey=c");
    check("http://127.0.0.1:8080/a@b?x=1", "http://127.0.0.1:8080/a@b?x=1");
    check("http://[::1]:8080/", "http://[::1]:8080/");
    check("http://", "http://");
    check("://@", "://@");
}

#[test]
fn texts() {
    let check = |given: &str, expected: &str| {
        assert_eq!(text(given), expected);
        assert_eq!(text(expected), expected, "idempotent");
    };
    check("got Bearer abc.def-1, failed", "got Bearer <redacted> failed");
    check("token: Bearer abc\nnext: line", "token: <redacted>\nnext: line");
    check("Authorization: Bearer a b\r\nHost: h", "Authorization: <redacted>\r\nHost: h");
    check("password = \"a \\\" b\" # comment", "password = \"<redacted>\" # comment");
    check(
        "{\\\"secret\\\":\\\"a b\\\",\\\"n\\\":1}",
        "{\\\"secret\\\":\\\"<redacted>\\\",\\\"n\\\":1}",
    );
    check(
        "{\"url\":\"http://h/?token=abc\",\"n\":1}",
        "{\"url\":\"http://h/?token=<redacted>\",\"n\":1}",
    );
    check("password='never closed\nnext", "password='<redacted>\nnext");
    check("the session was fine: 3 tokens, 1 cookie", "the session was fine: 3 tokens, 1 cookie");
    check("jdbc:x://h/d?user=u&password=p", "jdbc:x://h/d?user=u&password=<redacted>");
    check("Uid=u;Pwd=p;Db=d", "Uid=u;Pwd=<redacted>");
    check("übertoken=é;x", "übertoken=<redacted>");
    check("", "");
}

#[test]
fn environments_and_headers() {
    let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    };
    assert_eq!(
        environment(&map(&[
            ("DB_PASSWORD", "a b & c"),
            ("EMPTY_TOKEN", ""),
            ("DATABASE_URL", "pg://u:p@h/d"),
            ("MONKEY", "1"),
            ("JAVA_OPTS", "-Xmx1g -Dapi.key=x -Da=b"),
            ("PWD", "/home"),
        ])),
        map(&[
            ("DB_PASSWORD", "<redacted>"),
            ("EMPTY_TOKEN", ""),
            ("DATABASE_URL", "pg://u:<redacted>@h/d"),
            ("MONKEY", "1"),
            ("JAVA_OPTS", "-Xmx1g -Dapi.key=<redacted> -Da=b"),
            ("PWD", "/home"),
        ])
    );
    let given = [("Authorization", "Basic x"), ("X-Trace", "a"), ("Referer", "/?token=x")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let redacted = headers(&given);
    let values: Vec<&str> = redacted.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["<redacted>", "a", "/?token=<redacted>"]);
}

#[test]
fn json_by_keys_at_any_depth() {
    let given = serde_json::json!({
        "users": [{"password": "x", "name": "y"}],
        "token": 12,
        "max_tokens": 4096,
        "credentials": {"user": "u", "pin": 1},
        "secret": null,
        "note": "password=x",
        "on": true
    });
    let expected = serde_json::json!({
        "users": [{"password": "<redacted>", "name": "y"}],
        "token": "<redacted>",
        "max_tokens": 4096,
        "credentials": "<redacted>",
        "secret": null,
        "note": "password=<redacted>",
        "on": true
    });
    assert_eq!(json(&given), expected);
    assert_eq!(json(&expected), expected);
}

fn secret_run() -> Effective {
    serde_json::from_value(serde_json::json!({
        "target": {
            "name": "t",
            "kind": {"command": ["srv", "--password", "S3CRET", "--port", "80"]},
            "address": "127.0.0.1:80",
            "env": {"API_KEY": "S3CRET", "MODE": "fast"},
            "stop": {"signal": "TERM", "grace_ns": 1},
            "ready": {"get": "/health?token=S3CRET", "within_ns": 1},
            "fresh": "run",
            "bring_up_ns": 1,
            "version": {"command": ["srv", "--version", "--token=S3CRET"]}
        },
        "transport": "p0",
        "generator": "assay",
        "scenario": {
            "name": "s",
            "method": "POST",
            "path": "/login?session=S3CRET&n=1",
            "headers": [["Authorization", "Bearer S3CRET"], ["Accept", "*/*"]],
            "body": "password=kept",
            "expect": {"status": [200], "body": {"contains": "token=kept"}}
        },
        "load": {
            "name": "l",
            "model": {"users": 1},
            "warmup": {"ns": 1},
            "measure": {"ns": 1},
            "cooldown_ns": 1,
            "connections": "per-user",
            "timeout_ns": 1
        },
        "vars": {"token": "S3CRET", "size": "1k", "nested": {"secret": ["S3CRET"]}}
    }))
    .expect("an effective run")
}

#[test]
fn a_run_keeps_its_body_and_nothing_secret() {
    let redacted = effective(&secret_run());
    let text = serde_json::to_string(&redacted).expect("json");
    assert!(!text.contains("S3CRET"), "{text}");
    assert_eq!(text.matches(REDACTED).count(), 8, "{text}");
    assert_eq!(redacted.scenario.body.as_deref(), Some("password=kept"));
    assert_eq!(redacted.scenario.expect, secret_run().scenario.expect);
    assert_eq!(redacted.target.env["MODE"], "fast");
    assert_eq!(redacted.vars["size"], "1k");
    assert_eq!(effective(&redacted), redacted);
    let mut url_target = secret_run();
    url_target.target.kind = TargetKind::Url("http://u:S3CRET@h/".to_owned());
    let kind = effective(&url_target).target.kind;
    assert_eq!(kind, TargetKind::Url("http://u:<redacted>@h/".to_owned()));
}

proptest! {
    #[test]
    fn any_text_is_idempotent(given in any_text()) {
        let once = text(&given);
        prop_assert_eq!(text(&once), once);
    }

    #[test]
    fn any_command_is_idempotent(given in proptest::collection::vec(any_text(), 0..5)) {
        let once = command(&given);
        prop_assert_eq!(once.len(), given.len());
        prop_assert_eq!(command(&once), once);
    }

    #[test]
    fn no_value_survives(
        value in "[A-Za-z0-9+/=_.-]{8,40}",
        name in prop::sample::select(vec!["token", "DB_PASSWORD", "x-api-key", "sessionId"]),
    ) {
        let value = format!("S3CRET{value}");
        for given in [
            format!("{name}={value}"),
            format!("a {name}: {value} b"),
            format!("--{name} {value}"),
            format!("{{\"{name}\":\"{value}\"}}"),
            format!("http://h/?a=b&{name}={value}&c=d"),
            format!("http://u:{value}@h/"),
        ] {
            prop_assert!(!text(&given).contains("S3CRET"), "{}", text(&given));
            prop_assert!(!command(std::slice::from_ref(&given))[0].contains("S3CRET"), "{}", given);
        }
        let apart = [format!("--{name}"), value];
        let redacted = command(&apart);
        prop_assert_eq!(redacted[1].as_str(), REDACTED);
    }
}

/// Text in which the marks and names of the grammar are frequent.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "token",
            "password",
            "Cookie",
            "Bearer",
            "tokens",
            "--",
            "-D",
            "=",
            ":",
            "://",
            "@",
            "\"",
            "'",
            "\\",
            " ",
            "&",
            "?",
            "/",
            "\n",
            "5",
            "<redacted>",
            "-",
            ".",
            "é",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9]{1,3}",
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}
