//! `assay digest` and `assay drill` on recordings whose truth is known.

use std::path::{Path, PathBuf};

use record::layout;
use record::meta::Meta;
use serde_json::Value;

use crate::support::{Bench, Lab, Ran};

fn fixture(name: &str) -> String {
    let path: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/jvm").join(name);
    assert!(path.exists(), "missing fixture {}", path.display());
    path.to_string_lossy().into_owned()
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
}

#[test]
fn a_digest_is_one_page_and_its_json_keeps_the_contract() {
    let lab = Lab::new();
    let file = fixture("tomcat/tomcat.jfr");
    let page = lab.assay(&["digest", &file, "--package", "org/apache"]).expect(0).stdout;
    assert!(page.lines().count() < 500, "{} lines", page.lines().count());
    assert!(
        page.contains("| org.apache.catalina.util.URLEncoder.encode:183 | 645 MiB | 22.393 % |"),
        "{page}"
    );
    let digest = json(&lab.assay(&["digest", &file, "--json", "-"]).expect(0));
    for pointer in [
        "/source/kind",
        "/source/bytes",
        "/source/chunks",
        "/source/jdk",
        "/source/span_ns",
        "/quality/truncated",
        "/quality/recovered",
        "/quality/unresolved_ids",
        "/quality/skipped_events",
        "/quality/first_sample_heavy",
        "/panels/allocation_by_type/total_bytes",
        "/panels/allocation_by_site/samples",
        "/panels/allocation_by_site/rows/0/name",
        "/panels/allocation_by_site/rows/0/bytes",
        "/panels/allocation_by_site/rows/0/share",
        "/panels/allocation_by_site/rest_bytes",
        "/panels/hot_methods/samples",
        "/panels/hot_methods/rows/0/name",
        "/panels/hot_methods/rows/0/samples",
        "/panels/packages/samples",
        "/panels/packages/mode",
        "/panels/packages/depth",
        "/panels/packages/rows",
        "/panels/heap_after_gc/collector",
        "/panels/heap_after_gc/shape",
        "/panels/heap_after_gc/rows/0/at_ns",
        "/panels/heap_after_gc/rows/0/used_bytes",
        "/panels/gc_pauses/count",
        "/panels/gc_pauses/sum_ns",
        "/panels/gc_pauses/max_ns",
        "/panels/old_objects",
        "/absent",
    ] {
        assert!(digest.pointer(pointer).is_some_and(|value| !value.is_null()), "{pointer}");
    }
    assert_eq!(digest["panels"]["gc_pauses"]["count"], 169);
}

#[test]
fn a_window_cuts_by_the_events_own_instants() {
    let lab = Lab::new();
    let file = fixture("jfr/lab-serial.jfr");
    let pauses = |window: &str| {
        let ran = lab.assay(&["digest", &file, "--window", window, "--json", "-"]).expect(0);
        json(&ran)["panels"]["gc_pauses"]["count"].as_u64().expect("a count")
    };
    let (first, second) = (pauses("..4s"), pauses("4s.."));
    assert_eq!(first + second, 135);
    assert!(first > 0 && second > 0);
    let ran = lab.assay(&["digest", &file, "--window", "5s"]).expect(2);
    assert!(ran.stderr.contains("found no `..`"), "{}", ran.stderr);
}

