//! The bench of a calibration, as text: one target and one scenario of a bench under a ramp of load,
//! with kept connections and with new ones, the lowest point once more at the end. What the bench
//! contrasts, skips and compares is left out; what it says of its target stays.

use toml_edit::{DocumentMut, Item, Table, value};

use crate::words::nearest;

/// The ramp.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationDesign {
    /// The target, where the bench has several.
    pub target: Option<String>,
    /// The scenario, where the bench has several.
    pub scenario: Option<String>,
    /// Users, or arrivals per second, ascending.
    pub ramp: Vec<u32>,
    /// Arrivals at a rate instead of users.
    pub open: bool,
    /// Warm-up of each point, as `500ms`.
    pub settle: String,
    /// Window of each point, as `2s`.
    pub measure: String,
}

/// A bench that has nothing to calibrate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationTextError {
    /// No table of this section, or no such one.
    #[error("no `[{section}.{name}]` in the bench{}", .nearest.as_ref().map(|near| format!("; nearest `{near}`")).unwrap_or_default())]
    Missing {
        /// `target` or `scenario`.
        section: &'static str,
        /// As asked for; `NAME` when there is none at all.
        name: String,
        /// The nearest that there is.
        nearest: Option<String>,
    },
    /// The text is no TOML; expanding it says where.
    #[error("the bench is no TOML: {0}")]
    Toml(String),
}

/// Sections that a calibration takes over.
const KEPT: [&str; 5] = ["vars", "target", "scenario", "cpus", "observe"];

/// Writes the bench of a calibration. The text given must be a bench that expands.
///
/// # Errors
/// No such target or scenario.
pub fn calibration_text(
    bench: &str,
    design: &CalibrationDesign,
) -> Result<String, CalibrationTextError> {
    let mut document: DocumentMut = bench
        .parse()
        .map_err(|error: toml_edit::TomlError| CalibrationTextError::Toml(error.to_string()))?;
    let fixed = |factor: &str| {
        let level = document.get("factors")?.get(factor)?;
        let first = level.as_array().and_then(|levels| levels.get(0)).and_then(|one| one.as_str());
        level.as_str().or(first).map(str::to_owned)
    };
    let target = design.target.clone().or_else(|| fixed("target"));
    let scenario = design.scenario.clone().or_else(|| fixed("scenario"));
    document.retain(|key, _| KEPT.contains(&key));
    only(&mut document, "scenario", scenario.as_deref())?;
    for row in tables(&mut document, "scenario") {
        row.remove("load");
        row.remove("only");
    }
    only(&mut document, "target", target.as_deref())?;
    for table in tables(&mut document, "target") {
        if !table.contains_key("url") {
            table.insert("fresh", value("matrix"));
        }
        if let Some(mock) = table.get_mut("mock").and_then(Item::as_table_like_mut) {
            mock.insert("truth_header", value(true));
        }
    }
    Ok(format!("{document}\n{}", design_text(design)))
}

/// The bench of a calibration of something that runs at a URL.
#[must_use]
pub fn calibration_of_url(url: &str, path: &str, design: &CalibrationDesign) -> String {
    let mut target = Table::new();
    target.insert("url", value(url));
    let mut scenario = Table::new();
    scenario.insert("get", value(path));
    format!("[target.url]\n{target}\n[scenario.get]\n{scenario}\n{}", design_text(design))
}

fn tables<'d>(
    document: &'d mut DocumentMut,
    section: &str,
) -> impl Iterator<Item = &'d mut dyn toml_edit::TableLike> {
    document
        .get_mut(section)
        .and_then(Item::as_table_like_mut)
        .into_iter()
        .flat_map(|tables| tables.iter_mut().filter_map(|(_, item)| item.as_table_like_mut()))
}

/// Leaves one table of a section: the one asked for, else the first.
fn only(
    document: &mut DocumentMut,
    section: &'static str,
    wanted: Option<&str>,
) -> Result<(), CalibrationTextError> {
    let tables = document.get_mut(section).and_then(Item::as_table_like_mut);
    let names: Vec<String> =
        tables.iter().flat_map(|tables| tables.iter().map(|(name, _)| name.to_owned())).collect();
    let name = match wanted {
        Some(wanted) if names.iter().any(|name| name == wanted) => wanted.to_owned(),
        None if !names.is_empty() => names[0].clone(),
        wanted => {
            let name = wanted.unwrap_or("NAME").to_owned();
            let known = names.iter().map(String::as_str);
            let nearest = nearest(&name, known).map(str::to_owned);
            return Err(CalibrationTextError::Missing { section, name, nearest });
        }
    };
    if let Some(tables) = tables {
        for other in names.iter().filter(|other| **other != name) {
            tables.remove(other);
        }
    }
    Ok(())
}

