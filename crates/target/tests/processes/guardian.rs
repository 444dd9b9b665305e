//! The guardian ends whole trees, whatever they do and whoever is gone.

use std::fs::Permissions;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use record::plan::Stop;
use rustix::process::{Pid, Signal, kill_process};
use target::{Exit, Guarded, Output, Spawn, Stdin, TargetError};

use crate::probe::{BOUND, eventually, exists, own_program, read_numbers, shell, start};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("guardian::exit_code_and_output", exit_code_and_output),
    ("guardian::standard_input_from_bytes_file_and_parent", standard_input),
    ("guardian::environment_and_directory", environment_and_directory),
    ("guardian::a_signal_is_reported_as_one", a_signal_is_reported_as_one),
    (
        "guardian::signals_that_were_ignored_are_not_for_the_child",
        signals_that_were_ignored_are_not_for_the_child,
    ),
    ("guardian::stop_reaches_a_daemon", stop_reaches_a_daemon),
    ("guardian::stop_kills_what_ignores_sigterm", stop_kills_what_ignores_sigterm),
    ("guardian::stop_lets_the_child_end_its_own", stop_lets_the_child_end_its_own),
    ("guardian::kill_ends_a_tree_at_once", kill_ends_a_tree_at_once),
    ("guardian::what_an_exiting_child_leaves_is_ended", what_an_exiting_child_leaves),
    ("guardian::dropping_ends_the_tree", dropping_ends_the_tree),
    ("guardian::a_killed_parent_leaves_nothing", a_killed_parent_leaves_nothing),
    ("guardian::sigterm_to_the_guardian_ends_the_tree", sigterm_to_the_guardian),
    ("guardian::a_killed_guardian_is_noticed", a_killed_guardian_is_noticed),
    ("guardian::sigint_does_not_reach_the_child", sigint_does_not_reach_the_child),
    ("guardian::cores_are_inherited", cores_are_inherited),
    ("guardian::what_cannot_start_says_why", what_cannot_start_says_why),
];

/// A child that ignores SIGTERM, with a daemon that left its session by a double fork and
/// ignores SIGTERM too. Prints the daemon's pid, then its own.
const STUBBORN: &str = r#"
trap '' TERM HUP
(setsid sh -c 'trap "" TERM HUP; echo $$; while :; do sleep 1000; done' &)
sleep 0.01
echo $$
while :; do sleep 1000; done
"#;

fn stop(signal: &str, grace: Duration) -> Stop {
    Stop { signal: signal.to_owned(), grace_ns: grace.as_nanos() as u64 }
}

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid as i32).expect("a pid");
    kill_process(pid, signal).expect("a process that this test started");
}

fn exit_code_and_output() {
    let mut spawn = shell("echo out; echo err >&2; exit 7");
    spawn.stderr = Output::Pipe;
    let mut child = start(&spawn);
    assert!(child.start_ticks() > 0);
    let (mut out, mut err) = (String::new(), String::new());
    child.take_stdout().expect("a pipe").read_to_string(&mut out).expect("read");
    child.take_stderr().expect("a pipe").read_to_string(&mut err).expect("read");
    assert!(child.take_stdout().is_none(), "only once");
    assert_eq!(child.wait(BOUND), Some(Exit { code: Some(7), signal: None }));
    assert_eq!(child.exited(), Some(Exit { code: Some(7), signal: None }));
    assert_eq!((out.as_str(), err.as_str()), ("out\n", "err\n"));
    assert!(!exists(child.pid()) && !exists(child.guardian_pid()));
    // Ended before: no error, and not waited for.
    let exit = child.stop(&stop("TERM", BOUND)).expect("stop");
    assert_eq!(exit.code, Some(7));
}

