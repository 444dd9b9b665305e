//! One run from its directory to its digest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clock::{Clock, Monotonic};
use observe::{Scope, Watch};
use record::certificate::CertificateStub;
use record::host_state::HostStates;
use record::job::{Event, Job};
use record::meta::{Listener, Listeners, Meta, Outcome, OutcomeState, ProcessIdentity};
use record::mock::MockRecord;
use record::plan::{Cell, Plan, RunKind, Target, TargetKind};
use record::resources::Edge;
use record::{Format, Validity, layout};
use target::{BringUpError, FLUSH_BOUND};

use crate::digester::Digester;
use crate::error::LabError;
use crate::facts::Facts;
use crate::foreign::{Asked, Done, Foreign};
use crate::generator::{Generator, Own};
use crate::instances::{Instances, Up};
use crate::interrupt::Interrupt;
use crate::label::{INSTANCES, Label};
use crate::observer::Observer;
use crate::pending::Pending;
use crate::progress::{Progress, Step};
use crate::sentinel;

/// How often the parent looks at its children while the load runs. Events come in between.
const LOOK: Duration = Duration::from_millis(100);

/// The variable whose value is as long as the layout of a run asks for.
const LAYOUT_VARIABLE: &str = "ASSAY_LAYOUT";

/// What a run needs of its matrix.
pub(crate) struct Surroundings<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) label: &'a Label,
    pub(crate) facts: &'a Facts,
    pub(crate) certificates: &'a BTreeMap<String, CertificateStub>,
    pub(crate) digester: &'a dyn Digester,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) since_previous_run_ns: Option<u64>,
    pub(crate) previous_cell: Option<String>,
}

/// How a run ended.
pub(crate) enum Ended {
    /// Digested; whether its target had come up.
    Digested { validity: Validity, came_up: bool },
    /// Cut short by the user: no digest, incomplete.
    Aborted,
}

/// Makes one run.
///
/// # Errors
/// [`LabError::Refused`] when the target's port is taken, other errors when the file system or
/// a child of our own fails. A target that fails is no error: it is digested.
pub(crate) fn make(
    pending: &Pending,
    cell: &Cell,
    surroundings: &Surroundings<'_>,
    instances: &mut Instances,
    progress: &mut dyn Progress,
) -> Result<Ended, LabError> {
    let began_ns = Monotonic.now_ns();
    let began_unix_ns = clock::utc_now_ns();
    let cpu_before = own_cpu_ns();
    let dir = surroundings.label.dir.join(layout::RUNS).join(&pending.dir);
    fs::create_dir(&dir).map_err(LabError::write(&dir))?;
    let scratch = Scratch::create(&dir)?;
    let mut meta = first_meta(pending, cell, surroundings);
    meta.instants_ns.insert("run_start".to_owned(), began_ns);
    meta.started_unix_ns = Some(began_unix_ns);
    write_meta(&dir, &meta)?;

    let outcome = measure(pending, cell, surroundings, instances, &dir, &mut meta, progress);
    if surroundings.interrupt.wants_abort() {
        return Ok(Ended::Aborted);
    }
    let outcome = outcome?;
    drop(scratch);
    let came_up = meta.instants_ns.contains_key("target_ready");
    meta.instants_ns.insert("digest_start".to_owned(), Monotonic.now_ns());
    meta.outcome = Some(outcome);
    meta.parent_cpu_ns = Some(own_cpu_ns() - cpu_before);
    meta.elapsed_ns = Some(Monotonic.now_ns() - began_ns);
    write_meta(&dir, &meta)?;
    let validity = write_digest(&dir, &pending.dir, cell, surroundings)?;
    progress.step(Step::Digested { run: &pending.dir, validity: &validity });
    Ok(Ended::Digested { validity, came_up })
}

/// Scratch space of a run, removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn create(run_dir: &Path) -> Result<Self, LabError> {
        let path = run_dir.join(layout::SCRATCH);
        fs::create_dir(&path).map_err(LabError::write(&path))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is swept by the next `--resume`.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn own_cpu_ns() -> u64 {
    let usage = clock::own_usage();
    usage.cpu_user_ns + usage.cpu_sys_ns
}

