//! Names of threads, which servers make of the hosts that they talk to.

/// A thread's name without addresses of hosts, as in `http-nio-127.0.0.1-8080-exec-3`.
#[must_use]
pub fn without_addresses(name: &str) -> String {
    let is_address = |text: &str| {
        let parts: Vec<&str> = text.split('.').collect();
        parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok())
    };
    let mut shown = String::new();
    let mut rest = name;
    while !rest.is_empty() {
        let inside = |c: char| c.is_ascii_digit() || c == '.';
        let start = rest.find(inside).unwrap_or(rest.len());
        let end = rest[start..].find(|c| !inside(c)).map_or(rest.len(), |end| start + end);
        shown.push_str(&rest[..start]);
        let found = &rest[start..end];
        shown.push_str(if is_address(found) { "<address>" } else { found });
        rest = &rest[end..];
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hidden_and_versions_stay() {
        for (name, shown) in [
            ("http-nio-127.0.0.1-8080-exec-3", "http-nio-<address>-8080-exec-3"),
            ("10.1.2.3", "<address>"),
            ("pool-1.2.3-thread-4", "pool-1.2.3-thread-4"),
            ("worker 300.1.1.1", "worker 300.1.1.1"),
            ("", ""),
        ] {
            assert_eq!(without_addresses(name), shown);
        }
    }
}
