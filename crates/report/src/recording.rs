//! `assay digest`: a recording on one page.
//!
//! Every section stands in every page, in one order, and says so when the recording could not
//! feed it: two pages of like runs differ line by line only where values differ.

use record::recording::{
    Allocation, Classes, CountRow, GcPauses, HeapAfterGc, Methods, Panels, RecordingDigest, Run,
    SamplesRow, ThreadDump, TimedRow,
};

use crate::text::{self, NONE, UNKNOWN, bytes, cell, count, cut, duration, number, share};

/// Longest name in a table; names of lambdas and generics have no bound.
const NAME_CHARS: usize = 110;
/// Most lines of the plot of the heap.
const PLOT_LINES: usize = 30;
/// Width of the plot's bars.
const PLOT_CHARS: u64 = 40;
/// Most faults that are told one by one.
const FAULTS: usize = 10;
/// Rows of the lesser tables.
const LESSER_ROWS: usize = 10;

/// Renders the digest of a recording as Markdown, under 500 lines.
#[must_use]
pub fn recording_md(name: &str, digest: &RecordingDigest) -> String {
    let mut page = Page { text: String::new(), digest };
    page.line(&format!("# Recording {}", cell(name)));
    page.blank();
    page.quality();
    let panels = &digest.panels;
    page.run(panels);
    page.panel("Allocation by site", "allocation_by_site", &panels.allocation_by_site, allocation);
    page.panel("Allocation by type", "allocation_by_type", &panels.allocation_by_type, allocation);
    page.panel("Hot methods", "hot_methods", &panels.hot_methods, methods);
    if let Some(panel) = &panels.cpu_time_methods {
        page.section("Hot methods by CPU time");
        methods(&mut page, panel);
    }
    page.panel("CPU by package", "packages", &panels.packages, |page, panel| {
        let what = match panel.mode.as_str() {
            "exclusive" => "the leaf's package alone".to_owned(),
            _ => format!(
                "each package once per sample within {} frames of the leaf, so shares sum to \
                 more than 100 %",
                panel.depth
            ),
        };
        page.line(&format!(
            "{} samples, {}: {what}. {} stacks were cut by the recording.",
            count(panel.samples),
            panel.mode,
            count(panel.truncated_samples)
        ));
        page.blank();
        samples(page, "package", &panel.rows);
        page.more(panel.rest_rows, "packages");
        for band in &panel.bands {
            page.line(&format!(
                "- {}: {}, {} the expected {} to {}",
                cell(&band.package),
                share(band.share),
                band.verdict,
                share(band.low_share),
                share(band.high_share)
            ));
        }
    });
    page.panel("CPU by thread", "threads", &panels.threads, |page, panel| {
        samples(page, "thread", panel.rows.get(..LESSER_ROWS).unwrap_or(&panel.rows));
        let hidden = panel.rows.len().saturating_sub(LESSER_ROWS) as u64;
        page.more(panel.rest_rows + hidden, "threads");
    });
    page.panel("Heap after collection", "heap_after_gc", &panels.heap_after_gc, heap);
    page.panel("GC pauses", "gc_pauses", &panels.gc_pauses, pauses);
    page.panel("Safepoints", "safepoints", &panels.safepoints, |page, panel| {
        page.line(&format!(
            "{} safepoints; {} until all threads stood still, at most {} at once.",
            count(panel.count),
            duration(Some(panel.to_safepoint_ns)),
            duration(Some(panel.to_safepoint_max_ns))
        ));
        page.blank();
        timed(page, "operation", &panel.operations);
    });
    page.panel("Locks and parking", "locks", &panels.locks, |page, panel| {
        page.line("Only waits longer than the recorded threshold are counted; idle pools park.");
        page.blank();
        timed(page, "monitor entered", &panel.monitor_enter);
        timed(page, "entered at", &panel.monitor_enter_sites);
        timed(page, "monitor waited on", &panel.monitor_wait);
        timed(page, "parked on", &panel.parking);
        timed(page, "pinned at", &panel.pinned);
    });
    page.panel("Exceptions", "exceptions", &panels.exceptions, |page, panel| {
        page.line(&format!(
            "{} thrown by the JVM's own counter; those recorded one by one:",
            panel.thrown.map_or_else(|| UNKNOWN.to_owned(), count)
        ));
        page.blank();
        counted(page, "class", &panel.rows);
        page.more(panel.rest, "events");
    });
    page.panel("File and socket I/O", "io", &panels.io, |page, panel| {
        page.line("Only operations longer than the recorded threshold are counted.");
        page.blank();
        timed(page, "operation", &panel.rows);
        timed(page, "site", &panel.sites);
    });
    page.panel("Compilation and class loading", "warm_up", &panels.warm_up, |page, panel| {
        page.line(&format!(
            "- compilation: {}, {} of the CPU time of the process, {} methods",
            duration(panel.compilation_ns),
            panel.compilation_share.map_or_else(|| UNKNOWN.to_owned(), share),
            panel.compilations.map_or_else(|| UNKNOWN.to_owned(), count)
        ));
        page.line(&format!(
            "- classes loaded: {}",
            panel.classes_loaded.map_or_else(|| UNKNOWN.to_owned(), count)
        ));
        page.line(&format!(
            "- execution samples in class loading, linking or a compiler: {}, {} of all",
            count(panel.samples),
            share(panel.sample_share)
        ));
        if let Some(warning) = &panel.warning {
            page.line(&format!("- **warm-up dominates**: {warning}"));
        }
    });
    page.panel("Old objects", "old_objects", &panels.old_objects, |page, panel| {
        if let Some(banner) = &panel.banner {
            page.line(&format!("> {banner}."));
            page.blank();
        }
        page.line(&format!(
            "{} samples, {} with a path to a root.",
            count(panel.samples),
            count(panel.with_root)
        ));
        page.blank();
        counted(page, "class", &panel.by_class);
        counted(page, "allocated at", &panel.by_site);
        for row in &panel.chains {
            page.line(&format!("- {} x {}", count(row.count), cell(&cut(&row.name, 600))));
        }
    });
    if let Some(panel) = &panels.classes {
        page.section("Classes on the heap");
        classes(&mut page, panel);
    }
    if let Some(panel) = &panels.thread_dump {
        page.section("Threads of the dump");
        thread_dump(&mut page, panel);
    }
    page.text
}

