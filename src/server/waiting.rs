//! Calls that wait for something outside of the server: without a thread, and apart from all other calls.
//!
//! A wait is a future. It polls on a thread when an event wakes it, and also from time to time.
//! Between two polls it holds only its permit among the waits, so waits cost other calls neither threads nor permits.

use std::{mem, sync::Arc, time::Duration};

use confined_fs::stop::StopSignal;
use confined_fs::watch::{DiskWatcher, OnEvent};
use tokio::{
    sync::Notify,
    time::{self, Instant},
};

use file_tools::{Answer, CallContext, EndReason, Kind, Plan, PollResult, ProgressUpdate, ToolError, Wait};

use super::{
    call::Call,
    concurrency::{self, Load, MAX_WAITS, Shared, WIND_UP, area},
    services::Services,
    threads::{ended, no_thread},
};

/// How often a wait polls where changes may cause no event.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How often it polls where each change is known to cause an event.
const RARE_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The shortest time between two polls: a file may change without a pause.
const MIN_LOOK_INTERVAL: Duration = Duration::from_millis(15);
/// A poll that took long is followed by a pause of this many times that.
const REST_FACTOR: u32 = 3;
const REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// Plans `call`, and waits for what it is for.
pub(super) async fn answer(
    shared: &Shared,
    services: &Arc<Services>,
    call: &mut Call,
    cx: &CallContext,
) -> Result<Answer, ToolError> {
    let started = Instant::now();
    let _place = shared.waits.try_acquire().map_err(|_| {
        ToolError::new(Kind::Quota, format!("{MAX_WAITS} calls of wait are waiting already, and no more may"))
            .hint("call again after one of them is answered; to wait for several files, wait for their directory")
    })?;
    let (tool, arguments, limit) = (call.tool.clone(), mem::take(&mut call.arguments), services.options.deadline);
    let look = Poller { shared, call, cx, area: area(services, &tool, &arguments), limit };
    let services = Arc::clone(services);
    let plan = move |cx: &CallContext| {
        let tool = services.toolbox.get(&tool).ok_or_else(|| ToolError::new(Kind::Internal, "no such tool"))?;
        tool.plan(cx, arguments)
    };
    match look.on_thread(started + limit, plan).await? {
        Plan::Answer(answer) => Ok(answer),
        Plan::Wait(wait) => look.wait(wait, started).await,
        Plan::Change(_) => Err(ToolError::new(Kind::Internal, "a tool that waits changes nothing")),
    }
}

/// Until something changed and has settled, or a poll is due anyway. Reports progress meanwhile.
async fn until_due(changed: &Notify, due: Instant, settle: Duration, ticks: &mut time::Interval, report: &impl Fn()) {
    let wait = async {
        changed.notified().await;
        time::sleep(settle).await;
    };
    tokio::pin!(wait);
    loop {
        tokio::select! {
            biased;
            () = &mut wait => return,
            () = time::sleep_until(due) => return,
            _ = ticks.tick() => report(),
        }
    }
}

/// Watches first, so that no change is missed between a poll and the next event.
fn watch_and_look(
    mut wait: Box<dyn Wait>,
    cx: &CallContext,
    watcher: Option<Arc<DiskWatcher>>,
    wake: &OnEvent,
) -> (Box<dyn Wait>, Result<(PollResult, bool), ToolError>) {
    let reports_all = watcher.is_some_and(|watcher| wait.watch(cx, &watcher, wake));
    let polled = wait.poll(cx).map(|polled| (polled, reports_all));
    (wait, polled)
}

/// Looks on threads, one at a time.
struct Poller<'l> {
    shared: &'l Shared,
    call: &'l Call,
    cx: &'l CallContext,
    area: String,
    limit: Duration,
}

