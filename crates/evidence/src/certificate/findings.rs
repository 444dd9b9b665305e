//! Each property of a certificate in one line. A property whose stage left nothing failed: absent
//! evidence is no good evidence.

use record::certificate::{Certificate, Finding, Quantile, StallSeen};
use record::units::HumanDuration;

use super::is_coarse;
use super::stages::Stage;

/// The lines, in the order in which they are read.
pub(super) fn of(certificate: &Certificate, stages: &[Stage]) -> Vec<Finding> {
    let mut lines = vec![counts(certificate)];
    for model in ["open", "closed"] {
        let of_model = |prefix: &str| {
            stages.iter().any(|s| s.model_word() == model && s.name.starts_with(prefix))
        };
        if of_model("steady") {
            lines.push(accuracy(certificate, stages, model));
        }
        if of_model("rate-") || of_model("users-") {
            lines.push(flat(certificate, stages, model));
        }
        if of_model("stall") {
            lines.push(stall(certificate, stages, model));
        }
    }
    if stages.iter().any(|stage| stage.name.starts_with("sleep-")) {
        lines.push(resolution(certificate, stages));
    }
    if stages.iter().any(|stage| stage.name.starts_with("rate-")) {
        lines.push(rate(certificate));
    }
    if stages.iter().any(|stage| stage.name == "law") {
        lines.push(law(certificate));
    }
    lines
}

/// What is told and not judged.
fn told(name: &str, detail: String) -> Finding {
    Finding { name: name.to_owned(), holds: None, unknown: false, detail }
}

fn finding(name: &str, holds: bool, detail: String) -> Finding {
    Finding { holds: Some(holds), ..told(name, detail) }
}

/// A property that the generator gives no figure for, or one too coarse.
fn unjudged(name: &str, why: String) -> Finding {
    Finding { unknown: true, ..told(name, format!("cannot be judged: {why}")) }
}

/// The first of the stages that left no record, in the words of its run.
fn no_record(stages: &[Stage], model: &str, prefix: &str) -> Option<String> {
    let of = |stage: &&Stage| stage.model_word() == model && stage.name.starts_with(prefix);
    stages
        .iter()
        .filter(of)
        .find(|one| one.load.is_none() || one.mock.is_none())
        .map(Stage::no_record)
}

/// Whether the records of another generator are there and none of them tells a share.
fn tells_none(stages: &[Stage], prefix: &str, share: f64) -> bool {
    let told: Vec<bool> = stages
        .iter()
        .filter(|stage| stage.name.starts_with(prefix))
        .filter_map(|stage| Some(stage.foreign.as_ref()?.own.quantile(share).is_some()))
        .collect();
    !told.is_empty() && told.iter().all(|told| !told)
}

fn adds(stages: &[Stage]) -> bool {
    let adds = |stage: &Stage| stage.foreign.as_ref().is_some_and(|f| f.habits.adds_samples);
    stages.iter().any(adds)
}

fn time(ns: u64) -> HumanDuration {
    HumanDuration(ns as f64)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn counts(certificate: &Certificate) -> Finding {
    let counts = &certificate.counts;
    let detail = if counts.differ.is_empty() {
        let same = match counts.cut {
            0 => "the same by both sides".to_owned(),
            cut => format!("apart by {cut}, no more than what its ends cut"),
        };
        format!("{} requests in {} runs, {same}", counts.requests, counts.runs)
    } else {
        counts.differ.join("; ")
    };
    finding("counts", counts.differ.is_empty() && counts.requests > 0, detail)
}

fn accuracy(certificate: &Certificate, stages: &[Stage], model: &str) -> Finding {
    let name = format!("percentiles, {model}");
    let Some(accuracy) = certificate.accuracy.iter().find(|one| one.model == model) else {
        let why = no_record(stages, model, "steady");
        return finding(&name, false, why.unwrap_or_else(|| "no record of one side".to_owned()));
    };
    let bound = certificate.bounds.error_share;
    // The largest of all is told and not judged: one wake-up of the machine decides it.
    let all = || accuracy.quantiles.iter().filter(|one| one.name != "max");
    let coarse = |one: &Quantile| is_coarse(one.said_ns, one.true_ns, one.step_ns, bound);
    let names = |which: &dyn Fn(&Quantile) -> bool| {
        let names: Vec<&str> =
            all().filter(|one| which(one)).map(|one| one.name.as_str()).collect();
        names.join(", ")
    };
    let step_ns = all().filter(|one| coarse(one)).filter_map(|one| one.step_ns).max();
    let worst = all()
        .filter(|one| !coarse(one))
        .filter_map(|one| Some((one, one.error_share?)))
        .max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()));
    let mut rest = String::new();
    let unknown = names(&|one| one.error_share.is_none());
    if !unknown.is_empty() {
        rest.push_str(&format!("; not told: {unknown}"));
    }
    if let Some(step) = step_ns {
        let coarse = names(&coarse);
        rest.push_str(&format!("; not judged, in steps of {}: {coarse}", time(step)));
    }
    let Some((at, error)) = worst else {
        return match step_ns {
            Some(step) => {
                let of = percent(bound);
                unjudged(
                    &name,
                    format!("its percentiles are in steps of {}, above {of}", time(step)),
                )
            }
            None if stages.iter().any(|stage| stage.foreign.is_some()) => {
                unjudged(&name, "it tells no percentile".to_owned())
            }
            None => finding(&name, false, "no percentile by both sides".to_owned()),
        };
    };
    let holds = error.abs() <= bound;
    if !holds && adds(stages) {
        rest.push_str("; it adds samples that were never sent behind long answers");
    }
    let detail = format!(
        "largest error {} at {} of {} requests, at most {}{rest}",
        percent(error),
        at.name,
        accuracy.count,
        percent(bound)
    );
    finding(&name, holds, detail)
}