fn classes(page: &mut Page<'_>, panel: &Classes) {
    page.line(&format!(
        "{} instances, {}. What is on the heap, not who holds it.",
        count(panel.instances),
        bytes(Some(panel.total_bytes))
    ));
    page.blank();
    let rows = panel.rows.iter().map(|row| {
        let module = row.module.as_ref().map_or_else(String::new, |module| format!(" ({module})"));
        let share = share(row.bytes as f64 / panel.total_bytes.max(1) as f64);
        let name = cell(&cut(&format!("{}{module}", row.name), NAME_CHARS));
        vec![name, bytes(Some(row.bytes)), share, count(row.instances)]
    });
    page.table(&["class", "bytes", "of all", "instances"], rows.collect::<Vec<_>>());
    if panel.rest_rows > 0 {
        page.line(&format!(
            "and {} more classes with {}.",
            count(panel.rest_rows),
            bytes(Some(panel.rest_bytes))
        ));
    }
}

fn thread_dump(page: &mut Page<'_>, panel: &ThreadDump) {
    page.line(&format!(
        "{} threads, {} of them virtual.",
        count(panel.threads),
        count(panel.virtual_threads)
    ));
    page.blank();
    counted(page, "state", &panel.states);
    for deadlock in &panel.deadlocks {
        page.line(&format!("- **deadlock**: {}", cell(deadlock)));
    }
    page.blank();
    let rows = panel.contended.iter().map(|lock| {
        let owner = lock.owner.as_deref().map_or_else(|| UNKNOWN.to_owned(), cell);
        vec![cell(&lock.class), owner, count(lock.waiters)]
    });
    page.table(&["lock", "held by", "waiting"], rows.collect::<Vec<_>>());
    counted(page, "frame on top", &panel.tops);
    page.more(panel.rest_rows, "frames");
}

/// Lines of Markdown.
struct Page<'d> {
    text: String,
    digest: &'d RecordingDigest,
}

