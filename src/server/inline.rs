//! Calls answered inline: on the thread that reads the client's requests.
//!
//! A small read takes less time than handing it to another thread and back (a fifth of the round trip). Only tools
//! that say so are tried, with [`Blocking::Never`] and with few arguments; whatever fails is planned on a thread of
//! the pool instead.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use serde_json::{Map, Value};
use tokio::time;
use tracing::Span;

use crate::tools::{Answer, Blocking, CallContext, Plan, ToolError};

use super::{
    Parts,
    dispatch::{begin, crashed},
    panic_text,
    threads::Threads,
};

/// Bytes of the longest name and the longest text of an argument: more takes time to look at.
const MAX_NAME: usize = 64;
const MAX_TEXT: usize = 32 << 10;

/// The inline answer; `None` if the call has to be planned on another thread.
pub(super) async fn answer(
    parts: &Parts,
    threads: &Threads,
    cx: &CallContext,
    tool: &str,
    arguments: &Map<String, Value>,
    span: &Span,
) -> Option<Result<Answer, ToolError>> {
    let entry = parts.toolbox.get(tool).filter(|entry| entry.inline && are_small(arguments))?;
    let cx = CallContext { blocking: Blocking::Never, ..cx.clone() };
    let plan = || entry.plan(&cx, arguments.clone());
    let mut answer = match span.in_scope(|| panic::catch_unwind(AssertUnwindSafe(plan))) {
        Ok(Ok(Plan::Answer(answer))) => answer,
        Ok(_) => return None,
        Err(payload) => return Some(Err(crashed(panic_text(&*payload)))),
    };
    if let Some(sighting) = answer.sighting.take() {
        let session = Arc::clone(&cx.session);
        let save = move || {
            session.ledger.save(&sighting);
            Ok(())
        };
        // The answer is true without it: at worst the next process has to read the file again.
        let saved = match begin(threads, threads, &Arc::new(()), span, save) {
            Ok(running) => time::timeout(cx.stop.limit(), running).await.is_ok(),
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
