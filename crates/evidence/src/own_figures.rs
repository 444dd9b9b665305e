//! A foreign generator's own figures beside the truth, each difference with its causes.
//!
//! The truth is the mock's: requests counted, service times from a request read to its answer
//! written. A cause is named only where it can have made a difference of this sign and size; what
//! no known cause can have made is called unexplained.

use record::foreign::{Figure, ForeignRun, OwnFigure, UNEXPLAINED};
use record::load::LoadRecord;
use record::mock::MockRecord;
use record::units::HumanDuration;

/// Relative difference below which two rates are the same.
const RATE_SHARE: f64 = 0.005;
/// What scheduling on the client's side may add to a latency before anyone asks, as a share.
const CLIENT_SHARE: f64 = 0.02;

/// The rows of the panel. Without a mock there is no truth, and no cause.
#[must_use]
pub(crate) fn own_figures(
    run: &ForeignRun,
    load: &LoadRecord,
    mock: Option<&MockRecord>,
) -> Vec<OwnFigure> {
    let mut rows = vec![requests(run, mock), failures(run, mock), rate(run, load, mock)];
    let service = mock.map(|mock| &mock.service_ns);
    let own = &run.own;
    let quantile = |share| own.quantile(share);
    for (name, own, truth) in [
        ("min", own.min, service.and_then(|s| s.min)),
        ("mean", own.mean, service.and_then(|s| s.mean).map(|mean| mean.round() as u64)),
        ("p50", quantile(0.5), service.and_then(|s| s.p50)),
        ("p90", quantile(0.9), service.and_then(|s| s.p90)),
        ("p95", quantile(0.95), service.and_then(|s| s.p95)),
        ("p99", quantile(0.99), service.and_then(|s| s.p99)),
        ("p999", quantile(0.999), service.and_then(|s| s.p999)),
        ("max", own.max, service.and_then(|s| s.max)),
    ] {
        if own.is_some() || truth.is_some() {
            rows.push(latency(name, own, truth, run, mock));
        }
    }
    if let Some(row) = in_flight(run, load, mock) {
        rows.push(row);
    }
    rows
}

/// The requests that the mock saw.
fn seen(mock: &MockRecord) -> u64 {
    mock.served.saturating_add(mock.failed)
}

fn abandoned(mock: &MockRecord) -> u64 {
    mock.failures.get("abandoned").copied().unwrap_or(0)
}

fn requests(run: &ForeignRun, mock: Option<&MockRecord>) -> OwnFigure {
    let own = run.own.requests;
    let mut causes = Vec::new();
    if let Some(mock) = mock {
        let truth = seen(mock);
        let difference = own.abs_diff(truth);
        let warmup = run.warmup.as_ref().and_then(|warmup| warmup.witnessed).unwrap_or(0);
        if difference == 0 {
        } else if own < truth && difference <= run.tolerance_requests {
            causes.push(format!("{difference} in flight when its time was up"));
        } else if own > truth && difference <= run.tolerance_requests {
            causes.push(format!("{difference} counted that the mock never read: its end cut them"));
        } else if own > truth && warmup > 0 && difference.abs_diff(warmup) <= run.tolerance_requests
        {
            causes.push(format!("the {warmup} requests of its warm-up are included"));
        } else if own < truth && run.habits.omits_failures && difference <= mock.failed {
            causes.push(format!("{difference} failed requests are excluded"));
        } else {
            causes.push(UNEXPLAINED.to_owned());
        }
    }
    OwnFigure {
        figure: "requests".to_owned(),
        unit: "requests".to_owned(),
        own: Some(own as f64),
        truth: mock.map(|mock| seen(mock) as f64),
        causes,
    }
}

fn failures(run: &ForeignRun, mock: Option<&MockRecord>) -> OwnFigure {
    let mut causes = Vec::new();
    let truth = mock.map(|mock| mock.failed.saturating_sub(abandoned(mock)));
    if let Some(truth) = truth.filter(|truth| *truth != run.own.failures) {
        let difference = truth.abs_diff(run.own.failures);
        if difference <= run.tolerance_requests {
            causes.push("requests that its end cut".to_owned());
        } else if run.own.failures < truth {
            causes.push("it takes some of them for successes, or does not count them".to_owned());
        } else {
            causes
                .push("it counts answers as failures that the mock meant as they were".to_owned());
        }
    }
    OwnFigure {
        figure: "failures".to_owned(),
        unit: "requests".to_owned(),
        own: Some(run.own.failures as f64),
        truth: truth.map(|truth| truth as f64),
        causes,
    }
}

fn rate(run: &ForeignRun, load: &LoadRecord, mock: Option<&MockRecord>) -> OwnFigure {
    let truth = mock.map(|mock| seen(mock) as f64 * 1e9 / (mock.window_ns.max(1)) as f64);
    let mut causes = Vec::new();
    if let (Some(own), Some(truth)) = (run.own.rate_per_s, truth)
        && (own - truth).abs() > RATE_SHARE * truth
    {
        let window_ns = mock.map_or(load.window_ns, |mock| mock.window_ns);
        match run.own.duration_ns {
            Some(duration)
                if duration.abs_diff(window_ns) as f64 > RATE_SHARE * window_ns as f64 =>
            {
                causes.push(format!(
                    "over its own {} instead of the {} from the first request to the last answer",
                    HumanDuration(duration as f64),
                    HumanDuration(window_ns as f64)
                ));
            }
            _ if run.own.requests != mock.map_or(0, seen) => {
                causes.push("its count of requests differs".to_owned());
            }
            _ => causes.push(UNEXPLAINED.to_owned()),
        }
    }
    OwnFigure {
        figure: "rate".to_owned(),
        unit: "/s".to_owned(),
        own: run.own.rate_per_s,
        truth,
        causes,
    }
}

