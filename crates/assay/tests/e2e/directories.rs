//! Run directories: complete, true, self-describing, and all that a comparison needs.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use record::compare::{Comparison, Matrix};
use record::digest::Digest;
use record::layout;
use record::plan::Plan;

use crate::support::{Bench, Lab, digest, load, meta, mock, names, read};

const LEVELS: [(&str, &str); 2] = [
    ("base", "{ target.mock.latency = \"4ms\" }"),
    ("slower", "{ target.mock.latency = \"16ms\" }"),
];

fn compare(lab: &Lab, dir: &str) -> (i32, Comparison, String) {
    let ran = lab.assay(&["compare", dir, "--json", "-"]);
    let comparison = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
    (ran.status.code().unwrap_or(-1), comparison, ran.stdout)
}

/// K-020: two invocations in the same second give two labels, each with its file set.
#[test]
fn two_invocations_in_one_second_have_two_directories() {
    let lab = Lab::new();
    lab.write("bench.toml", &Bench::mock().toml());
    // Four at once: at least two share a second.
    let running: Vec<_> = (0..4).map(|_| lab.spawn(&["run", "bench.toml"])).collect();
    for one in running {
        one.finish().expect(0);
    }
    let labels = names(&lab.path().join("results"));
    assert_eq!(labels.len(), 4, "{labels:?}");
    for label in labels {
        assert!(label.starts_with("bench-20"), "{label}");
        let dir = lab.label(&label);
        let expected = [
            ".lock",
            layout::FROZEN,
            layout::LOOKS,
            layout::MATRIX_HTML,
            layout::MATRIX_JSON,
            layout::MATRIX_MD,
            layout::PLAN,
            layout::RUNS,
        ];
        assert_eq!(names(&dir), expected);
        let mut expected = vec![
            layout::META,
            layout::LOAD,
            layout::RESOURCES,
            layout::HOST,
            layout::MOCK,
            layout::STDOUT,
            layout::STDERR,
            layout::DIGEST_MD,
            layout::DIGEST_JSON,
            "generator.log",
            "observer.log",
        ];
        expected.sort_unstable();
        assert_eq!(names(&lab.only_run(&label)), expected);
    }
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it can be started");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn sha256(path: &str) -> String {
    output("sha256sum", &[path]).split(' ').next().unwrap_or_default().to_owned()
}

/// K-021, A-090, A-094, E-023: every field is there and true, in the metadata and the digest.
#[test]
fn the_metadata_is_complete_and_true() {
    let lab = Lab::new();
    lab.run(&Bench::mock().matrix("blocks", "2"), "facts", &[]).expect(0);
    let runs = lab.runs("facts");
    let dirs: Vec<_> =
        runs.iter().map(|run| lab.label("facts").join(layout::RUNS).join(run)).collect();
    let (first, second) = (meta(&dirs[0]), meta(&dirs[1]));
    let head = output("git", &["rev-parse", "--short=12", "HEAD"]);
    let stamped = first.assay.commit.trim_end_matches("+dirty");
    // Built from this checkout, or from an archive without one.
    assert!(stamped == "unknown" || stamped.len() == 12, "{stamped}");
    if stamped == head {
        let version = lab.assay(&["--version"]).expect(0).stdout;
        assert!(version.contains(&first.assay.commit), "{version}");
    }
    assert_eq!(first.assay.sha256, sha256(crate::support::ASSAY));
    assert_eq!(first.files[0].sha256, sha256(&lab.path().join("bench.toml").display().to_string()));
    let host = &first.host;
    assert_eq!(host.kernel, output("uname", &["-r"]));
    assert_eq!(host.arch, output("uname", &["-m"]));
    assert_eq!(host.cores.to_string(), output("getconf", &["_NPROCESSORS_ONLN"]));
    let sysctl = |name: &str| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        let text = fs::read_to_string(path).expect("a setting");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for name in ["net.ipv4.ip_local_port_range", "net.core.somaxconn"] {
        assert_eq!(host.sysctls.get(name), Some(&sysctl(name)), "{name}");
    }
    let range = sysctl("net.ipv4.ip_local_port_range");
    let (low, high) = range.split_once(' ').expect("two ports");
    let ports = high.parse::<f64>().expect("a port") - low.parse::<f64>().expect("a port") + 1.0;
    assert_eq!(host.sustainable_connections_per_s, Some(ports / 60.0));
    assert!(host.limits.contains_key("nofile"));
    assert_eq!(first.since_previous_run_ns, None);
    assert!(second.since_previous_run_ns.is_some(), "the gap is recorded");
    assert_eq!(second.previous_cell.as_deref(), Some("only"));
    assert_eq!((first.block, second.block), (1, 2));
    assert!(first.started_utc.ends_with('Z'));
    // The digest repeats what a comparison needs.
    let digest = digest(&dirs[0]);
    assert_eq!(digest.identity.host, first.host);
    assert_eq!(digest.identity.assay, first.assay);
    assert_eq!(digest.identity.processes, first.processes);
    assert_eq!(digest.identity.effective_sha256, first.identity_sha256);
    assert_eq!(digest.identity.scenario_sha256, first.scenario_sha256);
}

