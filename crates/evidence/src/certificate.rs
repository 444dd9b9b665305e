//! A certificate from the runs behind it: the generator's records beside the mock's, stage by stage.
//!
//! The runs come from benches whose only factor is `stage` ([`STAGE`]); a stage's name says what is
//! looked at: `steady`, `stall`, `law`, `sleep-...`, `rate-...`, `users-...`. What a stage asked for
//! is read from its effective values, never from its name. A stage that left no records is absent
//! evidence: its property is named as failed.

mod findings;
mod stages;

use std::path::Path;

use record::Format;
use record::certificate::{
    Accuracy, Arrivals, Bounds, Certificate, CertificateOf, CountsAgree, Flatness, Quantile,
    StallSeen, Step, Trial,
};
use record::load::LoadRecord;
use record::plan::Model;
use record::seal::Sealed;
use record::units::HumanDuration;
use stats::histogram;

use crate::error::EvidenceError;
use stages::{Stage, read_stages};

/// The factor whose levels are the stages of a certificate.
pub const STAGE: &str = "stage";

/// What the caller knows of a certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// How long it holds, ns.
    pub age_ns: u64,
    /// Settings of the mock beside the certificate's own.
    pub against: Vec<String>,
    /// Whether p99.99 is looked for.
    pub deep: bool,
    /// The bounds.
    pub bounds: Bounds,
}

/// Derives a certificate from label directories, sealed. Nothing is written.
///
/// # Errors
/// A directory that holds no runs of stages, or cannot be read.
pub fn certificate(labels: &[&Path], asked: &Asked) -> Result<Certificate, EvidenceError> {
    let mut stages = Vec::new();
    for label in labels {
        stages.extend(read_stages(label)?);
    }
    let first = stages.first().ok_or_else(|| EvidenceError::NoRuns {
        path: labels.first().map(|path| path.display().to_string()).unwrap_or_default(),
    })?;
    let made_unix_ns = stages.iter().filter_map(Stage::ended_unix_ns).max().unwrap_or(0);
    let made_utc = stages.iter().map(|stage| stage.meta.started_utc.clone()).max();
    let bounds = &asked.bounds;
    let rates = ladder(&stages, "rate-", bounds);
    let users = ladder(&stages, "users-", bounds);
    let resolution = trials(&stages);
    let (honest_per_s, honest_limit) = honest(&rates);
    let mut certificate = Certificate {
        format: Format::v1("assay.certificate"),
        sha256: String::new(),
        made_utc: made_utc.unwrap_or_default(),
        made_unix_ns,
        expires_unix_ns: made_unix_ns.saturating_add(asked.age_ns),
        of: of(first, &stages),
        against: asked.against.clone(),
        deep: asked.deep,
        accuracy: stages
            .iter()
            .filter(|stage| stage.name == "steady")
            .filter_map(|stage| accuracy(stage, asked.deep))
            .collect(),
        counts: counts(&stages),
        resolution_ns: resolved(&resolution, bounds.error_share),
        resolution,
        honest_per_s,
        honest_limit,
        honest_users: honest(&users).0,
        flatness: [("open", "rate-", &rates), ("closed", "users-", &users)]
            .into_iter()
            .filter_map(|(model, prefix, steps)| flatness(&stages, model, prefix, steps))
            .collect(),
        rates,
        users,
        stalls: stages
            .iter()
            .filter(|stage| stage.name == "stall")
            .filter_map(|s| stall(s, bounds))
            .collect(),
        arrivals: stages.iter().find(|stage| stage.name == "law").and_then(arrivals),
        bounds: bounds.clone(),
        findings: Vec::new(),
        runs: labels.iter().map(|label| label.display().to_string()).collect(),
    };
    certificate.findings = findings::of(&certificate, &stages);
    Ok(certificate.sealed())
}

