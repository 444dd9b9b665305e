use proptest::prelude::*;

use super::*;

/// Rows of samples that weigh one.
fn samples(rows: &[(&str, u64)]) -> Table {
    let mut table = Table::default();
    for (name, weight) in rows {
        let figure = Figure { weight: *weight, samples: *weight, squares: *weight as f64 };
        table.add(name, figure);
        table.total.add(figure);
    }
    table
}

fn lumps(rows: &[(&str, u64)]) -> Table {
    let mut table = Table::default();
    for (name, weight) in rows {
        table.add(name, Figure::lump(*weight));
        table.total.add(Figure::lump(*weight));
    }
    table
}

/// With a null that is the first side again: independent samples, and nothing more.
fn sides(before: Table, after: Table) -> Sides {
    let null = Some(before.clone());
    Sides { what: "cpu".to_owned(), by: "site", before, after, null, ..Sides::default() }
}

fn patterns(names: &[&str]) -> Vec<Pattern> {
    names.iter().map(|name| Pattern::new(name)).collect()
}

fn marked(view: &View) -> Vec<&str> {
    view.rows.iter().filter(|row| row.marked).map(|row| row.name.as_str()).collect()
}

/// The ledger's W-040: one site deleted, the others untouched. Their shares rise; by the controls
/// they are unchanged.
#[test]
fn a_deleted_site_leaves_the_others_unchanged() {
    let before = samples(&[
        ("a.A.gone", 4_000),
        ("a.B.one", 3_000),
        ("a.C.two", 2_000),
        ("a.D.three", 1_000),
    ]);
    let after = samples(&[("a.B.one", 3_040), ("a.C.two", 1_980), ("a.D.three", 1_010)]);
    let view = compare(&sides(before, after), &patterns(&["a.B.one", "a/C.two"]));
    assert_eq!(marked(&view), ["a.A.gone"]);
    assert_eq!(view.shares, Shares::Compared);
    assert!(view.controls.iter().all(|control| control.verdict == "holds"), "{:?}", view.controls);
    let one = view.rows.iter().find(|row| row.name == "a.B.one").expect("listed");
    assert!(
        !one.marked && one.share_after > one.share_before,
        "the share rises, the figure does not"
    );
    assert_eq!(view.left.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["a.A.gone"]);
    assert_eq!(view.total.before - view.total.after, 3_970);
}

/// The same with controls that changed themselves: shares are refused, figures are still shown.
#[test]
fn shares_are_refused_when_a_control_differs_or_cannot_tell() {
    let before = samples(&[("a.A.x", 4_000), ("a.B.one", 3_000), ("a.Few.z", 5)]);
    let after = samples(&[("a.A.x", 4_000), ("a.B.one", 2_000), ("a.Few.z", 5)]);
    let both = sides(before, after);
    let view = compare(&both, &patterns(&["a.A.x", "a.B.one", "a.Few.z", "a.Not.there"]));
    let verdicts: Vec<_> = view.controls.iter().map(|control| control.verdict.as_str()).collect();
    assert_eq!(
        verdicts,
        ["holds", "differs", "too few samples"],
        "what is not there is no control"
    );
    assert_eq!(compare(&both, &patterns(&["a.Not.there"])).shares, Shares::NoControls);
    assert_eq!(view.shares, Shares::Refused);
    assert!(view.rows.iter().all(|row| row.share_before.is_none() && row.share_after.is_none()));
    assert_eq!(view.rows[0].before, 3_000);
    assert_eq!(compare(&both, &[]).shares, Shares::NoControls);
}

/// A change within what two equal runs differ by is not marked; without a null nothing is, however
/// far it changed.
#[test]
fn marks_are_beyond_the_spread_of_equal_runs() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let rows = |values: [u64; 6]| samples(&names.into_iter().zip(values).collect::<Vec<_>>());
    let before = rows([1_000, 1_000, 1_000, 1_000, 1_000, 1_000]);
    let null = rows([1_200, 850, 1_100, 800, 1_150, 950]);
    let after = rows([1_000, 1_000, 1_000, 1_000, 1_300, 4_000]);
    let mut both = sides(before, after);
    assert_eq!(marked(&compare(&both, &[])), ["f", "e"], "beyond independent samples");
    both.null = None;
    let alone = compare(&both, &[]);
    assert_eq!((alone.spread.how.as_str(), marked(&alone).len()), ("poisson", 0));
    assert_eq!(
        (alone.rows[0].name.as_str(), alone.rows[0].bound.map(f64::round)),
        ("f", Some(283.0))
    );
    both.null = Some(null);
    let with = compare(&both, &[]);
    assert_eq!((with.spread.how.as_str(), marked(&with)), ("null", vec!["f"]));
    // Squares of the differences over the sum of both counts.
    assert_eq!(with.spread.dispersion, 137_500.0 / 12_050.0);
}

