//! One call from its arguments to its answer: span, permit, clock, cancellation, panic, approval, commit.
//!
//! Knows no protocol types and no tool. Planning is raced against cancellation and the deadline; a
//! commit is only told of them, and heeds them while nothing of it can be seen: once a rename may
//! happen, the answer says what truly happened. While a commit waits for another one, or while a person is
//! asked, the call gives up its place among the running ones and its clock stands still.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Map, Value};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};
use tokio_util::sync::CancellationToken;
use tracing::Span;

use crate::{
    session::{StopReason, StopSignal},
    tools::{Answer, CallContext, Kind, Plan, ToolError, context::ProgressSink},
    workspace::Approval,
};

use super::{
    Parts, at_once,
    audited::Trace,
    confirm::{Confirmation, Person, Question, Reply},
    panic_text,
    pools::Pools,
    room::{Room, Share},
};

/// Light calls (reads, listings, edits) that run at once.
pub(super) const LIGHT_CALLS: usize = 16;
/// How long cancelled work may take to notice, before its call is answered without it.
const NOTICE: Duration = Duration::from_millis(400);
/// How long work at its deadline may take to wind up what it found.
const WIND_UP: Duration = Duration::from_secs(2);
/// Bytes of the largest change that gives up its place while it waits for another one; larger ones are
/// not held in memory by more calls than have a place.
const WAITS_ASIDE: u64 = 1 << 20;

/// The bounds on what runs at once.
#[derive(Debug)]
pub(super) struct Gates {
    /// Made at the first heavy call: counting the processors is no work for a start-up.
    heavy: OnceLock<Arc<Semaphore>>,
    limit: Option<usize>,
    light: Arc<Semaphore>,
    pub(super) pools: Pools,
}

impl Gates {
    /// At most `limit` heavy calls at once, and [`LIGHT_CALLS`] light ones.
    pub(super) fn new(limit: Option<usize>) -> Self {
        let light = Arc::new(Semaphore::new(LIGHT_CALLS));
        Self { heavy: OnceLock::new(), limit, light, pools: Pools::default() }
    }

    /// Whether a heavy call that has its place runs beside another one.
    fn is_crowded(&self) -> bool {
        self.heavy().available_permits() + 1 < super::heavy_calls(self.limit)
    }

    fn heavy(&self) -> &Arc<Semaphore> {
        self.heavy.get_or_init(|| Arc::new(Semaphore::new(super::heavy_calls(self.limit))))
    }
}

/// One call of a tool.
pub(super) struct Call {
    /// The tool's name.
    pub(super) tool: String,
    /// Its arguments as sent.
    pub(super) arguments: Map<String, Value>,
    /// A name that stands twice in one object of the request, so that nobody can tell which was meant.
    pub(super) repeated: Option<String>,
    /// The request's id, for the log.
    pub(super) id: String,
    /// Cancelled when the client no longer wants the answer, or the server ends.
    pub(super) cancelled: CancellationToken,
    /// Where progress goes.
    pub(super) progress: ProgressSink,
    /// What the audit wants to know of a change.
    pub(super) trace: Arc<Trace>,
    /// Whom to ask, where the change needs a yes.
    pub(super) person: Person,
    /// What the client has room for.
    pub(super) room: Room,
}

/// What a call came to.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The tool's answer, with its share of the room where it is large.
    Answer(Answer, Option<Share>),
    /// A question for the client to ask before it repeats the call.
    Question(Question),
}

/// Runs `call` and says in the log how it went.
pub(super) async fn run(
    parts: &Arc<Parts>,
    gates: &Gates,
    confirmation: &Confirmation,
    call: Call,
) -> Result<Outcome, ToolError> {
    let span = tracing::info_span!("call", tool = call.tool, id = call.id);
    let started = Instant::now();
    let result = planned(parts, gates, confirmation, call, &span).await;
    let _entered = span.enter();
    let took = started.elapsed();
    match &result {
        Ok(Outcome::Answer(..)) => tracing::info!(?took, "answered"),
        Ok(Outcome::Question(_)) => tracing::info!(?took, "asked for confirmation"),
        Err(error) => {
            if let Some(cause) = error.cause() {
                tracing::warn!(?took, %error, %cause, "failed");
            } else {
                tracing::info!(?took, %error, "failed");
            }
        }
    }
    result
}

