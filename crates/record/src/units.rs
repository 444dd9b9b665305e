//! Durations, sizes, rates and shares as people write them: `"1m30s"`, `"64KiB"`, `"200/s"`,
//! `"0.1%"`, and back. Decimal and binary sizes are different units and never mixed.

use std::fmt;

/// A text that is not of the expected unit; its message says how to write it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {what}; write `{example}`")]
pub struct UnitError {
    /// The text as given.
    pub text: String,
    /// What was expected: `duration`, `size`, `rate` or `percentage`.
    pub what: &'static str,
    /// The nearest valid spelling.
    pub example: String,
}

/// Units of a duration with their length, ns.
pub const DURATION_UNITS: [(&str, f64); 7] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("h", 3600e9),
    ("d", 86_400e9),
];

const SIZE_UNITS: [(&str, f64); 9] = [
    ("B", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

/// Splits `12.5ms` into `(12.5, "ms", rest)`.
fn number_and_unit(text: &str) -> Option<(f64, &str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')?;
    let number: f64 = text[..digits].replace('_', "").parse().ok()?;
    let rest = &text[digits..];
    let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
    Some((number, &rest[..end], &rest[end..]))
}

/// Parses a duration such as `30s`, `1m30s`, `250us` to nanoseconds.
///
/// # Errors
/// A bare number, an unknown unit, or a value beyond 100 years.
pub fn duration_ns(text: &str) -> Result<u64, UnitError> {
    let bare = text.trim().parse::<f64>().is_ok_and(|number| number >= 0.0 && number.is_finite());
    let error = || UnitError {
        text: text.to_owned(),
        what: "duration",
        example: if bare { format!("\"{}s\"", text.trim()) } else { "\"30s\"".to_owned() },
    };
    let mut rest = text.trim();
    if rest.is_empty() || bare {
        return Err(error());
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let (number, unit, tail) = number_and_unit(rest).ok_or_else(error)?;
        let (_, factor) =
            DURATION_UNITS.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(error)?;
        total += number * factor;
        rest = tail;
    }
    if total > 3.2e18 {
        return Err(error());
    }
    Ok(total.round() as u64)
}

/// Parses a size such as `64KB` (64,000) or `64KiB` (65,536), or a bare count of bytes.
///
/// # Errors
/// An unknown unit or no number.
pub fn size_bytes(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError { text: text.to_owned(), what: "size", example: "\"64KiB\"".into() };
    let text = text.trim();
    if let Ok(bytes) = text.replace('_', "").parse::<u64>() {
        return Ok(bytes);
    }
    let (number, unit, tail) = number_and_unit(text).ok_or_else(error)?;
    let (_, factor) = SIZE_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(error)?;
    if !tail.is_empty() || number * factor > 1e15 {
        return Err(error());
    }
    Ok((number * factor).round() as u64)
}

/// Parses a rate such as `200/s`, `12_000/min` or `1/h` to events per second.
///
/// # Errors
/// No `/`, an unknown unit, or a rate that is not positive.
pub fn rate_per_s(text: &str) -> Result<f64, UnitError> {
    let error = || UnitError { text: text.to_owned(), what: "rate", example: "\"200/s\"".into() };
    let (number, unit) = text.trim().split_once('/').ok_or_else(error)?;
    let number: f64 = number.trim().replace('_', "").parse().map_err(|_| error())?;
    let seconds = match unit.trim() {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(error()),
    };
    if !(number > 0.0 && number.is_finite()) {
        return Err(error());
    }
    Ok(number / seconds)
}

/// Parses a percentage such as `0.1%` to a share (0.001); a sign is allowed.
///
/// # Errors
/// No `%`, or no finite number before it.
pub fn share(text: &str) -> Result<f64, UnitError> {
    let error =
        || UnitError { text: text.to_owned(), what: "percentage", example: "\"0.1%\"".into() };
    let number = text.trim().strip_suffix('%').ok_or_else(error)?;
    let number: f64 = number.trim().parse().map_err(|_| error())?;
    if number.is_finite() { Ok(number / 100.0) } else { Err(error()) }
}

/// Prints nanoseconds in the largest unit that keeps three significant digits: `1.25 ms`.
pub struct HumanDuration(
    /// Nanoseconds.
    pub f64,
);

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        let (value, unit) = match magnitude {
            m if m < 1e3 => (self.0, "ns"),
            m if m < 1e6 => (self.0 / 1e3, "us"),
            m if m < 1e9 => (self.0 / 1e6, "ms"),
            m if m < 120e9 => (self.0 / 1e9, "s"),
            m if m < 7200e9 => (self.0 / 60e9, "min"),
            _ => (self.0 / 3600e9, "h"),
        };
        let digits = match value.abs() {
            v if unit == "ns" || v >= 100.0 => 0,
            v if v >= 10.0 => 1,
            _ => 2,
        };
        f.pad(&format!("{value:.digits$} {unit}"))
    }
}

/// Prints bytes with a binary unit, and says so: `1.50 MiB`.
pub struct HumanBytes(
    /// Bytes.
    pub f64,
);

impl fmt::Display for HumanBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut value = self.0;
        let mut unit = "B";
        for next in ["KiB", "MiB", "GiB", "TiB"] {
            if value.abs() < 1024.0 {
                break;
            }
            value /= 1024.0;
            unit = next;
        }
        let digits = if unit == "B" || value.abs() >= 100.0 { 0 } else { 2 };
        f.pad(&format!("{value:.digits$} {unit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration_ns("30s"), Ok(30_000_000_000));
        assert_eq!(duration_ns("1m30s"), Ok(90_000_000_000));
        assert_eq!(duration_ns("1.5ms"), Ok(1_500_000));
        assert_eq!(duration_ns("250us"), Ok(250_000));
        assert_eq!(
            duration_ns("30").unwrap_err().to_string(),
            "`30` is not a duration; write `\"30s\"`"
        );
        for bad in ["", "s", "3 parsecs", "-1s", "1s2", "9999999d"] {
            assert!(duration_ns(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn decimal_and_binary_sizes_differ() {
        assert_eq!(size_bytes("64KB"), Ok(64_000));
        assert_eq!(size_bytes("64KiB"), Ok(65_536));
        assert_eq!(size_bytes("128"), Ok(128));
        assert!(size_bytes("64kb").is_err());
        assert_eq!(HumanBytes(65_536.0).to_string(), "64.00 KiB");
        assert_eq!(HumanBytes(64_000.0).to_string(), "62.50 KiB");
    }

    #[test]
    fn rates_and_shares() {
        assert_eq!(rate_per_s("200/s"), Ok(200.0));
        assert_eq!(rate_per_s("60/min"), Ok(1.0));
        assert!(rate_per_s("0/s").is_err());
        assert_eq!(share("0.1%"), Ok(0.001));
        assert_eq!(share("+5%"), Ok(0.05));
        assert!(share("5").is_err());
    }

    #[test]
    fn readable_durations() {
        assert_eq!(HumanDuration(950.0).to_string(), "950 ns");
        assert_eq!(HumanDuration(1_250_000.0).to_string(), "1.25 ms");
        assert_eq!(HumanDuration(61e9).to_string(), "61.0 s");
    }
}
