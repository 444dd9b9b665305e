//! The settings that are no choice of a table: `[matrix]`, `[gates]`, `[cpus]`, `[observe]`;
//! `[compare]` has its own module.

use std::collections::BTreeMap;

use record::plan::{Cpus, Gates, Require, RequireCalibration};

use crate::compare::no_factor;
use crate::node::Node;
use crate::problem::Report;
use crate::read::{self, Bad, Fields, Read, Reading, Whole};
use crate::words;

/// Most blocks.
pub(crate) const MAX_BLOCKS: u64 = 1_000;

/// How the levels of a factor are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Rows of a Williams design and their reverses.
    Balanced,
    /// As written, in every block.
    Fixed,
    /// A fresh permutation in every block, from the seed.
    Shuffle,
}

impl Policy {
    const WORDS: [&'static str; 3] = ["balanced", "fixed", "shuffle"];

    fn of(word: &str) -> Self {
        match word {
            "fixed" => Self::Fixed,
            "shuffle" => Self::Shuffle,
            _ => Self::Balanced,
        }
    }

    /// The word in the file.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Fixed => "fixed",
            Self::Shuffle => "shuffle",
        }
    }
}

/// `order`: one policy for all factors, or some by name.
#[derive(Debug, Clone)]
pub(crate) enum Order {
    All(Policy),
    /// By factor; the others are balanced.
    By(Vec<(String, Policy)>),
}

impl Order {
    /// The policy of a factor.
    pub(crate) fn of(&self, factor: &str) -> Policy {
        match self {
            Self::All(policy) => *policy,
            Self::By(list) => list
                .iter()
                .find(|(name, _)| name == factor)
                .map_or(Policy::Balanced, |(_, policy)| *policy),
        }
    }

    /// The policies by factor, where they have their own.
    pub(crate) fn by_factor(&self) -> BTreeMap<String, String> {
        match self {
            Self::All(_) => BTreeMap::new(),
            Self::By(list) => {
                list.iter().map(|(name, policy)| (name.clone(), policy.word().to_owned())).collect()
            }
        }
    }

    /// As the plan says it: `balanced`, or `target=fixed`.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::All(policy) => policy.word().to_owned(),
            Self::By(list) => list
                .iter()
                .map(|(name, policy)| format!("{name}={}", policy.word()))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }
}

/// Which instances get a discarded run first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WarmupRun {
    /// Those that serve several runs.
    Auto,
    /// All of them.
    Always,
    /// None.
    Never,
}

/// `[matrix]`.
#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    pub(crate) blocks: u32,
    /// `None` is `auto`: what the cells need.
    pub(crate) gap_ns: Option<u64>,
    /// With the place of each name, to point at one that is no varied factor.
    pub(crate) nest: Option<Vec<String>>,
    pub(crate) order: Order,
    pub(crate) seed: u64,
    pub(crate) warmup_run: WarmupRun,
    pub(crate) timeout_ns: Option<u64>,
    pub(crate) bring_up_share: f64,
    /// Whether the target's environment is padded by a length of its own in each pair of blocks.
    pub(crate) varies_layout: bool,
}

/// Reads `[matrix]`; the defaults are a layer below it.
pub(crate) fn matrix(fields: &mut Fields<'_>, reading: &Reading) -> Matrix {
    Matrix {
        blocks: fields
            .get("blocks", reading, |node| Whole { min: 1, max: MAX_BLOCKS }.read_u32(node))
            .unwrap_or(1),
        gap_ns: fields.get("gap", reading, gap).flatten(),
        nest: fields.get("nest", reading, |node| read::list(node, read::text)),
        order: fields.get("order", reading, order).unwrap_or(Order::All(Policy::Balanced)),
        seed: fields
            .get("seed", reading, |node| Whole { min: 0, max: i64::MAX as u64 }.read(node))
            .unwrap_or(1),
        warmup_run: fields.get("warmup_run", reading, warmup_run).unwrap_or(WarmupRun::Auto),
        timeout_ns: fields.get("timeout", reading, read::some_duration),
        bring_up_share: fields.get("bring_up_share", reading, read::share).unwrap_or(1.0),
        varies_layout: fields.get("layout", reading, read::word("layout", &["fixed", "vary"]))
            == Some("vary"),
    }
}

/// Checks `[matrix]` as written.
pub(crate) fn matrix_keys(fields: &mut Fields<'_>, reading: &Reading) {
    matrix(fields, reading);
}

fn order(node: &Node) -> Read<Order> {
    let word = read::word("order", &Policy::WORDS);
    match node.as_table() {
        None => Ok(Order::All(Policy::of(word(node)?))),
        Some(table) => {
            let by: Read<Vec<(String, Policy)>> = table
                .iter()
                .map(|(name, node)| {
                    let word = word(node).map_err(|bad| bad.at(node.at))?;
                    Ok((name.clone(), Policy::of(word)))
                })
                .collect();
            Ok(Order::By(by?))
        }
    }
}

