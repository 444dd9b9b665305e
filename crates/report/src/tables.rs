//! What stands beside the contrasts, in two parts: what must be read before them, and what comes
//! after.

use record::compare::{
    Contrast, Estimate, HypothesisResult, ManipulationResult, Rehearsal, SleepParity, Tables,
    UnitCosts, Variance,
};
use record::frozen::FrozenCheck;

use crate::cells;
use crate::compare::Show;
use crate::contrasts::of_hosts;
use crate::section::{Section, md, text};
use crate::text::{NONE, UNKNOWN, in_unit, share, signed_percent};
use crate::two_labels::estimate;

/// Most figures of a frozen table that are named one by one.
const MOST_DIFFERENCES: usize = 20;

/// What is read before the contrasts, for the terminal: whether the factor did anything.
pub(crate) fn before_text(tables: &Tables) -> String {
    text(&on_hosts(before(tables), tables))
}

/// The same as Markdown.
pub(crate) fn before_md(tables: &Tables) -> String {
    md(&on_hosts(before(tables), tables))
}

/// What comes after the contrasts, for the terminal.
pub(crate) fn after_text(tables: &Tables, contrasts: &[Contrast], show: Show) -> String {
    let cells = cells::sections(tables, &primary(contrasts), show);
    text(&on_hosts(after(tables, contrasts, cells, show), tables))
}

/// The same as Markdown, with every metric.
pub(crate) fn after_md(tables: &Tables, contrasts: &[Contrast]) -> String {
    let cells = cells::one_table(tables);
    md(&on_hosts(after(tables, contrasts, cells, Show::All), tables))
}

/// Every table of figures names the machine that they are of.
fn on_hosts(mut sections: Vec<Section>, tables: &Tables) -> Vec<Section> {
    let hosts = of_hosts(&tables.hosts);
    for section in sections.iter_mut().filter(|section| !section.rows.is_empty()) {
        section.title.push_str(&hosts);
    }
    sections
}

fn before(tables: &Tables) -> Vec<Section> {
    vec![manipulations(&tables.manipulations)]
}

/// The primary metrics; throughput where nothing is compared.
fn primary(contrasts: &[Contrast]) -> Vec<&str> {
    let primary = contrasts.iter().filter(|one| one.primary).map(|one| one.metric.as_str());
    let mut primary: Vec<&str> = primary.collect();
    if primary.is_empty() {
        primary.push("throughput");
    }
    primary
}

fn after(tables: &Tables, contrasts: &[Contrast], cells: Vec<Section>, show: Show) -> Vec<Section> {
    let primary = primary(contrasts);
    let mut sections = vec![
        sleep(&tables.sleep, show, &primary),
        unit_costs(&tables.unit_costs),
        hypotheses(&tables.hypotheses),
    ];
    sections.extend(tables.rehearsals.iter().map(rehearsal));
    sections.extend(cells);
    let shown: Vec<&Variance> = tables
        .variances
        .iter()
        .filter(|one| show != Show::Primary || primary.contains(&one.metric.as_str()))
        .collect();
    sections.push(Section {
        title: "scatter by level of repetition: standard deviation that each adds, percent"
            .to_owned(),
        lines: variance_lines(&shown),
        ..Section::default()
    });
    sections.extend(tables.frozen.iter().map(frozen));
    sections
}

fn manipulations(results: &[ManipulationResult]) -> Section {
    let row = |result: &ManipulationResult| {
        let value = |value: Option<f64>| match value {
            Some(value) => in_unit(Some(value), ""),
            None => UNKNOWN.to_owned(),
        };
        vec![
            format!("{}: {} / {}", result.factor, result.level, result.baseline),
            result.cell.clone(),
            result.metric.clone(),
            value(result.level_value),
            value(result.baseline_value),
            share(result.least),
            if result.differs { "they differ" } else { "no difference: withheld" }.to_owned(),
        ]
    };
    Section {
        title: "manipulation check: did the factor do what it was meant to".to_owned(),
        header: vec!["arms", "cell", "quantity", "level", "baseline", "apart by", "result"],
        align: "lllrrrl",
        rows: results.iter().map(row).collect(),
        lines: Vec::new(),
    }
}

/// The effect as it was beside the effect without the difference of what the mock slept; one row for
/// a contrast, with what it means where the two are not the same.
fn sleep(all: &[SleepParity], show: Show, primary: &[&str]) -> Section {
    let shown =
        |one: &&SleepParity| show != Show::Primary || primary.contains(&one.metric.as_str());
    let ns = |ns: f64| in_unit(Some(ns), "ns");
    let mut section = Section {
        title: "sleep parity: effect in % of the baseline, raw and without the mock's longer sleep"
            .to_owned(),
        header: vec!["level", "metric", "raw", "corrected", "headline", "slept", "baseline's", "n"],
        align: "llrrrrrr",
        ..Section::default()
    };
    for one in all.iter().filter(shown) {
        let cell = if one.cell == "*" { String::new() } else { format!(" in {}", one.cell) };
        section.rows.push(vec![
            format!("{}{cell}", one.level),
            one.metric.clone(),
            signed_percent(one.raw_percent),
            signed_percent(one.corrected_percent),
            signed_percent(one.headline_percent),
            ns(one.level_slept_ns),
            ns(one.baseline_slept_ns),
            one.pairs.to_string(),
        ]);
        if one.words.contains("favours") {
            section.lines.push(format!("{}{cell}, {}: {}", one.level, one.metric, one.words));
        }
    }
    section
}

