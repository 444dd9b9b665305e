//! Refusals of keys, values, names, files and syntax, with their exact wording, place and remedy.

use bench::Overrides;
use insta::assert_snapshot;
use record::plan::TargetKind;

use crate::support::{chosen, plan, refused, single, with};

#[test]
fn unknown_key() {
    assert_snapshot!(refused(&chosen("[matrix]\nblokcs = 4")), @"
bench.toml:13:1: unknown key `blokcs` in `[matrix]`; nearest `blocks`
  13 | blokcs = 4
     | ^^^^^^
     = help: valid keys: `blocks`, `gap`, `nest`, `order`, `seed`, `warmup_run`, `timeout`, `bring_up_share`, `layout`
");
    assert_snapshot!(refused(&chosen("[matrx]\nblocks = 4")), @"
bench.toml:12:2: unknown key `matrx`; nearest `matrix`
  12 | [matrx]
     |  ^^^^^
     = help: valid keys: `vars`, `target`, `scenario`, `load`, `generator`, `factors`, `where`, `matrix`, `cpus`, `gates`, `observe`, `compare`, `hypothesis`, `require`
");
    assert_snapshot!(refused(&chosen("[load.other]\nsweep = []")), @"
    bench.toml:12:7: 2 loads and none chosen; add `load` to `[factors]`
      12 | [load.other]
         |       ^^^^^
         = help: a text fixes one, a list varies them: `steady`, `other`
    bench.toml:13:1: unknown key `sweep` in `[load.other]`
      13 | sweep = []
         | ^^^^^
         = help: valid keys: `users`, `rate`, `stages`, `warmup`, `measure`, `iterations`, `arrival`, `seed`, `think`, `pacing`, `cooldown`, `connections`, `sources`, `max_connections`, `timeout`
    ");
    assert_snapshot!(refused(&chosen("[target.x]\nmock = { latencey = \"1s\" }")), @r#"
    bench.toml:13:10: unknown key `latencey` in `[target.x.mock]`; nearest `latency`
      13 | mock = { latencey = "1s" }
         |          ^^^^^^^^
         = help: valid keys: `latency`, `body_size`, `seed`, `stall`, `fail`, `cold`, `drift`, `slow_after`, `spike`, `close`, `serialise`, `workers`, `queue`, `dip`, `rate_limit`, `truth_header`, `backlog`, `script`, `bias`, `office`, `control`
    "#);
    assert_snapshot!(refused(&single("[factors.f]\na = {}\nb = { target.evn.X = 1 }")), @"
bench.toml:10:14: unknown key `evn` in level `b`; nearest `env`
  10 | b = { target.evn.X = 1 }
     |              ^^^
     = help: valid keys: `command`, `mock`, `url`, `address`, `env`, `cwd`, `stop`, `ready`, `fresh`, `bring_up`, `vars`, `version`
");
    assert_snapshot!(refused(&single("[factors]\nf = { key = \"load.userz\", values = [1, 2] }")), @r#"
    bench.toml:9:13: unknown key `userz` in factor `f`; nearest `users`
      9 | f = { key = "load.userz", values = [1, 2] }
        |             ^^^^^^^^^^^^
        = help: valid keys: `users`, `rate`, `stages`, `warmup`, `measure`, `iterations`, `arrival`, `seed`, `think`, `pacing`, `cooldown`, `connections`, `sources`, `max_connections`, `timeout`
    "#);
    assert_snapshot!(refused(&chosen("[[where]]\nmach = 1\nmatch = { target = \"nginx\" }\nskip = \"x\"")), @"
bench.toml:13:1: unknown key `mach` in `[[where]]`; nearest `match`
  13 | mach = 1
     | ^^^^
     = help: valid keys: `match`, `skip`, `set`
");
}

#[test]
fn units() {
    assert_snapshot!(refused(&chosen("[load.x]\nusers = 1\nmeasure = \"30\"")), @r#"
bench.toml:12:7: 2 loads and none chosen; add `load` to `[factors]`
  12 | [load.x]
     |       ^
     = help: a text fixes one, a list varies them: `steady`, `x`
bench.toml:14:11: `30` is not a duration; write `"30s"`
  14 | measure = "30"
     |           ^^^^
"#);
    assert_snapshot!(refused(&chosen("[load.x]\nusers = 1\nmeasure = \"3 parsecs\"\ncooldown = 1")), @r#"
bench.toml:12:7: 2 loads and none chosen; add `load` to `[factors]`
  12 | [load.x]
     |       ^
     = help: a text fixes one, a list varies them: `steady`, `x`
bench.toml:14:11: `3 parsecs` is not a duration; write `"30s"`
  14 | measure = "3 parsecs"
     |           ^^^^^^^^^^^
bench.toml:15:12: `1` is not a duration; write `"1s"`
  15 | cooldown = 1
     |            ^
"#);
    assert_snapshot!(refused(&chosen("[load.x]\nrate = 200\nmeasure = \"1s\"")), @r#"
bench.toml:12:7: 2 loads and none chosen; add `load` to `[factors]`
  12 | [load.x]
     |       ^
     = help: a text fixes one, a list varies them: `steady`, `x`
bench.toml:13:8: `200` is not a rate; write `"200/s"`
  13 | rate = 200
     |        ^^^
"#);
    assert_snapshot!(refused(&chosen("[gates]\nfailures = 0.1\nachieved = \"101%\"")), @r#"
bench.toml:13:12: `0.1` is not a percentage; write `"0.1%"`
  13 | failures = 0.1
     |            ^^^
bench.toml:14:12: `101%` is not from `0%` to `100%`
  14 | achieved = "101%"
     |            ^^^^^^
"#);
    assert_snapshot!(refused(&chosen("[scenario.x]\nget = \"/\"\nexpect.size = \"1 kilo\"")), @r#"
bench.toml:12:11: 2 scenarios and none chosen; add `scenario` to `[factors]`
  12 | [scenario.x]
     |           ^
     = help: a text fixes one, a list varies them: `small`, `x`
bench.toml:14:15: `1 kilo` is not a size; write `"64KiB"`
  14 | expect.size = "1 kilo"
     |               ^^^^^^^^
"#);
    assert_snapshot!(refused(&chosen("[target.x]\nmock = { fail = [\"1%:body\", \"100%:never\"], stall = \"5s/1s\", latency = -5 }")), @r#"
bench.toml:13:29: `100%:never` is not a share that leaves the sum at or below 100 %; write `1%:body`
  13 | mock = { fail = ["1%:body", "100%:never"], stall = "5s/1s", latency = -5 }
     |                             ^^^^^^^^^^^^
bench.toml:13:52: `5s/1s` is not a stall shorter than its period; write `1s/5s`
  13 | mock = { fail = ["1%:body", "100%:never"], stall = "5s/1s", latency = -5 }
     |                                                    ^^^^^^^
bench.toml:13:71: `-5` is not a duration; write `"30s"`
  13 | mock = { fail = ["1%:body", "100%:never"], stall = "5s/1s", latency = -5 }
     |                                                                       ^^
"#);
}

#[test]
fn files() {
    assert_snapshot!(refused(&with("[factors]\ntarget = \"x\"\n[target.x]\ncommand = [\"./missing/api\"]\naddress = \"127.0.0.1:1\"\ncwd = \"missing-too\"")), @r#"
bench.toml:15:12: missing file `./missing/api`
  15 | command = ["./missing/api"]
     |            ^^^^^^^^^^^^^^^
     = help: looked for `/bench/missing/api`
bench.toml:17:7: missing directory `missing-too`
  17 | cwd = "missing-too"
     |       ^^^^^^^^^^^^^
     = help: looked for `/bench/missing-too`
"#);
    // The histogram of a mock's latency is a file like any other: absolute in the plan, and hashed.
    let latency = |file: &str| {
        with(&format!(
            "[factors]\ntarget = \"x\"\n[target.x]\nmock = {{ latency = \"histogram:{file}\" }}"
        ))
    };
    assert_snapshot!(refused(&latency("missing.txt")), @r#"
    bench.toml:15:20: missing file `missing.txt`
      15 | mock = { latency = "histogram:missing.txt" }
         |                    ^^^^^^^^^^^^^^^^^^^^^^^
         = help: looked for `/bench/missing.txt`
    "#);
    let plan = plan(&latency("traces/day.txt"));
    let TargetKind::Mock(mock) = &plan.cells[0].effective.target.kind else { panic!("no mock") };
    let file = "/bench/traces/day.txt".to_owned();
    assert_eq!(mock.law, Some(record::mock::Law::Histogram { file }));
    assert!(
        plan.files.iter().any(|file| file.path.ends_with("traces/day.txt")),
        "{:?}",
        plan.files
    );

    let missing = bench::plan(std::path::Path::new("/no/such/bench.toml"), &Overrides::default());
    assert_snapshot!(missing.unwrap_err().render(), @"
cannot read `/no/such/bench.toml`: No such file or directory (os error 2)
  help: a bench is one TOML file
");
}

#[test]
fn targets() {
    assert_snapshot!(refused(&with("[factors]\ntarget = \"x\"\n[target.x]\ncommand = [\"api\"]")), @r#"
bench.toml:14:9: target `x` has no `address`
  14 | [target.x]
     |         ^
     = help: write `address = "127.0.0.1:8080"`; with port 0 a free one is chosen, known to the command as `${target.port}`
"#);
    assert_snapshot!(refused(&with("[factors]\ntarget = \"x\"\n[target.x]\nurl = \"https://host/path\"")), @r#"
bench.toml:15:7: `https://host/path` is no target; write `"http://host:port"`
  15 | url = "https://host/path"
     |       ^^^^^^^^^^^^^^^^^^^
     = help: plain HTTP, without a path: scenarios hold the paths
"#);
    assert_snapshot!(refused(&with("[factors]\ntarget = \"x\"\n[target.x]\nurl = \"http://host:80\"\nenv = { A = 1 }\nstop.grace = \"1s\"")), @r#"
bench.toml:16:9: `env` has no effect on target `x`, a `url`
  16 | env = { A = 1 }
     |         ^
     = help: it runs already and is never started or patched
bench.toml:17:6: `stop` has no effect on target `x`, a `url`
  17 | stop.grace = "1s"
     |      ^^^^^
     = help: it runs already and is never started or patched
"#);
    assert_snapshot!(refused(&chosen("[target.x]\ncommand = []\naddress = \"host\"\nready = { get = \"x\", line = \"y\", port = 0 }\nstop.signal = \"SIGTERM\"\nfresh = \"never\"")), @r#"
bench.toml:13:11: a command needs a program; write `["./server"]`
  13 | command = []
     |           ^^
bench.toml:14:11: `host` is no address; write `"127.0.0.1:8080"`
  14 | address = "host"
     |           ^^^^^^
bench.toml:15:17: `x` is no path; write `"/path"`
  15 | ready = { get = "x", line = "y", port = 0 }
     |                 ^^^
     = help: a path starts with `/`; other characters than visible ASCII are %-encoded
bench.toml:15:22: `ready` has both `get` and `line`; write one
  15 | ready = { get = "x", line = "y", port = 0 }
     |                      ^^^^
bench.toml:15:41: `0` is not a whole number from 1 to 65535
  15 | ready = { get = "x", line = "y", port = 0 }
     |                                         ^
bench.toml:16:15: `SIGTERM` is no value of `signal`; valid: `TERM`, `INT`, `HUP`, `QUIT`, `KILL`, `USR1`, `USR2`
  16 | stop.signal = "SIGTERM"
     |               ^^^^^^^^^
bench.toml:17:9: `never` is no value of `fresh`; valid: `run`, `change`, `matrix`
  17 | fresh = "never"
     |         ^^^^^^^
"#);
    assert_snapshot!(refused(&chosen("[target.x]\ncommand = \"run me\"\nenv = [1]\naddress = { https = \"h:1\" }")), @r#"
bench.toml:13:11: `run me` is not a list; write `["run me"]`
  13 | command = "run me"
     |           ^^^^^^^^
bench.toml:14:7: a list is not a table
  14 | env = [1]
     |       ^^^
bench.toml:15:13: unknown key `https` in `[target.x.address]`; nearest `http`
  15 | address = { https = "h:1" }
     |             ^^^^^
     = help: valid keys: `http`
"#);
}

#[test]
fn scenarios_and_loads() {
    assert_snapshot!(refused(&chosen("[scenario.x]\nget = \"http://host/\"\nbody = 5\nheaders = { Connection = \"close\" }\nexpect = { status = 99, body = {} }")), @r#"
bench.toml:12:11: 2 scenarios and none chosen; add `scenario` to `[factors]`
  12 | [scenario.x]
     |           ^
     = help: a text fixes one, a list varies them: `small`, `x`
bench.toml:13:7: `http://host/` is no path; write `"/path"`
  13 | get = "http://host/"
     |       ^^^^^^^^^^^^^^
     = help: the host is the target's; a scenario holds the path alone
bench.toml:14:8: `5` is not text; write `"5"`
  14 | body = 5
     |        ^
     = help: a body is text; quote it
bench.toml:15:11: header `Connection` is written by assay itself
  15 | headers = { Connection = "close" }
     |           ^^^^^^^^^^^^^^^^^^^^^^^^
bench.toml:16:21: `99` is no status of an answer; from 200 to 599
  16 | expect = { status = 99, body = {} }
     |                     ^^
bench.toml:16:32: `body` is text or `{ contains = "..." }`
  16 | expect = { status = 99, body = {} }
     |                                ^^
"#);
    assert_snapshot!(refused(&chosen("[load.x]\nusers = 0\nmeasure = 0\ntimeout = \"0s\"\nconnections = \"perr-user\"\nmax_connections = -1")), @r#"
    bench.toml:12:7: 2 loads and none chosen; add `load` to `[factors]`
      12 | [load.x]
         |       ^
         = help: a text fixes one, a list varies them: `steady`, `x`
    bench.toml:13:9: `0` is not a whole number from 1 to 100000
      13 | users = 0
         |         ^
    bench.toml:14:11: `0` measures nothing; write `"30s"`
      14 | measure = 0
         |           ^
    bench.toml:15:11: `0s` is no time at all; write `"30s"`
      15 | timeout = "0s"
         |           ^^^^
    bench.toml:16:15: `perr-user` is no value of `connections`; nearest `per-user`
      16 | connections = "perr-user"
         |               ^^^^^^^^^^^
    bench.toml:17:19: `-1` is not a whole number from 1 to 100000
      17 | max_connections = -1
         |                   ^^
    "#);
    assert_snapshot!(refused(&single("").replace("measure = \"2s\"\n", "")), @r#"
bench.toml:5:7: load `main` has no `measure`
  5 | [load.main]
    |       ^^^^
    = help: the measured window: a duration such as `"30s"`, or a count of requests
"#);
    let staged = |keys: &str| refused(&single("").replace("users = 1\nmeasure = \"2s\"", keys));
    assert_eq!(staged("stages = [\"5/s for 1s\", \"to 9/s in 2s\"]"), "accepted");
    assert_snapshot!(staged("stages = [\"5/s for 1s\", \"7/s over 2s\", \"to 9/s in 0s\"]"), @r#"
    bench.toml:6:25: `7/s over 2s` is no stage; write `"200/s for 10s"` to hold a rate, or `"to 1000/s in 30s"` to ramp
      6 | stages = ["5/s for 1s", "7/s over 2s", "to 9/s in 0s"]
        |                         ^^^^^^^^^^^^^
    "#);
    assert_snapshot!(staged("stages = [\"0/s for 1s\", \"0/s for 2s\"]"), @r#"
    bench.toml:6:11: no stage has a rate above 0: nothing would arrive
      6 | stages = ["0/s for 1s", "0/s for 2s"]
        |           ^^^^^^^^^^^^
    "#);
    assert_snapshot!(staged("stages = [\"5/s for 1s\"]\nmeasure = \"1s\"\nwarmup = 10"), @r#"
    bench.toml:7:1: load `main` has `measure` beside `stages`
      7 | measure = "1s"
        | ^^^^^^^
        = help: the window is as long as its stages together; leave `measure` out
    bench.toml:8:10: load `main` counts its `warmup` beside `stages`
      8 | warmup = 10
        |          ^^
        = help: a duration: the warm-up goes on at the rate with which the first stage starts
    "#);
    assert_snapshot!(staged("users = 4\nmeasure = \"1s\"\narrival = \"poison\""), @r#"
    bench.toml:8:1: `arrival` has no effect on load `main`, a closed loop
      8 | arrival = "poison"
        | ^^^^^^^
        = help: users begin when their answer is there; write a `rate` or `stages`
    bench.toml:8:11: `poison` is no value of `arrival`; nearest `poisson`
      8 | arrival = "poison"
        |           ^^^^^^^^
    "#);
    assert_snapshot!(staged("users = 4\nmeasure = \"1s\"\narrival = \"poisson\"\nseed = 3"), @r#"
    bench.toml:8:1: `arrival` has no effect on load `main`, a closed loop
      8 | arrival = "poisson"
        | ^^^^^^^
        = help: users begin when their answer is there; write a `rate` or `stages`
    bench.toml:9:1: `seed` has no effect on load `main`, a closed loop
      9 | seed = 3
        | ^^^^
        = help: users begin when their answer is there; write a `rate` or `stages`
    "#);
    assert_snapshot!(staged("users = 4\nmeasure = \"1s\"\niterations = 9"), @r#"
    bench.toml:7:1: load `main` has `measure` beside `iterations`
      7 | measure = "1s"
        | ^^^^^^^
        = help: iterations are the window, so many for each user; leave `measure` out
    "#);
    assert_snapshot!(staged("users = 4\niterations = 0"), @"
    bench.toml:7:14: `0` is not a whole number from 1 to 1000000000000
      7 | iterations = 0
        |              ^
    ");
    let pauses = "think = \"5ms\"\npacing = \"9ms\"";
    assert_snapshot!(staged(&format!("users = 4\nmeasure = \"1s\"\n{pauses}")), @r#"
    bench.toml:9:1: load `main` has `pacing` beside `think`
      9 | pacing = "9ms"
        | ^^^^^^
        = help: think pauses after each answer; a pace is from request to request: keep one
    "#);
    assert_snapshot!(staged(&format!("rate = \"4/s\"\nmeasure = \"1s\"\n{pauses}")), @r#"
    bench.toml:8:1: `think` has no effect on load `main`, an open loop
      8 | think = "5ms"
        | ^^^^^
        = help: its requests are due whoever answers; the key is one of `users`
    bench.toml:9:1: `pacing` has no effect on load `main`, an open loop
      9 | pacing = "9ms"
        | ^^^^^^
        = help: its requests are due whoever answers; the key is one of `users`
    "#);
    assert_snapshot!(refused("[load]\nusers = 3"), @"
bench.toml:2:1: `3` is not a table
  2 | users = 3
    | ^^^^^
    = help: tables of this section have names: `[load.NAME]`
");
}

#[test]
fn matrix() {
    assert_snapshot!(refused(&chosen("[matrix]\nblocks = 0\ngap = 5\nnest = [\"targt\"]\norder = \"random\"\nseed = -1\nwarmup_run = \"no\"\nbring_up_share = 20\n[observe]\ninterval = \"1ms\"\n[compare]\nprimary = \"p42\"")), @r#"
    bench.toml:13:10: `0` is not a whole number from 1 to 1000
      13 | blocks = 0
         |          ^
    bench.toml:14:7: `5` is not a duration; write `"5s"`
      14 | gap = 5
         |       ^
         = help: or write `"auto"`
    bench.toml:15:9: `targt` in `nest` is no varied factor; nearest `target`
      15 | nest = ["targt"]
         |         ^^^^^^^
    bench.toml:16:9: `random` is no value of `order`; valid: `balanced`, `fixed`, `shuffle`
      16 | order = "random"
         |         ^^^^^^^^
    bench.toml:17:8: `-1` is not a whole number from 0 to 9223372036854775807
      17 | seed = -1
         |        ^^
    bench.toml:18:14: `no` is no value of `warmup_run`; valid: `"auto"`, `true`, `false`
      18 | warmup_run = "no"
         |              ^^^^
    bench.toml:19:18: `20` is not a percentage; write `"0.1%"`
      19 | bring_up_share = 20
         |                  ^^
    bench.toml:21:12: `1ms` is not from `10ms` to `1h`
      21 | interval = "1ms"
         |            ^^^^^
    bench.toml:23:11: `p42` is no value of `primary`; valid: `throughput`, `p50`, `p90`, `p95`, `p99`, `p999`, `failures`, `time`, `target.cpu_per_request`, `generator.cpu_per_request`
      23 | primary = "p42"
         |           ^^^^^
    "#);
    assert_snapshot!(refused(&chosen("[matrix]\nnest = []\norder = { size = \"fixed\" }")), @r#"
bench.toml:13:8: `nest` leaves out `target`
  13 | nest = []
     |        ^^
     = help: it lists every varied factor
bench.toml:14:11: `size` in `order` is no varied factor
  14 | order = { size = "fixed" }
     |           ^^^^
"#);
}

#[test]
fn names() {
    assert_snapshot!(refused(&chosen("[target.null]\nmock = {}\n[scenario.\"a b\"]\nget = \"/\"")), @r#"
bench.toml:12:9: `null` is not a name
  12 | [target.null]
     |         ^^^^
     = help: `null`, `null-*`, `positive` and `only` are kept for controls and the single cell
bench.toml:14:11: `a b` is not a name
  14 | [scenario."a b"]
     |           ^^^^^
     = help: names have 1 to 40 letters, digits, `.`, `_` or `-`
"#);
}

#[test]
fn syntax() {
    assert_snapshot!(refused("[target.a]\ncommand = [\"x\"\n[load"), @"
bench.toml:3:1: missing comma between array elements, expected `,`
  3 | [load
    | ^
");
    assert_snapshot!(refused("[target.a]\nurl = \"x\"\n[target.a]\n"), @"
bench.toml:3:9: `[target.a]` is defined twice, also in bench.toml:1
  3 | [target.a]
    |         ^
");
    assert_snapshot!(refused("a = \"\u{0}\""), @r#"
bench.toml:1:6: invalid basic string, expected non-double-quote visible characters, `\`
  1 | a = "�"
    |      ^
"#);
    assert_snapshot!(refused("x = 99999999999999999999999"), @"
bench.toml:1:5: integer number overflowed
  1 | x = 99999999999999999999999
    |     ^^^^^^^^^^^^^^^^^^^^^^^
");
    assert_snapshot!(refused(&format!("{} = 1", ["a"; 60].join("."))), @"
bench.toml:1:65: tables are nested deeper than 32
  1 | a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1
    |                                                                 ^
");
}

#[test]
fn what_could_have_no_effect_is_refused() {
    assert_snapshot!(refused(&single("max_connections = 4")), @r#"
bench.toml:8:1: `max_connections` has no effect on load `main`, a closed loop
  8 | max_connections = 4
    | ^^^^^^^^^^^^^^^
    = help: each user has one connection; the key caps those of a `rate`
"#);
}
