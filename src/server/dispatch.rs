//! One call from its arguments to its answer: span, permit, clock, cancellation, panic, approval, commit.
//!
//! Knows no protocol types and no tool. Planning is raced against cancellation and the deadline; a
//! commit is only told of them, and heeds them while nothing of it can be seen: once a rename may
//! happen, the answer says what truly happened. While a commit waits for another one, or while a person is
//! asked, the call gives up its place among the running ones and its clock stands still.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Map, Value};
use tokio::time;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use crate::{
    stop::{StopReason, StopSignal},
    tools::{Answer, CallContext, Kind, Plan, ToolError, context::ProgressSink},
    workspace::Approval,
};

use super::{
    Parts,
    audited::Trace,
    backpressure::{ResponseBudget, ResponsePermit},
    confirm::{Confirmation, Person, Question, Reply},
    gates::{Gates, Permit, area, idle_for},
    inline, panic_text,
    threads::{Running, Threads},
};

/// How long cancelled work may take to notice, before its call is answered without it.
const NOTICE: Duration = Duration::from_millis(400);
/// How long work at its deadline may take to wind up what it found.
const WIND_UP: Duration = Duration::from_secs(2);
/// How long nothing is heard of a change, after its deadline, before its call is answered without it.
const STUCK_CHANGE: Duration = Duration::from_secs(10);
/// Bytes of the largest change that gives up its place while it waits for another one; larger ones are
/// not held in memory by more calls than have a place.
const WAITS_ASIDE: u64 = 1 << 20;

/// One call of a tool.
pub(super) struct Call {
    /// The tool's name.
    pub(super) tool: String,
    /// Its arguments as sent.
    pub(super) arguments: Map<String, Value>,
    /// A key that occurs twice in one object of the request, so that it is not clear which was meant.
    pub(super) duplicate_key: Option<String>,
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
    pub(super) budget: ResponseBudget,
}

/// What a call came to.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The tool's answer, with its share of the room where it is large.
    Answer(Answer, Option<ResponsePermit>),
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
    let Call { tool, arguments, duplicate_key, cancelled, progress, person, trace, budget, .. } = call;
    if let Some(name) = duplicate_key {
        return Err(ToolError::invalid(format!("duplicate key `{name}` in one object of the call"))
            .hint(format!("send {name} once")));
    }
    let heavy = parts.toolbox.get(&tool).is_some_and(|entry| entry.spec.heavy);
    let deadline = parts.options.deadline;
    // The clock runs while the call waits for its turn: the client waits, too.
    let mut cx = CallContext { progress, ..parts.context(deadline) };
    let mut overdue = time::Instant::now() + deadline;
    if !cancelled.is_cancelled()
        && let Ok(_place) = gates.all(heavy).try_acquire()
        && let Some(answer) = inline::answer(parts, &gates.pools.usual, &cx, &tool, &arguments, span).await
    {
        return answered(answer?, &budget, &cancelled).await;
    }
    let area = area(parts, &tool, &arguments);
    let turn = || turn(gates, (heavy, &area), &budget, &cancelled, deadline);
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
            let mut plan = entry.plan(&cx, arguments)?;
            let proposal = match &mut plan {
                Plan::Answer(answer) => {
                    answer.sighting.take().inspect(|sighting| cx.session.ledger.save(sighting));
                    None
                }
                Plan::Change(change) => draft.and_then(|draft| draft.proposal(&**change)),
            };
            Ok((plan, proposal))
        }
    };
    let planned = {
        let usual = &gates.pools.usual;
        let pool = if heavy && gates.is_crowded() { &gates.pools.patient } else { usual };
        let mut plan = begin(pool, usual, &permit, span, work)?;
        tokio::select! {
            biased;
            done = &mut plan => ended(done),
            () = cancelled.cancelled() => {
                cx.stop.cancel();
                time::timeout(NOTICE, &mut plan).await.map_or_else(|_| Err(ToolError::cancelled()), ended)
            }
            silent = winds_up_silently(overdue, &cx.stop) => {
                cx.stop.cancel();
                permit.release();
                Err(abandoned(&plan, silent, deadline))
            }
            never = permit.release_when_stuck(&cx.stop) => match never {},
        }
    };
    let (change, proposal) = match planned? {
        (Plan::Answer(answer), _) => return answered(answer, &budget, &cancelled).await,
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
    let mut commit = begin(&gates.pools.usual, &gates.pools.usual, &place, span, commit)?;
    let stuck = async {
        time::sleep(deadline + WIND_UP).await;
        idle_for(STUCK_CHANGE, &stop).await;
    };
    tokio::pin!(stuck);
    let mut is_cancelled = false;
    loop {
        tokio::select! {
            biased;
            done = &mut commit => return ended(done).map(|answer| Outcome::Answer(answer, None)),
            () = cancelled.cancelled(), if !is_cancelled => {
                is_cancelled = true;
                stop.cancel();
            }
            () = &mut stuck => {
                stop.cancel();
                if commit.take_back() {
                    return Err(no_thread("the change was not begun"));
                }
                let place = place.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some(place) = place {
                    place.release();
                }
                return Err(stuck_change(deadline));
            }
        }
    }
}

