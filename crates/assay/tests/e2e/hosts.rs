//! `assay host`: machines that are copied trees of files, and this one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use record::host_check::{FindingVerdict, HostCheck, HostGrade};
use record::qualification::Qualification;

use crate::support::{ASSAY, Bench, Lab, Running, digest, meta, reason, wait_for};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/hosts").join(name)
}

fn parsed(stdout: &str) -> HostCheck {
    serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

/// K-125, E-003: the grade is the exit status, and each limit has its effect and its command.
#[test]
fn the_grade_of_a_machine_decides_the_exit_status() {
    let lab = Lab::new();
    for (name, word, code) in
        [("graviton", "qualified", 0), ("laptop", "directional", 0), ("burstable", "unfit", 5)]
    {
        let root = fixture(name);
        let ran = lab.assay(&["host", "check", "--root", root.to_str().expect("a path")]);
        let ran = ran.expect(code);
        let head = ran.stdout.lines().next().unwrap_or_default();
        assert!(head.ends_with(word), "{name}: {head}");
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
        let json =
            lab.assay(&["host", "check", "--json", "-", "--root", root.to_str().expect("a path")]);
        let check = parsed(&json.expect(code).stdout);
        assert_eq!((check.grade.word(), check.probes), (word, false), "{name}");
        assert_eq!(check.format.name, "assay.host");
    }
    let laptop = fixture("laptop");
    let ran = lab.assay(&["host", "check", "--root", laptop.to_str().expect("a path")]).expect(0);
    assert!(ran.stdout.contains("$ sudo cpupower frequency-set -g performance"), "{}", ran.stdout);
    let none = lab.assay(&["host", "check", "--root", "nowhere"]).expect(2);
    assert!(none.stderr.contains("proc/stat"), "{}", none.stderr);
}

/// The bench says what it needs: users against descriptors, connections against ports.
#[test]
fn a_bench_is_held_against_the_machine() {
    let lab = Lab::new();
    lab.write("many.toml", &Bench::mock().load("users", "100").toml());
    let root = fixture("container-small");
    let arguments = ["host", "check", "--root", root.to_str().expect("a path"), "--json", "-"];
    let ran = lab.assay(&[&arguments[..], &["--for", "many.toml"]].concat()).expect(5);
    let check = parsed(&ran.stdout);
    assert_eq!(check.bench.as_deref(), Some("many"));
    let nofile = check.finding("nofile").expect("a finding");
    assert_eq!(nofile.verdict, FindingVerdict::Unfit);
    assert!(
        nofile.effect.starts_with("100 users + 64 others = 164 are more than 64"),
        "{nofile:?}"
    );

    // 2 users, 2 ms, a connection for each request: up to 1000 connections/s. On loopback the
    // kernel's reuse after a second is enough.
    lab.write("closes.toml", &Bench::mock().target("mock.close", "1").toml());
    let root = fixture("graviton");
    let arguments = ["host", "check", "--root", root.to_str().expect("a path"), "--json", "-"];
    let ran = lab.assay(&[&arguments[..], &["--for", "closes.toml"]].concat()).expect(0);
    let ports = parsed(&ran.stdout).finding("port_range").expect("a finding").clone();
    assert_eq!(ports.verdict, FindingVerdict::Good);
    assert!(ports.effect.contains("opens up to 1000 connections/s"), "{ports:?}");

    let wrong = lab.assay(&["host", "check", "--for", "none.toml"]).expect(2);
    assert!(wrong.stderr.contains("none.toml"), "{}", wrong.stderr);
}

/// A child that burns a core until it is dropped.
struct Burner(std::process::Child);

impl Burner {
    fn start() -> Self {
        // Bounded, should the test be killed.
        let script = "end=$(($(date +%s) + 60)); while [ $(date +%s) -lt $end ]; do \
                      i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done";
        let child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("a shell");
        Self(child)
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A-163, W-037 and E-041 on this very machine, which may be as busy as it likes: a burner is
/// named by pid, sleeps are never short, and the check has an end.
#[test]
fn probes_of_this_machine_name_who_is_busy() {
    let lab = Lab::new();
    let burner = Burner::start();
    let ran = lab.assay(&["host", "check", "--json", "-", "--out", "results"]);
    let check = parsed(&ran.expect_one_of(&[0, 5]).stdout);
    assert!(check.probes);
    let foreign = check.finding("foreign").expect("a finding");
    assert_eq!(foreign.verdict, FindingVerdict::Caution);
    // Eight are named at most: where as many are busier, the machine is said to be busy by them.
    let is_named = foreign.read.contains(&format!("(pid {})", burner.0.id()));
    assert!(is_named || foreign.read.matches("(pid ").count() == 8, "{foreign:?}");
    assert!(check.grade >= HostGrade::Directional, "a busy machine is not qualified");
    for name in ["sleep", "flatness", "connections", "disk_write"] {
        assert_ne!(
            check.finding(name).expect("a finding").verdict,
            FindingVerdict::Unknown,
            "{name}"
        );
    }
    assert!(check.finding("sleep").expect("a finding").read.starts_with("1.00 ms: p50 "));
    assert!(!lab.path().join("results").exists(), "a check writes nothing");

    let quick = lab.assay(&["host", "check", "--no-probes", "--json", "-"]);
    let quick = parsed(&quick.expect_one_of(&[0, 5]).stdout);
    assert!(!quick.probes);
    assert_eq!(quick.finding("sleep").expect("a finding").read, "not probed");
}

/// E-019: a limit of 64 descriptors refuses 100 users before anything starts, with the arithmetic.
#[test]
fn too_few_descriptors_refuse_before_anything_starts() {
    let lab = Lab::new();
    lab.write("many.toml", &Bench::mock().load("users", "100").toml());
    let limited = |limit: &str| {
        let script = format!("ulimit -n {limit}; exec \"$0\" run many.toml --label a");
        Running::start(lab.command("sh", &["-c", &script, ASSAY])).finish()
    };
    let refused = limited("64").expect(5);
    let said = "too few descriptors: 100 users + 64 others = 164 are more than 64";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: sudo prlimit --pid $$ --nofile="), "{}", refused.stderr);
    assert!(!lab.label("a").exists(), "nothing was started, nothing was written");
    // As many as it takes are enough. A machine may well be too busy for the rest.
    limited("256").expect_one_of(&[0, 3]);
    assert!(lab.label("a").exists());
}

/// K-126: the grade of the machine is in the metadata of every run, in its digest and in the head
/// of the matrix; and the sentinel ran before and after.
#[test]
fn the_grade_travels_with_every_result() {
    let lab = Lab::new();
    let bench = Bench::mock().more("[factors]\ntarget = [\"api\", \"null\"]\n");
    let ran = lab.run(&bench, "a", &[]).expect_one_of(&[0, 3]);
    let run = lab.label("a").join("runs").join(&lab.runs("a")[0]);
    let standing = meta(&run).standing.expect("a grade");
    assert!(!standing.probes);
    let states = meta(&run).host_states;
    for state in [states.before.expect("before"), states.after.expect("after")] {
        assert!(state.spins.iter().any(|spin| spin.median_ns > 0), "{state:?}");
    }
    let head = standing.headline();
    let page = std::fs::read_to_string(run.join("digest.md")).expect("a digest");
    assert!(page.contains("| grade |") && page.contains("| descriptors left |"), "{page}");
    let matrix = std::fs::read_to_string(lab.label("a").join("matrix.md")).expect("a matrix");
    assert!(
        matrix.contains(&format!("- host grade {}", head.split(':').next().unwrap())),
        "{matrix}"
    );
    assert!(matrix.contains("- quotable as directional: "), "{matrix}");
    assert!(ran.stdout.contains("quotable as directional: "), "{}", ran.stdout);
    if standing.grade != HostGrade::Qualified {
        assert!(ran.stderr.contains(&format!("host {}", standing.grade.word())), "{}", ran.stderr);
    }
}

/// W-042: what starts in the middle of the window is flagged with the time, by pid.
#[test]
fn a_burner_that_starts_midway_is_flagged_with_the_second() {
    let lab = Lab::new();
    let bench = Bench::mock().load("measure", "\"6s\"").gates("foreign", "\"1%\"");
    let running = lab.start(&bench, "a", &[]);
    wait_for("the load", || {
        let run = lab.label("a").join("runs").join(lab.runs("a").first()?);
        let is_written = run.join("meta.json").is_file();
        (is_written && meta(&run).instants_ns.contains_key("load_start")).then_some(())
    });
    std::thread::sleep(std::time::Duration::from_secs(3));
    let burner = Burner::start();
    running.finish().expect_one_of(&[0, 3]);
    drop(burner);
    let digest = lab.only_digest("a");
    // Another process of a busy machine may have been there before, and be named instead.
    let foreign = reason(&digest, "foreign");
    assert!(foreign.detail.contains("(pid "), "{foreign:?}");
    if let Some(second) = foreign.second {
        assert!(foreign.detail.contains(&format!("it began about {second} s into the window")));
    }
}

/// K-085: a bench whose runs differ by an order of magnitude fails whatever bound is sensible; the
/// same without the plant holds a generous one.
#[test]
fn a_noisy_null_fails_its_qualification() {
    let lab = Lab::new();
    // Every second start of the mock is ten times as slow, and the lead alternates: log-ratios of
    // +2.3 and -2.3 in turn.
    let script = "n=$(cat \"$COUNT\" 2>/dev/null || echo 0); echo $((n + 1)) > \"$COUNT\"; \
                  if [ $((n % 2)) = 0 ]; then l=2ms; else l=40ms; fi; \
                  exec \"$ASSAY\" mock --listen 127.0.0.1:$PORT --latency $l --body-size 26";
    let count = lab.path().join("count");
    let noisy = Bench::script(script)
        .target("env.COUNT", &format!("\"{}\"", count.display()))
        .load("measure", "\"500ms\"");
    lab.write("noisy.toml", &noisy.toml());
    let arguments = ["host", "qualify", "noisy.toml", "--pairs", "2", "--json", "-"];
    let ran = lab.assay(&[&arguments[..], &["--bound", "50%"]].concat()).expect(5);
    let found: Qualification = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((found.word.as_str(), found.pairs, found.cell.as_str()), ("fails", 2, "only"));
    assert!(found.sd_percent.expect("two pairs") > 100.0, "{found:?}");
    assert_eq!(found.resolution.word, "not_here");
    assert!(found.standing.is_some(), "the grade travels with it");
    assert_eq!(lab.runs(&found.label).len(), 4, "kept as a label of its own");

    // The same bench without the plant. A busy machine scatters too, but not by ten times.
    let steady = Bench::mock().load("measure", "\"500ms\"").matrix("blocks", "12");
    lab.write("steady.toml", &steady.toml());
    let ran = lab.assay(&["host", "qualify", "steady.toml", "--pairs", "2", "--bound", "500%"]);
    let ran = ran.expect(0);
    assert!(ran.stdout.contains("2 of 2 pairs: mean "), "{}", ran.stdout);
    assert!(ran.stdout.contains(": holds"), "{}", ran.stdout);
    assert!(ran.stdout.contains("% in 12 pairs, "), "{}", ran.stdout);

    let wrong = lab.assay(&["host", "qualify", "steady.toml", "--cell", "none"]).expect(2);
    assert!(wrong.stderr.contains("no cell `none`"), "{}", wrong.stderr);
    lab.assert_nothing_runs();
}

/// D16: the doctor reads what runs recorded of the machine, and says when there is too little.
#[test]
fn the_doctor_needs_pairs() {
    let lab = Lab::new();
    let bench = Bench::mock().more("[factors]\ntarget = [\"api\", \"null\"]\n");
    lab.run(&bench, "a", &[]).expect_one_of(&[0, 3]);
    let label = lab.label("a");
    let ran = lab.assay(&["host", "doctor", label.to_str().expect("a path")]).expect(0);
    assert!(ran.stdout.contains("too few pairs to tell: 8 at least"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Association, not cause"), "{}", ran.stdout);
    // What the observer recorded for it is there.
    let run = label.join("runs").join(&lab.runs("a")[0]);
    let host = std::fs::read_to_string(run.join("host.csv")).expect("samples");
    let header = host.lines().next().unwrap_or_default();
    assert_eq!(header, record::resources::HOST_HEADER);
    let seen = digest(&run).host;
    assert!(seen.interrupts.is_some() && seen.time_wait.is_some(), "{seen:?}");
    lab.assay(&["host", "doctor", "nowhere"]).expect(2);
}

/// K-124, E-034, E-067: one cell with a persistent mock on cores of its own and on shared ones, and
/// with a mock for each run: both terms are printed, the last one as an upper bound, with the mock's
/// own use of its cores.
#[test]
fn the_price_of_sharing_is_a_term_of_its_own() {
    let lab = Lab::new();
    let shared =
        "cpus.mock = \"0-1\", cpus.generator = \"0-1\", cpus.overlap = [\"mock\", \"generator\"]";
    let bench = Bench::mock()
        .target("fresh", "\"matrix\"")
        .matrix("blocks", "2")
        .matrix("warmup_run", "false")
        .factor(
            "place",
            &[
                ("apart", "{ cpus.mock = \"0\", cpus.generator = \"1\" }"),
                ("shared", &format!("{{ {shared} }}")),
                ("forked", &format!("{{ {shared}, target.fresh = \"run\" }}")),
            ],
        );
    let ran = lab.run(&bench, "a", &[]).expect_one_of(&[0, 3]);
    let lines: Vec<&str> = ran.stdout.split("\n- ").collect();
    let term = |level: &str| {
        let head = format!("topology term: place: {level} / apart in *: throughput ");
        let found = lines.iter().find(|line| line.starts_with(&head));
        (*found.unwrap_or_else(|| panic!("no term of {level}: {}", ran.stdout))).to_owned()
    };
    for level in ["shared", "forked"] {
        assert!(term(level).contains("; the mock kept "), "{}", term(level));
        assert_eq!(term(level).contains("an upper bound"), level == "forked", "{}", term(level));
    }
    // One instance for each place that stays, and one for each run of the place that forks.
    let instances = |cell: &str| {
        let runs = lab.runs("a").into_iter().filter(|run| run.ends_with(cell));
        let meta = |run: String| meta(&lab.label("a").join("runs").join(run));
        let metas: Vec<_> = runs.map(meta).collect();
        let cpus = metas[0].processes["mock"].cpus.clone().expect("Linux tells");
        let instances: std::collections::BTreeSet<u32> = metas.iter().map(|m| m.instance).collect();
        (instances.len(), cpus)
    };
    assert_eq!(instances("apart"), (1, "0".to_owned()));
    assert_eq!(instances("shared"), (1, "0-1".to_owned()));
    assert_eq!(instances("forked"), (2, "0-1".to_owned()));
}
