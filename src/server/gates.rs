//! The bounds on what runs at once, for the whole server and for each area of the workspace.
//!
//! An area is a directory directly below a root, or the root itself: what is mounted there may be a
//! file system that no longer answers (NFS, FUSE). Calls that wait for it take at most their area's
//! permits. A call that does nothing for a moment gives back its permit for the whole server, and keeps only its
//! area's until its thread returns.

use std::{
    collections::HashMap,
    convert::Infallible,
    path::Component,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::{
    sync::{AcquireError, OwnedSemaphorePermit, Semaphore},
    time,
};

use crate::stop::StopSignal;

use super::{Parts, pools::Pools};

/// Light calls (reads, listings, edits) that run at once.
pub(super) const LIGHT_CALLS: usize = 16;
/// How long a call does nothing before others may run in its place.
const STUCK: Duration = Duration::from_secs(1);
/// Areas that are remembered while nobody is in them.
const AREAS: usize = 256;

/// See the module.
#[derive(Debug)]
pub(super) struct Gates {
    /// Made at the first heavy call: counting the processors is no work for a start-up.
    heavy: OnceLock<Arc<Semaphore>>,
    limit: Option<usize>,
    light: Arc<Semaphore>,
    areas: Mutex<HashMap<(bool, String), Arc<Semaphore>>>,
    pub(super) pools: Pools,
}

impl Gates {
    /// At most `limit` heavy calls at once, and [`LIGHT_CALLS`] light ones.
    pub(super) fn new(limit: Option<usize>) -> Self {
        let light = Arc::new(Semaphore::new(LIGHT_CALLS));
        Self { heavy: OnceLock::new(), limit, light, areas: Mutex::default(), pools: Pools::default() }
    }

    /// Whether a heavy call that has its permit runs beside another one.
    pub(super) fn is_crowded(&self) -> bool {
        self.all(true).available_permits() + 1 < super::heavy_calls(self.limit)
    }

    /// The permits of the whole server.
    pub(super) fn all(&self, heavy: bool) -> &Arc<Semaphore> {
        if heavy {
            self.heavy.get_or_init(|| Arc::new(Semaphore::new(super::heavy_calls(self.limit))))
        } else {
            &self.light
        }
    }

    /// Waits for a permit of `area`, then for one of the whole server.
    pub(super) async fn permit(&self, heavy: bool, area: String) -> Result<Permit, AcquireError> {
        let area = self.area(heavy, area).acquire_owned().await?;
        let all = Arc::clone(self.all(heavy)).acquire_owned().await?;
        Ok(Permit { _area: area, all: Mutex::new(Some(all)) })
    }

    fn area(&self, heavy: bool, area: String) -> Arc<Semaphore> {
        let most = if heavy { super::heavy_calls(self.limit) } else { LIGHT_CALLS };
        let mut areas = self.areas.lock().unwrap_or_else(PoisonError::into_inner);
        if areas.len() >= AREAS {
            // One that somebody waits at is shared with who waits.
            areas.retain(|(heavy, _), area| {
                let most = if *heavy { super::heavy_calls(self.limit) } else { LIGHT_CALLS };
                Arc::strong_count(area) > 1 || area.available_permits() < most
            });
        }
        Arc::clone(areas.entry((heavy, area)).or_insert_with(|| Arc::new(Semaphore::new(most))))
    }
}

/// What a call holds while it runs.
#[derive(Debug)]
pub(super) struct Permit {
    _area: OwnedSemaphorePermit,
    all: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Permit {
    /// Gives back the permit of the whole server.
    pub(super) fn release(&self) {
        drop(self.all.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Gives back the permit of the whole server as soon as the work does nothing; never ends.
    pub(super) async fn release_when_stuck(&self, stop: &StopSignal) -> Infallible {
        idle_for(STUCK, stop).await;
        self.release();
        std::future::pending().await
    }
}

/// Ends when what works on the call of `stop` has not looked at it for so long.
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

/// The area that a call is about, by the letters of its path alone.
pub(super) fn area(parts: &Parts, tool: &str, arguments: &Map<String, Value>) -> String {
    let spec = parts.toolbox.get(tool).map(|entry| entry.spec);
    let is_path = |given: &str| given == "path" || spec.and_then(|spec| spec.renamed(given)) == Some("path");
    let path = arguments.iter().find(|(given, _)| is_path(given)).and_then(|(_, value)| value.as_str());
    let path = path.unwrap_or(".");
    let resolved = parts.workspace.resolve_lexically(path.strip_prefix('@').unwrap_or(path));
    let Some(resolved) = resolved else { return String::new() };
    match resolved.relative().components().next() {
        Some(Component::Normal(first)) => format!("{}/{}", resolved.root().key(), first.to_string_lossy()),
        _ => resolved.root().key().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stuck_call_leaves_its_permit_to_other_areas_and_keeps_its_area() {
        let gates = Gates::new(Some(1));
        let stuck = gates.permit(true, "a".to_owned()).await.unwrap();
        let stop = StopSignal::after(Duration::from_secs(3600));
        let elsewhere = gates.permit(true, "b".to_owned());
        tokio::select! {
            never = stuck.release_when_stuck(&stop) => match never {},
            permit = elsewhere => drop(permit.unwrap()),
        }
        let same = time::timeout(Duration::from_millis(20), gates.permit(true, "a".to_owned()));
        assert!(same.await.is_err(), "its area is full");
        drop(stuck);
        gates.permit(true, "a".to_owned()).await.unwrap();
    }
}
