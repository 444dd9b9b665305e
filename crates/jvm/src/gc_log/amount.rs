//! Sizes, durations and changes of size as HotSpot writes them. Exact: decimals become integers
//! without a detour over floating point, so that sums agree with the log to the last digit.

/// A decimal number times `scale`, a power of ten, rounded down: `decimal("4.791", 1_000_000)`
/// is 4,791,000.
pub(super) fn decimal(text: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let mut value = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let mut unit = scale;
    for digit in fraction.bytes() {
        unit /= 10;
        value = value.checked_add(unit * u64::from(digit - b'0'))?;
    }
    Some(value)
}

/// A duration with its unit attached, in ns: `4.791ms`, `0.050s`, `17us`, `12ns`.
pub(super) fn duration_ns(text: &str) -> Option<u64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[number.len()..] {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return None,
    };
    decimal(number, scale)
}

/// A size in bytes: `14M`, `65536K`, `24.0M`, `0.0B`, `2G`. Units are binary, as the JVM's are.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let unit = match text.as_bytes().last()? {
        b'B' => 1,
        b'K' => 1 << 10,
        b'M' => 1 << 20,
        b'G' => 1 << 30,
        b'T' => 1_u64 << 40,
        _ => return None,
    };
    let number = &text[..text.len() - 1];
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole = decimal(whole, unit)?;
    // At most nine digits of a fraction count; the JVM writes one.
    let fraction = fraction.get(..9).unwrap_or(fraction);
    let parts = u128::from(decimal(fraction, 1)?) * u128::from(unit);
    let part = parts / 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    whole.checked_add(u64::try_from(part).ok()?)
}

/// A change of the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) before_bytes: u64,
    pub(super) after_bytes: u64,
    pub(super) committed_bytes: Option<u64>,
}

/// `14M->2M(96M)`, `20M(12%)->14M(9%)` of ZGC, `24.0M(256.0M)->21.9M(256.0M)` of G1 in JDK 8.
pub(super) fn change(text: &str) -> Option<Change> {
    let (before, after) = text.split_once("->")?;
    let size = |text: &str| -> Option<(u64, Option<u64>)> {
        let (used, rest) = text.split_once('(').unwrap_or((text, ")"));
        Some((bytes(used)?, bytes(rest.strip_suffix(')')?)))
    };
    let (after, committed_bytes) = size(after)?;
    Some(Change { before_bytes: size(before)?.0, after_bytes: after, committed_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact() {
        assert_eq!(duration_ns("4.791ms"), Some(4_791_000));
        assert_eq!(duration_ns("0.050s"), Some(50_000_000));
        assert_eq!(duration_ns("226410269ns"), Some(226_410_269));
        assert_eq!(duration_ns("ms"), None);
        assert_eq!(duration_ns("1.2.3ms"), None);
        assert_eq!(duration_ns("-1ms"), None);
        assert_eq!(duration_ns("99999999999999999999s"), None);
        assert_eq!(duration_ns("99999999999999s"), None);
        assert_eq!(bytes("14M"), Some(14 << 20));
        assert_eq!(bytes("3072.0K"), Some(3 << 20));
        assert_eq!(bytes("21.9M"), Some(21 * (1 << 20) + 943_718));
        assert_eq!(bytes("0.0B"), Some(0));
        assert_eq!(bytes("1.5G"), Some(3 << 29));
        assert_eq!(bytes("99999999999T"), None);
        assert_eq!(bytes("M"), None);
        assert_eq!(bytes(""), None);
        assert_eq!(bytes("1.00000000000000000000000000000001M"), Some(1 << 20));
    }

    #[test]
    fn changes_of_every_collector() {
        let of = |before, after, committed| {
            Some(Change { before_bytes: before, after_bytes: after, committed_bytes: committed })
        };
        assert_eq!(change("14M->2M(96M)"), of(14 << 20, 2 << 20, Some(96 << 20)));
        assert_eq!(change("18M(11%)->4M(2%)"), of(18 << 20, 4 << 20, None));
        assert_eq!(change("1.0M(2.0M)->0.5M(3.0M)"), of(1 << 20, 1 << 19, Some(3 << 20)));
        assert_eq!(change("14M->"), None);
        assert_eq!(change("a->b(c)"), None);
    }
}
