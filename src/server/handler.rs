//! The requests that the server answers, for both lifecycles.
//!
//! Declared are tools, and resources with completions where files can be read. rmcp would answer some requests of other
//! capabilities with an empty success; [`super::stdio`] never delivers them as such, so they are "method not found".

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
        CompleteResult, CompletionInfo, ConstString, DiscoverResult, ErrorCode, Implementation,
        InitializeRequestParams, InitializeResult, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
        ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
        ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, Reference, ServerCapabilities,
        ServerConfig, SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestMethod,
        UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::{Map, Value, json};
use text_file::{nearest_name::did_you_mean, shorten};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{
    audit::Caller,
    tools::{Answer, Kind, Operation, ToolError, Toolbox},
};

use super::{
    audited_call,
    call::{Call, Response},
    confirm::Person,
    convert,
    progress::Progress,
    resources,
    roles::Served,
    stdio::{DuplicateKey, OutputQueue},
    subscribe::{BEGINNING, subscribe},
    subscriptions::Listener,
};

/// How long a client of 2026-07-28 may keep the list of tools: it does not change while the process lives.
const LISTING_TTL_MS: u64 = 3_600_000;
/// Characters of an unknown tool's name that an error repeats.
const NAME_SHOWN: usize = 64;

pub(super) struct Handler {
    /// What each client has; the last one is for all that are in no other.
    served: Vec<Served>,
    output: OutputQueue,
    /// Cancelled when the input ends, and when the server ends: subscriptions end with either.
    closing: [CancellationToken; 2],
    /// Room for requests that begin a subscription.
    beginning: Semaphore,
}

type Context = RequestContext<RoleServer>;

impl Handler {
    /// A handler that serves each client with the first of `served` that fits, and sends progress to `output`.
    /// Subscriptions end with one of `closing`.
    pub(super) fn new(served: Vec<Served>, output: OutputQueue, closing: [CancellationToken; 2]) -> Self {
        Self { served, output, closing, beginning: Semaphore::new(BEGINNING) }
    }

    pub(super) fn output(&self) -> &OutputQueue {
        &self.output
    }

    pub(super) fn beginning(&self) -> &Semaphore {
        &self.beginning
    }

    fn served(&self, client: Option<&str>) -> &Served {
        Served::choose(&self.served, client)
    }

    /// What the client of a request has. Its name may come with each request, so it is asked for at each.
    pub(super) fn served_to(&self, context: &Context) -> &Served {
        self.served(context.client_info().as_ref().map(|client| client.name.as_str()))
    }

