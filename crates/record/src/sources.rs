//! Addresses that connections come from: single ones, ranges and prefixes. A service that limits each
//! address is met as its users meet it only from many.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// Addresses from the first to the last, of one family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRange {
    /// The first.
    pub first: IpAddr,
    /// The last; not before the first.
    pub last: IpAddr,
}

/// A text that names no addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no addresses; write `127.0.0.2`, `127.0.0.2-127.0.0.9` or `127.0.1.0/24`")]
pub struct SourceError(pub String);

impl SourceRange {
    /// Reads an address, a range or a prefix. Network and broadcast address of an IPv4 prefix of up to
    /// 30 bits are left out: they are nobody's.
    ///
    /// # Errors
    /// [`SourceError`] for anything else, for a range that goes backwards or over two families.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let error = || SourceError(text.to_owned());
        let address = |text: &str| text.trim().parse::<IpAddr>().map_err(|_| error());
        let range = if let Some((first, last)) = text.split_once('-') {
            Self { first: address(first)?, last: address(last)? }
        } else if let Some((start, bits)) = text.split_once('/') {
            let start = address(start)?;
            let width: u32 = if start.is_ipv4() { 32 } else { 128 };
            let bits: u32 = bits.trim().parse().map_err(|_| error())?;
            let host_bits = width.checked_sub(bits).ok_or_else(error)?;
            let mask = 1_u128.checked_shl(host_bits).map_or(u128::MAX, |above| above - 1);
            let (mut first, mut last) = (number(start) & !mask, number(start) | mask);
            if start.is_ipv4() && host_bits >= 2 {
                (first, last) = (first + 1, last - 1);
            }
            Self { first: address_of(start, first), last: address_of(start, last) }
        } else {
            let one = address(text)?;
            Self { first: one, last: one }
        };
        let is_one_family = range.first.is_ipv4() == range.last.is_ipv4();
        if is_one_family && number(range.first) <= number(range.last) {
            Ok(range)
        } else {
            Err(error())
        }
    }

    /// How many they are; as many as fit.
    #[must_use]
    pub fn count(&self) -> u64 {
        let more = number(self.last) - number(self.first);
        u64::try_from(more).unwrap_or(u64::MAX).saturating_add(1)
    }
}

impl fmt::Display for SourceRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => self.first.fmt(f),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

/// How many addresses there are in all ranges.
#[must_use]
pub fn count(ranges: &[SourceRange]) -> u64 {
    ranges.iter().fold(0, |sum, range| sum.saturating_add(range.count()))
}

/// The address that connection `index` comes from: one after the other, and from the start again.
/// `None` without ranges.
#[must_use]
pub fn nth(ranges: &[SourceRange], index: u64) -> Option<IpAddr> {
    let mut left = index.checked_rem(count(ranges))?;
    for range in ranges {
        if left < range.count() {
            return Some(address_of(range.first, number(range.first) + u128::from(left)));
        }
        left -= range.count();
    }
    None
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}

/// The address with this number in the family of another.
fn address_of(family: IpAddr, number: u128) -> IpAddr {
    match family {
        // The numbers of a range of IPv4 lie between two that fit.
        IpAddr::V4(_) => Ipv4Addr::from(number as u32).into(),
        IpAddr::V6(_) => Ipv6Addr::from(number).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(texts: &[&str]) -> Vec<SourceRange> {
        texts.iter().map(|text| SourceRange::parse(text).unwrap()).collect()
    }

    #[test]
    fn addresses_come_one_after_the_other_and_from_the_start_again() {
        let all = ranges(&["127.0.0.9", "127.0.1.254-127.0.2.1", "::1"]);
        assert_eq!(count(&all), 6);
        let seen: Vec<String> = (0..8).map(|index| nth(&all, index).unwrap().to_string()).collect();
        let expected = ["127.0.0.9", "127.0.1.254", "127.0.1.255", "127.0.2.0", "127.0.2.1", "::1"];
        assert_eq!(seen[..6], expected);
        assert_eq!(seen[6..], expected[..2]);
        assert_eq!(nth(&[], 3), None);
    }

    #[test]
    fn a_prefix_leaves_out_what_is_nobodys() {
        let of = |text: &str| ranges(&[text])[0];
        assert_eq!(of("127.0.1.7/24").to_string(), "127.0.1.1-127.0.1.254");
        assert_eq!(of("127.0.0.0/8").count(), (1 << 24) - 2);
        assert_eq!(of("10.0.0.4/31").to_string(), "10.0.0.4-10.0.0.5");
        assert_eq!(of("10.0.0.4/32").to_string(), "10.0.0.4");
        assert_eq!(of("fd00::/64").count(), u64::MAX);
        assert_eq!(of("::/0").count(), u64::MAX);
    }

    #[test]
    fn what_names_no_addresses_is_told() {
        for text in
            ["", "localhost", "127.0.0.9-127.0.0.2", "127.0.0.1-::1", "10.0.0.0/33", "10.0.0.0/x"]
        {
            assert_eq!(SourceRange::parse(text), Err(SourceError(text.to_owned())), "{text}");
        }
    }
}