impl Page<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// One blank line, never two.
    fn blank(&mut self) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn section(&mut self, title: &str) {
        self.blank();
        self.line(&format!("## {title}"));
        self.blank();
    }

    fn panel<T>(
        &mut self,
        title: &str,
        field: &str,
        panel: &Option<T>,
        render: impl FnOnce(&mut Self, &T),
    ) {
        self.section(title);
        match panel {
            Some(panel) => render(self, panel),
            None => {
                let reason = self.digest.absent.iter().find(|absent| absent.panel == field);
                let reason = reason.map_or("not recorded", |absent| absent.reason.as_str());
                self.line(&format!("{reason}."));
            }
        }
    }

    fn table(&mut self, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return;
        }
        self.line(&format!("| {} |", head.join(" | ")));
        let rule: Vec<&str> =
            head.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "--:" }).collect();
        self.line(&format!("|{}|", rule.join("|")));
        for row in rows {
            self.line(&format!("| {} |", row.join(" | ")));
        }
        self.blank();
    }

    fn more(&mut self, rows: u64, what: &str) {
        if rows > 0 {
            self.line(&format!("and {} more {what}.", count(rows)));
        }
    }

    fn quality(&mut self) {
        let quality = &self.digest.quality;
        let source = &self.digest.source;
        self.line(&format!(
            "{}, {} of {}, {} chunks, {} recorded{}.",
            if quality.truncated { "**partial**" } else { "whole" },
            source.kind,
            bytes(Some(source.bytes)),
            count(source.chunks),
            duration(Some(source.span_ns)),
            match (source.window_ns, source.start_ns) {
                (Some([from, to]), start) => {
                    let start = start.unwrap_or(0);
                    format!(
                        ", of which from {} to {} after its start was looked at",
                        duration(Some(from.saturating_sub(start))),
                        duration(Some(to.saturating_sub(start)))
                    )
                }
                _ => String::new(),
            }
        ));
        if quality.recovered {
            self.line(
                "**Recovered**: the JVM did not close this recording; events after its last \
                 flush are lost.",
            );
        }
        let mut parts = vec![
            format!("unresolved ids {}", count(quality.unresolved_ids)),
            format!("undecodable events {}", count(quality.skipped_events)),
            format!("lost by the recorder {}", bytes(Some(quality.lost_bytes))),
        ];
        if quality.lost_samples > 0 {
            parts.push(format!("CPU-time samples lost {}", count(quality.lost_samples)));
        }
        if quality.unknown_lines > 0 {
            parts.push(format!("lines not understood {}", count(quality.unknown_lines)));
        }
        self.blank();
        self.line(&format!("Data quality: {}.", parts.join(", ")));
        if quality.first_sample_heavy {
            let line = format!(
                "Heavy first samples: {} threads began with {} that may have been allocated \
                 before the recording; without them every other share is higher.",
                count(quality.first_sample_threads),
                bytes(Some(quality.first_sample_bytes))
            );
            self.line(&line);
        }
        self.blank();
        for fault in quality.faults.iter().take(FAULTS) {
            self.line(&format!("- {}", cell(fault)));
        }
        self.more(quality.faults.len().saturating_sub(FAULTS) as u64, "faults");
    }

    fn run(&mut self, panels: &Panels) {
        self.section("Run");
        let Some(run) = &panels.run else {
            self.line("not recorded.");
            return;
        };
        let Run { jvm, jdk, collector, .. } = run;
        let or_unknown = |text: &Option<String>| text.as_deref().map_or(UNKNOWN.to_owned(), cell);
        self.line(&format!("- outcome: {}", run.outcome));
        self.line(&format!(
            "- ended: {}",
            run.ended.as_deref().map_or("unknown, no run directory says so".to_owned(), cell)
        ));
        self.line(&format!(
            "- build: {}",
            run.build.as_deref().map_or("absent, no run directory names it".to_owned(), cell)
        ));
        self.line(&format!("- JVM: {}, JDK {}", or_unknown(jvm), or_unknown(jdk)));
        self.line(&format!("- collector: {}", or_unknown(collector)));
        if let Some(note) = &run.collector_note {
            self.line(&format!("- note: {note}"));
        }
        self.line(&format!(
            "- heap: at most {}, {} at the start, references {}",
            bytes(run.heap_max_bytes),
            bytes(run.heap_initial_bytes),
            match run.compressed_references {
                Some(true) => "compressed",
                Some(false) => "not compressed",
                None => UNKNOWN,
            }
        ));
        self.line(&format!(
            "- processors: {}",
            run.processors.map_or_else(|| UNKNOWN.to_owned(), count)
        ));
        self.line(&format!(
            "- recorded {} of a run of {}",
            duration(Some(run.recorded_ns)),
            duration(run.run_ns)
        ));
        let flags: Vec<String> =
            run.flags.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.line(&format!(
            "- heap and collector flags: {}",
            if flags.is_empty() { "not recorded".to_owned() } else { cell(&flags.join(", ")) }
        ));
    }
}

