//! Leaves that often stand for the loop around them.

/// True for accessors and the like, which a compiler inlines into the loop around them.
pub(super) fn is_trivial(method: &str) -> bool {
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
    let Some((_, name)) = method.rsplit_once('.') else { return false };
    let accessor = ["get", "is"].iter().any(|start| {
        name.strip_prefix(start)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    accessor || NAMES.contains(&name)
}
