//! Contrasts, what stands behind their verdicts, their pairs and their geometric means as
//! tables, for the terminal and for Markdown alike.
//!
//! Every percentage is of the baseline and every ratio is level / baseline, whoever ran first;
//! each heading says so, and names the machine.

use record::compare::{Contrast, Estimate, Geomean, HostClass};

use crate::doubts::resolve_line;
use crate::grid::Grid;
use crate::text::{NONE, count, in_unit, interval_of, number, share, signed_percent};

/// Pairs of one contrast that are listed one by one; the rest stays in the JSON.
const MOST_PAIRS: usize = 60;

/// One table for each factor and metric, since units differ between metrics.
pub(crate) fn metric_tables(contrasts: &[&Contrast], hosts: &[HostClass]) -> Vec<Grid> {
    by_metric(contrasts).into_iter().map(|rows| metric_table(&rows, hosts)).collect()
}

/// Contrasts by factor and metric in their order; within each, identical runs come first and
/// planted slowdowns second: what the machine makes of nothing and of something known is read
/// before any other figure.
fn by_metric<'c>(contrasts: &[&'c Contrast]) -> Vec<Vec<&'c Contrast>> {
    let mut tables: Vec<Vec<&Contrast>> = Vec::new();
    for contrast in contrasts {
        let same = |rows: &&mut Vec<&Contrast>| {
            rows[0].factor == contrast.factor && rows[0].metric == contrast.metric
        };
        match tables.iter_mut().find(same) {
            Some(rows) => rows.push(contrast),
            None => tables.push(vec![contrast]),
        }
    }
    for rows in &mut tables {
        rows.sort_by_key(|row| (!row.null, row.positive.is_none()));
    }
    tables
}

fn metric_table(rows: &[&Contrast], hosts: &[HostClass]) -> Grid {
    let first = rows[0];
    let with_cell = has_cells(rows);
    // Named once above the table where it is the same in every row.
    let with_baseline = rows.iter().any(|row| row.baseline != first.baseline);
    let interval_head = interval_head(first);
    let mut columns: Vec<(&str, char)> = Vec::new();
    columns.extend(with_cell.then_some(("cell", 'l')));
    columns.push(("level", 'l'));
    columns.extend(with_baseline.then_some(("baseline", 'l')));
    columns.extend(["level at", "baseline at", "ratio", "effect"].map(|head| (head, 'r')));
    columns.extend([(interval_head.as_str(), 'r'), ("n", 'r'), ("verdict", 'l')]);
    let (header, align): (Vec<&str>, String) = columns.into_iter().unzip();
    let mut grid = Grid::new(heading(first, hosts), &header, &align);
    let baseline = if with_baseline { "baseline" } else { &first.baseline };
    grid.legend.push(orientation(first, baseline));
    for row in rows {
        let mut line = Vec::new();
        if with_cell {
            line.push(row.cell.clone());
        }
        line.push(level(row));
        if with_baseline {
            line.push(row.baseline.clone());
        }
        line.extend([
            in_unit(row.level_value, &row.unit),
            in_unit(row.baseline_value, &row.unit),
            ratio(row.ratio),
            percent(row.effect_percent),
            interval_of(row.interval_percent),
            row.pairs.to_string(),
            verdict(row),
        ]);
        grid.rows.push(line);
    }
    grid
}

/// `target: throughput (primary, margin 2 %), host 1a2b3c4d`.
fn heading(contrast: &Contrast, hosts: &[HostClass]) -> String {
    let mut terms = vec![if contrast.primary { "primary" } else { "exploratory" }.to_owned()];
    let flagged = |flag: &str| contrast.flags.iter().any(|known| known == flag);
    if flagged("primary_after_data") {
        terms.push("chosen after the run".to_owned());
    }
    if let Some(margin) = contrast.margin_percent {
        let after = if flagged("margin_after_data") { " chosen after the run" } else { "" };
        terms.push(format!("margin {margin} %{after}"));
    }
    let (factor, metric) = (&contrast.factor, &contrast.metric);
    format!("{factor}: {metric} ({}){}", terms.join(", "), of_hosts(hosts))
}

