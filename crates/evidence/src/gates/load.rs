//! The gates that a load record alone can answer; `assay load` has no other evidence.

use record::load::LoadRecord;
use record::plan::Gates;
use record::units::HumanDuration;

use super::{Judgement, certified, latency, percent, shape, steady};

/// Judges a load record against the bounds.
#[must_use]
pub fn judge_load(load: &LoadRecord, bounds: &Gates) -> Judgement {
    let mut judgement = Judgement::default();
    accounting(&mut judgement, load, bounds);
    failures(&mut judgement, load, bounds);
    window(&mut judgement, load, bounds);
    rate(&mut judgement, load, bounds);
    censoring(&mut judgement, load, bounds);
    generator_cpu(&mut judgement, load, bounds);
    shape::judge(&mut judgement, load, bounds);
    latency::judge(&mut judgement, load, bounds);
    steady::judge(&mut judgement, load, bounds);
    certified::judge(&mut judgement, load, bounds);
    judgement.sorted()
}

/// The identities that every load record obeys, each with what it says when it does not. The
/// value is the largest difference.
fn accounting(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let mut wrong = Vec::new();
    let mut largest = 0;
    let mut equal = |what: &str, left: u64, right: u64| {
        if left != right {
            largest = largest.max(left.abs_diff(right));
            wrong.push(format!("{what}: {left} is not {right}"));
        }
    };
    let sum = |values: &[u64]| values.iter().fold(0_u64, |sum, value| sum.saturating_add(*value));
    equal("due = sent + unsent", load.due, sum(&[load.sent, load.unsent]));
    equal(
        "sent = succeeded + failed + unfinished",
        load.sent,
        sum(&[load.succeeded, load.failed, load.unfinished]),
    );
    let by_kind: Vec<u64> = load.failures.values().copied().collect();
    equal("failed = the sum of its kinds", load.failed, sum(&by_kind));
    if !load.workers.is_empty() {
        let workers = |field: fn(&record::load::Worker) -> u64| {
            sum(&load.workers.iter().map(field).collect::<Vec<_>>())
        };
        equal("due = the sum over workers", load.due, workers(|worker| worker.due));
        equal("sent = the sum over workers", load.sent, workers(|worker| worker.sent));
        equal("succeeded = the sum over workers", load.succeeded, workers(|w| w.succeeded));
        equal("failed = the sum over workers", load.failed, workers(|worker| worker.failed));
        equal("unfinished = the sum over workers", load.unfinished, workers(|w| w.unfinished));
    }
    let value = Some(largest as f64);
    judgement.add("accounting", bounds, value, Some(wrong.is_empty()), || wrong.join("; "));
}

fn failures(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let ended = load.succeeded.saturating_add(load.failed);
    let share = (ended > 0).then(|| load.failed as f64 / ended as f64);
    let kinds = || {
        let kinds: Vec<String> =
            load.failures.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) }
    };
    judgement.add(
        "failures_seen",
        bounds,
        Some(load.failed as f64),
        Some(load.failed == 0),
        || format!("{} of {ended} requests failed{}", load.failed, kinds()),
    );
    let held = share.map(|share| share <= bounds.failures_share);
    judgement.add("failures", bounds, share, held, || {
        format!(
            "{} of requests failed, more than {}{}",
            percent(share.unwrap_or_default()),
            percent(bounds.failures_share),
            kinds()
        )
    });
}

/// Requests that take the shortest window that counts and a tenth more, at the rate at which
/// `asked` took `length_ns`; two digits, rounded up. `None` where nothing took any time.
fn long_enough(asked: u64, length_ns: u64, bounds: &Gates) -> Option<u64> {
    let needed = asked as f64 * bounds.window_ns as f64 * 1.1 / length_ns as f64;
    let digit = 10_f64.powf((needed.log10().floor() - 1.0).max(0.0));
    needed.is_finite().then(|| ((needed / digit).ceil() * digit) as u64)
}

fn window(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let length = load.window_ns;
    judgement.add("window", bounds, Some(length as f64), Some(length >= bounds.window_ns), || {
        let needed = load.window_asked_count.and_then(|asked| long_enough(asked, length, bounds));
        let needed = needed.map_or_else(String::new, |count| {
            format!("; at this rate {count} requests make it long enough")
        });
        format!(
            "the window was {}, shorter than {}{needed}",
            HumanDuration(length as f64),
            HumanDuration(bounds.window_ns as f64)
        )
    });
    let (share, asked) = match (load.window_asked_ns, load.window_asked_count) {
        (Some(asked), _) if asked > 0 => (
            Some(length as f64 / asked as f64),
            format!("{} of {}", HumanDuration(length as f64), HumanDuration(asked as f64)),
        ),
        (_, Some(asked)) if asked > 0 => {
            (Some(load.due as f64 / asked as f64), format!("{} of {asked} requests", load.due))
        }
        _ => (None, String::new()),
    };
    let held = share.map(|share| share >= bounds.window_share);
    judgement.add("truncated", bounds, share, held, || {
        format!("TRUNCATED: {asked}, under {}", percent(bounds.window_share))
    });
    judgement.add(
        "requests",
        bounds,
        Some(load.succeeded as f64),
        Some(load.succeeded >= bounds.requests),
        || {
            format!(
                "too few samples: {} requests succeeded, fewer than {}",
                load.succeeded, bounds.requests
            )
        },
    );
}

/// Whether the arrivals kept to the plan; a closed loop plans no rate.
fn rate(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let seconds = load.window_ns as f64 / 1e9;
    // Of drawn arrivals as many are planned as were drawn.
    let drawn = (!load.arrival.is_constant() && seconds > 0.0).then(|| load.due as f64 / seconds);
    let planned = load.planned_per_s.map(|planned| drawn.unwrap_or(planned));
    let planned = planned.filter(|planned| *planned > 0.0 && seconds > 0.0);
    let achieved = planned.map(|_| load.sent as f64 / seconds);
    let share = achieved.zip(planned).map(|(achieved, planned)| achieved / planned);
    let held = share.map(|share| share >= bounds.achieved_share);
    judgement.add("achieved", bounds, share, held, || {
        format!(
            "planned {:.0}/s, achieved {:.0}/s: {}, under {}",
            planned.unwrap_or_default(),
            achieved.unwrap_or_default(),
            percent(share.unwrap_or_default()),
            percent(bounds.achieved_share)
        )
    });
}

fn censoring(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    for (gate, count, what) in [
        ("unsent", load.unsent, "were due but never sent"),
        ("unfinished", load.unfinished, "were still in flight at the end"),
    ] {
        judgement.add(gate, bounds, Some(count as f64), Some(count == 0), || {
            format!("{count} of {} requests {what}: percentiles are bounds", load.due)
        });
    }
}

fn generator_cpu(judgement: &mut Judgement, load: &LoadRecord, bounds: &Gates) {
    let busy = load.generator.cpu_user_ns.saturating_add(load.generator.cpu_sys_ns) as f64;
    let span_ns = load.generator.cpu_span_ns.unwrap_or(load.window_ns);
    let available = span_ns as f64 * f64::from(load.generator.cores);
    let share = (available > 0.0).then(|| busy / available);
    for (gate, bound) in [
        ("generator_cpu_flag", bounds.generator_cpu_flag_share),
        ("generator_cpu", bounds.generator_cpu_share),
    ] {
        judgement.add(gate, bounds, share, share.map(|share| share <= bound), || {
            format!(
                "the generator used {} of its {} core(s), above {}",
                percent(share.unwrap_or_default()),
                load.generator.cores,
                percent(bound)
            )
        });
    }
}
