//! `matrix.html` from labels made by hand: complete, self-contained, well-formed, safe and
//! bounded. With `ASSAY_PAGES=DIR` the pages are kept there, to be looked at.

mod page_label;
mod page_tree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use page_label::{LabelMaker, fail, page_of};
use page_tree::{Element, Tree};
use record::compare::{Estimate, LeftOut};
use record::page::{Page, SecondFigures};
use record::{Effect, Reason, Scope};

/// The rendered page, kept where it can be looked at.
fn rendered(name: &str, page: &Page) -> String {
    let html = report::matrix_html(page);
    if let Some(dir) = std::env::var_os("ASSAY_PAGES") {
        let path = std::path::Path::new(&dir).join(format!("{name}.html"));
        std::fs::write(&path, &html).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    html
}

/// Three levels over twelve blocks, one run of them void, with everything that a page can show.
fn page() -> Page {
    static PAGE: OnceLock<Page> = OnceLock::new();
    PAGE.get_or_init(|| {
        let change = |run: &mut evidence::samples::SampleRun| {
            if run.meta.block == 5 && run.meta.cell == "slower" {
                fail(run, 900);
            }
        };
        let label = LabelMaker { change, ..LabelMaker::default() }.make();
        let mut page = page_of(label.path());
        for contrast in &mut page.matrix.contrasts {
            contrast.null_interval_percent = (!contrast.null).then_some([-0.29, 0.2]);
            contrast.order_effect_percent =
                Some(Estimate { value: 0.05, interval: Some([-0.1, 0.2]) });
        }
        page
    })
    .clone()
}

fn breaks_at(page: &mut Page, second: Option<u64>) {
    let run = page.series.iter_mut().find(|run| run.doubtful).expect("one run is void");
    run.marks.push(record::page::SeriesMark {
        gate: "steady_state".to_owned(),
        effect: Effect::Void,
        second,
        detail: "p50 rose by 30 %".to_owned(),
    });
}

fn class_of<'a>(element: &'a Element, class: &str) -> Option<&'a Element> {
    let has = element.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class));
    has.then_some(element)
}

/// How many elements below `id` carry a class.
fn count(tree: &Tree, id: &str, class: &str) -> usize {
    let element = tree.id(id).unwrap_or_else(|| panic!("no `{id}`"));
    element.everything().into_iter().filter_map(|one| class_of(one, class)).count()
}

/// The figures of the page.
const FIGURES: [&str; 6] = ["effects", "runs", "order", "percentiles", "series", "timeline"];

