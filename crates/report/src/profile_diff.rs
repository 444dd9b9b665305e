//! `assay diff`: what changed between two profiles, absolute figures first.

use record::profile_diff::{FigureChange, ProfileDiff, Shares, Side, View};
use record::units::{HumanBytes, HumanDuration};

use crate::text::{NONE, bytes, cell, columns, count, cut, duration, number, share};

/// Longest path in the table of sides.
const FILE: usize = 34;
/// Longest name in a row of absolute figures.
const NAME: usize = 46;
/// Longest name in a row of figures per operation and shares, which has more columns.
const RELATIVE_NAME: usize = 38;

/// The difference for a terminal: under 500 lines of at most 100 columns.
#[must_use]
pub fn profile_diff_text(diff: &ProfileDiff) -> String {
    let mut text = String::from("# Difference\n\n");
    let sides = [
        ("before", Some(&diff.before)),
        ("after", Some(&diff.after)),
        ("null", diff.null.as_ref()),
    ];
    let mut rows = Vec::new();
    for (word, side) in sides {
        if let Some(side) = side {
            rows.push(side_row(word, side));
        }
    }
    text.push_str(&columns(&rows, "l"));
    for side in [Some(&diff.before), Some(&diff.after), diff.null.as_ref()].into_iter().flatten() {
        for fault in &side.faults {
            text.push_str(&format!("{}\n", wrapped(&format!("{}: {fault}", side.file))));
        }
    }
    for note in &diff.notes {
        text.push_str(&format!("{}\n", wrapped(note)));
    }
    if diff.views.iter().any(|view| view.total.before_per_operation.is_some()) {
        text.push_str("\n## What changed per operation\n\n");
        for view in unique(&diff.views) {
            text.push_str(&format!("{}\n", per_operation(view)));
        }
    }
    for view in &diff.views {
        view_text(&mut text, view);
    }
    if !diff.figures.is_empty() {
        text.push_str("\n## Collector\n\n");
        let mut rows = vec![
            ["", "before", "after", "of the span before", "after"].map(str::to_owned).to_vec(),
        ];
        rows.extend(diff.figures.iter().map(figure_row));
        text.push_str(&columns(&rows, "lr"));
    }
    for absent in &diff.absent {
        text.push_str(&format!("\nnot compared: {absent}\n"));
    }
    text
}

/// One view for each kind of sample: totals do not depend on the grouping.
fn unique(views: &[View]) -> Vec<&View> {
    let mut kinds: Vec<&View> = Vec::new();
    for view in views {
        if !kinds.iter().any(|known| known.what == view.what) {
            kinds.push(view);
        }
    }
    kinds
}

fn side_row(word: &str, side: &Side) -> Vec<String> {
    let or = |value: Option<String>, none: &str| value.unwrap_or_else(|| none.to_owned());
    vec![
        word.to_owned(),
        cell(&tail(&side.file, FILE)),
        side.kind.replace('_', " "),
        or(side.span_ns.map(|ns| duration(Some(ns))), "span unknown"),
        or(side.operations.map(|n| format!("{} operations", count(n))), "operations unknown"),
        or(side.jdk.as_ref().map(|jdk| format!("JDK {}", cell(jdk))), ""),
    ]
}

fn per_operation(view: &View) -> String {
    let change = &view.total;
    let (Some(before), Some(after)) = (change.before_per_operation, change.after_per_operation)
    else {
        return format!("{}: operations unknown", view.what);
    };
    let figure = |value: f64| each_figure(view, value);
    let each = if in_samples(view) { "1,000 operations" } else { "operation" };
    let verdict = match (change.bound, change.marked) {
        (None, _) => ", spread unknown",
        _ if view.spread.how != "null" => ", not judged without --null",
        (_, true) => ", beyond the spread",
        (_, false) => ", within the spread",
    };
    format!("{}: {} to {} per {each}{verdict}", view.what, figure(before), figure(after))
}

