//! Labels and preconditions: what is refused before anything is started or written, and a disk
//! that fills up half-way.

use std::fs;
use std::net::TcpListener;

use record::layout;

use crate::support::{ASSAY, Bench, Lab, Running, files, free_port};

#[test]
fn a_label_is_never_used_again() {
    let lab = Lab::new();
    lab.run(&Bench::mock(), "used", &[]).expect(0);
    let before = files(&lab.label("used"));
    let ran = lab.run(&Bench::mock(), "used", &[]).expect(5);
    insta::assert_snapshot!(ran.stderr.lines().last().unwrap_or_default(), @"error: label `used` exists in `results`; give another `--label`, or `--resume` to complete it");
    assert_eq!(ran.stdout, "");
    assert_eq!(files(&lab.label("used")), before);
}

/// Two that start at the same instant under one label: one gets it.
#[test]
fn of_two_that_race_for_a_label_one_is_refused() {
    let lab = Lab::new();
    lab.write("bench.toml", &Bench::mock().toml());
    let arguments = ["run", "bench.toml", "--label", "race"];
    let racers = [lab.spawn(&arguments), lab.spawn(&arguments)];
    let mut codes = racers.map(|racer| racer.finish().status.code());
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(5)]);
    assert_eq!(lab.runs("race").len(), 1);
}

#[test]
fn a_port_in_use_is_refused_before_anything_is_written() {
    let lab = Lab::new();
    let holder = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
    let port = holder.local_addr().expect("it is bound").port();
    let serve = "exec \"$ASSAY\" mock --listen 127.0.0.1:$PORT";
    let bench = Bench::script(serve).target("address", &format!("\"127.0.0.1:{port}\""));
    let ran = lab.run(&bench, "taken", &[]).expect(5);
    let message = ran.stderr.lines().last().unwrap_or_default().replace(&port.to_string(), "PORT");
    let message = message.replace(&std::process::id().to_string(), "PID");
    insta::with_settings!({filters => vec![(r"pid PID \([^)]*\)", "pid PID (NAME)")]}, {
        insta::assert_snapshot!(message, @"error: port PORT of target `api` is in use by pid PID (NAME); stop it or set another `address`");
    });
    assert!(!lab.path().join("results").exists(), "nothing was written");
    lab.assert_nothing_runs();
    drop(holder);
    lab.run(&bench, "taken", &[]).expect(0);
}

#[test]
fn a_mock_on_a_port_in_use_is_refused() {
    let lab = Lab::new();
    let holder = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
    let address = holder.local_addr().expect("it is bound");
    let ran = lab.assay(&["mock", "--listen", &address.to_string()]).expect(5);
    let message = ran.stderr.replace(&address.port().to_string(), "PORT");
    insta::assert_snapshot!(message, @"error: port PORT of 127.0.0.1 is in use; stop its owner, or use port 0 for any free port");
    assert_eq!(ran.stdout, "");
}

/// A tmpfs in a mount namespace of its own, and a command in it.
fn on_a_small_disk(lab: &Lab, bytes: &str, label: &str) -> Running {
    let out = lab.path().join("disk");
    fs::create_dir_all(&out).expect("a mount point");
    let script = format!(
        "mount -t tmpfs -o size={bytes} tmpfs disk || exit 99; \"$0\" run bench.toml --label {label} \
         --out disk; code=$?; find disk -name '*.partial' >&2; exit $code"
    );
    Running::start(lab.command("unshare", &["--mount", "sh", "-c", &script, ASSAY]))
}

/// Needs to be root, and says so rather than passing without a look.
fn require_root() {
    assert!(
        rustix::process::geteuid().is_root(),
        "this test mounts a tmpfs in a namespace of its own: run the tests as root"
    );
}

#[test]
fn a_disk_that_fills_up_is_a_clear_error_and_leaves_nothing_running() {
    require_root();
    let lab = Lab::new();
    // The target takes what is left of the disk once it runs.
    let script = "dd if=/dev/zero of=\"$RUN/filler\" bs=4k 2>/dev/null; \
                  exec \"$ASSAY\" mock --listen 127.0.0.1:$PORT";
    let bench = Bench::script(script).target("env.RUN", "\"${run.dir}\"");
    lab.write("bench.toml", &bench.toml());
    let ran = on_a_small_disk(&lab, "512k", "full").finish().expect(1);
    let error = ran.stderr.lines().find(|line| line.starts_with("error")).unwrap_or_default();
    assert!(error.contains("No space left on device"), "{}", ran.stderr);
    assert!(error.contains("disk/full"), "it names what it wrote: {error}");
    lab.assert_nothing_runs();
}

/// K-033 (this half): a plan that does not fit is refused before anything is started.
#[test]
fn a_disk_too_small_for_the_plan_is_refused() {
    require_root();
    let lab = Lab::new();
    lab.write("bench.toml", &Bench::mock().matrix("blocks", "20").toml());
    let ran = on_a_small_disk(&lab, "64k", "small").finish().expect(5);
    insta::assert_snapshot!(ran.stderr.lines().last().unwrap_or_default(), @"error: the plan needs about 1.29 MiB and `disk` has 64.00 KiB left; free some or choose another `--out`");
    lab.assert_nothing_runs();
}

#[test]
fn an_output_directory_that_cannot_be_made_is_a_clear_error() {
    let lab = Lab::new();
    lab.write("bench.toml", &Bench::mock().toml());
    lab.write("file", "");
    let ran = lab.assay(&["run", "bench.toml", "--label", "x", "--out", "file/below"]).expect(1);
    insta::assert_snapshot!(ran.stderr.lines().last().unwrap_or_default(), @"error: cannot write `file/below`: Not a directory (os error 20)");
    lab.assert_nothing_runs();
}

/// A fixed port serves every run of a matrix in turn (A-004: one target at a time).
#[test]
fn instances_follow_one_another_on_a_fixed_port() {
    let lab = Lab::new();
    let serve = "exec \"$ASSAY\" mock --listen 127.0.0.1:$PORT";
    let bench = Bench::script(serve)
        .target("address", &format!("\"127.0.0.1:{}\"", free_port()))
        .matrix("blocks", "2");
    lab.run(&bench, "fixed", &[]).expect(0);
    let spans: Vec<(u64, u64)> = lab
        .runs("fixed")
        .iter()
        .map(|run| crate::support::meta(&lab.label("fixed").join(layout::RUNS).join(run)))
        .map(|meta| (meta.instants_ns["target_ready"], meta.instants_ns["digest_start"]))
        .collect();
    assert!(spans[0].1 < spans[1].0, "one ends before the next is up: {spans:?}");
}
