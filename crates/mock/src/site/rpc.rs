//! JSON-RPC 2.0: calls, notifications and batches, with the errors of its specification.

use serde_json::{Value, json};

use super::{Ask, Said};
use crate::ledger::Outcome;
use crate::script::Rpc;

/// Bytes that are no JSON.
const PARSE_ERROR: i64 = -32_700;
/// JSON that is no call.
const INVALID_REQUEST: i64 = -32_600;
/// A method that is not there.
const METHOD_NOT_FOUND: i64 = -32_601;
/// What a result that is this text stands for.
const PARAMS: &str = "${params}";

/// The answer to a body. One error in it makes the request count as failed, also in a batch: what the
/// client gets is not what was asked for, whatever the status.
pub(super) fn answer(family: &Rpc, ask: &Ask<'_>) -> Said {
    for (name, expected) in &family.headers {
        let found = ask.header(name);
        if !found.is_some_and(|value| expected == "*" || value == expected) {
            let message = format!("header {name} is missing or wrong");
            return Said::json(
                400,
                &error(Value::Null, INVALID_REQUEST, &message),
                Outcome::RpcError,
            );
        }
    }
    let request = if ask.cut { None } else { serde_json::from_slice::<Value>(ask.body).ok() };
    let (body, failed) = match request {
        None => (Some(error(Value::Null, PARSE_ERROR, "Parse error")), true),
        Some(Value::Array(calls)) if calls.is_empty() => {
            (Some(error(Value::Null, INVALID_REQUEST, "Invalid Request")), true)
        }
        Some(Value::Array(calls)) => {
            let results: Vec<(Option<Value>, bool)> =
                calls.iter().map(|one| call(family, one)).collect();
            let failed = results.iter().any(|(_, failed)| *failed);
            let bodies: Vec<Value> = results.into_iter().filter_map(|(body, _)| body).collect();
            // A batch of notifications has no answer at all.
            ((!bodies.is_empty()).then_some(Value::Array(bodies)), failed)
        }
        Some(one) => call(family, &one),
    };
    let outcome = if failed { Outcome::RpcError } else { Outcome::Served };
    match body {
        Some(body) => Said::json(200, &body, outcome),
        None => Said { status: 204, headers: Vec::new(), body: Vec::new(), outcome },
    }
}

/// The response to one call, none to a notification; and whether it failed.
fn call(family: &Rpc, request: &Value) -> (Option<Value>, bool) {
    let invalid = |id| (Some(error(id, INVALID_REQUEST, "Invalid Request")), true);
    let Some(fields) = request.as_object() else { return invalid(Value::Null) };
    let id = match fields.get("id") {
        None => None,
        Some(id @ (Value::Null | Value::String(_) | Value::Number(_))) => Some(id.clone()),
        Some(_) => return invalid(Value::Null),
    };
    let version = fields.get("jsonrpc").and_then(Value::as_str);
    let method = fields.get("method").and_then(Value::as_str);
    let params = fields.get("params");
    let well = params.is_none_or(|params| params.is_array() || params.is_object());
    let (Some("2.0"), Some(method), true) = (version, method, well) else {
        return invalid(id.unwrap_or(Value::Null));
    };
    let found = family.methods.iter().find(|(name, _)| name == method);
    match (found, id) {
        (None, Some(id)) => (Some(error(id, METHOD_NOT_FOUND, "Method not found")), true),
        (None, None) => (None, true),
        (Some(_), None) => (None, false),
        (Some((_, result)), Some(id)) => {
            let result = match result {
                Value::String(text) if text == PARAMS => params.cloned().unwrap_or(Value::Null),
                result => result.clone(),
            };
            (Some(json!({ "jsonrpc": "2.0", "result": result, "id": id })), false)
        }
    }
}

fn error(id: Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "error": { "code": code, "message": message }, "id": id })
}
