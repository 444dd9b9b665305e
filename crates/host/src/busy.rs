//! Who else works: load average, and the processes that use the cores, by pid and share (A-163,
//! W-037).

use std::collections::HashSet;

use observe::procfs::Table;
use record::host_check::{
    Finding,
    FindingVerdict::{Caution, Good},
};

use crate::cores;
use crate::finding::{With, finding, percent, plural, unknown};
use crate::roots::Roots;

/// Load for each core above which others are at work already.
const LOAD_SHARE_MAX: f64 = 0.5;
/// Share of one core from which a process is named; the bound of the gate `foreign`.
const NAMED_SHARE: f64 = 0.10;
/// Most processes that are named.
const NAMED_MAX: usize = 8;
/// Younger processes have no history that says anything, s.
const AGE_S_MIN: f64 = 10.0;

/// A process that uses a core.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Busy {
    pub(crate) pid: u32,
    pub(crate) name: String,
    /// Of one core.
    pub(crate) share: f64,
}

/// Load average and busy processes: as a probe saw them, or over their whole lives.
pub(crate) fn findings(roots: &Roots, seen: Option<&[Busy]>) -> Vec<Finding> {
    let (busy, since) = match seen {
        Some(busy) => (Some(busy.to_vec()), "now"),
        None => (over_their_lives(roots), "over their lives"),
    };
    vec![load(roots), foreign(busy, since)]
}

fn load(roots: &Roots) -> Finding {
    const EFFECT: &str =
        "more wants to run than there is room for: every wait for a core is in a latency";
    let average = roots
        .proc("loadavg")
        .and_then(|text| text.split_ascii_whitespace().next()?.parse::<f64>().ok());
    let cores = cores::online(roots);
    let Some(average) = average.filter(|_| cores > 0) else { return unknown("load", EFFECT) };
    let read = format!("{average:.2} on {}", plural(cores.into(), "core"));
    if average / f64::from(cores) > LOAD_SHARE_MAX {
        return finding("load", Caution, read, EFFECT)
            .command("ps -eo pid,pcpu,args --sort=-pcpu | head");
    }
    finding("load", Good, read, "cores are free")
}

fn foreign(busy: Option<Vec<Busy>>, since: &str) -> Finding {
    const EFFECT: &str = "it takes cores, caches and memory from both sides of a pair, and not evenly; counts of work and allocation still stand";
    let Some(busy) = busy else { return unknown("foreign", EFFECT).deciding() };
    let named: Vec<&Busy> =
        busy.iter().filter(|one| one.share >= NAMED_SHARE).take(NAMED_MAX).collect();
    if named.is_empty() {
        let read = format!("no process above {} of a core {since}", percent(NAMED_SHARE));
        return finding("foreign", Good, read, "the machine is quiet");
    }
    let read = named
        .iter()
        .map(|one| format!("{} (pid {}) {:.0} %", one.name, one.pid, one.share * 100.0));
    let read = format!("{} of a core {since}", read.collect::<Vec<_>>().join(", "));
    let pids = named.iter().map(|one| one.pid.to_string()).collect::<Vec<_>>().join(",");
    finding("foreign", Caution, read, EFFECT)
        .command(format!("ps -o pid,ppid,etime,pcpu,args -p {pids}"))
}

/// What each process used between two tables that are `elapsed_ns` apart, the busiest first, less
/// `own`.
pub(crate) fn between(
    before: &Table,
    after: &Table,
    elapsed_ns: u64,
    own: &HashSet<u32>,
) -> Vec<Busy> {
    let tick_ns = observe::tick_ns() as f64;
    let mut busy: Vec<Busy> = after
        .by_pid
        .values()
        .filter(|stat| !own.contains(&stat.pid))
        .filter_map(|stat| {
            let known = before.by_pid.get(&stat.pid);
            let known = known.filter(|known| known.start_ticks == stat.start_ticks);
            let ticks = stat.ticks().saturating_sub(known.map_or(0, |known| known.ticks()));
            let share = ticks as f64 * tick_ns / elapsed_ns.max(1) as f64;
            (ticks > 0).then(|| Busy { pid: stat.pid, name: stat.name.clone(), share })
        })
        .collect();
    sort(&mut busy);
    busy
}

/// CPU over age of every process, as `ps` counts it: one that has been busy for long shows, one
/// that has just begun does not.
fn over_their_lives(roots: &Roots) -> Option<Vec<Busy>> {
    let uptime_s: f64 = roots.proc("uptime")?.split_ascii_whitespace().next()?.parse().ok()?;
    let tick_s = observe::tick_ns() as f64 / 1e9;
    let table = Table::read(&roots.proc);
    let own = own_line(&table);
    let mut busy: Vec<Busy> = table
        .by_pid
        .values()
        .filter(|stat| !own.contains(&stat.pid))
        .filter_map(|stat| {
            let age_s = uptime_s - stat.start_ticks as f64 * tick_s;
            let share = stat.ticks() as f64 * tick_s / age_s;
            (age_s >= AGE_S_MIN).then(|| Busy { pid: stat.pid, name: stat.name.clone(), share })
        })
        .collect();
    sort(&mut busy);
    Some(busy)
}

/// This process and those that started it.
pub(crate) fn own_line(table: &Table) -> HashSet<u32> {
    let mut own = HashSet::new();
    let mut pid = std::process::id();
    while own.insert(pid) {
        match table.by_pid.get(&pid) {
            Some(stat) if stat.ppid > 0 => pid = stat.ppid,
            _ => break,
        }
    }
    own
}

fn sort(busy: &mut [Busy]) {
    busy.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.pid.cmp(&b.pid)));
}
