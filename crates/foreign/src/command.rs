//! Any other program: its arguments with placeholders, its figures by the named groups of regular
//! expressions.
//!
//! Groups: `requests` (required in one of the patterns), `failures`, `rate`, `duration`, `version`,
//! `min`, `mean`, `max`, and quantiles as `p50`, `p90`, `p99`, `p999`, `p9999`. A group of a time
//! takes text with its unit (`5.2ms`) or names it: `p99_ms`, `p99_us`, `p99_ns`, `p99_s`. The last
//! match of a pattern counts.

use record::foreign::{Figure, ForeignRecord, Quantile};
use record::plan::Model;
use regex::{Regex, RegexBuilder};

use crate::adapter::{Abilities, Adapter, checked};
use crate::error::ReadError;
use crate::figure;
use crate::job::{Invocation, Job, Output};

const NAME: &str = "command";
/// Bound on a compiled pattern, bytes.
const PATTERN_BYTES: usize = 1 << 20;
/// Groups of times without their unit.
const TIMES: [&str; 4] = ["duration", "min", "mean", "max"];
/// Groups of anything else.
const OTHERS: [&str; 4] = ["requests", "failures", "rate", "version"];
/// What may stand in an argument, filled in for each invocation.
const PLACEHOLDERS: [&str; 9] = [
    "{url}",
    "{address}",
    "{path}",
    "{users}",
    "{rate}",
    "{seconds}",
    "{count}",
    "{threads}",
    "{phase}",
];

pub(crate) const ADAPTER: Adapter = Adapter {
    name: NAME,
    abilities: Abilities {
        users: true,
        rate: true,
        keep_alive: true,
        close: true,
        duration: true,
        count: true,
        whole_seconds: false,
        methods: &[],
        script: false,
        quantiles: "those that its patterns name",
        resolution: "as printed",
    },
    clock: "as the command says",
    omits_connect: false,
    corrects_omission: false,
    adds_samples: false,
    omits_failures: false,
    drops_in_flight: true,
    counts_unanswered: false,
    probe_connections: 0,
    version: &[],
    good_codes: &[],
    ask: None,
    read: |_| Err(ReadError::Missing { adapter: NAME, what: "pattern".to_owned() }),
};

/// How a command is started.
pub(crate) fn ask(command: &[String], job: &Job<'_>) -> Invocation {
    let (users, rate) = match job.load.model {
        Model::Users(users) => (users.to_string(), String::new()),
        Model::Rate(rate) => (String::new(), rate.to_string()),
    };
    let seconds = match job.extent {
        record::plan::Extent::Ns(ns) => (ns as f64 / 1e9).to_string(),
        record::plan::Extent::Count(_) => String::new(),
    };
    let count = job.count().map(|count| count.to_string()).unwrap_or_default();
    let values = [
        job.url(),
        job.address.to_owned(),
        job.scenario.path.clone(),
        users,
        rate,
        seconds,
        count,
        job.threads.to_string(),
        job.phase.to_owned(),
    ];
    let fill = |argument: &String| {
        let mut filled = argument.clone();
        for (placeholder, value) in PLACEHOLDERS.iter().zip(&values) {
            filled = filled.replace(placeholder, value);
        }
        filled
    };
    let argv = command.iter().chain(job.args).map(fill).collect();
    // The same by name, for scripts: `{url}` is `ASSAY_URL`.
    let env = PLACEHOLDERS
        .iter()
        .zip(&values)
        .map(|(placeholder, value)| {
            let name = placeholder.trim_matches(['{', '}']).to_uppercase();
            (format!("ASSAY_{name}"), value.clone())
        })
        .collect();
    Invocation { argv, env, ..Invocation::default() }
}

fn compiled(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .size_limit(PATTERN_BYTES)
        .multi_line(true)
        .build()
        .map_err(|error| error.to_string().lines().last().unwrap_or_default().trim().to_owned())
}

