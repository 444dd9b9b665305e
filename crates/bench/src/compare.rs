//! `[compare]` and `[[hypothesis]]`: what is compared, and what was registered about it before
//! the first run.
//!
//! A table is read twice: as written, where only the shape of its values can be judged, and
//! resolved against the factors, where every name must exist. What is left out and can only mean
//! one thing (the factor of a hypothesis when a single one is compared) is filled in, so that the
//! plan and every digest say it in full.

use std::collections::{BTreeMap, BTreeSet};

use record::plan::{Compare, Hypothesis, Manipulation};
use record::units;

use crate::factors::{Factor, Factors};
use crate::node::{Node, Table, Value, leaves};
use crate::problem::Report;
use crate::read::{self, Bad, Fields, Read, Reading, Stage, Whole};
use crate::source::At;
use crate::words;

/// Metrics that can be primary.
const METRICS: [&str; 10] = [
    "throughput",
    "p50",
    "p90",
    "p95",
    "p99",
    "p999",
    "failures",
    "time",
    "target.cpu_per_request",
    "generator.cpu_per_request",
];
/// Quantities that say whether the arms are what they were meant to be; no measure of speed.
const SHAPES: [&str; 2] = ["connections", "connections_per_request"];
/// Roots of the keys that the two runs of a pair must agree in.
const ALLOWED_ROOTS: [&str; 9] =
    ["host", "assay", "cpus", "observe", "load", "gates", "transport", "generator", "target"];
/// Most looks that can be registered: the statistics have bounds for so many.
const MAX_LOOKS: u64 = 8;
/// Largest slowdown of a positive control: the target stands still for half of the time.
const MAX_POSITIVE: f64 = 1.0;
/// Slowdown of a positive control without `compare.positive`.
pub(crate) const DEFAULT_POSITIVE: f64 = 0.05;
/// Longest name of a hypothesis, characters: it is a cell of a table.
const MAX_HYPOTHESIS: usize = 60;
/// Share by which arms must differ without `least`.
const DEFAULT_LEAST: f64 = 0.5;

/// A name with its place.
type Placed = (String, At);

/// `[compare]` before its names are looked up.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    primary: Option<String>,
    factors: Vec<Placed>,
    /// Factor and level; a single text has no factor.
    baseline: Vec<(Option<Placed>, Placed)>,
    over: Option<Placed>,
    guard: Option<(At, Vec<Placed>)>,
    weight: Option<(At, Vec<(Placed, f64)>)>,
    margin: BTreeMap<String, f64>,
    positive: Option<f64>,
    allow: Vec<String>,
    looks: Option<u32>,
    manipulation: Vec<ManipulationDraft>,
}

#[derive(Debug)]
struct ManipulationDraft {
    at: At,
    factor: Option<Placed>,
    metric: String,
    least: f64,
}

/// Reads `[compare]`.
pub(crate) fn compare(fields: &mut Fields<'_>, reading: &Reading) -> Draft {
    let placed = |node: &Node| read::text(node).map(|text| (text, node.at));
    let list = |node: &Node| match node.as_list() {
        Some(_) => read::list(node, placed),
        None => placed(node).map(|one| vec![one]),
    };
    let key_of = |fields: &mut Fields<'_>, key| fields.raw(key, reading).map(|node| node.key);
    Draft {
        primary: fields.get("primary", reading, read::word("primary", &METRICS)).map(str::to_owned),
        factors: fields.get("factors", reading, list).unwrap_or_default(),
        baseline: fields.get("baseline", reading, baseline).unwrap_or_default(),
        over: fields.get("over", reading, placed),
        guard: key_of(fields, "guard").zip(fields.get("guard", reading, list)),
        weight: key_of(fields, "weight").zip(fields.get("weight", reading, weights)),
        margin: fields.get("margin", reading, margins).unwrap_or_default(),
        positive: fields.get("positive", reading, positive),
        allow: fields
            .get("allow", reading, |node| match node.as_list() {
                Some(_) => read::list(node, allowed),
                None => allowed(node).map(|one| vec![one]),
            })
            .unwrap_or_default(),
        looks: fields.get("looks", reading, |node| Whole { min: 1, max: MAX_LOOKS }.read_u32(node)),
        manipulation: manipulations(fields, reading),
    }
}

