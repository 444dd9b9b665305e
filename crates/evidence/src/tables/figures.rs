//! Every figure that one digest holds, by name: its own metrics, and the counts, sampled
//! resources and host shares from which tables are made. Figures that are ratios are listed with
//! the two figures that they are made of, so that a table can compute them from its medians.

use std::collections::BTreeMap;

use record::State;
use record::digest::Digest;

use crate::digest::{TARGET_ROLES, state_of_run};

/// Counted or timed by the process that did it.
pub(crate) const MEASURED: &str = "measured";
/// Seen by an observer at intervals.
pub(crate) const SAMPLED: &str = "sampled";
/// Computed from other figures.
pub(crate) const DERIVED: &str = "derived";

/// One figure of one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// `None` when it is not known.
    pub(crate) value: Option<f64>,
    pub(crate) unit: String,
    /// Whether it may be used: [`State::Valid`] only.
    pub(crate) state: State,
    /// `measured`, `sampled` or `derived`.
    pub(crate) kind: String,
}

impl Figure {
    /// The value when it may be used.
    pub(crate) fn usable(&self) -> Option<f64> {
        self.value.filter(|value| self.state == State::Valid && value.is_finite())
    }
}

/// A figure that a table computes from its medians: the median of ratios is another number than
/// the ratio of medians, and only the latter agrees with the figures printed beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Derived {
    pub(crate) name: &'static str,
    pub(crate) numerator: &'static str,
    pub(crate) denominator: &'static str,
    pub(crate) unit: &'static str,
}

/// All derived figures; one may use those before it.
pub(crate) const DERIVED_FIGURES: [Derived; 5] = [
    Derived {
        name: "target.cpu_per_request",
        numerator: "target.cpu",
        denominator: "requests",
        unit: "ns",
    },
    Derived {
        name: "generator.cpu_per_request",
        numerator: "generator.cpu",
        denominator: "requests",
        unit: "ns",
    },
    Derived { name: "target.cores", numerator: "target.cpu", denominator: "window", unit: "cores" },
    Derived {
        name: "throughput_per_core",
        numerator: "throughput",
        denominator: "target.cores",
        unit: "/s",
    },
    Derived {
        name: "connections_per_request",
        numerator: "connections",
        denominator: "requests_sent",
        unit: "",
    },
];

/// Gauges whose largest value is kept; identical runs that differ widely here do not repeat.
pub(crate) fn is_peak(name: &str) -> bool {
    name.ends_with("_peak")
}

