//! What of a machine may change between two runs, read right before and right after the load of
//! each. `None` is unknown, never zero.

use serde::{Deserialize, Serialize};

/// The machine around the load of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostStates {
    /// After the target was ready and before the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<HostState>,
    /// After the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<HostState>,
}

/// The machine at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostState {
    /// Frequency governor of the cores.
    pub governor: Option<String>,
    /// Whether cores may go above their nominal clock.
    pub turbo: Option<bool>,
    /// Whether the mains feed it.
    pub on_mains: Option<bool>,
    /// The hottest zone.
    pub temperature_millicelsius: Option<i64>,
    /// The sentinel: a fixed loop on the cores of each type.
    pub spins: Vec<Spin>,
}

/// A fixed amount of computation on cores of one type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spin {
    /// The cores, as `0-3,8`.
    pub cores: String,
    /// Median CPU time of its slices, ns.
    pub median_ns: u64,
}

impl HostStates {
    /// Whether turbo was on, for people: `on`, `off`, `on, then off`; `None` when unknown.
    #[must_use]
    pub fn turbo(&self) -> Option<String> {
        let word = |on: bool| if on { "on" } else { "off" };
        self.both(|state| state.turbo.map(|on| word(on).to_owned()))
    }

    /// The governor in the same way.
    #[must_use]
    pub fn governor(&self) -> Option<String> {
        self.both(|state| state.governor.clone())
    }

    fn both(&self, of: impl Fn(&HostState) -> Option<String>) -> Option<String> {
        let before = self.before.as_ref().and_then(&of);
        let after = self.after.as_ref().and_then(&of);
        match (before, after) {
            (Some(before), Some(after)) if before != after => {
                Some(format!("{before}, then {after}"))
            }
            (before, after) => before.or(after),
        }
    }

    /// The largest change of the sentinel within the run over the types of cores, as a share:
    /// 0.1 is 10 % slower after the load than before; negative is faster.
    #[must_use]
    pub fn speed_change(&self) -> Option<(&str, f64)> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let changes = before.spins.iter().filter_map(|then| {
            let now = after.spins.iter().find(|now| now.cores == then.cores)?;
            let is_known = then.median_ns > 0 && now.median_ns > 0;
            let change = now.median_ns as f64 / then.median_ns as f64 - 1.0;
            is_known.then_some((then.cores.as_str(), change))
        });
        changes.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(turbo: Option<bool>, spins: &[(&str, u64)]) -> Option<HostState> {
        let spins = spins
            .iter()
            .map(|(cores, median_ns)| Spin { cores: (*cores).to_owned(), median_ns: *median_ns });
        Some(HostState { turbo, spins: spins.collect(), ..HostState::default() })
    }

    #[test]
    fn a_flip_is_told() {
        let run =
            |before, after| HostStates { before: state(before, &[]), after: state(after, &[]) };
        assert_eq!(run(Some(true), Some(true)).turbo().as_deref(), Some("on"));
        assert_eq!(run(Some(true), Some(false)).turbo().as_deref(), Some("on, then off"));
        assert_eq!(run(None, Some(false)).turbo().as_deref(), Some("off"));
        assert_eq!(run(None, None).turbo(), None);
    }

    #[test]
    fn the_largest_change_over_types_of_cores() {
        let run = HostStates {
            before: state(None, &[("0-1", 1_000), ("2-3", 2_000), ("4", 0)]),
            after: state(None, &[("0-1", 1_010), ("2-3", 1_800), ("4", 9)]),
        };
        let (cores, change) = run.speed_change().expect("both were measured");
        assert_eq!(cores, "2-3");
        assert!((change + 0.1).abs() < 1e-12, "{change}");
        assert_eq!(HostStates::default().speed_change(), None);
    }
}