/// A name for a cell: native frames have no class, so theirs begin with a dot.
fn named(name: &str) -> String {
    let name = name.strip_prefix('.').unwrap_or(name);
    cell(&cut(name.strip_suffix(":-1").unwrap_or(name), NAME_CHARS))
}

fn allocation(page: &mut Page<'_>, panel: &Allocation) {
    page.line(&format!(
        "{} in {} samples. Counted: {}.",
        bytes(Some(panel.total_bytes)),
        count(panel.samples),
        panel.rule
    ));
    page.blank();
    for note in &panel.notes {
        page.line(&format!("- {}", cell(note)));
    }
    page.blank();
    if let Some(reason) = &panel.suppressed {
        page.line(&format!("**Total only**: {}.", cell(reason)));
        return;
    }
    let mut rows: Vec<Vec<String>> = panel
        .rows
        .iter()
        .map(|row| {
            vec![named(&row.name), bytes(Some(row.bytes)), share(row.share), count(row.samples)]
        })
        .collect();
    if panel.rest_rows > 0 {
        rows.push(vec![
            format!(
                "{} more below the cut-off of {}",
                count(panel.rest_rows),
                share(panel.cut_off_share)
            ),
            bytes(Some(panel.rest_bytes)),
            share(panel.rest_bytes as f64 / (panel.total_bytes.max(1)) as f64),
            NONE.to_owned(),
        ]);
    }
    page.table(&["name", "bytes", "share of bytes", "samples"], rows);
}

fn methods(page: &mut Page<'_>, panel: &Methods) {
    let expected = match panel.expected_samples {
        Some(expected) => format!("about {} expected by CPU time", count(expected)),
        None => "expected number unknown".to_owned(),
    };
    page.line(&format!(
        "{} samples of {}, {expected}; period {}; {} stacks cut, {} missing, {} of virtual threads.",
        count(panel.samples),
        panel.event,
        duration(panel.period_ns),
        count(panel.truncated_samples),
        count(panel.without_stack_samples),
        count(panel.virtual_samples)
    ));
    page.blank();
    for note in &panel.notes {
        page.line(&format!("- {}", cell(note)));
    }
    page.blank();
    samples(page, "leaf method", &panel.rows);
    if panel.rest_samples > 0 {
        page.line(&format!("and {} samples below.", count(panel.rest_samples)));
        page.blank();
    }
    let inclusive = panel.inclusive.get(..LESSER_ROWS).unwrap_or(&panel.inclusive);
    samples(page, "anywhere in the stack, once per sample", inclusive);
    if let Some(own) = panel.own_samples {
        page.line(&format!(
            "Own code: a frame of it in {} samples, {} of all.",
            count(own),
            share(own as f64 / panel.samples.max(1) as f64)
        ));
        page.blank();
        samples(page, "deepest own method", &panel.own);
    }
}

fn samples(page: &mut Page<'_>, what: &str, rows: &[SamplesRow]) {
    let rows = rows.iter().map(|row| vec![named(&row.name), count(row.samples), share(row.share)]);
    page.table(&[what, "samples", "share of samples"], rows);
}

