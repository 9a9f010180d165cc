//! Calls that are answered on the thread that serves the wire.
//!
//! A small read costs less than handing it to another thread and back. Only for tools that say of
//! themselves that they wait for nothing; which call has its place is the dispatcher's to say.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use serde_json::{Map, Value};
use tokio::time;
use tracing::Span;

use crate::tools::{Answer, CallContext, Prompt, ToolError};

use super::{
    Parts,
    dispatch::{begin, crashed},
    panic_text,
    threads::Threads,
};

/// The answer of a tool that has it at once. None where the call has to go the usual way.
pub(super) async fn ask(
    parts: &Parts,
    threads: &Threads,
    cx: &CallContext,
    tool: &str,
    arguments: &Map<String, Value>,
    span: &Span,
) -> Option<Result<Answer, ToolError>> {
    let entry = parts.toolbox.get(tool).filter(|entry| entry.answers_at_once())?;
    let asked = span.in_scope(|| {
        let _here = Here::begin();
        panic::catch_unwind(AssertUnwindSafe(|| entry.at_once(cx, arguments)))
    });
    let Prompt { answer, owed } = match asked {
        Ok(prompt) => prompt?,
        Err(payload) => return Some(Err(crashed(panic_text(&*payload)))),
    };
    if let Some(owed) = owed {
        let (session, place) = (Arc::clone(&cx.session), Arc::new(()));
        let write_down = move || {
            session.ledger.write_down(&owed);
            Ok(())
        };
        // The answer is true without it: at worst the file has to be read again by the next process.
        let written = match begin(threads, threads, &place, span, write_down) {
            Ok(running) => time::timeout(cx.stop.limit(), running).await.is_ok(),
            Err(_) => false,
        };
        if !written {
            tracing::warn!(
                "what was seen could not be written down: no thread, or a state folder that does not answer"
            );
        }
    }
    Some(Ok(answer))
}

thread_local! {
    static HERE: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, this thread runs a call.
struct Here;

impl Here {
    fn begin() -> Self {
        HERE.set(true);
        Self
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        HERE.set(false);
    }
}

/// Whether this thread runs a call that is answered at once.
pub(super) fn runs_here() -> bool {
    HERE.get()
}
