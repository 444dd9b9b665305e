//! What a generator's certificate says about a load: figures that it cannot tell apart on this host,
//! and rates above its highest honest one. Without a certificate neither applies.

use record::load::LoadRecord;
use record::plan::Gates;
use record::units::HumanDuration;

use super::Judgement;

/// The gates of a certificate.
pub(super) fn judge(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let certificate = load.certificate.as_ref();
    let least_ns = certificate.and_then(|certificate| certificate.resolution_ns);
    let p50_ns = load.latency_ns.p50;
    let fine = p50_ns.zip(least_ns).map(|(p50, least)| p50 as f64 / least.max(1) as f64);
    judgement.add("resolution", bounds, fine, fine.map(|ratio| ratio >= 1.0), || {
        format!(
            "p50 is {}, the generator is certified for {} and more",
            HumanDuration(p50_ns.unwrap_or_default() as f64),
            HumanDuration(least_ns.unwrap_or_default() as f64)
        )
    });
    let most = certificate.and_then(|certificate| certificate.honest_per_s);
    let rate = load.planned_per_s.unwrap_or(load.rate_per_s);
    let high = most.map(|most| rate / most.max(1e-9));
    judgement.add("certified_rate", bounds, high, high.map(|ratio| ratio <= 1.0), || {
        format!("{rate:.0}/s, the generator is certified up to {:.0}/s", most.unwrap_or_default())
    });
}

#[cfg(test)]
mod tests {
    use record::Effect;
    use record::certificate::CertificateStub;
    use record::load::LoadRecord;

    use crate::gates::tests::{planted, reason};
    use crate::samples;

    fn certified(resolution_ns: u64, honest_per_s: f64) -> impl FnOnce(&mut LoadRecord) {
        move |load| {
            load.certificate = Some(CertificateStub {
                sha256: "ab".repeat(32),
                made_utc: "2026-11-30T00:00:00Z".to_owned(),
                resolution_ns: Some(resolution_ns),
                honest_per_s: Some(honest_per_s),
                holds: true,
            });
        }
    }

    /// The sample: p50 of 10 ms at 800/s.
    #[test]
    fn what_the_generator_is_not_certified_for_is_flagged() {
        assert_eq!(planted(samples::open_load(), certified(10_000_000, 800.0)).reasons, []);
        let fine = planted(samples::open_load(), certified(10_000_001, 800.0));
        assert_eq!(reason(&fine, "resolution").effect, Effect::Flag);
        insta::assert_snapshot!(reason(&fine, "resolution").detail, @"p50 is 10.0 ms, the generator is certified for 10.0 ms and more");
        let fast = planted(samples::load(), certified(1, 799.0));
        assert_eq!(reason(&fast, "certified_rate").effect, Effect::Flag);
        insta::assert_snapshot!(reason(&fast, "certified_rate").detail, @"800/s, the generator is certified up to 799/s");
    }
}
