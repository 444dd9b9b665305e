//! Texts as digests: the panels that a GC log, a class histogram or a thread dump can feed, and why
//! it cannot feed the others.
//!
//! Traps that others fell into with these texts, and where each is tested:
//!
//! | trap | test |
//! |---|---|
//! | 24: numbers of hidden classes differ per run | `class_histogram::tests::classes_that_the_jvm_made_up_are_compared_without_their_numbers` |
//! | 29: command lines and hosts in a page | `tests/texts.rs`: `no_command_line_and_no_host_is_told` |
//! | 41: decorations in any order, dates without uptime, rotated files | `gc_log::tests::collector_version_and_clock_are_told_from_each_log`, `dates_alone_give_times` |
//! | 42: histograms inside a log, safepoint lines | `gc_log::tests::a_class_histogram_inside_a_log_is_passed_over_and_counted` |
//! | 43: ZGC's sizes without a total | `gc_log::tests::sizes_of_zgc` |
//!
//! Those of stacks (24, 28, 44) are in the crate `profile`.

use std::collections::BTreeMap;

use record::Format;
use record::recording::{
    Absent, ClassRow, Classes, Contended, CountRow, HeapAfterGc, HeapRow, Panels, Quality,
    RecordingDigest, Run, Safepoints, Source, TimedRow,
};
use record::thread_name::without_addresses;

use crate::class_histogram::ClassHistogram;
use crate::gc_log::{Clock, Collector, GcLog, Named};
use crate::panels::{classify, gc_pauses};
use crate::thread_dump::{Deadlock, State, ThreadDump};

/// Rows of a table.
const ROWS: usize = 25;

/// Panels that no GC log feeds.
const NEVER: [&str; 10] = [
    "allocation_by_site",
    "allocation_by_type",
    "hot_methods",
    "packages",
    "threads",
    "locks",
    "exceptions",
    "io",
    "warm_up",
    "old_objects",
];

/// The digest of a GC log of so many bytes.
#[must_use]
pub fn of_gc_log(log: &GcLog, bytes: u64) -> RecordingDigest {
    let mut absent: Vec<Absent> = NEVER
        .iter()
        .map(|panel| absent(panel, "a GC log says nothing of it; a flight recording does"))
        .collect();
    let collector = log.collector.map_or("unknown", Collector::name);
    let span_ns = log.span_ns.unwrap_or(0);
    let mut panels = Panels { run: Some(run(log, span_ns)), ..Panels::default() };
    if log.pauses.is_empty() {
        let reason = match log.collector {
            Some(Collector::Z | Collector::GenerationalZ) => {
                "ZGC logs its pauses with -Xlog:gc* only; at safepoints they are counted too"
            }
            _ => "the log has no pause",
        };
        absent.push(self::absent("gc_pauses", reason));
    } else {
        let pauses: Vec<(u64, u64, String)> = log
            .pauses
            .iter()
            .map(|pause| {
                let kind = &log.pause_kinds[usize::from(pause.kind)].name;
                (pause.at_ns.unwrap_or(0), pause.duration_ns, kind.clone())
            })
            .collect();
        let from = pauses.first().map_or(0, |first| first.0);
        let mut panel =
            gc_pauses(&pauses, (0, span_ns.max(from)), log.heap.len() as u64, BTreeMap::new());
        // Rows beyond the bound are in the log's own sums.
        (panel.count, panel.sum_ns, panel.max_ns) = log.pauses_in_all();
        if log.clock == Clock::None {
            panel.trend = "the log has no times".to_owned();
        }
        panels.gc_pauses = Some(panel);
    }
    if log.heap.is_empty() {
        absent.push(self::absent("heap_after_gc", "no line says what a collection left"));
    } else {
        panels.heap_after_gc = Some(heap(log, collector));
    }
    if log.safepoints.is_empty() {
        absent.push(self::absent("safepoints", "not logged: -Xlog:safepoint adds them"));
    } else {
        panels.safepoints = Some(Safepoints {
            count: log.safepoints.iter().map(|one| one.count).sum(),
            to_safepoint_ns: log.reaching_safepoint_ns,
            to_safepoint_max_ns: log.reaching_safepoint_max_ns,
            operations: rows(&log.safepoints),
        });
    }
    RecordingDigest {
        format: Format::v1("assay.recording"),
        source: Source {
            kind: "gc_log".to_owned(),
            bytes,
            jdk: log.jdk.clone(),
            span_ns,
            start_ns: match log.clock {
                Clock::FirstDate(epoch_ns) => Some(epoch_ns),
                Clock::None | Clock::Uptime => None,
            },
            ..Source::default()
        },
        quality: Quality {
            truncated: log.quality.unfinished || log.quality.broken_events > 0,
            unknown_lines: log.quality.passed_over,
            faults: faults(log),
            ..Quality::default()
        },
        panels,
        absent,
    }
}

