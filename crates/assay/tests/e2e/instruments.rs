//! What the instruments take out of a figure: start-up from unit costs, the mock's own overshoot from
//! an effect, a cold start by a discarded run, a tier that is really the one asked for.

use record::compare::Comparison;
use record::digest::Digest;
use record::plan::RunKind;

use crate::support::{self, Bench, Lab, quoted};

/// Burns 300 ms of CPU before its first request and 2 ms for each.
const BURNER: &str = r#"
import http.client, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
address, count = sys.argv[1], int(sys.argv[2])
burn(0.3)
connection = http.client.HTTPConnection(address)
for _ in range(count):
    burn(0.002)
    connection.request("GET", "/")
    connection.getresponse().read()
print("n=%d" % count)
"#;

fn compared(lab: &Lab, label: &str) -> Comparison {
    let path = lab.label(label);
    let ran = lab.assay(&["compare", path.to_str().expect("a path"), "--json", "-"]);
    let ran = ran.expect_one_of(&[0, 3]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
}

fn digests(lab: &Lab, label: &str) -> Vec<Digest> {
    let runs = lab.label(label).join("runs");
    lab.runs(label).iter().map(|run| support::digest(&runs.join(run))).collect()
}

/// K-053: a child with a known burn at its start and for each request, at two sizes.
#[test]
fn what_a_generator_costs_once_is_told_from_what_each_request_costs() {
    let lab = Lab::new();
    lab.write("burner.py", BURNER);
    let script = lab.path().join("burner.py");
    let command = format!(
        "command = [\"python3\", {}, \"{{address}}\", \"{{count}}\"]\n\
         patterns = [\"n=(?<requests>[0-9]+)\"]",
        quoted(script.to_str().expect("a path"))
    );
    let bench = Bench::mock()
        .load("users", "1")
        .load("warmup", "0")
        .load("measure", "40")
        .target("mock.latency", "\"1ms\"")
        .matrix("blocks", "6")
        .matrix("warmup_run", "false")
        .more(&format!("[generator.it]\n{command}\n"))
        .factor("size", &[("small", "{}"), ("large", "{ load.measure = 160 }")]);
    lab.run(&bench, "costs", &[]).expect_one_of(&[0, 3]);
    let comparison = compared(&lab, "costs");
    let [costs] = &comparison.tables.unit_costs[..] else {
        panic!("{:?}", comparison.tables.unit_costs)
    };
    let primary = comparison.contrasts.iter().filter(|one| one.primary);
    let left_out: Vec<_> = primary.flat_map(|one| &one.left_out).collect();
    assert!(left_out.is_empty(), "every run counts: {left_out:?}");
    assert_eq!((costs.pairs, costs.small_requests, costs.large_requests), (6, 40.0, 160.0));
    let (once, each) = (costs.start_up_ns.value, costs.marginal_ns.value);
    // Lower bounds: what is burnt is burnt; the interpreter and the request come on top.
    assert!(each >= 1_900_000.0, "{costs:?}");
    assert!(once >= 200_000_000.0, "{costs:?}");
    // Of the small run's CPU for each request most is start-up: 300 ms over 40 requests.
    assert!(costs.overstated_percent.is_some_and(|percent| percent > 50.0), "{costs:?}");
    let shown = lab.assay(&["compare", lab.label("costs").to_str().expect("a path")]);
    let shown = shown.expect_one_of(&[0, 3]).stdout;
    assert!(shown.contains("unit costs of the generator's CPU by two sizes"), "{shown}");
    lab.assert_nothing_runs();
}

/// K-108, K-195: a mock that sleeps longer for one arm; without that the arms are alike.
#[test]
fn a_mock_that_sleeps_longer_for_one_arm_is_corrected_for() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .load("warmup", "5")
        .load("measure", "60")
        .target("mock.latency", "\"20ms\"")
        .matrix("blocks", "6")
        .matrix("warmup_run", "false")
        .factor("arm", &[("plain", "{}"), ("biased", "{ target.mock.bias = \"20ms\" }")])
        .more("[compare]\nprimary = \"p50\"");
    lab.run(&bench, "bias", &[]).expect_one_of(&[0, 1, 3]);
    let comparison = compared(&lab, "bias");
    let parity = comparison.tables.sleep.iter().find(|one| one.metric == "p50");
    let parity = parity.unwrap_or_else(|| panic!("{:?}", comparison.tables.sleep));
    assert_eq!(parity.pairs, 6);
    // A sleep is never short: 40 ms at least, and of that nothing was asked beyond 20.
    assert!(parity.level_slept_ns >= 40e6, "{parity:?}");
    assert!(parity.raw_percent - parity.corrected_percent > 25.0, "{parity:?}");
    assert!(parity.words.contains("the raw figure favours `plain`"), "{parity:?}");
    assert_eq!(parity.headline_percent, parity.raw_percent, "the less favourable to the level");
}

