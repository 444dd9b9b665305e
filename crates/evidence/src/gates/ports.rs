//! Ports of the generator's host against the run's own rate of new connections (K-118). A port waits
//! for 60 s after its connection (TIME_WAIT is a constant of Linux; `tcp_fin_timeout` is another
//! thing), or for 1 s where `tcp_tw_reuse` lets it come again. And what the run before left in
//! TIME_WAIT, when this one began soon after it (K-109).

use record::meta::HostFacts;
use record::plan::{Gates, TargetKind};

use super::Judgement;
use crate::run_dir::RunDir;

/// How long a port waits, s.
const TIME_WAIT_S: f64 = 60.0;
/// And where it may be used again.
const REUSE_S: f64 = 1.0;
/// Sockets in TIME_WAIT, as a share of the ports, from which on they matter to the next run.
const CHURNED_SHARE: f64 = 0.05;

/// Both flags: above what the ports sustain, and well only because it was over soon.
pub(super) fn judge(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let seen = run.load.present().and_then(|load| {
        // Each address has ports of its own.
        let ports = ports(&run.meta.host)? * load.connections.sources.max(1) as f64;
        let opened = load.connections.opened_in_window;
        let rate = opened as f64 * 1e9 / (load.window_ns > 0).then_some(load.window_ns)? as f64;
        let wait_s = if ports_come_again(run) { REUSE_S } else { TIME_WAIT_S };
        Some((ports, load.connections.opened, rate, wait_s, load.connections.failed))
    });
    let (ports, opened, rate, wait_s, failed) = seen.unwrap_or_default();
    let ceiling = if wait_s > 0.0 { ports / wait_s } else { 0.0 };
    let share = seen.map(|_| rate / ceiling);
    judgement.add("port_ceiling", bounds, share, share.map(|share| share <= 1.0), || {
        format!(
            "{rate:.0} new connections/s, while {ports:.0} ports that wait {wait_s:.0} s each sustain \
             {ceiling:.0}/s"
        )
    });
    // As long as fewer were opened than there are ports, none was missing yet.
    let is_short = share.is_some_and(|share| share > 1.0) && failed == 0 && (opened as f64) < ports;
    judgement.add(
        "port_time",
        bounds,
        share.map(|_| opened as f64),
        share.map(|_| !is_short),
        || {
            format!(
                "survived by being short: {opened} of {ports:.0} ports were used; at {rate:.0} new \
             connections/s they last for {:.0} s",
                ports / rate
            )
        },
    );
}

/// The flag of a run that began while the sockets of the run before were still about: the kernel
/// searches longer for a free port, which looks like a slow target.
pub(super) fn judge_gap(judgement: &mut Judgement, run: &RunDir, bounds: &Gates) {
    let waiting = run.host.present().and_then(|rows| {
        let first = rows.rows.iter().min_by_key(|row| row.t_ns)?;
        Some(first.time_wait? as f64)
    });
    let gap_s = run.meta.since_previous_run_ns.map(|ns| ns as f64 / 1e9);
    let bound_s = bounds.gap_ns as f64 / 1e9;
    let seen = gap_s.zip(waiting).zip(ports(&run.meta.host));
    let held =
        seen.map(|((gap_s, waiting), ports)| gap_s >= bound_s || waiting < CHURNED_SHARE * ports);
    judgement.add("gap", bounds, seen.and(gap_s), held, || {
        let ((gap_s, waiting), ports) = seen.unwrap_or_default();
        format!(
            "{gap_s:.0} s after the run before, with {waiting:.0} sockets in TIME_WAIT beside \
             {ports:.0} ports; they count for {bound_s:.0} s"
        )
    });
}

/// Ports that outgoing connections may have.
fn ports(host: &HostFacts) -> Option<f64> {
    let range = host.sysctls.get("net.ipv4.ip_local_port_range")?;
    let mut ends = range.split_whitespace().map(str::parse::<u16>);
    let (Some(Ok(first)), Some(Ok(last)), None) = (ends.next(), ends.next(), ends.next()) else {
        return None;
    };
    (first <= last).then(|| f64::from(last - first) + 1.0)
}

