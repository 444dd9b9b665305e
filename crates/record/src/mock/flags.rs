//! A mock's configuration as the flags of `assay mock`, and as one line.

use super::{Dip, Failure, MockConfig, RateLimit};

impl MockConfig {
    /// The flags that make `assay mock` take exactly this configuration: [`MockConfig::set`] with
    /// their words and values gives it back, to the nanosecond. What is off is left out.
    ///
    /// A share is written so that reading it gives the same number; that holds for every share that
    /// was itself read from a percentage.
    #[must_use]
    pub fn flags(&self) -> Vec<String> {
        flags(self)
    }

    /// The configuration in effect on one line: the mock's office, then its flags.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{}: {}", self.office().name(), flags(self).join(" "))
    }
}

fn flags(config: &MockConfig) -> Vec<String> {
    // Taken apart without `..`, so that a new field cannot be forgotten here.
    let MockConfig {
        listen,
        latency_ns,
        body_size_bytes,
        seed,
        stall,
        fail,
        cold,
        drift_per_min,
        slow_after,
        spike,
        close_after,
        law,
        serialise_ns,
        workers,
        queue,
        dip,
        rate_limit,
        truth_header,
        backlog,
        script,
        bias_ns,
        office,
        control,
    } = config;
    let mut flags = Vec::new();
    let mut flag = |name: &str, value: String| flags.extend([format!("--{name}"), value]);
    flag("listen", listen.clone());
    let constant = || time(*latency_ns);
    flag("latency", law.as_ref().map_or_else(constant, |law| law.text(*latency_ns)));
    flag("body-size", body_size_bytes.to_string());
    flag("seed", seed.to_string());
    if *backlog != MockConfig::default().backlog {
        flag("backlog", backlog.to_string());
    }
    if let Some(stall) = stall {
        flag("stall", format!("{}/{}", time(stall.length_ns), time(stall.period_ns)));
    }
    for fail in fail {
        let how = match fail.how {
            Failure::Status(code) => format!("status={code}"),
            Failure::Body => "body".to_owned(),
            Failure::Reset => "reset".to_owned(),
            Failure::Never => "never".to_owned(),
        };
        flag("fail", format!("{}:{how}", percent(fail.share)));
    }
    if let Some(cold) = cold {
        flag("cold", format!("{}:{}x", time(cold.at_ns), cold.factor));
    }
    if *drift_per_min != 0.0 {
        flag("drift", format!("{}/min", percent(*drift_per_min)));
    }
    if let Some(slow) = slow_after {
        flag("slow-after", format!("{}:{}x", time(slow.at_ns), slow.factor));
    }
    if let Some(spike) = spike {
        flag("spike", format!("{}:{}", percent(spike.share), time(spike.extra_ns)));
    }
    if let Some(requests) = close_after {
        flag("close", requests.to_string());
    }
    if *serialise_ns > 0 {
        flag("serialise", time(*serialise_ns));
    }
    if let Some(workers) = workers {
        flag("workers", workers.to_string());
    }
    if let Some(queue) = queue {
        flag("queue", queue.to_string());
    }
    if let Some(Dip { from_ns, to_ns, factor }) = dip {
        flag("dip", format!("{}..{}:{factor}x", time(*from_ns), time(*to_ns)));
    }
    if let Some(RateLimit { requests, period_ns }) = rate_limit {
        flag("rate-limit", format!("{requests}/{}", time(*period_ns)));
    }
    if *truth_header {
        flag("truth-header", "true".to_owned());
    }
    if let Some(file) = script {
        flag("script", file.clone());
    }
    if *bias_ns > 0 {
        flag("bias", time(*bias_ns));
    }
    if let Some(office) = office {
        flag("office", office.name().to_owned());
    }
    if let Some(address) = control {
        flag("control", address.clone());
    }
    flags
}

/// A duration in the largest unit in which it is a whole number.
pub(super) fn time(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    match units.into_iter().find(|(unit_ns, _)| ns.is_multiple_of(*unit_ns) && ns > 0) {
        Some((unit_ns, unit)) => format!("{}{unit}", ns / unit_ns),
        None => format!("{ns}ns"),
    }
}

