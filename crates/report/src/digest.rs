//! `digest.md`: a run on one page, outcome first. Sections and rows are the same in every
//! digest of one shape, so that two of them differ line by line only in their values.

use record::State;
use record::digest::{Check, Digest, RoleResources};
use record::load::LoadRecord;
use record::meta::OutcomeState;
use record::plan::{Extent, Model, RunKind, TargetKind};
use record::{Effect, Scope};

use crate::load::{LINES, certificate, connections, failures, lag, shown};
use crate::text::{
    self, NONE, UNKNOWN, bytes, cell, count, cut, duration, in_unit, number, or_unknown, share,
    state,
};

/// Most rows of a kind that has no natural bound: samples of failures, limits, settings.
const MOST_ROWS: usize = 8;

/// Renders a digest as Markdown, under 200 lines.
#[must_use]
pub fn digest_md(digest: &Digest) -> String {
    let mut page = Page::default();
    page.line(&format!("# Run {}", digest.run));
    page.blank();
    outcome(&mut page, digest);
    identity(&mut page, digest);
    load(&mut page, digest);
    latency(&mut page, digest);
    own_figures(&mut page, digest);
    resources(&mut page, digest);
    host(&mut page, digest);
    checks(&mut page, digest);
    failure_samples(&mut page, digest);
    page.text
}

/// Lines of Markdown.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    fn section(&mut self, title: &str) {
        self.blank();
        self.line(&format!("## {title}"));
        self.blank();
    }

    fn header(&mut self, columns: &[&str]) {
        self.line(&format!("| {} |", columns.join(" | ")));
        self.line(&format!("|{}", "---|".repeat(columns.len())));
    }

    fn row(&mut self, values: &[&str]) {
        let values: Vec<String> = values.iter().map(|value| cell(value)).collect();
        self.line(&format!("| {} |", values.join(" | ")));
    }

    fn facts(&mut self, facts: &[(&str, String)]) {
        self.header(&["", ""]);
        for (name, value) in facts {
            self.row(&[name, value]);
        }
    }
}

fn outcome(page: &mut Page, digest: &Digest) {
    let word = match digest.outcome.state {
        OutcomeState::Finished => "finished",
        OutcomeState::TargetNotReady => "target not ready",
        OutcomeState::TargetDied => "target died",
        OutcomeState::WrongVersion => "wrong version",
        OutcomeState::TimedOut => "timed out",
        OutcomeState::GeneratorFailed => "generator failed",
        OutcomeState::Interrupted => "interrupted",
    };
    let mut verdict = format!("**{word}, {}**", state(digest.validity.state));
    if digest.validity.is_doubtful() && digest.validity.state != State::Void {
        verdict.push_str(&format!(
            " (latency {}, throughput {})",
            state(digest.validity.latency),
            state(digest.validity.throughput)
        ));
    }
    page.line(&verdict);
    if digest.quick {
        page.line("This is a quick run: it proves the plumbing and is no measurement.");
    }
    if digest.kind == RunKind::WarmUp {
        page.line("This is a warm-up run: it is discarded by name.");
    }
    page.blank();
    let reasons = &digest.validity.reasons;
    if reasons.is_empty() {
        page.line("- no gate tripped");
    }
    for one in text::reasons(reasons) {
        page.line(&format!("- {}", cell(&one)));
    }
}

fn identity(page: &mut Page, digest: &Digest) {
    page.section("Identity");
    let identity = &digest.identity;
    let levels: Vec<String> =
        digest.levels.iter().map(|level| format!("{}={}", level.factor, level.level)).collect();
    let assay = &identity.assay;
    let kind = match &identity.effective.target.kind {
        TargetKind::Command(command) => command.join(" "),
        TargetKind::Mock(_) => "assay mock".to_owned(),
        TargetKind::Url(url) => url.clone(),
    };
    page.facts(&[
        ("label", digest.label.clone()),
        ("cell", digest.cell.clone()),
        ("levels", if levels.is_empty() { NONE.to_owned() } else { levels.join(", ") }),
        (
            "block, order, attempt",
            format!("{}, {}, {}", digest.block, digest.order, digest.attempt),
        ),
        ("started", digest.started_utc.clone()),
        ("since the previous run", duration(digest.since_previous_run_ns)),
        ("assay", format!("{} {} {}", assay.version, assay.commit, short(&assay.sha256))),
        ("bench", short(&identity.bench_sha256)),
        ("effective run", short(&identity.effective_sha256)),
        ("scenario", short(&identity.scenario_sha256)),
        ("target", format!("{}: {}", identity.effective.target.name, cut(&kind, 120))),
    ]);
    page.blank();
    page.header(&["process", "pid", "version", "SHA-256", "cores", "command"]);
    for (role, process) in &identity.processes {
        page.row(&[
            role,
            &process.pid.to_string(),
            &or_unknown(process.version.as_deref()),
            &process.sha256.as_deref().map_or_else(|| UNKNOWN.to_owned(), short),
            process.cpus.as_deref().unwrap_or("any"),
            &cut(&process.command.join(" "), 100),
        ]);
    }
}