fn view_text(text: &mut String, view: &View) {
    text.push_str(&format!("\n## {} by {}\n\n", capital(&view.what), view.by));
    text.push_str(&format!(
        "{} before, {} after, in {}.\n{}\n",
        amount(view, view.total.before as f64),
        amount(view, view.total.after as f64),
        view.unit,
        spread(view)
    ));
    for control in &view.controls {
        let change = &control.change;
        text.push_str(&format!(
            "control {}: {} to {}, {}\n",
            cell(&control.site),
            amount(view, change.before as f64),
            amount(view, change.after as f64),
            control.verdict
        ));
    }
    for note in &view.notes {
        text.push_str(&format!("{}\n", wrapped(note)));
    }
    match view.shares {
        Shares::NoControls if is_counted(view) => {}
        Shares::NoControls => text.push_str(
            "Shares are not compared: no untouched site was named that is in here (--controls).\n",
        ),
        Shares::Refused => {
            text.push_str("Shares are not compared: refused, for a control does not hold.\n");
        }
        Shares::Compared => {}
    }
    text.push('\n');
    text.push_str(&columns(&absolute(view), "llr"));
    if view.rest_rows > 0 {
        text.push_str(&format!("{} more rows changed less\n", count(view.rest_rows)));
    }
    let relative = relative(view);
    if !relative.is_empty() {
        text.push_str(&format!("\n{}\n", relative_caption(view)));
        text.push_str(&columns(&relative, "llr"));
    }
    for (word, changes) in [("left", &view.left), ("entered", &view.entered)] {
        if changes.is_empty() {
            continue;
        }
        let names: Vec<String> = changes
            .iter()
            .map(|change| {
                let (from, to) =
                    (amount(view, change.before as f64), amount(view, change.after as f64));
                format!("  {} ({from} to {to})", cell(&cut(&change.name, 80)))
            })
            .collect();
        text.push_str(&format!("{word} the largest {}:\n{}\n", view.top, names.join("\n")));
    }
}

/// Absolute figures.
fn absolute(view: &View) -> Vec<Vec<String>> {
    let counted = is_counted(view);
    let mut head = vec!["", &view.by, "before", "after", "change"];
    head.extend(if counted { &["instances", "after"][..] } else { &["bound"][..] });
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for change in &view.rows {
        let grown = change.after as f64 - change.before as f64;
        let sign = match grown {
            more if more > 0.0 => "+",
            less if less < 0.0 => "-",
            _ => "",
        };
        let mut row = vec![
            // A mark of its own column: no colour is needed to see it.
            if change.marked { "*".to_owned() } else { String::new() },
            cell(&tail(&change.name, NAME)),
            amount(view, change.before as f64),
            amount(view, change.after as f64),
            format!("{sign}{}", amount(view, grown.abs())),
        ];
        if counted {
            let of = |count_of: Option<u64>| count_of.map_or_else(|| NONE.to_owned(), count);
            row.extend([of(change.instances_before), of(change.instances_after)]);
        } else {
            let bound = change.bound.map(|bound| format!("±{}", amount(view, bound)));
            row.push(bound.unwrap_or_else(|| NONE.to_owned()));
        }
        rows.push(row);
    }
    rows
}

/// Figures per operation and shares, where they may be compared; nothing otherwise.
fn relative(view: &View) -> Vec<Vec<String>> {
    let per_operation = view.total.before_per_operation.is_some();
    let shares = view.shares == Shares::Compared;
    if !per_operation && !shares {
        return Vec::new();
    }
    let mut head = vec!["", &view.by];
    if per_operation {
        head.extend(["before", "after", "change"]);
    }
    if shares {
        head.extend(["share", "after"]);
    }
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for change in &view.rows {
        let mark = if change.marked { "*" } else { "" };
        let mut row = vec![mark.to_owned(), cell(&tail(&change.name, RELATIVE_NAME))];
        if per_operation {
            let (before, after) = (change.before_per_operation, change.after_per_operation);
            let more = after.unwrap_or(0.0) - before.unwrap_or(0.0);
            let sign = if more < 0.0 { "-" } else { "+" };
            row.extend([before, after].map(|value| each_figure(view, value.unwrap_or(0.0))));
            row.push(format!("{sign}{}", each_figure(view, more.abs())));
        }
        if shares {
            let of = |value: Option<f64>| {
                value.map_or_else(|| NONE.to_owned(), |value| format!("{:.1} %", value * 100.0))
            };
            row.extend([of(change.share_before), of(change.share_after)]);
        }
        rows.push(row);
    }
    rows
}

