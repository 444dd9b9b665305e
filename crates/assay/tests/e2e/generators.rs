//! Foreign generators as workloads: each one live against the mock at small size, two of them in
//! pairs, and planted faults, each void by its name.
//!
//! The programs are those that `scripts/test` installs; one that is missing fails its test.

use std::path::Path;

use record::digest::Digest;
use record::foreign::ForeignRun;
use record::layout;
use record::mock::MockRecord;
use record::{Effect, State};

use crate::support::{self, ASSAY, Bench, Lab, Ran, Running, quoted, reason, tripped};

/// A bench of one generator whose windows are a second.
fn bench(generator: &str) -> Bench {
    Bench::mock()
        .load("users", "3")
        .load("warmup", "\"1s\"")
        .load("measure", "\"1s\"")
        .target("mock.latency", "\"5ms\"")
        .gates("window", "\"1ms\"")
        .gates("truncated", "\"0%\"")
        .more(&format!("[generator.it]\n{generator}\n"))
}

/// Runs with the programs that Python brought on the path.
fn run(lab: &Lab, bench: &Bench, label: &str, sets: &[&str]) -> Ran {
    lab.write("bench.toml", &bench.toml());
    let mut arguments = vec!["run", "bench.toml", "--label", label];
    for set in sets {
        arguments.extend(["--set", set]);
    }
    let mut command = lab.command(ASSAY, &arguments);
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-python/bin");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", python.display()));
    Running::start(command).finish()
}

fn foreign(digest: &Digest) -> &ForeignRun {
    digest.foreign.as_ref().expect("what the generator said")
}

fn mock(digest: &Digest) -> &MockRecord {
    digest.mock.as_ref().expect("the mock's record")
}

/// A tool live: valid, its count reconciled with the mock's, throughput by the mock, CPU by the
/// kernel, the connection shape as asked.
fn live(adapter: &str, quantiles: bool) -> Digest {
    let lab = Lab::new();
    run(&lab, &bench(&format!("adapter = \"{adapter}\"")), "live", &[]).expect(0);
    lab.assert_nothing_runs();
    let digest = lab.only_digest("live");
    assert_eq!(tripped(&digest), [""; 0], "{:#?}", digest.validity);
    let (run, mock) = (foreign(&digest), mock(&digest));
    let load = digest.load.as_ref().expect("a load record");
    assert_eq!(run.adapter, adapter);
    assert!(run.own.requests > 0, "{run:?}");
    assert!(run.own.requests.abs_diff(mock.served + mock.failed) <= run.tolerance_requests);
    // Throughput is the mock's: its successes over its window.
    let throughput = digest.metrics["throughput"].value.expect("a throughput");
    assert_eq!(load.succeeded, mock.served);
    assert!((throughput - mock.served as f64 * 1e9 / mock.window_ns as f64).abs() < 1e-6);
    // Nothing of the warm-up is in the window.
    let warmup = run.warmup.as_ref().expect("a warm-up");
    assert!(warmup.witnessed.expect("a mock") > 0);
    // The CPU is the kernel's account of the whole tree.
    assert!(run.cpu_user_ns + run.cpu_sys_ns > 0);
    let per_request = digest.metrics["generator.cpu_per_request"].value.expect("CPU per request");
    let all = (run.cpu_user_ns + run.cpu_sys_ns) as f64 / mock.served as f64;
    assert!((per_request - all).abs() < 1.0, "{per_request} {all}");
    assert_eq!(run.own.quantile(0.5).is_some(), quantiles, "{:?}", run.own);
    // 5 ms are slept for each request: no tool can see less than its own rounding.
    if let Some(p50) = run.own.quantile(0.5) {
        assert!(p50.value_ns + p50.resolution_ns >= 5_000_000, "{p50:?}");
    }
    let markdown =
        std::fs::read_to_string(lab.only_run("live").join(layout::DIGEST_MD)).expect("a digest");
    assert!(markdown.contains("## Generator's own figures"), "{markdown}");
    digest
}

#[test]
fn wrk_live() {
    let digest = live("wrk", true);
    assert!(foreign(&digest).own.quantile(0.9999).is_some(), "by the generated script");
    assert!(foreign(&digest).own.version.as_deref().is_some_and(|v| v.contains("wrk")));
}

#[test]
fn k6_live() {
    let digest = live("k6", true);
    // It waits for what is in flight: nothing may differ.
    assert_eq!(foreign(&digest).tolerance_requests, 0);
}

#[test]
fn h2load_live() {
    live("h2load", true);
}