/// Twice the work in the second run: nothing changed per operation.
#[test]
fn operations_scale_the_sides() {
    let before = samples(&[("a", 1_000), ("b", 3_000)]);
    let after = samples(&[("a", 2_010), ("b", 3_000)]);
    let mut both = sides(before, after);
    both.operations = Some([10_000, 20_000]);
    both.interval_ns = Some(10_000_000);
    let view = compare(&both, &[]);
    assert_eq!(marked(&view), ["b"]);
    let b = &view.rows[0];
    assert_eq!((b.before_per_operation, b.after_per_operation), (Some(3e6), Some(1.5e6)));
    both.operations = None;
    assert_eq!(marked(&compare(&both, &[])), ["a"]);
}

/// Collapsed stacks of bytes do not say how many samples: only a null gives a spread.
#[test]
fn bytes_without_samples_are_marked_only_with_a_null() {
    let before = lumps(&[("x", 10 << 20), ("y", 40 << 20), ("z", 1 << 20)]);
    let after = lumps(&[("x", 30 << 20), ("y", 41 << 20), ("z", 1 << 20)]);
    let mut both = sides(before, after);
    both.unit = Unit::Bytes;
    both.null = None;
    let alone = compare(&both, &[]);
    assert_eq!((alone.spread.how.as_str(), marked(&alone).len()), ("unknown", 0));
    assert_eq!((alone.rows[0].name.as_str(), alone.rows[0].bound), ("x", None));
    both.null = Some(lumps(&[("x", 11 << 20), ("y", 39 << 20), ("z", 1 << 20)]));
    let with = compare(&both, &[]);
    assert_eq!(marked(&with), ["x"]);
    assert_eq!(with.rows[1].name, "y");
}

/// Trap 24: rows that differ by a hidden class's number alone are one, unchanged.
#[test]
fn numbers_of_lambdas_are_no_change() {
    let before = samples(&[("a.B$$Lambda$14.0x7f01.run", 500), ("a.C$$Lambda$15.0x7f02.run", 300)]);
    let after = samples(&[("a.B$$Lambda.0x8e03.run", 500), ("a.C$$Lambda.0x8e04.run", 300)]);
    let view = compare(&sides(before, after), &[]);
    assert_eq!(view.rows.len(), 2);
    assert!(marked(&view).is_empty() && view.left.is_empty() && view.entered.is_empty());
}

/// Traps 28 and 44: a method that calls itself deeper has no more samples than before.
#[test]
fn recursion_changes_once_per_sample() {
    let measured = |depth: usize| {
        let mut profile = crate::Profile::default();
        let stack = format!("main{}", ";a/B.fib".repeat(depth));
        for _ in 0..1_000 {
            profile.add(stack.split(';').map(str::as_bytes), Figure::sample(1));
        }
        [Measured::of(&profile, &[])]
    };
    let (before, after) = (measured(3), measured(90));
    let files = Files { before: &before, after: &after, null: Some(&before), ..Files::default() };
    let (views, _) = views(files, &[]);
    for view in &views {
        assert!(view.rows.iter().all(|row| (row.before, row.after) == (1_000, 1_000)), "{view:?}");
    }
}

/// The ledger's W-048: a trivial leaf is flagged, and a probe is asked for; a real one is not.
#[test]
fn a_trivial_leaf_asks_for_a_probe() {
    let before = samples(&[("java.lang.Enum.ordinal", 100), ("a.B.work", 100)]);
    let after = samples(&[("java.lang.Enum.ordinal", 900), ("a.B.work", 900)]);
    let notes = compare(&sides(before.clone(), after), &[]).notes;
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0].starts_with("java.lang.Enum.ordinal") && notes[0].contains("compare two runs")
    );
    assert!(compare(&sides(before.clone(), before), &[]).notes.is_empty(), "nothing changed");
}

