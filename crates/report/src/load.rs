//! The table of `assay load`: one record on one screen.

use record::load::LoadRecord;
use record::{State, Summary};

use crate::text::{NONE, columns, count, cut, duration, duration_f, number, reason, share, state};

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
    line("validity", validity(load));
    for one in &load.validity.reasons {
        text.push_str(&format!("  {}\n", reason(one)));
    }
    for sample in load.failure_samples.iter().take(3) {
        text.push_str(&format!("  failed: {}: {}\n", sample.kind, cut(&sample.detail, 80)));
    }
    text
}

fn model(load: &LoadRecord) -> String {
    match (load.users, load.planned_per_s) {
        (Some(users), _) => format!("{}, {users} users, each waits for its answer", load.model),
        (None, Some(rate)) => {
            format!("{}, {}/s in total, whoever answers", load.model, number(rate))
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
    for (name, value) in summary_lines() {
        let mut row = vec![name.to_owned()];
        row.extend(summaries.iter().map(|summary| shown(load.validity.latency, &value(summary))));
        rows.push(row);
    }
    columns(&rows, "lr")
}

/// A latency under its state.
pub(crate) fn shown(latency: State, value: &str) -> String {
    match latency {
        State::Void => "void".to_owned(),
        State::Censored if value != NONE => format!(">= {value}"),
        _ => value.to_owned(),
    }
}

/// Name and value of a line about a distribution.
type SummaryLine = (&'static str, fn(&Summary) -> String);

/// The lines of a distribution in their fixed order.
pub(crate) fn summary_lines() -> [SummaryLine; 8] {
    [
        ("min", |s| duration(s.min)),
        ("mean", |s| duration_f(s.mean)),
        ("p50", |s| duration(s.p50)),
        ("p90", |s| duration(s.p90)),
        ("p95", |s| duration(s.p95)),
        ("p99", |s| duration(s.p99)),
        ("p99.9", |s| duration(s.p999)),
        ("max", |s| duration(s.max)),
    ]
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
    if connections.failed > 0 {
        text.push_str(&format!(", {} refused", count(connections.failed)));
    }
    text
}

pub(crate) fn generator(load: &LoadRecord) -> String {
    let generator = &load.generator;
    let cpu = generator.cpu_user_ns + generator.cpu_sys_ns;
    let busy = if load.window_ns > 0 { cpu as f64 / load.window_ns as f64 } else { 0.0 };
    let per_request = (load.succeeded > 0).then(|| cpu as f64 / load.succeeded as f64);
    format!("{busy:.2} of {} cores, {} CPU per request", generator.cores, duration_f(per_request))
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
