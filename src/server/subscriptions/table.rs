//! The followed paths of one role, and the notifications that go out about them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use confined_fs::{DiskWatcher, NameEvent, OnEvent, PathWatch, Workspace, WorkspacePath};
use rmcp::model::{
    NotificationMetaObject, ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerJsonRpcMessage,
    ServerNotification,
};

use crate::server::stdio::OutputQueue;

use super::followed::{Followed, FollowedState, KnownStates, Listener, Noticed};

/// How soon a notification is tried again for which the client has too much left to read.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);
/// Paths whose events are held at once.
const MAX_EVENTS: usize = 4096;

/// Shared by the subscriptions, the thread that follows and the thread of a change. A lock of the table is not held
/// while the disk is looked at: a call that has committed a change takes it.
pub(super) struct Shared {
    pub(super) workspace: Workspace,
    pub(super) output: OutputQueue,
    /// `None` where the system's events are not used, or it has none.
    pub(super) watcher: Option<Arc<DiskWatcher>>,
    pub(super) on_event: OnEvent,
    pub(super) table: Mutex<Table>,
    /// A path is followed from now on.
    pub(super) noticed: Condvar,
    pub(super) inbox: Arc<Inbox>,
}

#[derive(Default)]
pub(super) struct Table {
    pub(super) followed: BTreeMap<WorkspacePath, Followed>,
    /// The states that the latest changes of this server left.
    pub(super) own: KnownStates,
    /// The states by events of the latest changes below subscribed directories, before this server reported one of them as
    /// its own.
    pub(super) reported: KnownStates,
    /// There is a thread that follows.
    pub(super) is_followed: bool,
    /// Watches of ended subscriptions: the thread ends them, as they may be thousands.
    pub(super) ended: Vec<PathWatch>,
}

/// Wakes the thread that follows. Its lock is taken last.
#[derive(Default)]
pub(super) struct Inbox {
    pub(super) received: Mutex<Received>,
    pub(super) arrived: Condvar,
}

#[derive(Default)]
pub(super) struct Received {
    /// By the path of the entry.
    pub(super) events: BTreeMap<WorkspacePath, NameEvent>,
    /// Events were lost, or left out because there were too many: anything may have changed.
    pub(super) is_incomplete: bool,
    pub(super) is_woken: bool,
}

impl Inbox {
    pub(super) fn lock(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wake(&self) {
        self.lock().is_woken = true;
        self.arrived.notify_one();
    }

    pub(super) fn receive(&self, event: Option<(&WorkspacePath, NameEvent)>) {
        let mut received = self.lock();
        match event {
            // Other changes of a directory are reported for the names in it.
            Some((_, event)) if event.is_directory && !event.came_or_went => return,
            Some((path, _)) if received.events.len() >= MAX_EVENTS && !received.events.contains_key(path) => {
                received.is_incomplete = true;
            }
            Some((path, event)) => {
                let known = received.events.entry(path.clone()).or_default();
                known.came_or_went |= event.came_or_went;
                known.is_written |= event.is_written;
                known.is_directory |= event.is_directory;
            }
            None => received.is_incomplete = true,
        }
        received.is_woken = true;
        drop(received);
        self.arrived.notify_one();
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends what is due; returns when the next is.
    pub(super) fn send(&self, table: &mut Table, now: Instant) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        for subscriber in table.followed.values_mut().flat_map(|followed| &mut followed.subscribers) {
            let Some(due) = subscriber.due(now) else { continue };
            let again = if due > now {
                due
            } else if self.output.has_room() {
                self.output.message(&updated(&subscriber.uri, &subscriber.listener));
                subscriber.has_sent(now);
                continue;
            } else {
                // It stays marked: messages to a client that does not read would fill the memory.
                now + RETRY_INTERVAL
            };
            next = Some(next.map_or(again, |before| before.min(again)));
        }
        next
    }
}

impl Table {
    /// How many subscriptions there are, and the bytes of their URIs.
    pub(super) fn size(&self) -> (usize, usize) {
        let all = self.followed.values().flat_map(|followed| &followed.subscribers);
        all.fold((0, 0), |(count, bytes), one| (count + 1, bytes + one.uri.len()))
    }

    /// Takes over the state of `path`, where it is followed and its state was `version`.
    pub(super) fn arrived(
        &mut self,
        path: &WorkspacePath,
        version: u64,
        names: Vec<WorkspacePath>,
        now: FollowedState,
    ) {
        let Some(followed) = self.followed.get_mut(path) else { return };
        // A change of this server came while the disk was looked at: what was found there may be older.
        if followed.version != version {
            followed.look_by(Instant::now());
            return;
        }
        let has_changed = followed.state.differs(&now);
        // Another directory, or other directories on the way, have to be watched again.
        if has_changed && (followed.state.is_directory() || now.is_directory()) || followed.names != names {
            followed.noticed = Noticed::NotYet;
        }
        followed.version += 1;
        followed.state = now;
        followed.names = names;
        if has_changed {
            followed.has_changed();
        }
    }
}

fn updated(uri: &str, listener: &Listener) -> ServerJsonRpcMessage {
    let mut notification = ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(uri));
    if let Listener::Request(id) = listener {
        let mut meta = NotificationMetaObject::new();
        meta.set_subscription_id(id.clone());
        notification.extensions.insert(meta);
    }
    ServerJsonRpcMessage::notification(ServerNotification::ResourceUpdatedNotification(notification))
}