#[test]
fn bad_recordings_end_with_two_and_partial_ones_with_three() {
    let lab = Lab::new();
    for (name, word) in [
        ("damaged/text.jfr", "at offset 0 expected `FLR\\0`"),
        ("damaged/zero-bytes.jfr", "--recover DIR"),
        ("damaged/version-99.jfr", "found version 99.1"),
        ("killed/destination-empty.jfr", "found the end of the file"),
    ] {
        let ran = lab.assay(&["digest", &fixture(name)]).expect(2);
        assert!(ran.stderr.contains(word), "{name}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    for name in [
        "half-a-header",
        "header-only",
        "header-size-zero",
        "state-255",
        "truncated-single-chunk",
        "truncated-in-second-chunk",
    ] {
        let file = fixture(&format!("damaged/{name}.jfr"));
        let digest = json(&lab.assay(&["digest", &file, "--json", "-"]).expect(3));
        assert_eq!(digest["quality"]["truncated"], true, "{name}");
        lab.assay(&["digest", &file]).expect(3);
    }
    let recovered =
        lab.assay(&["digest", "--recover", &fixture("killed/repository"), "--json", "-"]);
    let recovered = json(&recovered.expect(3));
    let assembled =
        lab.assay(&["digest", &fixture("killed/assembled.jfr"), "--json", "-"]).expect(3);
    assert_eq!(
        recovered["panels"]["allocation_by_site"],
        json(&assembled)["panels"]["allocation_by_site"]
    );
    assert_eq!(recovered["quality"]["recovered"], true);
}

#[test]
fn drills_are_short_and_a_pattern_without_a_hit_ends_with_two() {
    let lab = Lab::new();
    let file = fixture("tomcat/tomcat.jfr");
    for subject in ["allocations", "cpu", "locks", "pauses", "floor", "survivors", "threads"] {
        let ran = lab.assay(&["drill", &file, subject]).expect(0);
        let lines = ran.stdout.lines().count();
        assert!((3..100).contains(&lines), "{subject}: {lines} lines");
    }
    let ran =
        lab.assay(&["drill", &file, "cpu", "--site", "org/apache/catalina", "--callers", "2"]);
    assert!(ran.expect(0).stdout.contains(" <- "));
    let ran = lab.assay(&["drill", &file, "cpu", "--site", "org.apache.nowhere"]).expect(2);
    assert!(ran.stderr.contains("matches no frame of cpu"), "{}", ran.stderr);
}

/// A run directory gives its recordings, cut to the measured window, with how the run ended.
#[test]
fn a_run_directory_is_cut_to_its_window() {
    let lab = Lab::new();
    lab.run(&Bench::mock(), "l", &[]).expect(0);
    let run = lab.only_run("l");
    let shown = run.to_string_lossy().into_owned();
    let ran = lab.assay(&["digest", &shown]).expect(2);
    assert!(ran.stderr.contains("found none"), "{}", ran.stderr);

    let file = fixture("jfr/lab-serial.jfr");
    let whole = json(&lab.assay(&["digest", &file, "--json", "-"]).expect(0));
    let start_ns = whole["source"]["start_ns"].as_u64().expect("a start");
    // The window of the run is put over the recording: from one second to four.
    let meta_path = run.join(layout::META);
    let mut meta: Meta = layout::read_json(&meta_path).expect("meta.json");
    assert!(meta.started_unix_ns.is_some_and(|ns| ns > start_ns), "written by the run");
    let run_start = meta.instants_ns["run_start"];
    let window_start = meta.instants_ns["window_start"];
    meta.started_unix_ns = Some(start_ns + 1_000_000_000 - (window_start - run_start));
    meta.instants_ns.insert("window_end".to_owned(), window_start + 3_000_000_000);
    layout::write_json(&meta_path, &meta).expect("writable");

    let cut = json(&lab.assay(&["digest", &file, "--window", "1s..4s", "--json", "-"]).expect(0));
    for place in ["recordings", ""] {
        let folder = run.join(place);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::copy(&file, folder.join("run.jfr")).expect("copied");
        let of_run = json(&lab.assay(&["digest", &shown, "--json", "-"]).expect(0));
        assert_eq!(of_run["panels"]["gc_pauses"], cut["panels"]["gc_pauses"]);
        assert_eq!(of_run["source"]["window_ns"][0], start_ns + 1_000_000_000);
        assert_eq!(of_run["panels"]["run"]["ended"], "finished");
        std::fs::remove_file(folder.join("run.jfr")).expect("removed");
    }
    assert_ne!(cut["panels"]["gc_pauses"], whole["panels"]["gc_pauses"]);
    assert_eq!(whole["panels"]["run"].get("ended"), None);
}

#[test]
fn bands_are_reported_and_the_page_with_figures_is_written() {
    let lab = Lab::new();
    let file = fixture("tomcat/tomcat.jfr");
    let mut arguments = vec!["digest", &file, "--package", "org.apache", "--html", "page.html"];
    for band in ["java.nio=0..1", "own=0%..100%", "gc-rate=0..3"] {
        arguments.extend(["--band", band]);
    }
    let page = lab.assay(&arguments).expect(0).stdout;
    for line in [" above the expected 0 % to 1 %", " within the expected 0 % to 100 %"] {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert!(page.contains("/s: above the expected 0.000 to 3.000"), "{page}");
    let html = std::fs::read_to_string(lab.path().join("page.html")).expect("the page");
    assert_eq!(html.matches("<svg").count(), 2);
    for wrong in ["org.acme", "org.acme=4", "org.acme=6..4", "=1..2", "org.acme=a..b"] {
        let ran = lab.assay(&["digest", &file, "--band", wrong]).expect(2);
        assert!(ran.stderr.contains("expected a band such as"), "{}", ran.stderr);
    }
    let ran = lab.assay(&["digest", &file, "--band", "own=0..8"]).expect(2);
    assert!(ran.stderr.contains("--package"), "{}", ran.stderr);
}
