//! The words at ticks: one unit for a whole linear axis, each tick's own on a logarithmic one,
//! and only the digits that tell neighbours apart.

use super::scale::Scale;
use crate::text::count;

/// The unit in which a linear axis is labelled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AxisUnit {
    /// One of it in the unit of the values.
    size: f64,
    /// Its name, for the title of the axis.
    pub(crate) name: &'static str,
}

/// Units of time with their size, ns.
const TIMES: [(f64, &str); 6] =
    [(3_600e9, "h"), (60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
/// Binary units with their size, bytes.
const SIZES: [(f64, &str); 5] = [
    (1_099_511_627_776.0, "TiB"),
    (1_073_741_824.0, "GiB"),
    (1_048_576.0, "MiB"),
    (1_024.0, "KiB"),
    (1.0, "B"),
];

impl AxisUnit {
    /// The unit for values in `unit`, the largest of which is `largest`.
    pub(crate) fn of(unit: &str, largest: f64) -> Self {
        let fitting = |units: &[(f64, &'static str)]| {
            let found = units.iter().find(|(size, _)| largest.abs() >= *size);
            let (size, name) = *found.unwrap_or(&units[units.len() - 1]);
            Self { size, name }
        };
        match unit {
            "ns" => fitting(&TIMES),
            "bytes" => fitting(&SIZES),
            "share" => Self { size: 0.01, name: "%" },
            "/s" => Self { size: 1.0, name: "per second" },
            "%" => Self { size: 1.0, name: "%" },
            _ => Self { size: 1.0, name: "" },
        }
    }

    /// Round ticks of a linear scale in this unit, in the unit of the values, and their words.
    pub(crate) fn ticks(&self, scale: &Scale, most: usize) -> (Vec<f64>, Vec<String>) {
        let ticks = scale.ticks_by(self.size, most);
        let labels = self.labels(&ticks);
        (ticks, labels)
    }

    /// The words at linear ticks.
    pub(crate) fn labels(&self, ticks: &[f64]) -> Vec<String> {
        let steps = ticks.windows(2).map(|pair| (pair[1] - pair[0]) / self.size);
        let step = steps.fold(f64::INFINITY, f64::min);
        let digits = if step.is_finite() { (-step.log10() - 1e-9).ceil().max(0.0) } else { 1.0 };
        ticks.iter().map(|tick| fixed(tick / self.size, digits.min(9.0) as usize)).collect()
    }
}

/// The words at the ticks of a logarithmic axis in nanoseconds: `500 us`, `1 ms`, `1.2 ms`.
pub(crate) fn time_labels(ticks: &[f64]) -> Vec<String> {
    ticks
        .iter()
        .map(|tick| {
            // The slack keeps 1e6, which may be 999 999.999…, a millisecond.
            let found = TIMES.iter().find(|(size, _)| tick * (1.0 + 1e-9) >= *size);
            let (size, name) = *found.unwrap_or(&(1.0, "ns"));
            format!("{} {name}", trimmed(tick / size))
        })
        .collect()
}

/// A percentage with its sign, `+4.9`; zero has none.
pub(crate) fn signed_labels(ticks: &[f64]) -> Vec<String> {
    let unit = AxisUnit::of("%", 1.0);
    let signed =
        |(tick, label): (&f64, String)| if *tick > 0.0 { format!("+{label}") } else { label };
    ticks.iter().zip(unit.labels(ticks)).map(signed).collect()
}

fn fixed(value: f64, digits: usize) -> String {
    let value = value + 0.0;
    if digits == 0 && (1_000.0..1e15).contains(&value.abs()) {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(value.abs().round() as u64));
    }
    format!("{value:.digits$}")
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_for_an_axis_and_the_digits_it_needs() {
        let labels = |unit, ticks: &[f64]| {
            let axis = AxisUnit::of(unit, ticks[ticks.len() - 1]);
            format!("{}: {}", axis.name, axis.labels(ticks).join(" "))
        };
        insta::assert_snapshot!(labels("ns", &[9.8e6, 10.0e6, 10.2e6]), @"ms: 9.8 10.0 10.2");
        insta::assert_snapshot!(labels("ns", &[500.0, 1_000.0, 1_500.0]), @"us: 0.5 1.0 1.5");
        insta::assert_snapshot!(labels("/s", &[1_000.0, 1_500.0]), @"per second: 1,000 1,500");
        insta::assert_snapshot!(labels("share", &[0.0, 0.005, 0.01]), @"%: 0.0 0.5 1.0");
        insta::assert_snapshot!(labels("bytes", &[0.0, 1_048_576.0]), @"MiB: 0 1");
        insta::assert_snapshot!(labels("", &[3.0]), @": 3.0");
    }

    #[test]
    fn ticks_are_round_in_the_unit_that_is_shown() {
        let scale = Scale::exactly(0.0, 300e9, [0.0, 100.0]);
        let (ticks, labels) = AxisUnit::of("ns", 150e9).ticks(&scale, 7);
        assert_eq!(ticks, [0.0, 60e9, 120e9, 180e9, 240e9, 300e9]);
        assert_eq!(labels, ["0", "1", "2", "3", "4", "5"]);
    }

    #[test]
    fn each_tick_of_a_logarithmic_axis_has_its_own_unit() {
        assert_eq!(time_labels(&[5e5, 1e6, 1.2e7, 1e9]), ["500 us", "1 ms", "12 ms", "1 s"]);
        assert_eq!(time_labels(&[10_f64.powi(6), 0.5]), ["1 ms", "0.5 ns"]);
    }

    #[test]
    fn a_change_carries_its_sign() {
        assert_eq!(signed_labels(&[-0.5, 0.0, 0.5]), ["-0.5", "0.0", "+0.5"]);
    }
}
