//! One followed path with those who subscribed to it.

use std::{
    collections::HashSet,
    iter,
    time::{Duration, Instant},
};

use confined_fs::WorkspacePath;
use rmcp::model::RequestId;

use crate::session::{CommittedChange, EntryKind};

use super::{followed_state::FollowedState, listing::Listing};

/// A burst of changes is one notification in this time; the first goes out at once, the last is never lost.
pub(super) const INTERVAL: Duration = Duration::from_millis(200);
/// Paths below a directory that are remembered between an event and a look at what it was; beyond, it has changed.
const PENDING: usize = 256;

/// Whose subscription it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::server) enum Listener {
    /// The connection's, by `resources/subscribe`.
    Connection,
    /// That of a `subscriptions/listen` request.
    Request(RequestId),
}

#[derive(Debug)]
pub(super) struct Subscriber {
    pub(super) listener: Listener,
    /// As the client wrote it.
    pub(super) uri: String,
    /// Nothing may be sent yet: the subscription is not acknowledged.
    pub(super) is_held: bool,
    /// There was a change that has not been sent.
    has_news: bool,
    sent: Option<Instant>,
}

impl Subscriber {
    pub(super) fn new(listener: Listener, uri: String, is_held: bool) -> Self {
        Self { listener, uri, is_held, has_news: false, sent: None }
    }

    /// When its news may be sent, if there is any: at once, or some time after the last.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        (self.has_news && !self.is_held).then(|| self.sent.map_or(now, |sent| sent + INTERVAL))
    }

    pub(super) fn has_sent(&mut self, now: Instant) {
        self.has_news = false;
        self.sent = Some(now);
    }
}

/// How changes are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noticed {
    /// Not at all yet.
    NotYet,
    ByEvents,
    /// By looking now and then.
    ByPolling,
}

/// A path that is followed.
#[derive(Debug)]
pub(super) struct Followed {
    /// The real names that lead to it, the one of its content first.
    pub(super) names: Vec<WorkspacePath>,
    /// What the subscribers know.
    pub(super) state: FollowedState,
    /// Another number for each state, so that an older look does not replace a newer one.
    pub(super) version: u64,
    pub(super) noticed: Noticed,
    /// When to look at it because of an event.
    pub(super) check_at: Option<Instant>,
    /// When to look at it in any case.
    pub(super) look_at: Instant,
    /// What events have named below a directory.
    pub(super) pending: Vec<WorkspacePath>,
    /// The entries below a polled directory, as of the last look.
    pub(super) listing: Option<Listing>,
    /// This server has moved, made or removed a directory below it since that look.
    pub(super) has_own_trees: bool,
    pub(super) subscribers: Vec<Subscriber>,
}

impl Followed {
    pub(super) fn new(names: Vec<WorkspacePath>, state: FollowedState, now: Instant) -> Self {
        Self {
            names,
            state,
            version: 0,
            noticed: Noticed::NotYet,
            check_at: None,
            look_at: now,
            pending: Vec::new(),
            listing: None,
            has_own_trees: false,
            subscribers: Vec::new(),
        }
    }

    /// There is something to send to each subscriber.
    pub(super) fn has_changed(&mut self) {
        for subscriber in &mut self.subscribers {
            subscriber.has_news = true;
        }
    }

    /// Whether a change at `path` may be one of this entry itself: of its name, or of a directory above.
    pub(super) fn depends_on(&self, path: &WorkspacePath) -> bool {
        self.names.iter().any(|name| name.is_in(path))
    }

    /// Whether `path` is below this directory.
    pub(super) fn holds(&self, path: &WorkspacePath) -> bool {
        self.state.is_directory() && self.names.first().is_some_and(|own| path != own && path.is_in(own))
    }

    /// Notes a change of this server. A change below this directory is news only if its path is `unreported`. Returns
    /// whether the change is at this very path: the caller then looks at its state.
    pub(super) fn is_changed_by(&mut self, change: &CommittedChange, unreported: &HashSet<WorkspacePath>) -> bool {
        let mut is_exact = false;
        for path in iter::once(&change.path).chain(&change.from) {
            if self.names.contains(path) {
                is_exact = true;
            } else if self.depends_on(path) {
                // A directory above it came, went or moved: it is looked at, and its directories are watched again.
                self.check_by(Instant::now());
                self.noticed = Noticed::NotYet;
                self.version += 1;
            } else if self.holds(path) {
                self.has_own_trees |= change.entry == EntryKind::Directory;
                if unreported.contains(path) {
                    self.has_changed();
                }
            }
        }
        is_exact
    }

    /// An event has named `path` below this directory: looked at when `at` has come.
    pub(super) fn note_below(&mut self, path: &WorkspacePath, at: Instant) {
        if self.pending.len() < PENDING {
            self.pending.push(path.clone());
        } else {
            self.has_changed();
        }
        self.check_by(at);
    }

    /// It is looked at when `at` has come, or before.
    pub(super) fn check_by(&mut self, at: Instant) {
        self.check_at = Some(self.check_at.map_or(at, |before| before.min(at)));
    }
}
