//! The table of `assay load`: one record on one screen.

use record::arrival::Arrival;
use record::load::LoadRecord;
use record::pause::Pause;
use record::{State, Summary};
use stats::order::is_bound;

use crate::text::{NONE, columns, count, cut, duration, duration_f, number, reasons, share, state};

/// Renders a load record for the terminal: what was asked, when the clock starts and stops,
/// counts, latency beside service time, failures, lag, connections, the generator's own CPU, and
/// what may be believed of it. At most 100 columns, apart from long reasons.
#[must_use]
pub fn load_table(load: &LoadRecord) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        text.push_str(&format!("{name:<12} {value}\n"));
    };
    line("model", model(load));
    line("clock", load.clock.clone());
    line("window", window(load));
    line("requests", requests(load));
    if load.unsent + load.unfinished > 0 {
        line(
            "censored",
            format!("unsent {}, unfinished {}", count(load.unsent), count(load.unfinished)),
        );
    }
    if load.statuses.keys().any(|status| *status != 200) {
        line("statuses", statuses(load));
    }
    line("rate", rate(load));
    if load.failed > 0 {
        line("failures", failures(load));
    }
    text.push('\n');
    text.push_str(&latencies(load));
    text.push('\n');
    let mut line = |name: &str, value: String| {
        text.push_str(&format!("{name:<12} {value}\n"));
    };
    if load.planned_per_s.is_some() {
        line("send lag", lag(load));
    }
    line("connections", connections(load));
    line("generator", generator(load));
    if load.certificate.is_some() {
        line("certificate", certificate(load));
    }
    if load.users.is_some() {
        line("balance", balance(load));
    }
    line("validity", validity(load));
    for one in reasons(&load.validity.reasons) {
        text.push_str(&format!("  {one}\n"));
    }
    for sample in load.failure_samples.iter().take(3) {
        text.push_str(&format!("  failed: {}: {}\n", sample.kind, cut(&sample.detail, 80)));
    }
    text
}

fn model(load: &LoadRecord) -> String {
    match (load.users, load.planned_per_s) {
        (Some(users), _) => {
            let pause = match load.pause {
                Pause::None => String::new(),
                Pause::Think(ns) => format!(" and thinks for {}", duration(Some(ns))),
                Pause::Pace(ns) => format!(", one request every {}", duration(Some(ns))),
            };
            format!("{}, {users} users, each waits for its answer{pause}", load.model)
        }
        (None, Some(rate)) => {
            let gaps = match load.arrival {
                Arrival::Constant => String::new(),
                Arrival::Poisson { seed } => format!(", exponential gaps of seed {seed}"),
            };
            let over = match load.stages.len() {
                0 => String::new(),
                1 => " in 1 stage".to_owned(),
                n => format!(" (mean of {n} stages)"),
            };
            format!("{}, {}/s in total{over}{gaps}, whoever answers", load.model, number(rate))
        }
        (None, None) => load.model.clone(),
    }
}

fn window(load: &LoadRecord) -> String {
    let length = duration(Some(load.window_ns));
    match (load.window_asked_ns, load.window_asked_count) {
        (Some(asked), _) => format!("{length} of {}", duration(Some(asked))),
        (None, Some(asked)) => format!("{length} for {} requests", count(asked)),
        (None, None) => length,
    }
}

fn requests(load: &LoadRecord) -> String {
    format!(
        "due {}, sent {}, succeeded {}, failed {}",
        count(load.due),
        count(load.sent),
        count(load.succeeded),
        count(load.failed)
    )
}

fn rate(load: &LoadRecord) -> String {
    let at_least = if load.validity.throughput == State::AtLeast { "at least " } else { "" };
    let done = format!("{at_least}{}/s succeeded", number(load.rate_per_s));
    match load.planned_per_s {
        Some(planned) if load.window_ns > 0 => {
            let sent = load.sent as f64 * 1e9 / load.window_ns as f64;
            format!("{done}, {}/s sent of {}/s planned", number(sent), number(planned))
        }
        _ => done,
    }
}