/// The panels of a recording in time, which a histogram and a dump of one instant do not have.
const IN_TIME: [&str; 3] = ["heap_after_gc", "gc_pauses", "safepoints"];

/// The digest of a class histogram of so many bytes.
#[must_use]
pub fn of_class_histogram(histogram: &ClassHistogram, bytes: u64) -> RecordingDigest {
    let mut rows: Vec<ClassRow> = histogram
        .rows
        .iter()
        .map(|row| ClassRow {
            name: row.class.clone(),
            module: row.module.clone(),
            instances: row.amount.instances,
            bytes: row.amount.bytes,
        })
        .collect();
    rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    let rest = rows.split_off(ROWS.min(rows.len()));
    let classes = Classes {
        instances: histogram.total.instances,
        total_bytes: histogram.total.bytes,
        rest_rows: rest.len() as u64 + histogram.quality.dropped_rows,
        rest_bytes: rest.iter().map(|row| row.bytes).sum(),
        rows,
    };
    let quality = Quality {
        truncated: histogram.is_partial(),
        unknown_lines: histogram.quality.strange_lines,
        faults: histogram.remarks(),
        ..Quality::default()
    };
    let panels = Panels { classes: Some(classes), ..Panels::default() };
    of_an_instant("class_histogram", "a class histogram", bytes, quality, panels)
}

/// The digest of a thread dump of so many bytes.
#[must_use]
pub fn of_thread_dump(dump: &ThreadDump, bytes: u64) -> RecordingDigest {
    let states = [
        State::New,
        State::Runnable,
        State::Blocked,
        State::Waiting,
        State::TimedWaiting,
        State::Terminated,
    ];
    let mut tops = BTreeMap::<&str, u64>::new();
    for frame in dump.threads.iter().filter_map(|thread| thread.stack.first()) {
        *tops.entry(dump.frame(*frame)).or_default() += 1;
    }
    let row = |(name, count): (&str, u64)| CountRow { name: name.to_owned(), count };
    let mut tops: Vec<CountRow> = tops.into_iter().map(row).collect();
    tops.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    let rest_rows = tops.len().saturating_sub(ROWS) as u64;
    tops.truncate(ROWS);
    let name = |index: usize| dump.threads.get(index).map(|thread| without_addresses(&thread.name));
    let contended = dump.contentions().into_iter().take(ROWS).map(|lock| Contended {
        class: lock.class,
        owner: lock.owner.and_then(name),
        waiters: lock.waiters.len() as u64,
    });
    let panel = record::recording::ThreadDump {
        threads: dump.threads.len() as u64,
        virtual_threads: dump.threads.iter().filter(|thread| thread.is_virtual).count() as u64,
        states: states
            .iter()
            .map(|state| row((state.name(), dump.count(*state) as u64)))
            .filter(|row| row.count > 0)
            .collect(),
        tops,
        rest_rows,
        contended: contended.collect(),
        deadlocks: dump.deadlocks.iter().take(ROWS).map(circle).collect(),
    };
    let mut faults = Vec::new();
    if dump.quality.unfinished {
        faults.push("the dump ends in the middle of a line, a name or a section".to_owned());
    }
    if dump.quality.more_follows {
        faults.push("a second dump follows in the file and was not read".to_owned());
    }
    if dump.quality.dropped > 0 {
        faults.push(format!("{} threads or frames are beyond the bounds", dump.quality.dropped));
    }
    let quality = Quality {
        truncated: dump.quality.unfinished,
        unknown_lines: dump.quality.passed_over,
        faults,
        ..Quality::default()
    };
    let panels = Panels { thread_dump: Some(panel), ..Panels::default() };
    let mut digest = of_an_instant("thread_dump", "a thread dump", bytes, quality, panels);
    digest.source.jdk.clone_from(&dump.jvm);
    digest
}