fn of(first: &Stage, stages: &[Stage]) -> CertificateOf {
    let own = CertificateOf::own(
        &first.meta.host,
        &first.meta.assay.version,
        &first.meta.effective.transport,
    );
    let load = stages.iter().find_map(|stage| stage.load.as_ref());
    let program = first
        .meta
        .processes
        .get("generator")
        .filter(|_| first.meta.effective.generator.is_foreign());
    CertificateOf {
        generator: first.generator().to_owned(),
        generator_version: load.map(|load| load.generator.version.clone()).unwrap_or_default(),
        generator_program: program.map(|program| {
            let path = program.executable.as_deref().unwrap_or("unknown");
            format!("{path} {}", program.sha256.as_deref().unwrap_or("of unknown hash"))
        }),
        generator_cores: load.map_or(0, |load| load.generator.cores),
        ..own
    }
}

/// Whether the step of a figure is too coarse to hold it against the truth: the step is larger than
/// the error that is allowed, and explains the one that is seen.
fn is_coarse(
    said_ns: Option<u64>,
    true_ns: Option<u64>,
    step_ns: Option<u64>,
    bound_share: f64,
) -> bool {
    let (Some(said), Some(truth), Some(step)) = (said_ns, true_ns, step_ns) else { return false };
    let allowed_ns = bound_share * truth as f64;
    step as f64 > allowed_ns && said.abs_diff(truth).saturating_sub(step) as f64 <= allowed_ns
}

/// (said - true) / true.
fn error(said_ns: Option<u64>, true_ns: Option<u64>) -> Option<f64> {
    let (said, truth) = (said_ns? as f64, true_ns.filter(|ns| *ns > 0)? as f64);
    Some((said - truth) / truth)
}

fn accuracy(stage: &Stage, deep: bool) -> Option<Accuracy> {
    let (load, mock) = (stage.load.as_ref()?, stage.mock.as_ref()?);
    let (said, truth) = (&load.latency_ns, &mock.service_ns);
    let mut rows = vec![
        ("p50", truth.p50, said.p50, stage.step_ns(0.5)),
        ("p90", truth.p90, said.p90, stage.step_ns(0.9)),
        ("p99", truth.p99, said.p99, stage.step_ns(0.99)),
        ("p99.9", truth.p999, said.p999, stage.step_ns(0.999)),
    ];
    if deep {
        let text = load.steps.first().and_then(|step| step.histograms.get("latency.succeeded"));
        let truth = deep_quantile(mock.histograms.get("service"));
        let (said, step) = match &stage.foreign {
            Some(foreign) => {
                let figure = foreign.own.quantile(0.9999).filter(|_| truth.is_some());
                (figure.map(|figure| figure.value_ns), figure.map(|figure| figure.resolution_ns))
            }
            None => (deep_quantile(text), None),
        };
        rows.push(("p99.99", truth, said, step));
    }
    let max = stage.foreign.as_ref().and_then(|foreign| foreign.own.max);
    rows.push(("max", truth.max, said.max, max.map(|figure| figure.resolution_ns)));
    let quantiles = rows
        .into_iter()
        .map(|(name, true_ns, said_ns, step_ns)| Quantile {
            name: name.to_owned(),
            true_ns,
            said_ns,
            step_ns: step_ns.filter(|_| said_ns.is_some()),
            error_share: error(said_ns, true_ns),
        })
        .collect();
    Some(Accuracy {
        model: stage.model_word().to_owned(),
        asked: stage.asked(),
        count: said.count,
        true_count: truth.count,
        quantiles,
    })
}

/// p99.99 of an encoded histogram with enough samples for one.
fn deep_quantile(text: Option<&String>) -> Option<u64> {
    let histogram = histogram::decode(text?).ok()?;
    let enough = stats::order::samples_needed(0.9999).is_some_and(|n| histogram.len() >= n);
    enough.then(|| histogram.value_at_quantile(0.9999))
}

/// Whether both sides counted the same over the whole life, as far as the generator counts that.
fn counts(stages: &[Stage]) -> CountsAgree {
    let mut agree = CountsAgree::default();
    for stage in stages {
        let (Some(load), Some(mock)) = (&stage.load, &stage.mock) else { continue };
        let seen = mock.served.saturating_add(mock.failed);
        agree.runs += 1;
        agree.requests = agree.requests.saturating_add(seen);
        // Another generator's count is its own word: its load record is made from the mock's.
        let sent = stage.foreign.as_ref().map_or(load.whole_life.sent, |f| f.own.requests);
        if stage.has_reason("counts_disagree") || stage.foreign.is_none() && sent != seen {
            agree.differ.push(format!("{}: sent {sent}, the mock read {seen}", stage.shown()));
        } else {
            agree.cut = agree.cut.saturating_add(sent.abs_diff(seen));
        }
    }
    agree
}

