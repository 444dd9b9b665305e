//! Notes: what a reader of the plan should know and nothing refuses.

use std::collections::{BTreeSet, HashMap, HashSet};

use record::plan::{Estimate, Extension, Extent, Fresh, TargetKind};
use record::units::HumanDuration;

use crate::factors::Level;
use crate::runs::Design;
use crate::settings::{Matrix, Policy};

/// Most names in one note.
const MAX_NAMES: usize = 8;

/// What notes are made from.
pub(crate) struct Facts<'d> {
    pub(crate) design: &'d Design<'d>,
    pub(crate) distances: &'d [(String, usize)],
    /// All blocks.
    pub(crate) blocks: u32,
    /// Those of the bench, without extensions.
    pub(crate) own_blocks: u32,
    pub(crate) extensions: &'d [Extension],
    pub(crate) matrix: &'d Matrix,
    pub(crate) estimate: Estimate,
    pub(crate) instances: usize,
    /// The nest was changed to share instances.
    pub(crate) moved_outside: bool,
    pub(crate) bring_up_share: f64,
    pub(crate) quick: bool,
    /// Tables that no cell uses: `target.spare`.
    pub(crate) unused: Vec<String>,
}

/// The notes, most important first.
pub(crate) fn notes(facts: &Facts<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if facts.quick {
        notes.push("quick: one block of tiny windows; no measurement".to_owned());
    }
    equal_runs(facts, &mut notes);
    for factor in facts.design.factors.varied.iter().filter(|factor| factor.contrasted) {
        let is_null = |level: &Level| level.twin.is_some() && !level.positive;
        if !factor.levels.iter().any(is_null) && !has_equal_pair(facts, factor) {
            notes.push(format!(
                "factor `{}` has no null: its contrasts are uncontrolled; add `null`",
                factor.name
            ));
        }
    }
    broken_controls(facts, &mut notes);
    if !facts.distances.is_empty() && !facts.quick {
        if facts.blocks % 2 == 1 && !all_shuffled(facts) {
            notes.push(format!("{} blocks are odd: one order leads once more", facts.blocks));
        }
        if facts.blocks < 6 {
            notes.push(format!("{} blocks are under 6: no 95 % interval", facts.blocks));
        }
    }
    extended(facts, &mut notes);
    shuffled(facts, &mut notes);
    if facts.matrix.varies_layout {
        notes.push(
            "the memory layout of the targets differs from one pair of blocks to the next, and is \
             the same for both arms of a block"
                .to_owned(),
        );
    }
    distances(facts, &mut notes);
    bring_ups(facts, &mut notes);
    if facts.estimate.time_ns.is_none() {
        let mut counted: Vec<String> = Vec::new();
        for cell in &facts.design.cells {
            let load = &cell.effective.load;
            let counts =
                [load.warmup, load.measure].map(|e| matches!(e, Extent::Count(n) if n > 0));
            let name = format!("`{}`", load.name);
            if counts.contains(&true) && !counted.contains(&name) {
                counted.push(name);
            }
        }
        notes.push(format!("the time is unknown: load {} counts requests", counted.join(", ")));
    }
    notes.extend(rounded_up(facts));
    for name in &facts.design.factors.recorded_only {
        notes.push(format!("factor `{name}` is fixed and sets nothing: it is recorded only"));
    }
    unchecked(facts, &mut notes);
    unused_ports(facts, &mut notes);
    if !facts.unused.is_empty() {
        notes.push(format!("not used: {}", some_of(&facts.unused)));
    }
    notes
}

/// Iterations that do not divide by their users.
fn rounded_up(facts: &Facts<'_>) -> BTreeSet<String> {
    let loads = facts.design.cells.iter().map(|cell| &cell.effective.load);
    loads
        .filter_map(|load| {
            let iterations = load.iterations.filter(|one| one.count() != one.asked)?;
            Some(format!(
                "load `{}`: {} iterations over {} users are {}, {} each",
                load.name,
                iterations.asked,
                iterations.users,
                iterations.count(),
                iterations.each
            ))
        })
        .collect()
}

fn some_of(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MAX_NAMES);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

