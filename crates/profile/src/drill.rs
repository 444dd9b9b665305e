//! One question to collapsed stacks, one short answer: as `assay drill` asks a recording.
//!
//! A site is part of a canonical name, with dots or slashes. What a file collapsed is the callers
//! of a site in a table of leaves; here they are told, the asked frame first and its callers after
//! it (the ledger's K-131: `callers_of_a_leaf_are_told_apart`).

use std::collections::BTreeMap;

use record::recording::{Drill, DrillRow, DrillTable};

use crate::collapsed::Collapsed;
use crate::naming::{self, Pattern};
use crate::stacks::{Profile, Unit};
use crate::table::{Figure, Table};

/// Rows of the first table, and of the others: an answer stays below 100 lines.
const ROWS: usize = 40;
const OTHER_ROWS: usize = 20;
/// Names that are offered in place of a pattern that matches nothing.
const OFFERED: usize = 3;

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct Asked<'a> {
    /// Bytes by site and type, instead of samples by method.
    pub allocations: bool,
    /// Prefixes of own code: sites are their deepest frames.
    pub own: &'a [Pattern],
    /// Only stacks through a frame whose name has this part, with dots or slashes.
    pub site: Option<&'a str>,
    /// As many of its callers.
    pub callers: u32,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DrillError {
    /// The stacks are of the other kind.
    #[error("{subject}: the weights are {found}; ask for `{other}`")]
    OtherKind {
        /// The subject.
        subject: &'static str,
        /// What the weights count.
        found: &'static str,
        /// The subject that has an answer.
        other: &'static str,
    },
    /// No frame matches.
    #[error(
        "`{site}` matches no frame of {subject}; a pattern is part of `package.Class.method`, \
         for example: {offered}"
    )]
    NoHit {
        /// The subject.
        subject: &'static str,
        /// The pattern.
        site: String,
        /// The largest names that could be asked for.
        offered: String,
    },
}

/// Answers a question.
///
/// # Errors
/// The stacks are of the other kind, or the site that was asked for matches nothing.
pub fn drill(collapsed: &Collapsed, asked: &Asked<'_>) -> Result<Drill, DrillError> {
    let profile = &collapsed.profile;
    let subject = if asked.allocations { "allocations" } else { "cpu" };
    let bytes = profile.unit == Unit::Bytes;
    if asked.allocations != bytes {
        let (found, other) = match bytes {
            true => ("bytes allocated, for the leaves are types", "allocations"),
            false => ("samples of running code, for the leaves are methods", "cpu"),
        };
        return Err(DrillError::OtherKind { subject, found, other });
    }
    let (total, tables) = match asked.site {
        None => whole(profile, asked),
        Some(site) => through(profile, asked, site).ok_or_else(|| DrillError::NoHit {
            subject,
            site: site.to_owned(),
            offered: offered(profile),
        })?,
    };
    Ok(Drill {
        subject: subject.to_owned(),
        site: asked.site.map(str::to_owned),
        unit: match profile.unit {
            Unit::Samples => "samples",
            Unit::Bytes => "bytes",
            Unit::Nanoseconds => "ns",
        }
        .to_owned(),
        total: total.weight,
        tables: tables.into_iter().filter(|table| !table.rows.is_empty()).collect(),
        notes: match bytes {
            true => vec!["the file does not say how many samples a weight is: counts are 0".into()],
            false => Vec::new(),
        },
        truncated: collapsed.quality.cut || profile.beyond > 0,
    })
}

fn whole(profile: &Profile, asked: &Asked<'_>) -> (Figure, Vec<DrillTable>) {
    let tables = match asked.allocations {
        true => vec![
            table("site", &profile.sites(asked.own), ROWS),
            table("type", &profile.leaves(), OTHER_ROWS),
        ],
        false => vec![
            table("leaf method", &profile.leaves(), ROWS),
            table("anywhere in the stack", &profile.inclusive(), OTHER_ROWS),
        ],
    };
    (profile.total(), tables)
}

/// What goes through a site, by its callers; `None` when nothing does.
fn through(profile: &Profile, asked: &Asked<'_>, site: &str) -> Option<(Figure, Vec<DrillTable>)> {
    let site = site.replace('/', ".");
    let mut hits = BTreeMap::<u32, bool>::new();
    let mut hit = |frame: u32| {
        *hits.entry(frame).or_insert_with(|| profile.name_of_frame(frame).contains(&site))
    };
    let (mut callers, mut others) = (Table::default(), Table::default());
    let mut total = Figure::default();
    for (stack, figure) in profile.stacks() {
        // The leaf of an allocation is its type; the root of a sample may be its thread.
        let skip = usize::from(asked.allocations);
        let mut above = stack.skip(skip).skip_while(|frame| !hit(*frame));
        let Some(found) = above.next() else { continue };
        let name = |frame: u32| naming::shown(&profile.name_of_frame(frame)).into_owned();
        let mut chain = name(found);
        let mut last = found;
        let mut told = 0;
        for frame in above {
            if told < asked.callers {
                chain.push_str(" <- ");
                chain.push_str(&name(frame));
                told += 1;
            }
            last = frame;
        }
        total.add(figure);
        callers.add(&chain, figure);
        let other = match asked.allocations {
            true => stack.clone().next().unwrap_or(found),
            false => last,
        };
        let name = profile.name_of_frame(other);
        if asked.allocations || naming::package(&name) == naming::THREAD {
            others.add(&name, figure);
        }
    }
    let word = if asked.allocations { "type" } else { "thread" };
    let tables = vec![table("callers", &callers, ROWS), table(word, &others, OTHER_ROWS)];
    (!callers.rows.is_empty()).then_some((total, tables))
}

