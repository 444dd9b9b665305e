//! How many items a request has: elements of a JSON array, counted without making them.

/// Elements of the array that `body` is; 1 for anything else. The elements themselves are not
/// checked.
pub(super) fn of_body(body: &[u8]) -> u64 {
    let body = body.trim_ascii();
    if body.first() != Some(&b'[') {
        return 1;
    }
    let (mut depth, mut commas, mut any) = (0_u32, 0_u64, false);
    let mut quoted = false;
    let mut escaped = false;
    for byte in body {
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'[' | b'{' => {
                any |= depth == 1;
                depth += 1;
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            b',' if depth == 1 => commas += 1,
            b'"' => {
                quoted = true;
                any = true;
            }
            byte => any |= !byte.is_ascii_whitespace(),
        }
    }
    if any { commas + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_the_outer_array_count() {
        for (body, items) in [
            ("[]", 0),
            ("[ ]", 0),
            ("[1]", 1),
            (" [1, 2,3] ", 3),
            ("[[1,2],[3]]", 2),
            ("[{\"a\":[1,2]},{}]", 2),
            ("[\"a,b\",\"]\",\"\\\"[\"]", 3),
            ("[[]]", 1),
            ("{\"a\":[1,2]}", 1),
            ("", 1),
            ("text", 1),
            ("[1,2", 2),
        ] {
            assert_eq!(of_body(body.as_bytes()), items, "{body}");
        }
    }
}
