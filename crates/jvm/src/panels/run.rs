//! The run that was recorded: JVM, collector, heap, spans.

use record::recording::Run;

use crate::jfr::{Condition, Recording};

use super::totals::Totals;

/// Flags of collectors and heaps that are shown; all others may name a person's files or hosts.
const FLAGS: &[&str] = &[
    "MaxHeapSize",
    "InitialHeapSize",
    "MinHeapSize",
    "SoftMaxHeapSize",
    "NewSize",
    "MaxNewSize",
    "MaxRAM",
    "MaxDirectMemorySize",
    "MaxMetaspaceSize",
    "ReservedCodeCacheSize",
    "ThreadStackSize",
    "UseG1GC",
    "UseZGC",
    "UseParallelGC",
    "UseSerialGC",
    "UseShenandoahGC",
    "UseEpsilonGC",
    "UseConcMarkSweepGC",
    "ZGenerational",
    "UseCompressedOops",
    "UseCompressedClassPointers",
    "UseCompactObjectHeaders",
    "UseLargePages",
    "UseTransparentHugePages",
    "UseNUMA",
    "AlwaysPreTouch",
    "DisableExplicitGC",
    "ExplicitGCInvokesConcurrent",
    "UseStringDeduplication",
    "ParallelGCThreads",
    "ConcGCThreads",
    "G1HeapRegionSize",
    "InitiatingHeapOccupancyPercent",
    "NewRatio",
    "SurvivorRatio",
    "MaxTenuringThreshold",
    "GCTimeRatio",
    "MaxGCPauseMillis",
];

/// True for a flag of collectors and heaps.
pub(super) fn is_shown_flag(name: &str) -> bool {
    FLAGS.contains(&name)
}

/// The version of the JDK within what a JVM says of itself, such as
/// `OpenJDK 64-Bit Server VM (17.0.15+6) for linux-amd64 JRE (17.0.15+6), built on ...`.
pub(super) fn jdk_of(version: &str) -> Option<String> {
    let inner = version.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let found = inner.map_or(version, |(inner, _)| inner).trim();
    found.starts_with(|c: char| c.is_ascii_digit()).then(|| found.to_owned())
}

/// The collector by the names of its parts.
pub(super) fn collector(totals: &Totals) -> Option<String> {
    let (young, old) = totals.collectors.last()?;
    let family = match (young.as_str(), old.as_str()) {
        ("G1New", _) => "G1",
        ("ParallelScavenge", _) => "Parallel",
        ("DefNew", _) => "Serial",
        ("ParNew", _) => "CMS",
        (_, "ZGC Major") | ("ZGC Minor", _) => "ZGC, generational",
        (_, "Z") => "ZGC",
        (_, "Shenandoah") => "Shenandoah",
        (_, "Epsilon") => "Epsilon",
        _ => return Some(parts(young, old)),
    };
    Some(format!("{family} ({})", parts(young, old)))
}

fn parts(young: &str, old: &str) -> String {
    let named: Vec<&str> =
        [young, old].into_iter().filter(|part| !part.is_empty() && *part != "N/A").collect();
    named.join(" + ")
}

/// What the same flag means on another JDK (JEP 439, 474, 490).
fn collector_note(collector: Option<&str>, jdk: Option<&str>) -> Option<String> {
    let major: u32 = jdk?.split(['.', '+', '-']).next()?.parse().ok()?;
    let collector = collector?;
    if !collector.starts_with("ZGC") {
        return None;
    }
    Some(match major {
        ..=20 => "ZGC of this JDK has no generations; from 24 on the same flag means a \
                  generational one"
            .to_owned(),
        21..=22 => "ZGC has generations on this JDK with -XX:+ZGenerational only".to_owned(),
        23 => "ZGC has generations on this JDK unless -XX:-ZGenerational".to_owned(),
        _ => "ZGC always has generations on this JDK; up to 22 the same flag means one without"
            .to_owned(),
    })
}

pub(super) fn panel(recording: &Recording, totals: &Totals) -> Run {
    let (start_ns, end_ns) = span(recording);
    let unfinished = recording.chunks.iter().any(|chunk| chunk.condition == Condition::Unfinished);
    let outcome = match (totals.truncated || !recording.faults.is_empty(), recording.recovered) {
        (true, _) => "truncated",
        (false, true) => "recovered",
        (false, false) if unfinished => "unfinished",
        _ => "complete",
    };
    let collector = collector(totals);
    Run {
        outcome: outcome.to_owned(),
        jvm: totals.jvm.clone(),
        jdk: totals.jdk.clone(),
        collector_note: collector_note(collector.as_deref(), totals.jdk.as_deref()),
        collector,
        heap_max_bytes: totals.heap_max_bytes,
        heap_initial_bytes: totals.heap_initial_bytes,
        compressed_references: totals.compressed_references,
        flags: totals.flags.clone(),
        processors: totals.processors,
        run_ns: totals.jvm_start_ns.map(|start| end_ns.saturating_sub(start)),
        recorded_ns: end_ns.saturating_sub(start_ns),
        // Known to the run directory alone.
        ended: None,
        build: None,
    }
}

/// First start and last end of the chunks, nanoseconds since the epoch.
pub(super) fn span(recording: &Recording) -> (u64, u64) {
    let chunks = recording.chunks.iter().map(|chunk| &chunk.header);
    let start = chunks.clone().map(|header| header.start_ns).min().unwrap_or(0);
    let end = chunks.map(|header| header.start_ns.saturating_add(header.duration_ns)).max();
    (start, end.unwrap_or(0).max(start))
}
