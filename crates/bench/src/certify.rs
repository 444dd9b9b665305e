//! The benches of a certificate, as text: one factor `stage`, one block, the mock as target. What is
//! asked beside it (generator, cores, settings of the mock) is put around the kept text, so that
//! the plan of a certificate is a plan like any other.

use crate::generator::BUILT_IN;
use crate::words;

/// The benches of `assay certify`, by load model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertifyModel {
    /// Arrivals at a rate.
    Open,
    /// Users who wait for their answers.
    Closed,
}

/// Another generator to certify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertifyGenerator {
    /// Its name in the benches.
    pub name: String,
    /// The TOML of its table.
    pub table: String,
    /// The load models that it can be asked for; never empty.
    pub models: Vec<CertifyModel>,
}

impl CertifyGenerator {
    /// The generator of `--generator`: a word is an adapter, anything else the command line of a
    /// program that is read by `patterns`. `None` for assay's own.
    ///
    /// # Errors
    /// In words: no such adapter, one that is only read, a command without patterns, patterns that
    /// find no count of requests or have no effect.
    pub fn of(text: &str, patterns: &[String]) -> Result<Option<Self>, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            [] => Err("`--generator` is empty".to_owned()),
            [name] if !name.contains('/') && patterns.is_empty() => Self::adapter(name),
            [name] if *name == BUILT_IN || foreign::adapter(name).is_some() => Err(format!(
                "`--pattern` has no effect on `{name}`, whose figures are read by assay"
            )),
            [program, ..] => Self::command(program, &words, patterns).map(Some),
        }
    }

    fn adapter(name: &str) -> Result<Option<Self>, String> {
        if name == BUILT_IN {
            return Ok(None);
        }
        let names = || [BUILT_IN].into_iter().chain(foreign::runnable_names());
        let Some(adapter) = foreign::adapter(name) else {
            return Err(format!(
                "no generator `{name}`{}\nvalid: {}\nhint: any other program is a command: \
                 `--generator \"{name} ...\" --pattern \"...\"`",
                words::nearest_suffix(name, names()),
                words::listed(names())
            ));
        };
        if adapter.ask.is_none() {
            return Err(format!(
                "`{name}` is only read, not started\nvalid: {}",
                words::listed(names())
            ));
        }
        let able = adapter.abilities;
        let models = [(CertifyModel::Open, able.rate), (CertifyModel::Closed, able.users)];
        Ok(Some(Self {
            name: name.to_owned(),
            table: format!("adapter = {}", toml_text(name)),
            models: models.into_iter().filter_map(|(model, can)| can.then_some(model)).collect(),
        }))
    }

    fn command(program: &str, words: &[&str], patterns: &[String]) -> Result<Self, String> {
        if patterns.is_empty() {
            return Err(format!(
                "a command needs to say how its figures are read\nhint: \
                 `--generator \"{program} ...\" --pattern \"requests: (?<requests>[0-9]+)\"`\n\
                 hint: words are split at spaces; for quoted arguments write a bench with \
                 `[generator.N]`"
            ));
        }
        if let Some((index, why, _)) = foreign::patterns_fault(patterns) {
            return Err(format!("pattern {}: {why}", index + 1));
        }
        // What a command can do is what it takes; one that names neither may read its environment.
        let takes = |what: &str| words.iter().any(|word| word.contains(what));
        let models = match (takes("{rate}"), takes("{users}")) {
            (true, true) => vec![CertifyModel::Open, CertifyModel::Closed],
            (true, false) => vec![CertifyModel::Open],
            (false, _) => vec![CertifyModel::Closed],
        };
        let list = |words: Vec<String>| format!("[{}]", words.join(", "));
        let command = words.iter().map(|word| toml_text(word)).collect();
        let patterns = patterns.iter().map(|pattern| toml_text(pattern)).collect();
        Ok(Self {
            name: command_name(program),
            table: format!("command = {}\npatterns = {}", list(command), list(patterns)),
            models,
        })
    }

    /// The models to certify: all that it can do, or the one that was asked for.
    ///
    /// # Errors
    /// In words: it cannot do that one, and which generators can.
    pub fn models(&self, asked: Option<CertifyModel>) -> Result<Vec<CertifyModel>, String> {
        let Some(asked) = asked else { return Ok(self.models.clone()) };
        if self.models.contains(&asked) {
            return Ok(vec![asked]);
        }
        let name = &self.name;
        if foreign::adapter(name).is_none() {
            let place = if asked == CertifyModel::Open { "{rate}" } else { "{users}" };
            return Err(format!(
                "the command does not say where it takes `{place}`\nhint: write `{place}` among its \
                 arguments"
            ));
        }
        let (what, can): (_, fn(&foreign::Abilities) -> bool) = match asked {
            CertifyModel::Open => ("constant arrival rate", |able| able.rate),
            CertifyModel::Closed => ("closed loop of users", |able| able.users),
        };
        let others = foreign::ADAPTERS
            .iter()
            .filter(|other| other.ask.is_some() && can(&other.abilities))
            .map(|other| other.name);
        let able = words::listed([BUILT_IN].into_iter().chain(others));
        Err(format!("`{name}` has no {what}\nthese have one: {able}"))
    }
}

