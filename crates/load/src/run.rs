//! One job from start to record: threads, edges of the window, own CPU, assembly.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use clock::{Clock, Monotonic, OwnUsage, own_usage};
use record::job::{Event, Job};
use record::load::{Connections, Generator, LoadRecord, Step, WholeLife, Worker as WorkerRecord};
use record::plan::{Extent, Load, Model};
use record::sources::SourceRange;
use record::{Format, Validity};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::arrivals::Arrivals;
use crate::failure::{Failures, MOST_SAMPLES};
use crate::phases::Phases;
use crate::ports::PortMap;
use crate::request;
use crate::series;
use crate::worker::{Published, Schedule, Shared, Source, Worker};

/// Connections that an open loop may open without a cap of its own.
const MOST_CONNECTIONS: u64 = 10_000;
/// Most arrivals of a drawn law that a count of requests may ask for: a second of work.
const MOST_COUNTED: u64 = 100_000_000;
/// The connection mode in which each request has a connection of its own.
const NEW_CONNECTIONS: &str = "new";
/// Descriptors that are not for connections: epoll sets, standard streams, slack.
const OTHER_DESCRIPTORS: u64 = 64;
/// Between two progress events.
const PROGRESS: Duration = Duration::from_secs(1);
/// How often a window whose edges are counts is looked at.
const POLL: Duration = Duration::from_millis(2);
/// From reading the job to its start: threads are up before anything is due.
const HEAD_START_NS: u64 = 5_000_000;

/// A job that cannot be started, or a machine that does not carry it.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The address does not resolve.
    #[error("cannot resolve `{address}`: {source}")]
    Resolve {
        /// As given.
        address: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The rate cannot be scheduled.
    #[error("a rate of {0}/s cannot be scheduled; expected above 0 and at most 1e9")]
    Rate(f64),
    /// No users.
    #[error("a closed loop needs at least one user")]
    NoUsers,
    /// More users than descriptors.
    #[error(
        "{users} users need {users} connections, the limit of open files allows {allowed}; raise \
         it with `ulimit -n {needed}`"
    )]
    Descriptors {
        /// Users asked for.
        users: u64,
        /// Connections that the limit allows.
        allowed: u64,
        /// The limit that would do.
        needed: u64,
    },
    /// An address that connections cannot come from.
    #[error("no connection can come from {from}: {why}")]
    Source {
        /// The address.
        from: IpAddr,
        /// What the system said.
        why: std::io::Error,
    },
    /// Drawn arrivals are counted one by one.
    #[error(
        "{0} arrivals of a drawn law cannot be counted out; expected at most {MOST_COUNTED}, or a duration"
    )]
    Counted(u64),
    /// The kernel refused something the generator cannot do without.
    #[error("the generator cannot go on: {0}")]
    System(#[from] rustix::io::Errno),
}

