//! One call from its arguments to its answer: record, recover, admit, plan, approve, commit.
//!
//! Knows no protocol types and no tool. Planning is raced against cancellation and the deadline. A commit only learns
//! of them, and stops while nothing of the change can be seen: once a rename may happen, the answer says what truly
//! happened. While a commit waits for another one, or a person is asked, the call gives up its permit and its clock
//! does not run.

use std::{
    io, mem,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use change_set::{Approval, WaitLimit};
use confined_fs::stop::{StopReason, StopSignal};
use serde_json::{Map, Value};
use tokio::time;
use tracing::Instrument as _;

use file_tools::{
    Answer, Blocking, CallContext, Change, Content, ErasedTool, Kind, Plan, ToolError,
    audit::{Audit, AuditOutcome, CallRecord},
    undo::purge::purge_again,
};

use super::{
    call::{Call, Response, Trace, unrecorded},
    concurrency::{self, Load, Permit, Shared, WIND_UP, area, idle_for, is_silent_after},
    confirm::{Confirm, Confirmation, Draft, Person, Proposal, Reply, approve_by_code, take_code},
    services::{DiskChanges, Services},
    threads::{catch_panic, ended, no_thread},
    waiting,
};

/// Bytes of the longest name and of the longest text of an argument of a call that is answered inline.
const MAX_INLINE_NAME: usize = 64;
const MAX_INLINE_TEXT: usize = 32 << 10;
/// How long cancelled work may take to notice, before its call is answered without it.
const NOTICE_LIMIT: Duration = Duration::from_millis(400);
/// How long a change does nothing, after its deadline, before its call is answered without it.
const STUCK_COMMIT_AFTER: Duration = Duration::from_secs(10);
/// Bytes of the largest change that gives up its permit while it waits for another one. Larger ones keep it, so that
/// only as many as there are permits are held in memory.
const MAX_WAITING_CHANGE: u64 = 1 << 20;

pub(super) struct Dispatcher {
    pub(super) services: Arc<Services>,
    pub(super) shared: Arc<Shared>,
    confirmation: Confirmation,
    /// Held, as it follows the changes that long.
    _disk_changes: Option<Arc<DiskChanges>>,
}

/// A call that holds a permit; its clock runs.
struct Admitted {
    call: Call,
    load: Load,
    area: String,
    cx: CallContext,
    /// Shared with what runs on a pool, so that abandoned work keeps it until it ends.
    permit: Arc<Permit>,
    deadline: time::Instant,
}

impl Dispatcher {
    pub(super) fn new(services: Services) -> Self {
        let shared = Arc::new(Shared::new(services.options.max_concurrent));
        Self::sharing(shared, services)
    }

    fn sharing(shared: Arc<Shared>, services: Services) -> Self {
        let confirmation = Confirmation::new(services.options.confirm_limit);
        let disk_changes = DiskChanges::follow(&services);
        Self { services: Arc::new(services), shared, confirmation, _disk_changes: disk_changes }
    }

    /// A dispatcher of the calls of a role, which share the threads and permits of this one.
    pub(super) fn of_role(&self, services: Services) -> Self {
        Self::sharing(Arc::clone(&self.shared), services)
    }

    /// Runs `call`; with an audit, writes its line: described before it runs, concluded when it has been answered.
    pub(super) async fn run(&self, mut call: Call) -> Result<Response, ToolError> {
        let by = call.caller.named(self.services.options.label.as_deref()).map(Arc::from);
        if let Some(client) = call.caller.client_name() {
            self.services.session.history.set_client(client);
        }
        let Some(audit) = self.services.options.audit.clone() else {
            call.trace = Arc::new(Trace { by, ..Trace::default() });
            return self.run_and_log(call).await;
        };
        let started = Instant::now();
        let record = Some((Arc::clone(&audit), self.describe(audit, &call).await?));
        let trace = Arc::new(Trace { record, by, ..Trace::default() });
        call.trace = Arc::clone(&trace);
        let result = self.run_and_log(call).await;
        let outcome = outcome(&result, &trace, started);
        self.conclude(trace, outcome).await.and(result)
    }

    /// Describes a call for its line before it runs. It looks at where the paths lead, so it takes a permit of the call's
    /// area: a file system that hangs holds only as many threads as there are.
    async fn describe(&self, audit: Arc<Audit>, call: &Call) -> Result<CallRecord, ToolError> {
        let (services, limit) = (Arc::clone(&self.services), self.limit());
        let (caller, tool, arguments) = (call.caller.clone(), call.tool.clone(), call.arguments.clone());
        let area = area(&services, &tool, &arguments);
        let Ok(permit) = time::timeout(limit, self.shared.limits.area_permit(Load::Audit, &area)).await else {
            return Err(concurrency::undescribed(limit));
        };
        let describe = move || {
            let _permit = permit;
            let spec = services.toolbox.get(&tool).map(|tool| tool.spec);
            let meant = |given: &str| spec.and_then(|spec| spec.renamed(given));
            audit.describe(&caller, &tool, &arguments, meant, &services.workspace)
        };
        self.shared.pools.within(limit, describe).await.map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => concurrency::undescribed(limit).source(error),
            io::ErrorKind::Other => {
                ToolError::new(Kind::Internal, "the call was not started: its audit line could not be prepared")
                    .hint("try once more; if it fails again, report it to the user")
                    .source(error)
            }
            _ => no_thread("the call was not started").source(error),
        })
    }

    /// Writes how a call ended. What was changed stays changed, and its answer says what truly happened.
    async fn conclude(&self, trace: Arc<Trace>, outcome: AuditOutcome) -> Result<(), ToolError> {
        // Once something was written, an error would make the model send the change again.
        let is_needed = trace.record.as_ref().is_some_and(|(audit, _)| audit.required) && trace.written.get().is_none();
        let write = move || {
            trace.record.as_ref().map_or(Ok(()), |(audit, record)| audit.conclude(record, &outcome, &trace.changes))
        };
        let Err(error) = self.shared.pools.within(self.limit(), write).await.unwrap_or_else(Err) else { return Ok(()) };
        tracing::error!(%error, "the audit could not be written");
        if is_needed { Err(unrecorded(error)) } else { Ok(()) }
    }

    async fn run_and_log(&self, call: Call) -> Result<Response, ToolError> {
        let is_tool = call.operation.is_none();
        if is_tool && self.services.toolbox.get(&call.tool).is_none() {
            return Ok(Response::UnknownTool);
        }
        let span = tracing::info_span!("call", tool = call.tool, id = call.caller.request);
        async {
            let started = Instant::now();
            let start = self.services.forget_purged();
            self.recover().await;
            let mut result = self.answer(call).await;
            if let Ok(Response::Answer(answer, _)) = &mut result
                && is_tool
            {
                // What is read as a resource is the content of a file, and a note would become a part of it.
                let notes = self.services.workspace.take_recovery_notes();
                answer.content.extend(notes.into_iter().map(|note| Content::Text(format!("note: {note}"))));
            }
            // The call may have kept once more what was purged meanwhile.
            if self.services.session.purges.end() != start {
                let services = Arc::clone(&self.services);
                let again = move || purge_again(&services.workspace, &services.session, start);
                if let Err(error) = self.shared.pools.within(self.limit(), again).await.and_then(|done| done) {
                    tracing::error!(%error, "what was purged during this call may be kept again: purge once more");
                }
            }
            log(&result, started.elapsed());
            result
        }
        .instrument(span)
        .await
    }

    /// Completes or rolls back what a process that has ended left half done, so that no call sees it. On a thread of
    /// the pool, as that waits for other processes. Where it takes too long, the call goes on without it. One system
    /// call where there is nothing.
    async fn recover(&self) {
        let workspace = Arc::clone(&self.services.workspace);
        if !workspace.may_need_recovery() {
            return;
        }
        let stop = StopSignal::after(self.limit());
        let wait_limit = WaitLimit::until(move || stop.stopped().is_some(), || {});
        if let Err(error) = self.shared.pools.within(self.limit(), move || workspace.recover(&wait_limit)).await {
            tracing::warn!(%error, "an interrupted change is not recovered before this call");
        }
    }

    async fn answer(&self, mut call: Call) -> Result<Response, ToolError> {
        self.services.check_configured()?;
        if let Some(key) = &call.duplicate_key {
            return Err(ToolError::invalid(format!("duplicate key `{key}` in one object of the call"))
                .hint(format!("send {key} once")));
        }
        let cx = CallContext {
            changes: call.trace.record.is_some().then(|| Arc::clone(&call.trace.changes)),
            progress: call.progress.clone(),
            budget: call.answer_budget,
            longest_wait: call.longest_wait.within(self.services.options.longest_wait),
            by: call.trace.by.clone(),
            is_individual: call.caller.thread.is_some(),
            ..self.services.context(self.limit())
        };
        if self.services.toolbox.get(&call.tool).is_some_and(|tool| tool.waits) {
            let answer = waiting::answer(&self.shared, &self.services, &mut call, &cx).await?;
            return deliver(answer, &call).await;
        }
        if let Some(outcome) = self.answer_inline(&call, &cx).await {
            return outcome;
        }
        let mut admitted = self.admit(call, cx).await?;
        let (change, consent) = match self.plan(&mut admitted).await? {
            Planned::Answer(answer) => return deliver(answer, &admitted.call).await,
            Planned::Change(change, consent) => (change, consent),
        };
        let approval = match consent {
            Ok(approval) => approval,
            Err(proposal) => match self.approve(&mut admitted, &proposal).await? {
                Reply::Approved(approval) => approval,
                Reply::Ask(question) => return Ok(Response::Question(question)),
            },
        };
        self.commit(admitted, change, approval).await
    }

    fn limit(&self) -> Duration {
        self.services.options.deadline
    }

    fn load(&self, tool: &str) -> Load {
        let is_heavy = self.services.toolbox.get(tool).is_some_and(|tool| tool.spec.heavy);
        if is_heavy { Load::Heavy } else { Load::Light }
    }

    /// The answer on the thread that reads the client's requests, if the call has one and a permit is free.
    ///
    /// A small read takes less time than handing it to another thread and back: 109 µs a round trip, 149 by a thread of the
    /// pool, 129 where this one spins meanwhile. Only tools that say so are tried, with [`Blocking::Never`] and with few
    /// arguments; whatever fails is planned on a thread of the pool instead, which costs 16 µs more.
    async fn answer_inline(&self, call: &Call, cx: &CallContext) -> Option<Result<Response, ToolError>> {
        let tool: &ErasedTool = self.services.toolbox.get(&call.tool)?;
        if call.cancelled.is_cancelled() || !tool.inline || !are_small(&call.arguments) {
            return None;
        }
        // Without waiting: the thread that reads requests would wait.
        let _permit = self.shared.limits.server_wide(self.load(&call.tool)).try_acquire().ok()?;
        let cx = CallContext { blocking: Blocking::Never, ..cx.clone() };
        // An error is found again, and reported in full, where the call may wait; a panic is not tried twice.
        let planned = catch_panic(|| Ok(tool.plan(&cx, call.arguments.clone())));
        let mut answer = match planned {
            Ok(Ok(Plan::Answer(answer))) => answer,
            Ok(_) => return None,
            Err(crashed) => return Some(Err(crashed)),
        };
        if let Some(sighting) = answer.sighting.take() {
            let session = Arc::clone(&cx.session);
            // The answer is true without it: at worst the next process has to read the file again.
            let saved = self.shared.pools.within(cx.stop.limit(), move || session.ledger.save(&sighting)).await;
            if saved.is_err() {
                tracing::warn!(
                    "what was read is not remembered for the next process: no thread, or a stuck state folder"
                );
            }
        }
        Some(deliver(answer, call).await)
    }

    /// Waits for a permit. The clock runs meanwhile: the client waits, too.
    async fn admit(&self, call: Call, mut cx: CallContext) -> Result<Admitted, ToolError> {
        let mut deadline = time::Instant::now() + self.limit();
        let (load, area) = (self.load(&call.tool), area(&self.services, &call.tool, &call.arguments));
        let (permit, waited_for_client) = self.permit(&call, load, &area).await?;
        // A client that does not read its answers holds the permits itself, so this time is not the call's.
        if waited_for_client {
            (cx.stop, deadline) = (StopSignal::after(self.limit()), time::Instant::now() + self.limit());
        }
        Ok(Admitted { call, load, area, cx, permit: Arc::new(permit), deadline })
    }

    /// A permit, and whether the call waited until the client had read other answers.
    async fn permit(&self, call: &Call, load: Load, area: &str) -> Result<(Permit, bool), ToolError> {
        let limit = self.limit();
        let mut permit = pin!(self.shared.limits.permit(load, area));
        let (mut waited_for_client, mut waits) = (false, call.response_budget.waits());
        loop {
            tokio::select! {
                biased;
                () = call.cancelled.cancelled() => return Err(ToolError::cancelled()),
                permit = permit.as_mut() => {
                    let permit = permit.map_err(|closed| {
                        ToolError::new(Kind::Internal, "the server is ending, and the call was not started")
                            .hint("call again after the server has started again")
                            .source(closed)
                    })?;
                    return Ok((permit, waited_for_client));
                }
                () = time::sleep(limit) => {
                    if !call.response_budget.was_short_since(&mut waits) {
                        let area_is_full = self.shared.limits.server_wide(load).available_permits() > 0;
                        return Err(concurrency::no_permit(area_is_full, limit));
                    }
                    waited_for_client = true;
                }
            }
        }
    }

    /// Plans the call on a thread, until it is cancelled or its time is used up.
    async fn plan(&self, admitted: &mut Admitted) -> Result<Planned, ToolError> {
        let Admitted { call, load, cx, permit, deadline, .. } = admitted;
        let operation = call.operation.take();
        let work = {
            let (services, cx, trace) = (Arc::clone(&self.services), cx.clone(), Arc::clone(&call.trace));
            let (tool, arguments) = (call.tool.clone(), mem::take(&mut call.arguments));
            let takes_codes = services.options.takes_codes();
            let by_code = takes_codes && matches!(call.person, Person::OutOfReach);
            // A code is bound to the client.
            let client = if takes_codes { format!("{:?}", call.caller.client) } else { String::new() };
            move || match operation {
                Some(operation) => operation.run(&cx).map(Planned::Answer),
                None => plan(&services, &cx, &tool, arguments, &client, by_code, &trace),
            }
        };
        let is_one_of_several = *load == Load::Heavy && self.shared.limits.is_crowded();
        let mut plan = self.shared.pools.start(is_one_of_several, permit, work)?;
        tokio::select! {
            biased;
            // First: a plan that is there counts, also if the call was cancelled at the same moment.
            done = &mut plan => ended(done),
            () = call.cancelled.cancelled() => {
                cx.stop.cancel();
                time::timeout(NOTICE_LIMIT, &mut plan).await.map_or_else(|_| Err(ToolError::cancelled()), ended)
            }
            is_silent = is_silent_after(*deadline, &cx.stop) => {
                cx.stop.cancel();
                // Its thread may hang. The permit of its area stays with it.
                permit.release_server();
                if plan.take_back() {
                    return Err(no_thread(&format!("none was free within {:.0?}", self.limit())));
                }
                if cx.stop.is_computing() {
                    return Err(ToolError::compiled_too_long(self.limit()));
                }
                Err(concurrency::abandoned(is_silent, self.limit()))
            }
            never = permit.release_when_stuck(&cx.stop) => match never {},
        }
    }

    /// Asks a person about a change, without a permit. The call's time starts again after that.
    async fn approve(&self, admitted: &mut Admitted, proposal: &Proposal) -> Result<Reply, ToolError> {
        let Admitted { call, load, area, cx, permit, .. } = admitted;
        permit.release();
        let reply = self.confirmation.ask(&call.person, proposal, &call.cancelled, cx.progress.clone()).await?;
        if let Reply::Approved(_) = reply {
            let _ = call.trace.confirmation.set("confirmed_by_person");
            *permit = Arc::new(self.permit(call, *load, area).await?.0);
            cx.stop = StopSignal::after(self.limit());
        }
        Ok(reply)
    }

    /// Makes a change, and waits for it as long as it does something.
    async fn commit(
        &self,
        admitted: Admitted,
        change: Box<dyn Change>,
        approval: Approval,
    ) -> Result<Response, ToolError> {
        let Admitted { call, mut cx, permit, .. } = admitted;
        if call.cancelled.is_cancelled() {
            return Err(ToolError::cancelled());
        }
        // Nothing is written yet, so a change whose time is used up is not begun.
        cx.check()?;
        let stop = cx.stop.clone();
        let work = {
            let (shared, trace, held) = (Arc::clone(&self.shared), Arc::clone(&call.trace), Arc::clone(&permit));
            move || {
                let _running = shared.commits.begin();
                if change.cost().bytes <= MAX_WAITING_CHANGE {
                    cx.yields = Some(Arc::new(move || held.release()));
                }
                make(change, &cx, approval, &trace)
            }
        };
        // Never with a lower priority: a change holds locks that other calls wait for.
        let mut commit = self.shared.pools.start(false, &permit, work)?;
        let stuck = async {
            // The change stops by itself at its deadline: only one that does not is stuck.
            time::sleep(self.limit() + WIND_UP).await;
            idle_for(STUCK_COMMIT_AFTER, &stop).await;
        };
        tokio::pin!(stuck);
        let mut is_cancelled = false;
        loop {
            tokio::select! {
                biased;
                done = &mut commit => return ended(done).map(|answer| Response::Answer(answer, None)),
                // Once: the token stays cancelled, and the loop would spin.
                () = call.cancelled.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    stop.cancel();
                }
                () = &mut stuck => {
                    // Before it is taken back: work that begins at this very moment then sees it, and writes nothing.
                    stop.cancel();
                    if commit.take_back() {
                        return Err(no_thread("the change was not started"));
                    }
                    permit.release_server();
                    return Err(concurrency::stuck_commit(self.limit()));
                }
            }
        }
    }
}

