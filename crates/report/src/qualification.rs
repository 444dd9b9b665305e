//! The text of `assay host qualify`: the spread of a null against its bound, and what the planned
//! matrix sees with it.

use record::qualification::Qualification;

use crate::grid::wrapped;
use crate::text::{NONE, duration};

/// Renders a qualification.
#[must_use]
pub fn qualification_text(found: &Qualification) -> String {
    let percent =
        |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |value| format!("{value:.2} %"));
    let mut text = format!("{}: null of cell {}, {}\n", found.bench, found.cell, found.metric);
    if let Some(standing) = &found.standing {
        text.push_str(&wrapped(&format!("host grade {}", standing.headline())));
    }
    text.push_str(&format!(
        "{} of {} pairs: mean {}, sd {}, bound {}: {}\n",
        found.pairs,
        found.pairs_asked,
        percent(found.mean_percent),
        percent(found.sd_percent),
        percent(Some(found.bound_percent)),
        match found.word.as_str() {
            "holds" => "holds",
            "fails" => "FAILS",
            _ => "cannot be told, too few valid pairs",
        }
    ));
    for line in reach(found) {
        text.push_str(&wrapped(&line));
    }
    text
}

/// `this host can see 3.1 % in 12 pairs, 22 min; 1 % is out of reach`.
fn reach(found: &Qualification) -> Vec<String> {
    let resolution = &found.resolution;
    let Some(row) = resolution.rows.first() else { return Vec::new() };
    let planned = &resolution.planned;
    let took = planned.time_ns.map_or_else(String::new, |ns| format!(", {}", duration(Some(ns))));
    let sees = row.detectable_percent.map_or_else(
        || "one pair shows nothing for certain".to_owned(),
        |seen| format!("this host can see {seen:.1} % in {} pairs{took}", planned.pairs),
    );
    let effect = resolution.effect_percent;
    let rest = match (resolution.word.as_str(), resolution.pairs_needed) {
        ("enough", _) => format!("{effect} % is within reach"),
        ("more_pairs", Some(needed)) => {
            let needed = needed.next_multiple_of(2);
            let cost = resolution.needed.and_then(|cost| cost.time_ns);
            let took = cost.map_or_else(String::new, |ns| format!(", {}", duration(Some(ns))));
            format!("{effect} % takes {needed} pairs{took}: `--blocks {needed}`")
        }
        _ => format!("{effect} % is out of reach"),
    };
    let mut lines = vec![format!("{sees}; {rest}")];
    lines.extend(resolution.notes.iter().map(|note| format!("- {note}")));
    lines
}

#[cfg(test)]
mod tests {
    use record::Format;
    use record::resolution::{PlanCost, Resolution, ResolutionRow};

    use super::*;

    fn found(word: &str, resolution: &str, needed: Option<u32>) -> Qualification {
        let cost = |pairs: u32| PlanCost {
            pairs,
            time_ns: Some(110_000_000_000 * u64::from(pairs)),
            disk_bytes: 0,
            price: None,
        };
        Qualification {
            format: Format::v1("assay.qualification"),
            bench: "shop".to_owned(),
            cell: "fast".to_owned(),
            label: "shop-qualification-1".to_owned(),
            standing: None,
            metric: "throughput".to_owned(),
            pairs_asked: 4,
            pairs: 4,
            mean_percent: Some(-1.66),
            sd_percent: Some(4.13),
            bound_percent: 1.0,
            word: word.to_owned(),
            resolution: Resolution {
                format: Format::v1("assay.resolution"),
                bench: "shop".to_owned(),
                pilot: "shop-qualification-1".to_owned(),
                hosts: Vec::new(),
                effect_percent: 1.0,
                alpha: 0.05,
                power: 0.8,
                word: resolution.to_owned(),
                rows: vec![ResolutionRow {
                    contrast: "qualification: null / self in *".to_owned(),
                    metric: "throughput".to_owned(),
                    pairs: 4,
                    sd_percent: 4.13,
                    sd_upper_percent: 7.2,
                    pairs_needed: needed.unwrap_or(400),
                    detectable_percent: Some(3.1),
                }],
                pairs_needed: needed,
                pairs_most: 40,
                planned: cost(12),
                needed: needed.map(cost),
                price_per_h: None,
                sd_wanted_percent: None,
                notes: vec![
                    "the pilot has 4 pairs: fewer than 6 say little about a spread".to_owned(),
                ],
            },
        }
    }

    #[test]
    fn what_this_host_can_see() {
        let text = qualification_text(&found("fails", "not_here", Some(400)));
        insta::assert_snapshot!(text, @"
        shop: null of cell fast, throughput
        4 of 4 pairs: mean -1.66 %, sd 4.13 %, bound 1.00 %: FAILS
        this host can see 3.1 % in 12 pairs, 22.0 min; 1 % is out of reach
        - the pilot has 4 pairs: fewer than 6 say little about a spread
        ");
        let more = qualification_text(&found("holds", "more_pairs", Some(17)));
        insta::assert_snapshot!(more.lines().nth(2).unwrap_or_default(), @"this host can see 3.1 % in 12 pairs, 22.0 min; 1 % takes 18 pairs, 31.2 min: `--blocks 18`");
        let enough = qualification_text(&found("holds", "enough", Some(8)));
        assert!(enough.contains("; 1 % is within reach"), "{enough}");
    }
}