fn standard_input() {
    let read = |spawn: &Spawn, to_write: Option<&[u8]>| {
        let mut child = start(spawn);
        if let Some(bytes) = to_write {
            child.take_stdin().expect("a pipe").write_all(bytes).expect("write");
        }
        let mut out = Vec::new();
        child.take_stdout().expect("a pipe").read_to_end(&mut out).expect("read");
        assert!(child.wait(BOUND).expect("ends").success());
        out
    };
    // More than a pipe or a socket holds.
    let large: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("input");
    std::fs::write(&file, b"from a file").expect("write");
    let with = |stdin| Spawn { stdin, ..shell("cat") };
    assert_eq!(read(&with(Stdin::Null), None), b"");
    assert_eq!(read(&with(Stdin::Bytes(large.clone())), None), large);
    assert_eq!(read(&with(Stdin::File(file)), None), b"from a file");
    assert_eq!(read(&with(Stdin::Pipe), Some(b"from the parent")), b"from the parent");
    // Bytes that nobody reads hold nobody up.
    let mut child = start(&Spawn { stdin: Stdin::Bytes(large), ..shell("exit 0") });
    assert!(child.wait(BOUND).expect("ends").success());
}

fn environment_and_directory() {
    let dir = tempfile::tempdir().expect("directory");
    let mut spawn = shell("echo \"$ADDED ${HOME:-no home}\"; pwd");
    spawn.env.insert("ADDED".to_owned(), "yes and no".to_owned());
    spawn.env_clear = true;
    spawn.env.insert("PATH".to_owned(), std::env::var("PATH").expect("PATH"));
    spawn.cwd = Some(dir.path().to_owned());
    let mut child = start(&spawn);
    let mut out = String::new();
    child.take_stdout().expect("a pipe").read_to_string(&mut out).expect("read");
    let path = dir.path().canonicalize().expect("path");
    assert_eq!(out, format!("yes and no no home\n{}\n", path.display()));
}

fn a_signal_is_reported_as_one() {
    let mut child = start(&shell("kill -SEGV $$"));
    let exit = child.wait(BOUND).expect("ends");
    assert_eq!(exit, Exit { code: None, signal: Some(11) });
    assert_eq!(exit.to_string(), "killed by SIGSEGV (11)");
}

/// In the background of a script, or under `nohup`, assay inherits ignored signals; a target must not.
fn signals_that_were_ignored_are_not_for_the_child() {
    let dir = tempfile::tempdir().expect("directory");
    let deaf = dir.path().join("deaf");
    let program = own_program();
    let script =
        format!("#!/bin/sh\ntrap '' HUP INT QUIT USR1 USR2\nexec '{}' \"$@\"\n", program.display());
    std::fs::write(&deaf, script).expect("write");
    std::fs::set_permissions(&deaf, Permissions::from_mode(0o755)).expect("executable");
    for (name, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("USR1", 10), ("USR2", 12)] {
        let spawn = shell(&format!("kill -{name} $$; echo deaf; exit 0"));
        let mut child = Guarded::spawn(&deaf, &spawn).expect("spawn");
        let exit = child.wait(BOUND).expect("ends");
        assert_eq!(exit, Exit { code: None, signal: Some(number) }, "{name}");
    }
}

fn stop_reaches_a_daemon() {
    // Double fork and a session of its own: no parent, no group and no session in common.
    let mut child = start(&shell(
        "(setsid sh -c 'echo $$; exec sleep 1000' &) ; sleep 0.01; echo $$; exec sleep 1000",
    ));
    let pids = read_numbers(&mut child.take_stdout().expect("a pipe"), 2);
    assert!(pids.contains(&child.pid()));
    let exit = child.stop(&stop("TERM", BOUND)).expect("stop");
    assert_eq!(exit, Exit { code: None, signal: Some(15) });
    for pid in pids {
        assert!(!exists(pid), "{pid}");
    }
    assert!(!exists(child.guardian_pid()));
}

fn stop_kills_what_ignores_sigterm() {
    let mut child = start(&shell(STUBBORN));
    let pids = read_numbers(&mut child.take_stdout().expect("a pipe"), 2);
    let grace = Duration::from_millis(200);
    let began = Instant::now();
    let exit = child.stop(&stop("TERM", grace)).expect("stop");
    assert!(began.elapsed() >= grace, "the grace is granted");
    assert_eq!(exit, Exit { code: None, signal: Some(9) });
    assert_eq!(exit.to_string(), "killed by SIGKILL (9), perhaps out of memory");
    for pid in pids {
        assert!(!exists(pid), "{pid}");
    }
}

