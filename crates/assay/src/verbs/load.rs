//! `assay load`: the engine of a matrix for one URL from the command line.

use std::path::PathBuf;

use clock::{Clock as _, Monotonic};
use indicatif::{ProgressBar, ProgressStyle};
use record::Format;
use record::arrival::{self, Arrival};
use record::job::{Event, Job};
use record::layout;
use record::load::LoadRecord;
use record::pause::Pause;
use record::plan::{BodyCheck, Expect, Extent, Gates, Iterations, Load, Model, Scenario};

use crate::certificates;
use crate::cli::LoadArguments;
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;
use crate::signals;

/// Users of a closed loop without `-c`.
const DEFAULT_USERS: u32 = 10;
/// A window shorter than this says nothing; the longer default of a bench is for contrasts.
const SHORTEST_WINDOW_NS: u64 = 1_000_000_000;

pub(crate) fn run(arguments: &LoadArguments, output: &Output) -> Outcome {
    let mut job = job(arguments)?;
    for (path, _) in files(arguments) {
        // Now and not when the load is over and would be lost.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let (path, folder) = (path.display(), folder.display());
            return Err(Failure::wrong(format!("cannot write `{path}`: no folder `{folder}`")));
        }
    }
    job.certificate = certificates::of_own("p0", output);
    let stop = signals::stop_flag()?;
    let bar = output.is_interactive().then(|| bar(arguments));
    let mut show = |event: &Event| {
        if let (Some(bar), Event::Progress { failed, rate_per_s, .. }) = (&bar, event) {
            bar.inc(1);
            bar.set_message(format!("{rate_per_s:.0}/s, {failed} failed"));
        }
    };
    let mut record = load::run(&job, &stop, &mut show).map_err(|error| match error {
        load::LoadError::System(_) => Failure::failed(error),
        load::LoadError::Descriptors { .. } => Failure::refused(error),
        error => Failure::wrong(error),
    })?;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let gates = Gates { window_ns: SHORTEST_WINDOW_NS, ..Gates::default() };
    record.validity = evidence::judge_load(&record, &gates).validity();
    write_files(arguments, &record)?;
    output.result(arguments.json.json.as_ref(), &record, || report::load_table(&record))?;
    Ok(if record.validity.is_doubtful() { Status::Doubtful } else { Status::Done })
}

fn bar(arguments: &LoadArguments) -> ProgressBar {
    let seconds = (arguments.warmup + duration_ns(arguments)) / 1_000_000_000;
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} s {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(seconds).with_style(style)
}

/// Length of the window, ns: that of the stages where there are any.
fn duration_ns(arguments: &LoadArguments) -> u64 {
    arguments.stages.as_ref().map_or(arguments.duration, |stages| arrival::length_ns(&stages.0))
}

fn job(arguments: &LoadArguments) -> Result<Job, Failure> {
    let (address, host, path) = split_url(&arguments.url)?;
    let stages = arguments.stages.clone().unwrap_or_default().0;
    let rate = match arguments.rate {
        None if !stages.is_empty() => Some(arrival::mean_per_s(&stages)),
        rate => rate,
    };
    let (model, max_connections) = match rate {
        Some(per_s) => (Model::Rate(per_s), arguments.connections),
        None => (Model::Users(arguments.connections.unwrap_or(DEFAULT_USERS)), None),
    };
    let iterations = match (arguments.iterations, model) {
        (None, _) => None,
        (Some(asked), Model::Users(users)) => Some(Iterations::split(asked, users)),
        (Some(_), Model::Rate(_)) => {
            let message = "`--iterations` are of users; leave `--rate` out, or write `-n`";
            return Err(Failure::wrong(message));
        }
    };
    let pause = match (arguments.think, arguments.pacing) {
        (None, None) => Pause::None,
        _ if rate.is_some() => {
            let message =
                "`--think` and `--pacing` are of users; leave `--rate` and `--stages` out";
            return Err(Failure::wrong(message));
        }
        (Some(ns), _) => Pause::Think(ns),
        (None, Some(ns)) => Pause::Pace(ns),
    };
    let arrival = match arguments.poisson {
        None => Arrival::Constant,
        Some(_) if rate.is_none() => {
            let message = "`--poisson` draws the gaps of an open loop; add `--rate` or `--stages`";
            return Err(Failure::wrong(message));
        }
        Some(seed) => Arrival::Poisson { seed },
    };
    Ok(Job {
        format: Format::v1("assay.job"),
        address,
        host: Some(host),
        scenario: Scenario {
            name: "url".to_owned(),
            method: method(arguments)?,
            path,
            headers: headers(arguments)?,
            body: body(arguments)?,
            expect: Expect {
                status: vec![arguments.expect_status],
                body: arguments.expect_body.clone().map(BodyCheck::Equals),
                size_bytes: None,
            },
        },
        load: Load {
            name: "url".to_owned(),
            model,
            warmup: Extent::Ns(arguments.warmup),
            measure: match (iterations, arguments.requests) {
                (Some(iterations), _) => Extent::Count(iterations.count()),
                (None, Some(count)) => Extent::Count(count),
                (None, None) => Extent::Ns(duration_ns(arguments)),
            },
            arrival,
            stages,
            pause,
            iterations,
            cooldown_ns: arguments.cooldown,
            connections: if arguments.new_connections { "new" } else { "per-user" }.to_owned(),
            sources: arguments.source.clone(),
            max_connections,
            timeout_ns: arguments.timeout,
        },
        certificate: None,
        threads: arguments.threads.unwrap_or(0),
        progress: true,
    })
}