enum Planned {
    Answer(Answer),
    /// A change with its approval, or with what a person must be asked about first.
    Change(Box<dyn Change>, Result<Approval, Proposal>),
}

/// Plans a call. `by_code`: where a person must agree to its change, the code of the call shows that they have.
fn plan(
    services: &Services,
    cx: &CallContext,
    tool: &str,
    mut arguments: Map<String, Value>,
    client: &str,
    by_code: bool,
    trace: &Trace,
) -> Result<Planned, ToolError> {
    let tool = services.toolbox.get(tool).ok_or_else(|| ToolError::new(Kind::Internal, "no such tool"))?;
    // Taken out first: the repeated call differs from the one that was refused in the code alone.
    let code = if tool.spec.read_only { None } else { take_code(&mut arguments) };
    let confirm = if tool.spec.read_only { Confirm::Never } else { services.options.confirm };
    let draft = (confirm != Confirm::Never).then(|| {
        let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
        let origin = format!("{client} {}", roots.join(" "));
        // Under the names of the schema: a model may spell an argument in another way when it repeats the call.
        Draft::of(confirm, tool.spec.name, &tool.canonical(&arguments), &origin)
    });
    // The draft is made before: the plan takes the arguments that an answer is bound to.
    let change = match tool.plan(cx, arguments)? {
        Plan::Answer(mut answer) => {
            answer.sighting.take().inspect(|sighting| cx.session.ledger.save(sighting));
            return Ok(Planned::Answer(answer));
        }
        Plan::Change(change) => change,
        Plan::Wait(_) => return Err(ToolError::new(Kind::Internal, "the tool does not say that it waits")),
    };
    let consent = match draft.and_then(|draft| draft.proposal(&*change)) {
        None => Ok(Approval::by_policy()),
        Some(proposal) if by_code => {
            let approval = approve_by_code(&cx.session, &proposal, code.as_deref());
            let _ = trace.confirmation.set(match (&approval, &code) {
                (Ok(_), _) => "confirmed_through_model",
                (Err(_), None) => "asked_through_model",
                (Err(_), Some(_)) => "code_refused",
            });
            Ok(approval?)
        }
        Some(proposal) => Err(proposal),
    };
    Ok(Planned::Change(change, consent))
}

