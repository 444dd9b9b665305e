//! E-033: a factor that was meant to change a quantity, and one that was misspelt.

use record::compare::Matrix;
use record::layout;

use crate::support::{Bench, Lab, read};

const CHECK: &str = "[compare]\nmanipulation = { metric = \"connections\", least = \"50%\" }";

fn matrix(lab: &Lab, label: &str) -> Matrix {
    read(&lab.label(label).join(layout::MATRIX_JSON))
}

/// The factor sets a query that no one reads: connections stay what they were, so that no figure
/// of the contrast may be shown, however it came out.
#[test]
fn a_factor_without_its_effect_is_withheld() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .factor(
            "pool",
            &[
                ("plain", "{ scenario.get = \"/\" }"),
                ("pooled", "{ scenario.get = \"/?pooled=1\" }"),
            ],
        )
        .more(CHECK);
    let ran = lab.run(&bench, "misspelt", &[]).expect(3);
    let matrix = matrix(&lab, "misspelt");
    let [check] = &matrix.tables.manipulations[..] else { panic!("one check") };
    assert!(!check.differs);
    assert_eq!(check.baseline_value, check.level_value);
    for contrast in &matrix.contrasts {
        assert_eq!(contrast.verdict, "void", "{}", contrast.metric);
        assert_eq!((contrast.ratio, contrast.effect_percent), (None, None), "{}", contrast.metric);
        assert!(contrast.flags.iter().any(|flag| flag == "manipulation_failed"));
    }
    assert!(ran.stdout.contains("no difference: withheld"), "{}", ran.stdout);
    assert!(ran.stdout.contains("manipulation_failed"), "{}", ran.stdout);
}

/// The same check where the factor does open more connections.
#[test]
fn a_factor_with_its_effect_is_compared() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .factor("pool", &[("plain", "{ load.users = 6 }"), ("pooled", "{ load.users = 2 }")])
        .more(CHECK);
    let ran = lab.run(&bench, "works", &[]).expect(0);
    let matrix = matrix(&lab, "works");
    let [check] = &matrix.tables.manipulations[..] else { panic!("one check") };
    assert!(check.differs);
    assert_eq!((check.baseline_value, check.level_value), (Some(6.0), Some(2.0)));
    assert!(matrix.contrasts.iter().any(|contrast| contrast.ratio.is_some()));
    assert!(ran.stdout.contains("they differ"), "{}", ran.stdout);
}
