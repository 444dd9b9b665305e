//! Each property of a certificate in one line. A property whose stage left nothing failed: absent
//! evidence is no good evidence.

use record::certificate::{Certificate, Finding, StallSeen};
use record::units::HumanDuration;

use super::stages::Stage;

/// The lines, in the order in which they are read.
pub(super) fn of(certificate: &Certificate, stages: &[Stage]) -> Vec<Finding> {
    let mut lines = vec![counts(certificate)];
    for model in ["open", "closed"] {
        let of_model = |prefix: &str| {
            stages.iter().any(|s| s.model_word() == model && s.name.starts_with(prefix))
        };
        if of_model("steady") {
            lines.push(accuracy(certificate, model));
        }
        if of_model("rate-") || of_model("users-") {
            lines.push(flat(certificate, model));
        }
        if of_model("stall") {
            lines.push(stall(certificate, model));
        }
    }
    if stages.iter().any(|stage| stage.name.starts_with("sleep-")) {
        lines.push(resolution(certificate));
    }
    if stages.iter().any(|stage| stage.name.starts_with("rate-")) {
        lines.push(rate(certificate));
    }
    if stages.iter().any(|stage| stage.name == "law") {
        lines.push(law(certificate));
    }
    lines
}

fn finding(name: &str, holds: bool, detail: String) -> Finding {
    Finding { name: name.to_owned(), holds: Some(holds), detail }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn counts(certificate: &Certificate) -> Finding {
    let counts = &certificate.counts;
    let detail = if counts.differ.is_empty() {
        format!("{} requests in {} runs, the same by both sides", counts.requests, counts.runs)
    } else {
        counts.differ.join("; ")
    };
    finding("counts", counts.differ.is_empty() && counts.requests > 0, detail)
}

fn accuracy(certificate: &Certificate, model: &str) -> Finding {
    let name = format!("percentiles, {model}");
    let Some(accuracy) = certificate.accuracy.iter().find(|one| one.model == model) else {
        return finding(&name, false, "no record of one side".to_owned());
    };
    // The largest of all is told and not judged: one wake-up of the machine decides it.
    let judged = || accuracy.quantiles.iter().filter(|one| one.name != "max");
    let unknown: Vec<&str> =
        judged().filter(|one| one.error_share.is_none()).map(|one| one.name.as_str()).collect();
    let worst = judged()
        .filter_map(|one| Some((one, one.error_share?)))
        .max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()));
    let Some((at, error)) = worst else {
        return finding(&name, false, "no percentile by both sides".to_owned());
    };
    let bound = certificate.bounds.error_share;
    let missing = if unknown.is_empty() {
        String::new()
    } else {
        format!("; not told: {}", unknown.join(", "))
    };
    let detail = format!(
        "largest error {} at {} of {} requests, at most {}{missing}",
        percent(error),
        at.name,
        accuracy.count,
        percent(bound)
    );
    finding(&name, error.abs() <= bound, detail)
}

fn flat(certificate: &Certificate, model: &str) -> Finding {
    let name = format!("flatness, {model}");
    let Some(flat) = certificate.flatness.iter().find(|one| one.model == model) else {
        return finding(&name, false, "no honest step".to_owned());
    };
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

fn stall(certificate: &Certificate, model: &str) -> Finding {
    let name = format!("stall, {model}");
    let Some(stall) = certificate.stalls.iter().find(|one| one.model == model) else {
        return finding(&name, false, "no record of one side".to_owned());
    };
    let said =
        |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| HumanDuration(ns as f64).to_string());
    let StallSeen { said_p99_ns, said_max_ns, shown, .. } = stall;
    let word = if *shown { "shows" } else { "hides" };
    let detail = format!(
        "p99 {word} a stall of {}: {} of {}; max {}",
        stall.stall,
        said(*said_p99_ns),
        HumanDuration(stall.true_p99_ns as f64),
        said(*said_max_ns)
    );
    if model == "closed" && !shown {
        // Users who wait send nothing: no closed loop shows it, and this one says so.
        return Finding { name, holds: None, detail: format!("{detail} (as any closed loop)") };
    }
    finding(&name, *shown, detail)
}

fn resolution(certificate: &Certificate) -> Finding {
    let bound = percent(certificate.bounds.error_share);
    match certificate.resolution_ns {
        Some(ns) => {
            let detail =
                format!("medians are right to {bound} from {} on", HumanDuration(ns as f64));
            finding("resolution", true, detail)
        }
        None => {
            let longest = certificate.resolution.last().map_or(0, |trial| trial.asked_ns);
            let detail =
                format!("no median was right to {bound}, up to {}", HumanDuration(longest as f64));
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
    finding("highest honest rate", true, format!("{rate}/s{then}"))
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