fn stop_lets_the_child_end_its_own() {
    // The child has half of the grace to end its worker in order before others are signalled.
    let mut child = start(&shell(
        "trap 'kill -KILL $worker; wait; echo in order; exit 3' QUIT
         sh -c 'trap \"echo worker was told by signal; exit\" QUIT; echo 1; \
         while :; do sleep 0.02; done' & worker=$!
         echo 2
         while :; do sleep 0.02; done",
    ));
    let mut out = child.take_stdout().expect("a pipe");
    // Both have their traps, and the child knows its worker.
    read_numbers(&mut out, 2);
    assert_eq!(child.stop(&stop("QUIT", BOUND)).expect("stop").code, Some(3));
    let mut text = String::new();
    out.read_to_string(&mut text).expect("read");
    assert_eq!(text, "in order\n");
}

fn kill_ends_a_tree_at_once() {
    let mut child = start(&shell(STUBBORN));
    let pids = read_numbers(&mut child.take_stdout().expect("a pipe"), 2);
    assert_eq!(child.kill().expect("kill"), Exit { code: None, signal: Some(9) });
    for pid in pids {
        assert!(!exists(pid), "{pid}");
    }
}

fn what_an_exiting_child_leaves() {
    let dir = tempfile::tempdir().expect("directory");
    let mut spawn = shell(
        "(setsid sh -c 'echo $$; touch there; exec sleep 1000' &)
         until [ -e there ]; do sleep 0.01; done; exit 4",
    );
    spawn.cwd = Some(dir.path().to_owned());
    let mut child = start(&spawn);
    let pids = read_numbers(&mut child.take_stdout().expect("a pipe"), 1);
    assert_eq!(child.wait(BOUND).expect("ends").code, Some(4));
    assert!(!exists(pids[0]));
}

fn dropping_ends_the_tree() {
    let mut child = start(&shell(STUBBORN));
    let mut pids = read_numbers(&mut child.take_stdout().expect("a pipe"), 2);
    pids.push(child.guardian_pid());
    drop(child);
    for pid in pids {
        assert!(!exists(pid), "{pid}");
    }
}

fn a_killed_parent_leaves_nothing() {
    let dir = tempfile::tempdir().expect("directory");
    let out = dir.path().join("out");
    let mut parent = Command::new(own_program())
        .args(["parent", STUBBORN])
        .arg(&out)
        .stdout(Stdio::piped())
        .spawn()
        .expect("parent");
    let mut pids = read_numbers(parent.stdout.as_mut().expect("a pipe"), 2);
    eventually("the daemon runs", || {
        let text = std::fs::read_to_string(&out).unwrap_or_default();
        let found: Vec<u32> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        if found.len() >= 2 {
            pids.extend(found);
        }
        pids.len() >= 4
    });
    parent.kill().expect("SIGKILL");
    parent.wait().expect("reaped");
    for pid in pids {
        // The guardian itself is reaped by whoever inherits it.
        eventually(&format!("{pid} is gone"), || {
            observe::procfs::Stat::read(std::path::Path::new("/proc"), pid)
                .is_none_or(|stat| stat.state == 'Z')
        });
    }
}

fn sigterm_to_the_guardian() {
    for end in [Signal::TERM, Signal::HUP] {
        let mut child = start(&shell(STUBBORN));
        let pids = read_numbers(&mut child.take_stdout().expect("a pipe"), 2);
        signal(child.guardian_pid(), end);
        assert_eq!(child.wait(BOUND).expect("ends").signal, Some(9));
        for pid in pids {
            assert!(!exists(pid), "{pid}");
        }
    }
}

