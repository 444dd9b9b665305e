//! The kinds of failure and their bounded samples.

use std::collections::BTreeMap;

use record::load::FailureSample;

/// Samples kept by a thread, and in the record.
pub(crate) const MOST_SAMPLES: usize = 10;
/// Bytes of a body kept in a sample.
pub(crate) const SAMPLE_BYTES: usize = 512;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A status that was not expected.
    Status,
    /// No complete answer within the load's timeout.
    Timeout,
    /// The connection could not be made.
    Refused,
    /// The connection ended before the answer was complete.
    Reset,
    /// The body is not the expected one.
    Body,
    /// The answer is no HTTP.
    Protocol,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Status, Self::Timeout, Self::Refused, Self::Reset, Self::Body, Self::Protocol];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Body => "body",
            Self::Protocol => "protocol",
        }
    }
}

/// Failures of the window by kind. A counter of its own beside the total: the two are compared
/// by the accounting gate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failures([u64; Kind::ALL.len()]);

impl Failures {
    pub(crate) fn count(&mut self, kind: Kind) {
        self.0[kind as usize] += 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// Kinds that occurred.
    pub(crate) fn by_kind(&self) -> BTreeMap<String, u64> {
        Kind::ALL
            .into_iter()
            .filter(|kind| self.0[*kind as usize] > 0)
            .map(|kind| (kind.word().to_owned(), self.0[kind as usize]))
            .collect()
    }
}

/// A failure with what is needed to understand it.
#[derive(Debug)]
pub(crate) struct Failure<'a> {
    pub(crate) kind: Kind,
    pub(crate) status: Option<u16>,
    pub(crate) detail: String,
    pub(crate) body: &'a [u8],
}

impl Failure<'_> {
    pub(crate) fn sample(&self) -> FailureSample {
        let end = self.body.len().min(SAMPLE_BYTES);
        FailureSample {
            kind: self.kind.word().to_owned(),
            status: self.status,
            detail: self.detail.clone(),
            body: String::from_utf8_lossy(&self.body[..end]).into_owned(),
        }
    }
}
