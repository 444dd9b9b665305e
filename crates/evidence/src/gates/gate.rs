//! One condition of a run, and how it is found in the table by its name.

use record::plan::Gates;
use record::{Effect, Scope};

use super::table::GATES;

/// One condition.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// Its name in checks, reasons and documentation.
    pub name: &'static str,
    /// What it does when it does not hold.
    pub effect: Effect,
    /// What it touches.
    pub scope: Scope,
    /// The key of its bound in `[gates]`; empty where there is nothing to set.
    pub key: &'static str,
    /// Its bound, from the thresholds in effect; `None` where there is nothing to hold against.
    pub bound: fn(&Gates) -> Option<f64>,
    /// Unit of value and bound.
    pub unit: &'static str,
    /// The evidence: file and fields.
    pub source: &'static str,
    /// The test that plants the fault in a sound record.
    pub record_test: &'static str,
    /// The test that plants the fault in a whole run; empty where no program can plant it, or
    /// where the run leaves no digest.
    pub run_test: &'static str,
    /// What it means when it does not hold.
    pub meaning: &'static str,
    /// What to try; empty when there is nothing.
    pub remedy: &'static str,
}

pub(super) fn none(_: &Gates) -> Option<f64> {
    None
}

pub(super) fn zero(_: &Gates) -> Option<f64> {
    Some(0.0)
}

pub(super) fn one(_: &Gates) -> Option<f64> {
    Some(1.0)
}

/// The rows of a name: one for each family of figures that the condition touches.
///
/// # Panics
/// On a name that is not in the table, which is our bug: names are written in this crate only.
pub(crate) fn rows(name: &str) -> impl Iterator<Item = &'static Gate> {
    assert!(position(name) < GATES.len(), "gates are named in one table; there is no `{name}`");
    GATES.iter().filter(move |gate| gate.name == name)
}

/// The place of a gate in the table; unknown names come last.
pub(crate) fn position(name: &str) -> usize {
    GATES.iter().position(|gate| gate.name == name).unwrap_or(GATES.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_gate_says_what_it_means() {
        for (index, gate) in GATES.iter().enumerate() {
            let twin = GATES[..index].iter().find(|other| {
                other.name == gate.name && (other.scope == gate.scope || other.unit != gate.unit)
            });
            assert!(twin.is_none(), "`{}` is there twice for one family", gate.name);
            assert!(!gate.meaning.is_empty() && !gate.source.is_empty(), "`{}`", gate.name);
        }
    }
}
