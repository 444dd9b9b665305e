//! Certificates of generators that are not what they say, each fault planted in kept records.

use std::path::Path;

use record::certificate::{Bounds, Certificate, CertificateOf, Unusable};
use record::foreign::{Figure, ForeignRun, Quantile};
use record::mock::{Arrivals, Stall};
use record::plan::{Generator, GeneratorKind, LevelOf, Model, TargetKind};
use record::seal::{SealError, Sealed};

use super::{Asked, STAGE, certificate};
use crate::own_figures::tests::run as foreign_run;
use crate::samples::{self, SampleRun};

const DAY_NS: u64 = 86_400_000_000_000;

fn level(name: &str, index: u32) -> LevelOf {
    LevelOf { factor: STAGE.to_owned(), ..samples::level(name, index, None) }
}

/// A stage with a sound record of both sides: the generator waits 200 us longer than the mock works.
fn stage(name: &str, order: u32, open: bool) -> SampleRun {
    let mut run = SampleRun::sound(1, order, &level(name, order - 1));
    run.meta.started_unix_ns = Some(1_000_000_000);
    if open {
        run.load = Some(samples::open_load());
        run.meta.effective.load.model = Model::Rate(800.0);
    }
    if let (Some(load), Some(mock)) = (&mut run.load, &run.mock) {
        let later = |ns: Option<u64>| ns.map(|ns| ns + 200_000);
        let truth = &mock.service_ns;
        let said = &mut load.latency_ns;
        (said.p50, said.p90) = (later(truth.p50), later(truth.p90));
        (said.p99, said.p999, said.max) = (later(truth.p99), later(truth.p999), later(truth.max));
    }
    run
}

fn config(run: &mut SampleRun, change: impl Fn(&mut record::mock::MockConfig)) {
    if let TargetKind::Mock(config) = &mut run.meta.effective.target.kind {
        change(config);
    }
}

/// Every stage, sound; a rate of 800/s is the only step.
fn sound() -> Vec<SampleRun> {
    let mut runs = vec![
        stage("steady", 1, true),
        stage("stall", 2, true),
        stage("law", 3, true),
        stage("rate-800", 4, true),
        stage("sleep-10ms", 5, false),
    ];
    config(&mut runs[1], |config| {
        config.stall = Some(Stall { length_ns: 1_000_000_000, period_ns: 5_000_000_000 });
    });
    if let Some(load) = &mut runs[1].load {
        load.latency_ns.p99 = Some(955_000_000);
        load.latency_ns.max = Some(1_001_000_000);
    }
    runs
}

fn certified(runs: &[SampleRun]) -> Certificate {
    let dir = tempfile::tempdir().unwrap();
    for run in runs {
        run.complete(dir.path());
    }
    let asked =
        Asked { age_ns: 30 * DAY_NS, against: Vec::new(), deep: false, bounds: Bounds::default() };
    let mut certificate = certificate(&[dir.path()], &asked).unwrap();
    certificate.runs.clear();
    certificate
}

/// The finding of this name: whether it holds, and its line.
fn finding(certificate: &Certificate, name: &str) -> (Option<bool>, String) {
    let found = certificate.findings.iter().find(|one| one.name == name).unwrap();
    (found.holds, found.detail.clone())
}

#[test]
fn a_generator_that_says_the_truth_holds_in_everything() {
    let certificate = certified(&sound());
    let lines: Vec<String> = certificate
        .findings
        .iter()
        .map(|one| format!("{:?} {}: {}", one.holds, one.name, one.detail))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    Some(true) counts: 132000 requests in 5 runs, the same by both sides
    Some(true) percentiles, open: largest error 2.0 % at p50 of 24000 requests, at most 5.0 %
    Some(true) flatness, open: the error of the median moves by 0 ns (0.0 % of the latency) from 800 to 800/s, at most 5.0 %
    Some(true) stall, open: p99 shows a stall of 1.00 s in every 5.00 s: 955 ms of 960 ms; max 1.00 s
    Some(true) resolution: medians are right to 5.0 % from 9.80 ms on
    Some(true) highest honest rate: 800/s; the ladder ended there
    Some(true) arrivals: dispersion 0.0064 at 800/s over 26399 gaps, at most 0.01
    ");
    assert!(certificate.holds());
    assert_eq!(certificate.honest_per_s, Some(800.0));
    assert_eq!(certificate.resolution_ns, Some(9_800_000));
}

