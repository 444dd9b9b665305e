//! `[load.N]` as the type of the plan: how work arrives, and what a user does in between.

use record::arrival::{self, Arrival, Stage};
use record::pause::Pause;
use record::plan::{Extent, Iterations, Load, Model};
use record::sources::{SourceError, SourceRange};

use super::given_place;
use crate::node::{Node, Value};
use crate::problem::Report;
use crate::read::{self, Bad, Fields, Read, Reading, Whole};

/// Kinds of a load.
pub(crate) const LOAD_KINDS: [&str; 3] = ["users", "rate", "stages"];
/// Laws of the gaps between arrivals.
const ARRIVALS: [&str; 2] = ["constant", "poisson"];
/// Connection modes of a load.
const CONNECTIONS: [&str; 3] = ["per-user", "shared", "new"];
const USERS: Whole = Whole { min: 1, max: 100_000 };
const COUNT: Whole = Whole { min: 1, max: 1_000_000_000_000 };

/// Checks the keys of a load as written.
pub(crate) fn load_keys(fields: &mut Fields<'_>, name: &str, reading: &Reading) {
    load(fields, name, reading);
}

/// Reads a load; `None` when it has no single model or no window.
pub(crate) fn load(fields: &mut Fields<'_>, name: &str, reading: &Reading) -> Option<Load> {
    let kind = fields.one_of("load", name, &LOAD_KINDS, reading);
    let users = fields.get("users", reading, |node| USERS.read_u32(node));
    let rate = fields.get("rate", reading, read::rate);
    let stages = fields.get("stages", reading, stages);
    let warmup = fields.get("warmup", reading, extent);
    let measure = fields.get("measure", reading, window);
    let iterations = fields.get("iterations", reading, |node| COUNT.read(node));
    let arrival = arrival(fields, reading);
    let pause = pause(fields, reading);
    let cooldown_ns = fields.get("cooldown", reading, read::duration).unwrap_or(0);
    let connections = fields.get("connections", reading, read::word("connections", &CONNECTIONS));
    let sources = fields.get("sources", reading, sources).unwrap_or_default();
    let max_connections = fields.get("max_connections", reading, |node| USERS.read_u32(node));
    let timeout_ns = fields.get("timeout", reading, read::some_duration).unwrap_or(0);
    let kind = kind?;
    if reading.is_effective() {
        refuse_misfits(fields, name, kind, warmup, reading);
    }
    let (model, stages) = match kind {
        "users" => (Model::Users(users?), Vec::new()),
        "rate" => (Model::Rate(rate?), Vec::new()),
        _ => (Model::Rate(arrival::mean_per_s(stages.as_ref()?)), stages?),
    };
    let iterations = match model {
        Model::Users(users) => iterations.map(|asked| Iterations::split(asked, users)),
        Model::Rate(_) => None,
    };
    let measure = match &iterations {
        Some(iterations) => Some(Extent::Count(iterations.count())),
        None if !stages.is_empty() => Some(Extent::Ns(arrival::length_ns(&stages))),
        None => measure,
    };
    Some(Load {
        name: name.to_owned(),
        model,
        arrival,
        stages,
        pause,
        warmup: warmup?,
        measure: measure?,
        iterations,
        cooldown_ns,
        connections: connections?.to_owned(),
        sources,
        max_connections,
        timeout_ns,
    })
}

/// The measured window, which has a length.
fn window(node: &Node) -> Read<Extent> {
    match extent(node)? {
        Extent::Ns(0) | Extent::Count(0) => {
            Err(Bad::new(format!("{} measures nothing; write `\"30s\"`", node.shown())))
        }
        extent => Ok(extent),
    }
}

/// The law of the gaps.
fn arrival(fields: &mut Fields<'_>, reading: &Reading) -> Arrival {
    let law = fields.get("arrival", reading, read::word("arrival", &ARRIVALS));
    let seed =
        fields.get("seed", reading, |node| Whole { min: 0, max: i64::MAX as u64 }.read(node));
    match law {
        Some("poisson") => Arrival::Poisson { seed: seed.unwrap_or(1) },
        _ => Arrival::Constant,
    }
}

/// What a user does between two requests.
fn pause(fields: &mut Fields<'_>, reading: &Reading) -> Pause {
    let think = fields.get("think", reading, read::some_duration).map(Pause::Think);
    let pacing = fields.get("pacing", reading, read::some_duration).map(Pause::Pace);
    think.or(pacing).unwrap_or_default()
}

