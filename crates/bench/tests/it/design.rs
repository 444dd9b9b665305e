//! What is registered about the comparison (`[compare]`, `[[hypothesis]]`), and controls as
//! levels: what they come to, and every refusal to the letter.

use std::collections::BTreeMap;

use bench::Overrides;
use insta::assert_snapshot;
use record::mock::Slowdown;
use record::plan::{Cell, Hypothesis, Manipulation, Plan, TargetKind};

use crate::support::{plan, plan_with, refused, set, single, with};

const LATENCIES: &str = "[factors.latency]
base = {}
slower = { target.mock.latency = \"6ms\" }
null = \"base\"
[scenario.large]
get = \"/large\"
[factors]
scenario = [\"get\", \"large\"]
";

fn cell<'p>(plan: &'p Plan, name: &str) -> &'p Cell {
    plan.cells.iter().find(|cell| cell.name == name).unwrap_or_else(|| panic!("no cell {name}"))
}

#[test]
fn everything_registered_is_in_the_plan() {
    let plan = plan(&single(&format!(
        "{LATENCIES}
[compare]
primary = \"p50\"
factors = \"latency\"
baseline = \"base\"
over = \"scenario\"
guard = \"large\"
weight = {{ get = 2 }}
margin = {{ p99 = \"7%\", target.cpu_per_request = \"3%\", \"*\" = \"1%\" }}
positive = \"10%\"
allow = [\"host.kernel\", \"load.warmup\"]
looks = 3
manipulation = {{ metric = \"connections\", least = \"20%\" }}
[[hypothesis]]
name = \"one hop more\"
predicts = \"+20%\"
[[hypothesis]]
name = \"a busier machine\"
factor = \"latency\"
level = \"slower\"
metric = \"p99\"
predicts = \"-2.5%\"
"
    )));
    let compare = &plan.compare;
    assert_eq!(compare.primary.as_deref(), Some("p50"));
    assert_eq!(compare.factors, ["latency"]);
    assert_eq!(compare.baseline, BTreeMap::from([("latency".into(), "base".into())]));
    assert_eq!(compare.over.as_deref(), Some("scenario"));
    assert_eq!(compare.guard, ["large"]);
    assert_eq!(compare.weight, BTreeMap::from([("get".into(), 2.0)]));
    assert_eq!(
        compare.margin,
        BTreeMap::from([
            ("*".into(), 0.01),
            ("p99".into(), 0.07),
            ("target.cpu_per_request".into(), 0.03)
        ])
    );
    assert_eq!(compare.positive, Some(0.1));
    assert_eq!(compare.allow, ["host.kernel", "load.warmup"]);
    assert_eq!(compare.looks, Some(3));
    assert_eq!(
        compare.manipulation,
        [Manipulation { factor: Some("latency".into()), metric: "connections".into(), least: 0.2 }]
    );
    let hypothesis = |name: &str, metric: Option<&str>, predicts| Hypothesis {
        name: name.into(),
        factor: Some("latency".into()),
        level: Some("slower".into()),
        metric: metric.map(str::to_owned),
        predicts,
    };
    assert_eq!(
        compare.hypotheses,
        [
            hypothesis("one hop more", None, 0.2),
            hypothesis("a busier machine", Some("p99"), -0.025)
        ]
    );
}

#[test]
fn nothing_registered_is_nothing() {
    let plan = plan(&single(LATENCIES));
    assert_eq!(plan.compare, record::plan::Compare::default());
}

#[test]
fn one_margin_is_for_all_metrics() {
    let plan = plan(&single("[compare]\nmargin = \"3%\""));
    assert_eq!(plan.compare.margin, BTreeMap::from([("*".into(), 0.03)]));
}

#[test]
fn compare_comes_from_the_command_line_too() {
    let set = ["compare.margin.p99=4%", "compare.looks=2", "compare.over=scenario"];
    let overrides = Overrides { set: set.map(str::to_owned).to_vec(), ..Overrides::default() };
    let plan = plan_with(&single(LATENCIES), &overrides).unwrap();
    assert_eq!(plan.compare.margin, BTreeMap::from([("p99".into(), 0.04)]));
    assert_eq!(plan.compare.looks, Some(2));
    assert_eq!(plan.compare.over.as_deref(), Some("scenario"));
}

/// `factors` decides what is compared and with it which factors are rows.
#[test]
fn what_is_compared_may_be_chosen() {
    let text = |compare: &str| {
        single(&format!(
            "[factors]\nsize = {{ key = \"vars.size\", values = [1, 2] }}\nheap = {{ key = \"vars.heap\", values = [1, 2] }}\n{compare}"
        ))
    };
    let shown = |compare: &str| {
        let plan = plan(&text(compare));
        let role = |factor: &record::plan::Factor| {
            format!("{}{}", factor.name, if factor.contrasted { "" } else { " rows" })
        };
        let factors: Vec<String> = plan.factors.iter().map(role).collect();
        assert!(plan.cells.iter().all(|cell| {
            cell.levels.iter().zip(&plan.factors).all(|(of, f)| of.contrasted == f.contrasted)
        }));
        format!("{}; nest {}", factors.join(", "), plan.nest.join(" > "))
    };
    assert_snapshot!(shown(""), @"size, heap; nest heap > size");
    assert_snapshot!(shown("[compare]\nfactors = [\"heap\"]"), @"size rows, heap; nest size > heap");
    assert_snapshot!(shown("[compare]\nover = \"size\""), @"size rows, heap; nest size > heap");
    assert_snapshot!(shown("[compare]\nover = \"size\"\nfactors = [\"size\", \"heap\"]"), @"size, heap; nest heap > size");
    // A load is a row, unless it is what the bench is about.
    let loads = single(
        "[load.many]\nusers = 8\nmeasure = \"2s\"\n[factors]\nload = [\"main\", \"many\"]\n[compare]\nfactors = \"load\"",
    );
    assert!(plan(&loads).factors[0].contrasted);
}

/// A moved baseline takes the controls that repeat the baseline with it, and leaves the others.
#[test]
fn a_baseline_may_be_any_level() {
    let text = with(
        "[factors]\ntarget = [\"nginx\", \"tomcat\", \"null\", \"null-nginx\", \"positive\"]\n[compare]\nbaseline = { target = \"tomcat\" }",
    );
    let plan = plan(&text);
    let levels: Vec<String> = plan.factors[0]
        .levels
        .iter()
        .map(|level| match &level.twin {
            Some(twin) => format!("{} of {twin}", level.name),
            None => level.name.clone(),
        })
        .collect();
    assert_eq!(
        levels,
        ["nginx", "tomcat", "null of tomcat", "null-nginx of nginx", "positive of tomcat"]
    );
    let identity = |name: &str| cell(&plan, name).identity_sha256.clone();
    assert_eq!(identity("null"), identity("tomcat"));
    assert_eq!(identity("null-nginx"), identity("nginx"));
    // The order of the levels, and with it every schedule, stays as written.
    assert_eq!(cell(&plan, "tomcat").levels[0].index, 1);
}

#[test]
fn names_that_are_none() {
    let compare = |text: &str| refused(&single(&format!("{LATENCIES}[compare]\n{text}")));
    assert_snapshot!(compare("factors = [\"latncy\", \"scenario\", \"scenario\"]"), @r#"
bench.toml:17:12: `latncy` in `compare.factors` is no varied factor; nearest `latency`
  17 | factors = ["latncy", "scenario", "scenario"]
     |            ^^^^^^^^
bench.toml:17:34: `compare.factors` lists `scenario` twice
  17 | factors = ["latncy", "scenario", "scenario"]
     |                                  ^^^^^^^^^^
"#);
    assert_snapshot!(compare("baseline = \"slowr\""), @r#"
bench.toml:17:12: `latency` has no level `slowr`; nearest `slower`
  17 | baseline = "slowr"
     |            ^^^^^^^
"#);
    assert_snapshot!(compare("baseline = { latencies = \"slower\" }"), @r#"
bench.toml:17:14: `latencies` in `compare.baseline` is no varied factor; nearest `latency`
  17 | baseline = { latencies = "slower" }
     |              ^^^^^^^^^
"#);
    assert_snapshot!(compare("baseline = \"null\""), @r#"
bench.toml:17:12: the baseline of `latency` is the control `null`
  17 | baseline = "null"
     |            ^^^^^^
     = help: a control repeats a level; the baseline is one that it may repeat
"#);
    assert_snapshot!(compare("over = \"scenaro\""), @r#"
bench.toml:17:8: `scenaro` in `compare.over` is no varied factor; nearest `scenario`
  17 | over = "scenaro"
     |        ^^^^^^^^^
"#);
    assert_snapshot!(compare("over = \"latency\""), @r#"
bench.toml:17:8: nothing is compared over the levels of `latency`
  17 | over = "latency"
     |        ^^^^^^^^^
     = help: a mean over rows needs another factor, whose levels are compared in each row
"#);
    assert_snapshot!(compare("over = \"scenario\"\nguard = [\"lage\"]\nweight = { gt = 2 }"), @r#"
bench.toml:18:10: `scenario` has no level `lage`; nearest `large`
  18 | guard = ["lage"]
     |          ^^^^^^
bench.toml:19:12: `scenario` has no level `gt`; nearest `get`
  19 | weight = { gt = 2 }
     |            ^^
"#);
    assert_snapshot!(compare("guard = \"large\"\nweight = { get = 2 }"), @r#"
bench.toml:17:1: `guard` without `over`
  17 | guard = "large"
     | ^^^^^
     = help: `over` is the factor whose levels are the rows of a mean
bench.toml:18:1: `weight` without `over`
  18 | weight = { get = 2 }
     | ^^^^^^
     = help: `over` is the factor whose levels are the rows of a mean
"#);
    assert_snapshot!(compare("over = \"scenario\"\nguard = [\"large\", \"get\"]"), @r#"
bench.toml:18:1: every row is a guard; nothing is left for the mean
  18 | guard = ["large", "get"]
     | ^^^^^
"#);
    assert_snapshot!(compare("over = \"scenario\"\nguard = \"large\"\nweight = { large = 2 }"), @"
bench.toml:19:12: row `large` has a weight and is a guard
  19 | weight = { large = 2 }
     |            ^^^^^
     = help: a guard stands beside the mean and never in it
");
}

#[test]
fn values_that_are_none() {
    let compare = |text: &str| refused(&single(&format!("{LATENCIES}[compare]\n{text}")));
    assert_snapshot!(compare("margin = \"0%\""), @r#"
bench.toml:17:10: `0%` is no margin; write `"2%"`
  17 | margin = "0%"
     |          ^^^^
     = help: the smallest effect that matters
"#);
    assert_snapshot!(compare("margin = 2"), @r#"
bench.toml:17:10: `2` is not a percentage; write `"0.1%"`
  17 | margin = 2
     |          ^
"#);
    assert_snapshot!(compare("margin = { p98 = \"2%\", thruput = \"1%\", rss = \"1%\" }"), @r#"
bench.toml:17:12: `p98` is no metric; nearest `p90`
  17 | margin = { p98 = "2%", thruput = "1%", rss = "1%" }
     |            ^^^
"#);
    assert_snapshot!(compare("over = \"scenario\"\nweight = { get = 0 }"), @"
bench.toml:18:18: `0` is no weight; write a number above 0
  18 | weight = { get = 0 }
     |                  ^
     = help: a row that shall not count is a `guard`, or is skipped
");
    assert_snapshot!(compare("positive = \"0%\""), @r#"
bench.toml:17:12: `0%` slows nothing; write `"5%"`
  17 | positive = "0%"
     |            ^^^^
"#);
    assert_snapshot!(compare("positive = \"101%\""), @r#"
bench.toml:17:12: `101%` is not from `0%` to `100%`
  17 | positive = "101%"
     |            ^^^^^^
"#);
    assert_snapshot!(compare("looks = 0"), @"
bench.toml:17:9: `0` is not a whole number from 1 to 8
  17 | looks = 0
     |         ^
");
    assert_snapshot!(compare("allow = [\"hots.kernel\"]"), @r#"
bench.toml:17:10: `hots.kernel` is nothing that pairs must agree in; nearest `host`
  17 | allow = ["hots.kernel"]
     |          ^^^^^^^^^^^^^
     = help: write a key such as `host.kernel` or `load.warmup`
"#);
    assert_snapshot!(compare("primary = \"connections\""), @r#"
bench.toml:17:11: `connections` is no value of `primary`; valid: `throughput`, `p50`, `p90`, `p95`, `p99`, `p999`, `failures`, `time`, `target.cpu_per_request`, `generator.cpu_per_request`
  17 | primary = "connections"
     |           ^^^^^^^^^^^^^
"#);
    assert_snapshot!(compare("margn = \"2%\""), @r#"
bench.toml:17:1: unknown key `margn` in `[compare]`; nearest `margin`
  17 | margn = "2%"
     | ^^^^^
     = help: valid keys: `primary`, `factors`, `baseline`, `over`, `guard`, `weight`, `margin`, `positive`, `allow`, `looks`, `manipulation`
"#);
    assert_snapshot!(compare("primary = \"${vars.x}\""), @r#"
bench.toml:17:11: `${vars.x}` is no value of `primary`; valid: `throughput`, `p50`, `p90`, `p95`, `p99`, `p999`, `failures`, `time`, `target.cpu_per_request`, `generator.cpu_per_request`
  17 | primary = "${vars.x}"
     |           ^^^^^^^^^^^
"#);
    assert_snapshot!(set(&single(LATENCIES), "compare.margin=0%"), @r#"
--set:1:16: `0%` is no margin; write `"2%"`
  1 | compare.margin=0%
    |                ^^
    = help: the smallest effect that matters
"#);
}

#[test]
fn manipulations_that_are_none() {
    let compare = |text: &str| refused(&single(&format!("{LATENCIES}[compare]\n{text}")));
    assert_snapshot!(compare("manipulation = \"connections\""), @r#"
bench.toml:17:16: `connections` is not a table
  17 | manipulation = "connections"
     |                ^^^^^^^^^^^^^
     = help: write `{ metric = "connections", least = "50%" }`
"#);
    assert_snapshot!(compare("manipulation = { least = \"0%\" }"), @r#"
bench.toml:17:1: `compare.manipulation` has no `metric`
  17 | manipulation = { least = "0%" }
     | ^^^^^^^^^^^^
     = help: the quantity that must differ, such as `metric = "connections"`
bench.toml:17:26: arms always differ by `0%`
  17 | manipulation = { least = "0%" }
     |                          ^^^^
"#);
    assert_snapshot!(compare("manipulation = [{ metric = \"conections\" }, { metric = \"p50\", facter = \"latency\" }]"), @r#"
bench.toml:17:28: `conections` is no metric; nearest `connections`
  17 | manipulation = [{ metric = "conections" }, { metric = "p50", facter = "latency" }]
     |                            ^^^^^^^^^^^^
bench.toml:17:62: unknown key `facter` in `compare.manipulation`; nearest `factor`
  17 | manipulation = [{ metric = "conections" }, { metric = "p50", facter = "latency" }]
     |                                                              ^^^^^^
     = help: valid keys: `factor`, `metric`, `least`
"#);
    assert_snapshot!(compare("manipulation = { metric = \"connections\", factor = \"scenario\" }"), @r#"
bench.toml:17:51: `scenario` of `compare.manipulation` is no factor that is compared
  17 | manipulation = { metric = "connections", factor = "scenario" }
     |                                                   ^^^^^^^^^^
"#);
    assert_snapshot!(refused(&single("[compare]\nmanipulation = { metric = \"connections\" }")), @r#"
bench.toml:9:1: `compare.manipulation` is about nothing: no factor is compared
  9 | manipulation = { metric = "connections" }
    | ^^^^^^^^^^^^
"#);
}

#[test]
fn hypotheses_that_are_none() {
    let hypothesis = |text: &str| refused(&single(&format!("{LATENCIES}[[hypothesis]]\n{text}")));
    assert_snapshot!(hypothesis("predicts = \"1%\""), @r#"
bench.toml:17:1: `[[hypothesis]]` has no `name`
  17 | predicts = "1%"
     | ^^^^^^^^
     = help: write `name = "run length"`
"#);
    assert_snapshot!(hypothesis("name = \"x\""), @r#"
bench.toml:17:1: `[[hypothesis]]` has no `predicts`
  17 | name = "x"
     | ^^^^
     = help: write `predicts = "+1.0%"`
"#);
    assert_snapshot!(hypothesis("name = \"\"\npredicts = 1.0\nmetrc = \"p50\""), @r#"
bench.toml:17:8: the name of a hypothesis has 1 to 60 characters
  17 | name = ""
     |        ^^
bench.toml:18:12: `1` is no change; write `"+1.0%"`
  18 | predicts = 1.0
     |            ^^^
     = help: the change of the level against the baseline, percent of the baseline
bench.toml:19:1: unknown key `metrc` in `[[hypothesis]]`; nearest `metric`
  19 | metrc = "p50"
     | ^^^^^
     = help: valid keys: `name`, `factor`, `level`, `metric`, `predicts`
"#);
    assert_snapshot!(hypothesis("name = \"x\"\npredicts = \"-100%\""), @r#"
bench.toml:18:12: `-100%` is no change; write `"+1.0%"`
  18 | predicts = "-100%"
     |            ^^^^^^^
     = help: the change of the level against the baseline, percent of the baseline
"#);
    assert_snapshot!(hypothesis("name = \"x\"\npredicts = \"1%\"\nfactor = \"latncy\""), @r#"
bench.toml:19:10: `latncy` of hypothesis `x` is no factor that is compared; nearest `latency`
  19 | factor = "latncy"
     |          ^^^^^^^^
"#);
    assert_snapshot!(hypothesis("name = \"x\"\npredicts = \"1%\"\nlevel = \"slowr\""), @r#"
bench.toml:19:9: `latency` has no level `slowr`; nearest `slower`
  19 | level = "slowr"
     |         ^^^^^^^
"#);
    assert_snapshot!(hypothesis("name = \"x\"\npredicts = \"1%\"\nlevel = \"null\""), @r#"
bench.toml:19:9: hypothesis `x` is about `null`, which meets no baseline
  19 | level = "null"
     |         ^^^^^^
     = help: baseline and controls are what levels are compared with
"#);
    assert_snapshot!(hypothesis("name = \"x\"\npredicts = \"1%\"\nmetric = \"p5\""), @r#"
bench.toml:19:10: `p5` is no metric; nearest `p50`
  19 | metric = "p5"
     |          ^^^^
"#);
    assert_snapshot!(hypothesis("name = \"x\"\npredicts = \"${vars.x}\""), @r#"
bench.toml:18:12: `${vars.x}` is no change; write `"+1.0%"`
  18 | predicts = "${vars.x}"
     |            ^^^^^^^^^^^
     = help: the change of the level against the baseline, percent of the baseline
"#);
    assert_snapshot!(hypothesis("name = \"x\"\npredicts = \"1%\"\n[[hypothesis]]\nname = \"x\"\npredicts = \"2%\""), @r#"
bench.toml:20:1: hypothesis `x` predicts one thing twice
  20 | name = "x"
     | ^^^^
"#);
    assert_snapshot!(refused(&single("[[hypothesis]]\nname = \"x\"\npredicts = \"1%\"")), @r#"
bench.toml:9:1: hypothesis `x` is about nothing: no factor is compared
  9 | name = "x"
    | ^^^^
"#);
    assert_snapshot!(refused(&single("[hypothesis]\nname = \"x\"\npredicts = \"1%\"")), @"
bench.toml:8:2: a table is not a list of tables; write `[[hypothesis]]`
  8 | [hypothesis]
    |  ^^^^^^^^^^
");
    let three = "[factors]\na = { key = \"vars.a\", values = [1, 2, 3] }\nb = { key = \"vars.b\", values = [1, 2] }\n[[hypothesis]]\nname = \"x\"\npredicts = \"1%\"\n[[hypothesis]]\nname = \"y\"\nfactor = \"a\"\npredicts = \"1%\"";
    assert_snapshot!(refused(&single(three)), @r#"
bench.toml:12:1: hypothesis `x` has no `factor`; one of `a`, `b`
  12 | name = "x"
     | ^^^^
bench.toml:15:1: hypothesis `y` has no `level`; one of `2`, `3`
  15 | name = "y"
     | ^^^^
"#);
}

/// A mock that is a positive control has the latency of its twin times the factor, from the
/// first instant on, and is no null.
#[test]
fn a_positive_mock_is_its_twin_slowed() {
    let text = format!(
        "{}[compare]\npositive = \"8%\"",
        single(
            "[factors.latency]\nbase = {}\nslower = { target.mock.latency = \"6ms\" }\nnull = \"base\"\npositive = \"slower\"\n"
        )
    );
    let plan = plan(&text);
    let positive = cell(&plan, "positive");
    let TargetKind::Mock(mock) = &positive.effective.target.kind else { panic!("no mock") };
    assert_eq!(mock.latency_ns, 6_000_000, "what its twin sets");
    assert_eq!(mock.slow_after, Some(Slowdown { at_ns: 0, factor: 1.08 }));
    assert_eq!(positive.levels[0].twin.as_deref(), Some("slower"));
    assert_eq!(positive.levels[0].positive, Some(0.08));
    assert_eq!(plan.factors[0].levels[3].positive, Some(0.08));
    assert_eq!(cell(&plan, "null").levels[0].positive, None);
    assert_ne!(positive.identity_sha256, cell(&plan, "slower").identity_sha256);
    assert_eq!(positive.origins["target.mock.slow_after"], "level latency=positive");
    assert_eq!(plan.compare.positive, Some(0.08));
    // Slowed on purpose: no note calls it broken.
    assert!(!plan.notes.iter().any(|note| note.contains("differ")), "{:?}", plan.notes);
}

#[test]
fn a_mock_that_slows_already_is_slowed_beyond_that() {
    let slowed = |slow_after: &str| {
        let text = single("[factors]\ntarget = [\"api\", \"positive\"]")
            .replace("mock = {", &format!("mock = {{ slow_after = \"{slow_after}\","));
        let text = text.replace("[scenario.get]", "[target.spare]\nmock = {}\n[scenario.get]");
        let plan = plan(&text);
        let TargetKind::Mock(mock) = &cell(&plan, "positive").effective.target.kind else {
            panic!("no mock")
        };
        (mock.latency_ns, mock.slow_after.clone())
    };
    let at = |at_ns, factor| Some(Slowdown { at_ns, factor });
    assert_eq!(slowed("0s:2x"), (5_000_000, at(0, 2.1)));
    assert_eq!(slowed("10s:2x"), (5_250_000, at(10_000_000_000, 2.0)));
}

#[test]
fn a_positive_process_has_a_brake() {
    let plan = plan(&with("[factors]\ntarget = [\"nginx\", \"tomcat\", \"null\", \"positive\"]"));
    let share = |name: &str| cell(&plan, name).effective.target.slow_share;
    assert_eq!(["nginx", "tomcat", "null", "positive"].map(share), [None, None, None, Some(0.05)]);
    let positive = cell(&plan, "positive");
    assert_eq!(positive.effective.target.name, "nginx");
    assert_eq!(positive.origins["target.slow_share"], "level target=positive");
    assert_ne!(positive.identity_sha256, cell(&plan, "nginx").identity_sha256);
    // Of a factor that patches something else it is a control of the target all the same, with
    // an instance of its own.
    let sizes = with("[factors]\ntarget = \"nginx\"\nsize = { key = \"vars.size\", values = [1, 2, \"positive\"] }")
        .replace("command = [\"nginx\"]", "command = [\"nginx\"]\nfresh = \"change\"");
    let plan = crate::support::plan(&sizes);
    assert_eq!(cell(&plan, "positive").effective.target.slow_share, Some(0.05));
    let instances: std::collections::BTreeSet<u32> =
        plan.runs.iter().filter(|run| run.block == 1).map(|run| run.instance).collect();
    assert_eq!(instances.len(), 3);
}

#[test]
fn a_positive_control_is_no_null() {
    let plan = plan(&with("[factors]\ntarget = [\"nginx\", \"tomcat\", \"positive\"]"));
    assert!(plan.notes.iter().any(|note| note.contains("no null")), "{:?}", plan.notes);
}

#[test]
fn what_cannot_be_slowed() {
    let target = |text: &str| {
        refused(&format!(
            "[target.a]\n{text}\n[target.b]\n{text}\n[scenario.get]\nget = \"/\"\n[load.main]\nusers = 1\nmeasure = \"1s\"\n[factors]\ntarget = [\"a\", \"b\", \"positive\"]"
        ))
    };
    assert_snapshot!(target("url = \"http://127.0.0.1:1\""), @r#"
bench.toml:11:21: `positive` cannot slow target `a`: a `url` runs already
  11 | target = ["a", "b", "positive"]
     |                     ^^^^^^^^^^
     = help: leave `positive` out, or start the target by `command`
"#);
    assert_snapshot!(target("mock = { body_size = 10 }"), @r#"
bench.toml:11:21: `positive` slows nothing: the mock `a` has no `latency`
  11 | target = ["a", "b", "positive"]
     |                     ^^^^^^^^^^
     = help: the control is the latency times a factor; give the mock one, such as `latency = "1ms"`
"#);
    assert_snapshot!(refused(&single("[factors.f]\na = {}\nb = { load.users = 2 }\npositive = { load.users = 3 }")), @r#"
bench.toml:11:1: `positive` repeats a level and patches nothing
  11 | positive = { load.users = 3 }
     | ^^^^^^^^
     = help: write `positive = "LEVEL"`
"#);
    assert_snapshot!(refused(&single("[factors.f]\na = {}\npositive = \"c\"")), @r#"
bench.toml:10:12: level `positive` of `f` repeats no level `c`
  10 | positive = "c"
     |            ^^^
"#);
    assert_snapshot!(refused(&with("[factors]\ntarget = [\"positive\", \"nginx\"]")), @r#"
bench.toml:13:11: the baseline of `target` is the control `positive`
  13 | target = ["positive", "nginx"]
     |           ^^^^^^^^^^
     = help: levels are written baseline first
"#);
    assert_snapshot!(refused(&single("[target.positive]\nmock = {}")), @"
bench.toml:8:9: `positive` is not a name
  8 | [target.positive]
    |         ^^^^^^^^
    = help: `null`, `null-*`, `positive` and `only` are kept for controls and the single cell
");
}