/// The machines of a table, for its heading.
pub(crate) fn of_hosts(hosts: &[HostClass]) -> String {
    let ids: Vec<&str> = hosts.iter().map(|host| host.id.as_str()).collect();
    match ids.len() {
        0 => String::new(),
        1 => format!(", host {}", ids[0]),
        _ => format!(", hosts {}", ids.join(" ")),
    }
}

/// Which way the ratio of a metric points, and what every percentage is of.
fn orientation(contrast: &Contrast, baseline: &str) -> String {
    let judged = if contrast.higher_is_better { "better" } else { "worse" };
    let metric = &contrast.metric;
    format!(
        "ratio = level / {baseline}, above 1 is more {metric}, so {judged}; effects in % of \
         {baseline}"
    )
}

fn interval_head(contrast: &Contrast) -> String {
    let alpha = contrast.alpha.unwrap_or(0.05);
    let percent = format!("{:.2}", 100.0 * (1.0 - alpha));
    format!("{} % interval", percent.trim_end_matches('0').trim_end_matches('.'))
}

fn has_cells(rows: &[&Contrast]) -> bool {
    rows.iter().any(|row| row.cell != "*")
}

/// A level; a positive control says by how much it was slowed.
pub(crate) fn level(contrast: &Contrast) -> String {
    match contrast.positive {
        Some(slowed) => format!("{} ({})", contrast.level, share(slowed)),
        None => contrast.level.clone(),
    }
}

/// The verdict; a control says what it is in the same cell, since its word means another thing
/// there, and a positive one whether it was seen.
pub(crate) fn verdict(contrast: &Contrast) -> String {
    if contrast.null {
        return format!("{} (null)", contrast.verdict);
    }
    let own = contrast.positive.and(contrast.positive_arm.as_deref());
    match own.and_then(|arm| arm.rsplit_once(": ")) {
        Some((_, said)) => said.to_owned(),
        None => contrast.verdict.clone(),
    }
}

/// What stands behind the verdicts: two tables for each factor and metric, or `merged` into two
/// for each factor, where a page has room for the name of the metric.
pub(crate) fn details(contrasts: &[&Contrast], hosts: &[HostClass], merged: bool) -> Vec<Grid> {
    let mut tables = by_metric(contrasts);
    if merged {
        let mut by_factor: Vec<Vec<&Contrast>> = Vec::new();
        for rows in tables {
            match by_factor.iter_mut().find(|known| known[0].factor == rows[0].factor) {
                Some(known) => known.extend(rows),
                None => by_factor.push(rows),
            }
        }
        tables = by_factor;
    }
    let grids = tables.iter().flat_map(|rows| {
        [significance(rows, hosts), noise(rows, hosts)]
            .map(|grid| if merged { with_metrics(grid, rows) } else { grid })
    });
    grids.collect()
}

/// Puts the metric before the first column.
fn with_metrics(mut grid: Grid, rows: &[&Contrast]) -> Grid {
    grid.header.insert(0, "metric".to_owned());
    grid.align.insert(0, 'l');
    for (line, row) in grid.rows.iter_mut().zip(rows) {
        line.insert(0, row.metric.clone());
    }
    grid.title = grid.title.replacen(&format!(": {}, ", rows[0].metric), ": ", 1);
    grid
}

/// A row's name in the tables behind the verdicts.
fn arm(row: &Contrast) -> String {
    if row.cell == "*" { level(row) } else { format!("{} in {}", level(row), row.cell) }
}