fn first_meta(pending: &Pending, cell: &Cell, surroundings: &Surroundings<'_>) -> Meta {
    let Surroundings { plan, label, facts, .. } = surroundings;
    let planned = &pending.planned;
    Meta {
        format: Format::v1("assay.meta"),
        label: label.name.clone(),
        run: pending.dir.clone(),
        block: planned.block,
        order: planned.order,
        cell: planned.cell.clone(),
        levels: cell.levels.clone(),
        kind: planned.kind,
        attempt: pending.attempt,
        instance: planned.instance,
        quick: plan.quick,
        assay: facts.build.clone(),
        options: facts.options.clone(),
        started_utc: clock::utc_now(),
        started_unix_ns: None,
        since_previous_run_ns: surroundings.since_previous_run_ns,
        previous_cell: surroundings.previous_cell.clone(),
        seed: plan.seed,
        layout_bytes: planned.layout_bytes,
        effective: record::redact::effective(&cell.effective),
        identity_sha256: cell.identity_sha256.clone(),
        scenario_sha256: cell.scenario_sha256.clone(),
        files: plan.files.clone(),
        processes: BTreeMap::from([("parent".to_owned(), facts.parent.clone())]),
        host: facts.host.clone(),
        standing: facts.standing.clone(),
        host_states: HostStates::default(),
        listeners: Listeners::default(),
        instants_ns: BTreeMap::new(),
        outcome: None,
        parent_cpu_ns: None,
        elapsed_ns: None,
    }
}

fn write_meta(dir: &Path, meta: &Meta) -> Result<(), LabError> {
    let path = dir.join(layout::META);
    layout::write_json(&path, meta).map_err(LabError::write(&path))
}

/// Writes `digest.md`, then `digest.json`: with the second the run is complete.
fn write_digest(
    dir: &Path,
    run: &str,
    cell: &Cell,
    surroundings: &Surroundings<'_>,
) -> Result<Validity, LabError> {
    let digested = surroundings
        .digester
        .digest(dir, &cell.gates, &surroundings.plan.compare)
        .map_err(|why| LabError::Digest { run: run.to_owned(), why })?;
    let path = dir.join(layout::DIGEST_MD);
    layout::write_atomic(&path, digested.markdown.as_bytes()).map_err(LabError::write(&path))?;
    let path = dir.join(layout::DIGEST_JSON);
    layout::write_atomic(&path, &digested.json).map_err(LabError::write(&path))?;
    Ok(digested.validity)
}