fn timed(page: &mut Page<'_>, what: &str, rows: &[TimedRow]) {
    let with_bytes = rows.iter().any(|row| row.bytes.is_some());
    let mut head = vec![what, "count", "sum", "longest"];
    if with_bytes {
        head.push("bytes");
    }
    let rows = rows.iter().map(|row| {
        let mut cells = vec![
            named(&row.name),
            count(row.count),
            duration(Some(row.sum_ns)),
            duration(Some(row.max_ns)),
        ];
        if with_bytes {
            cells.push(bytes(row.bytes));
        }
        cells
    });
    page.table(&head, rows);
}

fn counted(page: &mut Page<'_>, what: &str, rows: &[CountRow]) {
    page.table(&[what, "count"], rows.iter().map(|row| vec![named(&row.name), count(row.count)]));
}

fn heap(page: &mut Page<'_>, panel: &HeapAfterGc) {
    page.line(&format!("Shape: **{}**. {}.", panel.shape, text::sentence(&panel.reason)));
    page.line(&format!(
        "{}; {} values, lowest {}, last {}, highest {}; {} collections looked at old space.",
        cell(&panel.collector),
        count(panel.rows.len() as u64),
        bytes(Some(panel.min_bytes)),
        bytes(Some(panel.last_bytes)),
        bytes(Some(panel.max_bytes)),
        count(panel.old_collections)
    ));
    if panel.collector.starts_with("ZGC") || panel.collector.starts_with("Shenandoah") {
        page.line("Collected while threads ran: a value after a collection is no floor.");
    }
    page.blank();
    for line in plot(panel) {
        page.line(&line);
    }
}

/// The series as bars, the lowest value of each stretch.
fn plot(panel: &HeapAfterGc) -> Vec<String> {
    let rows = &panel.rows;
    let Some(first) = rows.first() else { return Vec::new() };
    let each = rows.len().div_ceil(PLOT_LINES);
    let mut lines = vec!["```text".to_owned()];
    let mut table = Vec::new();
    for stretch in rows.chunks(each) {
        let lowest = stretch.iter().map(|row| row.used_bytes).min().unwrap_or(0);
        let bar = (u128::from(lowest) * u128::from(PLOT_CHARS))
            .div_ceil(u128::from(panel.max_bytes.max(1)));
        table.push(vec![
            format!("+{}", duration(Some(stretch[0].at_ns.saturating_sub(first.at_ns)))),
            bytes(Some(lowest)),
            "#".repeat(bar as usize),
            if stretch.iter().any(|row| row.old) { "old".to_owned() } else { String::new() },
        ]);
    }
    lines.extend(text::columns(&table, "rrll").lines().map(str::to_owned));
    lines.push("```".to_owned());
    lines
}

fn pauses(page: &mut Page<'_>, panel: &GcPauses) {
    page.line(&format!(
        "{} pauses of {} collections: {} in all, {} at most, {}/s, {} of the time. Frequency: {}.",
        count(panel.count),
        count(panel.collections),
        duration(Some(panel.sum_ns)),
        duration(Some(panel.max_ns)),
        number(panel.rate_per_s),
        share(panel.share),
        panel.trend
    ));
    page.line(&match panel.cpu_ns {
        Some(cpu_ns) => format!(
            "CPU time of the collector: {}, {} of the CPU time of the process.",
            duration(Some(cpu_ns)),
            panel.cpu_share.map_or_else(|| UNKNOWN.to_owned(), share)
        ),
        None => "CPU time of the collector: not recorded.".to_owned(),
    });
    page.blank();
    if let Some(band) = &panel.rate_band {
        page.line(&format!(
            "- {}/s: {} the expected {} to {}",
            number(panel.rate_per_s),
            band.verdict,
            number(band.low_per_s),
            number(band.high_per_s)
        ));
        page.blank();
    }
    timed(page, "kind", &panel.by_kind);
    let causes = panel.by_cause.iter().map(|(cause, n)| vec![named(cause), count(*n)]);
    page.table(&["cause", "collections"], causes);
    let bins = panel.histogram.iter().filter(|bin| bin.count > 0).map(|bin| {
        let bound = bin.below_ns.map_or_else(
            || "longer".to_owned(),
            |bound| format!("below {}", duration(Some(bound))),
        );
        vec![bound, count(bin.count)]
    });
    page.table(&["duration", "pauses"], bins);
}
