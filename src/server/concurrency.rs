//! Limits on how many calls run at the same time: in the whole server, and in each area of the workspace.
//!
//! An area is a directory directly below a root, or the root itself: what is mounted there may be a file system that
//! no longer answers (NFS, FUSE), and the calls that wait for it take at most the permits of their area. A call that
//! does nothing for a moment gives up its permit of the whole server and keeps that of its area until its thread
//! returns.

use std::{
    collections::HashMap,
    convert::Infallible,
    path::Component,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant},
};

use confined_fs::stop::StopSignal;
use serde_json::{Map, Value};
use tokio::{
    sync::{AcquireError, OwnedSemaphorePermit, Semaphore},
    time,
};
use tokio_util::sync::CancellationToken;

use file_tools::{Kind, ToolError};

use super::{disk_events::DiskEvents, services::Services, threads::Pools};

/// Light calls (reads, listings, edits) that run at the same time.
pub(super) const MAX_LIGHT_CALLS: usize = 16;
/// Looks of waiting calls that run at the same time.
const MAX_LOOKS: usize = 4;
/// How long a call does nothing before others may run in its place.
const STUCK_AFTER: Duration = Duration::from_secs(1);
// An area is named after a path of a call, so a model can name any number of them.
const MAX_AREAS: usize = 256;
pub(super) const MAX_WAITS: usize = 64;

/// Limits, threads and events that the calls of all roles share.
pub(super) struct Shared {
    pub(super) limits: ConcurrencyLimits,
    pub(super) pools: Pools,
    pub(super) commits: RunningCommits,
    pub(super) events: DiskEvents,
    pub(super) waits: Semaphore,
    /// Cancelled when the client has closed its input: nothing is worth waiting for then.
    pub(super) input_ended: CancellationToken,
}

impl Shared {
    /// With at most `heavy_limit` heavy calls at the same time; `None` for as many as the processors allow.
    pub(super) fn new(heavy_limit: Option<usize>) -> Self {
        Self {
            limits: ConcurrencyLimits::new(heavy_limit),
            pools: Pools::default(),
            commits: RunningCommits::default(),
            events: DiskEvents::default(),
            waits: Semaphore::new(MAX_WAITS),
            input_ended: CancellationToken::new(),
        }
    }
}

/// The kind of work of a permit; each has permits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Load {
    Heavy,
    Light,
    Audit,
    /// A look of a call that waits.
    Wait,
}

#[derive(Debug)]
pub(super) struct ConcurrencyLimits {
    heavy_limit: Option<usize>,
    /// Permits by load, created on first use: counting the processors would slow the start.
    server_wide: [OnceLock<Arc<Semaphore>>; 3],
    areas: Mutex<HashMap<(Load, String), Arc<Semaphore>>>,
}

impl ConcurrencyLimits {
    /// At most `heavy_limit` heavy calls at the same time, and [`MAX_LIGHT_CALLS`] light ones.
    pub(super) fn new(heavy_limit: Option<usize>) -> Self {
        Self { heavy_limit, server_wide: Default::default(), areas: Mutex::default() }
    }

    /// Whether a heavy call that has its permit runs at the same time as another one.
    pub(super) fn is_crowded(&self) -> bool {
        // One permit is the caller's own.
        self.server_wide(Load::Heavy).available_permits() + 1 < self.most(Load::Heavy)
    }

    pub(super) fn server_wide(&self, load: Load) -> &Arc<Semaphore> {
        let [heavy, light, looks] = &self.server_wide;
        let made = match load {
            Load::Heavy => heavy,
            Load::Light | Load::Audit => light,
            Load::Wait => looks,
        };
        made.get_or_init(|| Arc::new(Semaphore::new(self.most(load))))
    }

    /// Waits for a permit of `area`, then for one of the whole server.
    pub(super) async fn permit(&self, load: Load, area: &str) -> Result<Permit, AcquireError> {
        // In this order: who waits at an area that hangs must not hold a permit that calls elsewhere need.
        let area = self.area_permit(load, area).await?;
        let server = Arc::clone(self.server_wide(load)).acquire_owned().await?;
        Ok(Permit { area: Mutex::new(Some(area)), server: Mutex::new(Some(server)) })
    }