/// Significant and large enough to matter are two questions.
fn significance(rows: &[&Contrast], hosts: &[HostClass]) -> Grid {
    let first = rows[0];
    let header = [
        "level",
        "significant",
        "matters",
        "p",
        "p by Holm",
        "t interval",
        "n",
        "could show",
        "needs pairs",
    ];
    let title = format!(
        "{}: {}, significant and large enough to matter{}",
        first.factor,
        first.metric,
        of_hosts(hosts)
    );
    let mut grid = Grid::new(title, &header, "lllrrrrrr");
    grid.legend.push(
        "t interval of the mean beside that of ranks; effects in % of the baseline".to_owned(),
    );
    let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    for row in rows {
        grid.rows.push(vec![
            arm(row),
            word(row.significant),
            row.matters.map_or_else(|| NONE.to_owned(), word),
            p_value(row.p_value),
            if row.primary { "primary".to_owned() } else { p_value(row.holm_p_value) },
            interval_of(row.t_interval_percent),
            row.pairs.to_string(),
            row.minimum_detectable_percent
                .map_or_else(|| NONE.to_owned(), |percent| format!("{percent:.2} %")),
            row.needed_pairs.map_or_else(|| NONE.to_owned(), |pairs| pairs.to_string()),
        ]);
    }
    grid
}

/// Spread of the pairs, and what the order of the runs has to do with it.
fn noise(rows: &[&Contrast], hosts: &[HostClass]) -> Grid {
    let first = rows[0];
    let title = format!("{}: {}, noise and order{}", first.factor, first.metric, of_hosts(hosts));
    let header =
        ["level", "mean +/- sd", "noise sd", "identical runs", "order effect", "carry-over"];
    let mut grid = Grid::new(title, &header, "lrrrrr");
    grid.legend.push(
        "in % of the baseline; noise sd: without the order effect, which is what running second adds"
            .to_owned(),
    );
    for row in rows {
        grid.rows.push(vec![
            arm(row),
            mean_and_sd(row),
            row.noise_sd_log_ratio
                .map_or_else(|| NONE.to_owned(), |sd| format!("{:.2}", 100.0 * sd)),
            interval_of(row.null_interval_percent),
            estimate(row.order_effect_percent),
            estimate(row.carry_over_percent),
        ]);
    }
    grid
}

/// Every pair of every primary contrast: both values, level against baseline, mean and sd, and
/// what it would take to resolve the mean.
pub(crate) fn pair_tables(contrasts: &[&Contrast], hosts: &[HostClass]) -> Vec<Grid> {
    let primary = contrasts.iter().filter(|c| c.primary && !c.pair_values.is_empty());
    primary.map(|contrast| pair_table(contrast, hosts)).collect()
}

fn pair_table(contrast: &Contrast, hosts: &[HostClass]) -> Grid {
    let title = format!(
        "pairs: {} / {} in {}, {}{}",
        level(contrast),
        contrast.baseline,
        contrast.cell,
        contrast.metric,
        of_hosts(hosts)
    );
    let against = format!("{} vs {}", contrast.level, contrast.baseline);
    let header = ["block", "first", &contrast.baseline, &contrast.level, against.as_str()];
    let mut grid = Grid::new(title, &header, "rlrrr");
    grid.legend.push(format!(
        "level / baseline as a change in % of {}; the last row: medians, mean and sd of the pairs",
        contrast.baseline
    ));
    for pair in contrast.pair_values.iter().take(MOST_PAIRS) {
        let first = match pair.baseline_first {
            Some(true) => &contrast.baseline,
            Some(false) => &contrast.level,
            None => NONE,
        };
        let ratio = contrast.log_ratios.iter().find(|(block, _)| *block == pair.block);
        grid.rows.push(vec![
            pair.block.to_string(),
            first.to_owned(),
            in_unit(Some(pair.baseline), &contrast.unit),
            in_unit(Some(pair.level), &contrast.unit),
            ratio.map_or_else(|| NONE.to_owned(), |(_, d)| signed_percent(100.0 * d.exp_m1())),
        ]);
    }
    let hidden = contrast.pair_values.len().saturating_sub(MOST_PAIRS);
    if hidden > 0 {
        grid.legend.push(format!("{hidden} more pairs in the JSON"));
    }
    grid.rows.push(vec![
        "all".to_owned(),
        format!("n {}", contrast.pairs),
        in_unit(contrast.baseline_value, &contrast.unit),
        in_unit(contrast.level_value, &contrast.unit),
        mean_and_sd(contrast).replace(" +/-", " % +/-") + " %",
    ]);
    if let Some(resolve) = &contrast.resolve {
        grid.legend.push(resolve_line(resolve));
    }
    grid
}