#[test]
fn hey_live() {
    live("hey", true);
}

#[test]
fn ab_live() {
    live("ab", true);
}

#[test]
fn siege_live() {
    let digest = live("siege", false);
    // It has no quantiles, and its mean is in steps of 10 ms.
    assert!(digest.metrics["p50"].value.is_none());
}

#[test]
fn locust_live() {
    // Its second begins before its users do.
    live("locust", true);
}

/// oha is built from its crate, which takes minutes, so it is there in the long form alone; where it is
/// not, the matrix is refused by its name.
#[test]
fn oha_live() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| folder.join("oha").is_file());
    if is_there || std::env::var_os("ASSAY_LONG").is_some() {
        live("oha", true);
        return;
    }
    let ran = run(&Lab::new(), &bench("adapter = \"oha\""), "none", &[]).expect(5);
    assert!(ran.stderr.contains("generator `it`: no program `oha`"), "{}", ran.stderr);
}

#[test]
fn a_connection_for_each_request_is_seen_at_the_mock() {
    let lab = Lab::new();
    let bench = bench("adapter = \"hey\"").load("connections", "\"new\"");
    run(&lab, &bench, "new", &[]).expect(0);
    let digest = lab.only_digest("new");
    let (ports, requests) = (mock(&digest).distinct_peer_ports, mock(&digest).served);
    assert!(ports > 3 && ports.abs_diff(requests) <= 3 + requests / 100, "{ports} {requests}");
}

#[test]
fn k6_and_wrk_meet_in_pairs_on_the_same_mock() {
    let lab = Lab::new();
    lab.write(
        "get.js",
        "import http from 'k6/http';\nexport default function () { http.get(__ENV.ASSAY_URL); }\n",
    );
    let bench = bench("adapter = \"wrk\"")
        .matrix("blocks", "2")
        .target("fresh", "\"change\"")
        .more("[generator.k6]\nadapter = \"k6\"\nscript = \"get.js\"\n")
        .more("[factors]\ngenerator = [\"it\", \"k6\", \"null\", \"null-k6\"]\n");
    run(&lab, &bench, "pairs", &[]).expect(0);
    let runs = lab.label("pairs").join(layout::RUNS);
    let digests: Vec<Digest> = support::names(&runs)
        .iter()
        .map(|name| support::digest(&runs.join(name)))
        .filter(|digest| digest.kind == record::plan::RunKind::Measured)
        .collect();
    assert_eq!(digests.len(), 8);
    for digest in &digests {
        assert_eq!(digest.validity.state, State::Valid, "{:#?}", digest.validity);
        // The shape of each arm: users, and the one that wrk may have tried first.
        let most = if foreign(digest).adapter == "wrk" { 4 } else { 3 };
        assert!((3..=most).contains(&mock(digest).distinct_peer_ports), "{}", digest.run);
    }
    let matrix: record::compare::Matrix =
        support::read(&lab.label("pairs").join(layout::MATRIX_JSON));
    let contrasts = &matrix.contrasts;
    let throughput: Vec<_> = contrasts.iter().filter(|c| c.metric == "throughput").collect();
    let levels: Vec<(&str, u32)> = throughput.iter().map(|c| (c.level.as_str(), c.pairs)).collect();
    assert_eq!(levels, [("k6", 2), ("null", 2), ("null-k6", 2)]);
    assert!(contrasts.iter().any(|c| c.metric == "generator.cpu_per_request" && c.pairs == 2));
}

/// A shell script that asks the mock `n` times and prints what it is told to.
fn command(requests: u32, says: &str) -> String {
    format!(
        "command = [\"sh\", \"-c\", {}]\npatterns = [\"n=(?<requests>[0-9]+) p50=(?<p50>[0-9.a-z]+)\"]",
        quoted(&format!("hey -c 3 -n {requests} \"$ASSAY_URL\" > hey.txt; {says}"))
    )
}

#[test]
fn a_generator_that_lies_is_void_by_name() {
    let lab = Lab::new();
    let honest = bench(&command(60, "echo n=60 p50=9ms")).load("measure", "60");
    run(&lab, &honest, "honest", &[]).expect(0);
    assert_eq!(tripped(&lab.only_digest("honest")), [""; 0]);
    let lying = bench(&command(60, "echo n=6000 p50=1ms")).load("measure", "60");
    run(&lab, &lying, "lying", &[]).expect(3);
    let digest = lab.only_digest("lying");
    assert_eq!(tripped(&digest), ["counts_disagree"]);
    let said = &reason(&digest, "counts_disagree").detail;
    assert!(said.contains("says 6000 requests, the mock saw 60"), "{said}");
    // Its latency lies below what the mock slept, and nothing explains that.
    assert!(reason(&digest, "own_figures").detail.contains("`p50`"));
    assert_eq!(reason(&digest, "own_figures").effect, Effect::Flag);
    // Throughput is the mock's all the same.
    assert_eq!(digest.load.as_ref().expect("a load record").succeeded, 60);
}

