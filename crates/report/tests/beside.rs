//! Tables beside the contrasts, and two labels side by side, from records made by hand.

use record::Format;
use record::compare::{
    CellRow, Comparison, Contamination, Contrast, Estimate, HypothesisResult, ManipulationResult,
    Matrix, Rehearsal, RehearsalPoint, Tables, Variance,
};
use record::frozen::{FrozenCheck, FrozenDifference};
use record::meta::Build;
use record::two_labels::{Half, SessionDrift, TwoLabels, TwoLabelsRow};
use report::{Show, comparison_table, matrix_md, two_labels_text};

fn contrast(verdict: &str) -> Contrast {
    Contrast {
        factor: "pool".to_owned(),
        baseline: "plain".to_owned(),
        level: "pooled".to_owned(),
        cell: "*".to_owned(),
        metric: "throughput".to_owned(),
        unit: "/s".to_owned(),
        primary: true,
        verdict: verdict.to_owned(),
        ..Contrast::default()
    }
}

fn comparison(tables: Tables) -> Comparison {
    Comparison {
        format: Format::v1("assay.comparison"),
        label: "sample".to_owned(),
        contrasts: vec![contrast("void")],
        notes: Vec::new(),
        left_out: Vec::new(),
        tables,
    }
}

/// What a table says beyond the contrasts that it stands beside.
fn beside(tables: Tables, show: Show) -> String {
    let plain: Vec<String> =
        comparison_table(&comparison(Tables::default()), show).lines().map(str::to_owned).collect();
    let text = comparison_table(&comparison(tables), show);
    assert!(text.lines().all(|line| line.chars().count() <= 200), "{text}");
    let own: Vec<&str> = text.lines().filter(|line| !plain.iter().any(|p| p == line)).collect();
    own.join("\n")
}

fn cell(cell: &str, metric: &str, unit: &str, values: &[f64]) -> CellRow {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    CellRow {
        cell: cell.to_owned(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        valid: values.len() as u32,
        runs: 3,
        median: Some(median),
        interval: Some([sorted[0], sorted[sorted.len() - 1]]),
        coverage: Some(0.75),
        half_range_share: Some((sorted[sorted.len() - 1] - sorted[0]) / 2.0 / median),
        kind: "measured".to_owned(),
        formula: None,
        values: (1..).zip(values.iter().copied()).collect(),
        generator_busy_share: Some(0.62),
        flags: Vec::new(),
    }
}

fn cells() -> Tables {
    let peaks = [2e7, 4.2e8, 2e7];
    Tables {
        cells: vec![
            CellRow {
                generator_busy_share: Some(0.82),
                flags: vec!["timeouts".to_owned(), "generator_cpu_flag".to_owned()],
                ..cell("plain", "throughput", "/s", &[810.0, 800.0, 820.0])
            },
            CellRow {
                median: None,
                interval: None,
                coverage: None,
                half_range_share: None,
                flags: vec!["few_runs".to_owned()],
                ..cell("pooled", "throughput", "/s", &[700.0])
            },
            CellRow {
                flags: vec!["spread".to_owned()],
                ..cell("noisy", "throughput", "/s", &[900.0, 700.0, 800.0])
            },
            CellRow {
                kind: "derived".to_owned(),
                interval: None,
                coverage: None,
                formula: Some("target.cpu / requests".to_owned()),
                ..cell("plain", "target.cpu_per_request", "ns", &[41_000.0, 40_000.0, 40_000.0])
            },
            CellRow {
                median: None,
                interval: None,
                coverage: None,
                half_range_share: None,
                kind: "sampled".to_owned(),
                flags: vec!["unstable".to_owned()],
                ..cell("plain", "target.rss_peak", "bytes", &peaks)
            },
        ],
        contaminations: vec![Contamination {
            cell: "plain".to_owned(),
            fact: "timeouts".to_owned(),
            worst: Some(2.0),
            distance: 2.0,
            unit: "requests".to_owned(),
            run: "02-01-plain".to_owned(),
            affected: 1,
            runs: 3,
        }],
        ..Tables::default()
    }
}

/// A-111: what every cell suffered is one line, with the run that suffered most, whichever way is worse.
#[test]
fn one_fact_of_many_cells_is_one_line() {
    let of = |cell: &str, fact: &str, worst: f64, distance: f64| Contamination {
        cell: cell.to_owned(),
        fact: fact.to_owned(),
        worst: Some(worst),
        distance,
        unit: if fact == "foreign" { "share" } else { "requests" }.to_owned(),
        run: format!("01-01-{cell}"),
        affected: 5,
        runs: 6,
    };
    let tables = Tables {
        contaminations: vec![
            of("a", "percentile", 378.0, 190.0),
            of("a", "foreign", 0.9, 0.8),
            of("b", "percentile", 184.0, 384.0),
            of("b", "foreign", 1.7, 1.6),
            of("c", "percentile", 360.0, 208.0),
        ],
        ..Tables::default()
    };
    let text = comparison_table(&comparison(tables), Show::Primary);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("contaminated")).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    - contaminated: percentile in 15 of 18 runs of a, b and 1 more, worst 184 requests in 01-01-b
    - contaminated: foreign in 10 of 12 runs of a and b, worst 170 % in 01-01-b
    ");
}