/// Answers by status code: one bad one in many is there.
fn statuses(load: &LoadRecord) -> String {
    let each: Vec<String> =
        load.statuses.iter().map(|(status, n)| format!("{status} {}", count(*n))).collect();
    cut(&each.join(", "), 80)
}

pub(crate) fn failures(load: &LoadRecord) -> String {
    let ended = load.succeeded + load.failed;
    let kinds: Vec<String> =
        load.failures.iter().map(|(kind, n)| format!("{kind} {}", count(*n))).collect();
    let part = if ended > 0 { load.failed as f64 / ended as f64 } else { 0.0 };
    format!("{} ({})", kinds.join(", "), share(part))
}

/// Latency, service time and the latency of failures side by side. Percentiles of a void family
/// are not printed among the valid ones; those of a censored one are bounds.
fn latencies(load: &LoadRecord) -> String {
    let mut rows = vec![vec![String::new(), "latency".to_owned(), "service".to_owned()]];
    let mut summaries = vec![&load.latency_ns, &load.service_ns];
    if load.failed_latency_ns.count > 0 {
        rows[0].push("of failures".to_owned());
        summaries.push(&load.failed_latency_ns);
    }
    rows.push(vec!["samples".to_owned()]);
    rows[1].extend(summaries.iter().map(|summary| count(summary.count)));
    for line in &LINES {
        let mut row = vec![line.name.to_owned()];
        row.extend(summaries.iter().enumerate().map(|(column, summary)| {
            // Failures that got an answer are counted, not censored.
            if column < 2 {
                shown(load, load.validity.latency, line, summary)
            } else {
                line.text(summary)
            }
        }));
        rows.push(row);
    }
    columns(&rows, "lr")
}

/// A line about a distribution: its name, the percentile it is, and its value.
pub(crate) struct Line {
    /// Name of the line.
    pub(crate) name: &'static str,
    /// The percentile, 0 to 1; 1 for what depends on the largest value.
    p: f64,
    /// Its value, ns.
    ns: fn(&Summary) -> Option<f64>,
}

impl Line {
    /// Its text.
    pub(crate) fn text(&self, summary: &Summary) -> String {
        duration_f((self.ns)(summary))
    }
}

/// The lines of a distribution in their fixed order.
pub(crate) const LINES: [Line; 8] = [
    Line { name: "min", p: 0.0, ns: |s| s.min.map(|ns| ns as f64) },
    Line { name: "mean", p: 1.0, ns: |s| s.mean },
    Line { name: "p50", p: 0.50, ns: |s| s.p50.map(|ns| ns as f64) },
    Line { name: "p90", p: 0.90, ns: |s| s.p90.map(|ns| ns as f64) },
    Line { name: "p95", p: 0.95, ns: |s| s.p95.map(|ns| ns as f64) },
    Line { name: "p99", p: 0.99, ns: |s| s.p99.map(|ns| ns as f64) },
    Line { name: "p99.9", p: 0.999, ns: |s| s.p999.map(|ns| ns as f64) },
    Line { name: "max", p: 1.0, ns: |s| s.max.map(|ns| ns as f64) },
];

/// Whether a figure is below what the generator's certificate says that it tells apart.
fn below_resolution(load: &LoadRecord, line: &Line, summary: &Summary) -> bool {
    let resolution = load.certificate.as_ref().and_then(|certificate| certificate.resolution_ns);
    resolution.zip((line.ns)(summary)).is_some_and(|(least, ns)| ns < least as f64)
}

/// The certificate behind a record in one line.
pub(crate) fn certificate(load: &LoadRecord) -> String {
    let Some(stub) = &load.certificate else {
        return "none: `assay certify` says what this generator tells apart here".to_owned();
    };
    let resolution = stub.resolution_ns.map_or_else(
        || "no latency".to_owned(),
        |ns| format!("latencies from {} on (~ is below)", duration(Some(ns))),
    );
    let rate = stub
        .honest_per_s
        .map_or_else(|| "at no rate".to_owned(), |rate| format!("up to {}/s", number(rate)));
    let holds = if stub.holds { "" } else { ", with failed properties" };
    let sha256 = stub.sha256.get(..8).unwrap_or(&stub.sha256);
    format!("{sha256} of {}: {resolution}, {rate}{holds}", stub.made_utc)
}

