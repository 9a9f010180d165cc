//! Calls answered inline: on the thread that reads the client's requests.
//!
//! A small read takes less time than handing it to another thread and back (a fifth of the round trip). Only tools
//! that say so are tried, with [`Blocking::Never`] and with few arguments; whatever fails is planned on a thread of
//! the pool instead.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::time;

use crate::tools::{Answer, Blocking, CallContext, ErasedTool, Plan, ToolError};

use super::{
    blocking::{catch_panic, on_pool},
    thread_pool::ThreadPool,
};

/// Bytes of the longest name and the longest text of an argument: more takes time to look at.
const MAX_NAME: usize = 64;
const MAX_TEXT: usize = 32 << 10;

/// The inline answer of `tool`; `None` if the call has to be planned on another thread.
pub(super) async fn answer(
    tool: &ErasedTool,
    cx: &CallContext,
    arguments: &Map<String, Value>,
    pool: &ThreadPool,
) -> Option<Result<Answer, ToolError>> {
    if !tool.inline || !are_small(arguments) {
        return None;
    }
    let cx = CallContext { blocking: Blocking::Never, ..cx.clone() };
    // An error is found again, and said in full, where the call may wait; a panic is not tried twice.
    let planned = catch_panic(|| Ok(tool.plan(&cx, arguments.clone())));
    let mut answer = match planned {
        Ok(Ok(Plan::Answer(answer))) => answer,
        Ok(_) => return None,
        Err(crashed) => return Some(Err(crashed)),
    };
    if let Some(sighting) = answer.sighting.take() {
        let session = Arc::clone(&cx.session);
        let save = move || {
            session.ledger.save(&sighting);
            Ok(())
        };
        // The answer is true without it: at worst the next process has to read the file again.
        let saved = match on_pool(pool, pool, &Arc::new(()), save) {
            Ok(task) => time::timeout(cx.stop.limit(), task).await.is_ok(),
            Err(_) => false,
        };
        if !saved {
            tracing::warn!("what was read is not remembered for the next process: no thread, or a stuck state folder");
        }
    }
    Some(Ok(answer))
}

fn are_small(arguments: &Map<String, Value>) -> bool {
    let is_small = |value: &Value| match value {
        Value::String(text) => text.len() <= MAX_TEXT,
        Value::Array(_) | Value::Object(_) => false,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    };
    arguments.iter().all(|(name, value)| name.len() <= MAX_NAME && is_small(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_names_long_texts_lists_and_objects_are_not_small() {
        let small = |arguments: Value| are_small(arguments.as_object().expect("an object"));
        assert!(small(json!({})));
        assert!(small(json!({ "path": "a", "offset": 3, "limit": null, "x": "y".repeat(MAX_TEXT) })));
        assert!(!small(json!({ "path": "y".repeat(MAX_TEXT + 1) })));
        assert!(!small(json!({ "x".repeat(MAX_NAME + 1): 1 })));
        assert!(!small(json!({ "edits": [] })) && !small(json!({ "path": {} })));
    }
}