/// Keys that are of another model, and those that say the same thing twice: what could have no effect
/// is refused, not reinterpreted.
fn refuse_misfits(
    fields: &mut Fields<'_>,
    name: &str,
    kind: &str,
    warmup: Option<Extent>,
    reading: &Reading,
) {
    let is_closed = kind == "users";
    let of_users = "its requests are due whoever answers; the key is one of `users`";
    let of_rates = "users begin when their answer is there; write a `rate` or `stages`";
    let capped = "each user has one connection; the key caps those of a `rate`";
    let misfits: &[(&'static str, &str)] = if is_closed {
        &[("arrival", of_rates), ("seed", of_rates), ("max_connections", capped)]
    } else {
        &[("think", of_users), ("pacing", of_users), ("iterations", of_users)]
    };
    for (key, help) in misfits {
        if let Some(at) = fields.raw(key, reading).and_then(given_place) {
            let which = if is_closed { "a closed loop" } else { "an open loop" };
            let message = format!("`{key}` has no effect on load `{name}`, {which}");
            reading.report(Report::at(at, message).help(*help));
        }
    }
    match kind {
        "stages" => refuse_beside_stages(fields, name, warmup, reading),
        _ if fields.has("iterations", reading) => {
            let help = "iterations are the window, so many for each user; leave `measure` out";
            refuse_beside(fields, name, ["iterations", "measure"], help, reading);
        }
        _ if !fields.has("measure", reading) => {
            let message = format!("load `{name}` has no `measure`");
            let help = "the measured window: a duration such as `\"30s\"`, or a count of requests";
            reading.report(Report::at(fields.at, message).help(help));
        }
        _ => {}
    }
    if is_closed {
        let help = "think pauses after each answer; a pace is from request to request: keep one";
        refuse_beside(fields, name, ["think", "pacing"], help, reading);
    }
}

/// Two keys of which one is enough.
fn refuse_beside(
    fields: &mut Fields<'_>,
    name: &str,
    [one, other]: [&'static str; 2],
    help: &str,
    reading: &Reading,
) {
    let has_one = fields.raw(one, reading).and_then(given_place).is_some();
    if let Some(at) = fields.raw(other, reading).and_then(given_place).filter(|_| has_one) {
        let message = format!("load `{name}` has `{other}` beside `{one}`");
        reading.report(Report::at(at, message).help(help));
    }
}

/// Stages, each as text; a refused one is told at its own place.
fn stages(node: &Node) -> Read<Vec<Stage>> {
    let texts = read::texts(node)?;
    let of = |count: usize| arrival::stages(texts[..count].iter().map(String::as_str));
    of(texts.len()).map_err(|error| {
        // A beginning of pauses is none yet of stages that have a rate.
        let is_at = |count: &usize| of(*count).is_err_and(|known| known == error);
        let place = (1..=texts.len()).find(is_at).and_then(|count| node.as_list()?.get(count - 1));
        Bad { at: place.map(|stage| stage.at), ..Bad::new(error.to_string()) }
    })
}

/// Addresses, ranges and prefixes.
fn sources(node: &Node) -> Read<Vec<SourceRange>> {
    let wrong = |error: SourceError| Bad::new(error.to_string());
    match &node.value {
        Value::List(_) => {
            read::list(node, |node| SourceRange::parse(&read::text(node)?).map_err(wrong))
        }
        _ => Ok(vec![SourceRange::parse(&read::text(node)?).map_err(wrong)?]),
    }
}

/// Beside stages: they are the window, and a count of them has no meaning.
fn refuse_beside_stages(
    fields: &mut Fields<'_>,
    name: &str,
    warmup: Option<Extent>,
    reading: &Reading,
) {
    let help = "the window is as long as its stages together; leave `measure` out";
    refuse_beside(fields, name, ["stages", "measure"], help, reading);
    if let (Some(Extent::Count(1..)), Some(node)) = (warmup, fields.raw("warmup", reading)) {
        let message = format!("load `{name}` counts its `warmup` beside `stages`");
        let help = "a duration: the warm-up goes on at the rate with which the first stage starts";
        reading.report(Report::at(node.at, message).help(help));
    }
}

/// A duration, or a bare count of requests.
pub(crate) fn extent(node: &Node) -> Read<Extent> {
    match node.value {
        Value::Int(0) => Ok(Extent::Count(0)),
        Value::Int(_) => COUNT.read(node).map(Extent::Count),
        _ => read::duration(node).map(Extent::Ns),
    }
}