fn latency(
    name: &str,
    own: Option<Figure>,
    truth: Option<u64>,
    run: &ForeignRun,
    mock: Option<&MockRecord>,
) -> OwnFigure {
    let mut causes = Vec::new();
    if let (Some(own), Some(truth), Some(mock)) = (own, truth, mock) {
        causes = latency_causes(name, own, truth, run, mock);
    }
    OwnFigure {
        figure: name.to_owned(),
        unit: "ns".to_owned(),
        own: own.map(|figure| figure.value_ns as f64),
        truth: truth.map(|ns| ns as f64),
        causes,
    }
}

fn latency_causes(
    name: &str,
    own: Figure,
    truth: u64,
    run: &ForeignRun,
    mock: &MockRecord,
) -> Vec<String> {
    let habits = &run.habits;
    let mut causes = Vec::new();
    let difference = own.value_ns as f64 - truth as f64;
    // A histogram of three digits blurs the truth by a thousandth.
    let blur = 0.001 * truth as f64;
    if difference.abs() <= blur.max(1.0) {
        return causes;
    }
    let step = own.resolution_ns as f64;
    if own.resolution_ns > 1_000 {
        causes.push(format!("rounded to {}", HumanDuration(step)));
        if difference.abs() <= step {
            return causes;
        }
    }
    if difference > CLIENT_SHARE * truth as f64
        && adds_samples(run)
        && !matches!(name, "min" | "max")
    {
        causes.push(ADDED.to_owned());
    }
    if difference > 0.0 {
        // A client sees all that the mock saw and its own side of it.
        let connect = if habits.omits_connect { "" } else { ", connecting included" };
        if difference > CLIENT_SHARE * truth as f64 || causes.is_empty() {
            causes.push(format!("the way to the mock and the client's own side{connect}"));
        }
        return causes;
    }
    // Below what the mock spent itself: only something that was left out explains that.
    if habits.omits_failures && mock.failed > 0 {
        causes.push("failed requests are excluded".to_owned());
    }
    if habits.drops_in_flight
        && matches!(name, "max" | "p999" | "p99" | "mean")
        && abandoned(mock) > 0
    {
        causes.push("requests in flight at its end are excluded".to_owned());
    }
    // Stalled requests are in the mock's books too, so that omission is no cause of a smaller one.
    if causes.is_empty() || (causes.len() == 1 && own.resolution_ns > 1_000) {
        causes.push(UNEXPLAINED.to_owned());
    }
    causes
}

/// How much of the users' time its latencies account for: in a closed loop users are rate times
/// latency, and what is missing was spent where it does not look.
fn in_flight(run: &ForeignRun, load: &LoadRecord, mock: Option<&MockRecord>) -> Option<OwnFigure> {
    let users = load.users.filter(|users| *users > 0)?;
    let capacity_ns = f64::from(users) * load.window_ns as f64;
    let share = |mean_ns: f64, count: u64| {
        (capacity_ns > 0.0).then(|| mean_ns * count as f64 / capacity_ns)
    };
    let own = run.own.mean.and_then(|mean| share(mean.value_ns as f64, run.own.requests));
    let truth = mock.and_then(|mock| share(mock.service_ns.mean?, mock.service_ns.count));
    let mut causes = Vec::new();
    if let (Some(own), Some(truth)) = (own, truth)
        && (own - truth).abs() > CLIENT_SHARE
    {
        let step_ns = run.own.mean.map_or(0, |mean| mean.resolution_ns) as f64;
        let step = share(step_ns, run.own.requests).unwrap_or(0.0);
        if (own - truth).abs() <= step {
            causes.push(format!("its mean is rounded to {}", HumanDuration(step_ns)));
        } else if own < truth {
            causes.push("time in flight that is in none of its latencies".to_owned());
        } else if adds_samples(run) {
            causes.push(ADDED.to_owned());
        } else {
            causes.push("its latencies hold its own waiting".to_owned());
        }
    }
    if load.users.is_some() && mock.is_some_and(|mock| mock.config.stall.is_some()) {
        causes.push(
            "closed loop: while all users wait no request is due, so what a stall would have delayed \
             is in no figure"
                .to_owned(),
        );
    }
    Some(OwnFigure {
        figure: "time in flight".to_owned(),
        unit: "share".to_owned(),
        own,
        truth,
        causes,
    })
}

/// What a tool that corrects for omission by its own arithmetic has done.
const ADDED: &str = "samples that it adds behind long answers and never sent";

/// Whether the tool has added samples: it does so behind a latency of at least twice its mean, which
/// is about the time between two requests of a user.
fn adds_samples(run: &ForeignRun) -> bool {
    let twice = |max: Figure, mean: Figure| max.value_ns >= mean.value_ns.saturating_mul(2);
    run.habits.adds_samples
        && run.own.max.zip(run.own.mean).is_some_and(|(max, mean)| twice(max, mean))
}

#[cfg(test)]
pub(crate) mod tests;
