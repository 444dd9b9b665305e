//! The table of gates as data: what each is called, what it does, what it touches, its bound
//! and what to try. Every threshold has a key in `[gates]` and is printed with the value that
//! it judged.

use record::plan::Gates;
use record::{Effect, Scope};

/// One condition.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// Its name in checks, reasons and documentation.
    pub name: &'static str,
    /// What it does when it does not hold.
    pub effect: Effect,
    /// What it touches.
    pub scope: Scope,
    /// Its bound, from the thresholds in effect; `None` where there is nothing to set.
    pub bound: fn(&Gates) -> Option<f64>,
    /// Unit of value and bound.
    pub unit: &'static str,
    /// What it means when it does not hold.
    pub meaning: &'static str,
    /// What to try; empty when there is nothing.
    pub remedy: &'static str,
}

fn none(_: &Gates) -> Option<f64> {
    None
}

fn zero(_: &Gates) -> Option<f64> {
    Some(0.0)
}

/// All gates, in the order in which checks and reasons are written: how the run ended, whether
/// the evidence is there, whether it adds up, then what the figures are worth.
pub const GATES: &[Gate] = &[
    Gate {
        name: "target_not_ready",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: none,
        unit: "",
        meaning: "the target never became ready, so nothing was measured",
        remedy: "read the target's `stderr.log`; raise `ready.within` if it is only slow",
    },
    Gate {
        name: "wrong_version",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: none,
        unit: "",
        meaning: "the target reports another version than the bench pins",
        remedy: "install the pinned version, or change `version.is`",
    },
    Gate {
        name: "target_died",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: none,
        unit: "",
        meaning: "the target exited while it was loaded",
        remedy: "read the target's `stderr.log`",
    },
    Gate {
        name: "generator_failed",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: none,
        unit: "",
        meaning: "the generator did not finish its job",
        remedy: "",
    },
    Gate {
        name: "timed_out",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: none,
        unit: "",
        meaning: "the run's time ran out",
        remedy: "raise `matrix.timeout`",
    },
    Gate {
        name: "interrupted",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: none,
        unit: "",
        meaning: "the run was stopped by a signal",
        remedy: "complete the matrix with `--resume`",
    },
    Gate {
        name: "absent_evidence",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: zero,
        unit: "files",
        meaning: "a file that this run owes is missing, empty or damaged",
        remedy: "",
    },
    Gate {
        name: "accounting",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: zero,
        unit: "requests",
        meaning: "the generator's own counters do not add up",
        remedy: "this is a fault of the generator: please report it with `load.json`",
    },
    Gate {
        name: "counts_disagree",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: zero,
        unit: "requests",
        meaning: "the mock counted other requests than the generator",
        remedy: "look for another client of the mock, or for a proxy that drops requests",
    },
    Gate {
        name: "failures_seen",
        effect: Effect::Flag,
        scope: Scope::Run,
        bound: zero,
        unit: "requests",
        meaning: "some requests failed; failed requests take their latency with them",
        remedy: "read the failure samples of the digest",
    },
    Gate {
        name: "failures",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: |gates| Some(gates.failures_share),
        unit: "share",
        meaning: "too many requests failed for the rest to be a sample of the whole",
        remedy: "read the failure samples of the digest, or raise `gates.failures`",
    },
    Gate {
        name: "window",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: |gates| Some(gates.window_ns as f64),
        unit: "ns",
        meaning: "the measured window is shorter than the shortest that counts",
        remedy: "lengthen `load.measure`, or lower `gates.window`",
    },
    Gate {
        name: "truncated",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: |gates| Some(gates.window_share),
        unit: "share",
        meaning: "the window ended before what was asked for",
        remedy: "",
    },
    Gate {
        name: "requests",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: |gates| Some(gates.requests as f64),
        unit: "requests",
        meaning: "too few requests succeeded to say anything",
        remedy: "lengthen `load.measure`, or lower `gates.requests`",
    },
    Gate {
        name: "observer_samples",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: |gates| Some(gates.observer_samples as f64),
        unit: "samples",
        meaning: "the observer saw target or generator too rarely inside the window",
        remedy: "shorten `observe.interval`, or lower `gates.samples`",
    },
    Gate {
        name: "achieved",
        effect: Effect::Void,
        scope: Scope::Run,
        bound: |gates| Some(gates.achieved_share),
        unit: "share",
        meaning: "requests were sent at less than the planned rate",
        remedy: "lower `load.rate`, or give the generator more cores or connections",
    },
    Gate {
        name: "unsent",
        effect: Effect::Censor,
        scope: Scope::Latency,
        bound: zero,
        unit: "requests",
        meaning: "requests were due and never sent: their latency is only known as a bound",
        remedy: "lower `load.rate`, or raise `load.max_connections`",
    },
    Gate {
        name: "unfinished",
        effect: Effect::Censor,
        scope: Scope::Latency,
        bound: zero,
        unit: "requests",
        meaning: "requests were in flight at the end: their latency is only known as a bound",
        remedy: "lengthen `load.cooldown`",
    },
    Gate {
        name: "generator_cpu_flag",
        effect: Effect::Flag,
        scope: Scope::Run,
        bound: |gates| Some(gates.generator_cpu_flag_share),
        unit: "share",
        meaning: "the generator was busy enough to colour the figures",
        remedy: "give the generator more cores with `cpus.generator`",
    },
    Gate {
        name: "generator_cpu",
        effect: Effect::AtLeast,
        scope: Scope::Throughput,
        bound: |gates| Some(gates.generator_cpu_share),
        unit: "share",
        meaning: "the generator was the limit: throughput is a lower bound",
        remedy: "give the generator more cores with `cpus.generator`, or lower the load",
    },
    Gate {
        name: "generator_cpu",
        effect: Effect::Void,
        scope: Scope::Latency,
        bound: |gates| Some(gates.generator_cpu_share),
        unit: "share",
        meaning: "the generator was the limit: latency holds its own queue",
        remedy: "give the generator more cores with `cpus.generator`, or lower the load",
    },
];

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
            assert!(!gate.meaning.is_empty(), "`{}`", gate.name);
        }
    }
}
