//! The requests that the server answers, for both lifecycles.
//!
//! Declared are tools, and resources with completions where files can be read. rmcp would answer some requests of other
//! capabilities with an empty success; [`super::stdio`] never delivers them as such, so they are "method not found".

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
        DiscoverResult, ErrorCode, Implementation, InitializeRequestParams, InitializeResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProgressNotification, ProgressNotificationParam, ProgressToken, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, Reference, ResultType, ServerCapabilities, ServerConfig, ServerJsonRpcMessage,
        ServerNotification,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};
use text_file::{nearest_name::did_you_mean, shorten};
use tokio_util::sync::CancellationToken;

use file_tools::{Answer, Kind, Operation, ProgressSink, ProgressUpdate, ToolError, Toolbox, audit::Caller};

use super::{
    call::{Call, Response},
    confirm::Person,
    results,
    roles::Served,
    stdio::{DuplicateKey, OutputQueue},
};

/// How long a client of 2026-07-28 may keep the list of tools: it does not change while the process lives.
const LISTING_TTL_MS: u64 = 3_600_000;
const MAX_NAME: usize = 64;

pub(super) struct Handler {
    /// The services of each client; the last are for all that are in no other.
    served: Vec<Served>,
    output: OutputQueue,
}

type Context = RequestContext<RoleServer>;
type Reply<T> = Result<T, ErrorData>;

impl Handler {
    /// A handler that serves each client with the first of `served` that fits, and sends progress to `output`.
    pub(super) fn new(served: Vec<Served>, output: OutputQueue) -> Self {
        Self { served, output }
    }

    /// The services of the client that calls itself `client`: the first that fits. The last fits all.
    fn served(&self, client: Option<&str>) -> &Served {
        let fits = |served: &&Served| served.is_for(client);
        self.served.iter().find(fits).unwrap_or_else(|| &self.served[self.served.len() - 1])
    }

    /// The services of the client of a request. Its name may come with each request, so it is asked for at each.
    fn served_to(&self, context: &Context) -> &Served {
        self.served(context.client_info().as_ref().map(|client| client.name.as_str()))
    }

