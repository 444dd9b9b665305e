//! ab, ApacheBench: a closed loop in HTTP/1.0. Quantiles come from its CSV, since its text has
//! whole milliseconds.

use record::foreign::{ForeignRecord, Quantile};

use crate::adapter::{Abilities, Adapter, checked};
use crate::ask::{Argv, content_type};
use crate::error::ReadError;
use crate::figure;
use crate::job::{Invocation, Job, Output};

const NAME: &str = "ab";
/// With a time limit it wants a count too, for which it sets memory aside at once: 32 bytes each.
const COUNT_MOST: u64 = 10_000_000;

pub(crate) const ADAPTER: Adapter = Adapter {
    name: NAME,
    abilities: Abilities {
        users: true,
        rate: false,
        keep_alive: true,
        close: true,
        duration: true,
        count: true,
        whole_seconds: true,
        methods: &["GET", "HEAD", "POST", "PUT"],
        script: false,
        quantiles: "p1 to p99",
        resolution: "1 us in its CSV; 1 ms for the mean",
    },
    clock: "from before connecting to the last byte read; on a kept connection from the first byte \
            written",
    omits_connect: false,
    corrects_omission: false,
    adds_samples: false,
    omits_failures: false,
    drops_in_flight: true,
    counts_unanswered: false,
    probe_connections: 0,
    version: &["ab", "-V"],
    good_codes: &[],
    ask: Some(ask),
    read,
};

fn ask(job: &Job<'_>) -> Invocation {
    let csv = job.file("ab.csv");
    let mut argv = Argv::new(NAME).flag("-q").flag("-l").when(!job.closes(), "-k");
    argv = match job.count() {
        Some(count) => argv.with("-c", u64::from(job.users()).min(count).max(1)).with("-n", count),
        // The order matters: a time limit sets a count, which the next flag replaces.
        None => argv.with("-c", job.users()).with("-t", job.seconds()).with("-n", COUNT_MOST),
    };
    argv = argv.with("-s", job.timeout_s()).with("-e", csv.display());
    let mut files = Vec::new();
    if job.scenario.method == "HEAD" {
        argv = argv.flag("-i");
    }
    if matches!(job.scenario.method.as_str(), "POST" | "PUT") {
        let path = job.file("body");
        let flag = if job.scenario.method == "POST" { "-p" } else { "-u" };
        argv = argv.with(flag, path.display());
        files.push((path, job.scenario.body.clone().unwrap_or_default()));
        if let Some(kind) = content_type(job.scenario) {
            argv = argv.with("-T", kind);
        }
    }
    let argv = argv.headers("-H", job.scenario).finish(job, &[&job.url()]);
    Invocation { argv, files, output: Some(csv), ..Invocation::default() }
}

fn read(output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    if output.stdout.trim().is_empty() {
        return Err(ReadError::Empty { adapter: NAME });
    }
    let value = |label: &str| {
        output.stdout.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim)
    };
    let missing = |what: &str| ReadError::Missing { adapter: NAME, what: format!("line `{what}`") };
    let wrong = |what: &str, text: &str| ReadError::NoFigure {
        adapter: NAME,
        what: what.to_owned(),
        text: text.chars().take(60).collect(),
    };
    let count = |label: &str| -> Result<Option<u64>, ReadError> {
        let Some(text) = value(label) else { return Ok(None) };
        figure::count(text).map(Some).ok_or_else(|| wrong(label, text))
    };
    let requests = count("Complete requests:")?.ok_or_else(|| missing("Complete requests:"))?;
    let failed = count("Failed requests:")?.ok_or_else(|| missing("Failed requests:"))?;
    let statuses = count("Non-2xx responses:")?.unwrap_or(0);
    let first = |label: &str| value(label)?.split_whitespace().next();
    let mut record = ForeignRecord {
        requests,
        failures: failed.max(statuses).min(requests),
        rate_per_s: first("Requests per second:").and_then(figure::number),
        duration_ns: value("Time taken for tests:").and_then(figure::time).map(|t| t.value_ns),
        version: value("This is ApacheBench, Version")
            .and_then(|rest| rest.split_whitespace().next())
            .map(str::to_owned),
        ..ForeignRecord::default()
    };
    // `Total:  min mean[+/-sd] median max`, in whole milliseconds.
    if let Some(total) = value("Total:") {
        let words: Vec<&str> = total.split_whitespace().take(5).collect();
        if let [min, mean, _, _, max] = words[..] {
            record.min = figure::scaled(min, 1e6);
            record.mean = figure::scaled(mean, 1e6);
            record.max = figure::scaled(max, 1e6);
        }
    }
    for line in output.file.unwrap_or_default().lines() {
        let Some((percent, ms)) = line.split_once(',') else { continue };
        let (Some(percent), Some(figure)) = (figure::number(percent), figure::scaled(ms, 1e6))
        else {
            continue;
        };
        match percent {
            0.0 => record.min = Some(figure),
            100.0 => record.max = Some(figure),
            share if share < 100.0 => {
                record.quantiles.push(Quantile { share: figure::share_of(share), figure });
            }
            _ => {}
        }
    }
    checked(NAME, record)
}
