//! Distils a run directory into its digest: outcome, identity, load, resources over the window,
//! checks, and figures by name with the state of each.
//!
//! The digest is all that a comparison reads, so it repeats every fact that one needs. It holds
//! no histograms and no series: those stay in `load.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use record::digest::{Digest, HostWindow, Identity, Metric, RoleResources};
use record::load::LoadRecord;
use record::meta::{Meta, Outcome, OutcomeState};
use record::mock::MockRecord;
use record::plan::{self, Compare, Gates, Plan};
use record::resources::{Edge, HostRow, ResourceRow};
use record::{Effect, Format, Scope, State, Summary, Validity, layout};

use stats::order::is_bound;

use crate::batches::batches;
use crate::error::EvidenceError;
use crate::gates::judge_run;
use crate::own_figures::own_figures;
use crate::run_dir::RunDir;

/// Roles under which the observer files the system under test.
pub const TARGET_ROLES: [&str; 2] = ["target", "mock"];

/// Builds the digest of a run directory. `gates` are the bounds in effect, `compare` what the
/// bench registered about the comparison. Nothing is written.
///
/// # Errors
/// Only when `meta.json` cannot be read; everything else that is missing makes the run void.
pub fn digest(run_dir: &Path, gates: &Gates, compare: &Compare) -> Result<Digest, EvidenceError> {
    let run = RunDir::read(run_dir)?;
    let sets = sets_of(run_dir, &run.meta.cell);
    Ok(of_run(&run, gates, compare, sets))
}

/// The digest of a run that is read already. `sets` are the effective paths that each factor's
/// level set.
#[must_use]
pub fn of_run(
    run: &RunDir,
    gates: &Gates,
    compare: &Compare,
    sets: BTreeMap<String, BTreeSet<String>>,
) -> Digest {
    let judgement = judge_run(run, gates);
    let validity = judgement.validity();
    let load = run.load.present();
    let resources = load.map(|load| resources_of(run, &Window::of(load))).unwrap_or_default();
    let host = load.map(|load| host_of(run, &Window::of(load))).unwrap_or_default();
    let metrics = load.map(|load| metrics_of(load, &resources, &validity)).unwrap_or_default();
    let meta = &run.meta;
    Digest {
        format: Format::v1("assay.digest"),
        label: meta.label.clone(),
        run: meta.run.clone(),
        block: meta.block,
        order: meta.order,
        cell: meta.cell.clone(),
        levels: meta.levels.clone(),
        kind: meta.kind,
        attempt: meta.attempt,
        quick: meta.quick,
        outcome: meta.outcome.clone().unwrap_or(Outcome {
            state: OutcomeState::Interrupted,
            detail: "the run left no outcome".to_owned(),
        }),
        validity: validity.clone(),
        identity: identity_of(meta, sets),
        load: load.map(|load| stripped(load, validity)),
        mock: run.mock.present().cloned().map(without_histograms),
        foreign: run.foreign.present().cloned(),
        own_figures: run
            .foreign
            .present()
            .zip(load)
            .map(|(foreign, load)| own_figures(foreign, load, run.mock.present()))
            .unwrap_or_default(),
        resources,
        host,
        standing: meta.standing.clone(),
        host_states: meta.host_states.clone(),
        checks: judgement.checks,
        metrics,
        failure_samples: load.map(|load| load.failure_samples.clone()).unwrap_or_default(),
        primary: compare.primary.clone(),
        compare: Some(compare.clone()),
        previous_cell: meta.previous_cell.clone(),
        seed: meta.seed,
        layout_bytes: meta.layout_bytes,
        batches: load.map(batches).unwrap_or_default(),
        since_previous_run_ns: meta.since_previous_run_ns,
        instants_ns: meta.instants_ns.clone(),
        started_utc: meta.started_utc.clone(),
    }
}

/// The load record without what only a re-cut needs, under the verdict of all evidence.
fn stripped(load: &LoadRecord, validity: Validity) -> LoadRecord {
    let mut load = load.clone();
    load.series = Vec::new();
    load.validity = validity;
    load.failure_samples = Vec::new();
    for step in &mut load.steps {
        step.histograms = BTreeMap::new();
    }
    load
}

fn identity_of(meta: &Meta, sets: BTreeMap<String, BTreeSet<String>>) -> Identity {
    Identity {
        effective_sha256: meta.identity_sha256.clone(),
        scenario_sha256: meta.scenario_sha256.clone(),
        effective: meta.effective.clone(),
        assay: meta.assay.clone(),
        processes: meta.processes.clone(),
        host: meta.host.clone(),
        bench_sha256: meta.files.first().map(|file| file.sha256.clone()).unwrap_or_default(),
        sets,
    }
}