#[test]
fn a_lost_request_is_named_with_both_counts() {
    let mut runs = sound();
    if let Some(load) = &mut runs[0].load {
        load.whole_life.sent -= 1;
    }
    let (holds, line) = finding(&certified(&runs), "counts");
    assert_eq!(holds, Some(false));
    insta::assert_snapshot!(line, @"open steady: sent 26399, the mock read 26400");
}

#[test]
fn a_percentile_that_is_wrong_fails_by_its_name() {
    let mut runs = sound();
    if let Some(load) = &mut runs[0].load {
        load.latency_ns.p99 = Some(12_000_000);
    }
    let (holds, line) = finding(&certified(&runs), "percentiles, open");
    assert_eq!(holds, Some(false));
    insta::assert_snapshot!(line, @"largest error 20.6 % at p99 of 24000 requests, at most 5.0 %");
}

#[test]
fn an_open_loop_that_hides_a_stall_fails_and_a_closed_one_is_told() {
    let mut runs = sound();
    if let Some(load) = &mut runs[1].load {
        load.latency_ns.p99 = Some(4_000_000);
    }
    let (holds, line) = finding(&certified(&runs), "stall, open");
    assert_eq!(holds, Some(false));
    insta::assert_snapshot!(line, @"p99 hides a stall of 1.00 s in every 5.00 s: 4.00 ms of 960 ms; max 1.00 s");
    runs[1].meta.effective.load.model = Model::Users(8);
    let (holds, line) = finding(&certified(&runs), "stall, closed");
    assert_eq!(holds, None);
    assert!(line.contains("hides") && line.contains("as any closed loop"), "{line}");
}

#[test]
fn a_late_or_slow_rate_is_not_honest() {
    let mut runs = sound();
    let mut faster = stage("rate-1600", 6, true);
    faster.meta.effective.load.model = Model::Rate(1_600.0);
    if let Some(load) = &mut faster.load {
        load.planned_per_s = Some(1_600.0);
        load.lag_ns.p99 = Some(900_000);
    }
    runs.push(faster);
    let certificate = certified(&runs);
    assert_eq!(certificate.honest_per_s, Some(800.0));
    insta::assert_snapshot!(finding(&certificate, "highest honest rate").1, @"800/s; the next one: 50.0 % of the rate sent, p99 of the send lag 900 us");
    // A ladder whose first step is doubtful certifies no rate at all.
    if let Some(load) = &mut runs[3].load {
        load.lag_ns.p99 = Some(900_000);
    }
    let none = certified(&runs);
    assert_eq!((none.honest_per_s, finding(&none, "highest honest rate").0), (None, Some(false)));
}

#[test]
fn arrivals_in_lumps_are_no_constant_rate() {
    let mut runs = sound();
    if let Some(mock) = &mut runs[2].mock {
        mock.arrivals = Arrivals { count: 1_000, mean_ns: 1e6, variance_ns2: 0.02e12 };
    }
    let (holds, line) = finding(&certified(&runs), "arrivals");
    assert_eq!(holds, Some(false));
    insta::assert_snapshot!(line, @"dispersion 0.0200 at 800/s over 1000 gaps, at most 0.01");
}