/// The method, in capitals.
fn method(arguments: &LoadArguments) -> Result<String, Failure> {
    let Some(given) = &arguments.method else {
        return Ok(if arguments.body.is_some() { "POST" } else { "GET" }.to_owned());
    };
    if bench::METHODS.iter().any(|known| known.eq_ignore_ascii_case(given)) {
        return Ok(given.to_uppercase());
    }
    let valid = bench::METHODS.map(str::to_uppercase).join("`, `");
    Err(Failure::wrong(format!("`{given}` is no method; one of `{valid}`")))
}

fn headers(arguments: &LoadArguments) -> Result<Vec<(String, String)>, Failure> {
    bench::check_headers(&arguments.headers).map_err(Failure::wrong)?;
    Ok(arguments.headers.clone())
}

/// The body as given, or read from the file that it names.
fn body(arguments: &LoadArguments) -> Result<Option<String>, Failure> {
    let Some(given) = &arguments.body else { return Ok(None) };
    let Some(path) = given.strip_prefix('@') else { return Ok(Some(given.clone())) };
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::wrong(format!("cannot read the body from `{path}`: {error}")))?;
    Ok(Some(text))
}

/// A file that a load can leave beside its table.
enum File {
    Csv,
    Hdr,
    OpenMetrics,
}

/// The files that are asked for.
fn files(arguments: &LoadArguments) -> impl Iterator<Item = (&PathBuf, File)> {
    [
        (&arguments.csv, File::Csv),
        (&arguments.hdr, File::Hdr),
        (&arguments.openmetrics, File::OpenMetrics),
    ]
    .into_iter()
    .filter_map(|(path, kind)| Some((path.as_ref()?, kind)))
}

/// Writes the files that were asked for.
fn write_files(arguments: &LoadArguments, record: &LoadRecord) -> Result<(), Failure> {
    let since_start_ns = Monotonic.now_ns().saturating_sub(record.window_start_ns);
    let start_unix_ns = clock::utc_now_ns().saturating_sub(since_start_ns);
    for (path, kind) in files(arguments) {
        let text = match kind {
            File::Csv => report::load_csv(record),
            File::Hdr => report::load_hdr(record, start_unix_ns),
            File::OpenMetrics => report::load_openmetrics(record),
        };
        layout::write_atomic(path, text.as_bytes()).map_err(|error| {
            Failure::failed(format!("cannot write `{}`: {error}", path.display()))
        })?;
    }
    Ok(())
}

/// Splits `http://host:port/path` into the address to connect to, the `Host` header and the
/// path.
pub(crate) fn split_url(url: &str) -> Result<(String, String, String), Failure> {
    let wrong = |why: &str| {
        Failure::wrong(format!(
            "`{}` {why}; write `http://127.0.0.1:8080/path`",
            record::redact::url(url)
        ))
    };
    let rest = match url.split_once("://") {
        Some(("http", rest)) => rest,
        Some(("https", _)) => return Err(wrong("needs TLS, which this version cannot do")),
        Some(_) => return Err(wrong("has an unknown scheme")),
        None => return Err(wrong("has no scheme")),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.is_empty() || authority.contains('@') {
        return Err(wrong("has no plain host"));
    }
    let has_port = authority.rsplit_once(':').is_some_and(|(host, port)| {
        !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) && !host.ends_with(':')
    });
    let address = if has_port { authority.to_owned() } else { format!("{authority}:80") };
    let path = path.split('#').next().unwrap_or_default();
    if path.chars().any(|c| c.is_ascii_whitespace() || c.is_ascii_control()) {
        return Err(wrong("has a blank in its path"));
    }
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    Ok((address, authority.to_owned(), path))
}

#[cfg(test)]
mod tests {
    use super::split_url;

    #[test]
    fn urls() {
        let split = |url: &str| split_url(url).map_err(|failure| failure.message);
        let ok = |a: &str, h: &str, p: &str| Ok((a.to_owned(), h.to_owned(), p.to_owned()));
        assert_eq!(
            split("http://localhost:81/a?b=c#d"),
            ok("localhost:81", "localhost:81", "/a?b=c")
        );
        assert_eq!(split("http://localhost"), ok("localhost:80", "localhost", "/"));
        assert_eq!(split("http://[::1]:8080?x"), ok("[::1]:8080", "[::1]:8080", "/?x"));
        assert_eq!(split("http://[::1]/"), ok("[::1]:80", "[::1]", "/"));
        for bad in
            ["localhost:80", "https://x/", "ftp://x/", "http:///a", "http://u:p@h/", "http://h/a b"]
        {
            assert!(split(bad).is_err(), "{bad}");
        }
    }
}