async fn planned(
    parts: &Arc<Parts>,
    gates: &Gates,
    confirmation: &Confirmation,
    call: Call,
    span: &Span,
) -> Result<Outcome, ToolError> {
    let Call { tool, arguments, repeated, cancelled, progress, person, trace, room, .. } = call;
    if let Some(name) = repeated {
        return Err(ToolError::invalid(format!("`{name}` stands twice in one object of the call"))
            .hint(format!("send {name} once")));
    }
    let heavy = parts.toolbox.get(&tool).is_some_and(|entry| entry.spec.heavy);
    let deadline = parts.options.deadline;
    // The clock runs while the call waits for its turn: the client waits, too.
    let mut cx = CallContext {
        workspace: Arc::clone(&parts.workspace),
        session: Arc::clone(&parts.session),
        settings: Arc::clone(&parts.settings),
        stop: StopSignal::after(deadline),
        progress,
        yields: None,
    };
    let mut overdue = time::Instant::now() + deadline;
    let gate = if heavy { gates.heavy() } else { &gates.light };
    if !cancelled.is_cancelled()
        && let Ok(_place) = gate.try_acquire()
        && let Some(answer) = at_once::ask(parts, &cx, &tool, &arguments, span).await
    {
        return answered(answer?, &room, &cancelled).await;
    }
    let turn = || turn(gate, &room, &cancelled, deadline);
    // Shared by what runs on the pool, so that abandoned work keeps its place until it ends.
    let (place, anew) = turn().await?;
    let mut permit = Arc::new(place);
    if anew {
        (cx.stop, overdue) = (StopSignal::after(deadline), time::Instant::now() + deadline);
    }
    let draft = confirmation.draft(&tool, &arguments);

    let work = {
        let (parts, cx) = (Arc::clone(parts), cx.clone());
        move || {
            let Some(entry) = parts.toolbox.get(&tool) else {
                return Err(
                    ToolError::new(Kind::Internal, format!("the tool {tool} is gone")).hint("list the tools again")
                );
            };
            let plan = entry.plan(&cx, arguments)?;
            let proposal = match &plan {
                Plan::Answer(_) => None,
                Plan::Change(change) => draft.and_then(|draft| draft.proposal(&**change)),
            };
            Ok((plan, proposal))
        }
    };
    let planned = {
        let pool = if heavy && gates.is_crowded() { gates.pools.patient() } else { None };
        let mut plan = Box::pin(on_pool(pool, &permit, span, work));
        tokio::select! {
            biased;
            done = plan.as_mut() => done,
            () = cancelled.cancelled() => {
                cx.stop.cancel();
                time::timeout(NOTICE, plan.as_mut()).await.unwrap_or_else(|_| Err(ToolError::cancelled()))
            }
            () = time::sleep_until(overdue + WIND_UP) => {
                cx.stop.cancel();
                Err(late(format!("the call did not end within {deadline:.0?} and was abandoned; nothing was changed")))
            }
        }
    };
    let (change, proposal) = match planned? {
        (Plan::Answer(answer), _) => return answered(answer, &room, &cancelled).await,
        (Plan::Change(change), proposal) => (change, proposal),
    };
    let approval = match proposal {
        None => Approval::by_policy(),
        Some(proposal) => {
            drop(permit);
            let reply = confirmation.ask(person, &proposal, &cancelled, cx.progress.clone()).await?;
            let approval = match reply {
                Reply::Approved(approval) => approval,
                Reply::Ask(question) => return Ok(Outcome::Question(question)),
            };
            // The call's own time begins anew: what passed was the person's.
            permit = Arc::new(turn().await?.0);
            cx.stop = StopSignal::after(deadline);
            approval
        }
    };
    if cancelled.is_cancelled() {
        return Err(ToolError::cancelled());
    }
    cx.check()?;
    let under_way = gates.pools.commits();
    let stop = cx.stop.clone();
    let place = Arc::new(Mutex::new(Some(permit)));
    let held = Arc::clone(&place);
    let commit = move || {
        let _under_way = under_way.begin();
        trace.announce()?;
        let cost = change.cost();
        if cost.bytes <= WAITS_ASIDE {
            cx.yields = Some(Arc::new(move || drop(held.lock().unwrap_or_else(PoisonError::into_inner).take())));
        }
        cx.session.quota.spend(&cx.workspace, &cost)?;
        let done = change.commit(&cx, approval);
        match &done {
            Ok(_) => {
                trace.made(cost.bytes);
                cx.session.quota.free(&cost);
            }
            Err(_) => cx.session.quota.refund(&cost),
        }
        match (done, cx.stop.stopped()) {
            (Err(error), Some(StopReason::Cancelled)) if error.kind() == Kind::TimedOut => Err(ToolError::cancelled()),
            (done, _) => done,
        }
    };
    let mut commit = Box::pin(on_pool(None, &place, span, commit));
    tokio::select! {
        biased;
        done = commit.as_mut() => done,
        () = cancelled.cancelled() => {
            stop.cancel();
            commit.await
        }
    }
    .map(|answer| Outcome::Answer(answer, None))
}

