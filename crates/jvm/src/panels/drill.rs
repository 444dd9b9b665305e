//! Canned questions: one subject, one or two tables, never a dump of events.

use record::recording::{Drill, DrillRow, DrillTable, RecordingDigest};

use crate::jfr::Recording;

use super::events::Stacked;
use super::totals::{ByStack, Table, Tally, Totals};
use super::{Question, assemble, read};

/// Rows of the first table, and of the others: an answer stays below 100 lines.
const ROWS: usize = 40;
const OTHER_ROWS: usize = 20;
/// Values of the heap that are told.
const FLOOR_ROWS: usize = 60;
/// Names that are offered in place of a pattern that matches nothing.
const OFFERED: usize = 3;

/// What is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Bytes by site and type.
    Allocations,
    /// Running threads by method.
    Cpu,
    /// Waits by site.
    Locks,
    /// The longest pauses of the collector.
    Pauses,
    /// The heap after each collection.
    Floor,
    /// Old objects.
    Survivors,
    /// Samples and parking by thread.
    Threads,
}

impl Subject {
    /// The word of the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Allocations => "allocations",
            Self::Cpu => "cpu",
            Self::Locks => "locks",
            Self::Pauses => "pauses",
            Self::Floor => "floor",
            Self::Survivors => "survivors",
            Self::Threads => "threads",
        }
    }

    /// The panel that must be there.
    fn panel(self) -> &'static str {
        match self {
            Self::Allocations => "allocation_by_site",
            Self::Cpu => "hot_methods",
            Self::Locks => "locks",
            Self::Pauses => "gc_pauses",
            Self::Floor => "heap_after_gc",
            Self::Survivors => "old_objects",
            Self::Threads => "threads",
        }
    }
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DrillError {
    /// The recording could not feed it.
    #[error("{subject}: {reason}")]
    Absent {
        /// The subject.
        subject: &'static str,
        /// As the digest names it.
        reason: String,
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
    /// The subject has no frames.
    #[error("{subject} has no frames to match `{site}` against; leave --site out")]
    NoFrames {
        /// The subject.
        subject: &'static str,
        /// The pattern.
        site: String,
    },
}

/// Answers a question.
///
/// # Errors
/// The recording could not feed the subject; the site that was asked for matches nothing.
pub fn drill(
    recording: &Recording,
    question: &Question,
    subject: Subject,
) -> Result<Drill, DrillError> {
    let totals = read(recording, question);
    let digest = assemble::digest(recording, question, &totals);
    if let Some(absent) = digest.absent.iter().find(|absent| absent.panel == subject.panel()) {
        let reason = absent.reason.clone();
        return Err(DrillError::Absent { subject: subject.word(), reason });
    }
    let answer = Answer { totals: &totals, question, digest: &digest, subject };
    let (unit, total, tables) = match subject {
        Subject::Allocations => answer.allocations()?,
        Subject::Cpu => answer.cpu()?,
        Subject::Locks => answer.locks()?,
        Subject::Pauses => answer.pauses()?,
        Subject::Floor => answer.floor()?,
        Subject::Survivors => answer.survivors()?,
        Subject::Threads => answer.threads()?,
    };
    let notes = match (subject, &digest.panels.hot_methods, &digest.panels.old_objects) {
        (Subject::Cpu | Subject::Threads, Some(panel), _) => panel.notes.clone(),
        (Subject::Survivors, _, Some(panel)) => panel.banner.iter().cloned().collect(),
        _ => Vec::new(),
    };
    Ok(Drill {
        subject: subject.word().to_owned(),
        site: question.asked.clone(),
        unit: unit.to_owned(),
        total,
        tables: tables.into_iter().filter(|table| !table.rows.is_empty()).collect(),
        notes,
        truncated: digest.quality.truncated || digest.quality.recovered,
    })
}

type Tables = Result<(&'static str, u64, Vec<DrillTable>), DrillError>;

struct Answer<'a> {
    totals: &'a Totals,
    question: &'a Question,
    digest: &'a RecordingDigest,
    subject: Subject,
}

impl Answer<'_> {
    fn table(
        &self,
        title: &str,
        table: &Table,
        limit: usize,
        amount: impl Fn(&Tally) -> u64,
    ) -> DrillTable {
        let ranked = self.totals.ranked(table, &amount);
        DrillTable {
            title: title.to_owned(),
            rest_rows: ranked.len().saturating_sub(limit) as u64,
            rows: ranked
                .into_iter()
                .take(limit)
                .map(|(name, tally)| DrillRow {
                    name: name.to_owned(),
                    amount: amount(&tally),
                    count: tally.count,
                })
                .collect(),
        }
    }

    /// Error unless something matched what was asked for.
    fn hit(&self, by: &[&ByStack]) -> Result<bool, DrillError> {
        let Some(site) = &self.question.asked else { return Ok(false) };
        if by.iter().any(|by| by.asked.count > 0) {
            return Ok(true);
        }
        let mut offered = Vec::new();
        for by in by {
            let leaves = self.totals.ranked(&by.leaves, |tally| tally.sum.max(tally.count));
            offered.extend(leaves.iter().take(OFFERED).map(|(name, _)| format!("`{name}`")));
        }
        offered.truncate(OFFERED);
        Err(DrillError::NoHit {
            subject: self.subject.word(),
            site: site.clone(),
            offered: if offered.is_empty() { "there is none".into() } else { offered.join(", ") },
        })
    }

    fn frameless(&self) -> Result<(), DrillError> {
        match &self.question.asked {
            Some(site) => {
                Err(DrillError::NoFrames { subject: self.subject.word(), site: site.clone() })
            }
            None => Ok(()),
        }
    }

    fn allocations(&self) -> Tables {
        let sampled = self.totals.of(Stacked::AllocationSample);
        let buffers = self.totals.of(Stacked::AllocationTlab);
        let by = if sampled.all.count > 0 { sampled } else { buffers };
        let bytes = |tally: &Tally| tally.sum;
        if self.hit(&[by])? {
            let tables = vec![
                self.table("callers", &by.callers, ROWS, bytes),
                self.table("type", &by.asked_others, OTHER_ROWS, bytes),
            ];
            return Ok(("bytes", by.asked.sum, tables));
        }
        let tables = vec![
            self.table("site", &by.sites, ROWS, bytes),
            self.table("type", &by.others, OTHER_ROWS, bytes),
        ];
        Ok(("bytes", by.all.sum, tables))
    }

    fn cpu(&self) -> Tables {
        let by = self.totals.of(Stacked::Execution);
        let samples = |tally: &Tally| tally.count;
        if self.hit(&[by])? {
            let tables = vec![
                self.table("callers", &by.callers, ROWS, samples),
                self.table("thread", &by.asked_others, OTHER_ROWS, samples),
            ];
            return Ok(("samples", by.asked.count, tables));
        }
        let tables = vec![
            self.table("leaf method", &by.leaves, ROWS, samples),
            self.table("anywhere in the stack", &by.inclusive, OTHER_ROWS, samples),
        ];
        Ok(("samples", by.all.count, tables))
    }

    fn locks(&self) -> Tables {
        let kinds = [
            ("monitor entered", Stacked::MonitorEnter),
            ("monitor waited on", Stacked::MonitorWait),
            ("parked", Stacked::Park),
            ("pinned", Stacked::Pinned),
        ];
        let by = kinds.map(|(_, kind)| self.totals.of(kind));
        let ns = |tally: &Tally| tally.sum;
        let hit = self.hit(&by)?;
        let mut total = 0;
        let mut tables = Vec::new();
        for ((word, _), by) in kinds.iter().zip(by) {
            let table = if hit { &by.callers } else { &by.sites };
            total += if hit { by.asked.sum } else { by.all.sum };
            tables.push(self.table(&format!("{word} at"), table, OTHER_ROWS, ns));
        }
        Ok(("ns", total, tables))
    }

    fn pauses(&self) -> Tables {
        self.frameless()?;
        let mut longest: Vec<_> = self.totals.pauses.iter().collect();
        longest.sort_by_key(|(at_ns, duration_ns, _)| (std::cmp::Reverse(*duration_ns), *at_ns));
        let start_ns = self.digest.source.start_ns.unwrap_or(0);
        let rows = longest.iter().take(ROWS).map(|(at_ns, duration_ns, kind)| DrillRow {
            name: format!("{kind} at +{:.3} s", at_ns.saturating_sub(start_ns) as f64 / 1e9),
            amount: *duration_ns,
            count: 1,
        });
        let table = DrillTable {
            title: "longest pauses".to_owned(),
            rest_rows: longest.len().saturating_sub(ROWS) as u64,
            rows: rows.collect(),
        };
        let panel = self.digest.panels.gc_pauses.as_ref();
        let kinds = DrillTable {
            title: "kind".to_owned(),
            rows: panel.map_or_else(Vec::new, |panel| {
                let rows = panel.by_kind.iter();
                rows.map(|row| DrillRow {
                    name: row.name.clone(),
                    amount: row.sum_ns,
                    count: row.count,
                })
                .collect()
            }),
            rest_rows: 0,
        };
        Ok(("ns", panel.map_or(0, |panel| panel.sum_ns), vec![table, kinds]))
    }

    /// The lowest value of each stretch of the series.
    fn floor(&self) -> Tables {
        self.frameless()?;
        let Some(panel) = &self.digest.panels.heap_after_gc else {
            return Ok(("bytes", 0, vec![]));
        };
        let start_ns = self.digest.source.start_ns.unwrap_or(0);
        let each = panel.rows.len().div_ceil(FLOOR_ROWS).max(1);
        let rows = panel.rows.chunks(each).map(|stretch| DrillRow {
            name: format!(
                "from +{:.3} s{}",
                stretch[0].at_ns.saturating_sub(start_ns) as f64 / 1e9,
                if stretch.iter().any(|row| row.old) { ", old space too" } else { "" }
            ),
            amount: stretch.iter().map(|row| row.used_bytes).min().unwrap_or(0),
            count: stretch.len() as u64,
        });
        let title = format!("heap after collection: {}, {}", panel.shape, panel.reason);
        let table = DrillTable { title, rows: rows.collect(), rest_rows: 0 };
        Ok(("bytes", panel.last_bytes, vec![table]))
    }

    fn survivors(&self) -> Tables {
        let objects = |tally: &Tally| tally.count;
        let totals = self.totals;
        let mut tables = vec![
            self.table("chain to the root", &totals.old_chains, OTHER_ROWS, objects),
            self.table("allocated at", &totals.old_sites, OTHER_ROWS, objects),
            self.table("class", &totals.old_classes, OTHER_ROWS, objects),
        ];
        if let Some(site) = &self.question.asked {
            for table in &mut tables {
                table.rows.retain(|row| row.name.contains(site.as_str()));
                table.rest_rows = 0;
            }
            if tables.iter().all(|table| table.rows.is_empty()) {
                let offered = totals.ranked(&totals.old_sites, objects);
                let offered: Vec<String> =
                    offered.iter().take(OFFERED).map(|(name, _)| format!("`{name}`")).collect();
                return Err(DrillError::NoHit {
                    subject: self.subject.word(),
                    site: site.clone(),
                    offered: offered.join(", "),
                });
            }
        }
        Ok(("objects", totals.old_objects, tables))
    }

    fn threads(&self) -> Tables {
        let by = self.totals.of(Stacked::Execution);
        let park = self.totals.of(Stacked::Park);
        let samples = |tally: &Tally| tally.count;
        let hit = self.hit(&[by, park])?;
        let (running, parked, total) = match hit {
            true => (&by.asked_others, &park.asked_others, by.asked.count),
            false => (&by.others, &park.others, by.all.count),
        };
        let tables = vec![
            self.table("thread", running, ROWS, samples),
            self.table("parked on", parked, OTHER_ROWS, samples),
        ];
        Ok(("samples", total, tables))
    }
}
