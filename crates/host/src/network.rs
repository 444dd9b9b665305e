//! Ports and sockets: how many connections per second last (E-016, E-017).
//!
//! A closed connection keeps its port for 60 s (TIME_WAIT, not tunable), so that the ephemeral
//! ports over 60 s are the rate that lasts to one address. With `tcp_tw_reuse` a port is taken
//! again after one second; its value 2, the kernel's default, does so on loopback only.

use observe::state;
use record::host_check::{
    Finding,
    FindingVerdict::{Caution, Good, Told, Unfit},
};

use crate::demand::{Connections, Demand};
use crate::finding::{With, finding, percent, unknown};
use crate::roots::Roots;

/// `TCP_TIMEWAIT_LEN` of Linux, s.
const TIME_WAIT_S: f64 = 60.0;
/// A socket in TIME_WAIT may be reused after this, s.
const REUSE_AFTER_S: f64 = 1.0;
/// Share of the ports in TIME_WAIT above which what ran before is in the way.
const WAITING_SHARE_MAX: f64 = 0.25;
/// Smallest backlog that holds a burst of connections.
const BACKLOG_MIN: u64 = 1_024;

/// Port range, reuse, backlog, sockets in TIME_WAIT. `rate` is the loopback rate that a probe
/// measured.
pub(crate) fn findings(roots: &Roots, demand: Option<&Demand>) -> Vec<Finding> {
    let ports = ports(roots);
    let reuse = roots.proc("sys/net/ipv4/tcp_tw_reuse");
    vec![
        port_range(ports, reuse.as_deref(), demand),
        tw_reuse(reuse.as_deref(), ports, demand),
        somaxconn(roots, demand),
        time_wait(roots, ports),
    ]
}

/// Number of ephemeral ports.
fn ports(roots: &Roots) -> Option<u64> {
    let text = roots.proc("sys/net/ipv4/ip_local_port_range")?;
    let mut bounds = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (low, high) = (bounds.next()?.ok()?, bounds.next()?.ok()?);
    (high >= low).then(|| high - low + 1)
}

/// Whether a port is reused after a second towards where the bench goes.
fn is_reused(reuse: Option<&str>, is_remote: bool) -> bool {
    matches!((reuse, is_remote), (Some("1"), _) | (Some("2"), false))
}

/// Connections per second that last.
fn ceiling(ports: u64, reused: bool) -> f64 {
    ports as f64 / if reused { REUSE_AFTER_S } else { TIME_WAIT_S }
}

fn port_range(ports: Option<u64>, reuse: Option<&str>, demand: Option<&Demand>) -> Finding {
    const EFFECT: &str =
        "when the ports are used up, connecting stalls, and that reads as a slow target";
    let Some(ports) = ports else { return unknown("port_range", EFFECT) };
    let lasting = ceiling(ports, false);
    let read = format!("{ports} ports / {TIME_WAIT_S:.0} s = {lasting:.0} connections/s");
    let command = "sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'";
    let Some(demand) = demand else { return finding("port_range", Told, read, EFFECT) };
    match demand.connections {
        Connections::Kept => finding(
            "port_range",
            Good,
            read,
            format!("{} keeps one connection for each user", demand.bench),
        ),
        Connections::Opened { per_s: None } => finding(
            "port_range",
            Caution,
            read,
            format!(
                "{} opens connections at a rate that is not known before; {EFFECT}",
                demand.bench
            ),
        )
        .command(command),
        Connections::Opened { per_s: Some(wanted) } => {
            let reused = is_reused(reuse, demand.is_remote);
            let limit = ceiling(ports, reused);
            let why = if reused { ", with reuse after 1 s" } else { "" };
            let effect = format!(
                "{} opens up to {wanted:.0} connections/s where {limit:.0} last{why}; {EFFECT}",
                demand.bench
            );
            finding("port_range", if wanted > limit { Unfit } else { Good }, read, effect)
                .command(command)
        }
    }
}

fn tw_reuse(reuse: Option<&str>, ports: Option<u64>, demand: Option<&Demand>) -> Finding {
    const COMMAND: &str = "sudo sysctl -w net.ipv4.tcp_tw_reuse=1";
    let Some(reuse) = reuse else {
        return unknown("tcp_tw_reuse", "whether ports in TIME_WAIT are taken again");
    };
    let (read, scope) = match reuse {
        "0" => ("0: off", "ports in TIME_WAIT are never taken again"),
        "1" => ("1: everywhere", "ports in TIME_WAIT are taken again after a second"),
        "2" => (
            "2: loopback only",
            "no relief towards a remote target: unfit for one whose connections are closed",
        ),
        other => return finding("tcp_tw_reuse", Told, other, "a value of a kernel to come"),
    };
    let Some(demand) = demand else { return finding("tcp_tw_reuse", Told, read, scope) };
    let reused = is_reused(Some(reuse), demand.is_remote);
    let place = if demand.is_remote { "a remote target" } else { "a target on loopback" };
    match (demand.connections, reused) {
        (Connections::Kept, _) => {
            finding("tcp_tw_reuse", Told, read, format!("{scope}; the bench keeps its connections"))
        }
        (_, true) => finding("tcp_tw_reuse", Good, read, format!("enough for {place}")),
        (Connections::Opened { per_s }, false) => {
            let lasting = ports.map(|ports| ceiling(ports, false));
            let fits = per_s.zip(lasting).is_some_and(|(wanted, lasting)| wanted <= lasting);
            let verdict = if fits { Good } else { Unfit };
            finding("tcp_tw_reuse", verdict, read, format!("not enough for {place}: {scope}"))
                .command(COMMAND)
        }
    }
}

fn somaxconn(roots: &Roots, demand: Option<&Demand>) -> Finding {
    const EFFECT: &str =
        "more connections at once than the backlog holds are dropped and tried again after 1 s";
    let Some(most) = roots.proc("sys/net/core/somaxconn").and_then(|text| text.parse().ok()) else {
        return unknown("somaxconn", EFFECT);
    };
    let wanted = demand.map_or(BACKLOG_MIN, |demand| demand.users.max(1));
    let read = format!("{most}");
    if wanted <= most {
        return finding("somaxconn", Good, read, "a burst of connections waits and is not dropped");
    }
    finding("somaxconn", Caution, format!("{read}, wanted {wanted}"), EFFECT)
        .command(format!("sudo sysctl -w net.core.somaxconn={}", wanted.max(4_096)))
}

fn time_wait(roots: &Roots, ports: Option<u64>) -> Finding {
    const EFFECT: &str = "ports that what ran before still holds";
    let Some((waiting, ports)) = state::time_wait(&roots.proc).zip(ports) else {
        return unknown("time_wait", EFFECT);
    };
    let share = waiting as f64 / ports.max(1) as f64;
    let read = format!("{waiting} sockets, {} of the ports", percent(share));
    if share <= WAITING_SHARE_MAX {
        return finding("time_wait", Good, read, "the ports are free");
    }
    finding("time_wait", Caution, read, EFFECT).command("sleep 60   # they go by themselves")
}
