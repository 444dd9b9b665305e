//! The benches of a certificate, as text: one factor `stage`, one block, the mock as target. What is
//! asked beside it (generator, cores, settings of the mock) is put around the kept text, so that
//! the plan of a certificate is a plan like any other.

/// The benches of `assay certify`, by load model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertifyModel {
    /// Arrivals at a rate.
    Open,
    /// Users who wait for their answers.
    Closed,
}

/// A stage that looks for p99.99: as many samples as that needs, three times over.
const DEEP_OPEN: &str = "\"4000/s\", load.measure = \"80s\"";
const DEEP_CLOSED: &str = "32, load.measure = \"110s\"";

impl CertifyModel {
    /// The name of the bench, a file name without its ending.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "certify-open",
            Self::Closed => "certify-closed",
        }
    }

    /// The text of the bench. `generator` is the TOML of a `[generator.NAME]` table with its name,
    /// nothing for assay's own; `cpus` the TOML of a `[cpus]` table.
    #[must_use]
    pub fn text(self, generator: Option<(&str, &str)>, cpus: &str, deep: bool) -> String {
        let mut text = match self {
            Self::Open => include_str!("certify/open.toml").to_owned(),
            Self::Closed => include_str!("certify/closed.toml").to_owned(),
        };
        if deep {
            text = match self {
                Self::Open => text.replace("\"2000/s\", load.measure = \"8s\"", DEEP_OPEN),
                Self::Closed => text.replace("16, load.measure = \"6s\"", DEEP_CLOSED),
            };
        }
        if let Some((name, table)) = generator {
            text.push_str(&format!("\n[generator.{name}]\n{table}\n"));
            text = text.replace(
                "[factors.stage]",
                &format!("[factors]\ngenerator = \"{name}\"\n\n[factors.stage]"),
            );
        }
        if !cpus.is_empty() {
            text.push_str(&format!("\n[cpus]\n{cpus}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overrides, System, plan_source};

    fn plan(model: CertifyModel, deep: bool) -> record::plan::Plan {
        let text = model.text(None, "mock = 0\ngenerator = 1\n", deep);
        let dir = std::path::Path::new("/");
        plan_source("certify.toml", &text, dir, &Overrides::default(), &System)
            .unwrap_or_else(|problems| panic!("{}", problems.render()))
    }

    #[test]
    fn both_expand_in_the_order_as_written() {
        for (model, first, stages) in
            [(CertifyModel::Open, "steady", 14), (CertifyModel::Closed, "steady", 17)]
        {
            let plan = plan(model, false);
            assert_eq!(plan.runs.len(), stages, "{model:?}");
            assert!(plan.runs[0].dir.ends_with(first), "{}", plan.runs[0].dir);
            let names: Vec<&str> = plan.cells.iter().map(|cell| cell.name.as_str()).collect();
            let in_order: Vec<&str> = plan.runs.iter().map(|run| run.cell.as_str()).collect();
            assert_eq!(names, in_order);
        }
    }

    #[test]
    fn a_deep_one_has_the_samples_that_it_needs() {
        for model in [CertifyModel::Open, CertifyModel::Closed] {
            let (quick, deep) = (plan(model, false), plan(model, true));
            assert_ne!(quick.cells[0].effective.load, deep.cells[0].effective.load);
            assert_eq!(quick.cells[1..].len(), deep.cells[1..].len());
        }
    }
}