    fn info(served: &Served) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        let capabilities = if served.dispatcher.services.toolbox.has_resources() {
            capabilities.enable_resources().enable_resources_subscribe().enable_completions().build()
        } else {
            capabilities.build()
        };
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("rootbound", env!("CARGO_PKG_VERSION"))
                    .with_title("Rootbound")
                    .with_description(env!("CARGO_PKG_DESCRIPTION")),
            )
            .with_instructions(served.instructions.clone())
    }

    /// What the client of a request has, if files are resources for it.
    fn resources_of<M: ConstString>(&self, context: &Context) -> Result<&Served, ErrorData> {
        opened(context)?;
        let served = self.served_to(context);
        if served.dispatcher.services.toolbox.has_resources() {
            Ok(served)
        } else {
            Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, M::VALUE, None))
        }
    }

    /// A call of the client of a request, which reports no progress and about which no person is asked.
    fn call(&self, context: &Context, tool: String, arguments: Map<String, Value>) -> (Call, Caller) {
        let client = context.client_info().map(|client| (client.name, client.version));
        let name = client.as_ref().map(|(name, _)| name.as_str());
        let (answer_budget, longest_wait) = self.served(name).budgets.of(name);
        let call = Call {
            tool,
            operation: None,
            client: String::new(),
            arguments,
            duplicate_key: None,
            id: context.id.to_string(),
            cancelled: context.ct.clone(),
            progress: None,
            person: Person::OutOfReach,
            trace: Arc::default(),
            budget: self.output.budget().clone(),
            answer_budget,
            longest_wait,
        };
        (call, Caller::new(client, context.id.to_string(), &context.meta))
    }

    /// Runs a request as a call of a tool is run.
    async fn operate(
        &self,
        context: &Context,
        operation: Operation,
        cancelled: CancellationToken,
    ) -> Result<Answer, ToolError> {
        let served = self.served_to(context);
        let (call, caller) = self.call(context, operation.name().to_owned(), operation.arguments());
        let call = Call { operation: Some(operation), cancelled, ..call };
        match audited_call::run(&served.dispatcher, caller, call).await? {
            Response::Answer(answer, permit) => {
                if let Some(permit) = permit {
                    self.output.expect(context.id.clone(), permit, context.ct.clone());
                }
                Ok(answer)
            }
            Response::Question(_) => Err(ToolError::new(Kind::Internal, "a resource needs no confirmation")),
        }
    }

    fn unknown_tool(served: &Served, name: &str) -> ErrorData {
        let offered: Vec<&str> = served.listing().iter().map(|tool| tool.name.as_ref()).collect();
        let shown = shorten(name, NAME_SHOWN);
        let what = if Toolbox::known().contains(&name) {
            format!("the tool {shown:?} is not offered")
        } else {
            format!("unknown tool {shown:?}")
        };
        let nearest = did_you_mean(served.dispatcher.services.toolbox.nearest(name));
        let nearest = nearest.map(|question| format!("{question} ")).unwrap_or_default();
        ErrorData::invalid_params(
            format!("{what}; {nearest}this server offers {}", offered.join(", ")),
            Some(json!({ "known": offered })),
        )
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        Self::info(self.served(None))
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        let mut answer = self.negotiate_initialize(&request)?;
        let info = Self::info(self.served(Some(&request.client_info.name)));
        (answer.instructions, answer.capabilities) = (info.instructions, info.capabilities);
        // The version that was agreed on. rmcp's own handler stores the one that was asked for, and after a second
        // `initialize` with an unknown version it judges every request by the rules of 2026-07-28.
        request.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut answer = DiscoverResult::from_server_info(versions, Self::info(self.served_to(&context)));
        answer.ttl_ms = LISTING_TTL_MS;
        // The instructions name this client's roots.
        answer.cache_scope = CacheScope::Private;
        Ok(answer)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        opened(&context)?;
        only_page(request)?;
        let mut result = ListToolsResult::with_all_items(self.served_to(&context).listing().to_vec());
        if is_modern(&context) {
            result.ttl_ms = Some(LISTING_TTL_MS);
            result.cache_scope = Some(CacheScope::Private);
        }
        Ok(result)
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        let served = self.resources_of::<SubscribeRequestMethod>(&context)?;
        let subscriptions = served.subscriptions(&self.output).map_err(|error| resources::error(&error, None))?;
        let uris = vec![request.uri];
        let refused = subscribe(served, &self.beginning, subscriptions, Listener::Connection, uris, false).await?;
        refused.first().map_or(Ok(()), |(uri, error)| Err(resources::error(error, Some(uri.as_str()))))
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        let served = self.resources_of::<UnsubscribeRequestMethod>(&context)?;
        let subscriptions = served.subscriptions(&self.output);
        subscriptions
            .map_err(|error| resources::error(&error, None))?
            .unsubscribe(&Listener::Connection, Some(&request.uri));
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let context = subscription.request_context();
        if let Ok(subscriptions) = self.served_to(context).subscriptions(&self.output) {
            subscriptions.release(&Listener::Request(context.id.clone()));
        }
        let [input_ended, stopped] = &self.closing;
        tokio::select! {
            () = subscription.cancelled() => {}
            () = input_ended.cancelled() => {}
            () = stopped.cancelled() => {}
        }
        Ok(())
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let served = self.resources_of::<ListResourceTemplatesRequestMethod>(&context)?;
        only_page(request)?;
        let templates = resources::templates(&served.dispatcher.services.workspace);
        let mut result = ListResourceTemplatesResult::with_all_items(templates);
        if is_modern(&context) {
            result.ttl_ms = Some(LISTING_TTL_MS);
            result.cache_scope = Some(CacheScope::Private);
        }
        Ok(result)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.resources_of::<ListResourcesRequestMethod>(&context)?;
        let list = Operation::List { cursor: request.and_then(|request| request.cursor) };
        let answer = self.operate(&context, list, context.ct.clone()).await;
        let page = resources::page(answer.map_err(|error| resources::error(&error, None))?)?;
        let mut result = ListResourcesResult::with_all_items(page.resources);
        result.next_cursor = page.next_cursor;
        if is_modern(&context) {
            // Each read of a file changes it.
            (result.ttl_ms, result.cache_scope) = (Some(0), Some(CacheScope::Private));
        }
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.resources_of::<ReadResourceRequestMethod>(&context)?;
        let read = Operation::Read { uri: request.uri.clone() };
        let answer = self.operate(&context, read, context.ct.clone()).await;
        let mut result = resources::content(answer.map_err(|error| resources::error(&error, Some(&request.uri)))?)?;
        if is_modern(&context) {
            (result.ttl_ms, result.cache_scope) = (Some(0), Some(CacheScope::Private));
        }
        Ok(result.into())
    }

    async fn complete(&self, request: CompleteRequestParams, context: Context) -> Result<CompleteResult, ErrorData> {
        let served = self.resources_of::<CompleteRequestMethod>(&context)?;
        let Reference::Resource(template) = request.r#ref else {
            return Err(ErrorData::invalid_params("this server has no prompts; ref must be a ref/resource", None));
        };
        let (argument, value) = (request.argument.name, request.argument.value);
        let complete = Operation::Complete { template: template.uri, argument, value };
        let cancelled = context.ct.child_token();
        served.begin_completion(&cancelled);
        match self.operate(&context, complete, cancelled.clone()).await {
            Ok(answer) => resources::completion(answer).map(CompleteResult::new),
            Err(error) if error.kind() == Kind::Cancelled && !context.ct.is_cancelled() => {
                let later = CompletionInfo::with_pagination(Vec::new(), None, true);
                later.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
            }
            Err(error) => Err(resources::error(&error, None)),
        }
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        opened(&context)?;
        let served = self.served_to(&context);
        let dispatcher = &served.dispatcher;
        let arguments = request.arguments.take().unwrap_or_default();
        let (call, caller) = self.call(&context, request.name.to_string(), arguments);
        let settings = &dispatcher.services.settings;
        if dispatcher.services.toolbox.get(&request.name).is_none() {
            let error = Self::unknown_tool(served, &request.name);
            return match audited_call::unknown(dispatcher, caller, call.tool, call.arguments).await {
                Ok(()) => Err(error),
                Err(unrecorded) => Ok(convert::error(&unrecorded, call.answer_budget).into()),
            };
        }
        let progress = Progress::new(context.meta.get_progress_token(), self.output.clone());
        let person = Person::of(&context, is_modern(&context), &mut request);
        let takes_codes = dispatcher.services.options.takes_codes();
        let client = || context.client_info().map(|client| (client.name, client.version));
        let answer_budget = call.answer_budget;
        let call = Call {
            client: if takes_codes { format!("{:?}", client()) } else { String::new() },
            duplicate_key: context.extensions.get().map(|DuplicateKey(name)| name.clone()),
            progress: progress.sink(),
            person,
            ..call
        };
        let result = audited_call::run(dispatcher, caller, call).await;
        progress.end();
        let result = match result {
            Ok(Response::Answer(answer, permit)) => {
                if let Some(permit) = permit {
                    self.output.expect(context.id.clone(), permit, context.ct.clone());
                }
                convert::answer(answer, settings, answer_budget)
            }
            Ok(Response::Question(question)) => return Ok(question.0.into()),
            Err(error) => convert::error(&error, answer_budget),
        };
        Ok(result.into())
    }
}

/// Refuses a cursor of a list that has one page: none was ever given out.
fn only_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    let Some(cursor) = request.and_then(|request| request.cursor) else { return Ok(()) };
    let shown = shorten(&cursor, NAME_SHOWN);
    Err(ErrorData::invalid_params(format!("unknown cursor {shown:?}"), None))
}

/// Whether the request uses the protocol without a handshake (2026-07-28).
fn is_modern(context: &Context) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// A request needs either a handshake before it or its own protocol version.
fn opened(context: &Context) -> Result<(), ErrorData> {
    if context.protocol_version().is_some() {
        return Ok(());
    }
    let missing = context.meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
    Err(ErrorData::invalid_params(
        format!("send initialize first, or with the request its _meta fields {}", missing.join(", ")),
        None,
    ))
}
