//! One followed path with those who subscribed to it, and what is there.

use std::{
    collections::{BTreeSet, HashSet},
    io, iter,
    time::{Duration, Instant},
};

use confined_fs::{AccessErrorKind, FileKind, OpenFile, PathWatch, Revision, Stat, Workspace, WorkspacePath};
use rmcp::model::RequestId;

use crate::session::{CommittedChange, EntryKind};

use super::known_states::Listing;

/// A burst of changes is one notification in this time; the first goes out at once, the last is never lost.
const SEND_INTERVAL: Duration = Duration::from_millis(200);
/// Paths below a directory that are remembered between an event and a look at what it was; beyond, it has changed.
const MAX_PENDING: usize = 256;

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
        (self.has_news && !self.is_held).then(|| self.sent.map_or(now, |sent| sent + SEND_INTERVAL))
    }

    pub(super) fn has_sent(&mut self, now: Instant) {
        self.has_news = false;
        self.sent = Some(now);
    }
}

/// How changes are noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Noticed {
    /// Not at all yet.
    #[default]
    NotYet,
    ByEvents,
    /// By looking now and then.
    ByPolling,
}

/// A path that is followed.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// The real names that lead to it, the one of its content first.
    pub(super) names: Vec<WorkspacePath>,
    /// The state that the subscribers know.
    pub(super) state: FollowedState,
    /// Another number for each state, so that an older look does not replace a newer one.
    pub(super) version: u64,
    pub(super) noticed: Noticed,
    pub(super) watch: Option<PathWatch>,
    /// When to look at it; `None` while it is looked at.
    pub(super) look_at: Option<Instant>,
    /// Paths below a directory that events have named.
    pub(super) pending: BTreeSet<WorkspacePath>,
    /// The entries below a polled directory, as of the last look.
    pub(super) listing: Option<Listing>,
    /// This server has moved, made or removed a directory below it since that look.
    pub(super) has_own_trees: bool,
    pub(super) subscribers: Vec<Subscriber>,
}

impl Followed {
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
                self.look_by(Instant::now());
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
        if self.pending.len() < MAX_PENDING {
            self.pending.insert(path.clone());
        } else {
            self.has_changed();
        }
        self.look_by(at);
    }

    /// It is looked at when `at` has come, or before.
    pub(super) fn look_by(&mut self, at: Instant) {
        self.look_at = Some(self.look_at.map_or(at, |before| before.min(at)));
    }
}

/// Bytes of a file whose content is compared; a larger one has changed when its size or its time has.
const MAX_COMPARED: u64 = 1 << 20;

/// The state of a path.
#[derive(Clone, Debug, Default)]
pub(super) enum FollowedState {
    /// Nothing that may be read.
    #[default]
    Nothing,
    /// A file, with its content where that was compared.
    File(Stat, Option<Revision>),
    /// A directory, or a special file.
    Other(Stat),
}

impl FollowedState {
    /// The state of `path` now; `before` is the last one known.
    pub(super) fn now(workspace: &Workspace, path: &WorkspacePath, before: Option<&Self>) -> Self {
        match workspace.open_file(path) {
            Ok(file) => Self::of_file(file, before),
            Err(error) if matches!(error.kind, AccessErrorKind::IsDirectory | AccessErrorKind::Special(_)) => {
                workspace.stat(path).map_or(Self::Nothing, Self::Other)
            }
            Err(_) => Self::Nothing,
        }
    }

    fn of_file(mut file: OpenFile, before: Option<&Self>) -> Self {
        let stat = file.stat().clone();
        if let Some(Self::File(before, revision)) = before
            && before.same_file_state(&stat)
        {
            return Self::File(stat, *revision);
        }
        if stat.size > MAX_COMPARED {
            return Self::File(stat, None);
        }
        // It may grow while it is read. Where reading fails, size and time decide.
        let revision = Revision::of_reader(&mut io::Read::take(&mut file, MAX_COMPARED)).ok();
        Self::File(stat, revision)
    }

    /// Whether a client that read `self` would read something else in `now`.
    pub(super) fn differs(&self, now: &Self) -> bool {
        match (self, now) {
            (Self::Nothing, Self::Nothing) => false,
            // A save of what was there already is no news: a client would read the same again.
            (Self::File(_, Some(before)), Self::File(_, Some(now))) => before != now,
            (Self::File(before, _), Self::File(now, _)) => !(before.same_file(now) && before.same_size_and_time(now)),
            // The times of a directory change with its entries, which are noticed for themselves.
            (Self::Other(before), Self::Other(now)) => !before.same_file(now),
            _ => true,
        }
    }

    pub(super) fn is_directory(&self) -> bool {
        matches!(self, Self::Other(stat) if stat.kind == FileKind::Directory)
    }
}