#[test]
fn the_page_reads_from_the_answer_to_the_evidence() {
    let tree = Tree::parse(&rendered("label", &page()));
    let outline: Vec<String> = tree
        .all()
        .into_iter()
        .filter(|element| matches!(element.name.as_str(), "h1" | "h2" | "h3"))
        .map(|element| format!("{} {}", element.name, element.text))
        .collect();
    insta::assert_snapshot!(outline.join("\n"), @r"
    h1 sample
    h2 Answer
    h2 Doubts
    h2 Evidence
    h3 Effects
    h3 Every run
    h3 Order of the pairs
    h3 Latency by percentile
    h3 Second by second
    h3 When the runs ran
    h2 Beside the contrasts
    h2 Other metrics
    ");
    let answers = tree.all().into_iter().find_map(|element| class_of(element, "answers"));
    let answers: Vec<&str> =
        answers.expect("answers in words").named("li").iter().map(|li| &*li.text).collect();
    insta::assert_snapshot!(answers.join("\n"), @r"
    slower: slower against base: throughput -7.59 % of base (95 % interval -7.80 % to -7.33 %), 11 pairs; margin 2 %; null control -0.29 % to +0.20 %; see odd_pairs under Doubts.
    equivalent: null against base (null control): throughput -0.05 % of base (95 % interval -0.29 % to +0.20 %), 12 pairs; margin 2 %.
    ");
}

#[test]
fn every_figure_has_its_marks_and_a_table_that_says_the_same() {
    let page = page();
    let tree = Tree::parse(&report::matrix_html(&page));
    for id in FIGURES {
        let figure = tree.id(id).unwrap_or_else(|| panic!("no figure `{id}`"));
        assert_eq!(figure.name, "figure");
        assert_eq!(figure.attribute("tabindex"), Some("0"), "{id} is reached by the keyboard");
        assert!(!figure.named("figcaption").is_empty(), "{id} says how it is read");
        let drawings = figure.named("svg");
        assert!(!drawings.is_empty(), "{id} is drawn");
        for drawing in drawings {
            assert_eq!(drawing.attribute("role"), Some("img"));
            let named = drawing.attribute("aria-labelledby").expect("a drawing has a name");
            for id in named.split(' ') {
                let text = &tree.id(id).unwrap_or_else(|| panic!("no `{id}`")).text;
                assert!(!text.trim().is_empty(), "`{id}` is empty");
            }
        }
        let tables = figure.named("details").iter().flat_map(|fold| fold.named("tr")).count();
        assert!(tables > 1, "{id} has a table with rows");
    }
    // 36 runs: 35 valid and one void.
    assert_eq!(count(&tree, "runs", "run"), 35);
    assert_eq!(count(&tree, "runs", "cross"), 1 + 1, "one void run, and the legend");
    assert_eq!(count(&tree, "runs", "median"), 3 + 1);
    assert_eq!(count(&tree, "effects", "whisker"), 3 * 2 + 1, "a line and two ends for each row");
    assert_eq!(count(&tree, "effects", "noise"), 1 + 1, "not under the null itself");
    let pairs: usize =
        page.matrix.contrasts.iter().filter(|c| c.primary).map(|c| c.log_ratios.len()).sum();
    assert_eq!(count(&tree, "order", "run"), pairs);
    assert_eq!(pairs, 23);
    assert_eq!(tree.id("series").expect("series").named("svg").len(), 36);
    assert_eq!(count(&tree, "timeline", "void"), 1 + 1);
    assert_eq!(count(&tree, "timeline", "valid"), 35 + 1);
}

#[test]
fn the_order_of_a_pair_is_told_by_the_positions_of_its_runs() {
    let mut page = page();
    let tree = Tree::parse(&report::matrix_html(&page));
    let hollow = |tree: &Tree| count(tree, "order", "hollow");
    let before = hollow(&tree);
    // Every run in mirrored order: who went first now goes second.
    for run in &mut page.matrix.runs {
        run.order = 4 - run.order;
    }
    let after = hollow(&Tree::parse(&report::matrix_html(&page)));
    assert_eq!(before - 1 + after - 1, 23, "each pair was led once by either arm");
    assert_ne!(before, after);
}

#[test]
fn nothing_outside_the_page_is_needed_and_nothing_in_it_runs() {
    let html = report::matrix_html(&page());
    for forbidden in
        ["http", "src=", "<script", "style=", "@import", "javascript:", "<link", "<img"]
    {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    for (at, _) in html.match_indices("url(") {
        assert!(html[at..].starts_with("url(#"), "{}", &html[at..at + 30]);
    }
    for element in Tree::parse(&html).all() {
        for (name, value) in &element.attributes {
            assert!(!name.starts_with("on"), "{name}={value}");
            assert!(name != "href" || value.starts_with('#'), "{name}={value}");
        }
    }
}

#[test]
fn names_are_unique_and_every_reference_has_its_end() {
    let tree = Tree::parse(&report::matrix_html(&page()));
    let mut ids = BTreeSet::new();
    for id in tree.all().iter().filter_map(|element| element.attribute("id")) {
        assert!(ids.insert(id), "`{id}` twice");
    }
    let mut references = 0;
    for element in tree.all() {
        let named = element.attribute("aria-labelledby").into_iter().flat_map(|ids| ids.split(' '));
        let linked = element.attribute("href").map(|link| &link[1..]);
        for id in named.chain(linked) {
            assert!(ids.contains(id), "`{id}` is nowhere");
            references += 1;
        }
    }
    assert!(references > 50, "{references}");
    let mut last = 0;
    for element in tree.all() {
        if let Some(level) = element.name.strip_prefix('h').and_then(|n| n.parse::<u32>().ok()) {
            assert!(level <= last + 1, "h{level} follows h{last}");
            last = level;
        }
    }
    for table in tree.named("table") {
        assert_eq!(table.named("caption").len(), 1);
        let heads = table.named("th");
        assert!(heads.iter().all(|head| head.attribute("scope").is_some()));
    }
}

/// Text that would leave its place if it were written as it is.
const HOSTILE: &str = "</title></svg><script>alert(1)</script>\" onload='x' &amp; <img src=x>";

#[test]
fn hostile_text_stays_text() {
    let mut page = page();
    let matrix = &mut page.matrix;
    matrix.label = format!("label {HOSTILE}");
    matrix.bench = format!("bench {HOSTILE}");
    matrix.notes.push(format!("note {HOSTILE}"));
    let hostile_cell = format!("cell {HOSTILE}");
    let level = format!("level {HOSTILE}");
    for run in &mut matrix.runs {
        if run.cell == "slower" {
            run.cell = hostile_cell.clone();
            run.path = format!("runs/{HOSTILE}{}", run.block);
        }
        run.started_utc = HOSTILE.to_owned();
        if let Some(validity) = &mut run.validity {
            validity.reasons.push(Reason {
                gate: format!("gate {HOSTILE}"),
                value: None,
                bound: None,
                unit: HOSTILE.to_owned(),
                effect: Effect::Flag,
                scope: Scope::Run,
                detail: format!("failure {HOSTILE}"),
                remedy: Some(format!("remedy {HOSTILE}")),
                second: Some(3),
            });
        }
    }
    for contrast in &mut matrix.contrasts {
        contrast.level = level.clone();
        contrast.factor = HOSTILE.to_owned();
        contrast.cell = hostile_cell.clone();
        contrast.verdict = HOSTILE.to_owned();
        contrast.flags.push(HOSTILE.to_owned());
        contrast.unit = HOSTILE.to_owned();
    }
    matrix.tables.cells[0].flags.push(HOSTILE.to_owned());
    page.cells[1].name = hostile_cell.clone();
    page.cells[2].rows = HOSTILE.to_owned();
    page.distributions[1].cell = hostile_cell.clone();
    for run in page.series.iter_mut().filter(|run| run.cell == "slower") {
        run.cell = hostile_cell.clone();
        run.run = HOSTILE.to_owned();
    }
    breaks_at(&mut page, Some(3));
    page.series.iter_mut().flat_map(|run| &mut run.marks).for_each(|mark| {
        mark.gate = HOSTILE.to_owned();
        mark.detail = HOSTILE.to_owned();
    });
    page.builds = vec![HOSTILE.to_owned()];
    page.machines = vec![HOSTILE.to_owned(), format!("other {HOSTILE}")];
    page.left_out = vec![LeftOut { run: HOSTILE.to_owned(), reason: HOSTILE.to_owned() }];
    page.notes = vec![format!("unreadable {HOSTILE}")];

    let html = rendered("hostile", &page);
    // The strict reader takes it, so that it is well-formed; and it knows only our elements.
    let tree = Tree::parse(&html);
    let known: BTreeMap<String, usize> = Tree::parse(&report::matrix_html(&self::page()))
        .all()
        .iter()
        .map(|element| (element.name.clone(), 1))
        .collect();
    for element in tree.all() {
        assert!(known.contains_key(&element.name), "<{}>", element.name);
        assert!(element.attributes.keys().all(|name| !name.starts_with("on")));
    }
    let text = &tree.root.text;
    for place in ["label", "bench", "note", "cell", "level", "gate", "failure", "remedy"] {
        assert!(text.contains(&format!("{place} {HOSTILE}")), "{place}");
    }
    assert!(text.contains(&format!("unreadable {HOSTILE}")));
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let make = || {
        let change = |_: &mut evidence::samples::SampleRun| {};
        LabelMaker { blocks: 2, seconds: 2, change, ..LabelMaker::default() }.make()
    };
    let [one, other] = [make(), make()].map(|label| report::matrix_html(&page_of(label.path())));
    assert!(one == other, "pages of equal labels in two places differ");
}

#[test]
fn a_second_that_broke_is_marked_and_one_that_did_not_is_not() {
    let marked = |second| {
        let mut page = page();
        breaks_at(&mut page, second);
        let html = rendered(&format!("broken-{}", second.is_some()), &page);
        let tree = Tree::parse(&html);
        let said = tree.id("series").expect("series").text.contains("steady_state");
        (count(&tree, "series", "break"), said)
    };
    assert_eq!(marked(Some(12)), (1, true));
    assert_eq!(marked(None), (0, true));
    assert_eq!(count(&Tree::parse(&report::matrix_html(&page())), "series", "break"), 0);
}

#[test]
fn a_percentile_without_its_samples_ends_the_line_and_says_so() {
    let mut page = page();
    assert_eq!(count(&Tree::parse(&report::matrix_html(&page)), "percentiles", "cut"), 0);
    page.distributions[0].points[3].value_ns = None;
    page.distributions[0].points[4].value_ns = None;
    let tree = Tree::parse(&rendered("few", &page));
    assert_eq!(count(&tree, "percentiles", "cut"), 1);
    let text = &tree.id("percentiles").expect("percentiles").text;
    assert!(text.contains("too few for p99.9"), "{text}");
    assert!(text.contains("too few: needs 5,800"), "{text}");
}

#[test]
fn an_empty_label_has_a_page_that_says_so() {
    let mut empty = page();
    empty.matrix.runs.clear();
    empty.matrix.contrasts.clear();
    empty.matrix.tables = Default::default();
    empty.matrix.notes = vec!["no complete run: nothing to compare".to_owned()];
    (empty.cells, empty.series, empty.distributions) = Default::default();
    (empty.left_out, empty.notes) = Default::default();
    let tree = Tree::parse(&rendered("empty", &empty));
    let text = &tree.root.text;
    for words in
        ["Nothing was compared", "no complete run", "There is no pair", "No run is complete"]
    {
        assert!(text.contains(words), "{words}");
    }
}

#[test]
fn a_thousand_runs_of_an_hour_stay_under_five_megabytes() {
    let mut page = page();
    let sample = page.matrix.runs.clone();
    page.matrix.runs = (0..1_000_u32)
        .map(|index| {
            let mut run = sample[index as usize % 36].clone();
            run.block = index / 3 + 1;
            run.path = format!("runs/{:03}-{:02}-{}", run.block, run.order, run.cell);
            let at = u64::from(index) * 36_000_000_000;
            run.span_ns = Some([at, at + 34_000_000_000]);
            run
        })
        .collect();
    let seconds = |run: u64| -> Vec<SecondFigures> {
        (0..3_600)
            .map(|second| SecondFigures {
                succeeded: 700 + (second * 7 + run) % 131,
                failed: 0,
                p50_ns: Some(9_000_000 + (second * 13 + run) % 999 * 1_000),
                p99_ns: Some(20_000_000 + (second * 17 + run) % 999 * 9_000),
            })
            .collect()
    };
    let one = page.series[0].clone();
    page.series = (0..48)
        .map(|run| record::page::RunSeries { seconds: seconds(run), ..one.clone() })
        .collect();
    page.series_left = 952;
    let html = rendered("thousand", &page);
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    let tree = Tree::parse(&html);
    assert_eq!(count(&tree, "runs", "run") + count(&tree, "runs", "cross") - 1, 1_000);
    assert_eq!(count(&tree, "timeline", "bar") - 3, 1_000);
    let text = &tree.id("series").expect("series").text;
    assert!(text.contains("48 of 1000 runs are shown"), "{text}");
    assert!(text.contains("are thinned"), "{text}");
}
