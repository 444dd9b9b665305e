//! wrk: a closed loop on kept connections, in whole seconds. A generated script prints quantiles
//! that `--latency` does not have, and the counts that its text rounds.

use record::foreign::{ForeignRecord, Quantile};
use record::plan::Scenario;
use serde::Deserialize;

use crate::adapter::{Abilities, Adapter, checked};
use crate::ask::{Argv, literal};
use crate::error::ReadError;
use crate::figure;
use crate::job::{Invocation, Job, Output};

const NAME: &str = "wrk";

pub(crate) const ADAPTER: Adapter = Adapter {
    name: NAME,
    abilities: Abilities {
        users: true,
        rate: false,
        keep_alive: true,
        close: true,
        duration: true,
        count: false,
        whole_seconds: true,
        methods: &[],
        script: true,
        quantiles: "any by the generated script; p50, p75, p90, p99 with a script of yours",
        resolution: "1 us by the generated script; printed text has 3 digits",
    },
    clock: "from the first byte written to the last byte read; reconnecting is left out",
    omits_connect: true,
    corrects_omission: false,
    adds_samples: true,
    omits_failures: false,
    drops_in_flight: true,
    counts_unanswered: false,
    probe_connections: 1,
    version: &["wrk", "--version"],
    good_codes: &[],
    ask: Some(ask),
    read,
};

/// Shares that the generated script asks for, in percent.
const SHARES: [&str; 8] = ["50", "75", "90", "95", "99", "99.9", "99.99", "99.999"];
/// Begins the line that the generated script prints.
const MARK: &str = "assay ";

fn ask(job: &Job<'_>) -> Invocation {
    let mut argv = Argv::new(NAME)
        .with("-t", job.threads.clamp(1, job.users().max(1)))
        .with("-c", job.users())
        .with("-d", format!("{}s", job.seconds()))
        .with("--timeout", format!("{}s", job.timeout_s()))
        .flag("--latency");
    let mut files = Vec::new();
    if let Some(script) = job.script {
        argv = argv.with("-s", script).headers("-H", job.scenario);
        if job.closes() {
            argv = argv.with("-H", "Connection: close");
        }
    } else {
        let path = job.file("wrk.lua");
        argv = argv.with("-s", path.display());
        files.push((path, script(job.scenario, job.closes())));
    }
    Invocation { argv: argv.finish(job, &[&job.url()]), files, ..Invocation::default() }
}

fn script(scenario: &Scenario, closes: bool) -> String {
    let mut lua = format!("wrk.method = {}\n", literal(&scenario.method));
    if let Some(body) = &scenario.body {
        lua.push_str(&format!("wrk.body = {}\n", literal(body)));
    }
    for (name, value) in &scenario.headers {
        lua.push_str(&format!("wrk.headers[{}] = {}\n", literal(name), literal(value)));
    }
    if closes {
        lua.push_str("wrk.headers[\"Connection\"] = \"close\"\n");
    }
    let shares = SHARES.join(", ");
    lua.push_str(&format!(
        "done = function(summary, latency, requests)\n\
         \x20 local e = summary.errors\n\
         \x20 local q = {{}}\n\
         \x20 for _, p in ipairs({{{shares}}}) do\n\
         \x20   q[#q + 1] = string.format(\"[%s,%d]\", p, latency:percentile(p))\n\
         \x20 end\n\
         \x20 io.write(string.format(\n\
         \x20   '\\n{MARK}{{\"requests\":%d,\"duration_us\":%d,\"status\":%d,\"connect\":%d,\"read\":%d,' ..\n\
         \x20   '\"write\":%d,\"timeout\":%d,\"min_us\":%d,\"mean_us\":%.3f,\"max_us\":%d,\"quantiles\":[%s]}}\\n',\n\
         \x20   summary.requests, summary.duration, e.status, e.connect, e.read, e.write, e.timeout,\n\
         \x20   latency.min, latency.mean, latency.max, table.concat(q, \",\")))\n\
         end\n"
    ));
    lua
}

