//! From the text of a bench to its plan: the one path through this crate.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use record::Format;
use record::meta::FileHash;
use record::plan::{
    Cell, Compare, Extension, Factor, Fresh, Level, Plan, PlannedRun, Rehearsal, Skipped,
    TargetKind,
};

use crate::Overrides;
use crate::cell::Workshop;
use crate::cells::{self, Combination};
use crate::compare;
use crate::env::{Env, sha256_hex};
use crate::estimate;
use crate::factors::{Factors, no_table};
use crate::file::{BenchFile, Section};
use crate::files::Files;
use crate::generator;
use crate::layers::{Chosen, Layers, read_environment};
use crate::node::{self, Node, Table, merge};
use crate::notes::{self, Facts};
use crate::patch::{self, Patcher};
use crate::problem::{Diagnostics, Problems, Report};
use crate::read::{self, Fields, Reading, Stage};
use crate::rehearse;
use crate::runs::{Design, MAX_RUNS};
use crate::settings::{self, MAX_BLOCKS, Matrix};
use crate::source::{At, MAX_SOURCE_BYTES, Sources};
use crate::typed;
use crate::words::{self, Patterns};

/// Most values in all cells together: the plan keeps every cell's effective values.
const MAX_VALUES: usize = 4_000_000;

/// Expands a bench. `path` is the file's path as given, `dir` its folder, absolute.
pub(crate) fn expand(
    path: &str,
    text: &str,
    dir: &Path,
    overrides: &Overrides,
    env: &dyn Env,
) -> Result<Plan, Diagnostics> {
    let file_name = Path::new(path)
        .file_name()
        .map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned());
    if text.len() > MAX_SOURCE_BYTES {
        let message = format!("`{path}` is longer than {MAX_SOURCE_BYTES} bytes");
        return Err(Diagnostics::single(path, message, None));
    }
    let mut sources = Sources::default();
    let problems = RefCell::new(Problems::default());
    let bench_source = sources.add(&file_name, text.to_owned());
    let defaults_source = sources.add("default", include_str!("defaults.toml").to_owned());
    let plan = expand_sources(
        &Input { path, file_name: &file_name, text, dir, overrides, env },
        (bench_source, defaults_source),
        &mut sources,
        &problems,
    );
    problems.into_inner().into_result(path, &sources)?;
    // Without a plan there is a problem; this is for a bug here, not for any input.
    plan.ok_or_else(|| Diagnostics::single(path, "the bench has no plan".to_owned(), None))
}

struct Input<'i> {
    path: &'i str,
    file_name: &'i str,
    text: &'i str,
    dir: &'i Path,
    overrides: &'i Overrides,
    env: &'i dyn Env,
}