/// All figures of a digest. A void run has figures too, in state void.
pub(crate) fn figures(digest: &Digest) -> BTreeMap<String, Figure> {
    let mut figures: BTreeMap<String, Figure> = digest
        .metrics
        .iter()
        .map(|(name, metric)| {
            let figure = Figure {
                value: metric.value,
                unit: metric.unit.clone(),
                state: metric.state,
                kind: if metric.kind.is_empty() { MEASURED } else { &metric.kind }.to_owned(),
            };
            (name.clone(), figure)
        })
        .collect();
    let state = state_of_run(&digest.validity);
    let mut add = |name: String, value: Option<f64>, unit: &str, kind: &str| {
        let figure = Figure { value, unit: unit.to_owned(), state, kind: kind.to_owned() };
        figures.entry(name).or_insert(figure);
    };
    if let Some(load) = &digest.load {
        let count = |value: u64| Some(value as f64);
        let cpu = load.generator.cpu_user_ns.saturating_add(load.generator.cpu_sys_ns);
        for (name, value, unit) in [
            ("requests", count(load.succeeded), ""),
            ("requests_sent", count(load.whole_life.sent), ""),
            ("window", count(load.window_ns), "ns"),
            ("connections", count(load.connections.opened), ""),
            ("in_flight_peak", count(load.in_flight_peak), ""),
            ("queued_peak", count(load.queued_peak), ""),
            ("generator.cpu", (cpu > 0).then_some(cpu as f64), "ns"),
        ] {
            add(name.to_owned(), value, unit, MEASURED);
        }
    }
    if let Some(mock) = &digest.mock {
        add("mock.distinct_ports".to_owned(), Some(mock.distinct_peer_ports as f64), "", MEASURED);
    }
    // The account must span the window, or it is no account of its requests.
    let spans = digest.metrics.get("target.cpu_per_request").is_none_or(|m| m.value.is_some());
    for (role, resources) in &digest.resources {
        let role = if TARGET_ROLES.contains(&role.as_str()) { "target" } else { role };
        let known = |value: Option<u64>| value.map(|value| value as f64);
        let cpu = if role == "target" && !spans { None } else { known(resources.cpu_ns) };
        for (name, value, unit) in [
            ("cpu", cpu, "ns"),
            ("rss_peak", known(resources.rss_peak_bytes), "bytes"),
            ("pss_peak", known(resources.pss_peak_bytes), "bytes"),
            ("threads_peak", known(resources.threads_peak), ""),
            ("descriptors_peak", known(resources.descriptors_peak), ""),
        ] {
            if value.is_some() {
                add(format!("{role}.{name}"), value, unit, SAMPLED);
            }
        }
    }
    for (name, value) in
        [("host.busy", digest.host.busy_share), ("host.steal", digest.host.steal_share)]
    {
        if value.is_some() {
            add(name.to_owned(), value, "share", SAMPLED);
        }
    }
    for derived in &DERIVED_FIGURES {
        let value = ratio(derived, |name| figures.get(name).and_then(|figure| figure.value));
        if value.is_some() && !figures.contains_key(derived.name) {
            let figure =
                Figure { value, unit: derived.unit.to_owned(), state, kind: DERIVED.to_owned() };
            figures.insert(derived.name.to_owned(), figure);
        }
    }
    figures
}

/// A derived figure from those that it is made of; `None` when one is unknown or nothing divides.
pub(crate) fn ratio(derived: &Derived, of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let (above, below) = (of(derived.numerator)?, of(derived.denominator)?);
    (below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, SampleRun, level};

    fn of(run: &SampleRun) -> BTreeMap<String, Figure> {
        let label = tempfile::tempdir().unwrap();
        let dir = run.complete(label.path());
        let digest = record::layout::read_json(&dir.join(record::layout::DIGEST_JSON)).unwrap();
        figures(&digest)
    }

    #[test]
    fn every_figure_has_a_kind_and_derived_ones_agree_with_what_they_are_made_of() {
        let figures = of(&SampleRun::sound(1, 1, &level("base", 0, None)));
        let value = |name: &str| figures[name].usable().unwrap_or_else(|| panic!("{name}"));
        assert_eq!(value("target.cpu_per_request"), value("target.cpu") / value("requests"));
        assert_eq!(value("throughput_per_core"), value("throughput") / value("target.cores"));
        assert_eq!(value("connections_per_request"), 8.0 / 26_400.0);
        assert_eq!(value("target.rss_peak"), 8_388_608.0);
        let kinds: std::collections::BTreeSet<&str> =
            figures.values().map(|figure| figure.kind.as_str()).collect();
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [DERIVED, MEASURED, SAMPLED]);
    }

    #[test]
    fn a_void_run_has_no_usable_figure_and_half_an_account_is_none() {
        let mut run = SampleRun::sound(1, 1, &level("base", 0, None));
        run.load = run.load.map(|load| record::load::LoadRecord { window_ns: 1, ..load });
        assert!(of(&run).values().all(|figure| figure.usable().is_none()));
        let mut run = SampleRun::sound(1, 1, &level("base", 0, None));
        // The target's account ends in the middle of the window.
        run.resources = Some(
            samples::resources_csv()
                .replace("1030000000000,window_end,target", "1016000000000,sample,target"),
        );
        let figures = of(&run);
        assert_eq!(figures.get("target.cpu"), None);
        assert_eq!(figures["target.cpu_per_request"].value, None);
    }
}
