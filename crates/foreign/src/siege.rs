//! siege: a closed loop in whole seconds, with latencies in hundredths of a second and no
//! quantiles.

use record::foreign::ForeignRecord;
use serde::Deserialize;

use crate::adapter::{Abilities, Adapter, checked};
use crate::ask::{Argv, content_type};
use crate::error::ReadError;
use crate::figure;
use crate::job::{Invocation, Job, Output};

const NAME: &str = "siege";
/// It prints seconds with two decimals, in JSON without the zeros.
const STEP_NS: f64 = 1e7;

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
        methods: &["GET", "POST"],
        script: false,
        quantiles: "none",
        resolution: "10 ms",
    },
    clock: "from before connecting to the last byte read",
    omits_connect: false,
    corrects_omission: false,
    adds_samples: false,
    omits_failures: false,
    drops_in_flight: true,
    counts_unanswered: true,
    probe_connections: 0,
    version: &["siege", "--version"],
    good_codes: &[],
    ask: Some(ask),
    read,
};

fn ask(job: &Job<'_>) -> Invocation {
    // Its own settings, so that a file in the user's home changes nothing.
    let settings = job.file("siege.conf");
    let connection = if job.closes() { "close" } else { "keep-alive" };
    let text = format!(
        "verbose = false\ncolor = off\nlogging = false\nparser = false\nfollow-location = false\n\
         protocol = HTTP/1.1\nconnection = {connection}\nlimit = {}\ntimeout = {}\n\
         benchmark = true\njson_output = true\nfailures = 1000000000\n",
        job.users(),
        job.timeout_s()
    );
    let mut argv = Argv::new(NAME)
        .with("-R", settings.display())
        .with("-c", job.users())
        // It ends up to a second before its time.
        .flag(&format!("-t{}S", job.seconds() + 1))
        .headers("-H", job.scenario);
    if let Some(kind) = content_type(job.scenario) {
        argv = argv.with("-T", kind);
    }
    let url = match &job.scenario.body {
        Some(body) => format!("{} POST {body}", job.url()),
        None if job.scenario.method == "POST" => format!("{} POST", job.url()),
        None => job.url(),
    };
    let argv = argv.finish(job, &[&url]);
    Invocation { argv, files: vec![(settings, text)], ..Invocation::default() }
}

#[derive(Deserialize)]
struct Report {
    transactions: u64,
    elapsed_time: f64,
    response_time: f64,
    transaction_rate: f64,
    successful_transactions: u64,
    failed_transactions: u64,
    longest_transaction: f64,
    shortest_transaction: f64,
}

fn read(output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    let text = output.stdout;
    if text.trim().is_empty() {
        return Err(ReadError::Empty { adapter: NAME });
    }
    let json = text.find('{').zip(text.rfind('}')).and_then(|(start, end)| text.get(start..=end));
    let json = json.ok_or_else(|| ReadError::Missing { adapter: NAME, what: "JSON".to_owned() })?;
    let report: Report = serde_json::from_str(json)
        .map_err(|error| ReadError::Json { adapter: NAME, why: error.to_string() })?;
    let s = |value: f64| figure::of(value * 1e9, STEP_NS);
    let requests = report
        .successful_transactions
        .saturating_add(report.failed_transactions)
        .max(report.transactions);
    checked(
        NAME,
        ForeignRecord {
            requests,
            failures: report.failed_transactions,
            rate_per_s: Some(report.transaction_rate),
            duration_ns: s(report.elapsed_time).map(|figure| figure.value_ns),
            min: s(report.shortest_transaction),
            mean: s(report.response_time),
            max: s(report.longest_transaction),
            ..ForeignRecord::default()
        },
    )
}
