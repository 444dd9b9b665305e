//! The text of `assay plan`: what would be run, in which order, with which values and where
//! each came from.

use std::collections::BTreeMap;

use record::plan::{Cell, Plan, PlannedRun, RunKind};
use serde_json::Value;

use crate::text::{NONE, bytes, columns, count, duration};

/// Renders a plan: factors, cells, the order of every block, instances, effective values with
/// their origins, estimates and notes.
#[must_use]
pub fn plan_text(plan: &Plan) -> String {
    let mut text = String::new();
    head(&mut text, plan);
    factors(&mut text, plan);
    orders(&mut text, plan);
    instances(&mut text, plan);
    values(&mut text, plan);
    section(&mut text, "notes", &plan.notes);
    let skipped: Vec<String> =
        plan.skipped.iter().map(|skipped| format!("{}: {}", skipped.cell, skipped.why)).collect();
    section(&mut text, "not run", &skipped);
    text
}

fn head(text: &mut String, plan: &Plan) {
    let measured = plan.runs.iter().filter(|run| run.kind == RunKind::Measured).count();
    let warm_ups = plan.runs.len() - measured;
    let time = plan.estimate.time_ns.map_or_else(
        || "unknown, since a window is a count".to_owned(),
        |ns| {
            format!(
                "about {}, of which {} to bring targets up",
                duration(Some(ns)),
                duration(Some(plan.estimate.bring_up_ns))
            )
        },
    );
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<10} {value}\n"));
    line("bench", format!("{} ({})", plan.bench, plan.path));
    line(
        "runs",
        format!(
            "{} cells x {} blocks = {} runs, and {} warm-up runs",
            plan.cells.len(),
            plan.blocks,
            count(measured as u64),
            count(warm_ups as u64)
        ),
    );
    line("time", time);
    line("disk", format!("about {}", bytes(Some(plan.estimate.disk_bytes))));
    line("timeout", format!("{} for each run", duration(Some(plan.estimate.run_timeout_ns))));
    line(
        "order",
        format!("{}, seed {}, gap {}", plan.order, plan.seed, duration(Some(plan.gap_ns))),
    );
    let nest = if plan.nest.is_empty() { NONE.to_owned() } else { plan.nest.join(" > ") };
    line("nest", format!("{nest} (outermost first)"));
    line("primary", plan.compare.primary.clone().unwrap_or_else(|| "by the load".to_owned()));
    if plan.quick {
        line("quick", "proves the plumbing; no measurement".to_owned());
    }
}

fn factors(text: &mut String, plan: &Plan) {
    text.push_str("\nfactors\n");
    for factor in &plan.factors {
        let levels: Vec<String> = factor
            .levels
            .iter()
            .map(|level| match (&level.twin, level.positive) {
                (Some(twin), Some(share)) => {
                    format!("{} ({twin} slowed by {} %)", level.name, percent(share))
                }
                (Some(twin), None) => format!("{} (repeats {twin})", level.name),
                (None, _) => level.name.clone(),
            })
            .collect();
        let role = if factor.contrasted { "compared" } else { "rows" };
        text.push_str(&format!("  {} ({role}): {}\n", factor.name, levels.join(", ")));
    }
    for (name, level) in &plan.fixed {
        text.push_str(&format!("  {name} (fixed): {level}\n"));
    }
}

/// A share as a percentage without needless digits.
fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

fn orders(text: &mut String, plan: &Plan) {
    text.push_str("\norder of the cells in every block\n");
    let mut blocks: BTreeMap<u32, Vec<&PlannedRun>> = BTreeMap::new();
    for run in plan.runs.iter().filter(|run| run.kind == RunKind::Measured) {
        blocks.entry(run.block).or_default().push(run);
    }
    for (block, runs) in blocks {
        let cells: Vec<&str> = runs.iter().map(|run| run.cell.as_str()).collect();
        text.push_str(&format!("  {block:>3}: {}\n", cells.join("  ")));
    }
}

/// How many instances of targets are brought up, and how many runs each serves.
fn instances(text: &mut String, plan: &Plan) {
    let mut served: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for run in &plan.runs {
        let (measured, warm_up) = served.entry(run.instance).or_default();
        match run.kind {
            RunKind::Measured => *measured += 1,
            RunKind::WarmUp => *warm_up += 1,
        }
    }
    let most = served.values().map(|(measured, _)| *measured).max().unwrap_or(0);
    let warmed = served.values().filter(|(_, warm_up)| *warm_up > 0).count();
    text.push_str(&format!(
        "\ninstances  {} of targets, each serves at most {most} run(s); {warmed} begin with a \
         warm-up run\n",
        served.len()
    ));
}