/// What the columns of figures per operation and of shares are of.
fn relative_caption(view: &View) -> String {
    let each = if in_samples(view) { "1,000 operations" } else { "operation" };
    let shares = format!("shares of all {} of their side", view.unit);
    match (view.total.before_per_operation.is_some(), view.shares == Shares::Compared) {
        (true, true) => format!("Per {each}, and {shares}:"),
        (true, false) => format!("Per {each}:"),
        _ => format!("As {shares}:"),
    }
}

/// A sentence over lines of at most 100 columns.
fn wrapped(sentence: &str) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in sentence.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 100 {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += length;
    }
    text
}

fn is_counted(view: &View) -> bool {
    view.spread.how == "counted"
}

/// Whether a figure per operation is in samples, for want of their interval.
fn in_samples(view: &View) -> bool {
    view.unit == "samples" && view.interval_ns.is_none()
}

/// A figure per operation; samples per 1,000.
fn each_figure(view: &View, value: f64) -> String {
    match view.unit.as_str() {
        "bytes" => format!("{} B", number(value)),
        _ if in_samples(view) => number(value * 1e3),
        _ => HumanDuration(value).to_string(),
    }
}

/// The end of a long name tells more than its start.
fn tail(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let kept: String = name.chars().skip(length - most + 1).collect();
    format!("…{kept}")
}

fn amount(view: &View, value: f64) -> String {
    match view.unit.as_str() {
        "bytes" => HumanBytes(value).to_string(),
        "ns" => HumanDuration(value).to_string(),
        _ => count(value.round() as u64),
    }
}

fn spread(view: &View) -> String {
    let spread = &view.spread;
    match spread.how.as_str() {
        "null" => format!(
            "Marked * beyond the spread of two equal runs: {} deviations, {:.3} times those of\n\
             independent samples.",
            spread.deviations,
            spread.dispersion.sqrt()
        ),
        "poisson" => format!(
            "Nothing is marked: without a second run of the first side (--null) nothing can be said to\n\
             be beyond noise. The bound is {} deviations of independent samples, the least that equal\n\
             runs differ by.",
            spread.deviations
        ),
        "counted" => "Counted, not sampled: there is no spread within a pair, and none between \
                      pairs is known."
            .to_owned(),
        _ => "Nothing is marked: without a second run of the first side (--null) nothing can be said \
              to\nbe beyond noise, and the samples behind the figures are not known."
            .to_owned(),
    }
}

fn figure_row(figure: &FigureChange) -> Vec<String> {
    let value = |value: u64| match figure.unit.as_str() {
        "ns" => duration(Some(value)),
        "bytes" => bytes(Some(value)),
        _ => count(value),
    };
    let of = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), share);
    vec![
        figure.name.clone(),
        value(figure.before),
        value(figure.after),
        of(figure.share_before),
        of(figure.share_after),
    ]
}

