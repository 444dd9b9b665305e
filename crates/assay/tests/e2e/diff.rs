//! `assay diff`: planted changes are named, noise is not, bad input is refused word by word.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Bench, Lab, Ran, load};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/jvm").join(name);
    assert!(path.exists(), "fixture `{}` is missing", path.display());
    path.to_string_lossy().into_owned()
}

fn diff(lab: &Lab, arguments: &[&str]) -> Ran {
    let all: Vec<&str> = ["diff"].iter().chain(arguments).copied().collect();
    lab.assay(&all)
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
}

/// Stacks `own/A` to `own/H` with these samples each, below a thread whose number differs.
fn stacks(lab: &Lab, name: &str, thread: u32, samples: [u64; 8]) -> PathBuf {
    let mut text = String::new();
    for (class, samples) in ('A'..='H').zip(samples) {
        writeln!(
            text,
            "[worker tid={thread}];lib/Run.go;own/{class}.work;own/{class}$$Lambda$1/0x{thread:08x}.run_[j] {samples}"
        )
        .expect("memory");
    }
    lab.write(name, &text)
}

const STEADY: [u64; 8] = [4_000, 3_000, 2_000, 1_000, 800, 600, 400, 200];

/// The ledger's W-040 from end to end: one site deleted, others judged by controls.
#[test]
fn a_deleted_site_is_named_and_the_others_are_not() {
    let lab = Lab::new();
    let before = stacks(&lab, "before.collapsed", 7, STEADY);
    let after = stacks(&lab, "after.collapsed", 9, [0, 3_030, 1_990, 1_010, 790, 610, 395, 204]);
    let null = stacks(&lab, "null.collapsed", 8, [4_030, 2_960, 2_020, 1_005, 810, 590, 404, 198]);
    let names = [&before, &after, &null].map(|path| path.to_string_lossy().into_owned());
    let graph = lab.path().join("graph.svg");
    let graph = graph.to_string_lossy();
    let ran = diff(
        &lab,
        &[
            &names[0],
            &names[1],
            "--null",
            &names[2],
            "--package",
            "own",
            "--controls",
            "own/B",
            "--controls",
            "own.C.work",
            "--operations",
            "1000,1000",
            "--flame",
            &graph,
            "--json",
            "-",
        ],
    )
    .expect(0);
    let found = json(&ran);
    let site = &found["views"][0];
    let marked: Vec<&str> = site["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["marked"] == true)
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert_eq!(marked, ["own.A$$Lambda.run"], "no number of a hidden class makes a change");
    assert_eq!(
        (&site["spread"]["how"], &site["shares"]),
        (&Value::from("null"), &Value::from("compared"))
    );
    assert_eq!(site["left"][0]["name"], "own.A$$Lambda.run");
    assert_eq!(site["total"]["before_per_operation"], 12.0);
    for (file, mark) in
        [("graph.svg", "red grew"), ("graph.before.svg", "before"), ("graph.after.svg", "after")]
    {
        let svg = fs::read_to_string(lab.path().join(file)).expect("a graph");
        assert!(svg.contains("<svg") && svg.contains(mark), "{file}");
    }
    let text = diff(&lab, &[&names[0], &names[1], "--package", "own/"]).expect(0).stdout;
    assert!(text.contains("Shares are not compared: no untouched site was named"), "{text}");
    assert!(
        text.contains("nothing can be said to\nbe beyond noise") && !text.contains("\n* "),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// The same with a control that changed: shares are refused, and the status says doubt.
#[test]
fn a_control_that_differs_refuses_shares() {
    let lab = Lab::new();
    let before = stacks(&lab, "before.collapsed", 7, STEADY);
    let after = stacks(&lab, "after.collapsed", 7, [0, 2_000, 2_000, 1_000, 800, 600, 400, 200]);
    let [before, after] = [before, after].map(|path| path.to_string_lossy().into_owned());
    let ran = diff(&lab, &[&before, &after, "--controls", "own/B"]).expect(3);
    assert!(ran.stdout.contains("refused, for a control does not hold"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("%"), "no share is printed: {}", ran.stdout);
    let same = diff(&lab, &[&before, &before, "--controls", "own/B"]).expect(0);
    assert!(!same.stdout.contains("\n* "), "{}", same.stdout);
}

/// The ledger's K-145: the difference names the planted class with its counts.
#[test]
fn class_histograms_name_the_planted_class() {
    let lab = Lab::new();
    let before = fixture("heap/heap-live.histogram-before.txt");
    let after = fixture("heap/heap-live.histogram-after.txt");
    let found = json(&diff(&lab, &[&before, &after, "--json", "-"]).expect(0));
    let rows = found["views"][0]["rows"].as_array().expect("rows").clone();
    let leak = rows.iter().find(|row| row["name"] == "fixture.lab.Leak$Session").expect("the leak");
    assert_eq!(
        (&leak["instances_before"], &leak["instances_after"]),
        (&Value::from(300), &Value::from(500))
    );
    assert_eq!(rows[0]["name"], "[B (java.base@17.0.15)");
    let text = diff(&lab, &[&before, &after]).expect(0).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    // Cut in its middle: what is there, marked.
    let whole = fs::read_to_string(&after).expect("a fixture");
    let cut = lab.write("cut.txt", &whole[..whole.len() / 2]);
    let ran = diff(&lab, &[&before, &cut.to_string_lossy()]).expect(3);
    assert!(ran.stdout.contains("no line `Total`"), "{}", ran.stdout);
}

/// The ledger's W-044, planted: a third of the garbage is gone, and the rest of the work with it.
/// The collector's time falls, its share rises; both are said.
#[test]
fn a_share_of_the_collector_rises_while_its_time_falls() {
    let lab = Lab::new();
    let log = |name: &str, pauses: u32, end_s: u32| {
        let mut text = String::from("[0.010s][info][gc] Using Serial\n");
        for pause in 0..pauses {
            let at = f64::from(pause + 1) * f64::from(end_s) / f64::from(pauses);
            writeln!(
                text,
                "[{at:.3}s][info][gc] GC({pause}) Pause Young (Allocation Failure) 8M->2M(16M) 10.000ms"
            )
            .expect("memory");
        }
        lab.write(name, &text).to_string_lossy().into_owned()
    };
    let (before, after) = (log("before.log", 90, 90), log("after.log", 60, 40));
    let found = json(&diff(&lab, &[&before, &after, "--json", "-"]).expect(0));
    let figures = found["figures"].as_array().expect("figures").clone();
    let time = figures.iter().find(|figure| figure["name"] == "time in pauses").expect("there");
    assert_eq!(
        (&time["before"], &time["after"]),
        (&Value::from(900_000_000), &Value::from(600_000_000))
    );
    let share = |side: &str| time[side].as_f64().expect("a share");
    assert!(share("share_after") > share("share_before"), "{time}");
    let text = diff(&lab, &[&before, &after]).expect(0).stdout;
    let row = text.lines().find(|line| line.starts_with("time in pauses")).expect("a row");
    assert!(row.contains("900 ms") && row.contains("600 ms") && row.contains('%'), "{row}");
}

/// The ledger's W-044: the collector's time and its share, side by side.
#[test]
fn gc_logs_show_time_and_share() {
    let lab = Lab::new();
    let ran = diff(
        &lab,
        &[&fixture("gc/lab-serial.gc.log"), &fixture("gc/lab-profile-g1.gc.log"), "--json", "-"],
    );
    let found = json(&ran.expect(0));
    let figures = found["figures"].as_array().expect("figures").clone();
    let figure = |name: &str| figures.iter().find(|figure| figure["name"] == name).expect("there");
    let time = figure("time in pauses");
    assert_eq!(
        (&time["before"], &time["after"]),
        (&Value::from(75_929_000), &Value::from(222_799_000))
    );
    assert!(time["share_before"].as_f64().is_some_and(|share| share > 0.0 && share < 1.0));
    assert_eq!(
        (&figure("pauses")["before"], &figure("full collections")["after"]),
        (&Value::from(136), &Value::from(1))
    );
}

/// Run directories know how much was done: figures per request, in time where a sample has one.
#[test]
fn run_directories_are_compared_per_request() {
    let lab = Lab::new();
    let mut runs = Vec::new();
    for (label, samples) in [("a", [4_000; 8]), ("b", [2_000; 8])] {
        lab.run(&Bench::mock(), label, &[]).expect(0);
        let run = lab.only_run(label);
        let stacks = fs::read(stacks(&lab, "stacks", 7, samples)).expect("stacks");
        fs::create_dir_all(run.join("recordings")).expect("a folder");
        fs::write(run.join("recordings/cpu.collapsed"), stacks).expect("a file");
        runs.push(run);
    }
    let names: Vec<String> = runs.iter().map(|run| run.to_string_lossy().into_owned()).collect();
    let ran = diff(&lab, &[&names[0], &names[1], "--interval", "10ms", "--json", "-"]).expect(0);
    let total = json(&ran)["views"][0]["total"].clone();
    for (side, run, samples) in [("before", &runs[0], 32_000.0), ("after", &runs[1], 16_000.0)] {
        let requests = load(run).succeeded as f64;
        let each = total[format!("{side}_per_operation")].as_f64().expect("per request");
        assert!((each - samples * 1e7 / requests).abs() < 1e-3 * each, "{side}: {each} ns");
    }
    let text = diff(&lab, &[&names[0], &names[1], "--interval", "10ms"]).expect(0).stdout;
    assert!(
        text.contains("## What changed per operation")
            && text.contains(" per operation, not judged"),
        "{text}"
    );
    // A folder with two files is no side: which was meant?
    fs::write(runs[0].join("recordings/more.collapsed"), "a;b 1\n").expect("a file");
    let ran = diff(&lab, &[&names[0], &names[1]]).expect(2);
    assert!(ran.stderr.contains("expected one recording"), "{}", ran.stderr);
    // A digest takes both, and what is no evidence is passed over.
    fs::write(runs[0].join("recordings/notes.txt"), "nothing of interest\n").expect("a file");
    let ran = lab.assay(&["digest", &names[0], "--json", "-"]).expect(0);
    assert_eq!(json(&ran).as_array().map(Vec::len), Some(2));
}

/// Graphs of recordings: of each kind of sample the sides and the difference.
#[test]
fn graphs_of_recordings() {
    let lab = Lab::new();
    let recording = fixture("jfr/lab-profile-g1.jfr");
    let graph = lab.path().join("graph.svg");
    diff(&lab, &[&recording, &recording, "--flame", &graph.to_string_lossy()]).expect(0);
    let svg = |name: &str| fs::read_to_string(lab.path().join(name)).expect("a graph");
    for (name, words) in [
        ("graph.svg", ["fixture.lab.Hot.fib", "red grew"]),
        ("graph.before.svg", ["463 samples", "cpu, before"]),
        ("graph.after.svg", ["463 samples", "cpu, after"]),
        ("graph.allocation.svg", ["fixture.lab.Churn", "red grew"]),
        ("graph.allocation.before.svg", ["6,300,351,080 bytes", "allocation, before"]),
        ("graph.allocation.after.svg", ["6,300,351,080 bytes", "allocation, after"]),
    ] {
        let svg = svg(name);
        assert!(words.iter().all(|word| svg.contains(word)), "{name}");
    }
    let log = fixture("gc/lab-serial.gc.log");
    let ran = diff(&lab, &[&log, &log, "--flame", &graph.to_string_lossy()]).expect(2);
    assert!(ran.stderr.contains("--flame draws stacks"), "{}", ran.stderr);
}

/// The ledger's W-034: nothing but the program itself ranks and reads; a path without an `awk`, a
/// `sort` or anything else gives the same page.
#[test]
fn no_other_program_is_needed() {
    let lab = Lab::new();
    let cpu = fixture("async-profiler/cpu.collapsed");
    let expected = lab.assay(&["digest", &cpu]).expect(0).stdout;
    for empty in ["", "/nowhere"] {
        let mut command = lab.command(env!("CARGO_BIN_EXE_assay"), &["digest", &cpu]);
        let ran = command.env("PATH", empty).output().expect("assay starts");
        assert_eq!(ran.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
    }
    // By number, not by text: 690 before 305 before 25.
    let found = json(&lab.assay(&["digest", &cpu, "--json", "-"]).expect(0));
    let rows = found["panels"]["hot_methods"]["rows"].as_array().expect("rows").clone();
    let samples: Vec<u64> = rows.iter().filter_map(|row| row["samples"].as_u64()).collect();
    assert_eq!(samples[..3], [690, 305, 25]);
    assert!(samples.is_sorted_by(|a, b| a >= b), "{samples:?}");
}

/// The ledger's K-131: callers of a site, which a table of leaves has lost.
#[test]
fn collapsed_stacks_tell_callers() {
    let lab = Lab::new();
    let cpu = fixture("async-profiler/cpu.collapsed");
    let drill = |arguments: &[&str]| lab.assay(&[&["drill", &cpu], arguments].concat());
    let ran = drill(&["cpu", "--site", "Churn/wide", "--callers", "1", "--json", "-"]).expect(0);
    let found = json(&ran);
    assert_eq!((&found["unit"], &found["total"]), (&Value::from("samples"), &Value::from(35)));
    // 25 of them have it as their leaf.
    let first = found["tables"][0]["rows"][0]["name"].as_str().expect("a chain").to_owned();
    assert!(first.starts_with("fixture.lab.Churn.wide <- fixture.lab."), "{first}");
    let page = drill(&["cpu", "--site", "Churn/wide"]).expect(0).stdout;
    assert!(page.lines().count() < 100 && page.contains("callers"), "{page}");
    for (arguments, said) in [
        (&["cpu", "--site", "no/Such"][..], "`no/Such` matches no frame"),
        (&["allocations"], "ask for `cpu`"),
        (&["pauses"], "answer `allocations` or `cpu` alone"),
        (&["cpu", "--window", "1s..2s"], "--window is of recordings"),
    ] {
        let ran = drill(arguments).expect(2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let log = fixture("gc/lab-serial.gc.log");
    let ran = lab.assay(&["drill", &log, "cpu"]).expect(2);
    assert!(
        ran.stderr.contains("expected a flight recording or collapsed stacks"),
        "{}",
        ran.stderr
    );
}

/// Two recordings: kinds of samples apart, one's own against itself unchanged.
#[test]
fn recordings_are_compared_by_kind_of_sample() {
    let lab = Lab::new();
    let recording = fixture("jfr/lab-profile-g1.jfr");
    let ran = diff(
        &lab,
        &[
            &recording,
            &recording,
            "--package",
            "fixture/lab",
            "--controls",
            "fixture.lab.Hot",
            "--json",
            "-",
        ],
    );
    let found = json(&ran.expect(0));
    let views = found["views"].as_array().expect("views").clone();
    let kinds: Vec<_> =
        views.iter().map(|view| (view["what"].as_str(), view["by"].as_str())).collect();
    assert_eq!(
        kinds,
        [("cpu", "site"), ("cpu", "frame"), ("allocation", "site"), ("allocation", "type")]
            .map(|(what, by)| (Some(what), Some(by)))
    );
    assert_eq!(
        (&views[0]["total"]["before"], &views[2]["total"]["before"]),
        (&Value::from(463), &Value::from(6_300_351_080_u64))
    );
    for view in &views {
        assert!(view["rows"].as_array().expect("rows").iter().all(|row| row["marked"] == false));
    }
    assert_eq!(views[0]["shares"], "compared");
    assert_eq!(views[2]["shares"], "no_controls", "the control allocates nothing: it says nothing");
    // Allocating frames are controls of allocations, their callers and their types too; 6 GB in a few
    // hundred samples cannot tell a change of 25 %, and shares are refused for it.
    for (control, bytes) in [("fixture.lab.Main", 6_277_615_360_u64), ("[B", 5_013_785_416)] {
        let ran = diff(&lab, &[&recording, &recording, "--controls", control, "--json", "-"]);
        let views = json(&ran.expect(3))["views"].clone();
        let found = &views[2]["controls"][0];
        assert_eq!(found["change"]["before"], bytes, "{control}");
        assert_eq!(found["verdict"], "too few samples", "{control}");
        assert_eq!(views[2]["shares"], "refused");
    }
}

#[test]
fn bad_input_is_refused_word_by_word() {
    let lab = Lab::new();
    let cpu = fixture("async-profiler/cpu.collapsed");
    let refused = |arguments: &[&str], words: &[&str]| {
        let ran = diff(&lab, arguments).expect(2);
        for word in words {
            assert!(ran.stderr.contains(word), "`{word}` in {}", ran.stderr);
        }
    };
    let text = fixture("damaged/text.jfr");
    refused(&[&cpu, &text], &["text.jfr", "at offset 0 expected", "collapsed stacks, found `"]);
    let dump = fixture("texts/thread-print-21.txt");
    refused(&[&dump, &dump], &["thread-print-21.txt", "expected a flight recording"]);
    refused(&[&cpu, "/nowhere/x.jfr"], &["/nowhere/x.jfr", "No such file"]);
    refused(&[&cpu, &fixture("gc/lab-serial.gc.log")], &["collapsed", "gc_log", "of one kind"]);
    refused(&[&cpu, &cpu, "--package", "no/such"], &["`no/such` matches no frame"]);
    refused(&[&cpu, &cpu, "--controls", "no.Such.site"], &["`no.Such.site` matches no frame"]);
    refused(&[&cpu, &cpu, "--operations", "5"], &["expected two counts"]);
    refused(&[&cpu, &cpu, "--operations", "5,6,7"], &["the third count is of --null"]);
    refused(&[&cpu, &cpu, "--interval", "soon"], &["--interval", "soon"]);
    let folder = lab.path().to_string_lossy().into_owned();
    refused(&[&folder, &cpu], &["is a folder", "recordings"]);
}

/// The texts on one page each, with what they cannot say named absent.
#[test]
fn texts_have_digests() {
    let lab = Lab::new();
    for (file, kind, section) in [
        ("gc/lab-zgc.gc.log", "gc_log", "gc_pauses"),
        ("heap/heap-live.histogram-after.txt", "class_histogram", "classes"),
        ("texts/thread-print-25.txt", "thread_dump", "thread_dump"),
        ("async-profiler/cpu.collapsed", "collapsed", "hot_methods"),
        ("async-profiler/alloc-bytes.collapsed", "collapsed", "allocation_by_site"),
    ] {
        let file = fixture(file);
        let found = json(&lab.assay(&["digest", &file, "--json", "-"]).expect(0));
        assert_eq!(found["source"]["kind"], kind);
        assert!(found["panels"][section].is_object(), "{file}: {section}");
        assert!(found["absent"].as_array().is_some_and(|absent| !absent.is_empty()), "{file}");
        let page = lab.assay(&["digest", &file]).expect(0).stdout;
        assert!(page.lines().count() < 500, "{file}");
    }
    // Stacks whose first lines are a collector's, as any order of a file may have them.
    let mut lines: Vec<String> =
        fs::read_to_string(fixture("async-profiler/cpu-threads-annotated.collapsed"))
            .expect("a fixture")
            .lines()
            .map(str::to_owned)
            .collect();
    lines.sort_by_key(|line| !line.contains("GC") && !line.contains("G1"));
    let stacks = lab.write("gc-first.collapsed", &(lines.join("\n") + "\n"));
    let found = json(&lab.assay(&["digest", &stacks.to_string_lossy(), "--json", "-"]).expect(0));
    assert_eq!(found["source"]["kind"], "collapsed");
    let cut = fs::read_to_string(fixture("gc/lab-serial.gc.log")).expect("a fixture");
    let cut = lab.write("cut.log", &cut[..cut.len() / 2]);
    let page = lab.assay(&["digest", &cut.to_string_lossy()]).expect(3).stdout;
    assert!(page.contains("**partial**"), "{page}");
    let cpu = fixture("async-profiler/cpu.collapsed");
    lab.assay(&["digest", &cpu, "--package", "no/such"]).expect(2);
}
