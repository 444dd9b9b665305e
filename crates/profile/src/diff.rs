//! What changed between two profiles.
//!
//! **Absolute figures first.** When a site disappears, the shares of all others rise though
//! nothing happened to them. Shares are compared only when sites that nothing touched, the
//! *controls*, have the same absolute figures on both sides.
//!
//! **Noise.** A figure is a sum over samples; when samples come independently (a compound Poisson
//! process) its variance is the sum of their squared weights, which for samples that weigh one is
//! their number. Real runs vary more: threads are scheduled, collections fall differently. A second
//! run of the first side, the *null*, tells by how much:
//!
//! `dispersion = sum of (a - a2)^2 / sum of (var a + var a2)` over all rows, at least 1
//!
//! (the quasi-Poisson estimate of overdispersion, McCullagh and Nelder, Generalized Linear Models,
//! 1989, section 6.2, with the pooled variance as weights). A row is marked when its change, after
//! scaling to equal operations, is more than [`DEVIATIONS`] standard deviations, and also more than
//! that row changed between the two equal runs. **Without a null nothing is marked**: how far equal
//! runs differ is not known, and Poisson's bound, which is shown, is only the least that it can be.
//!
//! Where a file does not say how many samples are behind a figure (collapsed stacks of bytes), the
//! null gives the bytes of an effective sample instead; without one there is no bound at all.
//!
//! Where each rule is tested (`tests.rs`):
//!
//! | rule | test |
//! |---|---|
//! | ledger W-040: shares only by controls | `a_deleted_site_leaves_the_others_unchanged`, `shares_are_refused_when_a_control_differs_or_cannot_tell` |
//! | ledger K-190: what left and entered the top | `sites_that_left_and_entered_are_named` |
//! | ledger W-048: a trivial leaf is no proof | `a_trivial_leaf_asks_for_a_probe` |
//! | trap 24: numbers of hidden classes | `numbers_of_lambdas_are_no_change` |
//! | trap 44: recursion is not inflated | `recursion_changes_once_per_sample` |

mod measured;

use std::collections::BTreeSet;

use record::profile_diff::{Change, Control, Shares, Spread, View};

pub use measured::{Files, Measured, views};

use crate::naming::Pattern;
use crate::stacks::Unit;
use crate::table::{Figure, Table};

/// Standard deviations at which a change is marked: by chance 6 in 100,000 rows, which keeps the
/// chance of a false mark among 800 rows under 5 % (Bonferroni).
pub const DEVIATIONS: f64 = 4.0;
/// Standard deviations at which a control differs; there are few, so less is enough.
pub const CONTROL_DEVIATIONS: f64 = 3.0;
/// A control holds only when a change by this share would have been seen.
pub const CONTROL_RESOLUTION: f64 = 0.25;
/// Length of the list of the largest, by which rows leave and enter.
pub const TOP: usize = 25;
/// Rows listed.
pub const ROWS: usize = 25;
/// Rows from the first that are looked at for a trivial leaf.
const TRIVIAL_ROWS: usize = 5;

/// One view of both sides, before it is compared.
#[derive(Debug, Clone, Default)]
pub struct Sides {
    /// `cpu` or `allocation`.
    pub what: String,
    /// `site`, `type` or `frame`.
    pub by: &'static str,
    /// What weights count.
    pub unit: Unit,
    /// How long a sample stands for, ns.
    pub interval_ns: Option<u64>,
    /// The first side.
    pub before: Table,
    /// The second side.
    pub after: Table,
    /// A second run of the first side.
    pub null: Option<Table>,
    /// Where controls are looked for on both sides and the null: each frame once per sample.
    pub inclusive: Option<[Table; 2]>,
    /// Operations of both sides, where both are known.
    pub operations: Option<[u64; 2]>,
    /// Operations of the null, where they are known.
    pub null_operations: Option<u64>,
}

