//! `[generator.N]`: foreign generators as tables and levels, and what they cannot do.

use insta::assert_snapshot;
use record::plan::GeneratorKind;

use crate::support::{plan, refused};

/// A bench on a mock with these tables and factors.
fn bench(generators: &str, load: &str, factors: &str) -> String {
    format!(
        "[target.api]\nmock = {{ latency = \"5ms\" }}\n{generators}\n[scenario.get]\nget = \"/\"\n\
         [load.pairs]\n{load}\n[factors]\n{factors}\n"
    )
}

const CLOSED: &str = "users = 4\nmeasure = \"30s\"";

#[test]
fn generators_are_levels_with_controls_of_their_own() {
    let text = bench(
        "[generator.k6]\nadapter = \"k6\"\nscript = \"./get.js\"\n[generator.wrk]\nadapter = \"wrk\"",
        CLOSED,
        "generator = [\"wrk\", \"k6\", \"null\", \"null-k6\"]",
    );
    let found = plan(&text);
    let names: Vec<&str> = found.cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(names, ["wrk", "k6", "null", "null-k6"]);
    let generators: Vec<_> = found.cells.iter().map(|cell| &cell.effective.generator).collect();
    assert_eq!(generators[0].kind, GeneratorKind::Adapter("wrk".to_owned()));
    assert_eq!(generators[1].adapter(), Some("k6"));
    assert_eq!(generators[0], generators[2]);
    assert_eq!(generators[1], generators[3]);
    // The script is a file of the plan, by its hash.
    assert!(generators[1].script.as_ref().is_some_and(|path| path.ends_with("/get.js")));
    assert!(found.files.iter().any(|file| file.path == "./get.js" && file.sha256.len() == 64));
    let identity = |cell: usize| &found.cells[cell].identity_sha256;
    assert_eq!(identity(0), identity(2));
    assert_ne!(identity(0), identity(1));
}

#[test]
fn the_built_in_generator_is_a_level_and_the_default() {
    let text =
        bench("[generator.wrk]\nadapter = \"wrk\"", CLOSED, "generator = [\"assay\", \"wrk\"]");
    let both = plan(&text);
    assert!(!both.cells[0].effective.generator.is_foreign());
    let bare = plan(&bench("", CLOSED, ""));
    assert_eq!(bare.cells[0].effective.generator.name, "assay");
    // One table needs no choice, as in every section.
    let single = plan(&bench("[generator.w]\nadapter = \"wrk\"", CLOSED, ""));
    assert_eq!(single.cells[0].effective.generator.name, "w");
}

