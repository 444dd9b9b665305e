//! Golden machines: small trees of files under `tests/fixtures/hosts`, and what is said of each.

use std::path::{Path, PathBuf};

use record::host_check::{FindingVerdict, HostCheck, HostGrade};

use crate::demand::{Connections, Demand};
use crate::{Roots, facts};

fn folder(name: &str) -> PathBuf {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/hosts");
    let folder = hosts.join(name);
    assert!(folder.join("proc/stat").is_file(), "no fixture `{}`", folder.display());
    folder
}

fn checked(name: &str, demand: Option<&Demand>) -> HostCheck {
    facts(&Roots::under(&folder(name)), demand, None)
}

/// One line for each finding, as stable as the fixture.
fn shown(check: &HostCheck) -> String {
    let mut text = format!("{}\n", check.standing().headline());
    for finding in &check.findings {
        text.push_str(&format!("{} {}: {}", finding.verdict.word(), finding.name, finding.read));
        if let Some(command) = &finding.command {
            text.push_str(&format!("  # {command}"));
        }
        text.push('\n');
    }
    text
}

fn demand() -> Demand {
    Demand {
        bench: "shop".to_owned(),
        users: 100,
        connections: Connections::Kept,
        is_remote: false,
        runs: 24,
        disk_bytes: 1 << 20,
    }
}

#[track_caller]
fn verdict(check: &HostCheck, name: &str) -> FindingVerdict {
    check.finding(name).unwrap_or_else(|| panic!("no finding `{name}`")).verdict
}

