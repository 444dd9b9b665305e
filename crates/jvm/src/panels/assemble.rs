//! Totals made a digest: rows, remainders, notes, and what is absent.

use std::collections::BTreeMap;

use record::Format;
use record::recording::{
    Absent, Allocation, Band, BytesRow, CountRow, Exceptions, Io, Locks, Methods, OldObjects,
    Packages, Panels, Quality, RateBand, RecordingDigest, Safepoints, SamplesRow, Source, Threads,
    TimedRow, WarmUp,
};

use crate::jfr::{Condition, Recording};

use super::bands::{OWN, band, verdict};
use super::events::Stacked;
use super::totals::{ByStack, Table, Tally, Totals};
use super::{Question, heap, pauses, run};

/// Rows of the main tables; what is below is counted.
const ROWS: usize = 25;
/// Rows of the lesser tables.
const LESSER_ROWS: usize = 10;
/// Samples below this share of those expected say little.
const COVERAGE_SHARE: f64 = 0.5;
/// Virtual threads above this share of the samples are worth a note.
const VIRTUAL_SHARE: f64 = 0.1;
/// A trivial leaf above this share is worth a note.
const TRIVIAL_SHARE: f64 = 0.05;
/// Warm-up above this share of samples, or of CPU time, is worth a warning.
const WARM_UP_SHARE: f64 = 0.2;
/// Fewest samples that a share is drawn from.
const SAMPLES_MIN: u64 = 20;
/// A first allocation sample this many times the mean of its thread's others is no sample.
const HEAVY_FACTOR: u64 = 8;
/// One thread with this share of all bytes leaves nothing to compare its sites with.
const SINGLE_THREAD_SHARE: f64 = 0.9;
/// Java threads that the JVM samples at most in one period.
const THREADS_PER_PERIOD: usize = 5;
/// Smallest first sample that is worth a word, bytes.
const HEAVY_BYTES: u64 = 1 << 20;

pub(super) fn digest(
    recording: &Recording,
    question: &Question,
    totals: &Totals,
) -> RecordingDigest {
    let (start_ns, end_ns) = run::span(recording);
    let [from, to] = question.window_ns.unwrap_or([start_ns, end_ns]);
    let made = Maker { totals, question, span_ns: (from.max(start_ns), to.min(end_ns)) };
    let mut panels = Panels { run: Some(run::panel(recording, totals)), ..Panels::default() };
    let mut absent = Vec::new();
    made.allocation(&mut panels, &mut absent);
    made.running(&mut panels, &mut absent);
    made.collector(&mut panels, &mut absent);
    made.waiting(&mut panels, &mut absent);
    panels.events = Some(totals.events.clone());
    let mut faults = recording.faults.clone();
    faults.extend(totals.faults.iter().map(|(_, _, sentence)| sentence.clone()));
    if totals.pool_beyond_chunk {
        faults.push(format!(
            "a constant pool reaches beyond the end of its whole chunk, written by JDK {}: 11 and \
             17 before the fixes of JDK-8298129 and JDK-8301842 wrote such pools when they passed \
             2^28 bytes",
            totals.jdk.as_deref().unwrap_or("of unknown version")
        ));
    }
    let heavy = made.heavy_first_samples();
    RecordingDigest {
        format: Format::v1("assay.recording"),
        source: Source {
            kind: "jfr".to_owned(),
            bytes: recording.bytes(),
            chunks: totals.chunks,
            jdk: totals.jdk.clone(),
            span_ns: end_ns - start_ns,
            start_ns: Some(start_ns),
            window_ns: question.window_ns,
            packages: question.packages.clone(),
        },
        quality: Quality {
            truncated: totals.truncated || !recording.faults.is_empty(),
            recovered: recording.recovered
                || recording.chunks.iter().any(|chunk| chunk.condition == Condition::Unfinished),
            unresolved_ids: totals.unresolved_ids,
            skipped_events: totals.skipped_events,
            first_sample_heavy: heavy.count > 0,
            first_sample_bytes: heavy.sum,
            first_sample_threads: heavy.count,
            lost_bytes: totals.lost_bytes,
            lost_samples: totals.lost_samples,
            unknown_lines: 0,
            faults,
        },
        panels,
        absent,
    }
}

