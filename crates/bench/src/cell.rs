//! One cell as the plan carries it: layers resolved, typed, with origins and identity.

use std::path::Path;

use record::mock::Law;
use record::plan::{Cell, Effective, Generator, GeneratorKind, LevelOf, Scenario, TargetKind};
use serde_json::Value as Json;

use crate::cells::Combination;
use crate::env::sha256_hex;
use crate::file::Section;
use crate::files::Files;
use crate::generator;
use crate::interpolate::Resolver;
use crate::layers::{Chosen, Layers};
use crate::node::{Node, Table, Value, find, leaves};
use crate::positive;
use crate::problem::Report;
use crate::read::{self, Fields, Reading};
use crate::settings;
use crate::typed;

/// What cells are made in: the layers, the files, and the bench's own facts.
pub(crate) struct Workshop<'b> {
    pub(crate) layers: Layers<'b>,
    pub(crate) files: &'b Files<'b>,
    pub(crate) dir: &'b Path,
    pub(crate) bench: &'b str,
}

impl Workshop<'_> {
    /// Makes a cell; `None` when something was reported.
    pub(crate) fn cell(
        &self,
        combination: &Combination,
        chosen: &Chosen,
        reading: &Reading,
    ) -> Option<Cell> {
        let before = reading.problems.borrow().len();
        let target_name = chosen.name(Section::Target);
        let layered = self.layers.tree(combination, chosen);
        let bench = (self.dir, self.bench);
        let resolver = Resolver::new(&layered, bench, target_name, self.layers.sources, reading);
        let tree = resolver.tree()?;
        let mut origins = std::collections::BTreeMap::new();
        leaves("", &tree, &mut |path, node| {
            origins.insert(path, node.origin(self.layers.sources));
        });

        let mut fields = fields_of(&tree, "target");
        let target = typed::target(&mut fields, target_name, reading);
        let mut fields = fields_of(&tree, "scenario");
        let scenario = typed::scenario(&mut fields, chosen.name(Section::Scenario), reading);
        let mut fields = fields_of(&tree, "load");
        let load = typed::load(&mut fields, chosen.name(Section::Load), reading);
        let mut fields = fields_of(&tree, "generator");
        let generator = generator::generator(&mut fields, chosen.name(Section::Generator), reading);
        let placement = settings::cpus(&mut fields_of(&tree, "cpus"), reading);
        let observe_interval_ns = settings::observe(&mut fields_of(&tree, "observe"), reading);
        let gates = settings::gates(&mut fields_of(&tree, "gates"), reading);
        let vars = variables(&tree, reading);
        let mut target = target?;
        self.locate(&mut target, &tree, &mut origins, reading);
        for (factor, level) in self.layers.factors.varied.iter().zip(&combination.levels) {
            let level = &factor.levels[*level];
            if !level.positive {
                continue;
            }
            match positive::slow(&mut target, self.layers.factors.positive_share) {
                Ok(path) => {
                    let origin = format!("level {}={}", factor.name, level.name);
                    origins.insert(path.to_owned(), origin);
                }
                Err(fault) => {
                    reading.report(Report::at(level.at, fault.message).help(fault.remedy));
                }
            }
        }
        // Without cores of its own the mock has the target's, which is what the file says.
        let is_mock = matches!(target.kind, TargetKind::Mock(_));
        let server = match find(&tree, &["cpus", "mock"]) {
            Some(_) if is_mock => "mock",
            _ => "target",
        };
        for overlap in placement.overlaps(server) {
            let message = format!(
                "`cpus` of `{}` and `{}` overlap on {}",
                overlap.first, overlap.second, overlap.cores
            );
            let at = find(&tree, &["cpus", overlap.second]).map(|node| node.at);
            let report =
                at.map_or_else(|| Report::nowhere(&message), |at| Report::at(at, &message));
            reading.report(report.help(format!(
                "give them other cores, or allow it: `overlap = [\"{}\", \"{}\"]`",
                overlap.first, overlap.second
            )));
        }
        let mut generator = generator?;
        self.locate_generator(&mut generator, &tree, reading);
        let effective = Effective {
            target,
            transport: chosen.name(Section::Transport).to_owned(),
            generator,
            scenario: scenario?,
            load: load?,
            vars,
            cpus: placement.cpus,
            observe_interval_ns,
        };
        generator::check(&effective, &tree, reading);
        if reading.problems.borrow().len() > before {
            return None;
        }
        let identity_sha256 = identity(&effective);
        let scenario_sha256 = scenario_hash(&effective.scenario);
        let levels = self
            .layers
            .factors
            .varied
            .iter()
            .zip(&combination.levels)
            .map(|(factor, level)| {
                let found = &factor.levels[*level];
                LevelOf {
                    factor: factor.name.clone(),
                    level: found.name.clone(),
                    index: u32::try_from(*level).unwrap_or(u32::MAX),
                    twin: found.twin.map(|twin| factor.levels[twin].name.clone()),
                    positive: found.positive.then_some(self.layers.factors.positive_share),
                    contrasted: factor.contrasted,
                }
            })
            .collect();
        Some(Cell {
            name: combination.name.clone(),
            levels,
            effective,
            origins,
            identity_sha256,
            scenario_sha256,
            gates,
        })
    }

    /// Makes the paths of a foreign generator absolute and hashes them: its script is a file of the
    /// bench like any other.
    fn locate_generator(&self, generator: &mut Generator, tree: &Table, reading: &Reading) {
        if let (Some(script), Some(node)) =
            (&mut generator.script, find(tree, &["generator", "script"]))
        {
            *script = self.files.file(script, node, reading);
        }
        if let (GeneratorKind::Command(command), Some(node)) =
            (&mut generator.kind, find(tree, &["generator", "command"]))
        {
            let given = std::mem::take(command);
            *command = self.files.command(given, self.dir, node, reading);
        }
    }

    /// Makes the paths of a process absolute and hashes its files. A process starts in the
    /// bench's folder unless `cwd` says otherwise, so that relative arguments mean the same
    /// wherever assay is started.
    fn locate(
        &self,
        target: &mut record::plan::Target,
        tree: &Table,
        origins: &mut std::collections::BTreeMap<String, String>,
        reading: &Reading,
    ) {
        if let TargetKind::Command(command) = &mut target.kind {
            let node = find(tree, &["target", "cwd"]);
            if node.is_none() {
                origins.insert("target.cwd".to_owned(), "default".to_owned());
            }
            let cwd = self.files.directory(target.cwd.as_deref().unwrap_or("."), node, reading);
            if let Some(node) = find(tree, &["target", "command"]) {
                let given = std::mem::take(command);
                *command = self.files.command(given, &cwd, node, reading);
            }
            target.cwd = Some(cwd.display().to_string());
        }
        if let TargetKind::Mock(mock) = &mut target.kind
            && let Some(Law::Histogram { file }) = &mut mock.law
            && let Some(node) = find(tree, &["target", "mock", "latency"])
        {
            *file = self.files.file(file, node, reading);
        }
        if let TargetKind::Mock(mock) = &mut target.kind
            && let Some(file) = &mut mock.script
            && let Some(node) = find(tree, &["target", "mock", "script"])
        {
            *file = self.files.file(file, node, reading);
        }
        if let (Some(version), Some(node)) =
            (&mut target.version, find(tree, &["target", "version", "command"]))
        {
            let given = std::mem::take(&mut version.command);
            version.command = self.files.command(given, self.dir, node, reading);
        }
    }
}

