//! Whether the window holds one state (D10): a change of level with the second at which it broke,
//! a trend, halves that differ, and a beginning that is unlike the rest.
//!
//! Two series are looked at, second by second: the median latency and the throughput. Only whole
//! seconds count. Each test asks for two things: that chance does not explain what is seen, and
//! that it is large enough to matter. Seconds resemble their neighbours, which makes chance look
//! like a change: the likeness is estimated, and p-values are corrected for it. The test
//! `false_alarms_are_rarer_than_stated` holds the rate of false alarms.

use record::load::LoadRecord;
use record::plan::Gates;
use record::units::HumanDuration;
use stats::sample::{mean, median, normal_cdf, normal_quantile, t_two_sided_p};
use stats::{change_point, stationarity, trend, two_sample};

use super::Judgement;

/// Chance that is allowed to a break, a trend or a difference that is none, for each series.
const ALPHA: f64 = 0.01;
/// The same for the first fifth of a window: two seconds against five cannot be more certain.
const ALPHA_WARM_UP: f64 = 0.05;
/// Up to this many seconds a break is judged by Student's t of both sides, corrected for the splits
/// that were tried: Pettitt's p is conservative for short series and can hardly be small. Above it
/// by Pettitt's, which no wild second moves.
const SHORT_SECONDS: usize = 40;
/// Relative spread below which seconds are the same: rounding.
const NO_SPREAD: f64 = 1e-9;
/// Fewest successes in a second that has a median latency.
const FEWEST_IN_A_SECOND: u64 = 3;
/// Smallest median count of a second whose throughput is looked at: below it one request more or
/// less is a step.
const FEWEST_PER_S: f64 = 5.0;

/// One figure by second.
#[derive(Debug, Clone)]
struct Series {
    /// `p50` or `throughput`.
    name: &'static str,
    seconds: Vec<f64>,
    /// Relative to the median of the window.
    values: Vec<f64>,
    median: f64,
}

impl Series {
    fn new(name: &'static str, points: Vec<(u64, f64)>) -> Option<Self> {
        let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
        let median = median(&values).filter(|median| *median > 0.0)?;
        Some(Self {
            name,
            seconds: points.iter().map(|(second, _)| *second as f64).collect(),
            values: values.iter().map(|value| value / median).collect(),
            median,
        })
    }

    /// A relative value for people.
    fn shown(&self, value: f64) -> String {
        let value = value * self.median;
        match self.name {
            "p50" => HumanDuration(value).to_string(),
            _ => format!("{value:.0}/s"),
        }
    }
}

/// What a test saw: a share of the window's median with its sign, and a sentence.
struct Finding {
    share: f64,
    detail: String,
    /// The second of the window at which it broke.
    second: Option<u64>,
}

/// Judges the steadiness of a window. Without enough whole seconds nothing is judged.
pub(super) fn judge(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let all = series_of(load, bounds.steady_seconds);
    let seconds = load.series.len().min((load.window_ns / 1_000_000_000) as usize);
    let enough = (!all.is_empty()).then_some(true);
    if load.is_foreign() || !load.stages.is_empty() {
        // It tells no figures by the second, or its rate was meant to change.
        for gate in ["steady_seconds", "shift_flag", "shift", "trend", "halves", "warm_up"] {
            judgement.add(gate, bounds, None, None, String::new);
        }
        return;
    }
    judgement.add("steady_seconds", bounds, Some(seconds as f64), enough, String::new);
    let mut add = |gate: &'static str, bound: f64, test: fn(&Series) -> Option<Finding>| {
        if all.is_empty() {
            judgement.add(gate, bounds, None, None, String::new);
            return;
        }
        let found = all.iter().filter_map(test);
        let worst = found.max_by(|a, b| a.share.abs().total_cmp(&b.share.abs()));
        let share = worst.as_ref().map_or(0.0, |worst| worst.share.abs());
        judgement.add_at(gate, bounds, Some(share), Some(share <= bound), || {
            worst.map(|worst| (worst.detail, worst.second)).unwrap_or_default()
        });
    };
    add("shift_flag", bounds.shift_flag_share, shift);
    add("shift", bounds.shift_share, shift);
    add("trend", bounds.trend_share, drift);
    add("halves", bounds.halves_share, halves);
    add("warm_up", bounds.warm_up_share, warm_up);
}