    /// Waits for a permit of `area` alone.
    pub(super) async fn area_permit(&self, load: Load, area: &str) -> Result<OwnedSemaphorePermit, AcquireError> {
        let semaphore = {
            let mut areas = self.areas.lock().unwrap_or_else(PoisonError::into_inner);
            if areas.len() >= MAX_AREAS {
                // A call that waits at an area shares its semaphore.
                areas.retain(|(load, _), area| {
                    Arc::strong_count(area) > 1 || area.available_permits() < self.most(*load)
                });
            }
            // One lock for look-up and insertion, else two calls could make an area of their own.
            let new = || Arc::new(Semaphore::new(self.most(load)));
            Arc::clone(areas.entry((load, area.to_owned())).or_insert_with(new))
        };
        semaphore.acquire_owned().await
    }

    /// How many calls may run at once; of the heavy ones without a limit twice as many as there are processors.
    fn most(&self, load: Load) -> usize {
        match load {
            Load::Heavy => {
                let twice = || (2 * thread::available_parallelism().map_or(2, usize::from)).max(4);
                self.heavy_limit.unwrap_or_else(twice).max(1)
            }
            Load::Light | Load::Audit => MAX_LIGHT_CALLS,
            Load::Wait => MAX_LOOKS,
        }
    }
}

