//! How the arrivals of an open loop are spaced: the law of their gaps, and the stages of their rate.
//! A stage is written as text, so that a bench and a command line say the same.

use serde::{Deserialize, Serialize};

use crate::units::{self, UnitError};

/// The law of the gaps between arrivals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Each gap is the rate's own.
    #[default]
    Constant,
    /// Exponential gaps, drawn from a seed: arrivals that know nothing of one another.
    Poisson {
        /// Of the draws. The same seed gives the same instants.
        seed: u64,
    },
}

impl Arrival {
    /// Whether it is the default.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        *self == Self::Constant
    }

    /// The arrivals of a block: both arms of a pair meet the same instants, and each block others.
    #[must_use]
    pub fn of_block(self, block: u32) -> Self {
        match self {
            Self::Constant => Self::Constant,
            // An odd constant, so that neighbouring seeds of neighbouring blocks stay apart.
            Self::Poisson { seed } => Self::Poisson {
                seed: seed.wrapping_add(u64::from(block).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            },
        }
    }
}

/// A stretch of time in which the rate stands or changes evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Rate at its start, per second, in total.
    pub from_per_s: f64,
    /// Rate at its end, per second.
    pub to_per_s: f64,
    /// Its length, ns.
    pub length_ns: u64,
}

impl Stage {
    /// Arrivals that are due in it.
    #[must_use]
    pub fn arrivals(&self) -> f64 {
        (self.from_per_s + self.to_per_s) / 2.0 * self.length_ns as f64 / 1e9
    }
}

/// Why a list of stages is none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StageError {
    /// Not of the two forms.
    #[error(
        "`{0}` is no stage; write `\"200/s for 10s\"` to hold a rate, or `\"to 1000/s in 30s\"` to ramp"
    )]
    Form(String),
    /// A rate or a length that is none.
    #[error("{error} in stage `{text}`")]
    Unit {
        /// The stage.
        text: String,
        /// What is wrong.
        error: UnitError,
    },
    /// A stage that takes no time.
    #[error("stage `{0}` takes no time")]
    NoTime(String),
    /// The first stage ramps from nowhere.
    #[error(
        "the first stage `{0}` has no rate to ramp from; begin with one such as `\"0/s for 1s\"`"
    )]
    NoStart(String),
    /// No stage has a rate.
    #[error("no stage has a rate above 0: nothing would arrive")]
    NoArrivals,
    /// None at all.
    #[error("no stage; write `[\"200/s for 10s\", \"to 1000/s in 30s\"]`")]
    Empty,
}

/// Reads stages in order: `200/s for 10s` holds a rate, `to 1000/s in 30s` ramps evenly from where
/// the stage before ended. `0/s` is a pause.
///
/// # Errors
/// [`StageError`] with the stage as it was written.
pub fn stages<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Vec<Stage>, StageError> {
    let mut stages: Vec<Stage> = Vec::new();
    for text in texts {
        let text = text.trim();
        let form = || StageError::Form(text.to_owned());
        let unit = |error| StageError::Unit { text: text.to_owned(), error };
        let ramp = text.strip_prefix("to ");
        let (rate, length) = match ramp {
            Some(rest) => rest.split_once(" in "),
            None => text.split_once(" for "),
        }
        .ok_or_else(form)?;
        let to_per_s = match rate.trim() {
            "0/s" => 0.0,
            rate => units::rate_per_s(rate).map_err(unit)?,
        };
        let length_ns = units::duration_ns(length).map_err(unit)?;
        if length_ns == 0 {
            return Err(StageError::NoTime(text.to_owned()));
        }
        let from_per_s = match (ramp, stages.last()) {
            (None, _) => to_per_s,
            (Some(_), Some(before)) => before.to_per_s,
            (Some(_), None) => return Err(StageError::NoStart(text.to_owned())),
        };
        stages.push(Stage { from_per_s, to_per_s, length_ns });
    }
    match stages.iter().map(Stage::arrivals).sum::<f64>() {
        _ if stages.is_empty() => Err(StageError::Empty),
        0.0 => Err(StageError::NoArrivals),
        _ => Ok(stages),
    }
}

/// Length of all stages, ns.
#[must_use]
pub fn length_ns(stages: &[Stage]) -> u64 {
    stages.iter().fold(0, |sum, stage| sum.saturating_add(stage.length_ns))
}

/// Arrivals of all stages over their length, per second.
#[must_use]
pub fn mean_per_s(stages: &[Stage]) -> f64 {
    let arrivals: f64 = stages.iter().map(Stage::arrivals).sum();
    arrivals * 1e9 / length_ns(stages).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn steps_ramps_and_a_spike() {
        let read = stages(["100/s for 10s", "to 1000/s in 30s", "5000/s for 500ms", "0/s for 1s"])
            .unwrap();
        let expected = [
            (100.0, 100.0, 10 * S),
            (100.0, 1_000.0, 30 * S),
            (5_000.0, 5_000.0, S / 2),
            (0.0, 0.0, S),
        ];
        let seen: Vec<_> =
            read.iter().map(|one| (one.from_per_s, one.to_per_s, one.length_ns)).collect();
        assert_eq!(seen, expected);
        assert_eq!(length_ns(&read), 41_500_000_000);
        // 1,000 + 16,500 + 2,500.
        assert!((mean_per_s(&read) - 20_000.0 / 41.5).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_stage_is_told_with_its_text() {
        let refused = |texts: &[&str]| stages(texts.iter().copied()).unwrap_err().to_string();
        insta::assert_snapshot!(refused(&["100/s over 10s"]), @r#"`100/s over 10s` is no stage; write `"200/s for 10s"` to hold a rate, or `"to 1000/s in 30s"` to ramp"#);
        insta::assert_snapshot!(refused(&["100 for 10s"]), @r#"`100` is not a rate; write `"200/s"` in stage `100 for 10s`"#);
        insta::assert_snapshot!(refused(&["100/s for 10"]), @r#"`10` is not a duration; write `"10s"` in stage `100/s for 10`"#);
        insta::assert_snapshot!(refused(&["100/s for 0s"]), @"stage `100/s for 0s` takes no time");
        insta::assert_snapshot!(refused(&["to 100/s in 1s"]), @r#"the first stage `to 100/s in 1s` has no rate to ramp from; begin with one such as `"0/s for 1s"`"#);
        insta::assert_snapshot!(refused(&["0/s for 1s"]), @"no stage has a rate above 0: nothing would arrive");
        insta::assert_snapshot!(refused(&[]), @r#"no stage; write `["200/s for 10s", "to 1000/s in 30s"]`"#);
    }

    #[test]
    fn a_block_has_arrivals_of_its_own() {
        let law = Arrival::Poisson { seed: 1 };
        assert_ne!(law.of_block(1), law.of_block(2));
        assert_eq!(law.of_block(1), law.of_block(1));
        assert_eq!(Arrival::Constant.of_block(3), Arrival::Constant);
    }
}
