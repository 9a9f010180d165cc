//! The requests about subscriptions, of both eras of the protocol.
//!
//! `resources/subscribe` (2025-11-25 and before) follows one URI for the connection. `subscriptions/listen` (2026-07-28)
//! is one long request for several; it is acknowledged first, and what has changed since is sent after that. It ends
//! when it is cancelled, and with the input. rmcp acknowledges without asking who calls, so the URIs are looked at
//! before it gets the request: [`Front`] leaves out those that are refused.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, Service,
    model::{
        ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult, SubscriptionsListenRequest,
        SubscriptionsListenRequestMethod,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::json;
use tokio::{sync::Semaphore, time};

use crate::{
    text::shorten,
    tools::{Kind, ToolError},
};

use super::{
    blocking::no_thread,
    handler::Handler,
    roles::Served,
    subscriptions::{Listener, Subscriptions},
};

/// Requests that begin a subscription at once: each holds a thread while it looks at the disk.
pub(super) const BEGINNING: usize = 4;
/// `subscriptions/listen` requests at once.
const MOST: usize = 64;
/// Bytes of a URI that an error repeats.
const SHOWN: usize = 1024;

/// The handler, behind a look at what subscriptions are about.
pub(super) struct Front {
    handler: Handler,
    listens: Semaphore,
}

impl Front {
    pub(super) fn new(handler: Handler) -> Self {
        Self { handler, listens: Semaphore::new(MOST) }
    }

    /// Follows what a `subscriptions/listen` request is about, and leaves the rest to rmcp and the handler.
    async fn listen(
        &self,
        mut request: SubscriptionsListenRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let Ok(_place) = self.listens.try_acquire() else {
            return Err(ErrorData::invalid_request(
                format!("there are too many subscriptions/listen requests: at most {MOST} at once; cancel one first"),
                None,
            ));
        };
        let served = self.handler.served_to(&context);
        if !served.has_subscriptions() {
            return Err(ErrorData::method_not_found::<SubscriptionsListenRequestMethod>());
        }
        let mut following = None;
        if let Some(uris) = request.params.notifications.resource_subscriptions.as_mut().filter(|uris| !uris.is_empty())
        {
            let listener = Listener::Request(context.id.clone());
            let subscriptions = served.subscriptions(self.handler.output()).map_err(|error| refusal(&error, ""))?;
            // Ends with this request, however it ends.
            following = Some(Following { subscriptions: Arc::clone(&subscriptions), listener: listener.clone() });
            let refused = self.handler.subscribe_to(served, subscriptions, listener, uris.clone(), true).await?;
            for (uri, error) in &refused {
                tracing::info!(uri = %shorten(uri, SHOWN), reason = %error.text(), "refused a subscription");
            }
            uris.retain(|uri| !refused.iter().any(|(other, _)| other == uri));
            if let (true, Some((uri, error))) = (uris.is_empty(), refused.first()) {
                return Err(refusal(error, uri));
            }
        }
        let answer = self.handler.handle_request(ClientRequest::SubscriptionsListenRequest(request), context).await;
        drop(following);
        answer
    }
}

/// The subscriptions of one request; they end when it is dropped.
struct Following {
    subscriptions: Arc<Subscriptions>,
    listener: Listener,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.subscriptions.unsubscribe(&self.listener, None);
    }
}

impl Service<RoleServer> for Front {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        match request {
            ClientRequest::SubscriptionsListenRequest(request) if is_complete(&context) => {
                self.listen(request, context).await
            }
            request => self.handler.handle_request(request, context).await,
        }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.handler)
    }
}

/// Whether a request has all that 2026-07-28 demands of one; else rmcp says what is missing.
fn is_complete(context: &RequestContext<RoleServer>) -> bool {
    let modern = &ProtocolVersion::V_2026_07_28;
    context.protocol_version().is_some_and(|version| version >= *modern)
        && context.meta.missing_required_keys(modern).is_empty()
}

impl Handler {
    /// Follows `uris` for `listener`, on a thread. Returns which were refused, and why.
    pub(super) async fn subscribe_to(
        &self,
        served: &Served,
        subscriptions: Arc<Subscriptions>,
        listener: Listener,
        uris: Vec<String>,
        is_held: bool,
    ) -> Result<Vec<(String, ToolError)>, ErrorData> {
        let limit = served.dispatcher.parts.options.deadline;
        let failed = |error: ToolError| refusal(&error, "");
        let subscribe = async {
            let permit = self.beginning().acquire().await;
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
}

/// The error of a request about `uri`.
pub(super) fn refusal(error: &ToolError, uri: &str) -> ErrorData {
    let data = (!uri.is_empty()).then(|| json!({ "uri": shorten(uri, SHOWN) }));
    match error.kind() {
        Kind::NotFound => ErrorData::resource_not_found(error.text(), data),
        Kind::Internal | Kind::TimedOut => ErrorData::internal_error(error.text(), data),
        _ => ErrorData::invalid_params(error.text(), data),
    }
}