struct Maker<'t> {
    totals: &'t Totals,
    question: &'t Question,
    span_ns: (u64, u64),
}

impl Maker<'_> {
    /// True when a panel can be made of these events: one is there, or one was switched on.
    /// Else says why not.
    fn fed(&self, panel: &str, events: &[&str], absent: &mut Vec<Absent>) -> bool {
        let setting = |event: &str| {
            self.totals.settings.get(&(event.to_owned(), "enabled".to_owned())).map(String::as_str)
        };
        let there = events.iter().any(|event| self.totals.events.contains_key(*event));
        if there || events.iter().any(|event| setting(event) == Some("true")) {
            return true;
        }
        let named = events.join(", ");
        let reason = if events.iter().any(|event| setting(event) == Some("false")) {
            format!("not recorded: {named} was switched off")
        } else {
            format!(
                "not recorded: no event of {named}, and the recording does not say whether it \
                 was switched on"
            )
        };
        absent.push(Absent { panel: panel.to_owned(), reason });
        false
    }

    fn rows<'s>(&'s self, table: &Table, key: impl Fn(&Tally) -> u64) -> Vec<(&'s str, Tally)> {
        self.totals.ranked(table, key)
    }

    fn allocation(&self, panels: &mut Panels, absent: &mut Vec<Absent>) {
        const SAMPLE: &str = "jdk.ObjectAllocationSample";
        const TLAB: [&str; 2] =
            ["jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB"];
        let both = [SAMPLE, TLAB[0], TLAB[1]];
        let fed = self.fed("allocation_by_type", &both, absent);
        if !self.fed("allocation_by_site", &both, absent) || !fed {
            return;
        }
        // Both kinds see the same bytes: only one of them counts.
        let sampled = self.totals.of(Stacked::AllocationSample);
        let buffers = self.totals.of(Stacked::AllocationTlab);
        let (by, rule) = if sampled.all.count > 0 || buffers.all.count == 0 {
            let beside = if buffers.all.count > 0 {
                "; the events of thread-local buffers, which see the same bytes, are left out"
            } else {
                ""
            };
            (
                sampled,
                format!(
                    "weight of {SAMPLE}: bytes that the thread had allocated since its sample \
                     before{beside}"
                ),
            )
        } else {
            let rule = "tlabSize of jdk.ObjectAllocationInNewTLAB, allocationSize of \
                        jdk.ObjectAllocationOutsideTLAB";
            (buffers, rule.to_owned())
        };
        panels.allocation_by_type = Some(self.bytes(by, &by.others, &rule));
        let mut by_site = self.bytes(by, &by.sites, &rule);
        by_site.notes.extend(self.single_thread());
        panels.allocation_by_site = Some(by_site);
    }

    fn bytes(&self, by: &ByStack, table: &Table, rule: &str) -> Allocation {
        let total_bytes = by.all.sum;
        let ranked = self.rows(table, |tally| tally.sum);
        let rest = ranked.get(ROWS..).unwrap_or_default();
        let rows: Vec<BytesRow> = ranked
            .iter()
            .take(ROWS)
            .map(|(name, tally)| BytesRow {
                name: (*name).to_owned(),
                bytes: tally.sum,
                share: share(tally.sum, total_bytes),
                samples: tally.count,
            })
            .collect();
        Allocation {
            total_bytes,
            samples: by.all.count,
            rule: rule.to_owned(),
            rest_bytes: rest.iter().fold(0, |sum: u64, (_, tally)| sum.saturating_add(tally.sum)),
            rest_rows: rest.len() as u64,
            cut_off_share: match rest.is_empty() {
                true => 0.0,
                false => rows.last().map_or(0.0, |row| row.share),
            },
            rows,
            notes: Vec::new(),
            suppressed: None,
        }
    }

    /// Warns of the ranking of a single thread's sites: in a tight loop one of them takes up what
    /// belongs to all.
    fn single_thread(&self) -> Option<String> {
        let totals = self.totals.first_samples.values().map(|thread| thread.sum);
        let all = totals.clone().fold(0, u64::saturating_add);
        let share = share(totals.max()?, all);
        (share >= SINGLE_THREAD_SHARE).then(|| {
            format!(
                "one thread made {:.0} % of all bytes: {}, so rank sites only where a second run \
                 agrees",
                share * 100.0,
                super::ranking::SINGLE_THREAD
            )
        })
    }

    fn samples(&self, table: &Table, of: u64, limit: usize) -> Vec<SamplesRow> {
        self.rows(table, |tally| tally.count)
            .into_iter()
            .take(limit)
            .map(|(name, tally)| SamplesRow {
                name: name.to_owned(),
                samples: tally.count,
                share: share(tally.count, of),
                cpu_ns: (tally.sum > 0).then_some(tally.sum),
            })
            .collect()
    }

    fn running(&self, panels: &mut Panels, absent: &mut Vec<Absent>) {
        const EXECUTION: &str = "jdk.ExecutionSample";
        const CPU_TIME: &str = "jdk.CPUTimeSample";
        let by = self.totals.of(Stacked::Execution);
        if self.fed("hot_methods", &[EXECUTION], absent) {
            panels.hot_methods = Some(self.methods(by, EXECUTION));
        }
        if self.fed("packages", &[EXECUTION], absent) {
            panels.packages = Some(self.packages(by));
        }
        if self.fed("threads", &[EXECUTION], absent) {
            let ranked = by.others.len();
            panels.threads = Some(Threads {
                samples: by.all.count,
                rows: self.samples(&by.others, by.all.count, ROWS),
                rest_rows: ranked.saturating_sub(ROWS) as u64,
            });
        }
        let cpu_time = self.totals.of(Stacked::CpuTime);
        if cpu_time.all.count > 0 {
            panels.cpu_time_methods = Some(self.methods(cpu_time, CPU_TIME));
        }
        let events = ["jdk.CompilerStatistics", "jdk.ClassLoadingStatistics", "jdk.Compilation"];
        if by.all.count > 0 || self.fed("warm_up", &events, absent) {
            panels.warm_up = Some(self.warm_up(by));
        }
    }

    /// CPU time of the process over the span: mean load x processors x span.
    fn cpu_ns(&self) -> Option<f64> {
        let loads = &self.totals.cpu_load;
        if loads.is_empty() {
            return None;
        }
        let sum: u64 = loads.iter().map(|(_, load)| load).sum();
        let mean = sum as f64 / 1e6 / loads.len() as f64;
        let span_ns = self.span_ns.1.saturating_sub(self.span_ns.0) as f64;
        Some(mean * self.totals.processors? as f64 * span_ns)
    }

    fn methods(&self, by: &ByStack, event: &str) -> Methods {
        let samples = by.all.count;
        let period_ns = self
            .totals
            .settings
            .get(&(event.to_owned(), "period".to_owned()))
            .and_then(|period| record::units::duration_ns(&period.replace(' ', "")).ok())
            .filter(|period| *period > 0);
        let expected_samples = period_ns
            .and_then(|period| self.cpu_ns().map(|cpu| (cpu / period as f64).round() as u64));
        let rows = self.samples(&by.leaves, samples, ROWS);
        let mut notes = Vec::new();
        if let Some(expected) = expected_samples
            && expected >= SAMPLES_MIN
            && (samples as f64) < COVERAGE_SHARE * expected as f64
        {
            notes.push(format!(
                "{samples} samples where the CPU time of the process would give {expected}: most \
                 of the work was not seen (native code, the collector, compilers, virtual \
                 threads, or more than five Java threads at once), so what is missing here is no \
                 proof of anything"
            ));
        }
        if by.of_virtual as f64 > VIRTUAL_SHARE * samples as f64 {
            notes.push(format!(
                "{} of {samples} samples are of virtual threads: trust the shares of platform \
                 threads, and of virtual ones only where a sample was possible at all",
                by.of_virtual
            ));
        }
        let threads = by.others.len();
        if threads > THREADS_PER_PERIOD && event == "jdk.ExecutionSample" {
            notes.push(format!(
                "{threads} threads were sampled, and the JVM looks at {THREADS_PER_PERIOD} of them \
                 at most in one period, in turn: samples are shares of what was seen, not CPU \
                 seconds"
            ));
        }
        if samples > 0 && samples < SAMPLES_MIN {
            notes.push(format!("{samples} samples are too few for shares"));
        }
        if by.truncated > 0 {
            notes.push(format!(
                "{} of {samples} stacks were cut at the depth of the recording: callers beyond \
                 it are missing, and distinct sites may be one",
                by.truncated
            ));
        }
        for row in rows.iter().take(3) {
            if row.share >= TRIVIAL_SHARE
                && samples >= SAMPLES_MIN
                && record::leaf::is_trivial(&row.name)
            {
                notes.push(format!(
                    "{} is a trivial leaf: often it stands for the inlined loop around it; \
                     compare two runs, one without it, before optimising it",
                    row.name
                ));
            }
        }
        let native = self.totals.of(Stacked::Native).all.count;
        if native > 0 && event == "jdk.ExecutionSample" {
            notes.push(format!(
                "{native} samples of threads in native code, waiting ones among them, are left \
                 out: a share over both kinds would mean nothing"
            ));
        }
        if self.totals.lost_samples > 0 && event == "jdk.CPUTimeSample" {
            notes.push(format!(
                "the recorder lost {} samples; rows are weighted by each sample's own period",
                self.totals.lost_samples
            ));
        }
        Methods {
            samples,
            event: event.to_owned(),
            expected_samples,
            period_ns,
            truncated_samples: by.truncated,
            without_stack_samples: by.without_stack,
            virtual_samples: by.of_virtual,
            rest_samples: samples - rows.iter().map(|row| row.samples).sum::<u64>(),
            rows,
            inclusive: self.samples(&by.inclusive, samples, ROWS),
            own: self.samples(&by.own, samples, LESSER_ROWS),
            own_samples: (!self.question.packages.is_empty())
                .then(|| by.own.values().map(|tally| tally.count).sum()),
            notes,
        }
    }

    fn packages(&self, by: &ByStack) -> Packages {
        let samples = by.all.count;
        let (mode, table) = match self.question.exclusive {
            true => ("exclusive", &by.leaf_packages),
            false => ("inclusive", &by.packages),
        };
        let ranked = self.rows(table, |tally| tally.count);
        let bands = self.question.bands.iter().map(|(package, low_share, high_share)| {
            let within = |name: &str| {
                name.strip_prefix(package.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            // Packages of one prefix overlap when inclusive: the largest stands for them.
            if package == OWN {
                return self.own_band(by, *low_share, *high_share);
            }
            let counts = ranked.iter().filter(|(name, _)| within(name));
            let counts = counts.map(|(_, tally)| tally.count);
            let count = match self.question.exclusive {
                true => counts.sum::<u64>(),
                false => counts.max().unwrap_or(0),
            };
            band(package, share(count, samples), *low_share, *high_share)
        });
        Packages {
            samples,
            mode: mode.to_owned(),
            depth: if self.question.exclusive { 1 } else { self.question.depth },
            truncated_samples: by.truncated,
            rows: self.samples(table, samples, ROWS),
            rest_rows: ranked.len().saturating_sub(ROWS) as u64,
            bands: bands.collect(),
        }
    }

    /// Where the share of samples with any frame of own code lies.
    fn own_band(&self, by: &ByStack, low_share: f64, high_share: f64) -> Band {
        let own = by.own.values().map(|tally| tally.count).sum();
        band(OWN, share(own, by.all.count), low_share, high_share)
    }

    fn warm_up(&self, by: &ByStack) -> WarmUp {
        let compilation_ns = self.totals.compile_ns.rise();
        let cpu_ns = self.cpu_ns().filter(|cpu| *cpu > 0.0);
        let compilation_share = compilation_ns
            .and_then(|compilation| cpu_ns.map(|cpu| (compilation as f64 / cpu).min(1.0)));
        let sample_share = share(by.warm_up, by.all.count);
        let mut causes = Vec::new();
        if by.all.count >= SAMPLES_MIN && sample_share > WARM_UP_SHARE {
            causes.push(format!(
                "class loading and compiler threads have {:.0} % of all execution samples",
                sample_share * 100.0
            ));
        }
        if let Some(share) = compilation_share.filter(|share| *share > WARM_UP_SHARE) {
            causes.push(format!("compilation took {:.0} % of the CPU time", share * 100.0));
        }
        WarmUp {
            compilation_ns,
            compilation_share,
            compilations: self.totals.compiled.rise(),
            classes_loaded: self.totals.classes_loaded.rise(),
            samples: by.warm_up,
            sample_share,
            warning: (!causes.is_empty())
                .then(|| format!("{}: a longer warm-up was needed", causes.join(", and "))),
        }
    }

    fn collector(&self, panels: &mut Panels, absent: &mut Vec<Absent>) {
        let totals = self.totals;
        if self.fed("heap_after_gc", &["jdk.GCHeapSummary"], absent) {
            let collector = run::collector(totals);
            panels.heap_after_gc =
                Some(heap::panel(&totals.heap, &totals.collections, collector.as_deref()));
        }
        if self.fed("gc_pauses", &["jdk.GCPhasePause", "jdk.GarbageCollection"], absent) {
            let mut by_cause: BTreeMap<String, u64> = BTreeMap::new();
            for collection in &totals.collections {
                *by_cause.entry(collection.cause.clone()).or_default() += 1;
            }
            let whole;
            let single = if totals.events.contains_key("jdk.GCPhasePause") {
                &totals.pauses
            } else {
                whole = pauses::of_collections(&totals.collections);
                &whole
            };
            let collections = totals.collections.len() as u64;
            let mut panel = pauses::panel(single, self.span_ns, collections, by_cause);
            if totals.gc_cpu.count > 0 {
                let cpu_ns = totals.gc_cpu.sum;
                panel.cpu_ns = Some(cpu_ns);
                panel.cpu_share =
                    self.cpu_ns().filter(|all| *all > 0.0).map(|all| cpu_ns as f64 / all);
            }
            panel.rate_band = self.question.gc_rate_per_s.map(|[low_per_s, high_per_s]| RateBand {
                low_per_s,
                high_per_s,
                verdict: verdict(panel.rate_per_s, low_per_s, high_per_s).to_owned(),
            });
            panels.gc_pauses = Some(panel);
        }
        if self.fed("safepoints", &["jdk.SafepointBegin", "jdk.ExecuteVMOperation"], absent) {
            panels.safepoints = Some(Safepoints {
                count: totals.safepoints.count,
                to_safepoint_ns: totals.safepoints.sum,
                to_safepoint_max_ns: totals.safepoints.max,
                operations: self.timed(&totals.operations, LESSER_ROWS, false),
            });
        }
    }

    fn timed(&self, table: &Table, limit: usize, bytes: bool) -> Vec<TimedRow> {
        self.rows(table, |tally| tally.sum)
            .into_iter()
            .take(limit)
            .map(|(name, tally)| row(name, &tally, bytes))
            .collect()
    }

    fn counted(&self, table: &Table, limit: usize) -> Vec<CountRow> {
        self.rows(table, |tally| tally.count)
            .into_iter()
            .take(limit)
            .map(|(name, tally)| CountRow { name: name.to_owned(), count: tally.count })
            .collect()
    }

    fn waiting(&self, panels: &mut Panels, absent: &mut Vec<Absent>) {
        let totals = self.totals;
        let locks = [
            "jdk.JavaMonitorEnter",
            "jdk.JavaMonitorWait",
            "jdk.ThreadPark",
            "jdk.VirtualThreadPinned",
        ];
        if self.fed("locks", &locks, absent) {
            let enter = totals.of(Stacked::MonitorEnter);
            panels.locks = Some(Locks {
                monitor_enter: self.timed(&enter.others, LESSER_ROWS, false),
                monitor_enter_sites: self.timed(&enter.sites, LESSER_ROWS, false),
                monitor_wait: self.timed(
                    &totals.of(Stacked::MonitorWait).others,
                    LESSER_ROWS,
                    false,
                ),
                parking: self.timed(&totals.of(Stacked::Park).others, LESSER_ROWS, false),
                pinned: self.timed(&totals.of(Stacked::Pinned).sites, LESSER_ROWS, false),
            });
        }
        let thrown = ["jdk.JavaExceptionThrow", "jdk.JavaErrorThrow"];
        let by = totals.of(Stacked::Throw);
        let counter = totals.throwables.rise();
        if counter.is_some() || self.fed("exceptions", &thrown, absent) {
            let rows = self.counted(&by.others, LESSER_ROWS);
            panels.exceptions = Some(Exceptions {
                thrown: counter,
                rest: by.all.count - rows.iter().map(|row| row.count).sum::<u64>(),
                rows,
            });
        }
        let io = [
            ("file read", "jdk.FileRead", Stacked::FileRead),
            ("file write", "jdk.FileWrite", Stacked::FileWrite),
            ("socket read", "jdk.SocketRead", Stacked::SocketRead),
            ("socket write", "jdk.SocketWrite", Stacked::SocketWrite),
        ];
        if self.fed("io", &io.map(|(_, event, _)| event), absent) {
            let mut sites = Vec::new();
            for (word, _, kind) in io {
                for (name, tally) in self.rows(&totals.of(kind).sites, |tally| tally.sum) {
                    sites.push(row(&format!("{word}: {name}"), &tally, true));
                }
            }
            sites.sort_by(|a, b| b.sum_ns.cmp(&a.sum_ns).then_with(|| a.name.cmp(&b.name)));
            sites.truncate(LESSER_ROWS);
            panels.io = Some(Io {
                rows: io
                    .iter()
                    .map(|(word, _, kind)| row(word, &totals.of(*kind).all, true))
                    .collect(),
                sites,
            });
        }
        if self.fed("old_objects", &["jdk.OldObjectSample"], absent) {
            panels.old_objects = Some(self.old_objects());
        }
    }

    fn old_objects(&self) -> OldObjects {
        let totals = self.totals;
        let banner = (totals.old_with_root < totals.old_objects).then(|| {
            format!(
                "{} of {} samples have no path to a root: they name who allocated the object, \
                 not who holds it; record with path-to-gc-roots=true for that. Samples are as of \
                 the last rotation of the recording",
                totals.old_objects - totals.old_with_root,
                totals.old_objects
            )
        });
        OldObjects {
            samples: totals.old_objects,
            with_root: totals.old_with_root,
            banner,
            by_class: self.counted(&totals.old_classes, LESSER_ROWS),
            by_site: self.counted(&totals.old_sites, LESSER_ROWS),
            chains: self.counted(&totals.old_chains, LESSER_ROWS),
        }
    }

    /// Threads whose first allocation sample carries what came before the recording (the JDK's
    /// fault 8307488): how many, and its bytes.
    fn heavy_first_samples(&self) -> Tally {
        let mut heavy = Tally::default();
        for first in self.totals.first_samples.values() {
            let others = first.count.saturating_sub(1);
            if others > 0
                && first.bytes >= HEAVY_BYTES
                && first.bytes / HEAVY_FACTOR > (first.sum - first.bytes.min(first.sum)) / others
            {
                heavy.one(first.bytes, 0);
            }
        }
        heavy
    }
}

pub(super) fn row(name: &str, tally: &Tally, bytes: bool) -> TimedRow {
    TimedRow {
        name: name.to_owned(),
        count: tally.count,
        sum_ns: tally.sum,
        max_ns: tally.max,
        bytes: bytes.then_some(tally.bytes),
    }
}

pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