/// Checks `[compare]` as written.
pub(crate) fn compare_keys(fields: &mut Fields<'_>, reading: &Reading) {
    compare(fields, reading);
}

fn baseline(node: &Node) -> Read<Vec<(Option<Placed>, Placed)>> {
    match node.as_table() {
        None => Ok(vec![(None, (read::text(node)?, node.at))]),
        Some(table) => table
            .iter()
            .map(|(factor, level)| {
                let text = read::text(level).map_err(|bad| bad.at(level.at))?;
                Ok((Some((factor.clone(), level.key)), (text, level.at)))
            })
            .collect(),
    }
}

fn weights(node: &Node) -> Read<Vec<(Placed, f64)>> {
    let Some(table) = node.as_table() else {
        let message = format!("{} is not a table; write `{{ large = 2 }}`", node.shown());
        return Err(Bad::new(message));
    };
    let weight = |node: &Node| {
        let number = match node.value {
            Value::Int(number) => number as f64,
            Value::Float(number) => number,
            _ => f64::NAN,
        };
        if number > 0.0 && number.is_finite() {
            return Ok(number);
        }
        let bad = Bad::new(format!("{} is no weight; write a number above 0", node.shown()));
        Err(bad.at(node.at).help("a row that shall not count is a `guard`, or is skipped"))
    };
    table.iter().map(|(row, node)| Ok(((row.clone(), node.key), weight(node)?))).collect()
}

/// One margin for all metrics, as `*`, or a table by metric.
fn margins(node: &Node) -> Read<BTreeMap<String, f64>> {
    let margin = |node: &Node| -> Read<f64> {
        let share = read::share(node).map_err(|bad| bad.at(node.at))?;
        if share > 0.0 && share < 1.0 {
            return Ok(share);
        }
        let message = format!("{} is no margin; write `\"2%\"`", node.shown());
        Err(Bad::new(message).at(node.at).help("the smallest effect that matters"))
    };
    let Some(table) = node.as_table() else {
        return Ok(BTreeMap::from([("*".to_owned(), margin(node)?)]));
    };
    let mut all = Vec::new();
    // Metrics with a dot in their name may be written bare.
    leaves("", table, &mut |name, node| all.push((name, node)));
    all.into_iter()
        .map(|(name, node)| {
            if name != "*" {
                metric_named(&name, node.key)?;
            }
            Ok((name, margin(node)?))
        })
        .collect()
}

fn positive(node: &Node) -> Read<f64> {
    let share = read::share(node)?;
    if share > 0.0 && share <= MAX_POSITIVE {
        Ok(share)
    } else {
        Err(Bad::new(format!("{} slows nothing; write `\"5%\"`", node.shown())))
    }
}

/// A key in which pairs may differ.
fn allowed(node: &Node) -> Read<String> {
    let text = read::text(node)?;
    let root = text.split('.').next().unwrap_or_default();
    if ALLOWED_ROOTS.contains(&root) {
        return Ok(text);
    }
    let near = words::nearest_suffix(root, ALLOWED_ROOTS);
    let message = format!("{} is nothing that pairs must agree in{near}", node.shown());
    Err(Bad::new(message).at(node.at).help("write a key such as `host.kernel` or `load.warmup`"))
}

fn metric(node: &Node) -> Read<String> {
    let text = read::text(node)?;
    metric_named(&text, node.at)?;
    Ok(text)
}

fn metric_named(name: &str, at: At) -> Read<()> {
    let known = || METRICS.into_iter().chain(SHAPES);
    if known().any(|metric| metric == name) {
        return Ok(());
    }
    let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    let near = words::nearest_suffix(name, known());
    let bad = Bad::new(format!("`{shown}` is no metric{near}")).at(at);
    Err(if near.is_empty() { bad.help(format!("valid: {}", words::listed(known()))) } else { bad })
}

