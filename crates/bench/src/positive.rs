//! Positive controls: the target of a level that repeats another, slowed by a known share. An
//! instrument that does not see this would not see a difference of that size either.
//!
//! A mock is slowed by its own script: its latency grows by the share from the first instant on.
//! A process is slowed by a brake: its whole tree is stopped for `p / (1 + p)` of the time. What
//! runs already is never touched.

use record::mock::Slowdown;
use record::plan::{Target, TargetKind};

/// Why a target cannot be slowed.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) remedy: String,
}

/// Slows a target by `share` (0.05 is 5 %) and returns the path of what it set. Slowing twice
/// multiplies.
pub(crate) fn slow(target: &mut Target, share: f64) -> Result<&'static str, Fault> {
    let factor = 1.0 + share;
    let name = &target.name;
    match &mut target.kind {
        TargetKind::Mock(mock) if mock.latency_ns == 0 && mock.law.is_none() => Err(Fault {
            message: format!("`positive` slows nothing: the mock `{name}` has no `latency`"),
            remedy: "the control is the latency times a factor; give the mock one, such as \
                     `latency = \"1ms\"`"
                .to_owned(),
        }),
        TargetKind::Mock(mock) => match &mut mock.slow_after {
            None => {
                mock.slow_after = Some(Slowdown { at_ns: 0, factor });
                Ok("target.mock.slow_after")
            }
            // In force from the start already: its factor grows.
            Some(slowdown) if slowdown.at_ns == 0 => {
                slowdown.factor *= factor;
                Ok("target.mock.slow_after")
            }
            // The script stays as it is, over a longer latency.
            Some(_) => {
                mock.latency_ns = (mock.latency_ns as f64 * factor).round() as u64;
                Ok("target.mock.latency")
            }
        },
        TargetKind::Command(_) => {
            target.slow_share = Some(match target.slow_share {
                None => share,
                Some(before) => (1.0 + before) * factor - 1.0,
            });
            Ok("target.slow_share")
        }
        TargetKind::Url(_) => Err(Fault {
            message: format!("`positive` cannot slow target `{name}`: a `url` runs already"),
            remedy: "leave `positive` out, or start the target by `command`".to_owned(),
        }),
    }
}
