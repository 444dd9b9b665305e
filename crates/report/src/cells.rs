//! Tables of cells: for each figure one row a cell, with the true coverage of its interval and
//! every run as a dot; then what is wrong with which cell.

use record::compare::{CellRow, Contamination, Tables};

use crate::compare::Show;
use crate::section::Section;
use crate::text::{NONE, in_unit, share};

/// Names of the columns of one metric.
const HEADER: [&str; 8] =
    ["cell", "valid", "median", "interval", "coverage", "± half range", "generator", "runs"];
/// The gate that says of a generator that it was busy enough to colour the figures.
const TOO_BUSY: &str = "generator_cpu_flag";
/// Columns of the strip of dots.
const STRIP: usize = 15;

/// Figures from which others are made, and those of everything but the target: in the JSON only.
const BOOKKEEPING: [&str; 10] = [
    "requests",
    "requests_sent",
    "window",
    "generator.cpu",
    "generator.rss_peak",
    "generator.pss_peak",
    "generator.threads_peak",
    "generator.descriptors_peak",
    "host.busy",
    "mock.distinct_ports",
];

fn is_shown(row: &CellRow) -> bool {
    !row.metric.starts_with("parent.") && !BOOKKEEPING.contains(&row.metric.as_str())
}

/// One table of all figures that are shown, for a page; then the remarks.
pub(crate) fn one_table(tables: &Tables) -> Vec<Section> {
    let of = |line: &CellRow| {
        let mut values = row(line);
        let kind = match &line.formula {
            Some(formula) => format!("{}: {formula}", line.kind),
            None => line.kind.clone(),
        };
        values.splice(0..0, [line.metric.clone()]);
        values.push(kind);
        values
    };
    let mut header = vec!["metric"];
    header.extend(HEADER);
    header.push("kind");
    let rows = tables.cells.iter().filter(|row| is_shown(row));
    let mut by_metric: Vec<(&str, Vec<Vec<String>>)> = Vec::new();
    for line in rows {
        match by_metric.iter_mut().find(|(metric, _)| *metric == line.metric) {
            Some((_, known)) => known.push(of(line)),
            None => by_metric.push((&line.metric, vec![of(line)])),
        }
    }
    let table = Section {
        title: "Cells, median over valid runs".to_owned(),
        header,
        align: "llrrrrrrll",
        rows: by_metric.into_iter().flat_map(|(_, rows)| rows).collect(),
        lines: Vec::new(),
    };
    vec![table, doubts(tables)]
}

/// One section for each metric that is shown; then one of remarks.
pub(crate) fn sections(tables: &Tables, primary: &[&str], show: Show) -> Vec<Section> {
    let mut metrics: Vec<&str> = Vec::new();
    for row in tables.cells.iter().filter(|row| is_shown(row)) {
        let shown = show != Show::Primary || primary.contains(&row.metric.as_str());
        if shown && !metrics.contains(&row.metric.as_str()) {
            metrics.push(&row.metric);
        }
    }
    let mut sections: Vec<Section> =
        metrics.iter().map(|metric| of_metric(&tables.cells, metric)).collect();
    sections.push(doubts(tables));
    sections
}

fn doubts(tables: &Tables) -> Section {
    let mut lines = remarks(&tables.cells);
    lines.extend(contaminations(&tables.contaminations));
    Section {
        title: "doubts about cells, by the worst of their runs".to_owned(),
        lines,
        ..Section::default()
    }
}

fn of_metric(cells: &[CellRow], metric: &str) -> Section {
    let rows: Vec<&CellRow> = cells.iter().filter(|row| row.metric == metric).collect();
    let derived = rows.iter().find_map(|row| row.formula.as_ref());
    let how = derived.map_or_else(
        || "median over valid runs".to_owned(),
        |formula| format!("{formula}, each a median over valid runs"),
    );
    Section {
        title: format!("cells: {metric} ({}; {how})", rows[0].kind),
        header: HEADER.to_vec(),
        align: "lrrrrrrl",
        rows: rows.into_iter().map(row).collect(),
        lines: Vec::new(),
    }
}

fn row(row: &CellRow) -> Vec<String> {
    let value = |value: f64| in_unit(Some(value), &row.unit);
    let centre = match row.median {
        Some(median) => value(median),
        None if row.flags.iter().any(|flag| flag == "unstable") => "unstable".to_owned(),
        None => "excluded".to_owned(),
    };
    vec![
        row.cell.clone(),
        format!("{}/{}", row.valid, row.runs),
        centre,
        row.interval.map_or_else(
            || NONE.to_owned(),
            |[low, high]| format!("[{}, {}]", value(low), value(high)),
        ),
        row.coverage.map_or_else(|| NONE.to_owned(), |c| format!("{:.1} %", c * 100.0)),
        row.half_range_share.map_or_else(|| NONE.to_owned(), |s| format!("{:.2} %", s * 100.0)),
        generator(row),
        strip(row),
    ]
}

