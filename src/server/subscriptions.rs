//! Subscriptions: which files, directories and roots clients follow, and the notifications about their changes.
//!
//! What this server changes is reported at once by the calls that change it; what other processes change by a thread
//! that exists as long as somebody subscribes. It watches only the directories on the way to subscribed files, and those
//! below subscribed directories. The path index is not asked: it is read by searches only, so it has no thread, and it
//! does not distinguish a write from a touch.
//!
//! # Limits
//! - Below a directory, writing the same content again is an update. For a file of up to 1 MiB it is none.
//! - Names that ignore rules leave out of a subscribed directory are reported only where they are directly in a
//!   directory that is not ignored.
//! - Where the system reports too little (other systems than Linux, network file systems, overlayfs, `--index off`, or
//!   no watch left), files are looked at twice a second and directories once a second, less often where that takes long.

mod followed;
mod followed_state;
mod follower;
mod known_states;
mod listing;
mod table;

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::{
    session::{ChangeListener, CommittedChange},
    tools::{Kind, ToolError},
};

use super::stdio::OutputQueue;

use self::{
    followed::{Followed, Noticed, Subscriber},
    followed_state::FollowedState,
    table::{SharedTable, SubscriptionTable},
};

use confined_fs::{Wakeup, Workspace, WorkspacePath};
pub(super) use followed::Listener;

/// Subscriptions at once, and bytes of their URIs.
const MOST: usize = 1000;
const MOST_BYTES: usize = 1 << 20;
/// How long a subscription waits until its directories are watched; a change after that is not missed.
const BEGIN: Duration = Duration::from_secs(10);

/// The subscriptions of one role.
pub(super) struct Subscriptions(Arc<SharedTable>);

impl Subscriptions {
    /// No subscriptions yet. `uses_events`: whether the system is asked for events.
    pub(super) fn new(workspace: Workspace, output: OutputQueue, uses_events: bool) -> Result<Self, ToolError> {
        let wakeup = Wakeup::new().map_err(|error| {
            ToolError::new(Kind::Internal, "the system has no open file left for a subscription")
                .hint("unsubscribe from something, or raise the limit (ulimit -n)")
                .source(error)
        })?;
        Ok(Self(Arc::new(SharedTable::new(workspace, output, uses_events, wakeup))))
    }

    /// Reports changes of what `uris` mean to `listener`, from what is there when this returns. Held until
    /// [`Self::release`] where `is_held`. Returns which were refused, and why.
    pub(super) fn subscribe(&self, listener: &Listener, uris: &[String], is_held: bool) -> Vec<(String, ToolError)> {
        let mut refused = Vec::new();
        let mut added = Vec::new();
        for uri in uris {
            match self.add(listener, uri, is_held) {
                Ok(path) => added.push(path),
                Err(error) => refused.push((uri.clone(), error)),
            }
        }
        self.await_noticed(&added);
        refused
    }

    fn add(&self, listener: &Listener, uri: &str, is_held: bool) -> Result<WorkspacePath, ToolError> {
        let workspace = &self.0.workspace;
        let path = workspace.resolve_uri(uri)?;
        let names = workspace.names_to_follow(&path)?;
        let state = FollowedState::now(workspace, &path, None);
        let mut table = self.0.lock();
        if table.subscribers() >= MOST || table.bytes() + uri.len() > MOST_BYTES {
            return Err(ToolError::new(
                Kind::Quota,
                format!("there are too many subscriptions: at most {MOST}, with {MOST_BYTES} bytes of URIs in all"),
            )
            .hint("subscribe to a directory, whose updates include everything below it, or unsubscribe first"));
        }
        let now = Instant::now();
        let followed = table.followed.entry(path.clone()).or_insert_with(|| Followed::new(names, state, now));
        if !followed.subscribers.iter().any(|one| one.listener == *listener && one.uri == uri) {
            followed.subscribers.push(Subscriber::new(listener.clone(), uri.to_owned(), is_held));
        }
        if !table.is_followed {
            let shared = Arc::clone(&self.0);
            let spawned =
                thread::Builder::new().name("subscriptions".to_owned()).spawn(move || follower::follow(&shared));
            if let Err(error) = spawned {
                table.followed.clear();
                return Err(ToolError::new(Kind::Internal, "the system does not let the server start another thread")
                    .hint("subscribe again later, or look at the file when it matters")
                    .source(error));
            }
            table.is_followed = true;
        }
        drop(table);
        self.0.wakeup.wake();
        Ok(path)
    }

    /// Waits until changes of `paths` are noticed.
    fn await_noticed(&self, paths: &[WorkspacePath]) {
        let is_waiting = |table: &mut SubscriptionTable| {
            let followed = paths.iter().filter_map(|path| table.followed.get(path));
            followed.into_iter().any(|one| one.noticed == Noticed::NotYet)
        };
        let waited = self.0.noticed.wait_timeout_while(self.0.lock(), BEGIN, is_waiting);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Sends to `listener` from now on, what has changed meanwhile first.
    pub(super) fn release(&self, listener: &Listener) {
        let mut table = self.0.lock();
        let all = table.followed.values_mut().flat_map(|followed| &mut followed.subscribers);
        all.filter(|one| one.listener == *listener).for_each(|one| one.is_held = false);
        self.0.send(&mut table, Instant::now());
        drop(table);
        self.0.wakeup.wake();
    }

    /// Ends the subscription of `listener` to `uri`, or all of them.
    pub(super) fn unsubscribe(&self, listener: &Listener, uri: Option<&str>) {
        let mut table = self.0.lock();
        let is_meant = |one: &Subscriber| one.listener == *listener && uri.is_none_or(|uri| one.uri == uri);
        table.followed.retain(|_, followed| {
            followed.subscribers.retain(|one| !is_meant(one));
            !followed.subscribers.is_empty()
        });
        table.has_ended = true;
        drop(table);
        self.0.wakeup.wake();
    }
}

impl ChangeListener for Subscriptions {
    fn changed(&self, changes: &[CommittedChange]) {
        let shared = &self.0;
        if shared.lock().followed.is_empty() {
            return;
        }
        let paths = changes.iter().flat_map(|change| std::iter::once(&change.path).chain(&change.from));
        let left: Vec<_> = paths.map(|path| (path.clone(), shared.workspace.stat(path).ok())).collect();
        let mut exact = Vec::new();
        {
            let mut table = shared.lock();
            let mut unreported = HashSet::new();
            for (path, left) in left {
                if !table.reported.has(&path, left.as_ref()) {
                    unreported.insert(path.clone());
                }
                table.reported.is_overtaken(&path, left.is_some());
                table.own.add(path, left);
            }
            for (key, followed) in &mut table.followed {
                let changed_by = |change| followed.is_changed_by(change, &unreported);
                if changes.iter().map(changed_by).fold(false, |any, one| any | one) {
                    exact.push((key.clone(), followed.version, followed.names.clone(), followed.state.clone()));
                }
            }
        }
        for (path, version, names, before) in exact {
            let now = FollowedState::now(&shared.workspace, &path, Some(&before));
            shared.arrived(&mut shared.lock(), &path, version, names, now);
        }
        shared.send(&mut shared.lock(), Instant::now());
        shared.wakeup.wake();
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.0.lock().followed.clear();
        self.0.wakeup.wake();
    }
}