#[test]
fn what_a_tool_cannot_do_is_refused_where_it_is_asked_for() {
    let wrk = "[generator.wrk]\nadapter = \"wrk\"";
    assert_snapshot!(refused(&bench(wrk, "rate = \"100/s\"\nmeasure = \"30s\"", "")), @r#"
    bench.toml:8:8: `wrk` has no constant arrival rate
      8 | rate = "100/s"
        |        ^^^^^^^
        = help: can: `assay`, `k6`, `oha`
    "#);
    assert_snapshot!(refused(&bench(wrk, "users = 4\nmeasure = 1000", "")), @"
    bench.toml:9:11: `wrk` cannot be asked for a count of requests
      9 | measure = 1000
        |           ^^^^
        = help: can: `assay`, `k6`, `h2load`, `oha`, `hey`, `ab`
    ");
    assert_snapshot!(refused(&bench(wrk, "users = 4\nmeasure = \"5s\"\nconnections = \"shared\"", "")), @r#"
    bench.toml:10:15: `wrk` cannot share connections between users
      10 | connections = "shared"
         |               ^^^^^^^^
         = help: write `"per-user"` or `"new"`
    "#);
    let h2load = "[generator.h2load]\nadapter = \"h2load\"";
    assert_snapshot!(refused(&bench(h2load, "users = 4\nmeasure = \"5s\"\nconnections = \"new\"", "")), @r#"
    bench.toml:10:15: `h2load` cannot open a connection for each request
      10 | connections = "new"
         |               ^^^^^
         = help: can: `assay`, `wrk`, `k6`, `oha`, `hey`, `ab`, `siege`, `locust`
    "#);
    assert_snapshot!(refused(&bench("", "users = 4\nmeasure = \"5s\"\nconnections = \"shared\"", "")), @r#"
    bench.toml:9:15: generator `assay` cannot share connections between users
      9 | connections = "shared"
        |               ^^^^^^^^
        = help: write `"per-user"` or `"new"`
    "#);
    let hey = "[generator.hey]\nadapter = \"hey\"\nscript = \"./x.js\"";
    let text = bench(hey, CLOSED, "");
    assert_snapshot!(refused(&text), @r#"
    bench.toml:5:10: `hey` takes no script
      5 | script = "./x.js"
        |          ^^^^^^^^
        = help: can: `assay`, `wrk`, `k6`, `locust`
    "#);
}

#[test]
fn a_table_that_is_no_generator_is_refused_by_its_nearest_word() {
    assert_snapshot!(refused(&bench("[generator.a]\nadapter = \"wkr\"", CLOSED, "")), @r#"
    bench.toml:4:11: `wkr` is no value of `adapter`; nearest `wrk`
      4 | adapter = "wkr"
        |           ^^^^^
        = help: any other program is a `command` with `patterns`
    "#);
    assert_snapshot!(refused(&bench("[generator.a]\nadapter = \"vegeta\"", CLOSED, "")), @r#"
    bench.toml:4:11: `vegeta` is only read, not started
      4 | adapter = "vegeta"
        |           ^^^^^^^^
        = help: adapters: `wrk`, `k6`, `h2load`, `oha`, `hey`, `ab`, `siege`, `locust`
    "#);
    assert_snapshot!(refused(&bench("[generator.assay]\nadapter = \"wrk\"", CLOSED, "")), @"
    bench.toml:3:12: `assay` is built in
      3 | [generator.assay]
        |            ^^^^^
        = help: it needs no table; give this generator another name
    ");
    assert_snapshot!(refused(&bench("[generator.a]\nadaptr = \"wrk\"", CLOSED, "")), @r#"
    bench.toml:3:12: generator `a` has no kind; one of `adapter`, `command`
      3 | [generator.a]
        |            ^
    bench.toml:4:1: unknown key `adaptr` in `[generator.a]`; nearest `adapter`
      4 | adaptr = "wrk"
        | ^^^^^^
        = help: valid keys: `adapter`, `command`, `script`, `args`, `patterns`
    "#);
    assert_snapshot!(refused(&bench("[generator.a]\ncommand = [\"drive\"]", CLOSED, "")), @r#"
    bench.toml:3:12: generator `a` has no `patterns`
      3 | [generator.a]
        |            ^
        = help: regular expressions that find its figures: `patterns = ["requests: (?<requests>[0-9]+)"]`
    "#);
    assert_snapshot!(refused(&bench("[generator.a]\ncommand = [\"drive\"]\npatterns = [\"n=(?<request>[0-9]+)\"]", CLOSED, "")), @r#"
    bench.toml:5:13: pattern 1: `request` is no figure
      5 | patterns = ["n=(?<request>[0-9]+)"]
        |             ^^^^^^^^^^^^^^^^^^^^^^
        = help: figures: `requests`, `failures`, `rate`, `version`, `duration`, `min`, `mean`, `max`, `p50`, `p90`, `p95`, `p99`, `p999`; times may name their unit: `p99_ms`
    "#);
    assert_snapshot!(refused(&bench("[generator.a]\ncommand = [\"drive\"]\npatterns = [\"(\"]", CLOSED, "")), @r#"
    bench.toml:5:13: pattern 1: no regular expression: error: unclosed group
      5 | patterns = ["("]
        |             ^^^
    "#);
    assert_snapshot!(refused(&bench("[generator.k6]\nadapter = \"k6\"\n[generator.wrk]\nadapter = \"wrk\"", CLOSED, "")), @"
    bench.toml:5:12: 2 generators and none chosen; add `generator` to `[factors]`
      5 | [generator.wrk]
        |            ^^^
        = help: a text fixes one, a list varies them: `k6`, `wrk`
    ");
    assert_snapshot!(refused(&bench("[generator.k6]\nadapter = \"k6\"", CLOSED, "generator = [\"k6\", \"wkr\"]")), @r#"
    bench.toml:11:20: no `[generator.wkr]`
      11 | generator = ["k6", "wkr"]
         |                    ^^^^^
    "#);
    assert_snapshot!(refused(&bench("[generator.k6]\nadapter = \"k6\"\nscript = \"./missing.js\"", CLOSED, "")), @r#"
    bench.toml:5:10: missing file `./missing.js`
      5 | script = "./missing.js"
        |          ^^^^^^^^^^^^^^
        = help: looked for `/bench/missing.js`
    "#);
}

#[test]
fn what_only_assay_checks_is_noted() {
    let text = bench("[generator.wrk]\nadapter = \"wrk\"", CLOSED, "")
        .replace("get = \"/\"", "get = \"/\"\nexpect = { size = 128 }");
    let noted = plan(&text);
    let told = |what: &str| noted.notes.iter().any(|note| note.contains(what));
    assert!(told("`wrk` does not check `expect.size`"), "{:?}", noted.notes);
    // A target that is no mock is no witness.
    let text = text.replace("mock = { latency = \"5ms\" }", "url = \"http://127.0.0.1:9\"");
    let noted = plan(&text);
    assert!(
        noted.notes.iter().any(|note| note.contains("nobody else counts")),
        "{:?}",
        noted.notes
    );
}
