//! Who does not count, by name and with the reason; what the arms are; and on which machine.

use std::collections::BTreeMap;

use record::digest::Digest;
use record::plan::TargetKind;

use super::fixture::{Label, null, slow, spread, throughput};
use super::is_doubtful;

fn eight() -> Label {
    let mut label = Label::default();
    label.pairs(&slow(), &spread(8, -0.05, 0.004));
    label.pairs(&null(), &spread(8, 0.0, 0.003));
    label
}

fn named(comparison: &record::compare::Comparison, level: &str) -> String {
    let contrast = throughput(comparison, level);
    let lines = contrast.left_out.iter().chain(&comparison.left_out);
    lines.map(|left| format!("{}: {}\n", left.run, left.reason)).collect()
}

/// K-077: errors, a short completion, a run without its rows, one without a tag, a broken cell
/// and what was copied in from elsewhere: each named with its reason, none of them averaged.
#[test]
fn each_cause_of_exclusion_is_named() {
    use record::{Effect, Reason, Scope, State};
    let mut label = eight();
    let void = |gate: &str, detail: &str| Reason {
        gate: gate.to_owned(),
        value: None,
        bound: None,
        unit: String::new(),
        effect: Effect::Void,
        scope: Scope::Run,
        detail: detail.to_owned(),
        remedy: None,
        second: None,
    };
    let is = |block, cell: &'static str| move |run: &Digest| run.block == block && run.cell == cell;
    for (block, gate, detail) in [
        (1, "failures", "5 % of requests failed, more than 0.1 %"),
        (2, "truncated", "the window ended after 3.00 s of 30.0 s"),
        (3, "absent_evidence", "`resources.csv` is missing"),
    ] {
        label.edit(is(block, "slow"), |run| {
            run.validity = record::Validity::from_reasons(vec![void(gate, detail)]);
            for metric in run.metrics.values_mut() {
                metric.state = State::Void;
            }
        });
    }
    label.edit(is(4, "slow"), |run| run.levels.clear());
    label.edit(is(5, "slow"), |run| run.label = "elsewhere".to_owned());
    // Block 6 has its slow run twice, under another place.
    let mut again = label.runs.iter().find(|(_, run)| is(6, "slow")(run)).unwrap().clone();
    again.0 = "06-07-slow".to_owned();
    label.runs.push(again);
    let comparison = label.compared();
    assert_eq!(throughput(&comparison, "slow").pairs, 3);
    assert_eq!(throughput(&comparison, "null").pairs, 8);
    assert!(is_doubtful(&comparison));
    insta::assert_snapshot!(named(&comparison, "slow"), @"
    01-01-base: orphan: its partner 01-02-slow is void
    01-02-slow: void: failures: 5 % of requests failed, more than 0.1 %
    02-02-base: orphan: its partner 02-01-slow is void
    02-01-slow: void: truncated: the window ended after 3.00 s of 30.0 s
    03-01-base: orphan: its partner 03-02-slow is void
    03-02-slow: void: absent_evidence: `resources.csv` is missing
    04-02-base: orphan: no partner in block 4
    05-01-base: orphan: no partner in block 5
    05-02-slow: it belongs to the label `elsewhere`
    06-07-slow: a second run of `slow` in block 6; 06-01-slow counts
    04-01-slow: no tag: it carries no level of `target`
    ");
}

/// K-078: pair 3 ran on another kernel, pair 5 under an upgraded runtime, pair 7 with another
/// build of the generator.
#[test]
fn a_pair_that_is_not_what_the_first_pair_was_is_dropped_by_name() {
    let mut label = eight();
    label.edit(|run| run.block == 3, |run| run.identity.host.kernel = "6.13.0".to_owned());
    label.edit(
        |run| run.block == 5,
        |run| {
            let target = run.identity.processes.get_mut("target").unwrap();
            target.version = Some("openjdk 25.0.1".to_owned());
        },
    );
    label.edit(
        |run| run.block == 7 && run.cell == "slow",
        |run| {
            let generator = run.identity.processes.get_mut("generator").unwrap();
            generator.sha256 = Some("ee".repeat(32));
        },
    );
    let comparison = label.compared();
    let slow = throughput(&comparison, "slow");
    let blocks: Vec<u32> = slow.log_ratios.iter().map(|(block, _)| *block).collect();
    assert_eq!(blocks, [1, 2, 4, 6, 8]);
    insta::assert_snapshot!(named(&comparison, "slow"), @"
    03-01-base: environment: `host.kernel` is 6.13.0, in the first pair 6.12.0
    03-02-slow: environment: `host.kernel` is 6.13.0, in the first pair 6.12.0
    05-01-base: environment: `target.version` is openjdk 25.0.1, in the first pair assay 0.1.0
    05-02-slow: environment: `target.version` is openjdk 25.0.1, in the first pair assay 0.1.0
    07-01-base: environment: `generator.sha256` is eeeeeeeeeeeeeeee, in the first pair bbbbbbbbbbbbbbbb
    07-02-slow: environment: `generator.sha256` is eeeeeeeeeeeeeeee, in the first pair bbbbbbbbbbbbbbbb
    ");
}

/// K-079, K-015: another CPU model is another class, whatever the host is called; the classes
/// are named, and no average crosses them.
#[test]
fn machines_of_two_classes_never_average() {
    let mut label = eight();
    assert_eq!(label.compared().tables.hosts.len(), 1);
    label.edit(
        |run| run.block > 5,
        |run| {
            run.identity.host.cpu_model = Some("Other CPU".to_owned());
            run.identity.host.arch = "aarch64".to_owned();
        },
    );
    let comparison = label.compared();
    assert_eq!(throughput(&comparison, "slow").pairs, 5);
    let hosts = &comparison.tables.hosts;
    let described: Vec<&str> = hosts.iter().map(|host| host.description.as_str()).collect();
    assert_eq!(hosts.len(), 2);
    assert!(
        hosts.iter().all(|host| host.id.len() == 8 && host.id != hosts[0].id || host == &hosts[0])
    );
    assert!(
        described.contains(&"Other CPU, aarch64, 4 cores, SMT off, Linux 6.12.0"),
        "{described:?}"
    );
    assert!(
        named(&comparison, "slow").contains("`host.arch` is aarch64, in the first pair x86_64"),
        "{}",
        named(&comparison, "slow")
    );
    let note = comparison.notes.iter().find(|note| note.starts_with("machines of 2 classes"));
    assert!(note.is_some_and(|note| note.contains(&hosts[0].id)), "{:?}", comparison.notes);
}

/// Rule 4: kernel settings as they took effect are part of the environment; a bench may allow a
/// key, and then only that.
#[test]
fn a_kernel_setting_that_changed_leaves_the_pair_out_unless_it_is_allowed() {
    let mut label = eight();
    label.edit(
        |run| run.block == 2,
        |run| {
            run.identity.host.sysctls.insert("net.core.somaxconn".to_owned(), "128".to_owned());
        },
    );
    let comparison = label.compared();
    assert_eq!(throughput(&comparison, "slow").pairs, 7);
    let said = named(&comparison, "slow");
    assert!(
        said.contains("`host.sysctl.net.core.somaxconn` is 128, in the first pair 4096"),
        "{said}"
    );
    for (allow, pairs) in [("host.sysctl", 8), ("host.limit", 7), ("host.sys", 7)] {
        label.registered(&record::plan::Compare {
            allow: vec![allow.to_owned()],
            ..record::plan::Compare::default()
        });
        assert_eq!(throughput(&label.compared(), "slow").pairs, pairs, "{allow}");
    }
}

/// The arms as two JVMs, told apart by a change to the level's command and environment.
fn jvms(
    factor_sets: &[&str],
    change: impl Fn(&mut Vec<String>, &mut BTreeMap<String, String>),
) -> Vec<String> {
    let mut label = eight();
    label.edit(
        |_| true,
        |run| {
            let target = &mut run.identity.effective.target;
            let mut command: Vec<String> =
                ["java", "-Xmx2g", "-XX:+UseG1GC", "-jar", "shop.jar"].map(str::to_owned).into();
            if run.cell == "slow" {
                change(&mut command, &mut target.env);
            }
            target.kind = TargetKind::Command(command);
            let paths = factor_sets.iter().map(|path| (*path).to_owned()).collect();
            run.identity.sets = [("target".to_owned(), paths)].into();
            // A factor of any other name than `target` picks no whole target.
            for level in &mut run.levels {
                level.factor = "option".to_owned();
            }
            if let Some(paths) = run.identity.sets.remove("target") {
                run.identity.sets.insert("option".to_owned(), paths);
            }
        },
    );
    throughput(&label.compared(), "slow").differs.clone()
}

/// K-040: heap, collector, environment and runtime that differ beside what the factor set are
/// named; what it set is not.
#[test]
fn what_differs_beside_the_factor_is_named() {
    let none: [&str; 0] = [];
    assert_eq!(
        jvms(&["target.env.FLAG"], |_, env| {
            env.insert("FLAG".to_owned(), "1".to_owned());
        }),
        none
    );
    assert_eq!(
        jvms(&["target.env.FLAG"], |command, _| command[1] = "-Xmx4g".to_owned()),
        ["heap -Xmx2g and -Xmx4g"]
    );
    assert_eq!(
        jvms(&["target.env.FLAG"], |command, _| command[2] = "-XX:+UseZGC".to_owned()),
        ["collector -XX:+UseG1GC and -XX:+UseZGC"]
    );
    assert_eq!(
        jvms(&["target.env.FLAG"], |command, _| command.push("--verbose".to_owned())),
        ["command java -Xmx2g -XX:+UseG1GC -jar shop.jar and \
          java -Xmx2g -XX:+UseG1GC -jar shop.jar --verbose"]
    );
    assert_eq!(
        jvms(&["target.command"], |_, env| {
            env.insert("JAVA_OPTS".to_owned(), "--xmx 1g --gc zgc".to_owned());
        })
        .last()
        .map(String::as_str),
        Some("environment JAVA_OPTS unset and --xmx 1g --gc zgc")
    );
    assert_eq!(jvms(&["target.command"], |command, _| command[1] = "-Xmx4g".to_owned()), none);
}

#[test]
fn another_runtime_or_commit_on_one_arm_is_named() {
    let mut label = eight();
    label.edit(
        |run| run.cell == "slow",
        |run| {
            let target = run.identity.processes.get_mut("target").unwrap();
            target.version = Some("openjdk 25".to_owned());
            target.sha256 = Some("ee".repeat(32));
            run.identity.assay.commit = "4567cdef".to_owned();
        },
    );
    // The factor `target` picks the program, so that its version is what is compared.
    assert_eq!(throughput(&label.compared(), "slow").differs, Vec::<String>::new());
    label.edit(|_| true, |run| run.levels[0].factor = "option".to_owned());
    assert_eq!(
        throughput(&label.compared(), "slow").differs,
        [
            "binary bbbbbbbb and eeeeeeee",
            "runtime version assay 0.1.0 and openjdk 25",
            "source commit 0123abcd and 4567cdef",
        ]
    );
    assert_eq!(throughput(&label.compared(), "null").differs, Vec::<String>::new());
}
