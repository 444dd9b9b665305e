//! Whole tables of a recording, not their first rows: what a comparison of two needs. Lines are
//! left out of sites, for a change of the source moves them all.

use std::collections::BTreeMap;

use record::recording::RecordingDigest;

use crate::jfr::Recording;

use super::events::Stacked;
use super::sites::NOT_OWN;
use super::totals::{ByStack, SQUARE_UNIT, Table, Tally, Totals};
use super::{Question, assemble, read};

/// What is known of one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Bytes, ns or samples.
    pub weight: u64,
    /// Samples behind it.
    pub samples: u64,
    /// Sum of the squares of their weights, never too small: the variance of `weight` when samples
    /// come independently.
    pub squares: u128,
}

impl Counted {
    fn add(&mut self, other: Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.samples += other.samples;
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// What a tally says, in a unit.
    pub(super) fn of(tally: &Tally, unit: &str) -> Self {
        let unit_square = u128::from(SQUARE_UNIT * SQUARE_UNIT);
        match unit {
            "samples" => {
                Self { weight: tally.count, samples: tally.count, squares: u128::from(tally.count) }
            }
            _ => Self {
                weight: tally.sum,
                samples: tally.count,
                squares: u128::from(tally.squares) * unit_square,
            },
        }
    }
}

/// The tables of one kind of sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// `cpu`, `cpu time` or `allocation`.
    pub what: &'static str,
    /// `samples`, `ns` or `bytes`.
    pub unit: &'static str,
    /// How long one sample stands for, ns, where the recording says.
    pub period_ns: Option<u64>,
    /// The whole.
    pub total: Counted,
    /// By the deepest frame of own code; by leaf when no package was named.
    pub sites: BTreeMap<String, Counted>,
    /// By class; allocations only.
    pub types: BTreeMap<String, Counted>,
    /// By any frame, once per sample.
    pub inclusive: BTreeMap<String, Counted>,
}

/// The digest of a recording and the tables behind it. Kinds of samples that it does not have are
/// left out; kinds are never added up.
#[must_use]
pub fn tables(recording: &Recording, question: &Question) -> (RecordingDigest, Vec<Tables>) {
    let question = &Question { whole: true, ..question.clone() };
    let totals = read(recording, question);
    let digest = assemble::digest(recording, question, &totals);
    let own = !question.packages.is_empty();
    let period = |methods: &Option<record::recording::Methods>| {
        methods.as_ref().and_then(|methods| methods.period_ns)
    };
    let mut all = Vec::new();
    for (kind, what, unit, period_ns) in [
        (Stacked::Execution, "cpu", "samples", period(&digest.panels.hot_methods)),
        (Stacked::CpuTime, "cpu time", "ns", None),
        (Stacked::AllocationSample, "allocation", "bytes", None),
        (Stacked::AllocationTlab, "allocation", "bytes", None),
    ] {
        let by = totals.of(kind);
        // A recording with both events of allocation has each byte twice: the sample wins.
        if by.all.count == 0 || all.iter().any(|tables: &Tables| tables.what == what) {
            continue;
        }
        all.push(Of { totals: &totals, by, unit }.tables(what, period_ns, own));
    }
    (digest, all)
}

struct Of<'a> {
    totals: &'a Totals,
    by: &'a ByStack,
    unit: &'static str,
}

impl Of<'_> {
    fn tables(&self, what: &'static str, period_ns: Option<u64>, own: bool) -> Tables {
        let allocation = what == "allocation";
        let total = Counted::of(&self.by.all, self.unit);
        let mut sites = self.names(match (allocation, own) {
            (true, _) => &self.by.sites,
            (false, true) => &self.by.own,
            (false, false) => &self.by.leaves,
        });
        if own && !allocation {
            let seen = sites.values().fold(Counted::default(), |mut sum, site| {
                sum.add(*site);
                sum
            });
            let rest = Counted {
                weight: total.weight.saturating_sub(seen.weight),
                samples: total.samples.saturating_sub(seen.samples),
                squares: total.squares.saturating_sub(seen.squares),
            };
            if rest.samples > 0 {
                sites.insert(NOT_OWN.to_owned(), rest);
            }
        }
        Tables {
            what,
            unit: self.unit,
            period_ns,
            total,
            sites,
            types: if allocation { self.names(&self.by.others) } else { BTreeMap::new() },
            inclusive: self.names(&self.by.inclusive),
        }
    }

    fn names(&self, table: &Table) -> BTreeMap<String, Counted> {
        let mut names = BTreeMap::<String, Counted>::new();
        for (number, tally) in table {
            let name = without_line(self.totals.names.name(*number));
            names.entry(name.to_owned()).or_default().add(Counted::of(tally, self.unit));
        }
        names
    }
}

/// `a.B.m:14` as `a.B.m`.
fn without_line(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((name, line)) if !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => name,
    }
}
