//! The page to look at: written by a run, written again by a comparison, complete and self-contained.

#[path = "../../../report/tests/page_tree/mod.rs"]
mod page_tree;

use std::fs;

use page_tree::{Element, Tree};
use record::layout;

use crate::support::{Bench, Lab};

/// Two levels and a null over two blocks; the windows have one whole second.
fn bench() -> Bench {
    Bench::mock().load("measure", "\"1200ms\"").matrix("blocks", "2").factor(
        "latency",
        &[("base", "{}"), ("slower", "{ target.mock.latency = \"4ms\" }"), ("null", "\"base\"")],
    )
}

fn drawings(figure: &Element) -> usize {
    figure.named("svg").iter().filter(|svg| svg.attribute("role") == Some("img")).count()
}

#[test]
fn a_run_leaves_a_page_and_a_comparison_writes_the_same() {
    let lab = Lab::new();
    // Six pairs are needed for a verdict; two end in a doubt or not, by the machine.
    lab.run(&bench(), "seen", &[]).expect_one_of(&[0, 3]);
    let path = lab.label("seen").join(layout::MATRIX_HTML);
    let html = fs::read_to_string(&path).expect("a page beside the other tables");
    let tree = Tree::parse(&html);
    assert_eq!(tree.named("h1")[0].text, "seen");
    for section in ["answer", "doubts", "evidence", "beside", "others"] {
        assert_eq!(tree.id(section).map(|h| h.name.as_str()), Some("h2"), "{section}");
    }
    let drawn = |id: &str| drawings(tree.id(id).unwrap_or_else(|| panic!("no figure `{id}`")));
    for (figure, expected) in [
        ("effects", 1),
        ("runs", 1),
        ("order", 1),
        ("percentiles", 1),
        ("series", 6),
        ("timeline", 1),
    ] {
        assert_eq!(drawn(figure), expected, "{figure}");
    }
    let bars = tree.id("timeline").expect("a timeline").everything();
    let bars =
        bars.iter().filter(|one| one.attribute("class").is_some_and(|c| c.starts_with("bar ")));
    assert_eq!(bars.count(), 6 + 3, "six runs and the legend");
    for forbidden in ["<script", "src=", "href=\"http", "style=\"", "@import"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(tree.all().len() > 300);

    let again = lab.path().join("again.html");
    let arguments = ["compare", "results/seen", "--html", "again.html"];
    lab.assay(&arguments).expect_one_of(&[0, 3]);
    assert!(fs::read_to_string(&again).expect("a page") == html, "the same records, other bytes");

    // A folder that is not there is a failure of the system, and says which file.
    let ran = lab.assay(&["compare", "results/seen", "--html", "none/page.html"]).expect(1);
    assert!(ran.stderr.contains("cannot write `none/page.html`"), "{}", ran.stderr);
    lab.assert_nothing_runs();
}

#[test]
fn a_quick_run_has_no_page() {
    let lab = Lab::new();
    lab.write("bench.toml", &bench().toml());
    lab.assay(&["run", "bench.toml", "--quick", "--label", "q"]).expect(0);
    assert!(!lab.path().join("results/quick/q").join(layout::MATRIX_HTML).exists());
    lab.assay(&["compare", "results/quick/q", "--html", "page.html"]).expect(5);
    assert!(!lab.path().join("page.html").exists());
}
