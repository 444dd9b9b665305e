//! Gates: conditions on the evidence of a run, each with one name, one effect and one bound.
//! [`table::GATES`] is the only list of them; checks and reasons come out of one evaluation, so
//! that a digest cannot show a check that held beside a reason that says it did not.

mod certified;
pub mod contrast;
pub mod document;
#[cfg(test)]
mod foreign_tests;
mod gate;
mod host;
mod latency;
#[cfg(test)]
mod latency_tests;
mod load;
#[cfg(test)]
mod machine_tests;
mod ports;
mod run;
mod shape;
#[cfg(test)]
mod shape_tests;
mod steady;
#[cfg(test)]
mod steady_tests;
#[cfg(test)]
mod surroundings_tests;
pub mod table;
#[cfg(test)]
mod tests;
mod witness;

use record::digest::Check;
use record::plan::Gates;
use record::{Reason, Validity};

pub use gate::Gate;
pub use load::judge_load;
pub use run::judge_run;
pub use shape::loop_balance;
pub use table::GATES;

/// What the gates said: every check in the order of the table, and the reasons of those that
/// did not hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    /// All checks that could apply, held or not.
    pub checks: Vec<Check>,
    /// One for each that did not hold.
    pub reasons: Vec<Reason>,
}

impl Judgement {
    /// The states that follow from the reasons.
    #[must_use]
    pub fn validity(&self) -> Validity {
        Validity::from_reasons(self.reasons.clone())
    }

    /// Records one evaluation. `held` is `None` where the gate does not apply; `detail` is a
    /// sentence for people and only asked for when the gate tripped.
    fn add(
        &mut self,
        name: &'static str,
        bounds: &Gates,
        value: Option<f64>,
        held: Option<bool>,
        detail: impl FnOnce() -> String,
    ) {
        self.add_at(name, bounds, value, held, || (detail(), None));
    }

    /// The same for what broke at one second of the window.
    fn add_at(
        &mut self,
        name: &'static str,
        bounds: &Gates,
        value: Option<f64>,
        held: Option<bool>,
        detail: impl FnOnce() -> (String, Option<u64>),
    ) {
        let (detail, second) = if held == Some(false) { detail() } else { Default::default() };
        for gate in gate::rows(name) {
            let bound = (gate.bound)(bounds);
            self.checks.push(Check {
                gate: gate.name.to_owned(),
                value,
                bound,
                unit: gate.unit.to_owned(),
                effect: gate.effect,
                scope: gate.scope,
                passed: held,
            });
            if held == Some(false) {
                self.reasons.push(Reason {
                    gate: gate.name.to_owned(),
                    value,
                    bound,
                    unit: gate.unit.to_owned(),
                    effect: gate.effect,
                    scope: gate.scope,
                    detail: detail.clone(),
                    remedy: (!gate.remedy.is_empty()).then(|| gate.remedy.to_owned()),
                    second,
                });
            }
        }
    }

    /// Puts checks and reasons into the order of the table.
    fn sorted(mut self) -> Self {
        self.checks.sort_by_key(|check| gate::position(&check.gate));
        self.reasons.sort_by_key(|reason| gate::position(&reason.gate));
        self
    }
}

/// A share as people read it: `0.5 %`. Four significant digits keep 99.99 % apart from 100 %.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} %")
}