/// `a waits for B held by b; b waits for ...`.
fn circle(deadlock: &Deadlock) -> String {
    let links = deadlock.threads.iter().map(|thread| {
        let (name, holder) = (&thread.name, &thread.held_by);
        let (name, holder) = (without_addresses(name), without_addresses(holder));
        format!("`{name}` waits for {} held by `{holder}`", thread.waits_for)
    });
    links.collect::<Vec<_>>().join("; ")
}

fn of_an_instant(
    kind: &str,
    what: &str,
    bytes: u64,
    quality: Quality,
    panels: Panels,
) -> RecordingDigest {
    let reason = format!("{what} is of one instant; a flight recording has it");
    RecordingDigest {
        format: Format::v1("assay.recording"),
        source: Source { kind: kind.to_owned(), bytes, ..Source::default() },
        quality,
        panels,
        absent: NEVER.iter().chain(&IN_TIME).map(|panel| absent(panel, &reason)).collect(),
    }
}

fn absent(panel: &str, reason: &str) -> Absent {
    Absent { panel: panel.to_owned(), reason: reason.to_owned() }
}

fn run(log: &GcLog, span_ns: u64) -> Run {
    let truncated = log.quality.unfinished || log.quality.broken_events > 0;
    Run {
        outcome: if truncated { "truncated" } else { "complete" }.to_owned(),
        jdk: log.jdk.clone(),
        collector: log.collector.map(|collector| collector.name().to_owned()),
        recorded_ns: span_ns,
        ..Run::default()
    }
}

fn heap(log: &GcLog, collector: &str) -> HeapAfterGc {
    let rows: Vec<HeapRow> = log
        .heap
        .iter()
        .map(|change| HeapRow {
            at_ns: change.at_ns.unwrap_or(0),
            used_bytes: change.after_bytes,
            gc_id: change.gc,
            old: change.old,
        })
        .collect();
    let (shape, reason) = classify(&rows);
    let used = rows.iter().map(|row| row.used_bytes);
    HeapAfterGc {
        collector: collector.to_owned(),
        shape: shape.word().to_owned(),
        reason,
        min_bytes: used.clone().min().unwrap_or(0),
        max_bytes: used.clone().max().unwrap_or(0),
        last_bytes: used.clone().next_back().unwrap_or(0),
        old_collections: log.old_collections,
        rows,
    }
}

fn rows(named: &[Named]) -> Vec<TimedRow> {
    let mut rows: Vec<TimedRow> = named
        .iter()
        .map(|one| TimedRow {
            name: one.name.clone(),
            count: one.count,
            sum_ns: one.sum_ns,
            max_ns: one.max_ns,
            bytes: None,
        })
        .collect();
    rows.sort_by(|a, b| b.sum_ns.cmp(&a.sum_ns).then_with(|| a.name.cmp(&b.name)));
    rows
}

