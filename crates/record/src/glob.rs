//! Names by pattern, the same on both sides of the run directory: `--only` picks what is run,
//! `--group` what is shown.

/// Whether `text` matches `glob`, in which `*` is any text and `?` any one character.
///
/// Time is bounded by the product of the lengths: only the last `*` is ever tried again.
#[must_use]
pub fn glob_matches(glob: &str, text: &str) -> bool {
    let glob: Vec<char> = glob.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut g, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some('*') => {
                retry = Some((g, t));
                g += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                g += 1;
                t += 1;
            }
            _ => {
                let Some((star, from)) = retry else { return false };
                retry = Some((star, from + 1));
                g = star + 1;
                t = from + 1;
            }
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (glob, text, expect) in [
            ("*", "", true),
            ("nginx+*", "nginx+1k", true),
            ("*+1k", "nginx+1k", true),
            ("*+1k", "nginx+1kb", false),
            ("n?inx", "nginx", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("", "x", false),
        ] {
            assert_eq!(glob_matches(glob, text), expect, "{glob} {text}");
        }
        // Would take forever with naive backtracking.
        assert!(!glob_matches(&"*a".repeat(200), &"a".repeat(150)));
    }
}
