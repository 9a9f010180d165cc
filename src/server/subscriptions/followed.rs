//! One followed path with those who subscribed to it, and what is there: what was last known of entries, as a change that was
//! reported already is no news. For single paths, where events name them, and for all below a directory that can only be
//! polled.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io, iter,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use confined_fs::{
    AccessErrorKind, FileKind, Ignored, OpenFile, PathWatch, Revision, Stat, WalkOptions, Workspace, WorkspacePath,
};
use rmcp::model::RequestId;

use crate::session::{CommittedChange, EntryKind};

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

/// Paths that are remembered. A change of one that is forgotten is at worst reported twice.
const MAX_REMEMBERED: usize = 4096;

/// The states that the latest changes left at their paths.
#[derive(Debug, Default)]
pub(super) struct KnownStates {
    left: HashMap<WorkspacePath, Option<Stat>>,
    order: VecDeque<WorkspacePath>,
}

impl KnownStates {
    /// A change left this at `path`.
    pub(super) fn add(&mut self, path: WorkspacePath, left: Option<Stat>) {
        if self.left.insert(path.clone(), left).is_none() {
            self.order.push_back(path);
        }
        if self.order.len() > MAX_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.left.remove(&oldest);
        }
    }

    /// Whether what is at `path`, as `now` says, is known.
    pub(super) fn has(&self, path: &WorkspacePath, now: Option<&Stat>) -> bool {
        match (self.left.get(path), now) {
            // A directory is, whatever has come into it since.
            (Some(Some(left)), Some(now)) if now.kind == FileKind::Directory => left.same_file(now),
            (Some(Some(left)), Some(now)) => left.same_content_state(now),
            (_, None) => self.has_removed(path),
            _ => false,
        }
    }

    /// Something else is at `path` now.
    pub(super) fn is_overtaken(&mut self, path: &WorkspacePath, exists: bool) {
        self.forget(path);
        if exists {
            // Then the directories above it are there, too.
            iter::successors(path.parent(), WorkspacePath::parent).for_each(|above| self.forget(&above));
        }
    }

    fn forget(&mut self, path: &WorkspacePath) {
        if self.left.remove(path).is_some() {
            self.order.retain(|known| known != path);
        }
    }

    /// The paths at which changes left nothing.
    pub(super) fn removed(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.left.iter().filter(|(_, left)| left.is_none()).map(|(path, _)| path)
    }

    /// Whether `path` is known to be gone, or a directory above it.
    fn has_removed(&self, path: &WorkspacePath) -> bool {
        if self.left.is_empty() {
            return false;
        }
        let mut above = iter::successors(Some(path.clone()), WorkspacePath::parent);
        above.any(|path| matches!(self.left.get(&path), Some(None)))
    }
}

/// Entries that are compared; what comes after them in path order is not.
const MAX_ENTRIES: usize = 200_000;
/// Paths that a comparison names; more are not looked at one by one.
const MAX_NAMED: usize = 256;

/// The entries below a directory: a number for each path and one for the state of the entry.
pub(super) type Listing = HashMap<u64, u64>;

/// How a directory differs from its listing.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// Entries that are new or different, up to [`MAX_NAMED`].
    pub(super) changed: Vec<(WorkspacePath, Option<Stat>)>,
    /// There are more of those.
    pub(super) has_more: bool,
    /// Numbers of paths that are gone.
    pub(super) gone: Vec<u64>,
}

/// Lists `directory` and compares it with `before`.
pub(super) fn list(
    workspace: &Workspace,
    directory: &WorkspacePath,
    before: Option<&Listing>,
) -> (Listing, Difference) {
    let (mut listing, mut difference) = (HashMap::new(), Difference::default());
    let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: true };
    let walked = workspace.walk(directory, &options, &mut |entry| {
        let stat = entry.stat().ok();
        let path = number_of(entry.path());
        let state = stat.as_ref().map_or(0, state_of);
        listing.insert(path, state);
        if before.is_some_and(|before| before.get(&path) != Some(&state)) {
            if difference.changed.len() < MAX_NAMED {
                difference.changed.push((entry.path().clone(), stat));
            } else {
                difference.has_more = true;
            }
        }
        if listing.len() < MAX_ENTRIES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let is_whole = walked.is_ok_and(|report| !report.stopped);
    if let Some(before) = before.filter(|_| is_whole) {
        difference.gone = before.keys().filter(|path| !listing.contains_key(path)).copied().collect();
    }
    (listing, difference)
}

/// The number of a path in a listing.
pub(super) fn number_of(path: &WorkspacePath) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

fn state_of(stat: &Stat) -> u64 {
    let mut hasher = DefaultHasher::new();
    stat.device_and_inode().hash(&mut hasher);
    // The time of a directory changes with what is in it, which is listed itself.
    if stat.kind != FileKind::Directory {
        (stat.size, stat.modified).hash(&mut hasher);
    }
    hasher.finish()
}