/// Whether the kernel uses a waiting port again after a second: 1 everywhere, 2 over loopback.
fn ports_come_again(run: &RunDir) -> bool {
    let target = &run.meta.effective.target;
    let address = match &target.kind {
        TargetKind::Mock(mock) => Some(mock.listen.as_str()),
        _ => target.address.as_deref(),
    };
    let host = address.and_then(|address| address.rsplit_once(':')).map(|(host, _)| host);
    let loopback = host.is_some_and(|host| {
        host == "localhost" || host.starts_with("127.") || host.trim_matches(['[', ']']) == "::1"
    });
    match run.meta.host.sysctls.get("net.ipv4.tcp_tw_reuse").map(String::as_str) {
        Some("1") => true,
        Some("2") => loopback,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use record::Effect;

    use super::super::tests::{planted_run, reason};
    use crate::run_dir::{Evidence, RunDir};

    /// A thousand ports and so many connections in the window of 30 s.
    fn plant(run: &mut RunDir, reuse: &str, opened: u64) {
        let sysctls = &mut run.meta.host.sysctls;
        sysctls.insert("net.ipv4.ip_local_port_range".to_owned(), "40000 40999".to_owned());
        sysctls.insert("net.ipv4.tcp_tw_reuse".to_owned(), reuse.to_owned());
        let Evidence::Present(load) = &mut run.load else { panic!("a load record") };
        load.connections.opened = opened;
        load.connections.opened_in_window = opened;
    }

    fn gates(reuse: &'static str, opened: u64) -> Vec<String> {
        let judgement = planted_run(|run| plant(run, reuse, opened));
        let ours = judgement.reasons.iter().filter(|reason| reason.gate.starts_with("port_"));
        ours.map(|reason| reason.gate.clone()).collect()
    }

    #[test]
    fn more_connections_than_the_ports_sustain_are_flagged_both_ways() {
        // 1,000 ports in 60 s are 16.7/s; 600 in 30 s are 20/s, and there were ports left.
        let short = planted_run(|run| plant(run, "0", 600));
        assert_eq!(reason(&short, "port_ceiling").effect, Effect::Flag);
        insta::assert_snapshot!(reason(&short, "port_ceiling").detail, @"20 new connections/s, while 1000 ports that wait 60 s each sustain 17/s");
        insta::assert_snapshot!(reason(&short, "port_time").detail, @"survived by being short: 600 of 1000 ports were used; at 20 new connections/s they last for 50 s");
        assert_eq!(gates("0", 400), [""; 0], "13.3/s");
        assert_eq!(gates("0", 6_000), ["port_ceiling"], "it was not short");
    }

    /// K-109: back to back, with 80 of 1,000 ports in TIME_WAIT.
    #[test]
    fn a_run_on_the_heels_of_a_churning_one_is_flagged() {
        let judged = |gap_s: Option<u64>, waiting: u64| {
            planted_run(|run| {
                plant(run, "0", 8);
                run.meta.since_previous_run_ns = gap_s.map(|s| s * 1_000_000_000);
                let Evidence::Present(host) = &mut run.host else { panic!("rows of the host") };
                host.rows[0].time_wait = Some(waiting);
                // What this run leaves itself is not what it found.
                host.rows[1].time_wait = Some(900);
            })
        };
        let flagged = judged(Some(2), 80);
        assert_eq!(reason(&flagged, "gap").effect, Effect::Flag);
        insta::assert_snapshot!(reason(&flagged, "gap").detail, @"2 s after the run before, with 80 sockets in TIME_WAIT beside 1000 ports; they count for 35 s");
        for (gap_s, waiting) in [(Some(35), 80), (Some(2), 40), (None, 80)] {
            assert_eq!(judged(gap_s, waiting).reasons, [], "{gap_s:?} {waiting}");
        }
    }

    #[test]
    fn ports_that_come_again_sustain_more() {
        // The sample's target is a mock on loopback.
        assert_eq!(gates("2", 6_000), [""; 0]);
        assert_eq!(gates("1", 6_000), [""; 0]);
        assert_eq!(gates("1", 60_000), ["port_ceiling"]);
        // Without the settings nothing is said.
        let unknown = planted_run(|run| {
            plant(run, "0", 6_000);
            run.meta.host.sysctls.clear();
        });
        assert!(unknown.reasons.iter().all(|reason| !reason.gate.starts_with("port_")));
    }
}