/// What each factor's level set in this cell, by the origins in `plan.json` two folders up. An
/// absent plan gives nothing: the comparison then allows a factor nothing but its own table.
fn sets_of(run_dir: &Path, cell: &str) -> BTreeMap<String, BTreeSet<String>> {
    let plan = run_dir.parent().and_then(Path::parent).map(|label| label.join(layout::PLAN));
    let Some(Ok(plan)) = plan.map(|path| layout::read_json::<Plan>(&path)) else {
        return BTreeMap::new();
    };
    let mut sets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let origins = plan.cells.iter().find(|known| known.name == cell).map(|cell| &cell.origins);
    for (path, origin) in origins.into_iter().flatten() {
        let factor = origin.strip_prefix("level ").and_then(|rest| rest.split_once('='));
        if let Some((factor, _)) = factor {
            sets.entry(factor.to_owned()).or_default().insert(path.clone());
        }
    }
    sets
}

/// The measured window on the system-wide monotonic clock, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    start_ns: u64,
    end_ns: u64,
}

impl Window {
    pub(crate) fn of(load: &LoadRecord) -> Self {
        Self {
            start_ns: load.window_start_ns,
            end_ns: load.window_start_ns.saturating_add(load.window_ns),
        }
    }

    /// Whether a sample belongs to the window: taken inside it, or taken for its edge.
    pub(crate) fn holds(self, t_ns: u64, edge: Edge) -> bool {
        edge != Edge::Sample || (self.start_ns..=self.end_ns).contains(&t_ns)
    }
}

/// First and last sample of a window: the edge samples, or where one is missing the outermost
/// sample inside.
fn edges<T>(rows: &[T], edge: impl Fn(&T) -> Edge) -> Option<(&T, &T)> {
    let first = rows.iter().find(|row| edge(row) == Edge::WindowStart).or(rows.first())?;
    let last = rows.iter().rev().find(|row| edge(row) == Edge::WindowEnd).or(rows.last())?;
    Some((first, last))
}

fn resources_of(run: &RunDir, window: &Window) -> BTreeMap<String, RoleResources> {
    let Some(resources) = run.resources.present() else {
        return BTreeMap::new();
    };
    let mut by_role: BTreeMap<String, Vec<ResourceRow>> = BTreeMap::new();
    for row in resources.rows.iter().filter(|row| window.holds(row.t_ns, row.edge)) {
        by_role.entry(row.role.clone()).or_default().push(row.clone());
    }
    by_role.into_iter().map(|(role, rows)| (role, role_resources(rows))).collect()
}

fn role_resources(mut rows: Vec<ResourceRow>) -> RoleResources {
    rows.sort_by_key(|row| row.t_ns);
    let Some((first, last)) = edges(&rows, |row| row.edge) else {
        return RoleResources::default();
    };
    let window_ns = last.t_ns.saturating_sub(first.t_ns);
    // A counter that went back lost a process whose account nobody inherited: unknown.
    let gained = |counter: fn(&ResourceRow) -> Option<u64>| {
        counter(last)?.checked_sub(counter(first)?).filter(|_| window_ns > 0)
    };
    let peak = |gauge: fn(&ResourceRow) -> Option<u64>| rows.iter().filter_map(gauge).max();
    let cpu_ns = gained(|row| row.cpu_ns);
    RoleResources {
        samples: rows.len() as u64,
        window_ns,
        cpu_user_ns: gained(|row| row.cpu_user_ns),
        cpu_sys_ns: gained(|row| row.cpu_sys_ns),
        cpu_ns,
        cores_busy: cpu_ns.map(|cpu| cpu as f64 / window_ns as f64),
        rss_peak_bytes: peak(|row| row.rss_bytes),
        pss_peak_bytes: peak(|row| row.pss_bytes),
        threads_peak: peak(|row| row.threads),
        switches_voluntary: gained(|row| row.switches_voluntary),
        switches_involuntary: gained(|row| row.switches_involuntary),
        descriptors_peak: peak(|row| row.descriptors),
    }
}

