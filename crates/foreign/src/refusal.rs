//! What a bench may not ask of a generator, with the key at fault.

use record::pause::Pause;
use record::plan::{Effective, Extent, Model};

use crate::adapter::{adapter_of, runnable_names};

/// A key that a generator cannot serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Dotted path of the key: `load.rate`.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Everything that the generator of a cell cannot do of what the cell asks.
#[must_use]
pub fn refusals(effective: &Effective) -> Vec<Refusal> {
    let generator = &effective.generator;
    let load = &effective.load;
    let mut found = Vec::new();
    let mut refuse = |key: &str, message: String, help: String| {
        found.push(Refusal { key: key.to_owned(), message, help });
    };
    let Some(adapter) = adapter_of(generator) else { return found };
    let (name, able) = (adapter.name, adapter.abilities);
    let others = |can: fn(&crate::Abilities) -> bool| {
        let names: Vec<String> = crate::ADAPTERS
            .iter()
            .filter(|other| other.ask.is_some() && can(&other.abilities))
            .map(|other| format!("`{}`", other.name))
            .collect();
        format!("can: `assay`, {}", names.join(", "))
    };
    match load.model {
        Model::Users(_) if !able.users => refuse(
            "load.users",
            format!("`{name}` has no closed loop of users"),
            others(|able| able.users),
        ),
        Model::Rate(_) if !able.rate => refuse(
            "load.rate",
            format!("`{name}` has no constant arrival rate"),
            others(|able| able.rate),
        ),
        _ => {}
    }
    let own = "only assay's own generator can; write `generator = \"assay\"`";
    if load.iterations.is_some() {
        refuse("load.iterations", format!("`{name}` splits no iterations"), own.to_owned());
    }
    if !load.sources.is_empty() {
        refuse(
            "load.sources",
            format!("`{name}` is given no addresses to come from"),
            own.to_owned(),
        );
    }
    if !load.pause.is_none() {
        let key = if matches!(load.pause, Pause::Think(_)) { "load.think" } else { "load.pacing" };
        refuse(key, format!("`{name}` is given no pauses"), own.to_owned());
    }
    if !load.stages.is_empty() {
        refuse("load.stages", format!("`{name}` is given no stages"), own.to_owned());
    } else if !load.arrival.is_constant() {
        refuse("load.arrival", format!("`{name}` draws no gaps"), own.to_owned());
    }
    match load.connections.as_str() {
        "new" if !able.close => refuse(
            "load.connections",
            format!("`{name}` cannot open a connection for each request"),
            others(|able| able.close),
        ),
        "shared" => refuse(
            "load.connections",
            format!("`{name}` cannot share connections between users"),
            "write `\"per-user\"` or `\"new\"`".to_owned(),
        ),
        _ => {}
    }
    for (key, extent) in [("load.warmup", load.warmup), ("load.measure", load.measure)] {
        match extent {
            Extent::Count(count) if count > 0 && !able.count => refuse(
                key,
                format!("`{name}` cannot be asked for a count of requests"),
                others(|able| able.count),
            ),
            Extent::Count(count) if count > 0 && matches!(load.model, Model::Rate(_)) => refuse(
                key,
                format!("`{name}` cannot be asked for a count at a rate"),
                "write a duration".to_owned(),
            ),
            Extent::Ns(ns) if ns > 0 && !able.duration => refuse(
                key,
                format!("`{name}` cannot be asked for a duration"),
                "write a count of requests".to_owned(),
            ),
            _ => {}
        }
    }
    let method = effective.scenario.method.as_str();
    if !able.methods.is_empty() && !able.methods.contains(&method) {
        refuse(
            &format!("scenario.{}", method.to_lowercase()),
            format!("`{name}` cannot send `{method}`"),
            format!("it can: {}", able.methods.join(", ")),
        );
    }
    if generator.script.is_some() && !able.script {
        refuse("generator.script", format!("`{name}` takes no script"), others(|able| able.script));
    }
    if effective.transport != "p0" {
        refuse(
            "transport",
            format!("`{name}` is only driven over plaintext"),
            format!("adapters: {}", runnable_names().join(", ")),
        );
    }
    found
}

/// Checks of the scenario that this generator does not make, for a note.
#[must_use]
pub fn unchecked(effective: &Effective) -> Vec<&'static str> {
    if !effective.generator.is_foreign() {
        return Vec::new();
    }
    let expect = &effective.scenario.expect;
    let mut keys = Vec::new();
    let own_script =
        effective.generator.script.is_none() && effective.generator.adapter() == Some("k6");
    if expect.status != [200] && !own_script {
        keys.push("expect.status");
    }
    if expect.body.is_some() {
        keys.push("expect.body");
    }
    if expect.size_bytes.is_some() {
        keys.push("expect.size");
    }
    keys
}