fn flat(certificate: &Certificate, stages: &[Stage], model: &str) -> Finding {
    let name = format!("flatness, {model}");
    let prefix = if model == "open" { "rate-" } else { "users-" };
    if tells_none(stages, prefix, 0.5) {
        return unjudged(&name, "it tells no median".to_owned());
    }
    let Some(flat) = certificate.flatness.iter().find(|one| one.model == model) else {
        return finding(&name, false, "no honest step".to_owned());
    };
    let bound = certificate.bounds.flatness_share;
    let steps = if model == "open" { &certificate.rates } else { &certificate.users };
    let coarse = steps.iter().find_map(|step| {
        let (step_ns, true_ns) = (step.step_ns?, step.true_ns?);
        (step_ns as f64 > bound * true_ns as f64).then_some(step_ns)
    });
    // What moves by one step of its rounding may not have moved at all.
    if let Some(step_ns) = coarse.filter(|step| flat.spread_ns <= *step) {
        let why =
            format!("its medians are in steps of {}, above {}", time(step_ns), percent(bound));
        return unjudged(&name, why);
    }
    let unit = if model == "open" { "/s" } else { " users" };
    let detail = format!(
        "the error of the median moves by {} ({} of the latency) from {} to {}{unit}, at most {}",
        HumanDuration(flat.spread_ns as f64),
        percent(flat.spread_share),
        flat.over[0],
        flat.over[1],
        percent(certificate.bounds.flatness_share)
    );
    finding(&name, flat.spread_share <= certificate.bounds.flatness_share, detail)
}

fn stall(certificate: &Certificate, stages: &[Stage], model: &str) -> Finding {
    let name = format!("stall, {model}");
    let Some(stall) = certificate.stalls.iter().find(|one| one.model == model) else {
        let why = no_record(stages, model, "stall");
        return finding(&name, false, why.unwrap_or_else(|| "no record of one side".to_owned()));
    };
    let said =
        |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| HumanDuration(ns as f64).to_string());
    let StallSeen { said_p99_ns, said_max_ns, shown, added, .. } = stall;
    if said_p99_ns.is_none() && stages.iter().any(|stage| stage.foreign.is_some()) {
        let max = said(*said_max_ns);
        return unjudged(
            &name,
            format!("it tells no p99 of a stall of {}; max {max}", stall.stall),
        );
    }
    let word = if *shown { "shows" } else { "hides" };
    let detail = format!(
        "p99 {word} a stall of {}: {} of {}; max {}",
        stall.stall,
        said(*said_p99_ns),
        HumanDuration(stall.true_p99_ns as f64),
        said(*said_max_ns)
    );
    if *added {
        // What was made up is no measurement, however near it comes.
        return told(&name, format!("{detail} (by samples that it adds and never sent)"));
    }
    if model == "closed" && !shown {
        // Users who wait send nothing: no closed loop shows it, and this one says so.
        return told(&name, format!("{detail} (as any closed loop)"));
    }
    finding(&name, *shown, detail)
}

fn resolution(certificate: &Certificate, stages: &[Stage]) -> Finding {
    if tells_none(stages, "sleep-", 0.5) {
        return unjudged("resolution", "it tells no median".to_owned());
    }
    let bound = percent(certificate.bounds.error_share);
    match certificate.resolution_ns {
        Some(ns) => {
            let detail = format!("medians are right to {bound} from {} on", time(ns));
            finding("resolution", true, detail)
        }
        None => {
            let last = certificate.resolution.last();
            let longest = time(last.map_or(0, |trial| trial.asked_ns));
            let step = last.and_then(|trial| trial.step_ns).filter(|step| *step > 1_000);
            let step = step
                .map_or_else(String::new, |step| format!("; they are in steps of {}", time(step)));
            let detail = format!("no median was right to {bound}, up to {longest}{step}");
            finding("resolution", false, detail)
        }
    }
}

fn rate(certificate: &Certificate) -> Finding {
    let Some(rate) = certificate.honest_per_s else {
        let why = certificate.honest_limit.clone().unwrap_or_default();
        return finding("highest honest rate", false, format!("none: {why}"));
    };
    let then = match &certificate.honest_limit {
        Some(why) => format!("; the next one: {why}"),
        None => "; the ladder ended there".to_owned(),
    };
    let lag = match certificate.rates.iter().any(|step| step.lag_p99_ns.is_some()) {
        true => "",
        false => "; it does not tell its send lag",
    };
    finding("highest honest rate", true, format!("{rate}/s{then}{lag}"))
}

fn law(certificate: &Certificate) -> Finding {
    let Some(seen) = &certificate.arrivals else {
        return finding("arrivals", false, "the mock saw no gaps".to_owned());
    };
    let bound = certificate.bounds.dispersion;
    let detail = format!(
        "dispersion {:.4} at {}/s over {} gaps, at most {bound}",
        seen.dispersion, seen.asked_per_s, seen.gaps
    );
    finding("arrivals", seen.dispersion <= bound, detail)
}
