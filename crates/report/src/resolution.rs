//! The text of `assay plan --resolve`: what a plan can see, what it would take, and the remedy.

use record::resolution::{PlanCost, Resolution};

use crate::text::{NONE, bytes, columns, count, duration};

/// Renders a resolution. Percentages of effects are of the baseline; spreads are standard
/// deviations of the log-ratio of a pair, in percent.
#[must_use]
pub fn resolution_text(resolution: &Resolution) -> String {
    let mut text = format!(
        "{}: can it see {} %?  by the spread of pilot {}, two-sided error {} %, power {} %\n",
        resolution.bench,
        figure(resolution.effect_percent),
        resolution.pilot,
        figure(resolution.alpha * 100.0),
        figure(resolution.power * 100.0),
    );
    for host in &resolution.hosts {
        text.push_str(&format!("host {}: {}\n", host.id, host.description));
    }
    if !resolution.rows.is_empty() {
        text.push('\n');
        text.push_str(&rows(resolution));
        text.push('\n');
        text.push_str(&costs(resolution));
    }
    text.push('\n');
    for sentence in sentences(resolution) {
        text.push_str(&sentence);
        text.push('\n');
    }
    for note in &resolution.notes {
        text.push_str(&format!("- {note}\n"));
    }
    text
}

fn rows(resolution: &Resolution) -> String {
    let planned = resolution.planned.pairs;
    let mut lines = vec![
        ["contrast", "metric", "n", "sd", "sd, at most", "pairs needed"]
            .map(str::to_owned)
            .to_vec(),
    ];
    lines[0].push(format!("{planned} pairs see"));
    for row in &resolution.rows {
        lines.push(vec![
            row.contrast.clone(),
            row.metric.clone(),
            row.pairs.to_string(),
            format!("{} %", figure(row.sd_percent)),
            format!("{} %", figure(row.sd_upper_percent)),
            count(row.pairs_needed.into()),
            row.detectable_percent.map_or_else(|| NONE.to_owned(), |p| format!("{} %", figure(p))),
        ]);
    }
    columns(&lines, "llr")
}

fn costs(resolution: &Resolution) -> String {
    let has_price = resolution.price_per_h.is_some();
    let mut lines = vec![["", "pairs", "time", "disk"].map(str::to_owned).to_vec()];
    let line = |name: &str, cost: &PlanCost| {
        let mut line = vec![
            name.to_owned(),
            count(cost.pairs.into()),
            cost.time_ns.map_or_else(|| "unknown".to_owned(), |ns| duration(Some(ns))),
            bytes(Some(cost.disk_bytes)),
        ];
        if has_price {
            let price = cost.price.map_or_else(|| "unknown".to_owned(), |p| format!("{p:.2}"));
            line.push(price);
        }
        line
    };
    if let Some(price) = resolution.price_per_h {
        lines[0].push(format!("price at {price}/h"));
    }
    lines.push(line("planned", &resolution.planned));
    if let Some(needed) = &resolution.needed {
        lines.push(line("needed", needed));
    }
    columns(&lines, "lr")
}

/// The answer and the remedy.
fn sentences(resolution: &Resolution) -> Vec<String> {
    let effect = figure(resolution.effect_percent);
    let needed = resolution.pairs_needed.map_or_else(|| NONE.to_owned(), |n| count(n.into()));
    match resolution.word.as_str() {
        "enough" => vec![format!(
            "yes: the {} planned pairs see {effect} %; {needed} would",
            resolution.planned.pairs
        )],
        "more_pairs" => vec![format!(
            "with more pairs: {effect} % needs {needed}, planned are {}; write `--blocks {}`",
            resolution.planned.pairs,
            resolution.needed.map_or(0, |cost| cost.pairs),
        )],
        "not_here" => {
            let mut sentences = vec![format!(
                "not on this host: {effect} % needs {needed} pairs, more than {} are out of reach",
                resolution.pairs_most
            )];
            let wanted = resolution.sd_wanted_percent;
            let noisiest =
                resolution.rows.iter().map(|row| row.sd_upper_percent).max_by(f64::total_cmp);
            if let Some((wanted, noisiest)) = wanted.zip(noisiest) {
                sentences.push(format!(
                    "quieten the machine before adding pairs: half the noise is worth four times \
                     the pairs;\nat a spread of {} % instead of {} % {} pairs would do",
                    figure(wanted),
                    figure(noisiest),
                    resolution.pairs_most
                ));
            }
            sentences
        }
        _ => vec!["cannot tell: the pilot shows no spread".to_owned()],
    }
}