/// An answer with its share of the room, waited for with its place: as many as have one wait in memory for a
/// client that does not read.
async fn answered(answer: Answer, room: &Room, cancelled: &CancellationToken) -> Result<Outcome, ToolError> {
    let share = tokio::select! {
        biased;
        () = cancelled.cancelled() => return Err(ToolError::cancelled()),
        share = room.share(&answer) => share,
    };
    Ok(Outcome::Answer(answer, share))
}

/// Waits for a place among the running calls. True when the call's time begins only now: places were
/// held by answers that the client did not read.
async fn turn(
    gate: &Arc<Semaphore>,
    room: &Room,
    cancelled: &CancellationToken,
    deadline: Duration,
) -> Result<(OwnedSemaphorePermit, bool), ToolError> {
    let mut place = Box::pin(Arc::clone(gate).acquire_owned());
    let (mut anew, mut waits) = (false, room.waits());
    loop {
        tokio::select! {
            biased;
            () = cancelled.cancelled() => return Err(ToolError::cancelled()),
            permit = place.as_mut() => {
                let permit = permit.map_err(|closed| {
                    ToolError::new(Kind::Internal, "the server is ending, and the call was not begun")
                        .hint("call again when it has started anew")
                        .source(closed)
                })?;
                return Ok((permit, anew));
            }
            () = time::sleep(deadline) => {
                if !room.was_short_since(&mut waits) {
                    return Err(late(format!(
                        "the call waited {deadline:.0?} for other calls to end and was not begun; nothing was changed"
                    )));
                }
                anew = true;
            }
        }
    }
}

/// Runs `work` on that pool, else on the usual one; a panic becomes an error of this call.
/// `place` is kept until it ends, even where nobody waits for it any more.
pub(super) async fn on_pool<T: Send + 'static, P: Send + Sync + 'static>(
    pool: Option<Handle>,
    place: &Arc<P>,
    span: &Span,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let (place, span) = (Arc::clone(place), span.clone());
    let guarded = move || {
        let _place = place;
        // What the panic left half done is dropped with the call; the locks of the layers below
        // recover from poison.
        span.in_scope(|| panic::catch_unwind(AssertUnwindSafe(work)))
    };
    let running = match pool {
        Some(pool) => pool.spawn_blocking(guarded),
        None => tokio::task::spawn_blocking(guarded),
    };
    match running.await {
        Ok(Ok(result)) => result,
        Ok(Err(payload)) => Err(crashed(panic_text(&*payload))),
        Err(join) => Err(crashed(&join.to_string())),
    }
}

pub(super) fn crashed(reason: &str) -> ToolError {
    ToolError::new(Kind::Internal, "the tool failed unexpectedly; this call was abandoned, the server goes on")
        .hint("try another way; the same call would probably fail again")
        .source(reason.to_owned())
}

fn late(message: String) -> ToolError {
    ToolError::new(Kind::TimedOut, message)
        .hint("ask for less: a narrower path, a smaller range or a more exact pattern")
}
