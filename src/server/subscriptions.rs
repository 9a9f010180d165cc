//! Subscriptions: which files, directories and roots clients follow, and the notifications about their changes.
//!
//! What this server changes is reported at once by the calls that change it; what other processes change by a thread
//! that exists as long as somebody subscribes. It watches only the directories on the way to subscribed files, and those
//! below subscribed directories. The path index is not asked: it is read by searches only, so it has no thread, and it
//! does not distinguish a write from a touch.
//!
//! # Limits
//! - Below a directory, writing the same content again is an update. Of a subscribed file of up to 1 MiB it is not.
//! - Names that ignore rules leave out of a subscribed directory are reported only where they are directly in a
//!   directory that is not ignored.
//! - Where the system reports too little (other systems than Linux, network file systems, overlayfs, `--index off`, or
//!   no watch left), files are looked at twice a second and directories once a second, less often where that takes long.

mod followed;
mod follower;
mod table;

use std::{
    collections::HashSet,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use confined_fs::{DiskWatcher, OnEvent, Workspace, WorkspacePath};

use crate::{
    session::{ChangeListener, CommittedChange},
    tools::{Kind, ToolError},
};

use super::stdio::OutputQueue;

use self::{
    followed::{Followed, FollowedState, Noticed, Subscriber},
    table::{Inbox, Shared, Table},
};

pub(super) use followed::Listener;

/// Subscriptions at once, and bytes of their URIs.
const MAX_SUBSCRIPTIONS: usize = 1000;
const MAX_URI_BYTES: usize = 1 << 20;
/// How long a subscription waits until its directories are watched; a change after that is not missed.
const BEGIN_LIMIT: Duration = Duration::from_secs(10);
/// The subscriptions of one role.
pub(super) struct Subscriptions(Arc<Shared>);

impl Subscriptions {
    /// No subscriptions yet. `watcher`: where the system's events are used.
    pub(super) fn new(workspace: Workspace, output: OutputQueue, watcher: Option<Arc<DiskWatcher>>) -> Self {
        let inbox = Arc::<Inbox>::default();
        let for_events = Arc::clone(&inbox);
        let on_event: OnEvent = Arc::new(move |event| for_events.receive(event));
        let (table, noticed) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Shared { workspace, output, watcher, on_event, table, noticed, inbox }))
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
        // Until changes of them are noticed.
        let is_waiting = |table: &mut Table| {
            let mut followed = added.iter().filter_map(|path| table.followed.get(path));
            followed.any(|one| one.noticed == Noticed::NotYet)
        };
        drop(self.0.noticed.wait_timeout_while(self.0.lock(), BEGIN_LIMIT, is_waiting));
        refused
    }

    fn add(&self, listener: &Listener, uri: &str, is_held: bool) -> Result<WorkspacePath, ToolError> {
        let workspace = &self.0.workspace;
        let path = workspace.resolve_uri(uri)?;
        let names = workspace.names_to_follow(&path)?;
        // Before the lock: reading a file may take long, and a commit takes the lock.
        let state = FollowedState::now(workspace, &path, None);
        let mut table = self.0.lock();
        let (count, bytes) = table.size();
        if count >= MAX_SUBSCRIPTIONS || bytes + uri.len() > MAX_URI_BYTES {
            return Err(ToolError::new(
                Kind::Quota,
                format!(
                    "there are too many subscriptions: at most {MAX_SUBSCRIPTIONS}, with {MAX_URI_BYTES} bytes of URIs \
                     in all"
                ),
            )
            .hint("subscribe to a directory, whose updates include everything below it, or unsubscribe first"));
        }
        let followed =
            table.followed.entry(path.clone()).or_insert_with(|| Followed { names, state, ..Followed::default() });
        if !followed.subscribers.iter().any(|one| one.listener == *listener && one.uri == uri) {
            followed.subscribers.push(Subscriber::new(listener.clone(), uri.to_owned(), is_held));
        }
        if !table.is_followed {
            let shared = Arc::clone(&self.0);
            let spawned =
                thread::Builder::new().name("subscriptions".to_owned()).spawn(move || follower::follow(&shared));
            if let Err(error) = spawned {
                // A subscription that nobody looks after must not seem to be one.
                table.followed.clear();
                return Err(ToolError::new(Kind::Internal, "the system does not let the server start another thread")
                    .hint("subscribe again later, or look at the file when it matters")
                    .source(error));
            }
            table.is_followed = true;
        }
        drop(table);
        self.0.inbox.wake();
        Ok(path)
    }

    /// Sends to `listener` from now on, what has changed meanwhile first.
    pub(super) fn release(&self, listener: &Listener) {
        let mut table = self.0.lock();
        let all = table.followed.values_mut().flat_map(|followed| &mut followed.subscribers);
        all.filter(|one| one.listener == *listener).for_each(|one| one.is_held = false);
        self.0.send(&mut table, Instant::now());
        drop(table);
        self.0.inbox.wake();
    }

    /// Ends the subscription of `listener` to `uri`, or all of them.
    pub(super) fn unsubscribe(&self, listener: &Listener, uri: Option<&str>) {
        self.end(|one| one.listener == *listener && uri.is_none_or(|uri| one.uri == uri));
    }

    fn end(&self, is_meant: impl Fn(&Subscriber) -> bool) {
        let mut table = self.0.lock();
        let Table { followed, ended, .. } = &mut *table;
        followed.retain(|_, followed| {
            followed.subscribers.retain(|one| !is_meant(one));
            let is_followed = !followed.subscribers.is_empty();
            ended.extend(followed.watch.take_if(|_| !is_followed));
            is_followed
        });
        drop(table);
        self.0.inbox.wake();
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
                // Not `any`, which stops at the first: each of the changes has to be noted.
                if changes.iter().map(changed_by).fold(false, |any, one| any | one) {
                    exact.push((key.clone(), followed.version, followed.names.clone(), followed.state.clone()));
                }
            }
        }
        for (path, version, names, before) in exact {
            let now = FollowedState::now(&shared.workspace, &path, Some(&before));
            shared.lock().arrived(&path, version, names, now);
        }
        shared.send(&mut shared.lock(), Instant::now());
        shared.inbox.wake();
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.end(|_| true);
    }
}
