//! Doubts about the host. All of them annotate: a pair lies within seconds of its partner, and a
//! host that is busy all the time shows in the null contrast.

use record::plan::Gates;

use super::{Judgement, percent};
use crate::digest::{Window, host_of};
use crate::run_dir::RunDir;

/// The flags of the host over the measured window.
pub(super) fn judge(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let host = run.load.present().map(|load| host_of(run, &Window::of(load))).unwrap_or_default();
    let mut add = |gate: &'static str, share: Option<f64>, bound: f64, what: &str| {
        judgement.add(gate, bounds, share, share.map(|share| share <= bound), || {
            format!("{} {what}, more than {}", percent(share.unwrap_or_default()), percent(bound))
        });
    };
    add("steal", host.steal_share, bounds.steal_share, "of all cores was stolen");
    let name = host.foreign_name.as_deref().unwrap_or("a process");
    let pid = host.foreign_pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
    let what = format!("of one core was used by {name}{pid}, which took no part");
    add("foreign", host.foreign_share, bounds.foreign_share, &what);
    let cores = f64::from(run.meta.host.cores);
    let load = host.load_1m.filter(|_| cores > 0.0);
    let what = format!("load for each core (load average {:.2})", load.unwrap_or_default());
    add("load_average", load.map(|load| load / cores), bounds.load_average_share, &what);
    let what = "of the cores' frequency was lost inside the window";
    add("frequency", host.frequency_drop_share, bounds.frequency_share, what);
}
