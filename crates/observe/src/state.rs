//! What of a machine may change between two runs: turbo, governor, power supply, temperature,
//! throttling, sockets in TIME_WAIT. Each is read from files under a root; what a machine does not
//! tell is `None`.

use std::fs;
use std::path::{Path, PathBuf};

use record::host_state::HostState;

/// The state of a machine now, without its sentinel, which is no reading.
#[must_use]
pub fn read(sys: &Path) -> HostState {
    HostState {
        governor: governor(sys),
        turbo: turbo(sys),
        on_mains: on_mains(sys),
        temperature_millicelsius: temperature_millicelsius(sys),
        spins: Vec::new(),
    }
}

/// The trimmed content of a small file, if there is any.
pub(crate) fn word(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    if text.is_empty() { None } else { Some(text.to_owned()) }
}

fn number(path: &Path) -> Option<u64> {
    word(path)?.parse().ok()
}

/// `cpuN` folders, in order.
fn cores(sys: &Path) -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir(sys.join("devices/system/cpu")).into_iter().flatten().flatten();
    let mut cores: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            Some((name.to_str()?.strip_prefix("cpu")?.parse().ok()?, entry.path()))
        })
        .collect();
    cores.sort_unstable();
    cores
}

/// The governor of all cores; several are joined by `+`.
#[must_use]
pub fn governor(sys: &Path) -> Option<String> {
    let mut governors: Vec<String> = cores(sys)
        .iter()
        .filter_map(|(_, core)| word(&core.join("cpufreq/scaling_governor")))
        .collect();
    governors.sort_unstable();
    governors.dedup();
    if governors.is_empty() { None } else { Some(governors.join("+")) }
}

/// Whether cores may go above their nominal clock: `intel_pstate/no_turbo`, or `cpufreq/boost` of
/// the machine or of its first core.
#[must_use]
pub fn turbo(sys: &Path) -> Option<bool> {
    let cpu = sys.join("devices/system/cpu");
    let flag = |path: &str| match number(&cpu.join(path))? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    };
    flag("intel_pstate/no_turbo")
        .map(|off| !off)
        .or_else(|| flag("cpufreq/boost"))
        .or_else(|| flag("cpu0/cpufreq/boost"))
}

/// Whether the mains feed it; `None` where no supply is listed, as on a server.
#[must_use]
pub fn on_mains(sys: &Path) -> Option<bool> {
    let supplies = fs::read_dir(sys.join("class/power_supply")).into_iter().flatten().flatten();
    let (mut mains, mut battery) = (None, None);
    for supply in supplies {
        let path = supply.path();
        // The battery of a mouse feeds no machine.
        if word(&path.join("scope")).as_deref() == Some("Device") {
            continue;
        }
        match word(&path.join("type")).as_deref() {
            Some("Mains" | "USB") => {
                let online = number(&path.join("online")).map(|online| online > 0);
                mains = match (mains, online) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (known, online) => online.or(known),
                };
            }
            Some("Battery") => {
                let status = word(&path.join("status"));
                battery = battery.or(status.map(|status| status != "Discharging"));
            }
            _ => {}
        }
    }
    // A charger that is listed at all says it best; USB ports are off on a desktop without one.
    if battery.is_none() { mains.filter(|on| *on) } else { mains.or(battery) }
}

/// The hottest zone that tells.
#[must_use]
pub fn temperature_millicelsius(sys: &Path) -> Option<i64> {
    fs::read_dir(sys.join("class/thermal"))
        .ok()?
        .flatten()
        .filter(|zone| zone.file_name().to_string_lossy().starts_with("thermal_zone"))
        .filter_map(|zone| word(&zone.path().join("temp"))?.parse().ok())
        .max()
}

/// How often cores were slowed for their temperature since boot, all cores.
#[must_use]
pub fn thermal_throttles(sys: &Path) -> Option<u64> {
    let counts: Vec<u64> = cores(sys)
        .iter()
        .filter_map(|(_, core)| number(&core.join("thermal_throttle/core_throttle_count")))
        .collect();
    if counts.is_empty() { None } else { Some(counts.iter().sum()) }
}

