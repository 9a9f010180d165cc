//! A call with its line in the audit: described before it runs, concluded when it has been answered.
//!
//! What a line holds is the audit's matter; how a call runs is the dispatcher's.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Map, Value};
use tokio::time;

use crate::{
    audit::{Audit, AuditOutcome, CallRecord, Caller},
    tools::{Content, Kind, ToolError},
};

use super::{
    blocking::no_thread,
    call::{Call, Response, Trace, unrecorded},
    concurrency::{Load, area},
    dispatch::Dispatcher,
    overdue,
    thread_pool::ThreadPool,
};

/// Runs `call`; with an audit, writes its line.
pub(super) async fn run(dispatcher: &Dispatcher, caller: Caller, mut call: Call) -> Result<Response, ToolError> {
    let by = caller.named().map(Arc::from);
    let Some(audit) = dispatcher.services.options.audit.clone() else {
        if by.is_some() {
            call.trace = Arc::new(Trace::default().called_by(by));
        }
        return dispatcher.run(call).await;
    };
    let by = by.or_else(|| audit.label().map(Arc::from));
    let started = Instant::now();
    let record = describe(dispatcher, &audit, caller, call.tool.clone(), call.arguments.clone()).await?;
    let trace = Arc::new(Trace::of(audit, record).called_by(by));
    call.trace = Arc::clone(&trace);
    let result = dispatcher.run(call).await;
    let outcome = outcome(&result, &trace, started);
    conclude(dispatcher, trace, outcome).await.and(result)
}

/// Writes the line of a call of a tool that does not exist.
///
/// # Errors
/// When calls depend on the audit and it cannot be written, as for any other call.
pub(super) async fn unknown(
    dispatcher: &Dispatcher,
    caller: Caller,
    tool: String,
    arguments: Map<String, Value>,
) -> Result<(), ToolError> {
    let Some(audit) = dispatcher.services.options.audit.clone() else { return Ok(()) };
    let started = Instant::now();
    let record = describe(dispatcher, &audit, caller, tool, arguments).await?;
    let trace = Arc::new(Trace::of(audit, record));
    let duration = started.elapsed();
    let outcome =
        AuditOutcome { kind: "unknown_tool", allowed: false, answered: 0, written: 0, duration, confirmation: None };
    conclude(dispatcher, trace, outcome).await
}

/// Writes how a call ended. What was changed stays changed, and its answer says what truly happened.
async fn conclude(dispatcher: &Dispatcher, trace: Arc<Trace>, outcome: AuditOutcome) -> Result<(), ToolError> {
    let is_needed = trace.record.as_ref().is_some_and(|(audit, _)| audit.required) && !trace.has_changed();
    let write = move || {
        trace.record.as_ref().map_or(Ok(()), |(audit, record)| audit.conclude(record, &outcome, &trace.changes))
    };
    match on_thread(&dispatcher.pools.normal, dispatcher.services.options.deadline, write).await.unwrap_or_else(Err) {
        Ok(()) => Ok(()),
        Err(error) => {
            tracing::error!(%error, "the audit could not be written");
            if is_needed { Err(unrecorded(error)) } else { Ok(()) }
        }
    }
}

/// What the line of a call says before it runs. It looks at where the paths lead, so it takes a permit of the call's
/// area: a file system that hangs holds only as many threads as there are.
async fn describe(
    dispatcher: &Dispatcher,
    audit: &Arc<Audit>,
    caller: Caller,
    tool: String,
    arguments: Map<String, Value>,
) -> Result<CallRecord, ToolError> {
    let (services, limit) = (Arc::clone(&dispatcher.services), dispatcher.services.options.deadline);
    let audit = Arc::clone(audit);
    let area = area(&services, &tool, &arguments);
    let Ok(permit) = time::timeout(limit, dispatcher.limits.area_permit(Load::Audit, &area)).await else {
        return Err(overdue::undescribed(limit));
    };
    let describe = move || {
        let _permit = permit;
        let spec = services.toolbox.get(&tool).map(|tool| tool.spec);
        let meant = |given: &str| spec.and_then(|spec| spec.renamed(given));
        audit.describe(&caller, &tool, &arguments, meant, &services.workspace)
    };
    on_thread(&dispatcher.pools.normal, limit, describe).await.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => overdue::undescribed(limit).source(error),
        io::ErrorKind::Other => {
            ToolError::new(Kind::Internal, "the call could not be described for the audit and was not started")
                .hint("try once more; if it fails again, report it to the user")
                .source(error)
        }
        _ => no_thread("the call was not started").source(error),
    })
}

/// The result of `work` on a thread of `pool`: an error if there is none, if it takes longer than `limit`, or if it
/// panics.
async fn on_thread<T: Send + 'static>(
    pool: &ThreadPool,
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    match time::timeout(limit, pool.run(work)?).await {
        Ok(result) => result.ok_or_else(|| io::Error::other("it panicked")),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

fn outcome(result: &Result<Response, ToolError>, trace: &Trace, started: Instant) -> AuditOutcome {
    let kind = result.as_ref().err().map(ToolError::kind);
    let answered = match result {
        Ok(Response::Answer(answer, _)) => answer.content.iter().map(length).sum(),
        Ok(Response::Question(_)) => 0,
        Err(error) => error.text().len(),
    };
    AuditOutcome {
        kind: match (result, kind) {
            (_, Some(kind)) => kind.as_str(),
            (Ok(Response::Question(_)), None) => "asked",
            _ => "ok",
        },
        allowed: !matches!(kind, Some(Kind::Denied | Kind::ReadOnly | Kind::Declined | Kind::Quota)),
        answered,
        written: trace.written(),
        confirmation: trace.how_confirmed(),
        duration: started.elapsed(),
    }
}

fn length(block: &Content) -> usize {
    match block {
        Content::Text(text) => text.len(),
        Content::Image { bytes, .. } => bytes.len(),
        Content::Link(link) => link.length(),
    }
}
