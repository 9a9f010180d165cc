//! Whether a person's answer is a yes.

use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::Value;

use crate::tools::{Kind, ToolError};

use super::question::FIELD;

/// Consent is an accepted form with its field ticked, and nothing else.
pub(super) fn consent(answer: &ElicitResult) -> Result<(), ToolError> {
    const NEXT: &str = "do not repeat the call unchanged; ask the user what to do instead";
    let ticked = answer.content.as_ref().is_some_and(|content| content.get(FIELD) == Some(&Value::Bool(true)));
    let reason = match answer.action {
        ElicitationAction::Accept if ticked => return Ok(()),
        ElicitationAction::Accept => "the user sent the form without confirming the change",
        ElicitationAction::Decline => "the user declined this change",
        // Cancel: the person closed the form without a choice.
        _ => "the user dismissed the question about this change",
    };
    Err(declined(reason).hint(NEXT))
}

/// A change that was not approved.
pub(super) fn declined(reason: impl std::fmt::Display) -> ToolError {
    ToolError::new(Kind::Declined, format!("{reason}; nothing was changed"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(value: Value) -> ElicitResult {
        serde_json::from_value(value).expect("a result")
    }

    #[test]
    fn only_an_accepted_and_ticked_form_is_consent() {
        assert!(consent(&answer(json!({ "action": "accept", "content": { "confirm": true } }))).is_ok());
        for no in [
            json!({ "action": "accept", "content": { "confirm": false } }),
            json!({ "action": "accept", "content": { "confirm": "true" } }),
            json!({ "action": "accept", "content": {} }),
            json!({ "action": "accept" }),
            json!({ "action": "decline", "content": { "confirm": true } }),
            json!({ "action": "cancel", "content": { "confirm": true } }),
        ] {
            assert_eq!(consent(&answer(no.clone())).expect_err("no").kind(), Kind::Declined, "{no}");
        }
    }
}
