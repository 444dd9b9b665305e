//! Expansion: orders, instances, layers and what the plan says about them.

use bench::Overrides;
use insta::assert_snapshot;
use record::plan::{BodyCheck, Cell, Extent, Fresh, Model, Plan, RunKind, TargetKind};

use crate::support::{dirs, plan, plan_with};

const TWO_SERVERS: &str = r#"
[target.nginx]
command = ["nginx", "-c", "${bench.dir}/nginx.conf"]
address = "127.0.0.1:18080"
[target.tomcat]
command = ["./tomcat/run.sh"]
address = "127.0.0.1:18081"
[scenario.small]
get = "/${vars.size}"
[load.steady]
users = 32
measure = "30s"
[vars]
size = "1k"
"#;

/// The worked example of the reference, verbatim.
#[test]
fn worked_example() {
    let text = format!(
        "{TWO_SERVERS}
[factors]
target = [\"nginx\", \"tomcat\", \"null\"]
size = {{ key = \"vars.size\", values = [\"1k\", \"64k\"] }}
[matrix]
blocks = 4
"
    );
    let plan = plan(&text);
    let expect = "\
01-01-nginx+1k  01-02-tomcat+1k  01-03-null+1k  01-04-nginx+64k  01-05-tomcat+64k  01-06-null+64k
02-01-null+64k  02-02-tomcat+64k  02-03-nginx+64k  02-04-null+1k  02-05-tomcat+1k  02-06-nginx+1k
03-01-tomcat+1k  03-02-null+1k  03-03-nginx+1k  03-04-tomcat+64k  03-05-null+64k  03-06-nginx+64k
04-01-nginx+64k  04-02-null+64k  04-03-tomcat+64k  04-04-nginx+1k  04-05-null+1k  04-06-tomcat+1k";
    assert_eq!(dirs(&plan), expect);
    assert_eq!(plan.nest, ["size", "target"]);
    let null = plan.cells.iter().find(|cell| cell.name == "null+64k").unwrap();
    let nginx = plan.cells.iter().find(|cell| cell.name == "nginx+64k").unwrap();
    assert_eq!(null.identity_sha256, nginx.identity_sha256);
    assert_eq!(null.levels[0].twin.as_deref(), Some("nginx"));
    assert_eq!(null.effective.scenario.path, "/64k");
    assert_eq!(null.effective.load.model, Model::Users(32));
    assert_eq!(null.effective.load.measure, Extent::Ns(30_000_000_000));
}

#[test]
fn a_minimal_bench_is_one_cell() {
    let plan = plan(
        r#"
[target.api]
mock = { latency = "5ms", body_size = "1KB" }
[scenario.get]
get = "/"
[load.main]
rate = "200/s"
measure = "5s"
"#,
    );
    assert_eq!(plan.cells.len(), 1);
    assert_eq!(plan.cells[0].name, "only");
    assert_eq!(plan.blocks, 12);
    assert_eq!(plan.runs[0].dir, "01-01-only");
    let TargetKind::Mock(mock) = &plan.cells[0].effective.target.kind else { panic!("no mock") };
    assert_eq!(mock.latency_ns, 5_000_000);
    assert_eq!(mock.body_size_bytes, 1000);
    assert_eq!(plan.estimate.bring_up_ns, 12 * 200_000_000);
    assert!(plan.runs.iter().all(|run| run.kind == RunKind::Measured));
}

#[test]
fn quick_shrinks() {
    let text = format!("{TWO_SERVERS}\n[factors]\ntarget = [\"nginx\", \"tomcat\"]\n");
    let overrides = Overrides { quick: true, blocks: Some(5), ..Overrides::default() };
    let plan = plan_with(&text, &overrides).unwrap();
    assert!(plan.quick);
    assert_eq!(plan.blocks, 1);
    let load = &plan.cells[0].effective.load;
    assert_eq!(load.warmup, Extent::Ns(200_000_000));
    assert_eq!(load.measure, Extent::Ns(500_000_000));
    assert_eq!(load.cooldown_ns, 500_000_000);
    assert_eq!(plan.cells[0].origins["load.measure"], "--quick");
    // Stages keep their proportions.
    let staged = text
        .replace("users = 32\nmeasure = \"30s\"", "stages = [\"5/s for 30s\", \"to 9/s in 10s\"]");
    assert_ne!(staged, text);
    let plan = plan_with(&staged, &overrides).unwrap();
    let load = &plan.cells[0].effective.load;
    let lengths: Vec<u64> = load.stages.iter().map(|stage| stage.length_ns).collect();
    assert_eq!(lengths, [375_000_000, 125_000_000]);
    assert_eq!((load.measure, load.model), (Extent::Ns(500_000_000), Model::Rate(5.5)));
    // 100 over 32 users.
    let split = text.replace("measure = \"30s\"", "iterations = 4000");
    assert_ne!(split, text);
    let plan = plan_with(&split, &overrides).unwrap();
    assert_eq!(plan.cells[0].effective.load.measure, Extent::Count(128));
}

const SMALL: &str = r#"
[target.api]
mock = { latency = "5ms" }
[scenario.get]
get = "/"
[load.main]
users = 8
measure = "10s"
"#;

fn cell<'p>(plan: &'p Plan, name: &str) -> &'p Cell {
    let found = plan.cells.iter().find(|cell| cell.name == name);
    found.unwrap_or_else(|| panic!("no cell {name}"))
}

/// Every layer over the one below, and where each value says it came from.
#[test]
fn layers_and_origins() {
    let text = r#"
[vars]
size = "1k"
who = "bench"
[target.nginx]
command = ["nginx"]
address = "127.0.0.1:1"
vars.who = "target"
[target.tomcat]
command = ["tomcat"]
address = "127.0.0.1:2"
[scenario.get]
get = "/${vars.size}/${vars.who}"
vars = { who = "scenario", only_here = 1 }
load.measure = "20s"
[load.main]
users = 8
measure = "10s"
warmup = "3s"
[factors]
target = ["nginx", "tomcat"]
[factors.db]
small = {}
large = { load.measure = "30s", vars.size = "64k" }
[[where]]
match = { target = "tomcat", db = "large" }
set = { load.warmup = "5s", gates.failures = "5%" }
"#;
    let overrides = Overrides { set: vec!["load.cooldown=7s".into()], ..Overrides::default() };
    let plan = plan_with(text, &overrides).unwrap();
    let first = cell(&plan, "nginx+small");
    let last = cell(&plan, "tomcat+large");
    assert_eq!(first.effective.scenario.path, "/1k/target");
    assert_eq!(last.effective.scenario.path, "/64k/scenario");
    assert_eq!(first.effective.load.measure, Extent::Ns(20_000_000_000));
    assert_eq!(last.effective.load.measure, Extent::Ns(30_000_000_000));
    assert_eq!(first.effective.load.warmup, Extent::Ns(3_000_000_000));
    assert_eq!(last.effective.load.warmup, Extent::Ns(5_000_000_000));
    assert_eq!(last.effective.load.cooldown_ns, 7_000_000_000);
    assert_eq!(first.gates.failures_share, 0.001);
    assert_eq!(last.gates.failures_share, 0.05);
    assert_eq!(plan.gates.failures_share, 0.001);
    let shown = |cell: &Cell| {
        let keys = [
            "load.connections",
            "load.cooldown",
            "load.measure",
            "load.users",
            "load.warmup",
            "target.name",
            "target.stop.grace",
            "vars.size",
            "vars.who",
        ];
        keys.map(|key| format!("{key}: {}", cell.origins[key])).join("\n")
    };
    assert_snapshot!(shown(first), @"
load.connections: default
load.cooldown: --set
load.measure: bench.toml:15
load.users: bench.toml:17
load.warmup: bench.toml:19
target.name: level target=nginx
target.stop.grace: default
vars.size: bench.toml:3
vars.who: bench.toml:8
");
    assert_snapshot!(shown(last), @"
load.connections: default
load.cooldown: --set
load.measure: level db=large
load.users: bench.toml:17
load.warmup: [[where]] bench.toml:26
target.name: level target=tomcat
target.stop.grace: default
vars.size: level db=large
vars.who: bench.toml:14
");
}

#[test]
fn kinds_replace_one_another_in_scenarios_and_loads() {
    let text = format!(
        "{SMALL}[factors.f]\na = {{}}\nb = {{ load.rate = \"50/s\", scenario.post = \"/p\" }}"
    );
    let plan = plan(&text);
    assert_eq!(cell(&plan, "a").effective.load.model, Model::Users(8));
    assert_eq!(cell(&plan, "b").effective.load.model, Model::Rate(50.0));
    assert_eq!(cell(&plan, "b").effective.scenario.method, "POST");
}

#[test]
fn references_keep_their_type() {
    let text = r#"
[vars]
users = 3
codes = [200, 404]
pool = { env = "POOL", default = 4 }
absent = { env = "ABSENT", default = 4 }
[target.api]
command = ["api", "${load.measure.s}", "--half=${load.warmup.s}", "${load.users}"]
address = "127.0.0.1:0"
env = { PORT = "${target.port}", DIR = "${run.scratch}/x", POOL = "${vars.pool}" }
[scenario.get]
get = "/${scenario.name}/${transport.name}/${bench.name}"
expect = { status = "${vars.codes}", body = { contains = "ok" }, size = "1KiB" }
[load.main]
users = "${vars.users}"
measure = "30s"
warmup = "500ms"
"#;
    let plan = plan(text);
    let effective = &plan.cells[0].effective;
    assert_eq!(effective.load.model, Model::Users(3));
    assert_eq!(effective.scenario.expect.status, [200, 404]);
    assert_eq!(effective.scenario.expect.body, Some(BodyCheck::Contains("ok".into())));
    assert_eq!(effective.scenario.expect.size_bytes, Some(1024));
    assert_eq!(effective.scenario.path, "/get/p0/bench");
    let TargetKind::Command(command) = &effective.target.kind else { panic!("no command") };
    assert_eq!(command[1..], ["30", "--half=0.5", "3"]);
    assert_eq!(effective.target.env["PORT"], "${target.port}");
    assert_eq!(effective.target.env["DIR"], "${run.scratch}/x");
    assert_eq!(effective.target.env["POOL"], "16");
    assert_eq!(effective.vars["pool"], "16");
    assert_eq!(effective.vars["absent"], 4);
    assert_eq!(plan.cells[0].origins["vars.pool"], "environment POOL");
    assert_eq!(effective.target.cwd.as_deref(), Some("/bench"));
}

#[test]
fn skipping() {
    let text = format!(
        "{TWO_SERVERS}
[scenario.large]
get = \"/64k\"
only = \"!tomcat\"
[factors]
target = [\"nginx\", \"tomcat\", \"null\", \"null-tomcat\"]
scenario = [\"small\", \"large\"]
[[where]]
match = {{ target = \"null\", scenario = \"!large\" }}
skip = \"null at large only\"
"
    );
    let plan = plan(&text);
    let kept: Vec<&str> = plan.cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(
        kept,
        ["nginx+small", "nginx+large", "tomcat+small", "null+large", "null-tomcat+small"]
    );
    let skipped: Vec<String> =
        plan.skipped.iter().map(|skipped| format!("{}: {}", skipped.cell, skipped.why)).collect();
    assert_snapshot!(skipped.join("\n"), @"
tomcat+large: scenario `large` is not for this target
null+small: null at large only
null-tomcat+large: scenario `large` is not for this target
");
    let only = Overrides { only: Some("nginx+*".into()), ..Overrides::default() };
    let plan = plan_with(&text, &only).unwrap();
    assert_eq!(plan.cells.len(), 2);
    assert_eq!(plan.skipped.len(), 6);
}

/// A control follows what it repeats: a patch of the level is a patch of its control.
#[test]
fn controls_follow_their_twin() {
    let text = format!(
        "{TWO_SERVERS}
[factors]
target = [\"nginx\", \"tomcat\", \"null\"]
[[where]]
match = {{ target = \"nginx\" }}
set = {{ load.users = 5 }}
"
    );
    let plan = plan(&text);
    assert_eq!(cell(&plan, "null").effective.load.model, Model::Users(5));
    assert_eq!(cell(&plan, "null").identity_sha256, cell(&plan, "nginx").identity_sha256);
    assert_eq!(cell(&plan, "tomcat").effective.load.model, Model::Users(32));
}

#[test]
fn identity_is_what_runs_not_what_it_is_called() {
    let text = "
[target.a]
mock = { latency = \"5ms\" }
[target.b]
mock = { latency = \"5000us\" }
bring_up = \"9s\"
[target.c]
mock = { latency = \"6ms\" }
[scenario.get]
get = \"/\"
[load.main]
users = 1
measure = \"1s\"
[factors]
target = [\"a\", \"b\", \"c\"]
";
    let plan = plan(text);
    let [a, b, c] = &plan.cells[..] else { panic!("three cells") };
    assert_eq!(a.identity_sha256, b.identity_sha256);
    assert_ne!(a.identity_sha256, c.identity_sha256);
    assert_eq!(a.scenario_sha256, c.scenario_sha256);
    assert!(plan.notes.iter().any(|note| note.contains("same run") && note.contains("`a` = `b`")));
}

/// The documented example of `change`: one instance per level of the target within each size.
#[test]
fn instances_of_change_share_what_lies_inside() {
    let text = format!(
        "{}
[factors]
target = [\"nginx\", \"tomcat\", \"null\"]
size = {{ key = \"vars.size\", values = [\"1k\", \"64k\"] }}
[matrix]
blocks = 2
nest = [\"target\", \"size\"]
",
        TWO_SERVERS
            .replace("[target.tomcat]", "fresh = \"change\"\n[target.tomcat]\nfresh = \"change\"")
    );
    let plan = plan(&text);
    let shown: Vec<String> =
        plan.runs.iter().map(|run| format!("{} #{}", run.dir, run.instance)).collect();
    assert_snapshot!(shown.join("\n"), @"
01-01w-nginx+1k #1
01-01-nginx+1k #1
01-02-nginx+64k #1
01-03w-tomcat+1k #2
01-03-tomcat+1k #2
01-04-tomcat+64k #2
01-05w-null+1k #3
01-05-null+1k #3
01-06-null+64k #3
02-01w-null+64k #4
02-01-null+64k #4
02-02-null+1k #4
02-03w-tomcat+64k #5
02-03-tomcat+64k #5
02-04-tomcat+1k #5
02-05w-nginx+64k #6
02-05-nginx+64k #6
02-06-nginx+1k #6
");
}

#[test]
fn a_matrix_instance_lives_through_all_blocks() {
    let text = SMALL.replace("mock = {", "fresh = \"matrix\"\nmock = {")
        + "[factors.f]\na = {}\nb = { target.mock.latency = \"6ms\" }\nnull = \"a\"\n[matrix]\nblocks = 6";
    let plan = plan(&text);
    assert_eq!(plan.cells[0].effective.target.fresh, Fresh::Matrix);
    let instances: std::collections::BTreeSet<u32> =
        plan.runs.iter().map(|run| run.instance).collect();
    assert_eq!(instances.len(), 3, "the control has its own");
    let warm: Vec<&str> = plan
        .runs
        .iter()
        .filter(|run| run.kind == RunKind::WarmUp)
        .map(|run| run.dir.as_str())
        .collect();
    assert_eq!(warm, ["01-01w-a", "01-02w-b", "01-03w-null"]);
    assert!(plan.notes.iter().any(|note| note.contains("idle in turn")));
}

#[test]
fn warmup_runs_as_asked() {
    let runs = |warmup: &str| {
        let plan = plan(&format!("{SMALL}[matrix]\nblocks = 2\nwarmup_run = {warmup}"));
        plan.runs.iter().map(|run| run.dir.clone()).collect::<Vec<_>>()
    };
    assert_eq!(runs("\"auto\""), ["01-01-only", "02-01-only"]);
    assert_eq!(runs("true"), ["01-01w-only", "01-01-only", "02-01w-only", "02-01-only"]);
    assert_eq!(runs("false"), ["01-01-only", "02-01-only"]);
}

/// Costly bring-ups that can be shared move the target outside, and the plan says so.
#[test]
fn costly_bring_ups_go_outside() {
    let bench = |bring_up: &str| {
        let change = format!("fresh = \"change\"\nbring_up = \"{bring_up}\"\n");
        let text = TWO_SERVERS
            .replace("[target.nginx]\n", &format!("[target.nginx]\n{change}"))
            .replace("[target.tomcat]\n", &format!("[target.tomcat]\n{change}"));
        plan(&format!(
            "{text}
[factors]
target = [\"nginx\", \"tomcat\", \"null\"]
size = {{ key = \"vars.size\", values = [\"1k\", \"64k\"] }}
[matrix]
blocks = 6
"
        ))
    };
    let cheap = bench("5s");
    assert_eq!(cheap.nest, ["size", "target"]);
    let costly = bench("60s");
    assert_eq!(costly.nest, ["target", "size"]);
    assert!(costly.estimate.bring_up_ns < 36 * 60_000_000_000);
    assert_snapshot!(costly.notes.join("\n"), @"
factor `size` has no null: its contrasts are uncontrolled; add `null`
pairs lie at most this many runs apart: `target` 4, `size` 1
18 bring-ups take about 18.0 min, 38 % of the time
bring-ups would take over 20 % of the time: factors that change the target are outside, so their pairs lie farther apart
");
}

#[test]
fn rows_lie_outside_and_turn_the_inner_order() {
    let text = format!(
        "{TWO_SERVERS}
[scenario.large]
get = \"/64k\"
[factors]
target = [\"nginx\", \"tomcat\"]
scenario = [\"small\", \"large\"]
[matrix]
blocks = 4
"
    );
    let plan = plan(&text);
    assert_eq!(plan.nest, ["scenario", "target"]);
    assert!(!plan.factors[1].contrasted);
    assert_snapshot!(dirs(&plan), @"
01-01-nginx+small  01-02-tomcat+small  01-03-tomcat+large  01-04-nginx+large
02-01-nginx+large  02-02-tomcat+large  02-03-tomcat+small  02-04-nginx+small
03-01-nginx+small  03-02-tomcat+small  03-03-tomcat+large  03-04-nginx+large
04-01-nginx+large  04-02-tomcat+large  04-03-tomcat+small  04-04-nginx+small
");
}

#[test]
fn fixed_order_never_turns() {
    let text = format!(
        "{TWO_SERVERS}\n[factors]\ntarget = [\"nginx\", \"tomcat\"]\n[matrix]\nblocks = 3\norder = \"fixed\""
    );
    let plan = plan(&text);
    assert_eq!(plan.order, "fixed");
    assert_snapshot!(dirs(&plan), @"
01-01-nginx  01-02-tomcat
02-01-nginx  02-02-tomcat
03-01-nginx  03-02-tomcat
");
}

#[test]
fn estimates() {
    let text = format!("{SMALL}[matrix]\nblocks = 4\ngap = \"1s\"");
    let known = plan(&text);
    // Per run 0.2 s bring-up, 2 s warm-up, 10 s window, 1 s cool-down; three gaps.
    assert_eq!(known.estimate.time_ns, Some(4 * 13_200_000_000 + 3_000_000_000));
    assert_eq!(known.estimate.bring_up_ns, 800_000_000);
    assert_eq!(known.estimate.disk_bytes, 4 * (64 * 1024 + 10 * 2048));
    assert_eq!(known.estimate.run_timeout_ns, 2 * 13_200_000_000 + 60_000_000_000);
    let counted = plan(&text.replace("\"10s\"", "10_000"));
    assert_eq!(counted.estimate.time_ns, None);
    assert_eq!(counted.estimate.run_timeout_ns, 3_600_000_000_000);
    assert_snapshot!(counted.notes.join("\n"), @"
4 bring-ups take about 800 ms
the time is unknown: load `main` counts requests
");
}

#[test]
fn notes_say_what_is_missing() {
    let text = format!(
        "{TWO_SERVERS}
[load.spare]
users = 1
measure = \"1s\"
[factors]
target = [\"nginx\", \"tomcat\"]
load = \"steady\"
posture = \"neutral\"
[matrix]
blocks = 3
"
    );
    let plan = plan(&text);
    assert_eq!(plan.fixed["posture"], "neutral");
    assert_snapshot!(plan.notes.join("\n"), @"
factor `target` has no null: its contrasts are uncontrolled; add `null`
3 blocks are odd: one order leads once more
3 blocks are under 6: no 95 % interval
pairs lie at most this many runs apart: `target` 1
6 bring-ups take about 30.0 s, 13 % of the time
factor `posture` is fixed and sets nothing: it is recorded only
not used: `load.spare`
");
}

#[test]
fn cores_by_cell() {
    let text = format!(
        "{SMALL}[cpus]\ntarget = \"0,2-3\"\ngenerator = 1\nparent = \"1\"\noverlap = [\"generator\", \"parent\"]
[factors.cores]
few = {{ cpus.mock = \"0\" }}
many = {{}}"
    );
    let plan = plan(&text);
    assert_eq!(plan.cpus.target, [0, 2, 3]);
    assert_eq!(plan.cpus.mock, [0, 2, 3]);
    assert_eq!(cell(&plan, "few").effective.cpus.mock, [0]);
    assert_eq!(cell(&plan, "many").effective.cpus.mock, [0, 2, 3]);
    assert_ne!(cell(&plan, "few").identity_sha256, cell(&plan, "many").identity_sha256);
}

#[test]
fn settings_from_the_command_line() {
    let set = [
        "matrix.blocks=3",
        "gates.window=\"1s\"",
        "compare.primary=p99",
        "target.mock.latency=7ms",
    ];
    let overrides = Overrides { set: set.map(str::to_owned).to_vec(), ..Overrides::default() };
    let plan = plan_with(SMALL, &overrides).unwrap();
    assert_eq!(plan.blocks, 3);
    assert_eq!(plan.gates.window_ns, 1_000_000_000);
    assert_eq!(plan.compare.primary.as_deref(), Some("p99"));
    let TargetKind::Mock(mock) = &plan.cells[0].effective.target.kind else { panic!("no mock") };
    assert_eq!(mock.latency_ns, 7_000_000);
    assert_eq!(plan.cells[0].origins["target.mock.latency"], "--set");
    let both = Overrides { blocks: Some(2), ..overrides };
    assert_eq!(plan_with(SMALL, &both).unwrap().blocks, 2);
}

/// The bench, the program and the files among its arguments are hashed, each once.
#[test]
fn files_are_hashed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    std::fs::write(folder.path().join("run.sh"), "#!/bin/sh\n").unwrap();
    std::fs::write(folder.path().join("server.conf"), "port 1\n").unwrap();
    let text = r#"
[target.a]
command = ["./run.sh", "--config=server.conf", "server.conf", "absent.conf"]
address = "127.0.0.1:0"
env.PORT = "${target.port}"
[scenario.get]
get = "/"
[load.main]
users = 1
measure = "1s"
"#;
    std::fs::write(&path, text).unwrap();
    let plan = bench::plan(&path, &Overrides::default()).unwrap();
    assert_eq!(plan.bench, "my");
    let files: Vec<(&str, u64)> =
        plan.files.iter().skip(1).map(|file| (file.path.as_str(), file.bytes)).collect();
    assert_eq!(files, [("./run.sh", 10), ("server.conf", 7)]);
    assert_eq!(plan.files[0].bytes, text.len() as u64);
    // printf 'port 1\n' | sha256sum
    assert_eq!(
        plan.files[2].sha256,
        "433ca7742cd1e230f236a435776a4c2fb8d8562b35277bb626556c9c91810409"
    );
    let TargetKind::Command(command) = &plan.cells[0].effective.target.kind else {
        panic!("no command")
    };
    assert_eq!(command[0], folder.path().join("run.sh").display().to_string());
    assert_eq!(command[1], "--config=server.conf");
    // A changed file is another plan.
    std::fs::write(folder.path().join("server.conf"), "port 2\n").unwrap();
    let other = bench::plan(&path, &Overrides::default()).unwrap();
    assert_ne!(plan.files, other.files);
    assert_eq!(serde_json::from_value::<Plan>(serde_json::to_value(&plan).unwrap()).unwrap(), plan);
}
