//! The bytes of a request, built once per phase from the same definition.

use record::plan::Scenario;
use sha2::{Digest, Sha256};

/// A request ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) bytes: Vec<u8>,
    /// Lower-case hex SHA-256 of `bytes`.
    pub(crate) sha256: String,
    /// The answer to HEAD has no body whatever its headers say.
    pub(crate) is_head: bool,
}

/// Builds the request; headers of the scenario replace the ones that are added by default. A request
/// with a connection of its own says that it is the last there.
pub(crate) fn build(scenario: &Scenario, host: &str, own_connection: bool) -> Request {
    let given = |name: &str| scenario.headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
    let mut head = format!("{} {} HTTP/1.1\r\n", scenario.method, scenario.path);
    if !given("host") {
        head.push_str(&format!("Host: {host}\r\n"));
    }
    if !given("user-agent") {
        head.push_str("User-Agent: assay\r\n");
    }
    if own_connection && !given("connection") {
        head.push_str("Connection: close\r\n");
    }
    for (name, value) in &scenario.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let body = scenario.body.as_deref().unwrap_or("");
    let takes_body = matches!(scenario.method.as_str(), "POST" | "PUT" | "PATCH");
    if (takes_body || !body.is_empty()) && !given("content-length") {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Request { bytes, sha256, is_head: scenario.method == "HEAD" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::plan::Expect;

    fn scenario(method: &str, headers: &[(&str, &str)], body: Option<&str>) -> Scenario {
        Scenario {
            name: "s".into(),
            method: method.into(),
            path: "/a?b=c".into(),
            headers: headers.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
            body: body.map(Into::into),
            expect: Expect { status: vec![200], body: None, size_bytes: None },
        }
    }

    #[test]
    fn defaults_are_added_and_replaced() {
        let text = |s: &Scenario| String::from_utf8(build(s, "h:1", false).bytes).unwrap();
        assert_eq!(
            text(&scenario("GET", &[], None)),
            "GET /a?b=c HTTP/1.1\r\nHost: h:1\r\nUser-Agent: assay\r\n\r\n"
        );
        assert_eq!(
            text(&scenario("POST", &[("host", "x"), ("X-A", "1")], Some("hi"))),
            "POST /a?b=c HTTP/1.1\r\nUser-Agent: assay\r\nhost: x\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nhi"
        );
        let own = build(&scenario("GET", &[], None), "h", true).bytes;
        assert!(String::from_utf8(own).unwrap().contains("\r\nConnection: close\r\n"));
        assert!(text(&scenario("PUT", &[], None)).contains("Content-Length: 0\r\n"));
    }
}