/// K-018, K-019, K-038, K-107: four processes with accounts of their own; the parent only waits,
/// and digests after the window.
#[test]
fn the_parent_measures_nothing_in_its_own_process() {
    let lab = Lab::new();
    lab.run(&Bench::mock().load("measure", "\"2s\""), "apart", &[]).expect(0);
    let (meta, digest) = (meta(&lab.only_run("apart")), lab.only_digest("apart"));
    let roles: Vec<&str> = meta.processes.keys().map(String::as_str).collect();
    assert_eq!(roles, ["generator", "mock", "observer", "parent"]);
    let pids: BTreeSet<u32> = meta.processes.values().map(|process| process.pid).collect();
    assert_eq!(pids.len(), 4);
    // Each by its own account of its whole life.
    let load = load(&lab.only_run("apart"));
    let generator = load.generator.cpu_user_ns + load.generator.cpu_sys_ns;
    let others = generator + mock(&lab.only_run("apart")).cpu_ns;
    let parent = meta.parent_cpu_ns.expect("the parent's account");
    assert!(generator > 0 && parent < others, "{parent} of the parent, {others} of its children");
    for role in ["generator", "mock", "parent"] {
        assert!(digest.resources.contains_key(role), "{role} was watched");
    }
    let matrix: Matrix = read(&lab.label("apart").join(layout::MATRIX_JSON));
    assert!(matrix.parent_cpu_ns.is_some() && matrix.elapsed_ns.is_some());
    let at = |instant: &str| meta.instants_ns[instant];
    let order =
        ["target_ready", "load_start", "window_start", "window_end", "load_end", "digest_start"];
    for pair in order.windows(2) {
        assert!(at(pair[0]) <= at(pair[1]), "{pair:?}");
    }
    assert!(at("window_end") - at("window_start") >= 2_000_000_000);
}

/// M-014: what an earlier attempt left is not counted: an attempt has a directory of its own.
#[test]
fn stale_files_are_not_counted() {
    let lab = Lab::new();
    lab.run(&Bench::mock(), "first", &[]).expect(0);
    let sent = load(&lab.only_run("first")).whole_life.sent;
    // A directory of the run's name with everything but a digest, as a kill leaves it.
    let stale = lab.only_run("first");
    fs::remove_file(stale.join(layout::DIGEST_JSON)).expect("it was there");
    lab.assay(&["run", "bench.toml", "--label", "first", "--resume"]).expect(0);
    assert_eq!(lab.runs("first"), ["01-01-only", "01-01-only.2"]);
    let again = lab.label("first").join(layout::RUNS).join("01-01-only.2");
    let (load, mock) = (load(&again), mock(&again));
    assert_eq!(load.whole_life.sent, mock.served + mock.failed, "counted afresh");
    assert_eq!(crate::support::load(&stale).whole_life.sent, sent, "the old files stay");
    let matrix: Matrix = read(&lab.label("first").join(layout::MATRIX_JSON));
    assert_eq!(matrix.completed_runs, 1);
}