/// The series of a record that are long enough: whole seconds of the window only.
fn series_of(load: &LoadRecord, fewest_seconds: u64) -> Vec<Series> {
    let whole = load.window_ns / 1_000_000_000;
    let seconds: Vec<_> = load.series.iter().filter(|second| second.second < whole).collect();
    let medians = seconds
        .iter()
        .filter(|second| second.succeeded >= FEWEST_IN_A_SECOND)
        .filter_map(|second| {
            let latency = stats::histogram::decode(&second.latency).ok()?;
            Some((second.second, latency.value_at_quantile(0.5) as f64))
        })
        .collect();
    let counts = seconds.iter().map(|second| (second.second, second.succeeded as f64)).collect();
    [Series::new("p50", medians), Series::new("throughput", counts)]
        .into_iter()
        .flatten()
        .filter(|series| series.values.len() as u64 >= fewest_seconds.max(1))
        .filter(|series| series.name == "p50" || series.median >= FEWEST_PER_S)
        .collect()
}

/// The sharpest change of level, when chance does not explain it.
fn shift(series: &Series) -> Option<Finding> {
    let change = change_point::scan(&series.values)?;
    let n = series.values.len();
    let (before, after) = series.values.split_at(edge_near(&series.values, change.index));
    let p_value = if n <= SHORT_SECONDS {
        let splits = (n + 1).saturating_sub(2 * change_point::FEWEST_VALUES) as f64;
        Noise::of(&[before, after]).p_of(before, after)? * splits
    } else {
        change.p_value
    };
    let second = series.seconds[before.len()];
    let (before, after) = median(before).zip(median(after))?;
    let share = after / before - 1.0;
    (p_value < ALPHA && share.is_finite()).then(|| Finding {
        share,
        detail: format!(
            "{} changed from {} to {} at second {second:.0} of the window: {}",
            series.name,
            series.shown(before),
            series.shown(after),
            signed(share)
        ),
        second: Some(second as u64),
    })
}

/// Where the edge is, near the split that the ranks chose: the one that leaves the least squares
/// about the means of both sides. Ranks tell whether there is a change; away from the middle they
/// lean towards it.
fn edge_near(values: &[f64], index: usize) -> usize {
    let few = change_point::FEWEST_VALUES;
    let reach = (values.len() / 10).max(few);
    let splits = index.saturating_sub(reach).max(few)..=(index + reach).min(values.len() - few);
    let total: f64 = values.iter().sum();
    // Least squares within is most between: n1 m1² + n2 m2².
    let between = |split: &usize| {
        let first: f64 = values[..*split].iter().sum();
        first * first / *split as f64 + (total - first).powi(2) / (values.len() - split) as f64
    };
    splits.max_by(|a, b| between(a).total_cmp(&between(b))).unwrap_or(index)
}

/// The drift over the window by the slope of Theil and Sen, when Kendall's test, which is the dual
/// of its interval, sees one.
fn drift(series: &Series) -> Option<Finding> {
    let line = trend::theil_sen(&series.seconds, &series.values, 0.95)?;
    let slope = line.slope.value;
    let points = series.seconds.iter().zip(&series.values);
    let left: Vec<f64> = points.map(|(x, y)| y - line.intercept - slope * x).collect();
    let p_value = Noise::of(&[&left]).widen(trend::mann_kendall(&series.values)?.p_value);
    let length = series.seconds.last()? - series.seconds.first()? + 1.0;
    let share = slope * length;
    (p_value < ALPHA).then(|| Finding {
        share,
        detail: format!(
            "{} drifts by {} over the {length:.0} s of the window, around {}",
            series.name,
            signed(share),
            series.shown(1.0)
        ),
        second: None,
    })
}

/// The shift from the first half to the second.
fn halves(series: &Series) -> Option<Finding> {
    let share = stationarity::halves(&series.values)?.shift.value;
    let (first, second) = series.values.split_at(series.values.len() / 2);
    (Noise::of(&[first, second]).p_of(first, second)? < ALPHA).then(|| Finding {
        share,
        detail: format!(
            "{} is {} in the second half of the window against the first",
            series.name,
            signed(share)
        ),
        second: None,
    })
}

/// The first fifth against the second half, when what lies between is nearer to the second half:
/// a drift that goes on is no warm-up.
fn warm_up(series: &Series) -> Option<Finding> {
    let n = series.values.len();
    let fifth = (n / 5).max(2);
    let (first, rest) = series.values.split_at(fifth.min(n));
    let (between, late) = rest.split_at((n / 2).saturating_sub(fifth));
    let share = two_sample::shift(late, first)?.shift.value;
    let left = median(between).zip(median(late)).map(|(between, late)| (between - late).abs());
    let fades = left.is_none_or(|left| left <= share.abs() / 2.0);
    // What the first seconds are like among themselves is no measure: they change.
    (Noise::of(&[late]).p_of(late, first)? < ALPHA_WARM_UP && fades).then(|| Finding {
        share,
        detail: format!(
            "{} of the first {fifth} s is {} against the second half: the warm-up was too short",
            series.name,
            signed(share)
        ),
        second: Some(0),
    })
}

