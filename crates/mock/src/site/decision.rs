//! An authorization decision: `subject`, `action` and `resource` in, `decision` out, as the AuthZEN
//! evaluation request has them.

use serde_json::{Value, json};

use super::{Ask, Said};
use crate::ledger::Outcome;
use crate::script::Decision;

/// The decision of the first rule that fits.
pub(super) fn answer(family: &Decision, ask: &Ask<'_>) -> Said {
    let request: Option<Value> = if ask.cut { None } else { serde_json::from_slice(ask.body).ok() };
    let word = |pointer: &str| request.as_ref()?.pointer(pointer)?.as_str();
    let words = (word("/subject/id"), word("/action/name"), word("/resource/id"));
    let (Some(subject), Some(action), Some(resource)) = words else {
        let error = json!({
            "error": "expected {\"subject\":{\"id\":..},\"action\":{\"name\":..},\"resource\":{\"id\":..}}"
        });
        return Said::json(400, &error, Outcome::Denied);
    };
    let rule = family.rules.iter().find(|rule| {
        rule.subject.fits(subject) && rule.action.fits(action) && rule.resource.fits(resource)
    });
    let decision = rule.map_or(family.otherwise, |rule| rule.decision);
    Said::json(200, &json!({ "decision": decision }), Outcome::Served)
}