/// Values that all cells share once, then those in which each cell differs.
fn values(text: &mut String, plan: &Plan) {
    let Some(first) = plan.cells.first() else {
        return;
    };
    let shared: Vec<(&String, &String)> = first
        .origins
        .iter()
        .filter(|(path, origin)| {
            plan.cells.iter().all(|cell| {
                cell.origins.get(*path) == Some(origin)
                    && value_at(cell, path) == value_at(first, path)
            })
        })
        .collect();
    text.push_str("\nvalues of every cell\n");
    text.push_str(&value_lines(first, &shared));
    for cell in &plan.cells {
        let own: Vec<(&String, &String)> = cell
            .origins
            .iter()
            .filter(|(path, _)| !shared.iter().any(|(known, _)| known == path))
            .collect();
        text.push_str(&format!("\ncell {}\n", cell.name));
        text.push_str(&format!(
            "  identity {}\n",
            cell.identity_sha256.chars().take(16).collect::<String>()
        ));
        text.push_str(&value_lines(cell, &own));
    }
}

fn value_lines(cell: &Cell, paths: &[(&String, &String)]) -> String {
    let rows: Vec<Vec<String>> = paths
        .iter()
        .map(|(path, origin)| {
            let value = value_at(cell, path).unwrap_or_default();
            vec![format!("  {path}"), value, (*origin).clone()]
        })
        .collect();
    columns(&rows, "l")
}

/// The effective value at a dotted path of the bench file; where nothing is found, nothing is
/// shown.
fn value_at(cell: &Cell, path: &str) -> Option<String> {
    let mut root = serde_json::to_value(&cell.effective).ok()?;
    let tables = root.as_object_mut()?;
    tables.insert("gates".to_owned(), serde_json::to_value(&cell.gates).ok()?);
    let interval = cell.effective.observe_interval_ns;
    tables.insert("observe".to_owned(), serde_json::json!({ "interval_ns": interval }));
    let mut value = &root;
    for part in path.split('.') {
        value = step(value, part)?;
    }
    Some(shown(value, path))
}

/// The value of a key. The record's names carry a unit that the bench's do not.
fn step<'v>(value: &'v Value, part: &str) -> Option<&'v Value> {
    // `generator.name` and `transport.name` are the whole of what is recorded of them.
    if value.is_string() && part == "name" {
        return Some(value);
    }
    let object = value.as_object()?;
    if part == "truncated" {
        return object.get("window_share");
    }
    let named = ["", "_ns", "_bytes", "_share", "_per_min"]
        .iter()
        .find_map(|unit| object.get(&format!("{part}{unit}")));
    // `target.kind.mock` is `target.mock` in the bench, `load.model.users` is `load.users`,
    // `scenario.get` is method and path in one, and `gates.samples` has a longer name.
    named
        .or_else(|| {
            ["kind", "model"].iter().find_map(|hidden| object.get(*hidden)?.as_object()?.get(part))
        })
        .or_else(|| {
            let method = object.get("method")?.as_str()?;
            if method.eq_ignore_ascii_case(part) { object.get("path") } else { None }
        })
        .or_else(|| object.get(&format!("observer_{part}")))
}

fn shown(value: &Value, path: &str) -> String {
    let last = path.rsplit('.').next().unwrap_or_default();
    let is_time = matches!(
        last,
        "latency"
            | "warmup"
            | "measure"
            | "cooldown"
            | "timeout"
            | "within"
            | "grace"
            | "bring_up"
            | "window"
            | "interval"
    );
    match value {
        Value::Object(extent) if extent.contains_key("ns") => {
            duration(extent.get("ns").and_then(Value::as_u64))
        }
        Value::Object(extent) if extent.contains_key("count") => extent
            .get("count")
            .and_then(Value::as_u64)
            .map_or_else(String::new, |requests| format!("{} requests", count(requests))),
        Value::Number(number) if is_time => duration(number.as_u64()),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn section(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    text.push_str(&format!("\n{title}\n"));
    for line in lines {
        text.push_str(&format!("  - {line}\n"));
    }
}
