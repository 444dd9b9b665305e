//! Fixture trees for what must be counted how, and live children for what the kernel does.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::*;
use crate::fixture::Fixture;

fn sampler(fixture: &Fixture, pid: u32, scope: Scope) -> TreeSampler {
    let watch = Watch { role: "target".to_owned(), pid, start_ticks: Some(1), scope };
    TreeSampler::new(&fixture.proc(), watch)
}

fn sample(sampler: &mut TreeSampler) -> ResourceRow {
    let table = Table::read(&sampler.proc);
    sampler.sample(7, Edge::Sample, &table)
}

/// A guardian (10) over a server (11) with a worker (12), and a stranger (20).
fn tree() -> Fixture {
    let fixture = Fixture::new();
    fixture.stat(10, "(assay) S 1", [1, 2, 100, 200], 1);
    fixture.stat(11, "(server) S 10", [10, 20, 1000, 2000], 2);
    fixture.stat(12, "(worker) S 11", [30, 40, 0, 0], 3);
    fixture.stat(20, "(stranger) R 1", [9999, 9999, 0, 0], 4);
    for pid in [10, 11, 12, 20] {
        fixture.thread(pid, pid, 0, (u64::from(pid), 1));
        for descriptor in 0..pid {
            fixture.write(&format!("proc/{pid}/fd/{descriptor}"), "");
        }
        fixture.write(&format!("proc/{pid}/smaps_rollup"), "00-ff ---p [rollup]\nPss: 5 kB\n");
    }
    fixture
}

#[test]
fn scopes() {
    let fixture = tree();
    let tick = tick_ns();
    let row = |scope| sample(&mut sampler(&fixture, 10, scope));
    let page = rustix::param::page_size() as u64;

    let below = row(Scope::Below);
    assert_eq!((below.t_ns, below.edge, below.role.as_str()), (7, Edge::Sample, "target"));
    assert_eq!(below.processes, 2);
    // The guardian's reaped children are the role's, its own time is not.
    assert_eq!(below.cpu_user_ns, Some((100 + 10 + 1000 + 30) * tick));
    assert_eq!(below.cpu_sys_ns, Some((200 + 20 + 2000 + 40) * tick));
    assert_eq!(below.cpu_ns, Some(3400 * tick), "never less than the ticks");
    assert_eq!(below.rss_bytes, Some(2 * 3 * page));
    assert_eq!(below.threads, Some(4));
    assert_eq!((below.switches_voluntary, below.switches_involuntary), (Some(23), Some(2)));
    assert_eq!(below.descriptors, Some(23));
    assert_eq!(below.pss_bytes, None, "taken apart");

    let tree = row(Scope::Tree);
    assert_eq!(tree.processes, 3);
    assert_eq!(tree.cpu_user_ns, Some((1 + 100 + 10 + 1000 + 30) * tick));

    let alone = row(Scope::Alone);
    assert_eq!(alone.processes, 1);
    assert_eq!((alone.cpu_user_ns, alone.cpu_sys_ns), (Some(tick), Some(2 * tick)));
    assert_eq!(alone.cpu_ns, Some(3 * tick));

    let pss = |scope| sampler(&fixture, 10, scope).pss_bytes(&Table::read(&fixture.proc()));
    assert_eq!(pss(Scope::Below), Some(2 * 5120));
    assert_eq!(pss(Scope::Alone), Some(5120));
}

#[test]
fn absent_sensors_are_unknown() {
    // Nothing but `stat`, as when all else is denied.
    let fixture = Fixture::new();
    fixture.stat(11, "(server) S 1", [3, 4, 0, 0], 1);
    let row = sample(&mut sampler(&fixture, 11, Scope::Tree));
    assert_eq!(row.processes, 1);
    assert_eq!(row.cpu_ns, Some(7 * tick_ns()), "user plus system stands in");
    assert_eq!((row.switches_voluntary, row.switches_involuntary), (None, None));
    assert_eq!((row.descriptors, row.pss_bytes), (None, None));
    let table = Table::read(&fixture.proc());
    assert_eq!(sampler(&fixture, 11, Scope::Tree).pss_bytes(&table), None);

    // A kernel without `schedstat` still counts switches.
    fixture.thread(11, 11, 0, (5, 6));
    fs::remove_file(fixture.proc().join("11/task/11/schedstat")).expect("file");
    let row = sample(&mut sampler(&fixture, 11, Scope::Tree));
    assert_eq!((row.cpu_ns, row.switches_voluntary), (Some(7 * tick_ns()), Some(5)));
}