#[test]
fn a_generator_that_dies_or_prints_garbage_is_void_by_name() {
    let lab = Lab::new();
    for (label, script, words) in [
        ("dies", "echo cannot go on >&2; exit 7", "exited with code 7: cannot go on"),
        ("garbage", "echo all went well", "has no match of `n="),
        ("silent", "true", "printed nothing"),
        ("none", "echo n=0 p50=5ms", "reports no request at all"),
    ] {
        let generator = format!(
            "command = [\"sh\", \"-c\", {}]\npatterns = [\"n=(?<requests>[0-9]+)\"]",
            quoted(script)
        );
        run(&lab, &bench(&generator).load("warmup", "\"0s\""), label, &[]).expect(3);
        let digest = lab.only_digest(label);
        assert_eq!(tripped(&digest), ["generator_failed", "absent_evidence"], "{label}");
        let said = &reason(&digest, "generator_failed").detail;
        assert!(said.contains("generator `it`") && said.contains(words), "{label}: {said}");
    }
    lab.assert_nothing_runs();
}

/// Before anything is started; and a mock alone is not held up by the same empty path.
#[test]
fn a_program_that_is_not_there_refuses_the_matrix() {
    let lab = Lab::new();
    let command = "command = [\"no-such-generator\"]\npatterns = [\"n=(?<requests>[0-9]+)\"]";
    for (generator, program) in [(command, "no-such-generator"), ("adapter = \"wrk\"", "wrk")] {
        lab.write("bench.toml", &bench(generator).toml());
        let mut command = lab.command(ASSAY, &["run", "bench.toml", "--label", "none"]);
        command.env("PATH", lab.path());
        let ran = Running::start(command).finish().expect(5);
        let said = format!("generator `it`: no program `{program}`");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        assert!(!lab.label("none").exists());
    }
    lab.write("bench.toml", &Bench::mock().toml());
    let mut command = lab.command(ASSAY, &["run", "bench.toml", "--label", "mock"]);
    command.env("PATH", lab.path());
    Running::start(command).finish().expect(0);
}

#[test]
fn a_generator_with_the_wrong_connections_is_void_by_name() {
    let lab = Lab::new();
    // Asked to keep its connections, and told behind assay's back to close them.
    run(&lab, &bench("adapter = \"hey\"\nargs = [\"-disable-keepalive\"]"), "wrong", &[]).expect(3);
    let digest = lab.only_digest("wrong");
    assert_eq!(tripped(&digest), ["ports_at_mock"]);
    assert!(reason(&digest, "ports_at_mock").detail.contains("(`== 3`"));
    // And the other way round: asked for a connection each, a command keeps them.
    let lab = Lab::new();
    let command = "command = [\"hey\", \"-c\", \"{users}\", \"-z\", \"{seconds}s\", \"{url}\"]\n\
                   patterns = ['\\[200\\]\\s+(?<requests>[0-9]+) responses']";
    run(&lab, &bench(command).load("connections", "\"new\""), "kept", &[]).expect(3);
    let digest = lab.only_digest("kept");
    assert_eq!(tripped(&digest), ["ports_at_mock"], "{:#?}", digest.validity);
    assert!(reason(&digest, "ports_at_mock").detail.contains("(`~= "));
}

#[test]
fn a_foreign_generator_without_a_mock_has_no_witness() {
    let lab = Lab::new();
    let script = "exec \"$ASSAY\" mock --listen 127.0.0.1:$PORT --latency 2ms --body-size 26";
    let bench = Bench::script(script)
        .load("users", "3")
        .load("measure", "\"1s\"")
        .more("[generator.it]\nadapter = \"hey\"\n");
    run(&lab, &bench, "alone", &[]).expect(0);
    let digest = lab.only_digest("alone");
    assert_eq!(reason(&digest, "no_witness").effect, Effect::Flag);
    let load = digest.load.as_ref().expect("a load record");
    assert_eq!(load.succeeded, foreign(&digest).own.requests);
}
