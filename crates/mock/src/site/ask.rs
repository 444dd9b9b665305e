//! What a request asks: its line, headers and body, as the reader kept them.

use std::borrow::Cow;

use crate::request::Kept;

/// A request as the endpoints see it. Text that is no UTF-8 is empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) method: &'a str,
    /// Without the query.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    headers: &'a str,
    pub(crate) body: &'a [u8],
    /// The body is longer than what was kept of it.
    pub(crate) cut: bool,
}

impl<'a> Ask<'a> {
    pub(crate) fn new(kept: &'a Kept) -> Self {
        let head = std::str::from_utf8(&kept.head).unwrap_or_default();
        let (line, headers) = head.split_once('\n').unwrap_or((head, ""));
        let mut words = line.split(' ');
        let method = words.next().unwrap_or_default();
        let target = words.next().unwrap_or_default();
        // A proxy's form of the target: `http://host/path`.
        let target = match target.split_once("://") {
            Some((_, rest)) if !target.starts_with('/') => {
                rest.find('/').map_or("/", |slash| &rest[slash..])
            }
            _ => target,
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self { method, path, query, headers, body: &kept.body, cut: kept.cut }
    }

    /// The value of the first header of a name.
    pub(crate) fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// A parameter of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<Cow<'a, str>> {
        form_field(self.query, name)
    }

    /// A field of a form in the body.
    pub(crate) fn field(&self, name: &str) -> Option<Cow<'a, str>> {
        form_field(std::str::from_utf8(self.body).ok()?, name)
    }
}

/// The first value of a name in `a=1&b=2`.
fn form_field<'a>(form: &'a str, name: &str) -> Option<Cow<'a, str>> {
    form.split('&').find_map(|pair| {
        let (found, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(found) == name).then(|| decoded(value))
    })
}

/// `a+b%20c` as `a b c`; a percent sign that begins no byte stays.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |offset: usize| {
            bytes.get(at + offset).and_then(|byte| (*byte as char).to_digit(16)).map(|d| d as u8)
        };
        match (bytes[at], hex(1), hex(2)) {
            (b'%', Some(high), Some(low)) => {
                plain.push(high << 4 | low);
                at += 2;
            }
            (b'+', ..) => plain.push(b' '),
            (byte, ..) => plain.push(byte),
        }
        at += 1;
    }
    Cow::Owned(String::from_utf8_lossy(&plain).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(head: &str, body: &str) -> Kept {
        Kept { head: head.as_bytes().to_vec(), body: body.as_bytes().to_vec(), cut: false }
    }

    #[test]
    fn lines_headers_queries_and_forms() {
        let kept = kept(
            "POST /a/b?n=7&x=a%20b HTTP/1.1\r\nHost: h\r\nX-Api:  key \r\n\r\n",
            "grant=a+b&empty=&%67=1&bad=%zz",
        );
        let ask = Ask::new(&kept);
        assert_eq!((ask.method, ask.path), ("POST", "/a/b"));
        assert_eq!(ask.parameter("n").as_deref(), Some("7"));
        assert_eq!(ask.parameter("x").as_deref(), Some("a b"));
        assert_eq!(ask.parameter("y"), None);
        assert_eq!((ask.header("x-api"), ask.header("none")), (Some("key"), None));
        for (name, value) in [("grant", "a b"), ("empty", ""), ("g", "1"), ("bad", "%zz")] {
            assert_eq!(ask.field(name).as_deref(), Some(value), "{name}");
        }
    }

    #[test]
    fn other_forms_of_a_target() {
        for (target, path) in
            [("http://h:1/a?b", "/a"), ("http://h", "/"), ("*", "*"), ("/a://b", "/a://b")]
        {
            let kept = kept(&format!("GET {target} HTTP/1.1\r\n\r\n"), "");
            assert_eq!(Ask::new(&kept).path, path, "{target}");
        }
        assert_eq!(Ask::new(&Kept::default()).path, "");
    }
}