/// Three significant digits, without needless zeros.
fn figure(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use record::Format;
    use record::compare::HostClass;
    use record::resolution::ResolutionRow;

    use super::*;

    fn resolution(word: &str, needed: u32) -> Resolution {
        let row = |contrast: &str, sd: f64, pairs_needed: u32| ResolutionRow {
            contrast: contrast.to_owned(),
            metric: "throughput".to_owned(),
            pairs: 8,
            sd_percent: sd,
            sd_upper_percent: sd * 1.353,
            pairs_needed,
            detectable_percent: Some(sd * 1.2),
        };
        Resolution {
            format: Format::v1("assay.resolution"),
            bench: "shop".to_owned(),
            pilot: "pilot-1".to_owned(),
            hosts: vec![HostClass {
                id: "13514b43".to_owned(),
                description: "AMD EPYC, x86_64, 2 cores, SMT off, Linux 6.18".to_owned(),
            }],
            effect_percent: 0.5,
            alpha: 0.05,
            power: 0.8,
            word: word.to_owned(),
            rows: vec![
                row("target: tomcat / nginx in *+1k", 4.0, needed),
                row("target: null / nginx in *+1k", 0.31, 6),
            ],
            pairs_needed: Some(needed),
            pairs_most: 40,
            planned: PlanCost {
                pairs: 12,
                time_ns: Some(1_260_000_000_000),
                disk_bytes: 9_000_000,
                price: Some(0.406),
            },
            needed: (needed > 12).then_some(PlanCost {
                pairs: needed.next_multiple_of(2),
                time_ns: Some(105_000_000_000 * u64::from(needed.next_multiple_of(2))),
                disk_bytes: 750_000 * u64::from(needed.next_multiple_of(2)),
                price: Some(0.0338 * f64::from(needed.next_multiple_of(2))),
            }),
            price_per_h: Some(1.16),
            sd_wanted_percent: Some(1.1047),
            notes: vec!["the pilot has 4 pairs: fewer than 6 say little about a spread".to_owned()],
        }
    }

    #[test]
    fn out_of_reach() {
        let text = resolution_text(&resolution("not_here", 926));
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text, @"
        shop: can it see 0.5 %?  by the spread of pilot pilot-1, two-sided error 5 %, power 80 %
        host 13514b43: AMD EPYC, x86_64, 2 cores, SMT off, Linux 6.18

        contrast                        metric      n      sd  sd, at most  pairs needed  12 pairs see
        target: tomcat / nginx in *+1k  throughput  8     4 %       5.41 %           926         4.8 %
        target: null / nginx in *+1k    throughput  8  0.31 %       0.42 %             6        0.37 %

                 pairs      time      disk  price at 1.16/h
        planned     12  21.0 min  8.58 MiB             0.41
        needed     926    27.0 h   662 MiB            31.30

        not on this host: 0.5 % needs 926 pairs, more than 40 are out of reach
        quieten the machine before adding pairs: half the noise is worth four times the pairs;
        at a spread of 1.1 % instead of 5.41 % 40 pairs would do
        - the pilot has 4 pairs: fewer than 6 say little about a spread
        ");
    }

    #[test]
    fn more_pairs_or_enough() {
        insta::assert_snapshot!(resolution_text(&resolution("more_pairs", 17)), @"
        shop: can it see 0.5 %?  by the spread of pilot pilot-1, two-sided error 5 %, power 80 %
        host 13514b43: AMD EPYC, x86_64, 2 cores, SMT off, Linux 6.18

        contrast                        metric      n      sd  sd, at most  pairs needed  12 pairs see
        target: tomcat / nginx in *+1k  throughput  8     4 %       5.41 %            17         4.8 %
        target: null / nginx in *+1k    throughput  8  0.31 %       0.42 %             6        0.37 %

                 pairs      time       disk  price at 1.16/h
        planned     12  21.0 min   8.58 MiB             0.41
        needed      18  31.5 min  12.87 MiB             0.61

        with more pairs: 0.5 % needs 17, planned are 12; write `--blocks 18`
        - the pilot has 4 pairs: fewer than 6 say little about a spread
        ");
        let mut enough = resolution("enough", 11);
        enough.price_per_h = None;
        enough.notes.clear();
        insta::assert_snapshot!(resolution_text(&enough), @"
        shop: can it see 0.5 %?  by the spread of pilot pilot-1, two-sided error 5 %, power 80 %
        host 13514b43: AMD EPYC, x86_64, 2 cores, SMT off, Linux 6.18

        contrast                        metric      n      sd  sd, at most  pairs needed  12 pairs see
        target: tomcat / nginx in *+1k  throughput  8     4 %       5.41 %            11         4.8 %
        target: null / nginx in *+1k    throughput  8  0.31 %       0.42 %             6        0.37 %

                 pairs      time      disk
        planned     12  21.0 min  8.58 MiB

        yes: the 12 planned pairs see 0.5 %; 11 would
        ");
    }

    #[test]
    fn nothing_to_go_by() {
        let mut none = resolution("unknown", 0);
        none.rows.clear();
        none.pairs_needed = None;
        insta::assert_snapshot!(resolution_text(&none), @"
        shop: can it see 0.5 %?  by the spread of pilot pilot-1, two-sided error 5 %, power 80 %
        host 13514b43: AMD EPYC, x86_64, 2 cores, SMT off, Linux 6.18

        cannot tell: the pilot shows no spread
        - the pilot has 4 pairs: fewer than 6 say little about a spread
        ");
    }
}