/// The shortest percentage that reads back as this share. Times 100 and divided by 100 need not
/// give the same number again; then a neighbour does, when the share came from a percentage.
fn percent(share: f64) -> String {
    let near = share * 100.0;
    (-2_i64..=2)
        .filter_map(|step| Some(f64::from_bits(near.to_bits().checked_add_signed(step)?)))
        .filter(|candidate| candidate / 100.0 == share)
        .map(|exact| format!("{exact}%"))
        .min_by_key(String::len)
        .unwrap_or_else(|| format!("{near}%"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Fail, Slowdown, Spike, Stall};
    use proptest::prelude::*;

    fn read(flags: &[String]) -> MockConfig {
        let mut config = MockConfig::default();
        for pair in flags.chunks(2) {
            let key = pair[0].strip_prefix("--").expect("a flag").replace('-', "_");
            assert!(MockConfig::KEYS.contains(&key.as_str()), "{key}");
            config.set(&key, &pair[1]).expect("a valid value");
        }
        config
    }

    #[test]
    fn defaults() {
        let flags = MockConfig::default().flags();
        assert_eq!(read(&flags), MockConfig::default());
        insta::assert_snapshot!(flags.join(" "), @"--listen 127.0.0.1:0 --latency 0ns --body-size 128 --seed 1");
    }

    #[test]
    fn everything_on() {
        let mut config = MockConfig::default();
        for (key, value) in [
            ("listen", "127.0.0.2:81"),
            ("latency", "lognormal:10.5ms:0.25"),
            ("body_size", "1KiB"),
            ("seed", "9"),
            ("stall", "1s/5s"),
            ("fail", "1%:status=503"),
            ("fail", "0.1%:body"),
            ("fail", "7%:reset"),
            ("fail", "0.7%:never"),
            ("cold", "5s:10x"),
            ("drift", "+1%/min"),
            ("slow_after", "10s:1.3x"),
            ("spike", "3.5%:225ms"),
            ("close", "100"),
            ("serialise", "22ms"),
            ("workers", "8"),
            ("queue", "0"),
            ("dip", "10s..20s:0.25x"),
            ("rate_limit", "10/min"),
            ("truth_header", "true"),
            ("backlog", "16"),
            ("script", "shop.toml"),
            ("bias", "2ms"),
            ("office", "instrument"),
            ("control", "127.0.0.1:0"),
        ] {
            config.set(key, value).expect(key);
        }
        let flags = config.flags();
        assert_eq!(read(&flags), config);
        insta::assert_snapshot!(flags.join(" "), @"--listen 127.0.0.2:81 --latency lognormal:10500us:0.25 --body-size 1024 --seed 9 --backlog 16 --stall 1s/5s --fail 1%:status=503 --fail 0.1%:body --fail 7%:reset --fail 0.7%:never --cold 5s:10x --drift 1%/min --slow-after 10s:1.3x --spike 3.5%:225ms --close 100 --serialise 22ms --workers 8 --queue 0 --dip 10s..20s:0.25x --rate-limit 10/60s --truth-header true --script shop.toml --bias 2ms --office instrument --control 127.0.0.1:0");
    }

    /// A share as a person may write it, through the reader.
    fn share() -> impl Strategy<Value = f64> {
        (0.0..20.0_f64, 0_usize..8).prop_map(|(percent, digits)| {
            crate::units::share(&format!("{percent:.digits$}%")).expect("a percentage")
        })
    }

    fn how() -> impl Strategy<Value = Failure> {
        prop_oneof![
            (200_u16..=599).prop_map(Failure::Status),
            Just(Failure::Body),
            Just(Failure::Reset),
            Just(Failure::Never),
        ]
    }

    proptest! {
        #[test]
        fn every_configuration_reads_back(
            (latency_ns, body_size_bytes, seed) in (0_u64..1 << 50, 0_u64..1 << 40, any::<u64>()),
            stall in proptest::option::of((1_u64..1 << 40, 1_u64..1 << 40)),
            fail in proptest::collection::vec((share(), how()), 0..4),
            (cold, slow) in (
                proptest::option::of((0_u64..1 << 50, 0.001..100.0_f64)),
                proptest::option::of((0_u64..1 << 50, 0.001..100.0_f64)),
            ),
            drift in share(),
            (spike, close_after) in (
                proptest::option::of((share(), 0_u64..1 << 50)),
                proptest::option::of(1_u64..1 << 50),
            ),
        ) {
            let slowdown = |(at_ns, factor)| Slowdown { at_ns, factor };
            let config = MockConfig {
                latency_ns,
                body_size_bytes,
                seed,
                stall: stall.map(|(length_ns, more)| Stall {
                    length_ns,
                    period_ns: length_ns + more,
                }),
                fail: fail.into_iter().map(|(share, how)| Fail { share, how }).collect(),
                cold: cold.map(slowdown),
                drift_per_min: drift,
                slow_after: slow.map(slowdown),
                spike: spike.map(|(share, extra_ns)| Spike { share, extra_ns }),
                close_after,
                ..MockConfig::default()
            };
            prop_assert_eq!(read(&config.flags()), config);
        }
    }
}