/// The line of the generated script.
#[derive(Deserialize)]
struct Line {
    requests: u64,
    duration_us: u64,
    status: u64,
    connect: u64,
    read: u64,
    write: u64,
    timeout: u64,
    min_us: u64,
    mean_us: f64,
    max_us: u64,
    quantiles: Vec<(f64, f64)>,
}

fn read(output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    let text = output.stdout;
    if text.trim().is_empty() {
        return Err(ReadError::Empty { adapter: NAME });
    }
    let mut record = summary(NAME, text)?;
    if let Some(line) = text.lines().rev().find_map(|line| line.strip_prefix(MARK)) {
        let line: Line = serde_json::from_str(line)
            .map_err(|error| ReadError::Json { adapter: NAME, why: error.to_string() })?;
        let us = |us: f64| figure::of(us * 1e3, 1e3);
        record.requests = line.requests;
        record.failures = line.status.min(line.requests);
        record.duration_ns = line.duration_us.checked_mul(1_000);
        let seconds = line.duration_us as f64 / 1e6;
        record.rate_per_s = (seconds > 0.0).then(|| line.requests as f64 / seconds);
        record.min = us(line.min_us as f64);
        record.mean = figure::of(line.mean_us * 1e3, 1.0);
        record.max = us(line.max_us as f64);
        record.quantiles = line
            .quantiles
            .into_iter()
            .filter_map(|(percent, value)| {
                Some(Quantile { share: figure::share_of(percent), figure: us(value)? })
            })
            .collect();
        let unanswered = [line.connect, line.read, line.write, line.timeout];
        record.remarks = socket_errors(unanswered);
    }
    checked(NAME, record)
}

fn socket_errors([connect, read, write, timeout]: [u64; 4]) -> Vec<String> {
    if connect == 0 && read == 0 && write == 0 && timeout == 0 {
        return Vec::new();
    }
    vec![format!(
        "socket errors, which are among neither its requests nor its latencies: connect {connect}, \
         read {read}, write {write}, timeout {timeout}"
    )]
}

/// The text that wrk and wrk2 share.
pub(crate) fn summary(adapter: &'static str, text: &str) -> Result<ForeignRecord, ReadError> {
    let missing = |what: &str| ReadError::Missing { adapter, what: what.to_owned() };
    let wrong = |what: &str, text: &str| ReadError::NoFigure {
        adapter,
        what: what.to_owned(),
        text: text.chars().take(60).collect(),
    };
    let mut record = ForeignRecord::default();
    let mut seen = false;
    for line in text.lines() {
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().take(12).collect();
        match words[..] {
            [requests, "requests", "in", duration, ..] => {
                let duration = duration.trim_end_matches(',');
                record.requests =
                    figure::count(requests).ok_or_else(|| wrong("requests", requests))?;
                let duration = figure::time(duration).ok_or_else(|| wrong("duration", duration))?;
                record.duration_ns = Some(duration.value_ns);
                seen = true;
            }
            ["Requests/sec:", rate, ..] => {
                let rate = figure::number(rate).ok_or_else(|| wrong("rate", rate))?;
                record.rate_per_s = Some(rate);
            }
            ["Latency", mean, _, max, ..] if record.mean.is_none() => {
                record.mean = figure::time(mean);
                record.max = figure::time(max);
            }
            ["Non-2xx", "or", "3xx", "responses:", failures] => {
                record.failures = figure::count(failures).ok_or_else(|| wrong("failures", line))?;
            }
            [
                "Socket",
                "errors:",
                "connect",
                connect,
                "read",
                read,
                "write",
                write,
                "timeout",
                timeout,
            ] => {
                let of = |text: &str| figure::count(text.trim_end_matches(',')).unwrap_or(0);
                record.remarks = socket_errors([of(connect), of(read), of(write), of(timeout)]);
            }
            [share, value] if share.ends_with('%') => {
                if let (Some(share), Some(value)) = (figure::percent(share), figure::time(value)) {
                    record.quantiles.push(Quantile { share, figure: value });
                }
            }
            _ => {}
        }
    }
    if !seen {
        return Err(missing("line `N requests in T`"));
    }
    if record.rate_per_s.is_none() {
        return Err(missing("line `Requests/sec:`"));
    }
    Ok(record)
}