/// `manipulation`: a table or a list of them.
fn manipulations(fields: &mut Fields<'_>, reading: &Reading) -> Vec<ManipulationDraft> {
    let Some(node) = fields.raw("manipulation", reading) else { return Vec::new() };
    let tables = match node.as_list() {
        Some(list) => list,
        None => std::slice::from_ref(node),
    };
    let place = "`compare.manipulation`";
    tables
        .iter()
        .filter_map(|node| {
            let Some(table) = node.as_table() else {
                let help = "write `{ metric = \"connections\", least = \"50%\" }`";
                let message = format!("{} is not a table", node.shown());
                reading.report(Report::at(node.at, message).help(help));
                return None;
            };
            let mut fields = Fields::new(Some(table), node.key, place, "compare.manipulation");
            let factor = fields.get("factor", reading, read::text);
            let factor_at = fields.raw("factor", reading).map(|node| node.at);
            let wanted = fields.get("metric", reading, metric);
            let least = fields.get("least", reading, |node| {
                let share = read::share(node)?;
                if share > 0.0 { Ok(share) } else { Err(Bad::new("arms always differ by `0%`")) }
            });
            if !fields.has("metric", reading) {
                let message = format!("{place} has no `metric`");
                let help = "the quantity that must differ, such as `metric = \"connections\"`";
                reading.report(Report::at(node.key, message).help(help));
            }
            fields.finish(reading);
            Some(ManipulationDraft {
                at: node.key,
                factor: factor.zip(factor_at),
                metric: wanted?,
                least: least.unwrap_or(DEFAULT_LEAST),
            })
        })
        .collect()
}

/// Looks up every name of `[compare]` and `[[hypothesis]]`, and tells the factors what is
/// compared with what. What is refused is reported and left out.
pub(crate) fn resolve(
    draft: Draft,
    hypotheses: &[Node],
    factors: &mut Factors,
    reading: &Reading,
) -> Compare {
    set_contrasted(&draft, factors, reading);
    let baseline = set_baselines(&draft.baseline, factors, reading);
    factors.positive_share = draft.positive.unwrap_or(DEFAULT_POSITIVE);
    let has_positive =
        factors.varied.iter().flat_map(|factor| &factor.levels).any(|level| level.positive);
    let (guard, weight) = rows(&draft, factors, reading);
    Compare {
        primary: draft.primary,
        factors: draft.factors.into_iter().map(|(name, _)| name).collect(),
        baseline,
        over: draft.over.map(|(name, _)| name),
        guard,
        weight,
        margin: draft.margin,
        positive: draft.positive.or(has_positive.then_some(DEFAULT_POSITIVE)),
        allow: draft.allow,
        looks: draft.looks,
        manipulation: draft
            .manipulation
            .into_iter()
            .filter_map(|found| {
                let what = "`compare.manipulation`";
                let factor = contrasted(found.factor, what, found.at, factors, reading)?;
                Some(Manipulation {
                    factor: Some(factor.name.clone()),
                    metric: found.metric,
                    least: found.least,
                })
            })
            .collect(),
        hypotheses: registered(hypotheses, factors, reading),
    }
}

/// Which factors are compared: those listed; without a list all but rows and the factor of
/// `over`, whose levels are the rows of a mean.
fn set_contrasted(draft: &Draft, factors: &mut Factors, reading: &Reading) {
    let names: Vec<String> = factors.varied.iter().map(|factor| factor.name.clone()).collect();
    let varied: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    for (name, at) in &draft.factors {
        if !varied.contains(&name.as_str()) {
            reading.report(no_factor(name, *at, "compare.factors", &varied));
        } else if !listed.insert(name) {
            let message = format!("`compare.factors` lists `{name}` twice");
            reading.report(Report::at(*at, message));
        }
    }
    let over = draft.over.as_ref().map(|(name, _)| name.as_str());
    for factor in &mut factors.varied {
        if !listed.is_empty() {
            factor.contrasted = listed.contains(factor.name.as_str());
        } else if over == Some(factor.name.as_str()) {
            factor.contrasted = false;
        }
    }
    let Some((name, at)) = &draft.over else { return };
    if !varied.contains(&name.as_str()) {
        reading.report(no_factor(name, *at, "compare.over", &varied));
    } else if !factors.varied.iter().any(|f| f.contrasted && f.name != *name) {
        let message = format!("nothing is compared over the levels of `{name}`");
        let help = "a mean over rows needs another factor, whose levels are compared in each row";
        reading.report(Report::at(*at, message).help(help));
    }
}