fn expand_sources(
    input: &Input<'_>,
    (bench_source, defaults_source): (u32, u32),
    sources: &mut Sources,
    problems: &RefCell<Problems>,
) -> Option<Plan> {
    let reading = Reading { stage: Stage::Written, problems, keys: None };
    let mut defaults = parse(sources, defaults_source, &reading)?;
    for node in defaults.values_mut() {
        node.set_origin(&"default".into());
    }
    // A `--set` that cannot be read is reported beside what the file has.
    let set = overrides_set(&input.overrides.set, sources, &reading);
    let root = parse(sources, bench_source, &reading)?;
    let mut file = BenchFile::new(root, problems);
    check_tables(&file, &reading);
    read_environment(&mut file, input.env, &reading);
    let rehearsed = input
        .overrides
        .rehearse
        .as_ref()
        .and_then(|text| rehearse::rehearsal(text, &file.factors, sources, &reading));
    let (rehearsed, rehearsal) = rehearsed.unzip();
    let (mut factors, complete) = Factors::new(&file, rehearsed, &reading);
    check_only(&file, &factors, &reading);

    let mut matrix_table = table_of(&defaults, "matrix");
    merge(&mut matrix_table, &file.matrix, None);
    merge(&mut matrix_table, &table_of(&set, "matrix"), Some(&"--set".into()));
    // These two are no part of a cell, so a reference in them has nothing to refer to.
    let effective = Reading { stage: Stage::Effective, problems, keys: None };
    let mut matrix = effective_matrix(&matrix_table, input.overrides, &effective);
    let mut compare_table = file.compare.clone();
    merge(&mut compare_table, &table_of(&set, "compare"), Some(&"--set".into()));
    let drafted = compare::compare(&mut written(&compare_table, "compare"), &effective);
    let mut compare = Compare::default();
    if complete {
        compare = compare::resolve(drafted, &file.hypotheses, &mut factors, &reading);
        // What the command line adds is in no list of the file.
        let own = |factor: &&crate::factors::Factor| !is_rehearsed(&rehearsal, &factor.name);
        let varied = factors.varied.iter().filter(own).map(|factor| factor.name.as_str());
        let varied: Vec<&str> = varied.collect();
        settings::check_factors(&matrix_table, &varied, &reading);
    }

    let wheres = cells::wheres(&file, &factors, sources, &reading);
    let layers = Layers {
        file: &file,
        factors: &factors,
        wheres: &wheres,
        defaults: &defaults,
        set: &set,
        quick: input.overrides.quick,
        sources,
    };
    let choices = layers.check_choices(&reading);
    if !complete || !choices {
        return None;
    }
    let bench = Path::new(input.file_name)
        .file_stem()
        .map_or_else(|| input.file_name.to_owned(), |stem| stem.to_string_lossy().into_owned());
    let files = Files::new(input.dir, input.env);
    let workshop = Workshop { layers, files: &files, dir: input.dir, bench: &bench };
    let (combinations, cells, skipped) = make_cells(&workshop, input.overrides, problems)?;
    if !problems.borrow().is_empty() {
        return None;
    }
    let unused = unused_tables(&file, &cells);
    let design = Design::new(&factors, combinations, cells);
    let gap_ns = *matrix.gap_ns.get_or_insert_with(|| churn_ns(&design.cells));
    if let Some((first, second, port)) = design.port_clash() {
        let message = format!("targets `{first}` and `{second}` are up together on port {port}");
        let fresh = file.targets.values().find_map(|node| node.as_table()?.get("fresh"));
        let report =
            fresh.map_or_else(|| Report::nowhere(&message), |n| Report::at(n.at, &message));
        reading.report(report.help("give them other ports, or `fresh = \"change\"`"));
        return None;
    }

    if matrix.varies_layout {
        check_layout(&design, &matrix_table, &reading)?;
    }
    let extensions = &input.overrides.extensions;
    let total = extended_blocks(&design, matrix.blocks, extensions, &reading)?;
    let chosen_nest: Option<Vec<usize>> = matrix.nest.as_ref().map(|names| {
        let index = |name: &str| factors.varied.iter().position(|f| f.name == name);
        let rehearsed = rehearsal.iter().map(|rehearsal| rehearsal.factor.as_str());
        rehearsed.chain(names.iter().map(String::as_str)).filter_map(index).collect()
    });
    let Scheduled { nest, blocks, runs, estimate, moved_outside } =
        schedule(&design, chosen_nest, &matrix, extensions, &reading)?;
    let instances = runs.iter().map(|run| run.instance).collect::<HashSet<u32>>().len();
    let distances = design.pair_distances(&blocks);
    let mut notes = notes::notes(&Facts {
        design: &design,
        distances: &distances,
        blocks: total,
        own_blocks: matrix.blocks,
        extensions,
        matrix: &matrix,
        estimate,
        instances,
        moved_outside,
        bring_up_share: matrix.bring_up_share,
        quick: input.overrides.quick,
        unused,
    });

    // The bench's own settings, without levels and `[[where]]`.
    let own = |root: &str, written: &Table| {
        let mut table = table_of(&defaults, root);
        merge(&mut table, written, None);
        merge(&mut table, &table_of(&set, root), Some(&"--set".into()));
        table
    };
    let cpus = settings::cpus(&mut written(&own("cpus", &file.cpus), "cpus"), &reading).cpus;
    let gates = settings::gates(&mut written(&own("gates", &file.gates), "gates"), &reading);
    let observe_interval_ns =
        settings::observe(&mut written(&own("observe", &file.observe), "observe"), &reading);
    let require = settings::require(&mut written(&file.require, "require"), &reading);
    let (file_hashes, unreadable) = files.into_hashes();
    notes.extend(unreadable);
    let bench_hash = FileHash {
        path: input.path.to_owned(),
        sha256: sha256_hex(input.text.as_bytes()),
        bytes: input.text.len() as u64,
    };
    let nest = nest.iter().map(|factor| factors.varied[*factor].name.clone()).collect();
    Some(Plan {
        format: Format::v1("assay.plan"),
        bench,
        path: input.path.to_owned(),
        files: std::iter::once(bench_hash).chain(file_hashes).collect(),
        seed: matrix.seed,
        quick: input.overrides.quick,
        factors: recorded(&factors),
        fixed: fixed(&factors),
        cells: design.cells,
        skipped,
        nest,
        order: matrix.order.describe(),
        orders: matrix.order.by_factor(),
        blocks: total,
        gap_ns,
        runs,
        cpus,
        gates,
        observe_interval_ns,
        compare,
        estimate,
        notes,
        only: input.overrides.only.clone(),
        extensions: extensions.clone(),
        require: (!file.require.is_empty()).then_some(require),
        rehearsal,
    })
}

