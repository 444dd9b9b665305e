//! `assay certify`: what a generator can be believed at on this host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bench::{CertifyGenerator, CertifyModel};
use evidence::Asked;
use record::certificate::{Bounds, Certificate};
use record::layout;

use crate::cli::{CertifyArguments, LoadModel};
use crate::exit::{Failure, Outcome, Status};
use crate::instrument;
use crate::output::Output;
use crate::state_dir;

pub(crate) fn run(arguments: &CertifyArguments, output: &Output) -> Outcome {
    let certificate_path = certificate_path(arguments)?;
    let generator = generator(arguments)?;
    let settings = settings(&arguments.against);
    let cpus = cpus(&load::cores());
    let here = std::env::current_dir().map_err(|error| Failure::failed(error.to_string()))?;
    let mut plans = Vec::new();
    let mut without_stage = None;
    for model in models(arguments, generator.as_ref())? {
        let text = model.text(generator.as_ref(), &cpus, arguments.deep);
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

/// Which benches: all that the generator can do, unless one was asked for.
fn models(
    arguments: &CertifyArguments,
    generator: Option<&CertifyGenerator>,
) -> Result<Vec<CertifyModel>, Failure> {
    let asked = arguments.model.map(|model| match model {
        LoadModel::Open => CertifyModel::Open,
        LoadModel::Closed => CertifyModel::Closed,
    });
    match generator {
        Some(generator) => generator.models(asked).map_err(Failure::wrong),
        None => Ok(asked.map_or(vec![CertifyModel::Open, CertifyModel::Closed], |one| vec![one])),
    }
}

/// A generator that is not our own, by a word or a command line.
fn generator(arguments: &CertifyArguments) -> Result<Option<CertifyGenerator>, Failure> {
    let text = arguments.generator.as_deref().unwrap_or("assay");
    CertifyGenerator::of(text, &arguments.pattern).map_err(Failure::wrong)
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
    fn the_mock_has_a_core_of_its_own_where_there_are_two() {
        assert_eq!(cpus(&[3]), "");
        assert_eq!(cpus(&[0, 1, 5]), "mock = \"5\"\ngenerator = \"0,1\"");
    }
}