/// An answer with its share of the budget, waited for with its place: as many as have one wait in memory for a
/// client that does not read.
async fn answered(
    answer: Answer,
    budget: &ResponseBudget,
    cancelled: &CancellationToken,
) -> Result<Outcome, ToolError> {
    let permit = tokio::select! {
        biased;
        () = cancelled.cancelled() => return Err(ToolError::cancelled()),
        permit = budget.reserve(&answer) => permit,
    };
    Ok(Outcome::Answer(answer, permit))
}

/// Waits until work should have wound up; whether it gave no sign meanwhile.
async fn winds_up_silently(overdue: time::Instant, stop: &StopSignal) -> bool {
    time::sleep_until(overdue + WIND_UP / 4).await;
    let checks = stop.checks();
    time::sleep_until(overdue + WIND_UP).await;
    stop.checks() == checks
}

/// Why planning was given up: no thread was free for it, its file system does not answer, or it is too much.
fn abandoned<T>(plan: &Running<T>, silent: bool, deadline: Duration) -> ToolError {
    if plan.take_back() {
        return no_thread(&format!("none of those that there are was free within {deadline:.0?}"));
    }
    if silent {
        let message = format!(
            "the file system did not answer within {deadline:.0?}, and the call was abandoned; nothing was changed"
        );
        return ToolError::new(Kind::TimedOut, message).hint(HANGS);
    }
    late(format!("the call did not end within {deadline:.0?} and was abandoned; nothing was changed"))
}

const HANGS: &str =
    "work elsewhere, or ask for less; tell the person that the file system (a network or FUSE mount?) may hang there";

/// A change that nothing was heard of for long.
fn stuck_change(deadline: Duration) -> ToolError {
    let message = format!(
        "the file system did not answer the change within {deadline:.0?}; whether it was made, or still will be, is not known"
    );
    ToolError::new(Kind::TimedOut, message)
        .hint("look at what is there before it is sent again; tell the person that the file system hangs there")
}

/// Waits for a place among the running calls. True when the call's time begins only now: places were
/// held by answers that the client did not read.
async fn turn(
    gates: &Gates,
    (heavy, area): (bool, &str),
    budget: &ResponseBudget,
    cancelled: &CancellationToken,
    deadline: Duration,
) -> Result<(Permit, bool), ToolError> {
    let mut place = Box::pin(gates.permit(heavy, area.to_owned()));
    let (mut anew, mut waits) = (false, budget.waits());
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
                let short = budget.was_short_since(&mut waits);
                if !short && gates.all(heavy).available_permits() > 0 {
                    let message = format!(
                        "the call waited {deadline:.0?} for other calls in the same directory, which do not end, and was \
                         not begun; nothing was changed"
                    );
                    return Err(ToolError::new(Kind::TimedOut, message).hint(HANGS));
                }
                if !short {
                    return Err(late(format!(
                        "the call waited {deadline:.0?} for other calls to end and was not begun; nothing was changed"
                    )));
                }
                anew = true;
            }
        }
    }
}

/// Begins with `work` on one of `threads`, or of `instead` where there is none; its panic becomes an error of this
/// call. `place` is kept until it ends, even where nobody waits for it any more.
///
/// # Errors
/// Where there is no thread and none can be made.
pub(super) fn begin<T: Send + 'static, P: Send + Sync + 'static>(
    threads: &Threads,
    instead: &Threads,
    place: &Arc<P>,
    span: &Span,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<Running<Result<T, ToolError>>, ToolError> {
    let (place, span) = (Arc::clone(place), span.clone());
    let guarded = move || {
        let _place = place;
        // What the panic left half done is dropped with the call; the locks of the layers below
        // recover from poison.
        let done = span.in_scope(|| panic::catch_unwind(AssertUnwindSafe(work)));
        done.unwrap_or_else(|payload| Err(crashed(panic_text(&*payload))))
    };
    threads.run_or(instead, guarded).map_err(|error| no_thread("the call was not begun").source(error))
}

/// The result of what was begun with.
pub(super) fn ended<T>(result: Option<Result<T, ToolError>>) -> Result<T, ToolError> {
    result.unwrap_or_else(|| Err(crashed("its thread is gone")))
}

/// The error of a call that the system has no thread for.
pub(super) fn no_thread(consequence: &str) -> ToolError {
    let message = format!(
        "the system lets the server start no more threads (ulimit -u, or a container's limit of processes or memory), \
         and {consequence}; nothing was changed"
    );
    ToolError::new(Kind::Internal, message)
        .hint("call again when the answers of other calls are there; if it fails again, tell the person")
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
