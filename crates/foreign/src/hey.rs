//! hey: a closed loop; its text gives latencies in tenths of a millisecond.

use record::foreign::{ForeignRecord, Quantile};
use record::plan::Extent;

use crate::adapter::{Abilities, Adapter, checked};
use crate::ask::{Argv, content_type};
use crate::error::ReadError;
use crate::figure;
use crate::job::{Invocation, Job, Output};

const NAME: &str = "hey";
/// It keeps the latencies of so many requests and no more.
const KEPT_MOST: u64 = 1_000_000;

pub(crate) const ADAPTER: Adapter = Adapter {
    name: NAME,
    abilities: Abilities {
        users: true,
        rate: false,
        keep_alive: true,
        close: true,
        duration: true,
        count: true,
        whole_seconds: false,
        methods: &[],
        script: false,
        quantiles: "p10, p25, p50, p75, p90, p95, p99, of its first million requests",
        resolution: "100 us",
    },
    clock: "from before connecting to the last byte read",
    omits_connect: false,
    corrects_omission: false,
    adds_samples: false,
    omits_failures: true,
    drops_in_flight: true,
    counts_unanswered: true,
    probe_connections: 0,
    // It has no flag for its version.
    version: &[],
    good_codes: &[],
    ask: Some(ask),
    read,
};

fn ask(job: &Job<'_>) -> Invocation {
    let mut argv = Argv::new(NAME).with("-cpus", job.threads);
    argv = match job.extent {
        Extent::Ns(ns) => {
            argv.with("-c", job.users()).with("-z", format!("{}ms", ns.div_ceil(1_000_000)))
        }
        // It divides the count by its workers and drops the rest.
        Extent::Count(count) => {
            let workers = u64::from(job.users()).min(count).max(1);
            argv.with("-c", workers).with("-n", count)
        }
    };
    argv = argv
        .with("-t", job.timeout_s())
        .with("-m", &job.scenario.method)
        .flag("-disable-redirects")
        .when(job.closes(), "-disable-keepalive")
        .headers("-H", job.scenario);
    if let Some(body) = &job.scenario.body {
        argv = argv.with("-d", body);
    }
    if let Some(kind) = content_type(job.scenario) {
        argv = argv.with("-T", kind);
    }
    Invocation { argv: argv.finish(job, &[&job.url()]), ..Invocation::default() }
}

fn read(output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    if output.stdout.trim().is_empty() {
        return Err(ReadError::Empty { adapter: NAME });
    }
    let mut record = ForeignRecord::default();
    let (mut answered, mut failed, mut unanswered) = (0_u64, 0_u64, 0_u64);
    let mut in_errors = false;
    for line in output.stdout.lines() {
        let line = line.trim();
        let seconds = |prefix: &str| line.strip_prefix(prefix).and_then(figure::time);
        if let Some(total) = seconds("Total:") {
            record.duration_ns = Some(total.value_ns);
        } else if let Some(max) = seconds("Slowest:") {
            record.max = Some(max);
        } else if let Some(min) = seconds("Fastest:") {
            record.min = Some(min);
        } else if let Some(mean) = seconds("Average:") {
            record.mean = Some(mean);
        } else if let Some(rate) = line.strip_prefix("Requests/sec:") {
            record.rate_per_s = figure::number(rate);
        } else if line == "Error distribution:" {
            in_errors = true;
        } else if let Some((share, value)) = line.split_once(" in ") {
            if let (Some(share), Some(figure)) = (figure::percent(share), figure::time(value)) {
                record.quantiles.push(Quantile { share, figure });
            }
        } else if let Some((number, rest)) = line.strip_prefix('[').and_then(|l| l.split_once(']'))
        {
            let number = figure::count(number).unwrap_or(0);
            if in_errors {
                unanswered = unanswered.saturating_add(number);
                if record.remarks.len() < 8 {
                    record
                        .remarks
                        .push(format!("without an answer: {number} times {}", rest.trim()));
                }
            } else if let Some(count) =
                rest.trim().strip_suffix(" responses").and_then(figure::count)
            {
                answered = answered.saturating_add(count);
                if !(200..400).contains(&number) {
                    failed = failed.saturating_add(count);
                }
            }
        }
    }
    if record.rate_per_s.is_none() {
        return Err(ReadError::Missing { adapter: NAME, what: "line `Requests/sec:`".to_owned() });
    }
    record.requests = answered.saturating_add(unanswered);
    record.failures = failed.saturating_add(unanswered);
    if answered > KEPT_MOST {
        record.remarks.push(format!("its latencies are of the first {KEPT_MOST} requests"));
    }
    checked(NAME, record)
}