/// Compares the sides.
#[must_use]
pub fn compare(sides: &Sides, controls: &[Pattern]) -> View {
    let before = sides.before.comparable();
    let after = sides.after.comparable();
    let null = sides.null.as_ref().map(Table::comparable);
    let scale = Scale::of(sides);
    let spread = spread(&before, null.as_ref(), scale.null);
    let judge = Judge { scale, spread: &spread, sides };

    let looked_at = match &sides.inclusive {
        Some([before, after]) => &[before.comparable(), after.comparable()],
        None => &[before.clone(), after.clone()],
    };
    // A control of another kind of sample says nothing here.
    let there = |pattern: &&Pattern| {
        looked_at.iter().any(|table| table.rows.keys().any(|name| pattern.matches(name)))
    };
    let [inclusive_before, inclusive_after] = looked_at;
    let controls: Vec<Control> = controls
        .iter()
        .filter(there)
        .map(|pattern| judge.control(pattern, inclusive_before, inclusive_after))
        .collect();
    let shares = if controls.is_empty() {
        Shares::NoControls
    } else if controls.iter().all(|control| control.verdict == "holds") {
        Shares::Compared
    } else {
        Shares::Refused
    };

    let totals = (before.total, after.total);
    let names: BTreeSet<&String> = before.rows.keys().chain(after.rows.keys()).collect();
    let all = names.len();
    let row = |name: &str| {
        let of = |table: &Table| table.rows.get(name).copied().unwrap_or_default();
        let nulls = null.as_ref().map(of);
        let mut change = judge.change(name, of(&before), of(&after), nulls);
        if shares == Shares::Compared {
            let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
            change.share_before = share(change.before, totals.0.weight);
            change.share_after = share(change.after, totals.1.weight);
        }
        change
    };
    let mut rows: Vec<Change> = names.into_iter().map(|name| row(name)).collect();
    let size =
        |change: &Change| (change.after as f64 * judge.scale.after - change.before as f64).abs();
    rows.sort_by(|a, b| {
        b.marked
            .cmp(&a.marked)
            .then_with(|| size(b).total_cmp(&size(a)))
            .then_with(|| a.name.cmp(&b.name))
    });
    rows.truncate(ROWS);

    let top = |table: &Table| -> Vec<String> {
        table.ranked().into_iter().take(TOP).map(|(name, _)| name.to_owned()).collect()
    };
    let (top_before, top_after) = (top(&before), top(&after));
    let missing = |from: &[String], of: &[String]| -> Vec<Change> {
        from.iter().filter(|name| !of.contains(name)).map(|name| row(name)).collect()
    };
    let notes = trivial(sides.unit, &rows);
    View {
        what: sides.what.clone(),
        by: sides.by.to_owned(),
        unit: match sides.unit {
            Unit::Samples => "samples",
            Unit::Bytes => "bytes",
            Unit::Nanoseconds => "ns",
        }
        .to_owned(),
        interval_ns: sides.interval_ns,
        total: judge.change("(all)", totals.0, totals.1, null.as_ref().map(|null| null.total)),
        left: missing(&top_before, &top_after),
        entered: missing(&top_after, &top_before),
        rest_rows: (all - rows.len()) as u64,
        top: TOP as u64,
        spread,
        controls,
        shares,
        rows,
        notes,
    }
}

/// The ledger's W-048: a changed row that is too small a method to be believed.
fn trivial(unit: Unit, rows: &[Change]) -> Vec<String> {
    if unit == Unit::Bytes {
        return Vec::new();
    }
    let changed = rows.iter().take(TRIVIAL_ROWS).filter(|row| row.before != row.after);
    changed
        .filter(|row| record::leaf::is_trivial(&row.name))
        .map(|row| {
            format!(
                "{} is a trivial accessor: often it stands for the inlined loop around it; compare \
                 two runs, one without it, before optimising it",
                row.name
            )
        })
        .collect()
}

/// Factors that bring the other sides to the operations of the first.
#[derive(Debug, Clone, Copy)]
struct Scale {
    after: f64,
    null: f64,
}

impl Scale {
    fn of(sides: &Sides) -> Self {
        let factor = |others: Option<u64>| match (sides.operations, others) {
            (Some([before, _]), Some(other)) if before > 0 && other > 0 => {
                before as f64 / other as f64
            }
            _ => 1.0,
        };
        let after = sides.operations.map(|[_, after]| after);
        Self { after: factor(after), null: factor(sides.null_operations) }
    }
}