/// How busy the generator was at most, of its cores; with a mark where a gate says too busy.
fn generator(row: &CellRow) -> String {
    let mark = if row.flags.iter().any(|flag| flag == TOO_BUSY) { " !" } else { "" };
    row.generator_busy_share
        .map_or_else(|| NONE.to_owned(), |share| format!("{:.0} %{mark}", share * 100.0))
}

/// Every run on a line from the smallest to the largest value: `o` one, `8` two, `#` more.
fn strip(row: &CellRow) -> String {
    let values = || row.values.iter().map(|(_, value)| *value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::MIN, f64::max));
    if row.values.is_empty() {
        return NONE.to_owned();
    }
    let mut counts = [0_usize; STRIP];
    for value in values() {
        let at = if high > low { (value - low) / (high - low) } else { 0.5 };
        counts[(at * (STRIP - 1) as f64).round() as usize] += 1;
    }
    let dot = |count: &usize| match count {
        0 => '-',
        1 => 'o',
        2 => '8',
        _ => '#',
    };
    counts.iter().map(dot).collect()
}

/// What is wrong with rows, one line for each kind of doubt and metric.
fn remarks(cells: &[CellRow]) -> Vec<String> {
    let mut lines = Vec::new();
    let has = |row: &CellRow, flag: &str| row.flags.iter().any(|own| own == flag);
    // A figure alone may lack samples, which its table shows; a cell without figures lacks runs.
    let mut names: Vec<&str> = cells.iter().map(|row| row.cell.as_str()).collect();
    names.dedup();
    for name in names {
        let own = || cells.iter().filter(|row| row.cell == name);
        if own().all(|row| has(row, "few_runs")) {
            let valid = own().map(|row| row.valid).max().unwrap_or_default();
            let runs = own().map(|row| row.runs).max().unwrap_or_default();
            lines.push(format!(
                "few_runs: {name} with {valid} of {runs} runs valid is shown and excluded: a cell \
                 counts from 2 valid runs on"
            ));
        }
    }
    for row in cells.iter().filter(|row| has(row, "unstable")) {
        lines.push(format!(
            "unstable: {} of {} {}: identical runs, so probably a race or the depth of a queue; \
             not averaged",
            row.metric,
            row.cell,
            from_to(row)
        ));
    }
    for row in cells.iter().filter(|row| has(row, "spread")) {
        lines.push(format!(
            "spread: {} of {} {}, ± {} of its median: the same configuration should reproduce to 5 \
             %; quieten the host",
            row.metric,
            row.cell,
            from_to(row),
            share(row.half_range_share.unwrap_or_default())
        ));
    }
    lines
}

fn from_to(row: &CellRow) -> String {
    let values = || row.values.iter().map(|(_, value)| *value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::MIN, f64::max));
    format!("from {} to {}", in_unit(Some(low), &row.unit), in_unit(Some(high), &row.unit))
}

/// One line for each fact: a machine that was not quiet contaminates every cell alike.
fn contaminations(all: &[Contamination]) -> Vec<String> {
    let mut facts: Vec<&str> = Vec::new();
    for one in all {
        if !facts.contains(&one.fact.as_str()) {
            facts.push(&one.fact);
        }
    }
    let of = |fact: &&str| all.iter().filter(|one| one.fact == **fact).collect::<Vec<_>>();
    facts.iter().filter_map(|fact| contamination(&of(fact))).collect()
}

/// The line of a fact, of cells that it contaminates; `None` without a cell.
fn contamination(cells: &[&Contamination]) -> Option<String> {
    // The first of those that are equally bad.
    let worst = cells.iter().rev().max_by(|a, b| a.distance.total_cmp(&b.distance))?;
    let value = worst.worst.map_or_else(String::new, |value| {
        let unit = if worst.unit == "requests" { " requests" } else { "" };
        format!(", worst {}{unit}", in_unit(Some(value), &worst.unit))
    });
    let affected: u64 = cells.iter().map(|one| u64::from(one.affected)).sum();
    let runs: u64 = cells.iter().map(|one| u64::from(one.runs)).sum();
    let names: Vec<&str> = cells.iter().map(|one| one.cell.as_str()).collect();
    let names = match names[..] {
        [first, second, _, ..] => format!("{first}, {second} and {} more", names.len() - 2),
        _ => names.join(" and "),
    };
    Some(format!(
        "contaminated: {} in {affected} of {runs} runs of {names}{value} in {}",
        worst.fact, worst.run
    ))
}
