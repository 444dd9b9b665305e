//! The generator's own figures of a foreign run, beside the truth.

use record::digest::Digest;
use record::foreign::OwnFigure;

use crate::text::{NONE, count, duration, number, share, signed_percent};

/// One line about the tool: how it was asked and how it measures.
pub(crate) fn about(digest: &Digest) -> Vec<String> {
    let Some(run) = &digest.foreign else { return Vec::new() };
    let mut lines = vec![format!(
        "`{}` by the adapter `{}`{}. Its latencies run {}.",
        run.generator,
        run.adapter,
        run.own.version.as_ref().map_or_else(String::new, |version| format!(", {version}")),
        run.habits.clock
    )];
    lines.push(
        "Throughput is what the mock counted. Latencies of this run are the tool's own; the truth is \
         the mock's, from a request read to its answer written."
            .to_owned(),
    );
    if let Some(warmup) = &run.warmup {
        let of = |count: Option<u64>| count.map_or_else(|| NONE.to_owned(), crate::text::count);
        lines.push(format!(
            "The warm-up was an invocation of its own: {} requests by the tool, {} at the mock; none \
             of them is in a figure here.",
            of(warmup.requests),
            of(warmup.witnessed)
        ));
    }
    lines.extend(run.own.remarks.iter().map(|remark| format!("It says: {remark}.")));
    lines
}

/// The columns of the panel.
pub(crate) const HEADER: [&str; 5] = ["figure", "its own", "at the mock", "difference", "why"];

/// A row of the panel.
pub(crate) fn row(figure: &OwnFigure) -> [String; 5] {
    let shown =
        |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |value| in_unit(figure, value));
    let difference = match (figure.own, figure.truth) {
        (Some(own), Some(truth)) if truth > 0.0 => signed_percent(100.0 * (own / truth - 1.0)),
        _ => NONE.to_owned(),
    };
    let why = if figure.causes.is_empty() { NONE.to_owned() } else { figure.causes.join("; ") };
    [figure.figure.clone(), shown(figure.own), shown(figure.truth), difference, why]
}

fn in_unit(figure: &OwnFigure, value: f64) -> String {
    match figure.unit.as_str() {
        "ns" => duration(Some(value as u64)),
        "requests" => count(value as u64),
        "share" => share(value),
        _ => format!("{} {}", number(value), figure.unit),
    }
}