/// A share by the name of a quantile: `p50` is 0.5, `p999` 0.999.
fn share(name: &str) -> Option<f64> {
    let digits = name.strip_prefix('p')?;
    let plain = (2..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    let number: u32 = digits.parse().ok().filter(|_| plain)?;
    let scale = 10_u32.pow(u32::try_from(digits.len()).unwrap_or(2));
    Some(f64::from(number) / f64::from(scale))
}

/// A group's name without its unit, and the unit in ns.
fn unit(name: &str) -> (&str, Option<f64>) {
    for (suffix, ns) in [("_ns", 1.0), ("_us", 1e3), ("_ms", 1e6), ("_s", 1e9)] {
        if let Some(bare) = name.strip_suffix(suffix) {
            return (bare, Some(ns));
        }
    }
    (name, None)
}

fn known(group: &str) -> bool {
    let (bare, with_unit) = unit(group);
    let is_time = TIMES.contains(&bare) || share(bare).is_some();
    is_time || (with_unit.is_none() && OTHERS.contains(&bare))
}

/// What is wrong with the patterns of a bench: which one, a sentence, and the words to choose from
/// when a group is not known.
#[must_use]
pub fn patterns_fault(patterns: &[String]) -> Option<(usize, String, Vec<&'static str>)> {
    let mut counts_requests = false;
    for (index, pattern) in patterns.iter().enumerate() {
        let regex = match compiled(pattern) {
            Ok(regex) => regex,
            Err(why) => return Some((index, format!("no regular expression: {why}"), Vec::new())),
        };
        let groups: Vec<&str> = regex.capture_names().flatten().collect();
        if groups.is_empty() {
            return Some((index, "it has no named group".to_owned(), Vec::new()));
        }
        for group in groups {
            counts_requests |= group == "requests";
            if !known(group) {
                let mut words = OTHERS.to_vec();
                words.extend(TIMES);
                words.extend(["p50", "p90", "p95", "p99", "p999"]);
                return Some((index, format!("`{group}` is no figure"), words));
            }
        }
    }
    (!counts_requests).then(|| {
        let why = "no pattern has the group `requests`";
        (0, format!("{why}; write `\"requests: (?<requests>[0-9]+)\"`"), Vec::new())
    })
}

/// Reads what a command printed.
pub(crate) fn read(patterns: &[String], output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    let text = format!("{}\n{}", output.stdout, output.stderr);
    if text.trim().is_empty() {
        return Err(ReadError::Empty { adapter: NAME });
    }
    let mut record = ForeignRecord::default();
    let mut seen = false;
    for pattern in patterns {
        let regex = compiled(pattern)
            .map_err(|why| ReadError::Missing { adapter: NAME, what: format!("pattern: {why}") })?;
        let Some(last) = regex.captures_iter(&text).last() else {
            return Err(ReadError::Missing {
                adapter: NAME,
                what: format!("match of `{}`", pattern.chars().take(80).collect::<String>()),
            });
        };
        for group in regex.capture_names().flatten() {
            let Some(found) = last.name(group) else { continue };
            let (bare, unit_ns) = unit(group);
            let wrong = || ReadError::NoFigure {
                adapter: NAME,
                what: bare.to_owned(),
                text: found.as_str().chars().take(60).collect(),
            };
            let count = || figure::count(found.as_str()).ok_or_else(wrong);
            let time = || -> Result<Figure, ReadError> {
                match unit_ns {
                    Some(ns) => figure::scaled(found.as_str(), ns),
                    None => figure::time(found.as_str()),
                }
                .ok_or_else(wrong)
            };
            match bare {
                "requests" => {
                    record.requests = count()?;
                    seen = true;
                }
                "failures" => record.failures = count()?,
                "rate" => {
                    record.rate_per_s = Some(figure::number(found.as_str()).ok_or_else(wrong)?);
                }
                "version" => record.version = Some(found.as_str().trim().to_owned()),
                "duration" => record.duration_ns = Some(time()?.value_ns),
                "min" => record.min = Some(time()?),
                "mean" => record.mean = Some(time()?),
                "max" => record.max = Some(time()?),
                _ => {
                    let Some(share) = share(bare) else { continue };
                    record.quantiles.push(Quantile { share, figure: time()? });
                }
            }
        }
    }
    if !seen {
        return Err(ReadError::Missing { adapter: NAME, what: "count of requests".to_owned() });
    }
    checked(NAME, record)
}