/// `-5.00 +/- 0.22`: the mean log-ratio as a change of the baseline, and the sample standard
/// deviation of the log-ratios times 100.
fn mean_and_sd(contrast: &Contrast) -> String {
    match (contrast.mean_log_ratio, contrast.sd_log_ratio) {
        (Some(mean), Some(sd)) => format!("{:+.2} +/- {:.2}", 100.0 * mean.exp_m1(), 100.0 * sd),
        (Some(mean), None) => format!("{:+.2}", 100.0 * mean.exp_m1()),
        _ => NONE.to_owned(),
    }
}

fn estimate(estimate: Option<Estimate>) -> String {
    match estimate {
        Some(Estimate { value, interval: Some(_) }) => {
            let interval = estimate.and_then(|estimate| estimate.interval);
            format!("{value:+.2} {}", interval_of(interval))
        }
        Some(Estimate { value, interval: None }) => format!("{value:+.2}"),
        None => NONE.to_owned(),
    }
}

pub(crate) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| NONE.to_owned(), |ratio| format!("{ratio:.4}"))
}

pub(crate) fn percent(percent: Option<f64>) -> String {
    percent.map_or_else(|| NONE.to_owned(), signed_percent)
}

fn p_value(p: Option<f64>) -> String {
    match p {
        Some(p) if p < 0.0001 => "<0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
        None => NONE.to_owned(),
    }
}

/// Geometric means, each a table of its rows with the mean as the last one.
pub(crate) fn geomeans(all: &[Geomean], hosts: &[HostClass]) -> Vec<Grid> {
    all.iter().map(|geomean| geomean_table(geomean, hosts)).collect()
}

fn geomean_table(geomean: &Geomean, hosts: &[HostClass]) -> Grid {
    let place =
        if geomean.cell.is_empty() { String::new() } else { format!(" in {}", geomean.cell) };
    let title = format!(
        "geometric mean over {}: {} / {}{place}, {}{}",
        geomean.over,
        geomean.level,
        geomean.baseline,
        geomean.metric,
        of_hosts(hosts)
    );
    let header = [geomean.over.as_str(), "weight", "ratio", "effect", "95 % interval", "verdict"];
    let mut grid = Grid::new(title, &header, "lrrrrl");
    grid.legend.push("ratio = level / baseline; effect in % of the baseline".to_owned());
    let change = |ratio: f64| signed_percent(100.0 * (ratio - 1.0));
    let rows = geomean.rows.iter().map(|row| (row, number(row.weight)));
    let guards = geomean.guards.iter().map(|row| (row, "guard".to_owned()));
    for (row, weight) in rows.chain(guards) {
        let ratio = ratio(Some(row.ratio));
        grid.rows.push(vec![
            row.row.clone(),
            weight,
            ratio,
            change(row.ratio),
            NONE.to_owned(),
            row.verdict.clone(),
        ]);
    }
    for left in &geomean.left_out {
        let blank = || NONE.to_owned();
        grid.rows.push(vec![
            left.run.clone(),
            "left out".to_owned(),
            blank(),
            blank(),
            blank(),
            left.reason.clone(),
        ]);
    }
    grid.rows.push(vec![
        "all".to_owned(),
        count(geomean.rows.len() as u64),
        ratio(geomean.ratio),
        percent(geomean.effect_percent.map(|effect| effect.value)),
        interval_of(geomean.effect_percent.and_then(|effect| effect.interval)),
        format!("{} better, {} worse, {} neither", geomean.better, geomean.worse, geomean.equal),
    ]);
    let worst = geomean.worst.as_deref().unwrap_or(NONE);
    grid.legend.push(format!(
        "worst row, guards included: {worst}; interval by {} joint draws of blocks, seed {}",
        count(u64::from(geomean.draws)),
        geomean.seed
    ));
    grid
}
