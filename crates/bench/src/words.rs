//! Words: the nearest valid one, names, and the patterns of `match` and `--only`.

pub(crate) use record::glob::glob_matches;

/// Longest name of a table, factor or level, characters.
pub(crate) const MAX_NAME: usize = 40;

/// The candidate nearest to `word` by edits (insert, delete, replace, swap of neighbours), when
/// it is near enough to be a likely slip: within a third of the longer word, at least 1.
pub(crate) fn nearest<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    // A word far longer than any name is no slip, and the distance is quadratic.
    if word.len() > 4 * MAX_NAME {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let distance = strsim::osa_distance(word, candidate);
            let longer = word.chars().count().max(candidate.chars().count());
            // A word of which nothing is left is no slip either.
            let shorter = word.chars().count().min(candidate.chars().count());
            let near = distance <= (longer / 3).max(1) && (1..shorter).contains(&distance);
            near.then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `; nearest \`x\`` or nothing.
pub(crate) fn nearest_suffix<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> String {
    nearest(word, candidates).map_or(String::new(), |near| format!("; nearest `{near}`"))
}

/// `` `a`, `b`, `c` ``
pub(crate) fn listed<'c>(words: impl IntoIterator<Item = &'c str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Why a name is refused, or `None` for a good one.
pub(crate) fn name_fault(name: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.chars().count() > MAX_NAME || !name.chars().all(allowed) {
        Some("names have 1 to 40 letters, digits, `.`, `_` or `-`")
    } else if is_control_name(name) || name == "only" {
        Some("`null`, `null-*`, `positive` and `only` are kept for controls and the single cell")
    } else {
        None
    }
}

/// The control that is slowed by a known share.
pub(crate) const POSITIVE: &str = "positive";

/// Whether a level of this name is a control.
pub(crate) fn is_control_name(name: &str) -> bool {
    name == "null" || name.starts_with("null-") || name == POSITIVE
}

/// The level name of a swept value: other characters become `-`.
pub(crate) fn swept_name(text: &str) -> String {
    let name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .take(MAX_NAME)
        .collect();
    if name.is_empty() { "-".to_owned() } else { name }
}

/// Names to match: plain, globs, or `!x` to exclude.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patterns {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Patterns {
    pub(crate) fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let mut all = Self::default();
        for pattern in patterns {
            match pattern.strip_prefix('!') {
                Some(rest) => all.unwanted.push(rest.to_owned()),
                None => all.wanted.push(pattern.to_owned()),
            }
        }
        all
    }

    /// Whether something known by all of `names` matches: one name is wanted (or nothing in
    /// particular is), and none is unwanted.
    pub(crate) fn matches(&self, names: &[&str]) -> bool {
        let any = |globs: &[String]| {
            globs.iter().any(|glob| names.iter().any(|name| glob_matches(glob, name)))
        };
        (self.wanted.is_empty() || any(&self.wanted)) && !any(&self.unwanted)
    }

    /// The patterns without a wildcard, which must name something that exists.
    pub(crate) fn exact(&self) -> impl Iterator<Item = &str> {
        self.wanted
            .iter()
            .chain(&self.unwanted)
            .map(String::as_str)
            .filter(|pattern| !pattern.contains(['*', '?']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words() {
        assert_eq!(nearest("blokcs", ["blocks", "gap"]), Some("blocks"));
        assert_eq!(nearest("tomcta", ["nginx", "tomcat"]), Some("tomcat"));
        assert_eq!(nearest("zebra", ["blocks", "gap"]), None);
        assert_eq!(nearest(&"x".repeat(100_000), ["blocks"]), None);
    }

    #[test]
    fn patterns_exclude() {
        assert!(Patterns::new(["!p0"]).matches(&["p1"]));
        assert!(!Patterns::new(["!p0"]).matches(&["p0"]));
        assert!(Patterns::new(["nginx", "t*"]).matches(&["null", "nginx"]));
        assert!(!Patterns::new(["*", "!nginx"]).matches(&["null", "nginx"]));
    }

    #[test]
    fn names() {
        assert_eq!(name_fault("a.b_c-1"), None);
        for bad in ["", "a+b", "null", "null-x", "only", "positive", &"x".repeat(41)] {
            assert!(name_fault(bad).is_some(), "{bad}");
        }
        assert_eq!(swept_name("200/s"), "200-s");
    }
}