fn parse(sources: &Sources, source: u32, reading: &Reading) -> Option<Table> {
    match node::parse(sources.get(source).text(), source) {
        Ok(table) => Some(table),
        Err(unreadable) => {
            let message = defined_twice(sources, &unreadable).unwrap_or(unreadable.message);
            reading.report(Report::at(unreadable.at, message));
            None
        }
    }
}

/// A duplicate with the place of the first, when both are headers written alike.
fn defined_twice(sources: &Sources, unreadable: &node::Unreadable) -> Option<String> {
    if unreadable.message != "duplicate key" {
        return None;
    }
    let source = sources.get(unreadable.at.source);
    let header = source.line_at(unreadable.at.start as usize).trim();
    let first = source.text().lines().position(|line| line.trim() == header)?;
    let (second, _) = source.line_column(unreadable.at.start as usize);
    (header.starts_with('[') && first + 1 < second)
        .then(|| format!("`{header}` is defined twice, also in {}:{}", source.name(), first + 1))
}

fn table_of(tree: &Table, root: &str) -> Table {
    tree.get(root).and_then(Node::as_table).cloned().unwrap_or_default()
}

fn written<'t>(table: &'t Table, root: &str) -> Fields<'t> {
    let at = table.values().next().map_or(At { source: 0, start: 0, end: 0 }, |node| node.key);
    Fields::new(Some(table), at, &format!("`[{root}]`"), root)
}

/// `--set KEY=VALUE`, each its own source, as one patch.
fn overrides_set(set: &[String], sources: &mut Sources, reading: &Reading) -> Table {
    let mut all = Table::new();
    for text in set {
        let source = sources.add("--set", text.clone());
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let whole = At { source, start: 0, end };
        let parts = text.split_once('=').filter(|_| text.len() < MAX_SOURCE_BYTES);
        let key = parts.and_then(|(key, _)| toml_edit::Key::parse(key).ok());
        let (Some((key_text, value_text)), Some(key)) = (parts, key) else {
            let help = "write `--set load.measure=5s`";
            reading.report(Report::at(whole, "`--set` takes `KEY=VALUE`").help(help));
            continue;
        };
        let equals = key_text.len();
        let value_at = whole.with_range(&(equals + 1..text.len()));
        let key_at = whole.with_range(&(0..equals));
        let path: Vec<String> = key.iter().map(|key| key.get().to_owned()).collect();
        if !(2..=16).contains(&path.len()) {
            let message = format!("`{}` is no key of a run", key_text.trim().escape_debug());
            let help = "write `--set load.measure=5s`: the section, then the key";
            reading.report(Report::at(key_at, message).help(help));
            continue;
        }
        match node::parse_value(value_text, value_at) {
            Ok(value) => {
                let patch = node::nest(&path, value, key_at);
                let patch = patch::checked(&patch, Patcher::Set, reading);
                merge(&mut all, &patch, None);
            }
            Err(unreadable) => reading.report(Report::at(unreadable.at, unreadable.message)),
        }
    }
    all
}