/// Cores by type, the type of the fastest first; empty where all are alike or nobody tells. Types
/// are what the kernel names so (`cpu_core`, `cpu_atom`), or cores of one capacity.
#[must_use]
pub fn core_types(sys: &Path) -> Vec<Vec<u32>> {
    let named: Vec<Vec<u32>> = ["cpu_core", "cpu_atom", "cpu_lowpower"]
        .iter()
        .filter_map(|name| word(&sys.join("devices").join(name).join("cpus")))
        .map(|list| core_list(&list))
        .filter(|cores| !cores.is_empty())
        .collect();
    if named.len() > 1 {
        return named;
    }
    let mut by_capacity: std::collections::BTreeMap<u64, Vec<u32>> = Default::default();
    for (core, path) in cores(sys) {
        if let Some(capacity) = number(&path.join("cpu_capacity")) {
            by_capacity.entry(capacity).or_default().push(core);
        }
    }
    if by_capacity.len() > 1 { by_capacity.into_values().rev().collect() } else { Vec::new() }
}

/// Core numbers of a list as the kernel writes it: `0-3,8`. What is no number is left out.
#[must_use]
pub fn core_list(text: &str) -> Vec<u32> {
    const CORES_MAX: u32 = 8_192;
    let mut cores = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            cores.extend(first..=last.min(CORES_MAX));
        }
    }
    cores
}

/// Core numbers as the kernel writes them: `0-3,8`.
#[must_use]
pub fn shown_cores(cores: &[u32]) -> String {
    let mut text = String::new();
    let mut rest = cores;
    while let Some(&first) = rest.first() {
        let length = rest.iter().zip(first..).take_while(|(core, next)| *core == next).count();
        let last = rest[length - 1];
        let comma = if text.is_empty() { "" } else { "," };
        let range = if first == last { first.to_string() } else { format!("{first}-{last}") };
        text.push_str(&format!("{comma}{range}"));
        rest = &rest[length..];
    }
    text
}