/// A latency under its state: void, or a bound where censored requests may lie below it.
pub(crate) fn shown(load: &LoadRecord, latency: State, line: &Line, summary: &Summary) -> String {
    let value = line.text(summary);
    let value = if below_resolution(load, line, summary) { format!("~{value}") } else { value };
    let censored = load.unsent.saturating_add(load.unfinished);
    match latency {
        State::Void => "void".to_owned(),
        State::Censored if value != NONE && is_bound(line.p, censored, load.due) => {
            format!(">= {value}")
        }
        _ => value,
    }
}

pub(crate) fn lag(load: &LoadRecord) -> String {
    let lag = &load.lag_ns;
    let mut text = format!(
        "p50 {}, p99 {}, p99.9 {}, max {}",
        duration(lag.p50),
        duration(lag.p99),
        duration(lag.p999),
        duration(lag.max)
    );
    if load.queued_peak > 0 {
        text.push_str(&format!("; at most {} waited for a connection", count(load.queued_peak)));
    }
    text
}

pub(crate) fn connections(load: &LoadRecord) -> String {
    let connections = &load.connections;
    let mut text = format!(
        "{} opened, {} ports, at most {} at once (bound {})",
        count(connections.opened),
        count(connections.distinct_ports),
        count(connections.peak),
        count(connections.bound)
    );
    if connections.opened_in_window > 0 {
        text.push_str(&format!(", {} inside the window", count(connections.opened_in_window)));
    }
    if connections.sources > 0 {
        text.push_str(&format!(", from {} addresses", count(connections.sources)));
    }
    if load.window_ns > 0 && connections.opened_in_window > 0 {
        let per_s = connections.opened_in_window as f64 * 1e9 / load.window_ns as f64;
        text.push_str(&format!(" ({}/s)", number(per_s)));
    }
    if connections.failed > 0 {
        text.push_str(&format!(", {} refused", count(connections.failed)));
    }
    text
}

pub(crate) fn generator(load: &LoadRecord) -> String {
    let generator = &load.generator;
    let cpu = generator.cpu_user_ns + generator.cpu_sys_ns;
    let busy = {
        let span_ns = generator.cpu_span_ns.unwrap_or(load.window_ns);
        if span_ns > 0 { cpu as f64 / span_ns as f64 } else { 0.0 }
    };
    let per_request = (load.succeeded > 0).then(|| cpu as f64 / load.succeeded as f64);
    format!("{busy:.2} of {} cores, {} CPU per request", generator.cores, duration_f(per_request))
}

/// What of each loop of a user lies outside its request (Little's law).
pub(crate) fn balance(load: &LoadRecord) -> String {
    let ended = load.succeeded.saturating_add(load.failed);
    let latencies = [&load.latency_ns, &load.failed_latency_ns];
    let little = load.users.and_then(|users| {
        stats::little::closed_loop(users, load.window_ns, ended, latencies, load.paused_ns)
    });
    let paused = (load.paused_ns > 0 && ended > 0).then(|| {
        let each = duration_f(Some(load.paused_ns as f64 / ended as f64));
        format!(", and {each} is a pause on purpose")
    });
    little.map_or_else(
        || NONE.to_owned(),
        |little| {
            // Requests over the edges of the window make it a little more or less than nothing.
            let outside_ns = (little.outside_s * 1e9).max(0.0);
            let part = share(little.gap_share.max(0.0));
            format!(
                "{} ({part}) of each loop is outside the request{}",
                duration_f(Some(outside_ns)),
                paused.unwrap_or_default()
            )
        },
    )
}

fn validity(load: &LoadRecord) -> String {
    let validity = &load.validity;
    if validity.is_doubtful() {
        format!(
            "{} (latency {}, throughput {})",
            state(validity.state),
            state(validity.latency),
            state(validity.throughput)
        )
    } else {
        state(validity.state).to_owned()
    }
}