fn keep_only_digests(from: &Path, to: &Path, with_plan: bool) {
    fs::create_dir_all(to).expect("a copy");
    if with_plan {
        for name in [layout::PLAN, layout::LOOKS] {
            fs::copy(from.join(name), to.join(name)).expect("what the label says of itself");
        }
    }
    for run in names(&from.join(layout::RUNS)) {
        let (from, to) = (from.join(layout::RUNS).join(&run), to.join(layout::RUNS).join(&run));
        fs::create_dir_all(&to).expect("a run");
        fs::copy(from.join(layout::DIGEST_JSON), to.join(layout::DIGEST_JSON)).expect("a digest");
    }
}

/// K-003, E-023, E-028, K-067, K-068: what kept digests alone can say, and what they cannot.
#[test]
fn kept_digests_alone_give_the_same_comparison() {
    let lab = Lab::new();
    let bench =
        Bench::mock().matrix("blocks", "6").load("measure", "\"200ms\"").factor("latency", &LEVELS);
    lab.run(&bench, "full", &[]).expect(0);
    let (code, full, text) = compare(&lab, "results/full");
    assert_eq!(code, 0);
    let slower = full.contrasts.iter().find(|one| one.primary && one.level == "slower");
    let slower = slower.expect("a contrast");
    assert_eq!((slower.verdict.as_str(), slower.pairs), ("slower", 6));
    assert!(slower.interval_percent.is_some());
    let matrix: Matrix = read(&lab.label("full").join(layout::MATRIX_JSON));
    let all = [&full.contrasts, &matrix.contrasts]
        .map(|contrasts| serde_json::to_string(contrasts).expect("JSON"));
    assert_eq!(all[0], all[1], "the matrix holds the same contrasts");

    // Another place, only digests, the manifest and the looks: byte for byte the same (K-003).
    let elsewhere = lab.path().join("archive/copy");
    keep_only_digests(&lab.label("full"), &elsewhere, true);
    assert_eq!(compare(&lab, "archive/copy").2, text);

    // Times of files say nothing (K-068).
    for (index, run) in names(&elsewhere.join(layout::RUNS)).iter().enumerate() {
        let path = elsewhere.join(layout::RUNS).join(run).join(layout::DIGEST_JSON);
        let file = File::options().write(true).open(path).expect("a digest");
        let shuffled = SystemTime::UNIX_EPOCH + Duration::from_secs((index as u64 * 7919) % 1000);
        file.set_modified(shuffled).expect("a time");
    }
    assert_eq!(compare(&lab, "archive/copy").2, text);

    // One run is gone: its partners are orphans, all other pairs stay (K-068).
    fs::remove_dir_all(elsewhere.join("runs").join(run_of(&elsewhere, 3, "base")))
        .expect("it was there");
    let (code, less, _) = compare(&lab, "archive/copy");
    assert_eq!(code, 3);
    let slower = less.contrasts.iter().find(|one| one.primary && one.level == "slower");
    let slower = slower.expect("a contrast");
    assert_eq!(slower.pairs, 5);
    let blocks: Vec<u32> = slower.log_ratios.iter().map(|(block, _)| *block).collect();
    assert_eq!(blocks, [1, 2, 4, 5, 6]);
    let orphan = slower.left_out.iter().find(|left| left.run.ends_with("-slower"));
    assert!(orphan.is_some_and(|left| left.run.starts_with("03-")), "{:?}", slower.left_out);

    // Without a manifest it says so (E-028).
    let by_hand = lab.path().join("archive/by-hand");
    keep_only_digests(&lab.label("full"), &by_hand, false);
    let (_, unmanaged, _) = compare(&lab, "archive/by-hand");
    assert_eq!(unmanaged.notes[0], "no matrix manifest: warm-up, order unknown");

    // One run alone gives no comparison and says why (K-067).
    let one = format!("results/full/runs/{}", lab.runs("full")[0]);
    let (code, single, _) = compare(&lab, &one);
    assert_eq!(code, 3);
    assert!(single.contrasts.iter().all(|one| one.pairs == 0 && one.ratio.is_none()));
    let said = serde_json::to_string(&single).expect("JSON");
    assert!(said.contains("unpaired"), "{said}");
}

