//! What a file holds, ready to be compared: one [`Measured`] for each kind of sample.

use record::profile_diff::View;

use super::{Sides, compare};
use crate::naming::Pattern;
use crate::stacks::{Profile, Unit};
use crate::table::Table;

/// Tables of one kind of sample.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// `cpu`, `allocation`, or another word of whoever measured.
    pub what: String,
    /// What weights count.
    pub unit: Unit,
    /// How long a sample stands for, ns.
    pub interval_ns: Option<u64>,
    /// By site.
    pub sites: Table,
    /// The other way to group, with its word: `type` or `frame`.
    pub others: Option<(&'static str, Table)>,
    /// By any frame of the stack, once per sample, where that is known.
    pub inclusive: Option<Table>,
}

impl Measured {
    /// The tables of a profile.
    #[must_use]
    pub fn of(profile: &Profile, own: &[Pattern]) -> Self {
        let bytes = profile.unit == Unit::Bytes;
        let inclusive = profile.inclusive();
        Self {
            what: if bytes { "allocation" } else { "cpu" }.to_owned(),
            unit: profile.unit,
            interval_ns: profile.interval_ns,
            sites: profile.sites(own),
            others: Some(match bytes {
                true => ("type", profile.leaves()),
                false => ("frame", inclusive.clone()),
            }),
            inclusive: Some(inclusive),
        }
    }

    /// Whether a pattern matches any row.
    #[must_use]
    pub fn has(&self, pattern: &Pattern) -> bool {
        let others = self.others.as_ref().map(|(_, table)| table);
        [Some(&self.sites), others, self.inclusive.as_ref()]
            .into_iter()
            .flatten()
            .any(|table| table.rows.keys().any(|name| pattern.matches(name)))
    }
}

/// The files of one comparison.
#[derive(Debug, Clone, Copy, Default)]
pub struct Files<'a> {
    /// The first side.
    pub before: &'a [Measured],
    /// The second side.
    pub after: &'a [Measured],
    /// A second run of the first side.
    pub null: Option<&'a [Measured]>,
    /// Operations of both sides.
    pub operations: Option<[u64; 2]>,
    /// Operations of the null.
    pub null_operations: Option<u64>,
}

/// One view for each kind of sample that both sides have and each way to group it, and what only
/// one side has.
#[must_use]
pub fn views(files: Files<'_>, controls: &[Pattern]) -> (Vec<View>, Vec<String>) {
    let of = |side: &'_ [Measured], what: &str| side.iter().find(|one| one.what == what).cloned();
    let (mut views, mut absent) = (Vec::new(), Vec::new());
    for before in files.before {
        let Some(after) = of(files.after, &before.what) else {
            absent.push(format!("{}: only the first side has it", before.what));
            continue;
        };
        if before.unit != after.unit {
            absent.push(format!("{}: the sides count in different units", before.what));
            continue;
        }
        let null = files.null.and_then(|null| of(null, &before.what));
        if files.null.is_some() && null.is_none() {
            absent.push(format!("{}: the null does not have it", before.what));
        }
        let sides = |by, a: &Table, b: &Table, c: Option<&Table>| Sides {
            what: before.what.clone(),
            by,
            unit: before.unit,
            // Samples of two intervals are no equal things.
            interval_ns: before.interval_ns.filter(|ns| after.interval_ns == Some(*ns)),
            before: a.clone(),
            after: b.clone(),
            null: c.cloned(),
            inclusive: before.inclusive.clone().zip(after.inclusive.clone()).map(|(a, b)| [a, b]),
            operations: files.operations,
            null_operations: files.null_operations,
        };
        let sites = null.as_ref().map(|null| &null.sites);
        views.push(compare(&sides("site", &before.sites, &after.sites, sites), controls));
        if let (Some((by, a)), Some((_, b))) = (&before.others, &after.others) {
            let c = null.as_ref().and_then(|null| null.others.as_ref()).map(|(_, table)| table);
            views.push(compare(&sides(by, a, b, c), controls));
        }
    }
    for after in files.after {
        if of(files.before, &after.what).is_none() {
            absent.push(format!("{}: only the second side has it", after.what));
        }
    }
    (views, absent)
}