/// The host over the window.
pub(crate) fn host_of(run: &RunDir, window: &Window) -> HostWindow {
    let Some(host) = run.host.present() else {
        return HostWindow::default();
    };
    let mut rows: Vec<HostRow> =
        host.rows.iter().filter(|row| window.holds(row.t_ns, row.edge)).cloned().collect();
    rows.sort_by_key(|row| row.t_ns);
    let Some((first, last)) = edges(&rows, |row| row.edge) else {
        return HostWindow::default();
    };
    let gained = |counter: fn(&HostRow) -> Option<u64>| counter(last)?.checked_sub(counter(first)?);
    let (busy, idle) = (gained(|row| row.busy_ns), gained(|row| row.idle_ns));
    let steal = gained(|row| row.steal_ns);
    let total = busy.zip(idle).map(|(busy, idle)| busy + idle + steal.unwrap_or(0));
    let share = |part: Option<u64>| {
        part.zip(total).filter(|(_, total)| *total > 0).map(|(part, all)| part as f64 / all as f64)
    };
    let foreign = rows
        .iter()
        .filter(|row| row.foreign_share.is_some())
        .max_by(|a, b| a.foreign_share.unwrap_or(0.0).total_cmp(&b.foreign_share.unwrap_or(0.0)));
    HostWindow {
        samples: rows.len() as u64,
        busy_share: share(busy),
        steal_share: share(steal),
        load_1m: rows.iter().filter_map(|row| row.load_1m).max_by(f64::total_cmp),
        frequency_drop_share: frequency_drop(&rows),
        frequency_below_peak_share: frequency_below_peak(&rows),
        frequency_min_hz: rows.iter().filter_map(|row| row.frequency_hz).min(),
        temperature_max_millicelsius: rows
            .iter()
            .filter_map(|row| row.temperature_millicelsius)
            .max(),
        interrupts: gained(|row| row.interrupts),
        throttled_ns: gained(|row| row.throttled_ns),
        thermal_throttles: gained(|row| row.thermal_throttles),
        time_wait: rows.iter().filter_map(|row| row.time_wait).max(),
        foreign_all_share: mean(rows.iter().filter_map(|row| row.foreign_all_share)),
        foreign_since_ns: foreign_since(&rows, window.start_ns),
        foreign_pid: foreign.and_then(|row| row.foreign_pid),
        foreign_share: foreign.and_then(|row| row.foreign_share),
        foreign_name: foreign.and_then(|row| row.foreign_name.clone()),
    }
}

/// How far the mean clock of the window was below its own highest, as a share of that: of each core
/// in proportion to its own highest where cores tell that, so that types of cores compare.
fn frequency_below_peak(rows: &[HostRow]) -> Option<f64> {
    let below = |of: fn(&HostRow) -> Option<f64>| {
        let peak = rows.iter().filter_map(of).max_by(f64::total_cmp).filter(|peak| *peak > 0.0)?;
        Some(1.0 - mean(rows.iter().filter_map(of))? / peak)
    };
    below(|row| row.frequency_share).or_else(|| below(|row| row.frequency_hz.map(|hz| hz as f64)))
}