/// Moves baselines and the controls that repeat them without a name of their own.
fn set_baselines(
    wanted: &[(Option<Placed>, Placed)],
    factors: &mut Factors,
    reading: &Reading,
) -> BTreeMap<String, String> {
    let mut moved = BTreeMap::new();
    for (factor, (level, at)) in wanted {
        let Some(index) = factor_of_baseline(factor.as_ref(), level, *at, factors, reading) else {
            continue;
        };
        let found = &mut factors.varied[index];
        match found.levels.iter().position(|known| known.name == *level) {
            Some(place) if found.levels[place].twin.is_some() => {
                let message = format!("the baseline of `{}` is the control `{level}`", found.name);
                let help = "a control repeats a level; the baseline is one that it may repeat";
                reading.report(Report::at(*at, message).help(help));
            }
            Some(place) => {
                found.move_baseline(place);
                moved.insert(found.name.clone(), level.clone());
            }
            None => reading.report(no_level(found, level, *at)),
        }
    }
    moved
}

/// The index of the factor whose baseline is moved; a lone level must belong to one factor.
fn factor_of_baseline(
    factor: Option<&Placed>,
    level: &str,
    at: At,
    factors: &Factors,
    reading: &Reading,
) -> Option<usize> {
    let varied: Vec<&str> = factors.varied.iter().map(|factor| factor.name.as_str()).collect();
    if let Some((name, place)) = factor {
        let found = varied.iter().position(|known| known == name);
        if found.is_none() {
            reading.report(no_factor(name, *place, "compare.baseline", &varied));
        }
        return found;
    }
    let compared: Vec<usize> =
        (0..varied.len()).filter(|index| factors.varied[*index].contrasted).collect();
    let having: Vec<usize> = compared
        .iter()
        .copied()
        .filter(|index| factors.varied[*index].levels.iter().any(|l| l.name == level))
        .collect();
    match (&having[..], &compared[..]) {
        ([only], _) => Some(*only),
        ([], [only]) => Some(*only),
        _ => {
            let names = words::listed(compared.iter().map(|index| varied[*index]));
            let message = format!("`baseline` does not say which of {names} it is for");
            let help = format!("write `baseline = {{ FACTOR = \"{level}\" }}`");
            let report = if compared.is_empty() {
                Report::at(at, "`baseline` of nothing: no factor is compared")
            } else {
                Report::at(at, message).help(help)
            };
            reading.report(report);
            None
        }
    }
}

/// `guard` and `weight`, which name levels of `over`.
fn rows(
    draft: &Draft,
    factors: &Factors,
    reading: &Reading,
) -> (Vec<String>, BTreeMap<String, f64>) {
    let (mut guard, mut weight) = (Vec::new(), BTreeMap::new());
    let Some((over, _)) = &draft.over else {
        let keys = [
            ("guard", draft.guard.as_ref().map(|(at, _)| *at)),
            ("weight", draft.weight.as_ref().map(|(at, _)| *at)),
        ];
        for (key, at) in keys.into_iter().filter_map(|(key, at)| Some((key, at?))) {
            let message = format!("`{key}` without `over`");
            let help = "`over` is the factor whose levels are the rows of a mean";
            reading.report(Report::at(at, message).help(help));
        }
        return (guard, weight);
    };
    let Some(factor) = factors.varied.iter().find(|factor| factor.name == *over) else {
        return (guard, weight);
    };
    let is_row =
        |name: &str| factor.levels.iter().any(|level| level.name == name && level.twin.is_none());
    for (name, at) in draft.guard.iter().flat_map(|(_, names)| names) {
        if is_row(name) {
            guard.push(name.clone());
        } else {
            reading.report(no_level(factor, name, *at));
        }
    }
    for ((name, at), value) in draft.weight.iter().flat_map(|(_, weights)| weights) {
        if !is_row(name) {
            reading.report(no_level(factor, name, *at));
        } else if guard.contains(name) {
            let message = format!("row `{name}` has a weight and is a guard");
            let help = "a guard stands beside the mean and never in it";
            reading.report(Report::at(*at, message).help(help));
        } else {
            weight.insert(name.clone(), *value);
        }
    }
    let in_the_mean =
        |level: &crate::factors::Level| level.twin.is_none() && !guard.contains(&level.name);
    if let Some((at, _)) = &draft.guard
        && !factor.levels.iter().any(in_the_mean)
    {
        reading.report(Report::at(*at, "every row is a guard; nothing is left for the mean"));
    }
    (guard, weight)
}

