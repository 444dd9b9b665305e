//! `assay host qualify`: one cell of a bench against itself, so that the spread of a null on this
//! machine is known before the matrix is made.

use record::plan::{Cell, Compare, Factor, Level, LevelOf, Plan, PlannedRun, RunKind, TargetKind};

use crate::estimate::estimate;

/// The factor of a qualification, and its two levels.
const FACTOR: &str = "qualification";
const SELF: &str = "self";
const NULL: &str = "null";

/// The cell whose work is shortest, which is where noise is largest: of cells of the mock the one
/// with the least latency, of others the first that is written. Controls are none.
#[must_use]
pub fn shortest_cell(plan: &Plan) -> Option<&Cell> {
    let latency_ns = |cell: &Cell| match &cell.effective.target.kind {
        TargetKind::Mock(mock) => mock.latency_ns,
        _ => u64::MAX,
    };
    let own = |cell: &&Cell| cell.levels.iter().all(|level| level.twin.is_none());
    plan.cells.iter().filter(own).min_by_key(|cell| latency_ns(cell))
}

/// A plan of `pairs` blocks in which `cell` is run beside itself, the lead alternating, every run
/// with a target instance of its own. `None` when the plan has no such cell.
#[must_use]
pub fn qualification(plan: &Plan, cell: &str, pairs: u32) -> Option<Plan> {
    let own = plan.cells.iter().find(|known| known.name == cell)?;
    let arm = |level: &str, index: u32| {
        let twin = (index > 0).then(|| SELF.to_owned());
        let mut cell = own.clone();
        level.clone_into(&mut cell.name);
        // What the cell is of the bench stays told, and is compared with nothing.
        cell.levels.iter_mut().for_each(|level| level.contrasted = false);
        cell.levels.push(LevelOf {
            factor: FACTOR.to_owned(),
            level: level.to_owned(),
            index,
            twin,
            positive: None,
            contrasted: true,
        });
        cell
    };
    let cells = vec![arm(SELF, 0), arm(NULL, 1)];
    let mut runs = Vec::new();
    for block in 1..=pairs {
        let names = if block % 2 == 1 { [SELF, NULL] } else { [NULL, SELF] };
        for (order, name) in (1..).zip(names) {
            runs.push(PlannedRun {
                dir: format!("{block:02}-{order:02}-{name}"),
                block,
                order,
                cell: name.to_owned(),
                kind: RunKind::Measured,
                instance: runs.len() as u32 + 1,
                layout_bytes: 0,
            });
        }
    }
    let level = |name: &str, twin: Option<&str>| Level {
        name: name.to_owned(),
        twin: twin.map(str::to_owned),
        positive: None,
    };
    let factor = Factor {
        name: FACTOR.to_owned(),
        levels: vec![level(SELF, None), level(NULL, Some(SELF))],
        contrasted: true,
    };
    let timeout_ns = Some(plan.estimate.run_timeout_ns);
    let estimate =
        estimate(&runs, |run| &cells[usize::from(run.cell == NULL)], plan.gap_ns, timeout_ns);
    Some(Plan {
        bench: format!("{}-qualification", plan.bench),
        factors: vec![factor],
        fixed: Default::default(),
        cells,
        skipped: Vec::new(),
        nest: vec![FACTOR.to_owned()],
        orders: Default::default(),
        blocks: pairs,
        runs,
        compare: Compare {
            primary: plan.compare.primary.clone(),
            margin: plan.compare.margin.clone(),
            ..Compare::default()
        },
        estimate,
        notes: Vec::new(),
        only: Some(cell.to_owned()),
        extensions: Vec::new(),
        rehearsal: None,
        ..plan.clone()
    })
}