/// When a busy foreign process began: the first sample in which it used half of what it used at
/// most, after one in which nobody did. `None` when it was there all the time.
fn foreign_since(rows: &[HostRow], start_ns: u64) -> Option<u64> {
    let known = || rows.iter().filter_map(|row| Some((row.t_ns, row.foreign_share?)));
    let most = known().map(|(_, share)| share).max_by(f64::total_cmp)?;
    let is_busy = |share: f64| share >= most / 2.0;
    let first = known().position(|(_, share)| is_busy(share)).filter(|first| *first > 0)?;
    let (t_ns, _) = known().nth(first)?;
    Some(t_ns.saturating_sub(start_ns))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// How far the frequency fell below its highest, as a share of that.
fn frequency_drop(rows: &[HostRow]) -> Option<f64> {
    let seen = || rows.iter().filter_map(|row| row.frequency_hz);
    let (least, most) = (seen().min()?, seen().max()?);
    (most > 0).then(|| 1.0 - least as f64 / most as f64)
}

/// Name, share and figure of a percentile.
type Percentile = (&'static str, f64, fn(&Summary) -> Option<u64>);

/// The percentiles by name.
pub(crate) const PERCENTILES: [Percentile; 5] = [
    ("p50", 0.50, |summary| summary.p50),
    ("p90", 0.90, |summary| summary.p90),
    ("p95", 0.95, |summary| summary.p95),
    ("p99", 0.99, |summary| summary.p99),
    ("p999", 0.999, |summary| summary.p999),
];

fn metrics_of(
    load: &LoadRecord,
    resources: &BTreeMap<String, RoleResources>,
    validity: &Validity,
) -> BTreeMap<String, Metric> {
    let run_state = state_of_run(validity);
    let ended = load.succeeded.saturating_add(load.failed);
    let mut metrics = BTreeMap::new();
    let mut add = |name: &str, value, unit: &str, higher_is_better, state, samples, kind: &str| {
        metrics.insert(
            name.to_owned(),
            Metric {
                value,
                unit: unit.to_owned(),
                higher_is_better,
                state,
                samples: Some(samples),
                kind: kind.to_owned(),
            },
        );
    };
    // Successes over the window in nanoseconds, never over a rounded clock.
    let throughput =
        (load.window_ns > 0).then(|| load.succeeded as f64 * 1e9 / load.window_ns as f64);
    add("throughput", throughput, "/s", true, validity.throughput, load.succeeded, "derived");
    for (name, p, percentile) in PERCENTILES {
        let state = percentile_state(load, p, validity.latency);
        let value = percentile(&load.latency_ns).map(|ns| ns as f64);
        add(name, value, "ns", false, state, load.latency_ns.count, "measured");
    }
    let failures = (ended > 0).then(|| load.failed as f64 / ended as f64);
    add("failures", failures, "share", false, run_state, ended, "derived");
    if load.window_asked_count.is_some() {
        add("time", Some(load.window_ns as f64), "ns", false, run_state, load.due, "measured");
    }
    // CPU is shared among successes only, so that failing fast cannot look cheap.
    let per_request = |cpu: u64| (load.succeeded > 0).then(|| cpu as f64 / load.succeeded as f64);
    let generator = load.generator.cpu_user_ns.saturating_add(load.generator.cpu_sys_ns);
    // The account must span the window: CPU of half a window over all of its requests is no
    // CPU per request.
    let target = TARGET_ROLES
        .iter()
        .find_map(|role| resources.get(*role))
        .filter(|resources| {
            // The edges of a foreign run are its start and its end.
            let span_ns = load.generator.cpu_span_ns.unwrap_or(load.window_ns);
            spans(resources.window_ns, span_ns)
        })
        .and_then(|resources| resources.cpu_ns);
    for (name, value) in [
        ("generator.cpu_per_request", (generator > 0).then(|| per_request(generator)).flatten()),
        ("target.cpu_per_request", target.and_then(per_request)),
    ] {
        add(name, value, "ns", false, run_state, load.succeeded, "derived");
    }
    metrics
}

/// Whether the time between two edge samples is the window's, to 5 %: edge samples are taken a
/// little late, and how much of the account they miss is how wrong the figure may be.
fn spans(sampled_ns: u64, window_ns: u64) -> bool {
    sampled_ns.abs_diff(window_ns) as f64 <= 0.05 * window_ns as f64
}

/// The state of what belongs to neither latency nor throughput.
pub(crate) fn state_of_run(validity: &Validity) -> State {
    let void = validity
        .reasons
        .iter()
        .any(|reason| reason.scope == Scope::Run && reason.effect == Effect::Void);
    if void { State::Void } else { State::Valid }
}

/// The state of one percentile. Censored requests lie beyond every latency that was seen, so a
/// percentile is only a bound when their share reaches what lies above it (D8).
fn percentile_state(load: &LoadRecord, p: f64, latency: State) -> State {
    if latency != State::Censored {
        return latency;
    }
    let censored = load.unsent.saturating_add(load.unfinished);
    if is_bound(p, censored, load.due) { State::Censored } else { State::Valid }
}

/// The bench's primary metric, or the one that fits the load: throughput for users, p99 for a
/// rate, time for a count.
#[must_use]
pub(crate) fn primary_of(digest: &Digest) -> String {
    if let Some(primary) = &digest.primary {
        return primary.clone();
    }
    let load = &digest.identity.effective.load;
    match (load.measure, load.model) {
        (plan::Extent::Count(_), _) => "time",
        (_, plan::Model::Users(_)) => "throughput",
        (_, plan::Model::Rate(_)) => "p99",
    }
    .to_owned()
}

/// They stay in the run directory; nothing in a digest reads them.
fn without_histograms(mut mock: MockRecord) -> MockRecord {
    mock.histograms.clear();
    for endpoint in mock.endpoints.values_mut() {
        endpoint.service.clear();
    }
    mock
}

#[cfg(test)]
mod tests;
