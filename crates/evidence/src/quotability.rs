//! Whether figures may be quoted (K-126): the machine qualified, the null stands, the generator is
//! certified and the target calibrated. What is missing is named, never waived.

use record::compare::Contrast;
use record::digest::Digest;
use record::host_check::{HostGrade, HostStanding};
use record::quotability::Quotability;

/// What stands behind a matrix beside its runs. `None` is none at all; `Err` holds why the one that
/// there is does not hold here: expired, of another host, above half of the knee.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Support {
    /// The generator's certificate.
    pub certificate: Option<Result<(), String>>,
    /// The target's calibration.
    pub calibration: Option<Result<(), String>>,
}

/// Judges a matrix; `None` where no run carries a grade.
#[must_use]
pub fn quotability(
    standings: &[HostStanding],
    contrasts: &[Contrast],
    measured: &[(&str, &Digest)],
    support: &Support,
) -> Option<Quotability> {
    let worst = standings.iter().max_by_key(|standing| standing.grade)?;
    let mut lacks = Vec::new();
    if worst.grade != HostGrade::Qualified {
        lacks.push(format!("the host is {}", worst.headline()));
    }
    lacks.extend(null_stands(contrasts).err());
    for (what, one) in [
        ("certificate of the generator", &support.certificate),
        ("calibration", &support.calibration),
    ] {
        match one {
            Some(Ok(())) => {}
            Some(Err(why)) => lacks.push(format!("the {what} does not hold: {why}")),
            None => lacks.push(format!("no {what}")),
        }
    }
    let word = if lacks.is_empty() { "publishable" } else { "directional" };
    Some(Quotability { word: word.to_owned(), lacks, refused: refused(measured) })
}

/// Whether a thing was compared with itself, and no difference was seen.
fn null_stands(contrasts: &[Contrast]) -> Result<(), String> {
    let mut nulls =
        contrasts.iter().filter(|contrast| contrast.primary && contrast.null).peekable();
    if nulls.peek().is_none() {
        return Err("no null contrast".to_owned());
    }
    let fallen = nulls.find(|contrast| {
        contrast.verdict == "void" || contrast.flags.iter().any(|flag| flag == "null_differs")
    });
    match fallen {
        Some(contrast) => Err(format!("the null in {} differs", contrast.cell)),
        None => Ok(()),
    }
}

/// W-037: a machine that others used gives no CPU and no wall claim. Counts of work and of bytes
/// allocated do not depend on who else runs.
fn refused(measured: &[(&str, &Digest)]) -> Vec<String> {
    let busy = |digest: &Digest| {
        digest.validity.reasons.iter().find(|reason| reason.gate == "foreign").cloned()
    };
    let found: Vec<_> =
        measured.iter().filter_map(|(name, run)| Some((name, busy(run)?))).collect();
    let Some((name, reason)) = found.first() else { return Vec::new() };
    vec![format!(
        "CPU and wall time: others used the machine in {} of {} runs ({name}: {}); counts and \
         allocation may be claimed",
        found.len(),
        measured.len(),
        reason.detail
    )]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{SampleRun, level};

    fn standing(grade: HostGrade) -> Vec<HostStanding> {
        let reasons = vec!["governor powersave".to_owned()];
        let reasons = if grade == HostGrade::Qualified { Vec::new() } else { reasons };
        vec![HostStanding { grade, probes: true, reasons }]
    }

    fn null(verdict: &str) -> Contrast {
        let sound = serde_json::json!({
            "factor": "target", "baseline": "base", "level": "null", "cell": "*",
            "metric": "throughput", "primary": true, "pairs": 8, "baseline_value": 1.0,
            "level_value": 1.0, "ratio": 1.0, "effect_percent": 0.0, "interval_percent": null,
            "null": true, "verdict": verdict, "flags": [], "needed_pairs": null, "left_out": [],
        });
        serde_json::from_value(sound).expect("the fields without a default")
    }

    fn all() -> Support {
        Support { certificate: Some(Ok(())), calibration: Some(Ok(())) }
    }

    fn judged(grade: HostGrade, contrasts: &[Contrast], support: &Support) -> Quotability {
        quotability(&standing(grade), contrasts, &[], support).expect("a grade is there")
    }

    #[test]
    fn everything_must_stand_for_a_publishable_figure() {
        let good = judged(HostGrade::Qualified, &[null("equivalent")], &all());
        assert_eq!((good.word.as_str(), good.lacks.len()), ("publishable", 0));
        let cases = [
            (
                judged(HostGrade::Directional, &[null("equivalent")], &all()),
                "the host is directional: governor powersave",
            ),
            (judged(HostGrade::Qualified, &[], &all()), "no null contrast"),
            (judged(HostGrade::Qualified, &[null("void")], &all()), "the null in * differs"),
            (
                judged(
                    HostGrade::Qualified,
                    &[null("equivalent")],
                    &Support { certificate: None, ..all() },
                ),
                "no certificate of the generator",
            ),
            (
                judged(
                    HostGrade::Qualified,
                    &[null("equivalent")],
                    &Support { calibration: Some(Err("it is 9 days old".to_owned())), ..all() },
                ),
                "the calibration does not hold: it is 9 days old",
            ),
        ];
        for (judged, lack) in cases {
            assert_eq!(
                (judged.word.as_str(), &*judged.lacks),
                ("directional", &[lack.to_owned()][..])
            );
        }
    }

    #[test]
    fn runs_without_a_grade_say_nothing() {
        assert_eq!(quotability(&[], &[null("equivalent")], &[], &all()), None);
    }

    /// W-037: a busy sibling refuses CPU and wall claims, and allows allocation.
    #[test]
    fn a_busy_sibling_refuses_cpu_and_wall_claims() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut run = SampleRun::sound(1, 1, &level("base", 0, None));
        let quiet = digest(&run, dir.path());
        run.host = run.host.map(|text| text.replace("77,0.02,sshd", "4242,0.50,java"));
        let busy = digest(&run, &dir.path().join("busy"));
        let refused = |digest: &Digest| {
            let measured = [("01-01-base", digest)];
            quotability(&standing(HostGrade::Qualified), &[], &measured, &all())
                .expect("a grade")
                .refused
        };
        assert_eq!(refused(&quiet), [""; 0]);
        insta::assert_snapshot!(refused(&busy).join("\n"), @"CPU and wall time: others used the machine in 1 of 1 runs (01-01-base: 50 % of one core was used by java (pid 4242), which took no part, more than 10 %); counts and allocation may be claimed");
    }

    fn digest(run: &SampleRun, dir: &std::path::Path) -> Digest {
        run.write(dir);
        crate::digest(dir, &Default::default(), &Default::default()).expect("a sample has a digest")
    }
}
