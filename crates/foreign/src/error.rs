//! Why the output of a generator is no evidence.

/// An output that cannot be believed. It names the tool, and what was looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It printed nothing.
    #[error("`{adapter}` printed nothing")]
    Empty {
        /// The adapter.
        adapter: &'static str,
    },
    /// What its summary must have is not there.
    #[error("the output of `{adapter}` has no {what}")]
    Missing {
        /// The adapter.
        adapter: &'static str,
        /// What was looked for, as it is printed.
        what: String,
    },
    /// A figure is none.
    #[error("`{adapter}` printed `{text}` as its {what}")]
    NoFigure {
        /// The adapter.
        adapter: &'static str,
        /// What it should have been.
        what: String,
        /// What it was, cut.
        text: String,
    },
    /// Its JSON is none.
    #[error("the output of `{adapter}` is not its JSON: {why}")]
    Json {
        /// The adapter.
        adapter: &'static str,
        /// Where and why reading stopped.
        why: String,
    },
    /// It says that it made no request.
    #[error("`{adapter}` reports no request at all")]
    NoRequests {
        /// The adapter.
        adapter: &'static str,
    },
    /// It says what cannot be: more failures than requests, quantiles that fall.
    #[error("`{adapter}` contradicts itself: {why}")]
    Contradiction {
        /// The adapter.
        adapter: &'static str,
        /// Two figures that cannot both be true.
        why: String,
    },
}
