//! `assay certify`: what a generator can be believed at on this host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bench::CertifyModel;
use evidence::Asked;
use record::certificate::{Bounds, Certificate};
use record::layout;

use crate::cli::CertifyArguments;
use crate::exit::{Failure, Outcome, Status};
use crate::instrument;
use crate::output::Output;
use crate::state_dir;

pub(crate) fn run(arguments: &CertifyArguments, output: &Output) -> Outcome {
    let certificate_path = certificate_path(arguments)?;
    let generator = generator(arguments.generator.as_deref());
    let settings = settings(&arguments.against);
    let cpus = cpus(&load::cores());
    let here = std::env::current_dir().map_err(|error| Failure::failed(error.to_string()))?;
    let mut plans = Vec::new();
    let mut without_stage = None;
    for model in models(arguments) {
        let generator = generator.as_ref().map(|(name, table)| (name.as_str(), table.as_str()));
        let text = model.text(generator, &cpus, arguments.deep);
        let only = arguments.only.as_deref();
        match instrument::expand(model.name(), &text, &here, &settings, only) {
            Ok(plan) => plans.push(plan),
            // The stages of the two models have different names.
            Err(failure) if only.is_some() => without_stage = Some(failure),
            Err(failure) => return Err(failure),
        }
    }
    if let Some(failure) = without_stage.filter(|_| plans.is_empty()) {
        return Err(failure);
    }
    let interrupt = instrument::interruptible()?;
    let mut labels = Vec::new();
    for plan in &plans {
        let options = BTreeMap::from([("deep".to_owned(), arguments.deep.to_string())]);
        let made = instrument::carry_out(plan, &arguments.out, options, &interrupt, output)?;
        if made.interrupted || made.left > 0 {
            output.remark(&format!("interrupted: no certificate; kept in {}", made.dir.display()));
            return Ok(Status::Doubtful);
        }
        labels.push(made.dir);
    }
    let asked = Asked {
        age_ns: arguments.age,
        against: arguments.against.clone(),
        deep: arguments.deep,
        bounds: Bounds::default(),
    };
    let labels: Vec<&Path> = labels.iter().map(PathBuf::as_path).collect();
    let certificate =
        evidence::certificate(&labels, &asked).map_err(crate::verbs::compare::failure)?;
    let is_part = arguments.only.is_some();
    keep(&certificate, certificate_path.as_deref(), is_part, output)?;
    output.result(arguments.json.json.as_ref(), &certificate, || {
        report::certificate_text(&certificate)
    })?;
    Ok(if certificate.holds() { Status::Done } else { Status::Doubtful })
}

/// Which benches: both, unless one was asked for.
fn models(arguments: &CertifyArguments) -> Vec<CertifyModel> {
    let open = arguments.model != Some(crate::cli::LoadModel::Closed);
    let closed = arguments.model != Some(crate::cli::LoadModel::Open);
    [(CertifyModel::Open, open), (CertifyModel::Closed, closed)]
        .into_iter()
        .filter_map(|(model, wanted)| wanted.then_some(model))
        .collect()
}

/// Name and table of a foreign generator; `None` for our own. A single word is an adapter, anything
/// else a command line.
fn generator(text: Option<&str>) -> Option<(String, String)> {
    let text = text.filter(|text| *text != "assay")?;
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [adapter] = words.as_slice()
        && !adapter.contains('/')
    {
        return Some(((*adapter).to_owned(), format!("adapter = {adapter:?}")));
    }
    Some(("command".to_owned(), format!("command = {words:?}")))
}

/// Settings of the mock as overrides of the plan.
fn settings(against: &[String]) -> Vec<String> {
    against.iter().map(|setting| format!("target.mock.{setting}")).collect()
}

/// The mock on the last core and the generator on the others, so that neither waits for the other;
/// nothing on a single core.
fn cpus(cores: &[u32]) -> String {
    let Some((mock, rest)) = cores.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return String::new();
    };
    let generator: Vec<String> = rest.iter().map(u32::to_string).collect();
    format!("mock = \"{mock}\"\ngenerator = \"{}\"", generator.join(","))
}

/// Where the certificate goes beside the label: as asked, else the state of the user.
fn certificate_path(arguments: &CertifyArguments) -> Result<Option<PathBuf>, Failure> {
    if let Some(path) = &arguments.certificate {
        return match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) if !parent.is_dir() => {
                Err(Failure::wrong(format!("no folder `{}` for the certificate", parent.display())))
            }
            _ => Ok(Some(path.clone())),
        };
    }
    Ok(None)
}

fn keep(
    certificate: &Certificate,
    asked: Option<&Path>,
    is_part: bool,
    output: &Output,
) -> Result<(), Failure> {
    let path = match asked {
        Some(path) => path.to_owned(),
        None if is_part => return Ok(()),
        None => {
            let Some(folder) = state_dir::certificates() else {
                output.remark("no home folder: the certificate is kept nowhere");
                return Ok(());
            };
            let failed = |error: std::io::Error| {
                Failure::failed(format!("cannot make `{}`: {error}", folder.display()))
            };
            std::fs::create_dir_all(&folder).map_err(failed)?;
            let of = &certificate.of;
            folder.join(format!("{}-{}-{}.json", of.generator, of.transport, of.host))
        }
    };
    layout::write_json(&path, certificate)
        .map_err(|error| Failure::failed(format!("cannot write `{}`: {error}", path.display())))?;
    output.remark(&format!("certificate kept in {}", path.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_an_adapter_and_more_is_a_command() {
        assert_eq!(generator(None), None);
        assert_eq!(generator(Some("assay")), None);
        assert_eq!(
            generator(Some("wrk")),
            Some(("wrk".to_owned(), "adapter = \"wrk\"".to_owned()))
        );
        let (name, table) = generator(Some("./gen --rate 5")).unwrap_or_default();
        assert_eq!(
            (name.as_str(), table.as_str()),
            ("command", "command = [\"./gen\", \"--rate\", \"5\"]")
        );
    }

    #[test]
    fn the_mock_has_a_core_of_its_own_where_there_are_two() {
        assert_eq!(cpus(&[3]), "");
        assert_eq!(cpus(&[0, 1, 5]), "mock = \"5\"\ngenerator = \"0,1\"");
    }
}
