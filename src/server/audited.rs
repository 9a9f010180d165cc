//! A call with its line in the audit: described before it runs, concluded when it has been answered.
//!
//! What a line holds is the audit's matter; how a call runs is the dispatcher's.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Map, Value};
use tokio::time;

use crate::{
    audit::{Audit, AuditOutcome, CallRecord, Caller},
    tools::{Content, Kind, ToolError},
};

use super::{
    Parts,
    confirm::Confirmation,
    dispatch::{self, Call, no_thread},
    gates::Gates,
    threads::Threads,
};

/// What the dispatcher tells of a change.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The line to announce a change with, where there is an audit.
    record: Option<(Arc<Audit>, CallRecord)>,
    changed: AtomicBool,
    written: AtomicU64,
}

impl Trace {
    /// A change is about to be made.
    ///
    /// # Errors
    /// When calls depend on the audit and it cannot be written: the change must not be made then.
    pub(super) fn announce(&self) -> Result<(), ToolError> {
        match &self.record {
            Some((audit, record)) => audit.announce(record).map_err(unrecorded),
            None => Ok(()),
        }
    }

    /// A change was made, and so many bytes of files were written.
    pub(super) fn made(&self, bytes: u64) {
        self.changed.store(true, Ordering::Relaxed);
        self.written.store(bytes, Ordering::Relaxed);
    }
}

/// Runs `call`; with an audit, writes its line.
pub(super) async fn run(
    parts: &Arc<Parts>,
    gates: &Gates,
    confirmation: &Confirmation,
    caller: Caller,
    mut call: Call,
) -> Result<dispatch::Outcome, ToolError> {
    let Some(audit) = parts.options.audit.clone() else {
        return dispatch::run(parts, gates, confirmation, call).await;
    };
    let started = Instant::now();
    let threads = &gates.pools.usual;
    let record = describe(parts, threads, caller, call.tool.clone(), call.arguments.clone()).await?;
    let trace = Arc::new(Trace { record: Some((Arc::clone(&audit), record)), ..Trace::default() });
    call.trace = Arc::clone(&trace);
    let result = dispatch::run(parts, gates, confirmation, call).await;
    let outcome = outcome(&result, &trace, started);
    let concluded = {
        let (audit, trace) = (Arc::clone(&audit), Arc::clone(&trace));
        let conclude = move || match &trace.record {
            Some((_, record)) => audit.conclude(record, &outcome),
            None => Ok(()),
        };
        on_thread(threads, parts.options.deadline, conclude).await
    };
    let failure = match concluded.unwrap_or_else(Err) {
        Ok(()) => return result,
        Err(error) => error,
    };
    tracing::error!(error = %failure, "the audit could not be written");
    // What was changed stays changed, and the answer says what truly happened.
    if audit.is_required() && !trace.changed.load(Ordering::Relaxed) {
        return Err(unrecorded(failure));
    }
    result
}

/// Writes the line of a call that no tool was found for.
///
/// # Errors
/// When calls depend on the audit and it cannot be written, as for any other call.
pub(super) async fn unknown(
    parts: &Arc<Parts>,
    threads: &Threads,
    caller: Caller,
    tool: String,
    arguments: Map<String, Value>,
) -> Result<(), ToolError> {
    let Some(audit) = parts.options.audit.clone() else { return Ok(()) };
    let started = Instant::now();
    let record = describe(parts, threads, caller, tool, arguments).await?;
    let required = audit.is_required();
    let conclude = move || {
        let duration = started.elapsed();
        let outcome = AuditOutcome { kind: "unknown_tool", allowed: false, answered: 0, written: 0, duration };
        audit.conclude(&record, &outcome)
    };
    match on_thread(threads, parts.options.deadline, conclude).await.unwrap_or_else(Err) {
        Ok(()) => Ok(()),
        Err(error) => {
            tracing::error!(%error, "the audit could not be written");
            if required { Err(unrecorded(error)) } else { Ok(()) }
        }
    }
}

/// What the line of a call says before it runs.
async fn describe(
    parts: &Arc<Parts>,
    threads: &Threads,
    caller: Caller,
    tool: String,
    arguments: Map<String, Value>,
) -> Result<CallRecord, ToolError> {
    let (parts, deadline) = (Arc::clone(parts), parts.options.deadline);
    // It looks where the paths lead, so it runs where looking may take a while.
    let describe = move || {
        let spec = parts.toolbox.get(&tool).map(|entry| entry.spec);
        let meant = |given: &str| spec.and_then(|spec| spec.renamed(given));
        Audit::describe(&caller, &tool, &arguments, meant, &parts.workspace)
    };
    on_thread(threads, deadline, describe).await.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => {
            let message = format!("the file system did not answer within {deadline:.0?}, and the call was not begun");
            ToolError::new(Kind::TimedOut, message)
                .hint("work elsewhere; tell the person that the file system (a network or FUSE mount?) hangs there")
                .source(error)
        }
        io::ErrorKind::Other => {
            ToolError::new(Kind::Internal, "the call could not be described for the audit, and was not begun")
                .hint("try once more; if it fails again, tell the person")
                .source(error)
        }
        _ => no_thread("the call was not begun").source(error),
    })
}

/// The result of `work` on a thread: an error where there is none, where it takes longer than `limit`, or where
/// it panics.
async fn on_thread<T: Send + 'static>(
    threads: &Threads,
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    match time::timeout(limit, threads.run(work)?).await {
        Ok(result) => result.ok_or_else(|| io::Error::other("it panicked")),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

fn outcome(result: &Result<dispatch::Outcome, ToolError>, trace: &Trace, started: Instant) -> AuditOutcome {
    let kind = result.as_ref().err().map(ToolError::kind);
    let answered = match result {
        Ok(dispatch::Outcome::Answer(answer, _)) => answer.content.iter().map(length).sum(),
        Ok(dispatch::Outcome::Question(_)) => 0,
        Err(error) => error.text().len(),
    };
    AuditOutcome {
        kind: match (result, kind) {
            (_, Some(kind)) => kind.as_str(),
            (Ok(dispatch::Outcome::Question(_)), None) => "asked",
            _ => "ok",
        },
        allowed: !matches!(kind, Some(Kind::Denied | Kind::ReadOnly | Kind::Declined | Kind::Quota)),
        answered,
        written: trace.written.load(Ordering::Relaxed),
        duration: started.elapsed(),
    }
}

fn length(block: &Content) -> usize {
    match block {
        Content::Text(text) => text.len(),
        Content::Image { bytes, .. } => bytes.len(),
    }
}

fn unrecorded(error: std::io::Error) -> ToolError {
    ToolError::new(Kind::Declined, "the call was refused because it cannot be recorded in the audit log")
        .hint("nothing was changed; tell the person that the audit log cannot be written")
        .source(error)
}
