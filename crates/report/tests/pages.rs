//! Every page as it is, from records made by hand.

use std::collections::BTreeMap;

use evidence::samples::{self, SampleRun, level};
use record::compare::{Comparison, Contrast, LeftOut, Tables};
use record::digest::Digest;
use record::load::{FailureSample, LoadRecord};
use record::meta::{Outcome, OutcomeState};
use record::plan::{Compare, Gates, Level};
use record::status::{RunState, RunStatus, Status};
use record::{Format, Summary};
use report::{Show, comparison_table, digest_md, load_table, matrix_md, plan_text, status_text};

fn judged(mut load: LoadRecord) -> LoadRecord {
    load.validity = evidence::judge_load(&load, &Gates::default()).validity();
    load
}

fn digest_of(run: &SampleRun) -> Digest {
    let dir = tempfile::tempdir().unwrap();
    run.write(dir.path());
    evidence::digest(dir.path(), &Gates::default(), &Compare::default()).unwrap()
}

fn contrast(level: &str, cell: &str) -> Contrast {
    Contrast {
        factor: "target".to_owned(),
        baseline: "base".to_owned(),
        level: level.to_owned(),
        cell: cell.to_owned(),
        metric: "throughput".to_owned(),
        unit: "/s".to_owned(),
        higher_is_better: true,
        primary: true,
        pairs: 8,
        baseline_value: Some(801.23),
        level_value: Some(761.4),
        ratio: Some(0.9503),
        effect_percent: Some(-4.97),
        interval_percent: Some([-5.4, -4.5]),
        mean_log_ratio: Some(-0.051),
        sd_log_ratio: Some(0.006),
        verdict: "slower".to_owned(),
        null_arm: Some("null in *".to_owned()),
        margin_percent: Some(2.0),
        minimum_detectable_percent: Some(0.7),
        needed_pairs: Some(6),
        significant: true,
        matters: Some(true),
        alpha: Some(0.05),
        ..Contrast::default()
    }
}

fn null(cell: &str) -> Contrast {
    Contrast {
        level_value: Some(801.9),
        ratio: Some(1.0008),
        effect_percent: Some(0.08),
        interval_percent: Some([-0.31, 0.44]),
        null: true,
        null_arm: None,
        verdict: "equivalent".to_owned(),
        ..contrast("null", cell)
    }
}

fn comparison(contrasts: Vec<Contrast>) -> Comparison {
    Comparison {
        format: Format::v1("assay.comparison"),
        label: "sample".to_owned(),
        contrasts,
        notes: Vec::new(),
        left_out: Vec::new(),
        tables: Tables::default(),
    }
}