fn trials(stages: &[Stage]) -> Vec<Trial> {
    let mut trials: Vec<Trial> = stages
        .iter()
        .filter(|stage| stage.name.starts_with("sleep-"))
        .map(|stage| {
            let true_ns = stage.mock.as_ref().and_then(|mock| mock.service_ns.p50);
            let said_ns = stage.load.as_ref().and_then(|load| load.latency_ns.p50);
            Trial {
                asked_ns: stage.mock_config().map_or(0, |config| config.latency_ns),
                true_ns,
                said_ns,
                step_ns: stage.step_ns(0.5).filter(|_| said_ns.is_some()),
                error_share: error(said_ns, true_ns),
            }
        })
        .collect();
    trials.sort_by_key(|trial| trial.asked_ns);
    trials
}

/// The smallest latency from which on every median was right. A median that is only told in steps
/// beyond the bound is right by chance, and counts as wrong.
fn resolved(trials: &[Trial], bound_share: f64) -> Option<u64> {
    let right = |trial: &Trial| {
        let coarse = is_coarse(trial.said_ns, trial.true_ns, trial.step_ns, bound_share);
        !coarse && trial.error_share.is_some_and(|error| error.abs() <= bound_share)
    };
    trials.iter().rev().take_while(|trial| right(trial)).last().map(|trial| trial.asked_ns)
}

fn ladder(stages: &[Stage], prefix: &str, bounds: &Bounds) -> Vec<Step> {
    let mut steps: Vec<Step> = stages
        .iter()
        .filter(|stage| stage.name.starts_with(prefix))
        .map(|stage| step(stage, bounds))
        .collect();
    steps.sort_by(|one, other| one.asked.total_cmp(&other.asked));
    steps
}

fn step(stage: &Stage, bounds: &Bounds) -> Step {
    let load = stage.load.as_ref();
    let mock = stage.mock.as_ref();
    let asked = match stage.meta.effective.load.model {
        Model::Users(users) => f64::from(users),
        Model::Rate(per_s) => per_s,
    };
    let achieved_share = load.filter(|load| load.planned_per_s.is_some()).map(|load| {
        let due = load.planned_per_s.unwrap_or(0.0) * load.window_ns as f64 / 1e9;
        load.sent as f64 / due.max(1.0)
    });
    let lag_p99_ns = load.filter(|load| load.planned_per_s.is_some()).and_then(|l| l.lag_ns.p99);
    let true_ns = mock.and_then(|mock| mock.service_ns.p50);
    let said_ns = load.and_then(|load| load.latency_ns.p50);
    let mut doubts = Vec::new();
    if load.is_none() || mock.is_none() {
        doubts.push(stage.no_record());
    }
    if let Some(share) = achieved_share.filter(|share| *share < bounds.achieved_share) {
        doubts.push(format!("{:.1} % of the rate sent", share * 100.0));
    }
    if let Some(lag) = lag_p99_ns.filter(|lag| *lag > bounds.lag_ns) {
        doubts.push(format!("p99 of the send lag {}", HumanDuration(lag as f64)));
    }
    let step_ns = stage.step_ns(0.5).filter(|_| said_ns.is_some());
    let coarse = is_coarse(said_ns, true_ns, step_ns, bounds.error_share);
    let wrong = error(said_ns, true_ns).filter(|e| e.abs() > bounds.error_share && !coarse);
    if let Some(wrong) = wrong {
        doubts.push(format!("median wrong by {:.1} %", wrong * 100.0));
    }
    // A gate has a reason for each figure that it touches.
    for gate in stage.void_reasons().map(|gate| format!("`{gate}`")) {
        if !doubts.contains(&gate) {
            doubts.push(gate);
        }
    }
    Step {
        asked,
        served_per_s: mock.map(|mock| mock.served_per_s),
        achieved_share,
        lag_p99_ns,
        true_ns,
        said_ns,
        step_ns,
        generator_share: load.and_then(|load| generator_share(stage, load)),
        mock_share: stage.cores_busy("mock"),
        doubts,
    }
}

