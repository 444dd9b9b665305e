//! `assay plan --resolve`: a pilot says whether a plan can see an effect, before it is carried out
//! (E-002, K-083, K-084, D3).

use evidence::samples::{self, SampleRun, level};
use record::layout;
use record::plan::{Compare, Gates};
use record::resolution::Resolution;

use crate::support::{Bench, Lab};

/// A pilot of eight pairs of a null whose throughput scatters with a standard deviation of `sd` on
/// the log scale, as run directories made by hand.
fn pilot(lab: &Lab, name: &str, sd: f64) {
    const PAIRS: u32 = 8;
    let label = lab.path().join(name);
    // Half of the pairs at +1 and half at -1 have the sample sd sqrt(n / (n - 1)).
    let step = sd * (f64::from(PAIRS - 1) / f64::from(PAIRS)).sqrt();
    for block in 1..=PAIRS {
        for (order, cell) in [(1, "base"), (2, "null")] {
            let of = level(cell, order - 1, (cell == "null").then_some("base"));
            let mut run = SampleRun::sound(block, order, &of);
            run.meta.identity_sha256 = "one and the same".to_owned();
            let dir = label.join(layout::RUNS).join(&run.meta.run);
            run.write(&dir);
            let mut digest = evidence::digest(&dir, &Gates::default(), &Compare::default())
                .expect("a sample run has a digest");
            let sign = if block % 2 == 0 { 1.0 } else { -1.0 };
            let log = if cell == "null" { sign * step } else { 0.0 };
            if let Some(metric) = digest.metrics.get_mut("throughput") {
                metric.value = metric.value.map(|value| value * f64::exp(log));
            }
            samples::write_digest(&dir, &digest);
        }
    }
    layout::write_json(&label.join(layout::PLAN), &samples::plan(&["base", "null"], PAIRS))
        .expect("a file of the test");
}

fn bench() -> Bench {
    Bench::mock()
        .load("measure", "\"30s\"")
        .load("cooldown", "\"1s\"")
        .matrix("blocks", "12")
        .factor(
            "latency",
            &[
                ("base", "{}"),
                ("slower", "{ target.mock.latency = \"6ms\" }"),
                ("null", "\"base\""),
            ],
        )
}

/// Without the host, which is the machine's own.
fn answer(stdout: &str) -> String {
    let lines = stdout.lines().filter(|line| !line.starts_with("host "));
    lines.collect::<Vec<_>>().join("\n")
}

/// A null with 4 % spread and an effect of half a percent: more pairs are not the remedy.
#[test]
fn a_noisy_machine_is_told_to_be_quiet() {
    let lab = Lab::new();
    lab.write("bench.toml", &bench().toml());
    pilot(&lab, "noisy", 0.04);
    let arguments =
        ["plan", "bench.toml", "--resolve", "0.5%", "--pilot", "noisy", "--price", "1.16/h"];
    let ran = lab.assay(&arguments).expect(3);
    insta::assert_snapshot!(answer(&ran.stdout), @"
    bench: can it see 0.5 %?  by the spread of pilot sample, two-sided error 5 %, power 80 %

    contrast                  metric      n   sd  sd, at most  pairs needed  12 pairs see
    target: null / base in *  throughput  8  4 %       5.41 %           927        4.92 %

             pairs      time      disk  price at 1.16/h
    planned     12  18.8 min  4.36 MiB             0.36
    needed     928    24.2 h   337 MiB            28.08

    not on this host: 0.5 % needs 927 pairs, more than 40 are out of reach
    quieten the machine before adding pairs: half the noise is worth four times the pairs;
    at a spread of 1.1 % instead of 5.41 % 40 pairs would do
    ");
    let json = lab.assay(&[&arguments[..], &["--json", "-"]].concat()).expect(3);
    let resolution: Resolution = serde_json::from_str(&json.stdout).expect("one document");
    assert_eq!((resolution.word.as_str(), resolution.pairs_needed), ("not_here", Some(927)));
    assert!(!lab.path().join("results").exists(), "a plan starts and writes nothing");
}

#[test]
fn a_quiet_machine_gets_a_plan() {
    let lab = Lab::new();
    lab.write("bench.toml", &bench().toml());
    pilot(&lab, "quiet", 0.01);
    let of = |effect: &str, code| {
        let arguments = ["plan", "bench.toml", "--resolve", effect, "--pilot", "quiet"];
        answer(&lab.assay(&arguments).expect(code).stdout)
    };
    insta::assert_snapshot!(of("2%", 0), @"
    bench: can it see 2 %?  by the spread of pilot sample, two-sided error 5 %, power 80 %

    contrast                  metric      n   sd  sd, at most  pairs needed  12 pairs see
    target: null / base in *  throughput  8  1 %       1.35 %             6        1.21 %

             pairs      time      disk
    planned     12  18.8 min  4.36 MiB

    yes: the 12 planned pairs see 2 %; 6 would
    ");
    // Smaller than twelve pairs can see, and not out of reach.
    insta::assert_snapshot!(of("0.8%", 3), @"
    bench: can it see 0.8 %?  by the spread of pilot sample, two-sided error 5 %, power 80 %

    contrast                  metric      n   sd  sd, at most  pairs needed  12 pairs see
    target: null / base in *  throughput  8  1 %       1.35 %            25        1.21 %

             pairs      time      disk
    planned     12  18.8 min  4.36 MiB
    needed      26  40.7 min  9.45 MiB

    with more pairs: 0.8 % needs 25, planned are 12; write `--blocks 26`
    ");
}

#[test]
fn what_cannot_be_asked() {
    let lab = Lab::new();
    lab.write("bench.toml", &bench().toml());
    pilot(&lab, "quiet", 0.01);
    for wrong in [
        &["--resolve", "2%"][..],
        &["--pilot", "quiet"],
        &["--price", "1/h"],
        &["--resolve", "2", "--pilot", "quiet"],
        &["--resolve", "0%", "--pilot", "quiet"],
        &["--resolve", "2%", "--pilot", "quiet", "--price", "1.16"],
        &["--resolve", "2%", "--pilot", "nowhere"],
    ] {
        lab.assay(&[&["plan", "bench.toml"][..], wrong].concat()).expect(2);
    }
}