/// A pause between runs, ns; `None` is `auto`.
fn gap(node: &Node) -> Read<Option<u64>> {
    if node.as_text() == Some("auto") {
        return Ok(None);
    }
    let or_auto = |bad: Bad| bad.help("or write `\"auto\"`");
    read::duration(node).map(Some).map_err(or_auto)
}

fn warmup_run(node: &Node) -> Read<WarmupRun> {
    match (node.as_text(), read::flag(node)) {
        (Some("auto"), _) => Ok(WarmupRun::Auto),
        (_, Ok(true)) => Ok(WarmupRun::Always),
        (_, Ok(false)) => Ok(WarmupRun::Never),
        _ => Err(Bad::new(format!(
            "{} is no value of `warmup_run`; valid: `\"auto\"`, `true`, `false`",
            node.shown()
        ))),
    }
}

/// Reads `[gates]`; keys that are absent keep their defaults.
pub(crate) fn gates(fields: &mut Fields<'_>, reading: &Reading) -> Gates {
    let mut gates = Gates::default();
    let mut set = |key: &'static str, read: fn(&Node) -> Read<f64>, bound: &mut f64| {
        *bound = fields.get(key, reading, read).unwrap_or(*bound);
    };
    set("failures", read::share, &mut gates.failures_share);
    set("achieved", read::share, &mut gates.achieved_share);
    set("generator_cpu_flag", read::share, &mut gates.generator_cpu_flag_share);
    set("generator_cpu", read::share, &mut gates.generator_cpu_share);
    set("truncated", read::share, &mut gates.window_share);
    set("percentile", percentile, &mut gates.percentile);
    set("lag_flag", read::multiple, &mut gates.lag_flag_share);
    set("lag", read::multiple, &mut gates.lag_share);
    set("little", read::share, &mut gates.little_share);
    set("connection_shape", read::share, &mut gates.reconnects_share);
    set("trend", read::multiple, &mut gates.trend_share);
    set("halves", read::multiple, &mut gates.halves_share);
    set("shift_flag", read::multiple, &mut gates.shift_flag_share);
    set("shift", read::multiple, &mut gates.shift_share);
    set("warm_up", read::multiple, &mut gates.warm_up_share);
    set("hidden_mode", read::share, &mut gates.mode_share);
    set("mock_late", read::multiple, &mut gates.mock_late_share);
    set("steal", read::share, &mut gates.steal_share);
    set("foreign", read::multiple, &mut gates.foreign_share);
    set("frequency", read::share, &mut gates.frequency_share);
    set("clock_variance", read::share, &mut gates.clock_variance_share);
    set("speed", read::multiple, &mut gates.speed_share);
    set("load_average", read::multiple, &mut gates.load_average_share);
    set("generator_cluster", read::share, &mut gates.cluster_share);
    let count = |node: &Node| Whole { min: 0, max: 1_000_000_000 }.read(node);
    let mut set = |key: &'static str, read: fn(&Node) -> Read<u64>, bound: &mut u64| {
        *bound = fields.get(key, reading, read).unwrap_or(*bound);
    };
    set("window", read::duration, &mut gates.window_ns);
    set("gap", read::duration, &mut gates.gap_ns);
    set("lag_base", read::some_duration, &mut gates.lag_base_ns);
    set("samples", count, &mut gates.observer_samples);
    set("requests", count, &mut gates.requests);
    set("steady_seconds", count, &mut gates.steady_seconds);
    set("start_temperature", count, &mut gates.start_temperature_celsius);
    gates
}

/// A percentile such as `99%`; strictly between the extremes, which are none.
fn percentile(node: &Node) -> Read<f64> {
    match read::share(node)? {
        share if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(Bad::new(format!("{} is no percentile; write `\"99%\"`", node.shown()))),
    }
}

/// Checks `[gates]` as written.
pub(crate) fn gates_keys(fields: &mut Fields<'_>, reading: &Reading) {
    gates(fields, reading);
}

/// The roles of `[cpus]`, in the order of messages.
const ROLES: [&str; 4] = ["target", "mock", "generator", "parent"];

/// `[cpus]` with the roles that may share cores.
#[derive(Debug, Clone, Default)]
pub(crate) struct Placement {
    pub(crate) cpus: Cpus,
    overlap: Vec<String>,
}

impl Placement {
    fn role(&self, role: &str) -> &[u32] {
        match role {
            "target" => &self.cpus.target,
            "mock" => &self.cpus.mock,
            "generator" => &self.cpus.generator,
            _ => &self.cpus.parent,
        }
    }

    /// Pairs of roles that share cores without leave. `server` is the role that serves in a
    /// cell: `target`, or `mock` when its target is assay's own.
    pub(crate) fn overlaps(&self, server: &'static str) -> Vec<Overlap> {
        let roles = [server, "generator", "parent"];
        let mut found = Vec::new();
        for (index, first) in roles.iter().enumerate() {
            for second in &roles[index + 1..] {
                let allowed = |role: &str| self.overlap.iter().any(|allowed| allowed == role);
                if allowed(first) && allowed(second) {
                    continue;
                }
                let shared: Vec<u32> = self
                    .role(first)
                    .iter()
                    .copied()
                    .filter(|core| self.role(second).contains(core))
                    .collect();
                if !shared.is_empty() {
                    found.push(Overlap { first, second, cores: spelled(&shared) });
                }
            }
        }
        found
    }
}