/// What a generator costs once and for each request.
fn unit_costs(all: &[UnitCosts]) -> Section {
    let estimate = |estimate: &Estimate| {
        let ns = |ns: f64| in_unit(Some(ns), "ns");
        let interval = estimate.interval.map(|[low, high]| format!(" [{}, {}]", ns(low), ns(high)));
        format!("{}{}", ns(estimate.value), interval.unwrap_or_default())
    };
    let row = |one: &UnitCosts| {
        vec![
            format!("{}: {} / {}", one.factor, one.level, one.baseline),
            one.cell.clone(),
            format!("{:.0} / {:.0}", one.small_requests, one.large_requests),
            estimate(&one.start_up_ns),
            estimate(&one.marginal_ns),
            one.overstated_percent.map_or_else(|| NONE.to_owned(), |p| format!("{p:.0} %")),
            one.pairs.to_string(),
        ]
    };
    Section {
        title: "unit costs of the generator's CPU by two sizes; the small run's CPU for each \
                request overstates the marginal one by so much of it"
            .to_owned(),
        header: vec!["sizes", "cell", "requests", "once", "each", "overstated", "n"],
        align: "llrrrrr",
        rows: all.iter().map(row).collect(),
        lines: Vec::new(),
    }
}

/// The fixed language of predictions.
fn hypotheses(results: &[HypothesisResult]) -> Section {
    let row = |result: &HypothesisResult| {
        let distance = result.distance_sd.map(|sd| format!("{sd:.1} sd"));
        vec![
            result.name.clone(),
            result.contrast.clone(),
            result.metric.clone(),
            signed_percent(result.predicted_percent),
            result.measured_percent.map_or_else(|| NONE.to_owned(), signed_percent),
            distance.unwrap_or_else(|| NONE.to_owned()),
            if result.nearest { format!("{}, nearest", result.word) } else { result.word.clone() },
        ]
    };
    let mut lines: Vec<String> = Vec::new();
    let says = |word: &str| results.iter().any(|result| result.word == word);
    for (word, meaning) in [
        ("consistent", "consistent is not confirmed: rivals may be consistent as well"),
        ("disfavoured", "disfavoured is not excluded: chance alone may lead so far"),
        ("undecided", "undecided: without two pairs that differ there is no distance"),
    ] {
        if says(word) {
            lines.push(meaning.to_owned());
        }
    }
    Section {
        title:
            "rival explanations: change in percent of the baseline, distance in standard errors \
                of the mean"
                .to_owned(),
        header: vec!["explanation", "contrast", "metric", "predicts", "measured", "away", "it is"],
        align: "lllrrrl",
        rows: results.iter().map(row).collect(),
        lines,
    }
}

fn rehearsal(rehearsal: &Rehearsal) -> Section {
    let rows = rehearsal
        .points
        .iter()
        .map(|point| {
            vec![
                point.warmup.clone(),
                point.pairs.to_string(),
                point.ratio.map_or_else(|| NONE.to_owned(), |ratio| format!("{ratio:.4}")),
                estimate(point.effect_percent),
            ]
        })
        .collect();
    let range = in_points(rehearsal.range_percent);
    let noise = in_points(rehearsal.noise_percent);
    let line = match rehearsal.word.as_str() {
        "stable" => format!(
            "stable: the ratio moves by {range} over the lengths, within the noise of {noise}"
        ),
        "trend" => format!(
            "trend: the ratio depends on the warm-up, {} for each length; lengthen it",
            estimate(rehearsal.step_percent)
        ),
        _ => format!(
            "undecided: the ratio moves by {range} over the lengths, beyond the noise of {noise}, and \
             in no one direction; more blocks would tell"
        ),
    };
    Section {
        title: format!("rehearsed warm-up: {} of {}", rehearsal.metric, rehearsal.contrast),
        header: vec!["warm-up", "n", "ratio", "effect, % of the baseline"],
        align: "lrrr",
        rows,
        lines: vec![line],
    }
}

fn in_points(value: Option<f64>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.2} points"))
}

/// One line for each: `base, p50: within_run 0.12 %, run 0.40 %; best: 4 parts in a run`.
pub(crate) fn variance_lines(variances: &[&Variance]) -> Vec<String> {
    let line = |variance: &&Variance| {
        let levels: Vec<String> =
            variance.sd_percent.iter().map(|(name, sd)| format!("{name} {sd:.2} %")).collect();
        let best: Vec<String> =
            variance.repetitions.iter().map(|(name, n)| format!("{n} x {name}")).collect();
        let best =
            if best.is_empty() { String::new() } else { format!("; best {}", best.join(", ")) };
        format!("{}, {}: {}{best}", variance.of, variance.metric, levels.join(", "))
    };
    variances.iter().map(line).collect()
}

fn frozen(check: &FrozenCheck) -> Section {
    if check.differences.is_empty() {
        let line = format!("equals the frozen table of {} in {}", check.by, check.frozen);
        return Section { lines: vec![line], ..Section::default() };
    }
    let tool = if check.same_build { "the same build" } else { "another build" };
    let mut lines = vec![format!(
        "figures that differ: {}; the frozen table was derived by {}, this one by {tool}",
        check.differences.len(),
        check.by
    )];
    for one in check.differences.iter().take(MOST_DIFFERENCES) {
        lines.push(format!("{}: {} frozen, {} now", one.what, one.frozen, one.now));
    }
    if check.differences.len() > MOST_DIFFERENCES {
        lines.push(format!("and {} more", check.differences.len() - MOST_DIFFERENCES));
    }
    lines.extend(check.inputs.iter().map(|input| format!("input {input}")));
    Section { title: format!("against {}", check.frozen), lines, ..Section::default() }
}
