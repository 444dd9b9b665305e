//! The arms behind the contrasts: which runs stand on which side, found again from the names in a
//! contrast, so that tables are made of contrasts and digests alone.

use record::compare::Contrast;
use record::digest::Digest;
use record::plan::Compare;

use crate::compare::pairing::cell_of;

/// One level against its baseline in one combination of the other factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arm {
    pub(crate) factor: String,
    pub(crate) baseline: String,
    pub(crate) level: String,
    /// `*+1k`.
    pub(crate) cell: String,
}

/// The arms of all contrasts, each once, in their order.
pub(crate) fn arms_of(contrasts: &[Contrast]) -> Vec<Arm> {
    let mut arms: Vec<Arm> = Vec::new();
    for contrast in contrasts {
        let arm = arm_of(contrast);
        if !arms.contains(&arm) {
            arms.push(arm);
        }
    }
    arms
}

/// The arm of one contrast.
pub(crate) fn arm_of(contrast: &Contrast) -> Arm {
    Arm {
        factor: contrast.factor.clone(),
        baseline: contrast.baseline.clone(),
        level: contrast.level.clone(),
        cell: contrast.cell.clone(),
    }
}

/// Whether the level is declared a null or a positive control: nothing but noise or a known
/// slowdown is expected of it. A level that merely turned out to be the same thing as its
/// baseline is none: somebody meant it to differ.
pub(crate) fn is_control(measured: &[(&str, &Digest)], arm: &Arm) -> bool {
    measured.iter().flat_map(|(_, digest)| &digest.levels).any(|own| {
        own.factor == arm.factor
            && own.level == arm.level
            && (own.twin.is_some() || own.positive.is_some())
    })
}

/// The runs of one level of an arm.
pub(crate) fn arm_runs<'a>(
    measured: &[(&'a str, &'a Digest)],
    arm: &Arm,
    level: &str,
) -> Vec<(&'a str, &'a Digest)> {
    let is_ours = |digest: &Digest| {
        digest.levels.iter().any(|own| own.factor == arm.factor && own.level == level)
            && cell_of(digest, &arm.factor) == arm.cell
    };
    measured.iter().filter(|(_, digest)| is_ours(digest)).copied().collect()
}

/// What the bench registered about the comparison, by the first digest that says it.
pub(crate) fn registered<'a>(measured: &[(&'a str, &'a Digest)]) -> Option<&'a Compare> {
    measured.iter().find_map(|(_, digest)| digest.compare.as_ref())
}

/// `factor: level / baseline in cell`, the name of a contrast in every table.
pub(crate) fn name_of(arm: &Arm) -> String {
    format!("{}: {} / {} in {}", arm.factor, arm.level, arm.baseline, arm.cell)
}