fn capital(word: &str) -> String {
    if let Some(rest) = word.strip_prefix("cpu") {
        return format!("CPU{rest}");
    }
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use record::Format;
    use record::profile_diff::{Change, Control, Spread};

    use super::*;

    fn change(name: &str, before: u64, after: u64, marked: bool) -> Change {
        Change {
            name: name.to_owned(),
            before,
            after,
            before_per_operation: Some(before as f64 * 1e4),
            after_per_operation: Some(after as f64 * 1e4),
            bound: Some(120.0),
            marked,
            ..Change::default()
        }
    }

    fn diff(shares: Shares) -> ProfileDiff {
        let side = |file: &str| Side {
            file: file.to_owned(),
            kind: "jfr".to_owned(),
            span_ns: Some(25_000_000_000),
            operations: Some(1_000),
            ..Side::default()
        };
        ProfileDiff {
            format: Format::v1("assay.profile_diff"),
            before: side("a.jfr"),
            after: side("b.jfr"),
            null: None,
            views: vec![View {
                what: "cpu".into(),
                by: "site".into(),
                unit: "samples".into(),
                interval_ns: Some(10_000_000),
                total: change("(all)", 1_000, 1_400, true),
                spread: Spread { how: "null".into(), dispersion: 1.44, deviations: 4.0 },
                controls: vec![Control {
                    site: "a.B.c".into(),
                    change: change("a.B.c", 300, 310, false),
                    verdict: "holds".into(),
                }],
                shares,
                rows: vec![
                    Change {
                        share_before: Some(0.1),
                        share_after: Some(0.3),
                        ..change("x.Y.grown", 100, 420, true)
                    },
                    change("x.Y.same", 300, 310, false),
                ],
                rest_rows: 7,
                left: vec![change("x.Y.gone", 80, 0, false)],
                entered: vec![],
                top: 25,
                notes: vec!["x.Y.size is a trivial accessor: prove it".into()],
            }],
            figures: vec![FigureChange {
                name: "time in pauses".into(),
                unit: "ns".into(),
                before: 250_000_000,
                after: 200_000_000,
                share_before: Some(0.01),
                share_after: Some(0.02),
            }],
            absent: vec!["allocation: b.jfr has none".into()],
            notes: vec![],
        }
    }

    #[test]
    fn a_page() {
        insta::assert_snapshot!(profile_diff_text(&diff(Shares::Compared)), @r"
    # Difference

    before  a.jfr  jfr  25.0 s  1,000 operations
    after   b.jfr  jfr  25.0 s  1,000 operations

    ## What changed per operation

    cpu: 10.0 ms to 14.0 ms per operation, beyond the spread

    ## CPU by site

    1,000 before, 1,400 after, in samples.
    Marked * beyond the spread of two equal runs: 4 deviations, 1.200 times those of
    independent samples.
    control a.B.c: 300 to 310, holds
    x.Y.size is a trivial accessor: prove it

       site       before  after  change  bound
    *  x.Y.grown     100    420    +320   ±120
       x.Y.same      300    310     +10   ±120
    7 more rows changed less

    Per operation, and shares of all samples of their side:
       site        before    after    change   share   after
    *  x.Y.grown  1.00 ms  4.20 ms  +3.20 ms  10.0 %  30.0 %
       x.Y.same   3.00 ms  3.10 ms   +100 us       -       -
    left the largest 25:
      x.Y.gone (80 to 0)

    ## Collector

                    before   after  of the span before  after
    time in pauses  250 ms  200 ms                 1 %    2 %

    not compared: allocation: b.jfr has none
    ");
    }

    /// The ledger's W-040: without controls that hold no share is shown.
    #[test]
    fn shares_are_shown_only_when_controls_hold() {
        for (shares, said) in [
            (Shares::Refused, "refused, for a control does not hold"),
            (Shares::NoControls, "no untouched site was named"),
        ] {
            let text = profile_diff_text(&diff(shares));
            assert!(text.contains(said) && !text.contains("shares of all"), "{text}");
        }
    }

    /// Without a null no row is marked, and the page says why and how.
    #[test]
    fn without_a_null_it_is_said_that_nothing_can_be_marked() {
        let mut diff = diff(Shares::NoControls);
        diff.views[0].rows[0].marked = false;
        for how in ["poisson", "unknown"] {
            diff.views[0].spread.how = how.into();
            let text = profile_diff_text(&diff);
            assert!(text.contains("without a second run of the first side (--null)"), "{text}");
            assert!(text.contains("not judged without --null"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        }
    }
}