/// Checks every table as it is written, used or not.
fn check_tables(file: &BenchFile, reading: &Reading) {
    for (section, tables) in [
        (Section::Target, &file.targets),
        (Section::Scenario, &file.scenarios),
        (Section::Load, &file.loads),
        (Section::Generator, &file.generators),
    ] {
        for (name, node) in tables {
            let root = section.name();
            let place = format!("`[{root}.{name}]`");
            let mut fields = Fields::new(node.as_table(), node.key, &place, root);
            match section {
                Section::Target => typed::target_keys(&mut fields, name, reading),
                Section::Scenario => typed::scenario_keys(&mut fields, name, reading),
                Section::Generator => generator::generator_keys(&mut fields, name, reading),
                _ => typed::load_keys(&mut fields, name, reading),
            }
            fields.finish(reading);
        }
    }
    let mut fields = written(&file.matrix, "matrix");
    settings::matrix_keys(&mut fields, reading);
    fields.finish(reading);
    let mut fields = written(&file.cpus, "cpus");
    settings::cpus_keys(&mut fields, reading);
    fields.finish(reading);
    let mut fields = written(&file.gates, "gates");
    settings::gates_keys(&mut fields, reading);
    fields.finish(reading);
    let mut fields = written(&file.observe, "observe");
    settings::observe_keys(&mut fields, reading);
    fields.finish(reading);
    let mut fields = written(&file.compare, "compare");
    compare::compare_keys(&mut fields, reading);
    fields.finish(reading);
    let mut fields = written(&file.require, "require");
    settings::require_keys(&mut fields, reading);
    fields.finish(reading);
}

/// The patterns of a scenario's `only`.
fn only_of(file: &BenchFile, scenario: &str) -> Option<Patterns> {
    let node = file.scenarios.get(scenario)?.as_table()?.get("only")?;
    let texts = read::texts(node).ok()?;
    Some(Patterns::new(texts.iter().map(String::as_str)))
}

/// Checks that `only` names targets that exist.
fn check_only(file: &BenchFile, factors: &Factors, reading: &Reading) {
    let levels: Vec<&str> = factors
        .varied
        .iter()
        .filter(|factor| factor.section == Some(Section::Target))
        .flat_map(|factor| factor.levels.iter().map(|level| level.name.as_str()))
        .collect();
    for (name, node) in &file.scenarios {
        let Some(patterns) = only_of(file, name) else { continue };
        let Some(only) = node.as_table().and_then(|table| table.get("only")) else { continue };
        for exact in patterns.exact() {
            if !file.targets.contains_key(exact) && !levels.contains(&exact) {
                reading.report(no_table(Section::Target, exact, only.at, file));
            }
        }
    }
}

/// How long to wait between runs of these cells, ns: where one of them opens a connection for each
/// request, until most of what the run before left in TIME_WAIT is gone.
fn churn_ns(cells: &[Cell]) -> u64 {
    let churns = cells.iter().any(|cell| cell.effective.load.connections == "new");
    if churns { record::plan::Gates::default().gap_ns } else { 0 }
}

/// `[matrix]` with the command line's part.
fn effective_matrix(table: &Table, overrides: &Overrides, reading: &Reading) -> Matrix {
    let mut matrix = settings::matrix(&mut written(table, "matrix"), reading);
    if let Some(blocks) = overrides.blocks {
        if blocks == 0 || u64::from(blocks) > MAX_BLOCKS {
            let message = format!("`--blocks {blocks}` is not from 1 to {MAX_BLOCKS}");
            reading.report(Report::nowhere(message));
        }
        matrix.blocks = blocks.clamp(1, 1_000);
    }
    if overrides.quick {
        matrix.blocks = 1;
        matrix.gap_ns = Some(0);
    }
    matrix
}

