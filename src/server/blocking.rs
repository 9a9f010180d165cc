//! Work of a call on a thread of a pool: it keeps its permit until it ends, and its panic fails one call.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use tracing::Span;

use crate::tools::{Kind, ToolError};

use super::{
    panics::panic_text,
    thread_pool::{Task, ThreadPool},
};

/// Starts `work` on a thread of `pool`, or of `fallback` if `pool` has none and none can be made. `permit` is kept
/// until the work ends, even if nobody waits for it any more.
///
/// # Errors
/// When there is no thread and none can be made.
pub(super) fn on_pool<T: Send + 'static, P: Send + Sync + 'static>(
    pool: &ThreadPool,
    fallback: &ThreadPool,
    permit: &Arc<P>,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<Task<Result<T, ToolError>>, ToolError> {
    let (permit, span) = (Arc::clone(permit), Span::current());
    let guarded = move || {
        let _permit = permit;
        span.in_scope(|| catch_panic(work))
    };
    pool.run_or(fallback, guarded).map_err(|error| no_thread("the call was not started").source(error))
}

/// Runs `work`; its panic is an error of this call. What the panic left half done is dropped with the call, and the
/// locks of the layers below recover from poison.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(crashed(panic_text(&*payload))))
}

/// The result of a task, whose thread may be gone.
pub(super) fn ended<T>(result: Option<Result<T, ToolError>>) -> Result<T, ToolError> {
    result.unwrap_or_else(|| Err(crashed("its thread is gone")))
}

/// The error of a call that the system has no thread for.
pub(super) fn no_thread(consequence: &str) -> ToolError {
    let message = format!(
        "the system does not let the server start more threads (ulimit -u, or a container's limit of processes or \
         memory), \
         and {consequence}; nothing was changed"
    );
    ToolError::new(Kind::Internal, message)
        .hint("call again after other calls are answered; if it fails again, report it to the user")
}

fn crashed(reason: &str) -> ToolError {
    ToolError::new(Kind::Internal, "the tool failed unexpectedly; this call was abandoned, the server goes on")
        .hint("try another way; the same call would probably fail again")
        .source(reason.to_owned())
}