/// Brings the target up, drives the load, collects the evidence.
fn measure(
    pending: &Pending,
    cell: &Cell,
    surroundings: &Surroundings<'_>,
    instances: &mut Instances,
    dir: &Path,
    meta: &mut Meta,
    progress: &mut dyn Progress,
) -> Result<Outcome, LabError> {
    let Surroundings { facts, interrupt, label, .. } = surroundings;
    let number = pending.planned.instance;
    let logs = if pending.alone {
        dir.to_owned()
    } else {
        let logs = label.dir.join(INSTANCES).join(format!("{number:02}"));
        fs::create_dir_all(logs.join(layout::SCRATCH)).map_err(LabError::write(&logs))?;
        logs
    };
    let padded = padded(&cell.effective.target, pending.planned.layout_bytes);
    let target = &padded;
    let is_new = !instances.is_up(number);
    if is_new {
        progress.step(Step::BringUp { target: &target.name });
    }
    let cpus = facts.place(&cell.effective.cpus);
    let up = match instances.get(number, target, &cpus, &logs, facts, interrupt) {
        Ok(up) => up,
        Err(error) if error.is_refusal() => return Err(LabError::Refused(error)),
        Err(error) => return Ok(failed_bring_up(&error)),
    };
    if is_new && is_mock(up) && target.ready.get.is_some() {
        // The request that found it ready is no request of the run: its account starts anew. A
        // mock that does not answer has no record at the end either, which a gate finds.
        let _ = up.instance.flush_mock(FLUSH_BOUND);
    }
    up.mark_logs();
    meta.instants_ns.insert("target_ready".to_owned(), up.ready_ns);
    let target_role = if is_mock(up) { "mock" } else { "target" };
    if let Some(identity) = target_identity(up) {
        meta.processes.insert(target_role.to_owned(), identity);
    }
    let (outcome, foreign) = drive(cell, surroundings, up, target_role, dir, meta, progress)?;
    if interrupt.wants_abort() {
        return Ok(outcome);
    }
    let witness = is_mock(up).then(|| up.instance.flush_mock(FLUSH_BOUND));
    let copied = up.copy_logs(dir);
    copied.map_err(LabError::write(dir))?;
    if pending.last_of_instance
        && let Some(left) = instances.stop(number)
    {
        progress.step(Step::Note { text: left });
    }
    if let Some(foreign) = &foreign {
        let witness = witness.as_ref().and_then(|record| record.as_ref().ok());
        let certificate = surroundings.certificates.get(&cell.effective.generator.name);
        write_foreign(dir, cell, foreign, witness, certificate.cloned())?;
    }
    // After the stop: a mock that serves this run alone has just written an empty ledger there.
    if let Some(record) = witness {
        let path = dir.join(layout::MOCK);
        match record {
            Ok(record) => layout::write_json(&path, &record).map_err(LabError::write(&path))?,
            // Absent evidence is found by its gate; the reason is told here.
            Err(error) => {
                let _ = fs::remove_file(&path);
                progress.step(Step::Note { text: format!("{}: {error}", pending.dir) });
            }
        }
    }
    Ok(outcome)
}

/// Writes what a foreign generator said, and the load record: what was served by the mock's books.
fn write_foreign(
    dir: &Path,
    cell: &Cell,
    done: &Done,
    witness: Option<&MockRecord>,
    certificate: Option<CertificateStub>,
) -> Result<(), LabError> {
    let path = dir.join(layout::FOREIGN);
    layout::write_json(&path, &done.run).map_err(LabError::write(&path))?;
    let load = &cell.effective.load;
    let mut record = foreign::load_record(&done.run, witness, load, done.started_ns, done.cores);
    record.certificate = certificate;
    let path = dir.join(layout::LOAD);
    layout::write_json(&path, &record).map_err(LabError::write(&path))
}

/// The target with its environment padded. The padding moves the memory layout and nothing else:
/// it is in no identity, and both arms of a block have the same.
fn padded(target: &Target, layout_bytes: u32) -> Target {
    let mut target = target.clone();
    if layout_bytes > 0 {
        target.env.insert(LAYOUT_VARIABLE.to_owned(), "x".repeat(layout_bytes as usize));
    }
    target
}

fn is_mock(up: &Up) -> bool {
    matches!(up.target.kind, TargetKind::Mock(_))
}

fn failed_bring_up(error: &BringUpError) -> Outcome {
    Outcome { state: error.outcome(), detail: error.to_string() }
}

fn target_identity(up: &Up) -> Option<ProcessIdentity> {
    let mut identity = observe::process_identity(up.instance.pid()?)?;
    identity.version = up.instance.version().map(str::to_owned);
    Some(identity)
}

/// The processes of the target that listen on its port; none for one that ran already.
fn listeners(up: &Up) -> Vec<Listener> {
    let port = up.instance.address().rsplit(':').next().and_then(|port| port.parse().ok());
    up.instance
        .guardian_pid()
        .zip(port)
        .map(|(guardian, port)| observe::listeners(guardian, port))
        .unwrap_or_default()
}

