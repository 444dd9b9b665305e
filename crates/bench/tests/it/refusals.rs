//! Refusals of the design (choices, factors, conditions, references, cores) and of overrides,
//! with their exact wording, place and remedy.

use bench::Overrides;
use insta::assert_snapshot;

use crate::support::{chosen, plan_with, refused, set, single, with};

#[test]
fn no_such_table() {
    assert_snapshot!(refused(&with("[factors]\ntarget = [\"nginx\", \"tomcta\"]")), @r#"
bench.toml:13:20: no `[target.tomcta]`; nearest `tomcat`
  13 | target = ["nginx", "tomcta"]
     |                    ^^^^^^^^
"#);
    assert_snapshot!(refused(&with("[factors]\ntarget = \"tomcta\"")), @r#"
bench.toml:13:10: no `[target.tomcta]`; nearest `tomcat`
  13 | target = "tomcta"
     |          ^^^^^^^^
"#);
    assert_snapshot!(refused(&chosen("[scenario.x]\nget = \"/\"\nonly = \"tomcta\"")), @r#"
bench.toml:12:11: 2 scenarios and none chosen; add `scenario` to `[factors]`
  12 | [scenario.x]
     |           ^
     = help: a text fixes one, a list varies them: `small`, `x`
bench.toml:14:8: no `[target.tomcta]`; nearest `tomcat`
  14 | only = "tomcta"
     |        ^^^^^^^^
"#);
    assert_snapshot!(refused(&single("[factors]\ntransport = [\"p0\", \"p1\"]")), @r#"
bench.toml:9:20: no `[transport.p1]`; nearest `p0`
  9 | transport = ["p0", "p1"]
    |                    ^^^^
"#);
    assert_snapshot!(refused(&single("[factors]\nbuild = \"main\"")), @r#"
bench.toml:9:9: no `[build.main]`
  9 | build = "main"
    |         ^^^^^^
"#);
}

#[test]
fn kinds() {
    let text = "[target.a]\ncommand = [\"x\"]\nurl = \"http://127.0.0.1:1\"";
    assert_snapshot!(refused(&chosen(text)), @r#"
bench.toml:14:1: target `a` has two kinds: `command` and `url`
  14 | url = "http://127.0.0.1:1"
     | ^^^
"#);
    assert_snapshot!(refused(&chosen("[load.x]\nusers = 1\nrate = \"1/s\"\nmeasure = \"1s\"")), @r#"
bench.toml:12:7: 2 loads and none chosen; add `load` to `[factors]`
  12 | [load.x]
     |       ^
     = help: a text fixes one, a list varies them: `steady`, `x`
bench.toml:14:1: load `x` has two kinds: `users` and `rate`
  14 | rate = "1/s"
     | ^^^^
"#);
    assert_snapshot!(refused("[target.a]\naddress = \"h:1\"\n[scenario.s]\n[load.l]\nmeasure = \"1s\""), @"
    bench.toml:1:9: target `a` has no kind; one of `command`, `mock`, `url`
      1 | [target.a]
        |         ^
    bench.toml:3:11: scenario `s` has no kind; one of `get`, `post`, `put`, `patch`, `delete`, `head`, `options`
      3 | [scenario.s]
        |           ^
    bench.toml:4:7: load `l` has no kind; one of `users`, `rate`, `stages`
      4 | [load.l]
        |       ^
    ");
    assert_snapshot!(refused(&with("[factors]\ntarget = \"nginx\"\n[factors.slow]\noff = {}\non = { target.mock.latency = \"1ms\" }")), @r#"
bench.toml:16:15: target `nginx` has two kinds: `command` and `mock`
  16 | on = { target.mock.latency = "1ms" }
     |               ^^^^
"#);
}

#[test]
fn choices() {
    let three = "[scenario.a]\nget = \"/\"\n[scenario.b]\nget = \"/\"";
    assert_snapshot!(refused(&chosen(three)), @"
bench.toml:12:11: 3 scenarios and none chosen; add `scenario` to `[factors]`
  12 | [scenario.a]
     |           ^
     = help: a text fixes one, a list varies them: `small`, `a`, `b`
");
    assert_snapshot!(refused("[load.l]\nusers = 1\nmeasure = \"1s\""), @"
no target; add `[target.NAME]`
no scenario; add `[scenario.NAME]`
");
    assert_snapshot!(refused(""), @"
no target; add `[target.NAME]`
no scenario; add `[scenario.NAME]`
no load; add `[load.NAME]`
");
}

#[test]
fn levels() {
    assert_snapshot!(refused(&single("[factors]\ntransport = [\"p0\"]")), @r#"
bench.toml:9:1: factor `transport` has one level; `transport = "p0"` fixes it
  9 | transport = ["p0"]
    | ^^^^^^^^^
"#);
    assert_snapshot!(refused(&single("[factors]\ntransport = []")), @"
bench.toml:9:1: factor `transport` has no level
  9 | transport = []
    | ^^^^^^^^^
    = help: levels are written baseline first
");
    assert_snapshot!(refused(&single("[factors.f]\non = { target.mock.latency = \"1s\" }")), @"
bench.toml:8:10: factor `f` has one level
  8 | [factors.f]
    |          ^
    = help: add a second level, or set the value where it belongs
");
    assert_snapshot!(refused(&with("[factors]\ntargets = [\"nginx\", \"tomcat\"]\ntarget = \"nginx\"")), @r#"
bench.toml:13:1: levels of `targets` set nothing; nearest `target`
  13 | targets = ["nginx", "tomcat"]
     | ^^^^^^^
     = help: levels that patch are a table: `[factors.targets]`, or `{ key = "...", values = [...] }`
"#);
    assert_snapshot!(refused(&single("[factors.fast]\noff = {}\non = {}")), @"
bench.toml:8:10: levels of `fast` set nothing
  8 | [factors.fast]
    |          ^^^^
");
    assert_snapshot!(refused(&with("[factors]\ntarget = [\"nginx\", \"nginx\"]")), @r#"
bench.toml:13:20: factor `target` has two levels `nginx`
  13 | target = ["nginx", "nginx"]
     |                    ^^^^^^^
     = help: a level that repeats another is a control: `null`, or `null-NAME`
"#);
    assert_snapshot!(refused(&with("[factors]\ntarget = [\"null\", \"nginx\"]")), @r#"
bench.toml:13:11: the baseline of `target` is the control `null`
  13 | target = ["null", "nginx"]
     |           ^^^^^^
     = help: levels are written baseline first
"#);
    assert_snapshot!(refused(&with("[factors]\ntarget = [\"nginx\", \"tomcat\", \"null-tomcta\"]")), @r#"
bench.toml:13:30: level `null-tomcta` of `target` repeats no level `tomcta`; nearest `tomcat`
  13 | target = ["nginx", "tomcat", "null-tomcta"]
     |                              ^^^^^^^^^^^^^
"#);
    assert_snapshot!(refused(&single("[factors.f]\na = {}\nb = \"c\"")), @r#"
bench.toml:10:5: level `b` of `f` repeats no level `c`
  10 | b = "c"
     |     ^^^
"#);
    assert_snapshot!(refused(&single("[factors.f]\na = {}\nnull = { load.users = 2 }")), @r#"
bench.toml:10:1: `null` repeats a level and patches nothing
  10 | null = { load.users = 2 }
     | ^^^^
     = help: write `null = "LEVEL"`
"#);
    assert_snapshot!(refused(&single("[factors]\nf = { key = \"load\", values = [1, 2] }")), @r#"
bench.toml:9:13: `load` is no key of a run; write `"load.measure"`
  9 | f = { key = "load", values = [1, 2] }
    |             ^^^^^^
"#);
    assert_snapshot!(refused(&single("[factors]\nf = { key = \"load.users\" }")), @r#"
bench.toml:9:1: factor `f` has no `values`
  9 | f = { key = "load.users" }
    | ^
    = help: write `{ key = "load.connections", values = [...] }`
"#);
    assert_snapshot!(refused(&single("[factors]\nf = 5")), @"
bench.toml:9:5: `5` is no level of `f`
  9 | f = 5
    |     ^
    = help: a text fixes a factor, a list or a table of levels varies it
");
    assert_snapshot!(refused(&single("[factors]\nf = { key = \"vars.x\", values = [\"a/b\", \"a:b\"] }")), @r#"
bench.toml:9:40: factor `f` has two levels `a-b`
  9 | f = { key = "vars.x", values = ["a/b", "a:b"] }
    |                                        ^^^^^
    = help: a level that repeats another is a control: `null`, or `null-NAME`
"#);
}

#[test]
fn two_factors_set_one_path() {
    let factors = "[factors.db]\na = {}\nb = { target.env.HEAP = \"1\" }\n[factors.heap]\na = {}\nb = { target.env.HEAP = \"2\" }";
    assert_snapshot!(refused(&single(factors)), @r#"
bench.toml:10:18: `env` has no effect on target `api`, a `mock`
  10 | b = { target.env.HEAP = "1" }
     |                  ^^^^
     = help: it is assay's own
bench.toml:13:18: factors `db` and `heap` both set `target.env.HEAP`
  13 | b = { target.env.HEAP = "2" }
     |                  ^^^^
bench.toml:13:18: `env` has no effect on target `api`, a `mock`
  13 | b = { target.env.HEAP = "2" }
     |                  ^^^^
     = help: it is assay's own
"#);
    let kinds = "[factors.a]\na = {}\nb = { load.users = 2 }\n[factors.b]\na = {}\nb = { load.rate = \"1/s\" }";
    assert_snapshot!(refused(&single(kinds)), @r#"
bench.toml:13:12: factors `a` and `b` both set `load.rate`
  13 | b = { load.rate = "1/s" }
     |            ^^^^
"#);
}

#[test]
fn gates_belong_to_where() {
    let factors = "[factors.f]\noff = {}\non = { gates.failures = \"5%\" }";
    assert_snapshot!(refused(&single(factors)), @r#"
bench.toml:10:8: level `on` sets `gates.failures`; only `[[where]]` may
  10 | on = { gates.failures = "5%" }
     |        ^^^^^
     = help: a gate that differs between the levels of a contrast would bias it
"#);
    let factors = "[factors.f]\noff = {}\non = { matrix.blocks = 5 }";
    assert_snapshot!(refused(&single(factors)), @"
bench.toml:10:8: unknown key `matrix` in level `on`
  10 | on = { matrix.blocks = 5 }
     |        ^^^^^^
     = help: valid keys: `target`, `scenario`, `load`, `generator`, `vars`, `cpus`, `observe`
");
}

#[test]
fn cores_overlap() {
    assert_snapshot!(refused(&chosen("[cpus]\ntarget = \"0-1\"\ngenerator = \"1\"")), @r#"
bench.toml:14:13: `cpus` of `target` and `generator` overlap on 1
  14 | generator = "1"
     |             ^^^
     = help: give them other cores, or allow it: `overlap = ["target", "generator"]`
"#);
    assert_snapshot!(refused(&single("[cpus]\ntarget = 0\nmock = \"1-3\"\ngenerator = \"2-5\"\nparent = 4\noverlap = [\"mock\", \"parent\"]")), @r#"
bench.toml:11:13: `cpus` of `mock` and `generator` overlap on 2-3
  11 | generator = "2-5"
     |             ^^^^^
     = help: give them other cores, or allow it: `overlap = ["mock", "generator"]`
bench.toml:12:10: `cpus` of `generator` and `parent` overlap on 4
  12 | parent = 4
     |          ^
     = help: give them other cores, or allow it: `overlap = ["generator", "parent"]`
"#);
    assert_snapshot!(refused(&single("[cpus]\ntarget = \"3-1\"\ngenerator = \"a\"\noverlap = [\"targt\"]")), @r#"
bench.toml:9:10: `3-1` is no list of cores; write `"0-3,6"`
  9 | target = "3-1"
    |          ^^^^^
bench.toml:10:13: `a` is no list of cores; write `"0-3,6"`
  10 | generator = "a"
     |             ^^^
bench.toml:11:12: `targt` is no value of `overlap`; nearest `target`
  11 | overlap = ["targt"]
     |            ^^^^^^^
"#);
}

#[test]
fn references() {
    let text = "[target.authlib]\nurl = \"http://127.0.0.1:1\"\n[target.dot]\nurl = \"http://127.0.0.1:2\"\nvars.token = \"o\"\n[scenario.s]\nget = \"/${vars.token}\"\n[load.l]\nusers = 1\nmeasure = \"1s\"\n[factors]\ntarget = [\"dot\", \"authlib\"]";
    assert_snapshot!(refused(text), @r#"
bench.toml:7:9: `${vars.token}` is not set for target `authlib`
  7 | get = "/${vars.token}"
    |         ^^^^^^^^^^^^^
    = help: set it in `[vars]`, or in `vars` of the target or the scenario
"#);
    let cycle = "[vars]\na = \"x${vars.b}\"\nb = \"${vars.a}\"";
    assert_snapshot!(refused(&single(cycle)), @r#"
bench.toml:9:7: `${vars.b}` refers to itself: vars.b -> vars.a -> vars.b
  9 | a = "x${vars.b}"
    |       ^^^^^^^^^
bench.toml:10:6: `${vars.a}` refers to itself: vars.a -> vars.b -> vars.a
  10 | b = "${vars.a}"
     |      ^^^^^^^^^
"#);
    assert_snapshot!(refused(&single("[vars]\na = \"${lod.users} ${load.user} ${HOME} ${open\"")), @r#"
bench.toml:9:5: `${` without `}`
  9 | a = "${lod.users} ${load.user} ${HOME} ${open"
    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    = help: a reference is written `${vars.name}`
bench.toml:9:6: `${lod.users}` is no effective key; nearest `${load.users}`
  9 | a = "${lod.users} ${load.user} ${HOME} ${open"
    |      ^^^^^^^^^^^^
    = help: the environment comes in by `[vars]`: `name = { env = "NAME" }`
bench.toml:9:19: `${load.user}` is no effective key; nearest `${load.users}`
  9 | a = "${lod.users} ${load.user} ${HOME} ${open"
    |                   ^^^^^^^^^^^^
    = help: the environment comes in by `[vars]`: `name = { env = "NAME" }`
bench.toml:9:32: `${HOME}` is no effective key
  9 | a = "${lod.users} ${load.user} ${HOME} ${open"
    |                                ^^^^^^^
    = help: the environment comes in by `[vars]`: `name = { env = "NAME" }`
"#);
    assert_snapshot!(refused(&single("[vars]\na = \"-${load}-\"")), @r#"
bench.toml:9:7: `${load}` is no effective key
  9 | a = "-${load}-"
    |       ^^^^^^^
    = help: the environment comes in by `[vars]`: `name = { env = "NAME" }`
"#);
    assert_snapshot!(refused(&single("[vars]\nx = { env = \"NOT_SET\" }")), @r#"
bench.toml:9:5: environment variable `NOT_SET` is not set
  9 | x = { env = "NOT_SET" }
    |     ^^^^^^^^^^^^^^^^^^^
    = help: set it, or give `vars.x` a `default`
"#);
    assert_snapshot!(refused(&single("[matrix]\nblocks = \"${load.users}\"")), @r#"
bench.toml:9:10: `${load.users}` is not a whole number from 1 to 1000
  9 | blocks = "${load.users}"
    |          ^^^^^^^^^^^^^^^
"#);
}

#[test]
fn conditions() {
    let where_ = |text: &str| refused(&chosen(&format!("[[where]]\n{text}")));
    assert_snapshot!(where_("match = { target = \"apache*\" }\nskip = \"x\""), @r#"
bench.toml:13:1: `[[where]]` matches no cell
  13 | match = { target = "apache*" }
     | ^^^^^
     = help: without it the plan is the same
"#);
    assert_snapshot!(where_("match = { target = \"ngnix\" }\nskip = \"x\""), @r#"
bench.toml:13:20: `target` has no level `ngnix`; nearest `nginx`
  13 | match = { target = "ngnix" }
     |                    ^^^^^^^
"#);
    assert_snapshot!(where_("match = { targt = \"nginx\" }\nskip = \"x\""), @r#"
bench.toml:13:11: unknown key `targt` in `match`; nearest `target`
  13 | match = { targt = "nginx" }
     |           ^^^^^
     = help: valid keys: `target`, `scenario`, `load`, `transport`, `generator`, `build`
"#);
    assert_snapshot!(where_("match = { target = \"nginx\" }"), @r#"
bench.toml:13:1: `[[where]]` has neither `skip` nor `set`
  13 | match = { target = "nginx" }
     | ^^^^^
"#);
    assert_snapshot!(where_("skip = \"x\""), @r#"
bench.toml:13:1: `[[where]]` has no `match`
  13 | skip = "x"
     | ^^^^
     = help: write `match = { target = "nginx" }`
"#);
    assert_snapshot!(where_("match = { target = \"*\" }\nskip = \"never\""), @"every cell is skipped; nothing is left to run");
    assert_snapshot!(where_("match = { target = \"nginx\" }\nskip = true"), @r#"
bench.toml:14:8: `true` is not text; write `"true"`
  14 | skip = true
     |        ^^^^
     = help: say why: the plan lists what is skipped
"#);
}

#[test]
fn two_targets_on_one_port() {
    let text = "[target.nginx]\ncommand = [\"nginx\"]\naddress = \"127.0.0.1:18080\"\nfresh = \"matrix\"\n[scenario.s]\nget = \"/\"\n[load.l]\nusers = 1\nmeasure = \"1s\"\n[factors]\ntarget = [\"nginx\", \"null\"]";
    assert_snapshot!(refused(text), @r#"
bench.toml:4:9: targets `nginx` and `null` are up together on port 18080
  4 | fresh = "matrix"
    |         ^^^^^^^^
    = help: give them other ports, or `fresh = "change"`
"#);
}

#[test]
fn too_large() {
    let levels: Vec<String> = (0..30).map(|level| level.to_string()).collect();
    let factor = |name: &str| {
        format!("{name} = {{ key = \"vars.{name}\", values = [{}] }}\n", levels.join(", "))
    };
    let three = format!("[factors]\n{}{}{}", factor("a"), factor("b"), factor("c"));
    assert_snapshot!(refused(&single(&three)), @r#"
bench.toml:9:1: the factors make more than 10000 cells
  9 | a = { key = "vars.a", values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29] }
    | ^
    = help: every level is combined with every level of the other factors
"#);
    let two = format!("[matrix]\nblocks = 1000\n[factors]\n{}{}", factor("a"), factor("b"));
    assert_snapshot!(refused(&single(&two)), @"
the plan has more than 100000 runs
  help: fewer cells or fewer blocks
");
    assert_snapshot!(refused(&" ".repeat(1 << 21)), @"`bench.toml` is longer than 1048576 bytes");
    let mut laughs = String::from("[vars]\na0 = \"ha\"\n");
    for depth in 1..20 {
        laughs += &format!("a{depth} = \"{}\"\n", format!("${{vars.a{}}}", depth - 1).repeat(10));
    }
    assert_snapshot!(refused(&single(&laughs)), @r#"
bench.toml:15:6: references expand to more than 1048576 bytes
  15 | a6 = "${vars.a5}${vars.a5}${vars.a5}${vars.a5}${vars.a5}${vars.a5}${vars.a5}${vars.a5}${vars.a5}${vars.a5}"
     |      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
"#);
}

#[test]
fn overrides() {
    let text = single("");
    assert_snapshot!(set(&text, "load.userz=2"), @"
    --set:1:1: unknown key `userz` in `--set`; nearest `users`
      1 | load.userz=2
        | ^^^^^^^^^^
        = help: valid keys: `users`, `rate`, `stages`, `warmup`, `measure`, `iterations`, `arrival`, `seed`, `think`, `pacing`, `cooldown`, `connections`, `sources`, `max_connections`, `timeout`
    ");
    assert_snapshot!(set(&text, "load.main.users=2"), @"
    --set:1:1: unknown key `main` in `--set`
      1 | load.main.users=2
        | ^^^^^^^^^^^^^^^
        = help: valid keys: `users`, `rate`, `stages`, `warmup`, `measure`, `iterations`, `arrival`, `seed`, `think`, `pacing`, `cooldown`, `connections`, `sources`, `max_connections`, `timeout`
    ");
    assert_snapshot!(set(&text, "load.measure=5"), @"accepted");
    assert_snapshot!(set(&text, "load.measure=5 parsecs"), @r#"
--set:1:14: `5 parsecs` is not a duration; write `"30s"`
  1 | load.measure=5 parsecs
    |              ^^^^^^^^^
"#);
    assert_snapshot!(set(&text, "lod.measure=5s"), @"
--set:1:1: unknown key `lod` in `--set`; nearest `load`
  1 | lod.measure=5s
    | ^^^^^^^^^^^
    = help: valid keys: `target`, `scenario`, `load`, `generator`, `vars`, `cpus`, `observe`, `gates`, `matrix`, `compare`
");
    assert_snapshot!(set(&text, "measure"), @"
--set:1:1: `--set` takes `KEY=VALUE`
  1 | measure
    | ^^^^^^^
    = help: write `--set load.measure=5s`
");
    assert_snapshot!(set(&text, "blocks=3"), @"
--set:1:1: `blocks` is no key of a run
  1 | blocks=3
    | ^^^^^^
    = help: write `--set load.measure=5s`: the section, then the key
");
    let only = Overrides { only: Some("onyl".to_owned()), ..Overrides::default() };
    assert_snapshot!(plan_with(&text, &only).unwrap_err().render(), @"`--only onyl` matches no cell that is run; nearest `only`");
    let blocks = Overrides { blocks: Some(0), ..Overrides::default() };
    assert_snapshot!(plan_with(&text, &blocks).unwrap_err().render(), @"`--blocks 0` is not from 1 to 1000");
}

/// One file, many faults, one report by place.
#[test]
fn all_at_once() {
    let text = "[target.a]\nurl = 5\n[scenario.s]\nget = \"/\"\n[load.l]\nuserz = 1\nmeasure = \"30\"\n[matrix]\nblokcs = 1\n[factors]\ntarget = [\"a\", \"b\"]\n";
    assert_snapshot!(refused(text), @r#"
    bench.toml:2:7: `5` is not text; write `"5"`
      2 | url = 5
        |       ^
    bench.toml:6:1: unknown key `userz` in `[load.l]`; nearest `users`
      6 | userz = 1
        | ^^^^^
        = help: valid keys: `users`, `rate`, `stages`, `warmup`, `measure`, `iterations`, `arrival`, `seed`, `think`, `pacing`, `cooldown`, `connections`, `sources`, `max_connections`, `timeout`
    bench.toml:7:11: `30` is not a duration; write `"30s"`
      7 | measure = "30"
        |           ^^^^
    bench.toml:9:1: unknown key `blokcs` in `[matrix]`; nearest `blocks`
      9 | blokcs = 1
        | ^^^^^^
        = help: valid keys: `blocks`, `gap`, `nest`, `order`, `seed`, `warmup_run`, `timeout`, `bring_up_share`, `layout`
    bench.toml:11:16: no `[target.b]`
      11 | target = ["a", "b"]
         |                ^^^
    "#);
}

/// What miette is given is what the plain text shows.
#[test]
fn miette_has_every_problem() {
    use miette::Diagnostic;
    let found = plan_with(&chosen("[matrix]\nblokcs = 4\ngapp = 1"), &Overrides::default());
    let found = found.unwrap_err();
    assert_eq!(found.to_string(), "2 errors in `bench.toml`");
    let related: Vec<String> = found
        .related()
        .unwrap()
        .map(|problem| {
            let label = problem.labels().unwrap().next().unwrap();
            let span = problem.source_code().unwrap().read_span(label.inner(), 0, 0).unwrap();
            assert_eq!(span.name(), Some("bench.toml"));
            format!("{problem} at {:?}", std::str::from_utf8(span.data()).unwrap())
        })
        .collect();
    assert_eq!(
        related,
        [
            "unknown key `blokcs` in `[matrix]`; nearest `blocks` at \"blokcs\"",
            "unknown key `gapp` in `[matrix]`; nearest `gap` at \"gapp\"",
        ]
    );
    assert_eq!(found.problems()[0].line_column(), Some((13, 1)));
}