/// What went wrong, in the log or in the file.
fn faults(log: &GcLog) -> Vec<String> {
    let mut faults = Vec::new();
    let mut count = |count: u64, what: &str| {
        if count > 0 {
            faults.push(format!("{count} {what}"));
        }
    };
    count(log.evacuation_failures, "collections could not evacuate or promote");
    count(log.degenerated, "concurrent collections gave up for a pause");
    count(log.allocation_stalls, "allocations had to wait for the collector");
    count(log.quality.cut_lines, "lines are longer than 64 KiB and were cut");
    count(log.quality.broken_events, "events never end");
    count(log.quality.dropped_rows, "rows are beyond the bound, in the sums only");
    if log.quality.unfinished {
        faults.push("the file ends in the middle of a line".to_owned());
    }
    faults
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn digest(name: &str) -> RecordingDigest {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/jvm").join(name);
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        of_gc_log(&GcLog::read(&bytes[..]).expect("a log"), bytes.len() as u64)
    }

    #[test]
    fn a_log_feeds_pauses_heap_and_safepoints_and_names_the_rest_absent() {
        let found = digest("tomcat/tomcat.gc.log");
        let pauses = found.panels.gc_pauses.as_ref().expect("pauses");
        assert_eq!((pauses.count, pauses.sum_ns, pauses.max_ns), (211, 1_061_644_000, 80_974_000));
        assert_eq!(pauses.by_kind.iter().map(|kind| kind.count).sum::<u64>(), 211);
        assert_eq!(pauses.histogram.iter().map(|bin| bin.count).sum::<u64>(), 211);
        let heap = found.panels.heap_after_gc.as_ref().expect("heap");
        assert_eq!((heap.rows.len(), heap.last_bytes), (211, 66_060_288));
        assert_eq!(heap.collector, "G1");
        assert!(found.panels.safepoints.as_ref().is_some_and(|points| points.count > 211));
        let names: Vec<&str> = found.absent.iter().map(|absent| absent.panel.as_str()).collect();
        assert!(names.contains(&"hot_methods") && !names.contains(&"gc_pauses"));
        assert!(!found.quality.truncated);
    }

    /// The ledger's K-163: what was not logged is absent, never empty.
    #[test]
    fn pauses_that_a_log_cannot_have_are_absent_with_the_reason() {
        let found = digest("texts/zgc-25.gc.log");
        assert!(found.panels.gc_pauses.is_none());
        let reason = found.absent.iter().find(|absent| absent.panel == "gc_pauses").expect("named");
        assert!(reason.reason.contains("-Xlog:gc*"));
        assert!(found.panels.safepoints.is_some());
        assert_eq!(found.panels.heap_after_gc.as_ref().map(|heap| heap.rows.len()), Some(15));
    }

    fn file(name: &str) -> Vec<u8> {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/jvm").join(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    #[test]
    fn a_histogram_has_its_classes_and_a_remainder_that_sums() {
        let bytes = file("heap/heap-live.histogram-after.txt");
        let histogram = ClassHistogram::read(&bytes[..]).expect("a histogram");
        let digest = of_class_histogram(&histogram, bytes.len() as u64);
        let classes = digest.panels.classes.as_ref().expect("classes");
        let listed: u64 = classes.rows.iter().map(|row| row.bytes).sum();
        assert_eq!(listed + classes.rest_bytes, classes.total_bytes);
        assert_eq!((classes.rows.len(), classes.rows[0].name.as_str()), (25, "[B"));
        assert!(!digest.quality.truncated && digest.absent.len() == 13);
        let cut = ClassHistogram::read(&bytes[..bytes.len() / 2]).expect("a part");
        assert!(of_class_histogram(&cut, 0).quality.truncated);
    }

    #[test]
    fn a_dump_names_deadlocks_and_who_stands_in_the_way() {
        let bytes = file("texts/thread-print-21.txt");
        let dump = ThreadDump::read(&bytes[..]).expect("a dump");
        let panel = of_thread_dump(&dump, 0).panels.thread_dump.expect("threads");
        assert_eq!((panel.threads, panel.virtual_threads), (28, 0));
        assert_eq!(
            panel.deadlocks[0],
            "`worker \"left\" of 2` waits for java.lang.StringBuilder held by `worker \"right\" #2 \
             prio=9`; `worker \"right\" #2 prio=9` waits for java.lang.Object held by `worker \
             \"left\" of 2`"
        );
        let states: u64 = panel.states.iter().map(|row| row.count).sum();
        assert_eq!(states, 9 + 3 + 5 + 3);
        assert!(panel.contended.iter().any(|lock| lock.owner.as_deref() == Some("lock two")));
    }

    /// The ledger's K-149 on logs: the serial lab churns and leaks, its floor rises without a
    /// collection of old space, which decides nothing.
    #[test]
    fn shapes_of_logs() {
        let shape = |name: &str| digest(name).panels.heap_after_gc.expect("heap").shape;
        assert_eq!(shape("gc/lab-serial.gc.log"), "undecidable");
    }
}
