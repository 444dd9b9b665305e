//! Which methods are too small to be believed as the leaf of a stack.

/// True for accessors and the like, by `package.Class.method`, a signature or line after it or not.
/// A compiler inlines them into the loop around them, whose time then stands under their name: such
/// a leaf is proved only by two runs, one of them without it.
#[must_use]
pub fn is_trivial(method: &str) -> bool {
    const NAMES: [&str; 14] = [
        "ordinal",
        "size",
        "length",
        "charAt",
        "get",
        "hashCode",
        "equals",
        "isEmpty",
        "hasNext",
        "next",
        "value",
        "intValue",
        "longValue",
        "compareTo",
    ];
    let method = &method[..method.find(['(', ':']).unwrap_or(method.len())];
    let Some((_, name)) = method.rsplit_once('.') else { return false };
    let accessor = ["get", "is"].iter().any(|start| {
        name.strip_prefix(start)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    accessor || NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accessors_are_trivial_and_work_is_not() {
        for method in ["java.lang.Enum.ordinal", "a.B.getName", "a.B.isOpen()Z", "a.B.size:14"] {
            assert!(is_trivial(method), "{method}");
        }
        for method in ["a.B.issue", "a.B.getter", "a.B.resize", "ordinal", "a.B.run", ""] {
            assert!(!is_trivial(method), "{method}");
        }
    }
}
