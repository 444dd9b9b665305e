//! What may be believed of a figure: its state and the machine-readable reasons.

use serde::{Deserialize, Serialize};

/// The state of a figure, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Every check held.
    #[default]
    Valid,
    /// A lower bound: the generator limited it.
    AtLeast,
    /// Some observations are known only as bounds.
    Censored,
    /// Not to be used.
    Void,
}

/// What a condition does when it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Annotates; excludes nothing.
    Flag,
    /// Makes the figure a lower bound.
    AtLeast,
    /// Makes percentiles bounds.
    Censor,
    /// Excludes the figure.
    Void,
}

/// Which figures a condition touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The whole run.
    #[default]
    Run,
    /// Latency and service time only.
    Latency,
    /// Throughput only.
    Throughput,
}

/// One condition that held: a gate that tripped or a flag that was raised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// The gate's name, as in the table of gates: `failures`, `accounting`, ...
    pub gate: String,
    /// The value seen; `None` when it could not be measured.
    pub value: Option<f64>,
    /// The bound it was held against.
    pub bound: Option<f64>,
    /// The unit of both: `share`, `count`, `ns`, ...
    pub unit: String,
    /// What it does.
    pub effect: Effect,
    /// What it touches.
    #[serde(default)]
    pub scope: Scope,
    /// One sentence for people, with value and bound.
    pub detail: String,
    /// What to try, when something can be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The second of the window at which it broke, from 0, where there is one: a page marks it in
    /// the series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<u64>,
}

/// The state of a run and of its two families of figures, with every reason.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Validity {
    /// The state of the run as a whole.
    pub state: State,
    /// The state of latency and service time.
    #[serde(default)]
    pub latency: State,
    /// The state of throughput.
    #[serde(default)]
    pub throughput: State,
    /// Flags and tripped gates.
    pub reasons: Vec<Reason>,
}

impl Validity {
    /// Derives the states from the reasons. The state of the run is the worst that touches the
    /// whole run; one that touches a single family shows as the better of the two families,
    /// since the other figure is still usable.
    #[must_use]
    pub fn from_reasons(reasons: Vec<Reason>) -> Self {
        let worst = |scopes: &[Scope]| {
            reasons
                .iter()
                .filter(|reason| scopes.contains(&reason.scope))
                .map(|reason| match reason.effect {
                    Effect::Flag => State::Valid,
                    Effect::AtLeast => State::AtLeast,
                    Effect::Censor => State::Censored,
                    Effect::Void => State::Void,
                })
                .max()
                .unwrap_or_default()
        };
        let run = worst(&[Scope::Run]);
        let latency = worst(&[Scope::Run, Scope::Latency]);
        let throughput = worst(&[Scope::Run, Scope::Throughput]);
        Self { state: run.max(latency.min(throughput)), latency, throughput, reasons }
    }

    /// True when some figure of the run is void, bounded or incomplete.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.state.max(self.latency).max(self.throughput) != State::Valid
    }
}
