//! Doubts about the host. They annotate: a pair lies within seconds of its partner, and a host that
//! is busy all the time shows in the null contrast. Only one voids: a machine whose turbo changed
//! while it was measured was two machines.

use record::host_state::HostStates;
use record::plan::Gates;

use super::{Judgement, percent};
use crate::digest::{Window, host_of};
use crate::run_dir::RunDir;

/// The governor that does not wait for load.
const PERFORMANCE: &str = "performance";

/// The flags of the host over the measured window, and around it.
pub(super) fn judge(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let host = run.load.present().map(|load| host_of(run, &Window::of(load))).unwrap_or_default();
    let mut add = |gate: &'static str, share: Option<f64>, bound: f64, what: &str| {
        judgement.add(gate, bounds, share, share.map(|share| share <= bound), || {
            format!("{} {what}, more than {}", percent(share.unwrap_or_default()), percent(bound))
        });
    };
    add("steal", host.steal_share, bounds.steal_share, "of all cores was stolen");
    let cores = f64::from(run.meta.host.cores);
    let load = host.load_1m.filter(|_| cores > 0.0);
    let what = format!("load for each core (load average {:.2})", load.unwrap_or_default());
    add("load_average", load.map(|load| load / cores), bounds.load_average_share, &what);
    let what = "of the cores' frequency was lost inside the window";
    add("frequency", host.frequency_drop_share, bounds.frequency_share, what);
    let what = "is the mean clock below the window's own highest";
    add("clock_variance", host.frequency_below_peak_share, bounds.clock_variance_share, what);

    let second = host.foreign_since_ns.map(|ns| ns / 1_000_000_000);
    let share = host.foreign_share;
    let held = share.map(|share| share <= bounds.foreign_share);
    judgement.add_at("foreign", bounds, share, held, || {
        let name = host.foreign_name.as_deref().unwrap_or("a process");
        let pid = host.foreign_pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
        let from = second.map_or_else(String::new, |second| {
            format!("; it began about {second} s into the window")
        });
        let used = percent(share.unwrap_or_default());
        let bound = percent(bounds.foreign_share);
        let what = format!("of one core was used by {name}{pid}, which took no part");
        (format!("{used} {what}, more than {bound}{from}"), second)
    });
    around(judgement, &run.meta.host_states, bounds);
}

/// What the machine was right before the load and right after it.
fn around(judgement: &mut Judgement, states: &HostStates, bounds: &Gates) {
    let change = states.speed_change();
    let value = change.map(|(_, change)| change.abs());
    let held = value.map(|value| value <= bounds.speed_share);
    judgement.add("speed", bounds, value, held, || {
        let (cores, change) = change.unwrap_or_default();
        let word = if change > 0.0 { "longer" } else { "less" };
        format!(
            "a fixed loop on cores {cores} took {} {word} after the load than before, more than {}",
            percent(change.abs()),
            percent(bounds.speed_share)
        )
    });
    let turbo = states.turbo();
    let held = turbo.as_ref().map(|turbo| !turbo.contains(", then "));
    judgement.add("turbo", bounds, None, held, || {
        format!("turbo was {} during the run", turbo.clone().unwrap_or_default())
    });
    let governor = states.governor();
    let held = governor.as_deref().map(|governor| governor == PERFORMANCE);
    judgement.add("governor", bounds, None, held, || {
        format!("the governor is {}", governor.clone().unwrap_or_default())
    });
    let mains = |on_mains: Option<bool>| on_mains.map(|on| if on { 0.0 } else { 1.0 });
    let both = [&states.before, &states.after].into_iter().flatten();
    let off = both.filter_map(|state| mains(state.on_mains)).max_by(f64::total_cmp);
    judgement.add("mains", bounds, None, off.map(|off| off == 0.0), || {
        "the machine ran on its battery".to_owned()
    });
    let start = states.before.as_ref().and_then(|state| state.temperature_millicelsius);
    let start = start.map(|temperature| temperature as f64 / 1e3);
    let bound = bounds.start_temperature_celsius as f64;
    judgement.add("start_temperature", bounds, start, start.map(|start| start <= bound), || {
        format!("the load began at {:.0} °C, above {bound:.0} °C", start.unwrap_or_default())
    });
}