fn design_text(design: &CalibrationDesign) -> String {
    let (key, unit) = if design.open { ("rate", "/s") } else { ("users", "") };
    let set = |load: u32| {
        let quoted = if design.open { format!("\"{load}{unit}\"") } else { load.to_string() };
        format!("{{ load.{key} = {quoted} }}")
    };
    let lowest = design.ramp.first().copied().unwrap_or(1);
    let start = if design.open { format!("\"{lowest}/s\"") } else { lowest.to_string() };
    let mut text = format!(
        "[load.ramp]\n{key} = {start}\nwarmup = \"{}\"\nmeasure = \"{}\"\ncooldown = \"2s\"\n\n\
         [factors.mode]\nkeep-alive = {{ load.connections = \"per-user\" }}\n\
         close = {{ load.connections = \"new\" }}\n\n[factors.point]\n",
        design.settle, design.measure
    );
    for load in &design.ramp {
        text.push_str(&format!("at-{load} = {}\n", set(*load)));
    }
    text.push_str(&format!("again-{lowest} = {}\n", set(lowest)));
    text.push_str(
        "\n[matrix]\nblocks = 1\ngap = \"0s\"\nnest = [\"mode\", \"point\"]\norder = \"fixed\"\n\n\
         [gates]\nwindow = \"100ms\"\nrequests = 1\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overrides, System, plan_source};

    fn design(ramp: &[u32], open: bool) -> CalibrationDesign {
        CalibrationDesign {
            target: None,
            scenario: None,
            ramp: ramp.to_vec(),
            open,
            settle: "100ms".to_owned(),
            measure: "500ms".to_owned(),
        }
    }

    fn plan(text: &str) -> record::plan::Plan {
        let dir = std::path::Path::new("/");
        plan_source("calibration.toml", text, dir, &Overrides::default(), &System)
            .unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
    }

    const BENCH: &str = "[vars]\nsize = 5\n[target.a]\nmock = { latency = \"1ms\" }\n[target.b]\n\
        mock = { latency = \"2ms\" }\n[scenario.get]\nget = \"/${vars.size}\"\nload.measure = \"9s\"\n\
        [load.x]\nrate = \"10/s\"\nmeasure = \"30s\"\n[factors]\ntarget = [\"b\", \"a\", \"null\"]\n\
        [matrix]\nblocks = 8\n[compare]\nprimary = \"p99\"\n";

    #[test]
    fn a_ramp_in_both_modes_with_the_lowest_point_once_more() {
        let text = calibration_text(BENCH, &design(&[1, 4], false)).unwrap();
        let plan = plan(&text);
        let runs: Vec<&str> = plan.runs.iter().map(|run| run.cell.as_str()).collect();
        assert_eq!(
            runs.iter().filter(|cell| !cell.is_empty()).copied().collect::<Vec<_>>()[..3],
            runs[..3]
        );
        let measured: Vec<&str> = plan
            .runs
            .iter()
            .filter(|run| run.kind == record::plan::RunKind::Measured)
            .map(|run| run.cell.as_str())
            .collect();
        assert_eq!(
            measured,
            [
                "keep-alive+at-1",
                "keep-alive+at-4",
                "keep-alive+again-1",
                "close+at-1",
                "close+at-4",
                "close+again-1"
            ]
        );
        let cell = &plan.cells[0].effective;
        assert_eq!(cell.target.name, "b", "the first level of the bench's factor");
        assert_eq!(cell.scenario.path, "/5");
        let record::plan::TargetKind::Mock(config) = &cell.target.kind else { panic!("a mock") };
        assert!(config.truth_header);
        assert_eq!(config.latency_ns, 2_000_000);
    }

    #[test]
    fn rates_and_urls_ramp_too() {
        let open = plan(&calibration_text(BENCH, &design(&[100, 200], true)).unwrap());
        assert_eq!(open.cells[1].effective.load.model, record::plan::Model::Rate(200.0));
        let url =
            plan(&calibration_of_url("http://127.0.0.1:8080", "/a?b=\"c\"", &design(&[1], false)));
        assert_eq!(url.cells[0].effective.scenario.path, "/a?b=\"c\"");
    }

    #[test]
    fn another_target_is_asked_for_by_name() {
        let mut design = design(&[1], false);
        design.target = Some("a".to_owned());
        let text = calibration_text(BENCH, &design).unwrap();
        assert_eq!(plan(&text).cells[0].effective.target.name, "a");
        design.target = None;
        design.scenario = Some("gte".to_owned());
        let error = calibration_text(BENCH, &design).unwrap_err();
        insta::assert_snapshot!(error, @"no `[scenario.gte]` in the bench; nearest `get`");
    }
}