/// Two roles on the same cores.
pub(crate) struct Overlap {
    pub(crate) first: &'static str,
    pub(crate) second: &'static str,
    /// `1` or `0-3,6`.
    pub(crate) cores: String,
}

/// Sorted cores as `0-3,6`.
fn spelled(cores: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for core in cores {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *core => *last = *core,
            _ => parts.push((*core, *core)),
        }
    }
    parts
        .iter()
        .map(
            |(first, last)| {
                if first == last { first.to_string() } else { format!("{first}-{last}") }
            },
        )
        .collect::<Vec<_>>()
        .join(",")
}

/// Reads `[cpus]`. The mock stands in for a target, so its cores default to the target's.
pub(crate) fn cpus(fields: &mut Fields<'_>, reading: &Reading) -> Placement {
    let target = fields.get("target", reading, read::cores).unwrap_or_default();
    let mock = fields.get("mock", reading, read::cores).unwrap_or_else(|| target.clone());
    let generator = fields.get("generator", reading, read::cores).unwrap_or_default();
    let parent = fields.get("parent", reading, read::cores).unwrap_or_default();
    let overlap = fields
        .get("overlap", reading, |node| {
            read::list(node, |role| read::word("overlap", &ROLES)(role).map(str::to_owned))
        })
        .unwrap_or_default();
    Placement { cpus: Cpus { target, mock, generator, parent }, overlap }
}

/// Checks `[cpus]` as written.
pub(crate) fn cpus_keys(fields: &mut Fields<'_>, reading: &Reading) {
    cpus(fields, reading);
}

/// Reads `[observe]`: the sampling interval, ns.
pub(crate) fn observe(fields: &mut Fields<'_>, reading: &Reading) -> u64 {
    let interval = |node: &Node| {
        let ns = read::duration(node)?;
        // Below 10 ms the observer would itself be the load; above an hour it samples nothing.
        if (10_000_000..=3_600_000_000_000).contains(&ns) {
            Ok(ns)
        } else {
            Err(Bad::new(format!("{} is not from `10ms` to `1h`", node.shown())))
        }
    };
    fields.get("interval", reading, interval).unwrap_or(1_000_000_000)
}

/// Checks `[observe]` as written.
pub(crate) fn observe_keys(fields: &mut Fields<'_>, reading: &Reading) {
    observe(fields, reading);
}

/// Checks that the names in `nest` and `order` are varied factors, each once and, in `nest`, all.
pub(crate) fn check_factors(table: &crate::node::Table, varied: &[&str], reading: &Reading) {
    if let Some(node) = table.get("nest") {
        let mut seen: Vec<&str> = Vec::new();
        let mut all_known = true;
        for element in node.as_list().unwrap_or_default() {
            let Some(name) = element.as_text() else { continue };
            if !varied.contains(&name) {
                reading.report(no_factor(name, element.at, "nest", varied));
                all_known = false;
            } else if seen.contains(&name) {
                let message = format!("`nest` lists `{name}` twice");
                reading.report(Report::at(element.at, message));
            }
            seen.push(name);
        }
        let missing: Vec<&str> =
            varied.iter().copied().filter(|name| !seen.contains(name)).collect();
        if all_known && node.as_list().is_some() && !missing.is_empty() {
            let message = format!("`nest` leaves out {}", words::listed(missing));
            reading.report(Report::at(node.at, message).help("it lists every varied factor"));
        }
    }
    if let Some(order) = table.get("order").and_then(Node::as_table) {
        for (name, node) in order {
            if !varied.contains(&name.as_str()) {
                reading.report(no_factor(name, node.key, "order", varied));
            }
        }
    }
}

/// Reads `[require]`.
pub(crate) fn require(fields: &mut Fields<'_>, reading: &Reading) -> Require {
    let asked = fields.has("calibration", reading);
    let mut inner = fields.table("calibration", reading);
    let usual = RequireCalibration::default();
    let knee_share = |node: &Node| {
        let share = read::share(node)?;
        if share > 0.0 && share <= 1.0 {
            Ok(share)
        } else {
            Err(Bad::new(format!("{} is no share of the knee; write `\"50%\"`", node.shown())))
        }
    };
    let calibration = RequireCalibration {
        age_ns: inner.get("age", reading, read::some_duration).unwrap_or(usual.age_ns),
        knee_share: inner.get("knee", reading, knee_share).unwrap_or(usual.knee_share),
    };
    inner.finish(reading);
    Require { calibration: asked.then_some(calibration) }
}

/// Checks `[require]` as written.
pub(crate) fn require_keys(fields: &mut Fields<'_>, reading: &Reading) {
    require(fields, reading);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_spelled_as_ranges() {
        assert_eq!(spelled(&[0, 1, 2, 3, 6]), "0-3,6");
        assert_eq!(spelled(&[1]), "1");
    }
}