/// Share of its cores that the generator used: sampled, or by its own account where its window has
/// no samples, as that of another program.
fn generator_share(stage: &Stage, load: &LoadRecord) -> Option<f64> {
    let of = &load.generator;
    let own = of
        .cpu_span_ns
        .filter(|span| *span > 0)
        .map(|span| of.cpu_user_ns.saturating_add(of.cpu_sys_ns) as f64 / span as f64);
    let busy = stage.cores_busy("generator").or(own)?;
    Some(busy / f64::from(of.cores.max(1)))
}

/// The mock works in one thread: from this share of a core on it may be what limits.
const MOCK_FULL_SHARE: f64 = 0.90;

/// The last step before the first doubtful one, and what stopped that.
fn honest(steps: &[Step]) -> (Option<f64>, Option<String>) {
    let good = steps.iter().take_while(|step| step.doubts.is_empty()).count();
    let limit = steps.get(good).map(|step| {
        let mock = step.mock_share.filter(|share| *share >= MOCK_FULL_SHARE);
        let by = mock.map_or_else(String::new, |share| {
            format!(
                "; the mock was busy for {:.0} % of its core and may be the limit",
                share * 100.0
            )
        });
        format!("{}{by}", step.doubts.join(", "))
    });
    (good.checked_sub(1).map(|last| steps[last].asked), limit)
}

fn flatness(stages: &[Stage], model: &str, prefix: &str, steps: &[Step]) -> Option<Flatness> {
    let asked_ns = stages
        .iter()
        .find(|stage| stage.name.starts_with(prefix))
        .and_then(Stage::mock_config)?
        .latency_ns;
    let good: Vec<&Step> = steps.iter().take_while(|step| step.doubts.is_empty()).collect();
    let errors: Vec<i64> =
        good.iter().filter_map(|step| Some(step.said_ns? as i64 - step.true_ns? as i64)).collect();
    let spread_ns = errors.iter().max()?.abs_diff(*errors.iter().min()?);
    Some(Flatness {
        model: model.to_owned(),
        over: [good.first()?.asked, good.last()?.asked],
        spread_ns,
        spread_share: spread_ns as f64 / asked_ns.max(1) as f64,
    })
}

/// A user who comes at any time waits longer than x with probability (length - x) / period, so the
/// 99th percentile lies a hundredth of the period before the whole length.
fn stall(stage: &Stage, bounds: &Bounds) -> Option<StallSeen> {
    let config = stage.mock_config()?;
    let stall = config.stall.as_ref()?;
    let true_p99_ns =
        stall.length_ns.saturating_sub(stall.period_ns / 100).saturating_add(config.latency_ns);
    let load = stage.load.as_ref()?;
    let said_p99_ns = load.latency_ns.p99;
    let near = error(said_p99_ns, Some(true_p99_ns));
    let shown = near.is_some_and(|error| error.abs() <= bounds.stall_share);
    let adds = stage.foreign.as_ref().is_some_and(|foreign| foreign.habits.adds_samples);
    Some(StallSeen {
        model: stage.model_word().to_owned(),
        stall: format!(
            "{} in every {}",
            HumanDuration(stall.length_ns as f64),
            HumanDuration(stall.period_ns as f64)
        ),
        true_p99_ns,
        said_p99_ns,
        true_max_ns: stall.length_ns,
        said_max_ns: load.latency_ns.max,
        shown,
        added: adds && shown,
    })
}

fn arrivals(stage: &Stage) -> Option<Arrivals> {
    let Model::Rate(asked_per_s) = stage.meta.effective.load.model else { return None };
    let seen = stage.mock.as_ref()?.arrivals;
    (seen.count > 1 && seen.mean_ns > 0.0).then(|| Arrivals {
        asked_per_s,
        gaps: seen.count,
        dispersion: seen.variance_ns2 / (seen.mean_ns * seen.mean_ns),
    })
}

#[cfg(test)]
mod tests;
