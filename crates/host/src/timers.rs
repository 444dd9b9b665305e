//! Clock source, timer slack and how faithfully the machine sleeps (E-041).

use record::host_check::{
    Finding,
    FindingVerdict::{Caution, Good, Told},
};
use record::units::HumanDuration;

use crate::finding::{With, finding, not_probed, percent, unknown};
use crate::probes::{Probed, Slept};
use crate::roots::Roots;

/// Share of 10 ms by which the median sleep may be longer.
const OVERSLEPT_SHARE_MAX: f64 = 0.05;

pub(crate) fn findings(roots: &Roots, probed: Option<&Probed>) -> Vec<Finding> {
    vec![clock_source(roots), timer_slack(roots), sleep(probed)]
}

fn clock_source(roots: &Roots) -> Finding {
    const EFFECT: &str = "each reading of the clock is a system call or a slow device: the generator pays for its stamps";
    let folder = "devices/system/clocksource/clocksource0";
    let Some(source) = roots.sys(&format!("{folder}/current_clocksource")) else {
        return unknown("clock_source", EFFECT);
    };
    match source.as_str() {
        "tsc" | "arch_sys_counter" | "kvm-clock" | "hyperv_clocksource_tsc_page" => {
            finding("clock_source", Good, source, "read without a system call")
        }
        _ => {
            let others = roots.sys(&format!("{folder}/available_clocksource")).unwrap_or_default();
            let better = others.split_ascii_whitespace().find(|name| *name == "tsc");
            let finding = finding("clock_source", Caution, source, EFFECT);
            match better {
                Some(better) => finding
                    .command(format!("echo {better} | sudo tee /sys/{folder}/current_clocksource")),
                None => finding,
            }
        }
    }
}

fn timer_slack(roots: &Roots) -> Finding {
    let slack = roots.proc("self/timerslack_ns").and_then(|text| text.parse::<f64>().ok());
    match slack {
        None => unknown("timer_slack", "how late a sleep may end"),
        Some(ns) => finding(
            "timer_slack",
            Told,
            HumanDuration(ns).to_string(),
            "the generator and the mock set their own to 1 ns; targets keep this",
        ),
    }
}

/// Asked against slept.
fn sleep(probed: Option<&Probed>) -> Finding {
    const EFFECT: &str = "a latency that is asked for is not the one that is given: tiers are mislabelled, paced arrivals are late";
    let Some(probed) = probed else { return not_probed("sleep", EFFECT) };
    let of = |slept: &Slept| {
        let human = |ns: u64| HumanDuration(ns as f64).to_string();
        format!(
            "{}: p50 {}, p99 {}",
            human(slept.asked_ns),
            human(slept.p50_ns),
            human(slept.p99_ns)
        )
    };
    let read: Vec<String> = probed.slept.iter().map(of).collect();
    let worst =
        probed.slept.iter().filter(|slept| slept.asked_ns >= 10_000_000).map(|slept| {
            slept.p50_ns.saturating_sub(slept.asked_ns) as f64 / slept.asked_ns as f64
        });
    let worst = worst.fold(0.0, f64::max);
    let read = read.join("; ");
    if worst > OVERSLEPT_SHARE_MAX {
        let effect = format!("{EFFECT}; the median is {} long", percent(worst));
        return finding("sleep", Caution, read, effect)
            .command("ps -eo pid,pcpu,args --sort=-pcpu | head");
    }
    finding("sleep", Good, read, "a latency that is asked for is given")
}
