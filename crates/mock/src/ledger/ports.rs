//! Which ports peers came from: one bit for each of 65,536.

/// The first and last port that this network namespace gives to outgoing connections.
const RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// The map.
#[derive(Debug)]
pub(super) struct Ports {
    bits: Box<[u64; 1_024]>,
    distinct: u64,
}

impl Default for Ports {
    fn default() -> Self {
        Self { bits: Box::new([0; 1_024]), distinct: 0 }
    }
}

impl Ports {
    pub(super) fn see(&mut self, port: u16) {
        let (word, bit) = (usize::from(port) / 64, 1 << (port % 64));
        if self.bits[word] & bit == 0 {
            self.bits[word] |= bit;
            self.distinct += 1;
        }
    }

    pub(super) fn distinct(&self) -> u64 {
        self.distinct
    }

    /// Whether more than a quarter of `range` was seen. From there on ports come again before the
    /// map can tell, and it says least when the pressure is highest.
    pub(super) fn is_saturated(&self, (first, last): (u16, u16)) -> bool {
        let size = u64::from(last.saturating_sub(first)) + 1;
        self.distinct * 4 > size
    }
}

/// The ephemeral range of this network namespace, where it can be read.
pub(super) fn ephemeral_range() -> Option<(u16, u16)> {
    read_range(&std::fs::read_to_string(RANGE).ok()?)
}

fn read_range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.trim().split_once(char::is_whitespace)?;
    let (first, last) = (first.parse().ok()?, last.trim().parse().ok()?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_saturated_above_a_quarter_of_the_range() {
        let mut ports = Ports::default();
        for port in 40_000..40_250 {
            ports.see(port);
            ports.see(port);
        }
        assert_eq!(ports.distinct(), 250);
        assert!(!ports.is_saturated((40_000, 40_999)), "a quarter of 1,000");
        ports.see(0);
        assert!(ports.is_saturated((40_000, 40_999)), "one more");
        ports.see(65_535);
        assert_eq!(ports.distinct(), 252);
        assert!(!ports.is_saturated((32_768, 60_999)), "the kernel's usual range");
    }

    #[test]
    fn ranges_read() {
        assert_eq!(read_range("32768\t60999\n"), Some((32_768, 60_999)));
        for text in ["", "1", "9 1", "1 70000", "a b"] {
            assert_eq!(read_range(text), None, "{text}");
        }
        assert!(ephemeral_range().is_some(), "any Linux has one");
    }
}