impl Poller<'_> {
    /// Looks until what is waited for has happened, or the time or the input has ended.
    async fn wait(&self, mut wait: Box<dyn Wait>, started: Instant) -> Result<Answer, ToolError> {
        let deadline = started + wait.limit();
        // Asked now: the wait is moved to a thread for each poll.
        let (settle, subject, seconds) = (wait.settle(), wait.subject(), wait.limit().as_secs().max(1));
        let changed = Arc::new(Notify::new());
        let wake: OnEvent = {
            let changed = Arc::clone(&changed);
            // `notify_one` is kept where nobody waits yet: an event during a poll is not lost.
            Arc::new(move || changed.notify_one())
        };
        let watcher = self.shared.events.watcher();
        let input_ended = &self.shared.input_ended;
        let mut ticks = time::interval(REPORT_INTERVAL);
        // By default, those that were missed would all come at once.
        ticks.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
        loop {
            let looking = Instant::now();
            let (watcher, wake) = (watcher.clone(), Arc::clone(&wake));
            // The last poll begins at the deadline, so it gets extra time.
            let until = looking.max(deadline) + WIND_UP;
            let (back, looked) = self.on_thread(until, move |cx| Ok(watch_and_look(wait, cx, watcher, &wake))).await?;
            wait = back;
            let (look_again, reports_all) = match looked? {
                (PollResult::Happened(answer), _) => return Ok(answer),
                (PollResult::NotYet(again), reports_all) => (again, reports_all),
            };
            let why = if input_ended.is_cancelled() {
                Some(EndReason::InputEnded)
            } else {
                (Instant::now() >= deadline).then_some(EndReason::Time)
            };
            if let Some(why) = why {
                return self.on_thread(until + WIND_UP, move |cx| wait.give_up(cx, why)).await;
            }
            let now = Instant::now();
            let poll = if reports_all { RARE_POLL_INTERVAL } else { POLL_INTERVAL };
            let due = (now + look_again.unwrap_or(poll).min(poll)).min(deadline);
            // Work in several parts goes on at once; what changes without a pause does not take all time.
            let rest = if look_again == Some(Duration::ZERO) {
                Duration::ZERO
            } else {
                MIN_LOOK_INTERVAL.max((now - looking) * REST_FACTOR)
            };
            let report = || {
                if let Some(sink) = &self.cx.progress {
                    let done = started.elapsed().as_secs();
                    sink(ProgressUpdate { done, total: Some(seconds.max(done)), message: subject.clone() });
                }
            };
            tokio::select! {
                biased;
                () = self.call.cancelled.cancelled() => return Err(ToolError::cancelled()),
                () = input_ended.cancelled() => {}
                () = until_due(&changed, due, settle, &mut ticks, &report) => {}
            }
            // The gap before the next poll, unless the wait is over.
            let next = (looking + rest).min(deadline);
            if Instant::now() < next && !input_ended.is_cancelled() {
                let rested = self.call.cancelled.run_until_cancelled(time::sleep_until(next)).await;
                rested.ok_or_else(ToolError::cancelled)?;
            }
        }
    }

    /// Runs `work` on a thread for waits, until the call is cancelled or it is `until`.
    async fn on_thread<T: Send + 'static>(
        &self,
        until: Instant,
        work: impl FnOnce(&CallContext) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let limit = self.limit;
        let permit = tokio::select! {
            biased;
            () = self.call.cancelled.cancelled() => return Err(ToolError::cancelled()),
            permit = self.shared.limits.permit(Load::Wait, &self.area) => permit,
            () = time::sleep_until(until) => return Err(concurrency::abandoned(true, limit)),
        };
        let permit = permit.map_err(|closed| ToolError::new(Kind::Internal, "the server is ending").source(closed))?;
        let permit = Arc::new(permit);
        let cx = CallContext { stop: StopSignal::after(limit), ..self.cx.clone() };
        let stop = cx.stop.clone();
        let mut task = self.shared.pools.start(false, &permit, move || work(&cx))?;
        tokio::select! {
            biased;
            done = &mut task => ended(done),
            () = self.call.cancelled.cancelled() => {
                stop.cancel();
                Err(ToolError::cancelled())
            }
            () = time::sleep_until(until) => {
                stop.cancel();
                permit.release_server();
                if task.take_back() {
                    return Err(no_thread("none was free in time"));
                }
                Err(concurrency::abandoned(true, limit))
            }
            never = permit.release_when_stuck(&stop) => match never {},
        }
    }
}
