//! The decorations at the head of a unified line. Any set, in any order, or none: each is known
//! by its own form, and what follows the last one is the message.

use super::amount;

/// What the decorations of one line say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Decorations<'a> {
    /// Since the JVM's start, ns.
    pub(super) uptime_ns: Option<u64>,
    /// Of the wall clock, ns since 1970.
    pub(super) epoch_ns: Option<u64>,
    /// The tags, `gc,heap`.
    pub(super) tags: Option<&'a str>,
    /// Whether the line had any.
    pub(super) any: bool,
}

/// Milliseconds from here on are of the wall clock (1973), below they are an uptime (three years).
const EPOCH_MS: u64 = 100_000_000_000;

/// Splits a line into decorations and message.
pub(super) fn split(line: &str) -> (Decorations<'_>, &str) {
    let mut found = Decorations::default();
    let mut rest = line;
    while let Some((content, after)) =
        rest.strip_prefix('[').and_then(|inner| inner.split_once(']'))
    {
        let content = content.trim_end();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.,:+-".contains(&byte);
        if content.is_empty() || content.len() > 128 || !content.bytes().all(plain) {
            break;
        }
        found.any = true;
        rest = after;
        if let Some(epoch_ns) = date_ns(content) {
            found.epoch_ns = Some(epoch_ns);
        } else if let Some(ns) = amount::duration_ns(content) {
            if content.ends_with("ms") && ns / 1_000_000 >= EPOCH_MS {
                found.epoch_ns = found.epoch_ns.or(Some(ns));
            } else {
                // A log may carry several clocks; the first that counts from the start is used.
                found.uptime_ns = found.uptime_ns.or(Some(ns));
            }
        } else if content.split(',').any(|tag| tag == "gc" || tag == "safepoint") {
            found.tags = Some(content);
        }
        // Anything else is a level, a host's name, a process or a thread: of no use here.
    }
    (found, if found.any { rest.strip_prefix(' ').unwrap_or(rest) } else { line })
}

/// `2026-11-30T09:31:46.123+0000`, ns since 1970. Days by Howard Hinnant's `days_from_civil`.
pub(super) fn date_ns(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    if bytes.len() < 23 || !text.is_ascii() {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let part = text.get(from..to)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let fixed = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if fixed.iter().any(|&(at, byte)| bytes[at] != byte) || !matches!(bytes[19], b'.' | b',') {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let milli = number(20, 23)?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    let zone_minutes = match &text[23..] {
        "" | "Z" => 0,
        zone if zone.len() == 5 && zone.starts_with(['+', '-']) => {
            let minutes = number(24, 26)? * 60 + number(26, 28)?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
        _ => return None,
    };
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + (minute - zone_minutes) * 60 + second;
    let ms =
        u64::try_from(seconds).ok()?.checked_mul(1_000)?.checked_add(milli.try_into().ok()?)?;
    ms.checked_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date_ns("1970-01-01T00:00:00.000+0000"), Some(0));
        assert_eq!(date_ns("2026-11-30T15:06:18.266+0000"), Some(1_796_051_178_266_000_000));
        assert_eq!(date_ns("2026-11-30T17:06:18.266+0200"), Some(1_796_051_178_266_000_000));
        assert_eq!(date_ns("2026-11-30T14:36:18.266-0030"), Some(1_796_051_178_266_000_000));
        assert_eq!(date_ns("2000-02-29T00:00:00.000Z"), Some(951_782_400_000_000_000));
        for bad in ["", "2026-11-30", "2026-13-30T15:06:18.266+0000", "2026-11-30 15:06:18.266"] {
            assert_eq!(date_ns(bad), None, "{bad}");
        }
    }

    /// Trap 41: decorations are optional and in any order.
    #[test]
    fn any_set_in_any_order() {
        let check = |line: &str, uptime_ns, epoch_ns, tags, message: &str| {
            let (found, rest) = split(line);
            assert_eq!((found.uptime_ns, found.epoch_ns, found.tags), (uptime_ns, epoch_ns, tags));
            assert_eq!(rest, message, "{line}");
        };
        let date = Some(1_796_051_178_266_000_000);
        check("[0.012s][info][gc     ] Using G1", Some(12_000_000), None, Some("gc"), "Using G1");
        check("[12ms][gc,heap] x", Some(12_000_000), None, Some("gc,heap"), "x");
        check("[gc][info][0.5s] x", Some(500_000_000), None, Some("gc"), "x");
        check("[2026-11-30T15:06:18.266+0000][info][gc] x", None, date, Some("gc"), "x");
        check("[1796051178266ms][429ms] x", Some(429_000_000), date, None, "x");
        check("[150003873ns][21235][host-1.lan][gc] x", Some(150_003_873), None, Some("gc"), "x");
        check("GC(0) Pause Remark 0.1ms", None, None, None, "GC(0) Pause Remark 0.1ms");
        check("[0.1s][info] [GC lookalike] x", Some(100_000_000), None, None, "[GC lookalike] x");
        check("[GC (Allocation Failure) x]", None, None, None, "[GC (Allocation Failure) x]");
        check("[0.1s][info][gc]   indented", Some(100_000_000), None, Some("gc"), "  indented");
    }
}
