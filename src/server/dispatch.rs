//! One call from its arguments to its answer: admit, plan, approve, commit.
//!
//! Knows no protocol types and no tool. Planning is raced against cancellation and the deadline. A commit only learns
//! of them, and stops while nothing of the change can be seen: once a rename may happen, the answer says what truly
//! happened. While a commit waits for another one, or a person is asked, the call gives up its permit and its clock
//! does not run.

use std::{
    mem,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use confined_fs::{
    Approval,
    stop::{StopReason, StopSignal},
};
use serde_json::{Map, Value};
use tokio::time;
use tracing::Instrument as _;

use crate::tools::{Answer, CallContext, Change, Kind, Plan, ToolError};

use super::{
    blocking::{ended, no_thread, on_pool},
    call::{Call, Response, Trace},
    commits::RunningCommits,
    concurrency::{ConcurrencyLimits, Load, Permit, area},
    confirm::{Confirm, Confirmation, Draft, Person, Proposal, Reply, approve_by_code, take_code},
    disk_changes::DiskChanges,
    inline,
    overdue::{self, WIND_UP, idle_for, is_silent_after},
    pools::Pools,
    recover,
    services::Services,
    waiting::{WaitingCall, WaitingCalls},
};

/// How long cancelled work may take to notice, before its call is answered without it.
const NOTICE: Duration = Duration::from_millis(400);
/// How long a change does nothing, after its deadline, before its call is answered without it.
const STUCK_COMMIT: Duration = Duration::from_secs(10);
/// Bytes of the largest change that gives up its permit while it waits for another one. Larger ones keep it, so that
/// only as many as there are permits are held in memory.
const MAX_WAITING_CHANGE: u64 = 1 << 20;

/// Runs calls, and holds what they share.
pub(super) struct Dispatcher {
    pub(super) services: Arc<Services>,
    pub(super) limits: Arc<ConcurrencyLimits>,
    pub(super) pools: Arc<Pools>,
    pub(super) commits: Arc<RunningCommits>,
    pub(super) waits: Arc<WaitingCalls>,
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
    /// A dispatcher of calls of the tools of `services`.
    pub(super) fn new(services: Services) -> Self {
        let options = &services.options;
        Self {
            limits: Arc::new(ConcurrencyLimits::new(options.max_concurrent)),
            pools: Arc::default(),
            commits: Arc::default(),
            waits: Arc::new(WaitingCalls::new(options.wait_polling)),
            confirmation: Confirmation::new(options.confirm_limit),
            _disk_changes: DiskChanges::follow(&services),
            services: Arc::new(services),
        }
    }

    /// A dispatcher of the calls of a role, which share the threads and permits of this one.
    pub(super) fn of_role(&self, services: Services) -> Self {
        let confirmation = Confirmation::new(services.options.confirm_limit);
        let (limits, pools, commits) = (self.limits.clone(), self.pools.clone(), self.commits.clone());
        let disk_changes = DiskChanges::follow(&services);
        let waits = self.waits.clone();
        Self { limits, pools, commits, waits, confirmation, _disk_changes: disk_changes, services: Arc::new(services) }
    }

    /// Runs `call` and logs how it went.
    pub(super) async fn run(&self, call: Call) -> Result<Response, ToolError> {
        let span = tracing::info_span!("call", tool = call.tool, id = call.id);
        async {
            let (started, tool) = (Instant::now(), call.tool.clone());
            recover::recover(&self.services, &self.pools).await;
            let result = recover::noted(&self.services, &tool, self.answer(call).await);
            log(&result, started.elapsed());
            result
        }
        .instrument(span)
        .await
    }

    async fn answer(&self, mut call: Call) -> Result<Response, ToolError> {
        self.services.options.check_configured()?;
        if let Some(key) = &call.duplicate_key {
            return Err(ToolError::invalid(format!("duplicate key `{key}` in one object of the call"))
                .hint(format!("send {key} once")));
        }
        let cx = CallContext {
            changes: call.trace.record.is_some().then(|| Arc::clone(&call.trace.changes)),
            progress: call.progress.clone(),
            budget: call.answer_budget,
            longest_wait: call.longest_wait.within(self.services.options.wait_limit),
            ..self.services.context_of(self.limit(), call.trace.by.as_ref())
        };
        if self.services.toolbox.get(&call.tool).is_some_and(|tool| tool.waits) {
            let Self { services, limits, pools, waits, .. } = self;
            let answer = WaitingCall { services, limits, pools, waits }.answer(&mut call, &cx).await?;
            return deliver(answer, &call).await;
        }
        if let Some(outcome) = self.answer_inline(&call, &cx).await {
            return outcome;
        }
        let mut admitted = self.admit(call, cx).await?;
        let (change, consent) = match self.plan(&mut admitted).await? {
            (Plan::Answer(answer), _) => return deliver(answer, &admitted.call).await,
            (Plan::Change(change), consent) => (change, consent),
            (Plan::Wait(_), _) => return Err(ToolError::new(Kind::Internal, "the tool does not say that it waits")),
        };
        let approval = match consent {
            Consent::Given(approval) => approval,
            Consent::ToAsk(proposal) => match self.approve(&mut admitted, &proposal).await? {
                Reply::Approved(approval) => approval,
                Reply::Ask(question) => return Ok(Response::Question(question)),
            },
        };
        self.commit(admitted, change, approval).await
    }

    /// How long a call may take until its change begins.
    fn limit(&self) -> Duration {
        self.services.options.deadline
    }

    fn load(&self, tool: &str) -> Load {
        let is_heavy = self.services.toolbox.get(tool).is_some_and(|tool| tool.spec.heavy);
        if is_heavy { Load::Heavy } else { Load::Light }
    }

    /// The answer on this thread, if the call has one and a permit is free.
    async fn answer_inline(&self, call: &Call, cx: &CallContext) -> Option<Result<Response, ToolError>> {
        if call.cancelled.is_cancelled() {
            return None;
        }
        let _permit = self.limits.server_wide(self.load(&call.tool)).try_acquire().ok()?;
        let tool = self.services.toolbox.get(&call.tool)?;
        match inline::answer(tool, cx, &call.arguments, &self.pools.normal).await? {
            Ok(answer) => Some(deliver(answer, call).await),
            Err(error) => Some(Err(error)),
        }
    }

    /// Waits for a permit. The clock runs meanwhile: the client waits, too.
    async fn admit(&self, call: Call, mut cx: CallContext) -> Result<Admitted, ToolError> {
        let mut deadline = time::Instant::now() + self.limit();
        let (load, area) = (self.load(&call.tool), area(&self.services, &call.tool, &call.arguments));
        let (permit, waited_for_client) = self.permit(&call, load, &area).await?;
        if waited_for_client {
            (cx.stop, deadline) = (StopSignal::after(self.limit()), time::Instant::now() + self.limit());
        }
        Ok(Admitted { call, load, area, cx, permit: Arc::new(permit), deadline })
    }

    /// A permit, and whether the call waited until the client had read other answers.
    async fn permit(&self, call: &Call, load: Load, area: &str) -> Result<(Permit, bool), ToolError> {
        let limit = self.limit();
        let mut permit = pin!(self.limits.permit(load, area));
        let (mut waited_for_client, mut waits) = (false, call.budget.waits());
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
                    if !call.budget.was_short_since(&mut waits) {
                        let area_is_full = self.limits.server_wide(load).available_permits() > 0;
                        return Err(overdue::no_permit(area_is_full, limit));
                    }
                    waited_for_client = true;
                }
            }
        }
    }

    /// Plans the call on a thread, until it is cancelled or its time is used up. With a change comes what a person must
    /// be shown of it first.
    async fn plan(&self, admitted: &mut Admitted) -> Result<(Plan, Consent), ToolError> {
        let Admitted { call, load, cx, permit, deadline, .. } = admitted;
        let operation = call.operation.take();
        let work = {
            let (services, cx, trace) = (Arc::clone(&self.services), cx.clone(), Arc::clone(&call.trace));
            let (tool, arguments) = (call.tool.clone(), mem::take(&mut call.arguments));
            let by_code = services.options.takes_codes() && matches!(call.person, Person::OutOfReach);
            let client = call.client.clone();
            move || match operation {
                Some(operation) => Ok((Plan::Answer(operation.run(&cx)?), Consent::Given(Approval::by_policy()))),
                None => plan(&services, &cx, &tool, arguments, &client, by_code, &trace),
            }
        };
        let is_one_of_several = *load == Load::Heavy && self.limits.is_crowded();
        let pool = if is_one_of_several { &self.pools.low_priority } else { &self.pools.normal };
        let mut plan = on_pool(pool, &self.pools.normal, permit, work)?;
        tokio::select! {
            biased;
            done = &mut plan => ended(done),
            () = call.cancelled.cancelled() => {
                cx.stop.cancel();
                time::timeout(NOTICE, &mut plan).await.map_or_else(|_| Err(ToolError::cancelled()), ended)
            }
            is_silent = is_silent_after(*deadline, &cx.stop) => {
                cx.stop.cancel();
                permit.release_server();
                if plan.take_back() {
                    return Err(no_thread(&format!("none was free within {:.0?}", self.limit())));
                }
                Err(overdue::abandoned(is_silent, self.limit()))
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
            call.trace.confirmation("confirmed_by_person");
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
        cx.check()?;
        let stop = cx.stop.clone();
        let work = {
            let (commits, trace, held) = (Arc::clone(&self.commits), Arc::clone(&call.trace), Arc::clone(&permit));
            move || {
                let _running = commits.begin();
                if change.cost().bytes <= MAX_WAITING_CHANGE {
                    cx.yields = Some(Arc::new(move || held.release()));
                }
                make(change, &cx, approval, &trace)
            }
        };
        let mut commit = on_pool(&self.pools.normal, &self.pools.normal, &permit, work)?;
        let stuck = async {
            time::sleep(self.limit() + WIND_UP).await;
            idle_for(STUCK_COMMIT, &stop).await;
        };
        tokio::pin!(stuck);
        let mut is_cancelled = false;
        loop {
            tokio::select! {
                biased;
                done = &mut commit => return ended(done).map(|answer| Response::Answer(answer, None)),
                () = call.cancelled.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    stop.cancel();
                }
                () = &mut stuck => {
                    stop.cancel();
                    if commit.take_back() {
                        return Err(no_thread("the change was not started"));
                    }
                    permit.release_server();
                    return Err(overdue::stuck_commit(self.limit()));
                }
            }
        }
    }
}

