//! Figures as they are printed: a number, its unit, and the step in which it was printed.

use record::foreign::{Figure, Quantile};

/// Longest latency that is taken for one, ns: ten days. More is damage.
const LONGEST_NS: f64 = 864e12;

/// `5.22ms`, `733us`, `1.02s`, `1.50m`: value and printed step.
pub(crate) fn time(text: &str) -> Option<Figure> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic() || c == 'µ' || c == 'μ')?;
    let (digits, unit) = text.split_at(split);
    let unit_ns = match unit.trim() {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3_600e9,
        _ => return None,
    };
    scaled(digits, unit_ns)
}

/// A bare decimal in units of `unit_ns`; its decimals give the step.
pub(crate) fn scaled(digits: &str, unit_ns: f64) -> Option<Figure> {
    let digits = digits.trim();
    let value = number(digits)?;
    let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
    let step = unit_ns / 10_f64.powi(i32::try_from(decimals.min(12)).unwrap_or(12));
    of(value * unit_ns, step)
}

/// A latency and its step, both ns; `None` for what is no latency.
pub(crate) fn of(value_ns: f64, resolution_ns: f64) -> Option<Figure> {
    let good = value_ns.is_finite() && (0.0..=LONGEST_NS).contains(&value_ns);
    good.then(|| Figure {
        value_ns: value_ns.round() as u64,
        resolution_ns: resolution_ns.max(1.0).round() as u64,
    })
}

/// A decimal without sign, exponent or anything else.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = !text.is_empty()
        && text.len() <= 32
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse::<f64>().ok().filter(|value| plain && value.is_finite())
}

/// A count.
pub(crate) fn count(text: &str) -> Option<u64> {
    let text = text.trim();
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `99%` or `99.900%` as a share, rounded so that 99.9 is 0.999.
pub(crate) fn percent(text: &str) -> Option<f64> {
    let value = number(text.trim().strip_suffix('%')?)?;
    (value <= 100.0).then(|| share_of(value))
}

/// A percentage as a share on a grid of 1e-9, so that equal ones compare equal.
pub(crate) fn share_of(percent: f64) -> f64 {
    (percent * 1e7).round() / 1e9
}

/// Puts quantiles in order of their shares, each share once; 0 and 1 are minimum and maximum and
/// no quantiles here.
pub(crate) fn in_order(mut quantiles: Vec<Quantile>) -> Vec<Quantile> {
    quantiles.retain(|one| one.share > 0.0 && one.share < 1.0);
    quantiles.sort_by(|a, b| a.share.total_cmp(&b.share));
    quantiles.dedup_by(|a, b| (a.share - b.share).abs() < 1e-9);
    quantiles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_time_tells_its_step() {
        let read = |text| time(text).map(|figure| (figure.value_ns, figure.resolution_ns));
        assert_eq!(read("5.22ms"), Some((5_220_000, 10_000)));
        assert_eq!(read("733us"), Some((733_000, 1_000)));
        assert_eq!(read("0.0052 secs"), Some((5_200_000, 100_000)));
        assert_eq!(read("1.50m"), Some((90_000_000_000, 600_000_000)));
        for bad in ["", "ms", "-1ms", "1e3ms", "nan s", "5.2", "5 parsecs", "1.2.3ms"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
