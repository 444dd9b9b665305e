//! The latency tier of a comparison (K-063): the fixed cost of a client is a multiple of everything
//! where the mock answers at once, and a few percent where it takes as long as real systems do.

use std::collections::BTreeSet;

use record::digest::Digest;
use record::plan::TargetKind;
use record::units::HumanDuration;

/// Latency of a mock below which nobody load-tests a system, ns.
const LOOPBACK_NS: u64 = 1_000_000;

/// A note on the cells whose mock answers at the speed of loopback, if there are any.
pub(crate) fn note(measured: &[(&str, &Digest)]) -> Option<String> {
    let mut cells = BTreeSet::new();
    let mut slowest_ns = 0;
    for (_, digest) in measured {
        let TargetKind::Mock(config) = &digest.identity.effective.target.kind else { continue };
        // A script has latencies of its own.
        if config.latency_ns < LOOPBACK_NS && config.law.is_none() && config.script.is_none() {
            cells.insert(digest.cell.as_str());
            slowest_ns = slowest_ns.max(config.latency_ns);
        }
    }
    if cells.is_empty() {
        return None;
    }
    let cells: Vec<&str> = cells.into_iter().collect();
    let latency = if slowest_ns == 0 {
        "at once".to_owned()
    } else {
        format!("within {}", HumanDuration(slowest_ns as f64))
    };
    Some(format!(
        "latency_tier: {}: the mock answers {latency}, as no system does that people load-test; a fixed \
         cost of the client weighs many times more here than at 10 ms or 50 ms",
        cells.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use record::plan::TargetKind;

    use crate::samples::{SampleRun, level};
    use crate::{CompareOptions, compare};

    fn notes(latency_ns: u64) -> Vec<String> {
        let label = tempfile::tempdir().expect("a folder");
        for (index, name) in (0..).zip(["base", "other"]) {
            let mut run = SampleRun::sound(1, index + 1, &level(name, index, None));
            if let TargetKind::Mock(config) = &mut run.meta.effective.target.kind {
                config.latency_ns = latency_ns;
            }
            if let Some(mock) = &mut run.mock {
                mock.config.latency_ns = latency_ns;
            }
            run.complete(label.path());
        }
        let comparison = compare(label.path(), &CompareOptions::default()).expect("a comparison");
        comparison.notes.into_iter().filter(|note| note.starts_with("latency_tier")).collect()
    }

    #[test]
    fn a_comparison_at_the_speed_of_loopback_says_so() {
        let [said] = &notes(0)[..] else { panic!("one note") };
        assert!(said.contains("the mock answers at once"), "{said}");
        assert_eq!(notes(200_000).len(), 1);
        assert_eq!(notes(50_000_000), [""; 0]);
    }
}
