//! Limits of the control groups, version 1 and 2: CPU caps, throttling so far, memory.

use std::fs;
use std::path::Path;

use observe::state;
use record::host_check::{
    Finding,
    FindingVerdict::{Caution, Good, Told, Unfit},
};

use crate::cores;
use crate::finding::{With, finding, percent, plural, unknown};
use crate::roots::Roots;

/// Least memory that a bench of small processes wants, bytes.
const MEMORY_MIN: u64 = 512 << 20;
/// What version 1 shows for no limit is near the largest number.
const NO_LIMIT: u64 = 1 << 60;

/// CPU cap, throttling and memory.
pub(crate) fn findings(roots: &Roots) -> Vec<Finding> {
    vec![cpu(roots), throttled(roots), memory(roots)]
}

/// A CPU cap, cores, with its period, us.
fn cap(folder: &Path) -> Option<(f64, u64)> {
    let number =
        |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<i64>().ok();
    let (quota, period) = match fs::read_to_string(folder.join("cpu.max")) {
        Ok(text) => {
            let (quota, period) = text.trim().split_once(' ')?;
            (quota.parse::<i64>().ok()?, period.trim().parse::<i64>().ok()?)
        }
        Err(_) => (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?),
    };
    (quota > 0 && period > 0).then(|| (quota as f64 / period as f64, period as u64))
}

fn cpu(roots: &Roots) -> Finding {
    let groups = state::cpu_groups(&roots.proc, &roots.sys);
    if groups.is_empty() {
        return unknown("cgroup_cpu", "a cap would stop all threads for the rest of each period");
    }
    let caps = groups.iter().filter_map(|group| cap(group));
    let Some((cores_allowed, period_us)) = caps.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return finding("cgroup_cpu", Good, "no cap", "threads run as the scheduler likes");
    };
    let cores = cores::online(roots);
    let period = period_us as f64 / 1e3;
    let read = format!("{cores_allowed:.2} of {} for {period:.0} ms", plural(cores.into(), "core"));
    let effect = format!(
        "when the quota is spent all threads stop for the rest of each {period:.0} ms: a tail that \
         is the cap's, not the target's"
    );
    // Generator and target together cannot even have one core.
    let verdict = if cores_allowed < 1.0 {
        Unfit
    } else if cores_allowed < f64::from(cores) {
        Caution
    } else {
        Good
    };
    finding("cgroup_cpu", verdict, read, effect)
        .command("docker update --cpus 0 CONTAINER   # or: systemctl set-property UNIT CPUQuota=")
}

fn throttled(roots: &Roots) -> Finding {
    const EFFECT: &str = "threads were held back by a quota while there was work";
    let text = state::cpu_groups(&roots.proc, &roots.sys)
        .iter()
        .find_map(|group| fs::read_to_string(group.join("cpu.stat")).ok());
    let of = |name: &str| -> Option<u64> {
        let text = text.as_deref()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line?.trim().parse().ok()
    };
    let Some(throttled) = of("nr_throttled") else {
        // A group without a cap need not count.
        return unknown("cgroup_throttled", EFFECT);
    };
    if throttled == 0 {
        return finding("cgroup_throttled", Good, "never", "no quota has held anything back");
    }
    let share = of("nr_periods").filter(|periods| *periods > 0);
    let share = share.map_or(String::new(), |periods| {
        format!(", {} of them", percent(throttled as f64 / periods as f64))
    });
    let read = format!("{}{share}", plural(throttled, "period"));
    finding("cgroup_throttled", Caution, read, EFFECT)
        .command("cat /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpu/cpu.stat")
}

fn memory(roots: &Roots) -> Finding {
    const EFFECT: &str = "less than a bench wants: reclaim and the out-of-memory killer";
    let meminfo = roots.proc("meminfo").unwrap_or_default();
    let available = observe::procfs::kib_field_bytes(&meminfo, "MemAvailable");
    let number = |group: &Path, name: &str| {
        fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok()
    };
    let limit = state::control_groups(&roots.proc, &roots.sys, "memory")
        .iter()
        .flat_map(|group| ["memory.max", "memory.limit_in_bytes"].map(|name| number(group, name)))
        .flatten()
        .filter(|limit| *limit < NO_LIMIT)
        .min();
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    let read = match (limit, available) {
        (Some(limit), Some(available)) => {
            format!("limit {}, {} available", mib(limit), mib(available))
        }
        (Some(limit), None) => format!("limit {}", mib(limit)),
        (None, Some(available)) => format!("{} available", mib(available)),
        (None, None) => return unknown("memory", EFFECT),
    };
    let least = limit.into_iter().chain(available).min().unwrap_or(u64::MAX);
    if least < MEMORY_MIN {
        return finding("memory", Caution, read, EFFECT)
            .command("ps -eo pid,rss,args --sort=-rss | head");
    }
    finding("memory", Told, read, "")
}
