//! Runs: the blocks in order, which target instance serves which run, and warm-up runs.

use std::collections::{BTreeMap, HashMap, HashSet};

use record::plan::{Cell, Effective, Extension, Fresh, PlannedRun, RunKind, Target, TargetKind};

use crate::cells::Combination;
use crate::factors::Factors;
use crate::order::{Nested, block_order};
use crate::random::Random;
use crate::settings::{Matrix, WarmupRun};
use crate::words;

/// Most runs, warm-up runs included.
pub(crate) const MAX_RUNS: usize = 100_000;
/// Most bytes of padding: a page, after which the layout of a page repeats.
const MOST_LAYOUT_BYTES: u64 = 4_096;

/// The cells that are run, beside their combinations of levels.
pub(crate) struct Design<'b> {
    pub(crate) factors: &'b Factors,
    pub(crate) combinations: Vec<Combination>,
    pub(crate) cells: Vec<Cell>,
    /// By factor: whether its levels change the effective target.
    pub(crate) changes_target: Vec<bool>,
}

impl<'b> Design<'b> {
    pub(crate) fn new(
        factors: &'b Factors,
        combinations: Vec<Combination>,
        cells: Vec<Cell>,
    ) -> Self {
        debug_assert_eq!(combinations.len(), cells.len());
        let changes_target = (0..factors.varied.len())
            .map(|factor| changes_target(factor, factors, &combinations, &cells))
            .collect();
        Self { factors, combinations, cells, changes_target }
    }

    /// The default nest: rows outside in written order, then the contrasted factors, the first
    /// written innermost, so that its pairs are neighbours.
    pub(crate) fn default_nest(&self) -> Vec<usize> {
        let all = 0..self.factors.varied.len();
        let (contrasted, rows): (Vec<usize>, Vec<usize>) =
            all.partition(|factor| self.factors.varied[*factor].contrasted);
        rows.into_iter().chain(contrasted.into_iter().rev()).collect()
    }

    /// `nest` with the factors that change the target outside, to bring up fewer instances.
    pub(crate) fn targets_outside(&self, nest: &[usize]) -> Vec<usize> {
        let (outside, inside): (Vec<usize>, Vec<usize>) =
            nest.iter().partition(|factor| self.changes_target[**factor]);
        outside.into_iter().chain(inside).collect()
    }

    /// The cells of every block in the order of execution, as indices: the blocks of the bench,
    /// then those of each extension, which may hold some cells only. An extension goes on where
    /// the blocks before it ended, so that leads stay balanced.
    pub(crate) fn blocks(
        &self,
        nest: &[usize],
        matrix: &Matrix,
        extensions: &[Extension],
    ) -> Vec<Vec<usize>> {
        let nested: Vec<Nested> = nest
            .iter()
            .map(|factor| {
                let found = &self.factors.varied[*factor];
                Nested {
                    factor: *factor,
                    contrasted: found.contrasted,
                    policy: matrix.order.of(&found.name),
                    seed: matrix.seed,
                }
            })
            .collect();
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let base = Extension { blocks: matrix.blocks, ..Extension::default() };
        for part in std::iter::once(&base).chain(extensions) {
            let cells = self.cells_of(part);
            let assignments: Vec<Vec<usize>> =
                cells.iter().map(|cell| self.combinations[*cell].levels.clone()).collect();
            for _ in 0..part.blocks {
                let block = u32::try_from(blocks.len() + 1).unwrap_or(u32::MAX);
                let order = block_order(&assignments, &nested, block);
                blocks.push(order.into_iter().map(|index| cells[index]).collect());
            }
        }
        blocks
    }

    /// The cells that an extension holds.
    pub(crate) fn cells_of(&self, extension: &Extension) -> Vec<usize> {
        let holds =
            |name: &str| extension.only.as_ref().is_none_or(|glob| words::glob_matches(glob, name));
        let all = self.combinations.iter().enumerate();
        all.filter(|(_, cell)| holds(&cell.name)).map(|(index, _)| index).collect()
    }

    /// The instance that serves a cell in a block, as a key: equal keys share an instance. `part`
    /// is the bench's own blocks or an extension: nothing stays up from one to the next.
    fn instance_key(
        &self,
        cell: usize,
        (part, block, order): (usize, usize, usize),
        nest: &[usize],
    ) -> InstanceKey {
        let levels = &self.combinations[cell].levels;
        match self.cells[cell].effective.target.fresh {
            Fresh::Run => InstanceKey::Run(block, order),
            Fresh::Change => {
                // Down to the innermost factor that changes the target; with none, the block.
                let depth = nest
                    .iter()
                    .rposition(|factor| self.changes_target[*factor])
                    .map_or(0, |position| position + 1);
                let prefix = nest[..depth].iter().map(|factor| levels[*factor]).collect();
                InstanceKey::Change(block, prefix)
            }
            Fresh::Matrix => InstanceKey::Matrix(part, self.target_levels(cell)),
        }
    }