/// The cells that are run, beside their combinations, and those that are not.
fn make_cells(
    workshop: &Workshop<'_>,
    overrides: &Overrides,
    problems: &RefCell<Problems>,
) -> Option<(Vec<Combination>, Vec<Cell>, Vec<Skipped>)> {
    let written = Reading { stage: Stage::Written, problems, keys: None };
    let effective = Reading { stage: Stage::Effective, problems, keys: None };
    let layers = &workshop.layers;
    let product = cells::product(layers.factors, layers.file, &written);
    if product.is_empty() {
        return None;
    }
    let mut used = vec![false; layers.wheres.len()];
    let mut onlys: HashMap<String, Option<Patterns>> = HashMap::new();
    let mut kept: Vec<(Combination, Chosen)> = Vec::new();
    let mut skipped = Vec::new();
    for combination in product {
        let chosen = layers.chosen(&combination);
        let names = |factor: &str| layers.names(&combination, &chosen, factor);
        let mut why = None;
        for (rule, used) in layers.wheres.iter().zip(&mut used) {
            if rule.applies(&names) {
                *used = true;
                why = why.or_else(|| rule.skip.clone());
            }
        }
        let scenario = chosen.name(Section::Scenario);
        let only =
            onlys.entry(scenario.to_owned()).or_insert_with(|| only_of(layers.file, scenario));
        let targets = names("target");
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        if only.as_ref().is_some_and(|only| !only.matches(&targets)) {
            why = why.or_else(|| Some(format!("scenario `{scenario}` is not for this target")));
        }
        let asked = overrides.only.as_deref();
        if asked.is_some_and(|glob| !words::glob_matches(glob, &combination.name)) {
            why = why.or_else(|| Some("not in `--only`".to_owned()));
        }
        match why {
            Some(why) => skipped.push(Skipped { cell: combination.name, why }),
            None => kept.push((combination, chosen)),
        }
    }
    for (rule, used) in layers.wheres.iter().zip(used) {
        if !used {
            rule.report_unused(&written);
        }
    }
    if kept.is_empty() {
        written.report(all_skipped(overrides, &skipped));
        return None;
    }
    let mut combinations = Vec::with_capacity(kept.len());
    let mut cells = Vec::with_capacity(kept.len());
    let count = kept.len();
    for (index, (combination, chosen)) in kept.into_iter().enumerate() {
        if index == 0 {
            let values: usize = layers.tree(&combination, &chosen).values().map(Node::count).sum();
            if values.saturating_mul(count) > MAX_VALUES {
                let message = format!("{count} cells of {values} values are too many");
                let help = format!("a plan holds at most {MAX_VALUES} values");
                written.report(Report::nowhere(message).help(help));
                return None;
            }
        }
        if let Some(cell) = workshop.cell(&combination, &chosen, &effective) {
            combinations.push(combination);
            cells.push(cell);
        }
    }
    Some((combinations, cells, skipped))
}

fn all_skipped(overrides: &Overrides, skipped: &[Skipped]) -> Report {
    match &overrides.only {
        Some(glob) => {
            let names = skipped.iter().map(|skipped| skipped.cell.as_str());
            let near = words::nearest_suffix(glob, names);
            let shown: String = glob.chars().take(60).flat_map(char::escape_debug).collect();
            Report::nowhere(format!("`--only {shown}` matches no cell that is run{near}"))
        }
        None => Report::nowhere("every cell is skipped; nothing is left to run"),
    }
}

/// Tables that no cell uses: `target.spare`.
fn unused_tables(file: &BenchFile, cells: &[Cell]) -> Vec<String> {
    let mut used: HashSet<(&str, &str)> = HashSet::new();
    for cell in cells {
        used.insert(("target", cell.effective.target.name.as_str()));
        used.insert(("scenario", cell.effective.scenario.name.as_str()));
        used.insert(("load", cell.effective.load.name.as_str()));
        used.insert(("generator", cell.effective.generator.name.as_str()));
    }
    let sections = [
        ("target", &file.targets),
        ("scenario", &file.scenarios),
        ("load", &file.loads),
        ("generator", &file.generators),
    ];
    sections
        .into_iter()
        .flat_map(|(section, tables)| tables.keys().map(move |name| (section, name.as_str())))
        .filter(|pair| !used.contains(pair))
        .map(|(section, name)| format!("{section}.{name}"))
        .collect()
}

struct Scheduled {
    nest: Vec<usize>,
    blocks: Vec<Vec<usize>>,
    runs: Vec<PlannedRun>,
    estimate: record::plan::Estimate,
    moved_outside: bool,
}

/// Whether the command line added a factor of this name.
fn is_rehearsed(rehearsal: &Option<Rehearsal>, name: &str) -> bool {
    rehearsal.as_ref().is_some_and(|rehearsal| rehearsal.factor == name)
}

/// A layout can only vary where a target is started by us, anew in each pair of blocks.
fn check_layout(design: &Design<'_>, table: &Table, reading: &Reading) -> Option<()> {
    let fault = design.cells.iter().find_map(|cell| {
        let target = &cell.effective.target;
        let name = &target.name;
        match (&target.kind, target.fresh) {
            (TargetKind::Url(_), _) => Some((
                format!("`layout` cannot vary for target `{name}`: a `url` runs already"),
                "leave `layout` out, or start the target by `command`",
            )),
            (_, Fresh::Matrix) => Some((
                format!("`layout` cannot vary for target `{name}`, which stays up for the matrix"),
                "its environment is set when it starts; write `fresh = \"change\"`",
            )),
            _ => None,
        }
    });
    let Some((message, help)) = fault else { return Some(()) };
    let report = match table.get("layout") {
        Some(node) => Report::at(node.at, message),
        None => Report::nowhere(message),
    };
    reading.report(report.help(help));
    None
}

