//! The command line as people expect it.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{ASSAY, Bench, Lab, Running, meta, wait_for};

const VERBS: [&str; 16] = [
    "certify",
    "calibrate",
    "selftest",
    "run",
    "plan",
    "load",
    "mock",
    "compare",
    "digest",
    "drill",
    "diff",
    "host",
    "status",
    "schema",
    "completions",
    "man",
];

/// K-029: what can be asked for, word by word.
#[test]
fn the_help_of_every_verb() {
    let lab = Lab::new();
    insta::with_settings!({prepend_module_to_snapshot => false, snapshot_path => "snapshots"}, {
        insta::assert_snapshot!("help", lab.assay(&["--help"]).expect(0).stdout);
        for verb in VERBS {
            let ran = lab.assay(&[verb, "--help"]).expect(0);
            insta::assert_snapshot!(format!("help_{verb}"), ran.stdout);
        }
    });
    let all = lab.assay(&["--help"]).stdout;
    let listed = VERBS.iter().filter(|verb| all.contains(&format!("\n  {verb} ")));
    assert_eq!(listed.count(), VERBS.len(), "{all}");
}

#[test]
fn a_version_has_a_commit() {
    let lab = Lab::new();
    let version = lab.assay(&["--version"]).expect(0).stdout;
    insta::with_settings!({filters => vec![(r"\([0-9a-f]{12}(\+dirty)?\)|\(unknown\)", "(COMMIT)")]}, {
        insta::assert_snapshot!(version, @"assay 0.1.0 (COMMIT)");
    });
}

#[test]
fn completions_and_the_manual() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = lab.assay(&["completions", shell]).expect(0);
        for verb in VERBS {
            assert!(ran.stdout.contains(verb), "{shell} completes {verb}");
        }
    }
    // Bash itself takes them.
    let script = lab.assay(&["completions", "bash"]).stdout;
    let path = lab.write("assay.bash", &script);
    let checked = Command::new("bash").arg("-n").arg(path).status().expect("bash is there");
    assert!(checked.success());
    let page = lab.assay(&["man"]).expect(0).stdout;
    assert!(page.contains(".TH assay"), "{page}");
    for word in ["\\-\\-resume", "\\-\\-rate", "Exit status"] {
        assert!(page.contains(word), "{word} in the manual");
    }
    lab.assay(&["completions", "cobol"]).expect(2);
}

/// A label to look at, with one void run in it.
fn kept(lab: &Lab) {
    let bench = Bench::mock()
        .factor("fault", &[("none", "{}"), ("some", "{ target.mock.fail = \"20%:status=503\" }")]);
    lab.run(&bench, "kept", &[]).expect(3);
}

