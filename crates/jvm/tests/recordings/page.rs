//! The page: short, in one order, and of like runs alike but for values.

use jvm::jfr::Recording;
use jvm::panels::{Question, digest};
use record::recording::RecordingDigest;

use super::digest_of;
use super::writer::{Chunk, types};

const ALL: [&str; 12] = [
    "jfr/lab-profile-g1",
    "jfr/lab-soak",
    "jfr/lab-zgc",
    "jfr/lab-serial",
    "jfr/lab-oldobjects",
    "jfr/lab-multichunk",
    "jfr/lab-jdk11",
    "jfr/lab-jdk21-vthreads",
    "jfr/lab-jdk25-vthreads",
    "killed/assembled",
    "tomcat/tomcat",
    "async-profiler/async-profiler",
];

#[test]
fn every_page_is_short_and_has_its_sections_in_one_order() {
    let mut order: Option<Vec<String>> = None;
    for name in ALL {
        let page = report::recording_md("x", &digest_of(name, &Question::default()));
        assert!(page.lines().count() < 500, "{name}");
        let sections = page.lines().filter(|line| line.starts_with("## ")).map(str::to_owned);
        // Of a kind of sample that only some JDKs have.
        let sections = sections.filter(|line| line != "## Hot methods by CPU time").collect();
        assert_eq!(order.get_or_insert_with(|| Vec::clone(&sections)), &sections, "{name}");
    }
}

fn like(scale: u64) -> RecordingDigest {
    let mut chunk = Chunk::new(true).lasting(10_000_000_000);
    chunk.stack(1, &[("org/acme/Shop", "sell"), ("org/acme/Main", "run")]);
    chunk.stack(2, &[("org/acme/Till", "sum")]);
    chunk.thread(1, "worker");
    chunk.executions(1, 1, 40 * scale);
    chunk.executions(1, 2, 30 * scale);
    chunk.allocation(types::SAMPLE, 200, [1, 1, 1_000], &[7_000 * scale]);
    chunk.allocation(types::SAMPLE, 300, [1, 2, 2_000], &[3_000 * scale]);
    for at in 0..12 {
        chunk.pause(200 + at, 1_000_000 + 10_000 * scale);
    }
    digest(&Recording::of_bytes("x", chunk.finish()).expect("a recording"), &Question::default())
}

#[test]
fn pages_of_like_runs_differ_in_values_only() {
    let pages = [1, 2].map(|scale| report::recording_md("run.jfr", &like(scale)));
    let without_values = |page: &String| -> Vec<String> {
        let lines = page.lines();
        lines.map(|line| line.chars().filter(|c| !c.is_ascii_digit()).collect()).collect()
    };
    assert_ne!(pages[0], pages[1]);
    let [a, b] = [without_values(&pages[0]), without_values(&pages[1])];
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        // A value may gain a digit group or go from KiB to MiB.
        let words =
            |line: &str| line.replace([',', '.'], "").replace("KiB", "B").replace("MiB", "B");
        assert_eq!(words(a), words(b));
    }
    assert_eq!(report::recording_md("run.jfr", &like(1)), pages[0]);
}

/// A suppressed ranking shows its reason and the total and no row.
#[test]
fn a_suppressed_ranking_is_not_printed() {
    let mut digest = like(1);
    let panel = digest.panels.allocation_by_site.as_mut().expect("sites");
    panel.suppressed = Some("no ranking".to_owned());
    let page = report::recording_md("x", &digest);
    let section = page.split("## ").find(|part| part.starts_with("Allocation by site"));
    let section = section.expect("a section");
    assert!(section.contains("**Total only**: no ranking."), "{section}");
    assert!(!section.contains("org.acme"), "{section}");
    assert!(section.contains("9.77 KiB"), "{section}");
}

/// The page in HTML: the same words, two drawings, nothing that runs or is fetched.
#[test]
fn the_page_with_figures_is_self_contained() {
    let pages: Vec<(String, RecordingDigest)> = ["jfr/lab-profile-g1", "tomcat/tomcat"]
        .map(|name| (name.to_owned(), digest_of(name, &Question::default())))
        .into();
    let html = report::recording_html(&pages);
    assert!(html.starts_with("<!DOCTYPE html>"));
    for wrong in ["<script", "http:", "https:", "src=", "style=", "**", "| ---"] {
        assert!(!html.contains(wrong), "{wrong}");
    }
    assert_eq!(html.matches("<svg").count(), 4);
    assert_eq!(html.matches("<h1>").count(), 2);
    assert!(html.contains("Shape: <strong>leak</strong>"), "the leak of the fixture is named");
    for id in ["heap", "heap-2", "pauses", "pauses-2"] {
        assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    // Every cell of the Markdown page is there.
    let page = report::recording_md("jfr/lab-profile-g1", &pages[0].1);
    let rows = page.lines().filter(|line| line.starts_with("| ")).count();
    let tables = html.split("<h1>").nth(1).expect("the first page");
    assert_eq!(tables.matches("<tr>").count(), rows);
    assert_eq!(report::recording_html(&pages), html);
}
