//! Contrasts as comma-separated values: one line for each contrast and metric with all that is
//! known of it, for other programs.

use record::compare::{Comparison, Contrast, Estimate};

/// One column: its name, which says its unit, and its value.
type Column = (&'static str, fn(&Contrast) -> String);

/// All columns in their order. Lists are joined by `;`; what is not known is empty.
const COLUMNS: [Column; 53] = [
    ("factor", |c| c.factor.clone()),
    ("cell", |c| c.cell.clone()),
    ("level", |c| c.level.clone()),
    ("baseline", |c| c.baseline.clone()),
    ("metric", |c| c.metric.clone()),
    ("unit", |c| c.unit.clone()),
    ("higher_is_better", |c| c.higher_is_better.to_string()),
    ("primary", |c| c.primary.to_string()),
    ("null", |c| c.null.to_string()),
    ("positive", |c| number(c.positive)),
    ("pairs", |c| c.pairs.to_string()),
    ("baseline_value", |c| number(c.baseline_value)),
    ("level_value", |c| number(c.level_value)),
    ("ratio", |c| number(c.ratio)),
    ("effect_percent", |c| number(c.effect_percent)),
    ("interval_low_percent", |c| low(c.interval_percent)),
    ("interval_high_percent", |c| high(c.interval_percent)),
    ("t_interval_low_percent", |c| low(c.t_interval_percent)),
    ("t_interval_high_percent", |c| high(c.t_interval_percent)),
    ("mean_log_ratio", |c| number(c.mean_log_ratio)),
    ("sd_log_ratio", |c| number(c.sd_log_ratio)),
    ("noise_sd_log_ratio", |c| number(c.noise_sd_log_ratio)),
    ("order_effect_percent", |c| value(c.order_effect_percent)),
    ("order_effect_low_percent", |c| low(interval(c.order_effect_percent))),
    ("order_effect_high_percent", |c| high(interval(c.order_effect_percent))),
    ("carry_over_percent", |c| value(c.carry_over_percent)),
    ("carry_over_low_percent", |c| low(interval(c.carry_over_percent))),
    ("carry_over_high_percent", |c| high(interval(c.carry_over_percent))),
    ("null_arm", |c| c.null_arm.clone().unwrap_or_default()),
    ("null_interval_low_percent", |c| low(c.null_interval_percent)),
    ("null_interval_high_percent", |c| high(c.null_interval_percent)),
    ("positive_arm", |c| c.positive_arm.clone().unwrap_or_default()),
    ("p_value", |c| number(c.p_value)),
    ("holm_p_value", |c| number(c.holm_p_value)),
    ("alpha", |c| number(c.alpha)),
    ("significant", |c| c.significant.to_string()),
    ("margin_percent", |c| number(c.margin_percent)),
    ("matters", |c| c.matters.map(|matters| matters.to_string()).unwrap_or_default()),
    ("minimum_detectable_percent", |c| number(c.minimum_detectable_percent)),
    ("needed_pairs", |c| text(c.needed_pairs)),
    ("resolve_mean_percent", |c| number(c.resolve.map(|r| r.mean_percent))),
    ("resolve_sd_percent", |c| number(c.resolve.map(|r| r.sd_percent))),
    ("resolve_pairs_one_se", |c| text(c.resolve.map(|r| r.pairs_one_se))),
    ("resolve_pairs_95", |c| text(c.resolve.map(|r| r.pairs_95))),
    ("pair_ns", |c| text(c.resolve.and_then(|r| r.pair_ns))),
    ("verdict", |c| c.verdict.clone()),
    ("flags", |c| c.flags.join(";")),
    ("sets", |c| c.sets.join(";")),
    ("differs", |c| c.differs.join(";")),
    ("log_ratios", |c| list(&c.log_ratios, |(block, d)| format!("{block}:{d}"))),
    ("pair_values", |c| {
        list(&c.pair_values, |pair| format!("{}:{}:{}", pair.block, pair.baseline, pair.level))
    }),
    ("baseline_first", |c| {
        list(&c.pair_values, |pair| format!("{}:{}", pair.block, text(pair.baseline_first)))
    }),
    ("left_out", |c| list(&c.left_out, |left| format!("{}: {}", left.run, left.reason))),
];

/// Renders the contrasts of a comparison as CSV by RFC 4180 with `\n` at the end of lines.
#[must_use]
pub fn contrasts_csv(comparison: &Comparison) -> String {
    let mut text = line(COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    for contrast in &comparison.contrasts {
        text.push_str(&line(COLUMNS.iter().map(|(_, value)| value(contrast))));
    }
    text
}

fn line(values: impl Iterator<Item = String>) -> String {
    let mut text = values.map(|value| quoted(&value)).collect::<Vec<_>>().join(",");
    text.push('\n');
    text
}

fn quoted(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// All digits: what is read back is what was computed.
fn number(value: Option<f64>) -> String {
    text(value)
}

fn value(estimate: Option<Estimate>) -> String {
    number(estimate.map(|estimate| estimate.value))
}

fn interval(estimate: Option<Estimate>) -> Option<[f64; 2]> {
    estimate.and_then(|estimate| estimate.interval)
}

fn low(interval: Option<[f64; 2]>) -> String {
    number(interval.map(|[low, _]| low))
}

fn high(interval: Option<[f64; 2]>) -> String {
    number(interval.map(|[_, high]| high))
}

fn list<T>(values: &[T], one: impl Fn(&T) -> String) -> String {
    values.iter().map(one).collect::<Vec<_>>().join(";")
}
