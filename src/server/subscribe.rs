//! Beginning a subscription for a request, of either era of the protocol.

use std::sync::Arc;

use rmcp::ErrorData;
use tokio::{sync::Semaphore, time};

use crate::tools::{Kind, ToolError};

use super::{
    blocking::no_thread,
    resources,
    roles::Served,
    subscriptions::{Listener, Subscriptions},
};

/// Requests that begin a subscription at once: each holds a thread while it looks at the disk.
pub(super) const BEGINNING: usize = 4;

/// Follows `uris` for `listener`, on a thread, with one of the permits of `beginning`. Returns which were refused, and
/// why.
pub(super) async fn subscribe(
    served: &Served,
    beginning: &Semaphore,
    subscriptions: Arc<Subscriptions>,
    listener: Listener,
    uris: Vec<String>,
    is_held: bool,
) -> Result<Vec<(String, ToolError)>, ErrorData> {
    let limit = served.dispatcher.services.options.deadline;
    let failed = |error: ToolError| resources::error(&error, None);
    let subscribe = async {
        let permit = beginning.acquire().await;
        let work = move || subscriptions.subscribe(&listener, &uris, is_held);
        let task = served.dispatcher.pools.normal.run(work);
        let task = task.map_err(|error| no_thread("nothing is subscribed to").source(error))?;
        let refused = task.await;
        drop(permit);
        refused.ok_or_else(|| ToolError::new(Kind::Internal, "the subscription failed unexpectedly"))
    };
    match time::timeout(limit, subscribe).await {
        Ok(refused) => refused.map_err(failed),
        Err(_) => Err(failed(
            ToolError::new(Kind::TimedOut, format!("the subscription did not begin within {limit:.0?}"))
                .hint("the file system may be slow: try again"),
        )),
    }
}
