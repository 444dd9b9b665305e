//! One figure for the rows of a contrast (D7): the weighted geometric mean of level / baseline
//! over matched rows, guards beside it and never in it.

use record::compare::{Contrast, Estimate, Geomean, GeomeanRow, LeftOut};
use record::digest::Digest;
use stats::geomean::{Cell, DRAWS, bootstrap};
use stats::sample::percent;

use super::terms::Terms;

/// What one geometric mean is about: indices of level and cell keep the written order.
type Key<'c> = (&'c str, &'c str, &'c str, String, &'c str);

/// The geometric means over the rows of all contrasts, in their order. `order` names the factors
/// in the order in which cells carry them. A mean is made of the metric that is primary in each
/// row, and of the metrics that were asked for; a positive control has none.
pub(crate) fn geomeans(
    contrasts: &[Contrast],
    order: &[String],
    terms: &Terms<'_>,
) -> Vec<Geomean> {
    let Some(over) = terms.over() else {
        return Vec::new();
    };
    let mut groups: Vec<(Key<'_>, Vec<(&str, &Contrast)>)> = Vec::new();
    for contrast in contrasts {
        let wanted = contrast.primary || terms.options.metrics.contains(&contrast.metric);
        if contrast.factor == over || contrast.positive.is_some() || !wanted {
            continue;
        }
        let Some((row, rest)) = row_and_rest(&contrast.cell, order, over) else {
            continue;
        };
        let key: Key<'_> =
            (&contrast.factor, &contrast.baseline, &contrast.level, rest, &contrast.metric);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, rows)) => rows.push((row, contrast)),
            None => groups.push((key, vec![(row, contrast)])),
        }
    }
    groups.into_iter().map(|(key, rows)| geomean(key, &rows, over, terms)).collect()
}

/// The level of `over` in a cell's name, and the name with `*` in its place; empty when nothing
/// but places is left.
fn row_and_rest<'c>(cell: &'c str, order: &[String], over: &str) -> Option<(&'c str, String)> {
    let levels: Vec<&str> = cell.split('+').collect();
    let at = order.iter().position(|factor| factor == over)?;
    let row = *levels.get(at)?;
    let rest: Vec<&str> =
        (0..levels.len()).map(|index| if index == at { "*" } else { levels[index] }).collect();
    let named = rest.iter().any(|level| *level != "*");
    (row != "*").then(|| (row, if named { rest.join("+") } else { String::new() }))
}

fn geomean(
    (factor, baseline, level, cell, metric): Key<'_>,
    rows: &[(&str, &Contrast)],
    over: &str,
    terms: &Terms<'_>,
) -> Geomean {
    let mut geomean = Geomean {
        factor: factor.to_owned(),
        baseline: baseline.to_owned(),
        level: level.to_owned(),
        over: over.to_owned(),
        cell,
        metric: metric.to_owned(),
        draws: DRAWS,
        seed: terms.seed,
        ..Geomean::default()
    };
    let mut cells: Vec<Cell> = Vec::new();
    let mut worst: Option<(f64, &str)> = None;
    for (row, contrast) in rows {
        let ratio = match (contrast.verdict.as_str(), contrast.ratio) {
            ("void", _) => Err(format!("void: {}", contrast.flags.join(", "))),
            (_, None) => Err("no valid pair".to_owned()),
            (_, Some(ratio)) => Ok(ratio),
        };
        let ratio = match ratio {
            Ok(ratio) => ratio,
            Err(reason) => {
                let reason = reason.trim_end_matches([':', ' ']).to_owned();
                geomean.left_out.push(LeftOut { run: (*row).to_owned(), reason });
                continue;
            }
        };
        let badness = if contrast.higher_is_better { -ratio } else { ratio };
        if worst.is_none_or(|(known, _)| badness > known) {
            worst = Some((badness, row));
        }
        let weight = terms.registered.weight.get(*row).copied().unwrap_or(1.0);
        let entry =
            GeomeanRow { row: (*row).to_owned(), weight, ratio, verdict: contrast.verdict.clone() };
        if terms.registered.guard.iter().any(|guard| guard == row) {
            geomean.guards.push(entry);
            continue;
        }
        match contrast.verdict.as_str() {
            "faster" => geomean.better += 1,
            "slower" => geomean.worse += 1,
            _ => geomean.equal += 1,
        }
        cells.push(Cell { weight, pairs: contrast.log_ratios.clone() });
        geomean.rows.push(entry);
    }
    geomean.worst = worst.map(|(_, row)| row.to_owned());
    if let Some(found) = bootstrap(&cells, DRAWS, terms.seed, 1.0 - stats::power::ALPHA) {
        geomean.ratio = Some(found.value.exp());
        geomean.effect_percent = Some(Estimate {
            value: percent(found.value),
            interval: found.interval.map(|interval| interval.map(percent)),
        });
    }
    geomean
}

/// The factors in the order in which cells carry them.
pub(crate) fn factor_order(measured: &[(&str, &Digest)]) -> Vec<String> {
    let most = measured.iter().max_by_key(|(_, digest)| digest.levels.len());
    let levels = most.iter().flat_map(|(_, digest)| &digest.levels);
    levels.map(|level| level.factor.clone()).collect()
}