/// Enough of a hash to tell two apart.
fn short(hash: &str) -> String {
    if hash.is_empty() { UNKNOWN.to_owned() } else { hash.chars().take(16).collect() }
}

fn extent(extent: Extent) -> String {
    match extent {
        Extent::Ns(ns) => duration(Some(ns)),
        Extent::Count(requests) => format!("{} requests", count(requests)),
    }
}

fn load(page: &mut Page, digest: &Digest) {
    page.section("Load");
    let effective = &digest.identity.effective;
    let planned = &effective.load;
    let arrivals = match planned.model {
        Model::Users(users) => format!("closed, {users} users"),
        Model::Rate(rate) => format!("open, {}/s", number(rate)),
    };
    let mut facts = vec![
        (
            "request",
            format!("{} {}", effective.scenario.method, cut(&effective.scenario.path, 100)),
        ),
        ("transport", effective.transport.clone()),
        ("arrivals", arrivals),
        (
            "warm-up, window, cool-down",
            format!(
                "{}, {}, at most {}",
                extent(planned.warmup),
                extent(planned.measure),
                duration(Some(planned.cooldown_ns))
            ),
        ),
    ];
    match &digest.load {
        Some(load) => facts.extend(load_facts(load)),
        None => facts.push(("load record", "none".to_owned())),
    }
    if let Some(mock) = digest.mock.as_ref().filter(|mock| !mock.config_line.is_empty()) {
        facts.push(("mock", mock.config_line.clone()));
    }
    match &digest.mock {
        Some(mock) => facts.push((
            "mock's count",
            format!(
                "served {}, failed {}, {} ports, slept {} of {} asked",
                count(mock.served),
                count(mock.failed),
                count(mock.distinct_peer_ports),
                duration(mock.sleep.slept_ns.p50),
                duration(mean_sleep(mock)),
            ),
        )),
        None => facts.push(("mock's count", NONE.to_owned())),
    }
    page.facts(&facts);
}

fn mean_sleep(mock: &record::mock::MockRecord) -> Option<u64> {
    mock.sleep.asked_ns.checked_div(mock.sleep.slept_ns.count)
}

fn load_facts(load: &LoadRecord) -> Vec<(&'static str, String)> {
    let failed = if load.failed > 0 { failures(load) } else { "none".to_owned() };
    let lag = if load.planned_per_s.is_some() { lag(load) } else { NONE.to_owned() };
    vec![
        ("clock", load.clock.clone()),
        ("window as it was", duration(Some(load.window_ns))),
        ("due, sent, unsent", triple(load.due, load.sent, load.unsent)),
        ("succeeded, failed, unfinished", triple(load.succeeded, load.failed, load.unfinished)),
        (
            "whole life: sent, answered",
            format!("{}, {}", count(load.whole_life.sent), count(load.whole_life.answered)),
        ),
        (
            "throughput",
            match load.validity.throughput {
                State::AtLeast => format!("at least {}/s", number(load.rate_per_s)),
                State::Void => format!("void ({}/s)", number(load.rate_per_s)),
                _ => format!("{}/s", number(load.rate_per_s)),
            },
        ),
        ("failures", failed),
        ("send lag", lag),
        ("connections", connections(load)),
        ("generator CPU", crate::load::generator(load)),
        ("time balance", crate::load::balance(load)),
    ]
}

fn triple(a: u64, b: u64, c: u64) -> String {
    format!("{}, {}, {}", count(a), count(b), count(c))
}