#[test]
fn a_laptop_on_battery() {
    let check = checked("laptop", None);
    assert_eq!(check.grade, HostGrade::Directional);
    insta::assert_snapshot!(shown(&check), @"
    directional: smt on; core types 2: 0-1 and 2-3; governor powersave; 5 more
    told machine: 13th Gen Intel(R) Core(TM) i7-1360P, Linux 6.8.0-45-generic
    good class: own machine (LENOVO 21F2S0X900)
    good steal: none
    good cores: 4 cores
    caution smt: on  # echo off | sudo tee /sys/devices/system/cpu/smt/control
    caution core_types: 2: 0-1 and 2-3  # taskset -c 0-1 assay run BENCH
    caution governor: powersave  # sudo cpupower frequency-set -g performance
    caution turbo: on  # echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo
    told frequency: 800 to 1400 of at most 5000 MHz
    caution power: battery  # cat /sys/class/power_supply/*/online
    caution temperature: 91 °C  # watch -n 5 'cat /sys/class/thermal/thermal_zone*/temp'
    good cgroup_cpu: no cap
    good cgroup_throttled: never
    told memory: 11200 MiB available
    caution load: 2.20 on 4 cores  # ps -eo pid,pcpu,args --sort=-pcpu | head
    caution foreign: java (pid 4242) 50 % of a core over their lives  # ps -o pid,ppid,etime,pcpu,args -p 4242
    good clock_source: tsc
    told timer_slack: 50.0 us
    unknown sleep: not probed
    told port_range: 28232 ports / 60 s = 471 connections/s
    told tcp_tw_reuse: 2: loopback only
    good somaxconn: 4096
    good time_wait: 12 sockets, 0.04 % of the ports
    good nofile: 1024, may be raised to 524288
    unknown disk: unknown
    unknown flatness: not probed
    unknown connections: not probed
    unknown disk_write: not probed
    ");
}

/// E-003, K-125: a burstable class is refused, however quiet it looks.
#[test]
fn a_burstable_instance() {
    let check = checked("burstable", None);
    assert_eq!(check.grade, HostGrade::Unfit);
    assert_eq!(check.limited_by[0], "class");
    insta::assert_snapshot!(shown(&check), @"
    unfit: class burstable (Amazon EC2 t3.medium); steal 1.96 % of all CPU time since boot; smt on; 1 more
    told machine: Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz, Linux 6.1.0-18-cloud-amd64
    unfit class: burstable (Amazon EC2 t3.medium)  # aws ec2 modify-instance-attribute --instance-id ID --instance-type m7g.xlarge
    caution steal: 1.96 % of all CPU time since boot
    good cores: 2 cores
    caution smt: on  # echo off | sudo tee /sys/devices/system/cpu/smt/control
    told core_types: one
    unknown governor: unknown
    unknown turbo: unknown
    unknown frequency: unknown
    unknown power: unknown
    unknown temperature: unknown
    good cgroup_cpu: no cap
    unknown cgroup_throttled: unknown
    told memory: 2800 MiB available
    good load: 0.10 on 2 cores
    good foreign: no process above 10 % of a core over their lives
    good clock_source: tsc
    told timer_slack: 50.0 us
    unknown sleep: not probed
    told port_range: 28232 ports / 60 s = 471 connections/s
    told tcp_tw_reuse: 2: loopback only
    good somaxconn: 4096
    good time_wait: 12 sockets, 0.04 % of the ports
    good nofile: 1024, may be raised to 524288
    unknown disk: unknown
    unknown flatness: not probed
    unknown connections: not probed
    unknown disk_write: not probed
    ");
}

#[test]
fn a_container_with_a_cap() {
    let check = checked("container", None);
    assert_eq!(check.grade, HostGrade::Directional);
    insta::assert_snapshot!(shown(&check), @"
    directional: cgroup cpu 2.00 of 4 cores for 100 ms; cgroup throttled 37 periods, 9.25 % of them
    told machine: Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz, Linux 5.15.0-105-generic
    good class: own machine (Dell Inc. PowerEdge R650)
    good steal: none
    good cores: 4 cores
    good smt: off
    told core_types: one
    good governor: performance
    good turbo: off
    told frequency: not told; see governor
    unknown power: unknown
    unknown temperature: unknown
    caution cgroup_cpu: 2.00 of 4 cores for 100 ms  # docker update --cpus 0 CONTAINER   # or: systemctl set-property UNIT CPUQuota=
    caution cgroup_throttled: 37 periods, 9.25 % of them  # cat /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpu/cpu.stat
    told memory: limit 2048 MiB, 22400 MiB available
    good load: 0.10 on 4 cores
    good foreign: no process above 10 % of a core over their lives
    good clock_source: tsc
    told timer_slack: 50.0 us
    unknown sleep: not probed
    told port_range: 28232 ports / 60 s = 471 connections/s
    told tcp_tw_reuse: 2: loopback only
    good somaxconn: 4096
    good time_wait: 12 sockets, 0.04 % of the ports
    good nofile: 1024, may be raised to 524288
    unknown disk: unknown
    unknown flatness: not probed
    unknown connections: not probed
    unknown disk_write: not probed
    ");
}

#[test]
fn a_container_of_half_a_core() {
    let check = checked("container-small", None);
    assert_eq!(check.grade, HostGrade::Unfit);
    assert_eq!(check.limited_by[0], "cgroup_cpu");
}

#[test]
fn a_server_with_smt() {
    let check = checked("server-smt", None);
    assert_eq!(check.grade, HostGrade::Directional);
    assert_eq!(check.limited_by, ["smt", "turbo"]);
    insta::assert_snapshot!(shown(&check), @"
    directional: smt on; turbo on
    told machine: AMD EPYC 9354 32-Core Processor, Linux 6.8.12
    good class: own machine (Supermicro AS-1115CS-TNR)
    good steal: none
    good cores: 4 cores
    caution smt: on  # echo off | sudo tee /sys/devices/system/cpu/smt/control
    told core_types: one
    good governor: performance
    caution turbo: on  # echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost
    told frequency: 3250 to 3250 of at most 3250 MHz
    unknown power: unknown
    good temperature: 41 °C
    good cgroup_cpu: no cap
    good cgroup_throttled: never
    told memory: 89600 MiB available
    good load: 0.10 on 4 cores
    good foreign: no process above 10 % of a core over their lives
    good clock_source: tsc
    told timer_slack: 50.0 us
    unknown sleep: not probed
    told port_range: 28232 ports / 60 s = 471 connections/s
    told tcp_tw_reuse: 1: everywhere
    good somaxconn: 4096
    good time_wait: 12 sockets, 0.04 % of the ports
    good nofile: 1024, may be raised to 524288
    unknown disk: unknown
    unknown flatness: not probed
    unknown connections: not probed
    unknown disk_write: not probed
    ");
}

/// E-003: one core for each vCPU, no SMT, no turbo, no credits.
#[test]
fn a_rented_machine_that_qualifies() {
    let check = checked("graviton", None);
    assert_eq!(
        (check.grade, &*check.limited_by),
        (HostGrade::Qualified, &[][..]),
        "{}",
        shown(&check)
    );
    insta::assert_snapshot!(shown(&check), @"
    qualified
    told machine: implementer 0x41 part 0xd40, Linux 6.1.92-99.174.amzn2023.aarch64
    good class: rented, no CPU credits (Amazon EC2 m7g.xlarge)
    good steal: 0 % of all CPU time since boot
    good cores: 4 cores
    good smt: off
    told core_types: one
    unknown governor: unknown
    unknown turbo: unknown
    good frequency: one, by its class
    unknown power: unknown
    unknown temperature: unknown
    good cgroup_cpu: no cap
    good cgroup_throttled: never
    told memory: 11200 MiB available
    good load: 0.10 on 4 cores
    good foreign: no process above 10 % of a core over their lives
    good clock_source: arch_sys_counter
    told timer_slack: 50.0 us
    unknown sleep: not probed
    told port_range: 28232 ports / 60 s = 471 connections/s
    told tcp_tw_reuse: 2: loopback only
    good somaxconn: 4096
    good time_wait: 12 sockets, 0.04 % of the ports
    good nofile: 1024, may be raised to 524288
    unknown disk: unknown
    unknown flatness: not probed
    unknown connections: not probed
    unknown disk_write: not probed
    ");
}

/// Nothing but a list of cores: everything else is unknown, and unknown is not good.
#[test]
fn a_machine_that_tells_nothing() {
    let check = checked("silent", None);
    assert_eq!(check.grade, HostGrade::Directional);
    for name in ["class", "steal", "smt", "frequency"] {
        assert_eq!(verdict(&check, name), FindingVerdict::Unknown, "{name}");
        assert!(check.limited_by.contains(&name.to_owned()), "{name}");
    }
    // A-160: an unknown governor warns of nothing by itself.
    assert_eq!(verdict(&check, "governor"), FindingVerdict::Unknown);
    assert!(!check.limited_by.contains(&"governor".to_owned()));
}

/// E-019: 100 users need more descriptors than a limit of 64.
#[test]
fn descriptors_are_held_against_the_users() {
    let check = checked("container-small", Some(&demand()));
    let nofile = check.finding("nofile").expect("a finding");
    assert_eq!(nofile.verdict, FindingVerdict::Unfit);
    insta::assert_snapshot!(format!("{}\n{}\n{:?}", nofile.read, nofile.effect, nofile.command), @r#"
    64, may be raised to 64
    100 users + 64 others = 164 are more than 64: a connection that gets no descriptor reads as a failure of the target
    Some("sudo prlimit --pid $$ --nofile=65536:65536")
    "#);
    let few = Demand { users: 0, ..demand() };
    let check = checked("container-small", Some(&few));
    assert_eq!(verdict(&check, "nofile"), FindingVerdict::Good, "64 are 64");
}

/// E-016, E-017: the same kernel is fine for a target on loopback and unfit for a remote one whose
/// connections are closed.
#[test]
fn reuse_on_loopback_only_is_unfit_for_a_remote_target() {
    let opens = |per_s: f64, is_remote: bool| Demand {
        connections: Connections::Opened { per_s: Some(per_s) },
        is_remote,
        ..demand()
    };
    // `graviton` has tcp_tw_reuse = 2 and 28,232 ports: 470 connections/s last.
    let remote = checked("graviton", Some(&opens(4_700.0, true)));
    assert_eq!(verdict(&remote, "tcp_tw_reuse"), FindingVerdict::Unfit);
    assert_eq!(verdict(&remote, "port_range"), FindingVerdict::Unfit);
    assert_eq!(remote.grade, HostGrade::Unfit);
    let said = |name: &str| {
        let found = remote.finding(name).expect("a finding");
        format!("{}\n{}\n{}\n", found.read, found.effect, found.command.clone().unwrap_or_default())
    };
    insta::assert_snapshot!(said("tcp_tw_reuse") + &said("port_range"), @"
    2: loopback only
    not enough for a remote target: no relief towards a remote target: unfit for one whose connections are closed
    sudo sysctl -w net.ipv4.tcp_tw_reuse=1
    28232 ports / 60 s = 471 connections/s
    shop opens up to 4700 connections/s where 471 last; when the ports are used up, connecting stalls, and that reads as a slow target
    sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'
    ");
    let local = checked("graviton", Some(&opens(4_700.0, false)));
    assert_eq!(verdict(&local, "tcp_tw_reuse"), FindingVerdict::Good);
    assert_eq!(verdict(&local, "port_range"), FindingVerdict::Good);
    // `server-smt` has tcp_tw_reuse = 1.
    let everywhere = checked("server-smt", Some(&opens(4_700.0, true)));
    assert_eq!(verdict(&everywhere, "tcp_tw_reuse"), FindingVerdict::Good);
    let slow = checked("graviton", Some(&opens(400.0, true)));
    assert_eq!(verdict(&slow, "port_range"), FindingVerdict::Good, "what lasts, lasts");
    let kept = checked("graviton", Some(&Demand { is_remote: true, ..demand() }));
    assert_eq!(kept.grade, HostGrade::Qualified, "{}", shown(&kept));
    assert!(kept.finding("tcp_tw_reuse").expect("a finding").effect.contains("unfit"));
}

/// W-037: a process that has been busy for long is named by pid and share.
#[test]
fn a_busy_process_is_named() {
    let check = checked("laptop", None);
    let foreign = check.finding("foreign").expect("a finding");
    assert_eq!(foreign.read, "java (pid 4242) 50 % of a core over their lives");
    assert!(foreign.command.as_deref().expect("a command").ends_with("-p 4242"));
}

/// The quick check of `assay run` is files alone; on this very machine it must find its cores.
#[test]
fn facts_of_this_machine() {
    let check = facts(&Roots::live(), None, Some(Path::new(".")));
    assert_eq!(verdict(&check, "disk"), FindingVerdict::Told);
    assert!(check.finding("nofile").expect("a finding").read.contains("may be raised"));
    assert!(!check.probes && check.finding("sleep").expect("a finding").read == "not probed");
    assert_ne!(verdict(&check, "machine"), FindingVerdict::Unknown);
}

#[test]
fn every_finding_that_limits_says_its_effect() {
    for name in ["laptop", "burstable", "container", "container-small", "server-smt", "silent"] {
        let check = checked(name, None);
        assert!(!check.limited_by.is_empty(), "{name}");
        for finding in check.limited_by.iter().filter_map(|name| check.finding(name)) {
            assert!(!finding.effect.is_empty(), "{name}: {}", finding.name);
        }
    }
}