/// What is known of a person's consent once a call is planned.
enum Consent {
    /// There is one, or none is needed.
    Given(Approval),
    /// A person must be asked about this.
    ToAsk(Proposal),
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
) -> Result<(Plan, Consent), ToolError> {
    let tool = services.toolbox.get(tool).ok_or_else(|| ToolError::new(Kind::Internal, "no such tool"))?;
    let code = if tool.spec.read_only { None } else { take_code(&mut arguments) };
    let confirm = if tool.spec.read_only { Confirm::Never } else { services.options.confirm };
    let draft = (confirm != Confirm::Never).then(|| {
        let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
        let origin = format!("{client} {}", roots.join(" "));
        Draft::of(confirm, tool.spec.name, &tool.canonical(&arguments), &origin)
    });
    let mut plan = tool.plan(cx, arguments)?;
    let proposal = match &mut plan {
        Plan::Answer(answer) => {
            answer.sighting.take().inspect(|sighting| cx.session.ledger.save(sighting));
            None
        }
        Plan::Change(change) => draft.and_then(|draft| draft.proposal(&**change)),
        Plan::Wait(_) => None,
    };
    let consent = match proposal {
        None => Consent::Given(Approval::by_policy()),
        Some(proposal) if by_code => {
            let approval = approve_by_code(&cx.session, &proposal, code.as_deref());
            trace.confirmation(match (&approval, &code) {
                (Ok(_), _) => "confirmed_through_model",
                (Err(_), None) => "asked_through_model",
                (Err(_), Some(_)) => "code_refused",
            });
            Consent::Given(approval?)
        }
        Some(proposal) => Consent::ToAsk(proposal),
    };
    Ok((plan, consent))
}

/// Makes a change within the session's quotas, and announces it to the audit.
fn make(change: Box<dyn Change>, cx: &CallContext, approval: Approval, trace: &Trace) -> Result<Answer, ToolError> {
    trace.announce()?;
    let cost = change.cost();
    let quota = &cx.session.quota;
    quota.spend(&cx.workspace, &cost)?;
    let done = change.commit(cx, approval);
    match &done {
        Ok(_) => {
            trace.changed(cost.bytes);
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
    let permit = tokio::select! {
        biased;
        () = call.cancelled.cancelled() => return Err(ToolError::cancelled()),
        permit = call.budget.reserve(&answer) => permit,
    };
    Ok(Response::Answer(answer, permit))
}

fn log(result: &Result<Response, ToolError>, took: Duration) {
    match result {
        Ok(Response::Answer(..)) => tracing::info!(?took, "answered"),
        Ok(Response::Question(_)) => tracing::info!(?took, "asked for confirmation"),
        Err(error) => {
            if let Some(cause) = error.cause() {
                tracing::warn!(?took, %error, %cause, "failed");
            } else {
                tracing::info!(?took, %error, "failed");
            }
        }
    }
}