/// What a foreign generator says of itself, beside the truth. Only digests of such runs have it.
fn own_figures(page: &mut Page, digest: &Digest) {
    if digest.own_figures.is_empty() {
        return;
    }
    page.section("Generator's own figures");
    for line in crate::own_figures::about(digest) {
        page.line(&line);
    }
    page.blank();
    page.header(&crate::own_figures::HEADER);
    for figure in &digest.own_figures {
        let row = crate::own_figures::row(figure);
        page.row(&[&row[0], &row[1], &row[2], &row[3], &row[4]]);
    }
}

fn latency(page: &mut Page, digest: &Digest) {
    page.section("Latency");
    let Some(load) = &digest.load else {
        page.line("No load record.");
        return;
    };
    page.header(&["", "latency", "service", "of failures"]);
    let summaries = [&load.latency_ns, &load.service_ns, &load.failed_latency_ns];
    let samples = summaries.map(|summary| count(summary.count));
    page.row(&["samples", &samples[0], &samples[1], &samples[2]]);
    for line in &LINES {
        let shown = |summary| shown(load, digest.validity.latency, line, summary);
        page.row(&[
            line.name,
            &shown(summaries[0]),
            &shown(summaries[1]),
            &line.text(summaries[2]),
        ]);
    }
    page.blank();
    page.line("A percentile without enough samples for a 95 % interval is not printed.");
    page.line(&format!("Certificate: {}.", certificate(load)));
}

fn resources(page: &mut Page, digest: &Digest) {
    page.section("Resources over the window");
    page.header(&[
        "role",
        "samples",
        "cores busy",
        "user",
        "system",
        "RSS peak",
        "PSS peak",
        "threads",
        "switches (vol., invol.)",
        "descriptors",
    ]);
    for (role, use_) in &digest.resources {
        resource_row(page, role, use_);
    }
    page.blank();
    for name in ["target.cpu_per_request", "generator.cpu_per_request"] {
        let metric = digest.metrics.get(name);
        let value = metric.and_then(|metric| metric.value);
        page.line(&format!("- {name}: {}", in_unit(value, "ns")));
    }
}

fn resource_row(page: &mut Page, role: &str, resources: &RoleResources) {
    let switches = format!(
        "{}, {}",
        or_unknown(resources.switches_voluntary),
        or_unknown(resources.switches_involuntary)
    );
    let time = |ns: Option<u64>| ns.map_or_else(|| UNKNOWN.to_owned(), |ns| duration(Some(ns)));
    page.row(&[
        role,
        &resources.samples.to_string(),
        &resources.cores_busy.map_or_else(|| UNKNOWN.to_owned(), |busy| format!("{busy:.3}")),
        &time(resources.cpu_user_ns),
        &time(resources.cpu_sys_ns),
        &bytes(resources.rss_peak_bytes),
        &bytes(resources.pss_peak_bytes),
        &or_unknown(resources.threads_peak),
        &switches,
        &or_unknown(resources.descriptors_peak),
    ]);
}

