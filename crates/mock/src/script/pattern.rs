//! Patterns of paths: `/items`, `/items/{id}`, `/files/*`.

/// A path by its segments. What is matched is the text of the request, without its query and without
/// decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    segments: Vec<Segment>,
    /// Ends with `/*`: whatever comes behind, also nothing.
    open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Literal(String),
    /// `{name}`: one segment that is not empty.
    Any,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let fits = text.starts_with('/')
            && text.len() <= 1_024
            && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#".contains(&byte));
        if !fits {
            return Err(format!("`{}` is no path; write `/items/{{id}}`", text.escape_debug()));
        }
        let (path, open) = match text.strip_suffix("/*") {
            Some(path) => (path, true),
            None => (text, false),
        };
        let mut segments = Vec::new();
        for segment in path.split('/').skip(1) {
            let inside = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            if inside.is_none() && segment.contains(['{', '}', '*']) {
                return Err(format!(
                    "`{segment}` is no segment of a path; write `{{id}}` for any one, `/*` at the end \
                     for the rest"
                ));
            }
            segments.push(match inside {
                Some(_) => Segment::Any,
                None => Segment::Literal(segment.to_owned()),
            });
        }
        Ok(Self { segments, open })
    }

    /// Whether a path is one of these.
    pub(crate) fn matches(&self, path: &str) -> bool {
        let Some(path) = path.strip_prefix('/') else { return false };
        let mut given = path.split('/');
        for segment in &self.segments {
            let fits = match (segment, given.next()) {
                (Segment::Literal(literal), Some(text)) => literal == text,
                (Segment::Any, Some(text)) => !text.is_empty(),
                (_, None) => false,
            };
            if !fits {
                return false;
            }
        }
        self.open || given.next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_match_one_by_one() {
        for (pattern, path, fits) in [
            ("/", "/", true),
            ("/", "/a", false),
            ("/items", "/items", true),
            ("/items", "/items/", false),
            ("/items/{id}", "/items/7", true),
            ("/items/{id}", "/items/", false),
            ("/items/{id}", "/items/7/8", false),
            ("/items/{id}/x", "/items/7/x", true),
            ("/files/*", "/files/a/b", true),
            ("/files/*", "/files", true),
            ("/files/*", "/filesystem", false),
            ("/*", "/anything/at/all", true),
            ("/*", "/", true),
            ("/a", "a", false),
        ] {
            let read = Pattern::read(pattern).expect("a good pattern");
            assert_eq!(read.matches(path), fits, "{pattern} {path}");
        }
        for bad in ["", "items", "/a b", "/a?b", "/a{b}", "/*/a", "/a*"] {
            assert!(Pattern::read(bad).is_err(), "{bad}");
        }
    }
}