#[test]
fn one_denied_part_makes_the_sum_unknown() {
    let fixture = tree();
    fs::remove_dir_all(fixture.proc().join("12/fd")).expect("directory");
    fs::remove_file(fixture.proc().join("12/smaps_rollup")).expect("file");
    let mut sampler = sampler(&fixture, 10, Scope::Below);
    let row = sample(&mut sampler);
    assert_eq!((row.processes, row.descriptors), (2, None));
    assert_eq!(sampler.pss_bytes(&Table::read(&fixture.proc())), None);
}

#[test]
fn a_root_that_is_gone_or_another_is_unknown() {
    let fixture = tree();
    let mut watched = sampler(&fixture, 10, Scope::Below);
    assert_eq!(sample(&mut watched).processes, 2);
    fixture.stat(10, "(recycled) S 1", [1, 2, 100, 200], 77);
    let row = sample(&mut watched);
    assert_eq!((row.processes, row.cpu_ns, row.rss_bytes), (0, None, None));
    assert_eq!(watched.pss_bytes(&Table::read(&fixture.proc())), None);
    fixture.remove(10);
    assert_eq!(crate::csv::resource_line(&sample(&mut watched)), "7,sample,target,0,,,,,,,,,");
    // A number that never was.
    assert_eq!(sample(&mut sampler(&fixture, 4711, Scope::Tree)).processes, 0);
}

#[test]
fn the_time_of_threads_that_end_stays() {
    let fixture = Fixture::new();
    let second = 1_000_000_000;
    fixture.process(11, 1, "server", 0, 1);
    fixture.thread(11, 11, second, (1, 2));
    fixture.thread(11, 12, 5 * second, (10, 20));
    let mut sampler = sampler(&fixture, 11, Scope::Tree);
    let row = sample(&mut sampler);
    assert_eq!(row.cpu_ns, Some(6 * second), "nanoseconds where they are more than the ticks");
    assert_eq!((row.switches_voluntary, row.switches_involuntary), (Some(11), Some(22)));

    fixture.remove_thread(11, 12);
    fixture.thread(11, 11, 2 * second, (3, 2));
    let row = sample(&mut sampler);
    assert_eq!(row.cpu_ns, Some(7 * second));
    assert_eq!((row.switches_voluntary, row.switches_involuntary), (Some(13), Some(22)));

    // Its number again, for another thread.
    fixture.thread(11, 12, second / 2, (1, 0));
    assert_eq!(sample(&mut sampler).cpu_ns, Some(7 * second + second / 2));
    fixture.thread(11, 12, second / 4, (0, 0));
    let row = sample(&mut sampler);
    assert_eq!(row.cpu_ns, Some(7 * second + second * 3 / 4));
    assert_eq!(row.switches_voluntary, Some(14));

    // What the nanoseconds missed of a thread that ended is in the ticks.
    fixture.process(11, 1, "server", 9 * second / tick_ns(), 1);
    assert_eq!(sample(&mut sampler).cpu_ns, Some(9 * second));
}

