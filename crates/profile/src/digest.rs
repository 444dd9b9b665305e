//! Collapsed stacks as a digest: the panels that they feed, and why they feed no others.

use record::Format;
use record::recording::{
    Absent, Allocation, Band as BandRow, BytesRow, Methods, Packages, Panels, Quality,
    RecordingDigest, Run, SamplesRow, Source,
};

use crate::collapsed::Collapsed;
use crate::naming::{self, Pattern};
use crate::shares::{Against, Question, shares};
use crate::stacks::{NO_OWN_FRAME, Unit};
use crate::table::Table;

/// Rows of a table.
const ROWS: usize = 25;
/// A trivial leaf of this share is worth a note, of so many samples at least.
const TRIVIAL_SHARE: f64 = 0.05;
const TRIVIAL_SAMPLES: u64 = 100;
/// Panels that collapsed stacks never feed.
const NEVER: [&str; 9] = [
    "threads",
    "heap_after_gc",
    "gc_pauses",
    "safepoints",
    "locks",
    "exceptions",
    "io",
    "warm_up",
    "old_objects",
];

/// The digest of collapsed stacks of so many bytes. `own` are prefixes of own code; the packages
/// of the question are its own matter.
#[must_use]
pub fn of_collapsed(
    collapsed: &Collapsed,
    bytes: u64,
    own: &[Pattern],
    question: &Question,
) -> RecordingDigest {
    let profile = &collapsed.profile;
    let mut panels = Panels::default();
    let mut absent: Vec<Absent> = NEVER
        .iter()
        .map(|panel| self::absent(panel, "collapsed stacks say nothing of it"))
        .collect();
    if profile.unit == Unit::Bytes {
        let rule = "weights of the stacks, taken as bytes for their leaves are types";
        panels.allocation_by_site = Some(allocation(&profile.sites(own), rule));
        panels.allocation_by_type = Some(allocation(&profile.leaves(), rule));
        for panel in ["hot_methods", "packages"] {
            absent.push(self::absent(
                panel,
                "the weights are bytes allocated, no samples of the CPU",
            ));
        }
    } else {
        panels.hot_methods = Some(methods(collapsed, own));
        panels.packages = Some(packages(collapsed, question));
        for panel in ["allocation_by_site", "allocation_by_type"] {
            absent
                .push(self::absent(panel, "the leaves are methods: these are samples of the CPU"));
        }
    }
    let quality = collapsed.quality;
    let mut faults = Vec::new();
    if let Some(line) = quality.first_strange_line {
        let count = quality.strange_lines;
        faults.push(format!("{count} lines are no stacks, the first is line {line}"));
    }
    if quality.cut {
        faults.push("the file ends in the middle of a line".to_owned());
    }
    if profile.beyond > 0 {
        faults.push(format!(
            "a weight of {} is of stacks beyond the bound on memory: in the totals, without names",
            profile.beyond
        ));
    }
    let outcome = if quality.cut { "truncated" } else { "complete" };
    panels.run = Some(Run { outcome: outcome.to_owned(), ..Run::default() });
    RecordingDigest {
        format: Format::v1("assay.recording"),
        source: Source {
            kind: "collapsed".to_owned(),
            bytes,
            packages: own.iter().map(|pattern| pattern.written().to_owned()).collect(),
            ..Source::default()
        },
        quality: Quality {
            truncated: quality.cut || profile.beyond > 0,
            unknown_lines: quality.strange_lines,
            faults,
            ..Quality::default()
        },
        panels,
        absent,
    }
}

fn absent(panel: &str, reason: &str) -> Absent {
    Absent { panel: panel.to_owned(), reason: reason.to_owned() }
}

fn part(weight: u64, whole: u64) -> f64 {
    weight as f64 / whole.max(1) as f64
}

fn allocation(table: &Table, rule: &str) -> Allocation {
    let total = table.total.weight;
    let ranked = table.ranked();
    let rows: Vec<BytesRow> = ranked
        .iter()
        .take(ROWS)
        .map(|(name, row)| BytesRow {
            name: (*name).to_owned(),
            bytes: row.weight,
            share: part(row.weight, total),
            samples: row.samples,
        })
        .collect();
    Allocation {
        total_bytes: total,
        samples: table.total.samples,
        rule: rule.to_owned(),
        rest_bytes: ranked.iter().skip(ROWS).map(|(_, row)| row.weight).sum(),
        rest_rows: ranked.len().saturating_sub(ROWS) as u64,
        cut_off_share: rows.last().map_or(0.0, |row| row.share),
        rows,
        ..Allocation::default()
    }
}

