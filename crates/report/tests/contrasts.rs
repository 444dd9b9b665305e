//! The tables of contrasts, from comparisons made by hand: controls first, what stands behind
//! each verdict, pairs, geometric means, drift, and each flag with its remedy.

use record::Format;
use record::compare::{
    Comparison, Contrast, Drift, Estimate, Geomean, GeomeanRow, HostClass, LeftOut, PairValues,
    Resolve, Tables,
};
use report::{Show, comparison_md, comparison_table, contrasts_csv};

fn contrast(level: &str) -> Contrast {
    Contrast {
        factor: "target".to_owned(),
        baseline: "base".to_owned(),
        level: level.to_owned(),
        cell: "*".to_owned(),
        metric: "throughput".to_owned(),
        unit: "/s".to_owned(),
        higher_is_better: true,
        primary: true,
        pairs: 2,
        baseline_value: Some(801.0),
        level_value: Some(761.0),
        ratio: Some(0.95),
        effect_percent: Some(-5.0),
        interval_percent: Some([-5.4, -4.6]),
        mean_log_ratio: Some(-0.0513),
        sd_log_ratio: Some(0.006),
        noise_sd_log_ratio: Some(0.004),
        verdict: "slower".to_owned(),
        null_arm: Some("null in *".to_owned()),
        margin_percent: Some(2.0),
        minimum_detectable_percent: Some(0.7),
        needed_pairs: Some(6),
        resolve: Some(Resolve {
            mean_percent: -5.0,
            sd_percent: 0.6,
            pairs_one_se: 1,
            pairs_95: 1_234,
            pair_ns: Some(90_000_000_000),
        }),
        t_interval_percent: Some([-5.5, -4.5]),
        order_effect_percent: Some(Estimate { value: 0.3, interval: Some([0.1, 0.5]) }),
        carry_over_percent: Some(Estimate { value: -0.1, interval: None }),
        null_interval_percent: Some([-0.31, 0.44]),
        p_value: Some(0.0078),
        significant: true,
        matters: Some(true),
        alpha: Some(0.05),
        sets: vec!["target.mock.latency".to_owned()],
        pair_values: vec![
            PairValues { block: 1, baseline: 800.0, level: 761.0, baseline_first: Some(true) },
            PairValues { block: 2, baseline: 802.0, level: 761.0, baseline_first: Some(false) },
        ],
        log_ratios: vec![(1, -0.05), (2, -0.0525)],
        ..Contrast::default()
    }
}

fn null() -> Contrast {
    Contrast {
        level_value: Some(801.5),
        ratio: Some(1.0006),
        effect_percent: Some(0.06),
        interval_percent: Some([-0.31, 0.44]),
        null: true,
        null_arm: None,
        verdict: "equivalent".to_owned(),
        significant: false,
        matters: Some(false),
        sets: Vec::new(),
        pair_values: Vec::new(),
        ..contrast("null")
    }
}

fn positive() -> Contrast {
    Contrast {
        positive: Some(0.05),
        positive_arm: Some("positive in *: seen".to_owned()),
        pair_values: Vec::new(),
        sets: Vec::new(),
        ..contrast("positive")
    }
}

fn comparison(contrasts: Vec<Contrast>) -> Comparison {
    Comparison {
        format: Format::v1("assay.comparison"),
        label: "sample".to_owned(),
        contrasts,
        notes: Vec::new(),
        left_out: Vec::new(),
        tables: Tables {
            hosts: vec![HostClass {
                id: "1a2b3c4d".to_owned(),
                description: "Example CPU, x86_64, 4 cores, SMT off, Linux 6.12.0".to_owned(),
            }],
            ..Tables::default()
        },
    }
}