fn make(change: Box<dyn Change>, cx: &CallContext, approval: Approval, trace: &Trace) -> Result<Answer, ToolError> {
    // Before anything is spent: what cannot be recorded is not made.
    trace.announce()?;
    let cost = change.cost();
    let quota = &cx.session.quota;
    // Before the change, or two calls at the same time could both take what is left.
    quota.spend(&cx.workspace, &cost)?;
    let done = change.commit(cx, approval);
    match &done {
        Ok(_) => {
            let _ = trace.written.set(cost.bytes);
            // What a change removes makes room only once it is gone.
            quota.free(&cost);
        }
        Err(_) => quota.refund(&cost),
    }
    match (done, cx.stop.stopped()) {
        // The locks of the layers below do not know why they stopped waiting.
        (Err(error), Some(StopReason::Cancelled)) if error.kind() == Kind::TimedOut => Err(ToolError::cancelled()),
        (done, _) => done,
    }
}

/// Waits for the answer's share of the response budget. The call keeps its permit meanwhile, so that no more answers
/// than permits wait in memory for a client that does not read.
async fn deliver(answer: Answer, call: &Call) -> Result<Response, ToolError> {
    let permit = call.cancelled.run_until_cancelled(call.response_budget.reserve(&answer)).await;
    permit.map(|permit| Response::Answer(answer, permit)).ok_or_else(ToolError::cancelled)
}