/// Starts observer and generator and watches them, the target and the clock.
fn drive(
    cell: &Cell,
    surroundings: &Surroundings<'_>,
    up: &mut Up,
    target_role: &str,
    dir: &Path,
    meta: &mut Meta,
    progress: &mut dyn Progress,
) -> Result<(Outcome, Option<Done>), LabError> {
    let Surroundings { plan, facts, .. } = surroundings;
    let host = match &up.target.kind {
        TargetKind::Url(url) => url
            .split("//")
            .nth(1)
            .map(|rest| rest.split(['/', '?']).next().unwrap_or(rest).to_owned()),
        _ => None,
    };
    let mut load = cell.effective.load.clone();
    load.arrival = load.arrival.of_block(meta.block);
    let job = Job {
        format: Format::v1("assay.job"),
        address: up.instance.address().to_owned(),
        host,
        scenario: cell.effective.scenario.clone(),
        load,
        certificate: surroundings.certificates.get(&cell.effective.generator.name).cloned(),
        threads: 0,
        progress: true,
    };
    meta.listeners.start = listeners(up);
    meta.host_states.before = Some(sentinel::state(facts));
    meta.instants_ns.insert("load_start".to_owned(), Monotonic.now_ns());
    let cpus = facts.place(&cell.effective.cpus);
    let timeout_ns = plan.estimate.run_timeout_ns;
    let address = up.instance.address().to_owned();
    let asked = cell.effective.generator.is_foreign().then(|| Asked {
        effective: &cell.effective,
        address: &address,
        facts,
        run_dir: dir,
        cpus: &cpus.generator,
        timeout_ns,
    });
    let prepared = match &asked {
        Some(asked) => {
            match crate::foreign::prepare(asked, up, target_role == "mock", surroundings.interrupt)
            {
                Ok(prepared) => Some(prepared),
                Err(outcome) => return Ok((outcome, None)),
            }
        }
        None => None,
    };
    let mut watches = vec![watch("parent", std::process::id(), Scope::Alone)];
    if let Some(guardian) = up.instance.guardian_pid() {
        watches.push(watch(target_role, guardian, Scope::Below));
    }
    // Before the generator, so that it is up when a window without a warm-up opens.
    let mut observer =
        Observer::start(facts, dir, watches, cell.effective.observe_interval_ns, &cpus.parent)?;
    let mut generator = match &asked {
        Some(asked) => match Foreign::start(asked) {
            Ok(foreign) => Generator::Foreign(Box::new(foreign)),
            Err(LabError::Generator { name, why }) => {
                observer.stop();
                let detail = format!("generator `{name}`: {why}");
                return Ok((Outcome { state: OutcomeState::GeneratorFailed, detail }, None));
            }
            Err(error) => return Err(error),
        },
        None => Generator::Own(Own::start(facts, dir, &job, &cpus.generator)?),
    };
    observer.watch(watch("generator", generator.guardian_pid(), Scope::Below));
    let identity = match &prepared {
        Some(prepared) => {
            let mut identity = observe::process_identity(generator.pid())
                .unwrap_or_else(|| ProcessIdentity { pid: generator.pid(), ..Default::default() });
            identity.version.clone_from(&prepared.version);
            if let Some((file, sha256)) = crate::programs::script(&cell.effective.generator) {
                identity.executable = Some(file.display().to_string());
                identity.sha256 = Some(sha256);
            }
            identity
        }
        None => own_child(generator.pid(), facts),
    };
    meta.processes.insert("generator".to_owned(), identity);
    meta.processes.insert("observer".to_owned(), own_child(observer.pid(), facts));
    write_meta(dir, meta)?;

    let mut watched =
        Watched { up, generator: &mut generator, observer: &mut observer, meta, progress };
    let outcome = watched.until_the_end(timeout_ns, surroundings.interrupt);
    observer.stop();
    meta.instants_ns.insert("load_end".to_owned(), Monotonic.now_ns());
    meta.listeners.end = listeners(up);
    meta.host_states.after = Some(sentinel::state(facts));
    if let (Some(asked), Some(prepared), Generator::Foreign(foreign)) = (asked, prepared, generator)
        && outcome.state == OutcomeState::Finished
    {
        return Ok(match foreign.done(&asked, prepared) {
            Ok(done) => (outcome, Some(done)),
            Err(outcome) => (outcome, None),
        });
    }
    Ok((outcome, None))
}