fn fits(text: &str) {
    for line in text.lines().filter(|line| !line.starts_with("- ")) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

/// K-015, K-082, K-096, K-198: the machine in every heading, the orientation under it, identical
/// runs before any delta, what the factor set at the top.
#[test]
fn controls_come_first_and_headings_say_what_is_compared() {
    let table =
        comparison_table(&comparison(vec![contrast("slow"), null(), positive()]), Show::Primary);
    fits(&table);
    insta::assert_snapshot!(table, @"
    label sample
    host 1a2b3c4d: Example CPU, x86_64, 4 cores, SMT off, Linux 6.12.0
    target: slow / base sets target.mock.latency

    target: throughput (primary, margin 2 %), host 1a2b3c4d
    ratio = level / base, above 1 is more throughput, so better; effects in % of base
    level           level at  baseline at   ratio   effect   95 % interval  n  verdict
    null             801.5/s      801.0/s  1.0006  +0.06 %  [-0.31, +0.44]  2  equivalent (null)
    positive (5 %)   761.0/s      801.0/s  0.9500  -5.00 %  [-5.40, -4.60]  2  seen
    slow             761.0/s      801.0/s  0.9500  -5.00 %  [-5.40, -4.60]  2  slower
    ");
}

/// K-080, K-083, D2: with `--all` what stands behind the verdict, and every pair.
#[test]
fn all_shows_what_stands_behind_a_verdict() {
    let table = comparison_table(&comparison(vec![contrast("slow"), null()]), Show::All);
    fits(&table);
    insta::assert_snapshot!(table, @"
    label sample
    host 1a2b3c4d: Example CPU, x86_64, 4 cores, SMT off, Linux 6.12.0
    target: slow / base sets target.mock.latency

    target: throughput (primary, margin 2 %), host 1a2b3c4d
    ratio = level / base, above 1 is more throughput, so better; effects in % of base
    level  level at  baseline at   ratio   effect   95 % interval  n  verdict
    null    801.5/s      801.0/s  1.0006  +0.06 %  [-0.31, +0.44]  2  equivalent (null)
    slow    761.0/s      801.0/s  0.9500  -5.00 %  [-5.40, -4.60]  2  slower

    target: throughput, significant and large enough to matter, host 1a2b3c4d
    t interval of the mean beside that of ranks; effects in % of the baseline
    level  significant  matters       p  p by Holm      t interval  n  could show  needs pairs
    null   no           no       0.0078    primary  [-5.50, -4.50]  2      0.70 %            6
    slow   yes          yes      0.0078    primary  [-5.50, -4.50]  2      0.70 %            6

    target: throughput, noise and order, host 1a2b3c4d
    in % of the baseline; noise sd: without the order effect, which is what running second adds
    level     mean +/- sd  noise sd  identical runs          order effect  carry-over
    null   -5.00 +/- 0.60      0.40  [-0.31, +0.44]  +0.30 [+0.10, +0.50]       -0.10
    slow   -5.00 +/- 0.60      0.40  [-0.31, +0.44]  +0.30 [+0.10, +0.50]       -0.10

    pairs: slow / base in *, throughput, host 1a2b3c4d
    level / baseline as a change in % of base; the last row: medians, mean and sd of the pairs
    pairs that know the mean -5.00 % at sd 0.60 % to half of itself: 1 (0.03 h) at one standard error,
      1,234 (30.85 h) at 95 %
    block  first     base     slow        slow vs base
        1  base   800.0/s  761.0/s             -4.88 %
        2  slow   802.0/s  761.0/s             -5.11 %
      all  n 2    801.0/s  761.0/s  -5.00 % +/- 0.60 %
    ");
}

/// K-040: what differs beside the factor is named at the top.
#[test]
fn other_differences_are_named_at_the_top() {
    let differs = vec!["heap -Xmx2g and -Xmx4g".to_owned(), "runtime version 21 and 25".to_owned()];
    let table = comparison_table(
        &comparison(vec![Contrast { differs, ..contrast("slow") }]),
        Show::Primary,
    );
    let top: Vec<&str> = table.lines().take_while(|line| !line.is_empty()).collect();
    insta::assert_snapshot!(top.join("\n"), @"
    label sample
    host 1a2b3c4d: Example CPU, x86_64, 4 cores, SMT off, Linux 6.12.0
    target: slow / base sets target.mock.latency
    target: slow / base differ in more, baseline and level: heap -Xmx2g and -Xmx4g; runtime version 21
      and 25
    ");
}

fn geomean() -> Geomean {
    let row = |row: &str, weight, ratio, verdict: &str| GeomeanRow {
        row: row.to_owned(),
        weight,
        ratio,
        verdict: verdict.to_owned(),
    };
    Geomean {
        factor: "build".to_owned(),
        baseline: "main".to_owned(),
        level: "candidate".to_owned(),
        over: "scenario".to_owned(),
        metric: "time".to_owned(),
        rows: vec![row("arith", 3.0, 1.05, "slower"), row("strings", 1.0, 0.97, "faster")],
        guards: vec![row("large", 1.0, 1.5, "slower")],
        left_out: vec![LeftOut { run: "jwks".to_owned(), reason: "void: null_differs".to_owned() }],
        ratio: Some(1.0294),
        effect_percent: Some(Estimate { value: 2.94, interval: Some([2.1, 3.7]) }),
        better: 1,
        worse: 1,
        equal: 0,
        worst: Some("large".to_owned()),
        draws: 10_000,
        seed: 7,
        ..Geomean::default()
    }
}

/// D7: rows with their weights, guards beside, voids listed, the worst named.
#[test]
fn a_geometric_mean_shows_its_rows() {
    let mut compared = comparison(vec![contrast("slow")]);
    compared.tables.geomeans = vec![geomean()];
    let table = comparison_table(&compared, Show::Primary);
    fits(&table);
    let (_, mean) = table.split_once("\ngeometric").expect("a table of the mean");
    insta::assert_snapshot!(format!("geometric{mean}"), @"
    geometric mean over scenario: candidate / main, time, host 1a2b3c4d
    ratio = level / baseline; effect in % of the baseline
    worst row, guards included: large; interval by 10,000 joint draws of blocks, seed 7
    scenario    weight   ratio    effect   95 % interval  verdict
    arith        3.000  1.0500   +5.00 %               -  slower
    strings      1.000  0.9700   -3.00 %               -  faster
    large        guard  1.5000  +50.00 %               -  slower
    jwks      left out       -         -               -  void: null_differs
    all              2  1.0294   +2.94 %  [+2.10, +3.70]  1 better, 1 worse, 0 neither
    ");
}

/// a drift says since when, how much of what, and whom it touches.
#[test]
fn a_drift_is_a_doubt_in_one_line() {
    let drift = |since_block, affected: &[&str]| Drift {
        cell: "base".to_owned(),
        metric: "throughput".to_owned(),
        change_percent: Estimate { value: -10.1, interval: Some([-11.0, -9.2]) },
        drifted: true,
        since_block,
        affected: affected.iter().map(|cell| (*cell).to_owned()).collect(),
    };
    let mut compared = comparison(vec![contrast("slow")]);
    compared.tables.drifts = vec![drift(Some(7), &[]), drift(None, &["late"])];
    let table = comparison_table(&compared, Show::Primary);
    let doubts: Vec<&str> = table.lines().filter(|line| line.starts_with("- drift")).collect();
    insta::assert_snapshot!(doubts.join("\n"), @"
    - drift (base): throughput changed by -10.10 % [-11.00, -9.20] of its first block over the matrix, a step at block 7; every cell has runs in the same blocks: contrasts hold, values of different blocks do not compare
    - drift (base): throughput changed by -10.10 % [-11.00, -9.20] of its first block over the matrix; not interleaved with it, and in doubt: late
    ");
    compared.tables.drifts[0].drifted = false;
    compared.tables.drifts.truncate(1);
    assert!(!comparison_table(&compared, Show::Primary).contains("drift"));
}

/// K-084, E-002: what an undecided contrast would need, with the mean that it is about.
#[test]
fn an_undecided_contrast_says_what_it_would_take() {
    let undecided = Contrast {
        verdict: "inconclusive".to_owned(),
        needed_pairs: Some(437),
        minimum_detectable_percent: Some(4.1),
        margin_percent: Some(0.5),
        flags: vec!["not_quiet".to_owned(), "unresolved".to_owned()],
        ..contrast("slow")
    };
    let table = comparison_table(&comparison(vec![undecided]), Show::Primary);
    let doubts: Vec<&str> = table.lines().filter(|line| line.starts_with("- ")).collect();
    insta::assert_snapshot!(doubts.join("\n"), @"
    - inconclusive (slow in *): an effect of 0.5 % needs about 437 pairs; these 2 could show 4.10 %
    - to resolve (slow in *): pairs that know the mean -5.00 % at sd 0.60 % to half of itself: 1 (0.03 h) at one standard error, 1,234 (30.85 h) at 95 %
    - not_quiet (slow in *): not resolvable here; machine not quiet: quieten or change it before adding pairs
    - unresolved (slow in *): the effect lies within what identical runs differ by here: quieten the machine
    ");
}

/// Each flag has its own remedy; one that is not known is sent to the page.
#[test]
fn every_flag_has_a_remedy() {
    let lines = |flag: &str| {
        let flagged = Contrast { flags: vec![flag.to_owned()], ..contrast("slow") };
        let table = comparison_table(&comparison(vec![flagged]), Show::Primary);
        table.lines().filter(|line| line.starts_with("- ")).map(str::to_owned).collect::<Vec<_>>()
    };
    for flag in [
        "manipulation_failed",
        "null_differs",
        "positive_missed",
        "undecidable",
        "control_differs",
        "uncontrolled",
        "extra_looks",
        "not_quiet",
        "unresolved",
        "few_pairs",
        "heavy_tails",
        "not_after_holm",
        "one_order",
        "odd_pairs",
        "layout_noise",
        "real_but_small",
    ] {
        let lines = lines(flag);
        assert_eq!(lines.len(), 1, "{flag}");
        assert!(lines[0].starts_with(&format!("- {flag} (slow in *): ")), "{lines:?}");
        assert!(!lines[0].contains("METHODOLOGY"), "{lines:?}");
    }
    assert!(lines("surprise")[0].contains("see METHODOLOGY.md"));
    // These two are said once for the whole table, in a note and in the heading.
    for flag in ["primary_after_data", "margin_after_data"] {
        assert!(lines(flag).is_empty());
    }
}

#[test]
fn terms_of_after_the_run_and_of_a_look_are_in_the_heading() {
    let later = Contrast {
        flags: vec!["primary_after_data".to_owned(), "margin_after_data".to_owned()],
        alpha: Some(0.0141),
        ..contrast("slow")
    };
    let table = comparison_table(&comparison(vec![later]), Show::Primary);
    let head: Vec<&str> = table.lines().skip(4).take(3).collect();
    insta::assert_snapshot!(head.join("\n"), @"
    target: throughput (primary, chosen after the run, margin 2 % chosen after the run), host 1a2b3c4d
    ratio = level / base, above 1 is more throughput, so better; effects in % of base
    level  level at  baseline at   ratio   effect  98.59 % interval  n  verdict
    ");
}

/// Level names of forty letters and big numbers still fit, in every table.
#[test]
fn nothing_is_wider_than_a_hundred_columns() {
    let name = "x".repeat(40);
    let wide = Contrast {
        baseline: "y".repeat(40),
        cell: format!("*+{name}+{name}"),
        metric: "generator.cpu_per_request".to_owned(),
        sets: vec![format!("target.env.{name}"); 6],
        ..contrast(&name)
    };
    let mut compared = comparison(vec![wide]);
    compared.tables.geomeans = vec![Geomean { level: name.clone(), over: name, ..geomean() }];
    fits(&comparison_table(&compared, Show::All));
}

#[test]
fn a_comparison_in_markdown() {
    let mut compared = comparison(vec![contrast("slow"), null()]);
    compared.tables.geomeans = vec![geomean()];
    compared.left_out =
        vec![LeftOut { run: "03-01-slow".to_owned(), reason: "no digest | at all".to_owned() }];
    insta::assert_snapshot!(comparison_md(&compared), @"
    # Comparison sample

    - host 1a2b3c4d: Example CPU, x86_64, 4 cores, SMT off, Linux 6.12.0
    - target: slow / base sets target.mock.latency

    ## Contrasts, host 1a2b3c4d

    Ratio = level / baseline, above 1 means more of the metric; effects, intervals and margins in % of the baseline.

    | factor | cell | level / baseline | metric | baseline | level | ratio | effect | interval | n | significant | matters | verdict | flags |
    |---|---|---|---|---:|---:|---:|---:|---|---:|---|---|---|---|
    | target | * | null / base | throughput | 801.0/s | 801.5/s | 1.0006 | +0.06 % | [-0.31, +0.44] | 2 | no | no | equivalent (null) |  |
    | target | * | slow / base | throughput | 801.0/s | 761.0/s | 0.9500 | -5.00 % | [-5.40, -4.60] | 2 | yes | yes | slower |  |

    ## Doubts and notes

    - left out 03-01-slow: no digest | at all

    ## Geometric means

    ### geometric mean over scenario: candidate / main, time, host 1a2b3c4d

    ratio = level / baseline; effect in % of the baseline; worst row, guards included: large; interval by 10,000 joint draws of blocks, seed 7

    | scenario | weight | ratio | effect | 95 % interval | verdict |
    |---|---:|---:|---:|---:|---|
    | arith | 3.000 | 1.0500 | +5.00 % | - | slower |
    | strings | 1.000 | 0.9700 | -3.00 % | - | faster |
    | large | guard | 1.5000 | +50.00 % | - | slower |
    | jwks | left out | - | - | - | void: null_differs |
    | all | 2 | 1.0294 | +2.94 % | [+2.10, +3.70] | 1 better, 1 worse, 0 neither |

    ## Pairs

    ### pairs: slow / base in *, throughput, host 1a2b3c4d

    level / baseline as a change in % of base; the last row: medians, mean and sd of the pairs; pairs that know the mean -5.00 % at sd 0.60 % to half of itself: 1 (0.03 h) at one standard error, 1,234 (30.85 h) at 95 %

    | block | first | base | slow | slow vs base |
    |---:|---|---:|---:|---:|
    | 1 | base | 800.0/s | 761.0/s | -4.88 % |
    | 2 | slow | 802.0/s | 761.0/s | -5.11 % |
    | all | n 2 | 801.0/s | 761.0/s | -5.00 % +/- 0.60 % |

    ## Behind the verdicts

    ### target: significant and large enough to matter, host 1a2b3c4d

    t interval of the mean beside that of ranks; effects in % of the baseline

    | metric | level | significant | matters | p | p by Holm | t interval | n | could show | needs pairs |
    |---|---|---|---|---:|---:|---:|---:|---:|---:|
    | throughput | null | no | no | 0.0078 | primary | [-5.50, -4.50] | 2 | 0.70 % | 6 |
    | throughput | slow | yes | yes | 0.0078 | primary | [-5.50, -4.50] | 2 | 0.70 % | 6 |

    ### target: noise and order, host 1a2b3c4d

    in % of the baseline; noise sd: without the order effect, which is what running second adds

    | metric | level | mean +/- sd | noise sd | identical runs | order effect | carry-over |
    |---|---|---:|---:|---:|---:|---:|
    | throughput | null | -5.00 +/- 0.60 | 0.40 | [-0.31, +0.44] | +0.30 [+0.10, +0.50] | -0.10 |
    | throughput | slow | -5.00 +/- 0.60 | 0.40 | [-0.31, +0.44] | +0.30 [+0.10, +0.50] | -0.10 |
    ");
}

/// One line for each contrast, every column there, and text that holds commas and quotes comes
/// back as it was.
#[test]
fn a_comparison_as_csv() {
    let reason = "void: failures: 5 % failed, \"reset\"";
    let left_out = vec![LeftOut { run: "03-01-slow".to_owned(), reason: reason.to_owned() }];
    let exploratory = Contrast {
        metric: "p99".to_owned(),
        primary: false,
        holm_p_value: Some(0.0312),
        ..contrast("slow")
    };
    let text = contrasts_csv(&comparison(vec![
        Contrast { left_out, ..contrast("slow") },
        exploratory,
        positive(),
    ]));
    let rows: Vec<Vec<String>> = text.lines().map(fields).collect();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let value = |row: usize, column: &str| {
        let place = rows[0].iter().position(|name| name == column);
        rows[row][place.unwrap_or_else(|| panic!("no column {column}"))].clone()
    };
    assert_eq!(value(1, "left_out"), format!("03-01-slow: {reason}"));
    assert_eq!(value(1, "interval_low_percent"), "-5.4");
    assert_eq!(value(1, "log_ratios"), "1:-0.05;2:-0.0525");
    assert_eq!(value(1, "pair_values"), "1:800:761;2:802:761");
    assert_eq!(value(1, "baseline_first"), "1:true;2:false");
    assert_eq!(value(1, "holm_p_value"), "");
    assert_eq!(value(2, "holm_p_value"), "0.0312");
    assert_eq!(value(3, "positive_arm"), "positive in *: seen");
    assert_eq!(value(3, "positive"), "0.05");
    // Every field of a contrast is a column, or is spread over several.
    let json = serde_json::to_value(contrast("slow")).expect("JSON");
    for field in json.as_object().expect("an object").keys() {
        let known = rows[0].iter().any(|column| {
            let stem = field.trim_end_matches("_percent");
            column == field || column.starts_with(stem)
        });
        assert!(known, "{field} is in no column");
    }
}

/// A reader of CSV that shares nothing with the writer.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}