#[test]
fn a_median_that_is_never_right_resolves_nothing() {
    let mut runs = sound();
    if let Some(load) = &mut runs[4].load {
        load.latency_ns.p50 = Some(11_000_000);
    }
    let (holds, line) = finding(&certified(&runs), "resolution");
    assert_eq!(holds, Some(false));
    insta::assert_snapshot!(line, @"no median was right to 5.0 %, up to 9.80 ms");
}

/// The stages as if another generator had loaded them, changed by what it says and how it measures.
fn foreign(change: impl Fn(&mut ForeignRun)) -> Certificate {
    let dir = tempfile::tempdir().unwrap();
    let mut runs = sound();
    // It has no open loop: no law of arrivals, and users for the rate.
    runs.remove(2);
    runs[2] = stage("users-8", 4, false);
    for mut run in runs {
        run.meta.effective.load.model = Model::Users(8);
        run.meta.effective.generator = Generator {
            name: "it".to_owned(),
            kind: GeneratorKind::Adapter("wrk".to_owned()),
            ..Generator::default()
        };
        let load = run.load.as_mut().unwrap();
        let mut said = foreign_run();
        let figure = |value_ns| Figure { value_ns, resolution_ns: 1_000 };
        let latency = &load.latency_ns;
        let own = [(0.5, latency.p50), (0.9, latency.p90), (0.99, latency.p99)];
        said.own.quantiles = own
            .into_iter()
            .filter_map(|(share, ns)| Some(Quantile { share, figure: figure(ns?) }))
            .collect();
        change(&mut said);
        let ns = |share| said.own.quantile(share).map(|figure| figure.value_ns);
        let said_ns = &mut load.latency_ns;
        (said_ns.p50, said_ns.p90, said_ns.p99) = (ns(0.5), ns(0.9), ns(0.99));
        said_ns.p999 = None;
        let path = dir.path().join(record::layout::RUNS).join(&run.meta.run);
        std::fs::create_dir_all(&path).unwrap();
        record::layout::write_json(&path.join(record::layout::FOREIGN), &said).unwrap();
        run.complete(dir.path());
    }
    let asked =
        Asked { age_ns: 30 * DAY_NS, against: Vec::new(), deep: false, bounds: Bounds::default() };
    certificate(&[dir.path()], &asked).unwrap()
}

#[test]
fn another_generator_is_judged_by_what_it_tells() {
    let certificate = foreign(|_| {});
    assert_eq!(certificate.of.generator, "it");
    assert_eq!(finding(&certificate, "percentiles, closed").0, Some(true));
    let line = finding(&certificate, "percentiles, closed").1;
    insta::assert_snapshot!(line, @"largest error 2.0 % at p50 of 24000 requests, at most 5.0 %; not told: p99.9");
    assert!(certificate.holds(), "{:?}", certificate.findings);
    let here = CertificateOf { generator: "assay".to_owned(), ..certificate.of.clone() };
    let why = certificate.usable(&here, certificate.made_unix_ns).unwrap_err();
    insta::assert_snapshot!(why, @"it is of another generator: `it`, here `assay`");
    // Two programs of one name and version are two.
    let other = Some("/opt/it 00".to_owned());
    let here = CertificateOf { generator_program: other, ..certificate.of.clone() };
    assert!(certificate.usable(&here, certificate.made_unix_ns).is_err());
}

#[test]
fn what_a_generator_does_not_tell_is_unknown_and_no_success() {
    let certificate = foreign(|run| run.own.quantiles.clear());
    for (name, why) in [
        ("percentiles, closed", "cannot be judged: it tells no percentile"),
        ("flatness, closed", "cannot be judged: it tells no median"),
        ("resolution", "cannot be judged: it tells no median"),
    ] {
        assert_eq!(finding(&certificate, name), (None, why.to_owned()));
    }
    let (holds, line) = finding(&certificate, "stall, closed");
    assert_eq!(holds, None);
    insta::assert_snapshot!(line, @"cannot be judged: it tells no p99 of a stall of 1.00 s in every 5.00 s; max 1.00 s");
    assert!(!certificate.holds());
    assert_eq!(certificate.resolution_ns, None);
}

