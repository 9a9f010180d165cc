//! The followed paths of one role, and the notifications that go out about them.

use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use confined_fs::{Wakeup, Workspace, WorkspacePath};
use rmcp::model::{
    NotificationMetaObject, ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerJsonRpcMessage,
    ServerNotification,
};

use crate::server::stdio::OutputQueue;

use super::{
    followed::{Followed, Listener, Noticed},
    followed_state::FollowedState,
    known_states::KnownStates,
};

/// How soon a notification is tried again for which the client has too much left to read.
const RETRY: Duration = Duration::from_millis(200);

/// What the subscriptions, the thread that follows and the thread of a change share.
pub(super) struct SharedTable {
    pub(super) workspace: Workspace,
    pub(super) output: OutputQueue,
    /// Whether events of the system are used.
    pub(super) uses_events: bool,
    pub(super) wakeup: Wakeup,
    table: Mutex<SubscriptionTable>,
    /// A path is followed from now on.
    pub(super) noticed: Condvar,
}

#[derive(Default)]
pub(super) struct SubscriptionTable {
    pub(super) followed: BTreeMap<WorkspacePath, Followed>,
    /// What the latest changes of this server left.
    pub(super) own: KnownStates,
    /// What events said of the latest changes below subscribed directories, before this server reported one of them as
    /// its own.
    pub(super) reported: KnownStates,
    /// There is a thread that follows.
    pub(super) is_followed: bool,
    /// A subscription has ended whose watches may not be needed any more.
    pub(super) has_ended: bool,
}

impl SharedTable {
    pub(super) fn new(workspace: Workspace, output: OutputQueue, uses_events: bool, wakeup: Wakeup) -> Self {
        Self { workspace, output, uses_events, wakeup, table: Mutex::default(), noticed: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SubscriptionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends what is due; returns when the next is.
    pub(super) fn send(&self, table: &mut SubscriptionTable, now: Instant) -> Option<Instant> {
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
                now + RETRY
            };
            next = Some(next.map_or(again, |before| before.min(again)));
        }
        next
    }

    /// What is at `path`, where it is followed and its state was `version`, is `now`. Returns whether that was news.
    pub(super) fn arrived(
        &self,
        table: &mut SubscriptionTable,
        path: &WorkspacePath,
        version: u64,
        names: Vec<WorkspacePath>,
        now: FollowedState,
    ) -> bool {
        let Some(followed) = table.followed.get_mut(path) else { return false };
        if followed.version != version {
            followed.check_by(Instant::now());
            self.wakeup.wake();
            return false;
        }
        let has_changed = followed.state.differs(&now);
        // Another directory, or other directories on the way, have to be watched again.
        if has_changed && (followed.state.is_directory() || now.is_directory()) || followed.names != names {
            followed.noticed = Noticed::NotYet;
            self.wakeup.wake();
        }
        followed.version += 1;
        followed.state = now;
        followed.names = names;
        if has_changed {
            followed.has_changed();
        }
        has_changed
    }
}

impl SubscriptionTable {
    pub(super) fn subscribers(&self) -> usize {
        self.followed.values().map(|followed| followed.subscribers.len()).sum()
    }

    /// Bytes of the URIs.
    pub(super) fn bytes(&self) -> usize {
        self.followed.values().flat_map(|followed| &followed.subscribers).map(|one| one.uri.len()).sum()
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
