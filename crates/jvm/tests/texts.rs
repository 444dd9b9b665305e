//! Every text of the fixtures: digests agree with the truth of other tools, damage is an error or a
//! partial result, and nothing private is told.

use std::fs;
use std::path::{Path, PathBuf};

use jvm::class_histogram::ClassHistogram;
use jvm::gc_log::GcLog;
use jvm::text_digest::{of_class_histogram, of_gc_log, of_thread_dump};
use jvm::thread_dump::ThreadDump;
use record::recording::RecordingDigest;
use serde_json::Value;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/jvm")
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(fixtures().join(name)).unwrap_or_else(|error| panic!("fixture `{name}`: {error}"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    GcLog,
    Histogram,
    Dump,
}

/// The texts by name, whichever are there; a missing one is noticed by their count.
fn texts() -> Vec<(String, Kind)> {
    let mut found = Vec::new();
    for folder in ["gc", "heap", "texts", "tomcat"] {
        for entry in fs::read_dir(fixtures().join(folder)).expect("a folder of fixtures") {
            let file = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            let kind = match file.as_str() {
                name if name.ends_with(".gc.log") => Kind::GcLog,
                name if name.contains("histogram") => Kind::Histogram,
                name if ["thread-print", "dump-to-file", "jstack"]
                    .iter()
                    .any(|word| name.contains(word)) =>
                {
                    Kind::Dump
                }
                _ => continue,
            };
            found.push((format!("{folder}/{file}"), kind));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let count = |kind: Kind| found.iter().filter(|(_, other)| *other == kind).count();
    assert_eq!([Kind::GcLog, Kind::Histogram, Kind::Dump].map(count), [13, 6, 8], "{found:?}");
    found
}

/// Reads and digests; the error is its message.
fn digest(kind: Kind, bytes: &[u8]) -> Result<RecordingDigest, String> {
    let length = bytes.len() as u64;
    Ok(match kind {
        Kind::GcLog => of_gc_log(&GcLog::read(bytes).map_err(|error| error.to_string())?, length),
        Kind::Histogram => {
            let histogram = ClassHistogram::read(bytes).map_err(|error| error.to_string())?;
            of_class_histogram(&histogram, length)
        }
        Kind::Dump => {
            let dump = ThreadDump::read(bytes).map_err(|error| error.to_string())?;
            of_thread_dump(&dump, length)
        }
    })
}

/// A decimal of milliseconds with up to six digits after the point, exactly.
fn ns_of_ms(value: &Value) -> u64 {
    let text = value.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let part: u64 = format!("{part:0<6}").parse().expect("digits");
    whole.parse::<u64>().expect("digits") * 1_000_000 + part
}

/// Counts, sums and pauses of every digest, to the last digit.
#[test]
fn digests_agree_with_the_truth() {
    let lab: Value = serde_json::from_slice(&fixture("text.truth.json")).expect("JSON");
    let ours: Value = serde_json::from_slice(&fixture("texts/truth.json")).expect("JSON");
    let mut checked = 0;
    for (name, kind) in texts() {
        let short = name.trim_start_matches("texts/");
        let Some(truth) = lab.get(&name).or_else(|| ours.get(short)) else {
            assert!(name.contains("dump-to-file") || name.starts_with("tomcat/"), "{name}");
            continue;
        };
        checked += 1;
        let digest = digest(kind, &fixture(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let panels = &digest.panels;
        assert!(!digest.quality.truncated, "{name}");
        match kind {
            Kind::GcLog => {
                let (count, sum_ns, max_ns) = panels
                    .gc_pauses
                    .as_ref()
                    .map_or((0, 0, 0), |panel| (panel.count, panel.sum_ns, panel.max_ns));
                assert_eq!(Value::from(count), truth["pauses"], "{name}");
                let ns = |ns: &str, ms: &str| match truth.get(ns) {
                    Some(ns) => ns.as_u64().expect("ns"),
                    None => ns_of_ms(&truth[ms]),
                };
                assert_eq!(sum_ns, ns("pause_sum_ns", "pause_sum_ms"), "{name}");
                assert_eq!(max_ns, ns("pause_max_ns", "pause_max_ms"), "{name}");
                let heap: Vec<u64> = panels.heap_after_gc.as_ref().map_or_else(Vec::new, |heap| {
                    heap.rows.iter().map(|row| row.used_bytes).collect()
                });
                let after = &truth["heap_after"];
                match after.as_array() {
                    Some(_) => assert_eq!(serde_json::json!(heap), *after, "{name}"),
                    None => {
                        assert_eq!(Value::from(heap.len()), after["count"], "{name}");
                        assert_eq!(Value::from(heap.iter().min().copied()), after["min"]);
                        assert_eq!(Value::from(heap.iter().max().copied()), after["max"]);
                    }
                }
            }
            Kind::Histogram => {
                let classes = panels.classes.as_ref().expect("classes");
                let total = serde_json::json!([classes.instances, classes.total_bytes]);
                assert_eq!(total, truth["total_line"], "{name}");
                let rows = classes.rows.len() as u64 + classes.rest_rows;
                assert_eq!(Value::from(rows), truth["rows"], "{name}");
                let listed: u64 = classes.rows.iter().map(|row| row.bytes).sum();
                assert_eq!(listed + classes.rest_bytes, classes.total_bytes, "{name}");
            }
            Kind::Dump => {
                let dump = panels.thread_dump.as_ref().expect("threads");
                assert_eq!(Value::from(dump.threads), truth["threads"], "{name}");
                for (state, count) in truth["states"].as_object().expect("states") {
                    let found = dump.states.iter().find(|row| row.name == *state).expect("there");
                    assert_eq!(Value::from(found.count), *count, "{name} {state}");
                }
                assert_eq!(Value::from(dump.deadlocks.len()), truth["deadlocks"], "{name}");
            }
        }
    }
    assert_eq!(checked, 24, "8 logs and 5 dumps of ours, 5 logs and 6 histograms of the lab");
}

/// Cut at 200 places: an error that says what was expected and found, or what is left, never more
/// than the whole, and marked. A cut at a line's end of a log or a dump cannot be seen.
#[test]
fn cut_texts_are_errors_or_partial() {
    for (name, kind) in texts() {
        let bytes = fixture(&name);
        let weight = |digest: &RecordingDigest| {
            let panels = &digest.panels;
            panels.gc_pauses.as_ref().map_or(0, |panel| panel.count)
                + panels.classes.as_ref().map_or(0, |panel| panel.instances)
                + panels.thread_dump.as_ref().map_or(0, |panel| panel.threads)
        };
        let whole = weight(&digest(kind, &bytes).expect("a whole text"));
        for step in 0..200 {
            let cut = &bytes[..bytes.len() * step / 200];
            match digest(kind, cut) {
                Err(message) => {
                    assert!(message.contains("expected") && message.contains("found"), "{message}");
                }
                Ok(part) => {
                    assert!(weight(&part) <= whole, "{name} cut at {step}/200");
                    let seen = kind == Kind::Histogram || !cut.ends_with(b"\n");
                    assert!(part.quality.truncated || !seen, "{name} cut at {step}/200");
                    assert!(!seen || !part.quality.faults.is_empty(), "{name} cut at {step}/200");
                }
            }
        }
    }
}

/// Bytes flipped: an error or a digest whose memory the file's own size bounds.
#[test]
fn flipped_texts_are_errors_or_digests_within_bounds() {
    for (name, kind) in texts() {
        let bytes = fixture(&name);
        let short = &bytes[..bytes.len().min(40_000)];
        for seed in 0..60_u64 {
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let mut flipped = short.to_vec();
            for _ in 0..=seed % 12 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let at = (state % flipped.len() as u64) as usize;
                flipped[at] ^= 1 << ((state >> 32) % 8);
            }
            let Ok(digest) = digest(kind, &flipped) else { continue };
            let size = serde_json::to_string(&digest).expect("JSON").len();
            assert!(size < 16 * short.len() + 64 * 1024, "{name} with seed {seed}: {size} bytes");
        }
    }
}

/// Trap 29: command lines and hosts are in these texts and on no page; the same without them reads
/// the same.
#[test]
fn no_command_line_and_no_host_is_told() {
    let log = "OpenJDK 64-Bit Server VM (25.402-b06) for linux-amd64 JRE (1.8.0_402-b06)\n\
               CommandLine flags: -XX:InitialHeapSize=1 -Ddb.password=hunter2 -XX:+UseParallelGC \n";
    let event =
        "0.2: [GC (Allocation Failure) [PSYoungGen: 2K->1K(4K)] 2K->1K(4K), 0.0010000 secs]\n";
    let with = digest(Kind::GcLog, format!("{log}{event}").as_bytes()).expect("a log");
    let text = serde_json::to_string(&with).expect("JSON");
    assert!(!text.contains("hunter2") && !text.contains("password"), "{text}");
    assert_eq!(with.panels.gc_pauses.expect("pauses").count, 1);

    let dump = fixture("texts/thread-print-21.txt");
    let dump = String::from_utf8(dump).expect("text");
    let hosts = dump.replace("worker", "worker-10.9.8.7");
    assert_ne!(hosts, dump);
    let with = digest(Kind::Dump, hosts.as_bytes()).expect("a dump");
    let text = serde_json::to_string(&with).expect("JSON");
    assert!(text.contains("worker-<address>") && !text.contains("10.9.8.7"), "{text}");
}