/// The predictions, each with the factor and the level that it is about.
fn registered(nodes: &[Node], factors: &Factors, reading: &Reading) -> Vec<Hypothesis> {
    let mut all: Vec<Hypothesis> = Vec::new();
    for node in nodes {
        let Some(found) = hypothesis(node, factors, reading) else { continue };
        let same = |other: &Hypothesis| {
            (&other.name, &other.factor, &other.level, &other.metric)
                == (&found.name, &found.factor, &found.level, &found.metric)
        };
        if all.iter().any(same) {
            let message = format!("hypothesis `{}` predicts one thing twice", found.name);
            reading.report(Report::at(start_of(node), message));
            continue;
        }
        all.push(found);
    }
    all
}

/// Where the first key of a table is: the header of `[[...]]` has no place of its own.
fn start_of(node: &Node) -> At {
    node.as_table().and_then(Table::first).map_or(node.at, |(_, first)| first.key)
}

/// A `[[hypothesis]]` before its names are looked up.
#[derive(Debug, Default)]
pub(crate) struct HypothesisDraft {
    name: Option<String>,
    factor: Option<Placed>,
    level: Option<Placed>,
    metric: Option<String>,
    predicts: Option<f64>,
}

/// Reads the keys of a `[[hypothesis]]`.
pub(crate) fn hypothesis_keys(fields: &mut Fields<'_>, reading: &Reading) -> HypothesisDraft {
    let placed = |node: &Node| read::text(node).map(|text| (text, node.at));
    HypothesisDraft {
        name: fields.get("name", reading, |node| {
            let name = read::text(node)?;
            if name.trim().is_empty() || name.chars().count() > MAX_HYPOTHESIS {
                let message =
                    format!("the name of a hypothesis has 1 to {MAX_HYPOTHESIS} characters");
                return Err(Bad::new(message));
            }
            Ok(name)
        }),
        factor: fields.get("factor", reading, placed),
        level: fields.get("level", reading, placed),
        metric: fields.get("metric", reading, metric),
        predicts: fields.get("predicts", reading, predicted),
    }
}

fn hypothesis(node: &Node, factors: &Factors, reading: &Reading) -> Option<Hypothesis> {
    let at = start_of(node);
    let before = reading.problems.borrow().len();
    let mut fields = Fields::new(node.as_table(), at, "`[[hypothesis]]`", "hypothesis");
    // No reference has a meaning here: it belongs to no cell.
    let effective = Reading { stage: Stage::Effective, problems: reading.problems, keys: None };
    let draft = hypothesis_keys(&mut fields, &effective);
    for (key, example) in [("name", "run length"), ("predicts", "+1.0%")] {
        if !fields.has(key, reading) {
            let message = format!("`[[hypothesis]]` has no `{key}`");
            let help = format!("write `{key} = \"{example}\"`");
            reading.report(Report::at(at, message).help(help));
        }
    }
    fields.finish(reading);
    if reading.problems.borrow().len() > before {
        return None;
    }
    let name = draft.name?;
    let what = format!("hypothesis `{name}`");
    let factor = contrasted(draft.factor, &what, at, factors, reading)?;
    let level = predicted_level(draft.level, &what, at, factor, reading)?;
    Some(Hypothesis {
        name,
        factor: Some(factor.name.clone()),
        level: Some(level),
        metric: draft.metric,
        predicts: draft.predicts?,
    })
}

