//! The table of adapters.

use record::foreign::{ForeignRecord, Habits};
use record::plan::{Generator, GeneratorKind};

use crate::error::ReadError;
use crate::job::{Invocation, Job, Output};
use crate::{ab, command, h2load, hey, k6, locust, oha, siege, vegeta, wrk, wrk2};

/// What a tool can be asked for.
#[derive(Debug, Clone, Copy)]
pub struct Abilities {
    /// A closed loop of users.
    pub users: bool,
    /// A constant arrival rate.
    pub rate: bool,
    /// Connections that are kept.
    pub keep_alive: bool,
    /// A connection for each request.
    pub close: bool,
    /// A window of time.
    pub duration: bool,
    /// A window of requests.
    pub count: bool,
    /// Durations are whole seconds: others are rounded up.
    pub whole_seconds: bool,
    /// Methods that it can send; empty for all.
    pub methods: &'static [&'static str],
    /// Whether it takes a script of the user's.
    pub script: bool,
    /// Quantiles that it can give, in words.
    pub quantiles: &'static str,
    /// The step of its latencies, in words.
    pub resolution: &'static str,
}

/// A tool that assay can start and read.
#[derive(Debug)]
pub struct Adapter {
    /// Its name in a bench.
    pub name: &'static str,
    /// What it can be asked for.
    pub abilities: Abilities,
    /// From when to when its latencies run.
    pub clock: &'static str,
    /// See [`Habits::omits_connect`].
    pub omits_connect: bool,
    /// See [`Habits::corrects_omission`].
    pub corrects_omission: bool,
    /// See [`Habits::adds_samples`].
    pub adds_samples: bool,
    /// See [`Habits::omits_failures`].
    pub omits_failures: bool,
    /// See [`Habits::drops_in_flight`].
    pub drops_in_flight: bool,
    /// See [`Habits::counts_unanswered`].
    pub counts_unanswered: bool,
    /// See [`Habits::probe_connections`].
    pub probe_connections: u64,
    /// How its version is asked for; empty where it has no way to tell.
    pub version: &'static [&'static str],
    /// Exit codes other than 0 that still leave figures.
    pub good_codes: &'static [i32],
    /// How it is started for a job; `None` for tools of which only outputs are read.
    pub ask: Option<fn(&Job<'_>) -> Invocation>,
    /// Reads what it left.
    pub read: fn(&Output<'_>) -> Result<ForeignRecord, ReadError>,
}

impl Adapter {
    /// How it measures, as it is kept with its figures.
    #[must_use]
    pub fn habits(&self) -> Habits {
        Habits {
            clock: self.clock.to_owned(),
            omits_connect: self.omits_connect,
            corrects_omission: self.corrects_omission,
            adds_samples: self.adds_samples,
            omits_failures: self.omits_failures,
            drops_in_flight: self.drops_in_flight,
            counts_unanswered: self.counts_unanswered,
            probe_connections: self.probe_connections,
        }
    }
}

/// All adapters with a name of their own, in the order of the documentation.
pub const ADAPTERS: [&Adapter; 10] = [
    &wrk::ADAPTER,
    &k6::ADAPTER,
    &h2load::ADAPTER,
    &oha::ADAPTER,
    &hey::ADAPTER,
    &ab::ADAPTER,
    &siege::ADAPTER,
    &locust::ADAPTER,
    &vegeta::ADAPTER,
    &wrk2::ADAPTER,
];

/// The adapter of a name.
#[must_use]
pub fn adapter(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.into_iter().find(|adapter| adapter.name == name)
}

/// The adapter of a generator; `None` for assay's own, and for one that is not known.
#[must_use]
pub fn adapter_of(generator: &Generator) -> Option<&'static Adapter> {
    match &generator.kind {
        GeneratorKind::Assay => None,
        GeneratorKind::Adapter(name) => adapter(name),
        GeneratorKind::Command(_) => Some(&command::ADAPTER),
    }
}

/// The program that a generator starts, as it is looked for; `None` for assay's own, for a tool of
/// which only outputs are read, and for a command whose program is not known before its run.
#[must_use]
pub fn program(generator: &Generator) -> Option<&str> {
    match &generator.kind {
        GeneratorKind::Assay => None,
        // Each adapter is called as its program.
        GeneratorKind::Adapter(name) => {
            adapter(name).filter(|adapter| adapter.ask.is_some()).map(|adapter| adapter.name)
        }
        GeneratorKind::Command(command) => {
            command.first().map(String::as_str).filter(|program| !program.contains('{'))
        }
    }
}

/// Names of the adapters that a bench can use.
#[must_use]
pub fn runnable_names() -> Vec<&'static str> {
    ADAPTERS.iter().filter(|adapter| adapter.ask.is_some()).map(|adapter| adapter.name).collect()
}

/// Checks what every record must obey and orders its quantiles.
pub(crate) fn checked(
    adapter: &'static str,
    mut record: ForeignRecord,
) -> Result<ForeignRecord, ReadError> {
    if record.requests == 0 {
        return Err(ReadError::NoRequests { adapter });
    }
    let contradiction = |why: String| ReadError::Contradiction { adapter, why };
    if record.failures > record.requests {
        return Err(contradiction(format!(
            "{} failures of {} requests",
            record.failures, record.requests
        )));
    }
    record.quantiles = crate::figure::in_order(record.quantiles);
    for pair in record.quantiles.windows(2) {
        let slack = pair[0].figure.resolution_ns.max(pair[1].figure.resolution_ns);
        if pair[1].figure.value_ns.saturating_add(slack) < pair[0].figure.value_ns {
            return Err(contradiction(format!(
                "p{} is {} ns, p{} is {} ns",
                100.0 * pair[0].share,
                pair[0].figure.value_ns,
                100.0 * pair[1].share,
                pair[1].figure.value_ns
            )));
        }
    }
    Ok(record)
}

/// How a generator is started for a job; `None` for assay's own, and for a tool of which only
/// outputs are read.
#[must_use]
pub fn ask(generator: &Generator, job: &Job<'_>) -> Option<Invocation> {
    match &generator.kind {
        GeneratorKind::Command(command) => Some(command::ask(command, job)),
        _ => Some(adapter_of(generator)?.ask?(job)),
    }
}

/// Reads what a generator left.
///
/// # Errors
/// [`ReadError`] when that is no evidence: nothing, garbage, no request, figures that cannot be.
pub fn read(generator: &Generator, output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    match (&generator.kind, adapter_of(generator)) {
        (GeneratorKind::Command(_), _) => command::read(&generator.patterns, output),
        (_, Some(adapter)) => (adapter.read)(output),
        (_, None) => {
            Err(ReadError::Missing { adapter: "assay", what: "foreign figures".to_owned() })
        }
    }
}
