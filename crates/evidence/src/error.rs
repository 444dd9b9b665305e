//! What can be wrong with a directory that was handed in.

use record::layout::ReadError;

/// Evidence that cannot be used at all. A run that is merely void or incomplete is no error: it
/// is named in the result.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// A file is missing or no artefact.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The directory holds neither runs nor a digest.
    #[error(
        "`{path}` holds no runs: expected a label directory with `runs/`, or a run directory \
         with `meta.json`"
    )]
    NoRuns {
        /// The directory as given.
        path: String,
    },
    /// A quick run was about to be read as a measurement.
    #[error(
        "`{path}` holds quick runs: they prove the plumbing and are no measurement; run the \
         bench without `--quick`"
    )]
    QuickRefused {
        /// The directory as given.
        path: String,
    },
    /// The factor asked for is not contrasted here.
    #[error("no factor `{factor}` in these runs; {}", known_factors(.known, .nearest))]
    UnknownFactor {
        /// As asked for.
        factor: String,
        /// The factors that are contrasted.
        known: Vec<String>,
        /// The nearest of them, when one is near.
        nearest: Option<String>,
    },
    /// Two labels were made in different places, by different tools or over different windows.
    #[error(
        "halves not comparable: in `{a}` (A) and `{b}` (B) {}; run both in one session, on one \
         host, with one build of assay, over one window",
        .differing.join("; ")
    )]
    NotComparable {
        /// The first label.
        a: String,
        /// The second.
        b: String,
        /// What differs, with both values.
        differing: Vec<String>,
    },
    /// A word asked for does not occur in these runs.
    #[error("no {what} `{word}` in these runs; {}", known_words(.known, .nearest))]
    UnknownWord {
        /// What kind of word it is: `metric`, `level`, ...
        what: &'static str,
        /// As asked for.
        word: String,
        /// The words that occur.
        known: Vec<String>,
        /// The nearest of them, when one is near.
        nearest: Option<String>,
    },
    /// A directory could not be listed.
    #[error("cannot list `{path}`: {source}")]
    List {
        /// The directory.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl EvidenceError {
    /// True when the input is sound but must not be used: a precondition, not a mistake.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::QuickRefused { .. } | Self::NotComparable { .. })
    }
}

fn known_factors(known: &[String], nearest: &Option<String>) -> String {
    match (nearest, known) {
        (Some(nearest), _) => format!("nearest `{nearest}`"),
        (None, []) => "no factor is contrasted".to_owned(),
        (None, known) => format!("contrasted: `{}`", known.join("`, `")),
    }
}

fn known_words(known: &[String], nearest: &Option<String>) -> String {
    match (nearest, known) {
        (Some(nearest), _) => format!("nearest `{nearest}`"),
        (None, []) => "there is none".to_owned(),
        (None, known) => {
            let more = known.len().saturating_sub(MOST_KNOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let shown = &known[..known.len().min(MOST_KNOWN)];
            format!("there are `{}`{more}", shown.join("`, `"))
        }
    }
}

/// Most valid words that a message lists.
const MOST_KNOWN: usize = 12;

/// The nearest of `known` to `word`, at most a third of its letters away (Levenshtein).
pub(crate) fn nearest(word: &str, known: &[String]) -> Option<String> {
    let bound = word.chars().count().div_ceil(3);
    known
        .iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= bound)
        .min()
        .map(|(_, candidate)| candidate.clone())
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_near() {
        let known = ["target".to_owned(), "size".to_owned()];
        assert_eq!(nearest("targets", &known), Some("target".to_owned()));
        assert_eq!(nearest("szie", &known), Some("size".to_owned()));
        assert_eq!(nearest("colour", &known), None);
    }

    #[test]
    fn messages_name_the_remedy() {
        let error = EvidenceError::UnknownFactor {
            factor: "targt".into(),
            known: vec!["target".into()],
            nearest: nearest("targt", &["target".into()]),
        };
        insta::assert_snapshot!(error, @"no factor `targt` in these runs; nearest `target`");
        let error = EvidenceError::QuickRefused { path: "out/quick/a".into() };
        insta::assert_snapshot!(error, @"`out/quick/a` holds quick runs: they prove the plumbing and are no measurement; run the bench without `--quick`");
        assert!(error.is_refusal());
    }
}
