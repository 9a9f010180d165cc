//! Serves `subscriptions/listen`, and passes all other requests on to the handler as they are.
//!
//! `subscriptions/listen` (2026-07-28) is one long request for several URIs; it is acknowledged first, and what has
//! changed since is sent after that. It ends when it is cancelled, and with the input. rmcp acknowledges without asking
//! who calls, so the URIs are looked at before it gets the request: [`ListenService`] leaves out those that are refused.

use std::{pin::Pin, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, Service,
    model::{
        ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult, SubscriptionsListenRequest,
        SubscriptionsListenRequestMethod,
    },
    service::{NotificationContext, RequestContext},
};
use tokio::sync::Semaphore;

use text_file::shorten;

use super::{
    handler::Handler,
    resources,
    subscribe::subscribe,
    subscriptions::{Listener, Subscriptions},
};

/// `subscriptions/listen` requests at once.
const MOST: usize = 64;
/// Bytes of a URI that the log repeats.
const SHOWN: usize = 1024;

/// The handler, and the check of what a `subscriptions/listen` request is about.
pub(super) struct ListenService {
    handler: Handler,
    listens: Semaphore,
}

impl ListenService {
    pub(super) fn new(handler: Handler) -> Self {
        Self { handler, listens: Semaphore::new(MOST) }
    }

    /// Follows what a `subscriptions/listen` request is about, and leaves the rest to rmcp and the handler.
    async fn listen(
        &self,
        mut request: SubscriptionsListenRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let Ok(_permit) = self.listens.try_acquire() else {
            return Err(ErrorData::invalid_request(
                format!("there are too many subscriptions/listen requests: at most {MOST} at once; cancel one first"),
                None,
            ));
        };
        let served = self.handler.served_to(&context);
        if !served.dispatcher.services.toolbox.has_resources() {
            return Err(ErrorData::method_not_found::<SubscriptionsListenRequestMethod>());
        }
        let mut following = None;
        if let Some(uris) = request.params.notifications.resource_subscriptions.as_mut().filter(|uris| !uris.is_empty())
        {
            let listener = Listener::Request(context.id.clone());
            let subscriptions =
                served.subscriptions(self.handler.output()).map_err(|error| resources::error(&error, None))?;
            // Ends with this request, however it ends.
            following = Some(Following { subscriptions: Arc::clone(&subscriptions), listener: listener.clone() });
            let refused =
                subscribe(served, self.handler.beginning(), subscriptions, listener, uris.clone(), true).await?;
            for (uri, error) in &refused {
                tracing::info!(uri = %shorten(uri, SHOWN), reason = %error.text(), "refused a subscription");
            }
            uris.retain(|uri| !refused.iter().any(|(other, _)| other == uri));
            if let (true, Some((uri, error))) = (uris.is_empty(), refused.first()) {
                return Err(resources::error(error, Some(uri.as_str())));
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

type Answering<'a> = Pin<Box<dyn Future<Output = Result<ServerResult, ErrorData>> + Send + 'a>>;

impl Drop for Following {
    fn drop(&mut self) {
        self.subscriptions.unsubscribe(&self.listener, None);
    }
}

/// The futures are boxed: rmcp moves them several times on the way to a task, and they hold the largest of all requests.
impl Service<RoleServer> for ListenService {
    fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ServerResult, ErrorData>> + Send + '_ {
        match request {
            ClientRequest::SubscriptionsListenRequest(request) if is_complete(&context) => {
                Box::pin(self.listen(request, context)) as Answering<'_>
            }
            request => Box::pin(self.handler.handle_request(request, context)),
        }
    }

    fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        Box::pin(self.handler.handle_notification(notification, context))
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