fn fields_of<'t>(tree: &'t Table, root: &str) -> Fields<'t> {
    let node = tree.get(root);
    let nowhere = crate::source::At { source: 0, start: 0, end: 0 };
    let at = node.map_or(nowhere, |node| node.key);
    Fields::new(node.and_then(Node::as_table), at, &format!("`[{root}]`"), root)
}

fn variables(tree: &Table, reading: &Reading) -> std::collections::BTreeMap<String, Json> {
    let Some(Value::Table(vars)) = tree.get("vars").map(|node| &node.value) else {
        return std::collections::BTreeMap::new();
    };
    vars.iter()
        .filter_map(|(key, node)| match read::json(node) {
            Ok(value) => Some((key.clone(), value)),
            Err(bad) => {
                reading.refuse(node, bad);
                None
            }
        })
        .collect()
}

/// SHA-256 of what is run. Names of tables are left out, so that equal runs are a null whatever
/// they are called; so are variables (they act only through the values that use them), the
/// estimate of the bring-up, and the place where a mock happens to listen.
fn identity(effective: &Effective) -> String {
    let mut json = serde_json::to_value(effective).unwrap_or(Json::Null);
    for path in ["/target", "/scenario", "/load", "/generator"] {
        if let Some(Json::Object(table)) = json.pointer_mut(path) {
            table.remove("name");
            table.remove("bring_up_ns");
        }
    }
    if let Some(Json::Object(mock)) = json.pointer_mut("/target/kind/mock") {
        mock.remove("listen");
    }
    if let Json::Object(root) = &mut json {
        root.remove("vars");
    }
    sha256_hex(canonical(json).to_string().as_bytes())
}

/// SHA-256 of the scenario as it takes effect, without its name. HTTP scenarios refer to no
/// files.
fn scenario_hash(scenario: &Scenario) -> String {
    let mut json = serde_json::to_value(scenario).unwrap_or(Json::Null);
    if let Json::Object(table) = &mut json {
        table.remove("name");
    }
    sha256_hex(canonical(json).to_string().as_bytes())
}

/// Keys sorted and absent values left out, so that neither the order of fields nor a new
/// optional one changes a hash.
fn canonical(json: Json) -> Json {
    match json {
        Json::Object(table) => {
            let mut pairs: Vec<(String, Json)> = table
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, canonical(value)))
                .collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(pairs.into_iter().collect())
        }
        Json::Array(list) => Json::Array(list.into_iter().map(canonical).collect()),
        other => other,
    }
}
