//! Bad input: one clear error for each mistake, all at once, exit 2, nothing started or written.

use crate::support::{Bench, Lab};

/// What `run` says of a bench that cannot be carried out.
fn refused(bench: &str) -> String {
    let lab = Lab::new();
    lab.write("bench.toml", bench);
    let ran = lab.assay(&["run", "bench.toml", "--label", "x"]).expect(2);
    assert_eq!(ran.stdout, "");
    assert!(!lab.path().join("results").exists(), "nothing was written");
    // `plan` says the same.
    let planned = lab.assay(&["plan", "bench.toml"]).expect(2);
    assert_eq!(planned.stderr, ran.stderr);
    lab.assert_nothing_runs();
    ran.stderr
}

const SOUND: &str = r#"[target.api]
mock = { latency = "2ms" }
[scenario.get]
get = "/"
[load.steady]
users = 2
measure = "300ms"
"#;

#[test]
fn unknown_keys() {
    insta::assert_snapshot!(refused(&format!("{SOUND}[matrix]\nblokcs = 3\n")), @r#"
    error: bench.toml:9:1: unknown key `blokcs` in `[matrix]`; nearest `blocks`
      9 | blokcs = 3
        | ^^^^^^
        = help: valid keys: `blocks`, `gap`, `nest`, `order`, `seed`, `warmup_run`, `timeout`, `bring_up_share`, `layout`
    "#);
}

#[test]
fn wrong_units() {
    insta::assert_snapshot!(refused(&SOUND.replace("\"300ms\"", "\"300parsecs\"")), @r#"
    error: bench.toml:7:11: `300parsecs` is not a duration; write `"30s"`
      7 | measure = "300parsecs"
        |           ^^^^^^^^^^^^
    "#);
}

#[test]
fn several_mistakes_are_told_at_once() {
    let text = SOUND.replace("users = 2", "user = 2").replace("get = \"/\"", "get = \"nowhere\"");
    insta::assert_snapshot!(refused(&text), @r#"
    error: bench.toml:4:7: `nowhere` is no path; write `"/path"`
      4 | get = "nowhere"
        |       ^^^^^^^^^
        = help: a path starts with `/`; other characters than visible ASCII are %-encoded
    bench.toml:5:7: load `steady` has no kind; one of `users`, `rate`, `stages`
      5 | [load.steady]
        |       ^^^^^^
    bench.toml:6:1: unknown key `user` in `[load.steady]`; nearest `users`
      6 | user = 2
        | ^^^^
        = help: valid keys: `users`, `rate`, `stages`, `warmup`, `measure`, `iterations`, `arrival`, `seed`, `think`, `pacing`, `cooldown`, `connections`, `sources`, `max_connections`, `timeout`
    "#);
}

#[test]
fn no_toml() {
    insta::assert_snapshot!(refused("[target.api\n"), @r#"
    error: bench.toml:1:12: unclosed table, expected `]`
      1 | [target.api
        |            ^
    "#);
}

#[test]
fn a_missing_file() {
    let lab = Lab::new();
    for verb in ["run", "plan"] {
        let ran = lab.assay(&[verb, "nowhere.toml"]).expect(2);
        insta::allow_duplicates! {
            insta::assert_snapshot!(ran.stderr, @r#"
            error: cannot read `nowhere.toml`: No such file or directory (os error 2)
              help: a bench is one TOML file
            "#);
        }
    }
}

#[test]
fn overlapping_cpus() {
    insta::assert_snapshot!(refused(&format!("{SOUND}[cpus]\nmock = 0\ngenerator = \"0-1\"\n")), @r#"
    error: bench.toml:10:13: `cpus` of `mock` and `generator` overlap on 0
      10 | generator = "0-1"
         |             ^^^^^
         = help: give them other cores, or allow it: `overlap = ["mock", "generator"]`
    "#);
}

#[test]
fn a_factor_with_one_level() {
    insta::assert_snapshot!(refused(&format!("{SOUND}[factors]\ntransport = [\"p0\"]\n")), @r#"
    error: bench.toml:9:1: factor `transport` has one level; `transport = "p0"` fixes it
      9 | transport = ["p0"]
        | ^^^^^^^^^
    "#);
}

#[test]
fn two_factors_that_set_one_path() {
    let factors = "[factors.a]\nx = {}\ny = { target.mock.latency = \"3ms\" }\n\
                   [factors.b]\nx = {}\ny = { target.mock.latency = \"4ms\" }\n";
    insta::assert_snapshot!(refused(&format!("{SOUND}{factors}")), @r#"
    error: bench.toml:13:19: factors `a` and `b` both set `target.mock.latency`
      13 | y = { target.mock.latency = "4ms" }
         |                   ^^^^^^^
    "#);
}

#[test]
fn a_set_that_sets_nothing() {
    let lab = Lab::new();
    lab.write("bench.toml", SOUND);
    let ran = lab.assay(&["plan", "bench.toml", "--set", "load.mesure=1s"]).expect(2);
    insta::assert_snapshot!(ran.stderr, @"
    error: --set:1:1: unknown key `mesure` in `--set`; nearest `measure`
      1 | load.mesure=1s
        | ^^^^^^^^^^^
        = help: valid keys: `users`, `rate`, `stages`, `warmup`, `measure`, `iterations`, `arrival`, `seed`, `think`, `pacing`, `cooldown`, `connections`, `sources`, `max_connections`, `timeout`
    ");
}

#[test]
fn an_only_that_matches_nothing() {
    let lab = Lab::new();
    lab.write("bench.toml", SOUND);
    let ran = lab.assay(&["plan", "bench.toml", "--only", "nginx*"]).expect(2);
    insta::assert_snapshot!(ran.stderr, @"error: `--only nginx*` matches no cell that is run");
}

#[test]
fn a_program_that_does_not_exist() {
    let bench = Bench::script("exit 0").target("command", "[\"./no-such-server\"]").toml();
    let message = refused(&bench);
    assert!(message.contains("missing file `./no-such-server`"), "{message}");
    // One to be found on the path is only known when it is started.
    let lab = Lab::new();
    let bench = Bench::script("exit 0").target("command", "[\"no-such-server\"]");
    let ran = lab.run(&bench, "absent", &[]).expect(3);
    let detail = lab.only_digest("absent").outcome.detail;
    insta::assert_snapshot!(detail, @"target `api`: cannot start `no-such-server`: No such file or directory (os error 2)");
    assert!(ran.stderr.contains("no-such-server"), "{}", ran.stderr);
    lab.assert_nothing_runs();
}

#[test]
fn urls_of_load() {
    let lab = Lab::new();
    for url in ["localhost:80", "https://localhost/", "http://u:p@h/"] {
        let ran = lab.assay(&["load", url]).expect(2);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.starts_with("error: `"), "{}", ran.stderr);
    }
    let ran = lab.assay(&["load", "https://localhost/"]).expect(2);
    insta::assert_snapshot!(ran.stderr, @"error: `https://localhost/` needs TLS, which this version cannot do; write `http://127.0.0.1:8080/path`");
}

#[test]
fn flags_of_the_mock() {
    let lab = Lab::new();
    let ran = lab.assay(&["mock", "--latency", "10 parsecs"]).expect(2);
    insta::assert_snapshot!(ran.stderr, @r#"error: --latency: `10 parsecs` is not a duration; write `"30s"`"#);
    let ran = lab.assay(&["mock", "--fail", "1%:maybe"]).expect(2);
    insta::assert_snapshot!(ran.stderr, @"error: --fail: `1%:maybe` is not a failure; write `1%:status=503`");
}
