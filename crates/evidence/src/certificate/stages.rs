//! The runs behind a certificate, read as stages.

use std::path::Path;

use record::Effect;
use record::digest::Digest;
use record::foreign::{Figure, ForeignRun};
use record::layout;
use record::load::LoadRecord;
use record::meta::{Meta, OutcomeState};
use record::mock::{MockConfig, MockRecord};
use record::plan::{Model, RunKind, TargetKind};
use record::units::HumanDuration;

use super::STAGE;
use crate::error::EvidenceError;
use crate::run_dir::RunDir;

/// One run of a certificate.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    /// Level of the factor `stage`.
    pub(super) name: String,
    pub(super) meta: Meta,
    pub(super) load: Option<LoadRecord>,
    pub(super) mock: Option<MockRecord>,
    /// What a generator that is not assay's said of itself.
    pub(super) foreign: Option<ForeignRun>,
    pub(super) digest: Option<Digest>,
}

/// Reads the measured runs of a label that have a stage, in order of their names.
pub(super) fn read_stages(label: &Path) -> Result<Vec<Stage>, EvidenceError> {
    let runs = label.join(layout::RUNS);
    let list = |source| EvidenceError::List { path: runs.display().to_string(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&runs).map_err(list)? {
        let path = entry.map_err(list)?.path();
        if path.join(layout::META).is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    let mut stages = Vec::new();
    for path in paths {
        let run = RunDir::read(&path)?;
        let level = run.meta.levels.iter().find(|level| level.factor == STAGE);
        let Some(name) = level.map(|level| level.level.clone()) else { continue };
        if run.meta.kind != RunKind::Measured {
            continue;
        }
        stages.push(Stage {
            name,
            load: run.load.present().cloned(),
            mock: run.mock.present().cloned(),
            foreign: run.foreign.present().cloned(),
            digest: layout::read_json(&path.join(layout::DIGEST_JSON)).ok(),
            meta: run.meta,
        });
    }
    Ok(stages)
}

impl Stage {
    pub(super) fn mock_config(&self) -> Option<&MockConfig> {
        match &self.meta.effective.target.kind {
            TargetKind::Mock(config) => Some(config),
            _ => None,
        }
    }

    pub(super) fn generator(&self) -> &str {
        &self.meta.effective.generator.name
    }

    /// The step in which another generator printed the quantile of a share, ns.
    pub(super) fn step_ns(&self, share: f64) -> Option<u64> {
        self.foreign.as_ref()?.own.quantile(share).map(|figure: Figure| figure.resolution_ns)
    }

    /// Why a record is not there, as its run ended.
    pub(super) fn no_record(&self) -> String {
        let outcome = self.meta.outcome.as_ref();
        match outcome.filter(|outcome| outcome.state != OutcomeState::Finished) {
            Some(outcome) => format!("no record: {}", outcome.detail),
            None => "no record of one side".to_owned(),
        }
    }

    pub(super) fn model_word(&self) -> &'static str {
        match self.meta.effective.load.model {
            Model::Users(_) => "closed",
            Model::Rate(_) => "open",
        }
    }

    /// Model and stage, for messages.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.model_word(), self.name)
    }

    /// Load and latency in words.
    pub(super) fn asked(&self) -> String {
        let load = match self.meta.effective.load.model {
            Model::Users(users) => format!("{users} users"),
            Model::Rate(per_s) => format!("{per_s}/s"),
        };
        let latency = self.mock_config().map_or_else(String::new, |config| match &config.law {
            Some(law) => law.text(config.latency_ns),
            None => HumanDuration(config.latency_ns as f64).to_string(),
        });
        format!("{load} against {latency}")
    }

    /// When it ended by the wall clock, ns since 1970.
    pub(super) fn ended_unix_ns(&self) -> Option<u64> {
        Some(self.meta.started_unix_ns?.saturating_add(self.meta.elapsed_ns.unwrap_or(0)))
    }

    pub(super) fn cores_busy(&self, role: &str) -> Option<f64> {
        self.digest.as_ref()?.resources.get(role)?.cores_busy
    }

    fn reasons(&self) -> impl Iterator<Item = &record::Reason> {
        self.digest.iter().flat_map(|digest| &digest.validity.reasons)
    }

    pub(super) fn has_reason(&self, gate: &str) -> bool {
        self.reasons().any(|reason| reason.gate == gate)
    }

    /// Gates that made the run void or a bound, apart from those whose figures a ladder shows.
    pub(super) fn void_reasons(&self) -> impl Iterator<Item = &str> {
        self.reasons()
            .filter(|reason| reason.effect != Effect::Flag)
            .map(|reason| reason.gate.as_str())
            .filter(|gate| !matches!(*gate, "achieved" | "lag"))
    }
}