fn host(page: &mut Page, digest: &Digest) {
    page.section("Host");
    let facts = &digest.identity.host;
    let window = &digest.host;
    let part = |value: Option<f64>| value.map_or_else(|| UNKNOWN.to_owned(), share);
    let foreign = match (window.foreign_pid, window.foreign_share) {
        (Some(pid), Some(used)) => format!(
            "{} (pid {pid}), {} of one core",
            window.foreign_name.as_deref().unwrap_or(UNKNOWN),
            share(used)
        ),
        _ => UNKNOWN.to_owned(),
    };
    page.facts(&[
        ("name, kernel, arch", format!("{}, {}, {}", facts.name, facts.kernel, facts.arch)),
        ("CPU", format!("{}, {} cores", or_unknown(facts.cpu_model.as_deref()), facts.cores)),
        ("memory", bytes(facts.memory_bytes)),
        ("grade", or_unknown(digest.standing.as_ref().map(|standing| standing.headline()))),
        ("governor", or_unknown(digest.host_states.governor().or(facts.governor.clone()))),
        ("turbo", or_unknown(digest.host_states.turbo())),
        (
            "SMT",
            match facts.smt {
                Some(true) => "on".to_owned(),
                Some(false) => "off".to_owned(),
                None => UNKNOWN.to_owned(),
            },
        ),
        ("clock source", or_unknown(facts.clocksource.as_deref())),
        ("boot", or_unknown(facts.boot_id.as_deref())),
        ("limits", pairs(&facts.limits)),
        ("descriptors left", headroom(digest)),
        ("settings", pairs(&facts.sysctls)),
        (
            "new connections it sustains",
            facts
                .sustainable_connections_per_s
                .map_or_else(|| UNKNOWN.to_owned(), |rate| format!("{}/s", number(rate))),
        ),
        ("samples in the window", count(window.samples)),
        ("busy, stolen", format!("{}, {}", part(window.busy_share), part(window.steal_share))),
        ("load average, most", or_unknown(window.load_1m)),
        (
            "frequency, least",
            window
                .frequency_min_hz
                .map_or_else(|| UNKNOWN.to_owned(), |hz| format!("{:.2} GHz", hz as f64 / 1e9)),
        ),
        (
            "temperature, most",
            window
                .temperature_max_millicelsius
                .map_or_else(|| UNKNOWN.to_owned(), |t| format!("{:.1} °C", t as f64 / 1e3)),
        ),
        ("speed after against before", speed(digest)),
        (
            "interrupts, throttled",
            format!(
                "{}, {}",
                or_unknown(window.interrupts.map(count)),
                duration(window.throttled_ns)
            ),
        ),
        ("busiest foreign process", foreign),
    ]);
}

/// What the soft limit leaves beside the most descriptors that any role had open.
fn headroom(digest: &Digest) -> String {
    let limit = digest.identity.host.limits.get("nofile");
    // Generator and mock raise theirs to the hard one.
    let limit = limit.and_then(|text| text.split_once('/')?.1.parse::<u64>().ok());
    let most =
        digest.resources.iter().filter_map(|(role, used)| Some((used.descriptors_peak?, role)));
    match limit.zip(most.max()) {
        Some((limit, (used, role))) => {
            format!("{} of {limit} ({role} had {used} open)", limit.saturating_sub(used))
        }
        None => UNKNOWN.to_owned(),
    }
}

/// The change of the sentinel over the run.
fn speed(digest: &Digest) -> String {
    digest.host_states.speed_change().map_or_else(
        || UNKNOWN.to_owned(),
        |(cores, change)| format!("{:+.2} % time for a fixed loop (cores {cores})", change * 100.0),
    )
}

fn pairs(map: &std::collections::BTreeMap<String, String>) -> String {
    if map.is_empty() {
        return UNKNOWN.to_owned();
    }
    let mut shown: Vec<String> =
        map.iter().take(MOST_ROWS).map(|(key, value)| format!("{key} {value}")).collect();
    if map.len() > MOST_ROWS {
        shown.push(format!("and {} more", map.len() - MOST_ROWS));
    }
    shown.join(", ")
}

fn checks(page: &mut Page, digest: &Digest) {
    page.section("Checks");
    page.header(&["check", "value", "bound", "held", "effect"]);
    for check in &digest.checks {
        let held = match check.passed {
            Some(true) => "yes",
            Some(false) => "NO",
            None => NONE,
        };
        page.row(&[
            &check.gate,
            &in_unit(check.value, &check.unit),
            &in_unit(check.bound, &check.unit),
            held,
            &effect(check),
        ]);
    }
}

fn effect(check: &Check) -> String {
    let effect = match check.effect {
        Effect::Flag => "flag",
        Effect::AtLeast => "at_least",
        Effect::Censor => "censored",
        Effect::Void => "void",
    };
    match check.scope {
        Scope::Run => effect.to_owned(),
        Scope::Latency => format!("{effect}, latency"),
        Scope::Throughput => format!("{effect}, throughput"),
    }
}

fn failure_samples(page: &mut Page, digest: &Digest) {
    page.section("Samples of failures");
    if digest.failure_samples.is_empty() {
        page.line("None.");
        return;
    }
    page.header(&["kind", "status", "what", "body"]);
    for sample in digest.failure_samples.iter().take(MOST_ROWS) {
        page.row(&[
            &sample.kind,
            &sample.status.map_or_else(|| NONE.to_owned(), |status| status.to_string()),
            &cut(&sample.detail, 120),
            &cut(&sample.body, 120),
        ]);
    }
}
