//! Power supply and temperature.

use observe::state;
use record::host_check::{
    Finding,
    FindingVerdict::{Caution, Good},
};

use crate::finding::{With, finding, unknown};
use crate::roots::Roots;

/// Starting hotter than this leaves no headroom on most machines, in thousandths of a degree.
pub(crate) const START_TEMPERATURE_MAX: i64 = 80_000;

/// Mains power and temperature.
pub(crate) fn findings(roots: &Roots) -> Vec<Finding> {
    vec![supply(roots), temperature(roots)]
}

fn supply(roots: &Roots) -> Finding {
    const EFFECT: &str = "battery profiles throttle, and some forbid turbo: slow or uneven runs";
    let profile = roots.sys("firmware/acpi/platform_profile");
    if profile.as_deref() == Some("low-power") {
        return finding("power", Caution, "platform profile low-power", EFFECT)
            .command("powerprofilesctl set performance");
    }
    match state::on_mains(&roots.sys) {
        Some(true) => finding("power", Good, "mains", "no battery profile"),
        Some(false) => finding("power", Caution, "battery", format!("{EFFECT}; plug it in"))
            .command("cat /sys/class/power_supply/*/online"),
        None => unknown("power", format!("no supply is listed, as on servers; {EFFECT}")),
    }
}

fn temperature(roots: &Roots) -> Finding {
    const EFFECT: &str =
        "a machine that starts hot is throttled sooner: early runs are not late runs";
    let Some(now) = state::temperature_millicelsius(&roots.sys) else {
        return unknown("temperature", EFFECT);
    };
    let read = format!("{} °C", now / 1_000);
    let throttles = state::thermal_throttles(&roots.sys).unwrap_or(0);
    if now > START_TEMPERATURE_MAX {
        return finding("temperature", Caution, read, format!("{EFFECT}; let it cool first"))
            .command("watch -n 5 'cat /sys/class/thermal/thermal_zone*/temp'");
    }
    let read =
        if throttles > 0 { format!("{read}, {throttles} throttles since boot") } else { read };
    finding("temperature", Good, read, "headroom before the thermal ceiling")
}
