//! What stands beside the contrasts: medians of the cells, geometric means, manipulation checks,
//! rival explanations, drift, contamination, rehearsals, looks and variances, a table for each that
//! there is.

use record::compare::{CellRow, Estimate, Tables};

use super::markup::Markup;
use super::table::Table;
use crate::text::{NONE, in_unit, share, signed_percent};

/// Writes the tables that are not empty; says so when all are.
pub(crate) fn tables(markup: &mut Markup, tables: &Tables, primaries: &[&str]) {
    let all = [
        manipulations(tables),
        hypotheses(tables),
        geomeans(tables),
        geomean_rows(tables),
        drifts(tables),
        cells(tables, primaries, true),
        contaminations(tables),
        rehearsals(tables),
        variances(tables),
        looks(tables),
    ];
    let others = cells(tables, primaries, false);
    markup.open("section", &[("aria-labelledby", &"beside")]);
    markup.element("h2", &[("id", &"beside"), ("tabindex", &"-1")], "Beside the contrasts");
    if all.iter().all(Table::is_empty) {
        markup.element("p", &[], "No further table was derived.");
    }
    for table in all.iter().filter(|table| !table.is_empty()) {
        table.write(markup);
    }
    others.fold(markup);
    markup.close();
}

fn estimate(estimate: Option<Estimate>) -> String {
    let Some(Estimate { value, interval }) = estimate else { return NONE.to_owned() };
    match interval {
        Some([low, high]) => format!("{} [{low:+.2}, {high:+.2}]", signed_percent(value)),
        None => signed_percent(value),
    }
}

fn optional(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), show)
}

fn manipulations(tables: &Tables) -> Table {
    let mut table = Table::new(
        "manipulation checks: what the factor was meant to change",
        &[
            "level / baseline",
            "factor",
            "cell",
            "metric",
            "#baseline at",
            "#level at",
            "#least difference",
            "differs",
        ],
    );
    for row in &tables.manipulations {
        table.row(vec![
            format!("{} / {}", row.level, row.baseline),
            row.factor.clone(),
            row.cell.clone(),
            row.metric.clone(),
            optional(row.baseline_value, crate::text::number),
            optional(row.level_value, crate::text::number),
            share(row.least),
            if row.differs { "yes" } else { "no: its contrasts are withheld" }.to_owned(),
        ]);
    }
    table
}

fn hypotheses(tables: &Tables) -> Table {
    let mut table = Table::new(
        "rival explanations, change in percent of the baseline",
        &[
            "explanation",
            "contrast",
            "metric",
            "#predicted",
            "#measured",
            "#distance in sd",
            "nearest",
            "word",
        ],
    );
    for row in &tables.hypotheses {
        table.row(vec![
            row.name.clone(),
            row.contrast.clone(),
            row.metric.clone(),
            signed_percent(row.predicted_percent),
            optional(row.measured_percent, signed_percent),
            optional(row.distance_sd, |sd| format!("{sd:.1}")),
            if row.nearest { "yes" } else { "no" }.to_owned(),
            row.word.clone(),
        ]);
    }
    table
}

fn geomeans(tables: &Tables) -> Table {
    let mut table = Table::new(
        "geometric means over matched rows, change in percent of the baseline",
        &[
            "level / baseline",
            "factor",
            "over",
            "metric",
            "#rows",
            "#change",
            "#better",
            "#worse",
            "#neither",
            "worst",
        ],
    );
    for row in &tables.geomeans {
        table.row(vec![
            format!("{} / {}", row.level, row.baseline),
            row.factor.clone(),
            row.over.clone(),
            row.metric.clone(),
            row.rows.len().to_string(),
            estimate(row.effect_percent),
            row.better.to_string(),
            row.worse.to_string(),
            row.equal.to_string(),
            row.worst.clone().unwrap_or_else(|| NONE.to_owned()),
        ]);
    }
    table
}

fn geomean_rows(tables: &Tables) -> Table {
    let mut table = Table::new(
        "rows of the geometric means",
        &["row", "level / baseline", "metric", "#weight", "#ratio", "verdict", "place"],
    );
    for mean in &tables.geomeans {
        let arms = format!("{} / {}", mean.level, mean.baseline);
        let places = [(&mean.rows, "in the mean"), (&mean.guards, "guard, beside the mean")];
        for (row, place) in
            places.iter().flat_map(|(rows, place)| rows.iter().map(move |r| (r, place)))
        {
            table.row(vec![
                row.row.clone(),
                arms.clone(),
                mean.metric.clone(),
                format!("{}", row.weight),
                format!("{:.4}", row.ratio),
                row.verdict.clone(),
                (*place).to_owned(),
            ]);
        }
        for left in &mean.left_out {
            let none = || NONE.to_owned();
            let why = format!("left out: {}", left.reason);
            let row = vec![
                left.run.clone(),
                arms.clone(),
                mean.metric.clone(),
                none(),
                none(),
                none(),
                why,
            ];
            table.row(row);
        }
    }
    table
}