fn a_killed_guardian_is_noticed() {
    let mut child = start(&shell("sleep 1000 & echo $!; wait"));
    let pids = read_numbers(&mut child.take_stdout().expect("a pipe"), 1);
    signal(child.guardian_pid(), Signal::KILL);
    assert_eq!(child.wait(BOUND), Some(Exit::UNKNOWN));
    for pid in [pids[0], child.pid()] {
        // Whoever inherits them may be slow to reap them.
        eventually("the tree is gone", || {
            observe::procfs::Stat::read(std::path::Path::new("/proc"), pid)
                .is_none_or(|stat| stat.state == 'Z')
        });
    }
    assert!(matches!(child.signal("TERM"), Err(TargetError::Gone { .. })));
}

/// The session of a process; 0 when its leader is outside this pid namespace, as it is for
/// whatever a container's engine starts (a system call's wrapper may call that a fault).
fn session(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a live process");
    let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
    // Field 6 of proc(5); the first after the name is field 3.
    fields.split_ascii_whitespace().nth(3).expect("a session").parse().expect("a number")
}

fn sigint_does_not_reach_the_child() {
    let mut child = start(&shell("echo 1; exec sleep 1000"));
    read_numbers(&mut child.take_stdout().expect("a pipe"), 1);
    // What a terminal does goes to its foreground group; the guardian is not in it, and a
    // SIGINT that is aimed at the guardian itself changes nothing.
    signal(child.guardian_pid(), Signal::INT);
    assert_ne!(session(child.guardian_pid()), session(std::process::id()));
    assert_eq!(session(child.pid()), session(child.guardian_pid()));
    // The child has the default disposition: the guardian's is not inherited.
    child.signal("SIGINT").expect("sent");
    assert_eq!(child.wait(BOUND), Some(Exit { code: None, signal: Some(2) }));
}

fn cores_are_inherited() {
    let own = rustix::thread::sched_getaffinity(None).expect("affinity");
    let core = (0..rustix::thread::CpuSet::MAX_CPU).find(|&c| own.is_set(c)).expect("a core");
    let mut spawn = shell("grep Cpus_allowed_list /proc/self/status");
    spawn.cpus = vec![core as u32];
    let mut child = start(&spawn);
    let mut out = String::new();
    child.take_stdout().expect("a pipe").read_to_string(&mut out).expect("read");
    assert_eq!(out.split_whitespace().last(), Some(core.to_string().as_str()));
}

fn what_cannot_start_says_why() {
    let message = |change: &dyn Fn(&mut Spawn)| {
        let mut spawn = shell("exit 0");
        change(&mut spawn);
        Guarded::spawn(&own_program(), &spawn).expect_err("refused").to_string()
    };
    insta::assert_snapshot!(
        message(&|spawn| spawn.argv = vec!["/no/such/program".to_owned()]),
        @"cannot start `/no/such/program`: No such file or directory (os error 2)"
    );
    insta::assert_snapshot!(message(&|spawn| spawn.argv.clear()), @"cannot start ``: no program is named");
    insta::assert_snapshot!(message(&|spawn| spawn.cpus = vec![1000]), @"cannot run on cores [1000]: this process may not use core 1000");
    insta::assert_snapshot!(
        message(&|spawn| spawn.stdout = Output::File("/no/such/directory/log".into())),
        @"cannot open `/no/such/directory/log`: No such file or directory (os error 2)"
    );
    insta::assert_snapshot!(
        Guarded::spawn("/no/such/assay".as_ref(), &shell("exit 0")).expect_err("refused"),
        @"cannot start a guardian from `/no/such/assay`: No such file or directory (os error 2)"
    );
    // Not a guardian: it ends without a word.
    insta::assert_snapshot!(
        Guarded::spawn("/bin/true".as_ref(), &shell("exit 0")).expect_err("refused"),
        @"the guardian of `sh` ended, or was silent for 20 s, before it started anything"
    );
    let mut child = start(&shell("sleep 1000"));
    insta::assert_snapshot!(child.stop(&stop("TREM", BOUND)).expect_err("refused"), @r#"`TREM` is no signal; write `"TERM"`, `"INT"`, `"QUIT"` or `"KILL"`"#);
}