/// Spread of equal runs.
fn spread(before: &Table, null: Option<&Table>, scale: f64) -> Spread {
    let known = before.rows.values().all(|row| row.squares > 0.0 || row.weight == 0);
    let Some(null) = null else {
        let how = if known { "poisson" } else { "unknown" };
        return Spread { how: how.to_owned(), dispersion: 1.0, deviations: DEVIATIONS };
    };
    let names: BTreeSet<&String> = before.rows.keys().chain(null.rows.keys()).collect();
    let (mut found, mut expected) = (0.0, 0.0);
    for name in names {
        let of = |table: &Table| table.rows.get(name).copied().unwrap_or_default();
        let (a, b) = (of(before), of(null));
        found += (b.weight as f64 * scale - a.weight as f64).powi(2);
        expected += variance(a, known) + variance(b, known) * scale.powi(2);
    }
    let least = if known { 1.0 } else { 0.0 };
    let dispersion = if expected > 0.0 { (found / expected).max(least) } else { 1.0 };
    Spread { how: "null".to_owned(), dispersion, deviations: DEVIATIONS }
}

/// Variance of a figure before dispersion: its samples' squares, or without samples its weight,
/// whose factor the null gives.
fn variance(figure: Figure, known: bool) -> f64 {
    if known { figure.squares } else { figure.weight as f64 }
}

struct Judge<'a> {
    scale: Scale,
    spread: &'a Spread,
    sides: &'a Sides,
}

impl Judge<'_> {
    /// Standard deviation of a change, in the unit of the first side.
    fn deviation(&self, before: Figure, after: Figure) -> Option<f64> {
        let known = before.squares + after.squares > 0.0;
        if self.spread.how == "unknown" {
            return None;
        }
        let variance = variance(before, known) + variance(after, known) * self.scale.after.powi(2);
        Some((self.spread.dispersion * variance).sqrt())
    }

    fn change(&self, name: &str, before: Figure, after: Figure, null: Option<Figure>) -> Change {
        let changed = after.weight as f64 * self.scale.after - before.weight as f64;
        let deviation = self.deviation(before, after);
        // The null's own difference is one draw of the noise; a change within it is none.
        let drawn = null.map_or(0.0, |null| {
            (null.weight as f64 * self.scale.null - before.weight as f64).abs()
        });
        let bound = deviation.map(|deviation| (deviation * self.spread.deviations).max(drawn));
        let worth = match self.sides.unit {
            Unit::Samples => self.sides.interval_ns.unwrap_or(1) as f64,
            Unit::Bytes | Unit::Nanoseconds => 1.0,
        };
        let per = |weight: u64, side: usize| {
            self.sides
                .operations
                .filter(|operations| operations[side] > 0)
                .map(|operations| weight as f64 * worth / operations[side] as f64)
        };
        Change {
            name: name.to_owned(),
            before: before.weight,
            after: after.weight,
            before_per_operation: per(before.weight, 0),
            after_per_operation: per(after.weight, 1),
            bound,
            marked: self.spread.how == "null"
                && bound.is_some_and(|bound| changed.abs() > bound && changed != 0.0),
            ..Change::default()
        }
    }

    /// A control is every row that the pattern matches; the largest of them, for in an inclusive
    /// table they lie within each other.
    fn control(&self, pattern: &Pattern, before: &Table, after: &Table) -> Control {
        let of = |table: &Table| {
            let rows = table.rows.iter().filter(|(name, _)| pattern.matches(name));
            rows.map(|(_, row)| *row).max_by_key(|row| row.weight).unwrap_or_default()
        };
        let (a, b) = (of(before), of(after));
        let changed = b.weight as f64 * self.scale.after - a.weight as f64;
        let verdict = match self.deviation(a, b) {
            Some(deviation) if changed.abs() > CONTROL_DEVIATIONS * deviation => "differs",
            Some(deviation)
                if a.weight > 0
                    && CONTROL_DEVIATIONS * deviation <= CONTROL_RESOLUTION * a.weight as f64 =>
            {
                "holds"
            }
            // Without a spread only the tolerance can be asked for.
            None if a.weight > 0 && changed.abs() <= CONTROL_RESOLUTION * a.weight as f64 => {
                "holds"
            }
            None => "differs",
            _ => "too few samples",
        };
        let change = self.change(pattern.written(), a, b, None);
        let verdict = verdict.to_owned();
        Control { site: pattern.written().to_owned(), change, verdict }
    }
}

#[cfg(test)]
mod tests;