fn drifts(tables: &Tables) -> Table {
    let mut table = Table::new(
        "drift of cells that nothing changed, percent of the first block",
        &["cell", "metric", "#change", "drifted", "#since block", "affects"],
    );
    for row in &tables.drifts {
        table.row(vec![
            row.cell.clone(),
            row.metric.clone(),
            estimate(Some(row.change_percent)),
            if row.drifted { "yes" } else { "no" }.to_owned(),
            row.since_block.map_or_else(|| NONE.to_owned(), |block| block.to_string()),
            if row.affected.is_empty() { NONE.to_owned() } else { row.affected.join(", ") },
        ]);
    }
    table
}

/// The medians of the primary metrics, or of all others.
fn cells(tables: &Tables, primaries: &[&str], primary: bool) -> Table {
    let caption = if primary {
        "medians of the cells over their valid runs, primary metrics"
    } else {
        "medians of the cells over their valid runs, all other metrics"
    };
    let mut table = Table::new(
        caption,
        &[
            "cell",
            "metric",
            "kind",
            "#median",
            "#interval",
            "#coverage",
            "#half range",
            "#valid",
            "#runs",
            "flags",
        ],
    );
    let shown = |row: &&CellRow| primaries.contains(&row.metric.as_str()) == primary;
    for row in tables.cells.iter().filter(shown) {
        let bound = |value| in_unit(Some(value), &row.unit);
        table.row(vec![
            row.cell.clone(),
            row.metric.clone(),
            row.kind.clone(),
            in_unit(row.median, &row.unit),
            row.interval.map_or_else(
                || NONE.to_owned(),
                |[low, high]| format!("{} to {}", bound(low), bound(high)),
            ),
            optional(row.coverage, share),
            optional(row.half_range_share, share),
            row.valid.to_string(),
            row.runs.to_string(),
            row.flags.join(", "),
        ]);
    }
    table
}

fn contaminations(tables: &Tables) -> Table {
    let mut table = Table::new(
        "contamination of the cells by their worst run",
        &["cell", "fact", "#worst", "run", "#runs that have it", "#runs"],
    );
    for row in &tables.contaminations {
        table.row(vec![
            row.cell.clone(),
            row.fact.clone(),
            in_unit(row.worst, &row.unit),
            row.run.clone(),
            row.affected.to_string(),
            row.runs.to_string(),
        ]);
    }
    table
}

fn rehearsals(tables: &Tables) -> Table {
    let mut table = Table::new(
        "rehearsals of the warm-up: whether the effect depends on its length",
        &["contrast", "metric", "effect by warm-up", "#range, points", "#noise, points", "word"],
    );
    for row in &tables.rehearsals {
        let points: Vec<String> = row
            .points
            .iter()
            .map(|point| format!("{}: {}", point.warmup, estimate(point.effect_percent)))
            .collect();
        table.row(vec![
            row.contrast.clone(),
            row.metric.clone(),
            points.join("; "),
            optional(row.range_percent, |points| format!("{points:.2}")),
            optional(row.noise_percent, |points| format!("{points:.2}")),
            row.word.clone(),
        ]);
    }
    table
}

fn variances(tables: &Tables) -> Table {
    let mut table = Table::new(
        "variance by level of repetition, standard deviation in percent",
        &["of", "metric", "standard deviations", "best repetitions"],
    );
    for row in &tables.variances {
        let sd: Vec<String> =
            row.sd_percent.iter().map(|(level, sd)| format!("{level} {sd:.2} %")).collect();
        let best: Vec<String> =
            row.repetitions.iter().map(|(level, n)| format!("{level} {n}")).collect();
        table.row(vec![row.of.clone(), row.metric.clone(), sd.join(", "), best.join(", ")]);
    }
    table
}

fn looks(tables: &Tables) -> Table {
    let mut table = Table::new(
        "looks at the data of this label",
        &["when (UTC)", "#blocks", "#error it may spend", "verdicts"],
    );
    for row in &tables.looks {
        let verdicts: Vec<String> =
            row.verdicts.iter().map(|(contrast, word)| format!("{contrast}: {word}")).collect();
        table.row(vec![
            row.at_utc.clone(),
            row.blocks.to_string(),
            share(row.alpha),
            verdicts.join("; "),
        ]);
    }
    table
}