/// The identity of a child that runs our own program. On a busy machine a short run may be over
/// before it is read; what was started is known without.
fn own_child(pid: u32, facts: &Facts) -> ProcessIdentity {
    let gone = || ProcessIdentity { pid, ..ProcessIdentity::default() };
    let mut identity = observe::process_identity(pid).unwrap_or_else(gone);
    if identity.sha256.is_none() && !facts.build.sha256.is_empty() {
        identity.sha256 = Some(facts.build.sha256.clone());
    }
    identity.version = Some(format!("assay {}", facts.build.version));
    identity
}

fn watch(role: &str, pid: u32, scope: Scope) -> Watch {
    Watch { role: role.to_owned(), pid, start_ticks: None, scope }
}

/// The children of a run while the load is on.
struct Watched<'a> {
    up: &'a mut Up,
    generator: &'a mut Generator,
    observer: &'a mut Observer,
    meta: &'a mut Meta,
    progress: &'a mut dyn Progress,
}

impl Watched<'_> {
    fn until_the_end(&mut self, timeout_ns: u64, interrupt: &Interrupt) -> Outcome {
        let deadline_ns = Monotonic.now_ns().saturating_add(timeout_ns);
        loop {
            if let Some(event) = self.generator.event(LOOK) {
                self.take(&event);
                continue;
            }
            if interrupt.wants_abort() {
                self.generator.kill();
                return Outcome {
                    state: OutcomeState::Interrupted,
                    detail: "interrupted by a signal".to_owned(),
                };
            }
            if let Some(exit) = self.generator.exited() {
                // A target that went down at the very end shows here.
                return match self.up.instance.exited() {
                    Some(died) => self.target_died(&died),
                    None => match self.generator.complaint(&exit) {
                        None => Outcome { state: OutcomeState::Finished, detail: String::new() },
                        Some(detail) => Outcome { state: OutcomeState::GeneratorFailed, detail },
                    },
                };
            }
            if let Some(exit) = self.up.instance.exited() {
                self.generator.stop();
                return self.target_died(&exit);
            }
            if Monotonic.now_ns() >= deadline_ns {
                self.generator.stop();
                let seconds = timeout_ns as f64 / 1e9;
                return Outcome {
                    state: OutcomeState::TimedOut,
                    detail: format!("not finished after {seconds:.0} s; see `matrix.timeout`"),
                };
            }
        }
    }

    fn target_died(&self, exit: &target::Exit) -> Outcome {
        Outcome {
            state: OutcomeState::TargetDied,
            detail: format!("target `{}` died during the run: {exit}", self.up.target.name),
        }
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Started { window_start_ns, window_end_ns, .. } => {
                // Known ahead, so that the observer samples at the instant itself.
                if let Some(at_ns) = window_start_ns {
                    self.edge(Edge::WindowStart, *at_ns);
                }
                if let Some(at_ns) = window_end_ns {
                    self.edge(Edge::WindowEnd, *at_ns);
                }
            }
            Event::WindowOpen { at_ns } => self.edge(Edge::WindowStart, *at_ns),
            Event::WindowClosed { at_ns } => self.edge(Edge::WindowEnd, *at_ns),
            Event::Progress { failed, rate_per_s, .. } => {
                self.progress.step(Step::Live { rate_per_s: *rate_per_s, failed: *failed });
            }
        }
    }

    /// Marks an edge once.
    fn edge(&mut self, edge: Edge, at_ns: u64) {
        if self.meta.instants_ns.insert(edge.word().to_owned(), at_ns).is_none() {
            self.observer.mark(edge, at_ns);
        }
    }
}

/// Whether a run of this kind counts.
pub(crate) fn counts(kind: RunKind) -> bool {
    kind == RunKind::Measured
}