/// D5, A-109..A-111, K-150: a coverage that is not 95 %, a lone run, dots, the worst run.
#[test]
fn cells_show_their_true_coverage_every_run_and_every_doubt() {
    insta::assert_snapshot!(beside(cells(), Show::Primary), @"
    cells: throughput (measured; median over valid runs)
    cell    valid    median            interval  coverage  ± half range  generator  runs
    plain     3/3   810.0/s  [800.0/s, 820.0/s]    75.0 %        1.23 %     82 % !  o------o------o
    pooled    1/3  excluded                   -         -             -       62 %  -------o-------
    noisy     3/3   800.0/s  [700.0/s, 900.0/s]    75.0 %       12.50 %       62 %  o------o------o
    doubts about cells, by the worst of their runs
    - few_runs: pooled with 1 of 3 runs valid is shown and excluded: a cell counts from 2 valid runs on
    - unstable: target.rss_peak of plain from 19.07 MiB to 401 MiB: identical runs, so probably a race or the depth of a queue; not averaged
    - spread: throughput of noisy from 700.0/s to 900.0/s, ± 12.5 % of its median: the same configuration should reproduce to 5 %; quieten the host
    - contaminated: timeouts in 1 of 3 runs of plain, worst 2 requests in 02-01-plain
    ");
}

#[test]
fn all_cells_carry_kind_and_formula() {
    insta::assert_snapshot!(beside(cells(), Show::All), @"
    cells: throughput (measured; median over valid runs)
    cell    valid    median            interval  coverage  ± half range  generator  runs
    plain     3/3   810.0/s  [800.0/s, 820.0/s]    75.0 %        1.23 %     82 % !  o------o------o
    pooled    1/3  excluded                   -         -             -       62 %  -------o-------
    noisy     3/3   800.0/s  [700.0/s, 900.0/s]    75.0 %       12.50 %       62 %  o------o------o
    cells: target.cpu_per_request (derived; target.cpu / requests, each a median over valid runs)
    cell   valid   median  interval  coverage  ± half range  generator  runs
    plain    3/3  40.0 us         -         -        1.25 %       62 %  8-------------o
    cells: target.rss_peak (sampled; median over valid runs)
    cell   valid    median  interval  coverage  ± half range  generator  runs
    plain    3/3  unstable         -         -             -       62 %  8-------------o
    doubts about cells, by the worst of their runs
    - few_runs: pooled with 1 of 3 runs valid is shown and excluded: a cell counts from 2 valid runs on
    - unstable: target.rss_peak of plain from 19.07 MiB to 401 MiB: identical runs, so probably a race or the depth of a queue; not averaged
    - spread: throughput of noisy from 700.0/s to 900.0/s, ± 12.5 % of its median: the same configuration should reproduce to 5 %; quieten the host
    - contaminated: timeouts in 1 of 3 runs of plain, worst 2 requests in 02-01-plain
    ");
}

fn manipulation(level_value: f64, differs: bool) -> Tables {
    Tables {
        manipulations: vec![ManipulationResult {
            factor: "pool".to_owned(),
            baseline: "plain".to_owned(),
            level: "pooled".to_owned(),
            cell: "*".to_owned(),
            metric: "connections".to_owned(),
            baseline_value: Some(400.0),
            level_value: Some(level_value),
            least: 0.5,
            differs,
        }],
        ..Tables::default()
    }
}

/// E-033: it stands before the contrasts.
#[test]
fn the_manipulation_check_is_read_first() {
    let table = comparison_table(&comparison(manipulation(400.0, false)), Show::Primary);
    let place = |text: &str| table.find(text).unwrap_or_else(|| panic!("`{text}` in {table}"));
    assert!(place("manipulation check") < place("pool: throughput"));
    insta::assert_snapshot!(beside(manipulation(400.0, false), Show::Primary), @r"
    manipulation check: did the factor do what it was meant to
    arms                  cell  quantity     level  baseline  apart by  result
    pool: pooled / plain  *     connections    400       400      50 %  no difference: withheld
    ");
    insta::assert_snapshot!(beside(manipulation(4.0, true), Show::Primary), @r"
    manipulation check: did the factor do what it was meant to
    arms                  cell  quantity     level  baseline  apart by  result
    pool: pooled / plain  *     connections      4       400      50 %  they differ
    ");
}

fn hypothesis(name: &str, distance_sd: f64, word: &str, nearest: bool) -> HypothesisResult {
    HypothesisResult {
        name: name.to_owned(),
        contrast: "pool: pooled / plain in *".to_owned(),
        metric: "throughput".to_owned(),
        predicted_percent: -1.0,
        measured_percent: Some(-1.02),
        distance_sd: Some(distance_sd),
        nearest,
        word: word.to_owned(),
    }
}

/// K-093: the language is fixed.
#[test]
fn disfavoured_is_not_excluded() {
    let tables =
        |results: &[HypothesisResult]| Tables { hypotheses: results.to_vec(), ..Tables::default() };
    let weak = tables(&[
        hypothesis("run length", 1.4, "consistent", true),
        hypothesis("density", 2.6, "disfavoured", false),
    ]);
    insta::assert_snapshot!(beside(weak, Show::Primary), @r"
    rival explanations: change in percent of the baseline, distance in standard errors of the mean
    explanation  contrast                   metric      predicts  measured    away  it is
    run length   pool: pooled / plain in *  throughput   -1.00 %   -1.02 %  1.4 sd  consistent, nearest
    density      pool: pooled / plain in *  throughput   -1.00 %   -1.02 %  2.6 sd  disfavoured
    - consistent is not confirmed: rivals may be consistent as well
    - disfavoured is not excluded: chance alone may lead so far
    ");
    let strong = tables(&[hypothesis("density", 3.5, "excluded", false)]);
    insta::assert_snapshot!(beside(strong, Show::Primary), @r"
    rival explanations: change in percent of the baseline, distance in standard errors of the mean
    explanation  contrast                   metric      predicts  measured    away  it is
    density      pool: pooled / plain in *  throughput   -1.00 %   -1.02 %  3.5 sd  excluded
    ");
}

fn rehearsal(word: &str) -> Tables {
    let point = |warmup: &str, effect: f64| RehearsalPoint {
        warmup: warmup.to_owned(),
        pairs: 6,
        ratio: Some(1.0 + effect / 100.0),
        effect_percent: Some(Estimate {
            value: effect,
            interval: Some([effect - 0.4, effect + 0.4]),
        }),
    };
    Tables {
        rehearsals: vec![Rehearsal {
            contrast: "pool: pooled / plain in *+*".to_owned(),
            metric: "throughput".to_owned(),
            points: vec![point("2s", -8.0), point("5s", -4.0), point("15s", -1.0)],
            range_percent: Some(7.0),
            noise_percent: Some(0.3),
            step_percent: Some(Estimate { value: 3.5, interval: Some([3.2, 3.9]) }),
            word: word.to_owned(),
        }],
        ..Tables::default()
    }
}

#[test]
fn a_rehearsal_ends_in_one_sentence() {
    insta::assert_snapshot!(beside(rehearsal("trend"), Show::Primary), @r"
    rehearsed warm-up: throughput of pool: pooled / plain in *+*
    warm-up  n   ratio  effect, % of the baseline
    2s       6  0.9200     -8.00 % [-8.40, -7.60]
    5s       6  0.9600     -4.00 % [-4.40, -3.60]
    15s      6  0.9900     -1.00 % [-1.40, -0.60]
    - trend: the ratio depends on the warm-up, +3.50 % [+3.20, +3.90] for each length; lengthen it
    ");
    for (word, start) in [("stable", "- stable: "), ("undecided", "- undecided: ")] {
        let text = beside(rehearsal(word), Show::Primary);
        assert_eq!(text.lines().filter(|line| line.starts_with(start)).count(), 1, "{text}");
    }
}

#[test]
fn variance_by_level_is_one_line_each() {
    let of = |of: &str, levels: &[(&str, f64)], best: &[(&str, u32)]| Variance {
        of: of.to_owned(),
        metric: "throughput".to_owned(),
        sd_percent: levels.iter().map(|(name, sd)| ((*name).to_owned(), *sd)).collect(),
        repetitions: best.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect(),
    };
    let tables = Tables {
        variances: vec![
            of(
                "plain",
                &[("within_run", 0.12), ("run", 0.4), ("layout", 1.1)],
                &[("within_run", 4), ("run", 1)],
            ),
            of("pool: pooled / plain in *", &[("within_layout", 0.3), ("layout", 0.9)], &[]),
        ],
        ..Tables::default()
    };
    insta::assert_snapshot!(beside(tables, Show::Primary), @r"
    scatter by level of repetition: standard deviation that each adds, percent
    - plain, throughput: within_run 0.12 %, run 0.40 %, layout 1.10 %; best 4 x within_run, 1 x run
    - pool: pooled / plain in *, throughput: within_layout 0.30 %, layout 0.90 %
    ");
}

fn frozen(differences: Vec<FrozenDifference>, inputs: Vec<String>) -> Tables {
    Tables {
        frozen: Some(FrozenCheck {
            frozen: "frozen/1".to_owned(),
            by: "0.1.0 (0123abcd)".to_owned(),
            same_build: differences.is_empty(),
            differences,
            inputs,
        }),
        ..Tables::default()
    }
}

/// K-097: equal is one line; a difference names figure, tool and input.
#[test]
fn a_frozen_table_is_equal_in_one_line_or_different_by_figure() {
    insta::assert_snapshot!(beside(frozen(Vec::new(), Vec::new()), Show::Primary), @"- equals the frozen table of 0.1.0 (0123abcd) in frozen/1");
    let difference = FrozenDifference {
        what: "pool: pooled / plain in *, throughput: effect".to_owned(),
        frozen: "-1.02".to_owned(),
        now: "-0.98".to_owned(),
    };
    let inputs = vec!["changed: 03-02-pooled".to_owned()];
    insta::assert_snapshot!(beside(frozen(vec![difference], inputs), Show::Primary), @r"
    against frozen/1
    - figures that differ: 1; the frozen table was derived by 0.1.0 (0123abcd), this one by another build
    - pool: pooled / plain in *, throughput: effect: -1.02 frozen, -0.98 now
    - input changed: 03-02-pooled
    ");
}

#[test]
fn the_page_has_them_as_markdown() {
    let mut tables = cells();
    tables.cells.truncate(3);
    tables.manipulations = manipulation(4.0, true).manipulations;
    let matrix = Matrix {
        format: Format::v1("assay.matrix"),
        label: "sample".to_owned(),
        bench: "sample".to_owned(),
        planned_runs: 0,
        completed_runs: 0,
        runs: Vec::new(),
        contrasts: Vec::new(),
        skipped: Vec::new(),
        tables,
        notes: Vec::new(),
        parent_cpu_ns: None,
        elapsed_ns: None,
    };
    let text = matrix_md(&matrix);
    let from = text.find("### manipulation").unwrap();
    let contrasts = text.find("## Contrasts").unwrap();
    assert!(from < contrasts);
    let cells = text.find("### Cells").unwrap();
    let end = text.find("## Runs").unwrap();
    insta::assert_snapshot!(text[cells..end].trim_end(), @"
    ### Cells, median over valid runs

    | metric | cell | valid | median | interval | coverage | ± half range | generator | runs | kind |
    |---|---|---:|---:|---:|---:|---:|---:|---|---|
    | throughput | plain | 3/3 | 810.0/s | [800.0/s, 820.0/s] | 75.0 % | 1.23 % | 82 % ! | o------o------o | measured |
    | throughput | pooled | 1/3 | excluded | - | - | - | 62 % | -------o------- | measured |
    | throughput | noisy | 3/3 | 800.0/s | [700.0/s, 900.0/s] | 75.0 % | 12.50 % | 62 % | o------o------o | measured |

    ### doubts about cells, by the worst of their runs

    - few_runs: pooled with 1 of 3 runs valid is shown and excluded: a cell counts from 2 valid runs on
    - spread: throughput of noisy from 700.0/s to 900.0/s, ± 12.5 % of its median: the same configuration should reproduce to 5 %; quieten the host
    - contaminated: timeouts in 1 of 3 runs of plain, worst 2 requests in 02-01-plain
    ");
}

fn two_labels(word: &str) -> TwoLabels {
    let half = |label: &str, hour: u32| Half {
        label: label.to_owned(),
        host: "bench-1".to_owned(),
        boot_id: Some("11111111-2222".to_owned()),
        assay: Build {
            version: "0.1.0".to_owned(),
            commit: "0123abcd".to_owned(),
            sha256: String::new(),
        },
        windows: vec!["30.0 s".to_owned()],
        runs: 16,
        started_utc: format!("2026-11-30T{hour}:46:14Z"),
    };
    let estimate =
        |value: f64| Some(Estimate { value, interval: Some([value - 0.5, value + 0.5]) });
    let comparable = word == "comparable";
    TwoLabels {
        format: Format::v1("assay.two_labels"),
        a: half("unpooled", 11),
        b: half("pooled", 12),
        rows: vec![TwoLabelsRow {
            factor: "target".to_owned(),
            baseline: "plain".to_owned(),
            level: "traced".to_owned(),
            cell: "*".to_owned(),
            metric: "throughput".to_owned(),
            primary: true,
            changed: vec!["traced".to_owned()],
            pairs: [8, 8],
            effect_a_percent: estimate(-10.0),
            effect_b_percent: estimate(-5.0),
            difference_percent: if comparable { estimate(5.56) } else { None },
            untouched: Some("plain".to_owned()),
            drift_percent: estimate(if comparable { 0.08 } else { 3.0 }),
            drift_bound_percent: Some(2.74),
            word: word.to_owned(),
            reason: (!comparable).then(|| "`plain` changed by +3.00 % of A".to_owned()),
            kind: "composed".to_owned(),
        }],
        drifts: vec![SessionDrift {
            cell: "plain".to_owned(),
            metric: "throughput".to_owned(),
            unit: "/s".to_owned(),
            a: 800.0,
            b: 800.64,
            runs: [8, 8],
            change_percent: Estimate { value: 0.08, interval: Some([-0.1, 0.26]) },
        }],
        variances: Vec::new(),
        notes: vec!["only in B: target: other / plain in *".to_owned()],
    }
}

/// K-095, E-031: the drift is always printed; what it forbids is left out and said.
#[test]
fn two_labels_are_side_by_side_with_their_drift() {
    insta::assert_snapshot!(two_labels_text(&two_labels("comparable"), Show::Primary), @r"
    labels unpooled (A) and pooled (B)
    host bench-1, boot 11111111-2222, assay 0.1.0 (0123abcd)

    A  unpooled  16 runs  from 2026-11-30T11:46:14Z  window 30.0 s
    B  pooled    16 runs  from 2026-11-30T12:46:14Z  window 30.0 s

    target: throughput (primary), % of the baseline; composed from two tables
    level / baseline                      in A                    in B     B against A, % of A     n
    traced* / plain   -10.00 % [-10.50, -9.50]  -5.00 % [-5.50, -4.50]  +5.56 % [+5.06, +6.06]  8, 8
    * not the same thing in both labels

    session drift
    untouched cell  metric         in A     in B          change, % of A     n
    plain           throughput  800.0/s  800.6/s  +0.08 % [-0.10, +0.26]  8, 8

    - only in B: target: other / plain in *
    ");
    insta::assert_snapshot!(two_labels_text(&two_labels("not_comparable"), Show::Primary), @r"
    labels unpooled (A) and pooled (B)
    host bench-1, boot 11111111-2222, assay 0.1.0 (0123abcd)

    A  unpooled  16 runs  from 2026-11-30T11:46:14Z  window 30.0 s
    B  pooled    16 runs  from 2026-11-30T12:46:14Z  window 30.0 s

    target: throughput (primary), % of the baseline; composed from two tables
    level / baseline                      in A                    in B  B against A, % of A     n
    traced* / plain   -10.00 % [-10.50, -9.50]  -5.00 % [-5.50, -4.50]       not comparable  8, 8
    * not the same thing in both labels

    session drift
    untouched cell  metric         in A     in B          change, % of A     n
    plain           throughput  800.0/s  800.6/s  +0.08 % [-0.10, +0.26]  8, 8

    - halves not comparable (traced in *): `plain` changed by +3.00 % of A
    - only in B: target: other / plain in *
    ");
    let mut none = two_labels("comparable");
    none.drifts.clear();
    assert!(two_labels_text(&none, Show::Primary).contains("session drift unknown"));
    // Nothing of a terminal's table is wider than a terminal.
    let mut wide = two_labels("comparable");
    wide.rows[0].level = "a-level-with-a-very-long-name-indeed".to_owned();
    let text = two_labels_text(&wide, Show::Primary);
    let widest =
        text.lines().filter(|line| !line.starts_with("- ")).map(|l| l.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}: {text}");
}
