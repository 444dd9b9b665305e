//! `assay host qualify`: the plan of one cell beside itself; and where a factor of places puts its
//! targets.

use record::plan::RunKind;

use crate::support::plan as planned;

const BENCH: &str = r#"
[target.fast]
mock = { latency = "1ms" }
[target.slow]
mock = { latency = "50ms" }
[scenario.get]
get = "/"
[load.steady]
users = 4
measure = "30s"
[factors]
target = ["slow", "fast", "null"]
[matrix]
blocks = 12
"#;

#[test]
fn the_shortest_cell_meets_itself() {
    let plan = planned(BENCH);
    let cell = bench::shortest_cell(&plan).expect("a cell");
    assert_eq!(cell.name, "fast");
    let null = bench::qualification(&plan, "fast", 4).expect("it is a cell");
    let dirs: Vec<&str> = null.runs.iter().map(|run| run.dir.as_str()).collect();
    assert_eq!(
        dirs,
        [
            "01-01-self",
            "01-02-null",
            "02-01-null",
            "02-02-self",
            "03-01-self",
            "03-02-null",
            "04-01-null",
            "04-02-self",
        ]
    );
    assert!(null.runs.iter().all(|run| run.kind == RunKind::Measured));
    let identities: Vec<&str> = null.cells.iter().map(|c| c.identity_sha256.as_str()).collect();
    assert_eq!(identities, [cell.identity_sha256.as_str(); 2], "a thing beside itself");
    let contrasted = null.cells[1].levels.iter().filter(|level| level.contrasted);
    let contrasted: Vec<&str> = contrasted.map(|level| level.factor.as_str()).collect();
    assert_eq!(contrasted, ["qualification"]);
    // Eight runs of at most 33 s with their bring-ups, and not the whole matrix.
    assert!(null.estimate.time_ns < plan.estimate.time_ns, "{:?}", null.estimate);
    assert_eq!(bench::qualification(&plan, "none", 4), None);
}

/// K-124: a level that puts the target on other cores has an instance of its own, also where all
/// stay up for the whole matrix.
#[test]
fn another_place_is_another_instance() {
    let place = |levels: &str| {
        let text = BENCH.replace("target = [\"slow\", \"fast\", \"null\"]", "target = \"fast\"");
        let text = text.replace(
            "mock = { latency = \"1ms\" }",
            "mock = { latency = \"1ms\" }\nfresh = \"matrix\"",
        );
        planned(&text.replace("[matrix]", &format!("[factors.place]\n{levels}\n[matrix]")))
    };
    let instances = |plan: &record::plan::Plan| {
        let measured = plan.runs.iter().filter(|run| run.kind == RunKind::Measured);
        measured.map(|run| run.instance).collect::<std::collections::BTreeSet<u32>>().len()
    };
    let moved = place(
        "apart = { cpus.mock = \"0\", cpus.generator = \"1\" }\n\
                       shared = { cpus.mock = \"0-1\", cpus.generator = \"0-1\", cpus.overlap = [\"mock\", \"generator\"] }",
    );
    assert_eq!(instances(&moved), 2);
    // Moving the generator alone leaves the target where it is.
    let same = place("one = { cpus.generator = \"0\" }\ntwo = { cpus.generator = \"1\" }");
    assert_eq!(instances(&same), 1);
}