/// The ledger's K-190: what left the largest 25 and what entered them.
#[test]
fn sites_that_left_and_entered_are_named() {
    let many = |first: &str| -> Vec<(String, u64)> {
        let mut rows: Vec<_> = (0..30).map(|n| (format!("s{n:02}"), 1_000 - n)).collect();
        rows[0].0 = first.to_owned();
        rows
    };
    let table = |rows: Vec<(String, u64)>| {
        samples(&rows.iter().map(|(name, weight)| (name.as_str(), *weight)).collect::<Vec<_>>())
    };
    let view = compare(&sides(table(many("old")), table(many("new"))), &[]);
    assert_eq!((view.left[0].name.as_str(), view.left[0].after), ("old", 0));
    assert_eq!((view.entered[0].name.as_str(), view.entered[0].before), ("new", 0));
    assert_eq!((view.left.len(), view.entered.len(), view.rest_rows), (1, 1, 31 - ROWS as u64));
    assert_eq!(marked(&view), ["new", "old"]);
}

proptest! {
    /// The two sides exchanged: the same rows are marked. A side against itself: none.
    #[test]
    fn exchange_and_identity(a in prop::collection::vec(0_u64..2_000, 1..20), b in prop::collection::vec(0_u64..2_000, 1..20)) {
        let table = |values: &[u64]| {
            let names: Vec<String> = (0..values.len()).map(|n| format!("s{n}")).collect();
            samples(&names.iter().map(String::as_str).zip(values.iter().copied()).collect::<Vec<_>>())
        };
        let (a, b) = (table(&a), table(&b));
        let set = |view: &View| -> BTreeSet<String> { marked(view).into_iter().map(str::to_owned).collect() };
        let there = compare(&sides(a.clone(), b.clone()), &[]);
        let back = compare(&sides(b, a.clone()), &[]);
        prop_assert_eq!(set(&there), set(&back));
        prop_assert!(set(&compare(&sides(a.clone(), a), &[])).is_empty());
    }
}

/// No effect: of many pairs of equal Poisson rows hardly any is marked. A threefold change: all are.
#[test]
fn chance_marks_hardly_ever_and_a_large_change_always() {
    // Sums of many small uniform steps: mean and variance 100, as Poisson's, for a fixed seed.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut draw = |mean: u64| {
        let mut hits = 0;
        for _ in 0..mean * 50 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            hits += u64::from(state.is_multiple_of(50));
        }
        hits
    };
    let (mut false_marks, mut found) = (0, 0);
    for _ in 0..200 {
        let view = compare(&sides(samples(&[("a", draw(100))]), samples(&[("a", draw(100))])), &[]);
        false_marks += marked(&view).len();
        let view = compare(&sides(samples(&[("a", draw(100))]), samples(&[("a", draw(300))])), &[]);
        found += marked(&view).len();
    }
    assert_eq!((false_marks, found), (0, 200));
}

/// Kinds of samples are paired by name; what one side lacks is named.
#[test]
fn what_only_one_side_has_is_named() {
    let measured = |what: &str| Measured {
        what: what.to_owned(),
        sites: samples(&[("a.B.m", 5_000)]),
        others: Some(("frame", samples(&[("a.B.m", 5_000)]))),
        ..Measured::default()
    };
    let before = [measured("cpu"), measured("allocation")];
    let after = [measured("cpu"), measured("lock")];
    let files = Files { before: &before, after: &after, ..Files::default() };
    let (views, absent) = views(files, &patterns(&["a.B"]));
    let shown: Vec<_> = views.iter().map(|view| (view.what.as_str(), view.by.as_str())).collect();
    assert_eq!(shown, [("cpu", "site"), ("cpu", "frame")]);
    assert_eq!(
        absent,
        ["allocation: only the first side has it", "lock: only the second side has it"]
    );
    assert!(views.iter().all(|view| view.shares == Shares::Compared));
    assert!(before[0].has(&Pattern::new("a/B")) && !before[0].has(&Pattern::new("a/C")));
}
