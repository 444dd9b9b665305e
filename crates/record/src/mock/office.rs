//! The two offices of a mock, which a bench should not mix.

use serde::{Deserialize, Serialize};

use super::MockConfig;

/// What a mock is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Office {
    /// The independent witness of a load: its times and counts are the truth.
    Instrument,
    /// It stands for a server under study; it is no reference for times or throughput.
    Subject,
}

impl Office {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Instrument, Self::Subject];

    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Instrument => "instrument",
            Self::Subject => "subject",
        }
    }
}

impl MockConfig {
    /// The office that was said, or else the one the settings have: who fails, who has a limited
    /// capacity, changes over time or follows a script is a subject.
    #[must_use]
    pub fn office(&self) -> Office {
        let acts = self.script.is_some()
            || !self.fail.is_empty()
            || self.stall.is_some()
            || self.cold.is_some()
            || self.drift_per_min != 0.0
            || self.slow_after.is_some()
            || self.spike.is_some()
            || self.serialise_ns > 0
            || self.workers.is_some()
            || self.queue.is_some()
            || self.dip.is_some()
            || self.rate_limit.is_some()
            || self.bias_ns > 0;
        self.office.unwrap_or(if acts { Office::Subject } else { Office::Instrument })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn office(settings: &[(&str, &str)]) -> Office {
        let mut config = MockConfig::default();
        for (key, text) in settings {
            config.set(key, text).expect("valid");
        }
        config.office()
    }

    #[test]
    fn faults_capacity_and_scripts_make_a_subject() {
        for plain in [
            &[][..],
            &[("latency", "lognormal:10ms:0.5"), ("body_size", "1KB"), ("truth_header", "true")],
            &[("close", "1"), ("backlog", "16")],
        ] {
            assert_eq!(office(plain), Office::Instrument, "{plain:?}");
        }
        for (key, text) in [
            ("stall", "1s/5s"),
            ("fail", "1%:body"),
            ("cold", "5s:10x"),
            ("drift", "1%/min"),
            ("slow_after", "10s:1.3x"),
            ("spike", "3.5%:225ms"),
            ("serialise", "22ms"),
            ("workers", "8"),
            ("queue", "8"),
            ("dip", "10s..20s:0.25x"),
            ("rate_limit", "10/min"),
            ("script", "shop.toml"),
            ("bias", "2ms"),
        ] {
            assert_eq!(office(&[(key, text)]), Office::Subject, "{key}");
            let said = [(key, text), ("office", "instrument")];
            assert_eq!(office(&said), Office::Instrument, "{key}: what is said holds");
        }
        assert_eq!(office(&[("office", "subject")]), Office::Subject);
    }
}