/// The first rows, and the weight of the others.
fn samples(table: &Table) -> (Vec<SamplesRow>, u64) {
    let ranked = table.ranked();
    let rows = ranked.iter().take(ROWS).map(|(name, row)| SamplesRow {
        name: naming::shown(name).into_owned(),
        samples: row.weight,
        share: part(row.weight, table.total.weight),
        cpu_ns: None,
    });
    (rows.collect(), ranked.iter().skip(ROWS).map(|(_, row)| row.weight).sum())
}

fn methods(collapsed: &Collapsed, own: &[Pattern]) -> Methods {
    let profile = &collapsed.profile;
    let (rows, rest_samples) = samples(&profile.leaves());
    let mut notes = vec!["the file does not say which stacks the profiler cut".to_owned()];
    let is_trivial = |row: &&SamplesRow| {
        row.share >= TRIVIAL_SHARE
            && row.samples >= TRIVIAL_SAMPLES
            && record::leaf::is_trivial(&row.name)
    };
    notes.extend(rows.iter().take(3).filter(is_trivial).map(|row| {
        format!(
            "{} is a trivial leaf: often it stands for the inlined loop around it; compare two \
             runs, one without it, before optimising it",
            row.name
        )
    }));
    let mut methods = Methods {
        samples: profile.total().weight,
        event: "collapsed stacks".to_owned(),
        rows,
        rest_samples,
        inclusive: samples(&profile.inclusive()).0,
        notes,
        ..Methods::default()
    };
    if !own.is_empty() {
        let mut sites = profile.sites(own);
        let none = sites.rows.remove(NO_OWN_FRAME).unwrap_or_default();
        methods.own_samples = Some(profile.total().weight.saturating_sub(none.weight));
        methods.own = samples(&sites).0;
    }
    methods
}

fn packages(collapsed: &Collapsed, question: &Question) -> Packages {
    let found = shares(&collapsed.profile, question);
    let (rows, _) = samples(&found.table);
    Packages {
        samples: found.table.total.weight,
        mode: found.mode.name().to_owned(),
        depth: found.depth.unwrap_or(collapsed.profile.deepest()),
        truncated_samples: found.truncated,
        rest_rows: found.table.rows.len().saturating_sub(ROWS) as u64,
        rows,
        bands: found
            .bands
            .iter()
            .map(|(band, share, place)| BandRow {
                package: band.package.written().to_owned(),
                low_share: band.from,
                high_share: band.to,
                share: *share,
                verdict: match place {
                    Against::Within => "within",
                    Against::Below => "below",
                    Against::Above => "above",
                }
                .to_owned(),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapsed::Options;

    fn digest(text: &str, own: &[&str]) -> RecordingDigest {
        let collapsed = Collapsed::read(text.as_bytes(), Options::default()).expect("stacks");
        let own: Vec<Pattern> = own.iter().map(|own| Pattern::new(own)).collect();
        of_collapsed(&collapsed, text.len() as u64, &own, &Question::default())
    }

    #[test]
    fn bytes_feed_both_tables_of_allocation() {
        let found = digest("m;own/A.x;byte[]_[i] 700\nm;own/B.y;long[]_[i] 300\n", &["own"]);
        let site = found.panels.allocation_by_site.expect("sites");
        let by_type = found.panels.allocation_by_type.expect("types");
        assert_eq!((site.total_bytes, by_type.total_bytes), (1_000, 1_000));
        assert_eq!((site.rows[0].name.as_str(), by_type.rows[0].name.as_str()), ("own.A.x", "[B"));
        assert!(found.panels.hot_methods.is_none());
        assert!(found.absent.iter().any(|absent| absent.panel == "hot_methods"));
    }

    /// The ledger's W-048: a trivial leaf among the first asks for a probe; a method that works
    /// does not.
    #[test]
    fn a_trivial_leaf_is_noted() {
        let notes = |leaf: &str| {
            let found = digest(&format!("m;{leaf} 700\nm;own/B.y 900\n"), &[]);
            found.panels.hot_methods.expect("methods").notes
        };
        let trivial = notes("java/lang/Enum.ordinal");
        assert!(
            trivial.len() == 2 && trivial[1].starts_with("java.lang.Enum.ordinal is a trivial")
        );
        assert_eq!(notes("own/A.work").len(), 1);
    }

    #[test]
    fn samples_feed_methods_and_packages() {
        let found = digest("m;own/A.x;lib/B.y 7\nm;lib/B.y 2\nm;own/A.x", &["own"]);
        let methods = found.panels.hot_methods.expect("methods");
        assert_eq!((methods.samples, methods.own_samples), (9, Some(7)));
        assert_eq!((methods.own[0].name.as_str(), methods.own[0].samples), ("own.A.x", 7));
        let packages = found.panels.packages.expect("packages");
        assert_eq!((packages.mode.as_str(), packages.depth), ("inclusive", 3));
        assert!(found.quality.truncated, "the last line is cut");
        assert!(found.panels.allocation_by_site.is_none());
    }
}