/// Held by a call while it runs: a permit of its area and one of the whole server.
#[derive(Debug)]
pub(super) struct Permit {
    area: Mutex<Option<OwnedSemaphorePermit>>,
    server: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Permit {
    pub(super) fn release_server(&self) {
        drop(self.server.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    pub(super) fn release(&self) {
        self.release_server();
        drop(self.area.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Gives up the permit of the whole server as soon as the work does nothing; never ends.
    pub(super) async fn release_when_stuck(&self, stop: &StopSignal) -> Infallible {
        idle_for(STUCK_AFTER, stop).await;
        self.release_server();
        std::future::pending().await
    }
}

pub(super) fn area(services: &Services, tool: &str, arguments: &Map<String, Value>) -> String {
    let spec = services.toolbox.get(tool).map(|tool| tool.spec);
    let is_path = |given: &str| given == "path" || spec.and_then(|spec| spec.renamed(given)) == Some("path");
    let path_of = |object: &Map<String, Value>| {
        object.iter().find(|(given, _)| is_path(given)).and_then(|(_, value)| value.as_str().map(str::to_owned))
    };
    // Of several files the first one decides: the entries of `edits`.
    let in_list =
        || arguments.values().filter_map(Value::as_array).flatten().filter_map(Value::as_object).find_map(path_of);
    let path = path_of(arguments).or_else(in_list);
    let path = path.as_deref().unwrap_or(".");
    // Not on the disk: a look could hang there before the permit is taken that bounds it. `@` begins a mention.
    let resolved = services.workspace.resolve_lexically(path.strip_prefix('@').unwrap_or(path));
    let Some(resolved) = resolved else { return String::new() };
    match resolved.relative().components().next() {
        // Lossy is enough: two such names then share the permits of one area.
        Some(Component::Normal(first)) => format!("{}/{}", resolved.root().key(), first.to_string_lossy()),
        _ => resolved.root().key().to_owned(),
    }
}

// The changes that are being made on the disk: the process does not end in the middle of one.

/// How long a change that has begun may take when the process ends; after that its temporary file stays.
const FINISH_LIMIT: Duration = Duration::from_secs(2);

/// Pause between two looks at whether they have ended, when the process ends.
const FINISH_INTERVAL: Duration = Duration::from_millis(2);

/// Counts the changes that are being made: each holds a clone.
#[derive(Debug, Default)]
pub(super) struct RunningCommits(Arc<()>);

impl RunningCommits {
    /// One begins; it ends when the answer is dropped.
    pub(super) fn begin(&self) -> Arc<()> {
        Arc::clone(&self.0)
    }

    /// Waits a moment for those that have begun; whether all have ended.
    pub(super) fn finish(&self) -> bool {
        self.wait(FINISH_LIMIT)
    }

    fn wait(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        // One reference is this value's own.
        while Arc::strong_count(&self.0) > 1 {
            if begun.elapsed() >= limit {
                return false;
            }
            // It may block: the runtime serves nobody any more.
            thread::sleep(FINISH_INTERVAL);
        }
        true
    }
}

// Calls that take too long: when work counts as stuck, and what the model reads then.

/// How long work at its deadline may take to return what it has found.
pub(super) const WIND_UP: Duration = Duration::from_secs(2);

/// Returns when the work behind `stop` has not checked it for `limit`.
pub(super) async fn idle_for(limit: Duration, stop: &StopSignal) {
    let mut checks = stop.checks();
    loop {
        time::sleep(limit).await;
        let now = stop.checks();
        if now == checks {
            return;
        }
        checks = now;
    }
}

/// Waits until work should have returned after its deadline; whether it did not check `stop` meanwhile.
pub(super) async fn is_silent_after(deadline: time::Instant, stop: &StopSignal) -> bool {
    time::sleep_until(deadline + WIND_UP / 4).await;
    let checks = stop.checks();
    time::sleep_until(deadline + WIND_UP).await;
    stop.checks() == checks
}

/// No permit was free in time; `area_is_full` if calls in the same directory held them.
pub(super) fn no_permit(area_is_full: bool, limit: Duration) -> ToolError {
    if area_is_full {
        return stuck(format!(
            "the call waited {limit:.0?} for other calls in the same directory, which do not end, and was not started; \
             nothing was changed"
        ));
    }
    too_much(format!("the call waited {limit:.0?} for other calls to end and was not started; nothing was changed"))
}

/// Planning was given up; `is_silent` if its file system does not answer.
pub(super) fn abandoned(is_silent: bool, limit: Duration) -> ToolError {
    if is_silent {
        return stuck(format!(
            "the file system did not answer within {limit:.0?}, and the call was abandoned; nothing was changed"
        ));
    }
    too_much(format!("the call did not end within {limit:.0?} and was abandoned; nothing was changed"))
}

pub(super) fn stuck_commit(limit: Duration) -> ToolError {
    let message = format!(
        "the file system did not answer the change within {limit:.0?}; it may have been made, or may still be made"
    );
    ToolError::new(Kind::TimedOut, message)
        .hint("look at what is there before you send it again; inform the user that the file system hangs there")
}

pub(super) fn undescribed(limit: Duration) -> ToolError {
    stuck(format!("the file system did not answer within {limit:.0?}, and the call was not started"))
}

fn stuck(message: String) -> ToolError {
    ToolError::new(Kind::TimedOut, message).hint(
        "work elsewhere, or ask for less; inform the user that the file system (a network or FUSE mount?) may hang \
         there",
    )
}

fn too_much(message: String) -> ToolError {
    ToolError::new(Kind::TimedOut, message)
        .hint("ask for less: a narrower path, a smaller range or a more exact pattern")
}

#[cfg(test)]
mod tests {
    use tokio::time;

    use super::*;

    #[tokio::test]
    async fn stuck_call_frees_its_server_permit_and_keeps_its_area_permit() {
        let limits = ConcurrencyLimits::new(Some(1));
        let stuck = limits.permit(Load::Heavy, "a").await.unwrap();
        let stop = StopSignal::after(Duration::from_secs(3600));
        let elsewhere = limits.permit(Load::Heavy, "b");
        tokio::select! {
            never = stuck.release_when_stuck(&stop) => match never {},
            permit = elsewhere => drop(permit.unwrap()),
        }
        let same = time::timeout(Duration::from_millis(20), limits.permit(Load::Heavy, "a"));
        assert!(same.await.is_err(), "its area is full");
        drop(stuck);
        limits.permit(Load::Heavy, "a").await.unwrap();
    }
}

#[cfg(test)]
mod commits_tests {
    use super::*;

    #[test]
    fn end_waits_for_a_running_commit_but_not_forever() {
        let commits = RunningCommits::default();
        assert!(commits.wait(Duration::ZERO));
        let commit = commits.begin();
        assert!(!commits.wait(Duration::from_millis(5)));
        let ending = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            drop(commit);
        });
        assert!(commits.wait(Duration::from_secs(60)));
        ending.join().unwrap();
    }
}
