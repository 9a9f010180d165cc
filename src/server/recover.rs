//! Before a call: what a process that has ended left half done becomes all of it, or none, so that no call sees it.

use std::sync::Arc;

use confined_fs::{WaitLimit, stop::StopSignal};
use tokio::time;

use crate::tools::{Content, ToolError};

use super::{blocking::on_pool, call::Response, pools::Pools, services::Services};

/// Recovers on a thread of the pool, as that waits for other processes. Where it takes too long, the call goes on
/// without it. One system call where there is nothing.
pub(super) async fn recover(services: &Services, pools: &Pools) {
    if !services.workspace.may_need_recovery() {
        return;
    }
    let limit = services.options.deadline;
    let (workspace, stop) = (Arc::clone(&services.workspace), StopSignal::after(limit));
    let wait_limit = WaitLimit::until(move || stop.stopped().is_some(), || {});
    let work = move || {
        workspace.recover(&wait_limit);
        Ok(())
    };
    match on_pool(&pools.normal, &pools.normal, &Arc::new(()), work) {
        Ok(task) => drop(time::timeout(limit, task).await),
        Err(error) => tracing::warn!(%error, "an interrupted change is not recovered before this call"),
    }
}

/// Says in the answer of a tool what recovery did.
pub(super) fn noted(
    services: &Services,
    tool: &str,
    mut result: Result<Response, ToolError>,
) -> Result<Response, ToolError> {
    if let Ok(Response::Answer(answer, _)) = &mut result
        && services.toolbox.get(tool).is_some()
    {
        let notes = services.workspace.take_recovery_notes();
        answer.content.extend(notes.into_iter().map(|note| Content::Text(format!("note: {note}"))));
    }
    result
}
