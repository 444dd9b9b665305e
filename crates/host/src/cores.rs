//! Cores and their clocks: how many, whether two share one, types, governor, turbo, frequency.

use observe::state;
use record::host_check::{
    Finding,
    FindingVerdict::{Caution, Good, Told},
};

use crate::class;
use crate::finding::{With, finding, plural, unknown};
use crate::roots::Roots;

/// Findings on cores. `flat` says whether a probe found a fixed loop to take the same time again
/// and again; `None` without the probe.
pub(crate) fn findings(roots: &Roots, flat: Option<bool>) -> Vec<Finding> {
    vec![
        number(roots),
        smt(roots),
        types(roots),
        governor(roots),
        turbo(roots),
        frequency(roots, flat),
    ]
}

/// Logical cores online: the `cpuN` lines of `stat`.
pub(crate) fn online(roots: &Roots) -> u32 {
    let text = roots.proc("stat").unwrap_or_default();
    let is_core = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    text.lines().filter(is_core).count() as u32
}

fn number(roots: &Roots) -> Finding {
    let online = online(roots);
    let allowed = roots
        .proc("self/status")
        .and_then(|text| observe::procfs::field(&text, "Cpus_allowed_list").map(state::core_list))
        .map_or(online, |cores| cores.len() as u32);
    if online == 0 {
        return unknown("cores", "whether roles can have cores of their own").deciding();
    }
    let usable = online.min(allowed.max(1));
    let read = if usable < online {
        format!("{usable} of {} may be used", plural(online.into(), "core"))
    } else {
        plural(online.into(), "core")
    };
    if usable < 2 {
        let effect = "generator and target take turns on one core: each is in the other's latency";
        return finding("cores", Caution, read, effect);
    }
    finding("cores", Good, read, "roles can have cores of their own: `[cpus]` of the bench")
        .deciding()
}

fn smt(roots: &Roots) -> Finding {
    const EFFECT: &str =
        "two logical cores share one: what runs on the other one changes the speed of this one";
    let active = roots.sys("devices/system/cpu/smt/active");
    let shared = || {
        let siblings = roots.by_core("topology/thread_siblings_list");
        let any = siblings.iter().any(|(_, list)| state::core_list(list).len() > 1);
        (!siblings.is_empty()).then_some(any)
    };
    let on = match active.as_deref() {
        Some("1") => Some(true),
        Some("0") => Some(false),
        _ => shared(),
    };
    match on {
        Some(true) => finding("smt", Caution, "on", EFFECT)
            .command("echo off | sudo tee /sys/devices/system/cpu/smt/control"),
        Some(false) => finding("smt", Good, "off", "a logical core is a core"),
        None => unknown("smt", EFFECT).deciding(),
    }
}

fn types(roots: &Roots) -> Finding {
    let types = state::core_types(&roots.sys);
    let Some(fast) = types.first() else {
        return finding("core_types", Told, "one", "no core is of another kind, as far as is told");
    };
    let lists: Vec<String> = types.iter().map(|cores| state::shown_cores(cores)).collect();
    let effect = "a thread that moves between types changes its speed; give each role cores of one \
                  type with `[cpus]`";
    finding("core_types", Caution, format!("{}: {}", types.len(), lists.join(" and ")), effect)
        .command(format!("taskset -c {} assay run BENCH", state::shown_cores(fast)))
}

fn governor(roots: &Roots) -> Finding {
    const EFFECT: &str = "the clock follows the load: a light load is measured on a slow clock";
    match state::governor(&roots.sys) {
        None => unknown("governor", EFFECT),
        Some(governor) if governor == "performance" => {
            finding("governor", Good, governor, "the clock does not wait for load")
        }
        Some(governor) => finding("governor", Caution, governor, EFFECT)
            .command("sudo cpupower frequency-set -g performance"),
    }
}

fn turbo(roots: &Roots) -> Finding {
    const EFFECT: &str = "the clock depends on how many cores are busy and how warm they are: runs differ, cells with more threads are slower";
    match state::turbo(&roots.sys) {
        None => unknown("turbo", EFFECT),
        Some(false) => finding("turbo", Good, "off", "the clock is the nominal one"),
        Some(true) => {
            let intel = roots.sys("devices/system/cpu/intel_pstate/no_turbo").is_some();
            let command = if intel {
                "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
            } else {
                "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
            };
            finding("turbo", Caution, "on", EFFECT).command(command)
        }
    }
}

/// The clock as the machine tells it. Whether it holds still is known from the governor, or from
/// the probe; from neither is unknown, and that limits the grade.
fn frequency(roots: &Roots, flat: Option<bool>) -> Finding {
    let khz = |name: &str| -> Vec<u64> {
        roots.by_core(name).iter().filter_map(|(_, text)| text.parse().ok()).collect()
    };
    let now = khz("cpufreq/scaling_cur_freq");
    let most = khz("cpufreq/cpuinfo_max_freq").into_iter().max();
    let mhz = |khz: u64| khz / 1_000;
    let read = match (now.iter().min(), now.iter().max(), most) {
        (Some(&low), Some(&high), Some(most)) => {
            Some(format!("{} to {} of at most {} MHz", mhz(low), mhz(high), mhz(most)))
        }
        (Some(&low), Some(&high), None) => Some(format!("{} to {} MHz", mhz(low), mhz(high))),
        _ => None,
    };
    let governed = state::governor(&roots.sys).is_some();
    let effect = "what a cycle is worth";
    match (read, governed, flat) {
        (Some(read), true, _) => finding("frequency", Told, read, effect),
        (None, true, _) => finding("frequency", Told, "not told; see governor", effect),
        (read, false, None) if class::has_one_clock(roots) => {
            let read = read.unwrap_or_else(|| "one, by its class".to_owned());
            finding("frequency", Good, read, "this class has no turbo and no governor")
        }
        (read, false, Some(true)) => {
            let read = read.unwrap_or_else(|| "not told; a fixed loop was flat".to_owned());
            finding("frequency", Good, read, "no clock that wanders was seen")
        }
        (read, false, _) => {
            let mut finding = unknown("frequency", "the clock may wander and nobody would tell");
            if let Some(read) = read {
                finding.read = format!("{read}, no governor told");
            }
            finding.deciding()
        }
    }
}