#[test]
fn counters_pass_to_the_parent_that_reaps_and_never_go_back() {
    let fixture = tree();
    let tick = tick_ns();
    fixture.thread(12, 12, 70 * tick + tick / 2, (500, 500));
    let mut sampler = sampler(&fixture, 10, Scope::Below);
    let before = sample(&mut sampler);
    assert_eq!(before.cpu_ns, Some(3400 * tick + tick / 2));

    // The worker is a zombie: its ticks stand.
    fixture.stat(12, "(worker) Z 11", [30, 40, 0, 0], 3);
    let zombie = sample(&mut sampler);
    assert_eq!(zombie.processes, 1);
    assert_eq!((zombie.cpu_user_ns, zombie.cpu_ns), (before.cpu_user_ns, before.cpu_ns));

    // Reaped: its parent has them now, cut to whole ticks.
    fixture.remove(12);
    fixture.stat(11, "(server) S 10", [10, 20, 1030, 2040], 2);
    let reaped = sample(&mut sampler);
    assert_eq!(reaped.cpu_ns, before.cpu_ns, "half a tick less is no step back");
    assert_eq!(reaped.switches_voluntary, before.switches_voluntary);

    // The server too; nothing is left below the guardian.
    fixture.remove(11);
    fixture.stat(10, "(assay) S 1", [1, 2, 1140, 2261], 1);
    let empty = sample(&mut sampler);
    assert_eq!(empty.processes, 0);
    assert_eq!(empty.cpu_ns, Some(3401 * tick));
    assert_eq!((empty.rss_bytes, empty.threads, empty.descriptors), (None, None, None));
}

/// A live child that is killed and reaped when the test ends.
struct Live(Child);

impl Live {
    /// Starts it and waits for its first line.
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a program of every machine");
        let out = child.stdout.take().expect("a pipe");
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).expect("read");
        assert!(!line.is_empty(), "ended early");
        Self(child)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn live(pid: u32) -> TreeSampler {
    let proc = Path::new("/proc");
    let start_ticks = crate::procfs::start_ticks(proc, pid);
    assert!(start_ticks.is_some());
    let watch = Watch { role: "target".to_owned(), pid, start_ticks, scope: Scope::Tree };
    TreeSampler::new(proc, watch)
}

/// Burns 300 ms of CPU in a child that is reaped and 300 ms in a thread that ends, then waits.
const BURNER: &str = "
import os, threading, time, sys
def burn():
    end = time.thread_time() + 0.3
    while time.thread_time() < end: pass
child = os.fork()
if child == 0:
    burn()
    os._exit(0)
os.waitpid(child, 0)
thread = threading.Thread(target=burn)
thread.start()
thread.join()
print('burnt', flush=True)
time.sleep(1000)
";

#[test]
fn a_live_child_that_burnt_a_known_time() {
    let child = Live::start("python3", &["-c", BURNER]);
    let mut sampler = live(child.0.id());
    let row = sample(&mut sampler);
    // Each of the two accounts is cut to a whole tick, for user and for system time.
    let least_ns = 600_000_000 - 4 * tick_ns();
    assert!(row.cpu_ns.expect("known") >= least_ns, "{row:?}");
    assert!(row.cpu_user_ns.expect("known") + row.cpu_sys_ns.expect("known") >= least_ns);
    assert_eq!(row.processes, 1);
    // The thread that was joined may still be on its way out.
    assert!(row.threads.expect("known") >= 1);
    assert!(row.rss_bytes.expect("known") > 1 << 20);
    assert!(row.descriptors.expect("own child") >= 3);
    assert!(row.switches_voluntary.expect("known") > 0);
    let pss = sampler.pss_bytes(&Table::read(Path::new("/proc")));
    assert!(pss.is_none_or(|bytes| bytes > 0));
}

#[test]
fn a_live_tree_is_summed_and_its_end_is_seen() {
    let script = "sleep 1000 & sleep 1000 & echo up; wait";
    let child = Live::start("sh", &["-c", script]);
    let mut sampler = live(child.0.id());
    assert_eq!(sample(&mut sampler).processes, 3);
    let table = Table::read(Path::new("/proc"));
    let sleepers = table.descendants(child.0.id());
    assert_eq!(sleepers.len(), 2);
    for pid in sleepers {
        let pid = rustix::process::Pid::from_raw(pid as i32).expect("a pid");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("own process");
    }
    drop(child);
    let deadline = Instant::now() + Duration::from_secs(60);
    while sample(&mut sampler).processes > 0 {
        assert!(Instant::now() < deadline, "its end is never seen");
    }
    assert_eq!(sample(&mut sampler).cpu_ns, None);
}