fn log(result: &Result<Response, ToolError>, took: Duration) {
    match result {
        Ok(Response::Question(_)) => tracing::info!(?took, "asked for confirmation"),
        Ok(_) => tracing::info!(?took, "answered"),
        Err(error) => {
            if let Some(cause) = std::error::Error::source(error) {
                tracing::warn!(?took, %error, %cause, "failed");
            } else {
                tracing::info!(?took, %error, "failed");
            }
        }
    }
}

fn are_small(arguments: &Map<String, Value>) -> bool {
    let is_small = |value: &Value| match value {
        Value::String(text) => text.len() <= MAX_INLINE_TEXT,
        Value::Array(_) | Value::Object(_) => false,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    };
    arguments.iter().all(|(name, value)| name.len() <= MAX_INLINE_NAME && is_small(value))
}

fn outcome(result: &Result<Response, ToolError>, trace: &Trace, started: Instant) -> AuditOutcome {
    let denied = [Kind::Denied, Kind::ReadOnly, Kind::Declined, Kind::Quota];
    let (kind, allowed, answered) = match result {
        Ok(Response::Answer(answer, _)) => ("ok", true, answer.content.iter().map(length).sum()),
        Ok(Response::Question(_)) => ("asked", true, 0),
        Ok(Response::UnknownTool) => ("unknown_tool", false, 0),
        Err(error) => (error.kind().as_str(), !denied.contains(&error.kind()), error.text().len()),
    };
    AuditOutcome {
        kind,
        allowed,
        answered,
        written: trace.written.get().copied().unwrap_or(0),
        confirmation: trace.confirmation.get().copied(),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_names_long_texts_lists_and_objects_are_not_small() {
        let small = |arguments: Value| are_small(arguments.as_object().expect("an object"));
        assert!(small(json!({})));
        assert!(small(json!({ "path": "a", "offset": 3, "limit": null, "x": "y".repeat(MAX_INLINE_TEXT) })));
        assert!(!small(json!({ "path": "y".repeat(MAX_INLINE_TEXT + 1) })));
        assert!(!small(json!({ "x".repeat(MAX_INLINE_NAME + 1): 1 })));
        assert!(!small(json!({ "edits": [] })) && !small(json!({ "path": {} })));
    }
}