/// A change with its sign, above -100 %.
fn predicted(node: &Node) -> Read<f64> {
    let bad = || {
        Bad::new(format!("{} is no change; write `\"+1.0%\"`", node.shown()))
            .help("the change of the level against the baseline, percent of the baseline")
    };
    let share = units::share(node.as_text().ok_or_else(bad)?).map_err(|_| bad())?;
    if share > -1.0 && share < 100.0 { Ok(share) } else { Err(bad()) }
}

/// The compared factor that something is about; without a name the only one.
fn contrasted<'f>(
    wanted: Option<Placed>,
    what: &str,
    at: At,
    factors: &'f Factors,
    reading: &Reading,
) -> Option<&'f Factor> {
    let compared: Vec<&Factor> = factors.varied.iter().filter(|factor| factor.contrasted).collect();
    let names = || compared.iter().map(|factor| factor.name.as_str());
    if let Some((name, at)) = wanted {
        let found = compared.iter().find(|factor| factor.name == name).copied();
        if found.is_none() {
            let near = words::nearest_suffix(&name, names());
            let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
            let message = format!("`{shown}` of {what} is no factor that is compared{near}");
            reading.report(Report::at(at, message));
        }
        return found;
    }
    match &compared[..] {
        [only] => Some(only),
        [] => {
            reading
                .report(Report::at(at, format!("{what} is about nothing: no factor is compared")));
            None
        }
        _ => {
            let message = format!("{what} has no `factor`; one of {}", words::listed(names()));
            reading.report(Report::at(at, message));
            None
        }
    }
}

/// The level that a hypothesis is about; without a name the only one beside baseline and
/// controls.
fn predicted_level(
    wanted: Option<Placed>,
    what: &str,
    at: At,
    factor: &Factor,
    reading: &Reading,
) -> Option<String> {
    let compared = || {
        let levels = factor.levels.iter().enumerate();
        levels
            .filter(|(index, level)| *index != factor.baseline && level.twin.is_none())
            .map(|(_, level)| level.name.as_str())
    };
    if let Some((name, at)) = wanted {
        if compared().any(|level| level == name) {
            return Some(name);
        }
        let report = if factor.levels.iter().any(|level| level.name == name) {
            let message = format!("{what} is about `{name}`, which meets no baseline");
            let why = "baseline and controls are what levels are compared with";
            Report::at(at, message).help(why)
        } else {
            no_level(factor, &name, at)
        };
        reading.report(report);
        return None;
    }
    match &compared().collect::<Vec<&str>>()[..] {
        [only] => Some((*only).to_owned()),
        [] => {
            let message = format!(
                "{what} is about nothing: `{}` has no level beside baseline and controls",
                factor.name
            );
            reading.report(Report::at(at, message));
            None
        }
        several => {
            let names = words::listed(several.iter().copied());
            reading.report(Report::at(at, format!("{what} has no `level`; one of {names}")));
            None
        }
    }
}

/// `` `target` has no level `nignx`; nearest `nginx` ``
fn no_level(factor: &Factor, level: &str, at: At) -> Report {
    let real = factor.levels.iter().filter(|level| level.twin.is_none());
    let near = words::nearest_suffix(level, real.map(|level| level.name.as_str()));
    let shown: String = level.chars().take(60).flat_map(char::escape_debug).collect();
    Report::at(at, format!("`{}` has no level `{shown}`{near}", factor.name))
}

/// `` `targte` in `nest` is no varied factor; nearest `target` ``
pub(crate) fn no_factor(name: &str, at: At, key: &str, varied: &[&str]) -> Report {
    let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    let near = words::nearest_suffix(name, varied.iter().copied());
    Report::at(at, format!("`{shown}` in `{key}` is no varied factor{near}"))
}