fn run_of(dir: &Path, block: u32, cell: &str) -> String {
    let runs = names(&dir.join(layout::RUNS));
    let found = runs
        .into_iter()
        .find(|run| run.starts_with(&format!("{block:02}-")) && run.ends_with(&format!("-{cell}")));
    found.expect("the run is there")
}

/// A-088, K-103: a void run is kept, named with its reason, and in no figure.
#[test]
fn void_runs_are_named_and_left_out() {
    let lab = Lab::new();
    let faulty = "{ target.mock.fail = \"30%:status=503\" }";
    let bench = Bench::mock()
        .matrix("blocks", "2")
        .factor("fault", &[("none", "{ target.mock.latency = \"2ms\" }"), ("some", faulty)]);
    lab.run(&bench, "excluded", &[]).expect(3);
    let (code, comparison, _) = compare(&lab, "results/excluded");
    assert_eq!(code, 3);
    let contrast = comparison.contrasts.iter().find(|one| one.primary).expect("a contrast");
    assert_eq!((contrast.pairs, contrast.ratio), (0, None));
    let named: Vec<&str> = contrast.left_out.iter().map(|left| left.run.as_str()).collect();
    for run in ["01-02-some", "02-01-some"] {
        assert!(named.contains(&run), "{:?}", contrast.left_out);
    }
    let said = &contrast.left_out.iter().find(|left| left.run == "01-02-some").expect("it").reason;
    assert!(said.contains("failures"), "{said}");
    let page = fs::read_to_string(lab.label("excluded").join(layout::MATRIX_MD)).expect("a page");
    assert!(page.contains("01-02-some") && page.contains("failures"), "{page}");
    // A digest stays short enough to be read, a void one too.
    for run in lab.runs("excluded") {
        let page = lab.label("excluded").join(layout::RUNS).join(run).join(layout::DIGEST_MD);
        let lines = fs::read_to_string(page).expect("a digest").lines().count();
        assert!((30..200).contains(&lines), "{lines}");
    }
}

/// Gaps are kept and recorded.
#[test]
fn the_gap_between_runs_is_kept_and_recorded() {
    let lab = Lab::new();
    let bench = Bench::mock().matrix("blocks", "2").matrix("gap", "\"700ms\"");
    lab.run(&bench, "gap", &[]).expect(0);
    let of = |run: &str| meta(&lab.label("gap").join(layout::RUNS).join(run));
    let gap = of("02-01-only").since_previous_run_ns.expect("a run went before");
    assert!(gap >= 700_000_000, "{gap}");
    assert_eq!(of("01-01-only").since_previous_run_ns, None);
}

/// K-030, K-075: one variable more on one arm, and the pair is no null; the same on both, and it
/// is one.
#[test]
fn a_null_is_equality_of_the_whole_identity() {
    let lab = Lab::new();
    let bench = Bench::script("exec \"$ASSAY\" mock --listen 127.0.0.1:$PORT")
        .matrix("blocks", "1")
        .factor(
            "flag",
            &[
                ("off", "{ target.env.FLAG = \"0\" }"),
                ("on", "{ target.env.FLAG = \"1\" }"),
                ("same", "{ target.env.FLAG = \"0\" }"),
            ],
        );
    lab.run(&bench, "flags", &[]).expect(0);
    let (_, comparison, _) = compare(&lab, "results/flags");
    let of = |level: &str| {
        let found = comparison.contrasts.iter().find(|one| one.primary && one.level == level);
        found.unwrap_or_else(|| panic!("no contrast of {level}: {comparison:#?}"))
    };
    assert!(!of("on").null, "another environment is another thing");
    assert!(of("same").null, "equal runs are a null, whatever their names");
    let table = lab.assay(&["compare", "results/flags"]).stdout;
    let row = |level: &str| {
        let found = table.lines().find(|line| line.starts_with(level)).map(str::to_owned);
        found.unwrap_or_else(|| panic!("{level} in {table}"))
    };
    assert!(row("same").contains("(null)"), "{table}");
    assert!(!row("on ").contains("(null)"), "{table}");
}