/// A name that is none of an adapter's, from that of the program.
fn command_name(program: &str) -> String {
    let file = program.rsplit('/').next().unwrap_or_default();
    words::swept_name(&format!("command-{file}"))
}

/// Text as a TOML string.
fn toml_text(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
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

    /// The text of the bench; `cpus` is the TOML of a `[cpus]` table.
    #[must_use]
    pub fn text(self, generator: Option<&CertifyGenerator>, cpus: &str, deep: bool) -> String {
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
        if let Some(CertifyGenerator { name, table, .. }) = generator {
            text.push_str(&format!("\n[generator.{name}]\n{table}\n"));
            text = text.replace(
                "[factors.stage]",
                &format!("[factors]\ngenerator = \"{name}\"\n\n[factors.stage]"),
            );
        }
        if generator.is_some() {
            // Its time begins before its users do, and ends after its last answer: some need most of
            // a second for it.
            for short in ["\"1s\"", "\"1500ms\""] {
                text = text.replace(&format!("measure = {short}"), "measure = \"2s\"");
            }
            text = text.replace("[gates]\n", "[gates]\ntruncated = \"80%\"\n");
        }
        if !cpus.is_empty() {
            text.push_str(&format!("\n[cpus]\n{cpus}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use record::plan::Extent;

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

    fn generator(text: &str, patterns: &[&str]) -> Result<Option<CertifyGenerator>, String> {
        let patterns: Vec<String> = patterns.iter().map(|one| (*one).to_owned()).collect();
        CertifyGenerator::of(text, &patterns)
    }

    #[test]
    fn the_models_of_a_tool_are_what_it_can_do() {
        let models = |name| generator(name, &[]).unwrap().unwrap().models;
        assert_eq!(generator("assay", &[]), Ok(None));
        for name in foreign::runnable_names() {
            let able = foreign::adapter(name).unwrap().abilities;
            let both = [(CertifyModel::Open, able.rate), (CertifyModel::Closed, able.users)];
            for (model, can) in both {
                assert_eq!(models(name).contains(&model), can, "{name} {model:?}");
            }
        }
        let wrk = generator("wrk", &[]).unwrap().unwrap();
        assert_eq!(wrk.models(None), Ok(vec![CertifyModel::Closed]));
        let refused = wrk.models(Some(CertifyModel::Open)).unwrap_err();
        assert_eq!(
            refused,
            "`wrk` has no constant arrival rate\nthese have one: `assay`, `k6`, `oha`"
        );
    }

    #[test]
    fn what_is_no_generator_is_told_what_is() {
        let refused = |text, patterns: &[&str]| generator(text, patterns).unwrap_err();
        assert!(refused("wrkk", &[]).starts_with("no generator `wrkk`; nearest `wrk`\n"));
        assert!(refused("vegeta", &[]).starts_with("`vegeta` is only read, not started\n"));
        assert!(refused("wrk", &["n=(?<requests>.)"]).contains("has no effect"));
        assert!(refused("./gen {url}", &[]).contains("`[generator.N]`"));
        assert!(refused("./gen {url}", &["p50=(?<p50>.)"]).contains("requests"));
        assert!(!refused(" ", &[]).is_empty());
    }

    #[test]
    fn a_command_with_patterns_expands_as_it_was_typed() {
        let pattern = r#"requests:\s+"?(?<requests>[0-9]+)"#;
        let made = generator("hey -n 9 -c {users} {url} 'é'", &[pattern]).unwrap().unwrap();
        assert_eq!(made.models, [CertifyModel::Closed]);
        assert!(made.models(Some(CertifyModel::Open)).unwrap_err().contains("`{rate}`"));
        let text = CertifyModel::Closed.text(Some(&made), "", false);
        let dir = std::path::Path::new("/");
        let plan = plan_source("certify.toml", &text, dir, &Overrides::default(), &System)
            .unwrap_or_else(|problems| panic!("{}", problems.render()));
        let generator = &plan.cells[0].effective.generator;
        assert_eq!(generator.name, "command-hey");
        assert!(text.contains("truncated = "), "{text}");
        let short = |plan: &record::plan::Plan| {
            let measures = plan.cells.iter().map(|cell| cell.effective.load.measure);
            measures
                .filter(|length| matches!(length, Extent::Ns(ns) if *ns < 2_000_000_000))
                .count()
        };
        assert_eq!((short(&plan), short(&self::plan(CertifyModel::Closed, false))), (0, 14));
        assert_eq!(generator.patterns, [pattern]);
        let words = ["hey", "-n", "9", "-c", "{users}", "{url}", "'é'"];
        let words = words.map(str::to_owned).to_vec();
        assert_eq!(generator.kind, record::plan::GeneratorKind::Command(words));
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
