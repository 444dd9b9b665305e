//! What was registered, what is asked for instead, and what is only shown.

use record::plan::Compare;

use super::fixture::{Label, base, null, of, other, slow, spread, throughput};
use super::{CompareOptions, select};
use crate::samples::level;

fn eight() -> Label {
    let mut label = Label::default();
    label.pairs(&slow(), &spread(8, -0.05, 0.004));
    label.pairs(&null(), &spread(8, 0.0, 0.003));
    label
}

fn options() -> CompareOptions {
    CompareOptions::default()
}

fn some(word: &str) -> Option<String> {
    Some(word.to_owned())
}

#[test]
fn unknown_words_are_told_with_the_nearest() {
    let label = eight();
    let refused = |options: CompareOptions| {
        let error = label.compared_with(&options).unwrap_err();
        assert!(!error.is_refusal());
        error.to_string()
    };
    let said = [
        refused(CompareOptions { metrics: vec!["p50".into(), "p9".into()], ..options() }),
        refused(CompareOptions { primary: some("throughputs"), ..options() }),
        refused(CompareOptions { baseline: some("slwo"), ..options() }),
        refused(CompareOptions { baseline: some("null"), ..options() }),
        refused(CompareOptions { over: some("colour"), ..options() }),
        refused(CompareOptions { factor: some("targt"), ..options() }),
    ];
    insta::assert_snapshot!(said.join("\n"), @"
    no metric `p9` in these runs; nearest `p90`
    no metric `throughputs` in these runs; nearest `throughput`
    no level `slwo` in these runs; nearest `slow`
    no level `null` in these runs; there are `base`, `slow`
    no factor `colour` in these runs; there are `target`
    no factor `targt` in these runs; nearest `target`
    ");
    let mut comparison = label.compared();
    let error =
        select(&mut comparison, &CompareOptions { group: some("sloww"), ..options() }).unwrap_err();
    insta::assert_snapshot!(error, @"no row, cell or level `sloww` in these runs; nearest `slow`");
}

/// What is chosen with the data at hand is marked; what was registered is not.
#[test]
fn terms_chosen_after_the_run_are_marked() {
    let label = eight();
    let flags = |comparison: &record::compare::Comparison, metric: &str| {
        of(comparison, "slow", "*", metric).flags.clone()
    };
    let asked = CompareOptions { primary: some("p50"), ..options() };
    let comparison = label.compared_with(&asked).unwrap();
    let p50 = of(&comparison, "slow", "*", "p50");
    assert!(p50.primary && !throughput(&comparison, "slow").primary);
    assert_eq!(flags(&comparison, "p50"), ["primary_after_data"]);
    assert_eq!(flags(&comparison, "throughput"), Vec::<String>::new());
    assert_eq!(comparison.notes, ["primary metric chosen after the run: exploratory"]);

    let asked = CompareOptions { margin: Some(0.06), ..options() };
    let comparison = label.compared_with(&asked).unwrap();
    let slow = throughput(&comparison, "slow");
    assert_eq!((slow.margin_percent, slow.verdict.as_str()), (Some(6.0), "equivalent"));
    assert!(slow.flags.contains(&"margin_after_data".to_owned()));
    assert_eq!(comparison.notes, ["margin chosen after the run: exploratory"]);

    // What was registered, said once more, was not chosen after the run.
    let asked = CompareOptions { primary: some("throughput"), margin: Some(0.02), ..options() };
    let comparison = label.compared_with(&asked).unwrap();
    assert_eq!(throughput(&comparison, "slow").flags, Vec::<String>::new());
    // The percentiles have another margin, and are marked.
    assert_eq!(flags(&comparison, "p50"), ["margin_after_data"]);
}

#[test]
fn margins_are_registered_by_metric_or_for_all_others() {
    let mut label = eight();
    let margin = [("throughput".to_owned(), 0.08), ("*".to_owned(), 0.01)].into();
    label.registered(&Compare { margin, ..Compare::default() });
    let comparison = label.compared();
    assert_eq!(throughput(&comparison, "slow").margin_percent, Some(8.0));
    assert_eq!(throughput(&comparison, "slow").verdict, "equivalent");
    assert_eq!(of(&comparison, "slow", "*", "p99").margin_percent, Some(1.0));
    assert_eq!(comparison.notes, Vec::<String>::new());
    let defaults = eight().compared();
    assert_eq!(throughput(&defaults, "slow").margin_percent, Some(2.0));
    assert_eq!(of(&defaults, "slow", "*", "p99").margin_percent, Some(5.0));
}

/// D11: a registered look has its own level, one more than registered is flagged, and digests
/// without a record of looks are looked at once.
#[test]
fn looks_widen_the_interval() {
    let mut label = Label::default();
    label.pairs(&slow(), &spread(16, -0.03, 0.03));
    label.pairs(&null(), &spread(16, 0.0, 0.003));
    label.registered(&Compare { looks: Some(3), ..Compare::default() });
    let seen = |label: &Label| {
        let comparison = label.compared();
        let slow = throughput(&comparison, "slow").clone();
        let [low, high] = slow.interval_percent.unwrap();
        let extra = slow.flags.contains(&"extra_looks".to_owned());
        (slow.alpha.unwrap(), high - low, extra, comparison.notes.clone(), comparison.tables.looks)
    };
    let (alpha, width, extra, notes, looks) = seen(&label);
    assert_eq!((alpha, extra, notes.len(), looks.len()), (0.05, false, 0, 0));
    label.looks = vec![8, 16];
    let (second, wider, extra, notes, looks) = seen(&label);
    // |z| > 2.45 at the second of three looks.
    assert!((second - 0.0141).abs() < 2e-4 && wider > width && !extra, "{second} {wider}");
    assert_eq!(notes, ["look 2 of 3 registered: alpha 0.0141, so that intervals are at 98.59 %"]);
    assert_eq!(looks.len(), 2);
    label.looks = vec![8, 10, 12, 16];
    let (_, _, extra, notes, _) = seen(&label);
    assert!(extra && notes[0].starts_with("look 4 of 3 registered"), "{notes:?}");
    // Nobody registered any: the first is free, and has no note.
    label.registered(&Compare::default());
    label.looks = vec![16];
    let (alpha, _, extra, notes, _) = seen(&label);
    assert_eq!((alpha, extra, notes.len()), (0.05, false, 0));
    label.looks = vec![8, 16];
    let (alpha, _, extra, notes, _) = seen(&label);
    assert!(alpha < 0.05 && !extra && notes[0].starts_with("look 2 and only one is free"));
}

/// K-082: another baseline turns the ratio round; controls keep what they repeat.
#[test]
fn another_baseline_is_asked_for_or_registered() {
    let mut label = eight();
    label.pairs(&level("third", 3, None), &spread(8, 0.1, 0.004));
    let asked = label.compared_with(&CompareOptions { baseline: some("slow"), ..options() });
    let asked = asked.unwrap();
    let pairs: Vec<(&str, &str)> = asked
        .contrasts
        .iter()
        .filter(|contrast| contrast.primary)
        .map(|contrast| (contrast.level.as_str(), contrast.baseline.as_str()))
        .collect();
    assert_eq!(pairs, [("base", "slow"), ("null", "base"), ("third", "slow")]);
    let plain = label.compared();
    let (back, forth) = (throughput(&asked, "base"), throughput(&plain, "slow"));
    assert!((back.ratio.unwrap() * forth.ratio.unwrap() - 1.0).abs() < 1e-12);
    assert_eq!((back.verdict.as_str(), forth.verdict.as_str()), ("faster", "slower"));
    // Registered, it is the same without asking; and what is asked for wins.
    label.registered(&Compare {
        baseline: [("target".to_owned(), "slow".to_owned())].into(),
        ..Compare::default()
    });
    assert_eq!(throughput(&label.compared(), "base").ratio, back.ratio);
    let asked = label.compared_with(&CompareOptions { baseline: some("base"), ..options() });
    assert_eq!(throughput(&asked.unwrap(), "slow").ratio, forth.ratio);
}

/// W-041: 231 s against 145 s. One base is 59 % below the other's figure, the other 37 % above.
#[test]
fn a_percentage_is_of_its_baseline_and_of_nothing_else() {
    let change = |baseline: f64, level: f64| {
        let mut label = Label::default();
        for block in 1..=6 {
            label.run(block, 1, &[base()], baseline);
            label.run(block, 2, &[slow()], level);
        }
        let comparison = label.compared();
        let slow = throughput(&comparison, "slow").clone();
        assert_eq!((slow.baseline_value, slow.level_value), (Some(baseline), Some(level)));
        slow.effect_percent.unwrap()
    };
    assert_eq!(format!("{:+.0}", change(145.0, 231.0)), "+59");
    assert_eq!(format!("{:+.0}", change(231.0, 145.0)), "-37");
}

/// What is shown is a choice, what is found is not: verdicts, corrections and controls stay.
#[test]
fn selecting_hides_and_changes_nothing() {
    let mut label = Label::default();
    for (index, size) in [(0_u32, "1k"), (1, "64k")] {
        let size = other("size", size, index, false);
        for block in 1..=8 {
            label.run(block, 10 * index + 1, &[base(), size.clone()], 800.0);
            label.run(block, 10 * index + 2, &[slow(), size.clone()], 760.0);
            label.run(block, 10 * index + 3, &[null(), size.clone()], 800.0);
        }
    }
    let whole = label.compared();
    let shown = |options: &CompareOptions| {
        let mut comparison = whole.clone();
        select(&mut comparison, options).unwrap();
        for contrast in &comparison.contrasts {
            assert!(whole.contrasts.contains(contrast), "a shown contrast is one of the whole");
        }
        comparison.contrasts
    };
    let metrics = CompareOptions { metrics: vec!["p50".into(), "p99".into()], ..options() };
    assert_eq!(shown(&metrics).len(), 8);
    let cells = |group: &str| {
        let group = CompareOptions { group: some(group), ..options() };
        let mut cells: Vec<(String, String)> = shown(&group)
            .into_iter()
            .filter(|contrast| contrast.primary)
            .map(|contrast| (contrast.level, contrast.cell))
            .collect();
        cells.sort();
        cells.into_iter().map(|(level, cell)| format!("{level} in {cell}")).collect::<Vec<_>>()
    };
    assert_eq!(cells("64k"), ["null in *+64k", "slow in *+64k"]);
    assert_eq!(cells("slow+*"), ["slow in *+1k", "slow in *+64k"]);
    assert_eq!(cells("\u{2a}+1k"), ["null in *+1k", "slow in *+1k"]);
    assert_eq!(cells("*"), ["null in *+1k", "null in *+64k", "slow in *+1k", "slow in *+64k"]);
}
