//! The text of `assay host doctor`: what of the machine goes along with the scatter of pairs.

use record::doctor::{Doctor, DoctorRow};

use crate::grid::{Grid, wrapped};
use crate::text::share;

/// Causes that are shown for each contrast.
const MOST: usize = 6;

/// Renders the doctor's word.
#[must_use]
pub fn doctor_text(doctor: &Doctor) -> String {
    let mut text = format!("label {}\n", doctor.label);
    for host in &doctor.hosts {
        text.push_str(&wrapped(&format!("host {}: {}", host.id, host.description)));
    }
    if doctor.contrasts.is_empty() {
        text.push_str("no contrast of a primary metric: nothing scatters\n");
    }
    for row in &doctor.contrasts {
        text.push('\n');
        text.push_str(&contrast(row));
    }
    text.push_str(&format!(
        "\nAssociation, not cause: differences of the machine between the two runs of a pair, against\n\
         the pair's distance from the mean, by ranks. Shares are of the variance and each is what\n\
         a line explains beyond the lines above it; chance is of as large a share for the best of\n\
         all, by permutation (seed {}); one contrast in {:.0} names a cause where there is none.\n",
        doctor.seed,
        1.0 / doctor.alpha
    ));
    text
}

fn contrast(row: &DoctorRow) -> String {
    let spread = row.sd_percent.map_or_else(String::new, |sd| format!(", sd {sd:.2} %"));
    let head = format!("{}: {}, {} pairs{spread}", row.contrast, row.metric, row.pairs);
    let answer = match row.word.as_str() {
        "named" => {
            let named = row.causes.iter().filter(|cause| cause.explains);
            let named: Vec<String> = named
                .map(|cause| {
                    let way = if cause.rises { "rises" } else { "falls" };
                    format!(
                        "{} explains {} (the figure {way} with it)",
                        cause.name,
                        share((cause.explained_share * 1000.0).round() / 1000.0)
                    )
                })
                .collect();
            named.join("; ")
        }
        "too_few" => "too few pairs to tell: 8 at least".to_owned(),
        _ => "nothing that was recorded explains the scatter".to_owned(),
    };
    let mut text = wrapped(&head) + &wrapped(&answer);
    if !row.causes.is_empty() {
        let mut grid =
            Grid::new("causes", &["cause", "explains", "with it", "chance", ""], "lrlrl");
        for cause in row.causes.iter().take(MOST) {
            grid.rows.push(vec![
                cause.name.clone(),
                format!("{:.1} %", cause.explained_share * 100.0),
                if cause.rises { "rises" } else { "falls" }.to_owned(),
                format!("{:.2} %", cause.p * 100.0),
                if cause.explains { "named" } else { "" }.to_owned(),
            ]);
        }
        text.push_str(&grid.terminal());
    }
    if !row.untold.is_empty() && row.word != "too_few" {
        text.push_str(&wrapped(&format!(
            "did not vary or not recorded: {}",
            row.untold.join(", ")
        )));
    }
    text
}

#[cfg(test)]
mod tests {
    use record::Format;
    use record::doctor::Cause;

    use super::*;

    #[test]
    fn the_doctor_names_ranks_and_warns() {
        let cause = |name: &str, explained_share: f64, p: f64, explains: bool| Cause {
            name: name.to_owned(),
            explained_share,
            rises: false,
            p,
            explains,
        };
        let row = |word: &str, causes: Vec<Cause>| DoctorRow {
            contrast: "target: null / base in *".to_owned(),
            metric: "throughput".to_owned(),
            pairs: 16,
            sd_percent: Some(2.2),
            word: word.to_owned(),
            causes,
            untold: vec!["clock".to_owned(), "temperature".to_owned()],
        };
        let doctor = Doctor {
            format: Format::v1("assay.doctor"),
            label: "a".to_owned(),
            hosts: Vec::new(),
            seed: 1,
            alpha: 0.05,
            contrasts: vec![
                row(
                    "named",
                    vec![
                        cause("steal", 0.823, 0.0005, true),
                        cause("interrupts", 0.02, 0.61, false),
                    ],
                ),
                row("nothing", vec![cause("steal", 0.1, 0.4, false)]),
                row("too_few", Vec::new()),
            ],
        };
        let text = doctor_text(&doctor);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text, @"
        label a

        target: null / base in *: throughput, 16 pairs, sd 2.20 %
        steal explains 82.3 % (the figure falls with it)
        causes
        cause       explains  with it   chance
        steal         82.3 %  falls     0.05 %  named
        interrupts     2.0 %  falls    61.00 %
        did not vary or not recorded: clock, temperature

        target: null / base in *: throughput, 16 pairs, sd 2.20 %
        nothing that was recorded explains the scatter
        causes
        cause  explains  with it   chance
        steal    10.0 %  falls    40.00 %
        did not vary or not recorded: clock, temperature

        target: null / base in *: throughput, 16 pairs, sd 2.20 %
        too few pairs to tell: 8 at least

        Association, not cause: differences of the machine between the two runs of a pair, against
        the pair's distance from the mean, by ranks. Shares are of the variance and each is what
        a line explains beyond the lines above it; chance is of as large a share for the best of
        all, by permutation (seed 1); one contrast in 20 names a cause where there is none.
        ");
    }
}