#[test]
fn a_comparison_without_doubts_is_a_table() {
    let table =
        comparison_table(&comparison(vec![contrast("slow", "*"), null("*")]), Show::Primary);
    insta::assert_snapshot!(table, @"
    label sample

    target: throughput (primary, margin 2 %)
    ratio = level / base, above 1 is more throughput, so better; effects in % of base
    level  level at  baseline at   ratio   effect   95 % interval  n  verdict
    null    801.9/s      801.2/s  1.0008  +0.08 %  [-0.31, +0.44]  8  equivalent (null)
    slow    761.4/s      801.2/s  0.9503  -4.97 %  [-5.40, -4.50]  8  slower
    ");
}

#[test]
fn every_doubt_has_a_line_and_a_remedy() {
    let undecided = Contrast {
        pairs: 5,
        interval_percent: None,
        verdict: "inconclusive".to_owned(),
        flags: ["uncontrolled", "few_pairs", "odd_pairs"].map(str::to_owned).to_vec(),
        needed_pairs: Some(14),
        minimum_detectable_percent: Some(3.21),
        null_arm: None,
        left_out: vec![LeftOut {
            run: "03-01-slow".to_owned(),
            reason: "void: failures: 1 % of requests failed, more than 0.1 %".to_owned(),
        }],
        ..contrast("slow", "*+64k")
    };
    let mut compared = comparison(vec![contrast("slow", "*+1k"), undecided]);
    compared.notes = vec!["no matrix manifest: warm-up, order unknown".to_owned()];
    compared.left_out = (1..=6)
        .map(|block| LeftOut {
            run: format!("0{block}-01w-base"),
            reason: "warm-up run, discarded".to_owned(),
        })
        .collect();
    insta::assert_snapshot!(comparison_table(&compared, Show::Primary), @"
    label sample

    target: throughput (primary, margin 2 %)
    ratio = level / base, above 1 is more throughput, so better; effects in % of base
    cell   level  level at  baseline at   ratio   effect   95 % interval  n  verdict
    *+1k   slow    761.4/s      801.2/s  0.9503  -4.97 %  [-5.40, -4.50]  8  slower
    *+64k  slow    761.4/s      801.2/s  0.9503  -4.97 %               -  5  inconclusive

    - inconclusive (slow in *+64k): an effect of 2 % needs about 14 pairs; these 5 could show 3.21 %
    - uncontrolled (slow in *+64k): no null contrast of 6 pairs beside it: add `null` to the levels
    - few_pairs (slow in *+64k): no interval under 6 pairs, nor under more at a stricter look: raise `matrix.blocks`
    - odd_pairs (slow in *+64k): an odd number of pairs lets drift load one arm: use an even number of blocks
    - left out 03-01-slow: void: failures: 1 % of requests failed, more than 0.1 %
    - left out 01-01w-base, 02-01w-base, 03-01w-base, 04-01w-base and 2 more: warm-up run, discarded
    - no matrix manifest: warm-up, order unknown
    ");
}

#[test]
fn other_metrics_come_when_asked_for() {
    let latency = Contrast {
        metric: "p99".to_owned(),
        unit: "ns".to_owned(),
        higher_is_better: false,
        primary: false,
        baseline_value: Some(10_250_000.0),
        level_value: Some(10_790_000.0),
        margin_percent: Some(5.0),
        verdict: "inconclusive".to_owned(),
        ..contrast("slow", "*")
    };
    let compared = comparison(vec![contrast("slow", "*"), latency]);
    assert!(!comparison_table(&compared, Show::Primary).contains("p99"));
    insta::assert_snapshot!(comparison_table(&compared, Show::All), @"
    label sample

    target: throughput (primary, margin 2 %)
    ratio = level / base, above 1 is more throughput, so better; effects in % of base
    level  level at  baseline at   ratio   effect   95 % interval  n  verdict
    slow    761.4/s      801.2/s  0.9503  -4.97 %  [-5.40, -4.50]  8  slower

    target: p99 (exploratory, margin 5 %)
    ratio = level / base, above 1 is more p99, so worse; effects in % of base
    level  level at  baseline at   ratio   effect   95 % interval  n  verdict
    slow    10.8 ms      10.2 ms  0.9503  -4.97 %  [-5.40, -4.50]  8  inconclusive

    target: throughput, significant and large enough to matter
    t interval of the mean beside that of ranks; effects in % of the baseline
    level  significant  matters  p  p by Holm  t interval  n  could show  needs pairs
    slow   yes          yes      -    primary           -  8      0.70 %            6

    target: throughput, noise and order
    in % of the baseline; noise sd: without the order effect, which is what running second adds
    level     mean +/- sd  noise sd  identical runs  order effect  carry-over
    slow   -4.97 +/- 0.60         -               -             -           -

    target: p99, significant and large enough to matter
    t interval of the mean beside that of ranks; effects in % of the baseline
    level  significant  matters  p  p by Holm  t interval  n  could show  needs pairs
    slow   yes          yes      -          -           -  8      0.70 %            6

    target: p99, noise and order
    in % of the baseline; noise sd: without the order effect, which is what running second adds
    level     mean +/- sd  noise sd  identical runs  order effect  carry-over
    slow   -4.97 +/- 0.60         -               -             -           -

    - inconclusive (p99 of slow in *): an effect of 5 % needs about 6 pairs; these 8 could show 0.70 %
    ");
}

#[test]
fn long_names_never_make_a_table_wider_than_a_hundred_columns() {
    let name = "a".repeat(40);
    let wide = Contrast { baseline: name.clone(), ..contrast(&name, &format!("*+{name}")) };
    let table = comparison_table(&comparison(vec![wide, contrast("slow", "*")]), Show::Primary);
    for line in table.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(table.contains("slower") && table.contains("-4.97 %"));
}

#[test]
fn a_closed_loop_on_the_terminal() {
    insta::assert_snapshot!(load_table(&judged(samples::load())), @"
    model        closed, 8 users, each waits for its answer
    clock        from the first byte sent to the last byte received
    window       30.0 s of 30.0 s
    requests     due 24,000, sent 24,000, succeeded 24,000, failed 0
    rate         800.0/s succeeded

             latency  service
    samples   24,000   24,000
    min      5.00 ms  4.95 ms
    mean     10.0 ms  9.90 ms
    p50      10.0 ms  9.90 ms
    p90      12.0 ms  11.9 ms
    p95      13.0 ms  12.9 ms
    p99      20.0 ms  19.8 ms
    p99.9    30.0 ms  29.7 ms
    max      40.0 ms  39.6 ms

    connections  8 opened, 8 ports, at most 8 at once (bound 8)
    generator    0.10 of 1 cores, 125 us CPU per request
    balance      0 ns (0 %) of each loop is outside the request
    validity     valid
    ");
}

#[test]
fn an_open_loop_in_trouble_on_the_terminal() {
    let mut load = samples::open_load();
    load.planned_per_s = Some(6_000.0);
    load.due = 24_100;
    load.unsent = 70;
    load.sent = 24_030;
    load.succeeded = 23_000;
    load.failed = 1_000;
    load.unfinished = 30;
    load.failures = BTreeMap::from([("status".to_owned(), 900), ("timeout".to_owned(), 100)]);
    load.failed_latency_ns = Summary { p999: None, ..samples::summary(1_000, 2_000_000) };
    load.failure_samples = vec![FailureSample {
        kind: "status".to_owned(),
        status: Some(503),
        detail: "expected status 200, got 503".to_owned(),
        body: "overloaded".to_owned(),
    }];
    load.queued_peak = 1_234;
    load.workers.clear();
    insta::assert_snapshot!(load_table(&judged(load)), @"
    model        open, 6,000/s in total, whoever answers
    clock        from the due instant to the last byte received
    window       30.0 s of 30.0 s
    requests     due 24,100, sent 24,030, succeeded 23,000, failed 1,000
    censored     unsent 70, unfinished 30
    rate         800.0/s succeeded, 801.0/s sent of 6,000/s planned
    failures     status 900, timeout 100 (4.167 %)

             latency  service  of failures
    samples   24,000   24,000        1,000
    min         void     void      1.00 ms
    mean        void     void      2.00 ms
    p50         void     void      2.00 ms
    p90         void     void      2.40 ms
    p95         void     void      2.60 ms
    p99         void     void      4.00 ms
    p99.9       void     void            -
    max         void     void      8.00 ms

    send lag     p50 11.0 us, p99 64.0 us, p99.9 190 us, max 410 us; at most 1,234 waited for a connection
    connections  8 opened, 8 ports, at most 8 at once (bound 8)
    generator    0.10 of 1 cores, 130 us CPU per request
    validity     void (latency void, throughput void)
      failures_seen: 1000 of 24000 requests failed (status 900, timeout 100) (try: read the failure samples of the digest)
      failures: 4.167 % of requests failed, more than 0.1 % (status 900, timeout 100) (try: read the failure samples of the digest, or raise `gates.failures`)
      achieved: planned 6000/s, achieved 801/s: 13.35 %, under 99 % (try: lower `load.rate`, or give the generator more cores or connections)
      unsent: 70 of 24100 requests were due but never sent: percentiles are bounds (try: lower `load.rate`, or raise `load.max_connections`)
      unfinished: 30 of 24100 requests were still in flight at the end: percentiles are bounds (try: lengthen `load.cooldown`)
      failed: status: expected status 200, got 503
    ");
}

#[test]
fn a_saturated_generator_bounds_the_rate_and_hides_its_percentiles() {
    let mut load = samples::load();
    load.generator.cpu_user_ns = 28_000_000_000;
    let table = load_table(&judged(load));
    assert!(table.contains("at least 800.0/s succeeded"), "{table}");
    assert!(table.contains("p99         void     void"), "{table}");
}

#[test]
fn a_sound_digest() {
    let page = digest_md(&digest_of(&SampleRun::sound(1, 1, &level("base", 0, None))));
    assert!(page.lines().count() < 200);
    insta::assert_snapshot!(page, @"
    # Run 01-01-base

    **finished, valid**

    - no gate tripped

    ## Identity

    |  |  |
    |---|---|
    | label | sample |
    | cell | base |
    | levels | target=base |
    | block, order, attempt | 1, 1, 1 |
    | started | 2026-11-30T11:46:14Z |
    | since the previous run | 1.50 s |
    | assay | 0.1.0 0123abcd bbbbbbbbbbbbbbbb |
    | bench | dddddddddddddddd |
    | effective run | effective-base |
    | scenario | cccccccccccccccc |
    | target | api: assay mock |

    | process | pid | version | SHA-256 | cores | command |
    |---|---|---|---|---|---|
    | generator | 102 | assay 0.1.0 | bbbbbbbbbbbbbbbb | any | assay |
    | parent | 100 | assay 0.1.0 | bbbbbbbbbbbbbbbb | any | assay |
    | target | 101 | assay 0.1.0 | bbbbbbbbbbbbbbbb | any | assay |

    ## Load

    |  |  |
    |---|---|
    | request | GET / |
    | transport | p0 |
    | arrivals | closed, 8 users |
    | warm-up, window, cool-down | 2.00 s, 30.0 s, at most 1.00 s |
    | clock | from the first byte sent to the last byte received |
    | window as it was | 30.0 s |
    | due, sent, unsent | 24,000, 24,000, 0 |
    | succeeded, failed, unfinished | 24,000, 0, 0 |
    | whole life: sent, answered | 26,400, 26,400 |
    | throughput | 800.0/s |
    | failures | none |
    | send lag | - |
    | connections | 8 opened, 8 ports, at most 8 at once (bound 8) |
    | generator CPU | 0.10 of 1 cores, 125 us CPU per request |
    | time balance | 0 ns (0 %) of each loop is outside the request |
    | mock | instrument: --listen 127.0.0.1:0 --latency 9800us |
    | mock's count | served 26,400, failed 0, 8 ports, slept 9.80 ms of 9.80 ms asked |

    ## Latency

    |  | latency | service | of failures |
    |---|---|---|---|
    | samples | 24,000 | 24,000 | 0 |
    | min | 5.00 ms | 4.95 ms | - |
    | mean | 10.0 ms | 9.90 ms | - |
    | p50 | 10.0 ms | 9.90 ms | - |
    | p90 | 12.0 ms | 11.9 ms | - |
    | p95 | 13.0 ms | 12.9 ms | - |
    | p99 | 20.0 ms | 19.8 ms | - |
    | p99.9 | 30.0 ms | 29.7 ms | - |
    | max | 40.0 ms | 39.6 ms | - |

    A percentile without enough samples for a 95 % interval is not printed.
    Certificate: none: `assay certify` says what this generator tells apart here.

    ## Resources over the window

    | role | samples | cores busy | user | system | RSS peak | PSS peak | threads | switches (vol., invol.) | descriptors |
    |---|---|---|---|---|---|---|---|---|---|
    | generator | 3 | 0.100 | 1.50 s | 1.50 s | 8.00 MiB | 4.00 MiB | 3 | 30, 30 | 12 |
    | parent | 3 | 0.000 | 5.00 ms | 5.00 ms | 8.00 MiB | 4.00 MiB | 3 | 30, 30 | 12 |
    | target | 3 | 0.033 | 500 ms | 500 ms | 8.00 MiB | 4.00 MiB | 3 | 30, 30 | 12 |

    - target.cpu_per_request: 41.7 us
    - generator.cpu_per_request: 125 us

    ## Host

    |  |  |
    |---|---|
    | name, kernel, arch | bench-1, 6.12.0, x86_64 |
    | CPU | Example CPU, 4 cores |
    | memory | 8.00 GiB |
    | grade | unknown |
    | governor | unknown |
    | turbo | unknown |
    | SMT | off |
    | clock source | tsc |
    | boot | 11111111-2222 |
    | limits | nofile 1024/4096 |
    | descriptors left | 4084 of 4096 (target had 12 open) |
    | settings | net.core.somaxconn 4096 |
    | new connections it sustains | 470.0/s |
    | samples in the window | 3 |
    | busy, stolen | 12.5 %, 0 % |
    | load average, most | 0.5 |
    | frequency, least | unknown |
    | temperature, most | unknown |
    | speed after against before | unknown |
    | interrupts, throttled | unknown, - |
    | busiest foreign process | sshd (pid 77), 2 % of one core |

    ## Checks

    | check | value | bound | held | effect |
    |---|---|---|---|---|
    | target_not_ready | - | - | yes | void |
    | wrong_version | - | - | yes | void |
    | target_died | - | - | yes | void |
    | target_restarted | - | - | yes | void |
    | generator_failed | - | - | yes | void |
    | timed_out | - | - | yes | void |
    | interrupted | - | - | yes | void |
    | absent_evidence | 0 | 0 | yes | void |
    | accounting | 0 | 0 | yes | void |
    | counts_disagree | 0 | 0 | yes | void |
    | ports_at_mock | - | - | - | void |
    | no_witness | - | - | - | flag, throughput |
    | own_figures | - | 0 | - | flag, latency |
    | failures_seen | 0 | 0 | yes | flag |
    | failures | 0 % | 0.1 % | yes | void |
    | window | 30.0 s | 20.0 s | yes | void |
    | truncated | 100 % | 99 % | yes | void |
    | requests | 24,000 | 100 | yes | void |
    | percentile | 24,000 | 568 | yes | flag, latency |
    | observer_samples | 3 | 2 | yes | void |
    | connection_shape | 0 % | 5 % | yes | void |
    | reconnects | 0 | 0 | yes | flag |
    | achieved | - | 99 % | - | void |
    | unsent | 0 | 0 | yes | censored, latency |
    | unfinished | 0 | 0 | yes | censored, latency |
    | lag_flag | - | 5 % | - | flag, latency |
    | lag | - | 100 % | - | void, latency |
    | resolution | - | 1 | - | flag, latency |
    | certified_rate | - | 1 | - | flag |
    | little | 0 % | 5 % | yes | flag |
    | steady_seconds | 0 | 10 | - | flag |
    | shift_flag | - | 5 % | - | flag |
    | shift | - | 10 % | - | void |
    | trend | - | 2.5 % | - | flag |
    | halves | - | 5 % | - | flag |
    | warm_up | - | 5 % | - | flag |
    | hidden_mode | - | 0.5 % | - | flag, latency |
    | generator_cpu_flag | 10 % | 70 % | yes | flag |
    | generator_cpu | 10 % | 80 % | yes | at_least, throughput |
    | generator_cpu | 10 % | 80 % | yes | void, latency |
    | generator_cluster | - | 5 % | - | flag, throughput |
    | mock_in_flight_flag | 100 % | 100 % | yes | flag |
    | mock_in_flight | 100 % | 100 % | yes | void |
    | mock_tier | 9.80 ms | - | yes | void |
    | mock_late | 1.531 % | 10 % | yes | flag |
    | steal | 0 % | 0.5 % | yes | flag |
    | foreign | 2 % | 10 % | yes | flag |
    | load_average | 12.5 % | 200 % | yes | flag |
    | port_ceiling | - | 100 % | - | flag |
    | port_time | - | - | - | flag |
    | gap | - | 35 | - | flag |
    | frequency | - | 10 % | - | flag |
    | clock_variance | - | 15 % | - | flag |
    | speed | - | 5 % | - | flag |
    | turbo | - | - | - | void |
    | governor | - | - | - | flag |
    | mains | - | - | - | flag |
    | start_temperature | - | 80 | - | flag |

    ## Samples of failures

    None.
    ");
}

#[test]
fn a_void_digest_says_why_first() {
    let mut run = SampleRun::sound(1, 1, &level("base", 0, None));
    run.load = None;
    run.meta.quick = true;
    // It died while it was loaded, so a record of the load is owed.
    run.meta.instants_ns.insert("load_start".to_owned(), 1);
    run.meta.outcome = Some(Outcome {
        state: OutcomeState::TargetDied,
        detail: "the target exited with status 1 | see\nstderr.log".to_owned(),
    });
    let page = digest_md(&digest_of(&run));
    let first: Vec<&str> = page.lines().take(7).collect();
    insta::assert_snapshot!(first.join("\n"), @r#"
    # Run 01-01-base

    **target died, void**
    This is a quick run: it proves the plumbing and is no measurement.

    - target_died: the target exited with status 1 \| see stderr.log (try: read the target's 'stderr.log')
    - absent_evidence: 'load.json' is missing
    "#);
    assert!(page.contains("\n## Latency\n\nNo load record.\n"));
}

/// Two runs of one shape: the same lines but for the values in their cells.
#[test]
fn two_digests_differ_only_in_value_cells() {
    let mut other = SampleRun::sound(2, 1, &level("base", 0, None));
    let mut load = samples::load();
    load.latency_ns = samples::summary(23_990, 10_400_000);
    load.succeeded = 23_990;
    load.sent = 23_990;
    load.due = 23_990;
    load.workers.clear();
    other.load = Some(load);
    let pages = [SampleRun::sound(1, 1, &level("base", 0, None)), other]
        .map(|run| digest_md(&digest_of(&run)));
    let names = |page: &str| -> Vec<String> {
        let first_cell = |line: &str| line.split('|').take(2).collect::<Vec<_>>().join("|");
        page.lines()
            .skip(1)
            .map(first_cell)
            .map(|line| line.replace(char::is_numeric, ""))
            .collect()
    };
    assert_ne!(pages[0], pages[1]);
    let bullets = |lines: Vec<String>| -> Vec<String> {
        lines.into_iter().filter(|line| !line.starts_with("- ")).collect()
    };
    assert_eq!(bullets(names(&pages[0])), bullets(names(&pages[1])));
}

#[test]
fn a_digest_stays_under_two_hundred_lines_whatever_failed() {
    let mut run = SampleRun::sound(1, 1, &level("base", 0, None));
    let mut load = samples::load();
    load.failure_samples = vec![
        FailureSample {
            kind: "body".to_owned(),
            status: Some(200),
            detail: "x\n".repeat(300),
            body: "|".repeat(512),
        };
        500
    ];
    run.load = Some(load);
    for setting in 0..300 {
        run.meta.host.sysctls.insert(format!("net.x{setting}"), "1".to_owned());
    }
    let page = digest_md(&digest_of(&run));
    assert!(page.lines().count() < 200, "{} lines", page.lines().count());
    let longest = page.lines().map(str::len).max().unwrap_or(0);
    assert!(longest < 1_000, "{longest}");
}

#[test]
fn a_matrix_on_one_page() {
    let label = tempfile::tempdir().unwrap();
    let plan = samples::plan(&["base", "slow"], 2);
    record::layout::write_json(&label.path().join("plan.json"), &plan).unwrap();
    for (order, level) in [(1, level("base", 0, None)), (2, level("slow", 1, None))] {
        SampleRun::sound(1, order, &level).complete(label.path());
    }
    std::fs::create_dir_all(label.path().join("runs/02-01-base")).unwrap();
    let mut matrix = evidence::matrix(label.path()).unwrap();
    matrix.elapsed_ns = Some(64_000_000_000);
    matrix.parent_cpu_ns = Some(320_000_000);
    insta::assert_snapshot!(matrix_md(&matrix), @"
    # Matrix sample

    Bench sample: 2 of 4 runs complete. Took 64.0 s, of which the parent used 0.005 cores.

    - host f2c21f90: Example CPU, x86_64, 4 cores, SMT off, Linux 6.12.0
    - target: slow / base sets target.mock.latency

    ## Contrasts, host f2c21f90

    Ratio = level / baseline, above 1 means more of the metric; effects, intervals and margins in % of the baseline.

    | factor | cell | level / baseline | metric | baseline | level | ratio | effect | interval | n | significant | matters | verdict | flags |
    |---|---|---|---|---:|---:|---:|---:|---|---:|---|---|---|---|
    | target | * | slow / base | throughput | 800.0/s | 800.0/s | 1.0000 | +0.00 % | - | 1 | no | no | inconclusive | uncontrolled, few_pairs, odd_pairs |

    ## Doubts and notes

    - uncontrolled (slow in *): no null contrast of 6 pairs beside it: add `null` to the levels
    - few_pairs (slow in *): no interval under 6 pairs, nor under more at a stricter look: raise `matrix.blocks`
    - odd_pairs (slow in *): an odd number of pairs lets drift load one arm: use an even number of blocks
    - no null: add `null` to a list of levels
    - 2 of 4 planned runs are complete; `--resume` completes the rest

    ## Pairs

    ### pairs: slow / base in *, throughput, host f2c21f90

    level / baseline as a change in % of base; the last row: medians, mean and sd of the pairs

    | block | first | base | slow | slow vs base |
    |---:|---|---:|---:|---:|
    | 1 | base | 800.0/s | 800.0/s | +0.00 % |
    | all | n 1 | 800.0/s | 800.0/s | +0.00 % |

    ## Other metrics (exploratory), host f2c21f90

    Ratio = level / baseline, above 1 means more of the metric; effects, intervals and margins in % of the baseline.

    | factor | cell | level / baseline | metric | baseline | level | ratio | effect | interval | n | significant | matters | verdict | flags |
    |---|---|---|---|---:|---:|---:|---:|---|---:|---|---|---|---|
    | target | * | slow / base | p50 | 10.0 ms | 10.0 ms | 1.0000 | +0.00 % | - | 1 | no | no | inconclusive | uncontrolled, few_pairs, odd_pairs |
    | target | * | slow / base | p90 | 12.0 ms | 12.0 ms | 1.0000 | +0.00 % | - | 1 | no | no | inconclusive | uncontrolled, few_pairs, odd_pairs |
    | target | * | slow / base | p95 | 13.0 ms | 13.0 ms | 1.0000 | +0.00 % | - | 1 | no | no | inconclusive | uncontrolled, few_pairs, odd_pairs |
    | target | * | slow / base | p99 | 20.0 ms | 20.0 ms | 1.0000 | +0.00 % | - | 1 | no | no | inconclusive | uncontrolled, few_pairs, odd_pairs |
    | target | * | slow / base | p999 | 30.0 ms | 30.0 ms | 1.0000 | +0.00 % | - | 1 | no | no | inconclusive | uncontrolled, few_pairs, odd_pairs |
    | target | * | slow / base | failures | 0 % | 0 % | 1.0000 | +0.00 % | - | 1 | no | no | inconclusive | uncontrolled, few_pairs, odd_pairs |
    | target | * | slow / base | target.cpu_per_request | 41.7 us | 41.7 us | 1.0000 | +0.00 % | - | 1 | no | no | inconclusive | uncontrolled, few_pairs, odd_pairs |
    | target | * | slow / base | generator.cpu_per_request | 125 us | 125 us | 1.0000 | +0.00 % | - | 1 | no | no | inconclusive | uncontrolled, few_pairs, odd_pairs |

    ## Behind the verdicts

    ### target: significant and large enough to matter, host f2c21f90

    t interval of the mean beside that of ranks; effects in % of the baseline

    | metric | level | significant | matters | p | p by Holm | t interval | n | could show | needs pairs |
    |---|---|---|---|---:|---:|---:|---:|---:|---:|
    | throughput | slow | no | no | 1.0000 | primary | - | 1 | - | - |
    | p50 | slow | no | no | 1.0000 | - | - | 1 | - | - |
    | p90 | slow | no | no | 1.0000 | - | - | 1 | - | - |
    | p95 | slow | no | no | 1.0000 | - | - | 1 | - | - |
    | p99 | slow | no | no | 1.0000 | - | - | 1 | - | - |
    | p999 | slow | no | no | 1.0000 | - | - | 1 | - | - |
    | failures | slow | no | no | 1.0000 | - | - | 1 | - | - |
    | target.cpu_per_request | slow | no | no | 1.0000 | - | - | 1 | - | - |
    | generator.cpu_per_request | slow | no | no | 1.0000 | - | - | 1 | - | - |

    ### target: noise and order, host f2c21f90

    in % of the baseline; noise sd: without the order effect, which is what running second adds

    | metric | level | mean +/- sd | noise sd | identical runs | order effect | carry-over |
    |---|---|---:|---:|---:|---:|---:|
    | throughput | slow | +0.00 | - | - | - | - |
    | p50 | slow | +0.00 | - | - | - | - |
    | p90 | slow | +0.00 | - | - | - | - |
    | p95 | slow | +0.00 | - | - | - | - |
    | p99 | slow | +0.00 | - | - | - | - |
    | p999 | slow | +0.00 | - | - | - | - |
    | failures | slow | +0.00 | - | - | - | - |
    | target.cpu_per_request | slow | +0.00 | - | - | - | - |
    | generator.cpu_per_request | slow | +0.00 | - | - | - | - |

    ### sleep parity: effect in % of the baseline, raw and without the mock's longer sleep, host f2c21f90

    | level | metric | raw | corrected | headline | slept | baseline's | n |
    |---|---|---:|---:|---:|---:|---:|---:|
    | slow | throughput | +0.00 % | +0.00 % | +0.00 % | 9.80 ms | 9.80 ms | 1 |
    | slow | p50 | +0.00 % | +0.00 % | +0.00 % | 9.80 ms | 9.80 ms | 1 |

    ### Cells, median over valid runs, host f2c21f90

    | metric | cell | valid | median | interval | coverage | ± half range | generator | runs | kind |
    |---|---|---:|---:|---:|---:|---:|---:|---|---|
    | throughput | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | throughput | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | p50 | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | p50 | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | p90 | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | p90 | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | p95 | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | p95 | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | p99 | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | p99 | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | p999 | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | p999 | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | failures | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | failures | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | target.cpu_per_request | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | target.cpu_per_request | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | throughput_per_core | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | throughput_per_core | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | target.rss_peak | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | target.rss_peak | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | generator.cpu_per_request | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | generator.cpu_per_request | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | connections | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | connections | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | connections_per_request | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | connections_per_request | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | host.steal | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | host.steal | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | in_flight_peak | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | in_flight_peak | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | queued_peak | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | queued_peak | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | measured |
    | target.cores | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | target.cores | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | derived |
    | target.cpu | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | target.cpu | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | target.descriptors_peak | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | target.descriptors_peak | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | target.pss_peak | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | target.pss_peak | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | target.threads_peak | base | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |
    | target.threads_peak | slow | 1/1 | excluded | - | - | - | 10 % | -------o------- | sampled |

    ### doubts about cells, by the worst of their runs

    - few_runs: base with 1 of 1 runs valid is shown and excluded: a cell counts from 2 valid runs on
    - few_runs: slow with 1 of 1 runs valid is shown and excluded: a cell counts from 2 valid runs on

    ## Runs

    | run | state | throughput | p50 | p99 | reasons |
    |---|---|---:|---:|---:|---|
    | 01-01-base | valid | 800.0/s | 10.0 ms | 20.0 ms |  |
    | 01-02-slow | valid | 800.0/s | 10.0 ms | 20.0 ms |  |
    | 02-01-base | incomplete | - | - | - | no digest.json |
    ");
}

#[test]
fn a_plan_on_the_terminal() {
    let mut plan = samples::plan(&["base", "null"], 2);
    plan.factors[0].levels[1] =
        Level { name: "null".to_owned(), twin: Some("base".to_owned()), positive: None };
    plan.runs.swap(2, 3);
    for cell in &mut plan.cells {
        for (path, origin) in [
            ("load.measure", "sample.toml:11"),
            ("load.connections", "default"),
            ("scenario.get", "sample.toml:6"),
            ("gates.window", "sample.toml:20"),
            ("gates.failures", "default"),
            ("observe.interval", "default"),
            ("target.stop.grace", "default"),
        ] {
            cell.origins.insert(path.to_owned(), origin.to_owned());
        }
    }
    insta::assert_snapshot!(plan_text(&plan), @"
    bench      sample (sample.toml)
    runs       2 cells x 2 blocks = 4 runs, and 0 warm-up runs
    time       about 77.0 s, of which 10.0 s to bring targets up
    disk       about 1.91 MiB
    timeout    2.10 min for each run
    order      balanced, seed 1, gap 0 ns
    nest       target (outermost first)
    primary    by the load

    factors
      target (compared): base, null (repeats base)
      scenario (fixed): get

    order of the cells in every block
        1: base  null
        2: null  base

    instances  4 of targets, each serves at most 1 run(s); 0 begin with a warm-up run

    values of every cell
      gates.failures     0.001     default
      gates.window       20.0 s    sample.toml:20
      load.connections   per-user  default
      load.measure       30.0 s    sample.toml:11
      load.users         8         sample.toml:9
      observe.interval   1.00 s    default
      scenario.get       /         sample.toml:6
      target.stop.grace  10.0 s    default

    cell base
      identity effective-base
      target.mock.latency  9.80 ms  level target=base

    cell null
      identity effective-null
      target.mock.latency  9.80 ms  level target=null

    notes
      - no null: add `null` to a list of levels
    ");
}

#[test]
fn a_status_names_what_is_open() {
    let run = |run: &str, state, detail: &str| RunStatus {
        run: run.to_owned(),
        state,
        detail: detail.to_owned(),
    };
    let mut status = Status {
        format: Format::v1("assay.status"),
        name: "sample".to_owned(),
        state: RunState::Running,
        runs: vec![
            run("01-01-base", RunState::Finished, ""),
            run("01-02-slow", RunState::Running, "a file changed 0 s ago"),
            run("02-01-slow", RunState::NotStarted, ""),
        ],
    };
    insta::assert_snapshot!(status_text(&status), @"
    sample: running, 1 of 3 runs finished
      01-02-slow  running      a file changed 0 s ago
      02-01-slow  not started
    ");
    status.state = RunState::Died;
    assert!(status_text(&status).ends_with("complete the matrix with `--resume`\n"));
}
