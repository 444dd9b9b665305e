//! What a user of a closed loop does between two requests: nothing, think, or keep a pace. When it
//! goes on is a pure function of the instants and the count, so that no drift can add up.

use serde::{Deserialize, Serialize};

/// Between the answer of a user and its next request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    /// None: the next request begins with the answer.
    #[default]
    None,
    /// So long after each answer, ns.
    Think(u64),
    /// A request begins every so often, ns, or with the answer when that came later. A user that fell
    /// behind catches up.
    Pace(u64),
}

impl Pause {
    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// When a user goes on that began its first request at `first_ns`, began `count` since, that one
    /// included, and had its answer at `now_ns`. All on one clock, ns.
    #[must_use]
    pub fn until_ns(self, first_ns: u64, count: u64, now_ns: u64) -> u64 {
        match self {
            Self::None => now_ns,
            Self::Think(ns) => now_ns.saturating_add(ns),
            Self::Pace(ns) => first_ns.saturating_add(count.saturating_mul(ns)).max(now_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_is_a_function_of_elapsed_time_and_count() {
        let pace = Pause::Pace(100);
        for (count, now_ns, until_ns) in [
            // In time: at the next multiple.
            (1, 1_010, 1_100),
            (2, 1_199, 1_200),
            // On the dot, and late: at once.
            (2, 1_200, 1_200),
            (3, 1_450, 1_450),
            // Late once is late for that one alone: the fifth begins where it always did.
            (4, 1_460, 1_460),
            (5, 1_470, 1_500),
        ] {
            assert_eq!(pace.until_ns(1_000, count, now_ns), until_ns, "{count} at {now_ns}");
        }
        assert_eq!(Pause::Pace(u64::MAX).until_ns(1, u64::MAX, 2), u64::MAX);
    }

    #[test]
    fn thinking_begins_with_the_answer() {
        assert_eq!(Pause::Think(5).until_ns(0, 9, 100), 105);
        assert_eq!(Pause::None.until_ns(0, 9, 100), 100);
    }
}