    fn info(served: &Served) -> ServerConfig {
        let builder = ServerCapabilities::builder().enable_tools();
        let capabilities = if served.dispatcher.services.toolbox.has_resources() {
            builder.enable_resources().enable_completions().build()
        } else {
            builder.build()
        };
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("rootbound", env!("CARGO_PKG_VERSION"))
                    .with_title("Rootbound")
                    .with_description(env!("CARGO_PKG_DESCRIPTION")),
            )
            .with_instructions(served.instructions.clone())
    }

    /// The services of the client of a request, if files are resources for it.
    fn resources_of(&self, context: &Context, method: &'static str) -> Reply<&Served> {
        opened(context)?;
        let served = self.served_to(context);
        if served.dispatcher.services.toolbox.has_resources() {
            Ok(served)
        } else {
            Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
        }
    }

    fn call(&self, served: &Served, context: &Context, tool: String, arguments: Map<String, Value>) -> Call {
        let client = context.client_info().map(|client| (client.name, client.version));
        let (answer_budget, longest_wait) = served.budgets.of(client.as_ref().map(|(name, _)| name.as_str()));
        Call {
            tool,
            operation: None,
            caller: Caller::new(client, context.id.to_string(), &context.meta),
            arguments,
            duplicate_key: context.extensions.get().map(|DuplicateKey(name)| name.clone()),
            cancelled: context.ct.clone(),
            progress: None,
            person: Person::OutOfReach,
            trace: Arc::default(),
            response_budget: self.output.budget().clone(),
            answer_budget,
            longest_wait,
        }
    }

    /// Runs a call; a large answer keeps its share of the budget until it is written.
    async fn run(&self, served: &Served, context: &Context, call: Call) -> Result<Response, ToolError> {
        let mut response = served.dispatcher.run(call).await?;
        if let Response::Answer(_, permit) = &mut response
            && let Some(permit) = permit.take()
        {
            self.output.expect(context.id.clone(), permit, context.ct.clone());
        }
        Ok(response)
    }

    async fn operate(
        &self,
        context: &Context,
        operation: Operation,
        cancelled: CancellationToken,
    ) -> Result<Answer, ToolError> {
        let served = self.served_to(context);
        let call = self.call(served, context, operation.name().to_owned(), operation.arguments());
        let call = Call { operation: Some(operation), cancelled, ..call };
        match self.run(served, context, call).await? {
            Response::Answer(answer, _) => Ok(answer),
            _ => Err(ToolError::new(Kind::Internal, "a resource needs no confirmation")),
        }
    }

    fn unknown_tool(served: &Served, name: &str) -> ErrorData {
        let offered: Vec<&str> = served.listing().iter().map(|tool| tool.name.as_ref()).collect();
        let shown = shorten(name, MAX_NAME);
        let what = if Toolbox::known().contains(&name) {
            format!("the tool {shown:?} is not offered")
        } else {
            format!("unknown tool {shown:?}")
        };
        let nearest = did_you_mean(served.dispatcher.services.toolbox.nearest(name));
        let nearest = nearest.map(|question| format!("{question} ")).unwrap_or_default();
        // An error of the protocol and not of a tool, with the names in its text, which is what a model is shown
        // (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling).
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

    async fn initialize(&self, mut request: InitializeRequestParams, context: Context) -> Reply<InitializeResult> {
        let mut answer = self.negotiate_initialize(&request)?;
        let info = Self::info(self.served(Some(&request.client_info.name)));
        (answer.instructions, answer.capabilities) = (info.instructions, info.capabilities);
        // The version that was agreed on. rmcp's own handler stores the one that was asked for, and after a second
        // `initialize` with an unknown version it judges every request by the rules of 2026-07-28.
        request.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn discover(&self, context: Context) -> Reply<DiscoverResult> {
        let versions = ServerHandler::supported_protocol_versions(self).into_owned();
        let mut answer = DiscoverResult::from_server_info(versions, Self::info(self.served_to(&context)));
        answer.ttl_ms = LISTING_TTL_MS;
        // The instructions name this client's roots.
        answer.cache_scope = CacheScope::Private;
        Ok(answer)
    }

    async fn list_tools(&self, request: Option<PaginatedRequestParams>, context: Context) -> Reply<ListToolsResult> {
        opened(&context)?;
        only_page(request)?;
        let mut result = ListToolsResult::with_all_items(self.served_to(&context).listing().to_vec());
        (result.ttl_ms, result.cache_scope) = cache_for(LISTING_TTL_MS, &context);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Reply<ListResourceTemplatesResult> {
        let served = self.resources_of(&context, "resources/templates/list")?;
        only_page(request)?;
        let templates = results::resource_templates(&served.dispatcher.services.workspace);
        let mut result = ListResourceTemplatesResult::with_all_items(templates);
        (result.ttl_ms, result.cache_scope) = cache_for(LISTING_TTL_MS, &context);
        Ok(result)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Reply<ListResourcesResult> {
        self.resources_of(&context, "resources/list")?;
        let list = Operation::List { cursor: request.and_then(|request| request.cursor) };
        let answer = self.operate(&context, list, context.ct.clone()).await;
        let page = results::facts(answer.map_err(|error| results::resource_error(&error, None))?.facts)?;
        let mut result = ListResourcesResult { result_type: Some(ResultType::COMPLETE), ..page };
        // Each read of a file changes it.
        (result.ttl_ms, result.cache_scope) = cache_for(0, &context);
        Ok(result)
    }

    async fn read_resource(&self, request: ReadResourceRequestParams, context: Context) -> Reply<ReadResourceResponse> {
        self.resources_of(&context, "resources/read")?;
        let read = Operation::Read { uri: request.uri.clone() };
        let answer = self.operate(&context, read, context.ct.clone()).await;
        let answer = answer.map_err(|error| results::resource_error(&error, Some(&request.uri)))?;
        let mut result = results::resource_content(answer);
        (result.ttl_ms, result.cache_scope) = cache_for(0, &context);
        Ok(result.into())
    }

    async fn complete(&self, request: CompleteRequestParams, context: Context) -> Reply<CompleteResult> {
        let served = self.resources_of(&context, "completion/complete")?;
        let Reference::Resource(template) = request.r#ref else {
            return Err(ErrorData::invalid_params("this server has no prompts; ref must be a ref/resource", None));
        };
        let (argument, value) = (request.argument.name, request.argument.value);
        let complete = Operation::Complete { template: template.uri, argument, value };
        let cancelled = context.ct.child_token();
        served.begin_completion(&cancelled);
        match self.operate(&context, complete, cancelled.clone()).await {
            Ok(answer) => results::facts(answer.facts).map(CompleteResult::new),
            // Given up for a newer one and not by the client, which would show an error to the person who types.
            Err(error) if error.kind() == Kind::Cancelled && !context.ct.is_cancelled() => {
                let later = CompletionInfo::with_pagination(Vec::new(), None, true);
                later.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
            }
            Err(error) => Err(results::resource_error(&error, None)),
        }
    }

    async fn call_tool(&self, mut request: CallToolRequestParams, context: Context) -> Reply<CallToolResponse> {
        opened(&context)?;
        let served = self.served_to(&context);
        let arguments = request.arguments.take().unwrap_or_default();
        let mut call = self.call(served, &context, request.name.to_string(), arguments);
        let (settings, budget) = (&served.dispatcher.services.settings, call.answer_budget);
        let progress = Progress::new(context.meta.get_progress_token(), self.output.clone());
        call.progress = progress.sink.clone();
        call.person = Person::of(&context, is_modern(&context), &mut request);
        let result = self.run(served, &context, call).await;
        progress.end();
        Ok(match result {
            Ok(Response::Answer(answer, _)) => results::call_result(answer, settings, budget).into(),
            Ok(Response::Question(question)) => question.into(),
            Ok(Response::UnknownTool) => return Err(Self::unknown_tool(served, &request.name)),
            Err(error) => results::call_error(&error, budget).into(),
        })
    }
}

/// Refuses a cursor of a list that has one page: none was ever given out.
fn only_page(request: Option<PaginatedRequestParams>) -> Reply<()> {
    let Some(cursor) = request.and_then(|request| request.cursor) else { return Ok(()) };
    let shown = shorten(&cursor, MAX_NAME);
    Err(ErrorData::invalid_params(format!("unknown cursor {shown:?}"), None))
}

/// Whether the request uses the protocol without a handshake (2026-07-28).
fn is_modern(context: &Context) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// How long a client may keep a result, which is its own; a client with a handshake is told nothing.
fn cache_for(milliseconds: u64, context: &Context) -> (Option<u64>, Option<CacheScope>) {
    is_modern(context).then_some((milliseconds, CacheScope::Private)).unzip()
}

fn opened(context: &Context) -> Reply<()> {
    if context.protocol_version().is_some() {
        return Ok(());
    }
    let missing = context.meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
    Err(ErrorData::invalid_params(
        format!("send initialize first, or with the request its _meta fields {}", missing.join(", ")),
        None,
    ))
}

/// At most ten updates a second.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// The progress of one call.
///
/// Progress notifications: throttled, growing, never after the result; the work never waits for them.
///
/// The sink runs on the thread that does the work and puts the notification straight into the output queue, before the
/// result of the same call. rmcp's own `notify_progress` is not used: it waits for the service loop, which is gone
/// once the input has ended.
#[derive(Default)]
struct Progress {
    state: Option<Arc<Mutex<Throttle>>>,
    sink: ProgressSink,
}

impl Progress {
    /// Progress to the client that sent `token`; none without one.
    fn new(token: Option<ProgressToken>, output: OutputQueue) -> Self {
        let Some(token) = token else { return Self::default() };
        let state = Arc::new(Mutex::new(Throttle::default()));
        let shared = Arc::clone(&state);
        let sink: ProgressSink = Some(Arc::new(move |update: ProgressUpdate| {
            // The lock is held while the line is enqueued, so that none can follow `end`.
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            // One that finds no room is lost, which the next one makes up for: each has the whole count.
            if state.admits(update.done, Instant::now()) && output.has_room() {
                output.message(&notification(token.clone(), update));
            }
        }));
        Self { state: Some(state), sink }
    }

    /// Sends nothing from here on, as the result follows: work that was abandoned may still report.
    fn end(&self) {
        if let Some(state) = &self.state {
            state.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        }
    }
}

#[derive(Debug, Default)]
struct Throttle {
    last: Option<(Instant, u64)>,
    ended: bool,
}

impl Throttle {
    /// Whether an update may go out now: not too soon, and with more done than the last one, as the protocol demands
    /// (<https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress>).
    fn admits(&mut self, done: u64, now: Instant) -> bool {
        let due = self.last.is_none_or(|(at, before)| done > before && now.duration_since(at) >= MIN_INTERVAL);
        if self.ended || !due {
            return false;
        }
        self.last = Some((now, done));
        true
    }
}

fn notification(token: ProgressToken, update: ProgressUpdate) -> ServerJsonRpcMessage {
    let mut params = ProgressNotificationParam::new(token, precise(update.done)).with_message(update.message);
    if let Some(total) = update.total {
        params = params.with_total(precise(total));
    }
    ServerJsonRpcMessage::notification(ServerNotification::ProgressNotification(ProgressNotification::new(params)))
}

#[expect(clippy::cast_precision_loss, reason = "the wire has only floats, exact up to 2^53")]
fn precise(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_throttled_and_must_grow() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut state = Throttle::default();
        assert!(state.admits(0, at(0)), "the first goes out at once");
        assert!(!state.admits(5, at(50)), "too soon");
        assert!(!state.admits(0, at(200)), "no further than before");
        assert!(state.admits(1, at(200)));
    }

    #[test]
    fn no_update_after_the_end() {
        let mut state = Throttle { ended: true, ..Throttle::default() };
        assert!(!state.admits(1, Instant::now()));
    }
}