/// What is left of a series when its parts have lost their means.
struct Noise {
    sd: f64,
    /// Degrees of freedom of the spread.
    freedom: f64,
    /// `(1 + r) / (1 - r)`, by which a first-order autoregression widens the variance of a mean
    /// (D9). r is the lag-1 correlation, corrected for its bias in short series and never taken as
    /// negative.
    inflation: f64,
}

impl Noise {
    fn of(parts: &[&[f64]]) -> Self {
        let left: Vec<f64> = parts
            .iter()
            .flat_map(|part| {
                let centre = mean(part).unwrap_or_default();
                part.iter().map(move |value| value - centre)
            })
            .collect();
        let (n, fitted) = (left.len() as f64, parts.len() as f64);
        let freedom = (n - fitted).max(1.0);
        let sd = (left.iter().map(|value| value * value).sum::<f64>() / freedom).sqrt();
        let raw = stationarity::lag1(&left).filter(|_| sd > NO_SPREAD).unwrap_or_default();
        let r = (raw + fitted * (1.0 + 4.0 * raw.max(0.0)) / n).clamp(0.0, 0.99);
        Self { sd, freedom, inflation: (1.0 + r) / (1.0 - r) }
    }

    /// Two-sided p of the difference of two means by Student's t with this noise; `None` when one
    /// is empty.
    fn p_of(&self, first: &[f64], second: &[f64]) -> Option<f64> {
        let difference = (mean(second)? - mean(first)?).abs();
        if self.sd <= NO_SPREAD {
            return Some(if difference > NO_SPREAD { 0.0 } else { 1.0 });
        }
        let width = (1.0 / first.len() as f64 + 1.0 / second.len() as f64) * self.inflation;
        Some(t_two_sided_p(difference / (self.sd * width.sqrt()), self.freedom))
    }

    /// A p-value that took neighbours as independent: its normal deviate over the root of the
    /// inflation.
    fn widen(&self, p_value: f64) -> f64 {
        let z = normal_quantile(1.0 - p_value.clamp(1e-15, 1.0) / 2.0);
        2.0 * normal_cdf(-z / self.inflation.sqrt())
    }
}

/// A share with its sign: `+30 %`.
fn signed(share: f64) -> String {
    let sign = if share < 0.0 { "-" } else { "+" };
    format!("{sign}{:.1} %", share.abs() * 100.0)
}

#[cfg(test)]
mod tests {
    use stats::random::Random;

    use super::*;

    /// How many of 1,000 windows without any change raise a flag by the default bounds, and how
    /// many are void. Both series are looked at in a run, so that a run has twice the chance.
    fn alarms(mut draw: impl FnMut(&mut Random) -> Vec<f64>) -> (u32, u32) {
        let bounds = Gates::default();
        let mut random = Random::seeded(23);
        let (mut flags, mut voids) = (0, 0);
        for _ in 0..1_000 {
            let points = (0..).zip(draw(&mut random)).collect();
            let series = Series::new("throughput", points).unwrap();
            let over = |test: fn(&Series) -> Option<Finding>, bound: f64| {
                test(&series).is_some_and(|found| found.share.abs() > bound)
            };
            flags += u32::from(
                over(shift, bounds.shift_flag_share)
                    || over(drift, bounds.trend_share)
                    || over(halves, bounds.halves_share)
                    || over(warm_up, bounds.warm_up_share),
            );
            voids += u32::from(over(shift, bounds.shift_share));
        }
        (flags, voids)
    }

    /// Windows of a machine whose neighbouring seconds resemble each other (first-order
    /// autoregression). The rates that docs/gates.md states.
    #[test]
    fn false_alarms_are_rarer_than_stated() {
        for (seconds, sd, likeness, most_flags, most_voids) in [
            (10, 0.02, 0.0, 30, 0),
            (30, 0.02, 0.0, 30, 0),
            (30, 0.02, 0.5, 50, 1),
            (30, 0.05, 0.0, 50, 1),
            (30, 0.05, 0.5, 100, 10),
            (120, 0.05, 0.5, 60, 5),
            (30, 0.10, 0.5, 120, 45),
        ] {
            let (flags, voids) = alarms(|random| {
                let mut state = random.normal();
                let fresh = (1.0_f64 - likeness * likeness).sqrt();
                let mut next = || {
                    state = likeness * state + fresh * random.normal();
                    1.0 + sd * state
                };
                (0..seconds).map(|_| next()).collect()
            });
            assert!(
                flags <= most_flags && voids <= most_voids,
                "{seconds} s, sd {sd}, likeness {likeness}: {flags} flags, {voids} voids"
            );
        }
    }

    /// A few requests a second: one more or less is no step.
    #[test]
    fn sparse_counts_are_no_steps() {
        let (_, voids) = alarms(|random| (0..30).map(|_| (6 + random.below(5)) as f64).collect());
        assert!(voids <= 10, "{voids}");
    }
}