/// Checks of answers that only assay's own generator makes, and foreign runs whose target is no
/// witness.
fn unchecked(facts: &Facts<'_>, notes: &mut Vec<String>) {
    let mut told: HashSet<(String, &str)> = HashSet::new();
    for cell in &facts.design.cells {
        let effective = &cell.effective;
        let name = &effective.generator.name;
        for key in foreign::unchecked(effective) {
            if told.insert((name.clone(), key)) {
                notes.push(format!("generator `{name}` does not check `{key}`: assay's own does"));
            }
        }
        let witness = matches!(effective.target.kind, TargetKind::Mock(_));
        if effective.generator.is_foreign() && !witness && told.insert((name.clone(), "target")) {
            notes.push(format!(
                "generator `{name}` loads target `{}`, which is no mock: nobody else counts its \
                 requests",
                effective.target.name
            ));
        }
    }
}

/// Cells of the same identity that are no declared control of one another.
fn equal_runs(facts: &Facts<'_>, notes: &mut Vec<String>) {
    let design = facts.design;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_identity: HashMap<&str, usize> = HashMap::new();
    for (index, cell) in design.cells.iter().enumerate() {
        let is_control = cell.levels.iter().any(|level| level.twin.is_some());
        if is_control {
            continue;
        }
        let next = groups.len();
        let group = *by_identity.entry(&cell.identity_sha256).or_insert(next);
        if group == next {
            groups.push(Vec::new());
        }
        groups[group].push(index);
    }
    let equal: Vec<String> = groups
        .iter()
        .filter(|group| group.len() > 1)
        .map(|group| {
            let names: Vec<&str> =
                group.iter().take(3).map(|cell| design.cells[*cell].name.as_str()).collect();
            let more = if group.len() > 3 { "` = `..." } else { "" };
            format!("{}{more}", names.join("` = `"))
        })
        .collect();
    if !equal.is_empty() {
        notes.push(format!("levels that give the same run, a null: {}", some_of(&equal)));
    }
}

/// Whether two levels of a factor give equal runs in some combination of the others.
fn has_equal_pair(facts: &Facts<'_>, factor: &crate::factors::Factor) -> bool {
    let mut seen = HashSet::new();
    facts.design.cells.iter().any(|cell| {
        let others: Vec<(&str, &str)> = cell
            .levels
            .iter()
            .filter(|level| level.factor != factor.name)
            .map(|level| (level.factor.as_str(), level.level.as_str()))
            .collect();
        !seen.insert((others, cell.identity_sha256.as_str()))
    })
}

/// Controls that do not run what their twin runs, because a `[[where]]` patched one of the two.
fn broken_controls(facts: &Facts<'_>, notes: &mut Vec<String>) {
    let design = facts.design;
    let by_levels: HashMap<&[usize], usize> = design
        .combinations
        .iter()
        .enumerate()
        .map(|(index, cell)| (cell.levels.as_slice(), index))
        .collect();
    let mut broken = Vec::new();
    let mut alone = Vec::new();
    for (index, combination) in design.combinations.iter().enumerate() {
        for (factor, level) in design.factors.varied.iter().zip(0..) {
            let own = &factor.levels[combination.levels[level]];
            // What is slowed differs on purpose.
            let Some(twin) = own.twin.filter(|_| !own.positive) else { continue };
            let mut levels = combination.levels.clone();
            levels[level] = twin;
            match by_levels.get(levels.as_slice()) {
                Some(other)
                    if design.cells[*other].identity_sha256
                        != design.cells[index].identity_sha256 =>
                {
                    broken.push(combination.name.clone());
                }
                Some(_) => {}
                None => alone.push(combination.name.clone()),
            }
        }
    }
    if !broken.is_empty() {
        notes.push(format!("controls that differ from what they repeat: {}", some_of(&broken)));
    }
    if !alone.is_empty() {
        notes.push(format!("controls without the cell that they repeat: {}", some_of(&alone)));
    }
}

