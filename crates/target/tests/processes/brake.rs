//! A braked tree stands still for a share of the time, all of it, and never for good.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use observe::procfs::Stat;
use record::plan::Stop;
use rustix::process::{Pid, Signal, kill_process};
use target::{Brake, Exit, Spawn};

use crate::probe::{BOUND, eventually, exists, read_numbers, shell, start};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("brake::a_busy_child_gets_its_share_less", a_busy_child_gets_its_share_less),
    ("brake::a_daemon_stands_still_too", a_daemon_stands_still_too),
    ("brake::what_is_told_to_stop_goes_on_first", what_is_told_to_stop_goes_on_first),
    ("brake::kill_and_drop_end_a_braked_tree", kill_and_drop_end_a_braked_tree),
    ("brake::a_killed_guardian_leaves_nothing_standing", a_killed_guardian_leaves_nothing),
];

fn braked(script: &str, share: f64) -> Spawn {
    Spawn { brake: Some(Brake::slowing_by(share).expect("a share")), ..shell(script) }
}

fn stat(pid: u32) -> Option<Stat> {
    Stat::read(Path::new("/proc"), pid)
}

fn stands_still(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.state == 'T')
}

/// Physics: whoever stands still uses no CPU. A braked loop has well under the time that has
/// passed; without the brake the same loop is never seen to stand still.
fn a_busy_child_gets_its_share_less() {
    let ticks = |pid: u32| stat(pid).expect("it runs").ticks();
    let busy = "echo 1; while :; do :; done";
    let mut child = start(&braked(busy, 4.0));
    read_numbers(&mut child.take_stdout().expect("a pipe"), 1);
    eventually("it stands still", || stands_still(child.pid()));
    eventually("it goes on", || !stands_still(child.pid()));
    let (before, began) = (ticks(child.pid()), Instant::now());
    // CPU for a fifth of the time: to use 20 ticks of 10 ms takes at least a second, and half
    // of that is asked for here, since the brake may be late on a busy machine.
    eventually("it works", || ticks(child.pid()) >= before + 20);
    assert!(began.elapsed() >= Duration::from_millis(500), "{:?}", began.elapsed());
    child.kill().expect("kill");

    let mut free = start(&shell(busy));
    read_numbers(&mut free.take_stdout().expect("a pipe"), 1);
    let before = ticks(free.pid());
    eventually("it works", || {
        assert!(!stands_still(free.pid()));
        ticks(free.pid()) >= before + 5
    });
    free.kill().expect("kill");
}

/// What left the group and the session of the child is below its guardian all the same.
fn a_daemon_stands_still_too() {
    let script = "(setsid sh -c 'echo $$; exec sleep 1000' &) ; exec sleep 1000";
    let mut child = start(&braked(script, 1.0));
    let pids = read_numbers(&mut child.take_stdout().expect("a pipe"), 1);
    eventually("the daemon stands still", || stands_still(pids[0]));
    eventually("the daemon goes on", || !stands_still(pids[0]));
    child.kill().expect("kill");
    assert!(!exists(pids[0]) && !exists(child.pid()));
}

/// A process that stands still could not run its trap.
fn what_is_told_to_stop_goes_on_first() {
    let script = "trap 'echo in order; exit 3' TERM; echo 1; while :; do sleep 0.01; done";
    for _ in 0..5 {
        let mut child = start(&braked(script, 9.0));
        let mut out = child.take_stdout().expect("a pipe");
        read_numbers(&mut out, 1);
        eventually("it stands still", || stands_still(child.pid()));
        let stop = Stop { signal: "TERM".to_owned(), grace_ns: BOUND.as_nanos() as u64 };
        let exit = child.stop(&stop).expect("stop");
        assert_eq!(exit, Exit { code: Some(3), signal: None });
        let mut text = String::new();
        out.read_to_string(&mut text).expect("read");
        assert_eq!(text, "in order\n");
    }
}

fn kill_and_drop_end_a_braked_tree() {
    let script = "trap '' TERM HUP; echo 1; while :; do sleep 0.01; done";
    for end in ["kill", "drop"] {
        let mut child = start(&braked(script, 9.0));
        read_numbers(&mut child.take_stdout().expect("a pipe"), 1);
        eventually("it stands still", || stands_still(child.pid()));
        let pids = [child.pid(), child.guardian_pid()];
        if end == "kill" {
            assert_eq!(child.kill().expect("kill").signal, Some(9));
        } else {
            drop(child);
        }
        assert!(pids.into_iter().all(|pid| !exists(pid)), "{end}");
    }
}

fn a_killed_guardian_leaves_nothing() {
    let mut child = start(&braked("echo 1; while :; do sleep 0.01; done", 9.0));
    read_numbers(&mut child.take_stdout().expect("a pipe"), 1);
    eventually("it stands still", || stands_still(child.pid()));
    let guardian = Pid::from_raw(child.guardian_pid() as i32).expect("a pid");
    kill_process(guardian, Signal::KILL).expect("a process that this test started");
    assert_eq!(child.wait(BOUND), Some(Exit::UNKNOWN));
    let pid = child.pid();
    eventually("it is gone", || stat(pid).is_none_or(|stat| stat.state == 'Z'));
}