/// Runs a job to its end, or until `stop` is set. The record's `validity` is left empty: to
/// judge is not the generator's office.
///
/// # Errors
/// [`LoadError`] before anything is sent, or when `epoll` fails.
pub fn run(
    job: &Job,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<LoadRecord, LoadError> {
    let address = resolve(&job.address)?;
    check_sources(&job.load.sources, &address)?;
    let descriptors = raise_descriptor_limit().saturating_sub(OTHER_DESCRIPTORS);
    let cores = cores();
    // One nanosecond: the default slack of 50 µs would be the send lag of an open loop.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let sources = Sources::of(job, cores.len(), descriptors)?;

    let start_ns = Monotonic.now_ns() + HEAD_START_NS;
    let (warmup, measure) = sources.extents(job);
    let host = job.host.as_deref().unwrap_or(&job.address);
    let new_connections = job.load.connections == NEW_CONNECTIONS;
    let shared = Shared {
        address,
        warmup_request: request::build(&job.scenario, host, new_connections),
        request: request::build(&job.scenario, host, new_connections),
        expect: &job.scenario.expect,
        timeout_ns: job.load.timeout_ns,
        pause: job.load.pause,
        each: job.load.iterations.map(|iterations| iterations.each),
        sources: &job.load.sources,
        new_connections,
        phases: Phases::new(start_ns, warmup, measure, job.load.cooldown_ns),
        stop,
        start_ns,
    };
    on_event(&Event::Started {
        at_ns: start_ns,
        window_start_ns: shared.phases.window_start_ns(),
        window_end_ns: shared.phases.window_end_ns(),
    });

    let threads = sources.threads.len();
    let pin = threads > 1 && threads == cores.len();
    let published: Vec<Published> = (0..threads).map(|_| Published::default()).collect();
    let alive = AtomicUsize::new(threads);
    let main = std::thread::current();
    let mut workers = Vec::with_capacity(threads);
    for ((thread, source), published) in (0..).zip(sources.threads).zip(&published) {
        let (source, most_connections) = source;
        let place = (thread, threads as u64);
        workers.push(Worker::new(&shared, published, source, most_connections, place)?);
    }

    let (finished, usage) = std::thread::scope(|scope| {
        let handles: Vec<_> = workers
            .into_iter()
            .enumerate()
            .map(|(index, mut worker)| {
                let core = pin.then(|| cores[index]);
                let (alive, main) = (&alive, &main);
                scope.spawn(move || {
                    worker.recorder.worker.core = core;
                    if let Some(core) = core {
                        let mut set = CpuSet::new();
                        set.set(core as usize);
                        // Not pinned is slower, not wrong.
                        let _ = sched_setaffinity(None, &set);
                    }
                    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
                    sleep_until(start_ns);
                    let outcome = worker.run();
                    alive.fetch_sub(1, Ordering::Release);
                    main.unpark();
                    outcome.map(|()| worker)
                })
            })
            .collect();
        let usage = supervise(&shared.phases, &published, &alive, stop, on_event);
        let finished: Result<Vec<_>, _> = handles
            .into_iter()
            .map(|handle| match handle.join() {
                Ok(outcome) => outcome,
                // A panic of ours: let it end the process with its own message.
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect();
        (finished, usage)
    });
    Ok(assemble(job, &shared, finished?, usage, cores.len().min(threads) as u32))
}

fn sleep_until(at_ns: u64) {
    let now_ns = Monotonic.now_ns();
    if at_ns > now_ns {
        std::thread::sleep(Duration::from_nanos(at_ns - now_ns));
    }
}

fn resolve(address: &str) -> Result<SocketAddr, LoadError> {
    let failed = |source| LoadError::Resolve { address: address.to_owned(), source };
    address
        .to_socket_addrs()
        .map_err(failed)?
        .next()
        .ok_or_else(|| failed(std::io::Error::other("no address")))
}

/// Whether the ends of each range can be come from: before anything is sent.
fn check_sources(ranges: &[SourceRange], address: &SocketAddr) -> Result<(), LoadError> {
    for source in ranges.iter().flat_map(|range| [range.first, range.last]) {
        let probe = || {
            if source.is_ipv4() != address.is_ipv4() {
                return Err(std::io::Error::other(format!(
                    "{} is of another family",
                    address.ip()
                )));
            }
            std::net::TcpListener::bind((source, 0)).map(drop)
        };
        probe().map_err(|why| LoadError::Source { from: source, why })?;
    }
    Ok(())
}

/// The cores that this process may use, by their numbers; at least one.
#[must_use]
pub fn cores() -> Vec<u32> {
    let set = sched_getaffinity(None).unwrap_or_default();
    let cores: Vec<u32> =
        (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).map(|core| core as u32).collect();
    if cores.is_empty() { vec![0] } else { cores }
}

/// Raises the soft limit of open files to the hard one and returns it.
fn raise_descriptor_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let effective =
        if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    effective.unwrap_or(u64::MAX)
}

/// The job's work, divided among threads.
struct Sources {
    threads: Vec<(Source, usize)>,
    /// Open loop: offsets of the window's edges, ns.
    open_edges: Option<(u64, u64)>,
}

impl Sources {
    fn of(job: &Job, cores: usize, descriptors: u64) -> Result<Self, LoadError> {
        let wanted = if job.threads == 0 { cores } else { job.threads as usize };
        match job.load.model {
            Model::Users(0) => Err(LoadError::NoUsers),
            Model::Users(users) => {
                if u64::from(users) > descriptors {
                    return Err(LoadError::Descriptors {
                        users: u64::from(users),
                        allowed: descriptors,
                        needed: u64::from(users) + OTHER_DESCRIPTORS,
                    });
                }
                let threads = wanted.clamp(1, users as usize) as u32;
                let share = |thread: u32| users / threads + u32::from(thread < users % threads);
                let threads = (0..threads)
                    .map(|thread| (Source::Closed(share(thread)), share(thread) as usize))
                    .collect();
                Ok(Self { threads, open_edges: None })
            }
            Model::Rate(per_s) => {
                let arrivals = arrivals(&job.load, per_s)?;
                let (start_ns, end_ns) = edges(&arrivals, &job.load)?;
                let bound = job
                    .load
                    .max_connections
                    .map_or(MOST_CONNECTIONS.min(descriptors), u64::from)
                    .max(1);
                let threads = (wanted as u64).clamp(1, bound);
                let sources = (0..threads)
                    .map(|thread| {
                        let mut first = arrivals.first();
                        first.advance(thread);
                        let schedule = Schedule {
                            stride: threads,
                            next: first.clone(),
                            head: first,
                            window_start_ns: start_ns,
                            end_ns,
                            queued_peak: 0,
                        };
                        let share = bound / threads + u64::from(thread < bound % threads);
                        (Source::Open(schedule), share as usize)
                    })
                    .collect();
                Ok(Self { threads: sources, open_edges: Some((start_ns, end_ns)) })
            }
        }
    }

    /// Warm-up and window; an open loop's counts have become durations.
    fn extents(&self, job: &Job) -> (Extent, Extent) {
        match self.open_edges {
            Some((start, end)) => (Extent::Ns(start), Extent::Ns(end - start)),
            None => (job.load.warmup, job.load.measure),
        }
    }
}

/// The arrivals of an open loop whose rate is `per_s`, over all where it has stages.
fn arrivals(load: &Load, per_s: f64) -> Result<Arrivals, LoadError> {
    let warmup_ns = match load.warmup {
        Extent::Ns(ns) => ns,
        // Counted along the arrivals, whatever their rate is.
        Extent::Count(_) => 0,
    };
    Arrivals::new(load.arrival, per_s, &load.stages, warmup_ns).ok_or(LoadError::Rate(per_s))
}

/// The offsets of the window's edges, ns: what is due in between is measured.
fn edges(arrivals: &Arrivals, load: &Load) -> Result<(u64, u64), LoadError> {
    if let Arrivals::Even(rate) = arrivals {
        let reach = |extent, first: u64, from_ns: u64| match extent {
            Extent::Count(count) => (first + count, rate.due_ns(first + count)),
            Extent::Ns(ns) => (rate.count_before(from_ns + ns), from_ns + ns),
        };
        let (first, start_ns) = reach(load.warmup, 0, 0);
        return Ok((start_ns, reach(load.measure, first, start_ns).1));
    }
    // Counts are counted: nothing else knows where they end.
    let mut cursor = arrivals.first();
    let mut reach = |extent, from_ns: u64| match extent {
        Extent::Ns(ns) => Ok(from_ns.saturating_add(ns)),
        Extent::Count(count) if count > MOST_COUNTED => Err(LoadError::Counted(count)),
        Extent::Count(count) => {
            let mut steps = 0;
            while cursor.due_ns() < from_ns && steps < MOST_COUNTED {
                cursor.advance(1);
                steps += 1;
            }
            (0..count).for_each(|_| cursor.advance(1));
            Ok(cursor.due_ns())
        }
    };
    let start_ns = reach(load.warmup, 0)?;
    let end_ns = reach(load.measure, start_ns)?;
    Ok((start_ns, end_ns))
}

/// Own usage at the edges of the window.
struct Edges {
    start: OwnUsage,
    end: OwnUsage,
}

/// Sleeps between edges: announces them, reads the own usage there, reports progress.
fn supervise(
    phases: &Phases,
    published: &[Published],
    alive: &AtomicUsize,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Edges {
    let mut at_start = None;
    let mut at_end = None;
    let mut next_progress_ns = Monotonic.now_ns() + PROGRESS.as_nanos() as u64;
    let mut answered_before = 0;
    let mut progress_before_ns = Monotonic.now_ns();
    loop {
        let now_ns = Monotonic.now_ns();
        if stop.load(Ordering::Relaxed) {
            phases.stop(now_ns);
        }
        if let (None, Some(start)) = (at_start, phases.window_start_ns())
            && now_ns >= start
        {
            at_start = Some(own_usage());
            on_event(&Event::WindowOpen { at_ns: start });
        }
        if let (None, Some(end)) = (at_end, phases.window_end_ns())
            && now_ns >= end
        {
            at_end = Some(own_usage());
            on_event(&Event::WindowClosed { at_ns: end });
        }
        if now_ns >= next_progress_ns {
            let sum = |field: fn(&Published) -> &std::sync::atomic::AtomicU64| {
                published.iter().map(|one| field(one).load(Ordering::Relaxed)).sum::<u64>()
            };
            let (succeeded, failed) = (sum(|p| &p.succeeded), sum(|p| &p.failed));
            let elapsed_s = (now_ns - progress_before_ns) as f64 / 1e9;
            on_event(&Event::Progress {
                sent: sum(|p| &p.sent),
                succeeded,
                failed,
                rate_per_s: (succeeded + failed - answered_before) as f64 / elapsed_s,
            });
            answered_before = succeeded + failed;
            progress_before_ns = now_ns;
            next_progress_ns = now_ns + PROGRESS.as_nanos() as u64;
        }
        if alive.load(Ordering::Acquire) == 0 {
            break;
        }
        let edge =
            if at_start.is_none() { phases.window_start_ns() } else { phases.window_end_ns() };
        let wait = match edge {
            Some(edge) if at_end.is_none() => {
                Duration::from_nanos(edge.min(next_progress_ns).saturating_sub(now_ns))
            }
            Some(_) => Duration::from_nanos(next_progress_ns.saturating_sub(now_ns)),
            None => POLL,
        };
        // `stop` is set by a signal handler that cannot unpark: look again now and then.
        std::thread::park_timeout(wait.min(Duration::from_millis(50)));
    }
    let end = at_end.unwrap_or_else(own_usage);
    Edges { start: at_start.unwrap_or(end), end }
}

/// The record from the threads' books.
fn assemble(
    job: &Job,
    shared: &Shared<'_>,
    mut workers: Vec<Worker<'_>>,
    usage: Edges,
    cores: u32,
) -> LoadRecord {
    let window_start_ns = shared.phases.window_start_ns().unwrap_or(shared.start_ns);
    let now_ns = Monotonic.now_ns();
    let window_end_ns = shared.phases.window_end_ns().unwrap_or(now_ns);
    let window_ns = window_end_ns.saturating_sub(window_start_ns);

    let mut totals = WorkerRecord::default();
    let mut whole_life = WholeLife::default();
    let mut connections = Connections::default();
    let mut ports = PortMap::default();
    let mut statuses = BTreeMap::new();
    let mut failures = Failures::default();
    let mut failure_samples = Vec::new();
    let mut service = stats::histogram::new();
    let mut unowned = stats::histogram::new();
    let mut failed_latency = stats::histogram::new();
    let mut lag = stats::histogram::new();
    let (mut unsent, mut queued_peak, mut in_flight_peak, mut paused_ns) = (0, 0, 0, 0);
    let mut sent_in_warmup = false;
    for worker in &mut workers {
        let books = &mut worker.recorder;
        totals.due += books.worker.due;
        totals.sent += books.worker.sent;
        totals.succeeded += books.worker.succeeded;
        totals.failed += books.worker.failed;
        totals.unfinished += books.worker.unfinished;
        unsent += books.unsent;
        whole_life.sent += books.whole_life.sent;
        whole_life.answered += books.whole_life.answered;
        for (status, count) in books.statuses() {
            *statuses.entry(status).or_insert(0) += count;
        }
        failures.merge(&books.failures);
        failure_samples.append(&mut books.samples);
        books.service.add_to(&mut service);
        books.unowned.add_to(&mut unowned);
        books.failed_latency.add_to(&mut failed_latency);
        books.lag.add_to(&mut lag);
        sent_in_warmup |= books.sent_in_warmup;
        queued_peak += worker.queued_peak();
        in_flight_peak += worker.in_flight_peak;
        paused_ns += worker.paused_ns;
        ports.merge(&worker.ports);
        let one = &worker.connections;
        connections.opened += one.opened;
        connections.peak += one.peak;
        connections.bound += one.bound;
        connections.failed += one.failed;
        connections.opened_in_window += one.opened_in_window;
    }
    failure_samples.truncate(MOST_SAMPLES);
    connections.distinct_ports = ports.count();
    connections.sources = record::sources::count(&job.load.sources);
    let worker_records: Vec<WorkerRecord> =
        workers.iter().map(|worker| worker.recorder.worker.clone()).collect();
    let mut all_series: Vec<_> = workers.into_iter().map(|worker| worker.recorder.series).collect();
    let (series, latency) = series::merge(&mut all_series, window_ns);

    let mut histograms: BTreeMap<String, String> = [
        ("latency.succeeded", &latency),
        ("latency.failed", &failed_latency),
        ("service.succeeded", &service),
        ("lag", &lag),
    ]
    .into_iter()
    .map(|(name, histogram)| (name.to_owned(), stats::histogram::encode(histogram)))
    .collect();
    if !unowned.is_empty() {
        histograms.insert("unowned".to_owned(), stats::histogram::encode(&unowned));
    }
    let step = Step {
        name: job.scenario.name.clone(),
        sent: totals.sent,
        succeeded: totals.succeeded,
        failed: totals.failed,
        warmup_request_sha256: sent_in_warmup.then(|| shared.warmup_request.sha256.clone()),
        request_sha256: (totals.sent > 0).then(|| shared.request.sha256.clone()),
        histograms,
    };
    let (model, clock, planned_per_s, users) = match job.load.model {
        Model::Users(users) => ("closed", CLOSED_CLOCK, None, Some(users)),
        Model::Rate(per_s) => ("open", OPEN_CLOCK, Some(per_s), None),
    };
    let asked = |extent: Extent| match extent {
        Extent::Ns(ns) => (Some(ns), None),
        Extent::Count(count) => (None, Some(count)),
    };
    let (window_asked_ns, window_asked_count) = asked(job.load.measure);
    LoadRecord {
        format: Format::v1("assay.load"),
        model: model.to_owned(),
        clock: clock.to_owned(),
        due: totals.due,
        sent: totals.sent,
        unsent,
        succeeded: totals.succeeded,
        failed: totals.failed,
        unfinished: totals.unfinished,
        statuses,
        failures: failures.by_kind(),
        failure_samples,
        whole_life,
        window_ns,
        window_asked_ns,
        window_asked_count,
        window_start_ns,
        planned_per_s,
        arrival: job.load.arrival,
        stages: job.load.stages.clone(),
        users,
        pause: job.load.pause,
        paused_ns,
        rate_per_s: if window_ns == 0 {
            0.0
        } else {
            totals.succeeded as f64 / (window_ns as f64 / 1e9)
        },
        latency_ns: stats::histogram::summarise(&latency),
        service_ns: stats::histogram::summarise(&service),
        unowned_ns: stats::histogram::summarise(&unowned),
        failed_latency_ns: stats::histogram::summarise(&failed_latency),
        lag_ns: stats::histogram::summarise_lag(&lag),
        connection_mode: job.load.connections.clone(),
        connections,
        generator: Generator {
            cpu_user_ns: usage.end.cpu_user_ns - usage.start.cpu_user_ns,
            cpu_sys_ns: usage.end.cpu_sys_ns - usage.start.cpu_sys_ns,
            cores,
            peak_rss_bytes: own_usage().peak_rss_bytes,
            cpu_span_ns: None,
            version: format!("assay {}", env!("CARGO_PKG_VERSION")),
        },
        certificate: job.certificate.clone(),
        validity: Validity::default(),
        steps: vec![step],
        workers: worker_records,
        series,
        queued_peak,
        in_flight_peak,
    }
}

const OPEN_CLOCK: &str = "from the instant a request was due to the last byte of its answer; \
waiting for a connection is included";
const CLOSED_CLOCK: &str = "from the instant a user began its request, reconnecting included, to \
the last byte of its answer";