/// Figures in steps of a millisecond are within a step of the truth, and within 5 % by luck alone.
#[test]
fn rounding_is_no_error_and_no_evidence() {
    let rounded = |step_ns: u64| {
        foreign(move |run| {
            for one in &mut run.own.quantiles {
                let figure = &mut one.figure;
                figure.value_ns = figure.value_ns / step_ns * step_ns;
                figure.resolution_ns = step_ns;
            }
        })
    };
    let coarse = rounded(1_000_000);
    let (holds, line) = finding(&coarse, "percentiles, closed");
    assert_eq!(holds, None);
    insta::assert_snapshot!(line, @"cannot be judged: its percentiles are in steps of 1.00 ms, above 5.0 %");
    let (holds, line) = finding(&coarse, "resolution");
    assert_eq!(holds, Some(false));
    insta::assert_snapshot!(line, @"no median was right to 5.0 %, up to 9.80 ms; they are in steps of 1.00 ms");
    let fine = rounded(100_000);
    assert_eq!(finding(&fine, "percentiles, closed").0, Some(true));
    assert_eq!(finding(&fine, "resolution").0, Some(true));
}

#[test]
fn a_stall_that_was_made_up_is_told_as_that() {
    let added = |adds: bool| {
        let certificate = foreign(move |run| run.habits.adds_samples = adds);
        finding(&certificate, "stall, closed")
    };
    let (holds, line) = added(true);
    assert_eq!(holds, None);
    insta::assert_snapshot!(line, @"p99 shows a stall of 1.00 s in every 5.00 s: 955 ms of 960 ms; max 1.00 s (by samples that it adds and never sent)");
    // The same figures by a tool that measured them.
    assert_eq!(added(false).0, Some(true));
}

#[test]
fn a_count_that_differs_has_both_counts_of_another_generator() {
    let certificate = foreign(|run| run.own.requests -= 3);
    let (holds, line) = finding(&certificate, "counts");
    assert_eq!(holds, Some(true));
    insta::assert_snapshot!(line, @"105600 requests in 4 runs, apart by 12, no more than what its ends cut");
}

/// A stage without records is no stage that went well.
#[test]
fn absent_evidence_fails() {
    let mut runs = sound();
    runs[0].load = None;
    runs[2].mock = None;
    let certificate = certified(&runs);
    assert_eq!(finding(&certificate, "percentiles, open").0, Some(false));
    assert_eq!(finding(&certificate, "arrivals").0, Some(false));
}

#[test]
fn a_changed_file_an_old_one_and_one_of_another_host_say_nothing() {
    let certificate = certified(&sound());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("c.json");
    let write = |certificate: &Certificate| {
        record::layout::write_json(&path, certificate).unwrap();
        Certificate::read(Path::new(&path))
    };
    // The runs were taken out of this one, so that it is sealed anew.
    let certificate = certificate.sealed();
    assert_eq!(write(&certificate).unwrap(), certificate);
    let mut changed = certificate.clone();
    changed.honest_per_s = Some(1e6);
    assert!(matches!(write(&changed), Err(SealError::Changed { .. })));

    let here = certificate.of.clone();
    assert_eq!(certificate.usable(&here, certificate.made_unix_ns), Ok(()));
    let late = certificate.made_unix_ns + 30 * DAY_NS;
    assert_eq!(certificate.usable(&here, late), Err(Unusable::Expired));
    let mut other = here.clone();
    other.kernel = "7.0.0".to_owned();
    let why = certificate.usable(&other, certificate.made_unix_ns).unwrap_err();
    insta::assert_snapshot!(why, @"it is of another kernel: `6.12.0`, here `7.0.0`");
    other = here;
    other.transport = "p1".to_owned();
    assert!(certificate.usable(&other, certificate.made_unix_ns).is_err());
}