/// A-007, K-071, A-105: a cell is a function of its levels; a record of each, self-describing,
/// and a manifest that matches the directories.
#[test]
fn a_matrix_of_two_by_two_has_four_records_that_describe_themselves() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .factor(
            "size",
            &[
                ("small", "{ target.mock.body_size = \"10\" }"),
                ("large", "{ target.mock.body_size = \"9KB\" }"),
            ],
        )
        .factor("path", &[("a", "{ scenario.get = \"/a\" }"), ("b", "{ scenario.get = \"/b\" }")]);
    lab.run(&bench, "cells", &[]).expect(0);
    let runs = lab.runs("cells");
    assert_eq!(runs.len(), 4);
    let digests: Vec<Digest> =
        runs.iter().map(|run| digest(&lab.label("cells").join(layout::RUNS).join(run))).collect();
    let mut cells = BTreeSet::new();
    for (run, digest) in runs.iter().zip(&digests) {
        assert_eq!(digest.run, *run);
        assert_eq!(digest.label, "cells");
        assert_eq!(*run, format!("{:02}-{:02}-{}", digest.block, digest.order, digest.cell));
        let levels: Vec<&str> = digest.levels.iter().map(|level| level.level.as_str()).collect();
        assert_eq!(levels.join("+"), digest.cell);
        let path = &digest.identity.effective.scenario.path;
        assert_eq!(*path, format!("/{}", levels[1]), "what was run is what the levels say");
        cells.insert(digest.cell.clone());
    }
    assert_eq!(cells.into_iter().collect::<Vec<_>>(), ["large+a", "large+b", "small+a", "small+b"]);
    let hashes: BTreeSet<&str> =
        digests.iter().map(|one| one.identity.effective_sha256.as_str()).collect();
    assert_eq!(hashes.len(), 4);
    let scenarios: BTreeSet<&str> =
        digests.iter().map(|one| one.identity.scenario_sha256.as_str()).collect();
    assert_eq!(scenarios.len(), 2, "A-092: one for each path");
    let plan: Plan = read(&lab.label("cells").join(layout::PLAN));
    let mut planned: Vec<String> = plan.runs.iter().map(|run| run.dir.clone()).collect();
    planned.sort();
    assert_eq!(planned, runs);
}

/// K-070, and section 3 of the bench file: an instance of several runs begins with a run that is
/// discarded by name.
#[test]
fn a_warm_up_run_is_discarded_by_name() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .target("fresh", "\"change\"")
        .matrix("nest", "[\"latency\", \"path\"]")
        .factor("latency", &LEVELS)
        .factor("path", &[("a", "{ scenario.get = \"/a\" }"), ("b", "{ scenario.get = \"/b\" }")]);
    lab.run(&bench, "warm", &[]).expect(0);
    let warm: Vec<String> = lab.runs("warm").into_iter().filter(|run| run.contains("w-")).collect();
    assert_eq!(warm, ["01-01w-base+a", "01-03w-slower+a"]);
    let matrix: Matrix = read(&lab.label("warm").join(layout::MATRIX_JSON));
    assert_eq!((matrix.planned_runs, matrix.completed_runs), (4, 4));
    for run in matrix.runs.iter().filter(|run| run.path.contains("w-")) {
        assert_eq!(run.kind, "warm_up");
    }
    // One instance served the warm-up and the two runs after it.
    let pid = |run: &str| meta(&lab.label("warm").join("runs").join(run)).processes["mock"].pid;
    assert_eq!(pid("01-01w-base+a"), pid("01-01-base+a"));
    assert_eq!(pid("01-01-base+a"), pid("01-02-base+b"));
    assert_ne!(pid("01-02-base+b"), pid("01-03-slower+a"));
    // And each run still reconciles by itself with the mock it shares.
    for run in lab.runs("warm") {
        let run = lab.label("warm").join("runs").join(run);
        let (load, mock) = (load(&run), mock(&run));
        assert_eq!(load.whole_life.sent, mock.served + mock.failed, "{}", run.display());
    }
}