/// E-027: a mock that answers ten times as slowly in its first 5 s. The run that is kept has that in
/// its figures; where the first run is discarded, none has.
#[test]
fn a_discarded_first_run_takes_the_cold_start_with_it() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .load("users", "1")
        .load("warmup", "\"0s\"")
        .load("measure", "\"5500ms\"")
        .target("mock.latency", "\"10ms\"")
        .target("mock.cold", "\"5s:10x\"")
        .target("fresh", "\"matrix\"")
        .matrix("blocks", "2");
    lab.run(&bench, "kept", &["matrix.warmup_run=false"]).expect_one_of(&[0, 3]);
    lab.run(&bench, "discarded", &["matrix.warmup_run=true"]).expect_one_of(&[0, 3]);
    // What was asked for is the mock's plan, which no busy machine changes.
    let asked_beyond = |label: &str| -> Vec<bool> {
        let counting: Vec<Digest> = digests(&lab, label)
            .into_iter()
            .filter(|digest| digest.kind == RunKind::Measured)
            .collect();
        let beyond = |digest: &Digest| {
            let sleep = &digest.mock.as_ref().expect("a mock").sleep;
            sleep.asked_ns > 10_000_000 * sleep.slept_ns.count
        };
        counting.iter().map(beyond).collect()
    };
    assert_eq!(asked_beyond("kept"), [true, false], "the arm that leads pays for the start");
    assert_eq!(asked_beyond("discarded"), [false, false]);
    let comparison = compared(&lab, "discarded");
    assert!(
        comparison.notes.iter().any(|note| note.starts_with("warm-up runs, discarded: ")),
        "{:?}",
        comparison.notes
    );
}

/// E-026: on one port, another mock for each tier, and each answers at its own.
#[test]
fn every_tier_has_a_mock_of_its_own() {
    let lab = Lab::new();
    let port = support::free_port();
    let bench = Bench::mock()
        .load("warmup", "2")
        .load("measure", "10")
        .target("address", &format!("\"127.0.0.1:{port}\""))
        .matrix("blocks", "2")
        .matrix("warmup_run", "false")
        .factor(
            "tier",
            &[
                ("near", "{ target.mock.latency = \"10ms\" }"),
                ("far", "{ target.mock.latency = \"50ms\" }"),
            ],
        );
    lab.run(&bench, "tiers", &[]).expect_one_of(&[0, 3]);
    let digests = digests(&lab, "tiers");
    assert_eq!(digests.len(), 4);
    for digest in &digests {
        let mock = digest.mock.as_ref().expect("a mock");
        let asked_ns = if digest.cell == "near" { 10_000_000 } else { 50_000_000 };
        assert_eq!(mock.sleep.asked_ns, asked_ns * mock.sleep.slept_ns.count, "{}", digest.run);
        assert!(mock.config.listen.ends_with(&format!(":{port}")), "{}", mock.config.listen);
        assert!(digest.validity.reasons.iter().all(|reason| reason.gate != "mock_tier"));
    }
}