/// Blocks that were added later, where they hold some cells only.
fn extended(facts: &Facts<'_>, notes: &mut Vec<String>) {
    let mut first = facts.own_blocks + 1;
    for extension in facts.extensions {
        let last = first + extension.blocks - 1;
        let cells = extension.only.as_ref().map_or(String::new(), |glob| format!(" of `{glob}`"));
        let blocks = if first == last {
            format!("block {first}")
        } else {
            format!("blocks {first} to {last}")
        };
        notes.push(format!("{blocks}{cells} added later: a look at the data lies before"));
        first = last + 1;
    }
}

fn shuffled_factors<'d>(facts: &'d Facts<'_>) -> impl Iterator<Item = &'d str> {
    let factors = facts.design.factors.varied.iter().map(|factor| factor.name.as_str());
    factors.filter(|name| facts.matrix.order.of(name) == Policy::Shuffle)
}

fn all_shuffled(facts: &Facts<'_>) -> bool {
    let contrasted = facts.design.factors.varied.iter().filter(|factor| factor.contrasted);
    contrasted.map(|factor| facts.matrix.order.of(&factor.name)).all(|p| p == Policy::Shuffle)
}

fn shuffled(facts: &Facts<'_>, notes: &mut Vec<String>) {
    let names: Vec<String> = shuffled_factors(facts).map(str::to_owned).collect();
    if !names.is_empty() && facts.blocks > 1 {
        notes.push(format!(
            "the order of {} is shuffled anew in every block, from seed {}; that each level leads \
             equally often is not promised",
            some_of(&names),
            facts.matrix.seed
        ));
    }
}

fn distances(facts: &Facts<'_>, notes: &mut Vec<String>) {
    let apart: Vec<String> = facts
        .distances
        .iter()
        .filter(|(_, runs)| *runs > 0)
        .map(|(factor, runs)| format!("`{factor}` {runs}"))
        .collect();
    if !apart.is_empty() {
        notes.push(format!("pairs lie at most this many runs apart: {}", apart.join(", ")));
    }
}

fn bring_ups(facts: &Facts<'_>, notes: &mut Vec<String>) {
    let estimate = facts.estimate;
    if estimate.bring_up_ns == 0 {
        return;
    }
    let share = estimate
        .time_ns
        .filter(|time| *time > 0)
        .map(|time| estimate.bring_up_ns as f64 / time as f64);
    let of_time =
        share.map_or(String::new(), |share| format!(", {:.0} % of the time", share * 100.0));
    notes.push(format!(
        "{} bring-ups take about {}{of_time}",
        facts.instances,
        HumanDuration(estimate.bring_up_ns as f64)
    ));
    let percent = facts.bring_up_share * 100.0;
    if facts.moved_outside {
        notes.push(format!(
            "bring-ups would take over {percent:.0} % of the time: factors that change the target \
             are outside, so their pairs lie farther apart"
        ));
    } else if share.is_some_and(|share| share > facts.bring_up_share) {
        let each = facts.design.cells.iter().any(|cell| cell.effective.target.fresh == Fresh::Run);
        if each && !facts.quick {
            notes.push(format!(
                "bring-ups take over {percent:.0} % of the time; `fresh = \"change\"` shares instances"
            ));
        }
    }
    if facts.design.cells.iter().any(|cell| cell.effective.target.fresh == Fresh::Matrix) {
        notes.push(
            "targets stay up for the whole matrix and idle in turn; their idling is in the runs of \
             the others"
                .to_owned(),
        );
    }
}

/// Commands that are given a free port and never look at it.
fn unused_ports(facts: &Facts<'_>, notes: &mut Vec<String>) {
    let mut blind: Vec<String> = Vec::new();
    for cell in &facts.design.cells {
        let target = &cell.effective.target;
        let TargetKind::Command(command) = &target.kind else { continue };
        let free = target.address.as_deref().is_some_and(|address| address.ends_with(":0"));
        let looks =
            command.iter().chain(target.env.values()).any(|text| text.contains("${target.port}"));
        if free && !looks && !blind.contains(&target.name) {
            blind.push(target.name.clone());
        }
    }
    if !blind.is_empty() {
        notes.push(format!(
            "the address has port 0, and `${{target.port}}` is in neither command nor environment: {}",
            some_of(&blind)
        ));
    }
}
