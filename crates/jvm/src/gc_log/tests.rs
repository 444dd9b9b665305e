use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::*;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/jvm")
}

fn fixture(name: &str) -> Vec<u8> {
    let path = fixtures().join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("fixture `{}`: {error}", path.display()))
}

fn truth(name: &str) -> Value {
    serde_json::from_slice(&fixture(name)).expect("truth is JSON")
}

fn log(name: &str) -> GcLog {
    GcLog::read(&fixture(name)[..]).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn read(text: &str) -> GcLog {
    GcLog::read(text.as_bytes()).expect("a GC log")
}

/// Milliseconds with three digits as written, in ns.
fn ns(value: &Value) -> u64 {
    amount::duration_ns(&format!("{value}ms")).expect("a decimal")
}

fn heap_after(log: &GcLog) -> Vec<u64> {
    log.heap.iter().map(|change| change.after_bytes).collect()
}

#[test]
fn the_logs_of_the_lab_agree_with_the_truth() {
    let truth = truth("text.truth.json");
    for name in ["lab-jdk25", "lab-profile-g1", "lab-serial", "lab-zgc"]
        .map(|name| format!("gc/{name}.gc.log"))
        .into_iter()
        .chain(["tomcat/tomcat.gc.log".to_owned()])
    {
        let (log, truth) = (log(&name), &truth[&name]);
        assert_eq!(Value::from(log.quality.lines), truth["lines"], "{name}");
        let (count, sum_ns, max_ns) = log.pauses_in_all();
        assert_eq!(Value::from(count), truth["pauses"], "{name}");
        assert_eq!(log.pauses.len() as u64, count);
        assert_eq!(sum_ns, ns(&truth["pause_sum_ms"]), "{name}");
        assert_eq!(max_ns, ns(&truth["pause_max_ms"]), "{name}");
        let kinds: BTreeMap<_, _> =
            log.pause_kinds.iter().map(|kind| (kind.name.clone(), kind.count)).collect();
        assert_eq!(serde_json::to_value(kinds).expect("JSON"), truth["by_kind"], "{name}");
        let (after, expected) = (heap_after(&log), &truth["heap_after"]);
        assert_eq!(Value::from(after.len()), expected["count"], "{name}");
        assert_eq!(Value::from(after.iter().min().copied()), expected["min"], "{name}");
        assert_eq!(Value::from(after.iter().max().copied()), expected["max"], "{name}");
        let (first, last) = (log.heap.first().expect("rows"), log.heap.last().expect("rows"));
        let row = |change: &HeapChange| serde_json::json!([change.gc, change.after_bytes]);
        assert_eq!((row(first), row(last)), (expected["first"].clone(), expected["last"].clone()));
        assert!(!log.quality.unfinished && log.quality.cut_lines == 0, "{name}");
        assert_eq!(log.clock, Clock::Uptime);
    }
}

#[test]
fn logs_of_every_collector_and_decoration_agree_with_the_truth() {
    let truth = truth("texts/truth.json");
    let mut seen = 0;
    for (name, truth) in truth.as_object().expect("an object") {
        if !name.ends_with(".gc.log") {
            continue;
        }
        seen += 1;
        let log = log(&format!("texts/{name}"));
        let (count, sum_ns, max_ns) = log.pauses_in_all();
        assert_eq!(Value::from(log.quality.lines), truth["lines"], "{name}");
        assert_eq!(Value::from(count), truth["pauses"], "{name}");
        assert_eq!(Value::from(sum_ns), truth["pause_sum_ns"], "{name}");
        assert_eq!(Value::from(max_ns), truth["pause_max_ns"], "{name}");
        let named = |all: &[Named]| -> BTreeMap<String, (u64, u64)> {
            all.iter().map(|one| (one.name.clone(), (one.count, one.sum_ns))).collect()
        };
        let kinds = serde_json::to_value(named(&log.pause_kinds)).expect("JSON");
        assert_eq!(kinds, truth["by_kind"], "{name}");
        let mut concurrent = named(&log.concurrent);
        concurrent.extend(named(&log.concurrent_cycles));
        let concurrent = serde_json::to_value(concurrent).expect("JSON");
        assert_eq!(concurrent, truth["concurrent"], "{name}");
        assert_eq!(Value::from(heap_after(&log)), truth["heap_after"], "{name}");
        let (points, total_ns) = log
            .safepoints
            .iter()
            .fold((0, 0), |(count, sum), point| (count + point.count, sum + point.sum_ns));
        let safepoints = serde_json::json!([points, total_ns, log.reaching_safepoint_ns]);
        assert_eq!(safepoints, truth["safepoints"], "{name}");
    }
    assert_eq!(seen, 8);
}

/// Trap 41 and the ledger's K-039: who collected, and by which clock.
#[test]
fn collector_version_and_clock_are_told_from_each_log() {
    use Collector::*;
    let of = |name: &str| {
        let log = log(name);
        (log.collector.expect("a collector"), log.jdk.unwrap_or_default(), log.clock)
    };
    let uptime = |collector, jdk: &str| (collector, jdk.to_owned(), Clock::Uptime);
    assert_eq!(of("gc/lab-serial.gc.log"), uptime(Serial, ""));
    assert_eq!(of("gc/lab-zgc.gc.log"), uptime(Z, "17.0.15+6-Debian-1deb12u1"));
    assert_eq!(of("gc/lab-jdk25.gc.log"), uptime(G1, "25.0.2+10-LTS"));
    assert_eq!(of("texts/zgc-21-generational.gc.log").0, GenerationalZ);
    assert_eq!(of("texts/zgc-25.gc.log").0, GenerationalZ);
    let shenandoah = of("texts/shenandoah-17.gc.log");
    assert_eq!(shenandoah, uptime(Shenandoah, "17.0.15+6-Debian-1deb12u1"));
    assert_eq!(of("texts/shenandoah-25-generational.gc.log").0, GenerationalShenandoah);
    let parallel = of("texts/parallel-17.gc.log");
    assert_eq!((parallel.0, parallel.2), (Parallel, Clock::FirstDate(1_796_051_178_266_000_000)));
    assert_eq!(of("texts/g1-11-undecorated.gc.log"), (G1, String::new(), Clock::None));
    // Both clocks: the uptime is the one used.
    assert_eq!(of("texts/g1-21-failing.gc.log").2, Clock::Uptime);
}

/// Trap 41: a log with dates and no uptime has times all the same.
#[test]
fn dates_alone_give_times() {
    let log = log("texts/parallel-17.gc.log");
    let times: Vec<u64> = log.pauses.iter().map(|pause| pause.at_ns.expect("a time")).collect();
    assert_eq!(times[0], 314_000_000, "15:06:18.580 after 15:06:18.266");
    assert!(times.is_sorted() && times[0] < *times.last().expect("pauses"));
    let undecorated = super::tests::log("texts/g1-11-undecorated.gc.log");
    assert!(undecorated.pauses.iter().all(|pause| pause.at_ns.is_none()));
}

/// Trap 42: histograms inside a log are told from lines that nobody knows.
#[test]
fn a_class_histogram_inside_a_log_is_passed_over_and_counted() {
    let text = String::from_utf8(fixture("texts/g1-21-failing.gc.log")).expect("text");
    let rows = text.lines().filter(|line| line.contains("classhisto")).count();
    let log = log("texts/g1-21-failing.gc.log");
    assert!(rows > 1_000);
    assert_eq!(log.quality.histogram_lines as usize, rows);
    assert_eq!(log.full_collections(), 2);
}

/// Trap 43: ZGC's sizes have shares and no total.
#[test]
fn sizes_of_zgc() {
    let log = read("[0.4s][info][gc] GC(0) Garbage Collection (Warmup) 18M(11%)->4M(2%)\n");
    assert_eq!(
        log.heap,
        [HeapChange {
            at_ns: Some(400_000_000),
            gc: Some(0),
            before_bytes: 18 << 20,
            after_bytes: 4 << 20,
            committed_bytes: None,
            concurrent: true,
            old: true,
        }]
    );
    assert_eq!(log.pauses_in_all(), (0, 0, 0));
}

#[test]
fn failures_of_evacuation_count_once_for_each_collection() {
    let log = read(
        "[1.0s][info][gc] GC(5) To-space exhausted\n\
         [1.1s][info][gc] GC(5) Pause Young (Normal) (G1 Evacuation Pause) (Evacuation Failure) 9M->9M(9M) 1.5ms\n\
         [1.2s][info][gc] GC(6) Pause Young (Mixed) (G1 Evacuation Pause) (Evacuation Failure: Allocation/Pinned) 9M->9M(9M) 2.5ms\n\
         [1.3s][info][gc] GC(7) Pause Full (G1 Compaction Pause) 9M->1M(9M) 100.25ms\n\
         [1.4s][info][gc] GC(8) Pause Degenerated GC (Mark) 9M->1M(9M) 7.000ms\n\
         [1.5s][info][gc] Allocation Stall (main) 12.345ms\n\
         [1.5s][info][gc,start] GC(9) Pause Young (Normal) (G1 Evacuation Pause)\n",
    );
    assert_eq!(log.evacuation_failures, 2);
    assert_eq!((log.full_collections(), log.degenerated), (1, 1));
    assert_eq!((log.allocation_stalls, log.allocation_stall_ns), (1, 12_345_000));
    assert_eq!(log.pauses_in_all(), (4, 111_250_000, 100_250_000));
    assert_eq!(log.old_collections, 2, "mixed and full");
}

const PARALLEL: &str = "\
OpenJDK 64-Bit Server VM (25.292-b10) for linux-amd64 JRE (1.8.0_292-b10), built on Apr 20 2021
Memory: 4k page, physical 16k(8k free), swap 0k(0k free)
CommandLine flags: -XX:InitialHeapSize=268435456 -XX:+PrintGCDetails -XX:+UseParallelGC
2015-05-26T14:45:37.987+0200: 1.126: [GC (Allocation Failure) [PSYoungGen: 65536K->10748K(76288K)] 65536K->29404K(251392K), 0.0123456 secs] [Times: user=0.03 sys=0.01, real=0.01 secs] \n\
2015-05-26T14:45:38.487+0200: 1.626: [Full GC (Ergonomics) [PSYoungGen: 10748K->0K(76288K)] [ParOldGen: 18656K->20000K(175104K)] 29404K->20000K(251392K), [Metaspace: 3000K->3000K(1056768K)], 0.1000000 secs] [Times: user=0.15 sys=0.00, real=0.10 secs] \n\
2015-05-26T14:45:38.600+0200: 1.739: Total time for which application threads were stopped: 0.1002000 seconds, Stopping threads took: 0.0000200 seconds
";

#[test]
fn jdk_8_parallel() {
    let log = read(PARALLEL);
    assert_eq!((log.style, log.collector), (Style::Jdk8, Some(Collector::Parallel)));
    assert_eq!(log.jdk.as_deref(), Some("1.8.0_292-b10"));
    assert_eq!(log.pauses_in_all(), (2, 112_345_600, 100_000_000));
    let at: Vec<_> = log.pauses.iter().map(|pause| pause.at_ns).collect();
    assert_eq!(at, [Some(1_126_000_000), Some(1_626_000_000)]);
    assert_eq!(heap_after(&log), [29_404 << 10, 20_000 << 10]);
    assert_eq!(log.heap[1].committed_bytes, Some(251_392 << 10));
    assert_eq!((log.full_collections(), log.old_collections), (1, 1));
    assert_eq!((log.cpu_ns, log.cpu_pauses), (190_000_000, 2));
    assert_eq!((log.safepoints[0].sum_ns, log.reaching_safepoint_ns), (100_200_000, 20_000));
    assert_eq!(log.quality.passed_over, 2, "memory and command line");
}

#[test]
fn jdk_8_with_dates_only() {
    let text = PARALLEL.replace(": 1.126: ", ": ").replace(": 1.626: ", ": ");
    let log = read(&text.replace(": 1.739: ", ": "));
    assert!(matches!(log.clock, Clock::FirstDate(_)));
    assert_eq!(log.pauses[1].at_ns, Some(500_000_000));
    assert_eq!(log.span_ns, Some(613_000_000));
}

#[test]
fn jdk_8_serial_over_several_lines() {
    let log = read(
        "0.312: [GC (Allocation Failure) 0.312: [DefNew\n\
         Desired survivor size 4456448 bytes, new threshold 1 (max 15)\n\
         - age   1:    8912880 bytes,    8912880 total\n\
         : 69952K->8704K(78656K), 0.0123000 secs] 69952K->30000K(253440K), 0.0124000 secs] [Times: user=0.01 sys=0.00, real=0.01 secs] \n\
         0.400: [GC (Allocation Failure) 0.400: [DefNew: 78656K->8704K(78656K), 0.0100000 secs]0.410: [Tenured: 170000K->160000K(174784K), 0.2000000 secs] 240000K->160000K(253440K), [Metaspace: 1K->1K(2K)], 0.2200000 secs] [Times: user=0.2 sys=0.00, real=0.2 secs] \n",
    );
    assert_eq!(log.collector, Some(Collector::Serial));
    assert_eq!(log.pauses_in_all(), (2, 232_400_000, 220_000_000));
    assert_eq!(heap_after(&log), [30_000 << 10, 160_000 << 10]);
    assert_eq!(log.full_collections(), 1, "a collection of the tenured space too");
    assert_eq!(log.quality, Quality { lines: 5, ..Quality::default() });
}

#[test]
fn jdk_8_cms_apart_from_its_concurrent_phases() {
    let log = read(
        "1.000: [GC (Allocation Failure) 1.000: [ParNew: 100K->10K(200K), 0.0010000 secs] 500K->410K(900K), 0.0011000 secs] [Times: user=0.01 sys=0.00, real=0.00 secs] \n\
         1.100: [GC (CMS Initial Mark) [1 CMS-initial-mark: 400K(700K)] 410K(900K), 0.0002000 secs] [Times: user=0.00 sys=0.00, real=0.00 secs] \n\
         1.100: [CMS-concurrent-mark-start]\n\
         1.135: [CMS-concurrent-mark: 0.030/0.035 secs] [Times: user=0.07 sys=0.00, real=0.03 secs] \n\
         1.200: [GC (CMS Final Remark) [YG occupancy: 12 K (200 K)]1.200: [Rescan (parallel) , 0.0001 secs]1.201: [weak refs processing, 0.0001 secs][1 CMS-remark: 400K(700K)] 412K(900K), 0.0050000 secs] [Times: user=0.01 sys=0.00, real=0.01 secs] \n\
         1.210: [CMS-concurrent-sweep: 0.010/0.012 secs] [Times: user=0.01 sys=0.00, real=0.01 secs] \n\
         1.300: [GC (Allocation Failure) 1.300: [ParNew (promotion failed): 200K->200K(200K), 0.01 secs]1.310: [CMS (concurrent mode failure): 690K->300K(700K), 0.5000000 secs] 890K->300K(900K), [Metaspace: 1K->1K(2K)], 0.5200000 secs] [Times: user=0.5 sys=0.00, real=0.5 secs] \n",
    );
    assert_eq!(log.collector, Some(Collector::Cms));
    let kinds: Vec<_> =
        log.pause_kinds.iter().map(|kind| (kind.name.as_str(), kind.count)).collect();
    assert_eq!(
        kinds,
        [("Pause Young", 1), ("Pause Initial Mark", 1), ("Pause Remark", 1), ("Pause Full", 1)]
    );
    let phases: Vec<_> =
        log.concurrent.iter().map(|phase| (phase.name.as_str(), phase.sum_ns)).collect();
    assert_eq!(phases, [("Concurrent mark", 35_000_000), ("Concurrent sweep", 12_000_000)]);
    assert_eq!((log.evacuation_failures, log.degenerated), (1, 1));
    assert_eq!(log.cpu_pauses, 4, "the CPU of concurrent phases is no pause's");
}

#[test]
fn jdk_8_g1_has_its_heap_on_a_line_of_its_own() {
    let log = read(
        "0.500: [GC pause (G1 Evacuation Pause) (young), 0.0123456 secs]\n   \
            [Parallel Time: 11.2 ms, GC Workers: 2]\n      \
               [GC Worker Start (ms): Min: 500.1, Avg: 500.2, Max: 500.3, Diff: 0.2]\n   \
            [Eden: 24.0M(24.0M)->0.0B(13.0M) Survivors: 0.0B->3072.0K Heap: 24.0M(256.0M)->21.5M(256.0M)]\n \
          [Times: user=0.02 sys=0.00, real=0.01 secs] \n\
         0.600: [GC pause (G1 Humongous Allocation) (young) (initial-mark) (to-space exhausted), 0.0200000 secs]\n   \
            [Eden: 1.0M(24.0M)->0.0B(13.0M) Survivors: 0.0B->3072.0K Heap: 30.0M(256.0M)->29.0M(256.0M)]\n \
          [Times: user=0.02 sys=0.00, real=0.02 secs] \n\
         0.620: [GC concurrent-mark-start]\n\
         0.645: [GC concurrent-mark-end, 0.0246341 secs]\n\
         0.646: [GC remark 0.646: [Finalize Marking, 0.0001 secs] 0.646: [GC ref-proc, 0.0001 secs], 0.0051000 secs]\n \
          [Times: user=0.01 sys=0.00, real=0.01 secs] \n\
         0.652: [GC cleanup 23M->20M(256M), 0.0006000 secs]\n\
         0.700: [Full GC (Allocation Failure)  253M->200M(256M), 0.5000000 secs]\n   \
            [Eden: 0.0B(24.0M)->0.0B(13.0M) Survivors: 0.0B->0.0B Heap: 253.0M(256.0M)->200.0M(256.0M)], [Metaspace: 3K->3K(1M)]\n",
    );
    assert_eq!(log.collector, Some(Collector::G1));
    let after = [43 << 19, 29 << 20, 20 << 20, 200 << 20];
    assert_eq!(heap_after(&log), after, "one row for each, the full collection's not twice");
    assert_eq!(log.heap[0].at_ns, Some(500_000_000));
    assert_eq!(log.pauses_in_all(), (5, 538_045_600, 500_000_000));
    assert_eq!(log.concurrent[0].sum_ns, 24_634_100);
    assert_eq!((log.evacuation_failures, log.full_collections(), log.cpu_pauses), (1, 1, 3));
}

#[test]
fn an_event_that_never_ends_is_counted_and_costs_no_other() {
    let log = read(
        "0.1: [GC (Allocation Failure) [PSYoungGen: 1K->1K(1K)] 1K->\n\
         0.2: [GC (Allocation Failure) [PSYoungGen: 2K->1K(4K)] 2K->1K(4K), 0.0010000 secs]\n\
         0.3: [GC (Allocation Failure) [PSYoung",
    );
    assert_eq!(log.pauses_in_all(), (1, 1_000_000, 1_000_000));
    assert_eq!(log.quality.broken_events, 2);
    assert!(log.quality.unfinished);
}

#[test]
fn a_file_that_is_no_log_names_what_was_expected_and_found() {
    let error = GcLog::read(&b"\nhello world\nPause for thought\n"[..]).expect_err("no log");
    insta::assert_snapshot!(error, @"expected a GC log, found 3 lines without one about a collection; the first: `hello world`. A log is written with `-Xlog:gc*:file=gc.log` (JDK 8: `-Xloggc:gc.log -XX:+PrintGCDetails -XX:+PrintGCDateStamps`)");
    assert!(GcLog::read(&b""[..]).is_err());
    assert!(GcLog::read(&fixture("heap/heap-live.histogram-after.txt")[..]).is_err());
    assert!(GcLog::read(&fixture("tomcat/tomcat.thread-print.txt")[..]).is_err());
    assert!(!looks_like(&fixture("async-profiler/cpu.collapsed")));
    assert!(looks_like(&fixture("texts/g1-11-undecorated.gc.log")[..400]));
    assert!(looks_like(PARALLEL.as_bytes()));
}

/// Names and rows are bounded; what is beyond still counts.
#[test]
fn names_beyond_the_bound_go_under_one() {
    let mut text = String::new();
    for name in 0..200 {
        let word = format!("{:b}", name).replace('0', "a").replace('1', "b");
        text.push_str(&format!("[1.0s][gc] GC(0) Pause {word} 1.000ms\n"));
    }
    let log = read(&text);
    assert_eq!(log.pause_kinds.len(), MAX_NAMES + 1);
    assert_eq!(log.pauses_in_all(), (200, 200_000_000, 1_000_000));
    assert_eq!(log.pause_kinds[MAX_NAMES].name, OTHER_NAME);
}

/// Bad input: every log cut at 200 places and mutated gives a log or an error, and what is read of
/// a cut one is never more than of the whole.
#[test]
fn cut_and_mutated_logs_give_what_is_left() {
    let names = ["texts/serial-25.gc.log", "texts/zgc-25.gc.log", "gc/lab-serial.gc.log"];
    let mut corpus: Vec<Vec<u8>> = names.iter().map(|name| fixture(name)).collect();
    corpus.push(PARALLEL.as_bytes().to_vec());
    for text in &corpus {
        let whole = GcLog::read(&text[..]).expect("a log");
        for step in 0..200 {
            let cut = &text[..text.len() * step / 200];
            let Ok(part) = GcLog::read(cut) else { continue };
            assert!(part.pauses_in_all().0 <= whole.pauses_in_all().0);
            assert!(whole.pauses.starts_with(&part.pauses[..part.pauses.len().saturating_sub(1)]));
            assert_eq!(part.quality.unfinished, !cut.ends_with(b"\n"));
        }
        let short = &text[..text.len().min(8_000)];
        for seed in 0..200 {
            let mutant = corpus::mutate(short, &corpus, b"[]():->.0 \n", seed);
            let _ = GcLog::read(&mutant[..]);
        }
    }
}

#[test]
fn the_corpus_of_the_fuzz_target_holds() {
    corpus::replay("gc_log", b"[]():->.0 \nKMs", 10, |data, from| {
        let whole = GcLog::read(data).ok();
        let pieces = GcLog::read(io::BufReader::with_capacity(7, data)).ok();
        assert_eq!(whole, pieces, "{from}");
        if let Some(log) = whole {
            assert_eq!(log.pauses.len() as u64, log.pauses_in_all().0, "{from}");
        }
    });
}