#[test]
fn colour_repeats_what_a_word_says_and_only_when_wanted() {
    let lab = Lab::new();
    kept(&lab);
    let coloured = |extra: &[&str], no_color: Option<&str>| {
        let mut command = lab.command(ASSAY, &[&["compare", "results/kept"], extra].concat());
        if let Some(value) = no_color {
            command.env("NO_COLOR", value);
        }
        Running::start(command).finish().stdout
    };
    let plain = coloured(&[], None);
    assert!(!plain.contains('\u{1b}'), "no terminal, no colour");
    let bright = coloured(&["--color", "always"], None);
    assert!(bright.contains("\u{1b}["), "{bright}");
    assert!(coloured(&["--color", "always"], Some("1")).contains("\u{1b}["), "the flag wins");
    assert_eq!(coloured(&["--color", "never"], None), plain);
    assert_eq!(coloured(&["--color", "auto"], Some("1")), plain);
    let mut stripped = String::new();
    for (index, piece) in bright.split("\u{1b}[").enumerate() {
        let text = if index == 0 { piece } else { piece.split_once('m').map_or("", |(_, t)| t) };
        stripped.push_str(text);
    }
    assert_eq!(stripped, plain, "colour adds nothing else");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let lab = Lab::new();
    let bench = Bench::mock().matrix("blocks", "900");
    lab.write("bench.toml", &bench.toml());
    for extra in ["", " --json -"] {
        let script = format!("\"$0\" plan bench.toml{extra} | head -n 1; exit ${{PIPESTATUS[0]}}");
        let command = lab.command("bash", &["-c", &script, ASSAY]);
        let ran = Running::start(command).finish().expect(0);
        assert_eq!(ran.stdout.lines().count(), 1);
        assert!(!ran.stderr.contains("error"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

fn parses(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// `--json -` on every verb: standard output is one JSON document with a name and a version.
#[test]
fn json_on_standard_output_is_json_alone() {
    let lab = Lab::new();
    let bench = Bench::mock().matrix("blocks", "1");
    lab.write("bench.toml", &bench.toml());
    for (arguments, name) in [
        (&["run", "bench.toml", "--label", "a", "--json", "-"][..], "assay.matrix"),
        (&["plan", "bench.toml", "--json", "-"], "assay.plan"),
        (&["compare", "results/a", "--json", "-"], "assay.comparison"),
        (&["status", "results/a", "--json", "-"], "assay.status"),
    ] {
        let ran = lab.assay(arguments);
        let json = parses(&ran.stdout);
        assert_eq!(json["format"]["name"], name);
        assert_eq!(json["format"]["version"], 1);
    }
    let quick = ["run", "bench.toml", "--label", "b", "--quick", "--json", "-"];
    let json = parses(&lab.assay(&quick).expect(0).stdout);
    assert!(json.is_object(), "{json}");
    let schema = parses(&lab.assay(&["schema", "--json", "-"]).expect(0).stdout);
    assert!(schema["properties"].is_object());

    let mock = lab.spawn(&["mock", "--json", "-"]);
    let address = listening(&mock);
    let url = format!("{address}/");
    let arguments = ["load", &url, "-c", "2", "-d", "300ms", "--warmup", "100ms", "--json", "-"];
    let record = parses(&lab.assay(&arguments).stdout);
    assert_eq!(record["format"]["name"], "assay.load");
    mock.signal(Signal::TERM);
    let ran = mock.finish().expect(0);
    let json = ran.stdout.split_once('\n').map(|(_, rest)| rest).unwrap_or_default();
    let mock = parses(json);
    assert_eq!(mock["format"]["name"], "assay.mock");
    assert_eq!(mock["served"], record["whole_life"]["sent"]);
}

/// The address that a mock prints first.
pub(crate) fn listening(mock: &Running) -> String {
    wait_for("the mock's first line", || {
        let text = mock.stdout();
        let line = text.lines().next().filter(|_| text.contains('\n'))?;
        line.strip_prefix("listening ").map(str::to_owned)
    })
}

/// `--json FILE` writes the same and leaves standard output to people.
#[test]
fn json_into_a_file_leaves_the_table() {
    let lab = Lab::new();
    kept(&lab);
    let table = lab.assay(&["compare", "results/kept"]).stdout;
    let ran = lab.assay(&["compare", "results/kept", "--json", "out.json"]);
    assert_eq!(ran.stdout, table);
    let written = fs::read_to_string(lab.path().join("out.json")).expect("it was written");
    assert_eq!(written, lab.assay(&["compare", "results/kept", "--json", "-"]).stdout);
    lab.assay(&["compare", "results/kept", "--json", "no/such/folder.json"]).expect(1);
}

#[test]
fn remarks_go_to_standard_error_and_quiet_silences_them() {
    let lab = Lab::new();
    lab.write("bench.toml", &Bench::mock().toml());
    let ran = lab.assay(&["run", "bench.toml", "--label", "loud"]).expect(0);
    assert!(ran.stderr.contains("1/1 01-01-only"), "progress in plain lines: {}", ran.stderr);
    assert!(!ran.stdout.contains("1/1 01-01-only"), "{}", ran.stdout);
    let ran = lab.assay(&["run", "bench.toml", "--label", "calm", "-q"]).expect(0);
    assert_eq!(ran.stderr, "");
    assert!(!ran.stdout.is_empty());
    let ran = lab.assay(&["run", "bench.toml", "--label", "more", "-v"]).expect(0);
    assert!(ran.stderr.contains("bringing up `api`"), "{}", ran.stderr);
    lab.assay(&["run", "bench.toml", "-q", "-v"]).expect(2);
}

/// K-029: every flag of `run` is echoed in the metadata.
#[test]
fn options_are_echoed_in_the_metadata() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .factor("size", &[("small", "{}"), ("large", "{ target.mock.body_size = \"9KB\" }")]);
    lab.write("bench.toml", &bench.toml());
    lab.assay(&[
        "run",
        "bench.toml",
        "--label",
        "echo",
        "--out",
        "kept",
        "--only",
        "la*",
        "--blocks",
        "2",
        "--set",
        "load.users=3",
        "--set",
        "load.measure=200ms",
    ])
    .expect(0);
    let runs = crate::support::names(&lab.path().join("kept/echo/runs"));
    assert_eq!(runs, ["01-01-large", "02-01-large"]);
    let meta = meta(&lab.path().join("kept/echo/runs/01-01-large"));
    let options: Vec<(&str, &str)> =
        meta.options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(
        options,
        [
            ("bench", "bench.toml"),
            ("blocks", "2"),
            ("label", "echo"),
            ("only", "la*"),
            ("out", "kept"),
            ("quick", "false"),
            ("resume", "false"),
            ("set", "load.users=3 load.measure=200ms"),
        ]
    );
    assert_eq!(meta.effective.load.model, record::plan::Model::Users(3));
}

/// `assay load`: each flag takes effect and is in the record.
#[test]
fn load_of_one_url() {
    let lab = Lab::new();
    let mock = lab.spawn(&["mock", "--latency", "1ms", "--body-size", "3", "--json", "mock.json"]);
    let url = listening(&mock);
    let arguments = |extra: &[&str]| {
        let base = ["load", &url, "--json", "-", "-d", "1s", "--warmup", "0s", "--threads", "1"];
        base.iter().chain(extra).map(|text| (*text).to_owned()).collect::<Vec<_>>()
    };
    let load = |extra: &[&str]| parses(&lab.assay(&arguments(extra)).stdout);
    let closed = load(&["-c", "3", "--expect-body", "abc"]);
    assert_eq!((&closed["model"], &closed["users"]), (&"closed".into(), &3.into()));
    assert_eq!(closed["connections"]["opened"], 3);
    assert_eq!(closed["failed"], 0);
    assert_eq!(closed["workers"].as_array().map(Vec::len), Some(1));
    let open = load(&["--rate", "100/s", "-c", "7", "--cooldown", "5s", "--timeout", "5s"]);
    assert_eq!((&open["model"], &open["due"]), (&"open".into(), &100.into()));
    assert_eq!(open["connections"]["bound"], 7);
    let wrong = load(&["-c", "1", "--expect-body", "xyz"]);
    assert_eq!(wrong["succeeded"], 0);
    assert_eq!(wrong["validity"]["state"], "void");
    lab.assay(&arguments(&["-c", "1", "--expect-status", "204"])).expect(3);
    // The contract of the JSON, by name.
    for field in [
        "due",
        "sent",
        "unsent",
        "succeeded",
        "failed",
        "unfinished",
        "failures",
        "whole_life",
        "window_ns",
        "rate_per_s",
        "latency_ns",
        "service_ns",
        "lag_ns",
        "connections",
        "generator",
        "validity",
        "steps",
    ] {
        assert!(!open[field].is_null(), "{field}");
    }
    for field in ["count", "min", "mean", "p50", "p90", "p95", "p99", "p999", "max"] {
        assert!(open["latency_ns"].get(field).is_some(), "{field}");
        assert!(open["service_ns"].get(field).is_some(), "{field}");
    }
    for field in ["p50", "p99", "p999", "max"] {
        assert!(open["lag_ns"].get(field).is_some(), "{field}");
    }
    for field in ["cpu_user_ns", "cpu_sys_ns", "cores", "peak_rss_bytes"] {
        assert!(open["generator"][field].is_u64(), "{field}");
    }
    // A table for people without it.
    let ran = lab.assay(&["load", &url, "-d", "1s", "--warmup", "0s"]);
    assert!(ran.stdout.contains("p99"), "{}", ran.stdout);
    mock.signal(Signal::INT);
    mock.finish().expect(0);
    let record = parses(&fs::read_to_string(lab.path().join("mock.json")).expect("its record"));
    for field in [
        "served",
        "failed",
        "served_per_s",
        "window_ns",
        "peak_in_flight",
        "service_ns",
        "sleep",
        "distinct_peer_ports",
        "histograms",
        "arrivals",
        "accepted",
        "cpu_ns",
        "config",
    ] {
        assert!(!record[field].is_null(), "{field}");
    }
    lab.assert_nothing_runs();
}

/// Each flag of the mock is in force and in its record.
#[test]
fn every_flag_of_the_mock_is_echoed_in_its_record() {
    let lab = Lab::new();
    let flags = "--latency lognormal:3ms:0.5 --body-size 5KB --seed 7 --stall 1s/5s --fail 1%:status=503 \
                 --fail 2%:body --fail 3%:reset --fail 4%:never --cold 5s:10x --drift +1%/min \
                 --slow-after 10s:1.3x --spike 3.5%:225ms --close 9 --serialise 22ms --workers 8 --queue 7 \
                 --dip 10s..20s:0.25x --rate-limit 10/min --truth-header true --backlog 16 --json mock.json";
    let arguments: Vec<&str> = ["mock"].into_iter().chain(flags.split_whitespace()).collect();
    let mock = lab.spawn(&arguments);
    let address = listening(&mock);
    mock.signal(Signal::TERM);
    mock.finish().expect(0);
    let record: record::mock::MockRecord = crate::support::read(&lab.path().join("mock.json"));
    let listen = address.trim_start_matches("http://").to_owned();
    let mut config = record::mock::MockConfig { listen, ..Default::default() };
    for pair in arguments[1..arguments.len() - 2].chunks(2) {
        let key = pair[0].trim_start_matches('-').replace('-', "_");
        config.set(&key, pair[1]).expect("a flag of the mock");
    }
    assert_eq!(record.config, config);
    assert_eq!((record.served, record.failed), (0, 0));
}

/// K-117, E-018: the kernel clamps a backlog in silence, the mock does not.
#[test]
fn a_clamped_backlog_is_said_and_recorded() {
    let lab = Lab::new();
    // A network namespace of its own, so that the machine's setting stays as it is.
    let script = "echo 16 > /proc/sys/net/core/somaxconn && \
                  exec \"$0\" mock --listen 0.0.0.0:0 --backlog 1024 --json mock.json";
    let command =
        lab.command("unshare", &["--user", "--map-root-user", "--net", "sh", "-c", script, ASSAY]);
    let mock = Running::start(command);
    listening(&mock);
    mock.signal(Signal::TERM);
    let ran = mock.finish().expect(0);
    assert!(ran.stderr.contains("clamps a backlog of 1024 to 16"), "{}", ran.stderr);
    let record: record::mock::MockRecord = crate::support::read(&lab.path().join("mock.json"));
    assert_eq!((record.config.backlog, record.backlog_effective), (1_024, Some(16)));
}

/// A closed standard output does not make a matrix fail half-way.
#[test]
fn a_closed_standard_output_loses_no_run() {
    let lab = Lab::new();
    lab.write("bench.toml", &Bench::mock().toml());
    let mut command = lab.command("bash", &["-c", "\"$0\" run bench.toml --label a >&-", ASSAY]);
    command.stdout(Stdio::null());
    Running::start(command).finish();
    assert_eq!(lab.only_digest("a").validity.state, record::State::Valid);
    lab.assert_nothing_runs();
}
