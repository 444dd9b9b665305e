//! A limit on the requests of one address: a window that opens with an address's first request and
//! holds so many. What is over gets the time until the next window.

use std::collections::HashMap;
use std::net::IpAddr;

use record::mock::RateLimit;

/// Most addresses that are remembered at once; then those whose window is over are forgotten, and
/// while there are none, an unknown address is over its limit.
const ADDRESSES_MAX: usize = 65_536;

/// The windows of all addresses. Instants are ns after start.
#[derive(Debug)]
pub(crate) struct Limiter {
    limit: RateLimit,
    /// Start of the window and requests in it.
    windows: HashMap<IpAddr, (u64, u32)>,
}

impl Limiter {
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self { limit, windows: HashMap::new() }
    }

    /// Counts a request; `Some` is the time to wait, ns, when it is over the limit.
    pub(crate) fn over_ns(&mut self, address: IpAddr, now_ns: u64) -> Option<u64> {
        let period_ns = self.limit.period_ns;
        if self.windows.len() >= ADDRESSES_MAX && !self.windows.contains_key(&address) {
            self.windows.retain(|_, (start_ns, _)| now_ns - *start_ns < period_ns);
            if self.windows.len() >= ADDRESSES_MAX {
                return Some(period_ns);
            }
        }
        let window = self.windows.entry(address).or_insert((now_ns, 0));
        if now_ns - window.0 >= period_ns {
            *window = (now_ns, 0);
        }
        if window.1 >= self.limit.requests {
            return Some(period_ns - (now_ns - window.0));
        }
        window.1 += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(last: u32) -> IpAddr {
        Ipv4Addr::from_bits(0x7f00_0000 + last).into()
    }

    #[test]
    fn each_address_has_its_own_window() {
        let mut limiter = Limiter::new(RateLimit { requests: 2, period_ns: 100 });
        let seen: Vec<_> = [5, 6, 7, 104, 105, 106, 107]
            .map(|now_ns| limiter.over_ns(address(1), now_ns))
            .to_vec();
        assert_eq!(seen, [None, None, Some(98), Some(1), None, None, Some(98)]);
        assert_eq!(limiter.over_ns(address(2), 107), None);
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let mut limiter = Limiter::new(RateLimit { requests: 1, period_ns: 100 });
        for last in 0..ADDRESSES_MAX as u32 {
            assert_eq!(limiter.over_ns(address(last), 0), None);
        }
        assert_eq!(limiter.over_ns(address(1 << 20), 99), Some(100));
        assert_eq!(limiter.over_ns(address(1 << 20), 100), None);
        assert_eq!(limiter.windows.len(), 1);
    }
}
