//! Distinct local ports as a map of 65,536 bits.

/// The ports seen.
#[derive(Debug, Clone)]
pub(crate) struct PortMap(Box<[u64; 1024]>);

impl Default for PortMap {
    fn default() -> Self {
        Self(Box::new([0; 1024]))
    }
}

impl PortMap {
    pub(crate) fn insert(&mut self, port: u16) {
        self.0[usize::from(port) / 64] |= 1 << (port % 64);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *mine |= theirs;
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_port_once() {
        let mut ports = PortMap::default();
        for port in [0, 1, 64, 65_535, 64] {
            ports.insert(port);
        }
        let mut other = PortMap::default();
        other.insert(2);
        other.insert(1);
        ports.merge(&other);
        assert_eq!(ports.count(), 5);
    }
}
