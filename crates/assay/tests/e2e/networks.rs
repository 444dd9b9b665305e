//! Networks narrower than any host's: what assay says of few ports and a small backlog. Each test has
//! a network namespace of its own.

use netlab::Namespace;
use record::Effect;
use record::host_check::{FindingVerdict, HostCheck};
use rustix::process::Signal;

use crate::support::{Bench, Lab, reason, tripped};

/// K-118, E-016: 1,000 ports that wait for a minute each sustain 16.7 connections a second.
#[test]
fn a_run_that_closes_its_connections_is_held_against_the_ports_of_its_namespace() {
    let namespace = Namespace::new();
    namespace.set("net.ipv4.ip_local_port_range", "40000 40999");
    namespace.set("net.ipv4.tcp_tw_reuse", "0");
    let lab = Lab::new();
    // A count, so that the number of ports is known: far fewer than there are, in far less than 30 s.
    let bench = Bench::mock()
        .load("users", "1")
        .load("warmup", "10")
        .load("measure", "500")
        .load("connections", "\"new\"");
    namespace.run(|| lab.run(&bench, "closes", &[]).expect(0));
    let digest = lab.only_digest("closes");
    let sysctls = &digest.identity.host.sysctls;
    assert_eq!(sysctls["net.ipv4.ip_local_port_range"], "40000 40999");
    assert_eq!(digest.identity.host.sustainable_connections_per_s, Some(1_000.0 / 60.0));
    let over = reason(&digest, "port_ceiling");
    assert_eq!(over.effect, Effect::Flag);
    assert!(
        over.detail.ends_with("1000 ports that wait 60 s each sustain 17/s"),
        "{}",
        over.detail
    );
    let short = &reason(&digest, "port_time").detail;
    assert!(short.starts_with("survived by being short: 510 of 1000 ports were used"), "{short}");
    assert_eq!(tripped(&digest), [""; 0], "it is said, and nothing is void for it");
    // K-120: the mock's map of these ports is full, so it derives no rate.
    let mock = digest.mock.as_ref().expect("the mock's record");
    // Ports come again already: where the mock closed first, it is the mock's side that waits.
    assert_eq!(mock.accepted, 510);
    assert!((251..=510).contains(&mock.distinct_peer_ports), "{}", mock.distinct_peer_ports);
    assert_eq!((mock.ports_saturated, mock.accepted_per_s), (true, None));

    namespace.run(|| lab.run(&bench, "keeps", &["load.connections=per-user"]).expect(0));
    let digest = lab.only_digest("keeps");
    let port_flags = digest.validity.reasons.iter().filter(|r| r.gate.starts_with("port_"));
    assert_eq!(port_flags.count(), 0);
    assert!(!digest.mock.as_ref().expect("the mock's record").ports_saturated);
    lab.assert_nothing_runs();
}

/// K-109: runs back to back, each of which leaves 300 of 1,000 ports waiting.
#[test]
fn runs_back_to_back_on_new_connections_are_flagged() {
    let namespace = Namespace::new();
    namespace.set("net.ipv4.ip_local_port_range", "40000 40999");
    let lab = Lab::new();
    let bench = Bench::mock()
        .load("users", "1")
        .load("warmup", "0")
        .load("measure", "300")
        .load("connections", "\"new\"")
        .matrix("blocks", "2")
        .matrix("warmup_run", "false")
        .matrix("gap", "\"0s\"");
    let digests = |label: &str| {
        ["01-01-only", "02-01-only"]
            .map(|run| crate::support::digest(&lab.label(label).join("runs").join(run)))
    };
    let flagged = |digest: &record::digest::Digest| {
        digest.validity.reasons.iter().any(|reason| reason.gate == "gap")
    };
    namespace.run(|| lab.run(&bench, "churn", &[]).expect(0));
    let [first, second] = digests("churn");
    // Nothing was before the first.
    assert_eq!([flagged(&first), flagged(&second)], [false, true]);
    assert!(second.host.time_wait.is_some_and(|waiting| waiting >= 300), "{:?}", second.host);
    // What is left of those would be flagged too: another network.
    let namespace = Namespace::new();
    namespace.run(|| lab.run(&bench, "kept", &["load.connections=per-user"]).expect(0));
    assert!(!digests("kept").iter().any(flagged));
}

/// E-017: over a pair of veth devices the default of `tcp_tw_reuse`, which is for loopback, is not
/// enough for a target whose connections are closed.
#[test]
fn reuse_for_loopback_alone_is_unfit_for_a_remote_target() {
    let (near, far) = (Namespace::new(), Namespace::new());
    netlab::veth(&near, "10.77.0.1", &far, "10.77.0.2");
    near.set("net.ipv4.ip_local_port_range", "40000 40999");
    let lab = Lab::new();
    let verdict_of = |url: &str, reuse: &str| {
        near.set("net.ipv4.tcp_tw_reuse", reuse);
        let bench = Bench::url(url).load("connections", "\"new\"").load("users", "4");
        lab.write("bench.toml", &bench.toml());
        let arguments = ["host", "check", "--for", "bench.toml", "--json", "-"];
        let ran = near.run(|| lab.assay(&arguments).expect_one_of(&[0, 5]));
        let check: HostCheck = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", ran.stdout));
        let finding = check.finding("tcp_tw_reuse").expect("a finding").clone();
        (finding.verdict, finding.effect, finding.command)
    };
    let (verdict, effect, command) = verdict_of("http://10.77.0.2:8080/", "2");
    assert_eq!(verdict, FindingVerdict::Unfit, "{effect}");
    assert!(effect.starts_with("not enough for a remote target"), "{effect}");
    assert_eq!(command.as_deref(), Some("sudo sysctl -w net.ipv4.tcp_tw_reuse=1"));
    assert_eq!(verdict_of("http://10.77.0.2:8080/", "1").0, FindingVerdict::Good);
    assert_eq!(verdict_of("http://127.0.0.1:8080/", "2").0, FindingVerdict::Good, "loopback");
}

/// K-117, E-018: the clamp is printed, and both numbers are in the record.
#[test]
fn a_backlog_that_the_kernel_clamps_is_said() {
    let namespace = Namespace::new();
    for (most, clamped) in [("16", true), ("4096", false)] {
        namespace.set("net.core.somaxconn", most);
        let lab = Lab::new();
        let flags = ["mock", "--backlog", "1024", "--json", "mock.json"];
        let mock = namespace.run(|| lab.spawn(&flags));
        crate::cli::listening(&mock);
        mock.signal(Signal::TERM);
        let said = mock.finish().expect(0).stderr;
        let note = "the kernel clamps a backlog of 1024 to 16; raise net.core.somaxconn";
        assert_eq!(said.contains(note), clamped, "{said}");
        let record: record::mock::MockRecord = crate::support::read(&lab.path().join("mock.json"));
        assert_eq!(record.config.backlog, 1_024);
        assert_eq!(record.backlog_effective, Some(if clamped { 16 } else { 1_024 }));
    }
}