    /// The levels of the factors that change the target.
    fn target_levels(&self, cell: usize) -> Vec<usize> {
        let levels = self.combinations[cell].levels.iter().zip(&self.changes_target);
        levels.filter(|(_, changes)| **changes).map(|(level, _)| *level).collect()
    }

    /// How messages call the target of a cell: the levels that make it, else its table.
    fn target_name(&self, cell: usize) -> String {
        let levels = self.target_levels(cell);
        let factors = self.factors.varied.iter().zip(&self.changes_target);
        let names: Vec<&str> = factors
            .filter(|(_, changes)| **changes)
            .zip(levels)
            .map(|((factor, _), level)| factor.levels[level].name.as_str())
            .collect();
        if names.is_empty() {
            self.cells[cell].effective.target.name.clone()
        } else {
            names.join("+")
        }
    }

    /// Two targets that are up at the same time on one port: their names and the port.
    pub(crate) fn port_clash(&self) -> Option<(String, String, u16)> {
        let mut up: BTreeMap<u16, Vec<(usize, String, bool)>> = BTreeMap::new();
        let mut seen = HashSet::new();
        for (index, cell) in self.cells.iter().enumerate() {
            let target = &cell.effective.target;
            if matches!(target.kind, TargetKind::Url(_)) {
                continue;
            }
            let Some((host, port)) = target.address.as_deref().and_then(|a| a.rsplit_once(':'))
            else {
                continue;
            };
            let port: u16 = port.parse().unwrap_or(0);
            let stays = target.fresh == Fresh::Matrix;
            if port == 0 || !seen.insert((self.target_levels(index), host, port, stays)) {
                continue;
            }
            let others = up.entry(port).or_default();
            for (other, other_host, other_stays) in others.iter() {
                let distinct = self.target_levels(*other) != self.target_levels(index)
                    || self.cells[*other].effective.target.name != target.name;
                if (stays || *other_stays) && distinct && hosts_overlap(host, other_host) {
                    return Some((self.target_name(*other), self.target_name(index), port));
                }
            }
            others.push((index, host.to_owned(), stays));
        }
        None
    }

    /// All runs in the order of execution; `None` when there are more than [`MAX_RUNS`]. Runs of
    /// the bench's own blocks are the same with extensions and without.
    pub(crate) fn runs(
        &self,
        blocks: &[Vec<usize>],
        nest: &[usize],
        matrix: &Matrix,
        extensions: &[Extension],
    ) -> Option<Vec<PlannedRun>> {
        let measured: usize = blocks.iter().map(Vec::len).sum();
        if measured > MAX_RUNS {
            return None;
        }
        let mut keys = Vec::with_capacity(measured);
        let mut served: HashMap<InstanceKey, u32> = HashMap::new();
        let parts = parts(matrix.blocks, extensions);
        for (block, cells) in blocks.iter().enumerate() {
            let (part, _) = part_of(&parts, block);
            for (order, cell) in cells.iter().enumerate() {
                let key = self.instance_key(*cell, (part, block, order), nest);
                *served.entry(key.clone()).or_default() += 1;
                keys.push((block, order, *cell, key));
            }
        }
        let order_width = digits(blocks.iter().map(Vec::len).max().unwrap_or(0));
        let mut instances: HashMap<InstanceKey, u32> = HashMap::new();
        let mut runs = Vec::with_capacity(measured);
        for (block, order, cell, key) in keys {
            let number = |index: usize| u32::try_from(index + 1).unwrap_or(u32::MAX);
            let several = served.get(&key).copied().unwrap_or(0) > 1;
            let next = number(instances.len());
            let mut is_first = false;
            let instance = *instances.entry(key).or_insert_with(|| {
                is_first = true;
                next
            });
            let warm = is_first
                && match matrix.warmup_run {
                    WarmupRun::Auto => several,
                    WarmupRun::Always => true,
                    WarmupRun::Never => false,
                };
            let name = &self.cells[cell].name;
            // Of all blocks there were when this one was planned, so that no name ever changes.
            let block_width = digits(part_of(&parts, block).1);
            let layout_bytes = if matrix.varies_layout { layout(matrix.seed, block) } else { 0 };
            let (block, order) = (number(block), number(order));
            let mut push = |kind: RunKind, mark: &str| {
                let dir = format!("{block:0block_width$}-{order:0order_width$}{mark}-{name}");
                runs.push(PlannedRun {
                    dir,
                    block,
                    order,
                    cell: name.clone(),
                    kind,
                    instance,
                    layout_bytes,
                });
            };
            if warm {
                push(RunKind::WarmUp, "w");
            }
            push(RunKind::Measured, "");
        }
        (runs.len() <= MAX_RUNS).then_some(runs)
    }