fn table(title: &str, table: &Table, limit: usize) -> DrillTable {
    let ranked = table.ranked();
    DrillTable {
        title: title.to_owned(),
        rest_rows: ranked.len().saturating_sub(limit) as u64,
        rows: ranked
            .into_iter()
            .take(limit)
            .map(|(name, figure)| DrillRow {
                name: naming::shown(name).into_owned(),
                amount: figure.weight,
                count: figure.samples,
            })
            .collect(),
    }
}

fn offered(profile: &Profile) -> String {
    let sites = profile.sites(&[]);
    let names: Vec<String> =
        sites.ranked().iter().take(OFFERED).map(|(name, _)| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapsed::Options;

    fn read(text: &str) -> Collapsed {
        Collapsed::read(text.as_bytes(), Options::default()).expect("stacks")
    }

    fn rows(table: &DrillTable) -> Vec<(&str, u64)> {
        table.rows.iter().map(|row| (row.name.as_str(), row.amount)).collect()
    }

    /// The ledger's K-131: two callers of one leaf, which a table of leaves shows as one row.
    #[test]
    fn callers_of_a_leaf_are_told_apart() {
        let stacks = read(
            "[web tid=7];a/Main.main;a/Right.go;lib/Hot.spin_[j] 3\n\
             [web tid=7];a/Main.main;a/Wrong.go;lib/Hot.spin_[i] 9\n\
             [web tid=7];a/Main.main;a/Other.go 5\n",
        );
        let asked = Asked { site: Some("lib/Hot.spin"), callers: 1, ..Asked::default() };
        let answer = drill(&stacks, &asked).expect("an answer");
        assert_eq!(answer.total, 12, "what does not go through the site is left out");
        assert_eq!(
            rows(&answer.tables[0]),
            [("lib.Hot.spin <- a.Wrong.go", 9), ("lib.Hot.spin <- a.Right.go", 3)]
        );
        assert_eq!(rows(&answer.tables[1]), [("[web tid=7]", 12)]);
        let deeper = drill(&stacks, &Asked { callers: 9, ..asked }).expect("an answer");
        assert_eq!(
            deeper.tables[0].rows[0].name,
            "lib.Hot.spin <- a.Wrong.go <- a.Main.main <- [web tid=7]"
        );
        let all = drill(&stacks, &Asked::default()).expect("an answer");
        assert_eq!(rows(&all.tables[0]), [("lib.Hot.spin", 12), ("a.Other.go", 5)]);
    }

    #[test]
    fn types_of_a_site_and_its_callers() {
        let stacks =
            read("m;own/A.x;byte[]_[i] 700\nm;own/A.x;long[]_[i] 200\nm;own/B.y;long[]_[k] 100\n");
        let asked =
            Asked { allocations: true, site: Some("own.A"), callers: 3, ..Asked::default() };
        let answer = drill(&stacks, &asked).expect("an answer");
        assert_eq!((answer.total, answer.unit.as_str()), (900, "bytes"));
        assert_eq!(rows(&answer.tables[0]), [("own.A.x <- m", 900)]);
        assert_eq!(rows(&answer.tables[1]), [("[B", 700), ("[J", 200)]);
        let none = Asked { site: Some("[B"), ..asked };
        assert!(
            matches!(drill(&stacks, &none), Err(DrillError::NoHit { .. })),
            "a type is no site"
        );
    }

    #[test]
    fn what_has_no_answer_says_what_has() {
        let stacks = read("m;own/A.x 7\n");
        let error = drill(&stacks, &Asked { allocations: true, ..Asked::default() });
        insta::assert_snapshot!(error.expect_err("samples"), @"allocations: the weights are samples of running code, for the leaves are methods; ask for `cpu`");
        let error = drill(&stacks, &Asked { site: Some("no/Such"), ..Asked::default() });
        insta::assert_snapshot!(error.expect_err("no hit"), @"`no/Such` matches no frame of cpu; a pattern is part of `package.Class.method`, for example: `own.A.x`");
    }
}
