//! `[oauth]`, `[decision]` and `[rpc]` of a script: endpoints that answer by what they are asked.

use record::glob::glob_matches;
use record::mock::MockConfig;
use record::units;

use super::endpoint::{base, header};
use super::fields::Fields;
use super::{Decision, Endpoint, Kind, OAuth, OAuthPart, Pattern, Rpc, ScriptError};

/// Most rules, clients, users or methods.
const LIST_MAX: usize = 1_000;

/// One rule: who may do what with what.
#[derive(Debug, Clone)]
pub(crate) struct DecisionRule {
    pub(crate) subject: Match,
    pub(crate) action: Match,
    pub(crate) resource: Match,
    pub(crate) decision: bool,
}

/// A word with `*` for anything.
#[derive(Debug, Clone)]
pub(crate) struct Match(String);

impl Match {
    pub(crate) fn fits(&self, text: &str) -> bool {
        glob_matches(&self.0, text)
    }
}

pub(super) fn oauth(
    fields: &mut Fields<'_>,
    server: &MockConfig,
) -> Result<(OAuth, Vec<Endpoint>), ScriptError> {
    let shared = base(fields, server, Some("/oauth"))?;
    let path = shared.name.trim_end_matches('/').to_owned();
    if path.contains(['{', '*']) {
        return Err(fields.error("path", "expected a plain path, as `/oauth`"));
    }
    let lifetime_ns = match fields.text("lifetime")? {
        Some(text) => {
            units::duration_ns(text).map_err(|error| fields.error("lifetime", error.to_string()))?
        }
        None => 3_600_000_000_000,
    };
    let issuer = fields.text("issuer")?.map(str::to_owned);
    let clients = bounded(fields, "clients")?;
    if clients.is_empty() {
        return Err(fields.error("clients", "no client; write `clients = { shop = \"secret\" }`"));
    }
    let users = bounded(fields, "users")?;
    let parts = [
        ("POST", OAuthPart::Token, "/token"),
        ("POST", OAuthPart::Introspect, "/introspect"),
        ("POST", OAuthPart::Revoke, "/revoke"),
        ("GET", OAuthPart::Authorize, "/authorize"),
        ("GET", OAuthPart::UserInfo, "/userinfo"),
        ("GET", OAuthPart::Keys, "/jwks"),
        ("GET", OAuthPart::Discovery, "/.well-known/openid-configuration"),
    ];
    let endpoints: Result<Vec<Endpoint>, ScriptError> = parts
        .into_iter()
        .map(|(method, part, tail)| {
            let path = format!("{path}{tail}");
            let pattern = Pattern::read(&path).map_err(|message| fields.error("path", message))?;
            let name = format!("{method} {path}");
            let method = Some(method.to_owned());
            Ok(Endpoint { name, method, pattern, kind: Kind::OAuth(part), ..shared.clone() })
        })
        .collect();
    let issuer = issuer.unwrap_or_default();
    Ok((OAuth { issuer, path, lifetime_ns, clients, users }, endpoints?))
}

pub(super) fn decision(
    fields: &mut Fields<'_>,
    server: &MockConfig,
) -> Result<(Decision, Endpoint), ScriptError> {
    let shared = base(fields, server, Some("/access/v1/evaluation"))?;
    let otherwise = fields.truth("default")?.unwrap_or(false);
    let mut rules = Vec::new();
    for mut rule in fields.tables("rule")? {
        let mut word = |key| Ok(Match(rule.text(key)?.unwrap_or("*").to_owned()));
        let (subject, action, resource) = (word("subject")?, word("action")?, word("resource")?);
        let Some(decision) = rule.truth("decision")? else {
            return Err(rule.error("decision", "no `decision`; write `decision = true`"));
        };
        rule.finish()?;
        if rules.len() == LIST_MAX {
            return Err(rule.error("", format!("more than {LIST_MAX} rules")));
        }
        rules.push(DecisionRule { subject, action, resource, decision });
    }
    Ok((Decision { otherwise, rules }, post(shared, Kind::Decision)))
}

pub(super) fn rpc(
    fields: &mut Fields<'_>,
    server: &MockConfig,
) -> Result<(Rpc, Endpoint), ScriptError> {
    let shared = base(fields, server, Some("/rpc"))?;
    let headers = fields.pairs("headers")?;
    for (name, value) in &headers {
        header(name, value).map_err(|message| fields.error("headers", message))?;
    }
    let methods = match fields.json("methods")? {
        Some(serde_json::Value::Object(methods)) if methods.len() <= LIST_MAX => {
            methods.into_iter().collect()
        }
        Some(_) => {
            let message =
                format!("expected a table of at most {LIST_MAX} methods and their results");
            return Err(fields.error("methods", message));
        }
        None => {
            let message = "no method; write `methods = { echo = \"${params}\" }`";
            return Err(fields.error("methods", message));
        }
    };
    Ok((Rpc { headers, methods }, post(shared, Kind::Rpc)))
}

fn post(shared: Endpoint, kind: Kind) -> Endpoint {
    let name = format!("POST {}", shared.name);
    Endpoint { name, method: Some("POST".to_owned()), kind, ..shared }
}

fn bounded(
    fields: &mut Fields<'_>,
    key: &'static str,
) -> Result<Vec<(String, String)>, ScriptError> {
    let pairs = fields.pairs(key)?;
    if pairs.len() > LIST_MAX {
        return Err(fields.error(key, format!("more than {LIST_MAX}")));
    }
    Ok(pairs)
}