/// Sockets in TIME_WAIT, of IPv4 and IPv6: `proc/net/sockstat`.
#[must_use]
pub fn time_wait(proc: &Path) -> Option<u64> {
    let text = fs::read_to_string(proc.join("net/sockstat")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

/// Time for which control groups held back the threads of this process's group, ns since the group
/// was made; `None` outside a group that tells.
#[must_use]
pub fn throttled_ns(proc: &Path, sys: &Path) -> Option<u64> {
    cpu_groups(proc, sys).iter().find_map(|group| {
        let text = fs::read_to_string(group.join("cpu.stat")).ok()?;
        let of = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line?.trim().parse::<u64>().ok()
        };
        // Version 1 counts nanoseconds, version 2 microseconds.
        of("throttled_time").or_else(|| of("throttled_usec").map(|us| us.saturating_mul(1_000)))
    })
}

/// Folders of the control group that holds this process's CPU, the innermost first. Inside a
/// container the path may be another one than is mounted: the mount itself comes last.
#[must_use]
pub fn cpu_groups(proc: &Path, sys: &Path) -> Vec<PathBuf> {
    control_groups(proc, sys, "cpu")
}

/// Folders of the control group of a controller, the innermost first, its parents after it.
#[must_use]
pub fn control_groups(proc: &Path, sys: &Path, controller: &str) -> Vec<PathBuf> {
    let text = fs::read_to_string(proc.join("self/cgroup")).unwrap_or_default();
    let mounts = sys.join("fs/cgroup");
    let mut found = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let mount = if controllers.is_empty() {
            mounts.clone()
        } else if controllers.split(',').any(|name| name == controller) {
            let named = mounts.join(controllers);
            if named.is_dir() { named } else { mounts.join(controller) }
        } else {
            continue;
        };
        let mut folder = mount.join(path.trim_start_matches('/'));
        loop {
            if folder.is_dir() {
                found.push(folder.clone());
            }
            if folder == mount || !folder.pop() {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn turbo_by_three_ways_to_tell() {
        let boost = Fixture::new();
        assert_eq!(turbo(&boost.sys()), None);
        boost.write("sys/devices/system/cpu/cpu0/cpufreq/boost", "0\n");
        assert_eq!(turbo(&boost.sys()), Some(false));
        boost.write("sys/devices/system/cpu/cpufreq/boost", "1\n");
        assert_eq!(turbo(&boost.sys()), Some(true));
        boost.write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
        assert_eq!(turbo(&boost.sys()), Some(false), "no_turbo is the other way round");
    }

    #[test]
    fn power_supplies() {
        let laptop = Fixture::new();
        assert_eq!(on_mains(&laptop.sys()), None, "a server lists none");
        laptop.write("sys/class/power_supply/hid/type", "Battery");
        laptop.write("sys/class/power_supply/hid/scope", "Device");
        laptop.write("sys/class/power_supply/hid/status", "Discharging");
        assert_eq!(on_mains(&laptop.sys()), None, "a mouse's");
        laptop.write("sys/class/power_supply/BAT0/type", "Battery");
        laptop.write("sys/class/power_supply/BAT0/status", "Discharging");
        assert_eq!(on_mains(&laptop.sys()), Some(false));
        laptop.write("sys/class/power_supply/AC/type", "Mains");
        laptop.write("sys/class/power_supply/AC/online", "0");
        assert_eq!(on_mains(&laptop.sys()), Some(false));
        laptop.write("sys/class/power_supply/ucsi/type", "USB");
        laptop.write("sys/class/power_supply/ucsi/online", "1");
        assert_eq!(on_mains(&laptop.sys()), Some(true));
    }

    #[test]
    fn types_of_cores() {
        let hybrid = Fixture::new();
        assert_eq!(core_types(&hybrid.sys()), Vec::<Vec<u32>>::new());
        for (core, capacity) in [(0, "512"), (1, "512"), (2, "1024")] {
            hybrid.write(&format!("sys/devices/system/cpu/cpu{core}/cpu_capacity"), capacity);
        }
        assert_eq!(core_types(&hybrid.sys()), [vec![2], vec![0, 1]]);
        hybrid.write("sys/devices/cpu_core/cpus", "0-1");
        hybrid.write("sys/devices/cpu_atom/cpus", "2");
        assert_eq!(core_types(&hybrid.sys()), [vec![0, 1], vec![2]]);
        assert_eq!(core_list("0-2,7, x,9-"), [0, 1, 2, 7]);
        assert_eq!(shown_cores(&[]), "");
        assert_eq!(shown_cores(&[0, 1, 2, 3, 8, 10, 11]), "0-3,8,10-11");
    }

    #[test]
    fn throttled_time_of_both_versions() {
        let one = Fixture::new();
        one.write("proc/self/cgroup", "3:memory:/a\n1:cpu,cpuacct:/a/b\n");
        one.write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.stat", "nr_periods 5\nthrottled_time 700\n");
        assert_eq!(throttled_ns(&one.proc(), &one.sys()), Some(700));
        let two = Fixture::new();
        two.write("proc/self/cgroup", "0::/x/y\n");
        two.write("sys/fs/cgroup/x/cpu.stat", "usage_usec 9\nthrottled_usec 3\n");
        assert_eq!(throttled_ns(&two.proc(), &two.sys()), Some(3_000), "of the nearest that tells");
        assert_eq!(throttled_ns(&Fixture::new().proc(), &two.sys()), None);
    }

    #[test]
    fn sockets_that_wait() {
        let fixture = Fixture::new();
        assert_eq!(time_wait(&fixture.proc()), None);
        fixture.write(
            "proc/net/sockstat",
            "sockets: used 1\nTCP: inuse 1 orphan 0 tw 321 alloc 2 mem 1\n",
        );
        assert_eq!(time_wait(&fixture.proc()), Some(321));
    }

    #[test]
    fn throttles_of_all_cores() {
        let fixture = Fixture::new();
        assert_eq!(thermal_throttles(&fixture.sys()), None);
        for core in 0..2 {
            let file =
                format!("sys/devices/system/cpu/cpu{core}/thermal_throttle/core_throttle_count");
            fixture.write(&file, "4");
        }
        assert_eq!(thermal_throttles(&fixture.sys()), Some(8));
    }
}