/// The number of all blocks; `None` when an extension was refused.
fn extended_blocks(
    design: &Design<'_>,
    own: u32,
    extensions: &[Extension],
    reading: &Reading,
) -> Option<u32> {
    let mut total = own;
    for extension in extensions {
        total = total.saturating_add(extension.blocks);
        if u64::from(total) > MAX_BLOCKS {
            let message = format!("`--extend {}` makes {total} blocks", extension.blocks);
            reading.report(Report::nowhere(message).help(format!("at most {MAX_BLOCKS}")));
            return None;
        }
        if design.cells_of(extension).is_empty() {
            let glob = extension.only.as_deref().unwrap_or_default();
            let names = design.cells.iter().map(|cell| cell.name.as_str());
            let near = words::nearest_suffix(glob, names);
            let shown: String = glob.chars().take(60).flat_map(char::escape_debug).collect();
            let message = format!("`--only {shown}` matches no cell of the label{near}");
            reading.report(Report::nowhere(message));
            return None;
        }
    }
    Some(total)
}

/// Orders, instances and runs. Without a `nest` in the file, factors that change the target go
/// outside when bring-ups would take over `bring_up_share` and that makes them fewer. The bench's
/// own blocks decide that, so that an extension changes nothing before it.
fn schedule(
    design: &Design<'_>,
    chosen_nest: Option<Vec<usize>>,
    matrix: &Matrix,
    extensions: &[Extension],
    reading: &Reading,
) -> Option<Scheduled> {
    let by_name: HashMap<&str, &Cell> =
        design.cells.iter().map(|cell| (cell.name.as_str(), cell)).collect();
    let one = |nest: Vec<usize>, moved: bool, extensions: &[Extension]| -> Option<Scheduled> {
        let added: u32 = extensions.iter().map(|extension| extension.blocks).sum();
        if design.cells.len().saturating_mul((matrix.blocks + added) as usize) > MAX_RUNS {
            return None;
        }
        let blocks = design.blocks(&nest, matrix, extensions);
        let runs = design.runs(&blocks, &nest, matrix, extensions)?;
        let estimate = estimate::estimate(
            &runs,
            |run| by_name[run.cell.as_str()],
            matrix.gap_ns.unwrap_or_default(),
            matrix.timeout_ns,
        );
        Some(Scheduled { nest, blocks, runs, estimate, moved_outside: moved })
    };
    let too_many = || {
        let message = format!("the plan has more than {MAX_RUNS} runs");
        let help = "fewer cells or fewer blocks";
        reading.report(Report::nowhere(message).help(help));
    };
    let is_chosen = chosen_nest.is_some();
    let nest = chosen_nest.unwrap_or_else(|| design.default_nest());
    let Some(scheduled) = one(nest, false, &[]) else {
        too_many();
        return None;
    };
    let over = scheduled.estimate.time_ns.is_some_and(|time| {
        scheduled.estimate.bring_up_ns as f64 > time as f64 * matrix.bring_up_share
    });
    let decided = if is_chosen || !over {
        scheduled
    } else {
        match one(design.targets_outside(&scheduled.nest), true, &[]) {
            Some(other) if other.estimate.bring_up_ns < scheduled.estimate.bring_up_ns => other,
            _ => scheduled,
        }
    };
    if extensions.is_empty() {
        return Some(decided);
    }
    let extended = one(decided.nest, decided.moved_outside, extensions);
    if extended.is_none() {
        too_many();
    }
    extended
}

fn recorded(factors: &Factors) -> Vec<Factor> {
    factors
        .varied
        .iter()
        .map(|factor| Factor {
            name: factor.name.clone(),
            levels: factor
                .levels
                .iter()
                .map(|level| Level {
                    name: level.name.clone(),
                    twin: level.twin.map(|twin| factor.levels[twin].name.clone()),
                    positive: level.positive.then_some(factors.positive_share),
                })
                .collect(),
            contrasted: factor.contrasted,
        })
        .collect()
}

fn fixed(factors: &Factors) -> BTreeMap<String, String> {
    factors
        .fixed
        .iter()
        .filter_map(|(name, node)| Some((name.clone(), node.as_text()?.to_owned())))
        .collect()
}