    /// For each contrasted factor, the largest number of runs between the two of a pair, over
    /// all blocks; neighbours are 1 apart.
    pub(crate) fn pair_distances(&self, blocks: &[Vec<usize>]) -> Vec<(String, usize)> {
        let by_levels: HashMap<&[usize], usize> = self
            .combinations
            .iter()
            .enumerate()
            .map(|(index, cell)| (cell.levels.as_slice(), index))
            .collect();
        let mut distances = Vec::new();
        for (index, factor) in self.factors.varied.iter().enumerate() {
            if !factor.contrasted {
                continue;
            }
            // The cell that each cell is compared with.
            let partners: Vec<Option<usize>> = self
                .combinations
                .iter()
                .map(|cell| {
                    let level = cell.levels[index];
                    let baseline = factor.levels[level].twin.unwrap_or(factor.baseline);
                    let mut levels = cell.levels.clone();
                    levels[index] = baseline;
                    by_levels.get(levels.as_slice()).copied().filter(|_| level != baseline)
                })
                .collect();
            let mut farthest = 0;
            for block in blocks {
                let mut position = vec![None; self.combinations.len()];
                for (place, cell) in block.iter().enumerate() {
                    position[*cell] = Some(place);
                }
                let pairs = partners.iter().enumerate();
                let distance = pairs
                    .filter_map(|(cell, partner)| {
                        Some(usize::abs_diff(position[cell]?, position[(*partner)?]?))
                    })
                    .max();
                farthest = farthest.max(distance.unwrap_or(0));
            }
            distances.push((factor.name.clone(), farthest));
        }
        distances
    }
}

/// Whether two cells that differ only in real levels of a factor have different targets, or put it
/// on other cores: an instance is placed once, when it is brought up. The factor `target` always does: a control of it has its own instance.
fn changes_target(
    factor: usize,
    factors: &Factors,
    combinations: &[Combination],
    cells: &[Cell],
) -> bool {
    if factors.varied[factor].section == Some(crate::file::Section::Target) {
        return true;
    }
    let mut first: HashMap<Vec<usize>, (&Target, &[u32])> = HashMap::new();
    for (combination, cell) in combinations.iter().zip(cells) {
        // A null is what it repeats; a positive control is slowed and has a target of its own.
        let level = &factors.varied[factor].levels[combination.levels[factor]];
        if level.twin.is_some() && !level.positive {
            continue;
        }
        let mut others = combination.levels.clone();
        others.remove(factor);
        let target = (&cell.effective.target, placed(&cell.effective));
        if *first.entry(others).or_insert(target) != target {
            return true;
        }
    }
    false
}

/// The cores that a target is put on.
fn placed(effective: &Effective) -> &[u32] {
    match effective.target.kind {
        TargetKind::Mock(_) => &effective.cpus.mock,
        TargetKind::Command(_) => &effective.cpus.target,
        TargetKind::Url(_) => &[],
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum InstanceKey {
    /// Block and position.
    Run(usize, usize),
    /// Block, and levels down to the innermost that changes the target.
    Change(usize, Vec<usize>),
    /// Part of the plan, and levels that change the target.
    Matrix(usize, Vec<usize>),
}

/// The parts of a plan: where each ends, in blocks. The first is the bench's own.
fn parts(own: u32, extensions: &[Extension]) -> Vec<usize> {
    let mut end = own as usize;
    let mut ends = vec![end];
    for extension in extensions {
        end += extension.blocks as usize;
        ends.push(end);
    }
    ends
}

/// The part that a block (from 0) belongs to, and where that ends.
fn part_of(parts: &[usize], block: usize) -> (usize, usize) {
    let part = parts.iter().position(|end| block < *end).unwrap_or(0);
    (part, parts[part])
}

/// Bytes by which the target's environment is padded in a block (from 0): of its own for each
/// pair of blocks, so that both orders meet the same layout. Every length up to a page is as
/// likely; what lies above the environment, the stack, moves with it (T. Mytkowicz et al.,
/// "Producing wrong data without doing anything obviously wrong", ASPLOS 2009).
fn layout(seed: u64, block: usize) -> u32 {
    let drawn = Random::of(seed, "layout", block as u64 / 2).below(MOST_LAYOUT_BYTES);
    u32::try_from(drawn + 1).unwrap_or(u32::MAX)
}

/// Whether listeners on two hosts can want the same port.
fn hosts_overlap(a: &str, b: &str) -> bool {
    let any = |host: &str| matches!(host, "0.0.0.0" | "[::]" | "*");
    let same =
        |host: &str| if host == "localhost" { "127.0.0.1".to_owned() } else { host.to_owned() };
    any(a) || any(b) || same(a) == same(b)
}

/// Width of numbers in directory names: two digits or more.
fn digits(largest: usize) -> usize {
    largest.to_string().len().max(2)
}
